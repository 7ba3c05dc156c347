"""The command line: what each command prints and gives, and that whatever is wrong is said in one line."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from conformance.__about__ import __version__
from conformance.budget import USUAL
from conformance.command import cli, commands
from conformance.command.cli import main
from conformance.command.explain import explain_row
from conformance.report import junit_xml
from conformance.report import reader as report_reader
from conformance.report.records import Header, line
from conformance.report.render import FORMS
from conformance.suite import read, replay
from conformance.suite.machine import ABOUT_MACHINE
from conformance.suite.trace_file import Saver, save
from conformance.verdict import (
    EXIT_CONFORMS,
    EXIT_HARNESS,
    EXIT_UNKNOWN,
    EXIT_USAGE,
    EXIT_VIOLATES,
    MACHINE,
    UNSURE,
    Counterexample,
    RowResult,
    Verdict,
)
from statemachines.compile import load
from statemachines.specs import shipped, spec_path
from tests.conformance.systems import REFERENCE, adapted, thread_job
from tests.one_text import one_text
from tests.right.thread_job.realclock import RealClockJobs

ROOT = Path(__file__).parents[3]
PLANTED = "python:conformance.demo:EvictsFirstStarted"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, where a command writes what it writes; its modules can be imported by name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def ran(*arguments: str) -> int:
    try:
        return main(arguments)
    except SystemExit as ended:  # argparse ends the process by itself
        return int(ended.code or 0)


@dataclass(frozen=True)
class Ended:
    """What came of a process."""

    code: int
    out: str
    err: str


def commands_at_once(*each: tuple[str, ...], seeds: Sequence[str] = ("1", "2")) -> list[Ended]:
    """Commands as processes of their own, with other hash seeds, all at once."""
    started = []
    for seed, arguments in zip(seeds, each, strict=True):
        more = {
            "PYTHONPATH": f"{ROOT}{os.pathsep}{Path.cwd()}",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONHASHSEED": seed,
        }
        line = [sys.executable, "-m", "conformance", *arguments]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(line, stdout=pipe, stderr=pipe, encoding="utf-8", env={**os.environ, **more}))
    answers = [process.communicate() for process in started]
    return [Ended(process.returncode, *answer) for process, answer in zip(started, answers, strict=True)]


# --- what cannot be used ----------------------------------------------------------------------------------

RUN = ("run", "thread-job", "--against")

USAGE: list[tuple[tuple[str, ...], str]] = [
    (("walk",), "invalid choice: 'walk'"),
    (("chek",), "argument COMMAND: invalid choice: 'chek'; did you mean 'check'?"),
    (("run",), "the following arguments are required: LIFECYCLE, --against; `conformance run --help` tells more"),
    (("run", "thread-job"), "the following arguments are required: --against"),
    ((*RUN, "reference", "--rows", ""), "name at least one row, for example N1,E*"),
    ((*RUN, "reference", "--rows", " , "), "name at least one row, for example N1,E*"),
    ((*RUN, "reference", "--rows", "N99"), "no row of thread-job is called 'N99'; did you mean 'N9'?"),
    ((*RUN, "reference", "--rows", "N1,zzz"), "no row of thread-job is called 'zzz'; there are N1, N2"),
    ((*RUN, "reference", "--rows", "machin"), "did you mean 'machine'?"),
    ((*RUN, "reference", "--seed", "one"), "argument --seed: invalid int value: 'one'"),
    ((*RUN, "reference", "--seed", "1.5"), "argument --seed: invalid int value: '1.5'"),
    ((*RUN, "reference", "--fail-on", "may"), "argument --fail-on: invalid choice: 'may'"),
    ((*RUN, "reference", "--call-limit", "soon"), "'soon' is not a number of seconds"),
    ((*RUN, "reference", "--call-limit", "0"), "a limit is more than 0 and at most 3600 seconds"),
    ((*RUN, "reference", "--call-limit", "-1"), "a limit is more than 0 and at most 3600 seconds"),
    ((*RUN, "reference", "--call-limit", "nan"), "a limit is more than 0 and at most 3600 seconds"),
    ((*RUN, "reference", "--call-limit", "inf"), "a limit is more than 0 and at most 3600 seconds"),
    ((*RUN, "reference", "--budget", "0"), "'0' is no time; write 90, 90s, 5m or 1h"),
    ((*RUN, "reference", "--quic"), "unrecognized arguments: --quic"),
    ((*RUN, "reference", "--report", "no/such/folder.jsonl"), "cannot be written: No such file or directory"),
    ((*RUN, "reference", "--report", "."), "cannot be written: Is a directory"),
    ((*RUN, "reference", "--junit", "no/such/folder.xml"), "cannot be written: No such file or directory"),
    (("run", "thread-jbo", "--against", "reference"), "did you mean 'thread-job'?"),
    (("run", "no/such/spec", "--against", "reference"), "there is no file or folder no/such/spec"),
    (("run", "", "--against", "reference"), "no lifecycle is named ''; known: "),
    (("run", "nothing.yaml", "--against", "reference"), "nothing.yaml:1:1: error [file-not-found]"),
    (("run", ".yaml", "--against", "reference"), ".yaml:1:1: error [file-not-found]"),
    ((*RUN, "refrence"), "'refrence' is no target; write reference or model or python:module:Class"),
    ((*RUN, ""), "'' is no target"),
    ((*RUN, "python"), "'python' is no target"),
    ((*RUN, "ftp:jobs"), "'ftp:jobs' is no target"),
    (("list", "thread-jbo"), "did you mean 'thread-job'?"),
    (("check",), "the following arguments are required: SPEC"),
    (
        ("check", "thread-jbo"),
        "give a shipped name, or the path of a YAML file or of a folder with rules.yaml",
    ),
    (
        ("explain", "thread-job", "N99"),
        "thread-job has no row, operation, limit, policy, signal, part or clause 'N99'; did you mean 'N9'?",
    ),
    (("explain", "thread-job", "operations.finsh"), "did you mean 'operations.finish"),
    (("explain", "thread-job", "§"), "`conformance explain thread-job` lists them"),
    (("explain", "thread-jbo"), "did you mean 'thread-job'?"),
    (("generate", "thread-jbo"), "did you mean 'thread-job'?"),
    (("generate", "thread-job", "--output", "no/such/folder.py"), "cannot be written"),
    (("draw", "thread-jbo"), "did you mean 'thread-job'?"),
    (("adapter", "thread-jbo"), "did you mean 'thread-job'?"),
    (("adapter", "thread-job", "--language", "cobol"), "invalid choice: 'cobol'"),
    (("demo", "thread-jbo"), "did you mean 'thread-job'?"),
    (("replay", "nothing.yaml", "--against", "reference"), "nothing.yaml:1:1: error [file-not-found]"),
    (("replay", "nothing.yaml"), "the following arguments are required: --against"),
]


@pytest.mark.parametrize(("arguments", "said"), USAGE, ids=[" ".join(arguments) or "nothing" for arguments, _ in USAGE])
def test_what_cannot_be_used_is_said_with_what_to_do_instead(
    arguments: tuple[str, ...], said: str, capsys: Capture
) -> None:
    code = ran(*arguments)
    out, err = capsys.readouterr()
    assert (code, out) == (EXIT_USAGE, "")
    assert said in err
    assert "Traceback" not in err
    assert err.startswith(("conformance: ", *(f"conformance {name}: " for name in arguments[:1])))
    assert len(err.splitlines()) <= 3


def test_without_a_command_there_is_help(capsys: Capture) -> None:
    assert ran() == EXIT_USAGE
    out, err = capsys.readouterr()
    assert (out.startswith("usage: conformance"), err) == (True, "")


# --- what cannot be reached -------------------------------------------------------------------------------

MODULES = {
    "breaks": "raise OSError('no such device')",
    "misspelt": "def jobs(:",
    "needs": "import a_module_that_nobody_has",
    "leaves": "raise SystemExit(0)",
    "empty": "",
    "talks": "class Jobs:\n    declares = {'clok': 'virtual'}",
    "lies": "class Jobs:\n    declares = {'limits': {'retain': 3}}",
    "boasts": "class Jobs:\n    declares = ['clock']",
    "garbles": "class Jobs:\n    declares = {'limits': 3}",
    "refuses": "class Jobs:\n    def __init__(self):\n        raise OSError('no database')",
    "wants": "class Jobs:\n    def __init__(self, database):\n        pass",
}

NAMES_NOTHING: list[tuple[str, str]] = [
    (
        "a_module_that_nobody_has:Jobs",
        "there is no module 'a_module_that_nobody_has'; it is looked for in this",
    ),
    ("emty:Jobs", "there is no module 'emty'; it is looked for in this directory and in what is installed; "),
    ("emty:Jobs", "did you mean 'empty'?"),
    ("json", "'json' is not module:Class, for example my_jobs:MyJobs"),
    ("json:", "'json:' is not module:Class"),
    (":Jobs", "':Jobs' is not module:Class"),
    ("json:JSONDecodr", "json has no 'JSONDecodr'; did you mean 'JSONDecoder'?"),
    ("empty:Jobs", "empty has no 'Jobs'"),
    ("wants:Registry", "wants has no 'Registry'; it has Jobs"),
    ("json:__name__", "json:__name__ is str, and a class or a function that makes an object is needed"),
]
HARNESS: list[tuple[str, str]] = [
    ("needs:Jobs", "needs.py:1:1: needs cannot be imported: ModuleNotFoundError: No module named 'a_module_"),
    ("needs:Jobs", "'; is it installed here?"),
    ("breaks:Jobs", "breaks.py:1:1: breaks cannot be imported: OSError: no such device"),
    ("misspelt:Jobs", "misspelt.py:1:10: misspelt cannot be imported: SyntaxError: invalid syntax"),
    ("leaves:Jobs", "leaves.py:1:1: leaves cannot be imported: SystemExit: 0"),
    ("talks:Jobs", "talks.py:1:1: python:talks:Jobs: `declares` has no word 'clok'; did you mean 'clock'?"),
    ("lies:Jobs", "thread-job has no limit 'retain'; did you mean 'retained'?"),
    ("boasts:Jobs", "`declares` is a mapping, and this is ['clock']"),
    ("garbles:Jobs", "limits"),
]
UNREACHABLE = [
    *((*each, EXIT_USAGE) for each in NAMES_NOTHING),
    *((*each, EXIT_HARNESS) for each in HARNESS),
]


@pytest.mark.parametrize(("target", "said", "expected"), UNREACHABLE, ids=[each[0] for each in UNREACHABLE])
def test_what_cannot_be_reached_is_said_and_is_no_verdict(
    target: str, said: str, expected: int, elsewhere: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in MODULES.items():
        (elsewhere / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
    code = ran(*RUN, f"python:{target}")
    out, err = capsys.readouterr()
    assert (code, out) == (expected, "")
    assert said in err
    assert err.startswith("conformance: ")
    assert len(err.splitlines()) <= 3
    assert "Traceback" not in err


@pytest.mark.parametrize(("name", "said"), [("refuses", "OSError: no database"), ("wants", "TypeError")])
def test_a_class_that_cannot_be_made_is_told_once_before_anything_is_asked(
    name: str, said: str, elsewhere: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, name, raising=False)
    (elsewhere / f"{name}.py").write_text(MODULES[name], encoding="utf-8")
    trace = str(saved(elsewhere, "- last = turn_boundary(t1)"))
    for command in ((*RUN, f"python:{name}:Jobs"), ("replay", trace, "--against", f"python:{name}:Jobs")):
        code = ran(*command)
        out, err = capsys.readouterr()
        assert (code, out) == (EXIT_HARNESS, "")
        assert err.count("cannot be made: the constructor raised") == 1
        assert said in err
        assert "Traceback" not in err


SIGNATURES = {
    "too few": (
        "def finish(self, job, outcome): pass",
        "finish(job, outcome) cannot be called with job, outcome",
    ),
    "another name": ("def finish(self, job_id, outcome, payload): pass", "finish(job_id, outcome, payload)"),
    "one more": ("def finish(self, job, outcome, payload, why): pass", "finish(job, outcome, payload, why)"),
    "a clock": ("def wait(self): pass", "wait() cannot be called with ms"),
    "no default": ("def list_jobs(self, thread, statuses): return []", "list_jobs(thread, statuses)"),
}
WRITE = {"finish": "write `def finish(self, job, outcome, payload)`"}
WRITE["wait"] = "write `def wait(self, ms)`"
WRITE["list_jobs"] = "write `def list_jobs(self, thread, statuses=None)`"


@pytest.mark.parametrize(("method", "said"), SIGNATURES.values(), ids=SIGNATURES)
def test_a_method_that_takes_something_else_is_told_with_what_to_write(
    method: str, said: str, elsewhere: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "takes", raising=False)
    (elsewhere / "takes.py").write_text(f"class Jobs:\n    {method}\n", encoding="utf-8")
    code = ran(*RUN, "python:takes:Jobs")
    out, err = capsys.readouterr()
    assert (code, out, len(err.splitlines())) == (EXIT_HARNESS, "", 1)
    assert f"takes.py:2:5: python:takes:Jobs: {said}" in err
    assert WRITE[said.partition("(")[0]] in err


@pytest.mark.parametrize(
    "parameters",
    ["*args, **given", "**given", "job, payload, outcome, more=None", "job, *, outcome, payload"],
)
def test_a_method_may_take_more_in_any_order(
    parameters: str, elsewhere: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "takes", raising=False)
    (elsewhere / "takes.py").write_text(f"class Jobs:\n    def finish(self, {parameters}): pass\n", encoding="utf-8")
    assert ran(*RUN, "python:takes:Jobs", "--rows", "N1") == EXIT_VIOLATES
    assert "the system has no operation complete_inline" in " ".join(capsys.readouterr().out.split())


# --- specs and traces with faults -------------------------------------------------------------------------


def saved(folder: Path, step: str, lifecycle: str = "thread-job") -> Path:
    """A counterexample with one row of one step."""
    path = folder / "trace.yaml"
    path.write_text(
        f"lifecycle: {lifecycle}\nmatrix:\n  C1:\n    about: A row.\n    level: must\n    source: here\n"
        f"    covers: [operations.messages.gives]\n    act:\n      {step}\n    assert:\n      - true\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("- last = turn_boundry(t1)", r"trace\.yaml:9:16: error \[unknown-function\] .*turn_boundry"),
        ("- last = turn_boundary(t9)", r"trace\.yaml:9:30: error \[unknown-name\] .*t9"),
        ("- last = turn_boundary()", r"trace\.yaml:9:16: error \[expression-type\]"),
        ("- last = turn_boundary(t1", r"trace\.yaml:9:\d+: error \[expression-syntax\]"),
        ("\tx", r"trace\.yaml:9:\d+: error \[yaml-"),
    ],
)
def test_a_faulty_trace_is_told_with_file_line_and_column(
    step: str, fault: str, elsewhere: Path, capsys: Capture
) -> None:
    code = ran("replay", str(saved(elsewhere, step)), "--against", "reference")
    out, err = capsys.readouterr()
    assert (code, out) == (EXIT_USAGE, "")
    assert re.search(fault, err), err
    assert "hint: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "yaml-empty"),
        ("[]", "bad-counterexample"),
        ("lifecycle: thread-job\n", "bad-counterexample"),
        ("lifecycle: [x]\nmatrix: {}\n", "bad-counterexample"),
        ("lifecycle: thread-jbo\nmatrix: {}\n", "unknown-lifecycle"),
        ("lifecycle: thread-job\nmatrix: {}\n", "bad-counterexample"),
        ("lifecycle: thread-job\nmatrix: 3\n", "wrong-kind"),
        ("lifecycle: thread-job\nmatrix: []\n", "bad-value"),
        ("lifecycle: thread-job\nmatrix: {C1: {}}\n", "missing-word"),
    ],
    ids=repr,
)
def test_what_is_no_trace_is_told_with_its_place(text: str, fault: str, elsewhere: Path, capsys: Capture) -> None:
    path = elsewhere / "trace.yaml"
    path.write_text(text, encoding="utf-8")
    code = ran("replay", str(path), "--against", "reference")
    out, err = capsys.readouterr()
    assert (code, out) == (EXIT_USAGE, "")
    assert re.search(rf"trace\.yaml:\d+:\d+: error \[{fault}\]", err), err
    assert "Traceback" not in err


def faulty(folder: Path) -> Path:
    path = folder / "faulty.yaml"
    text = one_text("thread-job")
    path.write_text(text.replace("move:      running -> pending_cancel", "move:      runing -> pending_cancel"))
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "faulty.yaml", "--against", "reference"),
        ("list", "faulty.yaml"),
        ("explain", "faulty.yaml"),
        ("generate", "faulty.yaml"),
        ("draw", "faulty.yaml"),
        ("adapter", "faulty.yaml"),
        ("demo", "faulty.yaml"),
    ],
    ids=lambda value: value[0],
)
def test_a_faulty_spec_is_told_by_every_command_with_file_line_and_column(
    arguments: tuple[str, ...], elsewhere: Path, capsys: Capture
) -> None:
    number = 1 + faulty(elsewhere).read_text(encoding="utf-8").splitlines().index(
        "    move:      runing -> pending_cancel"
    )
    code = ran(*arguments)
    out, err = capsys.readouterr()
    assert (code, out) == (EXIT_USAGE, "")
    assert re.search(rf"faulty\.yaml:{number}:\d+: error \[unknown-state\]", err), err
    assert "did you mean 'running'?" in err
    assert "Traceback" not in err


def test_check_tells_every_fault_and_goes_on_to_the_next_spec(elsewhere: Path, capsys: Capture) -> None:
    (elsewhere / "small.yaml").write_text(SMALL, encoding="utf-8")
    code = ran("check", str(faulty(elsewhere)), "small.yaml")
    out, _ = capsys.readouterr()
    assert code == EXIT_USAGE
    assert re.search(r"faulty\.yaml:\d+:\d+: error \[unknown-state\]", out)
    assert "small.yaml: right." in out


SMALL = """\
lifecycle: small
version: 1
about: A job runs until it is done.
entities:
  Job:
    id: minted
    states: {active: [running], terminal: [done]}
    shows: {job_id: job.id, status: job.state}
operations:
  start:
    create: {Job: {}}
    gives: {job_id: job.id}
  finish:
    takes: {job: Job}
    move: running -> done
    otherwise: unchanged
    missing: unchanged
  inspect:
    takes: {job: Job}
    missing: refused not_found
    gives: job
matrix:
  N1:
    about: A job that is finished is done.
    level: must
    source: the handbook, chapter 3
    covers:
      - entities.Job
      - operations.start
      - operations.finish
      - operations.inspect
    act:
      - job = start()
      - finish(job.job_id)
      - finish(job.job_id)
      - finish(fresh)
      - nobody = inspect(fresh)
    assert:
      - inspect(job.job_id).status == done && inspect(job.job_id).job_id == job.job_id
      - nobody.refused == not_found
"""


def test_there_is_no_reference_of_a_lifecycle_of_ones_own(elsewhere: Path, capsys: Capture) -> None:
    (elsewhere / "small.yaml").write_text(SMALL, encoding="utf-8")
    assert ran("run", "small.yaml", "--against", "reference") == EXIT_USAGE
    assert "there is no reference implementation of small; there are: thread-job" in capsys.readouterr().err
    assert ran("demo", "small.yaml") == EXIT_USAGE
    assert "there is no demo of small; there are: thread-job" in capsys.readouterr().err


def test_a_replay_says_where_something_else_was_declared_when_the_file_was_saved(
    elsewhere: Path, capsys: Capture
) -> None:
    """It is played by what is declared now."""
    for size in (20, 30):
        (elsewhere / f"jobs_of_{size}.py").write_text(
            "from conformance.demo import EvictsFirstStarted\n\n\nclass Jobs(EvictsFirstStarted):\n"
            f'    declares = {{**EvictsFirstStarted.declares, "settles": {size}}}\n',
            encoding="utf-8",
        )
    ran("run", "thread-job", "--against", "python:jobs_of_20:Jobs", "--rows", "B7")
    capsys.readouterr()
    file = str(elsewhere / ".conformance" / "thread-job-B7.yaml")
    assert ran("replay", file, "--against", "python:jobs_of_20:Jobs") == EXIT_VIOLATES
    assert "declared" not in capsys.readouterr().out
    assert ran("replay", file, "--against", "python:jobs_of_30:Jobs") == EXIT_VIOLATES
    said = capsys.readouterr().out.splitlines()[-1]
    assert re.fullmatch(
        r"Otherwise was declared when this was saved: .* settles 20\. "
        r"It was played by what is declared now: .* settles 30\.",
        said,
    )


SMALL_JOBS = """
from conformance import Refused


class Jobs:
    def __init__(self):
        self.jobs = {}

    def start(self):
        job = str(len(self.jobs))
        self.jobs[job] = "running"
        return {"job_id": job}

    def finish(self, job):
        if job in self.jobs:
            self.jobs[job] = "done"

    def inspect(self, job):
        if job not in self.jobs:
            raise Refused("not_found")
        return {"job_id": job, "status": self.jobs[job]}
"""


def test_the_skeleton_of_a_lifecycle_of_ones_own_names_the_command_that_runs_it(
    elsewhere: Path, capsys: Capture
) -> None:
    (elsewhere / "my jobs.yaml").write_text(SMALL, encoding="utf-8")
    assert ran("adapter", "my jobs.yaml") == EXIT_CONFORMS
    assert "    conformance run 'my jobs.yaml' --against python:THIS_MODULE:MyJobs\n" in capsys.readouterr().out
    assert ran("adapter", "job") == EXIT_CONFORMS
    assert "    conformance run job --against" in capsys.readouterr().out


def test_a_run_of_a_spec_that_check_refuses_says_so(elsewhere: Path, capsys: Capture) -> None:
    """It may be the spec that is wrong where a row fails."""
    (elsewhere / "jobs_of_ones_own.py").write_text(SMALL_JOBS, encoding="utf-8")
    wrong = SMALL.replace(".status == done &&", ".status == running &&")
    for text, told in ((SMALL, ""), (wrong, "`conformance check small.yaml` refuses it: small.yaml:")):
        (elsewhere / "small.yaml").write_text(text, encoding="utf-8")
        ran("run", "small.yaml", "--against", "python:jobs_of_ones_own:Jobs", "--report", "r.jsonl", "--rows", "N1")
        run = " ".join(capsys.readouterr().out.split())
        ran("show", "r.jsonl")
        for out in (run, " ".join(capsys.readouterr().out.split())):
            assert told in out
            assert ("row-fails" in out) is bool(told)


@pytest.mark.thorough
def test_a_lifecycle_of_ones_own_runs_against_a_class(elsewhere: Path, capsys: Capture) -> None:
    (elsewhere / "small.yaml").write_text(SMALL, encoding="utf-8")
    (elsewhere / "small_jobs.py").write_text(
        "from conformance import Refused\n\n\nclass Jobs:\n"
        "    def __init__(self):\n        self.jobs = {}\n"
        "    def start(self):\n        self.jobs[job] = job = str(len(self.jobs))\n".replace(
            "self.jobs[job] = job = str(len(self.jobs))",
            "job = str(len(self.jobs)); self.jobs[job] = 'running'; return {'job_id': job}",
        )
        + "    def finish(self, job):\n        if job in self.jobs: self.jobs[job] = 'done'\n"
        "    def inspect(self, job):\n        if job not in self.jobs: raise Refused('not_found')\n"
        "        return {'job_id': job, 'status': self.jobs[job]}\n",
        encoding="utf-8",
    )
    assert ran("run", "small.yaml", "--against", "python:small_jobs:Jobs") == EXIT_CONFORMS
    assert "conforms to small: 2 rows held" in capsys.readouterr().out


# --- runs -------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_run_says_what_held_and_how_to_run_again_what_did_not(elsewhere: Path, capsys: Capture) -> None:
    assert ran(*RUN, "reference", "--rows", "N*,E1") == EXIT_CONFORMS
    out = capsys.readouterr().out
    assert out.endswith("exit 0\n")
    assert "reference conforms to thread-job: 11 rows held." in " ".join(out.split())
    code = ran(*RUN, PLANTED, "--rows", "B7", "--save", "found")
    out = capsys.readouterr().out
    assert code == EXIT_VIOLATES
    assert "violates 1 row of thread-job: B7" in " ".join(out.split())
    (path,) = (elsewhere / "found").iterdir()
    assert f"conformance replay found/{path.name} --against {PLANTED}" in " ".join(out.split())
    assert ran("replay", str(path), "--against", PLANTED) == EXIT_VIOLATES
    out = capsys.readouterr().out
    assert out.startswith("C1 of B7: still fails: expected ")
    assert "; seen " in out
    assert ran("replay", str(path), "--against", "reference") == EXIT_CONFORMS
    assert capsys.readouterr().out == "C1 of B7: fixed\n"


@pytest.mark.thorough
def test_a_counterexample_that_an_earlier_run_of_the_same_target_saved_goes(elsewhere: Path, capsys: Capture) -> None:
    (elsewhere / "jobs.py").write_text("from conformance.demo import EvictsFirstStarted as Jobs", encoding="utf-8")
    for target in ("python:jobs:Jobs", PLANTED):
        assert ran(*RUN, target, "--rows", "B7", "--save", target) == EXIT_VIOLATES
    capsys.readouterr()
    (mine,), (other,) = ((elsewhere / target).iterdir() for target in ("python:jobs:Jobs", PLANTED))
    kept = other.replace(mine.parent / other.name.replace("B7", "N2"))
    by_hand = saved(mine.parent, "- last = turn_boundary(t1)").rename(mine.parent / "thread-job-N1.yaml")
    (elsewhere / "jobs.py").write_text(
        "from conformance.references.thread_job import ThreadJobs as Jobs", encoding="utf-8"
    )
    sys.modules.pop("jobs")
    assert ran(*RUN, "python:jobs:Jobs", "--rows", "N1,N2", "--save", str(mine.parent)) == EXIT_CONFORMS
    assert (mine.exists(), kept.exists(), by_hand.exists()) == (True, True, True)
    assert ran(*RUN, "python:jobs:Jobs", "--rows", "B7", "--save", str(mine.parent)) == EXIT_CONFORMS
    assert (mine.exists(), kept.exists(), by_hand.exists()) == (False, True, True)


def test_a_run_that_is_broken_off_keeps_what_was_saved_of_the_rows_that_it_did_not_come_to(
    tmp_path: Path,
) -> None:
    lifecycle, target, found = "thread-job", "reference", Counterexample("C1:\n  about: x\n", 1, "", "", "")
    paths = [save(tmp_path, lifecycle, target, row, found) for row in ("B1", "B2")]
    saver = Saver(tmp_path)
    saver.header(Header(lifecycle, 1, target, 0))
    saver.row(RowResult("B1", "x", "must", Verdict.PASS))
    assert [path.exists() for path in paths] == [False, True]


def test_what_a_search_found_before_goes_with_its_first_result(tmp_path: Path) -> None:
    lifecycle, target, found = "thread-job", "reference", Counterexample("C1:\n  about: x\n", 1, "", "", "")
    paths = [save(tmp_path, lifecycle, target, row, found) for row in ("machine", "machine-2", "machine-4", "N1")]
    saver = Saver(tmp_path)
    saver.header(Header(lifecycle, 1, target, 0))
    for row in ("machine", "machine-2"):
        saver.row(RowResult(row, "x", "must", Verdict.FAIL, counterexample=found))
    assert [path.exists() for path in paths] == [True, True, False, True]


@pytest.mark.thorough
def test_a_saved_report_is_shown_as_the_run_was(elsewhere: Path, capsys: Capture) -> None:
    ran(*RUN, PLANTED, "--rows", "N1,B7", "--quick", "--report", "report.jsonl")
    told = capsys.readouterr().out
    assert ran("show", "report.jsonl") == EXIT_CONFORMS
    shown = capsys.readouterr().out
    replays = [line for line in told.splitlines() if line.startswith("  replay")]
    rerun = f"  replay    conformance run thread-job --against {PLANTED} --rows B7"
    assert shown == told.replace(replays[0], rerun)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "report.jsonl cannot be read: No such file or directory; `conformance run"),
        ("", "report.jsonl:1: a report begins with its one header, and this has none; `conformance run"),
        ("no json\n", "report.jsonl:1: this is not JSON"),
        ('{"record": "row"}\n', "report.jsonl:1: a report begins with its one header, and this is a row"),
    ],
    ids=["missing", "empty", "no JSON", "no header"],
)
def test_what_is_no_report_is_not_shown(text: str | None, said: str, elsewhere: Path, capsys: Capture) -> None:
    if text is not None:
        (elsewhere / "report.jsonl").write_text(text, encoding="utf-8")
    assert ran("show", "report.jsonl") == EXIT_USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "`conformance run … --report FILE` writes a report that can be shown" in err


@pytest.mark.thorough
def test_no_place_in_a_shipped_spec_tells_where_the_checkout_lies(capsys: Capture) -> None:
    for arguments in ((*RUN, PLANTED, "--rows", "B7"), ("explain", "thread-job", "B7")):
        ran(*arguments)
        out = capsys.readouterr().out
        assert "thread-job/rows/boundary.yaml:" in out
        assert str(ROOT) not in out


@pytest.mark.thorough
def test_a_counterexample_that_cannot_be_saved_is_told_all_the_same(elsewhere: Path, capsys: Capture) -> None:
    (elsewhere / "found").write_text("a file, and no folder", encoding="utf-8")
    assert ran(*RUN, PLANTED, "--rows", "B7", "--save", "found") == EXIT_VIOLATES
    out = capsys.readouterr().out
    assert "(not saved: " in out
    assert "for each r in started" in out


@pytest.mark.thorough
def test_a_should_row_that_fails_decides_only_when_it_is_asked_to(capsys: Capture) -> None:
    target = "python:tests.faulty.thread_job.retention:EvictionLosesMessage"
    assert ran(*RUN, target, "--rows", "X1") == EXIT_CONFORMS
    assert "X1 fails, which does not count: the level is not must." in " ".join(capsys.readouterr().out.split())
    assert ran(*RUN, target, "--rows", "X1", "--fail-on", "should") == EXIT_VIOLATES


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.thorough
def test_the_stream_of_a_run_is_a_report(elsewhere: Path, capsys: Capture) -> None:
    code = ran(*RUN, PLANTED, "--rows", "N1,B7,X4,machine", "--quick", "--json", "--report", "report.jsonl")
    out, err = capsys.readouterr()
    loaded = report_reader.load(out.splitlines(keepends=True))
    assert code == EXIT_VIOLATES
    assert err.startswith(f"conformance: {PLANTED} violates ")  # for who reads no record
    told = [row.id for row in loaded.rows]
    assert told[:4] == [row.id for row in loaded.header.rows] == ["N1", "B7", "X4", MACHINE]
    assert told[4:] == [
        f"{MACHINE}-{number + 2}" for number in range(len(told) - 4)
    ]  # of each fault that the search tells
    assert loaded.footer is not None
    assert loaded.footer.exit == code
    assert loaded.header.target == PLANTED
    assert (elsewhere / "report.jsonl").read_text(encoding="utf-8") == out
    assert report_reader.read(elsewhere / "report.jsonl") == loaded
    assert {path.name for path in (elsewhere / ".conformance").iterdir()} == {
        f"thread-job-{row.id}.yaml" for row in loaded.rows if row.counterexample is not None
    }
    assert loaded.dump() == out


@pytest.mark.thorough
def test_junit_has_a_test_case_for_each_row(elsewhere: Path) -> None:
    code = ran(*RUN, PLANTED, "--rows", "N*,B7,X1", "--junit", "report.xml")
    suite = ET.parse(elsewhere / "report.xml").getroot()
    cases = list(suite.iter("testcase"))
    assert code == EXIT_VIOLATES
    assert [str(case.get("name")).split()[0] for case in cases] == [f"N{n}" for n in range(1, 11)] + [
        "B7",
        "X1",
    ]
    assert {case.get("classname") for case in cases} == {"thread-job"}
    failing = {str(case.get("name")).split()[0]: case for case in cases if case.find("failure") is not None}
    assert set(failing) == {"B7"}
    failure = failing["B7"].find("failure")
    assert failure is not None
    assert "for each r in started" in (failure.text or "")


def settled(stream: str) -> str:
    """A stream without what no two runs share."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(each) for key, each in value.items() if key not in ("timing", "schedule")}
        return [without(each) for each in value] if isinstance(value, list) else value

    return "\n".join(json.dumps(without(record)) for record in records(stream))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("target", "rows"),
    [
        ("reference", "N1,N4,B7,machine"),
        (PLANTED, "B7"),
        ("python:tests.right.thread_job:ActorJobs", "N1,N4"),
    ],  # none of which draws its ids at random, and orders by them: then what is evicted differs from run to run
)
def test_the_same_seed_gives_the_same_report_in_every_process(target: str, rows: str) -> None:
    arguments = (*RUN, target, "--rows", rows, "--quick", "--json", "--seed", "11")
    one, other = commands_at_once(arguments, arguments)
    assert one.err == other.err
    assert bool(one.err) == (one.code != EXIT_CONFORMS)
    assert one.code == other.code
    assert settled(one.out).splitlines() == settled(other.out).splitlines()


@pytest.mark.soak
def test_another_seed_draws_something_else(capsys: Capture) -> None:
    streams = set()
    for seed in "12":
        ran(*RUN, "reference", "--rows", "machine", "--quick", "--json", "--seed", seed)
        streams.add(
            json.dumps([record for record in records(settled(capsys.readouterr().out)) if record["record"] != "header"])
        )
    assert len(streams) == 2


# --- what is known of a lifecycle -------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_lifecycles_are_listed_and_the_rows_of_one(capsys: Capture) -> None:
    assert ran("list") == EXIT_CONFORMS
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(shipped())
    assert ran("list", "thread-job") == EXIT_CONFORMS
    lines = capsys.readouterr().out.splitlines()
    rows = thread_job().lifecycle.rows.values()
    assert [line.split(maxsplit=2) for line in lines] == [
        *([row.id.text, row.level, row.about] for row in rows),
        [MACHINE, "must", ABOUT_MACHINE],
    ]


def test_every_row_is_explained_with_its_text() -> None:
    for row, found in thread_job().lifecycle.rows.items():
        told = explain_row(thread_job(), row)
        assert found.about in told
        assert f"  {row}:" in told
        assert all(word.text in told for word in found.covers)
        assert told.rstrip().splitlines()[-1].strip().startswith(("- ", "assert: ", "covers: "))


def test_a_row_a_clause_and_all_below_a_path_are_explained(capsys: Capture) -> None:
    paths = [clause.path for clause in thread_job().kernel.clauses]
    assert ran("explain", "thread-job") == EXIT_CONFORMS
    whole = capsys.readouterr().out
    assert [path for path in paths if path not in whole] == []
    assert ran("explain", "thread-job", "B7") == EXIT_CONFORMS
    assert capsys.readouterr().out == explain_row(load("thread-job"), "B7") + "\n"
    assert ran("explain", "thread-job", MACHINE) == EXIT_CONFORMS
    out = capsys.readouterr().out
    assert out.startswith(f"{MACHINE}  {ABOUT_MACHINE}\n")
    assert all(name in out for name in thread_job().lifecycle.operations)
    assert ran("explain", "thread-job", paths[0]) == EXIT_CONFORMS
    assert capsys.readouterr().out.startswith(f"{paths[0]}\n")
    assert ran("explain", "thread-job", "operations.finish") == EXIT_CONFORMS
    whole = capsys.readouterr().out
    below = [path for path in paths if path.startswith("operations.finish.")]
    form, *named = [line for line in whole.splitlines() if not line.startswith(" ")]
    assert (form.startswith("finish(job: id of Job, "), named) == (True, below)
    assert ran("explain", "thread-job", "finish") == EXIT_CONFORMS
    assert capsys.readouterr().out == whole
    assert ran("explain", "background-tasks", "clone") == EXIT_CONFORMS  # it has no clause of its own
    assert capsys.readouterr().out.startswith("clone()\n")


@pytest.mark.thorough
def test_a_shipped_spec_is_right_and_looked_at_again_only_where_it_has_changed(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ran("check", "--no-cache", "task-progress") == EXIT_CONFORMS
    assert not list(tmp_path.iterdir())
    for unchanged in (False, True):
        assert ran("check", "thread-job", "task-progress") == EXIT_CONFORMS
        lines = [line for line in capsys.readouterr().out.splitlines() if "unchanged since" in line or not unchanged]
        assert [line.split(": right.")[0] for line in lines][-2:] == ["thread-job", "task-progress"]
    assert len(list((tmp_path / ".conformance" / "checked").iterdir())) == 2


@pytest.mark.parametrize("name", shipped())
def test_every_lifecycle_can_be_drawn(name: str, capsys: Capture) -> None:
    assert ran("draw", name) == EXIT_CONFORMS
    states = {state for each in load(name).lifecycle.entities.values() for state in each.states}
    assert states <= set(re.findall(r'state "(\w+)"', capsys.readouterr().out))


def test_a_drawing_is_a_state_diagram(capsys: Capture) -> None:
    assert ran("draw", "thread-job") == EXIT_CONFORMS
    out = capsys.readouterr().out
    assert "stateDiagram-v2" in out
    assert "running --> pending_cancel" in out


# --- what is written for others ---------------------------------------------------------------------------


def test_a_skeleton_is_short_and_offers_every_mandatory_operation(elsewhere: Path, capsys: Capture) -> None:
    assert ran("adapter", "thread-job") == EXIT_CONFORMS
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 120
    controls, product = text.split("# ── The operations of your product")
    assert "# ── Observers and test controls" in controls
    for operation in thread_job().kernel.operations:
        where = controls if operation.control else product
        assert (f"def {operation.name}(" in where) == (not operation.optional)
    assert '{"signal": "BoundaryRequested", "thread": …}  finish, set_idle, or unasked' in controls
    assert '"settles": 0,' in controls
    assert "# def wait(self, ms: int) -> None:" in controls
    assert "Replies to concurrent calls must not be mixed up" in controls
    assert "; None: the caller left it out and means running, pending_cancel." in product
    assert "outcome: completed | failed | cancelled | timed_out." in product
    tree = ast.parse(text)
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    methods = {node.name: node for node in found.body if isinstance(node, ast.FunctionDef)}
    operations = {each.name: each for each in thread_job().kernel.operations if not each.optional}
    assert methods.keys() >= operations.keys() | {"signals", "close"}
    for name, operation in operations.items():
        takes = [argument.arg for argument in methods[name].args.args[1:]]
        assert takes == [parameter.name for parameter in operation.parameters]
        assert ast.get_docstring(methods[name])
    (elsewhere / "my_skeleton.py").write_text(text, encoding="utf-8")
    assert ran(*RUN, "python:my_skeleton:MyJobs", "--rows", "N1,N2,X7", "--quick") == EXIT_VIOLATES
    out = capsys.readouterr().out
    assert "raised NotImplementedError: complete_inline" in out
    assert "needs emit, which is optional and lacking" in out


ALONE = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("loaded_from_its_path", sys.argv[1])
module = module_from_spec(spec)
spec.loader.exec_module(module)
model = module.Model()
model.do_start("t1", "c", "bash")
(job,) = model.jobs
model.do_finish(job, "completed", "x")
print(model.do_turn_boundary("t1").value[0]["status"], len(model.CLAUSES))
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("conformance", "statemachines", "yaml")))
"""


def test_a_generated_model_needs_nothing_but_the_standard_library(elsewhere: Path, capsys: Capture) -> None:
    assert ran("generate", "thread-job", "--output", "model.py") == EXIT_CONFORMS
    assert capsys.readouterr().out == ""
    line = [sys.executable, "-S", "-I", "-c", ALONE, "model.py"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=elsewhere)
    clauses = len(thread_job().kernel.clauses)
    assert (done.stdout.splitlines(), done.stderr) == ([f"completed {clauses}", "[]"], "")


@pytest.mark.thorough
def test_a_generated_model_is_the_same_in_every_process(capsys: Capture) -> None:
    assert ran("generate", "thread-job") == EXIT_CONFORMS
    here = capsys.readouterr().out
    for ended in commands_at_once(("generate", "thread-job"), ("generate", "thread-job")):
        assert (ended.out == here, ended.err) == (True, "")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=[] if each == "task-progress" else pytest.mark.soak) for each in shipped()],
)
def test_the_demo_shows_a_bug_being_found(name: str, elsewhere: Path, capsys: Capture) -> None:
    assert ran("demo", name) == EXIT_CONFORMS
    out = " ".join(capsys.readouterr().out.split())
    assert f"reference conforms to {name}" in out
    assert "violates" in out
    assert f"conformance replay .conformance/{name}-" in out
    assert out.endswith("a run of such a system exits with 1. The demo exits with 0.")
    assert list((elsewhere / ".conformance").iterdir())


def test_a_trace_that_repeats_without_end_is_told_with_its_place(elsewhere: Path, capsys: Capture) -> None:
    row = "about: A, level: must, source: s, covers: [operations.start]"
    calls = "act: ['jobs = repeat(20000, start(t1, fresh, bash))'], assert: 'jobs.size() == 20000'"
    (elsewhere / "long.yaml").write_text(f"lifecycle: thread-job\nmatrix:\n  C1: {{{row}, {calls}}}\n")
    assert ran("replay", "long.yaml", "--against", "reference") == EXIT_USAGE
    err = capsys.readouterr().err
    assert re.match(r"conformance: long\.yaml:3:\d+: 20000 is more than 10000, the most that a row can walk", err)


# --- the command itself -----------------------------------------------------------------------------------


def test_it_says_its_version(capsys: Capture) -> None:
    assert ran("--version") == EXIT_CONFORMS
    assert capsys.readouterr().out == f"conformance {__version__}\n"


def test_a_command_that_needs_little_imports_little() -> None:
    line = [sys.executable, "-X", "importtime", "-m", "conformance", "--version"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    env = {name: value for name, value in env.items() if not name.startswith(("COVERAGE_", "COV_CORE_"))}
    done = subprocess.run(line, capture_output=True, text=True, env=env, check=False)
    assert done.stdout == f"conformance {__version__}\n"
    imported = {part.rpartition("|")[2].strip().partition(".")[0] for part in done.stderr.splitlines()}
    assert "conformance" in imported
    assert (
        imported & {"hypothesis", "pytest", "jinja2", "jsonschema", "asyncio", "rich", "yaml", "transitions"} == set()
    )


def test_a_wrong_option_ends_the_process_with_2_and_one_line() -> None:
    (done,) = commands_at_once(("run", "thread-jbo", "--against", "reference"), seeds="1")
    assert (done.code, done.out) == (EXIT_USAGE, "")
    assert done.err.splitlines() == [
        f"conformance: no lifecycle is named 'thread-jbo'; known: {', '.join(shipped())}; did you mean 'thread-job'?"
    ]


def test_whoever_stops_reading_gets_no_traceback(elsewhere: Path) -> None:
    line = [sys.executable, "-m", "conformance", "explain", "thread-job"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(line, stdout=writing, stderr=subprocess.PIPE, text=True, env=env, check=False)
    os.close(writing)
    assert done.stderr == ""


def test_a_report_of_a_run_that_did_not_finish_is_shown_and_is_no_success(elsewhere: Path, capsys: Capture) -> None:
    assert ran("run", "task-progress", "--against", "reference", "--rows", "N1,N2", "--report", "report.jsonl") == 0
    assert ran("show", "report.jsonl") == EXIT_CONFORMS
    lines = (elsewhere / "report.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (elsewhere / "cut.jsonl").write_text("".join(lines[:2]), encoding="utf-8")
    capsys.readouterr()
    assert ran("show", "cut.jsonl") == EXIT_UNKNOWN
    assert "The run did not finish: 1 of 2 rows of task-progress had a verdict." in capsys.readouterr().out


def test_a_saved_report_is_rendered_in_every_form(elsewhere: Path, capsys: Capture) -> None:
    run = ("run", "task-progress", "--against", "reference", "--rows", "N1,N2", "--report", "report.jsonl")
    assert ran(*run, "--junit", "junit.xml") == EXIT_CONFORMS
    capsys.readouterr()
    for form in FORMS:
        assert ran("render", "report.jsonl", "--as", form) == EXIT_CONFORMS
        out = capsys.readouterr().out
        assert "conforms 2 rows" in out or form == "junit"
        assert ran("render", "report.jsonl", "--as", form, "--output", "made") == EXIT_CONFORMS
        assert (elsewhere / "made").read_text(encoding="utf-8") == out
    assert ran("render", "report.jsonl", "--as", "junit") == EXIT_CONFORMS
    assert capsys.readouterr().out == (elsewhere / "junit.xml").read_text(encoding="utf-8")
    assert ran("render", "report.jsonl", "--as", "markdown", "--since", "report.jsonl") == EXIT_CONFORMS
    assert "Every row has the verdict that it had." in capsys.readouterr().out
    lines = (elsewhere / "report.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (elsewhere / "cut.jsonl").write_text("".join(lines[:2]), encoding="utf-8")
    assert ran("render", "cut.jsonl", "--as", "html") == EXIT_UNKNOWN
    assert "Did not finish" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gone.jsonl", "--as", "html"), "gone.jsonl cannot be read: No such file or directory"),
        (
            ("report.jsonl", "--as", "html", "--since", "report.jsonl"),
            "--since is for --as markdown: html does not say",
        ),
        (("report.jsonl", "--as", "badge", "--output", "no/where"), "no/where cannot be written: No such file"),
    ],
)
def test_what_cannot_be_rendered_is_told(
    arguments: tuple[str, ...], said: str, elsewhere: Path, capsys: Capture
) -> None:
    header = Header("thread-job", 1, "reference", 0)
    (elsewhere / "report.jsonl").write_text(line(header), encoding="utf-8")
    assert ran("render", *arguments) == EXIT_USAGE
    assert said in capsys.readouterr().err


HOSTILE_SPEC = """
lifecycle: small
version: 1
about: A job runs until it is done.
entities:
  Job:
    id: minted
    states: {active: [running], terminal: [done]}
    shows: {job_id: job.id, status: job.state}
operations:
  start:
    create: {Job: {}}
    gives: {job_id: job.id}
  finish:
    takes: {job: Job}
    move: running -> done
  inspect:
    takes: {job: Job}
    gives: job
matrix:
  N1:
    about: "A job that is finished is done. </script><img src=x onerror=alert(1)>"
    level: must
    source: the handbook
    covers: [entities.Job, operations.start, operations.finish.move, operations.inspect.gives]
    act:
      - job = start()
      - finish(job.job_id)
    assert: inspect(job.job_id).status == done
"""
HOSTILE_SYSTEM = """
import sys
class Jobs:
    declares = {"clock": "none", "concurrency": "none"}
    def start(self):
        return {"job_id": "</script><img src=x onerror=alert(1)>"}
    def finish(self, job):
        print("</script><img src=x onerror=alert(1)>", file=sys.stderr)
    def inspect(self, job):
        raise RuntimeError("</script><img src=x onerror=alert(1)>")
"""


def test_what_a_spec_and_a_system_say_stays_a_text_in_every_form(elsewhere: Path, capsys: Capture) -> None:
    (elsewhere / "small.yaml").write_text(HOSTILE_SPEC, encoding="utf-8")
    (elsewhere / "hostile.py").write_text(HOSTILE_SYSTEM, encoding="utf-8")
    run = ("run", "small.yaml", "--against", "python:hostile:Jobs", "--rows", "N1", "--report", "report.jsonl")
    assert ran(*run) == EXIT_VIOLATES
    capsys.readouterr()
    assert ran("render", "report.jsonl", "--as", "html") == EXIT_CONFORMS
    page = capsys.readouterr().out
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") > 4
    assert "<img" not in page
    assert page.count("</script>") == 1
    assert ran("render", "report.jsonl", "--as", "markdown") == EXIT_CONFORMS
    outside = re.sub(r"(?ms)^(```+).*?^\1$", "", capsys.readouterr().out)
    assert "<img" not in outside
    assert "&#60;img" in outside


def test_a_junit_file_is_written_whole_or_not_at_all(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ("run", "task-progress", "--against", "reference", "--rows", "N1", "--junit", "junit.xml")
    assert ran(*run) == EXIT_CONFORMS
    assert ET.parse(elsewhere / "junit.xml").getroot().get("tests") == "1"
    monkeypatch.setattr(junit_xml, "junit", lambda report: 1 / 0)
    assert ran(*run) == EXIT_HARNESS
    assert {path.name for path in elsewhere.iterdir()} <= {".conformance"}


def test_an_interrupt_while_the_command_is_loaded_is_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def loading() -> None:
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(cli, "parser", loading)
    try:
        assert cli.main() == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "conformance: interrupted; the run did not finish\n"


def test_an_interruption_is_no_verdict(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def interrupted(options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "list_", interrupted)
    assert ran("list") == 130
    assert capsys.readouterr().err == "conformance: interrupted; the run did not finish\n"


@pytest.mark.thorough
def test_a_spec_of_ones_own_is_named_by_its_file_and_its_counterexamples_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    text = one_text("thread-job")
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert ran("run", "mine.yaml", "--against", PLANTED, "--rows", "B7", "--quick") == EXIT_VIOLATES
    assert "conformance replay .conformance/mine-B7.yaml" in capsys.readouterr().out
    saved = (tmp_path / ".conformance" / "mine-B7.yaml").read_text(encoding="utf-8")
    assert saved.startswith('lifecycle: "mine.yaml"\n')
    assert ran("replay", ".conformance/mine-B7.yaml", "--against", PLANTED) == EXIT_VIOLATES


@pytest.mark.thorough
def test_a_folder_of_ones_own_is_named_by_its_path_and_its_counterexamples_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The folder has the name of a shipped lifecycle, and is none the less another one."""
    mine = tmp_path / "thread-job"
    shutil.copytree(spec_path("thread-job").parent, mine)
    monkeypatch.chdir(tmp_path)
    arguments = ("--against", PLANTED, "--rows", "B7", "--quick")
    assert ran("run", "./thread-job/", *arguments) == EXIT_VIOLATES
    out = capsys.readouterr().out
    assert re.search(r"^  spec +thread-job/rows/boundary\.yaml:\d+:3$", out, re.MULTILINE)
    path = ".conformance/thread-job-B7.yaml"
    assert (tmp_path / path).read_text(encoding="utf-8").startswith('lifecycle: "thread-job/"\n')
    (mine / "rules.yaml").write_text("lifecycle: thread-job\n", encoding="utf-8")  # the counterexample names this one
    assert ran("replay", path, "--against", PLANTED) == EXIT_USAGE
    assert "thread-job/rules.yaml:1:1: error [unread-rows]" in capsys.readouterr().err


@pytest.mark.parametrize("spec", ["booking/", "booking.yaml"])
def test_a_counterexample_finds_its_spec_from_another_directory_or_names_what_is_missing(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "booking.yaml").write_text(one_text("thread-job"), encoding="utf-8")
    shutil.copytree(spec_path("thread-job").parent, tmp_path / "booking")
    (tmp_path / ".conformance").mkdir()
    step = "- last = start(t1, fresh, bash)"
    path = saved(tmp_path / ".conformance", step, lifecycle=spec)
    (tmp_path / "else" / "where").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "else" / "where")
    assert ran("replay", str(path), "--against", "reference") == EXIT_CONFORMS
    assert ran("replay", "../../.conformance/trace.yaml", "--against", "reference") == EXIT_CONFORMS
    capsys.readouterr()
    moved = shutil.copy(path, "kept.yaml")
    assert ran("replay", str(moved), "--against", "reference") == EXIT_USAGE
    told = capsys.readouterr().err
    assert f"kept.yaml:1:12: error [spec-not-found] the spec {spec} that this counterexample is of" in told
    assert f"looked for in {tmp_path}/else/where and {tmp_path}/else\n" in told
    assert "start `replay` there, or change the path" in told


@pytest.mark.parametrize("name", ["thread-job", "thread-job/", "thread-job/rules.yaml"])
def test_a_lifecycle_is_meant_by_its_folder_by_its_rules_and_by_its_name(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(spec_path("thread-job").parent.parent)
    assert ran("explain", name, "X6") == 0
    shown = capsys.readouterr().out
    assert "thread-job/rows/derived-at-once.yaml:" in shown
    assert "Like every row of its group, it\n  needs concurrency\n" in shown
    assert "\n  X6:\n    about:  Messages keep the order" in shown
    for command in ("list", "draw", "generate", "adapter"):
        assert ran(command, name) == 0


def test_a_path_that_leads_to_no_spec_is_told_with_what_a_spec_is(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "empty").mkdir()
    assert ran("run", str(tmp_path / "empty"), "--against", "reference") == EXIT_USAGE
    out = capsys.readouterr().err
    assert "empty/rules.yaml:1:1: error [file-not-found]" in out
    assert "a spec is a file, or a folder with rules.yaml and its rows in rows/" in out
    assert ran("check", str(tmp_path / "none")) == EXIT_USAGE
    assert "or of a folder with rules.yaml" in capsys.readouterr().err


def test_what_a_system_prints_does_not_come_between_the_records_of_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "loud_jobs.py").write_text(LOUD, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert ran("run", "thread-job", "--against", "python:loud_jobs:Loud", "--rows", "N1", "--json") == EXIT_CONFORMS
    told = capsys.readouterr()
    assert [json.loads(line)["record"] for line in told.out.splitlines()] == [
        "header",
        "row",
        "coverage",
        "footer",
    ]
    assert "made\n" in told.err


LOUD = """
from conformance.references.thread_job import ThreadJobs

class Loud(ThreadJobs):
    def __init__(self, **limits):
        print("made")
        super().__init__(**limits)
"""


# --- replays and pipes ------------------------------------------------------------------------------------


def test_a_fault_in_a_row_of_a_trace_is_one_of_the_trace_and_not_of_the_target(
    elsewhere: Path, capsys: Capture
) -> None:
    assert ran("replay", str(saved(elsewhere, "- last = lst()")), "--against", "reference") == EXIT_USAGE
    assert capsys.readouterr().err.startswith("conformance: the counterexample has faults\n")


NARROW = """
from conformance.references.thread_job import ThreadJobs

class Lacking(ThreadJobs):
    start_as = None

class Blind(ThreadJobs):
    declares = {"clock": "none", "policies": {"tie": "start"}}

    def list_jobs(self, thread, statuses=None):
        return []
"""


@pytest.mark.parametrize(
    ("name", "step", "because"),
    [
        ("Lacking", "- last = start_as(t1, fresh, bash, 'a')", "the system has no operation start_as"),
        ("Blind", "- last = wait(1)", "needs a virtual clock: ties are not broken by completion"),
    ],
)
def test_what_cannot_be_replayed_is_not_said_to_be_fixed(
    name: str, step: str, because: str, elsewhere: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / "narrow.py").write_text(NARROW, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "narrow", raising=False)
    target = f"python:narrow:{name}"
    assert ran("replay", str(saved(elsewhere, step)), "--against", target) == EXIT_UNKNOWN
    assert capsys.readouterr().out.startswith(f"C1: could not tell: {because}")


def test_a_replay_tells_of_another_rule_that_the_same_calls_break(
    elsewhere: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = "from conformance.references.thread_job import ThreadJobs\n\nclass Deaf(ThreadJobs):\n    "
    broken += "def start(self, thread, tool_call, tool):\n        "
    broken += "return {**super().start(thread, tool_call, tool), 'status': 'failed'}\n"
    (elsewhere / "deaf.py").write_text(broken, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "deaf", raising=False)
    path = saved(elsewhere, "- last = start(t1, fresh, bash)")  # a row about `messages`
    assert ran("replay", str(path), "--against", "python:deaf:Deaf") == EXIT_VIOLATES
    said = "C1: still fails: breaks another rule now, operations.start.gives: expected status = 'running'"
    assert capsys.readouterr().out.startswith(said)
    about = "Expected status = 'running'; seen status = 'failed'."
    path.write_text(re.sub("about: .*", f'about: "{about}"', path.read_text(encoding="utf-8")), encoding="utf-8")
    assert ran("replay", str(path), "--against", "python:deaf:Deaf") == EXIT_VIOLATES
    assert capsys.readouterr().out.startswith("C1: still fails: expected status = 'running'; seen status = 'failed'\n")


@pytest.mark.thorough
def test_a_run_refuses_a_spec_whose_rows_have_faults_with_all_of_them(elsewhere: Path, capsys: Capture) -> None:
    text = one_text("task-progress")
    wrong = text.replace("- twice = start(task.task_id)", "- twice = start(7)", 1)
    wrong = wrong.replace("- task = create_task('a')", "- task = create_task(7)", 1)
    (elsewhere / "wrong.yaml").write_text(wrong, encoding="utf-8")
    assert ran("run", "wrong.yaml", "--against", "reference", "--rows", "N2") == EXIT_USAGE
    err = capsys.readouterr().err
    assert err.startswith("conformance: the spec has faults\nwrong.yaml:")
    assert err.count("error [expression-type]") == 2


def test_what_holds_is_fixed_though_the_judge_could_not_be_sure_if_it_did_not(
    elsewhere: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / "narrow.py").write_text(NARROW, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "narrow", raising=False)
    path = saved(elsewhere, "- last = start(t1, fresh, bash)")
    assert ran("replay", str(path), "--against", "python:narrow:Blind") == EXIT_CONFORMS
    assert capsys.readouterr().out.startswith("C1: fixed")


@pytest.mark.thorough
def test_a_replay_of_which_the_judge_is_unsure_is_not_said_to_be_fixed(elsewhere: Path) -> None:
    trace = read(str(saved(elsewhere, "- last = together(3, start(t1, fresh, bash))")))
    with adapted(REFERENCE) as adapter:
        replayed = replay(trace, adapter, replace(USUAL, nodes=2))
    assert (replayed.exit, repr(replayed)) == (EXIT_UNKNOWN, f"C1: could not tell: {UNSURE}")


def test_a_replay_decides_no_claim_that_a_run_leaves_open(elsewhere: Path) -> None:
    """By a clock that runs on, nobody can say when a job has started."""
    path = saved(elsewhere, "- last = start(t1, fresh, bash)")
    text = path.read_text(encoding="utf-8")
    claim = text.replace("    assert:\n", "    assert:\n      - inspect_job(t1, last.job_id).started_at == 7\n", 1)
    path.write_text(claim, encoding="utf-8")
    trace = read(str(path))
    with adapted(RealClockJobs) as adapter:
        replayed = replay(trace, adapter)
    assert (replayed.exit, "needs a clock that stands still" in repr(replayed)) == (EXIT_UNKNOWN, True)


@pytest.mark.thorough
def test_a_reader_that_has_seen_enough_is_no_verdict() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "conformance", "list", "thread-job"]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False, cwd=ROOT)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGPIPE, b"")


def test_a_fault_of_the_kit_is_told_with_its_place_and_is_no_verdict(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(options: object) -> int:
        raise KeyError("planted")

    monkeypatch.setattr("conformance.command.commands.list_", fails)
    assert ran("list") == EXIT_HARNESS
    said = capsys.readouterr().err
    assert said.startswith("conformance: the kit itself failed: KeyError: 'planted' (at test_cli.py:")
    assert "Traceback" not in said
