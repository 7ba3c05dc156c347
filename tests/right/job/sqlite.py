"""Background jobs in tables, without an event loop: the clock goes from one due instant to the next.

Every choice that the description leaves open is made unlike the reference: a late settlement starts
retention anew, ids are never issued again, a retry lets others pass, a watch loses what settled under
it, an acknowledgement of a running job is ignored, listing acknowledges, only lists are scoped by owner,
a cancel wakes a poll, and a job evicted during a poll is left out of the reply.
"""

from __future__ import annotations

import functools
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar, cast

from conformance.refused import Refused

Row = dict[str, Any]
Rows = list[Row]
Operation = TypeVar("Operation", bound=Callable[..., Any])

TABLES = """
CREATE TABLE job (
  serial INTEGER PRIMARY KEY, id TEXT, type TEXT, label TEXT, owner TEXT, status TEXT DEFAULT 'running',
  started INTEGER, ended INTEGER, result TEXT, error TEXT, alive INTEGER DEFAULT 1, retained INTEGER DEFAULT 1,
  evict_at INTEGER, watchers INTEGER DEFAULT 0, owed INTEGER DEFAULT 0, flying INTEGER DEFAULT 0,
  settlement INTEGER, failures INTEGER DEFAULT 0, due INTEGER DEFAULT 0
);
CREATE TABLE call (
  token INTEGER PRIMARY KEY, reply TEXT, cancelled TEXT, listen INTEGER, deadline INTEGER, update_at INTEGER
);
CREATE TABLE watched (call INTEGER, job INTEGER, ran INTEGER);
"""

DUE = """
SELECT min(at) AS at FROM (
  SELECT evict_at AS at FROM job WHERE retained
  UNION ALL SELECT due FROM job WHERE owed AND NOT flying AND NOT EXISTS (SELECT 1 FROM job WHERE flying)
  UNION ALL SELECT deadline FROM call WHERE reply IS NULL
  UNION ALL SELECT update_at FROM call WHERE reply IS NULL AND listen
) WHERE at IS NOT NULL
"""


def step(method: Operation) -> Operation:
    """An operation: one at a time, followed by what it made due at this instant."""

    @functools.wraps(method)
    def whole(self: SqliteJobs, *args: Any, **kwargs: Any) -> Any:
        with self._turn():
            given = method(self, *args, **kwargs)
            self._deliver()
            return given

    return cast(Operation, whole)


class SqliteJobs:
    """A job manager in a database of its own; `wait` moves its clock."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"max_running": 3, "retention": 60_000, "poll_wait": 5_000},
        "lacks": ["refuse_sink", "register_with", "register_from", "register_both", "aborted_tool"],
        "policies": {
            "late_settlement": "anew",
            "id_reuse": "no",
            "retry_order": "overtaking",
            "unwatch_restores": "lost",
            "ack_running": "ignored",
            "list_acknowledges": "yes",
            "owner_scope": "list_only",
        },
    }

    late = 0  # milliseconds after which it sees that something is due

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.executescript(TABLES)
        self._now = self._calls = 0
        self._mode, self._disposed = "accept", False
        self._signals: Rows = []
        self.configure(max_running=3, retention_ms=60_000, poll_wait=5_000)

    def configure(self, max_running: int = 15, retention_ms: int = 300_000, poll_wait: int = 30_000) -> None:
        self._max_running, self._retention = max_running, retention_ms
        self._poll_wait = poll_wait if poll_wait in {5000, 10000, 30000, 60000, 300000} else 30000

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One at a time."""
        with self._lock:
            yield

    # Jobs.

    @step
    def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Row:
        if self._disposed:
            raise Refused("disposed")
        if len(self._all("SELECT 1 FROM job WHERE status = 'running'")) >= self._max_running:
            raise Refused("limit_reached")
        serial = len(self._all("SELECT 1 FROM job")) + 1
        wanted = (id or "").strip() or f"job{serial}"
        name, tries = wanted, 0
        while self._all("SELECT 1 FROM job WHERE id = ?", name):
            tries += 1
            name = f"{wanted}~{tries}"
        self._do(
            "INSERT INTO job (serial, id, type, label, owner, started) VALUES (?, ?, ?, ?, ?, ?)",
            serial,
            name,
            type,
            label,
            owner,
            self._now,
        )
        return {"job_id": name, "handle": f"body {serial}"}

    @step
    def settle(self, handle: str, outcome: str, text: str) -> None:
        for job in self._all("SELECT * FROM job WHERE alive AND 'body ' || serial = ?", handle):
            column = "result" if outcome == "ok" else "error"
            self._do(f"UPDATE job SET alive = 0, {column} = ? WHERE serial = ?", text, job["serial"])
            if job["status"] == "running":
                ended = "completed" if outcome == "ok" else "failed"
                self._do(
                    "UPDATE job SET owed = NOT watchers, settlement = (SELECT count(settlement) FROM job) "
                    "WHERE serial = ?",
                    job["serial"],
                )
                self._end(job["serial"], ended)
            elif job["retained"]:
                self._end(job["serial"], job["status"])
            self._wake(job["serial"])

    def _end(self, serial: int, status: str) -> None:
        self._do(
            "UPDATE job SET status = ?, ended = coalesce(ended, ?), evict_at = ? WHERE serial = ?",
            status,
            self._now,
            self._now + self._retention,
            serial,
        )

    @step
    def cancel(self, job: str) -> None:
        self._cancel(self._all("SELECT * FROM job WHERE retained AND id = ?", job))

    @step
    def cancel_all(self, owner: str | None = None) -> None:
        self._cancel(self._all("SELECT * FROM job WHERE ? IS NULL OR owner = ?", owner, owner))

    def _cancel(self, jobs: Rows) -> None:
        for job in jobs:
            if job["status"] == "running":
                self._end(job["serial"], "cancelled")
                self._signals.append({"signal": "abort_signalled", "job": job["id"]})
                self._wake(job["serial"])

    @step
    def dispose(self) -> None:
        self._disposed = True
        self._do("UPDATE job SET owed = 0, flying = 0")
        self.cancel_all()

    @step
    def get(self, job: str) -> Row | None:
        found = self._all("SELECT * FROM job WHERE retained AND id = ?", job)
        return self._record(found[0]) if found else None

    @step
    def list(self, owner: str | None = None) -> Rows:
        return [self._record(job) for job in self._visible(owner)]

    @step
    def running(self, owner: str | None = None) -> Rows:
        return [self._record(job) for job in self._visible(owner) if job["status"] == "running"]

    def _visible(self, owner: str | None) -> Rows:
        return self._all("SELECT * FROM job WHERE retained AND (? IS NULL OR owner = ?)", owner, owner)

    def _record(self, job: Row) -> Row:
        fields = {"job_id": "id", "started_at": "started", "result_text": "result", "error_text": "error"}
        return {name: job[name] for name in ("type", "label", "owner", "status")} | {
            name: job[column] for name, column in fields.items()
        }

    # Deliveries.

    @step
    def watch(self, jobs: Sequence[str]) -> None:
        for name in jobs:
            self._do("UPDATE job SET watchers = watchers + 1, owed = 0 WHERE retained AND id = ?", name)

    @step
    def unwatch(self, jobs: Sequence[str]) -> None:
        for name in jobs:
            self._do("UPDATE job SET watchers = max(0, watchers - 1) WHERE retained AND id = ?", name)

    @step
    def acknowledge(self, jobs: Sequence[str]) -> None:
        for name in jobs:
            self._do("UPDATE job SET owed = 0 WHERE retained AND id = ?", name)

    @step
    def sink(self, mode: str) -> None:
        self._mode = mode

    @step
    def release_sink(self) -> None:
        for job in self._all("SELECT * FROM job WHERE flying"):
            self._delivered(job)

    def _deliver(self) -> None:
        """Attempt what is due, in order of settlement, one at a time; a failed one lets others pass."""
        ready = "SELECT * FROM job WHERE owed AND due <= ? ORDER BY settlement LIMIT 1"
        while not self._all("SELECT 1 FROM job WHERE flying") and (jobs := self._all(ready, self._now)):
            job = jobs[0]
            self._signals.append({"signal": "delivery_attempted", "job": job["id"], "at": self._now})
            if self._mode == "accept":
                self._delivered(job)
            elif self._mode == "block":
                self._do("UPDATE job SET flying = 1 WHERE serial = ?", job["serial"])
            else:
                delay = min(500 * 2 ** min(job["failures"], 8), 30_000) + 199
                self._do(
                    "UPDATE job SET failures = failures + 1, due = ? WHERE serial = ?",
                    self._now + delay,
                    job["serial"],
                )

    def _delivered(self, job: Row) -> None:
        self._do("UPDATE job SET owed = 0, flying = 0 WHERE serial = ?", job["serial"])
        text = job["result"] if job["status"] == "completed" else job["error"]
        self._signals.append({"signal": "delivered", "job": job["id"], "text": text})

    # The tool.

    @step
    def tool(
        self,
        poll: Sequence[str] | None = None,
        cancel: Sequence[str] | None = None,
        list: bool = False,
        owner: str | None = None,
        listen: bool = False,
        manager: str = "there",
    ) -> Row:
        if list and (poll or cancel):
            raise Refused("list_is_exclusive")
        self._calls += 1
        self._do("INSERT INTO call (token, listen) VALUES (?, ?)", self._calls, listen)
        if manager == "none":
            self._reply(self._calls, [], "Async execution is disabled; no background jobs are available.")
        elif list:
            listed = self._visible(owner)
            self._reply(self._calls, listed)
            self.acknowledge([job["id"] for job in listed if job["status"] != "running"])
        else:
            self._act(self._calls, poll, cancel)
        return {"token": f"t{self._calls}"}

    def _act(self, token: int, poll: Sequence[str] | None, cancel: Sequence[str] | None) -> None:
        outcomes = [{"id": each, "status": self._cancel_outcome(each)} for each in cancel or ()]
        if cancel is not None:
            self._do("UPDATE call SET cancelled = ? WHERE token = ?", json.dumps(outcomes), token)
        visible = self._visible(None)
        if poll is None and not cancel:
            chosen = [job for job in visible if job["status"] == "running"]
        else:
            chosen = [job for job in visible if job["id"] in (poll or ())]
        if chosen:
            self._start_poll(token, chosen)
        elif cancel:
            self._reply(token, [job for job in visible if job["id"] in cancel])
        elif poll is not None:
            self._reply(token, [], f"No matching jobs found for IDs: {', '.join(poll)}")
        else:
            self._reply(token, [], "No running background jobs to wait for.")

    def _cancel_outcome(self, name: str) -> str:
        found = self._all("SELECT * FROM job WHERE retained AND id = ?", name)
        if not found:
            return "not_found"
        self._cancel(found)
        return "cancelled" if found[0]["status"] == "running" else "already_completed"

    def _start_poll(self, token: int, chosen: Rows) -> None:
        """A job that has ended already is not held back by the wait, only acknowledged on return."""
        for job in chosen:
            ran = job["status"] == "running"
            self._do("INSERT INTO watched VALUES (?, ?, ?)", token, job["serial"], ran)
            self._do("UPDATE job SET watchers = watchers + ? WHERE serial = ?", ran, job["serial"])
        if not any(job["status"] == "running" for job in chosen):
            self._return(token)
            return
        self._do(
            "UPDATE call SET deadline = ?, update_at = ? WHERE token = ?",
            self._now + self._poll_wait,
            self._now,
            token,
        )
        self._update(token)

    def _update(self, token: int) -> None:
        self._do("UPDATE call SET update_at = ? WHERE token = ?", self._now + 500, token)
        if self._all("SELECT 1 FROM call WHERE token = ? AND listen", token):
            jobs = [self._detail(job) for job in self._watched(token)]
            self._signals.append({"signal": "progress", "token": f"t{token}", "jobs": jobs})

    def _watched(self, token: int) -> Rows:
        jobs = "SELECT job.* FROM job JOIN watched ON job = serial WHERE call = ? AND retained"
        return self._all(jobs, token)

    def _wake(self, serial: int) -> None:
        """A job has settled, or was cancelled: the polls that wait for it return."""
        waiting = "SELECT token FROM call JOIN watched ON call = token WHERE job = ? AND ran AND reply IS NULL"
        for call in self._all(waiting, serial):
            self._return(call["token"])

    def _return(self, token: int) -> None:
        jobs = self._watched(token)
        self._reply(token, jobs)
        self.acknowledge([job["id"] for job in jobs if job["status"] != "running"])
        self._do(
            "UPDATE job SET watchers = max(0, watchers - 1) "
            "WHERE serial IN (SELECT job FROM watched WHERE call = ? AND ran)",
            token,
        )

    def _reply(self, token: int, jobs: Rows, text: str = "") -> None:
        cancelled = json.loads(self._all("SELECT * FROM call WHERE token = ?", token)[0]["cancelled"] or "null")
        heads = {
            "Cancelled": cancelled or (),
            "Completed": [job for job in jobs if job["status"] != "running"],
            "Still Running": [job for job in jobs if job["status"] == "running"],
        }
        lines = [f"## {head} ({len(found)})" for head, found in heads.items() if found]
        lines += [f"{job['id']}: {job['result'] or ''}{job['error'] or ''}" for job in jobs]
        reply = {
            "text": text or "\n".join(lines) or "Nothing.",
            "jobs": [self._detail(job) for job in jobs],
            "cancelled": cancelled,
        }
        self._do("UPDATE call SET reply = ? WHERE token = ?", json.dumps(reply), token)

    def _detail(self, job: Row) -> Row:
        shown = {name: job[name] for name in ("id", "type", "status", "label")}
        texts = {"resultText": job["result"], "errorText": job["error"]}
        shown["durationMs"] = self._now - job["started"]
        return shown | {name: text for name, text in texts.items() if text}

    @step
    def tool_result(self, token: str) -> Row | None:
        found = self._all("SELECT reply FROM call WHERE 't' || token = ?", token)
        reply: Row | None = json.loads(found[0]["reply"]) if found and found[0]["reply"] else None
        return reply

    @step
    def abort_tool(self, token: str) -> None:
        for call in self._all("SELECT * FROM call WHERE 't' || token = ? AND reply IS NULL", token):
            self._return(call["token"])

    # The clock.

    @step
    def wait(self, ms: int) -> None:
        """Go from one due instant to the next; at each, eviction comes before attempts and attempts before polls."""
        self._deliver()
        self._pass(self._now + ms)

    def _pass(self, end: int) -> None:
        while (at := self._all(DUE)[0]["at"]) is not None and at + self.late <= end:
            self._now = max(self._now, at + self.late)
            self._do("UPDATE job SET retained = 0, watchers = 0 WHERE retained AND evict_at <= ?", self._now)
            self._deliver()
            for call in self._all("SELECT * FROM call WHERE reply IS NULL"):
                if call["deadline"] <= self._now:
                    self._return(call["token"])
                elif call["listen"] and call["update_at"] <= self._now:
                    self._update(call["token"])
        self._now = end

    def signals(self) -> Rows:
        with self._turn():
            taken, self._signals = self._signals, []
            return taken

    def close(self) -> None:
        self._db.close()

    # The database.

    def _all(self, query: str, *values: Any) -> Rows:
        return [dict(row) for row in self._db.execute(query, values)]

    def _do(self, statement: str, *values: Any) -> None:
        self._db.execute(statement, values)
