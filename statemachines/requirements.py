"""What each revision of a spec requires, frozen in a file: the rows, the level of each, and a hash of what it says.

A row that comes later, or says more later, is measured against these files: no system that an earlier revision
found right is found wrong by that revision afterwards.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping as Values
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Final

from statemachines.diagnostics import Diagnostic, SpecError, Where
from statemachines.lifecycle import Expr, Level, Lifecycle, Limit, OperationSpec, Policy, Row, Word
from statemachines.specs import RULES
from statemachines.surface import check_structure
from statemachines.yaml import locate, read_file, to_plain

LEVEL_ORDER: Final[tuple[Level, ...]] = ("may", "should", "must")
"""The levels, from what is least required to what is most."""
_FOR_PEOPLE: Final[Values[type, frozenset[str]]] = {
    Row: frozenset({"id", "group", "about", "level", "source"}),
    Lifecycle: frozenset({"version", "about", "file", "places", "rows"}),
    **dict.fromkeys((Limit, Policy, OperationSpec), frozenset({"about"})),
}
_HASH_DIGITS: Final = 16  # of a hash: enough for two rows never to have the same


@dataclass(frozen=True, slots=True)
class Required:
    """What a revision requires of a row: its level, and the hash of what it says."""

    level: Level
    says: str
    where: Where | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Requirements:
    """What one revision requires: its rows, and the hash of its rules."""

    lifecycle: str
    revision: int
    rules: str
    rows: Values[str, Required]


def requirements_of(spec: Lifecycle) -> Requirements:
    """Return what a spec requires as it is now."""
    rows = {name: Required(row.level, row_hash(row)) for name, row in spec.rows.items()}
    return Requirements(spec.name, spec.version, _hash(_plain(spec)), rows)


def row_hash(row: Row) -> str:
    """Return the hash of what a row says: what it needs, covers, draws, does and asserts, not how that is laid out or explained."""
    return _hash(_plain(row))


def spec_hash(spec: Lifecycle) -> str:
    """Return the hash of what a spec says now: its revision, its rules, and its rows in their order, with the level of each."""
    return _hash([spec.version, _plain(spec), [[name, row.level, row_hash(row)] for name, row in spec.rows.items()]])


def lower(one: Level, other: Level) -> Level:
    """Return the level of two that requires less."""
    return min(one, other, key=LEVEL_ORDER.index)


def _hash(said: Any) -> str:
    text = json.dumps(said, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]


def _plain(value: Any) -> Any:
    """Return what is said as plain values: without places, and without what is only for people."""
    match value:
        case Expr() | Word():
            return value.text
        case Where():
            return None
        case Values():
            return [[str(key), _plain(each)] for key, each in value.items()]
        case tuple() | list():
            return [_plain(each) for each in value]
        case _ if is_dataclass(value):
            left_out = _FOR_PEOPLE.get(type(value), frozenset())
            said = {each.name: getattr(value, each.name) for each in fields(value) if each.name not in left_out}
            # What is not said is left out: a word that the language learns later changes the hash of no row without it.
            return {name: _plain(each) for name, each in said.items() if not _is_unsaid(each)}
        case _:
            return value


def _is_unsaid(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, str | tuple | Values) and not value)


# ── The files ──


def requirements_folder(rules: Path) -> Path:
    """Return the folder of the frozen sets of a spec, by the file with its rules: below its folder, or beside its one file."""
    return rules.parent / "requirements" if rules.name == RULES else rules.with_suffix(".requirements")


def frozen_sets(rules: Path, spec: Lifecycle) -> dict[int, Requirements]:
    """Return the frozen sets of a spec by their revision, in order; none where none was frozen.

    Raises SpecError with the faults of every file, one that is of another life cycle or revision than its place says included.
    """
    found: dict[int, Requirements] = {}
    faults: list[Diagnostic] = []
    for path in sorted(requirements_folder(rules).glob("*.yaml")):
        try:
            each = _read(path, str(Path(spec.file).parent / path.relative_to(rules.parent)), spec.name)
        except SpecError as error:
            faults += error.diagnostics
        else:
            found[each.revision] = each
    if faults:
        raise SpecError(faults)
    return dict(sorted(found.items()))


def _read(path: Path, shown: str, lifecycle: str) -> Requirements:
    tree = read_file(path, name=shown)
    check_structure(tree, "requirements")
    plain: Any = to_plain(tree)
    expected = {"lifecycle": lifecycle, "revision": path.stem}
    faults = [
        Diagnostic(
            "wrong-file", locate(tree, (word,)), f"{word} is {plain[word]} here, and {meant} by its place", _AGAIN
        )
        for word, meant in expected.items()
        if str(plain[word]) != meant
    ]
    if faults:
        raise SpecError(faults)
    rows = {
        name: Required(each["level"], each["says"], locate(tree, ("rows", name)))
        for name, each in plain["rows"].items()
    }
    return Requirements(plain["lifecycle"], plain["revision"], plain["rules"], rows)


_AGAIN: Final = "`conformance freeze` writes these files, and nobody edits them"


def frozen_text(required: Requirements) -> str:
    """Return the text of the file of a set."""
    rows = (
        f"  {name}: {{level: {each.level}, says: {json.dumps(each.says)}}}\n" for name, each in required.rows.items()
    )
    return (
        f"# What revision {required.revision} requires. `conformance freeze` has written it; nobody edits it.\n"
        f"lifecycle: {required.lifecycle}\n"
        f"revision: {required.revision}\n"
        f"rules: {json.dumps(required.rules)}\n"
        f"rows:\n{''.join(rows)}"
    )


# ── Whether a spec keeps to what was frozen ──


def unkept(spec: Lifecycle, sets: Values[int, Requirements]) -> list[Diagnostic]:
    """Return the faults of a spec that requires more, or else, than its revision: as long as that is frozen, it stands."""
    if not sets:
        return []
    newest = max(sets)
    version = spec.places.get("version", Where(spec.file, 1, 1))
    if newest > spec.version:
        said = f"the spec is version {spec.version}, and revision {newest} is frozen"
        return [Diagnostic("frozen-later", version, said, "a version only rises")]
    again = [_used_again(spec.rows[name], sets) for name in spec.rows if _left(name, sets)]
    if newest < spec.version:
        return again
    return [*again, *(fault for name, each in sets[newest].rows.items() for fault in _changed(spec, name, each))]


def _left(name: str, sets: Values[int, Requirements]) -> bool:
    """Return whether a row was required once and then no more."""
    return any(name in each.rows for each in sets.values()) and name not in sets[max(sets)].rows


def _used_again(row: Row, sets: Values[int, Requirements]) -> Diagnostic:
    last = max(revision for revision, each in sets.items() if row.id.text in each.rows)
    message = f"{row.id.text} was another row, which revision {last} required and a later one did not"
    return Diagnostic("frozen-again", row.id.where, message, "take a name that was never used before")


def _changed(spec: Lifecycle, name: str, required: Required) -> list[Diagnostic]:
    """Return what of a row is not as its revision requires it."""
    raise_it = f"raise `version` to {spec.version + 1}, then `conformance freeze`"
    if name not in spec.rows:
        where = required.where or Where(spec.file, 1, 1)
        said = f"revision {spec.version} requires {name}, and the spec has no such row"
        return [Diagnostic("frozen-removed", where, said, f"bring it back, or {raise_it}")]
    row, found = spec.rows[name], []
    if LEVEL_ORDER.index(row.level) > LEVEL_ORDER.index(required.level):
        said = f"{name} is {row.level}, and {required.level} in revision {spec.version}"
        found.append(Diagnostic("frozen-level", row.id.where, said, raise_it))
    if row_hash(row) != required.says:
        said = f"{name} says something else than in revision {spec.version}"
        found.append(Diagnostic("frozen-changed", row.id.where, said, raise_it))
    return found
