"""The steps of an examination as a person reads them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.doctor.step import State, Tried, exit_of

_COLUMNS: Final = 110  # characters of a line
_NAME: Final = 22  # of which the name of a step takes so many


def written(steps: Sequence[Tried], *, verbose: bool = False) -> Iterator[str]:
    """Walk the lines that tell of steps: each in one, and what passed where something is to mend, or with `verbose`."""
    for step in steps:
        head = f"  {step.state.value:<6}{step.name:<{_NAME}}"
        first, *more = step.seen.splitlines() or [""]
        yield from textwrap.wrap(first, _COLUMNS, initial_indent=head, subsequent_indent=" " * len(head)) or [
            head.rstrip()
        ]
        yield from (f"{' ' * len(head)}{line}" for line in more)
        if step.wrong or verbose:
            yield from (f"        {line}" for line in step.exchange)
        if step.mend:
            yield from textwrap.wrap(step.mend, _COLUMNS, initial_indent="        mend: ", subsequent_indent=" " * 14)
    yield ""
    yield _summed_up(steps)
    yield f"exit {exit_of(steps)}"


def _summed_up(steps: Sequence[Tried]) -> str:
    wrong = [step.name for step in steps if step.wrong]
    if not wrong:
        return "The adapter can be asked. What the system behind it does, `conformance run` tells."
    rest = " Nothing further was tried." if any(step.state is State.FATAL for step in steps) else ""
    return f"{len(wrong)} of {len(steps)} steps {'has' if len(wrong) == 1 else 'have'} something to mend: {', '.join(wrong)}.{rest}"
