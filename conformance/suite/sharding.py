"""A run on several processes, of this machine or of a cluster, whose report is that of one process.

What a row says depends on its own calls and on what is known to be wrong by then: causes that were told, faults seen
beside what rows are about, calls that hang or crash. So shards run ahead on what is known, and say only what holds.
Results are taken in the order of the rows. A row that shows something wrong is run again here, as in a run on one
process; what it adds to what is known makes void whatever was run ahead without it. Searches are made ahead as rows
are, where nothing is known to be wrong.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

from conformance.errors import UsageError
from conformance.suite.machine import SEARCHES, SearchTally, ShowedWrong, rounds_of, searches_of, share
from conformance.suite.rows import KnownWrong, RowRunner
from conformance.suite.shard import Answer, Clean, Order, Setting, Work, asked, end_all, refusal
from conformance.system import Adapter, HarnessError, resolve
from conformance.verdict import RowResult
from conformance.workers import Cluster, spec_file
from statemachines.lifecycle import Row

AHEAD = 4  # orders for each lane beyond what is taken next
PAUSE = 1.0  # seconds, after which whoever waits for a cluster looks whether it is still there
LOST = 15  # such pauses without a worker, after which it is not


@dataclass(slots=True)
class Shards:
    """Runs ahead what is still to come; a context manager that ends whoever does.

    processes  of this machine that do it
    cluster    whose workers do it instead, as many at once as they have threads; None where there is none
    left       the seconds that searches have left, without end where they are not counted
    """

    setting: Setting
    processes: int
    cluster: Cluster | None = None
    left: Callable[[], float] = lambda: math.inf
    _executor: Executor | None = None
    _made: dict[Work, tuple[KnownWrong, Answer]] = field(default_factory=dict)
    _running: dict[Future[Answer], Order] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self.setting = replace(self.setting, run=uuid.uuid4().hex)
        self._executor = ThreadPoolExecutor(self.processes) if self.cluster is None else self.cluster.executor
        return self

    def __exit__(self, *error: object) -> None:
        for each in self._running:  # nobody wants to know any more
            each.cancel()
        if self.cluster is not None:
            self.cluster.tell(end_all, self.setting.run)
        else:
            end_all(self.setting.run)
        if self._executor is not None:
            self._executor.shutdown()

    @property
    def lanes(self) -> int:
        """How much is done at once by now: workers of a cluster come and go."""
        return self.processes if self.cluster is None else self.cluster.lanes

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
                known = runner.known
                follow = endless is not None and not known.anything  # or nobody asks for them
                searches = rounds_of(runner.adapter, endless=bool(endless)) if follow else iter(())
                found = self._answer(itertools.chain(works[number:], (Work(*each) for each in searches)), runner)
                if not isinstance(found, Clean) or found.result is None:
                    return [runner.run(row)]
                runner.take(row, found.tally.witnessed, found.answered, found.held)
                return [replace(found.result, where=str(row.id.where))]

            yield result

    def search(self, runner: RowRunner, coming: Iterator[tuple[str, int]]) -> SearchTally | ShowedWrong | None:
        """Return what the first of the searches to come came to in its round; None where it cannot be made elsewhere.

        That is where it has to know what is wrong. One in which something was wrong has to be made here, whatever the time.
        """
        known = runner.known
        if known.anything:
            return None
        found = self._answer((Work(*each) for each in coming), runner)
        if not isinstance(found, Clean):
            return found
        runner.adapter.answered.update(found.answered)
        return found.tally

    # ── How it is done ──

    def _answer(self, coming: Iterator[Work], runner: RowRunner) -> Answer:
        """Return what the first of the work to come comes to, while the rest is run ahead."""
        works, known = [*itertools.islice(coming, 1 + AHEAD * self.lanes)], runner.known
        alone = 0  # pauses
        while not self._is_made(works[0], known):
            if not self._begin(works, known, searches_of(runner.adapter)):
                return None
            if not self._running:  # no worker is there just now
                time.sleep(PAUSE)
            done, _ = wait(self._running, PAUSE, FIRST_COMPLETED)
            vain = [each for each in done if each.cancelled() or each.exception()]
            for each in done:
                order = self._running.pop(each)
                self._made[order.work] = (order.known, None if each in vain else each.result())
            alone = alone + 1 if not done or vain else 0
            if alone and self.cluster is not None and not self.cluster.lanes and (vain or alone > LOST):
                self._lose()
        return self._made[works[0]][1]

    def _begin(self, works: Sequence[Work], known: KnownWrong, searches: Sequence[str] = SEARCHES) -> bool:
        """Order what is not made on what is known, in the order in which it comes, until all lanes have something to do.

        Returns whether there is still somebody to ask.
        """
        if self._executor is None:
            return False
        running = {order.work for order in self._running.values() if order.known == known}
        wanted = (each for each in works if each not in running and not self._is_made(each, known))
        try:
            for work in itertools.islice(wanted, max(self.lanes - len(self._running), 0)):
                part = share(searches, *work, lanes=self.lanes) if work.name in SEARCHES else 1.0
                order = Order(work, known, self.left() * part)
                self._running[self._executor.submit(asked, self.setting, order)] = order
        except Exception:
            if self.cluster is None or self.cluster.lanes:
                raise
            self._lose()
        return self._executor is not None

    def _lose(self) -> None:
        """Ask the cluster no more: it is gone, and what is left is run here."""
        assert self.cluster is not None  # who else is lost
        warnings.warn(f"the cluster at {self.cluster.address} is gone, so what is left is run here", stacklevel=2)
        for each in self._running:
            each.cancel()
        self._running.clear()
        self._executor = None

    def _is_made(self, work: Work, known: KnownWrong) -> bool:
        made = self._made.get(work)
        return made is not None and (not isinstance(made[1], Clean) or made[0] == known)


def setting_of(runner: RowRunner, cluster: Cluster | None = None) -> Setting:
    """Return what a shard has to be told.

    Raises UsageError for a system that another process cannot find by its name, or that a worker of the cluster cannot run.
    """
    adapter, spec = runner.adapter, spec_file(runner.compiled)
    target = adapter.name
    if spec is None or not _is_found(adapter, target):
        raise UsageError(
            f"{target} cannot be run on several processes: they find a system by a name, such as "
            "python:module:Class, and this is one of this prompt or function; put it into a module, or run it with one"
        )
    modules = tuple(name for name in sys.modules if name.partition(".")[0] in ("conformance", "statemachines"))
    named = tuple(name for name in modules if not name.endswith("__main__"))
    path, run = tuple(sys.path), uuid.uuid4().hex
    setting = Setting(path, named, spec, target, adapter.limit, runner.number, runner.budget, run)
    if cluster is not None:
        try:
            cluster.needs(partial(refusal, setting), f"have to be able to run {target}")
        finally:
            cluster.tell(end_all, run)
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
