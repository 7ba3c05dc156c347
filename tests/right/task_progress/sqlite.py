"""task-progress on SQLite: rows that are only inserted for messages, and sums that the database makes.

Construction: one in-memory database, shared by all callers and guarded by one lock. A message is a row of
`said`, a use of a tool a row of `used`; a reading is a query over them. What may follow what is in the
`WHERE` of each update, never in Python.

Choices where the description leaves one:
- the default limit and policy;
- ids are numbers as text; a task's end, abort or start that comes too late is refused;
- a message or a summary for a task that is not running is dropped without a word;
- an abort ends a running task at once.
"""

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from conformance.refused import Refused

SCHEMA = """
CREATE TABLE task (id TEXT PRIMARY KEY, batch TEXT, status TEXT, started_at INTEGER, summary TEXT);
CREATE TABLE said (id INTEGER PRIMARY KEY, task TEXT, read INTEGER, written INTEGER);
CREATE TABLE used (id INTEGER PRIMARY KEY, task TEXT, name TEXT, input TEXT);
CREATE TABLE announced (id INTEGER PRIMARY KEY, content TEXT);
CREATE TABLE world (now INTEGER, listened INTEGER);
INSERT INTO world VALUES (0, 0);
"""
SHOWN = 5


class SqliteProgress:
    """Delegated tasks and what they report; safe to share between threads."""

    declares: ClassVar[dict[str, Any]] = {"clock": "virtual", "concurrency": "threads"}

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.executescript(SCHEMA)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("BEGIN")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> dict[str, Any]:
        status = "pending" if registers else "failed"
        with self._transaction() as db:
            task = str(db.execute("SELECT count(*) + 1 FROM task").fetchone()[0])
            db.execute("INSERT INTO task (id, batch, status) VALUES (?, ?, ?)", (task, batch, status))
            return {"task_id": task, "status": status}

    def start(self, task: str) -> None:
        self._move(
            "UPDATE task SET status = 'running', started_at = (SELECT now FROM world)"
            " WHERE id = ? AND status = 'pending'",
            task,
        )

    def finish(self, task: str, outcome: str) -> None:
        self._move("UPDATE task SET status = ?2 WHERE id = ?1 AND status = 'running'", task, outcome)

    def abort(self, task: str) -> None:
        self._move("UPDATE task SET status = 'aborted' WHERE id = ? AND status IN ('pending', 'running')", task)

    def _move(self, update: str, *values: str) -> None:
        with self._transaction() as db:
            if not db.execute(update, values).rowcount:
                raise Refused("wrong_state")

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        read = sum(usage.get(part) or 0 for part in ("input", "cache_creation", "cache_read"))
        with self._transaction() as db:
            if role != "assistant" or not self._runs(db, task):
                return
            db.execute("INSERT INTO said (task, read, written) VALUES (?, ?, ?)", (task, read, usage["output"] or 0))
            db.executemany(
                "INSERT INTO used (task, name, input) VALUES (?, ?, ?)",
                [(task, use["name"], json.dumps(use["input"])) for use in tools],
            )

    def summarize(self, task: str, text: str) -> None:
        with self._transaction() as db:
            if not self._runs(db, task):
                return
            db.execute("UPDATE task SET summary = ? WHERE id = ?", (text, task))
            if db.execute("SELECT listened FROM world").fetchone()["listened"]:
                content = json.dumps(self._announcement(db, task))
                db.execute("INSERT INTO announced (content) VALUES (?)", (content,))

    def _runs(self, db: sqlite3.Connection, task: str) -> bool:
        found = db.execute("SELECT 1 FROM task WHERE id = ? AND status = 'running'", (task,))
        return found.fetchone() is not None

    def _announcement(self, db: sqlite3.Connection, task: str) -> dict[str, Any]:
        row, read = self._task(db, task), self._reading(db, task)
        return {
            "signal": "announced",
            "task": task,
            "description": row["summary"],
            "started_at": row["started_at"],
            "total_tokens": read["token_count"],
            "tool_uses": read["tool_use_count"],
            "summary": row["summary"],
        }

    def subscribe(self, on: bool) -> None:
        with self._transaction() as db:
            db.execute("UPDATE world SET listened = ?", (on,))

    def progress(self, task: str) -> dict[str, Any]:
        with self._transaction() as db:
            return self._reading(db, task)

    def _reading(self, db: sqlite3.Connection, task: str) -> dict[str, Any]:
        row = self._task(db, task)
        latest = db.execute("SELECT read FROM said WHERE task = ? ORDER BY id DESC", (task,)).fetchone()
        written = db.execute("SELECT sum(written) FROM said WHERE task = ?", (task,)).fetchone()[0]
        uses = db.execute("SELECT count(*) FROM used WHERE task = ?", (task,)).fetchone()[0]
        newest = db.execute(
            "SELECT name, input FROM used WHERE task = ? AND name <> 'structured_output' ORDER BY id DESC LIMIT ?",
            (task, SHOWN),
        )
        recent = [{"name": each["name"], "input": json.loads(each["input"])} for each in newest][::-1]
        read, written = latest["read"] if latest else 0, written or 0
        return {
            "tool_use_count": uses,
            "latest_input_tokens": read,
            "cumulative_output_tokens": written,
            "token_count": read + written,
            "recent_activities": recent,
            "last_activity": recent[-1] if recent else None,
            "summary": row["summary"],
        }

    def _task(self, db: sqlite3.Connection, task: str) -> sqlite3.Row:
        found: sqlite3.Row | None = db.execute("SELECT * FROM task WHERE id = ?", (task,)).fetchone()
        if found is None:
            raise Refused("not_found", f"no task {task}")
        return found

    def status(self, task: str) -> str:
        with self._transaction() as db:
            return str(self._task(db, task)["status"])

    def batch_status(self, batch: str) -> dict[str, bool]:
        with self._transaction() as db:
            counted = db.execute(
                "SELECT count(*), total(status IN ('completed', 'failed', 'aborted')) FROM task WHERE batch = ?",
                (batch,),
            ).fetchone()
        if not counted[0]:
            raise Refused("not_found", f"nobody used the batch {batch}")
        return {"complete": counted[0] == counted[1]}

    def signals(self) -> list[dict[str, Any]]:
        with self._transaction() as db:
            told = [json.loads(row["content"]) for row in db.execute("SELECT * FROM announced ORDER BY id")]
            db.execute("DELETE FROM announced")
            return told

    def wait(self, ms: int) -> None:
        with self._transaction() as db:
            db.execute("UPDATE world SET now = now + ?", (ms,))

    def close(self) -> None:
        with self._lock:
            self._db.close()
