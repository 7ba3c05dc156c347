"""The model and the system side by side.

The judge holds the configurations of the model that explain everything observed so far. When none is
left, the system has done what no right one does: a divergence, with the clause, what was expected and
what was seen.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance import kernel_facts
from conformance.declaration import Declaration
from conformance.history import Group, explanations
from conformance.observation import Difference, differences, files
from conformance.observed import Observed, signal_key
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Decision, Impossible, Outcome, Signal
from statemachines.types import NULL, Type

MOST = 256  # configurations that are held at once


@dataclass(frozen=True, slots=True)
class Divergence:
    """What no configuration explains: the clause it speaks of, in words what was expected and what was seen.

    kind  'accepted', 'refused', 'reply', 'signal', 'identity', 'file', 'order', 'shape', 'crash' or 'hang'
    path, value  the part of the reply that differs, and what the model gives there
    related  the clauses that set what differs
    """

    kind: str
    clause: str
    operation: str
    expected: str
    seen: str
    should: bool = False
    path: str = ""
    value: Any = None
    related: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two divergences the same fault."""
        return (self.kind, self.clause, self.operation)


@dataclass(slots=True)
class Configuration:
    """One explanation: a model, and the signals that may still come although their cause is past."""

    model: BaseModel
    standing: frozenset[Signal] = frozenset()


@dataclass(slots=True)
class Attempt:
    """One way to explain a call: what came of the model, and the signals that have to or may come with it."""

    outcomes: list[Outcome] = field(default_factory=list)


class Judge:
    """Follows one case. `step` and `group` give a divergence, or None; SHOULD findings gather in `findings`."""

    def __init__(self, compiled: Compiled, declaration: Declaration) -> None:
        self.compiled = compiled
        self.declaration = declaration
        self.configurations = [Configuration(self._fresh(compiled))]
        self.findings: list[Divergence] = []
        self.unsure = False  # a cap was reached: a later divergence may be the cap's fault
        self._relaxed = False
        self._past: list[Observed | Group] = []
        self._facts = kernel_facts.of(compiled)
        self._files: dict[str, Any] = {}
        self._should = frozenset(clause.path for clause in compiled.kernel.clauses if clause.level == "should")
        self._levels = {clause.path: clause.level for clause in compiled.kernel.clauses}
        self._gives: dict[str, Type] = {op.name: op.reply.type if op.reply else NULL for op in compiled.kernel.operations}
        self.seen = bytearray(len(compiled.kernel.clauses))

    @property
    def model(self) -> BaseModel:
        """The model of the first explanation."""
        return self.configurations[0].model

    def step(self, call: Observed) -> Divergence | None:
        """Judge one call."""
        return self._follow(call)

    def group(self, group: Group) -> Divergence | None:
        """Judge calls that were made at once."""
        return self._follow(group)

    def allows(self, call: Observed) -> bool:
        """Tell whether a call could be explained, without taking it as made."""
        reasons: list[Divergence] = []
        for configuration in self.configurations:
            model = self._thawed(configuration.model.freeze(), configuration.model)
            if next(self._explained(Configuration(model, configuration.standing), call, reasons), None) is not None:
                return True
        return False

    def uncompared(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        """Tell whether the reply of a call is not compared, because nothing follows from it here."""
        decision: Decision = getattr(self.model, f"may_{operation}")(**arguments)
        return decision.idle or decision.quiet or (bool(decision.refuse) and not decision.accept)

    def go_on(self, call: Observed) -> None:
        """Follow a call after a divergence, without judging it, as the model would have it.

        So the clauses that the rest of a case exercises are still witnessed.
        """
        model = self.model
        if call.operation == "wait":
            model.wait(call.arguments["ms"])
            return
        decision: Decision = getattr(model, f"may_{call.operation}")(**call.arguments)
        if decision.accept and call.refused is None:
            minted = iter(call.minted)
            model.mint = lambda entity: next(minted, "") or model.next_ordinal(entity)
            with contextlib.suppress(Impossible):
                getattr(model, f"do_{call.operation}")(**call.arguments)
            model.mint = model.next_ordinal
            model.settle()
        self._witness(model)

    def _follow(self, event: Observed | Group) -> Divergence | None:
        self._past.append(event)
        divergence = self._advance(event)
        if divergence is not None and self._should and not self._relaxed:
            return self._relax(divergence)
        return divergence

    def _advance(self, event: Observed | Group) -> Divergence | None:
        if isinstance(event, Group):
            return self._advance_group(event)
        shared = self._shared_file(event)
        if shared is not None:
            return shared
        reasons: list[Divergence] = []
        found: list[Configuration] = []
        for configuration in self.configurations:
            found += self._explained(configuration, event, reasons)
        for each in self.configurations:
            self._witness(each.model)
        if not found:
            return _best(reasons)
        self.configurations = _distinct(found)
        self._cap()
        return None

    def _advance_group(self, group: Group) -> Divergence | None:
        shared = next((found for call in group.calls if (found := self._shared_file(call)) is not None), None)
        if shared is not None:
            return shared
        found: list[Configuration] = []
        partial = False
        for configuration in self.configurations:
            explained = explanations(self.compiled, configuration, group, self.declaration, MOST)
            found += [Configuration(model, standing) for model, standing in explained.ends]
            partial = partial or explained.partial
        self.unsure = self.unsure or (partial and bool(found))
        if found:
            self.configurations = _distinct(found)
            for each in self.configurations:
                self._witness(each.model)
            self._cap()
            return None
        if partial:
            self.unsure = True
        operations = " ∥ ".join(dict.fromkeys(call.operation for call in group.calls))
        return Divergence("order", group.clause, operations, "an order of the calls, one after the other, that gives these replies", group.summary)

    def _cap(self) -> None:
        if len(self.configurations) > MOST:
            self.configurations = self.configurations[:MOST]
            self.unsure = True

    def _witness(self, model: BaseModel) -> None:
        for index, hit in enumerate(model.seen):
            if hit:
                self.seen[index] = 1

    def witnessed(self) -> frozenset[str]:
        """Give the clauses that were witnessed in this case, the invariants that hold now included."""
        self.model.broken()
        self._witness(self.model)
        return frozenset(clause.path for clause, hit in zip(self.compiled.kernel.clauses, self.seen, strict=True) if hit)

    # ── One call on one configuration ──

    def _explained(self, configuration: Configuration, call: Observed, reasons: list[Divergence]) -> Iterator[Configuration]:
        """Walk the configurations that a call leads to, with steps of the system's own before and after it."""
        for before, taken in self._own_steps(configuration.model):
            try:
                outcome = self._carried_out(before, call)
            except _Contradiction as contradiction:
                reasons.append(contradiction.divergence)
                continue
            forced = before.settle()
            for after, followed in self._own_steps(before):
                outcomes = [*taken, *outcome, *forced, *followed]
                missing = self._signals(outcomes, call, configuration.standing)
                if isinstance(missing, Divergence):
                    reasons.append(missing)
                else:
                    yield Configuration(after, missing)

    def _own_steps(self, model: BaseModel) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk the model as it is, then every result of steps that the system may take unasked."""
        if not model.own_steps():
            yield model, []
            return
        start = model.freeze()
        known = {start}
        waiting: list[tuple[Any, list[Outcome]]] = [(start, [])]
        while waiting:
            frozen, taken = waiting.pop(0)
            yield self._thawed(frozen, model), taken
            for index, keys, _ in self._thawed(frozen, model).own_steps():
                other = self._thawed(frozen, model)
                outcome = other.take(index, keys)
                result = other.freeze()
                if result not in known:
                    known.add(result)
                    waiting.append((result, [*taken, outcome]))

    def _fresh(self, compiled: Compiled) -> BaseModel:
        return compiled.model(self.declaration.limits, self.declaration.policies)

    def _thawed(self, frozen: Any, like: BaseModel) -> BaseModel:
        model = type(like)(self.declaration.limits, self.declaration.policies)
        model.thaw(frozen)
        model.seen = like.seen
        return model

    def _carried_out(self, model: BaseModel, call: Observed) -> list[Outcome]:
        """Take the step that a reply tells of; raise _Contradiction when the model does not allow that reply."""
        if call.operation == "wait":
            return model.wait(call.arguments["ms"])
        decision: Decision = getattr(model, f"may_{call.operation}")(**call.arguments)
        if call.refused is not None:
            return self._refused(decision, call)
        if decision.idle or decision.quiet:
            return [Outcome(None, (), decision.may)]
        if not decision.accept:
            clause = self.compiled.kernel.clauses[decision.clause].path if decision.clause >= 0 else f"operations.{call.operation}"
            wanted = " or ".join(code for code in decision.refuse if code != "*") or "with any code"
            seen = f"accepted, giving {_short(call.given)}" if call.given is not None else "accepted"
            raise _Contradiction(Divergence("accepted", clause, call.operation, f"refused {wanted}", seen, value=decision.refuse[0]))
        minted = iter(call.minted)
        model.mint = lambda entity: next(minted, "") or _no_id(call, entity)
        try:
            outcome: Outcome = getattr(model, f"do_{call.operation}")(**call.arguments)
        except Impossible as impossible:
            raise _Contradiction(Divergence("identity", impossible.clause, call.operation, "an id that no retained record has", impossible.message)) from None
        finally:
            model.mint = model.next_ordinal
        self._compare(call, outcome.value)
        return [outcome]

    def _refused(self, decision: Decision, call: Observed) -> list[Outcome]:
        if decision.idle or "*" in decision.refuse or call.refused in decision.refuse:
            return [Outcome(None, (), decision.may)]
        if decision.refuse and not decision.accept:
            clause = self.compiled.kernel.clauses[decision.clause].path
            wanted = f"refused {' or '.join(decision.refuse)}"
            if self._levels.get(clause) == "should":
                self._find(Divergence("refused", clause, call.operation, wanted, f"refused {call.refused}", True, value=decision.refuse[0]))
                return [Outcome()]
        else:
            clause, wanted = f"operations.{call.operation}", "accepted"
        code = decision.refuse[0] if decision.refuse and not decision.accept else None
        raise _Contradiction(Divergence("refused", clause, call.operation, wanted, f"refused {call.refused}", value=code))

    def _compare(self, call: Observed, expected: Any) -> None:
        kind = self._gives[call.operation]
        if kind == NULL:
            return
        for difference in differences(kind, expected, call.given, instants=self.declaration.instants):
            clause = self.clause_of(call.operation, difference)
            expected, seen = _both(difference)
            should = self._levels.get(clause) == "should"
            divergence = Divergence("reply", clause, call.operation, expected, seen, should, difference.path, difference.expected, self._facts.setters(kind, difference))
            if not divergence.should:
                raise _Contradiction(divergence)
            self._find(divergence)

    def _find(self, divergence: Divergence) -> None:
        """Note a finding of level SHOULD, once."""
        if divergence.key not in {known.key for known in self.findings}:
            self.findings.append(divergence)

    def clause_of(self, operation: str, difference: Difference) -> str:
        """Give the clause that a part of a reply comes from: what a message carries, or what is given."""
        name = difference.path.rpartition(".")[2].partition("[")[0]
        kind = self._gives[operation]
        item = getattr(kind, "item", kind)
        carried = f"messages.{getattr(item, 'name', '')}.carries.{name}"
        return carried if carried in self._levels else f"operations.{operation}.gives"

    def _signals(self, outcomes: Sequence[Outcome], call: Observed, standing: frozenset[Signal]) -> frozenset[Signal] | Divergence:
        """Match the signals that came with those that have to and those that may; give what may still come."""
        rest = list(call.signals)
        again = {signal_key(signal) for outcome in outcomes for signal in outcome.again}
        for outcome in outcomes:
            for signal in (*outcome.signals, *outcome.again):
                key = signal_key(signal)
                if key not in rest:
                    clause = self._signal_clause(signal[0], call.operation)
                    return Divergence("signal", clause, call.operation, f"signal {_signal(signal)}", "no such signal", path=signal[0], value=1)
                rest.remove(key)
        allowed = again | standing | {signal_key(signal) for outcome in outcomes for signal in outcome.may}
        rest = [key for key in rest if key not in allowed]
        if rest:
            clause = self._signal_clause(rest[0][0], call.operation)
            return Divergence("signal", clause, call.operation, "no such signal", f"signal {_signal(rest[0])}", path=rest[0][0], value=0)
        return standing | again

    def _signal_clause(self, name: str, operation: str) -> str:
        own = f"operations.{operation}.signal.{name}"
        if own in self._levels:
            return own
        return next((path for path in self._levels if path.endswith(f"signal.{name}")), f"operations.{operation}")

    def _shared_file(self, call: Observed) -> Divergence | None:
        """Hold every file to the one record that it was told for."""
        kind = self._gives.get(call.operation, NULL)
        if kind == NULL or call.refused is not None or call.given is None:
            return None
        for record, file in files(kind, call.given):
            owner = next(iter(record.values()))
            if self._files.setdefault(file, owner) != owner:
                return Divergence("file", self.clause_of(call.operation, Difference("content", None, None)), call.operation, "a file of its own for every message", f"{file} holds two")
        return None

    # ── SHOULD ──

    def _relax(self, divergence: Divergence) -> Divergence | None:
        """Judge the whole case again without the sentences that are only recommended.

        Explained now: the divergence is a finding of level SHOULD, and the case goes on from there.
        """
        loose = Judge(self.compiled.without(self._should), self.declaration)
        loose._relaxed = True
        for event in self._past:
            if loose._advance(event) is not None:
                return divergence
        self.configurations = loose.configurations
        self.findings += [*loose.findings, Divergence(divergence.kind, min(self._should), divergence.operation, divergence.expected, divergence.seen, should=True)]
        self.compiled = loose.compiled
        self._relaxed = True
        return None


class _Contradiction(Exception):
    """A reply that one configuration does not allow."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(divergence.seen)
        self.divergence = divergence


def _no_id(call: Observed, entity: str) -> str:
    raise _Contradiction(Divergence("shape", f"operations.{call.operation}.gives", call.operation, f"the id of the new {entity}", _short(call.given)))


def _best(reasons: Sequence[Divergence]) -> Divergence:
    """Give the divergence of the explanation without steps of the system's own, which reads best."""
    return reasons[0]


def _distinct(configurations: Sequence[Configuration]) -> list[Configuration]:
    if len(configurations) == 1:
        return list(configurations)
    found: dict[Any, Configuration] = {}
    for each in configurations:
        found.setdefault((each.model.freeze(), each.standing), each)
    return list(found.values())


def _both(difference: Difference) -> tuple[str, str]:
    where = f"{difference.path} = " if difference.path else ""
    return f"{where}{_short(difference.expected)}", f"{where}{_short(difference.seen)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:150]} … {text[-40:]}"


def _signal(signal: Any) -> str:
    name, fields = signal
    return f"{name} {dict(fields)}" if isinstance(fields, Mapping) else f"{name}({', '.join(f'{key}: {value!r}' for key, value in fields)})"
