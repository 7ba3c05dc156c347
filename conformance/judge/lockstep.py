"""The model and the system side by side.

Held are the configurations of the model that explain everything observed so far. When none is
left, the system has done what no right one does: a finding, with the clause, what was expected and
what was seen. One idea: what an event makes of these configurations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from conformance.budget import Budget
from conformance.judge.differences import Difference
from conformance.judge.finding import BESIDE, NO_SIGNAL, NO_WAY, Finding, cannot_be, either, said
from conformance.judge.history import Event, History, calls_of, explanations
from conformance.judge.matching import comparable, permitted, required, silent, texts
from conformance.judge.observation import files
from conformance.judge.step import Configuration, Stepper, in_each, noted
from conformance.system import Declaration, each_answer, ordered_by_completion
from conformance.verdict import NONE_SENT
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Decision, Impossible, Outcome, Signal
from statemachines.quiescence import reached, settled
from statemachines.rows import Observed
from statemachines.types import holds_documents
from statemachines.undecided import Undecided, each_choice, joined, read_of, with_each_choice

Found = TypeVar("Found")

DOUBTED = 4
"""Records to which anything may have come, whether or not what is seen speaks of them."""
FOLLOWED_WHOLE = 8
"""Configurations from each of which all the steps of the system's own are followed that the budget has."""


class Lockstep:
    """Holds the configurations of one case; `advance` takes what was observed, and returns a finding, or None.

    A system need not do what the `deviating` clauses say, or each time: the models with each of them and without are
    followed side by side, and where none of them explains what comes, each may go on as another.

    seen    1 for each clause that was witnessed
    blind   ties depend on instants that nobody can see
    unsure  it is blind, or a cap was reached: a finding need not be a fault
    """

    def __init__(
        self,
        compiled: Compiled,
        declaration: Declaration,
        budget: Budget,
        told: frozenset[int] | None = None,
        deviating: Sequence[str] = (),
    ) -> None:
        self.budget = budget
        self.stepper = Stepper(compiled, declaration, budget, told)
        self.seen = bytearray(len(compiled.kernel.clauses))
        left_out = dict.fromkeys([(), *((each,) for each in deviating), tuple(deviating)])
        self._kinds = [compiled.without(each).model_class if deviating else compiled.model_class for each in left_out]
        self.configurations = self._each_way([Configuration(self.stepper.fresh(self.seen))])
        self.blind = declaration.clock != "virtual" and not ordered_by_completion(compiled, declaration)
        self.unsure = self.blind
        self._files: dict[str, Any] = {}

    @property
    def model(self) -> BaseModel:
        """The model of the first explanation."""
        return self.configurations[0].model

    def choosing(self, policies: Sequence[str]) -> Lockstep:
        """Return another one that goes on from here, for which some policies may be any from now on."""
        other = Lockstep(self.stepper.compiled, self.stepper.declaration, self.budget, self.stepper.told)
        other._kinds = self._kinds
        other.seen[:] = self.seen
        other._files = dict(self._files)
        other.configurations = [
            replace(each, model=model)
            for each in self.decided()
            for model in other.stepper.choosing(each.model, policies)
        ]
        for each in other.configurations:
            each.model.seen = other.seen
        return other

    def decided(self) -> list[Configuration]:
        """Return every explanation with each choice that is not known to have been another one."""
        return [replace(each, model=model) for each in self.configurations for model in each_choice(each.model)]

    # ── What may come next ──

    def allows(self, call: Observed) -> bool:
        """Return whether a call could be explained, without taking it as made; it witnesses nothing."""
        with self._beside():
            return any(any(self._by_choice(each, partial(self._is_explained, call=call))) for each in self._forks())

    def awaits(self, call: Observed) -> bool:
        """Return whether more may come of a call by some explanation, be it not the one that has all of it; it witnesses nothing.

        That is a signal, or of what only reads another reply.
        """
        with self._beside():
            if self.stepper.facts.observes(call.operation):
                explained = partial(self._is_explained, call=call)
                return not all(all(self._by_choice(each, explained)) for each in self._forks())
            return any(
                bool(found)
                for each in self._forks()
                for found in self._by_choice(
                    each, lambda start: self._whenever(start, lambda then: any(self._may_come(then, call)))
                )
            )

    def _is_explained(self, start: Configuration, call: Observed) -> list[bool]:
        return [any(True for _ in self._explained(start, call, []))]

    @contextmanager
    def _beside(self) -> Iterator[None]:
        """Look what might come, with a budget of its own: whether all was looked at, and what it cost, counts for no event.

        Nor does what it witnesses.
        """
        stepper, seen = self.stepper, bytes(self.seen)
        before = self.unsure, stepper.partial, stepper.unasked, stepper.passed
        stepper.unasked = stepper.passed = 0
        try:
            yield
        finally:
            self.unsure, stepper.partial, stepper.unasked, stepper.passed = before
            self.seen[:] = seen

    def _forks(self) -> Iterator[Configuration]:
        return (each.at(each.model.fork()) for each in self.configurations)

    def decision(self, operation: str, arguments: Mapping[str, Any], model: BaseModel | None = None) -> Decision:
        """Return what a call may be answered now, by the first explanation or another; that it was asked witnesses nothing."""
        model = self.model if model is None else model
        seen, model.seen = model.seen, bytearray(len(self.seen))
        try:
            return model.decide(operation, arguments)
        finally:
            model.seen = seen

    def avoids(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the spec leaves open what a call would do here, or whether it comes back, by some explanation."""
        if not self.stepper.facts.leaves_open(operation):
            return False

        def avoided(start: Configuration) -> list[bool]:
            decisions = (self.decision(operation, arguments, model) for model, _ in self._own_steps(start.model))
            return [any(each.avoid or each.blocks for each in decisions)]

        with self._beside():
            return any(any(self._by_choice(each, avoided)) for each in self.configurations)

    def blocks_for(self, operation: str, arguments: Mapping[str, Any]) -> int | None:
        """Return the milliseconds for which a call may block now, by the first explanation; None for one that may not."""
        return self.model.fork().blocks_for(operation, arguments) if self.stepper.facts.wait(operation) else None

    def rests(self, model: BaseModel) -> Iterator[BaseModel]:
        """Walk the model as it is, then all that it may be after what the system may do unasked; it witnesses nothing."""
        with self._beside():
            yield from (rested for rested, _ in self._own_steps(model.fork()))

    def uncompared(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the reply of a call is not compared, because nothing follows from it here."""
        decision = self.decision(operation, arguments)
        return decision.idle or (bool(decision.refuse) and not decision.accept)

    def go_on(self, event: Event) -> None:
        """Follow calls after a finding, without judging them, as the model would have it.

        So the clauses that the rest of a case exercises are still witnessed.
        """
        for call in sorted(calls_of(event), key=lambda call: call.ended):
            with suppress(Impossible):
                self.stepper.follow(self.model, call)

    @property
    def noted(self) -> tuple[Finding, ...]:
        """What only clauses of level SHOULD forbid, by every explanation."""
        return in_each(self.configurations)

    def witnessed(self) -> frozenset[str]:
        """Return the clauses that were witnessed in this case, the invariants that hold now included."""
        self.model.broken()
        return self.model.witnessed()

    # ── One event on every configuration ──

    @property
    def cost(self) -> int:
        """How many configurations had to be looked at for the last event, for what the system may have done unasked beside it."""
        return max(self.stepper.unasked, self.stepper.passed, len(self.configurations))

    @property
    def astray(self) -> str:
        """The operation, if any, of which the spec leaves open what it did in the last event, by some explanation of a part of it."""
        return self.stepper.astray

    @property
    def capped(self) -> bool:
        """Whether there were more ways than were looked at."""
        return self.unsure and not self.blind

    def advance(self, event: Event) -> Finding | None:
        """Judge one call, or calls that were made at once; after a finding the configurations are those before."""
        after, reason = self.led_to(self.configurations, event)
        if not after:
            return reason
        self.configurations = after
        if len(self.configurations) > self.budget.configurations:
            self.configurations = self.configurations[: self.budget.configurations]
            self.unsure = True
        return None

    def led_to(
        self, configurations: Sequence[Configuration], event: Event
    ) -> tuple[list[Configuration], Finding | None]:
        """Return what an event leads to from some configurations; or, with why none explains it, none: they stay as they are."""
        self.stepper.unasked = self.stepper.passed = 0
        self.stepper.astray = ""
        shared = next((found for call in calls_of(event) if (found := self._shared_file(call)) is not None), None)
        if shared is not None:
            return [], shared
        after, reason = self._explanations(configurations, event)
        if not after and len(self._kinds) > 1:
            starts = self._each_way(configurations)
            after, _ = self._explanations(starts, event)
            if not after and isinstance(event, History):
                after = self._each_by_itself(starts, event)
            after = self._each_way(after)
        return self._first_of_each(_by_state(_joined(after))), reason

    def _each_by_itself(self, starts: Sequence[Configuration], history: History) -> list[Configuration]:
        """Explain calls at once of which some follow what is deviated from, and others do not."""
        self.stepper.each_as = self._kinds
        try:
            return self._explanations(starts, history)[0]
        finally:
            self.stepper.each_as = ()

    def forget_files(self, most: int) -> None:
        """Forget for which records files were told, but for the last so many."""
        for file in list(self._files)[: max(len(self._files) - most, 0)]:
            del self._files[file]

    def _each_way(self, configurations: Sequence[Configuration]) -> list[Configuration]:
        """Let each configuration go on as the model that follows everything, and as those without what is deviated from."""
        if len(self._kinds) == 1:
            return list(configurations)
        frozen = [(each, each.model.freeze()) for each in configurations]
        return _distinct(
            [replace(each, model=each.model.thawed_as(kind, state)) for each, state in frozen for kind in self._kinds]
        )

    def _first_of_each(self, configurations: Mapping[Any, Configuration]) -> list[Configuration]:
        """Leave out what another one becomes by steps of the system's own that nothing shows: it can take them later."""
        found: list[Configuration] = []
        later: dict[Any, Configuration] = {}
        left = self.budget.own_steps * FOLLOWED_WHOLE
        for state, each in configurations.items():
            if later and state in later:
                later[state].excuse(each)
                continue
            found.append(each)
            if len(configurations) == 1 or left <= 0 or not (each.model.own_steps() or each.model.due()):
                continue
            most = min(self.budget.own_steps, left)
            kind, _, *rest = state
            states = reached(each.model.fork(), most, lambda taken: not all(map(silent, taken)))
            read = read_of(each.model.policies)
            read.clear()
            becomes = [(kind, frozen, *rest) for frozen, _ in states]
            left -= len(becomes)
            if read:
                continue  # with another choice it becomes something else
            later.update(dict.fromkeys(becomes, each))
        return found

    def _explanations(
        self, configurations: Sequence[Configuration], event: Event
    ) -> tuple[list[Configuration], Finding | None]:
        """Return what an event leads to from any of these; or they stay as they are, with why none explains it.

        Records are doubted only where nothing else explains it: what comes to one unseen may as well come later.
        """
        after, reason = self._tried(configurations, event)
        loose = [each.model for each in configurations if each.model.LOOSE] if not after else []
        try:
            for model in loose:
                self._doubt(model, event)
            if loose:
                after, _ = self._tried(configurations, event)
        finally:
            for model in loose:
                model.doubted.trust()
        return after, reason

    def _tried(
        self, configurations: Sequence[Configuration], event: Event
    ) -> tuple[list[Configuration], Finding | None]:
        looks = isinstance(event, Observed) and not event.elapsed and self.stepper.facts.observes(event.operation)
        before, seen = [each.model.freeze() for each in configurations if not looks], bytes(self.seen)
        explain = self._together if isinstance(event, History) else self._alone
        after, reason = explain(configurations, event)  # type: ignore[arg-type]  # each takes its kind of event
        for each, frozen in zip(configurations if not after else (), before, strict=False):
            each.model.thaw(frozen)  # what was tried on it
        if not after:
            self.seen[:] = seen  # of what was tried nothing came to pass
        return after, reason

    def _doubt(self, model: BaseModel, event: Event) -> None:
        """Let a model doubt the records that a call is about, those that it should show and does not, and any of a few."""
        fork, replies = model.fork(), self.stepper.replies
        calls = sorted(calls_of(event), key=lambda call: call.ended)
        unlike, due = list[Any](), list[Signal]()
        with suppress(Impossible):
            for call in calls:
                decision, outcomes = self.stepper.follow(fork, call)
                due += required(outcomes)
                if decision is not None and outcomes and call.refused is None and not call.malformed:
                    unlike += replies.unlike(call, outcomes[0].value)
        model.doubted.all_of = DOUBTED
        model.doubted.named = frozenset(texts([call.arguments for call in calls]))
        model.doubted.sure = frozenset(each for call in calls for _, each in self.stepper.facts.minted(call))
        signalled = {*texts(due)} ^ {*texts(event.signals)}
        model.doubted.missing |= signalled.union(texts(unlike))  # those of all explanations: they share their doubts

    def _alone(
        self, configurations: Sequence[Configuration], call: Observed
    ) -> tuple[list[Configuration], Finding | None]:
        reasons: list[Finding] = []
        found: list[Configuration] = []
        for each in configurations:
            try:
                found += self._by_choice(each, partial(self._explained, call=call, reasons=reasons), reasons)
            except Impossible as impossible:
                # A model that lacks a sentence explains nothing where its rules have no answer.
                reasons.append(cannot_be(impossible, call))
        if not (found or reasons):
            reasons.append(cannot_be(NO_WAY, call))
        return found, either(reasons[0], reasons) if reasons else None

    def _together(
        self, configurations: Sequence[Configuration], history: History
    ) -> tuple[list[Configuration], Finding | None]:
        if (refused := self._refused_for_nothing(history)) is not None:
            return [], refused
        found: list[Configuration] = []
        for configuration in configurations:
            with suppress(Impossible):
                found += self._by_choice(configuration, lambda start: self._orders(start, history))
        for end in found:
            for call in history.calls:
                end.note(self.stepper.faults_of_sent(end.model, call))
        operations = BESIDE.join(dict.fromkeys(call.operation for call in history.calls))
        wanted, seen = "an order of the calls, one after the other, that gives these replies", history.summary
        if self.stepper.compiled.lifecycle.signals:
            wanted += " and signals"
            seen += f"; {', '.join(map(said, map(comparable, history.signals))) or NONE_SENT}"
        return found, Finding("order", history.clause, operations, wanted, seen)

    def _refused_for_nothing(self, history: History) -> Finding | None:
        """Return what is wrong about the first call that was refused and cannot be, in whatever order: none has to be looked for."""
        refused = (each for each in history.calls if each.refused is not None)
        wrong = next((each for each in refused if self.stepper.facts.never_refuses(each.operation)), None)
        if wrong is None:
            return None
        clause = f"operations.{wrong.operation}"
        return Finding("refused", clause, wrong.operation, "accepted", f"refused {wrong.refused}")

    def _orders(self, start: Configuration, history: History) -> Iterator[Configuration]:
        """Walk what calls made at once lead to from a configuration."""
        for explained in self._whenever(start, lambda then: explanations(self.stepper, then, history)):
            self.unsure = self.unsure or explained.partial
            yield from explained.ends

    # ── One call on one configuration ──

    def _by_choice(
        self,
        start: Configuration,
        work: Callable[[Configuration], Iterable[Found]],
        noted: list[Any] | None = None,
    ) -> Iterator[Found]:
        """Work something out of a configuration with each choice that makes a difference to it (`with_each_choice`)."""
        return with_each_choice(start.model, lambda model: work(start.at(model)), noted)

    def _whenever(self, start: Configuration, work: Callable[[Configuration], Found]) -> Iterator[Found]:
        """Work something out of a configuration, whenever it was, within what is known of the instants."""
        frozen = start.model.freeze()

        def once() -> Found:
            return work(start.at(start.model.thawed(frozen)))

        for found in each_answer(once, self.budget.answers):
            if found is None:
                self.unsure = True
            else:
                yield found

    def _explained(
        self, configuration: Configuration, call: Observed, reasons: list[Finding]
    ) -> Iterator[Configuration]:
        """Walk the configurations that a call leads to."""
        if call.within is None:  # one at a time: who asks only whether there is one looks no further
            yield from self._steps(configuration, call, reasons)
            return
        for found in self._whenever(configuration, lambda start: list(self._steps(start, call, reasons))):
            yield from found

    def _steps(self, configuration: Configuration, call: Observed, reasons: list[Finding]) -> Iterator[Configuration]:
        """Walk what a call leads to, where all signals that came are those that have to or may."""
        for after, caused, unasked in self._ways(configuration, call, reasons):
            standing = self._signals([*caused, *unasked], call, configuration.standing)
            if isinstance(standing, Finding):
                reasons.append(standing)
            else:
                after.standing = standing
                after.note(noted(caused))
                yield after
        self.unsure = self.unsure or self.stepper.partial

    def _ways(
        self, configuration: Configuration, call: Observed, reasons: list[Finding]
    ) -> Iterator[tuple[Configuration, list[Outcome], list[Outcome]]]:
        """Walk what a call leads to, with what it caused, and what the system did of its own before and after it."""
        for rest, taken in self._arrivals(configuration.model, call, reasons):
            before, unordered = self.stepper.transcripts.bound(rest, configuration.unordered, call)
            for then, outcome in self.stepper.ways(before, call, call.signals, reasons):
                for rested, forced in settled(then):
                    for after, followed in self._shown_steps(rested, call):
                        leads_to = configuration.at(after, unordered)
                        yield leads_to, [*outcome, *forced], [*taken, *followed]

    def _arrivals(
        self, model: BaseModel, call: Observed, reasons: list[Finding]
    ) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk what the system may be when a call is made, with what was done on the way: while time passes that is part of it."""
        if call.operation == "wait" and call.within is None:
            yield model, []
            return
        for arrived, passed in self.stepper.arrived(model, call.within, call, call.signals, reasons):
            for before, taken in self._own_steps(arrived, call):
                yield before, [*passed, *taken]

    def _shown_steps(self, model: BaseModel, call: Observed) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk the model as it is, then what the system may have done by the end of a call that a signal shows.

        What nothing shows comes as well before the next call.
        """
        if not call.signals:
            yield model, []
            return
        for after, taken in self._own_steps(model, call):
            if not taken or not all(map(silent, taken)):
                yield after, taken

    def _most_steps(self, configurations: int) -> int:
        """Return to how many configurations the steps of the system's own may lead from one of so many: to fewer from each of many."""
        return max(self.budget.own_steps * FOLLOWED_WHOLE // max(configurations, FOLLOWED_WHOLE), 2)

    def _own_steps(self, model: BaseModel, call: Observed | None = None) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk the model as it is, then every result of what the system may do unasked, timers that are due included.

        Beside a call it has done nothing of which a signal would have been seen. A step that changes nothing, and only
        permits signals, is taken wherever it can be.
        """
        most = self._most_steps(len(self.configurations))
        capped = yield from self.stepper.of_its_own(model, most, None if call is None else call.signals)
        self.unsure = self.unsure or capped

    # ── Signals and files ──

    def _signals(
        self, outcomes: Sequence[Outcome], call: Observed, standing: frozenset[Signal]
    ) -> frozenset[Signal] | Finding:
        """Match the signals that came with those that have to and those that may; return what may still come."""
        signals = self.stepper.signals
        rest, missing = signals.left(required(outcomes), call.signals)
        if missing is not None:
            return self.stepper.unseen(call, missing, outcomes)
        extra = signals.stranger(rest, standing | permitted(outcomes))
        if extra is not None:
            return self.stepper.unseen(call, extra, outcomes, due=False)
        return standing | {comparable(signal) for outcome in outcomes for signal in outcome.again}

    def _may_come(self, configuration: Configuration, call: Observed) -> Iterator[bool]:
        """Walk, for each way in which a call can have gone so far, whether a signal of it may still come.

        What the system does of its own it may as well do later.
        """
        seen, reasons = frozenset(map(comparable, call.signals)), list[Finding]()
        for _, caused, unasked in self._ways(configuration, call, reasons):
            outcomes = [*caused, *unasked]
            standing = self._signals(outcomes, call, configuration.standing)
            if isinstance(standing, Finding):
                reasons.append(standing)
            else:
                yield not {comparable(signal) for each in caused for signal in each.may} <= seen
        yield any(each.kind == "signal" and each.expected != NO_SIGNAL for each in reasons)

    def _shared_file(self, call: Observed) -> Finding | None:
        """Hold every file to the one record that it was told for."""
        kind = self.stepper.facts.gives(call.operation)
        for record, file in files(kind, call.given) if holds_documents(kind) else ():
            owner = next(iter(record.values()))
            if self._files.setdefault(file, owner) != owner:
                clause = self.stepper.replies.clause(call.operation, Difference("content", None, None))
                wanted = "a file of its own for every message"
                return Finding("file", clause, call.operation, wanted, f"{file} holds two")
        return None


def _state(configuration: Configuration) -> Any:
    """Return what makes a configuration another one."""
    model = configuration.model
    return (
        type(model),
        model.freeze(),
        configuration.standing,
        configuration.unordered,
        tuple(vars(model.policies).items()),
    )


def _joined(configurations: list[Configuration]) -> list[Configuration]:
    """Join those that differ in nothing but a choice, where there is one with each: so far it has made no difference."""
    if len(configurations) < 2 or not isinstance(configurations[0].model.policies, Undecided):
        return configurations
    alike: dict[Any, list[Configuration]] = {}
    for each in configurations:
        alike.setdefault(_state(each)[:-1], []).append(each)
    found: list[Configuration] = []
    for several in alike.values():
        for policies, places in joined([each.model.policies for each in several]):
            first, *others = (several[place] for place in places)
            for other in others:
                first.excuse(other)
            first.model.policies = policies
            found.append(first)
    return found


def _distinct(configurations: Sequence[Configuration]) -> list[Configuration]:
    return list(_by_state(configurations).values())


def _by_state(configurations: Sequence[Configuration]) -> dict[Any, Configuration]:
    """Return the configurations that are not the same by what makes them others; of a single one nobody asks for that."""
    if len(configurations) == 1:
        return {None: configurations[0]}
    found: dict[Any, Configuration] = {}
    for each in configurations:
        found.setdefault(_state(each), each).excuse(each)
    return found
