"""Calls made at once: whether an order, one after the other, explains what they gave.

Linearizability after Wing and Gong, with states seen before cut off. Of messages sent one after the other by several calls
the order stays open until a look tells it, so that all their orders are one state; and where nothing but calls that send
is left, a step that makes no difference to the others is the only one tried. What was explained once is known: under
many schedules few histories differ. One idea: what explains a history.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.judge.finding import Finding
from conformance.judge.matching import permitted, required
from conformance.judge.next_steps import NextSteps, SearchPoint
from conformance.judge.step import Configuration, Stepper, noted
from conformance.system import Within
from conformance.transcripts import Unordered
from statemachines.model import BaseModel, Outcome, Signal, Watched
from statemachines.rows import Observed, spelled
from statemachines.undecided import read_of

MOST_NUMBERED = 6  # calls made at once of which the order is told in words
MOST_KNOWN = 2_000  # histories whose explanations are kept


@dataclass(frozen=True, slots=True)
class History:
    """Calls made at once: those of each caller in its order, and the signals of all of them together.

    within  between which instants all of it was, by a clock that runs on
    """

    callers: tuple[tuple[Observed, ...], ...]
    signals: tuple[Signal, ...] = ()
    within: Within | None = None

    @property
    def calls(self) -> tuple[Observed, ...]:
        """All the calls, caller by caller."""
        return tuple(itertools.chain(*self.callers))

    @property
    def summary(self) -> str:
        """What each call gave, in one line, and which came back before one of another caller began."""
        gave = (f"refused {each.refused}" if each.refused else spelled(each.given) for each in self.calls)
        took = (f" after {each.elapsed} ms" if each.elapsed else "" for each in self.calls)
        apart = "".join(f"; {each}" for each in self._apart())
        text = "; ".join(
            f"{f'{number}: ' if apart else ''}{each.operation} → {given}{ms}"
            for number, (each, given, ms) in enumerate(zip(self.calls, gave, took, strict=True), 1)
        )
        return (text if len(text) <= 400 else f"{text[:397]}…") + apart

    def _apart(self) -> Iterator[str]:
        """Say which calls were not at once after all: only those are bound to their order."""
        if len(self.calls) > MOST_NUMBERED:
            return
        calls = [(caller, call) for caller, calls in enumerate(self.callers) for call in calls]
        for number, (caller, call) in enumerate(calls, 1):
            before = [
                str(place)
                for place, (who, each) in enumerate(calls, 1)
                if who != caller and 0 < each.ended < call.began  # 0: it never came back
            ]
            if before:
                yield f"call {number} began after {' and '.join(before)}"

    @property
    def clause(self) -> str:
        """The operation that the calls are of."""
        return ".".join(["operations", *(each.operation for each in self.calls[:1])])


Event = Observed | History


def calls_of(event: Event) -> tuple[Observed, ...]:
    """Return the calls of an event: one call, or those that were made at once."""
    return event.calls if isinstance(event, History) else (event,)


def held_still(event: Event) -> Event:
    """Return an event as if no time had passed meanwhile, but in `wait`."""
    if isinstance(event, History):
        callers = tuple(tuple(replace(call, within=None) for call in calls) for calls in event.callers)
        return replace(event, callers=callers, within=None)
    return replace(event, within=None)


@dataclass(slots=True)
class Explained:
    """The configurations that a history can end in; `partial` when not all of them were looked for."""

    ends: list[Configuration]
    partial: bool


@dataclass(frozen=True, slots=True)
class Known:
    """What a search came to.

    ends       of each end the state, the signals that may still come, the stretches of any order, and what is noted
    witnessed  1 for each clause that was witnessed
    read       the policies that are not known and were read
    nodes      how many steps it took
    astray     an operation of which the spec left open what it did
    """

    ends: tuple[tuple[Any, frozenset[Signal], tuple[Unordered, ...], tuple[Finding, ...]], ...]
    witnessed: bytes
    read: frozenset[str]
    nodes: int
    astray: str


def explanations(stepper: Stepper, start: Configuration, history: History) -> Explained:
    """Search for orders of the calls that explain every reply and all signals, unless they are known."""
    if len(history.calls) > stepper.budget.linearized or not _may_be_known(stepper, start, history):
        return _searched(stepper, start, history)
    history, known = _in_phases(history), stepper.facts.explained
    key = _key(stepper, start, history)
    try:
        found = known.get(key)
    except TypeError:  # what a system gave may have no hash
        return _searched(stepper, start, history)
    if found is not None and stepper.nodes + found.nodes <= stepper.most_nodes:
        stepper.nodes += found.nodes
        stepper.astray = stepper.astray or found.astray
        _witness(start.model, found.witnessed, found.read)
        return Explained([Configuration(start.model.thawed(frozen), *rest) for frozen, *rest in found.ends], False)
    explained, found = _taking_note(stepper, start, history)
    if not explained.partial:
        if len(known) >= MOST_KNOWN:
            known.clear()
        known[key] = found
    return explained


def _taking_note(stepper: Stepper, start: Configuration, history: History) -> tuple[Explained, Known]:
    """Search, and take note of all that comes of it."""
    model, nodes, read = start.model, stepper.nodes, read_of(start.model.policies)
    astray, stepper.astray = stepper.astray, ""
    before = bytes(model.seen), frozenset(read)
    model.seen[:] = bytes(len(model.seen))
    read.clear()
    try:
        explained = _searched(stepper, start, history)
    finally:
        witnessed, read_here = bytes(model.seen), frozenset(read)
        _witness(model, *before)
    # What becomes of an end is no matter of the next one who finds it.
    ends = tuple((end.model.freeze(), end.standing, end.unordered, end.noted) for end in explained.ends)
    found = Known(ends, witnessed, read_here, stepper.nodes - nodes, stepper.astray)
    stepper.astray = stepper.astray or astray
    return explained, found


def _witness(model: BaseModel, witnessed: bytes, read: frozenset[str]) -> None:
    """Let a model have witnessed clauses, and have read policies, beside those that it has already."""
    model.seen[:] = bytes(map(max, model.seen, witnessed))
    read_of(model.policies).update(read)


def _may_be_known(stepper: Stepper, start: Configuration, history: History) -> bool:
    """Return whether nothing but its calls, what they gave and their order makes a history another one, and no search notes more."""
    timed = history.within or any(
        call.elapsed or call.within or not call.ended or stepper.facts.wait(call.operation) for call in history.calls
    )
    plain = not (start.model.LOOSE or stepper.each_as or isinstance(start.model.policies, Watched))
    return plain and not timed and not stepper.declaration.runs_on


def _in_phases(history: History) -> History:
    """Return the same history as if all calls began at once that began while none ended, and ended so: no order knows more."""
    marks = sorted({mark for call in history.calls for mark in ((call.began, 0), (call.ended, 1))})
    phases, phase, before = dict[tuple[int, int], int](), 0, 1
    for mark in marks:
        phase += mark[1] != before
        phases[mark], before = phase, mark[1]
    callers = (
        tuple(replace(call, began=phases[call.began, 0], ended=phases[call.ended, 1]) for call in calls)
        for calls in history.callers
    )
    return replace(history, callers=tuple(callers))


def _key(stepper: Stepper, start: Configuration, history: History) -> Any:
    """Return what makes a search another one: where it begins, what it has to explain, what was declared, and how far it goes."""
    model, declared = start.model, stepper.declaration
    calls = tuple(
        (each.began, each.ended, each.operation, each.refused, each.compared, each.malformed, each.at)
        for each in history.calls
    )
    values = (_plain([each.arguments, each.reply, each.signals]) for each in history.calls)
    chosen = tuple(tuple(vars(each).items()) for each in (model.limits, model.policies))
    system = declared.clock, declared.settles, declared.rests, declared.measured, stepper.told, stepper.budget
    standing, callers = (start.standing, start.unordered, start.noted), tuple(map(len, history.callers))
    where = type(model), model.freeze(), chosen, standing, system
    return *where, callers, calls, tuple(values), _plain(history.signals)


def _plain(value: Any) -> Any:
    """Return a value that is as good a key, as far as its parts are: of values of two types none is another's."""
    match value:
        case list() | tuple():
            return (type(value), *map(_plain, value))
        case dict():
            return (dict, *((name, _plain(each)) for name, each in value.items()))
        case _:
            return type(value), value


def _searched(stepper: Stepper, start: Configuration, history: History) -> Explained:
    """Search for orders of the calls that explain every reply and all signals."""
    search = _Linearization(stepper, history.calls, history.signals, start)
    if search.gives_an_id_twice():
        return Explained([], False)
    budget, callers = stepper.budget, sum(map(bool, history.callers))
    searched = budget.linearized_of_few if callers <= budget.few_callers else budget.linearized
    follow = search.follow if len(history.calls) > searched and search.meet else search.all
    first = next(iter(history.calls), Observed(""))
    arrived = stepper.arrived(start.model, history.within, first, history.signals, [])
    found = [follow(replace(start, model=model), passed) for model, passed in arrived]
    ends = [end for each in found for end in each.ends]
    return Explained(ends, stepper.partial or any(each.partial for each in found))


def longest(stepper: Stepper, start: Configuration, history: History) -> tuple[int, ...]:
    """Return the most calls, by their places among all, that some order explains one after the other, in that order.

    None of them is one that never came back: it gave nothing that could be explained.
    """
    places = [place for place, call in enumerate(history.calls) if not call.is_open]
    calls = [history.calls[place] for place in places]
    return tuple(places[each] for each in _Linearization(stepper, calls, history.signals, start).longest(start))


class _Linearization(NextSteps):
    """A search for the orders that explain one history."""

    @property
    def meet(self) -> bool:
        """Whether there are calls of which every order has to be tried."""
        return not self._apart.all

    def follow(self, start: Configuration, passed: Sequence[Outcome]) -> Explained:
        """Take the calls in the order in which they ended; enough for long histories whose calls commute.

        `passed` is what was done before them.
        """
        model, unordered = start.model, start.unordered
        outcomes = [*passed]
        node = SearchPoint(frozenset(), (), None)
        for index, call in sorted(enumerate(self.calls), key=lambda each: each[1].ended):
            model, unordered = self.stepper.transcripts.bound(model, unordered, call)
            way = next(self.stepper.ways(model, call, self.signals, [], self.moment(node, call)), None)
            node = replace(node, done=node.done | {index})
            if way is None:
                return Explained([], True)
            model, taken = way
            outcomes += [*taken, *model.settle()]
        end = self._end(model, required(outcomes), permitted(outcomes), unordered)
        if end is not None:
            end.note(noted(outcomes))
        return Explained([] if end is None else [end], True)

    def gives_an_id_twice(self) -> bool:
        """Return whether two records were given one id while none could leave, which no order explains."""
        minted = [
            (call.operation, *each) for call in self.calls for each in enumerate(self.facts.minted(call, shared=False))
        ]
        twice = len(set(minted)) < len(minted)
        return twice and all(self.facts.only_adds(call.operation) for call in self.calls)

    def all(self, start: Configuration, passed: list[Outcome]) -> Explained:
        """Search every order, depth first, cutting off states seen before."""
        model = start.model
        root = SearchPoint(frozenset(), ((),) * len(self.calls), None, unordered=start.unordered)
        root = self.after(root, model, passed)
        waiting, known, nodes = [root], {root}, 0
        ends: dict[Any, Configuration] = {}
        while waiting:
            node = waiting.pop()
            nodes += 1
            self.stepper.nodes += 1
            if len(node.done) == len(self.calls) and not node.own.claimed:
                last = self.closed(node, model)
                end = self._end(model.thawed(last.frozen), last.must, last.may, last.unordered)
                if end is not None:
                    end.note(self.faults[key] for key in sorted(last.noted))
                    ends.setdefault((end.model.freeze(), end.standing, end.unordered), end).excuse(end)
                if len(ends) >= self.stepper.budget.configurations:
                    return Explained(list(ends.values()), True)
            if nodes > self.stepper.budget.nodes or self.stepper.nodes > self.stepper.most_nodes:
                return Explained(list(ends.values()), True)
            for following in self.next(node, model):
                if following not in known and self.came(following.must):
                    known.add(following)
                    waiting.append(following)
        return Explained(list(ends.values()), self._partial)

    def longest(self, start: Configuration) -> tuple[int, ...]:
        """Search for the order that explains most calls; of those alike in length the first one."""
        model, self._shortens = start.model, False  # who only asks whether all are explained may try fewer
        root = SearchPoint(frozenset(), ((),) * len(self.calls), model.freeze(), unordered=start.unordered)
        orders: dict[SearchPoint, tuple[int, ...]] = {root: ()}
        waiting, best = [root], root
        while waiting and len(orders) <= self.stepper.budget.nodes:
            node = waiting.pop()
            best = max(best, node, key=lambda each: len(each.done))
            found = [(each, tuple(each.done - node.done)) for each in self.next(node, model)]
            # What ended first is tried first, and so comes last: of orders alike in length that is told which is likeliest.
            for following, added in sorted(found, key=lambda each: [-self.calls[index].ended for index in each[1]]):
                if following not in orders and self.came(following.must):
                    orders[following] = (*orders[node], *added)
                    waiting.append(following)
        return orders[best]

    def _end(
        self, model: BaseModel, must: Sequence[Signal], may: frozenset[Signal], unordered: tuple[Unordered, ...]
    ) -> Configuration | None:
        """Let a model come to rest when all calls are done; None where the signals of all of them do not fit.

        Order and number of those that may come do not count.
        """
        if any(index in self._own.numbers for index, _ in model.forced()):
            return None  # it has not been told yet
        rested, signals = model.settle(), self.stepper.signals
        rest, missing = signals.left([*must, *required(rested)], self.signals)
        standing = self.start.standing | may | permitted(rested)
        fits = missing is None and signals.stranger(rest, standing) is None
        return Configuration(model, standing, unordered, self.start.noted) if fits else None
