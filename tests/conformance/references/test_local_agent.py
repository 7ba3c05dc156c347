"""Both right local-agent systems do what the description says, and each lie is one in its scenario."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from conformance.references.local_agent import LocalAgents
from tests.conformance.references import local_agent_boundary, local_agent_edge, local_agent_normal
from tests.conformance.references import local_agent_steps as do
from tests.faulty.local_agent import FAULTY, Lie
from tests.right.local_agent import RIGHT

SCENARIOS: dict[str, Callable[[Any], None]] = {
    name.upper(): value
    for module in (local_agent_normal, local_agent_edge, local_agent_boundary)
    for name, value in vars(module).items()
    if re.fullmatch(r"[a-z]\d+", name)
}
"""By the row that says the same."""


class Small(LocalAgents):
    """The reference with other limits."""

    declares: ClassVar[dict[str, Any]] = {**LocalAgents.declares, "limits": {"grace": 1, "activities": 2}}

    def __init__(self) -> None:
        super().__init__(grace=1, activities=2)


SYSTEMS: list[Callable[[], Any]] = [LocalAgents, Small, *RIGHT]
ONE_CALLER = [lie for lie in FAULTY if lie.row in SCENARIOS]
DECLARING = [lie for lie in FAULTY if hasattr(lie, "right")]
AT_ONCE = [lie for lie in FAULTY if lie not in ONE_CALLER and lie not in DECLARING]


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """The replies of calls that start together, each on a thread of its own."""
    barrier, replies = threading.Barrier(len(calls), timeout=10), [None] * len(calls)

    def run(place: int) -> None:
        barrier.wait()
        replies[place] = calls[place]()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
        assert not thread.is_alive()
    return replies


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("row", SCENARIOS)
def test_right_system_does_what_the_description_says(system: Callable[[], Any], row: str) -> None:
    SCENARIOS[row](system())


@pytest.mark.parametrize("lie", ONE_CALLER)
def test_lie_shows_in_the_scenario_of_its_row(lie: type[Lie]) -> None:
    with pytest.raises((AssertionError, TypeError)):
        SCENARIOS[lie.row](lie())


def test_only_calls_at_once_show_the_other_lies() -> None:
    assert {lie.__module__ for lie in AT_ONCE} == {"tests.faulty.local_agent.concurrency"}


@pytest.mark.thorough
@pytest.mark.parametrize("lie", AT_ONCE)
@pytest.mark.parametrize("row", SCENARIOS)
def test_one_caller_does_not_see_a_lie_about_concurrency(lie: type[Lie], row: str) -> None:
    SCENARIOS[row](lie())


@pytest.mark.parametrize("system", SYSTEMS)
def test_one_of_many_callers_notifies(system: Callable[[], Any]) -> None:
    agents = system()
    task = agents.register_async("look", "p")["task_id"]
    agents.complete(task, "x")
    at_once(*[lambda: agents.notify(task)] * 8)
    assert [each["task_id"] for each in agents.notifications()] == [task]


@pytest.mark.parametrize("system", SYSTEMS)
def test_queue_and_drain_at_once_lose_and_repeat_nothing(system: Callable[[], Any]) -> None:
    agents = system()
    task = agents.register_async("look", "p")["task_id"]

    def leave(writer: int) -> list[str]:
        for number in range(50):
            agents.queue_message(task, f"{writer}-{number:02}")
        return []

    def take() -> list[str]:
        return [text for _ in range(50) for text in agents.drain_messages(task)]

    replies = at_once(lambda: leave(0), take, lambda: leave(1), take)
    taken = [text for reply in replies for text in reply] + agents.drain_messages(task)
    assert sorted(taken) == [f"{writer}-{number:02}" for writer in (0, 1) for number in range(50)]


@pytest.mark.parametrize("system", SYSTEMS)
def test_registrations_at_once_have_ids_of_their_own(system: Callable[[], Any]) -> None:
    agents = system()
    replies = at_once(*[lambda: [agents.register_main("chat")["task_id"] for _ in range(25)]] * 4)
    tasks = [task for reply in replies for task in reply]
    assert len(set(tasks)) == 100
    assert sorted(agents.background_tasks()) == sorted(tasks)


@pytest.mark.parametrize("system", SYSTEMS)
def test_one_of_two_endings_counts(system: Callable[[], Any]) -> None:
    agents = system()
    task = agents.register_main("chat", backgrounded=False)["task_id"]
    at_once(*[lambda: agents.complete(task, "x"), lambda: agents.fail(task, "y")] * 4)
    assert [each["status"] for each in agents.terminated_events()] == [agents.get(task)["status"]]
    assert agents.notifications() == []


@pytest.mark.parametrize("lie", DECLARING)
def test_who_declares_another_choice_is_held_to_it(lie: Any) -> None:
    told = []
    for system in (lie(), lie.right()):
        task = do.main(system, messages=["one", "two"])
        system.fail(task, "broken")
        do.has(system, task, status="failed")
        told.append(len(system.notifications()))
    assert told == [1, 0]
