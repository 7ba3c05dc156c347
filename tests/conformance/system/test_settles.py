"""A system whose calls take effect a little later is right, also where what it gives can be asked for only once."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from conformance.budget import USUAL
from conformance.judge.case import Case
from conformance.references.thread_job import ThreadJobs
from conformance.refused import Refused
from conformance.verdict import OTHER_ORDER, Verdict
from tests.checking import compile_text
from tests.conformance.systems import adapted, explained, row_result, thread_job, whole_run

SPEC = """
lifecycle: small
version: 1
about: A job runs until it is done; whoever drains is told of it once.
entities:
  Job:
    id: minted
    states: {active: [running], terminal: [done]}
    missing: unchanged
messages:
  Ended:
    about:   Job
    due:     [done]
    carries: {job: job.id}
operations:
  start:
    create: {Job: {}}
    gives: {job_id: job.id}
  finish:
    takes: {job: Job}
    move: running -> done
    otherwise: unchanged
  status:
    takes: {job: Job}
    missing: refused not_found
    gives: job.state
  drain:
    sends: {told: due.Ended}
    gives: told
matrix:
  N1:
    about: What ended is drained.
    level: must
    source: the handbook, chapter 3
    covers: [operations.drain.gives]
    act:
      - job = start()
      - finish(job.job_id)
      - last = drain()
    assert:
      - last.exists(each, each.job == job.job_id)
  N2:
    about: What ended is shown as done.
    level: must
    source: the handbook, chapter 4
    covers: [operations.status.gives]
    act:
      - job = start()
      - finish(job.job_id)
    assert: status(job.job_id) == done
  N3:
    about: What ends beside drains is in one of them, or in the next one.
    level: must
    source: the handbook, chapter 3
    covers: [operations.drain]
    needs: concurrency
    arrange:
      - job = start()
    act:
      - at_once = together(repeat(3, drain()), finish(job.job_id))
      - last = drain()
    assert:
      - at_once.size() == 2
"""
SMALL = compile_text(SPEC, "small.yaml")
LATE = 0.01  # seconds until what a call causes has come about


class Late:
    """A right system: somebody else does what a call asks for, a little later."""

    declares: ClassVar[dict[str, Any]] = {"clock": "none", "settles": 30}
    late = LATE

    def __init__(self) -> None:
        self.jobs: list[str] = []
        self.queue: list[str] = []
        self.asked: list[tuple[float, Callable[[], None]]] = []

    def later(self, effect: Callable[[], None]) -> None:
        self.asked.append((time.monotonic() + self.late, effect))

    def come_about(self) -> None:
        while self.asked and self.asked[0][0] <= time.monotonic():
            self.asked.pop(0)[1]()

    def start(self) -> dict[str, str]:
        self.jobs.append(f"job-{len(self.jobs)}")
        return {"job_id": self.jobs[-1]}

    def finish(self, job: str) -> None:
        self.later(lambda: self.end(job))

    def end(self, job: str) -> None:
        if job in self.jobs:
            self.jobs.remove(job)
            self.queue.append(job)

    def status(self, job: str) -> str:
        self.come_about()
        return "running" if job in self.jobs else "done"

    def drain(self) -> list[dict[str, str]]:
        self.come_about()
        drained, self.queue = self.queue, []
        return [{"job": job} for job in drained]


class AtOnce(Late):
    """The same, and it says that all can be seen at once, which is not so."""

    declares: ClassVar[dict[str, Any]] = {"clock": "none"}


class Forgets(Late):
    """Whatever time it has, it tells nobody."""

    def end(self, job: str) -> None:
        self.jobs = [each for each in self.jobs if each != job]


@pytest.mark.parametrize(("system", "verdict"), [(Late, Verdict.PASS), (AtOnce, Verdict.FAIL), (Forgets, Verdict.FAIL)])
def test_what_can_be_asked_only_once_is_asked_when_all_has_settled(system: type[Late], verdict: Verdict) -> None:
    result = row_result(system, "N1", SMALL, shortest=False)
    assert result.verdict is verdict, explained(result)


class LateAtTimes(AtOnce):
    """It is late by chance: in every fourth case, and it says that it never is."""

    late = 6 * LATE  # a busy machine looks late as well
    cases = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).cases += 1

    def later(self, effect: Callable[[], None]) -> None:
        if self.cases % 4 == 1:
            super().later(effect)
        else:
            effect()


class WrongAtTimes(LateAtTimes):
    """It is wrong by chance, and no time mends that."""

    def status(self, job: str) -> str:
        self.come_about()
        return "running" if self.cases % 4 == 1 else "done"


@pytest.mark.parametrize(("system", "late"), [(LateAtTimes, True), (WrongAtTimes, False)])
def test_a_flaky_row_says_how_late_came_what_it_missed(system: type[LateAtTimes], late: bool) -> None:
    system.cases = 0
    result = row_result(system, "N2", SMALL, shortest=False)
    assert result.verdict is Verdict.FLAKY, explained(result)
    said = re.search("your declaration says at once; it came [0-9]+ ms later: declare settles", result.reason)
    assert (said is not None) is late, result.reason


class LateOnce(Late):
    """It is late once, and later than it says; a system that says so of nothing is not to be told that it said too little."""

    declares: ClassVar[dict[str, Any]] = {"clock": "none", "settles": 4}
    late = 20 * LATE
    was = False

    def later(self, effect: Callable[[], None]) -> None:
        if not self.was:
            type(self).was = True
            super().later(effect)
        else:
            effect()


class SaysNothing(LateOnce):
    """The same, and it says that all can be seen at once."""

    declares: ClassVar[dict[str, Any]] = {"clock": "none"}


@pytest.mark.parametrize(("system", "told"), [(LateOnce, True), (SaysNothing, False)])
def test_what_is_flaky_may_be_late_where_a_system_says_that_it_may(system: type[LateOnce], told: bool) -> None:
    system.was = False
    _, (result,) = whole_run(system, SMALL, only=["N2"])
    assert result.verdict is Verdict.FLAKY, explained(result)
    assert ("later than the 4 ms that your declaration says: try a larger `settles`" in result.reason) is told


class LateAtOnce(Late):
    """A right system for several callers: what one of them ended, the others drain a little later."""

    declares: ClassVar[dict[str, Any]] = {**Late.declares, "concurrency": "threads"}

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.RLock()

    def later(self, effect: Callable[[], None]) -> None:
        with self.lock:
            super().later(effect)

    def drain(self) -> list[dict[str, str]]:
        with self.lock:
            return super().drain()


class NotLate(LateAtOnce):
    """The same, and it says that all can be seen at once, which is not so."""

    declares: ClassVar[dict[str, Any]] = {**LateAtOnce.declares, "settles": 0}


class ForgetsBeside(LateAtOnce, Forgets):
    """Whatever time it has, it tells nobody."""


@pytest.mark.parametrize(
    ("system", "verdict"), [(LateAtOnce, Verdict.PASS), (NotLate, Verdict.FAIL), (ForgetsBeside, Verdict.FAIL)]
)
def test_what_ends_beside_others_may_come_about_when_they_are_over(system: type[Late], verdict: Verdict) -> None:
    result = row_result(system, "N3", SMALL, shortest=False)
    assert result.verdict is verdict, explained(result)


class LateEndings(ThreadJobs):
    """A right system, by real time: another thread ends its jobs, one after the other, each a few milliseconds later."""

    declares: ClassVar[dict[str, Any]] = {**ThreadJobs.declares, "clock": "real", "settles": 40}
    wait: ClassVar[None] = None  # type: ignore[assignment]  # not to be called

    def __init__(self) -> None:
        super().__init__()
        self.asked: queue.Queue[tuple[str, str, object] | None] = queue.Queue()
        threading.Thread(target=self.work, daemon=True).start()

    def work(self) -> None:
        while (ending := self.asked.get()) is not None:
            time.sleep(0.01)  # later than any call beside it, however busy the machine is
            with suppress(Refused):
                super().finish(*ending)

    def finish(self, job: str, outcome: str, payload: object) -> None:
        self.asked.put((job, outcome, payload))

    def close(self) -> None:
        self.asked.put(None)
        super().close()


class CancelsLate(LateEndings):
    """It tells of a cancel that nobody asked for, a little later."""

    def _wake(self, thread: str) -> None:
        super()._wake(thread)
        told = {"signal": "CancelSent", "job_id": next(iter(self._jobs))}
        threading.Timer(0.004, lambda: self._signals.append(told)).start()


@pytest.mark.parametrize(("system", "right"), [(LateEndings, True), (CancelsLate, False)])
def test_what_one_explanation_is_content_without_may_still_come(system: type[LateEndings], right: bool) -> None:
    # After a restart a thread may be busy: then nothing comes of an ending, and all is said and done at once.
    with adapted(system) as adapter:
        case = Case(thread_job(), adapter)
        case.call("set_idle", {"thread": "t1", "idle": True})
        case.call("restart", {})
        job = case.call("start", {"thread": "t1", "tool_call": "c1", "tool": "bash"}).reply["job_id"]
        case.call("finish", {"job": job, "outcome": "completed", "payload": "x"})
        case.call("turn_boundary", {"thread": "t1"})
        assert (not case.faults) is right, case.finding


def test_calls_at_once_may_always_come_in_one_order() -> None:
    result = row_result(
        LateEndings, "X65", budget=replace(USUAL, more_schedules=20)
    )  # the thread is busy when a job ends, each time
    assert result.verdict is Verdict.PASS, explained(result)
    assert result.reason == OTHER_ORDER


BELLS = compile_text(
    """
lifecycle: bells
version: 1
about: A bell rings some time after it was set, unless somebody has muted it.
types:
  BellId: {id of: Bell, or: fresh}
entities:
  Bell:
    id: minted
    fields: {set_at: {type: time, default: 0}, muted: {type: bool, default: false}}
    states: {active: [waiting], terminal: [over, silent]}
    after:
      waiting: {in: "20", since: bell.set_at, move: "if bell.muted then silent else over"}
    entering:
      over: {signal: {Rang: {with: {bell: bell.id}}}}
    shows: {bell_id: bell.id}
signals:
  Rang: {bell: BellId}
operations:
  set_bell: {create: {Bell: {set_at: now}}, gives: {bell_id: bell.id}}
  touch: {takes: {bell: Bell}, set: {bell.set_at: bell.set_at}}
on its own:
  mutes: {for each: {bell: Bell}, when: bell.state == waiting && !bell.muted, set: {bell.muted: true}}
""",
    "bells.yaml",
)


class Bells:
    """A right system, whose bells ring some milliseconds late, and which mutes none."""

    late = 0.006
    declares: ClassVar[dict[str, Any]] = {"clock": "real", "settles": 30}

    def __init__(self) -> None:
        self.rang: list[dict[str, str]] = []
        self.bells = 0

    def set_bell(self) -> dict[str, str]:
        self.bells += 1
        self.ring(f"bell-{self.bells}", 0.020)
        return {"bell_id": f"bell-{self.bells}"}

    def ring(self, bell: str, seconds: float) -> None:
        threading.Timer(seconds + self.late, lambda: self.rang.append({"signal": "Rang", "bell": bell})).start()

    def touch(self, bell: str) -> None:
        pass

    def signals(self) -> list[dict[str, str]]:
        taken, self.rang = self.rang, []
        return taken


class BellsByHand(Bells):
    """The same, by a clock that is moved: a bell that is due rings some milliseconds later."""

    declares: ClassVar[dict[str, Any]] = {"clock": "virtual", "settles": 30}

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.due: dict[str, int] = {}

    def set_bell(self) -> dict[str, str]:
        self.bells += 1
        self.due[f"bell-{self.bells}"] = self.now + 20
        return {"bell_id": f"bell-{self.bells}"}

    def wait(self, ms: int) -> None:
        self.now += ms
        for bell in [each for each, at in self.due.items() if at <= self.now]:
            del self.due[bell]
            self.ring(bell, 0)


@pytest.mark.parametrize("system", [Bells, BellsByHand])
def test_what_time_alone_brings_is_none_of_a_call_that_has_settled(system: type[Bells]) -> None:
    with adapted(system, BELLS) as adapter:
        case = Case(BELLS, adapter)
        bell = case.call("set_bell", {}).reply["bell_id"]
        case.call("wait", {"ms": 25})  # it may have been muted: then nothing comes of that
        for _ in range(10):
            case.call("touch", {"bell": bell})
        assert not case.faults, case.finding
        assert [name for call in case.calls for name, _ in call.signals] == ["Rang"]


STOPS = """
import os, signal, sys, time
sys.stdin.read(1)
time.sleep(0.03)
os.kill({who}, signal.{stop})
time.sleep(0.5)
os.kill({who}, signal.{go})
"""


class Worked(Late):
    """A right system: a thread does what a call asks for, in several steps that together take less time than it says."""

    declares: ClassVar[dict[str, Any]] = {"clock": "none", "settles": 400}
    steps = 6

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[threading.Thread] = []

    def later(self, effect: Callable[[], None]) -> None:
        def work() -> None:
            for _ in range(self.steps):
                time.sleep(0.03)
            effect()

        self.begun.append(threading.Thread(target=work, daemon=True))
        self.begun[-1].start()


def test_a_machine_that_stands_still_for_a_while_leaves_a_system_the_time_that_it_says() -> None:
    stops = STOPS.format(who=os.getpid(), stop=signal.SIGSTOP.name, go=signal.SIGCONT.name)
    stopper = subprocess.Popen([sys.executable, "-c", stops], stdin=subprocess.PIPE)
    with adapted(Worked, SMALL) as adapter, stopper:
        case = Case(SMALL, adapter)
        job = case.call("start", {}).given["job_id"]
        case.call("finish", {"job": job})
        os.write(stopper.stdin.fileno(), b"!")  # type: ignore[union-attr]  # it was asked for
        assert case.call("drain", {}).given == [{"job": job}]
        assert case.finding is None
