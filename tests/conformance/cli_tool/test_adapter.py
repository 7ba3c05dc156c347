"""Tools as processes: their files, their time limits, what they print, and what they leave behind."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.cli_tool.command_line import UNKNOWN_IDS, CommandLine, Commands, Finished, filled
from conformance.cli_tool.target_file import read_target
from conformance.command.cli import main
from conformance.errors import UsageError
from conformance.suite.exercised import Tally
from conformance.system.adapter import Adapter
from conformance.system.broken import Broken, HarnessError
from conformance.system.processes import _MARK
from conformance.targets import open_system
from conformance.verdict import EXIT_CONFORMS, EXIT_HARNESS, EXIT_USAGE, EXIT_VIOLATES, FROM_OUTSIDE
from statemachines.compile import load
from statemachines.diagnostics import SpecError

ROOT = Path(__file__).parents[3]
REFERENCE = "conformance.references.cli_program"
FILE = """\
tool: [{python}, -m, {module}]
env: {{JOBS_DIR: "{{dir}}", JOBS_CLOCK: virtual}}
cwd: {root}
schema: [work, --schema]
start:
  running: [work, --outcome, running, --key, "{{key}}"]
  complete: [work, --outcome, complete, --key, "{{key}}"]
  failed: [work, --outcome, failed, --key, "{{key}}"]
status: [job, status, --, "{{job_id}}"]
cancel: [job, cancel, --, "{{job_id}}"]
end: [job, end, "{{outcome}}", --, "{{job_id}}"]
register: [register, build]
advance: [advance, "{{ms}}"]
repeated: new_job
timeout_ms: 60000
"""
RUDE = """\
tool: [{python}, -m, tests.tools.rude]
cwd: {root}
schema: [{way}]
start: {{running: [{way}]}}
status: [{way}, "{{job_id}}"]
cancel: [{way}, "{{job_id}}"]
"""
PATIENCE = "30"  # seconds for one process, however busy the machine is


@pytest.fixture
def described(tmp_path: Path) -> Callable[..., str]:
    """Write the file of a tool; give the target."""

    def write(text: str = FILE, **values: str) -> str:
        path = tmp_path / "tool.yaml"
        path.write_text(text.format(python=sys.executable, root=ROOT, **{"module": REFERENCE, **values}))
        return f"cli:{path}"

    return write


@pytest.fixture
def opened() -> Iterator[Callable[[str], Adapter]]:
    """Open adapters with a case begun; they are closed in the end."""
    adapters: list[Adapter] = []

    def open_(target: str) -> Adapter:
        adapter = open_system(load("cli-job"), target)
        adapters.append(adapter)
        adapter.limit = float(PATIENCE)
        adapter.reset()
        return adapter

    yield open_
    for adapter in adapters:
        adapter.close()


def run(target: str, rows: str, tmp_path: Path) -> int:
    save = str(tmp_path / "saved")
    words = ["run", "cli-job", "--against", target, "--rows", rows, "--call-limit", PATIENCE, "--save", save]
    return main(words)


# ── Whole runs ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.thorough
def test_the_reference_program_conforms(described: Callable[..., str], tmp_path: Path) -> None:
    assert run(described(), "N1,N6,E6,B1,X1", tmp_path) == EXIT_CONFORMS


@pytest.mark.thorough
def test_a_wrong_program_is_told_by_what_it_prints(
    described: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = described(module="tests.tools.unquoted")
    assert run(target, "E6", tmp_path) == EXIT_VIOLATES
    out = capsys.readouterr().out
    assert "- last = " in out
    assert "E6" in out
    assert "expected" in out
    assert "replay" in out
    assert_told_what_was_run(out)
    assert main(["replay", str(tmp_path / "saved" / "cli-job-E6.yaml"), "--against", target]) == EXIT_VIOLATES
    out = capsys.readouterr().out
    assert out.startswith("C1 of E6: still fails: expected ")
    assert_told_what_was_run(out)


def assert_told_what_was_run(out: str) -> None:
    ran = out.partition("what was run for it, and what it printed\n")[2]
    assert re.search(r"^ +\$ .* work --outcome ", ran, re.MULTILINE)
    assert re.search(r"^ +exit \d+$", ran, re.MULTILINE)
    assert '"job_id"' in ran


def test_only_cli_job_is_for_tools(described: Callable[..., str]) -> None:
    with pytest.raises(UsageError, match="against cli-job, not against thread-job"):
        open_system(load("thread-job"), described())


# ── Hooks ──


@pytest.mark.thorough
def test_a_hook_that_fails_is_no_fault_of_the_tool(
    described: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The row that needs it cannot be asked; a hook is the tester's."""
    for name, wrong in (
        ("advance", 'advance: [advances, "{{ms}}"]'),
        ("end", 'end: [ends, "{{outcome}}", "{{job_id}}"]'),
    ):
        text = re.sub(rf"^{name}: .*$", wrong, FILE, flags=re.MULTILINE)
        assert run(described(text), {"advance": "E8", "end": "X2"}[name], tmp_path) == EXIT_HARNESS
        out = " ".join(capsys.readouterr().out.split())
        assert f"the hook `{name}` fails: `" in out
        assert "ended with exit 2" in out


@pytest.mark.thorough
def test_a_hook_that_has_nothing_to_end_may_say_so(
    described: Callable[..., str], opened: Callable[[str], Adapter]
) -> None:
    adapter = opened(described())
    job = adapter.call("start", {"outcome": "running"})["job_id"]
    for known in (job, job, "no-such-job"):
        adapter.call("end", {"job": known, "outcome": "complete"})
    assert adapter.call("status", {"job": job})["status"] == "complete"


def test_how_processes_overlap_is_seen_only_outside(
    described: Callable[..., str], opened: Callable[[str], Adapter]
) -> None:
    overlapping = Tally(groups=1, overlaps=2)
    assert overlapping.weakness(seen_inside=opened(described()).seen_inside) == FROM_OUTSIDE


def test_a_hook_that_does_not_end_or_cannot_be_run_is_no_fault_of_the_tool() -> None:
    def hangs(arguments: list[str]) -> Finished:
        raise Broken("hang", "it did not end")

    commands = Commands(
        schema=(),
        start={},
        status=("status", "{job_id}"),
        cancel=(),
        end=("end", "{job_id}", "{outcome}"),
        register=("register",),
        advance=("advance", "{ms}"),
    )
    for ran, said in ((hangs, "it did not end"), (lambda arguments: Finished(127, "", "no such file"), "no such file")):
        tool = CommandLine(commands, ran)
        for name, call in (
            ("end", lambda tool=tool: tool.end("j", "complete")),
            ("register", tool.register_without_schema),
            ("advance", lambda tool=tool: tool.wait(1)),
        ):
            with pytest.raises(HarnessError, match=f"the hook `{name}` fails: .*{said}"):
                call()


# ── Calls ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.thorough
def test_ids_of_all_sorts_work_as_printed(described: Callable[..., str], opened: Callable[[str], Adapter]) -> None:
    adapter = opened(described())
    jobs = [adapter.call("start", {"outcome": "running"}) for _ in range(10)]
    ids = [job["job_id"] for job in jobs]
    assert len(set(ids)) == 10
    assert any(each.startswith("-") for each in ids)
    assert any("'" in each for each in ids)
    for way in ("printed", "template"):
        seen = [adapter.call("status", {"job": each, "way": way}) for each in ids]
        assert [(each["exit"], each["job_id"]) for each in seen] == [(3, each) for each in ids]
    assert [each["faults"] for each in (*jobs, *seen)] == [[]] * 20


@pytest.mark.thorough
@pytest.mark.parametrize("unknown_id", ["no_argument", "ordinary", *UNKNOWN_IDS])
def test_strangers_are_passed_as_they_are(
    unknown_id: str, described: Callable[..., str], opened: Callable[[str], Adapter]
) -> None:
    adapter = opened(described())
    for operation in ("status_of_unknown_id", "cancel_of_unknown_id"):
        seen = adapter.call(operation, {"unknown_id": unknown_id})
        assert seen == {"exit": 2 if unknown_id == "no_argument" else 5, "descriptor": False}
    assert adapter.call("deviations", {}) == {"found": []}


def test_a_tool_that_does_not_end_is_stopped(described: Callable[..., str], opened: Callable[[str], Adapter]) -> None:
    adapter = opened(described(RUDE, way="hangs"))
    adapter.limit = 0.3
    with pytest.raises(Broken, match=r"tests.tools.rude hangs` did not end within 0.3 s") as raised:
        adapter.call("schema", {})
    assert raised.value.kind == "hang"
    assert adapter.transcript()[-1] == "  did not end within 0.3 s"
    assert not left_running("tests.tools.rude")


def test_what_was_run_and_printed_is_on_record(described: Callable[..., str], opened: Callable[[str], Adapter]) -> None:
    adapter = opened(described(RUDE.replace('{way}, "{{job_id}}"', '{way}, "{{dir}}", "{{job_id}}"'), way="fails"))
    assert adapter.transcript() == ()
    adapter.call("status_of_unknown_id", {"unknown_id": "spaces"})
    command, *said = adapter.transcript()
    assert command.endswith("-m tests.tools.rude fails {dir} 'no such job'")
    assert said == ["  exit 9", "  first line", "  the disk is full"]
    adapter.reset()
    assert adapter.transcript() == ()


def test_a_flood_is_not_read(described: Callable[..., str], opened: Callable[[str], Adapter]) -> None:
    with pytest.raises(Broken, match="printed more than 1048576 bytes"):
        opened(described(RUDE, way="floods")).call("schema", {})


def test_garbage_is_told_and_not_taken(described: Callable[..., str], opened: Callable[[str], Adapter]) -> None:
    adapter = opened(described(RUDE, way="raves"))
    seen = adapter.call("start", {"outcome": "running"})
    assert seen["job_id"] is None
    assert seen["faults"] == ["stdout is not one JSON value: '\\\\xff{not json'"]
    assert adapter.call("status", {"job": "a"})["exit"] == 0
    assert adapter.call("deviations", {})["found"] == seen["faults"]


def test_stderr_is_told_of_a_start_that_failed(described: Callable[..., str], opened: Callable[[str], Adapter]) -> None:
    seen = opened(described(RUDE, way="fails")).call("start", {"outcome": "running"})
    assert seen["exit"] == 9
    assert "stderr: first line\nthe disk is full" in seen["faults"]


def test_nothing_is_left_running(described: Callable[..., str], opened: Callable[[str], Adapter]) -> None:
    adapter = opened(described(RUDE, way="lingers"))
    adapter.call("start", {"outcome": "running"})  # comes back although a child keeps stdout open
    mark = adapter._instance._mark  # there is no other way to know the processes of its own
    assert left_running(f"{_MARK}={mark}")
    adapter.reset()
    assert not left_running(f"{_MARK}={mark}")


def left_running(word: str) -> list[Path]:
    """The processes that have a word in their environment or their arguments, and have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            said = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:  # it is another user's, or has just ended
            continue
        if word.encode() in said and state not in "ZX":
            found.append(folder)
    return found


# ── Files ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("old", "new", "place", "message", "hint"),
    [
        (
            "status: [",
            "stauts: [",
            "9:1",
            "'stauts' is no word of a command line target",
            "did you mean 'status'?",
        ),
        (
            '"{{job_id}}"]\ncancel',
            '"{{job}}"]\ncancel',
            "9:28",
            "nothing fills {job} in",
            "did you mean 'job_id'?",
        ),
        ('--, "{{job_id}}"]\ncancel', "x]\ncancel", "9:9", "'status' needs {job_id}", "write {job_id}"),
        (
            "  running: [work, --outcome, running",
            "  runs: [work",
            "6:3",
            "'runs' is no word of `start`",
            "running",
        ),
        ("advance: [advance", "advance: [7", "13:11", "takes an argument, and this is a number", "in quotes"),
        (
            "{python}, -m",
            "no-such-program, -m",
            "1:8",
            "there is no program 'no-such-program'",
            "on the PATH",
        ),
        ("cwd: {root}", "cwd: /no/such/folder", "3:6", "there is no folder '/no/such/folder'", "exists"),
        (
            "repeated: new_job",
            "repeated: sometimes",
            "14:11",
            "'repeated' takes 'new_job' or 'any_reply'",
            "repeated",
        ),
        ("timeout_ms: 60000", "timeout_ms: -1", "15:13", "a whole number from 0 on", "timeout"),
    ],
)
def test_a_fault_of_a_file_is_told_with_its_place(
    old: str, new: str, place: str, message: str, hint: str, described: Callable[..., str], tmp_path: Path
) -> None:
    assert old in FILE
    target = described(FILE.replace(old, new, 1)).removeprefix("cli:")
    with pytest.raises(SpecError) as raised:
        read_target(target)
    said = str(raised.value)
    assert f"tool.yaml:{place}: error" in said
    assert message in said
    assert hint in said


def test_a_faulty_file_ends_a_run_with_2(
    described: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(described("tool: [x\n"), "N1", tmp_path) == EXIT_USAGE
    assert run("cli:/no/such/file.yaml", "N1", tmp_path) == EXIT_USAGE
    assert "there is no such file" in capsys.readouterr().err


def test_what_a_file_leaves_out_is_lacking(described: Callable[..., str]) -> None:
    declares: dict[str, Any] = dict(read_target(described(RUDE, way="x").removeprefix("cli:")).declares)
    assert declares["lacks"] == ["start_as", "end", "register_without_schema"]
    assert declares["clock"] == "real"
    assert declares["policies"]["ends"] == "never"
    assert declares["limits"] == {"timeout": None, "poll": None, "kept": None}


@pytest.mark.parametrize(
    ("word", "clock"), [("", "virtual"), ("clock: virtual\n", "virtual"), ("clock: running\n", "running")]
)
def test_a_clock_that_is_moved_may_run_on_beside_that(word: str, clock: str, described: Callable[..., str]) -> None:
    assert read_target(described(FILE + word).removeprefix("cli:")).declares["clock"] == clock


def test_a_clock_that_nothing_moves_is_not_described(described: Callable[..., str]) -> None:
    with pytest.raises(SpecError, match="'clock' is about one that `advance` moves"):
        read_target(described(RUDE + "clock: running\n", way="x").removeprefix("cli:"))


@pytest.mark.thorough
def test_a_tool_whose_clock_runs_on_conforms(described: Callable[..., str], tmp_path: Path) -> None:
    target = described(FILE + "clock: running\n", module="tests.tools.running")
    assert run(target, "N6,B1,B2,B3", tmp_path) == EXIT_CONFORMS


@pytest.mark.thorough
def test_one_that_is_said_to_stand_still_is_wrong_if_it_runs_on(described: Callable[..., str], tmp_path: Path) -> None:
    assert run(described(module="tests.tools.running"), "B1", tmp_path) == EXIT_VIOLATES


@pytest.mark.thorough
def test_a_tool_whose_clock_runs_on_and_that_never_times_out_is_found(
    described: Callable[..., str], tmp_path: Path
) -> None:
    text = FILE.replace("JOBS_CLOCK: virtual", "JOBS_LIE: endless") + "clock: running\n"
    assert run(described(text, module="tests.tools.running"), "B3", tmp_path) == EXIT_VIOLATES


def test_nothing_is_filled_in_for_what_a_reply_lacks() -> None:
    missing: Any = None
    with pytest.raises(TypeError):
        filled(["{job_id}"], job_id=missing)


def test_what_is_filled_in_is_not_looked_at_again() -> None:
    assert filled(["{a}-{b}", "{c}{", "x{a}"], a="{b}", b="{a}") == ["{b}-{a}", "{c}{", "x{b}"]
