"""A trace written as a row in the spec's own words, ready to be read, pasted into the matrix, or replayed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conformance.counterexample.play import Played
from conformance.judge import Finding, InOrder, Listed, Times, part
from statemachines.compile import Compiled
from statemachines.kernel import within
from statemachines.model import Document
from statemachines.rows import AtOnce, Call, Names, Trace, item, quoted, row_text, written
from statemachines.types import List, Optional, Type


@dataclass(frozen=True, slots=True)
class Written:
    """A counterexample in words: the row, what was expected, and what was seen; and by its name there what each id was.

    `claims`: the row says itself what is right, and does not leave all of it to the model.
    """

    text: str
    expected: str
    seen: str
    ids: Mapping[str, str]
    claims: bool


_BESIDE = "Judged as it would be right where this is not followed either: {}."
Claim = Literal["expected", "in any order", "not as seen", "none"]


def as_row(compiled: Compiled, played: Played, *, claim: Claim = "expected", runs_on: bool = False) -> Written:
    """Write what a trace shows as a row: its steps, what was expected, and what was seen.

    claim  what it asserts: what was expected; the same also after calls at once, where it is then seen to that it holds in any
           order of them; only that it is not what was seen, where a right system may do several things; or none: it makes the
           calls, leaves it to the model what may come of them, and says why
    runs_on  time passed while the calls were made
    """
    trace, finding = played.trace, played.finding
    assert finding is not None  # a trace that shows nothing is no counterexample
    names = Names(
        compiled,
        trace.calls(),
        lambda value: _alone(trace, value) and _told(finding, value),
        {value for value, _ in played.origins} | ({finding.value} if isinstance(finding.value, str) else set()),
        {value for value, _ in played.origins if finding.kind == "identity" and repr(value) in finding.seen},
    )
    lines = written(trace.steps, names, {given.step for value, given in played.origins if _told(finding, value)})
    ids = {value: shared for value, (shared, _) in names.shared.items()} | {
        value: given.of(names.reach[given.step])
        for value, given in played.origins
        if given.step in names.reach and value not in names.plain
    }
    expected, seen = named(finding.expected, ids), named(finding.seen, ids)
    known = any(within(clause.path, finding.clause) for clause in compiled.kernel.clauses)
    covers = finding.clause if known else f"operations.{trace.calls()[-1].operation}"
    match claim:
        case "none":
            claimed = "true"
        case "not as seen":
            claimed = _denial(finding)
        case _:
            claimed = _assertion(finding, ids, played, names, in_any_order=claim == "in any order")
    why = [f"# {_BESIDE.format(', '.join(played.given))}"] if played.given else []
    why += [f"# {_unsayable(finding, played, runs_on)}"] if claimed == "true" else []
    text = row_text(
        "C1",
        f"Expected {expected}; seen {seen}.",
        "should" if finding.should else "must",
        "counterexample",
        [covers],
        lines,
        [*why, item(claimed)],
    )
    return Written(text, expected, seen, {name: value for value, name in ids.items()}, claims=claimed != "true")


def _told(finding: Finding, value: str) -> bool:
    """Return whether the words about a fault speak of a value."""
    return any(_speaks_of(each, value) for each in (finding, *finding.others))


def _speaks_of(finding: Finding, value: str) -> bool:
    match finding.value:
        case Listed(identity=identity):
            told: tuple[Any, ...] = (identity,)
        case InOrder(identities=identities):
            told = identities
        case other:
            told = (other,)
    return value in told or repr(value) in finding.expected + finding.seen


def _alone(trace: Trace, value: str) -> bool:
    """Return whether a value stands in a call that is not made at once with others: those stay alike."""
    return any(value in dict(step.arguments).values() for step in trace.steps if isinstance(step, Call))


def named(text: str, ids: Mapping[str, str]) -> str:
    """Write the ids of one run as the replies that they came from, which every run has."""
    for value, reach in ids.items():
        text = text.replace(repr(value), reach)
    return text


def _assertion(finding: Finding, ids: Mapping[str, str], played: Played, names: Names, *, in_any_order: bool) -> str:
    """Write what should have been, as far as a row can say it."""
    trace = played.trace
    at_once = [isinstance(step, AtOnce) for step in trace.steps]
    match finding.kind:
        case "accepted" if finding.value not in (None, "*"):
            return f"last.refused == {finding.value}"
        case "accepted":
            return "last.refused != null"
        case "refused":
            return f"last.refused == {finding.value or 'null'}"
        case "signal" | "reply" if any(at_once) and not (in_any_order and finding.kind == "reply" and not at_once[-1]):
            return "true"  # another order of the calls at once, or of what they set going, may give something else
        case "signal" if _comes_often_enough(finding, played):
            return "true"
        case "signal":
            return _signal_assertion(f"last.signals.{finding.path}.size()", finding.value)
        case "reply":
            asserted = [_reply_assertion(each, ids, trace, names) for each in (finding, *finding.others)]
            return "true" if "true" in asserted else " || ".join(dict.fromkeys(asserted))
        case _:
            return "true"


def _denial(finding: Finding) -> str:
    """Write what should not have been, where more than one thing may be."""
    if finding.kind == "accepted":
        return "last.refused != null"
    code = finding.seen.removeprefix("refused ")
    return f"last.refused != {code}" if finding.kind == "refused" and code.isidentifier() else "true"


def _unsayable(finding: Finding, played: Played, runs_on: bool) -> str:
    """Say why nothing can be asserted of the last reply, so that the model alone tells what is wrong."""
    match finding.kind:
        case "crash" | "hang":
            return "A call without an answer leaves nothing to compare: that it has one is asked of every call."
        case "shape":
            return "What is not of the form that the spec gives cannot be compared: the form is asked of every reply."
        case _ if any(isinstance(step, AtOnce) for step in played.trace.steps):
            return "In another order of the calls at once something else may be right: the model looks for one that explains it."
        case "identity" | "file":
            return "Which ids and files there were before, no row can say: the model remembers them."
        case "signal" if _comes_often_enough(finding, played):
            return "It comes, and says something else: the model compares what it says."
        case _ if runs_on:
            return "What is right may depend on the time that the calls take, too: the model tells all that may be."
        case _:
            return "A right system may do something else as well: the model tells all that it may."


def _comes_often_enough(finding: Finding, played: Played) -> bool:
    """Return whether a signal came as often as it should, and only said something else."""
    if not played.made:
        return False
    came, times = sum(name == finding.path for name, _ in played.made[-1].signals), finding.value
    return times.least <= came and (times.most is None or came <= times.most)


def _signal_assertion(size: str, times: Times) -> str:
    """Write how often a signal comes, as far as that is at odds with what came."""
    if times.least == times.most:
        return f"{size} == {times.most}"
    at_most = "" if times.most is None else f" && {size} <= {times.most}"
    return f"{size} >= {times.least}{at_most}"


def _reply_assertion(finding: Finding, ids: Mapping[str, str], trace: Trace, names: Names) -> str:
    gives, path = names.types.gives(trace.calls()[-1].operation), finding.path
    some = _in_any_order(gives, path)
    reach = _reach(path) if some is None else f"some{path[len(some) :].partition(']')[2]}"

    def known(value: Any, where: str = path) -> str:
        return ids.get(value) or names.known(value, part(gives, where))

    match finding.value:
        case Listed(field=field, identity=identity, there=there):
            identified = f"{reach}.exists(each, each.{field} == {known(identity, f'{path}[0].{field}')})"
            said = identified if there else f"(!{identified})"
        case InOrder(field=field, identities=identities):
            wanted = [known(identity, f"{path}[0].{field}") for identity in identities]
            said = f"{reach}.map(each, each.{field}) == [{', '.join(wanted)}]"
        case Document(inline=inline, text=words):
            said = f"{reach}.inline == {'true' if inline else 'false'} && {reach}.text == {quoted(words)}"
        case list() as values:
            said = f"{reach}.size() == {len(values)}"
        case None | bool() | int() | str() as value:
            said = f"{reach} == {known(value)}"
        case _:
            return "true"
    guarded = _above(path if some is None else some)
    if some is not None:
        guarded, said = [*guarded, some], f"{_reach(some)}.exists(some, {said})"
    elif not isinstance(finding.value, bool | int | str | None):
        guarded.append(path)
    nullable = [each for each in guarded if isinstance(part(gives, each), Optional)]
    known_there = [f"{_reach(each)} != null" for each in dict.fromkeys(nullable)]
    long = [] if some is not None else _long_enough(path)
    return " && ".join([*known_there, *long, said])


def _long_enough(path: str) -> list[str]:
    """Say that the lists on the way to a part of a reply have the member that the way leads over."""
    found = re.finditer(r"\[(\d+)\]", path)
    return [f"{_reach(path[: each.start()])}.size() > {each[1]}" for each in found]


def _in_any_order(kind: Type, path: str) -> str | None:
    """Return the path to the first list on the way whose members come in any order, if there is one."""
    above = (path[: found.start()] for found in re.finditer(r"\[", path))
    lists = ((each, part(kind, each)) for each in above)
    return next((each for each, found in lists if isinstance(found, List) and found.unordered), None)


def _reach(path: str) -> str:
    """Write how a part of the last reply is reached."""
    return "last" + ("" if not path or path.startswith("[") else ".") + path


def _above(path: str) -> list[str]:
    """Return the paths on the way to a part of a reply."""
    above = [path[: found.start()] for found in re.finditer(r"[.\[]", path)] + ([""] if path else [])
    return sorted(above, key=len)
