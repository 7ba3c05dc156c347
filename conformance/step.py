"""One call on one configuration of the model: whether the answer is allowed, and what follows from it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from conformance import kernel_facts
from conformance.declaration import Declaration
from conformance.divergence import NO_SIGNAL, Divergence, at, either, said, short
from conformance.observation import Difference, InOrder, Times, differences
from conformance.observed import Observed
from conformance.passing import Passing
from conformance.settling import settled
from statemachines.compile import Compiled
from statemachines.lifecycle import ANY
from statemachines.model import ANYTHING, AnyOf, BaseModel, Decision, Impossible, Outcome, Signal, Values
from statemachines.types import NULL, Type


class Contradiction(Exception):
    """An answer that one configuration does not allow."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(divergence.seen)
        self.divergence = divergence


@dataclass(slots=True)
class Configuration:
    """One explanation of a case: a model, and the signals that may still come although their cause is past."""

    model: BaseModel
    standing: frozenset[Signal] = frozenset()


class Stepper:
    """Takes calls on models of one lifecycle, as one system has declared its limits and choices.

    `findings` are differences that only a clause of level SHOULD forbids; they do not stop a case. `partial`
    tells that time could have passed in more ways than were looked at.
    """

    def __init__(self, compiled: Compiled, declaration: Declaration) -> None:
        self.compiled = compiled
        self.declaration = declaration
        self.facts = kernel_facts.of(compiled)
        self.levels = {clause.path: clause.level for clause in compiled.kernel.clauses}
        self.findings: list[Divergence] = []
        self.partial = False

    def fresh(self, seen: bytearray) -> list[BaseModel]:
        """Make a model at the start of a case, for every choice that may be the system's; all witness in `seen`."""
        models = [self.compiled.model(self.declaration.limits, choices) for choices in self._choices()]
        for model in models:
            model.seen = seen
        return models

    def choosing(self, model: BaseModel, names: Sequence[str]) -> Iterator[BaseModel]:
        """Walk a model with every choice of some policies that can have made no difference so far: it is at rest."""
        for chosen in self._chosen(names):
            other = model.thawed(model.freeze())
            other.policies = Values({**vars(model.policies), **chosen})
            if not any(must for _, _, must in other.own_steps()):
                yield other

    def _choices(self) -> Iterator[dict[str, Any]]:
        declared = self.declaration.policies
        unknown = [name for name in self.compiled.kernel.undeclared if name not in declared]
        yield from ({**declared, **chosen} for chosen in self._chosen(unknown))

    def _chosen(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        lists = [[word.text for word in self.compiled.lifecycle.policies[name].choices] for name in names]
        yield from (dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*lists))

    @property
    def policies(self) -> SimpleNamespace:
        """The choices of the system; `any` where it did not have to declare one, and did not."""
        return SimpleNamespace(
            **{
                **dict(self.compiled.kernel.policies),
                **dict.fromkeys(self.compiled.kernel.undeclared, ANY),
                **self.declaration.policies,
            }
        )

    @staticmethod
    def decision(model: BaseModel, operation: str, arguments: Mapping[str, Any]) -> Decision:
        """Give what an operation may answer now."""
        found: Decision = getattr(model, f"may_{operation}")(**arguments)
        return found

    def ways(
        self, model: BaseModel, call: Observed, signals: Sequence[Signal], reasons: list[Divergence]
    ) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk what a call leads to, each way with what was done on it; gather why there are no others.

        `signals` are those that were seen meanwhile. A call that waited took its step at its end.
        """
        if call.operation == "wait":
            yield from self._passed(model, call, call.arguments["ms"], signals, reasons)
        elif not call.elapsed:
            yield from ((model, taken) for taken in self._tried(model, call, reasons))
        elif self.facts.waits(call.operation):
            for then, passed in self._passed(model, call, call.elapsed, signals, reasons):
                yield from ((then, [*passed, *taken]) for taken in self._tried(then, call, reasons))
        else:
            for taken in self._tried(model, call, reasons):
                for then, passed in self._passed(model, call, call.elapsed, signals, reasons):
                    yield then, [*taken, *passed]

    def _tried(self, model: BaseModel, call: Observed, reasons: list[Divergence]) -> list[list[Outcome]]:
        """Take the step that an answer tells of; nothing when the model does not allow that answer."""
        try:
            return [self._taken(model, call)]
        except Contradiction as contradiction:
            reasons.append(contradiction.divergence)
            return []

    def _passed(
        self,
        model: BaseModel,
        call: Observed,
        ms: int,
        signals: Sequence[Signal],
        reasons: list[Divergence],
    ) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Let time pass in every way that the signals seen allow."""
        passing = Passing(self.facts, model, signals, instants=self.declaration.instants)
        yield from passing.ways(ms)
        self.partial = self.partial or passing.partial
        if passing.missing:
            ends = [model.thawed(model.freeze()).wait(ms, prompt=prompt) for prompt in (False, True)]
            reasons += [self.unseen(call, signal, *ends) for signal in passing.missing]

    def unseen(
        self, call: Observed, signal: Signal, *outcomes: Sequence[Outcome], due: bool = True
    ) -> Divergence:
        """Tell of a signal that is due and did not come, or that came and was not due.

        `outcomes` are what may have been done meanwhile, in one way or in several.
        """
        name, _ = signal
        own = f"operations.{call.operation}.signal.{name}"
        ends = f".signal.{name}"
        other = next((path for path in self.levels if path.endswith(ends)), f"operations.{call.operation}")
        expected, seen = (said(signal), NO_SIGNAL) if due else (NO_SIGNAL, said(signal))
        alike = next((each for each in call.signals if each[0] == name), None) if due else None
        if alike is not None:  # it came, and says something else
            seen = said(alike)
        clause, times = own if own in self.levels else other, _times(name, outcomes)
        return Divergence("signal", clause, call.operation, expected, seen, path=name, value=times)

    def _taken(self, model: BaseModel, call: Observed) -> list[Outcome]:
        """Take the step that an answer tells of; raise Contradiction when the model does not allow that answer."""
        decision = self.decision(model, call.operation, call.arguments)
        if call.refused is not None:
            return self._refused(decision, call)
        if decision.idle or decision.quiet:
            return [Outcome(None, (), decision.may)]
        if not decision.accept:
            raise Contradiction(self._wrongly_accepted(decision, call))
        outcome = self._carried_out(model, call)
        self._compare(call, outcome.value)
        return [outcome]

    def _carried_out(self, model: BaseModel, call: Observed) -> Outcome:
        """Carry an operation out, with the ids that the system chose."""
        minted = list(call.minted)

        def mint(entity: str, prefix: str = "", size: int | None = None) -> str:
            found = next((each for owner, each in minted if owner == entity), "")
            if found:
                minted.remove((entity, found))
            if not found:
                wanted = f"the id of the new {entity}"
                raise Contradiction(
                    Divergence(
                        "shape",
                        f"operations.{call.operation}.gives",
                        call.operation,
                        wanted,
                        short(call.given),
                    )
                )
            return found

        model.mint = mint
        try:
            outcome: Outcome = getattr(model, f"do_{call.operation}")(**call.arguments)
        except Impossible as impossible:
            wanted = "a fitting id that no retained record has"
            raise Contradiction(
                Divergence("identity", impossible.clause, call.operation, wanted, impossible.message)
            ) from None
        finally:
            model.mint = model.next_ordinal
        return outcome

    def _wrongly_accepted(self, decision: Decision, call: Observed) -> Divergence:
        clause, *others = self._clauses(decision)
        wanted = " or ".join(code for code in decision.refuse if code != "*") or "with any code"
        seen = f"accepted, giving {short(call.given)}" if call.given is not None else "accepted"
        return Divergence(
            "accepted",
            clause,
            call.operation,
            f"refused {wanted}",
            seen,
            value=decision.refuse[0],
            related=tuple(others),
        )

    def _refused(self, decision: Decision, call: Observed) -> list[Outcome]:
        if decision.idle or "*" in decision.refuse or call.refused in decision.refuse:
            return [Outcome(None, (), decision.may)]
        seen = f"refused {call.refused}"
        if not decision.refuse or decision.accept:
            raise Contradiction(
                Divergence("refused", f"operations.{call.operation}", call.operation, "accepted", seen)
            )
        clauses = self._clauses(decision)
        self._note(
            Divergence(
                "refused",
                clauses[0],
                call.operation,
                f"refused {' or '.join(decision.refuse)}",
                seen,
                all(map(self.recommended, clauses)),
                value=decision.refuse[0],
                related=tuple(clauses[1:]),
            )
        )
        return [Outcome()]

    def _clauses(self, decision: Decision) -> list[str]:
        """Name the clauses that a refusal follows from."""
        return [self.compiled.kernel.clauses[number].path for number in decision.clauses]

    def _compare(self, call: Observed, expected: Any) -> None:
        kind = self.facts.gives(call.operation)
        if kind == NULL:
            return
        seen = call.given if call.aside is None else call.aside
        if seen is ANYTHING:
            return
        options = expected.options if isinstance(expected, AnyOf) else (expected,)
        found = [list(differences(kind, each, seen, instants=self.declaration.instants)) for each in options]
        nearest = min(found, key=len)
        others = [self._differs(call, kind, each[0]) for each in found if each]
        for difference in nearest:
            self._note(either(self._differs(call, kind, difference), others if len(options) > 1 else ()))

    def _differs(self, call: Observed, kind: Type, difference: Difference) -> Divergence:
        """Tell of a part of a reply that differs."""
        clause = self.clause_of(call.operation, difference)
        return Divergence(
            "reply",
            clause,
            call.operation,
            at(difference.path, difference.expected),
            at(difference.path, difference.seen),
            self.recommended(clause),
            difference.path,
            difference.expected,
            self.facts.setters(kind, difference),
        )

    # ── Messages one by one, for calls at once ──

    def due_like(self, model: BaseModel, call: Observed, given: Any) -> Any:
        """Give the message owed that a call may have shown so, or None."""
        return next(
            (each for each in self.facts.owed(model, call) if self.may_show(model, call, each, given)), None
        )

    def sent_like(self, model: BaseModel, call: Observed, given: Any) -> list[Any]:
        """Give the sent messages that a call may have shown so."""
        return [each for each in self.facts.sent(model, call) if self.may_show(model, call, each, given)]

    def may_show(self, model: BaseModel, call: Observed, message: Any, given: Any) -> bool:
        """Tell whether a message may be shown so: nothing differs but what is only recommended."""
        return all(
            self.recommended(self.clause_of(call.operation, difference))
            for difference in self._differing(model, call, message, given)
        )

    def note_sent(self, model: BaseModel, call: Observed) -> None:
        """Note what only a recommendation forbids about the messages that a call gave, and about their order."""
        if not self.facts.sends(call):
            return
        first: list[Any] = []
        for given in call.given:
            messages = self.sent_like(model, call, given)
            first += messages[:1]
            for message in messages:
                for difference in self._differing(model, call, message, given):
                    self._note(self._differs(call, self._item(call), difference))
        if self.recommended(self.facts.order(call)):
            kind = self.facts.gives(call.operation)
            due = [self.facts.shown(model, call, each) for each in sorted(first, key=lambda each: each.key)]
            for difference in differences(kind, due, call.given, instants=self.declaration.instants):
                if isinstance(difference.expected, InOrder):
                    self._note(self._differs(call, kind, difference))

    def _differing(self, model: BaseModel, call: Observed, message: Any, given: Any) -> Iterator[Difference]:
        shown = self.facts.shown(model, call, message)
        return differences(self._item(call), shown, given, instants=self.declaration.instants)

    def _item(self, call: Observed) -> Type:
        return getattr(self.facts.gives(call.operation), "item", NULL)

    def recommended(self, clause: str) -> bool:
        """Tell whether a clause is only recommended."""
        return self.levels.get(clause) == "should"

    def _note(self, divergence: Divergence) -> None:
        """Note a finding of level SHOULD, once; raise Contradiction for anything else."""
        if not divergence.should:
            raise Contradiction(divergence)
        if divergence.key not in {known.key for known in self.findings}:
            self.findings.append(divergence)

    def clause_of(self, operation: str, difference: Difference) -> str:
        """Give the clause that a part of a reply comes from: what a message carries, its order, or what is given."""
        name = difference.path.rpartition(".")[2].partition("[")[0]
        kind = self.facts.gives(operation)
        message = f"messages.{getattr(getattr(kind, 'item', kind), 'name', '')}"
        if isinstance(difference.expected, InOrder) and f"{message}.order" in self.levels:
            return f"{message}.order"
        carried = f"{message}.carries.{name}"
        return carried if carried in self.levels else f"operations.{operation}.gives"


def unasked(frozen: Any, like: BaseModel) -> Iterator[tuple[BaseModel, list[Outcome]]]:
    """Walk what the system may do unasked: take one of its own steps, or let a timer that is due fire, to rest."""
    here = like.thawed(frozen)
    for index, keys, _ in here.own_steps():
        other = like.thawed(frozen)
        yield other, [other.take(index, keys)]
    for _, _, index, key in here.due():
        other = like.thawed(frozen)
        fired = other.fire(index, key)
        yield from ((then, [fired, *forced]) for then, forced in settled(other))


def _times(name: str, ways: Sequence[Sequence[Outcome]]) -> Times:
    """Count how often a signal comes."""

    def count(signals: Iterable[Signal]) -> int:
        return sum(each[0] == name for each in signals)

    due = [sum(count((*each.signals, *each.again)) for each in outcomes) for outcomes in ways]
    may = [sum(count(each.may) for each in outcomes) for outcomes in ways]
    again = any(count(each.again) for outcomes in ways for each in outcomes)
    return Times(min(due), None if again else max(map(sum, zip(due, may, strict=True))))
