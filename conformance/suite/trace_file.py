"""A counterexample as a file: the life cycle that it is of, and its row; `run` writes it, `replay` reads it."""

from __future__ import annotations

import contextlib
import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from conformance.report import Header, Watcher, declared_text
from conformance.suite.machine import MOST_FAULTS
from conformance.verdict import MACHINE, Counterexample, RowResult
from statemachines.compile import Compiled, compile_tree, spec_tree
from statemachines.diagnostics import Diagnostic, SpecError, Where
from statemachines.yaml import Mapping, Scalar, read_file

PATHS = (".yaml", ".yml", "/")  # how the path of a spec ends, and no name of a shipped life cycle


@dataclass(frozen=True, slots=True)
class Saved:
    """A counterexample file: the lifecycle that it names, with the file's rows as its matrix.

    of      the row of the lifecycle's own matrix that failed; empty where somebody wrote the file by hand
    rounds  in how many rounds it showed, where once was not enough
    declares  what was declared then, on one line; empty where nobody has said
    """

    compiled: Compiled
    of: str = ""
    rounds: int = 1
    declares: str = ""


def read(path: str) -> Saved:
    """Read a counterexample file; raise SpecError with every fault of it."""
    tree = read_file(path)
    name = tree.get("lifecycle") if isinstance(tree, Mapping) else None
    matrix = [each for each in tree.entries if each[0].text == "matrix"] if isinstance(tree, Mapping) else []
    if not isinstance(tree, Mapping) or not isinstance(name, Scalar) or not matrix:
        raise _no_counterexample(tree.where)
    try:
        whole = spec_tree(_spec_of(name, Path(path)))
    except LookupError as error:
        hint = "name a shipped lifecycle, or the path of a spec"
        raise SpecError([Diagnostic("unknown-lifecycle", name.where, str(error), hint)]) from None
    entries = (*(each for each in whole.entries if each[0].text != "matrix"), *matrix)
    row = tree.get("row")
    of = row.text if isinstance(row, Scalar) else ""
    rounds = tree.get("rounds")
    took = rounds.value if isinstance(rounds, Scalar) and isinstance(rounds.value, int) else 1
    said = tree.get("declares")
    declares = said.text if isinstance(said, Scalar) else ""
    compiled = compile_tree(Mapping(entries, whole.where, whole.flow), path)
    if not compiled.lifecycle.rows:
        raise _no_counterexample(matrix[0][0].where)
    return Saved(compiled, of, max(took, 1), declares)


def _no_counterexample(where: Where) -> SpecError:
    hint = (
        "a counterexample has `lifecycle: NAME` and `matrix:` with rows; `conformance run` writes one for every failure"
    )
    return SpecError([Diagnostic("bad-counterexample", where, "this is not a counterexample", hint)])


def _spec_of(name: Scalar, file: Path) -> str:
    """Return a shipped name, or the path of a spec from here or from the folder above the file's; raise SpecError."""
    spec, above = name.text, file.resolve().parent.parent
    if not spec.endswith(PATHS) or Path(spec).exists():
        return spec
    if (above / spec).exists():
        return str(above / spec)
    places = " and ".join(dict.fromkeys((str(Path.cwd()), str(above))))
    message = f"the spec {spec} that this counterexample is of is not there; it was looked for in {places}"
    hint = "the run wrote the path from where it was started: start `replay` there, or change the path in this line"
    raise SpecError([Diagnostic("spec-not-found", name.where, message, hint)])


def save(folder: Path, lifecycle: str, target: str, row_id: str, found: Counterexample, declares: str = "") -> Path:
    """Write a counterexample to a row of the matrix as a counterexample file, with what is declared; give its path."""
    folder.mkdir(parents=True, exist_ok=True)
    name, _, body = found.row.partition(":\n")
    indented = "".join(f"  {line}\n" for line in body.splitlines())
    path, head = _head(folder, lifecycle, target, row_id)
    head += f"declares: {json.dumps(declares, ensure_ascii=False)}\n" if declares else ""
    head += f"rounds: {found.rounds}\n" if found.reproduced < found.rounds else ""
    path.write_text(f"{head}matrix:\n  {name}:\n{indented}", encoding="utf-8")
    return path


def clear(folder: Path, lifecycle: str, target: str, row_id: str) -> None:
    """Remove the counterexample file of a row if an earlier run of the same target wrote it."""
    path, head = _head(folder, lifecycle, target, row_id)
    with contextlib.suppress(OSError):  # what is not there, or cannot be read, is no file of ours
        if path.read_bytes().startswith(head.encode()):
            path.unlink()


def _head(folder: Path, lifecycle: str, target: str, row_id: str) -> tuple[Path, str]:
    """Return where a counterexample file is, and its first lines: which run wrote it, and about which row."""
    spec = Path(lifecycle)
    path = folder / f"{spec.name if lifecycle.endswith('/') else spec.stem}-{row_id}.yaml"
    named = json.dumps(lifecycle) if lifecycle.endswith(PATHS) else lifecycle
    return path, f"lifecycle: {named}\ntarget: {json.dumps(target)}\nrow: {row_id}\n"


class Saver(Watcher):
    """Writes every counterexample to a file, and knows how to run it again.

    The file that an earlier run of the same target wrote for a row goes when the row has a result, so that nobody
    replays a fault that was mended, and a run that is broken off loses nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.commands: dict[str, str] = {}  # row → what runs its counterexample again, or the row

    def header(self, header: Header) -> None:
        """Note what is run against what."""
        self._header = header

    def row(self, result: RowResult) -> None:
        """Save a counterexample, and forget what an earlier run found of this row; with the first of a search, all of its others."""
        header = self._header
        others = [f"{MACHINE}-{number}" for number in range(2, 2 * MOST_FAULTS)] if result.id == MACHINE else []
        for each in (result.id, *others):
            clear(self._folder, header.called, header.target, each)
        if result.counterexample is None:
            self.commands[result.id] = header.rerun(result.id)
            return
        try:
            declared = declared_text({**header.declares, "deviates": {}})
            path = save(self._folder, header.called, header.target, result.id, result.counterexample, declared)
        except OSError as error:
            self.commands[result.id] = f"(not saved: {error})"
        else:
            command = f"conformance replay {shlex.quote(str(path))} --against {shlex.quote(header.target)}"
            call = f"conformance.replay({json.dumps(str(path), ensure_ascii=False)}, …)"
            self.commands[result.id] = command if header.in_shell else call
