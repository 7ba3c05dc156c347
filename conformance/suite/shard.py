"""A process that runs rows and searches for another one: it says what holds, and leaves all that does not to that one.

Below, how it is asked.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import FrameType
from typing import IO, Any, NamedTuple

from conformance.budget import Budget
from conformance.suite.machine import MOST_FAULTS, PAIRS, SEARCHES, SearchTally, search
from conformance.suite.rows import KnownWrong, RowRunner
from conformance.system import end_all_marked
from conformance.targets import open_system
from conformance.verdict import RowResult
from statemachines.compile import load
from statemachines.rows import RowCompiler

_end_process = os._exit  # a run keeps systems from it
CLOSING = 2.0  # seconds that a system has to close
_GONE = (EOFError, OSError, ValueError, pickle.UnpicklingError, AttributeError, ImportError, IndexError)
"""What comes of a process that has ended, or answers with something else; `pickle` names what it may raise."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a shard is told first: what it runs against what, and how.

    modules  those of the kit that the asking process has loaded: Hypothesis draws by the constants in them
    run      a name that no other run has
    """

    path: tuple[str, ...]
    modules: tuple[str, ...]
    lifecycle: str
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
    """What a shard is asked to do, and what is known to be wrong by then."""

    work: Work
    known: KnownWrong


@dataclass(frozen=True, slots=True)
class Clean:
    """What a row or a search came to that showed nothing wrong."""

    result: RowResult | None
    tally: SearchTally
    answered: frozenset[str]
    held: frozenset[tuple[str, ...]] = frozenset()


class _Shard:
    """The runner of this process."""

    def __init__(self, setting: Setting) -> None:
        for name in setting.modules:
            importlib.import_module(name)
        self._compiled = load(setting.lifecycle)
        self._adapter = open_system(self._compiled, setting.target)
        self._adapter.limit = setting.limit
        self._adapter.ready()
        programs = RowCompiler(self._compiled.lifecycle).checked()
        self._runner = RowRunner(self._compiled, programs, self._adapter, number=setting.number, budget=setting.budget)

    def answer(self, order: Order) -> Clean | None:
        """Return what an order came to, if that is clean."""
        runner = self._runner
        runner.go_on_from(order.known)
        runner.witnessed, runner.held = Counter(), set()
        if order.work.name in SEARCHES:
            tally = self._searched(*order.work)
            return None if tally is None else Clean(None, tally, frozenset(self._adapter.answered))
        result = runner.clean(self._compiled.lifecycle.rows[order.work.name])
        tally = SearchTally(runner.witnessed)
        answered, held = frozenset(self._adapter.answered), frozenset(runner.held)
        return None if result is None else Clean(result, tally, answered, held)

    def _searched(self, name: str, round_: int) -> SearchTally | None:
        from conformance.search import Faults  # Hypothesis is slow to import

        faults, tally = Faults(self._runner.broken_calls, MOST_FAULTS), SearchTally(Counter())
        search(self._runner, name, faults, tally, round_)
        if name == PAIRS:
            tally.witnessed.clear()
        return tally if faults.silent else None

    def close(self) -> None:
        """End the system."""
        self._adapter.close()


def serve(orders: IO[bytes], answers: IO[bytes]) -> None:
    """Answer a setting with why it cannot be, or an empty text, and then orders until there are no more.

    What goes wrong with an order is told where it is done again.
    """
    setting: Setting = pickle.load(orders)
    sys.path[:] = setting.path
    try:
        shard = _Shard(setting)
    except Exception as error:  # noqa: BLE001 - of the system's own making
        _say(f"{type(error).__name__}: {error}", answers)
        return
    _say("", answers)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            order: Order = pickle.load(orders)
            clean: Clean | None = None
            with contextlib.suppress(Exception):
                clean = shard.answer(order)
            _say(clean, answers)
    with contextlib.suppress(Exception):
        shard.close()


def _say(answer: Clean | str | None, answers: IO[bytes]) -> None:
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
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    orders = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    serve(orders, answers)
    _end_process(0)  # whatever threads of the system are still about


# ── As seen by whoever asks ──


class _ShardProcess:
    """A process that is asked one order after the other; `refusal` says why it can do none, or is empty."""

    def __init__(self, setting: Setting) -> None:
        command, pipe = [sys.executable, "-c", "from conformance.suite.shard import main; main()"], subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)
        self.busy = False
        self.refusal: str = self.ask(setting)

    def ask(self, what: Setting | Order) -> Any:
        """Return what it answers. Raises EOFError, OSError or UnpicklingError where it has ended, or prints what is no answer."""
        orders, answers = self._process.stdin, self._process.stdout
        assert orders is not None  # both were asked for
        assert answers is not None
        pickle.dump(what, orders)
        orders.flush()
        return pickle.load(answers)

    def end(self) -> None:
        """End it: without orders it closes its system; one that is busy is not waited for."""
        with contextlib.suppress(OSError, ValueError):  # its other end may be gone
            self._process.stdin and self._process.stdin.close()
        if self.busy:
            self._process.terminate()
        try:
            self._process.wait(CLOSING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError, ValueError):
            self._process.stdout and self._process.stdout.close()


@dataclass(slots=True)
class _Processes:
    """Those of all runs that ask on this machine; none begins for a run that has ended."""

    idle: dict[str, list[_ShardProcess]] = field(default_factory=dict)
    all: dict[str, list[_ShardProcess]] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def taken(self, setting: Setting) -> _ShardProcess:
        """Take one that has nothing to do, or begin another one. Raises EOFError once the run has ended."""
        with self.lock:
            idle = self.idle.setdefault(setting.run, [])
            if setting.run not in self.ended and idle:
                process = idle.pop()
                process.busy = True
                return process
        process = _ShardProcess(setting)
        process.busy = True
        with self.lock:
            ended = setting.run in self.ended
            if not ended:
                self.all.setdefault(setting.run, []).append(process)
        if ended:
            process.end()
            raise EOFError
        return process

    def given_back(self, setting: Setting, process: _ShardProcess) -> None:
        """Keep one that has answered for the next order."""
        process.busy = False
        with self.lock:
            self.idle.setdefault(setting.run, []).append(process)

    def end(self, run: str) -> None:
        """End those of a run: the idle ones get some time to close, all the same time."""
        with self.lock:
            self.ended.add(run)
            self.idle.pop(run, None)
            processes = self.all.pop(run, [])
        with ThreadPoolExecutor(max(len(processes), 1)) as pool:
            list(pool.map(_ShardProcess.end, processes))


_PROCESSES = _Processes()


def asked(setting: Setting, order: Order) -> Clean | None:
    """Return what an order came to in a process that has nothing else to do; None where that says nothing wrong, or ended."""
    try:
        process = _PROCESSES.taken(setting)
    except _GONE:
        return None
    try:
        clean: Clean | None = None if process.refusal else process.ask(order)
    except _GONE:
        process.end()
        return None
    _PROCESSES.given_back(setting, process)
    return clean


def refusal(setting: Setting) -> str:
    """Return why no process of this machine can run what a setting says; an empty text where one can."""
    try:
        process = _PROCESSES.taken(setting)
    except _GONE as error:
        return f"its process ended: {error}"
    _PROCESSES.given_back(setting, process)
    return process.refusal


def end_all(run: str) -> None:
    """End the processes of a run, by its name."""
    _PROCESSES.end(run)
