"""What the description of local-agent says, as scenarios in plain Python: what comes late, twice, or for nobody.

A scenario takes a fresh system and asserts what every right one does. Its name is that of a row.
"""

from __future__ import annotations

from typing import Any

from tests.conformance.references import local_agent_steps as do


def e1(s: Any) -> None:
    task = do.agent(s)
    s.kill(task)
    before = do.shown(s, task)
    s.complete(task, "late")
    assert s.get(task) == before
    do.silent(s)


def e2(s: Any) -> None:
    tasks = [do.agent(s), do.agent(s)]
    for task in tasks:
        s.complete(task, "x")
        s.notify(task, final_message="first")
    s.notify(tasks[0], final_message="second")
    assert do.told(s) == tasks
    assert s.notifications()[0]["final_message"] == "first"


def e3(s: Any) -> None:
    done, broken = do.agent(s), do.agent(s)
    s.complete(done, "x")
    s.fail(broken, "bad luck")
    before = [s.get(done), s.get(broken)]
    s.wait(5)
    for task in (done, broken):
        s.kill(task)
        s.fail(task, "late")
        s.complete(task, "late")
    s.kill_all()
    assert [s.get(done), s.get(broken)] == before
    do.silent(s)


def e4(s: Any) -> None:
    task = do.agent(s)
    s.progress(task, 1, 100, ["read"])
    s.summarize(task, "reading")
    s.complete(task, "x")
    before = do.shown(s, task)
    s.progress(task, 7, 700, ["late"])
    s.summarize(task, "late")
    assert s.get(task) == before


def e5(s: Any) -> None:
    task = do.agent(s)
    s.foreground(task)
    assert s.foreground("nobody") is None
    assert s.foregrounded_id() == task
    do.has(s, task, backgrounded=False)


def e6(s: Any) -> None:
    task, shell = do.agent(s), s.register_other("shell")["task_id"]
    s.foreground(task)
    assert s.foreground(shell) is None
    assert s.foregrounded_id() == task
    do.has(s, task, backgrounded=False)


def e7(s: Any) -> None:
    done, other = do.agent(s), do.main(s)
    s.append_message(done, "seen")
    s.complete(done, "x")
    assert s.foreground(done) == ["seen"]
    assert s.foregrounded_id() == done
    do.has(s, done, backgrounded=False, status="completed")
    s.foreground(other)
    do.has(s, done, backgrounded=True, status="completed")


def e8(s: Any) -> None:
    task = do.agent(s)
    before = do.shown(s, task)
    s.queue_message("nobody", "x")
    s.append_message("nobody", "x")
    s.progress("nobody", 1, 1, ["x"])
    s.summarize("nobody", "x")
    s.complete("nobody", "x")
    s.fail("nobody", "x")
    for operation in (s.retain, s.release, s.background, s.kill, s.notify, s.mark_notified):
        operation("nobody")
    assert (s.drain_messages("nobody"), s.drain_messages(task)) == ([], [])
    assert (s.get("nobody"), s.get(task)) == (None, before)
    do.silent(s)


def e9(s: Any) -> None:
    task = do.agent(s)
    s.summarize(task, "reading")
    counted = {"tool_uses": 2, "tokens": 200, "activities": ["read"]}
    s.progress(task, **counted)
    do.has(s, task, progress={**counted, "summary": "reading"})
    s.summarize(task, "writing")
    do.has(s, task, progress={**counted, "summary": "writing"})


def e10(s: Any) -> None:
    task, front = do.main(s, messages=["one", "two"]), do.main(s, backgrounded=False)
    s.foreground(task)
    s.complete(task, "x")
    s.complete(front, "x")
    do.has(s, task, status="completed", notified=True, messages=["two"], evict_after=None)
    s.notify(task)
    assert do.events(s) == [(each, "completed", "Background session") for each in (task, front)]
    assert s.notifications() == []


def e11(s: Any) -> None:
    task = do.session(s, "hello")
    s.kill(task)
    s.append_message(task, "next")
    assert do.events(s) == [(task, "stopped", "talk")]
    s.append_message(task, "after")
    s.notify(task)
    assert len(do.events(s)) == 1
    assert s.notifications() == []
    do.has(s, task, status="killed", notified=True)


def e12(s: Any) -> None:
    before, after = do.session(s, "hello"), do.session(s, "hello")
    s.mark_notified(before)
    s.kill(before)
    s.append_message(before, "next")
    s.kill(after)
    s.notify(after)
    s.append_message(after, "next")
    assert do.events(s) == []
    assert do.told(s) == [after]


def e13(s: Any) -> None:
    agent, session = do.agent(s), do.session(s, "hello")
    s.queue_message(agent, "left")
    before = [s.get(agent), s.get(session)]
    s.clear()
    assert [s.get(agent), s.get(session)] == before
    assert s.output(session) == ["hello"]
    assert not s.aborted(agent)


def e14(s: Any) -> None:
    agents, mains, done = [do.agent(s), do.watched(s)], [do.main(s), do.session(s, "hello")], do.agent(s)
    s.complete(done, "x")
    s.process_exit()
    assert [do.shown(s, task)["status"] for task in agents] == ["killed", "killed"]
    assert [s.get(task) for task in mains] == [None, None]
    do.has(s, done, status="completed")


def e15(s: Any) -> None:
    untold, told = do.main(s), do.main(s)
    s.kill_all()
    s.mark_notified(told)
    for task in (untold, told):
        s.complete(task, "x")
        do.has(s, task, status="killed")
    assert do.told(s) in ([], [untold])


def e16(s: Any) -> None:
    task = do.agent(s)
    s.foreground(task)
    s.complete(task, "x")
    s.foreground(task)
    do.has(s, task, retain=False, evict_after=do.grace(s))


def e17(s: Any) -> None:
    front, behind = do.main(s, backgrounded=False), do.main(s)
    for task in (front, behind, front, behind):
        s.complete(task, "x")
    assert [each[0] for each in do.events(s)] == [front]
    assert do.told(s) == [behind]


def e18(s: Any) -> None:
    agent, main = do.agent(s), do.main(s)
    for task in (agent, main):
        s.mark_notified(task)
        do.has(s, task, notified=True, status="running")
        s.complete(task, "x")
        s.notify(task)
    do.silent(s)


def e19(s: Any) -> None:
    task = do.agent(s)
    s.queue_message(task, "one")
    s.complete(task, "x")
    s.queue_message(task, "two")
    s.append_message(task, "seen")
    assert s.drain_messages(task) == ["one", "two"]
    do.has(s, task, messages=["seen"], status="completed")


def e20(s: Any) -> None:
    kept, told = do.watched(s), do.watched(s)
    s.retain(kept)
    s.mark_notified(told)
    for task in (kept, told):
        do.has(s, task, backgrounded=False)
        assert not s.signal_resolved(task)


def e21(s: Any) -> None:
    first, second = do.agent(s), do.agent(s)
    for task in (first, second, first):
        s.foreground(task)
        do.has(s, task, backgrounded=False)
    do.has(s, second, backgrounded=True)


def e22(s: Any) -> None:
    session, child = do.session(s, "hello"), do.agent(s, parent="main")
    s.abort_parent("main")
    for task in (session, do.main(s), do.agent(s), child):
        s.append_message(task, "next")
        do.has(s, task, notified=False)
    do.silent(s)
    s.kill(session)
    s.append_message(session, "last")
    assert [each[0] for each in do.events(s)] == [session]


def e23(s: Any) -> None:
    tasks = [do.main(s), do.session(s, "hello"), do.agent(s)]
    for task in tasks:
        s.mark_notified(task)
    s.evict()
    for task in tasks:
        do.has(s, task, status="running")
    s.complete(tasks[0], "x")
    s.evict()
    assert s.get(tasks[0]) is None


def e24(s: Any) -> None:
    session = do.session(s, "hello")
    s.foreground(session)
    assert s.output(session) == ["hello"]
    s.append_message(session, "next")
    assert s.output(session) == ["hello", "next"]


def e25(s: Any) -> None:
    tasks = [do.session(s, "hello"), do.watched(s), do.agent(s)]
    s.retain(tasks[2])
    for task in tasks:
        s.complete(task, "x")
        s.background(task)
        assert not s.aborted(task)
    s.kill(do.agent(s, parent="main"))
    assert not any(s.aborted(task) for task in tasks)


def e26(s: Any) -> None:
    main, agent = do.main(s), do.agent(s, tool_use_id="tool-1")
    for task in (main, agent):
        s.summarize(task, "reading")
        s.complete(task, "x")
    s.notify(agent)
    assert [each["tool_use_id"] for each in s.notifications()] == [None, "tool-1"]


def e27(s: Any) -> None:
    for end in (lambda task: s.complete(task, "x"), lambda task: s.fail(task, "x"), s.kill):
        task = do.agent(s)
        s.append_message(task, "one")
        s.append_message(task, "two")
        before = do.shown(s, task)["messages"]
        end(task)
        do.has(s, task, messages=before)
