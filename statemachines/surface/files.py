"""The files of a spec → one tree: what `matrix` names is read from `rows/`, the folder beside the rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from statemachines.diagnostics import Diagnostic, SpecError, Where, did_you_mean
from statemachines.specs import RULES
from statemachines.yaml import Mapping, Node, Scalar, Sequence, read_file


def read_spec(path: Path, *, name: str | None = None) -> Node:
    """Return the tree of a spec, a file or a folder; raise SpecError with every fault of YAML in any of its files.

    Places bear `name`, by default the path as given, or what lies below it.
    """
    rules, shown = rules_of(path), name or str(path)
    if rules != path:
        shown = str(Path(shown) / RULES)
    if rules != path and not rules.exists():
        hint = f"a spec is a file, or a folder with {RULES} and its rows in rows/"
        raise SpecError([Diagnostic("file-not-found", Where(shown, 1, 1), "there is no such file", hint)])
    return with_rows(read_file(rules, name=shown), rules.parent)


def rules_of(path: Path) -> Path:
    """Return the file with the rules of a spec: the path itself, or that of a folder."""
    return path / RULES if path.is_dir() else path


def with_rows(rules: Node, folder: Path) -> Node:
    """Return a tree in which each group of rows that `matrix` names stands in the place of its name.

    `folder` is where `rows/` lies. Raises SpecError with the faults of the files there, the names that lead to none, and
    the files that have no name in `matrix`: rows that nobody reads are a mistake.
    """
    if not isinstance(rules, Mapping):
        return rules  # which the check of the structure tells
    matrix = rules.get("matrix")
    items = matrix.items if isinstance(matrix, Sequence) else ()
    names = [item.text for item in items if isinstance(item, Scalar)]
    files: list[Path] = []
    keys = [key.text for key, _ in rules.entries]
    misspelt = matrix is None and did_you_mean("matrix", keys)  # told by that check, too
    if (names or Path(rules.where.file).name == RULES) and not misspelt:
        files = sorted(path for path in folder.glob("rows/*") if not path.name.startswith("."))
    place = rules.where if matrix is None else matrix.where
    faults = [_unread(path, place) for path in files if path.suffix != ".yaml" or path.stem not in names]
    groups: list[Node] = []
    for item in items:
        try:
            groups.append(_named(item, files) if isinstance(item, Scalar) else item)
        except SpecError as error:
            faults += error.diagnostics
    if faults:
        raise SpecError(faults)
    if not names:
        return rules
    whole = Sequence(tuple(groups), place, flow=False)
    entries = tuple((key, whole if key.text == "matrix" else value) for key, value in rules.entries)
    return Mapping(entries, rules.where, rules.flow)


def no_such_rows(name: Scalar, known: Iterable[str] = ()) -> Diagnostic:
    """Return the fault of a name in `matrix` for which there is no file among the `known` ones."""
    hint = did_you_mean(name.text, known) or "write the file, or take the name off the list"
    return Diagnostic("file-not-found", name.where, f"there is no rows/{name.text}.yaml beside this file", hint)


def _named(name: Scalar, files: Iterable[Path]) -> Mapping:
    """Read the group of rows that a name of `matrix` stands for."""
    known = {path.stem: path for path in files if path.suffix == ".yaml"}
    if name.text not in known:
        raise SpecError([no_such_rows(name, known)])
    shown = Path(name.where.file).parent / "rows" / f"{name.text}.yaml"
    group = read_file(known[name.text], name=str(shown))
    if not isinstance(group, Mapping):
        hint = "it begins with `title:`, and has its rows under `rows:`"
        raise SpecError([Diagnostic("wrong-kind", group.where, "a file of rows is a mapping", hint)])
    return group


def _unread(path: Path, place: Where) -> Diagnostic:
    """Return the fault of a file that `matrix` does not name."""
    message = f"rows/{path.name} is not read: `matrix` does not name it"
    hint = f"add {path.stem} to the list, or take the file away"
    if path.suffix != ".yaml":
        hint = f"a file of rows ends in .yaml: call it {path.stem}.yaml, or take it away"
    return Diagnostic("unread-rows", place, message, hint)
