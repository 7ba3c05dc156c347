"""What two revisions of a spec say otherwise: each change with the path of its clause, and the spec with some of them made.

Changes are found in the trees of both, so that every word counts that somebody wrote, and none that somebody only laid out
otherwise. Rows are not among them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from statemachines.diagnostics import Where
from statemachines.yaml import Mapping, Node, Scalar, Sequence

Kind = Literal["rule", "level", "order", "words", "aside"]
"""A rule; how binding a clause is; the order of what stands in one place; words for people; what no system is asked for."""

_WORDS: Final = ("lifecycle", "version", "about")
_ASIDE: Final = ("scope", "invariants")
_EXPLAINED: Final = ("limits", "policies", "operations")  # each of them may have an `about`
_SHOULD: Final = "should"
_ROWS: Final = "matrix"
_NOTHING: Final = Mapping((), Where("", 1, 1), flow=True)
LONGEST_SHOWN: Final = 160  # characters of a text that is shown


@dataclass(frozen=True, slots=True)
class SpecChange:
    """One thing that two revisions say otherwise: the keys that lead to it, and how each says it; None where it does not."""

    kind: Kind
    keys: tuple[str, ...]
    old: Node | None
    new: Node | None

    @property
    def path(self) -> str:
        """The keys in one text, as clauses are written."""
        return ".".join(self.keys)

    @property
    def does(self) -> Literal["added", "removed", "changed"]:
        """What was done."""
        return "added" if self.old is None else "removed" if self.new is None else "changed"


def changes(old: Mapping, new: Mapping, clauses: Collection[str]) -> list[SpecChange]:
    """Return what two specs say otherwise, in the order of the new one; what is of one clause is one change."""
    found: dict[tuple[str, ...], SpecChange] = {}
    for name in dict.fromkeys((*new.keys(), *old.keys())):
        one, other = old.get(name), new.get(name)
        if name == _ROWS:
            continue
        if name == _SHOULD:
            found |= {each.keys: each for each in _levels(one, other)}
        elif name in _WORDS or not (_is_section(one) and _is_section(other)):
            if _plain(one) != _plain(other):
                found[name,] = SpecChange("words" if name in _WORDS else "rule", (name,), one, other)
        else:
            for keys, kind in _differing(_mapping(one), _mapping(other), (name,)):
                unit = _unit(keys, clauses)
                known = found.get(unit)
                kind = known.kind if known is not None and known.kind != "order" else kind
                found[unit] = SpecChange(kind, unit, _at(old, unit), _at(new, unit))
    return list(found.values())


def _levels(old: Node | None, new: Node | None) -> Iterator[SpecChange]:
    """Walk the clauses whose level is another one: `should` names those that are no must."""
    ours, theirs = ({each.text: each for each in _items(side) if isinstance(each, Scalar)} for side in (old, new))
    for path in dict.fromkeys((*theirs, *ours)):
        if (path in ours) != (path in theirs):
            yield SpecChange("level", (_SHOULD, path), ours.get(path), theirs.get(path))


def _differing(old: Mapping, new: Mapping, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Kind]]:
    """Walk the keys of what two mappings say otherwise, as deep as both have something there."""
    for name in dict.fromkeys((*new.keys(), *old.keys())):
        one, other, keys = old.get(name), new.get(name), (*above, name)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _differing(one, other, keys)
        elif _plain(one) != _plain(other):
            yield keys, _kind(keys)
    before, after = old.keys(), new.keys()
    both = [name for name in after if name in before]
    if len(above) > 1 and [name for name in before if name in both] != both:
        yield above, "order"


def _kind(keys: tuple[str, ...]) -> Kind:
    if keys[0] in _ASIDE:
        return "aside"
    return "words" if len(keys) == 3 and keys[0] in _EXPLAINED and keys[-1] == "about" else "rule"


def _unit(keys: tuple[str, ...], clauses: Collection[str]) -> tuple[str, ...]:
    """Return the keys of the clause that something belongs to, or its own where it belongs to none."""
    lengths = range(len(keys), 1, -1)
    return next((keys[:length] for length in lengths if ".".join(keys[:length]) in clauses), keys)


# ── The spec with some changes made ──


def with_changes(old: Mapping, new: Mapping, made: Iterable[SpecChange]) -> Mapping:
    """Return the old spec, without its rows, in which some changes are made that lead to the new one."""
    tree = replace(old, entries=tuple(entry for entry in old.entries if entry[0].text != _ROWS))
    for change in made:
        if change.kind == "level":
            tree = _with_level(tree, new, change)
        elif change.kind == "order":
            tree = _put(tree, new, change.keys, ordered=True)
        else:
            tree = _put(tree, new, change.keys)
    kept = (entry for entry in tree.entries if not _is_empty(entry[1]))
    return replace(tree, entries=tuple(kept))


def _put(here: Mapping, there: Mapping, keys: tuple[str, ...], *, ordered: bool = False) -> Mapping:
    """Put what stands at some keys in one mapping into another one, or take it away there."""
    if not keys:
        return _in_order(here, there) if ordered else there
    name, *rest = keys
    one, other = here.get(name), there.get(name)
    if rest or ordered:
        value: Node | None = _put(_mapping(one), _mapping(other), tuple(rest), ordered=ordered)
        gone = other is None and _is_empty(value)
    else:
        value, gone = other, other is None
    key = there.key(name) or here.key(name)
    if gone or value is None or key is None:
        return replace(here, entries=tuple(entry for entry in here.entries if entry[0].text != name))
    if one is not None:
        return replace(here, entries=tuple((each, value if each.text == name else old) for each, old in here.entries))
    names = there.keys()
    before = set(names[: names.index(name)] if name in names else names)
    place = max((at for at, entry in enumerate(here.entries, 1) if entry[0].text in before), default=0)
    return replace(here, entries=(*here.entries[:place], (key, value), *here.entries[place:]))


def _in_order(here: Mapping, there: Mapping) -> Mapping:
    """Return a mapping in the order of another one; what that does not have comes last."""
    places = {name: place for place, name in enumerate(there.keys())}
    return replace(here, entries=tuple(sorted(here.entries, key=lambda entry: places.get(entry[0].text, len(places)))))


def _with_level(tree: Mapping, new: Mapping, change: SpecChange) -> Mapping:
    """Name a clause under `should`, or name it no more."""
    listed = [
        each for each in _items(tree.get(_SHOULD)) if not (isinstance(each, Scalar) and each.text == change.keys[1])
    ]
    if change.new is not None:
        listed.append(change.new)
    value = Sequence(tuple(listed), tree.where, flow=True)
    key = tree.key(_SHOULD) or new.key(_SHOULD)
    entries = [entry for entry in tree.entries if entry[0].text != _SHOULD]
    return replace(tree, entries=(*entries, *([(key, value)] if key is not None else [])))


# ── Trees ──


def _at(tree: Mapping, keys: tuple[str, ...]) -> Node | None:
    found: Node | None = tree
    for name in keys:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _is_section(node: Node | None) -> bool:
    return node is None or isinstance(node, Mapping)


def _mapping(node: Node | None) -> Mapping:
    return node if isinstance(node, Mapping) else _NOTHING


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else () if node is None else (node,)


def _is_empty(node: Node | None) -> bool:
    return (isinstance(node, Mapping) and not node.entries) or (isinstance(node, Sequence) and not node.items)


def _plain(node: Node | None) -> object:
    """Return what a node says, however it is laid out."""
    match node:
        case Scalar(value=str()):
            return " ".join(node.text.split())
        case Scalar(value=value):
            return (value,)
        case Sequence(items=items):
            return [_plain(each) for each in items]
        case Mapping(entries=entries):
            return {key.text: _plain(value) for key, value in entries}
        case None:
            return None


def shown(node: Node | None) -> str:
    """Write what a node says on one line; what is long is cut."""
    text = _shown(node)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def _shown(node: Node | None) -> str:
    match node:
        case Scalar(text=text):
            return " ".join(text.split()) or "''"
        case Sequence(items=items):
            return f"[{', '.join(map(_shown, items))}]"
        case Mapping(entries=entries):
            return f"{{{', '.join(f'{key.text}: {_shown(value)}' for key, value in entries)}}}"
        case None:
            return ""
