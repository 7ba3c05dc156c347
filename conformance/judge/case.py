"""One case: a fresh system, the judge beside it, and a record of every call that was made.

One idea: how a call is made, timed, settled and recorded is one path, with the judge at its end.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.budget import USUAL, Budget
from conformance.judge import kernel_facts
from conformance.judge.finding import BESIDE, NO_REPLY, WELL_FORMED, Finding, short
from conformance.judge.history import Event, History, calls_of
from conformance.judge.judge import NONE, Judge, Suspicion
from conformance.judge.observation import Observation, WrongShape
from conformance.refused import Refused
from conformance.system import MOVED, Adapter, Broken, HarnessError, Stopwatch, code_of, idle, overlapping
from statemachines.compile import Compiled
from statemachines.model import Signal
from statemachines.rows import UNEVALUABLE, Observed, RowFailure, RowTooLong, parts


class CallFailed(RowFailure):
    """A call that was not answered, or not in the form that the spec gives: the system's defect."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.operation}: {finding.seen}")
        self.finding = finding


# Each seed has schedules of its own, and each group of calls at once in a case.
CASES_OF_A_SEED = 100_000
GROUPS_OF_A_CASE = 1000
LOOK = 2  # milliseconds between two looks at a system that may still settle


class Case:
    """Runs calls on an adapter and judges them; it is what a row runs against.

    `finding` is the first one that no clause left out explains. After it, calls go on unjudged, so that a row's own assertions still
    decide what the row says. `astray` names the first operation that was called, before any finding, where the spec leaves open what
    happens, or may have been, at once with others: what comes after it is nobody's fault. `trace` is all that was called, with what came
    of it as far as it is known; `looks` are the places in it where the kit only looked, of its own accord. `late` is how many
    milliseconds it took at most until what had to come was seen. `sooner` is how many milliseconds less it waits than it is asked to,
    where that is longer, but for so many such waits that come first (`after`); with the next wait it is as much later than it was asked
    to be, then sooner again.
    """

    def __init__(
        self,
        compiled: Compiled,
        adapter: Adapter,
        seed: int = 0,
        budget: Budget = USUAL,
        suspicion: Suspicion = NONE,
        sooner: int = 0,
        after: int = 0,
    ) -> None:
        self.compiled = compiled
        self.adapter = adapter
        self._away, self._shift, self._left_alone = sooner, -sooner, after
        self.seed = seed
        self.budget = budget
        self.judge = Judge(compiled, adapter.declaration, budget, suspicion)
        self.limits, self.policies = self.judge.model.limits, self.judge.lockstep.stepper.policies
        self.settles = adapter.declaration.settles
        self.finding: Finding | None = None
        self.astray = ""
        self.trace: list[Event] = []
        self.looks: set[int] = set()
        self.overlaps = 0
        self.one_step = 0
        self.groups = 0
        self.late = 0
        self._facts = kernel_facts.of(compiled)
        self._observation = Observation(compiled, adapter.declaration.silent, adapter.declaration.measured)
        self._clock = itertools.count(1)
        self._copies = {each.name: each.copies for each in compiled.kernel.operations if each.copies}
        self._readings: list[tuple[Observed, Any]] = []  # each with its reply as it came
        self._caller = threading.local()
        adapter.reset()
        self._stopwatch = Stopwatch(runs=adapter.declaration.runs_on)

    @property
    def faults(self) -> list[Finding]:
        """All that was found, but for what need not be a fault and for what is only recommended."""
        found = self.finding
        sure = found is not None and not found.should and not self.judge.unsure
        return [*self.judge.deviations, *([found] if found is not None and sure else [])]

    @property
    def slow(self) -> int:
        """How many milliseconds have passed so far beside `wait`; 0 by a clock that stands still."""
        now = self._stopwatch.now
        waited = sum(call.arguments["ms"] for call in self.calls if call.operation == "wait")
        return max(now[1] - waited, 0) if now is not None else 0

    @property
    def calls(self) -> list[Observed]:
        """All calls so far, those made at once included."""
        return [call for event in self.trace for call in calls_of(event)]

    @property
    def without_looks(self) -> list[Event]:
        """The trace without what the kit only looked at."""
        return [each for place, each in enumerate(self.trace) if place not in self.looks]

    def call(self, operation: str, arguments: Mapping[str, Any]) -> Observed:
        """Make one call and judge it; raise CallFailed when there is no proper answer."""
        call = Observed(operation, dict(arguments))
        if operation == "wait":
            call = replace(call, arguments={"ms": self._shifted(arguments["ms"])})
        calls: list[Observed] | None = getattr(self._caller, "calls", None)
        with _blaming([call]):
            return self._alone(call) if calls is None else self._beside_others(call, calls)

    def _shifted(self, ms: int) -> int:
        """Return for how long it waits that is asked to wait for so long."""
        if ms <= -self._shift or not self._shift:
            return ms
        if self._left_alone:
            self._left_alone -= 1
            return ms
        ms += self._shift
        self._shift = 2 * (self._away if self._shift < 0 else -self._away)
        return ms

    def _alone(self, call: Observed) -> Observed:
        self.trace.append(call)
        if not self.astray and self.finding is None and self.judge.lockstep.avoids(call.operation, call.arguments):
            self.astray = call.operation
        call, raw = self._asked(call)
        call = self._until_now(call, self._signals(call.operation))
        if self.finding is None and self.adapter.declaration.settles:
            call, raw = self._settled(call, raw)
        if call.operation in self._copies and call.given is not None:
            self._readings = [*self._readings[1 - self.budget.readings :], (call, raw)]
        if self.finding is None:
            self.finding = self.judge.step(call) or self._changed()
            if self.finding is not None and call.malformed:
                raise CallFailed(self.finding)
        if self.finding is not None:
            self.judge.lockstep.go_on(call)
        self.trace[-1] = call
        return call

    def _asked(self, call: Observed) -> tuple[Observed, Any]:
        """Make a call; return it with a reply that the judge knows what to do with, and that as it came.

        Raises CallFailed.
        """
        made = self._made(call)
        observed = self._observation.call(made)
        if observed.refused is None and call.operation != "wait" and not self.judge.gave_up:
            if self.judge.lockstep.uncompared(call.operation, call.arguments):
                observed = replace(observed, compared=False)
            elif observed.malformed and self.finding is not None:  # before, the judge tells whether it matters
                raise self._malformed(observed)
        return observed, made.reply

    def _made(self, call: Observed) -> Observed:
        """Make a call; return it with its reply as it came."""
        wait, clock = call.operation == "wait", self.adapter.declaration.clock
        if wait and clock not in MOVED:
            began = next(self._clock)
            time.sleep(call.arguments["ms"] / 1000 if clock == "real" else 0)
            return replace(call, began=began, ended=next(self._clock), within=self._stopwatch.now)
        reply, refused = None, None
        self._observation.given(call.arguments)
        self.adapter.turn()
        began, before, within = next(self._clock), self.adapter.milliseconds, self._stopwatch.now
        try:
            lasts = self.judge.lockstep.blocks_for(call.operation, call.arguments)
            reply = self.adapter.call(call.operation, call.arguments, lasts)
        except Refused as refusal:
            refused = code_of(refusal)
        except Broken as broken:
            expected = "the clock moves" if wait else "an answer"
            raise self._broken(call.operation, expected, broken, call.arguments) from None
        ended, elapsed = next(self._clock), self.adapter.milliseconds - before
        if wait:
            reply, elapsed = None, 0
            self._stopwatch.move(call.arguments["ms"])
            within = self._stopwatch.now
        return replace(
            call, reply=reply, refused=refused, began=began, ended=ended, at=before, elapsed=elapsed, within=within
        )

    def _until_now(self, call: Observed, signals: tuple[Signal, ...] | None = None) -> Observed:
        """Return a call that is over now, and all that came of it was seen, the signals that did included."""
        within = self._stopwatch.since(call.within)
        if signals is not None:
            return replace(call, within=within, signals=signals)
        return call if within == call.within else replace(call, within=within)

    def _settled(self, call: Observed, raw: Any) -> tuple[Observed, Any]:
        """Return a call, and its reply as it came, when all that may come of it has: while a system may settle it is asked again.

        It is not over when one explanation has all of it: another one, of which more was to come, would be lost.
        """
        explained = False
        # Looks are counted, not time: on a machine so busy that we wake late, the system comes late as well.
        for look in range(math.ceil(self.adapter.declaration.settles / LOOK)):
            if not explained and self.judge.allows(call):
                explained, self.late = True, max(self.late, look * LOOK)
            if explained and not self.judge.awaits(call):
                break
            time.sleep(LOOK / 1000)
            signals = (*call.signals, *self._signals(call.operation))
            if self._facts.observes(call.operation):
                again, raw = self._asked(call)
                call = replace(again, elapsed=call.elapsed)
            call = self._until_now(call, signals)
        return self._until_now(call), raw

    def _changed(self) -> Finding | None:
        """Look again at what was given as a copy: a later call must not have changed it."""
        for call, raw in self._readings:
            try:
                now = self._observation.reply(call.operation, raw)
            except WrongShape as wrong:
                now = str(wrong)
            if now != call.given:
                clause, seen = self._copies[call.operation], f"{short(now)} after a later call"
                return Finding("reply", clause, call.operation, f"still {short(call.given)}", seen)
        return None

    def _malformed(self, call: Observed) -> CallFailed:
        return self._failed("shape", call.operation, WELL_FORMED, call.malformed, call.arguments)

    def _broken(
        self, operation: str, expected: str, broken: Broken, arguments: Mapping[str, Any] | None = None
    ) -> CallFailed:
        seen = f"{broken.message}\n{broken.detail}" if broken.detail else broken.message
        return self._failed(broken.kind, operation, expected, seen, arguments)

    def _failed(
        self, kind: str, operation: str, expected: str, seen: str, arguments: Mapping[str, Any] | None = None
    ) -> CallFailed:
        clauses = [f"operations.{each}" for each in operation.split(BESIDE)]
        should = kind in NO_REPLY and all(map(self._facts.recommended, clauses))
        finding = Finding(kind, clauses[0], operation, expected, seen, should)
        if self.finding is None and self.judge.has_to_answer(operation, arguments):
            self.finding = finding
        return CallFailed(finding)

    def _signals(self, operation: str) -> tuple[Signal, ...]:
        try:
            return tuple(map(self._observation.signal, self.adapter.signals()))
        except Broken as broken:
            raise self._broken(operation, "signals() gives what happened", broken) from None
        except WrongShape as wrong:
            raise self._failed("shape", operation, wrong.expected, str(wrong)) from None

    # ── Calls at once ──

    def together(self, bodies: Sequence[Callable[[], Any]]) -> list[Any]:
        """Evaluate bodies at once, and judge all their calls as one history."""
        callers: list[list[Observed]] = [[] for _ in bodies]
        with _blaming(itertools.chain(*callers)):
            return self._together(bodies, callers)

    def _together(self, bodies: Sequence[Callable[[], Any]], callers: list[list[Observed]]) -> list[Any]:
        def as_caller(calls: list[Observed], body: Callable[[], Any]) -> Any:
            self._caller.calls = calls
            try:
                return body()
            except UNEVALUABLE as error:
                raise RowFailure(f"cannot be evaluated: {error}") from error
            finally:  # the thread may be one that goes on: what it calls afterwards is not of this group
                del self._caller.calls

        self.trace.append(History(()))
        began = self._stopwatch.now
        seed = self.seed * GROUPS_OF_A_CASE + self.groups
        self.groups += 1
        try:
            results = self.adapter.together(
                [partial(as_caller, *each) for each in zip(callers, bodies, strict=True)], seed
            )
        except Broken as broken:
            operations = BESIDE.join(dict.fromkeys(call.operation for call in itertools.chain(*callers)))
            raise self._broken(operations, "answers", broken) from None
        finally:
            history = self.trace[-1] = History(tuple(map(tuple, callers)))
        told = self.adapter.overlapped
        seen = [(call.began, call.ended, caller) for caller, calls in enumerate(history.callers) for call in calls]
        self.overlaps += overlapping(seen) if told is None else told
        self.one_step += self.adapter.one_step
        if self.adapter.declaration.settles:
            idle(self.adapter.declaration.settles / 1000)  # what settles later belongs to these calls
        first = next((call.operation for call in history.calls), "")
        history = replace(history, signals=self._signals(first))
        history = self.trace[-1] = replace(history, within=self._stopwatch.since(began))
        if self.finding is None:
            finding = self.judge.step(history)
            self.astray = self.astray or self.judge.astray
            malformed = (call for call in history.calls if call.malformed)
            if finding is not None and (first_of_them := next(malformed, None)) is not None:
                raise self._malformed(first_of_them)
            self.finding = finding
        else:
            self.judge.lockstep.go_on(history)
        return results

    def _beside_others(self, call: Observed, calls: list[Observed]) -> Observed:
        """Make a call at once with others; whether its reply is compared, the order decides that explains it."""
        calls.append(replace(call, began=next(self._clock)))  # a call that never comes back was made as well
        call = self._until_now(self._observation.call(self._made(call)))
        calls[-1] = call
        return call


def case_seed(number: int, case: int) -> int:
    """Return the seed of a case among those that are run under the seed `number`."""
    return number * CASES_OF_A_SEED + case


@contextmanager
def _blaming(calls: Iterable[Observed]) -> Iterator[None]:
    """Tell whose fault an error is: that of an operation whose argument an earlier reply lacks, or the kit's own."""
    try:
        yield
    except (RowFailure, RowTooLong, HarnessError):  # told as it is
        raise
    except Exception as error:
        for call in calls:
            if any(each is None for each in parts(dict(call.arguments))):
                message = f"{call.operation} cannot be called: an earlier reply lacks what it takes"
                raise RowFailure(message) from error
        raise HarnessError.of_the_kit(error) from error
