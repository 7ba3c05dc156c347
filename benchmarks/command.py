"""A command of the kit in a process of its own, timed from outside."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


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


def command(arguments: Sequence[str], awaited: Callable[[str], bool] = lambda line: False) -> Done:
    """Run a command in an empty directory and read its pipe, until the end."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"}
    first, last = None, ""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
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
