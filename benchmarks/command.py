"""A command of the kit in a process of its own, timed from outside."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SPEC = ROOT / "spec" / "thread-job"
KIT = (sys.executable, "-m", "conformance")
CHECK = (*KIT, "check", str(SPEC))
RUN = (*KIT, "run", "thread-job", "--against", "reference")


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a command.

    seconds    until it had ended
    processor  of which the processor worked, where that can be told
    first      until the line that was waited for; None: it never came
    last       the last words
    """

    code: int
    seconds: float
    processor: float
    first: float | None
    last: str


def command(
    arguments: Sequence[str], awaited: Callable[[str], bool] = lambda line: False, *, within: str | None = None
) -> Done:
    """Run a command in an empty directory, or `within` another one, and read its pipe, until the end."""
    environment = _environment()
    first, last = None, ""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as empty:
        folder = empty if within is None else within
        before = os.times()
        begin = time.perf_counter()
        with subprocess.Popen(
            arguments,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        ) as process:
            assert process.stdout is not None  # a pipe was asked for
            for line in process.stdout:
                if first is None and awaited(line):
                    first = time.perf_counter() - begin
                last = line.strip() or last
            code = process.wait()
        took = time.perf_counter() - begin
        after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return Done(code, took, processor, first, last)


@cache
def _environment() -> dict[str, str]:
    """Return an environment as people have it from the second use on: byte code is written, and is there."""
    folder = tempfile.TemporaryDirectory(prefix="benchmark-code-")
    atexit.register(folder.cleanup)
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    found = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    found |= {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONPYCACHEPREFIX": folder.name,
        "PYTHONIOENCODING": "utf-8",
    }
    with tempfile.TemporaryDirectory(prefix="benchmark-") as empty:
        for each in (CHECK, (*RUN, "--rows", "N1,N5")):
            subprocess.run(each, cwd=empty, env=found, capture_output=True, check=False)
    return found
