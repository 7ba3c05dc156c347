"""What the description of local-agent says, as scenarios in plain Python: times, parents, and what follows from the rules.

A scenario takes a fresh system and asserts what every right one does. Its name is that of a row.
"""

from __future__ import annotations

from typing import Any

from tests.conformance.references import local_agent_steps as do


def b1(s: Any) -> None:
    task = do.watched(s, auto_background_ms=100)
    s.wait(99)
    do.has(s, task, backgrounded=False)
    assert not s.signal_resolved(task)
    s.wait(2)
    do.has(s, task, backgrounded=True, status="running")
    assert s.signal_resolved(task)


def b2(s: Any) -> None:
    done, broken, stopped = (do.watched(s, auto_background_ms=100) for _ in range(3))
    s.wait(99)
    s.complete(done, "x")
    s.fail(broken, "x")
    s.kill(stopped)
    s.wait(2)
    for task in (done, broken, stopped):
        do.has(s, task, backgrounded=False)
        assert not s.signal_resolved(task)


def b3(s: Any) -> None:
    task = do.watched(s, auto_background_ms=100)
    s.wait(100)
    s.complete(task, "x")
    s.wait(1)
    do.has(s, task, status="completed", result="x")
    assert s.background_tasks() == []


def b5(s: Any) -> None:
    task = do.agent(s)
    s.wait(7)
    s.complete(task, "x")
    s.notify(task)
    s.wait(do.grace(s) - 1)
    s.evict()
    do.has(s, task, status="completed")
    s.wait(2)
    s.evict()
    assert s.get(task) is None


def b6(s: Any) -> None:
    task = do.agent(s)
    s.retain(task)
    s.complete(task, "x")
    s.notify(task)
    s.wait(do.grace(s) + 1)
    s.evict()
    s.release(task)
    s.wait(do.grace(s) - 1)
    s.evict()
    do.has(s, task, retain=False)
    s.wait(2)
    s.evict()
    assert s.get(task) is None


def b10(s: Any) -> None:
    children = [do.agent(s, parent="turn-1") for _ in range(3)]
    others, early = [do.agent(s, parent="turn-1b"), do.agent(s)], do.agent(s, parent="turn-1")
    s.complete(early, "x")
    s.abort_parent("turn-1")
    assert [s.aborted(task) for task in children] == [True] * 3
    assert [s.aborted(task) for task in others] == [False] * 2
    do.has(s, early, status="completed")


def b11(s: Any) -> None:
    one, two = do.agent(s, parent="turn-1"), do.agent(s, parent="turn-1")
    main = do.main(s, controller="turn-1")
    s.kill(one)
    assert [s.aborted(task) for task in (one, two, main)] == [True, False, False]


def x1(s: Any) -> None:
    task, kept = do.agent(s), s.declares["limits"]["activities"]
    s.progress(task, 9, 900, [str(number) for number in range(kept + 1)])
    assert do.shown(s, task)["progress"]["activities"] == [str(number) for number in range(1, kept + 1)]


def x2(s: Any) -> None:
    done, stopped, untold = do.main(s), do.main(s), do.main(s)
    s.complete(done, "x")
    s.kill(stopped)
    s.mark_notified(stopped)
    s.kill(untold)
    s.evict()
    assert [s.get(task) is None for task in (done, stopped, untold)] == [True, True, False]


def x3(s: Any) -> None:
    one, same, other, own = (do.main(s, controller=name) for name in ("q-1", "q-1", "q-2", None))
    s.kill(one)
    s.abort_parent("q-2")
    assert [s.aborted(task) for task in (one, same, other, own)] == [True, True, True, False]


def x4(s: Any) -> None:
    main, child = do.main(s, controller="q-1"), do.agent(s, parent="q-1")
    s.kill(main)
    assert s.aborted(child)


def x5(s: Any) -> None:
    task = do.agent(s)
    s.foreground(task)
    s.foreground(task)
    do.has(s, task, backgrounded=False)


def x6(s: Any) -> None:
    front, one, two = do.watched(s), do.agent(s), do.agent(s)
    s.foreground(one)
    s.foreground(two)
    do.has(s, front, backgrounded=False)
    assert s.background_tasks() == [one]


def x7(s: Any) -> None:
    main, agent = do.main(s), do.agent(s)
    s.foreground(main)
    s.process_exit()
    s.foreground(agent)
    assert s.get(main) is None
    assert s.foregrounded_id() == agent


def x8(s: Any) -> None:
    task = do.agent(s)
    s.retain(task)
    s.release(task)
    do.has(s, task, retain=False, evict_after=None)


def x9(s: Any) -> None:
    behind, front = do.main(s, messages=["one", "two"]), do.main(s, backgrounded=False)
    s.fail(behind, "broken")
    s.fail(front, "broken")
    do.has(s, behind, status="failed", notified=True, messages=["two"], evict_after=None)
    assert [(n["task_id"], n["status"]) for n in s.notifications()] == [(behind, "failed")]
    assert do.events(s) == [(front, "failed", "Background session")]


def x10(s: Any) -> None:
    child = do.agent(s, parent="turn-1")
    s.abort_parent("turn-1")
    do.has(s, child, notified=False)
    s.kill(child)
    do.has(s, child, status="killed")


def x11(s: Any) -> None:
    main, agent = do.main(s), do.agent(s)
    s.foreground(main)
    s.foreground(agent)
    s.complete(main, "x")
    assert do.told(s) == [main]
    assert do.events(s) == []


def x12(s: Any) -> None:
    main = do.main(s, backgrounded=False)
    s.background(main)
    s.complete(main, "x")
    assert do.told(s) == [main]


def x13(s: Any) -> None:
    task = do.agent(s)
    s.complete(task, "x")
    s.wait(3 * do.grace(s) + 1)
    s.evict()
    do.has(s, task, notified=False)
    s.notify(task)
    s.evict()
    assert s.get(task) is None


def x14(s: Any) -> None:
    assert (do.agent(s)[0], do.watched(s)[0]) == ("a", "a")
    for task in (do.main(s), do.session(s, "hello")):
        assert task[0] == "s"
        assert len(task) == 9
        assert set(task[1:]) <= set("0123456789abcdefghijklmnopqrstuvwxyz")


def x20(s: Any) -> None:
    first, second = do.main(s), do.main(s)
    s.complete(first, "x")
    s.kill(first)
    s.kill(second)
    s.complete(second, "x")
    assert (s.get(first)["status"], s.get(second)["status"]) == ("completed", "killed")
    assert (s.aborted(first), s.aborted(second)) == (False, True)


def x21(s: Any) -> None:
    task = do.main(s)
    s.kill(task)
    s.fail(task, "late")
    assert s.get(task)["status"] == "killed"
    assert do.told(s) in ([], [task])


def x22(s: Any) -> None:
    s.aborted("nobody")
    s.signal_resolved("nobody")
    s.output("nobody")
    assert s.get("nobody") is None
    assert s.background_tasks() == []


def x23(s: Any) -> None:
    task = do.agent(s)
    s.kill(task)
    before = s.get(task)
    s.fail(task, "late")
    assert s.get(task) == before


def x24(s: Any) -> None:
    task = do.watched(s)
    s.complete(task, "found")
    s.background(task)
    do.has(s, task, status="completed", result="found")
    assert s.background_tasks() == []


def x29(s: Any) -> None:
    task = do.session(s, "one")
    s.kill(task)
    s.complete(task, "x")
    s.complete(task, "y")
    assert len(do.events(s)) + len(do.told(s)) <= 1
    do.has(s, task, status="killed")


def b20(s: Any) -> None:
    task = do.watched(s, auto_background_ms=100)
    s.wait(101)
    s.foreground(task)
    s.wait(1000)
    do.has(s, task, backgrounded=False)
    assert s.background_tasks() == []


def b21(s: Any) -> None:
    one, gone = do.watched(s, auto_background_ms=100), do.watched(s, auto_background_ms=100)
    s.wait(10)
    two = do.watched(s, auto_background_ms=100)
    s.complete(gone, "x")
    s.wait(1000)
    assert sorted(s.background_tasks()) == sorted([one, two])


def x26(s: Any) -> None:
    task = do.main(s)
    s.wait(5)
    s.kill(task)
    for text in ("late", "later"):
        s.wait(7)
        s.complete(task, text)
    do.has(s, task, status="killed", ended_at=5)


def x27(s: Any) -> None:
    task = do.main(s)
    numbers = [str(each) for each in range(120)]
    for each in numbers:
        s.append_message(task, each)
        s.queue_message(task, each)
    assert s.foreground(task) == numbers
    assert s.drain_messages(task) == numbers


def x28(s: Any) -> None:
    long, session, task = 5000 * "é", do.main(s), do.agent(s)
    s.append_message(session, long)
    s.queue_message(session, long)
    assert s.foreground(session) == s.drain_messages(session) == [long]
    s.summarize(task, long)
    s.complete(task, long)
    do.has(s, task, result=long)
    assert s.get(task)["progress"]["summary"] == long


def x30(s: Any) -> None:
    task = do.agent(s)
    s.complete(task, "x")
    s.output(task)
    do.has(s, task, status="completed", result="x")


def x31(s: Any) -> None:
    tasks = [do.agent(s, tool_use_id="use") for _ in range(2)]
    for task in tasks:
        s.complete(task, "x")
        s.notify(task)
    assert [each["task_id"] for each in s.notifications()] == tasks


def x32(s: Any) -> None:
    kept, told, sent = do.agent(s), do.agent(s), do.watched(s)
    s.background(sent)
    s.retain(kept)
    s.notify(told)
    tasks = [do.agent(s), do.watched(s), sent, do.main(s), do.session(s, "one"), kept, told]
    for task in (*tasks, tasks[0]):
        s.foreground(task)
        assert s.foregrounded_id() == task
        do.has(s, task, backgrounded=False)
    assert sorted(s.background_tasks()) == sorted(tasks[1:])


def x33(s: Any) -> None:
    done, broken, late, stopped = do.agent(s), do.watched(s), do.main(s), do.session(s, "one")
    s.complete(done, "x")
    s.notify(done)
    s.fail(broken, "x")
    s.kill(late)
    s.complete(late, "x")
    s.kill(stopped)
    s.append_message(stopped, "two")
    for task, status in ((done, "completed"), (broken, "failed"), (late, "killed"), (stopped, "killed")):
        s.foreground(task)
        assert s.foregrounded_id() == task
        do.has(s, task, backgrounded=False, status=status)


def x34(s: Any) -> None:
    task = do.agent(s)
    s.complete(task, "x")
    s.notify(task)
    s.wait(do.grace(s) - 2)
    s.release(task)
    s.wait(do.grace(s) - 2)
    s.evict()
    do.has(s, task, status="completed")
    s.wait(3)
    s.evict()
    assert s.get(task) is None


def x35(s: Any) -> None:
    ended, runs, other = (do.main(s, controller=name) for name in ("query-1", "query-1", "query-2"))
    s.complete(ended, "x")
    s.abort_parent("query-1")
    assert s.aborted(runs)
    assert not s.aborted(other)
    do.has(s, ended, status="completed")
