"""Texts that only have to be carried about, and that a system tidies up or mistakes, are found by the machine."""

from __future__ import annotations

import random
from typing import Any

import pytest

from conformance.references.job import Jobs
from conformance.references.local_agent import LocalAgents
from conformance.references.task_progress import TaskProgress
from conformance.references.thread_job import Reply, ThreadJobs
from conformance.search import Diverged, Driver
from conformance.search.odd_values import CARRIED, LONG, ODD, SIGNS, WORDS, in_kinds, odd_numbers, odd_values
from conformance.verdict import MACHINE, Verdict
from statemachines.compile import load
from statemachines.types import Enum, Int, List, Optional, RecordType, Ref, Text
from tests.conformance.systems import adapted, explained, whole_run
from tests.faulty.thread_job.payload import LinesExclusive


class ResultIsStripped(Jobs):
    """Blanks around a result are cut off."""

    def _end_work(self, job: Any, outcome: str, text: str) -> None:
        super()._end_work(job, outcome, text.strip())


class TextIsMarkup(ThreadJobs):
    """What is told is escaped for a page."""

    def _content(self, text: str) -> Reply:
        content = super()._content(text)
        return {**content, "text": content["text"].replace("<", "&lt;")} if "text" in content else content


class DescriptionIsOneLine(LocalAgents):
    """Of a description the first line is kept."""

    def _agent(self, description: str, *more: Any) -> Any:
        return super()._agent(description.partition("\n")[0], *more)


class EmptyBatchIsNone(TaskProgress):
    """A batch whose name is empty is none."""

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Any:
        return super().create_task(label, batch or None, registers)


class ReadsNeedCreations(TaskProgress):
    """What is read from a cache counts only where something was put into one."""

    def _input(self, usage: Any) -> int:
        created = usage.get("cache_creation")
        return int(usage["input"] + (created + (usage.get("cache_read") or 0) if created else 0))


class EmptyOwnerIsNone(Jobs):
    """An owner whose name is empty is none, and sees the jobs of all."""

    def _visible(self, owner: str | None) -> Any:
        return super()._visible(owner or None)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("lifecycle", "system"),
    [
        pytest.param("job", ResultIsStripped, marks=pytest.mark.soak),
        ("task-progress", EmptyBatchIsNone),
        ("task-progress", ReadsNeedCreations),
        pytest.param("job", EmptyOwnerIsNone, marks=pytest.mark.soak),
        pytest.param("thread-job", TextIsMarkup, marks=pytest.mark.soak),
        pytest.param("local-agent", DescriptionIsOneLine, marks=pytest.mark.soak),
    ],
)
def test_the_machine_finds_texts_that_are_not_what_was_given(lifecycle: str, system: type) -> None:
    _, (result, *_) = whole_run(system, load(lifecycle), only=[MACHINE])
    assert result.verdict is Verdict.FAIL, explained(result)


def test_each_type_of_text_has_odd_values_of_its_own() -> None:
    job, thread_job = load("job"), load("thread-job")
    assert odd_values(job, Text("Text"), ["x"]) == list(CARRIED)
    assert odd_values(job, Optional(Text("Text")), [None, "x"]) == [each for each in CARRIED if each.strip()]
    twins = [
        "alicex",
        "alice-2",
        "alice-x",
        f"alice{'x' * 200}",
        "alic",
        "ALICE",
        " alice ",
        "alice\0x",
        "alic*",
        "alic%",
    ]
    assert odd_values(job, Optional(Text("Owner")), [None, "new", "alice"]) == ["", *WORDS, *twins]
    assert odd_values(job, Optional(Text("Owner")), ["new", "", *WORDS, *twins, "alice"]) == []
    assert odd_values(job, Optional(Text("Owner")), ["new"]) == ["", *WORDS]
    assert {"7", "007.0"} <= {*odd_values(job, Optional(Text("Owner")), ["new", "007"])}, "one number in other digits"
    assert "\xe9x" in odd_values(job, Optional(Text("Owner")), ["new", "e\u0301x"]), "the same letters in another form"
    assert "0c1" in odd_values(thread_job, Text("ToolCall"), ["new", "c1"])  # t1 and 0c1 read like t10 and c1
    assert odd_values(thread_job, Text("Payload"), ["x"]) == list(ODD)
    assert odd_values(load("background-tasks"), List(Text("Text")), []) == [list(CARRIED)]
    assert odd_values(job, Text(), ["x"]) == []


def test_of_a_text_that_is_just_above_a_limit_there_is_one_just_within_it() -> None:
    around = ["x", "x" * 25_601, "x\n" * 1000 + "x"]
    beside = odd_values(load("thread-job"), Text("Payload"), around)[len(ODD) :]
    within = ["é" * 12_801, "x" * 25_600, "é" * 1001, "x\n" * 999 + "x"]
    assert beside == within


def test_a_limit_that_is_taken_exclusively_shows_by_a_text_that_just_fits() -> None:
    with adapted(LinesExclusive) as adapter:
        driver = Driver(load("thread-job"), adapter)

        def end(number: int) -> None:
            driver.make("start", {"thread": "t1", "tool_call": f"c{number}", "tool": "bash"})
            drawn = driver.drawn("finish", random.Random(number)) or {}
            driver.take("finish", {**drawn, "outcome": "completed"})
            driver.take("turn_boundary", {"thread": "t1"})

        with pytest.raises(Diverged, match="file"):
            [*map(end, range(100))]


def test_long_texts_are_a_kind_of_their_own() -> None:
    """A limit is come to by one of the many odd texts: among all others it was seldom drawn."""
    kinds = in_kinds(["", "y" * 200, *SIGNS, *WORDS, LONG])
    assert kinds == [[""], [""], ["y" * 200, LONG], [*SIGNS], [*WORDS]]


def test_a_list_is_given_with_an_item_alone_twice_and_backwards() -> None:
    jobs = List(Ref("Job"))
    assert odd_values(load("job"), jobs, [[], ["a", "b"]]) == [["a"], ["b"], ["b", "b"], ["b", "a"]]
    assert odd_values(load("job"), jobs, [[], ["a"]]) == [["a", "a"]]
    assert odd_values(load("job"), jobs, [[]]) == []


def test_a_list_of_what_has_kinds_is_also_longer_than_a_limit_with_each_kind_in_it_and_each_the_last() -> None:
    task_progress, whole = load("task-progress"), [{"name": name, "input": "x"} for name in ("bash", "grep")]
    use = RecordType((("name", Enum("ToolName", ("bash", "grep"))), ("input", Text("Text"))))
    longer = [each for each in odd_values(task_progress, List(use), [[], whole]) if len(each) > 2]
    assert [len(each) for each in longer] == [6, 6], "one more than the five activities that are kept"
    assert [each[-1] for each in longer] == whole[::-1]


def test_the_texts_of_records_are_odd_too_one_record_in_a_list() -> None:
    task_progress = load("task-progress")
    use = RecordType((("name", Enum("ToolName", ("bash",))), ("input", Text("Text"))))
    usual = {"name": "bash", "input": "x"}
    odd = [{"name": "bash", "input": each} for each in CARRIED]
    assert odd_values(task_progress, use, [usual]) == odd
    assert odd_values(task_progress, List(use), [[], [usual]]) == [[usual, usual], *([each] for each in odd)]


def test_records_are_mixed_field_by_field() -> None:
    kind = RecordType((("a", Int()), ("b", Optional(Int()))))
    assert odd_values(load("job"), kind, [{"a": 0, "b": 0}, {"a": 3, "b": 3}]) == [
        {"a": 3, "b": 0},
        {"a": 0, "b": 3},
        {"a": 0, "b": None},
        {"a": 3, "b": None},
    ]
    assert odd_values(load("job"), kind, [{"a": 0, "b": 0}]) == [{"a": 0, "b": None}]


def test_a_number_that_may_be_any_is_also_one_that_the_rules_say_or_has_more_digits() -> None:
    numbers = odd_numbers(load("job"))
    assert set(numbers) == {("configure", name) for name in ("max_running", "retention_ms", "poll_wait")}
    assert {9, 10, 15, 5000, 30_000} <= {*numbers["configure", "poll_wait"]}
    assert not odd_numbers(load("task-progress"))  # its counts have bounds, and these are enough


def test_such_a_number_is_drawn() -> None:
    job = load("job")
    with adapted(Jobs, job) as adapter:
        drawn = [Driver(job, adapter).drawn("configure", random.Random(seed)) or {} for seed in range(40)]
    assert any(each.get("poll_wait", 0) > 1 for each in drawn), "nobody ever gave a number beside 0 and 1"


def test_numbers_with_which_a_rule_compares_what_is_given_are_drawn_often() -> None:
    job = load("job")
    with adapted(Jobs, job) as adapter:
        driver = Driver(job, adapter)
        drawn = [driver.drawn("configure", random.Random(seed)) or {} for seed in range(100)]
    given = [each["poll_wait"] for each in drawn if "poll_wait" in each]
    assert sum(each in (5_000, 10_000, 60_000, 300_000) for each in given) > len(given) / 10
