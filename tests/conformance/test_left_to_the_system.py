"""What protocols leave to the system: a deletion that may come after a time, a notification that need not come."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import pytest

from conformance.refused import Refused
from tests.checking import codes, compile_text
from tests.conformance.systems import failing

SPEC = """
lifecycle: desk
version: 1
about: A task works until it is done; that may be told, and a while later it may be deleted.
types:
  TaskId: {id of: Task, or: fresh}
signals:
  Started: {task_id: TaskId, status: Task.state}
  Ended: {task_id: TaskId, status: Task.state}
entities:
  Task:
    id: minted
    fields: {ended_at: {type: time, default: 0}}
    states: {active: [working], terminal: [done]}
    entering:
      working: {may signal: {Started: {with: {task_id: task.id, status: task.state}}}}
      terminal: {set: {task.ended_at: now}}
    shows: {task_id: task.id, status: task.state}
operations:
  create:
    create: {Task: {}}
    gives: {task_id: task.id}
  finish:
    takes: {task: Task}
    move: working -> done
  inspect:
    takes: {task: Task}
    gives: task
on its own:
  notify:
    for each: {task: Task}
    when: task.terminal
    may signal: {Ended: {with: {task_id: task.id, status: task.state}}}
  clean_up:
    for each: {task: Task}
    when: task.terminal && now >= task.ended_at + 1000
    remove: task
matrix:
  N1:
    about: A task works, and is done when it is finished.
    level: must
    source: the handbook
    covers: [entities.Task, operations, entities.Task.entering.working.may signal.Started]
    act: [task = create(), first = inspect(task.task_id).status, finish(task.task_id), again = finish(task.task_id)]
    assert: first == working && again.refused != null
  N2:
    about: What has ended is there for a second.
    level: must
    source: the handbook
    needs: clock
    covers: [on its own.clean_up, on its own.notify, on its own.notify.may signal.Ended]
    arrange: [task = create(), finish(task.task_id)]
    act: [wait(999), early = inspect(task.task_id), wait(1), late = inspect(task.task_id)]
    assert: early.status == done
    open: late.refused == null
"""


class Desk:
    """Keeps everything, and tells nothing."""

    declares: ClassVar[dict[str, Any]] = {"clock": "virtual"}

    def __init__(self) -> None:
        self.now = 0
        self.ended: dict[str, int | None] = {}
        self.count = 0
        self.told: list[dict[str, Any]] = []

    def wait(self, ms: int) -> None:
        self.now += ms
        for task in [task for task, at in self.ended.items() if self.is_gone(task, at)]:
            del self.ended[task]

    def is_gone(self, task: str, at: int | None) -> bool:
        return False

    def create(self) -> dict[str, Any]:
        self.count += 1
        task = f"t{self.count}"
        self.ended[task] = None
        self.began(task)
        return {"task_id": task}

    def began(self, task: str) -> None:
        pass

    def finish(self, task: str) -> None:
        if self.shown(task)["status"] == "done":
            raise Refused("wrong_state")
        self.ended[task] = self.now
        self.finished(task)

    def finished(self, task: str) -> None:
        pass

    def inspect(self, task: str) -> dict[str, Any]:
        self.looked(task)
        return self.shown(task)

    def looked(self, task: str) -> None:
        pass

    def shown(self, task: str) -> dict[str, Any]:
        if task not in self.ended:
            raise Refused("not_found")
        return {"task_id": task, "status": "working" if self.ended[task] is None else "done"}

    def tells(self, signal: str, task: str, **fields: Any) -> None:
        self.told.append({"signal": signal, "task_id": task, **fields})

    def signals(self) -> list[dict[str, Any]]:
        told, self.told = self.told, []
        return told


class TellsAll(Desk):
    def began(self, task: str) -> None:
        self.tells("Started", task, status="working")

    def finished(self, task: str) -> None:
        self.tells("Ended", task, status="done")


class TellsLater(Desk):
    """Whenever somebody looks, and twice."""

    def looked(self, task: str) -> None:
        if self.ended.get(task) is not None:
            self.tells("Ended", task, status="done")
            self.tells("Ended", task, status="done")


class DeletesAtOnce(TellsAll):
    def is_gone(self, task: str, at: int | None) -> bool:
        return at is not None and self.now >= at + 1000


class DeletesAtTimes(TellsAll):
    def __init__(self) -> None:
        super().__init__()
        self.dice = random.Random(1)

    def is_gone(self, task: str, at: int | None) -> bool:
        return at is not None and self.now >= at + 1000 and self.dice.random() < 0.5


class DeletesTooSoon(Desk):
    def is_gone(self, task: str, at: int | None) -> bool:
        return at is not None and self.now >= at + 999


class DeletesWhatWorks(Desk):
    def is_gone(self, task: str, at: int | None) -> bool:
        return self.now >= (at or 0) + 1000


class TellsNoStatus(Desk):
    def finished(self, task: str) -> None:
        self.tells("Ended", task)


class TellsAnotherStatus(Desk):
    def began(self, task: str) -> None:
        self.tells("Started", task, status="done")


class TellsOfNobody(Desk):
    def finished(self, task: str) -> None:
        self.tells("Ended", "nobody", status="done")


class TellsBefore(Desk):
    def looked(self, task: str) -> None:
        if task in self.ended:
            self.tells("Ended", task, status="done")


class StartsLate(Desk):
    """What may come when a task begins comes when somebody looks."""

    def looked(self, task: str) -> None:
        if task in self.ended:
            self.tells("Started", task, status="working")


def test_the_spec_is_right() -> None:
    assert codes(SPEC) == set()


@pytest.mark.thorough
@pytest.mark.parametrize("system", [Desk, TellsAll, TellsLater, DeletesAtOnce, DeletesAtTimes])
def test_whoever_does_what_is_left_open_passes(system: type) -> None:
    assert failing(SPEC, system) == set()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("system", "by"),
    [
        (DeletesTooSoon, {"N2", "machine"}),
        (DeletesWhatWorks, {"machine"}),
        (TellsNoStatus, {"N1", "machine"}),
        (TellsAnotherStatus, {"N1", "machine"}),
        (TellsOfNobody, {"N1", "machine"}),
        (TellsBefore, {"N1", "machine"}),
        (StartsLate, {"N1", "machine"}),
    ],
)
def test_whoever_does_more_than_is_left_open_fails(system: type, by: set[str]) -> None:
    assert failing(SPEC, system) == by


FOLLOWING = """
lifecycle: following
version: 1
about: What follows from something signals once, at least once, or perhaps.
signals: {Once: {}, Often: {}, Perhaps: {}}
entities:
  Job:
    id: minted
    fields: {since: time}
    states: {active: [running], terminal: [done]}
    entering:
      terminal: {signal: {Once: {}, Often: {times: at least once}}, may signal: {Perhaps: {}}}
    after:
      running: {in: 5, since: job.since, move: done, may signal: {Perhaps: {}}}
operations:
  start: {create: {Job: {since: now}}, gives: job.id}
  touch: {for each: {job: {in: jobs, signal: {Often: {times: at least once}}, may signal: {Perhaps: {}}}}}
  finish: {takes: {job: Job}, move: running -> done}
"""


def test_what_follows_from_something_is_signalled_as_it_is_said() -> None:
    model: Any = compile_text(FOLLOWING, "following.yaml").model()
    job = model.start().value
    once, often, perhaps = (("Once", ()),), (("Often", ()),), (("Perhaps", ()),)
    touched, finished = model.touch(), model.finish(job)
    assert (touched.signals, touched.again, touched.may) == ((), often, perhaps)
    assert (finished.signals, finished.again, finished.may) == (once, often, perhaps)
    model.start()
    (fired,) = [each for each in model.wait(5, prompt=True) if each.signals]
    assert (fired.signals, fired.again, fired.may) == (once, often, (*perhaps, *perhaps))
