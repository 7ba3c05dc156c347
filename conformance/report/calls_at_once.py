"""What calls made at once gave, in words: a row only says that they were made, and what they gave often decides."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from conformance.report.texts import cut, named, number
from conformance.verdict import NONE_SENT, Counterexample, Made

OF_ALL = "of all of them: "
CALLS_TOLD = 12  # calls that are told one by one


def at_once_told(found: Counterexample) -> str:
    """Return a line for each call of a counterexample that was made at once with others: its number, what it gave, and after which it began.

    One more line tells the signals, or that there were none where some may have been due: which call has sent them, nobody sees. The
    text is empty where there are no such calls, or none of them tells anything. Ids stand there by the names that the row gives them.
    """
    steps = (list(calls) for _, calls in itertools.groupby(found.played, key=lambda each: each.step))
    groups = [calls for calls in steps if len(calls) > 1]
    if not any(call.gave or call.signals for calls in groups for call in calls):
        return ""
    text = "\n".join(line for calls in groups for line in _told(calls))
    if found.seen.endswith(NONE_SENT):
        text += f"\n{OF_ALL}{NONE_SENT}"
    for name, value in found.ids.items():
        text = text.replace(repr(value), name)
    return cut(text)


def _told(calls: Sequence[Made]) -> Iterator[str]:
    for place, call in enumerate(calls[:CALLS_TOLD], 1):
        before = [
            str(other)
            for other, each in enumerate(calls, 1)
            if each.caller != call.caller and 0 < each.ended < call.began  # 0: it never came back
        ]
        began = f" (began after {named(before)} had come back)" if before and len(calls) <= CALLS_TOLD else ""
        yield f"{place}: {call.call} → {call.gave or 'nothing'}{began}"
    if len(calls) > CALLS_TOLD:
        yield f"… and {number(len(calls) - CALLS_TOLD, 'call')} more at once with these"
    if signals := [each for call in calls for each in call.signals]:
        yield f"{OF_ALL}{', '.join(signals)}"
