"""A run on several processes tells what a run on one tells."""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import conformance
from conformance.api import prepared
from conformance.budget import USUAL, Budget
from conformance.errors import UsageError
from conformance.report import Report
from conformance.search import Faults
from conformance.suite import Pace, machine, shard, sharding
from conformance.suite.machine import SEARCHES, SearchTally, search
from conformance.suite.rows import RowRunner
from conformance.suite.shard import Answer, Clean, Order, Work
from conformance.suite.sharding import Shards, setting_of
from conformance.verdict import MACHINE, Counterexample, Verdict
from statemachines.compile import load
from statemachines.lifecycle import Row
from statemachines.rows import RowCompiler
from tests.conformance.remote.leftovers import nothing_left
from tests.conformance.suite.test_pace import LastOutcomeCounts
from tests.conformance.systems import BRIEF, adapted
from tests.faulty.task_progress import FAULTY

WITHOUT_THREADS = "N*,E1,E2,E3,E4,E5,X1,X2,X3"


class Alone(LastOutcomeCounts):
    """It makes no calls at once, so that two runs do the same to the last byte."""

    declares: ClassVar = {"concurrency": "none"}


class Ends(Alone):
    """A process that runs it in a row of its own ends with it."""

    def progress(self, task: str) -> Any:
        import os
        import sys

        if "conformance.suite.shard" in sys.modules and "pytest" not in sys.modules:
            os._exit(9)
        return super().progress(task)


def settled(report: Report) -> list[dict[str, Any]]:
    """The records of a report, without what two runs need not share."""
    records = [json.loads(line) for line in report.dump().splitlines()]
    return [{name: each for name, each in record.items() if name not in ("timing", "schedule")} for record in records]


def ran(system: Any, workers: int, rows: str | None = WITHOUT_THREADS) -> list[dict[str, Any]]:
    return settled(conformance.run("task-progress", system, rows=rows, quick=True, workers=workers))


@pytest.fixture
def run_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The rows and searches that this process has run."""
    here: list[str] = []
    of_row, of_search = RowRunner.run, machine.search

    def row(self: RowRunner, row: Row) -> Any:
        here.append(row.id.text)
        return of_row(self, row)

    def search(runner: RowRunner, name: str, *rest: Any) -> None:
        here.append(name)
        of_search(runner, name, *rest)

    monkeypatch.setattr(RowRunner, "run", row)
    monkeypatch.setattr(machine, "search", search)
    return here


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [WITHOUT_THREADS, None])
@pytest.mark.parametrize("workers", [2, 3])
def test_the_report_is_the_same_whatever_the_number(workers: int, rows: str | None, run_here: list[str]) -> None:
    one = ran(Alone, 1, rows)
    failed = {record["id"] for record in one if record.get("verdict") == "fail"}
    assert failed
    run_here.clear()
    assert ran(Alone, workers, rows) == one
    assert {each for each in run_here if each not in SEARCHES} == failed - {MACHINE}


def test_of_a_system_that_conforms_nothing_is_run_here(run_here: list[str]) -> None:
    assert conformance.run("task-progress", "reference", rows="N1,N2,E5,machine", quick=True, workers=2).ok
    assert run_here == []


class Slow(Alone):
    """Each of its calls takes a while."""

    def status(self, task: str) -> Any:
        time.sleep(0.03)
        return super().status(task)


@pytest.mark.thorough
def test_what_another_process_finds_in_time_counts() -> None:
    with prepared("task-progress", Slow, rows="machine", workers=2, pace=Pace(seconds=12.0)) as run:
        assert [each.verdict for each in run.go().rows] == [Verdict.FAIL]


def test_what_another_process_has_found_is_sought_here_though_the_time_is_used_up() -> None:
    with adapted(Alone, load("task-progress")) as adapter:
        runner = runner_of(adapter, USUAL.quick())
        faults = Faults(runner.broken_calls)
        machine._rounds(runner, faults, [], set(), lambda coming: machine.ShowedWrong(), lambda: 0.0)
        assert faults.found


class Begins(Alone):
    """It takes for ever to begin in a process of its own."""

    def __init__(self) -> None:
        if "conformance.suite.shard" in sys.modules and "pytest" not in sys.modules:
            time.sleep(300)
        super().__init__()


def test_nobody_waits_for_a_process_that_does_not_begin() -> None:
    with prepared("task-progress", Begins, rows="N1,N2", workers=2) as run, run.shards() or nullcontext() as shards:
        assert shards is not None
        assert shards._begin([Work("N1"), Work("N2")], run._runner.known)
        until = time.monotonic() + 20
        while len(shard._PROCESSES._of.get(shards.setting.run, [])) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        began = time.monotonic()
    assert time.monotonic() - began < 30


class Restarting:
    """A cluster whose only worker is away at first; this process is its worker then."""

    address = "nowhere"

    def __init__(self) -> None:
        self.back = time.monotonic() + 0.5
        self.executor = ThreadPoolExecutor(1)

    @property
    def lanes(self) -> int:
        """How many threads it has."""
        return int(time.monotonic() > self.back)

    def tell(self, function: Any, *given: Any) -> None:
        """Call a function on its worker."""
        function(*given)


def test_a_worker_that_is_away_for_a_moment_is_waited_for(monkeypatch: pytest.MonkeyPatch, run_here: list[str]) -> None:
    monkeypatch.setattr(sharding, "PAUSE", 0.1)
    with adapted("reference", load("task-progress")) as adapter:
        runner = runner_of(adapter)
        cluster: Any = Restarting()
        with Shards(setting_of(runner), 1, cluster) as shards:
            (row,) = shards.rows(runner, [runner.compiled.lifecycle.rows["N1"]], endless=None)
            assert [each.verdict for each in row()] == [Verdict.PASS]
    assert run_here == []


def test_a_process_elsewhere_finds_the_kit_where_it_has_it_itself() -> None:
    """On another machine Python need not lie where the one lies that asks."""
    with adapted("reference", load("task-progress")) as adapter:
        setting = replace(setting_of(runner_of(adapter)), path=())
        assert shard.refusal(setting) == ""
        shard.end_all(setting.run)


def test_a_process_that_finds_another_text_of_the_spec_runs_nothing() -> None:
    with adapted("reference", load("task-progress")) as adapter:
        setting = setting_of(runner_of(adapter))
        older = replace(setting, spec=replace(setting.spec, says="0123456789abcdef"))
        assert "says something else than where this began" in shard.refusal(older)
        shard.end_all(setting.run)


def test_a_process_that_nobody_asks_for_long_ends_and_another_one_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "UNASKED_SECONDS", 0.1)
    (orders, ask), (answers, answer) = os.pipe(), os.pipe()
    with adapted("reference", load("task-progress")) as adapter:
        runner = runner_of(adapter)
        setting = setting_of(runner)
        with os.fdopen(orders, "rb") as asked, os.fdopen(ask, "wb") as asking, os.fdopen(answer, "wb") as told:
            pickle.dump(setting, asking)
            asking.flush()
            shard.serve(asked, told)
        with os.fdopen(answers, "rb") as said:
            assert pickle.load(said) == ""
        assert shard.refusal(setting) == ""
        (process,) = shard._PROCESSES._of[setting.run]
        process._process.kill()  # as if it had ended by itself
        process._process.wait()
        assert isinstance(shard.asked(setting, Order(Work("N1"), runner.known)), Clean)
        shard.end_all(setting.run)


def test_what_cannot_be_asked_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with adapted(Alone, load("task-progress")) as adapter:
        runner = runner_of(adapter)
        setting = setting_of(runner)
        with nothing_left():
            order = Order(Work("N1"), lambda: None)  # type: ignore[arg-type]  # what no pipe takes
            assert shard.asked(setting, order) is None
            shard.end_all(setting.run)
            assert shard.asked(setting, Order(Work("N1"), runner.known)) is None  # nor does another one begin


@pytest.mark.thorough
@pytest.mark.parametrize("system", FAULTY[:3], ids=lambda system: system.__name__)
def test_the_report_of_a_wrong_system_is_the_same(system: type) -> None:
    assert ran(system, 2) == ran(system, 1)


@pytest.mark.thorough
def test_what_a_process_that_ends_has_left_is_run_here() -> None:
    assert [row.get("verdict") for row in ran(Ends, 2)] == [row.get("verdict") for row in ran(Alone, 1)]


def test_a_system_of_a_prompt_or_a_function_is_refused_before_anything_runs() -> None:
    class Here(Alone):
        """Another process does not find it."""

    def made_here() -> Alone:
        return Alone()

    with pytest.raises(UsageError, match="put it into a module, or run it with one"):
        conformance.run("task-progress", Here, rows="N1", workers=2)
    with pytest.raises(UsageError, match="cannot be run on several processes"):
        conformance.run("task-progress", made_here, rows="N1", workers=2)


@pytest.mark.parametrize("workers", [0, -1, True, "2", 1000])
def test_what_is_no_number_of_processes_is_refused(workers: Any) -> None:
    with pytest.raises(UsageError, match="number of processes from 1 to 256"):
        conformance.run("task-progress", Alone, rows="N1", workers=workers)


def runner_of(adapter: Any, budget: Budget = BRIEF) -> RowRunner:
    compiled = load("task-progress")
    return RowRunner(compiled, RowCompiler(compiled.lifecycle), adapter, budget=budget)


def test_a_row_that_shows_something_wrong_is_not_clean_and_leaves_nothing_behind() -> None:
    with adapted(Alone, load("task-progress")) as adapter:
        runner = runner_of(adapter)
        before = runner.known
        rows = runner.compiled.lifecycle.rows
        assert runner.clean(rows["E5"]) is None
        assert runner.known == before
        assert runner.clean(rows["N1"]) is not None
        assert runner.run(rows["E5"]).verdict is Verdict.FAIL


@pytest.mark.thorough
def test_a_process_that_nobody_waits_for_leaves_nothing_of_its_system(tmp_path: Path) -> None:
    """A system of another process that does not end by itself, whose shard is ended in the middle of a row."""
    (tmp_path / "stays.py").write_text(STAYS, encoding="utf-8")
    target = f"stdio:{sys.executable} {tmp_path / 'stays.py'}"
    with nothing_left(), prepared("task-progress", target, workers=2) as run, run.shards() or nullcontext() as shards:
        assert shards is not None
        rows = [Work(name) for name, row in run.compiled.lifecycle.rows.items() if row.level == "must"]
        shards._begin(rows[:8], run._runner.known)
        until = time.monotonic() + 20
        while len(list((tmp_path).glob("begun-*"))) < 2 and time.monotonic() < until:
            time.sleep(0.05)
    assert len(list(tmp_path.glob("begun-*"))) >= 2


@pytest.mark.thorough
def test_another_round_of_a_search_comes_to_the_same_elsewhere_and_one_in_vain_ends_in_silence(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with prepared("task-progress", "reference", rows="machine", quick=True, workers=2) as run:
        with run.shards() or nullcontext() as shards:
            assert shards is not None
            found = shards.search(run._runner, iter([("walks", 1), ("pairs", 1), ("walks", 2), ("walks", 3)]))
            waiting = {order.work for order in shards._running.values()}  # nobody waits for it, whichever it is by now
            assert waiting
            assert waiting <= {Work("pairs", 1), Work("walks", 2), Work("walks", 3)}
        here = SearchTally(Counter())
        search(run._runner, "walks", Faults(run._runner.broken_calls), here, 1)
    assert found == here
    assert here.judged > 0
    assert capfd.readouterr().err == ""


@pytest.mark.thorough
def test_a_search_that_sees_what_is_only_recommended_broken_has_to_be_made_here() -> None:
    target = "python:tests.faulty.thread_job.isolation:UnknownIsToldApart"
    with (
        prepared("thread-job", target, rows="machine", quick=True, workers=2) as run,
        run.shards() or nullcontext() as shards,
    ):
        assert shards is not None
        assert isinstance(shards.search(run._runner, iter([("walks", 0)])), machine.ShowedWrong)


STAYS = """
import json, os, pathlib, sys, time

for line in sys.stdin:
    asked = json.loads(line)
    answer = {"protocol": 1, "declares": {}} if asked["method"] == "hello" else None
    if asked["method"] == "create_task":
        (pathlib.Path(__file__).parent / f"begun-{os.getpid()}").touch()
        time.sleep(1)
    try:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
    except BrokenPipeError:
        break
time.sleep(300)
"""


def test_what_was_run_ahead_on_less_than_is_known_is_void() -> None:
    """Once a cause is told, rows that were run without knowing it are ordered again."""
    with adapted(Alone, load("task-progress")) as adapter:
        runner = runner_of(adapter)
        shards = Shards(setting_of(runner), 1)
        nothing = runner.known
        first, second = Work("N1"), Work("N2")
        shards._made[first] = (nothing, None)
        shards._made[second] = (nothing, Clean(None, SearchTally(), frozenset()))
        assert shards._is_made(second, nothing)
        runner.told["operations.finish.otherwise"] = Counterexample("", 1, "operations.finish.otherwise", "", "")
        assert not shards._is_made(second, runner.known)
        assert shards._is_made(first, runner.known)  # it is run here in any case


@pytest.mark.parametrize(
    ("name", "round_", "lanes", "part"),
    [
        ("stateful", 0, 1, 1 / 3),
        ("walks", 0, 1, 1 / 2),
        ("pairs", 0, 1, 1),
        ("stateful", 0, 2, 2 / 3),
        ("walks", 0, 2, 1),
        ("stateful", 0, 3, 1),
        ("walks", 1, 1, 1),
    ],
)
def test_in_the_first_round_a_search_leaves_some_of_the_time_to_those_that_come_after_it(
    name: str, round_: int, lanes: int, part: float
) -> None:
    assert machine.share(machine.SEARCHES, name, round_, lanes) == part


def test_a_search_elsewhere_is_given_its_part_of_the_time() -> None:
    class Asked:
        def submit(self, _: object, __: object, order: Order) -> Future[Answer]:
            orders.append(order)
            return Future()

    orders: list[Order] = []
    with adapted(Alone, load("task-progress")) as adapter:
        runner = runner_of(adapter)
        shards = Shards(setting_of(runner), 2, left=lambda: 30.0)
        shards._executor = Asked()  # type: ignore[assignment]  # nobody is asked
        shards._begin([Work("stateful"), Work("walks"), Work("pairs")], runner.known)
    assert [each.seconds for each in orders] == [20.0, 30.0]


def test_what_time_cut_short_elsewhere_is_a_part_here_as_well() -> None:
    whole, cut = SearchTally(), SearchTally(part=True)
    whole.add(cut)
    assert whole.part
