"""A run on several processes, of this machine or of a cluster, whose report is that of one process.

What a row says depends on its own calls and on what is known to be wrong by then: causes that were told, faults seen
beside what rows are about, calls that hang or crash. So shards run ahead on what is known, and say only what holds.
Results are taken in the order of the rows. A row that shows something wrong is run again here, as in a run on one
process; what it adds to what is known makes void whatever was run ahead without it. Searches are made ahead as rows
are, where nothing is known to be wrong.
"""

from __future__ import annotations

import itertools
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

from conformance.errors import UsageError
from conformance.suite.machine import SearchTally, rounds_of
from conformance.suite.rows import KnownWrong, RowRunner
from conformance.suite.shard import Clean, Order, Setting, Work, asked, end_all, refusal
from conformance.system import Adapter, HarnessError, resolve
from conformance.verdict import RowResult
from conformance.workers import Cluster
from statemachines.lifecycle import Row
from statemachines.specs import RULES

AHEAD = 4  # orders for each lane beyond what is taken next
PAUSE = 0.1  # seconds, after which whoever waits for a search looks whether the time is used up


@dataclass(slots=True)
class Shards:
    """Runs ahead what is still to come, in so many lanes; a context manager that ends them.

    cluster  whose workers do it, in as many lanes as they have threads; None for processes of this machine
    """

    setting: Setting
    lanes: int
    cluster: Cluster | None = None
    _executor: Executor | None = None
    _made: dict[Work, tuple[KnownWrong, Clean | None]] = field(default_factory=dict)
    _running: dict[Future[Clean | None], Order] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._executor = ThreadPoolExecutor(self.lanes) if self.cluster is None else self.cluster.executor
        return self

    def __exit__(self, *error: object) -> None:
        for each in self._running:  # nobody wants to know any more
            each.cancel()
        if self.cluster is not None:
            self.cluster.everywhere(end_all, self.setting.run)
        else:
            end_all(self.setting.run)
        if self._executor is not None:
            self._executor.shutdown()

    # ── What a run asks ──

    def rows(
        self, runner: RowRunner, rows: Sequence[Row], *, endless: bool | None
    ) -> Iterator[Callable[[], list[RowResult]]]:
        """Yield for each row what returns its result: that of a shard where it holds, or else by running it here.

        `endless` tells whether the searches that follow go on in ever more rounds; None where none follows.
        """
        works = [Work(row.id.text) for row in rows]
        for number, row in enumerate(rows):

            def result(number: int = number, row: Row = row) -> list[RowResult]:
                searches = rounds_of(runner.adapter, endless=endless) if endless is not None else iter(())
                coming = itertools.chain(works[number:], (Work(*each) for each in searches))
                clean = self._clean(coming, runner.known)
                if clean is None or clean.result is None:
                    return [runner.run(row)]
                runner.take(row, clean.tally.witnessed, clean.answered, clean.held)
                return [replace(clean.result, where=str(row.id.where))]

            yield result

    def search(
        self, runner: RowRunner, coming: Iterator[tuple[str, int]], late: Callable[[], bool] = bool
    ) -> SearchTally | None:
        """Return what the first of the searches to come came to in its round; None where it has to be made here.

        That is where it has to know what is wrong, and where the time is used up, as `late` tells.
        """
        known = runner.known
        if known.told or known.strays or known.broken:
            return None
        clean = self._clean((Work(*each) for each in coming), known, late)
        if clean is None:
            return None
        runner.adapter.answered.update(clean.answered)
        return clean.tally

    # ── How it is done ──

    def _clean(self, coming: Iterator[Work], known: KnownWrong, late: Callable[[], bool] = bool) -> Clean | None:
        """Return what the first of the work to come comes to, while the rest is run ahead."""
        works = [*itertools.islice(coming, 1 + AHEAD * self.lanes)]
        while not self._is_made(works[0], known):
            self._begin(works, known)
            done, _ = wait(self._running, PAUSE, FIRST_COMPLETED)
            for each in done:
                order = self._running.pop(each)
                self._made[order.work] = (order.known, None if each.cancelled() or each.exception() else each.result())
            if not done and late():
                return None
        return self._made[works[0]][1]

    def _begin(self, works: Sequence[Work], known: KnownWrong) -> None:
        """Order what is not made on what is known, in the order in which it comes, until all lanes have something to do."""
        assert self._executor is not None  # it was entered
        running = {order.work for order in self._running.values() if order.known == known}
        wanted = (each for each in works if each not in running and not self._is_made(each, known))
        for work in itertools.islice(wanted, max(self.lanes - len(self._running), 0)):
            order = Order(work, known)
            self._running[self._executor.submit(asked, self.setting, order)] = order

    def _is_made(self, work: Work, known: KnownWrong) -> bool:
        made = self._made.get(work)
        return made is not None and (made[1] is None or made[0] == known)


def setting_of(runner: RowRunner, cluster: Cluster | None = None) -> Setting:
    """Return what a shard has to be told.

    Raises UsageError for a system that another process cannot find by its name, or that a worker of the cluster cannot run.
    """
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
    path, run = tuple(sys.path), uuid.uuid4().hex
    setting = Setting(path, named, spec, target, adapter.limit, runner.number, runner.budget, run)
    if cluster is not None:
        cluster.needs(partial(refusal, setting), f"have to be able to run {target}")
    return setting


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
