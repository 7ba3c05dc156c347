"""Walks that the model steers: long cases, each call chosen for what no case has come to yet.

Every so often a call is made for no reason, or once more, or the last few are made many times over. Each walk prefers other
operations, and leaves out other arguments that may be left out; three of ten begin with a registry that is nearly full, or too full, or crowded.
What counts as new is a narrow choice for half of the walks. The others take it widely, and count for themselves: where more is told apart,
each of it is come to less often. One idea: the walk.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.budget import Budget
from conformance.judge import CASES_OF_A_SEED, case_seed
from conformance.search.ahead import Ahead, Intended
from conformance.search.corpus import Corpus
from conformance.search.faults import Diverged, Faults
from conformance.search.gathering import lets_go
from conformance.search.instants import instants_of
from conformance.search.prefill import prefills, set_up
from conformance.search.records import named_by
from conformance.search.situations import Situations, takes_a_name
from conformance.search.stateful import Driver
from conformance.search.story import Story
from conformance.system import MOVED, Adapter
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.rows import Observed, RowFailure, Trace, filled
from statemachines.types import Id, List, Text, present

IDLY = 0.15  # of the calls are made whatever comes of them
REPEATED = 0.3  # of those are the same as one shortly before
FLOODS = 0.3  # of those are the last few calls, many times over
MOST_FLOODED = 4  # calls that are the last few
VARIED = 0.5  # of the floods of a walk that takes widely what is new: other values each time
AFTER_FLOOD = 0.5  # of the floods are followed by the first of those calls as it was: what is forgotten by then shows
FLOODED = (10, 60, 120)  # calls, more or less, of all those times
OFTEN_LOOKS = 0.6  # how often a walk looks after a call: looks cost most of the time, and may mend what is wrong
SELDOM_LOOKS = 0.3  # how often one does that takes widely what is new
LIKED = (0.2, 1.0, 1.0, 3.0)  # how much more often than others an operation is tried, by walk
SELDOM_GIVEN = (
    0.6  # of the arguments that may be left out, in one walk: with many at once most calls are the same or refused
)
WAITED = 3.0  # how often a wait is tried: as time passes much may happen that no call does
LOOKING, SELDOM = 0.5, 0.3  # the same of those that change nothing, and of those that are about everything
WIDE_FROM = CASES_OF_A_SEED // 2  # the number of the first walk that takes widely what is new: no other has it
SET_UP = 0.25  # of the others begin when some time has passed, and something that is about no record was called
CONTINUED = 0.4  # of the walks begin as another one that came to something new
DEEP = ("sentence", "became")  # kinds of situations that are new where something happened that had not before


def search(
    compiled: Compiled,
    adapter: Adapter,
    number: int,
    budget: Budget,
    *,
    after: Callable[[Driver], None],
    faults: Faults,
    first: int = 0,
) -> None:
    """Walk as often as the budget says, or until enough is found; `first` is the number of the first walk."""
    ways = prefills(compiled, adapter.declaration, budget.prefilled)
    set_up_first = set_up(compiled, adapter.declaration)
    narrow, wide = Situations(compiled), Situations(compiled, wide=True)
    corpus = Corpus()
    numbers = range(first, first + budget.walks)
    plan = [((narrow, each, f"{each}"), (wide, WIDE_FROM + each, f"wide/{each}")) for each in numbers]
    for situations, index, name in itertools.chain(*plan):  # in turn: none waits until the other has made all its walks
        if faults.over:
            break
        driver = Driver(compiled, adapter, budget, seed=case_seed(number, index), faults=faults)
        chooser = random.Random(f"{number}/{name}")
        try:
            beginning = corpus.chosen(chooser) if chooser.random() < CONTINUED else None
            if beginning is None:
                if chooser.random() < SET_UP:
                    set_up_first(driver)
                ways[chooser.randrange(len(ways)) if index % 2 else 0](driver)
            walk = SteeredWalk(compiled, driver, situations, chooser)
            walk.go(budget.walk_steps, beginning)
            corpus.keep(driver.case, walk.until_new)
            faults.stood(driver.case)
        except Diverged:
            pass
        after(driver)


@dataclass(frozen=True, slots=True)
class _CallMade:
    """A call that was made, and the texts in it that no call before had."""

    operation: str
    arguments: dict[str, Any]
    new: frozenset[str]


class SteeredWalk:
    """One case of a walk.

    until_new  how many events of the case there were when it had come to the last that no case had come to; 0: to none
    """

    def __init__(self, compiled: Compiled, driver: Driver, situations: Situations, chooser: random.Random) -> None:
        self._driver, self._situations, self._chooser = driver, situations, chooser
        self._story = Story()
        self._made: list[_CallMade] = []
        self._unseen: list[dict[str, Any]] = []  # the arguments of calls after which nobody has looked
        self._known: set[str] = set()  # texts that were given
        self._compiled = compiled
        self.until_new = 0
        self._operations = {each.name: each for each in compiled.kernel.operations if driver.offers(each.name)}
        self._saying = {
            name: {part.name for part in each.parameters if not (named_by(part) or takes_a_name(compiled, part))}
            for name, each in self._operations.items()
        } | {"wait": set()}
        weights = {name: chooser.choice(LIKED) * usual(each) for name, each in self._operations.items()}
        if driver.case.adapter.declaration.clock in MOVED:
            weights["wait"] = chooser.choice(LIKED) * WAITED
        optional = [
            (each.name, parameter.name)
            for each in self._operations.values()
            for parameter in each.parameters
            if parameter.default is not None
        ]
        seldom = {each for each in optional if chooser.random() < SELDOM_GIVEN}
        self._ahead = Ahead(driver, situations, instants_of(compiled), chooser, [*weights], [*weights.values()], seldom)

    def go(self, steps: int, beginning: Trace | None = None) -> None:
        """Make so many calls, after those of a `beginning` as far as these can be made here, and look at last."""
        if beginning is not None:
            self._begin(beginning)
        self._go(len(self._made) + steps)
        self._look()
        if self._driver.is_followed:
            self._driver.observe_all()

    def _begin(self, beginning: Trace) -> None:
        events, replies = self._driver.case.trace, dict[int, Observed]()
        for call in beginning.calls():
            before = len(events)
            try:
                arguments = {name: filled(value, replies) for name, value in call.arguments}
            except RowFailure:  # another reply than there
                return
            if not self._make(call.operation, arguments):
                return
            made = events[before]
            if isinstance(made, Observed):
                replies[call.number] = made

    def _go(self, steps: int) -> None:
        tried = 0
        while len(self._made) < steps and tried < 2 * steps:
            if not self._driver.is_followed:
                return
            tried += 1
            if self._chooser.random() < IDLY:
                self._go_idly()
                continue
            for intended, arguments in self._as_given(self._ahead.best(self._story)):
                if not self._make(intended.operation, arguments):
                    break

    def _go_idly(self) -> None:
        """Make any call, one of the last once more, or the last few many times over."""
        which = self._chooser.random() if self._made else 1.0
        if which < REPEATED:
            again = self._chooser.choice(self._made[-2:])
            self._make(again.operation, again.arguments)
        elif which < REPEATED + FLOODS:
            calls = self._made[-self._chooser.randint(1, MOST_FLOODED) :]
            self._flood(calls, self._chooser.choice(FLOODED) // len(calls))
            if self._driver.is_followed and self._chooser.random() < AFTER_FLOOD:
                self._make(calls[0].operation, calls[0].arguments)
        else:
            name = self._ahead.named()
            self._make(name, self._ahead.arguments(self._driver.case.judge.model, name))

    def _make(self, operation: str, arguments: dict[str, Any] | None) -> bool:
        """Make a call, unless it is better not made; return whether it was."""
        if arguments is None:
            return False
        story = self._story.fork()
        after = self._driver.case.judge.model.fork()
        found = self._ahead.thought(after, operation, arguments, story)
        if found is None or not self._driver.may(operation, arguments, after):
            return False
        self._story = story
        new_here = any(what[0] in DEEP and not self._situations.met[what] for _, what in found)
        self._situations.note(found)
        new = {value for value in arguments.values() if isinstance(value, str)} - self._known
        self._made.append(_CallMade(operation, arguments, frozenset(new)))
        self._known |= new
        self._ahead.said[operation] = {
            name: value for name, value in arguments.items() if name in self._saying[operation]
        }
        self._driver.make(operation, arguments)
        self.until_new = len(self._driver.case.trace) if new_here else self.until_new
        self._unseen.append(arguments)
        if self._chooser.random() < (SELDOM_LOOKS if self._situations.wide else OFTEN_LOOKS):
            self._look()
        return True

    def _look(self) -> None:
        """Look at what the calls were about after which nobody has looked."""
        if self._unseen:
            self._driver.observe(*self._unseen)
            self._unseen.clear()

    def _as_given(self, calls: Sequence[Intended]) -> Iterator[tuple[Intended, dict[str, Any]]]:
        """Walk calls as they were tried, with the ids that the system gave by then instead of those of the model."""
        given: dict[str, str] = {}
        for intended in calls:
            before = self._situations.ids(self._driver.case.judge.model)
            yield intended, {name: _with(value, given) for name, value in intended.arguments.items()}
            now = self._situations.ids(self._driver.case.judge.model)
            for entity, ids in intended.made.items():
                new = [each for each in now[entity] if each not in before[entity]]
                given.update(zip(ids, new, strict=False))

    # ── The same many times over ──

    def _flood(self, calls: Sequence[_CallMade], times: int) -> None:
        """Make calls so often, each time about what is new then; until too many ways of what may come would be open."""
        judge, faults = self._driver.case.judge, self._driver.faults
        varied = self._situations.wide and self._chooser.random() < VARIED
        for _ in range(times):
            renamed: dict[str, str] = {}
            for made in calls:
                again = self._anew(made, renamed)
                if again is not None and varied:
                    again |= self._other_values(made)
                if again is None or faults.late() or len(judge.lockstep.configurations) > 1:
                    return
                after = judge.model.fork()
                if self._ahead.thought(after, made.operation, again, Story()) is None:
                    return
                if not self._driver.may(made.operation, again, after):
                    return
                self._driver.make(made.operation, again)

    def _anew(self, made: _CallMade, renamed: dict[str, str]) -> dict[str, Any] | None:
        """Return the arguments of a call, about the newest record where it was about one that comes and goes.

        For a text that was new then there is a new one, the same in all calls of a round; `renamed` says which.
        """
        found = dict(made.arguments)
        newest = {name: ids[-1:] for name, ids in self._situations.ids(self._driver.case.judge.model).items()}
        for parameter in self._operations[made.operation].parameters if made.operation != "wait" else ():
            value = found.get(parameter.name)
            if not isinstance(value, str):
                continue
            if parameter.entity in newest:
                if not newest[parameter.entity]:
                    return None
                found[parameter.name] = newest[parameter.entity][0]
                continue
            if value in made.new and value not in renamed and takes_a_name(self._compiled, parameter):
                renamed[value] = self._driver.new_text(made.operation, parameter.name) or value
            found[parameter.name] = renamed.get(value, value)
        return found

    def _other_values(self, made: _CallMade) -> dict[str, Any]:
        """Draw the arguments of a call that name nothing, as far as it was given some."""
        if made.operation == "wait":
            return {}
        drawn = next(self._driver.draws_for(self._driver.case.judge.model, made.operation, self._chooser)) or {}
        plain = (each.name for each in self._operations[made.operation].parameters if _is_plain(each))
        return {name: drawn[name] for name in plain if name in made.arguments and name in drawn}


def usual(operation: kernel.Operation) -> float:
    """Return how often an operation is tried: seldom one that names no record, and ends what there is or changes a setting.

    What whoever tests changes around the system is no setting of it; and to let go of what may go ends nothing.
    """
    effects = list(kernel.walk(operation.effects))
    named = any(map(named_by, operation.parameters))
    if named or lets_go(operation) or any(isinstance(each, kernel.Create) for each in effects):
        return 1.0
    ends = any(isinstance(each, kernel.ForEach | kernel.Remove) for each in effects)
    sets = any(isinstance(each, kernel.Set) and each.record is None for each in effects)
    if ends or (sets and not operation.control):
        return SELDOM
    return 1.0 if effects else LOOKING


def _is_plain(parameter: kernel.Parameter) -> bool:
    """Return whether a parameter is no id and no name that records have: an outcome, a number, a record, a list of such."""
    kind = present(parameter.type)
    return not parameter.entity and not isinstance(kind.item if isinstance(kind, List) else kind, Id | Text)


def _with(value: Any, given: Mapping[str, str]) -> Any:
    match value:
        case str():
            return given.get(value, value)
        case list():
            return [_with(each, given) for each in value]
        case dict():
            return {name: _with(each, given) for name, each in value.items()}
        case _:
            return value
