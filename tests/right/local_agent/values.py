"""local-agent as one immutable value: every operation is a pure function from a world to the next one.

Construction: a task, the world and each change are frozen values. A call reads the world, works out the
next one without any lock, and puts it in place only if nobody was faster; otherwise it works again on
what is there now. Timers are no threads: whoever looks at the world first lets what is due happen.

Choices where the description leaves one:
- a parent's abort kills its children at once, and those that begin under an aborted parent are born killed;
- an ended task can be put into the background, which resolves its signal;
- a task's output is its transcript, and stays readable after its end;
- a main session that completes after it was killed sends its notification, if none was sent;
- every main session notices an abort at its next message, not only those started in the background;
- process exit removes main sessions that have ended, too; clearing kills agents that are watched;
- a foreground entry that leaves the registry is nobody's any more;
- ids are random; 1000 ms of grace, 3 activities.
"""

from __future__ import annotations

import copy
import secrets
import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any, ClassVar, TypeVar

from tests.right.local_agent.worlds import (
    ACTIVITIES,
    GRACE,
    Change,
    Progress,
    Task,
    Texts,
    World,
    appended,
    finished,
    happen,
    killed,
    left_over,
    shown_in_front,
    stopped,
    told,
)

BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz"

Answer = TypeVar("Answer")


class ValueAgents:
    """Local agents and main sessions; any number of threads may call at once."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"grace": GRACE, "activities": ACTIVITIES},
        "policies": {},
    }

    def __init__(self) -> None:
        self._world = World()
        self._swapping = threading.Lock()

    def _step(self, work: Callable[[World], tuple[World, Answer]]) -> Answer:
        while True:
            before = self._world
            after, answer = work(happen(before))
            with self._swapping:
                if self._world is before:
                    self._world = after
                    return answer

    def _change(self, task: str, change: Change) -> None:
        def work(world: World) -> tuple[World, None]:
            found = world.local(task)
            return (world if found is None else change(world, found)), None

        self._step(work)

    def _set(self, task: str, change: Callable[[World, Task], dict[str, Any]]) -> None:
        self._change(task, lambda world, found: world.put(replace(found, **change(world, found))))

    def _look(self, look: Callable[[World], Answer]) -> Answer:
        return self._step(lambda world: (world, look(world)))

    def _begin(self, prefix: str, begin: Callable[[str, World], Task]) -> dict[str, Any]:
        def work(world: World) -> tuple[World, dict[str, Any]]:
            task_id = prefix + "".join(secrets.choice(BASE_36) for _ in range(8))
            task = begin(task_id, world)
            world = world.put(task)
            if task.stops_with & world.stopped:
                world = killed(world, task)
            return world, {"task_id": task_id}

        return self._step(work)

    def register_async(
        self,
        description: str,
        prompt: str,
        agent_type: str | None = None,
        parent: str | None = None,
        tool_use_id: str | None = None,
    ) -> dict[str, Any]:
        def begin(task_id: str, world: World) -> Task:
            task = self._agent(task_id, description, prompt, agent_type, tool_use_id)
            return replace(task, stops_with=frozenset({parent} if parent is not None else ()))

        return self._begin("a", begin)

    def register_foreground(
        self,
        description: str,
        prompt: str,
        agent_type: str | None = None,
        auto_background_ms: int | None = None,
        tool_use_id: str | None = None,
    ) -> dict[str, Any]:
        def begin(task_id: str, world: World) -> Task:
            task = self._agent(task_id, description, prompt, agent_type, tool_use_id)
            rings = None if auto_background_ms is None else world.now + auto_background_ms
            return replace(task, backgrounded=False, goes_back_at=rings)

        return self._begin("a", begin)

    def register_main(
        self,
        description: str,
        messages: Iterable[str] = (),
        backgrounded: bool = True,
        controller: str | None = None,
    ) -> dict[str, Any]:
        def begin(task_id: str, world: World) -> Task:
            task = self._session(task_id, description, tuple(messages))
            stops = frozenset({controller} if controller is not None else ())
            return replace(task, backgrounded=backgrounded, owns=controller, stops_with=stops)

        return self._begin("s", begin)

    def start_background_session(self, messages: Iterable[str], description: str) -> dict[str, Any]:
        return self._begin("s", lambda task_id, world: self._session(task_id, description, tuple(messages)))

    def register_other(self, kind: str) -> dict[str, Any]:
        return self._begin("x", lambda task_id, world: Task(task_id, kind, kind, kind))

    def _agent(
        self, task_id: str, description: str, prompt: str, agent_type: str | None, tool_use_id: str | None
    ) -> Task:
        kind = "general-purpose" if agent_type is None else agent_type
        return Task(task_id, "local_agent", kind, description, prompt, tool_use_id=tool_use_id)

    def _session(self, task_id: str, description: str, messages: Texts) -> Task:
        return Task(task_id, "local_agent", "main-session", description, messages=messages, output=messages)

    def background(self, task: str) -> None:
        def change(world: World, found: Task) -> dict[str, Any]:
            return {} if found.backgrounded else {"backgrounded": True, "signalled": True}

        self._set(task, change)

    def complete(self, task: str, result: str) -> None:
        self._change(task, lambda world, found: finished(world, found, "completed", {"result": result}))

    def fail(self, task: str, error: str) -> None:
        self._change(task, lambda world, found: finished(world, found, "failed", {"error": error}))

    def kill(self, task: str) -> None:
        self._change(task, killed)

    def kill_all(self) -> None:
        def work(world: World) -> tuple[World, None]:
            for task in world.running():
                world = killed(world, world.tasks[task.task_id])
            return world, None

        self._step(work)

    def abort_parent(self, parent: str) -> None:
        self._step(lambda world: (stopped(world, parent), None))

    def notify(
        self,
        task: str,
        final_message: str | None = None,
        usage: dict[str, int] | None = None,
        worktree_path: str | None = None,
        branch: str | None = None,
    ) -> None:
        about: dict[str, Any] = {"final_message": final_message, "usage": usage and dict(usage)}
        about |= {"worktree_path": worktree_path, "branch": branch}
        self._change(task, lambda world, found: told(world, found, found.status, about))

    def mark_notified(self, task: str) -> None:
        self._set(task, lambda world, found: {"notified": True})

    def queue_message(self, task: str, text: str) -> None:
        self._set(task, lambda world, found: {"pending_messages": (*found.pending_messages, text)})

    def drain_messages(self, task: str) -> list[str]:
        def work(world: World) -> tuple[World, list[str]]:
            found = world.local(task)
            if found is None:
                return world, []
            return world.put(replace(found, pending_messages=())), list(found.pending_messages)

        return self._step(work)

    def append_message(self, task: str, text: str) -> None:
        self._change(task, lambda world, found: appended(world, found, text))

    def progress(self, task: str, tool_uses: int, tokens: int, activities: Iterable[str]) -> None:
        recent = tuple(activities)[-ACTIVITIES:]
        self._report(task, lambda old: Progress(tool_uses, tokens, recent, old.summary))

    def summarize(self, task: str, text: str) -> None:
        self._report(task, lambda old: replace(old, summary=text))

    def _report(self, task: str, report: Callable[[Progress], Progress]) -> None:
        self._set(task, lambda world, found: {"progress": report(found.progress)} if found.runs else {})

    def retain(self, task: str) -> None:
        self._set(task, lambda world, found: {"retain": True, "evict_after": None})

    def release(self, task: str) -> None:
        def change(world: World, found: Task) -> dict[str, Any]:
            return {"retain": False, "evict_after": None if found.runs else world.now + GRACE}

        self._set(task, change)

    def evict(self) -> None:
        def work(world: World) -> tuple[World, None]:
            return world.without([task for task in world.tasks.values() if left_over(world, task)]), None

        self._step(work)

    def foreground(self, task: str) -> list[str] | None:
        def work(world: World) -> tuple[World, list[str] | None]:
            found = world.local(task)
            return (world, None) if found is None else (shown_in_front(world, found), list(found.messages))

        return self._step(work)

    def process_exit(self) -> None:
        def work(world: World) -> tuple[World, None]:
            world = world.without([task for task in world.tasks.values() if task.is_session])
            for task in world.running():
                world = killed(world, task)
            return world, None

        self._step(work)

    def clear(self) -> None:
        def work(world: World) -> tuple[World, None]:
            for task in world.running():
                if not task.backgrounded and not task.is_session:
                    world = killed(world, task)
            return world, None

        self._step(work)

    def get(self, task: str) -> dict[str, Any] | None:
        found = self._look(lambda world: world.tasks.get(task))
        if found is None:
            return None
        shown = asdict(found)
        for name in ("pending_messages", "messages"):
            shown[name] = list(shown[name])
        shown["progress"]["activities"] = list(shown["progress"]["activities"])
        return shown

    def background_tasks(self) -> list[str]:
        return self._ids(lambda task: task.runs and task.backgrounded)

    def panel_tasks(self) -> list[str]:
        return self._ids(lambda task: task.type == "local_agent" and not task.is_session)

    def _ids(self, belongs: Callable[[Task], bool]) -> list[str]:
        return sorted(self._look(lambda world: [i for i, task in world.tasks.items() if belongs(task)]))

    def notifications(self) -> list[dict[str, Any]]:
        return [copy.deepcopy(each) for each in self._look(lambda world: world.notifications)]

    def terminated_events(self) -> list[dict[str, Any]]:
        return [dict(each) for each in self._look(lambda world: world.events)]

    def foregrounded_id(self) -> str | None:
        return self._look(lambda world: world.front)

    def signal_resolved(self, task: str) -> bool:
        return self._look(lambda world: task in world.tasks and world.tasks[task].signalled)

    def aborted(self, task: str) -> bool:
        return self._look(lambda world: task in world.tasks and world.tasks[task].aborted)

    def output(self, task: str) -> list[str]:
        found = self._look(lambda world: world.tasks.get(task))
        return [] if found is None else list(found.output)

    def wait(self, ms: int) -> None:
        self._step(lambda world: (happen(replace(world, now=world.now + ms)), None))
