"""A process that runs rows and searches for another one: it says what holds, and leaves all that does not to that one."""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import signal
import sys
from collections import Counter
from dataclasses import dataclass
from types import FrameType
from typing import IO, Any

from conformance.budget import Budget
from conformance.suite.machine import MOST_FAULTS, PAIRS, SearchTally, search
from conformance.suite.rows import KnownWrong, RowRunner
from conformance.system import end_all_marked
from conformance.targets import open_system
from conformance.verdict import RowResult
from statemachines.compile import load
from statemachines.rows import RowCompiler


@dataclass(frozen=True, slots=True)
class Setting:
    """What a shard is told first: what it runs against what, and how.

    modules  those of the kit that the asking process has loaded: Hypothesis draws by the constants in them
    """

    path: tuple[str, ...]
    modules: tuple[str, ...]
    lifecycle: str
    target: str
    limit: float
    number: int
    budget: Budget


@dataclass(frozen=True, slots=True)
class Order:
    """What a shard is asked: a row or a search, by its name, and what is known to be wrong by then."""

    number: int
    name: str
    known: KnownWrong
    is_row: bool = True


@dataclass(frozen=True, slots=True)
class Clean:
    """What a row or a search came to that showed nothing wrong."""

    result: RowResult | None
    tally: SearchTally
    answered: frozenset[str]
    held: frozenset[tuple[str, ...]] = frozenset()


Answer = tuple[int, Clean | None]  # the number of the order; None: something is wrong, or cannot be asked


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
        if not order.is_row:
            tally = self._searched(order.name)
            return None if tally is None else Clean(None, tally, frozenset(self._adapter.answered))
        result = runner.clean(self._compiled.lifecycle.rows[order.name])
        tally = SearchTally(runner.witnessed)
        answered, held = frozenset(self._adapter.answered), frozenset(runner.held)
        return None if result is None else Clean(result, tally, answered, held)

    def _searched(self, name: str) -> SearchTally | None:
        from conformance.search import Faults  # Hypothesis is slow to import

        faults, tally = Faults(self._runner.broken_calls, MOST_FAULTS), SearchTally(Counter())
        search(self._runner, name, faults, tally)
        if name == PAIRS:
            tally.witnessed.clear()
        return tally if faults.silent else None

    def close(self) -> None:
        """End the system."""
        self._adapter.close()


def serve(orders: IO[bytes], answers: IO[bytes]) -> None:
    """Answer orders until there are no more. What goes wrong otherwise is told where the row is run again."""
    setting: Setting = pickle.load(orders)
    sys.path[:] = setting.path
    shard: _Shard | None = None
    with contextlib.suppress(Exception):
        shard = _Shard(setting)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            order: Order = pickle.load(orders)
            clean: Any = None
            with contextlib.suppress(Exception):
                clean = None if shard is None else shard.answer(order)
            pickle.dump((order.number, clean), answers)
            answers.flush()
    if shard is not None:
        with contextlib.suppress(Exception):
            shard.close()


def _terminated(number: int, frame: FrameType | None) -> None:
    end_all_marked()
    os._exit(0)


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
    os._exit(0)  # whatever threads of the system are still about
