"""What drives a case, and the Hypothesis machine that does: one rule for each operation, judged against the model step by step.

A number is mapped onto the arguments that are worth trying where the model is, so that Hypothesis, walks and pairs draw in one way.
After a call the observers are asked. One idea: the driver of a case, which all searches share.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from hypothesis import Phase, event, seed
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from conformance.budget import USUAL, Budget
from conformance.judge import CASES_OF_A_SEED, BrokenCalls, CallFailed, Case, Finding, case_seed, kernel_facts
from conformance.search.faults import Diverged, Faults
from conformance.search.odd_values import LONG_WAIT, beside_usual, waits_long
from conformance.search.prefill import prefills
from conformance.search.strategies import settings_of
from conformance.system import MOVED, Adapter
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.explore import Chooser, Gone, choosers, numbers_held, worth_trying
from statemachines.expression import python_name
from statemachines.model import ABSENT, BaseModel, Impossible, Restless, Timer
from statemachines.quiescence import reached
from statemachines.types import Id, List, present

# Numbers that stand for arguments: more than there are. Of a larger range Hypothesis prefers the small ones.
NUMBERS = 2**24
WAITS = (1, 7, 1000, 60_000, 86_400_000)  # milliseconds: time alone must not change what no rule changes
HELD = 4  # times as often as another number one is given that a rule compares with what a record holds: mostly only that is accepted
NOTHING = 0.08  # of the draws have nothing in each argument that may hold nothing
EMPTY: tuple[Any, ...] = (0, "", [])  # and what is false
MANY_UNKNOWN = 5  # ids that nobody has, in one list
EACH_END = 6  # records of an entity, of the oldest and of the newest ones, that are looked at last of all
LOOKED_WIDELY = 0.25  # of the looks of a caller beside another one are about anything
# States that steps of its own may lead to after a call: the judge follows each of them at every look.
MOST_REACHED = 128
MOST_COST = 300  # configurations that one event is judged on, beyond which a search ends a case
MOST_EXPLANATIONS = 32  # of what was seen, beyond which a search ends a case: each call takes as many times as long
LONGEST_CASE = 10_000  # milliseconds within which a case is over
LONGEST_COSTLY_CASE = 60_000  # the same where each call is a process
# Timers that fire while a search waits: a longer wait shows nothing else, and takes the judge as much longer.
MOST_FIRED = 1_000


class Driver:
    """One case of the machine: makes the calls, and asks the observers after each.

    `over` once it has diverged, and nothing more can be told of it.
    """

    def __init__(
        self,
        compiled: Compiled,
        adapter: Adapter,
        budget: Budget = USUAL,
        *,
        seed: int = 0,
        faults: Faults | None = None,
    ) -> None:
        self.faults = Faults(BrokenCalls(adapter)) if faults is None else faults
        self.faults.broken.begin()
        self.case = Case(compiled, adapter, seed, budget, self.faults.suspicion)
        self.over = False
        self.offers = adapter.offers
        longest = LONGEST_COSTLY_CASE if adapter.costly else LONGEST_CASE
        self.soon = longest if adapter.declaration.clock == "none" else 0
        self._compiled = compiled
        self._draws = budget.draws
        self._choosers = _choosers(compiled)
        self.gone = Gone(compiled.kernel)
        self._looks = 0
        self._choices_now: dict[str, list[tuple[str, list[list[Any]]]]] = {}  # until the next call
        self._observers = [each for each in kernel_facts.of(compiled).observers() if adapter.offers(each.name)]

    @property
    def is_followed(self) -> bool:
        """Whether what comes next can be judged, and in no more ways than anybody would follow."""
        judge = self.case.judge
        lockstep = judge.lockstep
        return (
            not (judge.unsure and not lockstep.blind)
            and len(lockstep.configurations) <= MOST_EXPLANATIONS
            and lockstep.cost <= MOST_COST
        )

    def call(self, operation: str, number: int) -> None:
        """Make a call with the arguments that a number stands for, then look."""
        self.take(operation, self.arguments(operation, number))

    def take(self, operation: str, arguments: dict[str, Any] | None) -> None:
        """Make a call, if there are arguments and it may be made, then look."""
        if arguments is not None and self.may(operation, arguments):
            self.make(operation, arguments)
            self.observe(arguments)

    def may(self, operation: str, arguments: dict[str, Any], after: BaseModel | None = None) -> bool:
        """Return whether a call had better be made now: the spec says what comes of it, and it has broken no case.

        After it the system may not be in too many states by what it does of its own. A wait had better be made if not too many
        timers fire meanwhile; and no call of a system that says nothing of its clock that starts a timer which may fire before
        the case is over, `soon`: nobody knows whether it has. `after` is the model as the call would leave it, if that is known.
        """
        after = self._after([(operation, arguments)]) if after is None else after
        if after is None or _sprawls(after):
            return False
        if self.soon and operation != "wait" and self._starts_short_timer(after):
            return False
        return not self.faults.broken.shuns(operation) and not self.avoided(operation, arguments)

    def _after(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> BaseModel | None:
        """Return the model as it is after some calls; None where nobody can tell, or that takes too long."""
        model = self.case.judge.model.fork()
        try:
            for operation, arguments in calls:
                if operation == "wait":
                    model.wait(arguments["ms"], most=MOST_FIRED)
                elif model.decide(operation, arguments).accept:
                    model.do(operation, arguments)
                    model.settle()
        except (Impossible, Restless):  # the model may be one that lacks a sentence
            return None
        return model

    def _starts_short_timer(self, after: BaseModel) -> bool:
        return fires_soon(after, self.case.judge.model.fork().deadlines(), self.soon)

    def new_text(self, operation: str, parameter: str) -> str | None:
        """Return a text for a parameter that no record has yet; None where it takes none."""
        groups = dict(self._choices(operation)).get(parameter, [])
        return next((value for group in groups for value in group if isinstance(value, str)), None)

    def avoided(self, operation: str, arguments: dict[str, Any]) -> bool:
        """Return whether the spec leaves open what a call would do here, or whether it comes back."""
        return self.case.judge.lockstep.avoids(operation, arguments)

    def waits(self, operation: kernel.Operation, arguments: dict[str, Any]) -> bool:
        """Return whether a call would not come back here before something else has happened, or its time is over."""
        lockstep = self.case.judge.lockstep
        if operation.waits is None:
            return operation.blocks and lockstep.avoids(operation.name, arguments)
        lasts = lockstep.blocks_for(operation.name, arguments)
        return bool(lasts) and not lockstep.model.fork().ends_wait(operation.name, arguments)

    def enabled(self, operation: str, arguments: dict[str, Any]) -> bool:
        """Return whether a call would be carried out now."""
        if operation == "wait":
            return True
        decision = self.case.judge.lockstep.decision(operation, arguments)
        return decision.accept and not decision.avoid

    def arguments(self, operation: str, number: int) -> dict[str, Any] | None:
        """Return the arguments that a number stands for in the present configuration; None where there are none."""
        return _chosen(self._choices(operation), number)

    def _choices(self, operation: str, model: BaseModel | None = None) -> list[tuple[str, list[list[Any]]]]:
        """Return the values that each parameter can have in a configuration, those that are alike together."""
        if model is None:
            if operation not in self._choices_now:
                self._choices_now[operation] = self._choices(operation, self.case.judge.model)
            return self._choices_now[operation]
        if operation == "wait":
            return [("ms", [[ms] for ms in WAITS])]
        found = []
        for parameter, chooser in self._choosers[operation]:
            values = worth_trying(parameter, chooser, model, self.gone)
            long = [[ms] for name, ms in self.waiting_long(operation).items() if name == parameter.name]
            more = beside_usual(self._compiled, operation, parameter, values)
            held = numbers_held(self._compiled).get((operation, parameter.name))
            known = [[each] for each in held(model)] * HELD if held is not None else []
            found.append((parameter.name, [*self._alike(parameter, values, model), *more, *known, *long]))
        return self._answered_alike(operation, found, model)

    def waiting_long(self, operation: str) -> dict[str, int]:
        """Return the arguments with which a call of an operation waits for long; none where it may not, or that takes time."""
        longest = waits_long(self._compiled) if self.case.adapter.declaration.clock == "virtual" else ()
        return {name: LONG_WAIT for asked, name in longest if asked == operation}

    def _answered_alike(
        self, operation: str, choices: list[tuple[str, list[list[Any]]]], model: BaseModel
    ) -> list[tuple[str, list[list[Any]]]]:
        """Split each group of ids by how the model would answer the call, for states do not tell all.

        Of many leases of one job one is held and all others are over, which only the rules of an operation say.
        """
        if not all(groups for _, groups in choices):
            return choices
        first = {name: groups[0][0] for name, groups in choices if groups[0][0] is not ABSENT}

        def answered(name: str, value: Any) -> Hashable:
            decision = self.case.judge.lockstep.decision(operation, {**first, name: value}, model)
            return decision.accept, decision.refuse

        ids = {parameter.name for parameter, _ in self._choosers[operation] if parameter.entity}

        def apart(name: str, group: list[Any]) -> list[list[Any]]:
            if name not in ids or len(group) < 2 or not all(isinstance(value, str) for value in group):
                return [group]
            alike: dict[Hashable, list[Any]] = {}
            for value in group:
                alike.setdefault(answered(name, value), []).append(value)
            return list(alike.values())

        return [(name, [part for group in groups for part in apart(name, group)]) for name, groups in choices]

    def drawn(self, operation: str, chooser: random.Random, tries: int | None = None) -> dict[str, Any] | None:
        """Draw arguments with which a call does something, if some are found in so many tries; None where there are none."""
        choices = self._choices(operation)
        first: dict[str, Any] | None = None
        for _ in range(tries or self._draws):
            given = _chosen(choices, chooser.randrange(NUMBERS))
            if given is None or self.enabled(operation, given):
                return given
            first = given if first is None else first
        return first

    def draws_for(self, model: BaseModel, operation: str, chooser: random.Random) -> Iterator[dict[str, Any] | None]:
        """Draw arguments for a call on some model, whatever comes of it, again and again; None where there are none."""
        choices = self._choices(operation, model)
        while True:
            found = _chosen(choices, chooser.randrange(NUMBERS))
            yield _nothing(choices, found) if found and chooser.random() < NOTHING else found

    def _alike(self, parameter: kernel.Parameter, values: Sequence[Any], model: BaseModel) -> list[list[Any]]:
        """Put the ids of records in one state together, so that each state is asked about as often as any other.

        A registry holds many ended records and few active ones. Of a list of ids there is each of them alone as well, one of
        each state twice, all the other way round, and some that nobody has.
        """
        kind = present(parameter.wire)
        if isinstance(kind, List) and isinstance(kind.item, Id) and kind.item.entity:
            whole: list[Any] = max((each for each in values if isinstance(each, list)), key=len, default=[])
            apart = self._by_state(kind.item.entity, whole, model)
            alone = [[[each] for each in some] for some in apart] if len(whole) > 1 else []
            twice = [[some[-1], some[-1]] for some in apart]
            backwards = [whole[::-1]] if len(whole) > 1 else []
            unknown = [[f"{each}-{number}" for number in range(MANY_UNKNOWN)] for each in whole[-1:]]
            return [*([value] for value in values), *alone, *filter(None, (twice, backwards, unknown))]
        if not parameter.entity:
            return [[value] for value in values]
        return self._by_state(parameter.entity, values, model)

    def _by_state(self, entity: str, values: Sequence[Any], model: BaseModel) -> list[list[Any]]:
        records = getattr(model, python_name(self._compiled.kernel.entity(entity).collection))
        found: dict[str, list[Any]] = {}
        for value in values:
            record = records.get(value) if isinstance(value, str) else None
            state = getattr(record, "state", "") if record is not None else repr(value)
            found.setdefault(state, []).append(value)
        return list(found.values())

    def made(self, operation: str, arguments: dict[str, Any] | None) -> bool:
        """Make a call, unless it is better not made, or the system does not offer it; return whether it was."""
        offered = operation == "wait" or self.offers(operation)
        if arguments is None or not (offered and self.is_followed and self.may(operation, arguments)):
            return False
        self.make(operation, arguments)
        return True

    def make(self, operation: str, arguments: dict[str, Any]) -> None:
        """Make one call; raise Diverged when it diverges."""
        try:
            self.case.call(operation, arguments)
        except CallFailed as failed:
            raise self.diverged(failed.finding) from None
        self.look()

    def look(self) -> None:
        """See which records are gone. Raises Diverged when the last call did, and when enough faults have been seen."""
        self._choices_now.clear()
        self.gone.look(self.case.judge.model)
        if self.case.judge.deviations:
            self.faults.take(self.case)
        if self.case.finding is not None and not self.case.judge.unsure:
            raise self.diverged(self.case.finding)
        if self.faults.enough and self.faults.first is not None:
            raise self.faults.first

    def diverged(self, finding: Finding) -> Diverged:
        """Take note of how a case ends."""
        self.over = True
        self.faults.take(self.case)
        self.faults.broken.ended(finding, looking=kernel_facts.of(self._compiled).observes(finding.operation))
        return Diverged(finding, self.case)

    def astray(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> bool:
        """Return whether calls, one after the other, come to where the spec leaves open what happens, by some explanation.

        Or where nobody knows it, as with timers of a system that says nothing of its clock.
        """
        if self.soon:
            after = self._after(calls)
            if after is None or self._starts_short_timer(after):
                return True
        lockstep = self.case.judge.lockstep
        if not any(lockstep.stepper.facts.leaves_open(operation) for operation, _ in calls):
            return False
        models = (model for each in lockstep.decided() for model in lockstep.rests(each.model))
        return any(_goes_astray(model.fork(), calls) for model in models)

    def observe(self, *calls: dict[str, Any]) -> None:
        """Ask every observer: about everything, and about the records of the last calls and those that came or left since.

        A look that finds nothing wrong is noted as such: mostly a fault shows without it.
        """
        self._look_at(calls, self.gone.came_or_left(), whole=False)

    def only_shows(self, operation: str) -> bool:
        """Return whether an operation only shows something."""
        return any(each.name == operation for each in self._observers)

    def look_at(self, arguments: dict[str, Any], chooser: random.Random) -> tuple[str, dict[str, Any]] | None:
        """Draw a look that tells of what a call with these arguments is about; None where there is none to be made."""
        about = {repr(each) for each in arguments.values()}
        asked = [
            (each.name, chosen)
            for each in self._observers
            if not self.faults.broken.shuns(each.name)
            for chosen in self._about(each, arguments, {}, whole=True)
        ]
        near = [each for each in asked if not about.isdisjoint(map(repr, each[1].values()))]
        looks = near if near and chooser.random() > LOOKED_WIDELY else asked
        look = chooser.choice(looks) if looks else None
        return None if look is None or self.avoided(*look) else look

    def observe_all(self) -> None:
        """Ask every observer about what is there: what was done to one record must not have changed another.

        Of many records these are the oldest and the newest ones.
        """
        model, there = self.case.judge.model, dict[str, list[str]]()
        for entity in (each for each in self._compiled.kernel.entities if not each.fixed):
            keys = [*getattr(model, python_name(entity.collection))]
            there[entity.name] = list(dict.fromkeys([*keys[:EACH_END], *keys[-EACH_END:]]))
        self._look_at(({},), there, whole=True)

    def _look_at(self, calls: Sequence[dict[str, Any]], changed: dict[str, list[str]], *, whole: bool) -> None:
        self._looks += 1
        for operation in self._observers:
            asked: list[dict[str, Any]] = []
            looks = (self._about(operation, arguments, changed, whole=whole) for arguments in calls)
            for chosen in itertools.chain.from_iterable(looks):
                if chosen in asked or self.faults.broken.shuns(operation.name):
                    continue
                asked.append(chosen)
                if not self.avoided(operation.name, chosen):
                    self.make(operation.name, chosen)
                    self.case.looks.add(len(self.case.trace) - 1)

    def _about(
        self, operation: kernel.Operation, arguments: dict[str, Any], changed: dict[str, list[str]], *, whole: bool
    ) -> list[dict[str, Any]]:
        """Return the arguments to ask an observer with: no list and a whole one, its call's records, what came or left.

        Of what else it may be asked with that is all in a `whole` look, and in others no owner, that of the call, and one more in turn;
        of fixed records, such as threads, all where the call names none of them: each look costs as much as a call.
        """
        found: list[dict[str, Any]] = [{}]
        for parameter, chooser in self._choosers[operation.name]:
            name = parameter.name
            entity = self._compiled.kernel.entity(parameter.entity) if parameter.entity else None
            if entity is not None and not entity.fixed:
                values = [*([arguments[name]] if name in arguments else []), *changed.get(entity.name, ())]
            elif isinstance(present(parameter.type), List):
                every = [*chooser(self.case.judge.model)]
                lists = (each for each in every if isinstance(each, list))
                values = [*(each for each in every if each is ABSENT), max(lists, key=len, default=[])]
            else:
                values = list(chooser(self.case.judge.model))
                if not whole and (entity is None or name in arguments):
                    own = [each for each in values if each in (ABSENT, arguments.get(name, ABSENT))]
                    others = [each for each in values if each not in own]
                    values = [*own, *([others[self._looks % len(others)]] if others else [])]
            found = [chosen if value is ABSENT else {**chosen, name: value} for chosen in found for value in values]
        return found


def fires_soon(model: BaseModel, before: Collection[Timer], soon: int) -> bool:
    """Return whether a timer that was not there `before` may fire within so many milliseconds, though nobody waits."""
    return any(each[0] <= model.now + soon for each in model.deadlines() if each not in before)


def _sprawls(model: BaseModel) -> bool:
    """Return whether what a model may do of its own leads to more states than anybody would follow."""
    return len(list(itertools.islice(reached(model, MOST_REACHED + 1), MOST_REACHED + 1))) > MOST_REACHED


def _goes_astray(model: BaseModel, calls: Sequence[tuple[str, dict[str, Any]]]) -> bool:
    try:
        for operation, arguments in calls:
            decision = model.decide(operation, arguments)
            if decision.avoid:
                return True
            if decision.accept:
                model.do(operation, arguments)
                model.settle()
    except (Impossible, Restless):  # the model may be one that lacks a sentence
        return True
    return False


def _chosen(choices: list[tuple[str, list[list[Any]]]], number: int) -> dict[str, Any] | None:
    """Return the arguments that a number stands for: a group of values for each parameter, then one of the group."""
    found: dict[str, Any] = {}
    for name, alike in choices:
        if not alike:
            return None
        number, index = divmod(number, len(alike))
        number, place = divmod(number, len(alike[index]))
        value = alike[index][place]
        if value is not ABSENT:
            found[name] = value
    return found


def _nothing(choices: list[tuple[str, list[list[Any]]]], drawn: dict[str, Any]) -> dict[str, Any]:
    """Return drawn arguments with 0, false, or nothing in it in place of each that may be so: a system may take all of it for none."""
    least = {name: value for name, groups in choices for group in groups for value in group if value in EMPTY}
    return {name: least.get(name, value) for name, value in drawn.items()}


@lru_cache(maxsize=8)
def _choosers(compiled: Compiled) -> dict[str, list[tuple[kernel.Parameter, Chooser]]]:
    return {
        operation.name: [*zip(operation.parameters, choosers(compiled, operation, {}), strict=True)]
        for operation in compiled.kernel.operations
    }


def machine(
    compiled: Compiled,
    adapter: Adapter,
    budget: Budget,
    *,
    after: Callable[[Driver], None],
    faults: Faults,
    number: int = 0,
) -> type[RuleBasedStateMachine]:
    """Make the machine of a lifecycle for an adapter; the seeds of its cases are among those of `number`.

    `after` is told every case that ended. A case that diverges is at its end; the machine is when enough was found.
    """
    ways = prefills(compiled, adapter.declaration, budget.prefilled)

    def create(self: Any) -> None:
        RuleBasedStateMachine.__init__(self)
        self.driver = None

    def begin(self: Any, drawn: int) -> None:
        if faults.over:  # when enough is found Hypothesis makes the case again that found it
            return
        case, way = divmod(drawn, len(ways))
        of_case = case_seed(number, case % CASES_OF_A_SEED)
        self.driver = Driver(compiled, adapter, budget, seed=of_case, faults=faults)
        with _until_it_diverges(self.driver):
            ways[way](self.driver)

    def teardown(self: Any) -> None:
        if self.driver is None:
            return
        for path in sorted(self.driver.case.judge.lockstep.witnessed()):
            event(path)
        after(self.driver)
        if not self.driver.over:
            faults.stood(self.driver.case)

    body: dict[str, Any] = {
        "__init__": create,
        "teardown": teardown,
        "prefill": initialize(drawn=st.integers(0, NUMBERS - 1))(begin),
    }
    names = [operation.name for operation in compiled.kernel.operations if adapter.offers(operation.name)]
    for name in [*names, *(["wait"] if adapter.declaration.clock in MOVED else [])]:
        body[name] = rule(number=st.integers(0, NUMBERS - 1))(_step(name))
    return type(f"{compiled.lifecycle.name.title().replace('-', '')}Machine", (RuleBasedStateMachine,), body)


@contextmanager
def _until_it_diverges(driver: Driver) -> Iterator[None]:
    try:
        yield
    except Diverged:
        driver.over = True
        if driver.faults.enough:
            raise


def _step(name: str) -> Callable[[Any, int], None]:
    def step(self: Any, number: int) -> None:
        if self.driver is not None and not self.driver.over:
            with _until_it_diverges(self.driver):
                self.driver.call(name, number)

    step.__name__ = name
    return step


def search(
    compiled: Compiled,
    adapter: Adapter,
    number: int,
    budget: Budget,
    *,
    after: Callable[[Driver], None],
    faults: Faults,
) -> None:
    """Run the machine until enough is found; a fault is kept as it was found, for our own shrinker."""
    seeded = seed(number)(machine(compiled, adapter, budget, after=after, faults=faults, number=number))
    settings = settings_of(budget.stateful_tests, stateful_step_count=budget.stateful_steps, phases=(Phase.generate,))
    try:
        run_state_machine_as_test(seeded, settings=settings)
    except (Diverged, Flaky):  # flaky: it failed and then it did not; playing it again will tell
        if faults.first is None:
            raise
