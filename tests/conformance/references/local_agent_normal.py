"""What the description of local-agent says, as scenarios in plain Python: what happens in the normal course of things.

A scenario takes a fresh system and asserts what every right one does. Its name is that of a row.
"""

from __future__ import annotations

from typing import Any

from tests.conformance.references import local_agent_steps as do


def n1(s: Any) -> None:
    task, other = do.agent(s), do.agent(s, agent_type="explorer", tool_use_id="use")
    do.has(s, task, type="local_agent", agent_type="general-purpose", description="look", prompt="p")
    do.has(s, task, status="running", backgrounded=True, notified=False, retain=False, evict_after=None)
    do.has(s, other, agent_type="explorer", tool_use_id="use", pending_messages=[], ended_at=None)
    assert sorted(s.background_tasks()) == sorted([task, other])


def n2(s: Any) -> None:
    task = do.watched(s)
    do.has(s, task, status="running", backgrounded=False)
    assert not s.signal_resolved(task)
    assert s.background_tasks() == []


def n3(s: Any) -> None:
    task = do.main(s)
    do.has(s, task, type="local_agent", agent_type="main-session", status="running", backgrounded=True)
    do.has(s, do.main(s, backgrounded=False), backgrounded=False)


def n4(s: Any) -> None:
    task, other = do.watched(s), do.watched(s)
    s.background(task)
    once = do.shown(s, task)
    assert once["backgrounded"]
    s.background(task)
    assert s.get(task) == once
    assert s.signal_resolved(task)
    assert not s.signal_resolved(other)


def n5(s: Any) -> None:
    task = do.agent(s)
    s.wait(3)
    s.complete(task, "found")
    do.has(s, task, status="completed", result="found", error=None, ended_at=3, evict_after=3 + do.grace(s))
    do.silent(s)


def n6(s: Any) -> None:
    task = do.agent(s)
    s.wait(3)
    s.fail(task, "broken")
    do.has(s, task, status="failed", result=None, error="broken", ended_at=3, evict_after=3 + do.grace(s))
    do.silent(s)


def n7(s: Any) -> None:
    task, other = do.agent(s), do.agent(s)
    s.wait(3)
    s.kill(task)
    do.has(s, task, status="killed", result=None, error=None, ended_at=3, evict_after=3 + do.grace(s))
    assert (s.aborted(task), s.aborted(other)) == (True, False)
    do.silent(s)


def n8(s: Any) -> None:
    done, broken, stopped = do.agent(s, tool_use_id="use"), do.agent(s), do.agent(s)
    s.complete(done, "found")
    s.fail(broken, "bad luck")
    s.kill(stopped)
    usage = {"total_tokens": 1200, "tool_uses": 3, "duration_ms": 4500}
    s.notify(done, final_message="all", usage=usage, worktree_path="/tree", branch="one")
    s.notify(broken)
    s.notify(stopped)
    told = s.notifications()
    assert [(n["task_id"], n["status"]) for n in told] == [
        (done, "completed"),
        (broken, "failed"),
        (stopped, "killed"),
    ]
    given = {"final_message": "all", "usage": usage, "worktree_path": "/tree", "branch": "one"}
    assert given.items() <= told[0].items()
    assert (told[0]["tool_use_id"], told[0]["description"], told[1]["error"]) == ("use", "look", "bad luck")
    assert all(n["output_file"] for n in told)


def n9(s: Any) -> None:
    ours = [do.agent(s), do.watched(s), do.main(s), do.session(s, "hello")]
    done = do.agent(s)
    s.complete(done, "x")
    foreign = [s.register_other(kind)["task_id"] for kind in ("shell", "remote_agent")]
    s.kill_all()
    assert [do.shown(s, task)["status"] for task in ours] == ["killed"] * 4
    assert [do.shown(s, task)["status"] for task in foreign] == ["running"] * 2
    do.has(s, done, status="completed")
    assert s.notifications() == []


def n10(s: Any) -> None:
    tasks = [do.agent(s), do.session(s, "hello")]
    s.kill_all()
    for task in tasks:
        s.mark_notified(task)
        s.append_message(task, "more")
        s.notify(task)
        do.has(s, task, status="killed", notified=True)
    do.silent(s)


def n11(s: Any) -> None:
    main, agent = do.main(s, messages=["hello", "there"]), do.agent(s)
    assert s.foregrounded_id() is None
    assert s.foreground(main) == ["hello", "there"]
    assert (s.foregrounded_id(), s.background_tasks()) == (main, [agent])
    s.foreground(agent)
    assert (s.foregrounded_id(), s.background_tasks()) == (agent, [main])


def n12(s: Any) -> None:
    task, other = do.agent(s), do.agent(s)
    for text in ("one", "one", "two"):
        s.queue_message(task, text)
    s.queue_message(other, "foreign")
    do.has(s, task, pending_messages=["one", "one", "two"])
    assert s.drain_messages(task) == ["one", "one", "two"]
    assert s.drain_messages(task) == []
    many = [str(number) for number in range(60)]
    for text in many:
        s.queue_message(other, text)
    assert s.drain_messages(other) == ["foreign", *many]


def n13(s: Any) -> None:
    task = do.agent(s)
    s.append_message(task, "seen")
    s.queue_message(task, "unseen")
    do.has(s, task, messages=["seen"], pending_messages=["unseen"])


def n14(s: Any) -> None:
    task, other = do.session(s, "hello", "there"), do.session(s, "else")
    assert s.output(task) == ["hello", "there"]
    s.append_message(task, "more")
    assert s.output(task) == ["hello", "there", "more"]
    assert s.output(other) == ["else"]


def n15(s: Any) -> None:
    runs, untold, told, main = do.agent(s), do.agent(s), do.agent(s), do.main(s)
    s.mark_notified(runs)
    for task in (untold, told, main):
        s.complete(task, "x")
    s.notify(told)
    s.wait(do.grace(s) + 1)
    s.evict()
    assert [s.get(task) is None for task in (runs, untold, told, main)] == [False, False, True, True]


def n16(s: Any) -> None:
    task = do.agent(s)
    none = {"tool_uses": 0, "tokens": 0, "activities": [], "summary": None}
    do.has(s, task, progress=none)
    s.progress(task, 1, 100, ["read"])
    do.has(s, task, progress={**none, "tool_uses": 1, "tokens": 100, "activities": ["read"]})
    s.progress(task, 3, 90, ["search", "write"])
    do.has(s, task, progress={**none, "tool_uses": 3, "tokens": 90, "activities": ["search", "write"]})
    s.progress(task, 0, 0, [])
    do.has(s, task, progress=none)


def n17(s: Any) -> None:
    task = do.main(s, messages=["one", "two", "three"])
    s.complete(task, "x")
    do.has(s, task, status="completed", messages=["three"], notified=True, evict_after=None)
    s.notify(task)
    assert [(n["task_id"], n["status"]) for n in s.notifications()] == [(task, "completed")]
    assert s.terminated_events() == []


def n18(s: Any) -> None:
    kept, other = do.agent(s), do.agent(s)
    s.retain(kept)
    s.retain(kept)
    s.complete(kept, "x")
    s.complete(other, "x")
    s.retain(other)
    do.has(s, kept, retain=True, evict_after=None)
    do.has(s, other, retain=True, evict_after=None)
    s.wait(5)
    s.release(kept)
    do.has(s, kept, retain=False, evict_after=5 + do.grace(s))


def n19(s: Any) -> None:
    agent, front, main, done = do.agent(s), do.watched(s), do.main(s), do.agent(s)
    s.register_other("shell")
    s.complete(done, "x")
    assert sorted(s.panel_tasks()) == sorted([agent, front, done])
    assert {agent, front, main, done} & set(s.background_tasks()) == {agent, main}
