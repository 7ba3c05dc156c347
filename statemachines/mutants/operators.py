"""The operators: each is one kind of mistake that people make, and what it makes of a place of a kernel.

One idea: a list of mistakes, each in a few lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from statemachines import leaving_out
from statemachines.expression import Attribute, Choose, Const, Each, Operate, Typed, Var
from statemachines.kernel import (
    ANY_CODE,
    Create,
    Emit,
    ForEach,
    Kernel,
    Message,
    Move,
    Reply,
    Require,
    Retain,
    Send,
    Set,
    Timer,
)
from statemachines.mutants.places import Other, others
from statemachines.mutants.wording import Mutant, written
from statemachines.types import INT, Int, Optional, Ref

_BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_OPPOSITES = {"==": "!=", "!=": "=="}
_KEPT = ("refused", "unchanged")
LEFT_OUT = "left out"  # the operator of what is not done at all
IN_PLACE = " in place of "  # in the words of another expression


def mutants(source: Kernel) -> list[Mutant]:
    """Return every mutant of a kernel, the simplest mistakes first; of two that are one kernel only the first."""
    mistakes = _Mistakes(source)
    found: dict[Kernel, Mutant] = {}
    for mutant in (*_left_out(source), *_accepted(source), *mistakes.made()):
        if mutant.kernel != source:
            found.setdefault(mutant.kernel, mutant)
    return list(found.values())


def _left_out(source: Kernel) -> Iterator[Mutant]:
    """Leave out a change, a move, a removal, a signal, a timer, a limit that is not kept, a message that leaves with its record."""
    effects = [each for each in source.effects() if not isinstance(each, Create | Send)]
    paths = [each.clause for each in effects if not (isinstance(each, Emit) and each.how == "permitted")]
    paths += [each.clause for each in source.spontaneous if each.must is not None]
    paths += [timer.clause for each in source.entities for timer in each.timers]
    paths += [each.retain.clause for each in source.entities if each.retain is not None]
    paths += [each.outlives_clause for each in source.messages if each.outlives_clause]
    for path in dict.fromkeys(paths):
        yield Mutant(LEFT_OUT, path, "does not do it", leaving_out.without(source, frozenset({path})))


def _accepted(source: Kernel) -> Iterator[Mutant]:
    """Carry a call out that is to be refused, or to change nothing; where a record is missing there is nothing to act on."""
    for operation in source.operations:
        for clause in dict.fromkeys(
            each.clause for each in operation.requires if each.guard is not None and each.answer in _KEPT
        ):
            laxer = leaving_out.without(source, frozenset({clause})).operation(operation.name)
            operations = tuple(laxer if each is operation else each for each in source.operations)
            does = f"carries `{operation.name}` out all the same"
            yield Mutant("accepted", clause, does, replace(source, operations=operations))


class _Mistakes:
    """What could stand in each place of a kernel."""

    def __init__(self, source: Kernel) -> None:
        self.source = source
        requires = [each for operation in source.operations for each in operation.requires]
        self.codes = sorted({each.code for each in requires if each.answer == "refused"} - {"", ANY_CODE})

    def made(self) -> Iterator[Mutant]:
        """Walk the mutants that have something else in one place."""
        for other, kernel in others(self.source, self._others):
            yield Mutant(other.operator, other.clause, other.does, kernel)

    def _others(self, part: Any) -> Iterator[Other]:
        match part:
            case Typed():
                yield from self._of_expression(part)
            case Require(answer="refused", code=code) if code in self.codes:
                other = next((each for each in self.codes if each != code), None)
                if other is not None:
                    yield Other("other code", f"refuses with {other}", replace(part, code=other))
            case Move():
                yield from self._moved(part)
            case Retain():
                yield from _kept(part)
                yield from self._of_others("kept", part, "counts those that are {} as well")
            case Reply(fields=fields) if fields is not None:
                yield from _said_otherwise(part, fields)
            case Message():
                yield from _told_in_another_order(part)
                yield from self._told_of_others(part)
            case Timer(deadline=deadline):
                yield from self._of_others("other state", part, "comes to those that are {} as well")
                for sign, told in (("+", "late"), ("-", "early")):
                    moved = Operate(deadline.type, deadline.at, sign, deadline, Const(INT, deadline.at, 1))
                    yield Other("off by one", f"comes a millisecond {told}", replace(part, deadline=moved))
            case Emit(how="once"):
                yield Other("doubled", "does it twice", (part, part))
        if isinstance(part, Set | Emit | ForEach) and part.when is not None:
            yield Other("whenever", f"does it whether `{written(part.when)}` or not", replace(part, when=None))

    def _of_others(self, operator: str, rule: Retain | Timer, told: str) -> Iterator[Other]:
        """Take records in another state as well."""
        entity = next(each for each in self.source.entities if rule in (each.retain, *each.timers))
        for state in entity.states:
            if state not in rule.states:
                yield Other(operator, told.format(state), replace(rule, states=(*rule.states, state)))

    def _told_of_others(self, message: Message) -> Iterator[Other]:
        """Tell of records in other states, tell others, and tell it again."""
        for state in self.source.entity(message.entity).states:
            kept = tuple(each for each in message.states if each != state)
            if state not in message.states:
                added = replace(message, states=(*message.states, state))
                yield Other("other state", f"tells of those that are {state} as well", added, message.due)
            elif kept:
                yield Other(
                    "other state",
                    f"does not tell of those that are {state}",
                    replace(message, states=kept),
                    message.due,
                )
        if message.to is not None:
            told = f"tells whoever asks, not `{written(message.to)}` alone"
            yield Other("unfiltered", told, replace(message, to=None), message.to_clause)
        if message.once_clause:
            yield Other("doubled", "tells it again", replace(message, told_again=True), message.once_clause)

    def _moved(self, move: Move) -> Iterator[Other]:
        """Move the record to another state."""
        for index, (before, target) in enumerate(move.arrows):
            clause = move.sentences[index] if move.sentences else move.clause
            for state in self.source.entity(move.entity).states if isinstance(target, Const) else ():
                if state != target.value:  # type: ignore[attr-defined]  # it is a constant here
                    arrows = (*move.arrows[:index], (before, replace(target, value=state)), *move.arrows[index + 1 :])  # type: ignore[call-arg]  # as above
                    yield Other("other state", f"leads from {before} to {state}", replace(move, arrows=arrows), clause)

    def _of_expression(self, value: Typed) -> Iterator[Other]:  # noqa: PLR0912 - a case for each mistake
        """Put another comparison, condition, limit, field, filter or choice in place of one."""
        match value:
            case Operate(operator=sign, left=Typed()) if sign in _BOUNDARIES:
                yield _instead("boundary", value, replace(value, operator=_BOUNDARIES[sign]))
            case Operate(operator=sign, left=Typed()) if sign in _OPPOSITES:
                yield _instead("opposite", value, replace(value, operator=_OPPOSITES[sign]))
            case Operate(operator="&&" | "||" as sign, left=Typed() as left, right=right):
                how = ("weaker", "does not ask whether") if sign == "&&" else ("stronger", "does not also take")
                for kept, lost in ((left, right), (right, left)):
                    yield Other(how[0], f"{how[1]} `{written(lost)}`", kept)
            case Operate(operator="!", right=right):
                yield _instead("opposite", value, right)
            case Var(name=name, type=Int()) if name.startswith("limits."):
                for sign in "+-":
                    yield _instead("off by one", value, Operate(INT, value.at, sign, value, Const(INT, value.at, 1)))
            case Each(macro="filter", over=over, body=body):
                yield Other("unfiltered", f"takes all, whether `{written(body)}` or not", over)
            case Choose(condition=condition, value=first, otherwise=second):
                for taken in (first, second):
                    yield Other("one way", f"takes `{written(taken)}` whether `{written(condition)}` or not", taken)
            case Attribute(of=Typed(type=Ref(entity=entity)), name=name, type=kind):
                for field in self.source.entity(entity).fields:
                    if field.name != name and _alike(field.type, kind):
                        yield _instead("other field", value, replace(value, name=field.name, type=field.type))


def _said_otherwise(reply: Reply, fields: tuple[tuple[str, Typed], ...]) -> Iterator[Other]:
    """Say no for yes, or yes for no, where a reply always says the same."""
    for index, (name, value) in enumerate(fields):
        if isinstance(value, Const) and isinstance(value.value, bool):
            other = (name, replace(value, value=not value.value))
            told = f"says {written(other[1])} for `{name}`"
            yield Other("opposite", told, replace(reply, fields=(*fields[:index], other, *fields[index + 1 :])))


def _told_in_another_order(message: Message) -> Iterator[Other]:
    if len(message.order) > 1:
        yield Other("order", "breaks no ties", replace(message, order=message.order[:-1]), message.order_clause)
    if message.order:
        told = "tells them in the order in which they became due"
        yield Other("order", told, replace(message, order=()), message.order_clause)


def _instead(operator: str, value: Typed, other: Typed) -> Other:
    return Other(operator, f"`{written(other)}`{IN_PLACE}`{written(value)}`", other)


def _alike(one: object, other: object) -> bool:
    """Return whether a value of a type may stand where one of another type does."""
    return one == other or (isinstance(other, Optional) and one == other.item)


def _kept(rule: Retain) -> Iterator[Other]:
    """One record too many or too few; of all owners together; not of some state; in another order."""
    for sign, told in (("+", "more"), ("-", "fewer")):
        newest = Operate(INT, 0, sign, rule.newest, Const(INT, 0, 1))
        yield Other("off by one", f"keeps one {told}", replace(rule, newest=newest))
    if rule.per is not None:
        yield Other("kept", f"counts all together, not by `{written(rule.per)}`", replace(rule, per=None))
    for state in rule.states if len(rule.states) > 1 else ():
        states = tuple(each for each in rule.states if each != state)
        yield Other("kept", f"does not count those that are {state}", replace(rule, states=states))
    if len(rule.order) > 1:
        yield Other("order", "breaks no ties", replace(rule, order=rule.order[:-1]))
    yield Other("order", "drops them in the order of their creation", replace(rule, order=()))
