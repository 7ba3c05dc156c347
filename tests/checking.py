"""Specs that are compiled and checked as texts and files, with bounds of a test's own."""

from __future__ import annotations

from pathlib import Path

from statemachines.bounds import USUAL, Bounds
from statemachines.checks.spec import Checked, check_tree
from statemachines.compile import Compiled, compile_tree
from statemachines.surface import read_spec, with_rows
from statemachines.yaml import read


def compile_text(text: str, file: str) -> Compiled:
    """Compile the text of a spec, and the files of rows that it names, below the folder of `file`."""
    return compile_tree(with_rows(read(text, file), Path(file).parent), file)


def check_text(text: str, file: str, bounds: Bounds = USUAL) -> Checked:
    return check_tree(lambda: with_rows(read(text, file), Path(file).parent), bounds)


def check_file(path: Path, bounds: Bounds = USUAL) -> Checked:
    return check_tree(lambda: read_spec(path), bounds)


def codes(text: str, bounds: Bounds = USUAL) -> set[str]:
    """What `check` says of a spec: nothing where it is right."""
    return {each.code for each in check_text(text, "spec.yaml", bounds).diagnostics}
