"""Jobs as a history: what happened is noted, and how a job stands is read from it. No tool, no text, no process."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from conformance.refused import Refused

Answer = dict[str, Any]


class HistoryJobs:
    """A tool of the later revision: it ends jobs at the last moment, and prints no descriptor where it fails."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "lacks": ["register_without_schema"],
        "limits": {"settle": 50, "timeout": 700, "poll": None, "kept": 900},
        "policies": {
            "running_exit": "exit_14",
            "cancelled_exit": "any_exit",
            "data": "may_be_left_out",
            "repeated": "new_job",
        },
    }
    codes: ClassVar[dict[str, int]] = {"running": 14, "complete": 0, "failed": 4, "cancelled": 130}
    settle, timeout = 50, 700
    kept: int | None = 900

    def __init__(self) -> None:
        self._history: list[tuple[int, str, str]] = []  # when, to which job, what
        self._now = 0
        self._lock = threading.Lock()

    def schema(self) -> Answer:
        return {"asynchronous": True, "faults": []}

    def start(self, outcome: str) -> Answer:
        with self._lock:
            return self._begun(outcome)

    def start_as(self, wanted: str) -> Answer:
        """Give it the next id all the same."""
        return self.start("running")

    def start_again(self, original: str) -> Answer:
        with self._lock:
            wanted = next(what for _, job, what in self._history if job == original)
            return self._begun(wanted)

    def status(self, job: str, way: str = "printed") -> Answer:
        with self._lock:
            status = self._stands(job)
            if status is None:
                raise Refused("not_found")
            return self._shown(job, status, self.codes[status])

    def cancel(self, job: str, way: str = "printed") -> Answer:
        with self._lock:
            if self._stands(job) == "running":
                self._history.append((self._now, job, "cancel"))
            return self._bare(1)

    def end(self, job: str, outcome: str) -> None:
        with self._lock:
            if self._stands(job) == "running":
                self._history.append((self._now, job, f"end {outcome}"))

    def status_of_unknown_id(self, unknown_id: str) -> Answer:
        misread = unknown_id in ("no_argument", "empty", "dash", "option")
        return {"exit": 2 if misread else 0 if unknown_id == "help" else 5, "descriptor": False}

    def cancel_of_unknown_id(self, unknown_id: str) -> Answer:
        return self.status_of_unknown_id(unknown_id)

    def deviations(self) -> Answer:
        return {"found": []}

    def wait(self, ms: int) -> None:
        with self._lock:
            self._now += ms

    def _begun(self, wanted: str) -> Answer:
        job = f"#{len(self._history)}"
        self._history.append((self._now, job, wanted))
        return self._shown(job, self._stands(job) or "", 0)

    def _stands(self, job: str) -> str | None:
        """How a job stands; None where nobody knows of it."""
        notes = [(when, what) for when, to, what in self._history if to == job]
        if not notes:
            return None
        at, status = min(self._endings(notes))
        if at > self._now:
            return "running"
        return None if self.kept is not None and self._now >= at + self.kept else status

    def _endings(self, notes: list[tuple[int, str]]) -> list[tuple[int, str]]:
        started, wanted = notes[0]
        found = [(started + self.timeout, "failed")]
        found += [(started + self.settle, wanted)] if wanted != "running" else []
        found += [(when + self.settle, "cancelled") for when, what in notes if what == "cancel"]
        return found + [(when, what.removeprefix("end ")) for when, what in notes if what.startswith("end ")]

    def _shown(self, job: str, status: str, code: int) -> Answer:
        if code != 0:
            return self._bare(code)
        more = {"terminal": status != "running", "poll_interval_ms": 7, "timeout_ms": self.timeout}
        return {"exit": code, "job_id": job, "status": status, **more, "faults": []}

    def _bare(self, code: int) -> Answer:
        names = ("job_id", "status", "terminal", "poll_interval_ms", "timeout_ms")
        return {"exit": code, **dict.fromkeys(names), "faults": []}


class PromptJobs(HistoryJobs):
    """A tool that has done everything when it replies; the command that started a job gives that job again."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "lacks": ["register_without_schema", "end"],
        "limits": {"settle": 0, "timeout": 700, "poll": 7, "kept": None},
    }
    codes: ClassVar[dict[str, int]] = {"running": 3, "complete": 0, "failed": 4, "cancelled": 4}
    settle, kept = 0, None

    def start_again(self, original: str) -> Answer:
        with self._lock:
            raise Refused(f"same_job_{self._stands(original)}")

    def cancel(self, job: str, way: str = "printed") -> Answer:
        with self._lock:
            if self._stands(job) == "running":
                self._history.append((self._now, job, "cancel"))
            status = self._stands(job)
            return self._bare(0) if status is None else self._shown(job, status, 0)

    def _shown(self, job: str, status: str, code: int) -> Answer:
        return {**super()._shown(job, status, 0), "exit": code}


class FirstIsPrompt(HistoryJobs):
    """The first job has ended when its start replies; those after it wait for each other, and take what may be taken."""

    def _endings(self, notes: list[tuple[int, str]]) -> list[tuple[int, str]]:
        started, wanted = notes[0]
        prompt = [(started, wanted)] if wanted != "running" and notes[0] == self._history[0][::2] else []
        return super()._endings(notes) + prompt
