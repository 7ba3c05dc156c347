"""The link to a process: what is asked and answered, and how it ends."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.refused import Refused
from conformance.remote import protocol
from conformance.remote.last_lines import LastLines
from conformance.remote.process import ProcessLink
from conformance.system import Broken, HarnessError
from tests.conformance.remote.leftovers import nothing_left
from tests.tools import hostile_adapter

LIMIT = 20.0  # seconds, however busy the machine is
SOON = 0.2  # seconds for what never comes
Heard = list[tuple[str, bytes]]


@pytest.fixture
def heard() -> Heard:
    """What passes over the links of a test."""
    return []


@pytest.fixture
def links() -> Iterator[list[ProcessLink]]:
    """Links that are ended in the end, with nothing left of them."""
    with nothing_left():
        found: list[ProcessLink] = []
        yield found
        for link in found:
            link.end()


@pytest.fixture
def linked(links: list[ProcessLink], heard: Heard) -> Any:
    """Start a hostile adapter by the name of its way, or a script that gets `line` for each line of stdin."""

    def start(way: str = "right", *, script: str = "") -> ProcessLink:
        words = f"-c '{READS.format(script)}'" if script else f"{Path(hostile_adapter.__file__)} {way}"
        link = ProcessLink(f"{sys.executable} -S {words}", lambda side, line: heard.append((side, line)))
        links.append(link)
        return link

    return start


READS = """
import json, sys, time
def say(**message): print(json.dumps(dict(jsonrpc="2.0", **message)), flush=True)
for line in sys.stdin:
    asked = json.loads(line) if line.startswith("{{") else dict(id=None, method="")
    {}
"""


def test_a_request_is_answered_and_all_that_passes_is_heard(linked: Any, heard: Heard) -> None:
    link = linked()
    assert link.answer("create_task", {"label": "a"}, LIMIT)["result"] == {"task_id": "task-1", "status": "pending"}
    assert link.answer("status", {"task": "task-1"}, LIMIT) == {"jsonrpc": "2.0", "id": 2, "result": "pending"}
    assert [side for side, _ in heard] == [">", "<", ">", "<"]
    assert heard[2][1] == protocol.request(2, "status", {"task": "task-1"})


def test_answers_come_in_any_order_each_to_its_request(linked: Any) -> None:
    link = linked("out_of_order")
    found: dict[str, Any] = {}
    tasks = [link.answer("create_task", {"label": "x"}, LIMIT)["result"]["task_id"] for _ in range(8)]
    link.answer("start", {"task": tasks[3]}, LIMIT)

    def ask(task: str) -> None:
        found[task] = link.answer("status", {"task": task}, LIMIT)["result"]

    threads = [threading.Thread(target=ask, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {task: "running" if task == tasks[3] else "pending" for task in tasks}


def test_a_long_request_is_read_to_its_end(linked: Any) -> None:
    link = linked(script='say(id=asked["id"], result=len(line))')
    text = "x" * (5 << 20)
    assert link.answer("start", {"label": text}, LIMIT)["result"] == len(protocol.request(1, "start", {"label": text}))


def test_a_long_request_that_nobody_reads_is_a_hang(linked: Any) -> None:
    link = linked("never_reads")
    link.answer("reset", None, LIMIT)
    with pytest.raises(Broken, match="start did not come back in time") as broken:
        link.answer("start", {"label": "x" * (5 << 20)}, SOON)
    assert broken.value.kind == "hang"
    assert link.spent
    with pytest.raises(Broken, match="status was not answered: another call had not come back"):
        link.answer("status", None, LIMIT)


def test_an_answer_that_comes_too_late_is_no_fault(linked: Any, heard: Heard) -> None:
    link = linked(script=f'time.sleep({2 * SOON}); say(id=asked["id"], result=None); say(id=asked["id"], result=None)')
    with pytest.raises(Broken, match="start did not come back in time"):
        link.answer("start", None, SOON)
    until = time.monotonic() + LIMIT
    while len(heard) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert heard[1][0] == "<"
    with pytest.raises(Broken, match="another call had not come back") as broken:
        link.answer("start", None, LIMIT)
    assert broken.value.kind == "hang"


def test_what_nobody_was_told_of_is_told_at_the_next_request(linked: Any, heard: Heard) -> None:
    link = linked("answers_twice")
    task = link.answer("create_task", {"label": "a"}, LIMIT)["result"]["task_id"]
    link.answer("finish", {"task": task, "outcome": "failed"}, LIMIT)
    link._threads[0].join(LIMIT)  # it reads the second answer, and no more
    assert not link.spent
    with pytest.raises(HarnessError, match="nobody waits for an answer to 2"):
        link.answer("reset", None, LIMIT)
    assert link.spent


def test_all_who_wait_are_told_how_it_ended(linked: Any) -> None:
    link = linked(script='asked["method"] == "finish" and sys.exit("no disk")')
    told: list[str] = []

    def ask(method: str) -> None:
        try:
            link.answer(method, None, LIMIT)
        except Broken as broken:
            told.append(f"{broken.message}: {broken.detail}")

    threads = [threading.Thread(target=ask, args=(method,)) for method in ("status", "finish")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = "was not answered: the process ended with exit code 1: no disk"
    assert sorted(told) == [f"finish {said}", f"status {said}"]


def test_a_line_without_an_end_is_named(linked: Any) -> None:
    link = linked(script='print("{}", end="", flush=True)')
    with pytest.raises(Broken, match=r"status did not come back in time; a line on stdout has no end yet: \{\}"):
        link.answer("status", None, 1.0)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ('say(id=None, error=dict(code=-32700, message="parse error"))', "parse error"),
        ("None", None),
    ],
)
def test_a_line_that_is_no_request_may_be_told_of_or_not(linked: Any, script: str, said: str | None) -> None:
    link = linked(script=f'say(id=asked["id"], result=1) if asked["id"] else {script}')
    answer = link.answer_to_line(b"this is no JSON\n", LIMIT if said else SOON)
    assert (answer and answer["error"]["message"]) == said
    assert link.answer("status", None, LIMIT)["result"] == 1


def test_what_cannot_be_started_is_told() -> None:
    with nothing_left(), pytest.raises(HarnessError, match=r"`/no/such/program -x` cannot be run: .*No such file"):
        ProcessLink("/no/such/program -x")


def test_an_adapter_ends_by_itself_where_it_does(tmp_path: Path, linked: Any) -> None:
    file = tmp_path / "ended"
    script = f'say(id=asked["id"], result=None); open("{file}", "w").write(asked["method"])'
    link = linked(script=script)
    link.answer("reset", None, LIMIT)
    link.end()
    assert file.read_text(encoding="utf-8") == "close"
    assert link._process.returncode == 0


def test_the_end_of_a_stuck_adapter_takes_no_longer_than_it_may(linked: Any) -> None:
    link = linked("never_reads")
    link.answer("reset", None, LIMIT)

    def ask() -> None:
        with pytest.raises(Broken):
            link.answer("start", {"x": "x" * (5 << 20)}, 60.0)

    waiting = threading.Thread(target=ask)
    waiting.start()
    began = time.monotonic()
    link.end(SOON)
    assert time.monotonic() - began < 60
    waiting.join(LIMIT)
    assert not waiting.is_alive()


def test_the_last_lines_are_kept_whole_characters_and_all() -> None:
    lines = LastLines()
    text = "".join(f"line {number} ü\n" for number in range(50)) + "y" * 2000
    for byte in text.encode():
        lines.add(bytes([byte]))
    lines.add(b"\xff")
    assert str(lines).splitlines()[:-1] == [f"line {number} ü" for number in range(30, 50)]
    assert str(lines).splitlines()[-1] == "y" * 600
    other = LastLines()
    other.add(b"bad \xff\n")
    assert str(other) == "bad \\xff"


def test_a_refusal_is_an_answer_as_any(linked: Any) -> None:
    link = linked("unknown_refusal")
    task = link.answer("create_task", {"label": "a"}, LIMIT)["result"]["task_id"]
    answer = link.answer("finish", {"task": task, "outcome": "failed"}, LIMIT)
    with pytest.raises(Refused):
        protocol.result_of(answer, "finish", link.detail)
