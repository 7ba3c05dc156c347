"""Where a command writes: an output that has few signs, is closed, or full is no fault of the kit, and changes no exit code but to 3."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.verdict import EXIT_CONFORMS, EXIT_HARNESS

COMMAND = "import sys; from conformance.command.cli import main; sys.exit(main())"
RUN = ("run", "task-progress", "--against", "reference", "--rows", "N1")
COMMANDS = [
    RUN,
    (*RUN, "--json"),
    ("list",),
    ("list", "job"),
    ("explain", "job"),
    ("draw", "job"),
    ("generate", "thread-job"),
    ("adapter", "job"),
]
SHORT = pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
pytestmark = pytest.mark.thorough


def ran(arguments: tuple[str, ...], redirected: str = "", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A command as a process of its own, its output somewhere else by the words of a shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-c", COMMAND, *arguments],
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", **environment},
        capture_output=True,
        timeout=60,
        check=False,
    )


@SHORT
def test_an_encoding_that_lacks_signs_keeps_no_command_from_its_end(arguments: tuple[str, ...]) -> None:
    done = ran(arguments, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (EXIT_CONFORMS, b"")
    assert done.stdout


@pytest.mark.parametrize("arguments", [("adapter", "job"), ("generate", "thread-job"), (*RUN, "--json")], ids=" ".join)
def test_what_is_a_file_of_its_own_is_utf_8_whatever_the_terminal_is(arguments: tuple[str, ...]) -> None:
    text = ran(arguments, PYTHONIOENCODING="ascii").stdout.decode("utf-8")
    if "--json" in arguments:
        assert [json.loads(line)["record"] for line in text.splitlines()] == ["header", "row", "coverage", "footer"]
    else:
        compile(text, "<skeleton>", "exec")
        assert "\\u2026" not in text


@SHORT
def test_a_closed_output_changes_no_exit_code(arguments: tuple[str, ...]) -> None:
    for redirected in (">&-", ">&- 2>&-"):
        done = ran(arguments, redirected)
        assert (done.returncode, done.stderr) == (EXIT_CONFORMS, b"")


@pytest.mark.parametrize("done", ["sys.stdout = None", "sys.stdout = open(os.devnull, 'w')"])
def test_a_system_that_takes_the_output_away_gets_its_verdict_all_the_same(done: str, tmp_path: Path) -> None:
    text = "import os, sys\nfrom conformance.references.task_progress import TaskProgress\n\n\nclass Tasks(TaskProgress):\n"
    body = f"    def __init__(self):\n        super().__init__()\n        {done}\n"
    (tmp_path / "takes_output.py").write_text(text + body, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    found = ran((*RUN[:3], "python:takes_output:Tasks", *RUN[4:]), PYTHONPATH=path)
    assert (found.returncode, found.stderr) == (EXIT_CONFORMS, b"")
    assert found.stdout.splitlines()[-1] == b"exit 0"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@SHORT
def test_a_full_output_is_told_and_is_no_success(arguments: tuple[str, ...]) -> None:
    done = ran(arguments, ">/dev/full")
    assert (done.returncode, done.stderr.decode().strip()) == (
        EXIT_HARNESS,
        "conformance: the output cannot be written: No space left on device",
    )
