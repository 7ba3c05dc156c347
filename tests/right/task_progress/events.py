"""task-progress, event-sourced: a journal for each task that only grows, and readings folded from it.

Construction: every operation appends one frozen event under the only lock, whatever the task's status;
nothing is refused but what the description refuses. A status, a reading and a batch are pure functions of
the journals: the fold over a task's events decides which of them had an effect.

Choices where the description leaves one:
- 3 activities are listed; the synthetic tool is not counted;
- messages and summaries from before the start count once the task runs, a summary unannounced;
- an abort asks a running task to stop; it runs on until it is reported as finished;
- everything that comes too late, or for a task that never was, is ignored;
- the end of a task that was not started is ignored.
"""

import itertools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, TypeAlias

from conformance.refused import Refused

ACTIVITIES = 3
ENDED = frozenset({"completed", "failed", "aborted"})


@dataclass(frozen=True, slots=True)
class Created:
    batch: str | None
    registers: bool


@dataclass(frozen=True, slots=True)
class Started:
    at: int


@dataclass(frozen=True, slots=True)
class Said:
    read: int
    written: int
    uses: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Summed:
    text: str


@dataclass(frozen=True, slots=True)
class Aborted:
    pass


@dataclass(frozen=True, slots=True)
class Finished:
    outcome: str


Event: TypeAlias = Created | Started | Said | Summed | Aborted | Finished


@dataclass(frozen=True, slots=True)
class View:
    """What a task's events come to."""

    status: str = "pending"
    batch: str | None = None
    started_at: int | None = None
    uses: int = 0
    read: int = 0
    written: int = 0
    shown: tuple[tuple[str, Any], ...] = ()
    last: tuple[str, Any] | None = None
    summary: str | None = None
    early: tuple[Said | Summed, ...] = ()
    """What came before the start, and waits for it."""


def after(view: View, event: Event) -> View:
    """The view one event later."""
    match view.status, event:
        case "pending", Created():
            return replace(view, batch=event.batch, status="pending" if event.registers else "failed")
        case "pending", Started():
            running = replace(view, status="running", started_at=event.at, early=())
            return reduce(after, view.early, running)
        case "pending", Said() | Summed():
            return replace(view, early=(*view.early, event))
        case "pending", Aborted():
            return replace(view, status="aborted", early=())
        case "running", Said():
            return heard(view, event)
        case "running", Summed():
            return replace(view, summary=event.text)
        case "running", Finished():
            return replace(view, status=event.outcome)
    return view


def heard(view: View, said: Said) -> View:
    real = tuple(use for use in said.uses if use[0] != "structured_output")
    return replace(
        view,
        uses=view.uses + len(real),
        read=said.read,
        written=view.written + said.written,
        shown=(view.shown + real)[-ACTIVITIES:],
        last=real[-1] if real else view.last,
    )


class EventSourcedProgress:
    """Delegated tasks and what they report; safe to share between threads."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"activities": ACTIVITIES},
        "policies": {"synthetic_counts": "not_counted"},
    }

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._journals: dict[str, list[Event]] = {}
        self._numbers = itertools.count(1)
        self._now = 0
        self._listened = False
        self._told: list[dict[str, Any]] = []

    # -- operations

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> dict[str, Any]:
        with self._lock:
            task = f"{next(self._numbers):04x}"
            self._journals[task] = [Created(batch, registers)]
            return {"task_id": task, "status": self._view(task).status}

    def start(self, task: str) -> None:
        with self._lock:
            self._note(task, Started(self._now))

    def finish(self, task: str, outcome: str) -> None:
        with self._lock:
            self._note(task, Finished(outcome))

    def abort(self, task: str) -> None:
        with self._lock:
            self._note(task, Aborted())

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        if role != "assistant":
            return
        read = sum(usage.get(part) or 0 for part in ("input", "cache_creation", "cache_read"))
        uses = tuple((use["name"], use["input"]) for use in tools)
        with self._lock:
            self._note(task, Said(read, usage["output"] or 0, uses))

    def summarize(self, task: str, text: str) -> None:
        with self._lock:
            self._note(task, Summed(text))
            view = self._view(task)
            if view.status == "running" and self._listened:
                self._told.append(
                    {
                        "signal": "announced",
                        "task": task,
                        "description": text,
                        "started_at": view.started_at,
                        "total_tokens": view.read + view.written,
                        "tool_uses": view.uses,
                        "summary": text,
                    }
                )

    def subscribe(self, on: bool) -> None:
        with self._lock:
            self._listened = on

    # -- observers

    def progress(self, task: str) -> dict[str, Any]:
        with self._lock:
            view = self._known(task)
        return {
            "tool_use_count": view.uses,
            "latest_input_tokens": view.read,
            "cumulative_output_tokens": view.written,
            "token_count": view.read + view.written,
            "recent_activities": [activity(use) for use in view.shown],
            "last_activity": None if view.last is None else activity(view.last),
            "summary": view.summary,
        }

    def status(self, task: str) -> str:
        with self._lock:
            return self._known(task).status

    def batch_status(self, batch: str) -> dict[str, bool]:
        with self._lock:
            views = [self._view(task) for task in self._journals]
        statuses = [view.status for view in views if view.batch == batch]
        if not statuses:
            raise Refused("not_found", f"nobody used the batch {batch}")
        return {"complete": ENDED.issuperset(statuses)}

    def signals(self) -> list[dict[str, Any]]:
        with self._lock:
            taken, self._told = self._told, []
            return taken

    def wait(self, ms: int) -> None:
        with self._lock:
            self._now += ms

    # -- the journals

    def _note(self, task: str, event: Event) -> None:
        """Write it down; an event of a task that never was is about nothing."""
        if task in self._journals:
            self._journals[task].append(event)

    def _view(self, task: str) -> View:
        return reduce(after, self._journals.get(task, []), View())

    def _known(self, task: str) -> View:
        if task not in self._journals:
            raise Refused("not_found", f"no task {task}")
        return self._view(task)


def activity(use: tuple[str, Any]) -> dict[str, Any]:
    return {"name": use[0], "input": use[1]}
