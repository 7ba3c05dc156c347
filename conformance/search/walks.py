"""Walks that the model steers: long cases, each call chosen for what no case has come to yet.

Every so often a walk goes a way that was planned, or waits until just before something comes and then until it has, or a call is made for
no reason, or once more, or the last few many times over.
Each walk prefers other operations, and leaves out other arguments that may be left out; nearly half begin with a registry that is
nearly full, or too full, or crowded, or in which records have grown old.
What counts as new is a narrow choice for half of the walks. The others take it widely, and count for themselves: where more is told apart,
each of it is come to less often. One idea: the walk.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.budget import Budget
from conformance.judge import CASES_OF_A_SEED, case_seed
from conformance.search.ahead import Intended, ahead_of
from conformance.search.faults import Diverged, Faults
from conformance.search.plans import CALLS_PLANNED, PlannedWay, as_given, chosen, planned
from conformance.search.prefill import prefills, set_up
from conformance.search.records import Story, named_by
from conformance.search.situations import Situations, takes_a_name
from conformance.search.stateful import Driver
from conformance.system import Adapter
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.rows import WAIT
from statemachines.types import Id, List, Text, present

IDLY = 0.15  # of the calls are made whatever comes of them
REPEATED = 0.3  # of those are the same as one shortly before
FLOODS = 0.3  # of those are the last few calls, many times over
MOST_FLOODED = 4  # calls that are the last few
VARIED = 0.5  # of the floods of a walk that takes widely what is new: other values each time
AFTER_FLOOD = 0.5  # of the floods are followed by the first of those calls as it was: what is forgotten by then shows
FLOODED = (10, 60, 120)  # calls, more or less, of all those times
OFTEN_LOOKS = 0.4  # how often a walk looks after a call: looks cost most of the time, and may mend what is wrong
SELDOM_LOOKS = 0.2  # how often one does that takes widely what is new
WIDE_FROM = CASES_OF_A_SEED // 2  # the number of the first walk that takes widely what is new: no other has it
SET_UP = 0.25  # of the walks begin when some time has passed, and something that is about no record was called
ONCE_MORE = 0.05  # of the steps are the last call once more, some time later: what was noted of the first one must not be overwritten
MUCH_LATER = 0.5  # of these come when most of the time has passed until something comes, which must not be put off; others a millisecond later
AS_PLANNED = 0.12  # of the steps are ways that were planned, of several calls each
THEN_WAITS = 0.5  # of those are followed by a wait, so that what comes of them shows, and as many of these by another
ON_TIME = 0.15  # of the steps are waits until just before something comes, and then until it has: what comes too soon looks right a moment later


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
    beginnings = prefills(compiled, adapter.declaration, budget.prefilled)
    set_up_first = set_up(compiled, adapter.declaration)
    narrow, wide = Situations(compiled), Situations(compiled, wide=True)
    ways: list[PlannedWay] | None = None
    numbers = range(first, first + budget.walks)
    cases = [((narrow, each, f"{each}"), (wide, WIDE_FROM + each, f"wide/{each}")) for each in numbers]
    # In turn: neither kind waits until the other one has made all its walks.
    for situations, index, name in itertools.chain(*cases):
        if faults.over:
            break
        driver = Driver(compiled, adapter, budget, seed=case_seed(number, index), faults=faults)
        chooser = random.Random(f"{number}/{name}")
        if ways is None:
            ahead = ahead_of(driver, Situations(compiled), random.Random(f"{number}/{first}/plans"))
            ways = planned(ahead, CALLS_PLANNED * budget.walks)
        try:
            if chooser.random() < SET_UP:
                set_up_first(driver)
            beginnings[chooser.randrange(len(beginnings)) if index % 2 else 0](driver)
            SteeredWalk(compiled, driver, situations, chooser, ways).go(budget.walk_steps)
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
    """One case of a walk, that may go some ways which were planned."""

    def __init__(
        self,
        compiled: Compiled,
        driver: Driver,
        situations: Situations,
        chooser: random.Random,
        ways: Sequence[PlannedWay] = (),
    ) -> None:
        self._driver, self._situations, self._chooser, self._ways = driver, situations, chooser, ways
        self._story = Story()
        self._made: list[_CallMade] = []
        self._unseen: list[dict[str, Any]] = []  # the arguments of calls after which nobody has looked
        self._known: set[str] = set()  # texts that were given
        self._compiled = compiled
        self._operations = {each.name: each for each in compiled.kernel.operations if driver.offers(each.name)}
        self._saying = {
            name: {part.name for part in each.parameters if not (named_by(part) or takes_a_name(compiled, part))}
            for name, each in self._operations.items()
        } | {WAIT: set()}
        self._ahead = ahead_of(driver, situations, chooser)

    def go(self, steps: int) -> None:
        """Make so many calls, and look at last."""
        self._go(steps)
        self._look()
        if self._driver.is_followed:
            self._driver.observe_all()

    def _go(self, steps: int) -> None:
        tried = 0
        while len(self._made) < steps and tried < 2 * steps:
            if not self._driver.is_followed:
                return
            tried += 1
            if self._chooser.random() < AS_PLANNED:
                self._go_as_planned()
            elif self._chooser.random() < ONCE_MORE:
                self._go_again()
            elif self._ahead.instants.are_there and self._chooser.random() < ON_TIME:
                self._go_on_time()
            elif self._chooser.random() < IDLY:
                self._go_idly()
            else:
                self._play(self._ahead.best(self._story))

    def _go_as_planned(self) -> None:
        """Go a way to what seldom happened so far; often some time passes then, so that what comes of it is seen."""
        way = chosen(self._ways, self._situations, self._chooser)
        if way is not None:
            self._play(way.calls, anew=True)
        while WAIT in self._ahead.names and self._chooser.random() < THEN_WAITS:  # one timer may start another
            until = self._ahead.instants.waits(self._driver.case.judge.model)
            if not (until and self._made_on(WAIT, {"ms": self._chooser.choice(until)})):
                return

    def _go_again(self) -> None:
        """Make the last call that is no wait once more, a moment later, or most of the time until something comes; then the rest passes."""
        last = next((each for each in reversed(self._made) if each.operation != WAIT), None)
        if last is None or WAIT not in self._ahead.names:
            return
        ends = [*self._ahead.instants.coming(self._driver.case.judge.model)]
        end = self._chooser.choice(ends) if ends and self._chooser.random() < MUCH_LATER else 0
        part = 2 * end // 3
        again = self._made_on(WAIT, {"ms": part or 1}) and self._made_on(last.operation, last.arguments)
        if again and part:
            self._made_on(WAIT, {"ms": end - part + 1})

    def _go_on_time(self) -> None:
        """Wait until a millisecond before something may change, and look; then until it may, or a millisecond longer, and look."""
        ends = {ms: of for ms, of in self._ahead.instants.coming(self._driver.case.judge.model).items() if ms}
        if not ends or WAIT not in self._ahead.names:
            return
        cause = self._chooser.choice([*dict.fromkeys(ends.values())])
        before = self._chooser.choice([ms for ms, of in ends.items() if of == cause]) - 1
        for ms in (before, self._chooser.choice((1, 2))):
            if ms and not self._made_on(WAIT, {"ms": ms}):
                return
            self._look()

    def _play(self, calls: Sequence[Intended], *, anew: bool = False) -> None:
        """Make calls, as far as they can be made; `anew` with other names than those that the case has given by now."""
        known, renamed = frozenset(self._known), dict[str, str]()
        for operation, arguments in as_given(calls, lambda: self._situations.ids(self._driver.case.judge.model)):
            given = self._renamed(operation, arguments, known, renamed) if anew else arguments
            if not self._made_on(operation, given):
                return

    def _made_on(self, operation: str, arguments: dict[str, Any]) -> bool:
        """Make a call, unless it is better not made, or nobody can follow what was made before; return whether it was."""
        return self._driver.is_followed and self._make(operation, arguments)

    def _renamed(
        self, operation: str, arguments: Mapping[str, Any], known: Collection[str], renamed: dict[str, str]
    ) -> dict[str, Any]:
        """Return the arguments of a call with a new name for each that is `known`; the same in all calls: `renamed` says which."""
        found = dict(arguments)
        for parameter in self._operations[operation].parameters if operation != WAIT else ():
            value = found.get(parameter.name)
            if not isinstance(value, str):
                continue
            if value in known and value not in renamed and takes_a_name(self._compiled, parameter):
                renamed[value] = self._driver.new_text(operation, parameter.name) or value
            found[parameter.name] = renamed.get(value, value)
        return found

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
        self._situations.note(found)
        new = {value for value in arguments.values() if isinstance(value, str)} - self._known
        self._made.append(_CallMade(operation, arguments, frozenset(new)))
        self._known |= new
        self._ahead.said[operation] = {
            name: value for name, value in arguments.items() if name in self._saying[operation]
        }
        self._driver.make(operation, arguments)
        self._unseen.append(arguments)
        if self._chooser.random() < (SELDOM_LOOKS if self._situations.wide else OFTEN_LOOKS):
            self._look()
        return True

    def _look(self) -> None:
        """Look at what the calls were about after which nobody has looked."""
        if self._unseen:
            self._driver.observe(*self._unseen)
            self._unseen.clear()

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
        found = self._renamed(made.operation, made.arguments, made.new, renamed)
        newest = {name: ids[-1:] for name, ids in self._situations.ids(self._driver.case.judge.model).items()}
        for name, entity, _ in self._situations.records_named.get(made.operation, ()):
            if not isinstance(found.get(name), str) or entity not in newest:
                continue
            if not newest[entity]:
                return None
            found[name] = newest[entity][0]
        return found

    def _other_values(self, made: _CallMade) -> dict[str, Any]:
        """Draw the arguments of a call that name nothing, as far as it was given some."""
        if made.operation == WAIT:
            return {}
        drawn = next(self._driver.draws_for(self._driver.case.judge.model, made.operation, self._chooser)) or {}
        plain = (each.name for each in self._operations[made.operation].parameters if _is_plain(each))
        return {name: drawn[name] for name in plain if name in made.arguments and name in drawn}


def _is_plain(parameter: kernel.Parameter) -> bool:
    """Return whether a parameter is no id and no name that records have: an outcome, a number, a record, a list of such."""
    kind = present(parameter.type)
    return not parameter.entity and not isinstance(kind.item if isinstance(kind, List) else kind, Id | Text)
