"""What somebody has who imports `conformance`: run, replay and testcase, their values, and one error for bad input."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

import conformance
import statemachines
from conformance.command.cli import main
from conformance.demo import EvictsFirstStarted
from conformance.references.job import Jobs
from conformance.references.thread_job import ThreadJobs
from conformance.suite import MACHINE
from conformance.verdict import Verdict
from tests.conformance.systems import thread_job

ROOT = Path(__file__).parents[2]
HEAVY = {"hypothesis", "jsonschema", "pytest", "rich", "yaml"}


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after this code."""
    show = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", show], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("code", ["import conformance", "from conformance import Refused"])
def test_who_writes_an_adapter_does_not_wait_for_the_kit(code: str) -> None:
    modules = loaded_by(code)
    assert not modules & HEAVY
    assert {name for name in modules if name.startswith(("conformance.", "statemachines"))} == {"conformance.refused"}


@pytest.mark.parametrize("name", conformance.__all__)
def test_everything_that_the_door_offers_is_there_and_documented(name: str) -> None:
    offered = getattr(conformance, name)
    assert offered.__doc__
    assert offered.__name__ == name
    assert name in dir(conformance)


def test_the_version_is_that_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"conformance {conformance.__version__}\n"


def test_who_loads_a_life_cycle_that_there_is_not_is_told_which_may_be_meant() -> None:
    with pytest.raises(LookupError, match=r"no lifecycle is named 'thread-jo'; known: .*; did you mean 'thread-job'"):
        statemachines.load("thread-jo")


def test_what_the_door_does_not_offer_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'conformance' has no attribute 'runs'"):
        conformance.runs  # type: ignore[attr-defined]  # noqa: B018 - what is not there is asked for


def test_rows_are_run_and_told_in_the_order_of_the_spec() -> None:
    report = conformance.run("task-progress", "reference", rows="E1,N2,N1", quick=True)
    assert [planned.id for planned in report.header.rows] == ["N1", "N2", "E1"]
    assert [row.id for row in report.rows] == ["N1", "N2", "E1"]


@pytest.mark.thorough
def test_a_type_checker_sees_what_a_run_returns(tmp_path: Path) -> None:
    file = tmp_path / "asks.py"
    file.write_text(
        "import conformance\n"
        "reveal_type(conformance.run('thread-job', 'reference'))\n"
        "reveal_type(conformance.replay('x.yaml', 'reference').rows)\n"
        "reveal_type(conformance.testcase('thread-job', 'reference'))\n"
        "conformance.run('thread-job', 'reference', rows=3)\n",
        encoding="utf-8",
    )
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", str(file)]
    told = subprocess.run(mypy, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    assert 'Revealed type is "conformance.report.report.Report"' in told
    assert 'Revealed type is "tuple[conformance.suite.replays.Replayed, ...]"' in told
    assert 'Revealed type is "type[unittest.case.TestCase]"' in told
    assert 'Argument "rows" to "run" has incompatible type "int"' in told
    assert told.count("error:") == 1


# --- run --------------------------------------------------------------------------------------------------


def test_a_report_of_a_right_system_says_so_and_shows_every_row() -> None:
    report = conformance.run("thread-job", "reference", rows="N*")
    assert (report.ok, report.exit, report.finished) == (True, 0, True)
    assert [row.id for row in report.rows] == [row for row in thread_job().lifecycle.rows if row[0] == "N"]
    assert {row.verdict for row in report.rows} == {conformance.Verdict.PASS}
    told = repr(report)
    assert str(report) == told
    for row in report.rows:
        assert f"  pass            {row.id:<4} {row.about}" in told
    assert told.startswith("thread-job revision 1 against reference\n")
    assert told.endswith("reference conforms to thread-job: 10 rows held.\nexit 0")


@pytest.mark.thorough
def test_a_report_of_a_wrong_system_shows_the_counterexample() -> None:
    report = conformance.run("thread-job", EvictsFirstStarted, rows=["N1", "B7"])
    assert (report.ok, report.exit) == (False, 1)
    found = report["B7"].counterexample
    assert found is not None
    assert report["N1"].counterexample is None
    told = repr(report)
    assert f"expected  {found.expected}\n  seen      {found.seen}\n" in told
    assert "        - started = repeat(21, start(t1, fresh, bash))\n" in told
    assert f"against {report.header.target} --rows B7\n" in told
    assert told.endswith(f"{report.header.target} violates 1 row of thread-job: B7.\nexit 1")


def test_a_report_is_a_value() -> None:
    report = conformance.run("thread-job", ThreadJobs, rows="N1")
    with pytest.raises(FrozenInstanceError):
        report.rows = ()  # type: ignore[misc]  # a value cannot be changed
    with pytest.raises(KeyError, match="N2"):
        report["N2"]


def made() -> ThreadJobs:
    """A function that makes an object, as a class does."""
    return ThreadJobs()


@pytest.mark.parametrize(
    "system",
    ["reference", "python:conformance.references.thread_job:ThreadJobs", ThreadJobs, made],
)
def test_a_system_is_a_class_a_function_or_the_text_of_a_target(system: Any) -> None:
    report = conformance.run("thread-job", system, rows="N1")
    assert report.ok
    assert report.header.target == (system if isinstance(system, str) else report.header.target)


@pytest.mark.parametrize("rows", ["N1,E4", ["N1", "E4"], ("E4,N1",), "[NE][14]"])
def test_rows_are_a_pattern_or_several(rows: Any) -> None:
    report = conformance.run("thread-job", "reference", rows=rows)
    assert {row.id for row in report.rows} >= {"N1", "E4"}
    assert MACHINE not in {row.id for row in report.rows}


def test_the_same_seed_gives_the_same_report_and_another_seed_is_told() -> None:
    one, same, other = (
        conformance.run("thread-job", "reference", rows="N4", seed=seed, quick=True) for seed in (3, 3, 4)
    )
    assert (one.header, one["N4"].runs) == (same.header, same["N4"].runs)
    assert other.header.seed == 4


FAULTY_SPEC = "lifecycle: x\nversion: 1\nabout: A.\nentites: {}\n"
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a life cycle that there is not": (
        lambda: conformance.run("thread-jbo", "reference"),
        "no lifecycle is named 'thread-jbo'; .* did you mean 'thread-job'",
    ),
    "a file that there is not": (
        lambda: conformance.run(Path("nothing.yaml"), "reference"),
        "the spec has faults\nnothing.yaml:1:1: error",
    ),
    "a spec with faults": (lambda: conformance.run("faulty.yaml", "reference"), "faulty.yaml:4:1: error"),
    "a row that there is not": (
        lambda: conformance.run("thread-job", "reference", rows=["N1", "N99"]),
        "no row of thread-job is called 'N99'; did you mean 'N9'",
    ),
    "no row": (lambda: conformance.run("thread-job", "reference", rows=[]), "name at least one row"),
    "an empty pattern": (
        lambda: conformance.run("thread-job", "reference", rows=" "),
        "name at least one row",
    ),
    "a target that there is not": (
        lambda: conformance.run("thread-job", "refrence"),
        "'refrence' is no target; write reference or model or python:module:Class or stdio:COMMAND or http://HOST:PORT or cli:FILE.yaml",
    ),
    "a class that there is not": (
        lambda: conformance.run("thread-job", "python:json:Jobs"),
        "json has no 'Jobs'",
    ),
    "an object": (
        lambda: conformance.run("thread-job", ThreadJobs()),  # type: ignore[arg-type]  # as a beginner may do
        "is no system; give a class, a function that makes an object, or the text of a target",
    ),
    "a counterexample that there is not": (
        lambda: conformance.replay("nothing.yaml", "reference"),
        "the counterexample has faults\nnothing.yaml:1:1: error",
    ),
    "a counterexample that is none": (
        lambda: conformance.replay("faulty.yaml", "reference"),
        "this is not a counterexample",
    ),
    "a test case of no row": (
        lambda: conformance.testcase("thread-job", "reference", rows="Q*"),
        "no row of thread-job is called 'Q",
    ),
    "a test case of an object": (
        lambda: conformance.testcase("thread-job", 3),  # type: ignore[arg-type]  # the same
        "3 is no system",
    ),
}
RUN_WRONGLY: list[tuple[dict[str, Any], str]] = [
    ({"fail_on": "shoud"}, "fail_on is 'shoud', and it is one of 'must' and 'should'"),
    ({"fail_on": "may"}, "fail_on is 'may'"),
    ({"save": 3}, "save is 3, and it is a folder"),
    ({"seed": "x"}, "seed is 'x', and a seed is a whole number"),
    ({"seed": 1.5}, "seed is 1.5, and"),
    ({"rows": 3}, r'rows is 3, and it is a pattern or a list of patterns: "N1,E\*"'),
    ({"rows": ["N1", 3]}, r"rows is \['N1', 3\], and"),
    *(({"call_limit": limit}, f"call_limit is {limit!r}, .*at most 3600 seconds") for limit in ("3", 0, -1, None)),
    ({"call_limit": float("nan")}, "call_limit is nan, and"),
]


@pytest.mark.parametrize(("arguments", "said"), RUN_WRONGLY, ids=repr)
def test_an_argument_of_another_kind_is_told_before_the_system_is_asked(arguments: dict[str, Any], said: str) -> None:
    made: list[object] = []
    callers: dict[Callable[..., object], list[str]] = {
        conformance.run: ["rows", "seed", "fail_on", "call_limit"],
        conformance.testcase: ["rows", "seed"],
        partial(conformance.replay, "nothing.yaml"): ["call_limit"],
    }
    for caller, known in callers.items():
        if set(arguments) <= set(known):
            life_cycle = () if isinstance(caller, partial) else ("thread-job",)
            with pytest.raises(conformance.UsageError, match=said):
                caller(*life_cycle, lambda: made.append(1), **arguments)
    assert made == []


@pytest.mark.parametrize(("call", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_used_raises_one_error_that_says_why(
    call: Callable[[], object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("faulty.yaml").write_text(FAULTY_SPEC, encoding="utf-8")
    with pytest.raises(conformance.UsageError, match=said) as caught:
        call()
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_system_that_cannot_be_made_is_no_verdict() -> None:
    class Unmade(ThreadJobs):
        def __init__(self) -> None:
            raise OSError("no database")

    with pytest.raises(conformance.HarnessError, match="the constructor raised OSError: no database"):
        conformance.run("thread-job", Unmade, rows="N1")


# --- replay -----------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_counterexample_that_was_saved_fails_again_and_is_fixed_by_a_right_system(tmp_path: Path) -> None:
    conformance.run("thread-job", EvictsFirstStarted, rows="B7,N1", save=tmp_path)
    (file,) = tmp_path.iterdir()
    again = conformance.replay(file, EvictsFirstStarted)
    assert (again.ok, again.exit) == (False, 1)
    assert repr(again).startswith("C1 of B7: still fails: expected ")
    mended = conformance.replay(str(file), "reference")
    assert (mended.ok, mended.exit, repr(mended)) == (True, 0, "C1 of B7: fixed")
    assert [row.id for row in mended.rows] == ["C1"]


class TakenIdIsAnother(Jobs):
    """Who asks for an id that is taken gets one of the system's own; nothing is declared about that."""

    declares: ClassVar = {**Jobs.declares, "policies": {}}

    def _free_id(self, preferred: str) -> str:
        return super()._free_id("" if self._taken(preferred) else preferred)


def test_what_breaks_a_choice_that_is_only_recommended_fails_again_when_it_is_replayed(tmp_path: Path) -> None:
    report = conformance.run("job", TakenIdIsAnother, rows="E24", save=tmp_path)
    (row,) = report.rows
    assert row.verdict is Verdict.FAIL
    assert row.counterexample is not None
    assert row.counterexample.clause == "policies.wanted_id"
    assert conformance.replay(tmp_path / "job-E24.yaml", TakenIdIsAnother).exit == 1
    assert conformance.replay(tmp_path / "job-E24.yaml", "reference").exit == 0


def replay_lines(report: conformance.Report) -> list[str]:
    return [line.split(maxsplit=1)[1] for line in repr(report).splitlines() if line.startswith("  replay ")]


@pytest.mark.thorough
def test_a_report_says_how_its_saved_counterexample_is_played_again(tmp_path: Path) -> None:
    """From a shell if a command can name the system, else from Python, and not at all where nothing can."""
    target = f"python:{EvictsFirstStarted.__module__}:{EvictsFirstStarted.__name__}"
    saved = tmp_path / "thread-job-B7.yaml"
    report = conformance.run("thread-job", EvictsFirstStarted, rows="B7", save=tmp_path)
    assert replay_lines(report) == [f"conformance replay {saved} --against {target}"]

    class AtThePrompt(EvictsFirstStarted):
        """A class that no module has."""

    prompted = type("Prompted", (EvictsFirstStarted,), {"__module__": "__main__"})
    for system in (AtThePrompt, prompted, lambda: EvictsFirstStarted()):  # noqa: PLW0108 - as somebody may write it
        report = conformance.run("thread-job", system, rows="B7", save=tmp_path)
        assert replay_lines(report) == [f'conformance.replay("{saved}", …)']
        assert replay_lines(conformance.run("thread-job", system, rows="B7")) == []


# --- the command ------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_command_prints_what_the_function_returns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written = tmp_path / "report.jsonl"
    target = f"python:{EvictsFirstStarted.__module__}:{EvictsFirstStarted.__name__}"
    options = ["--against", target, "--rows", "B7", "--seed", "5", "--report", str(written)]
    assert main(["run", "thread-job", *options]) == 1
    capsys.readouterr()
    assert main(["show", str(written)]) == 0
    shown = capsys.readouterr().out
    report = conformance.run("thread-job", EvictsFirstStarted, rows="B7", seed=5)
    assert without_times(shown) == without_times(f"{report}\n")


def without_times(text: str) -> list[str]:
    """The lines of a report but for how long things took."""
    return [
        line.rpartition(", ")[0] if "ms)" in line or "s)" in line else line
        for line in text.splitlines()
        if "s in all" not in line
    ]


def test_a_row_that_is_no_part_of_a_report_is_told_with_what_there_is() -> None:
    report = conformance.run("task-progress", "reference", rows="N1,N2")
    with pytest.raises(KeyError, match="the run did not ask for a row 'N11'; did you mean"):
        report["N11"]
    with pytest.raises(KeyError, match="the run did not ask for a row 'E9'; there are N1 and N2"):
        report["E9"]
    with pytest.raises(KeyError, match="N2 has no result: the run did not come to it"):
        replace(report, rows=report.rows[:1])["N2"]


@pytest.mark.parametrize("quick", ["yes", 1, None])
def test_quick_is_true_or_false_and_nothing_else(quick: Any) -> None:
    with pytest.raises(conformance.UsageError, match=f"quick is {quick!r}, and it is True or False"):
        conformance.run("task-progress", "reference", rows="N1", quick=quick)
    with pytest.raises(conformance.UsageError, match="quick is"):
        conformance.testcase("task-progress", "reference", quick=quick)
