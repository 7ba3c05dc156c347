"""thread-job in one SQLite database: tables and constraints keep the rules, every operation is a transaction.

Construction: an in-memory database behind one connection; one lock serialises transactions, so threads may
share an object. One resolution per tool call, unique job ids and one message per job are PRIMARY KEY and
UNIQUE constraints, a broken one is the refusal, and the rollback leaves a refused tool call usable. The
clock, the idle threads and the signals are tables too.

Choices where the description leaves one:
- tie `start`; ids are minted by the database at random, so that their order says nothing;
- a second outcome, and an outcome of an unknown or evicted job, is ignored;
- a cancel of a pending_cancel or terminal job is ignored, nothing is sent again, the reply is the job as it
  is;
- eviction frees both the tool call and the job id;
- `emit` of an unknown, foreign or evicted job is refused `not_found`;
- becoming idle with due messages waits for the next boundary;
- an oversize text goes to its file when it is told, without preview; a restart deletes the files.
"""

import json
import sqlite3
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from conformance.refused import Refused

RETAINED, MAX_BYTES, MAX_LINES = 20, 25_600, 1_000
ACTIVE = ("running", "pending_cancel")

SCHEMA = """
CREATE TABLE clock (now INTEGER NOT NULL);
INSERT INTO clock VALUES (0);
CREATE TABLE idle (thread PRIMARY KEY);
CREATE TABLE calls (tool_call PRIMARY KEY);
CREATE TABLE jobs (
    serial INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id UNIQUE NOT NULL,
    thread NOT NULL,
    tool_call UNIQUE NOT NULL,
    tool NOT NULL,
    status NOT NULL DEFAULT 'running'
        CHECK (status IN ('running', 'pending_cancel', 'completed', 'failed', 'cancelled', 'timed_out')),
    started_at INTEGER NOT NULL,
    completed_at INTEGER,
    cancel_requested_at INTEGER,
    CHECK ((completed_at IS NULL) = (status IN ('running', 'pending_cancel'))),
    CHECK (status <> 'pending_cancel' OR cancel_requested_at IS NOT NULL)
);
CREATE INDEX jobs_of_thread ON jobs (thread, completed_at, serial);
CREATE TRIGGER a_call_leaves_with_its_job AFTER DELETE ON jobs
BEGIN DELETE FROM calls WHERE tool_call = OLD.tool_call; END;
CREATE TABLE messages (             -- due while `told` is null; outlives its job
    job_serial INTEGER PRIMARY KEY,
    thread NOT NULL, job_id NOT NULL, tool NOT NULL, status NOT NULL, ended_at INTEGER NOT NULL,
    body BLOB, file TEXT,           -- either the text in UTF-8 or, once an oversize one is told, where it is
    told INTEGER UNIQUE             -- place in the transcript
);
CREATE INDEX messages_of_thread ON messages (thread, told);
CREATE TABLE signals (place INTEGER PRIMARY KEY, signal TEXT NOT NULL, about TEXT NOT NULL, whose NOT NULL);
"""


class SqliteJobs:
    """Background jobs of conversation threads; safe to share between threads."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"retained": RETAINED, "max_bytes": MAX_BYTES, "max_lines": MAX_LINES},
        "policies": {"tie": "start"},
        "lacks": [],
    }

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.executescript(SCHEMA)
        self._spills: tempfile.TemporaryDirectory[str] | None = None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._db:  # the connection commits, or rolls back on any exception
            self._db.execute("BEGIN")
            yield self._db

    # -- tool calls

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> dict[str, Any]:
        with self._transaction() as db:
            _resolve(db, tool_call)
        return {"mode": "synchronous", "result": result}

    def start(self, thread: str, tool_call: str, tool: str) -> dict[str, Any]:
        return self._start(thread, tool_call, tool, None)

    def start_as(self, thread: str, tool_call: str, tool: str, job_id: str) -> dict[str, Any]:
        return self._start(thread, tool_call, tool, job_id)

    def _start(self, thread: str, tool_call: str, tool: str, job_id: str | None) -> dict[str, Any]:
        with self._transaction() as db:
            _resolve(db, tool_call)
            try:
                row = db.execute(
                    "INSERT INTO jobs (job_id, thread, tool_call, tool, started_at)"
                    " VALUES (coalesce(?, lower(hex(randomblob(8)))), ?, ?, ?, (SELECT now FROM clock))"
                    " RETURNING job_id, status",
                    (job_id, thread, tool_call, tool),
                ).fetchone()
            except sqlite3.IntegrityError as error:
                raise Refused("duplicate_job_id") from error
        return {"mode": "background", "job_id": row["job_id"], "status": row["status"]}

    # -- what the tool reports

    def report_progress(self, job: str) -> None:
        """Progress is nobody's news and is not kept."""

    def llm_error(self, job: str, http_status: int) -> None:
        """The session retries its model call; no record knows of it."""

    def finish(self, job: str, outcome: str, payload: Any) -> None:
        with self._transaction() as db:
            ended = db.execute(
                "UPDATE jobs SET status = ?, completed_at = (SELECT now FROM clock)"
                " WHERE job_id = ? AND completed_at IS NULL RETURNING thread",
                (outcome, job),
            ).fetchone()
            if ended is None:
                return
            db.execute(
                "INSERT INTO messages (job_serial, thread, job_id, tool, status, ended_at, body)"
                " SELECT serial, thread, job_id, tool, status, completed_at, ? FROM jobs WHERE job_id = ?",
                (_body(payload), job),
            )
            db.execute(
                "DELETE FROM jobs WHERE serial IN"
                " (SELECT serial FROM jobs WHERE thread = ? AND completed_at IS NOT NULL"
                " ORDER BY completed_at DESC, serial DESC LIMIT -1 OFFSET ?)",
                (ended["thread"], RETAINED),
            )
            if db.execute("SELECT 1 FROM idle WHERE thread = ?", (ended["thread"],)).fetchone():
                _signal(db, "BoundaryRequested", "thread", ended["thread"])
                self._tell(db, ended["thread"], _due(db, ended["thread"]))

    # -- telling

    def turn_boundary(self, thread: str) -> list[dict[str, Any]]:
        with self._transaction() as db:
            return self._tell(db, thread, _due(db, thread))

    def emit(self, thread: str, job: str) -> bool:
        with self._transaction() as db:
            serial = _job(db, thread, job)["serial"]
            due = db.execute("SELECT * FROM messages WHERE job_serial = ? AND told IS NULL", (serial,))
            return bool(self._tell(db, thread, due.fetchall()))

    def messages(self, thread: str) -> list[dict[str, Any]]:
        with self._transaction() as db:
            told = "SELECT * FROM messages WHERE thread = ? AND told IS NOT NULL ORDER BY told"
            return [_as_told(message) for message in db.execute(told, (thread,))]

    def _tell(self, db: sqlite3.Connection, thread: str, due: Sequence[sqlite3.Row]) -> list[dict[str, Any]]:
        told = []
        for message in due:
            body: bytes | None = message["body"]
            assert body is not None, "a due message holds its text"
            path = None
            if len(body) > MAX_BYTES or body.count(b"\n") + 1 > MAX_LINES:
                path, body = self._spill(body), None
            row = db.execute(
                "UPDATE messages SET body = ?, file = ?,"
                " told = (SELECT coalesce(max(told), 0) + 1 FROM messages) WHERE job_serial = ? RETURNING *",
                (body, path, message["job_serial"]),
            ).fetchone()
            told.append(_as_told(row))
        if told:
            _signal(db, "TurnTriggered", "thread", thread)
        return told

    def _spill(self, body: bytes) -> str:
        if self._spills is None:
            self._spills = tempfile.TemporaryDirectory(prefix="sqlite-jobs-")
        with tempfile.NamedTemporaryFile(dir=self._spills.name, suffix=".txt", delete=False) as file:
            file.write(body)
        return file.name

    # -- what a thread may see and ask

    def request_cancel(self, thread: str, job: str, actor: str) -> dict[str, Any]:
        with self._transaction() as db:
            _job(db, thread, job)
            asked = db.execute(
                "UPDATE jobs SET status = 'pending_cancel', cancel_requested_at = (SELECT now FROM clock)"
                " WHERE job_id = ? AND status = 'running'",
                (job,),
            )
            if asked.rowcount:
                _signal(db, "CancelSent", "job_id", job)
            return _shown(_job(db, thread, job))

    def list_jobs(self, thread: str, statuses: Sequence[str] | None = None) -> list[dict[str, Any]]:
        wanted = json.dumps(list(ACTIVE if statuses is None else statuses))
        with self._transaction() as db:
            listed = db.execute(
                "SELECT * FROM jobs WHERE thread = ? AND status IN (SELECT value FROM json_each(?))"
                " ORDER BY serial DESC",
                (thread, wanted),
            )
            return [_shown(row) for row in listed]

    def inspect_job(self, thread: str, job: str) -> dict[str, Any]:
        with self._transaction() as db:
            return _shown(_job(db, thread, job))

    def retry_job(self, thread: str, job: str) -> None:
        raise Refused("manual_retry_not_supported", "Manual retry is not supported for background jobs")

    # -- controls and observers

    def set_idle(self, thread: str, idle: bool) -> None:
        with self._transaction() as db:
            db.execute("DELETE FROM idle WHERE thread = ?", (thread,))
            if idle:
                db.execute("INSERT INTO idle VALUES (?)", (thread,))

    def restart(self) -> None:
        with self._transaction() as db:
            db.execute("DELETE FROM jobs")
            db.execute("DELETE FROM calls")
            db.execute("DELETE FROM messages WHERE told IS NULL")
            self._drop_spills()

    def wait(self, ms: int) -> None:
        with self._transaction() as db:
            db.execute("UPDATE clock SET now = now + ?", (ms,))

    def signals(self) -> list[dict[str, Any]]:
        with self._transaction() as db:
            happened = db.execute("SELECT * FROM signals ORDER BY place").fetchall()
            db.execute("DELETE FROM signals")
            return [{"signal": row["signal"], row["about"]: row["whose"]} for row in happened]

    def close(self) -> None:
        with self._lock:
            self._db.close()
            self._drop_spills()

    def _drop_spills(self) -> None:
        if self._spills is not None:
            self._spills.cleanup()
            self._spills = None


def _resolve(db: sqlite3.Connection, tool_call: str) -> None:
    try:
        db.execute("INSERT INTO calls VALUES (?)", (tool_call,))
    except sqlite3.IntegrityError as error:
        raise Refused("already_resolved") from error


def _job(db: sqlite3.Connection, thread: str, job: str) -> sqlite3.Row:
    found = db.execute("SELECT * FROM jobs WHERE thread = ? AND job_id = ?", (thread, job))
    row: sqlite3.Row | None = found.fetchone()
    if row is None:
        raise Refused("not_found", "Job not found in this thread")
    return row


def _due(db: sqlite3.Connection, thread: str) -> list[sqlite3.Row]:
    return db.execute(
        "SELECT * FROM messages WHERE thread = ? AND told IS NULL ORDER BY ended_at, job_serial", (thread,)
    ).fetchall()


def _signal(db: sqlite3.Connection, signal: str, about: str, whose: str) -> None:
    db.execute("INSERT INTO signals (signal, about, whose) VALUES (?, ?, ?)", (signal, about, whose))


def _body(payload: Any) -> bytes:
    text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def _shown(row: sqlite3.Row) -> dict[str, Any]:
    return {name: row[name] for name in row.keys() if name != "serial"}  # noqa: SIM118 - a Row iterates over values


def _as_told(row: sqlite3.Row) -> dict[str, Any]:
    text = None if row["body"] is None else row["body"].decode("utf-8", "surrogatepass")
    content = {"text": text} if row["file"] is None else {"file": row["file"]}
    return {"job_id": row["job_id"], "tool": row["tool"], "status": row["status"], "content": content}
