"""The words of the local-agent scenarios: how tasks begin, and what is seen of them."""

from __future__ import annotations

from typing import Any


def agent(s: Any, **about: Any) -> str:
    """An agent in the background."""
    return str(s.register_async("look", "p", **about)["task_id"])


def watched(s: Any, **about: Any) -> str:
    """An agent in the foreground."""
    return str(s.register_foreground("look", "p", **about)["task_id"])


def main(s: Any, **about: Any) -> str:
    """A main session."""
    return str(s.register_main("chat", **about)["task_id"])


def session(s: Any, *messages: str) -> str:
    """A main session with a query of its own."""
    return str(s.start_background_session(list(messages), "talk")["task_id"])


def shown(s: Any, task: str) -> dict[str, Any]:
    """The task as shown, which must be there."""
    shown = s.get(task)
    assert shown is not None, f"{task} is gone"
    return dict(shown)


def has(s: Any, task: str, **facts: Any) -> None:
    """Assert these facts of a task as shown."""
    seen = shown(s, task)
    assert {name: seen[name] for name in facts} == facts


def grace(s: Any) -> int:
    """How long an ended agent stays."""
    return int(s.declares["limits"]["grace"])


def told(s: Any) -> list[str]:
    """The tasks that were notified of."""
    return [each["task_id"] for each in s.notifications()]


def events(s: Any) -> list[tuple[str, str, str]]:
    """What the terminated events say."""
    return [(each["task_id"], each["status"], each["summary"]) for each in s.terminated_events()]


def silent(s: Any) -> None:
    """Assert that nobody was told of anything."""
    assert s.notifications() == []
    assert s.terminated_events() == []
