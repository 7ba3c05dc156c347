"""A counterexample again: rows from a file, run against a target, to see whether they still fail."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from conformance.adapter import Adapter
from conformance.case import Case
from conformance.evidence import because
from conformance.row_facts import covers, impossible, makes_calls_at_once
from conformance.verdict import UNSURE, Counterexample
from statemachines.compile import Compiled, compile_tree, spec_tree
from statemachines.diagnostics import Diagnostic, SpecError
from statemachines.rows import Program, RowCompiler, RowFailure, enumerated, witnesses
from statemachines.source import read_file
from statemachines.tree import Mapping, Scalar

ROUNDS = 48  # schedules that a counterexample with calls at once is tried under
MORE = 4  # times as many while it has not failed; of one without, times as many rounds as it took before
ENOUGH = 3.0  # seconds, after which no more are tried than have to be: calls that hang take long


@dataclass(frozen=True, slots=True)
class Saved:
    """A trace file: the lifecycle that it names, with the file's rows as its matrix.

    of      the row of the lifecycle's own matrix that failed; empty where somebody wrote the file by hand
    rounds  in how many rounds it showed, where once was not enough
    """

    compiled: Compiled
    of: str = ""
    rounds: int = 1


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of one row of a trace file: it failed in `failed` of `rounds`, the last time with `reason`.

    of          the row of the matrix that it is a counterexample of, or empty
    unanswered  why it could not be told whether it fails, or empty
    transcript  what a tool's processes were called with and printed when it failed the last time
    """

    id: str
    of: str
    failed: int
    rounds: int
    reason: str = ""
    transcript: tuple[str, ...] = ()
    unanswered: str = ""

    @property
    def name(self) -> str:
        """The row's id, and that of the row that it comes from."""
        return self.id if self.of in ("", self.id) else f"{self.id} of {self.of}"

    @property
    def verdict(self) -> str:
        """`fixed`, `still fails`, or in how many rounds it does; or `could not tell`."""
        if self.unanswered:
            return "could not tell"
        if not self.failed:
            return "fixed" if self.rounds == 1 else f"not reproduced (0 of {self.rounds})"
        return "still fails" if self.rounds == 1 else f"still fails ({self.failed} of {self.rounds})"


def save(folder: Path, lifecycle: str, target: str, row_id: str, found: Counterexample) -> Path:
    """Write a counterexample to a row of the matrix as a trace file; give its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = _path(folder, lifecycle, row_id)
    name, _, body = found.row.partition(":\n")
    indented = "".join(f"  {line}\n" for line in body.splitlines())
    head = _head(lifecycle, target, row_id)
    head += f"rounds: {found.rounds}\n" if found.reproduced < found.rounds else ""
    path.write_text(f"{head}matrix:\n  {name}:\n{indented}", encoding="utf-8")
    return path


def clear(folder: Path, lifecycle: str, target: str, row_id: str) -> None:
    """Remove the trace file of a row if an earlier run of the same target wrote it."""
    path = _path(folder, lifecycle, row_id)
    with contextlib.suppress(OSError):  # what is not there, or cannot be read, is no file of ours
        if path.read_bytes().startswith(_head(lifecycle, target, row_id).encode()):
            path.unlink()


def _path(folder: Path, lifecycle: str, row_id: str) -> Path:
    return folder / f"{Path(lifecycle).stem}-{row_id}.yaml"


def _head(lifecycle: str, target: str, row_id: str) -> str:
    """Give the first lines of a trace file: which run wrote it, and about which row."""
    named = json.dumps(lifecycle) if lifecycle.endswith((".yaml", ".yml")) else lifecycle
    return f"lifecycle: {named}\ntarget: {json.dumps(target)}\nrow: {row_id}\n"


def read(path: str) -> Saved:
    """Read a trace file; raise SpecError with every fault of it."""
    tree = read_file(path)
    name = tree.get("lifecycle") if isinstance(tree, Mapping) else None
    matrix = tree.get("matrix") if isinstance(tree, Mapping) else None
    if not isinstance(tree, Mapping) or not isinstance(name, Scalar) or matrix is None:
        hint = "a trace file has `lifecycle: NAME` and `matrix:` with rows; `conformance run` writes one for every failure"
        raise SpecError([Diagnostic("bad-trace", tree.where, "this is not a trace file", hint)])
    try:
        whole = spec_tree(name.text)
    except LookupError as error:
        hint = "name a shipped lifecycle, or the path of a spec"
        raise SpecError([Diagnostic("unknown-lifecycle", name.where, str(error), hint)]) from None
    entries = tuple((key, matrix if key.text == "matrix" else value) for key, value in whole.entries)
    row = tree.get("row")
    of = row.text if isinstance(row, Scalar) else ""
    rounds = tree.get("rounds")
    took = rounds.value if isinstance(rounds, Scalar) and isinstance(rounds.value, int) else 1
    return Saved(compile_tree(Mapping(entries, whole.where, whole.flow), path), of, max(took, 1))


def replay(saved: Saved, adapter: Adapter) -> Iterator[Replayed]:
    """Run every row of a trace file; one that makes calls at once, or depends on chance, in several rounds."""
    compiled = saved.compiled
    by_chance = MORE * saved.rounds if saved.rounds > 1 else 1
    rows = RowCompiler(compiled.lifecycle)
    for row in compiled.lifecycle.rows.values():
        program = rows.program(row)
        if rows.faults:
            raise SpecError(rows.faults)
        lacking = impossible(compiled, rows.words, adapter, row)
        found = [] if lacking else list(_rounds(compiled, rows, adapter, program, by_chance))
        failures = [each for each in found if each.fails]
        last = failures[-1] if failures else _Round()
        doubts = (each.unanswered for each in found if each.unanswered)
        unanswered = lacking or ("" if failures else next(doubts, ""))
        yield Replayed(
            row.id.text, saved.of, len(failures), len(found), last.reason, last.transcript, unanswered
        )


class _Round(NamedTuple):
    """What came of a row once. It is `unanswered` for a reason, such as that there were too many possibilities."""

    fails: bool = False
    reason: str = ""
    transcript: tuple[str, ...] = ()
    unanswered: str = ""


def _rounds(
    compiled: Compiled, rows: RowCompiler, adapter: Adapter, program: Program, by_chance: int
) -> Iterator[_Round]:
    """Run a row in several rounds if it makes calls at once; or else until it fails, in so many at most."""
    until, failed = time.monotonic() + ENOUGH, False
    at_once = makes_calls_at_once(program.row)
    must, may = (ROUNDS, MORE * ROUNDS) if at_once else (1, by_chance)
    for number in range(may):
        found = _once(compiled, rows, adapter, program, number)
        failed = failed or found.fails
        yield found
        late, tried = time.monotonic() > until, number + 1 >= must
        if (failed and (late or tried)) or (at_once and late and tried):
            return


def _once(compiled: Compiled, rows: RowCompiler, adapter: Adapter, program: Program, seed: int) -> _Round:
    """Run a row once, with all values of its parameters."""
    declared = compiled.model(adapter.declaration.limits, adapter.declaration.policies)
    first = witnesses(rows.words, program.row, declared)
    unanswered = ""
    for values in enumerated(compiled.lifecycle, program):
        case = Case(compiled, adapter, seed)
        failure: RowFailure | None = None
        try:
            program.run(case, {**values, **first})
        except RowFailure as error:
            failure = error
        if case.astray:
            return _Round(unanswered=f"the spec leaves open what {case.astray} does there")
        found = [
            each for each in (case.divergence, *case.judge.findings) if each and covers(program.row, each)
        ]
        if failure is not None or (found and not case.judge.unsure):
            expected, seen = because(program.row, failure, next(iter(found), None))
            return _Round(True, f"expected {expected}; seen {seen}", adapter.transcript())
        if case.divergence is not None and case.judge.unsure:
            unanswered = UNSURE
        elif case.divergence is not None:
            other = case.divergence
            reason = f"breaks another rule now, {other.clause}: expected {other.expected}; seen {other.seen}"
            return _Round(True, reason, adapter.transcript())
    return _Round(unanswered=unanswered)
