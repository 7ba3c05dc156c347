"""How binding it is what a search finds, and when two that are found show one fault.

What only derived rows ask, no source states, and nobody breaks a must by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from conformance.judge import ACCEPTED, NO_REPLY, PRESENCE, REFUSED
from conformance.suite.row_facts import calls_at_once, covers
from conformance.verdict import Counterexample, Diagnosis
from statemachines.lifecycle import Row

_OF_IDS: Final = re.compile(r"entities\.\w+\.id")
_PLACE: Final = re.compile(r"(^| or )\[\d+\]\.")
NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})
Shown = Sequence[tuple[Row, Counterexample]]
"""The rows that failed, each with its counterexample."""


class SeenFault(NamedTuple):
    """What has to be known of a fault to tell how binding it is.

    clause    the clause that it is one of, and `matter` what it is about
    changing  the calls that change something in what shows it; none where nobody has looked for the shortest
    at_once   whether it takes calls at once
    expected  what was expected, and what was `seen`
    mistake   the one mistake that explains all that was seen, if one does
    """

    clause: str
    matter: str
    changing: Sequence[str] = ()
    at_once: bool = False
    expected: str = ""
    seen: str = ""
    mistake: Diagnosis | None = None


def fault_of(shown: Counterexample) -> SeenFault:
    """Return the fault that a counterexample shows."""
    at_once = shown.rounds > 1
    return SeenFault(shown.clause, shown.matter, shown.changing, at_once, shown.expected, shown.seen, _mistake(shown))


def _mistake(shown: Counterexample) -> Diagnosis | None:
    """Return the one mistake that explains all that a counterexample shows, if one does."""
    return shown.diagnosis if shown.diagnosis is not None and shown.diagnosis.explains else None


def only_derived(failed: Shown, fault: SeenFault, held: Collection[Sequence[str]] = ()) -> bool:
    """Return whether only rows tell a fault that ask what the source does not state.

    What is not explained beside what such rows tell is a fault of its own: the judge has left their clause out.

    failed  the rows that failed: of these, those that tell the fault are asked
    held    the calls that change something of cases in which all was right: what these make leads nobody astray
    """
    told = [row for row, shown in failed if _tells(row, shown, fault) or _leads(row, shown, fault, held)]
    return bool(told) and all(row.derived for row in told)


def only_derived_race(rows: Iterable[Row], at_once: Collection[str]) -> bool:
    """Return whether rows make some calls at once, and all that do are derived: no source states what comes of them."""
    raced = [row for row in rows if any(called.issuperset(at_once) for called in calls_at_once(row))]
    return bool(at_once) and bool(raced) and all(row.derived for row in raced)


def racing(shown: Counterexample, observes: Callable[[str], bool]) -> frozenset[str]:
    """Return the operations that a counterexample calls at once, but for those by which a caller `observes` what its own call did.

    A caller who only looks races the others: what it sees may be half done.
    """
    steps = Counter(made.step for made in shown.played)
    calls = [((made.step, made.caller), made.call.partition("(")[0]) for made in shown.played if steps[made.step] > 1]
    changing = {caller for caller, operation in calls if not observes(operation)}
    return frozenset(operation for caller, operation in calls if not (observes(operation) and caller in changing))


def is_one_fault(one: Counterexample, other: Counterexample, creating: Mapping[str, str] = NO_NAMES) -> bool:
    """Return whether two counterexamples show one fault: they have one cause, or one story leads to both.

    Or one mistake explains both, and one clause tells them. Where nobody knows the cause of either, the calls of one that change something
    are calls of the other, in their order, or in any order where both show the same, or break one clause that is about nothing else;
    where somebody knows that of one, they are just those of the other. Where nothing has to change, both show the same. An id that was
    given before is one fault, whichever calls lead to it, and so is a yes in place of the no of one sentence, or one no in place of what
    else it says: who mends one way to it sees whether another is left.

    creating  what is created, by operation: where both show the same, it is one fault whichever of them has created it
    """
    if one.clause == other.clause and _OF_IDS.fullmatch(one.clause):
        return True
    if one.cause and other.cause:
        return one.cause == other.cause
    # Elsewhere the same words may be said of another fault, which one that is told must not hide.
    explained = _mistake(one) is not None and one.diagnosis == other.diagnosis
    if explained and (one.clause, one.matter) == (other.clause, other.matter):
        return True
    if one.cause or other.cause:
        return bool(one.changing) and one.changing == other.changing
    few, many = sorted((one.changing, other.changing), key=len)
    same = one.matter == other.matter and one.clause == other.clause and _is_narrow(one.clause)
    if (
        few
        and same
        and (one.matter.startswith(ACCEPTED) or (one.matter.startswith(REFUSED) and one.seen == other.seen))
    ):
        return True
    alike = same or _shows_as(one, other)
    if not few:
        return not many and one.clause == other.clause and _shows_as(one, other)
    if in_order(few, many):
        return True
    return alike and (_same_calls(one, other) or in_order(*(_as_created(each, creating) for each in (few, many))))


def operation_of(call: str) -> str:
    """Return the operation of one of the calls that change something, as a counterexample names them."""
    return call.partition(" ")[0]


def _as_created(calls: Sequence[str], creating: Mapping[str, str]) -> list[str]:
    """Return calls with what they create in place of those that create something."""
    return [creating.get(operation_of(each), each) for each in calls]


def _is_narrow(clause: str) -> bool:
    """Return whether a clause is a sentence of its own: not all that an operation gives, or does at once with others."""
    return not (clause.endswith(".gives") or clause.count(".") == 1)


def _shows_as(one: Counterexample, other: Counterexample | SeenFault) -> bool:
    """Return whether two expect and see the same in the same matter, be it in a list."""
    first, second = ((each.matter, *map(_out_of_list, (each.expected, each.seen))) for each in (one, other))
    return first == second


def _out_of_list(said: str) -> str:
    return _PLACE.sub(r"\1", said)


def _same_calls(one: Counterexample, other: Counterexample) -> bool:
    """Return whether two counterexamples make the same calls that change something, in whatever order."""
    said = [sorted(each.changing) for each in (one, other)]
    made = [sorted(map(operation_of, each.changing)) for each in (one, other)]
    return said[0] == said[1] or (one.clause == other.clause and made[0] == made[1])


def as_told(
    shown: Iterable[tuple[Row, Counterexample]], found: Counterexample, known: Collection[str]
) -> Counterexample:
    """Return what a row has `shown` of it with its cause, where this makes the calls of that one, and more, and shows the same.

    The other calls only keep the cause from explaining it: a system need not do everywhere what it does there. What is known,
    or only recommended, is told in no other's place.
    """
    rows = (each for row, each in shown if each.cause and not found.cause and not row.derived)
    told = (each for each in rows if _shows_as(each, found) and each.cause not in known and each.changing)
    return next((each for each in told if in_order(each.changing, found.changing)), found)


def in_order(few: Sequence[str], many: Sequence[str]) -> bool:
    """Return whether all of a few are among many, in their order."""
    rest = iter(many)
    return all(each in rest for each in few)


def _tells(row: Row, shown: Counterexample, fault: SeenFault) -> bool:
    """Return whether a row failed in the same matter by a clause; where nobody knows what made it fail, by any that it covers.

    What one mistake explains, a row tells in which the same mistake explains all: it is seen elsewhere, and no more wrong there.
    Which record leaves is one matter, whichever call tells that one is there or not, after as many calls as it takes until one leaves.
    """
    if fault.mistake is not None and fault.mistake == _mistake(shown):
        return True
    same = shown.clause == fault.clause or (not shown.cause and covers(row, fault.clause))
    many = (
        len(fault.changing) >= len(shown.changing) - 1
    )  # a shorter trace has one call less where it may look another way
    leaves = many and fault.matter == PRESENCE and any(word.text.endswith(".retain") for word in row.covers)
    return (same or leaves) and shown.matter == fault.matter


def _leads(row: Row, shown: Counterexample, fault: SeenFault, held: Collection[Sequence[str]]) -> bool:
    """Return whether what made a row fail leads to a fault as well: the same calls, or two calls or more with which they begin.

    Other calls may stand between those two and more, where nothing that was right elsewhere has them so, and before them where
    the fault shows as the row has shown it. If the row is about the clause of the fault, those of one may stand anywhere
    among those of the other, in their order; if it is not, such calls lead to nothing after which all was right elsewhere.
    What calls at once have done, another call may see than the last one of the row. Nothing leads to a crash or a hang but
    one: whatever was before, a call answers.
    """
    if fault.matter.startswith(NO_REPLY) and fault.matter != shown.matter:
        return False
    few, many = sorted((tuple(fault.changing), shown.changing), key=len)
    if few and (shown.clause == fault.clause or covers(row, fault.clause)):
        return few == many or (len(few) > 1 and in_order(few, many))  # one call that many cases make is no story
    astray = bool(few) and not any(tuple(story[: len(few)]) == few for story in held)
    if astray and fault.at_once and shown.rounds > 1 and len(few) > 1 and few == shown.changing[:-1]:
        return True
    anywhere = _shows_as(shown, fault)
    apart = _come_in(few, many, anywhere=anywhere) and not any(_come_in(few, each, anywhere=anywhere) for each in held)
    return astray and few == shown.changing and (few == many or (len(few) > 1 and (many[: len(few)] == few or apart)))


def _come_in(few: Sequence[str], many: Sequence[str], *, anywhere: bool) -> bool:
    """Return whether many have a few in their order, whatever stands between, and begin with the first of them, if not `anywhere`."""
    return (anywhere or few[:1] == tuple(many[:1])) and in_order(few, many)
