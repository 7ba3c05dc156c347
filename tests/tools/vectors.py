"""Vectors and the runner in Python, as somebody has them who copied both."""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

RUNNERS = Path(__file__).parent.parent.parent / "examples" / "vectors"
UNDER_TEST = "system_of_the_vectors"


def run_vectors(file: Path, system: Callable[[], Any]) -> tuple[int, str]:
    """Return the exit code of the runner, and what it printed."""
    printed = io.StringIO()
    code = 0
    with _importable(system), _arguments(str(file), f"{UNDER_TEST}:System"), contextlib.redirect_stdout(printed):
        try:
            runpy.run_path(str(RUNNERS / "runner.py"), run_name="__main__")
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, printed.getvalue()


@contextlib.contextmanager
def _importable(system: Callable[[], Any]) -> Iterator[None]:
    module: Any = ModuleType(UNDER_TEST)
    module.System = system
    sys.modules[UNDER_TEST] = module
    try:
        yield
    finally:
        del sys.modules[UNDER_TEST]


@contextlib.contextmanager
def _arguments(*given: str) -> Iterator[None]:
    before, path = sys.argv, list(sys.path)
    sys.argv = ["runner.py", *given]
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before, path


def fails(file: Path, system: Callable[[], Any], row: str = "") -> bool:
    """Return whether some vector fails: those of a row are tried first, for they are few."""
    said = json.loads(file.read_text(encoding="utf-8"))
    first = [vector for vector in said["vectors"] if row in vector["rows"]]
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / "few.json"
        few.write_text(json.dumps({**said, "vectors": first}), encoding="utf-8")
        return any(run_vectors(each, system)[0] == 1 for each in ([few] if first else []) + [file])
