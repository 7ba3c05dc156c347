"""One idea: one call on one configuration of the model: whether the answer is allowed, and what follows from it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from conformance.budget import Budget
from conformance.judge import kernel_facts
from conformance.judge.differences import Times
from conformance.judge.finding import NO_SIGNAL, NO_WAY, WELL_FORMED, Finding, cannot_be, said, short
from conformance.judge.matching import Replies, Sending, Signals, required
from conformance.judge.observation import instants_in
from conformance.judge.passing import Moment, Passing, too_long
from conformance.system import Declaration, Instant, Within, earliest, latest
from conformance.transcripts import Transcripts, Unordered
from statemachines.compile import Compiled
from statemachines.kernel import ANY_CODE
from statemachines.lifecycle import ANY
from statemachines.model import BaseModel, Decision, Impossible, Outcome, Signal, Values
from statemachines.quiescence import of_its_own
from statemachines.rows import Observed
from statemachines.undecided import Undecided


class Contradiction(Exception):
    """An answer that one configuration does not allow."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.seen)
        self.finding = finding


class Noted(Outcome):
    """What only clauses of level SHOULD forbid about an answer: it stops no case."""

    __slots__ = ("findings",)

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__()
        self.findings = findings


@dataclass(slots=True)
class Configuration:
    """One explanation of a case: a model, and what is still open.

    standing   the signals that may still come although their cause is past
    unordered  the stretches of messages sent of which any order may show
    noted      what only clauses of level SHOULD forbid, if it is this that happened
    """

    model: BaseModel
    standing: frozenset[Signal] = frozenset()
    unordered: tuple[Unordered, ...] = ()
    noted: tuple[Finding, ...] = ()

    def at(self, model: BaseModel, unordered: tuple[Unordered, ...] | None = None) -> Configuration:
        """Return the same explanation with another model, and other stretches of any order where they are given."""
        return Configuration(model, self.standing, self.unordered if unordered is None else unordered, self.noted)

    def note(self, findings: Iterable[Finding]) -> None:
        """Note what is forbidden about answers; of the same fault the first one."""
        for finding in findings:
            if finding.key not in {known.key for known in self.noted}:
                self.noted = (*self.noted, finding)

    def excuse(self, other: Configuration) -> None:
        """Forget what is not noted in another one that has come to the same: it may have been that one."""
        if self.noted:
            self.noted = in_each([self, other])


def noted(outcomes: Iterable[Outcome]) -> list[Finding]:
    """Return what is noted among what was done."""
    return [finding for each in outcomes if isinstance(each, Noted) for finding in each.findings]


def in_each(configurations: Sequence[Configuration]) -> tuple[Finding, ...]:
    """Return what is noted whichever of some explanations it was."""
    first, *others = configurations
    if not first.noted or not others:
        return first.noted
    keys = set.intersection(*({each.key for each in other.noted} for other in others))
    return tuple(each for each in first.noted if each.key in keys)


class Stepper:
    """Takes calls on models of one lifecycle, as one system has declared its limits and choices.

    `told` are the instants at which something may have been done that nothing told of at the time; None where nobody asks.
    `partial` tells that time could have passed in more ways than were looked at. `unasked` counts what steps of the system's own
    led to since an event began, and `passed` the ways in which time has passed since then. `open_explains`: a call may give anything
    where the spec leaves open what it does; `astray` names an operation of which it did, since an event began. `nodes` counts
    the steps of searches for orders, of which there are at most `most_nodes`.
    """

    def __init__(
        self,
        compiled: Compiled,
        declaration: Declaration,
        budget: Budget,
        told: frozenset[int] | None = None,
    ) -> None:
        self.compiled = compiled
        self.told = told
        self.declaration = declaration
        self.budget = budget
        self.facts = kernel_facts.of(compiled)
        self.signals = Signals(self.facts.signals, declaration.instants)
        self.replies = Replies(self.facts, declaration.instants)
        self.transcripts = Transcripts(self.facts.messages, self.replies.may_show)
        self.partial = False
        self.unasked = self.passed = 0
        self.each_as: Sequence[type[BaseModel]] = ()  # of calls at once each may be judged by another of these models
        self.nodes, self.most_nodes = 0, math.inf
        self.open_explains, self.astray = True, ""
        late = not (declaration.settles or declaration.rests)
        self._late = " (if it comes later, declare `settles`)" if late else ""

    def fresh(self, seen: bytearray) -> BaseModel:
        """Make a model at the start of a case, which witnesses in `seen`. What need not be declared, and is not, may be any choice."""
        declared = self.declaration.policies
        model = self.compiled.model(self.declaration.limits, declared)
        model.seen = seen
        unknown = [name for name in self.compiled.kernel.undeclared if name not in declared]
        if unknown:
            known = {name: value for name, value in vars(model.policies).items() if name not in unknown}
            model.policies = Undecided(known, {name: self._choices(name) for name in unknown})
        return model

    def choosing(self, model: BaseModel, names: Sequence[str]) -> Iterator[BaseModel]:
        """Walk a model with every choice of some policies that can have made no difference so far: it is at rest."""
        for chosen in self._chosen(names):
            other = model.thawed(model.freeze())
            other.policies = Values({**vars(model.policies), **chosen})
            if not other.forced():
                yield other

    def _chosen(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        yield from (dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*map(self._choices, names)))

    def _choices(self, policy: str) -> list[str]:
        return [word.text for word in self.compiled.lifecycle.policies[policy].choices]

    @property
    def policies(self) -> SimpleNamespace:
        """The choices of the system; `any` where it did not have to declare one, and did not."""
        kernel = self.compiled.kernel
        undeclared = dict.fromkeys(kernel.undeclared, ANY)
        return SimpleNamespace(**{**dict(kernel.policies), **undeclared, **self.declaration.policies})

    def ways(
        self,
        model: BaseModel,
        call: Observed,
        signals: Sequence[Signal],
        reasons: list[Finding],
        moment: Moment | None = None,
    ) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk what a call leads to, each way with what was done on it; gather why there are no others.

        `signals` are those that were seen meanwhile, `moment` is when one of calls at once was made. A call that waited took
        its step at its end.
        """
        began, ended = call.span
        end = model.now + (ended - began) if moment is None else max(model.now, moment.ahead + ended)
        if call.operation == "wait":
            if call.within:  # it has passed on the way to it
                yield model, []
                return
            yield from self._passed(model, call, end, signals, reasons)
            return
        since = (began if moment is None else moment.since) + self.declaration.settles
        if (late := too_long(self.facts, model, call, since)) is not None:
            reasons.append(late)
        elif not call.elapsed:
            yield from ((model, taken) for taken in self._tried(model, call, reasons))
        elif self.facts.wait(call.operation) is not None:
            for then, passed in self._passed(model, call, end, signals, reasons):
                for due, done in self._due_then(then, signals):
                    yield from ((due, [*passed, *done, *taken]) for taken in self._tried(due, call, reasons))
        else:
            for taken in self._tried(model, call, reasons):
                for then, passed in self._passed(model, call, end, signals, reasons):
                    yield then, [*taken, *passed]

    def _due_then(self, model: BaseModel, signals: Sequence[Signal]) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk the model as it is, then what is due at this very instant: it may have been done when a call comes back, or not yet."""
        left = self.budget.own_steps - self.unasked  # for all the ways in which the time has passed
        if left > 0 and model.due():
            capped = yield from self.of_its_own(model, left, signals)
            self.partial = self.partial or capped
        else:
            self.partial = self.partial or bool(left <= 0 and model.due())
            yield model, []

    def of_its_own(
        self, model: BaseModel, most: int, signals: Sequence[Signal] | None
    ) -> Generator[tuple[BaseModel, list[Outcome]], None, bool]:
        """Walk the model as it is, then every result of what the system may do unasked; it gives whether there were more than `most`.

        Where `signals` were seen it has done nothing that would have sent others; where they are None nobody looked.
        """

        def unseen(steps: list[Outcome]) -> bool:
            return signals is not None and self.signals.left(required(steps), signals)[1] is not None

        ways = of_its_own(model, most, None if signals is None else unseen)
        while True:
            try:
                found = next(ways)
            except StopIteration as over:
                return bool(over.value)
            self.unasked += 1
            yield found

    def arrived(
        self, model: BaseModel, within: Within | None, call: Observed, signals: Sequence[Signal], reasons: list[Finding]
    ) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk what the time until a call leads to, by a clock that runs on; the model as it is where that stands still."""
        if within is None:
            yield model, []
        else:
            yield from self._passed(model, call, Instant(within, call.began), signals, reasons)

    def instants(self, call: Observed) -> Iterator[int]:
        """Walk the instants that a reply tells of."""
        return instants_in(self.facts.gives(call.operation), call.given) if self.declaration.instants else iter(())

    def _tried(self, model: BaseModel, call: Observed, reasons: list[Finding]) -> list[list[Outcome]]:
        """Take the step that an answer tells of; nothing when the model does not allow that answer."""
        try:
            return [self._taken(model, call)]
        except Contradiction as contradiction:
            reasons.append(contradiction.finding)
            return []

    def _passed(
        self, model: BaseModel, call: Observed, end: int, signals: Sequence[Signal], reasons: list[Finding]
    ) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Let time pass until an instant in every way that the signals seen allow; gather what all others would have sent."""
        most = self.budget.ways_of_time - self.passed
        if most <= 0:
            self.partial = True
            return
        late = self.declaration.settles if isinstance(end, Instant) else 0
        passing, ms = Passing(self.signals, model, signals, most, self.told, late), latest(end) - earliest(model.now)
        try:
            yield from passing.ways(end)
        finally:
            self.passed += passing.looked
        self.partial = self.partial or passing.partial
        if passing.missing:
            ends = [model.thawed(model.freeze()).wait(ms, prompt=prompt) for prompt in (False, True)]
            reasons += [self.unseen(call, signal, *ends) for signal in passing.missing]

    def unseen(self, call: Observed, signal: Signal, *outcomes: Sequence[Outcome], due: bool = True) -> Finding:
        """Tell of a signal that is due and did not come, or that came and was not due.

        `outcomes` are what may have been done meanwhile, in one way or in several.
        """
        name, _ = signal
        own = f"operations.{call.operation}.signal.{name}"
        ends = f".signal.{name}"
        sending = (path for path in self.facts.levels if path.endswith(ends))  # of several what binds is meant
        other = min(sending, key=self.facts.recommended, default=f"operations.{call.operation}")
        expected, seen = (said(signal), NO_SIGNAL + self._late) if due else (NO_SIGNAL, said(signal))
        alike = next((each for each in call.signals if each[0] == name), None) if due else None
        if alike is not None:  # it came, and says something else
            seen = said(alike)
        clause, times = own if own in self.facts.levels else other, _times(name, outcomes)
        return Finding("signal", clause, call.operation, expected, seen, path=name, value=times)

    def _taken(self, model: BaseModel, call: Observed) -> list[Outcome]:
        """Take the step that an answer tells of; raise Contradiction when the model does not allow that answer."""
        decision = model.decide(call.operation, call.arguments)
        if decision.avoid and not decision.clauses:  # what a model without a sentence has no answer to
            raise Contradiction(cannot_be(NO_WAY, call))
        if decision.avoid:
            self.astray = call.operation
        if call.refused is not None:
            return self._refused(decision, call)
        if decision.idle:
            if call.given and not self.open_explains:
                raise Contradiction(cannot_be(NO_WAY, call))
            return [Outcome(None, (), decision.may)]
        if not decision.accept:
            raise Contradiction(self._wrongly_accepted(decision, call))
        if call.malformed:
            clause = f"operations.{call.operation}"
            raise Contradiction(Finding("shape", clause, call.operation, WELL_FORMED, call.malformed))
        outcome = self._carried_out(model, call)
        return [outcome, *_only_noted(self.replies.faults(call, outcome.value))]

    def _carried_out(self, model: BaseModel, call: Observed) -> Outcome:
        """Carry an operation out, with the ids that the system chose."""

        def lacking(entity: str, *form: Any) -> str:
            name = next((name for name, of in self.facts.minted_in(call.operation).items() if of == entity), "")
            wanted, seen = f"the id of the new {entity}{f' as {name}' if name else ''}", short(call.given)
            if name and isinstance(call.given, dict):
                seen = f"no {name}, beside {short({key: each for key, each in call.given.items() if key != name})}"
            raise Contradiction(Finding("shape", f"operations.{call.operation}.gives", call.operation, wanted, seen))

        try:
            return model.do(call.operation, call.arguments, self.facts.minting(call, lacking))
        except Impossible as impossible:
            raise Contradiction(cannot_be(impossible, call)) from None

    def follow(self, model: BaseModel, call: Observed) -> tuple[Decision | None, list[Outcome]]:
        """Take a call as the model would have it; return what it decided, None of a wait, and what was done if anything."""
        passed: list[Outcome] = []
        if call.within is not None:
            passed = model.wait(max(call.within[0] - int(model.now), 0))
            model.now = Instant(call.within, call.began)
        elif call.operation == "wait":
            passed = model.wait(call.arguments["ms"])
        if call.operation == "wait":
            return None, passed
        decision = model.decide(call.operation, call.arguments)
        if not decision.accept or call.refused is not None:
            return decision, []
        try:
            outcome = model.do(call.operation, call.arguments, self.facts.minting(call, model.next_ordinal))
            return decision, [outcome, *model.settle(), *passed]
        except Impossible:  # an id that a record has
            return decision, []

    def _wrongly_accepted(self, decision: Decision, call: Observed) -> Finding:
        clause, *others = self._clauses(decision)
        wanted = " or ".join(code for code in decision.refuse if code != ANY_CODE) or "with any code"
        seen = f"accepted, giving {short(call.given)}" if call.given is not None else "accepted"
        expected, code, related = f"refused {wanted}", next(iter(decision.refuse), None), tuple(others)
        if decision.blocks:
            expected = "it waits"
        return Finding("accepted", clause, call.operation, expected, seen, value=code, related=related)

    def _refused(self, decision: Decision, call: Observed) -> list[Outcome]:
        if decision.idle or ANY_CODE in decision.refuse or call.refused in decision.refuse:
            return [Outcome(None, (), decision.may)]
        seen = f"refused {call.refused}"
        if not decision.refuse or decision.accept:
            expected = "it waits" if decision.blocks else "accepted"
            raise Contradiction(Finding("refused", f"operations.{call.operation}", call.operation, expected, seen))
        clause, *others = self._clauses(decision)
        expected, code, related = f"refused {' or '.join(decision.refuse)}", decision.refuse[0], tuple(others)
        should = all(map(self.facts.recommended, (clause, *others)))
        finding = Finding("refused", clause, call.operation, expected, seen, should, value=code, related=related)
        return [Outcome(), *_only_noted([finding])]

    def _clauses(self, decision: Decision) -> list[str]:
        """Name the clauses that a refusal follows from."""
        return [self.compiled.kernel.clauses[number].path for number in decision.clauses]

    # ── What only a recommendation forbids ──

    def sending(self, call: Observed, *, listed: bool = True) -> Sending | None:
        """Return a call as one that gave the messages which it sent, or that may have sent some and did not; None for another."""
        send = self.facts.sends(call.operation)
        fits = call.refused is None and isinstance(call.given, list) == listed
        return Sending(call, send, self.replies) if send is not None and fits else None

    def faults_of_sent(self, model: BaseModel, call: Observed) -> Iterable[Finding]:
        """Return what only a recommendation forbids about the messages that a call gave, and about their order."""
        sending = self.sending(call)
        return sending.faults(model) if sending is not None else ()


def _only_noted(findings: Iterable[Finding]) -> list[Noted]:
    """Return findings of level SHOULD as what is noted, if there are any; raise Contradiction for one of another level."""
    found = list(findings)
    for finding in found:
        if not finding.should:
            raise Contradiction(finding)
    return [Noted(found)] if found else []


def _times(name: str, ways: Sequence[Sequence[Outcome]]) -> Times:
    """Count how often a signal comes."""

    def count(signals: Iterable[Signal]) -> int:
        return sum(each[0] == name for each in signals)

    due = [sum(count((*each.signals, *each.again)) for each in outcomes) for outcomes in ways]
    may = [sum(count(each.may) for each in outcomes) for outcomes in ways]
    again = any(count(each.again) for outcomes in ways for each in outcomes)
    return Times(min(due), None if again else max(map(sum, zip(due, may, strict=True))))
