"""A session's table of background tasks with a completion queue: the reference for `background-tasks`.

Where the description leaves a choice open, this implementation refuses and leaves everything as it was.

Each task is an asyncio task that waits for its body; what the body does is in the hands of the kit. All handles share
one `TaskTable`, and nothing between two awaits can come in between.
One idea: the whole implementation, as its users would write it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from conformance.refused import Refused

TERMINAL = ("completed", "failed", "canceled")

Reply = dict[str, Any]
"""What is given to the outside: an outcome, a row of the list, the newest blocks of a history."""

Replies: TypeAlias = list[Reply]
Returned: TypeAlias = tuple[str, str]
"""How a body returned, completed or failed, and its text."""


class Crash(Exception):
    """A body that raised instead of returning."""


class FunctionThrew(Exception):
    """A function that was to give a body, and raised."""


@dataclass(slots=True, eq=False)
class CancelToken:
    """Asks a body to stop; a child is cancelled with its parent."""

    parent: CancelToken | None = None
    asked: bool = False
    heard: Callable[[], None] | None = None
    """What a body does as soon as it is asked."""

    @property
    def cancelled(self) -> bool:
        """Whether anybody asked."""
        return self.asked or (self.parent is not None and self.parent.cancelled)

    def cancel(self) -> None:
        """Ask; it can be asked again."""
        self.asked = True
        if self.heard is not None:
            self.heard()

    def listen(self, heard: Callable[[], None]) -> None:
        """Do something as soon as it is asked, at once where it was."""
        self.heard = heard
        if self.cancelled:
            heard()


@dataclass(slots=True, eq=False)
class TaskRow:
    """What the table knows of one task."""

    task_id: str
    label: str
    serial: int
    """Its place among all that were spawned."""
    token: CancelToken
    body: asyncio.Future[Returned]
    status: str = "running"
    history: list[str] | None = None
    finish: int = 0
    """Its place among all that ended."""
    supervisor: asyncio.Task[None] | None = None


@dataclass(slots=True, eq=False)
class TaskTable:
    """What all handles share. Rows and outcomes have lifetimes of their own."""

    session: CancelToken = field(default_factory=CancelToken)
    rows: dict[str, TaskRow] = field(default_factory=dict)
    queue: deque[Reply] = field(default_factory=deque)
    permit: bool = False
    """A wake-up that nobody has waited for yet."""
    waiters: deque[asyncio.Future[None]] = field(default_factory=deque)
    supervisors: set[asyncio.Task[None]] = field(default_factory=set)
    """Those that still wait for their bodies; an event loop itself does not hold on to its tasks."""
    spawned: int = 0
    finished: int = 0


class BackgroundTasks:
    """Background tasks of one session, for any number of callers on one event loop.

    The newest `retained` ended rows stay; `recent` blocks of a history are shown where nothing else is
    asked for. The policies are those of the description. Operations refuse by raising `Refused`.
    """

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "async",
        "limits": {"retained": 64, "recent": 10},
        "policies": {
            "cancelled_body": "canceled",
            "crash": "failed",
            "spawn_after_cancel": "canceled",
            "born_canceled": "runs_until_it_returns",
            "id_order": "text",
            "spawn_throws": "reaches_caller",
            "canceled_outcome": "as_returned",
        },
    }

    def __init__(self, *, retained: int = 64, recent: int = 10, **policies: str) -> None:
        self._retained, self._recent = retained, recent
        self._policies: dict[str, str] = {**BackgroundTasks.declares["policies"], **policies}
        self._handles = [TaskTable()]
        self._turns = 0
        self._came: Replies = []

    # What becomes of a task.

    async def spawn(self, label: str) -> Reply:
        """Return a running task under a fresh id. Raises Refused (`session_cancelled`)."""
        return self._begun(self._spawn(self._turn(), label))

    async def spawn_with(self, does: str, label: str, text: str) -> Reply:
        """Spawn a task whose function throws, or whose body raises, or returns as soon as it is asked to stop.

        Raises Refused: `session_cancelled`, and `function_threw` where the error is the caller's.
        """
        table = self._turn()
        if does == "throws" and self._policies["spawn_throws"] == "reaches_caller":
            raise Refused("function_threw", text)
        row = self._spawn(table, label)
        if does == "obliges":
            reply = self._begun(row)
            row.token.listen(lambda: self._oblige(row, text))
            return reply
        row.body.set_exception(FunctionThrew(text) if does == "throws" else Crash(text))
        return {"task_id": row.task_id}

    async def spawn_from(self, spawner: str, label: str) -> Reply:
        """Let the body of a running task spawn another. Refuses `not_found`, `wrong_state` and as `spawn`."""
        table = self._turn()
        self._find_running(table, spawner)
        return self._begun(self._spawn(table, label))

    async def finish(self, task: str, outcome: str, text: str) -> None:
        """Let the body return; the task has ended when this has. Refuses `not_found`, `wrong_state`."""
        row = self._find_running(self._turn(), task)
        row.body.set_result((outcome, text))
        await self._settled(row)

    async def crash(self, task: str) -> None:
        """Let the body raise. Refuses `not_found` and `wrong_state`."""
        row = self._find_running(self._turn(), task)
        row.body.set_exception(Crash("The task crashed"))
        await self._settled(row)

    async def cancel_task(self, task: str) -> bool | None:
        """Ask one task to stop. True: it runs; False: it has ended; None: there is no such row."""
        row = self._turn().rows.get(task)
        return self._cancel(row) if row else None

    async def cancel_all(self) -> None:
        """Ask every task to stop."""
        self._cancel_session(self._turn())

    async def session_cancelled(self) -> None:
        """Note that the session itself was cancelled: the same."""
        self._cancel_session(self._turn())

    # Completions.

    async def drain_completed(self) -> Replies:
        """Take all outcomes, first to finish first. The rows stay."""
        return self._drain(self._turn())

    async def has_completed(self) -> bool:
        """Return whether there are outcomes to drain."""
        return bool(self._turn().queue)

    async def wait_for_completion(
        self,
        timeout: int,  # noqa: ASYNC109 - the life cycle names it, and it is in milliseconds
    ) -> bool:
        """Wait for a completion since this last returned True; False when the time is over before."""
        table = self._turn()
        return self._take_permit(table) or await self._wait(table, timeout)

    # What callers see.

    async def running_count(self) -> int:
        """Return how many rows are running."""
        return sum(row.status == "running" for row in self._turn().rows.values())

    async def list(self) -> Replies:
        """Return all rows in the order of their ids; histories are not read."""
        return [self._show(row) for row in sorted(self._turn().rows.values(), key=self._order)]

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        """Return the newest blocks of a task's history, oldest first, and how many there are; None: no row."""
        row = self._turn().rows.get(task)
        if row is None:
            return None
        blocks = row.history or []
        return {"blocks": blocks[-self._shown(recent) :], "total": len(blocks)}

    # Controls of the kit.

    async def attach_history(self, task: str) -> None:
        """Let a task have a history, if it has none. Refuses `not_found`."""
        row = self._find(self._turn(), task)
        row.history = row.history or []

    async def append_history(self, task: str, blocks: Sequence[str]) -> None:
        """Add to a history. Raises Refused: `not_found`, and `wrong_state` where there is none."""
        row = self._find(self._turn(), task)
        if row.history is None:
            raise Refused("wrong_state", "The task has no history")
        row.history.extend(blocks)

    async def clone(self) -> None:
        """Make one more handle; from now on calls go through all of them in turn."""
        self._handles.append(self._share(self._handles[0]))

    def signals(self) -> Replies:
        """Return what bodies have seen since this was last asked."""
        came, self._came = self._came, []
        return came

    async def close(self) -> None:
        """Stop waiting for bodies."""
        waiting = {supervisor for table in self._handles for supervisor in table.supervisors}
        for supervisor in waiting:
            supervisor.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    # Rules of rows and ids.

    def _spawn(self, table: TaskTable, label: str) -> TaskRow:
        if table.session.cancelled and self._policies["spawn_after_cancel"] == "refused":
            raise Refused("session_cancelled", "The session has been cancelled")
        table.spawned += 1
        body: asyncio.Future[Returned] = asyncio.get_running_loop().create_future()
        row = TaskRow(self._mint_id(table), label, table.spawned, CancelToken(table.session), body)
        table.rows[row.task_id] = row
        row.supervisor = asyncio.create_task(self._supervise(table, row))
        table.supervisors.add(row.supervisor)
        row.supervisor.add_done_callback(table.supervisors.discard)
        return row

    def _begun(self, row: TaskRow) -> Reply:
        """Let the body of a new task begin, which may be asked to stop already."""
        if row.token.cancelled:
            self._see_cancel(row)
        return {"task_id": row.task_id}

    def _turn(self) -> TaskTable:
        """Return the table as the handle whose turn it is sees it."""
        self._turns += 1
        return self._handles[self._turns % len(self._handles)]

    def _share(self, table: TaskTable) -> TaskTable:
        """Return the same table for a clone."""
        return table

    def _mint_id(self, table: TaskTable) -> str:
        return f"task-{table.spawned}"

    def _find(self, table: TaskTable, task: str) -> TaskRow:
        row = table.rows.get(task)
        if row is None:
            raise Refused("not_found", "No such task")
        return row

    def _find_running(self, table: TaskTable, task: str) -> TaskRow:
        row = self._find(table, task)
        if row.body.done():
            raise Refused("wrong_state", "The body has already ended")
        return row

    def _order(self, row: TaskRow) -> Any:
        return row.serial if self._policies["id_order"] == "numeric" else row.task_id

    def _show(self, row: TaskRow) -> Reply:
        return {"task_id": row.task_id, "label": row.label, "status": row.status, "block_count": 0, "recent": []}

    def _shown(self, recent: int | None) -> int:
        """Nothing is no answer to a peek: 0 counts as 1."""
        return max(1, self._recent if recent is None else recent)

    # Rules of ending.

    async def _supervise(self, table: TaskTable, row: TaskRow) -> None:
        try:
            outcome, text = await row.body
        except (Crash, FunctionThrew) as error:
            if isinstance(error, FunctionThrew) or self._policies["crash"] == "failed":
                self._end(table, row, "failed", self._outcome(row, "failed", str(error)))
        else:
            self._return(table, row, outcome, text)

    async def _settled(self, row: TaskRow) -> None:
        """Whoever lets a body end goes on when the table knows it, and ends nothing by giving up."""
        if row.supervisor is not None:
            await asyncio.wait([row.supervisor])

    def _return(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        if row.token.cancelled and self._policies["cancelled_body"] == "canceled":
            said = self._policies["canceled_outcome"]
            reported = self._outcome(row, outcome if said == "as_returned" else said, text)
            self._end(table, row, "canceled", reported)
        else:
            self._end(table, row, outcome, self._outcome(row, outcome, text))

    def _oblige(self, row: TaskRow, text: str) -> None:
        if not row.body.done():
            row.body.set_result(("failed", text))

    def _outcome(self, row: TaskRow, status: str, text: str) -> Reply:
        return {"task_id": row.task_id, "label": row.label, "result": {"status": status, "text": text}}

    def _end(self, table: TaskTable, row: TaskRow, status: str, outcome: Reply) -> None:
        """End a row, once: its outcome is queued, old rows leave, somebody is woken."""
        table.finished += 1
        row.status, row.finish = status, table.finished
        self._deliver(table, outcome)
        self._evict(table)
        self._wake(table)

    def _evict(self, table: TaskTable) -> None:
        """Rows alone leave; what they brought is still drained."""
        ended = sorted((row for row in table.rows.values() if row.status in TERMINAL), key=self._age)
        for row in ended[: max(0, len(ended) - self._retained)]:
            del table.rows[row.task_id]

    def _age(self, row: TaskRow) -> int:
        return row.finish

    def _cancel(self, row: TaskRow) -> bool:
        if row.status in TERMINAL:
            return False
        self._ask(row)
        return True

    def _cancel_session(self, table: TaskTable) -> None:
        for row in [*table.rows.values()]:
            self._ask(row)
        if self._policies["spawn_after_cancel"] != "runs":
            table.session.cancel()

    def _ask(self, row: TaskRow) -> None:
        if not row.token.cancelled:
            self._see_cancel(row)
        row.token.cancel()

    def _see_cancel(self, row: TaskRow) -> None:
        """Let the body see that it is to stop, if it still runs."""
        if not row.body.done():
            self._came.append({"signal": "CancelSeen", "task_id": row.task_id})

    # Rules of delivery.

    def _deliver(self, table: TaskTable, outcome: Reply) -> None:
        table.queue.append(outcome)

    def _drain(self, table: TaskTable) -> Replies:
        taken = [*table.queue]
        table.queue.clear()
        return taken

    def _wake(self, table: TaskTable) -> None:
        """One waiter, or else a permit for the next one; there is never more than one permit."""
        if table.waiters:
            table.waiters.popleft().set_result(None)
        else:
            table.permit = True

    def _take_permit(self, table: TaskTable) -> bool:
        taken, table.permit = table.permit, False
        return taken

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        """Wait in line. A wake-up for a caller that gave up goes to the next one."""
        waiter = asyncio.get_running_loop().create_future()
        table.waiters.append(waiter)
        try:
            await asyncio.wait([waiter], timeout=ms / 1000)
        except asyncio.CancelledError:
            if waiter.done():
                self._wake(table)
            raise
        finally:
            if not waiter.done():
                table.waiters.remove(waiter)
        return waiter.done()
