"""One case: a fresh system, the judge beside it, and a record of every call that was made."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conformance import kernel_facts
from conformance.adapter import Adapter, Broken, HarnessError, Raw
from conformance.concurrent import overlapping
from conformance.divergence import NO_SIGNAL, Divergence, short
from conformance.history import Group
from conformance.judge import Judge
from conformance.observation import WrongShape, observe
from conformance.observed import Observed, SignalKey
from statemachines.compile import Compiled
from statemachines.model import ANYTHING
from statemachines.rows import UNEVALUABLE, Answer, RowFailure, RowTooLong
from statemachines.types import Record


class CallFailed(RowFailure):
    """A call that was not answered, or not in the form that the spec gives: the system's defect."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(f"{divergence.operation}: {divergence.seen}")
        self.divergence = divergence


_SAID = (RowFailure, RowTooLong, HarnessError)  # what goes wrong in a call, and is told as it is
# Each seed has schedules of its own, and each group of calls at once in a case.
CASES_OF_A_SEED = 100_000
GROUPS_OF_A_CASE = 1000
LOOK = 2  # milliseconds between two looks at a system that may still settle
READINGS = 3  # copies that are looked at again after every call


@dataclass(slots=True)
class Recorded:
    """A call of a case, or several that were made at once: per caller, in its order.

    ids  the ids of records in the reply, by the field that holds them
    """

    operation: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    given: Any = None
    ids: Mapping[str, str] = field(default_factory=dict)
    at_once: list[list[Recorded]] = field(default_factory=list)


class Case:
    """Runs calls on an adapter and judges them; it is what a row runs against.

    `divergence` is the first one of the case. After it, calls go on unjudged, so that a row's own
    assertions still decide what the row says. `astray` names the first operation that was called, before any
    divergence, where the spec leaves open what happens: what comes after it is nobody's fault.
    """

    def __init__(self, compiled: Compiled, adapter: Adapter, seed: int = 0) -> None:
        self.compiled = compiled
        self.adapter = adapter
        self.seed = seed
        self.judge = Judge(compiled, adapter.declaration)
        self.limits, self.policies = self.judge.model.limits, self.judge.policies
        self.divergence: Divergence | None = None
        self.astray = ""
        self.trace: list[Recorded] = []
        self.overlaps = 0
        self.groups = 0
        self._facts = kernel_facts.of(compiled)
        self._lost = False
        self._copies = {
            operation.name: operation.copies for operation in compiled.kernel.operations if operation.copies
        }
        self._readings: list[tuple[Observed, Any]] = []
        self._losing = {operation.name for operation in compiled.kernel.operations if operation.loses_files}
        self._caller = threading.local()
        self._rounds = itertools.count()
        self._signal_kinds = {name: Record(fields, name) for name, fields in compiled.kernel.signals}
        adapter.reset()

    def call(self, operation: str, arguments: Mapping[str, Any]) -> Answer:
        """Make one call and judge it; raise CallFailed when there is no proper answer."""
        calls: list[Observed] | None = getattr(self._caller, "calls", None)
        try:
            if calls is not None:
                return self._called_at_once(operation, arguments, calls)
            return self._called(operation, arguments)
        except _SAID:
            raise
        except Exception as error:
            raise _blamed(error, operation if _lacks(arguments) else "") from error

    def _called(self, operation: str, arguments: Mapping[str, Any]) -> Answer:
        record = Recorded(operation, dict(arguments))
        self.trace.append(record)
        if not self.astray and self.divergence is None and self.judge.avoids(operation, arguments):
            self.astray = operation
        raw = self._raw(operation, arguments)
        observed = self._observed(operation, arguments, raw)
        observed.signals = self._signals(operation)
        if operation in self._copies and observed.given is not None:
            self._readings = [*self._readings[1 - READINGS :], (observed, raw.value)]
        record.given, record.ids = observed.given, self._facts.ids(operation, observed.given)
        if operation in self._losing:
            self._lost = True
        if self.divergence is None:
            self.divergence = self._judged(observed) or self._changed()
            if self.divergence is not None:
                self.judge.go_on(observed)
        else:
            self.judge.go_on(observed)
        return self._answer(observed)

    def _judged(self, observed: Observed) -> Divergence | None:
        """Judge a call; while the system may still settle, look again until it agrees or the time is up."""
        # Looks are counted, not time: on a machine so busy that we wake late, the system comes late as well.
        looks = math.ceil(self.adapter.declaration.settles / LOOK)
        while looks > 0 and not self.judge.allows(observed):
            looks -= 1
            time.sleep(LOOK / 1000)
            observed.signals = [*observed.signals, *self._signals(observed.operation)]
            if self._facts.observes(observed.operation):
                again = self._observed(
                    observed.operation, observed.arguments, self._raw(observed.operation, observed.arguments)
                )
                observed.given, observed.aside, observed.refused = again.given, again.aside, again.refused
        return self._hinted(self.judge.step(observed))

    def _changed(self) -> Divergence | None:
        """Look again at what was given as a copy: a later call must not have changed it."""
        for observed, raw in self._readings:
            try:
                now = observe(self._facts.gives(observed.operation), raw, lost=self._lost)
            except WrongShape as error:
                now = str(error)
            if now != observed.given:
                clause, seen = self._copies[observed.operation], f"{short(now)} after a later call"
                return Divergence("reply", clause, observed.operation, f"still {short(observed.given)}", seen)
        return None

    def _hinted(self, divergence: Divergence | None) -> Divergence | None:
        """Say of a signal that did not come what to declare if it only comes late."""
        missing = divergence is not None and divergence.seen == NO_SIGNAL
        declared = self.adapter.declaration
        if divergence is None or not missing or declared.settles or declared.rests:
            return divergence
        return replace(divergence, seen=f"{divergence.seen} (if it comes later, declare `settles`)")

    def _raw(self, operation: str, arguments: Mapping[str, Any]) -> Raw:
        if operation == "wait":
            return self._wait(arguments["ms"])
        try:
            return self.adapter.call(operation, arguments)
        except Broken as broken:
            raise self._failed(broken.kind, operation, "an answer", _with(broken)) from None

    def _wait(self, ms: int) -> Raw:
        """Let time pass, as far as the system has any: a clock of its own, the real one, or none."""
        clock = self.adapter.declaration.clock
        if clock == "real":
            time.sleep(ms / 1000)
        if clock != "virtual":
            return Raw()
        try:
            return self.adapter.call("wait", {"ms": ms})
        except Broken as broken:
            raise self._failed(broken.kind, "wait", "the clock moves", _with(broken)) from None

    def _observed(
        self, operation: str, arguments: Mapping[str, Any], raw: Raw, *, at_once: bool = False
    ) -> Observed:
        """Project an answer to the values of the spec; of calls `at_once` each may be the last, and compared."""
        if raw.refused is not None:
            refused = str(raw.refused)
            return Observed(
                operation, arguments, None, refused, began=raw.began, ended=raw.ended, elapsed=raw.elapsed
            )
        judged = operation != "wait" and not at_once and not self.judge.gave_up
        compared = not judged or not self.judge.uncompared(operation, arguments)
        value = self._value(operation, arguments, raw) if operation != "wait" else None
        return Observed(
            operation,
            arguments,
            value if compared and value is not ANYTHING else None,
            aside=None if compared else value,
            minted=self._facts.minted(operation, value),
            began=raw.began,
            ended=raw.ended,
            elapsed=raw.elapsed,
        )

    def _value(self, operation: str, arguments: Mapping[str, Any], raw: Raw) -> Any:
        """Give a reply as a value of the spec; ANYTHING for one of another form, where it is not compared."""
        try:
            return observe(self._facts.gives(operation), raw.value, lost=self._lost)
        except WrongShape as error:
            if self.judge.gave_up or self.judge.uncompared(operation, arguments):
                return ANYTHING
            raise self._failed(
                "shape", operation, "a reply of the form that the spec gives", str(error)
            ) from None

    def _failed(self, kind: str, operation: str, expected: str, seen: str) -> CallFailed:
        divergence = Divergence(kind, f"operations.{operation}", operation, expected, seen)
        if self.divergence is None:
            self.divergence = divergence
        return CallFailed(divergence)

    def _signals(self, operation: str) -> list[SignalKey]:
        try:
            raw = self.adapter.signals()
        except Broken as broken:
            raise self._failed(
                broken.kind, operation, "signals() gives what happened", _with(broken)
            ) from None
        return [self._signal(operation, each) for each in raw]

    def _signal(self, operation: str, raw: Any) -> SignalKey:
        name = raw.get("signal") if isinstance(raw, Mapping) else None
        if name not in self._signal_kinds:
            known = ", ".join(self._signal_kinds)
            such = f'signals such as {{"signal": NAME, …}} with {known}'
            expected = such if known else "no signal, as there are none"
            raise self._failed("shape", operation, expected, repr(raw))
        try:
            fields = observe(self._signal_kinds[name], raw)
        except WrongShape as error:
            raise self._failed(
                "shape", operation, f"a signal {name} of the form that the spec gives", str(error)
            ) from None
        return name, tuple(sorted(fields.items()))

    def _answer(self, observed: Observed) -> Answer:
        signals: dict[str, list[dict[str, Any]]] = {name: [] for name in self._signal_kinds}
        for name, fields in observed.signals:
            signals[name].append(dict(fields))
        return Answer(observed.operation, observed.given, observed.refused, signals)

    # ── Calls at once ──

    def together(self, bodies: Sequence[Callable[[], Any]]) -> list[Any]:
        """Evaluate bodies at once, and judge all their calls as one history."""
        try:
            return self._together(bodies)
        except _SAID:
            raise
        except Exception as error:
            made = [call for caller in self.trace[-1].at_once for call in caller]
            lacking = next((call.operation for call in made if _lacks(call.arguments)), "")
            raise _blamed(error, lacking) from error

    def _together(self, bodies: Sequence[Callable[[], Any]]) -> list[Any]:
        callers: list[list[Observed]] = [[] for _ in bodies]

        def of(index: int, body: Callable[[], Any]) -> Callable[[], Any]:
            def run() -> Any:
                self._caller.calls = callers[index]
                try:
                    return body()
                except UNEVALUABLE as error:
                    raise RowFailure(f"cannot be evaluated: {error}") from error
                finally:  # the thread may be one that goes on: what it calls afterwards is not of this group
                    del self._caller.calls

            return run

        record = Recorded()
        self.trace.append(record)
        seed = self.seed * GROUPS_OF_A_CASE + next(self._rounds)
        try:
            results = self.adapter.together([of(index, body) for index, body in enumerate(bodies)], seed)
        except Broken as broken:
            raise self._failed(
                broken.kind,
                " ∥ ".join(dict.fromkeys(call.operation for calls in callers for call in calls)),
                "answers",
                _with(broken),
            ) from None
        finally:
            record.at_once = [
                [
                    Recorded(
                        call.operation,
                        call.arguments,
                        call.given,
                        self._facts.ids(call.operation, call.given),
                    )
                    for call in calls
                ]
                for calls in callers
            ]
        for index, calls in enumerate(callers):
            for call in calls:
                call.caller = index
        calls = [call for each in callers for call in each]
        self.groups += 1
        self.overlaps += overlapping([(call.began, call.ended, call.caller) for call in calls])
        if self.adapter.declaration.settles:
            time.sleep(self.adapter.declaration.settles / 1000)  # what settles later belongs to these calls
        group = Group(calls, self._signals(calls[0].operation if calls else ""))
        if self.divergence is None:
            self.divergence = self.judge.group(group)
        else:
            for call in sorted(calls, key=lambda call: call.ended):
                self.judge.go_on(call)
        return results

    def _called_at_once(self, operation: str, arguments: Mapping[str, Any], calls: list[Observed]) -> Answer:
        made = Observed(operation, arguments)
        calls.append(made)  # before the answer: a call that never comes back was made as well
        observed = self._observed(operation, arguments, self._raw(operation, arguments), at_once=True)
        calls[-1] = observed
        return self._answer(observed)


def case_seed(number: int, case: int) -> int:
    """Give the seed of a case among those that are run under the seed `number`."""
    return number * CASES_OF_A_SEED + case


def calls_made(records: Sequence[Recorded]) -> int:
    """Count the calls of a case, those made at once included."""
    return sum(sum(map(len, record.at_once)) if record.at_once else 1 for record in records)


def _blamed(error: Exception, lacking: str) -> RowFailure | HarnessError:
    """Say whose fault an error is: that of an operation whose argument an earlier reply lacks, or the kit's own."""
    if lacking:
        return RowFailure(f"{lacking} cannot be called: an earlier reply lacks what it takes")
    return HarnessError.of_the_kit(error)


def _lacks(value: Any) -> bool:
    """Tell whether something is null within an argument."""
    match value:
        case dict():
            return any(map(_lacks, value.values()))
        case list() | tuple():
            return any(map(_lacks, value))
        case _:
            return value is None


def _with(broken: Broken) -> str:
    return f"{broken.message}\n{broken.detail}" if broken.detail else broken.message
