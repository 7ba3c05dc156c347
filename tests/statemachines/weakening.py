"""A spec as a text in which every entry has its place, and the weaker texts that come of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import yaml

# ── Where a sentence stands ──────────────────────────────────────────────────────────────────────

Key = str | int


@dataclass(frozen=True)
class Place:
    """One entry of a mapping or one item of a list, with the marks of PyYAML, and all that hold it."""

    keys: tuple[Key, ...]
    start: yaml.Mark
    value: yaml.Node
    flow: bool
    siblings: int
    above: Place | None

    @property
    def end(self) -> int:
        """The index behind the last character of the value; a block ends with its last scalar or bracket."""
        return _end(self.value)

    @property
    def path(self) -> str:
        """The keys that lead here, as a person says them."""
        return ".".join(map(str, self.keys))


def _end(node: yaml.Node) -> int:
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    folded = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
    return int(node.end_mark.index) - folded  # PyYAML ends such a one where the next line begins


def places(text: str) -> list[Place]:
    """Every entry and item of a YAML text, each before what it holds."""
    found: list[Place] = []

    def walk(node: yaml.Node, keys: tuple[Key, ...], above: Place | None) -> None:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                add((*keys, key.value), key.start_mark, value, node, above)
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                add((*keys, index), item.start_mark, item, node, above)

    def add(
        keys: tuple[Key, ...],
        start: yaml.Mark,
        value: yaml.Node,
        inside: yaml.CollectionNode,
        above: Place | None,
    ) -> None:
        place = Place(keys, start, value, bool(inside.flow_style), len(inside.value), above)
        found.append(place)
        walk(value, keys, place)

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert root is not None
    walk(root, (), None)
    return found


def sentence(path: str, known: list[Place]) -> Place | None:
    """The place of a clause by its path; None where the spec does not say it, as for a default answer."""
    for place in known:
        if place.path == path or (isinstance(place.value, yaml.ScalarNode) and _item(place) == path):
            return place if ".takes." not in path else _default(place, known)
    return None


def _item(place: Place) -> str:
    """The path of an item of a list that is a clause, as in `operations.restart.remove.Job`."""
    above = ".".join(map(str, place.keys[:-1]))
    return f"{above}.{place.value.value}" if isinstance(place.keys[-1], int) else ""


def _default(place: Place, known: list[Place]) -> Place | None:
    return next((inner for inner in known if inner.keys == (*place.keys, "default")), None)


# ── Edits ────────────────────────────────────────────────────────────────────────────────────────


def without(text: str, place: Place) -> str:
    """The text without an entry or item; and without what holds it, if nothing else is left there."""
    if place.siblings == 1:
        assert place.above is not None
        return without(text, place.above)
    start, end = place.start.index, place.end
    if place.flow:
        after = re.compile(r"\s*,\s*").match(text, end)
        if after:
            return text[:start] + text[after.end() :]
        return text[: text.rindex(",", 0, start)] + text[end:]
    if isinstance(place.keys[-1], int):
        start = text.rindex("- ", 0, start)
    first, rest = text.rfind("\n", 0, start) + 1, text[text.index("\n", end) + 1 :]
    if text[first:start].strip() == "-":  # the first of an item's entries: the next one takes its place
        return text[:start] + rest.lstrip(" ")
    assert not text[first:start].strip(), f"{place.path} shares its line"
    return text[:first] + rest


def instead(text: str, place: Place, value: str) -> str:
    """The text with another scalar; in quotes it may stand anywhere."""
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{text[: place.value.start_mark.index]}"{quoted}"{text[place.end :]}'


# ── Weakenings ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Spec:
    """A spec as text, with its places and its states."""

    text: str
    places: tuple[Place, ...]
    states: tuple[str, ...]
    groups: dict[str, tuple[str, ...]]

    @classmethod
    def read(cls, text: str) -> Spec:
        found = places(text)
        entities = [place for place in found if len(place.keys) == 3 and place.keys[0] == "entities"]
        groups: dict[str, tuple[str, ...]] = {}
        for place in entities:
            if place.keys[2] == "states":
                for key, value in place.value.value:
                    groups[key.value] = tuple(item.value for item in value.value)
        return cls(text, tuple(found), tuple(state for group in groups.values() for state in group), groups)

    def inside(self, *sections: str) -> list[Place]:
        """The scalars of some sections."""
        return [
            place for place in self.places if place.keys[0] in sections and isinstance(place.value, yaml.ScalarNode)
        ]


def weakenings(spec: Spec) -> Iterator[tuple[str, str]]:
    """Every weaker or different spec that the table makes: what was done, and the new text."""
    for place in spec.inside("entities", "messages", "operations", "on its own", "define", "policies"):
        for find, write in TABLE:
            if find(place):
                for value in write(place.value.value, spec):
                    yield f"{place.path}: {place.value.value} → {value}", instead(spec.text, place, value)
    for place in spec.places:
        if removable(place):
            yield f"without {place.path}", without(spec.text, place)


def _named(*names: str) -> Callable[[Place], bool]:
    return lambda place: place.keys[-1] in names


def _below(name: str) -> Callable[[Place], bool]:
    return lambda place: len(place.keys) > 1 and place.keys[-2] == name


def _is_set(place: Place) -> bool:
    """Tell of a value that a field gets, perhaps under a condition."""
    return place.keys[-2:-1] == ("set",) or (place.keys[-1] == "to" and place.keys[-3] == "set")


def _more_or_less(value: str, _: Spec) -> list[str]:
    return [f"{value} + 1", f"{value} - 1"]


def _negated(value: str, _: Spec) -> list[str]:
    return [f"!({value})"]


def _parts(value: str, _: Spec) -> list[str]:
    """Leave out one side of each `&&` and `||` that stands outside all brackets, or first within them."""
    found = []
    for operator in ("&&", "||"):
        parts = re.split(rf"\s*{re.escape(operator)}\s*", value)
        for index in range(len(parts) if len(parts) > 1 else 0):
            rest = f" {operator} ".join(part for place, part in enumerate(parts) if place != index)
            if rest.count("(") == rest.count(")"):
                found.append(rest)
    if len(found) < 2 and (inner := re.fullmatch(r"(.*\(\w+, )(.+?) (?:&&|\|\|) (.+)(\).*)", value)):
        found += [f"{inner[1]}{part}{inner[4]}" for part in (inner[2], inner[3])]
    return found


def _terms(value: str, _: Spec) -> list[str]:
    """Leave out one term of a sum."""
    terms = value.split(" + ")
    found = [" + ".join(terms[:index] + terms[index + 1 :]) for index in range(len(terms))]
    return [rest for rest in found if len(terms) > 1 and rest.count("(") == rest.count(")")]


def _other_moves(value: str, spec: Spec) -> list[str]:
    """Start from less or more, or lead elsewhere."""
    source, _, target = (part.strip() for part in value.partition("->"))
    sources = [
        *spec.groups.get(source, ()),
        *(group for group in spec.groups if source in spec.groups[group]),
    ]
    targets = [state for state in (*spec.states, "same") if target not in (state, source)]
    return [f"{other} -> {target}" for other in sources] + [f"{source} -> {other}" for other in targets]


def _other_answers(value: str, _: Spec) -> list[str]:
    answers = ["unchanged", "refused", "refused not_found", "refused wrong_state"]
    return [answer for answer in answers if answer != value]


def _other_states(value: str, spec: Spec) -> list[str]:
    """Another state or group, or one state of the group."""
    return [other for other in (*spec.groups, *spec.states) if other != value]


def _other_values(value: str, _: Spec) -> list[str]:
    return {"true": ["false"], "false": ["true"], "now": ["0", "now + 1"]}.get(value, [])


TABLE: tuple[tuple[Callable[[Place], bool], Callable[[str, Spec], list[str]]], ...] = (
    (_named("newest"), _more_or_less),
    (_named("when", "must", "only if", "unsaid"), _negated),
    (lambda place: place.keys[0] == "define" or "open" in place.keys or "requires" in place.keys, _negated),
    (lambda place: not {"about", "move"} & set(place.keys), _parts),
    (_is_set, _terms),
    (lambda place: place.keys[-1] == "when" and place.keys[-3] == "set", lambda _, __: ["true"]),
    (_named("move"), _other_moves),
    (_below("move"), _other_states),
    (_named("missing", "otherwise", "answer"), _other_answers),
    (_named("due"), _other_states),
    (lambda place: place.keys[-1] == "of" and "retain" in place.keys, _other_states),
    (_is_set, _other_values),
    (lambda place: "default" in place.keys and "statuses" in place.keys, _other_states),
    (_below("gives"), lambda value, _: ["null"] if value != "null" else []),
)


def removable(place: Place) -> bool:
    """Tell of parts of a clause that can go: keys of an order, conditions, fields that are shown."""
    *above, last = place.keys
    if not above or above[0] not in ("entities", "messages", "operations", "on its own", "should"):
        return False
    return (
        (last in ("when", "must", "times", "optional", "per") and "set" not in above[-2:-1])
        or above[-1] in ("by", "order", "shows", "gives", "should")
        or last in ("by", "plural")
    )
