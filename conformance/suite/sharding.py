"""A run on several processes, whose report is that of one process.

What a row says depends on its own calls and on what is known to be wrong by then: causes that were told, faults seen
beside what rows are about, calls that hang or crash. So shards run rows ahead on what is known, and say only what
holds. Results are taken in the order of the rows. A row that shows something wrong is run again here, as in a run on
one process; what it adds to what is known makes void whatever was run ahead without it.
"""

from __future__ import annotations

import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from conformance.errors import UsageError
from conformance.suite.machine import SearchTally, searches_of
from conformance.suite.rows import KnownWrong, RowRunner
from conformance.suite.shard import Answer, Clean, Order, Setting
from conformance.system import Adapter, HarnessError, resolve
from conformance.verdict import RowResult
from statemachines.lifecycle import Row
from statemachines.specs import RULES

CLOSING = 2.0  # seconds that a system has to close
AHEAD = 4  # orders for each process beyond what is taken next


@dataclass(slots=True)
class _Process:
    """One process: what it does now, and how it is asked."""

    process: subprocess.Popen[bytes]
    order: int | None = None
    gone: bool = False


@dataclass(slots=True)
class Shards:
    """Processes that run ahead, so many; a context manager that ends them."""

    setting: Setting
    workers: int
    _processes: list[_Process] = field(default_factory=list)
    _answers: queue.Queue[tuple[_Process, Answer | None]] = field(default_factory=queue.Queue)
    _made: dict[str, tuple[KnownWrong, Clean | None]] = field(default_factory=dict)
    _orders: dict[int, Order] = field(default_factory=dict)
    _number: int = 0

    def __enter__(self) -> Self:
        for _ in range(self.workers):
            command = [sys.executable, "-c", "from conformance.suite.shard import main; main()"]
            pipe = subprocess.PIPE
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)
            each = _Process(process)
            self._processes.append(each)
            threading.Thread(target=self._read, args=(each,), daemon=True).start()
            self._send(each, self.setting)
        return self

    def __exit__(self, *error: object) -> None:
        for each in self._processes:  # without orders they close their systems, and end
            if each.process.stdin is not None:
                _closed(each.process.stdin.close)
        for each in self._processes:
            if each.order is not None:  # nobody wants to know any more
                each.process.terminate()
            try:
                each.process.wait(CLOSING)
            except subprocess.TimeoutExpired:
                each.process.kill()
                each.process.wait()
            if each.process.stdout is not None:
                _closed(each.process.stdout.close)

    # ── What a run asks ──

    def rows(self, runner: RowRunner, rows: Sequence[Row]) -> Iterator[Callable[[], list[RowResult]]]:
        """Yield for each row what returns its result: that of a shard where it holds, or else by running it here."""
        for number, row in enumerate(rows):
            ahead = [each.id.text for each in rows[number : number + AHEAD * self.workers]]

            def result(row: Row = row, ahead: list[str] = ahead) -> list[RowResult]:
                clean = self._clean(ahead, runner.known, is_row=True)
                if clean is None or clean.result is None:
                    return [runner.run(row)]
                runner.take(row, clean.tally.witnessed, clean.answered, clean.held)
                return [replace(clean.result, where=str(row.id.where))]

            yield result

    def searches(self, runner: RowRunner) -> list[SearchTally] | None:
        """Return what the searches came to, each by itself; None where one has to know what another found, or rows did."""
        known = runner.known
        if known.told or known.strays or known.broken:
            return None
        names = searches_of(runner.adapter)
        found = [self._clean(names[number:], known, is_row=False) for number in range(len(names))]
        tallies = [clean.tally for clean in found if clean is not None]
        return tallies if len(tallies) == len(names) else None

    # ── How it is done ──

    def _clean(self, names: Sequence[str], known: KnownWrong, *, is_row: bool) -> Clean | None:
        """Return what the first of some rows came to, while the others are run ahead."""
        first = names[0]
        while True:
            made = self._made.get(first)
            if made is not None and (made[1] is None or made[0] == known):
                return made[1]
            self._begin(names, known, is_row=is_row)
            if all(each.gone for each in self._processes):
                return None  # nobody is left to ask: it is run here
            each, answer = self._answers.get()
            order = self._orders.pop(each.order) if each.order is not None else None
            each.order = None
            if answer is None:
                each.gone = True
                if order is not None:
                    self._made[order.name] = (order.known, None)
            elif order is not None:
                self._made[order.name] = (order.known, answer[1])

    def _begin(self, names: Sequence[str], known: KnownWrong, *, is_row: bool) -> None:
        """Order the next that is not made on what is known from whoever has nothing to do."""
        running = {order.name for order in self._orders.values() if order.known == known}
        for each in self._processes:
            if each.gone or each.order is not None:
                continue
            wanted = (name for name in names if name not in running and not self._is_made(name, known))
            name = next(wanted, None)
            if name is None:
                return
            running.add(name)
            self._number += 1
            number = self._number
            each.order, self._orders[number] = number, Order(number, name, known, is_row)
            self._send(each, self._orders[number])

    def _is_made(self, name: str, known: KnownWrong) -> bool:
        made = self._made.get(name)
        return made is not None and (made[1] is None or made[0] == known)

    def _send(self, each: _Process, value: Setting | Order) -> None:
        pipe = each.process.stdin
        assert pipe is not None  # it was asked for
        _closed(lambda: pickle.dump(value, pipe))
        _closed(pipe.flush)

    def _read(self, each: _Process) -> None:
        """Take what a process answers, until it ends."""
        pipe = each.process.stdout
        assert pipe is not None  # it was asked for
        try:
            while True:
                self._answers.put((each, pickle.load(pipe)))
        except Exception:  # noqa: BLE001 - whatever comes instead of an answer, nobody asks that process any more
            self._answers.put((each, None))


def _closed(function: Callable[[], object]) -> None:
    """Do something with a pipe whose other end may be gone; the thread that reads tells of that."""
    try:
        function()
    except (OSError, ValueError):
        return


def setting_of(runner: RowRunner) -> Setting:
    """Return what a shard has to be told. Raises UsageError for a system that another process cannot find by its name."""
    adapter, origin = runner.adapter, runner.compiled.origin
    target = adapter.name
    if origin is None or not _is_found(adapter, target):
        raise UsageError(
            f"{target} cannot be run on several processes: they find a system by a name, such as "
            "python:module:Class, and this is one of this prompt or function; put it into a module, or run it with one"
        )
    modules = tuple(name for name in sys.modules if name.partition(".")[0] in ("conformance", "statemachines"))
    spec = str(origin.parent if origin.name == RULES else origin)
    named = tuple(name for name in modules if not name.endswith("__main__"))
    return Setting(tuple(sys.path), named, spec, target, adapter.limit, runner.number, runner.budget)


def _is_found(adapter: Adapter, target: str) -> bool:
    """Return whether a target leads another process to the same system."""
    kind, _, rest = target.partition(":")
    if kind != "python":
        return True
    if rest.startswith("__main__:") or "<" in rest:
        return False
    try:
        return adapter.is_made_by(resolve(rest))
    except (UsageError, HarnessError):
        return False
