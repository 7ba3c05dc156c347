"""A process that runs rows and searches for another one: it says what holds, and leaves all that does not to that one.

One idea: the process, from both of its ends.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import FrameType
from typing import IO, Any, NamedTuple

from conformance.budget import Budget
from conformance.garbage import collect_seldom
from conformance.suite.machine import SEARCHES, SearchTally, ShowedWrong, search
from conformance.suite.rows import KnownWrong, RowRunner
from conformance.system import end_all_marked, error_told
from conformance.targets import open_system
from conformance.verdict import RowResult
from conformance.workers import SpecFile
from statemachines.rows import RowCompiler

_end_process = os._exit  # a run keeps systems from it
CLOSING = 2.0  # seconds that a system has to close
UNASKED_SECONDS = 600.0  # seconds after which a process that nobody asks ends: who has begun it may be gone


@dataclass(frozen=True, slots=True)
class Setting:
    """What a shard is told first: what it runs against what, and how.

    modules  those of the kit that the asking process has loaded: Hypothesis draws by the constants in them
    run      a name that no other run has
    """

    path: tuple[str, ...]
    modules: tuple[str, ...]
    spec: SpecFile
    target: str
    limit: float
    number: int
    budget: Budget
    run: str


class Work(NamedTuple):
    """A row, by its id, or a search, by its name and the number of its round."""

    name: str
    round: int = 0


@dataclass(frozen=True, slots=True)
class Order:
    """What a shard is asked to do, what is known to be wrong by then, and the seconds that a search may take."""

    work: Work
    known: KnownWrong
    seconds: float = math.inf


@dataclass(frozen=True, slots=True)
class Clean:
    """What a row or a search came to that showed nothing wrong, a search as far as its time went."""

    result: RowResult | None
    tally: SearchTally
    answered: frozenset[str]
    held: frozenset[tuple[str, ...]] = frozenset()


Answer = Clean | ShowedWrong | None
"""None: it cannot be asked there."""


class _Shard:
    """The runner of this process."""

    def __init__(self, setting: Setting) -> None:
        for name in setting.modules:
            importlib.import_module(name)
        self._compiled = setting.spec.load()
        self._adapter = open_system(self._compiled, setting.target)
        self._adapter.limit = setting.limit
        self._adapter.ready()
        programs = RowCompiler(self._compiled.lifecycle).checked()
        self._runner = RowRunner(self._compiled, programs, self._adapter, number=setting.number, budget=setting.budget)

    def answer(self, order: Order) -> Clean | ShowedWrong:
        """Return what an order came to."""
        runner = self._runner
        runner.go_on_from(order.known)
        runner.witnessed, runner.held = Counter(), set()
        if order.work.name in SEARCHES:
            tally = self._searched(*order.work, order.seconds)
            return ShowedWrong() if tally is None else Clean(None, tally, frozenset(self._adapter.answered))
        result = runner.clean(self._compiled.lifecycle.rows[order.work.name])
        tally = SearchTally(runner.witnessed)
        answered, held = frozenset(self._adapter.answered), frozenset(runner.held)
        return ShowedWrong() if result is None else Clean(result, tally, answered, held)

    def _searched(self, name: str, round_: int, seconds: float) -> SearchTally | None:
        from conformance.search import Faults  # Hypothesis is slow to import

        until = time.monotonic() + seconds
        faults = Faults(self._runner.broken_calls, late=lambda: time.monotonic() >= until)
        tally = SearchTally(Counter())
        search(self._runner, name, faults, tally, round_)
        return tally if faults.silent and not tally.recommended else None

    def close(self) -> None:
        """End the system."""
        self._adapter.close()


def serve(orders: IO[bytes], answers: IO[bytes]) -> None:
    """Answer a setting with why it cannot be, or an empty text, and then orders until there are no more, or none for long.

    What goes wrong with an order is told where it is done again.
    """
    setting: Setting = pickle.load(orders)
    sys.path[:] = dict.fromkeys((*setting.path, *sys.path))  # on another machine Python may lie elsewhere
    try:
        shard = _Shard(setting)
    except Exception as error:  # noqa: BLE001 - of the system's own making
        _say(f"{type(error).__name__}: {error}", answers)
        return
    _say("", answers)
    with contextlib.suppress(EOFError, BrokenPipeError):
        # Who asks waits for each answer, so that nothing is buffered.
        while select.select([orders], [], [], UNASKED_SECONDS)[0]:
            order: Order = pickle.load(orders)
            answer: Answer = None
            with contextlib.suppress(Exception):
                answer = shard.answer(order)
            _say(answer, answers)
    with contextlib.suppress(Exception):
        shard.close()


def _say(answer: Answer | str, answers: IO[bytes]) -> None:
    pickle.dump(answer, answers)
    answers.flush()


def _terminated(number: int, frame: FrameType | None) -> None:
    end_all_marked()
    _end_process(0)


def main() -> None:
    """Answer on what was standard output; whatever the system prints goes to standard error.

    Who is told to terminate ends what the system has started, too: nobody else knows of it.
    """
    signal.signal(signal.SIGTERM, _terminated)
    collect_seldom()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    orders = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    serve(orders, answers)
    _end_process(0)  # whatever threads of the system are still about


# ── As seen by whoever asks ──


class _ShardProcess:
    """A process that is asked one order after the other; `refusal` says why it can do none, or is empty."""

    def __init__(self) -> None:
        command, pipe = [sys.executable, "-c", "from conformance.suite.shard import main; main()"], subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)
        self.refusal: str | None = None
        self.idle = False

    def begin(self, setting: Setting) -> None:
        """Tell it what it is for, if it is new."""
        if self.refusal is None:
            self.refusal = self.ask(setting)

    def ask(self, what: Setting | Order) -> Any:
        """Return what it answers. Raises whatever `pickle` does where it has ended, or prints what is no answer."""
        orders, answers = self._process.stdin, self._process.stdout
        assert orders is not None  # both were asked for
        assert answers is not None
        pickle.dump(what, orders)
        orders.flush()
        return pickle.load(answers)

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def end(self) -> None:
        """End it: without orders it closes its system; one that is busy is not waited for."""
        with contextlib.suppress(OSError, ValueError):  # its other end may be gone
            self._process.stdin and self._process.stdin.close()
        if not self.idle:
            self._process.terminate()
        try:
            self._process.wait(CLOSING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError, ValueError):
            self._process.stdout and self._process.stdout.close()


class _Processes:
    """Those of all runs that ask on this machine; none begins for a run that has ended."""

    def __init__(self) -> None:
        self._of: dict[str, list[_ShardProcess]] = {}
        self._ended: set[str] = set()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def one(self, setting: Setting) -> Iterator[_ShardProcess]:
        """Yield one that has nothing to do, or a new one; where the body raises it is ended. Raises EOFError once the run has ended."""
        process = self._taken(setting.run)
        try:
            process.begin(setting)
            yield process
        except BaseException:
            self._end([process])
            raise
        process.idle = True

    def _taken(self, run: str) -> _ShardProcess:
        self._end(self._gone())
        with self._lock:
            if run in self._ended:
                raise EOFError
            of_run = self._of.setdefault(run, [])
            process = next((each for each in of_run if each.idle), None)
            if process is None:
                process = _ShardProcess()
                of_run.append(process)  # before it is asked anything: who ends the run may not have to wait for it
            process.idle = False
            return process

    def _gone(self) -> list[_ShardProcess]:
        """Return those that have ended by themselves while nobody asked them."""
        with self._lock:
            every = [each for processes in self._of.values() for each in processes]
        return [each for each in every if each.idle and each.is_gone]

    def end_all(self, run: str) -> None:
        """End those of a run; from now on there are none of it."""
        with self._lock:
            self._ended.add(run)
            processes = self._of.get(run, [])
        self._end(processes)

    def _end(self, processes: Sequence[_ShardProcess]) -> None:
        """End some, all at the same time."""
        if not processes:
            return
        with ThreadPoolExecutor(len(processes)) as pool:
            list(pool.map(_ShardProcess.end, processes))
        with self._lock:
            ended = {id(each) for each in processes}
            left = {run: [each for each in of_run if id(each) not in ended] for run, of_run in self._of.items()}
            self._of = {run: of_run for run, of_run in left.items() if of_run}


_PROCESSES = _Processes()


def asked(setting: Setting, order: Order) -> Answer:
    """Return what an order came to in a process of this machine that has nothing else to do."""
    try:
        with _PROCESSES.one(setting) as process:
            found: Answer = None if process.refusal else process.ask(order)
            return found
    except Exception:  # noqa: BLE001 - whatever comes instead of an answer, it is done where the run is
        return None


def refusal(setting: Setting) -> str:
    """Return why no process of this machine can run what a setting says; an empty text where one can."""
    try:
        with _PROCESSES.one(setting) as process:
            return process.refusal or ""
    except Exception as error:  # noqa: BLE001 - the same
        return f"its process ended: {error_told(error)}"


def end_all(run: str) -> None:
    """End the processes of a run, by its name."""
    _PROCESSES.end_all(run)
