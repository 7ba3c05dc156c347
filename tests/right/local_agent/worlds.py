"""The world of local-agent tasks as a frozen value, and what can happen to it: pure functions.

Each takes a world and gives the next one; none knows of callers, threads or locks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

GRACE, ACTIVITIES = 1_000, 3
Texts = tuple[str, ...]


@dataclass(frozen=True)
class Progress:
    tool_uses: int = 0
    tokens: int = 0
    activities: Texts = ()
    summary: str | None = None


@dataclass(frozen=True)
class Task:
    task_id: str
    type: str
    agent_type: str
    description: str
    prompt: str = ""
    status: str = "running"
    backgrounded: bool = True
    notified: bool = False
    retain: bool = False
    evict_after: int | None = None
    pending_messages: Texts = ()
    messages: Texts = ()
    progress: Progress = Progress()
    result: str | None = None
    error: str | None = None
    tool_use_id: str | None = None
    ended_at: int | None = None
    output: Texts = ()
    stops_with: frozenset[str] = frozenset()
    owns: str | None = None
    aborted: bool = False
    goes_back_at: int | None = None
    signalled: bool = False

    @property
    def runs(self) -> bool:
        return self.status == "running"

    @property
    def is_session(self) -> bool:
        return self.agent_type == "main-session"


@dataclass(frozen=True)
class World:
    now: int = 0
    tasks: MappingProxyType[str, Task] = field(default_factory=lambda: MappingProxyType({}))
    front: str | None = None
    stopped: frozenset[str] = frozenset()
    notifications: tuple[dict[str, Any], ...] = ()
    events: tuple[dict[str, Any], ...] = ()

    def local(self, task: str | None) -> Task | None:
        found = self.tasks.get(task or "")
        return found if found is not None and found.type == "local_agent" else None

    def put(self, task: Task) -> World:
        return replace(self, tasks=MappingProxyType({**self.tasks, task.task_id: task}))

    def without(self, tasks: Iterable[Task]) -> World:
        gone = {task.task_id for task in tasks}
        left = {task_id: task for task_id, task in self.tasks.items() if task_id not in gone}
        return replace(self, tasks=MappingProxyType(left), front=None if self.front in gone else self.front)

    def running(self) -> list[Task]:
        return [task for task in self.tasks.values() if task.runs and task.type == "local_agent"]


Change = Callable[[World, Task], World]


def happen(world: World) -> World:
    """Let timers ring whose time has come."""
    for task in world.running():
        if task.goes_back_at is not None and task.goes_back_at <= world.now:
            rung = replace(task, goes_back_at=None)
            world = world.put(rung if task.backgrounded else replace(rung, backgrounded=True, signalled=True))
    return world


def ended(world: World, task: Task, status: str) -> Task:
    leaves = None if task.retain else world.now + GRACE
    return replace(task, status=status, ended_at=world.now, evict_after=leaves)


def killed(world: World, task: Task) -> World:
    if not task.runs:
        return world
    world = world.put(replace(ended(world, task, "killed"), aborted=True))
    return world if task.owns is None else stopped(world, task.owns)


def stopped(world: World, controller: str) -> World:
    world = replace(world, stopped=world.stopped | {controller})
    for task in world.running():
        if controller in task.stops_with:
            world = killed(world, world.tasks[task.task_id])
    return world


def told(world: World, task: Task, status: str, about: dict[str, Any]) -> World:
    task = world.tasks[task.task_id]
    if task.notified:
        return world
    notification = {
        "task_id": task.task_id,
        "status": status,
        "description": task.description,
        "output_file": f"/tasks/{task.task_id}.jsonl",
        "tool_use_id": task.tool_use_id,
        "error": task.error,
        **about,
    }
    world = replace(world, notifications=(*world.notifications, notification))
    return world.put(replace(task, notified=True))


def terminated(world: World, task: Task, status: str, summary: str) -> World:
    event = {"task_id": task.task_id, "status": status, "tool_use_id": task.tool_use_id, "summary": summary}
    world = replace(world, events=(*world.events, event))
    return world.put(replace(world.tasks[task.task_id], notified=True))


def finished(world: World, task: Task, status: str, said: dict[str, Any]) -> World:
    if not task.is_session:
        return world.put(replace(ended(world, task, status), **said)) if task.runs else world
    if not task.runs:
        return told(world, task, status, {}) if task.status == "killed" else world
    done = replace(task, status=status, ended_at=world.now, messages=task.messages[-1:])
    world = world.put(replace(done, **said))
    if task.backgrounded:
        return told(world, task, status, {})
    return terminated(world, task, status, "Background session")


def appended(world: World, task: Task, text: str) -> World:
    said = replace(task, messages=(*task.messages, text), output=(*task.output, text))
    world = world.put(said)
    if task.is_session and task.aborted and not task.notified:
        return terminated(world, said, "stopped", task.description)
    return world


def shown_in_front(world: World, task: Task) -> World:
    previous = world.local(world.front)
    if previous is not None and previous.task_id != task.task_id:
        world = world.put(replace(previous, backgrounded=True))
    return replace(world.put(replace(task, backgrounded=False)), front=task.task_id)


def left_over(world: World, task: Task) -> bool:
    """Whether nobody needs the task any more."""
    if task.runs or not task.notified:
        return False
    over = task.evict_after is not None and world.now >= task.evict_after
    return task.is_session or (over and not task.retain)
