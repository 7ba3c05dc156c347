"""No sentence of a spec is idle: without it, or with a weaker one, the checker has something to say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import pytest
import yaml

from statemachines.check import check_text
from statemachines.compile import load
from statemachines.diagnostics import Diagnostic
from statemachines.specs import spec_path

Item = TypeVar("Item")
NAME = "thread-job"
CHUNKS = 16

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
    return int(node.end_mark.index)


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
    first = text.rfind("\n", 0, start) + 1
    assert not text[first:start].strip(), f"{place.path} shares its line"
    return text[:first] + text[text.index("\n", end) + 1 :]


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
            place
            for place in self.places
            if place.keys[0] in sections and isinstance(place.value, yaml.ScalarNode)
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
    answers = ["accepted", "unchanged", "refused", "refused not_found", "refused wrong_state"]
    return [answer for answer in answers if answer != value]


def _other_states(value: str, spec: Spec) -> list[str]:
    """Another state or group, or one state of the group."""
    return [other for other in (*spec.groups, *spec.states) if other != value]


def _other_values(value: str, _: Spec) -> list[str]:
    return {"true": ["false"], "false": ["true"], "now": ["0", "now + 1"]}.get(value, [])


TABLE: tuple[tuple[Callable[[Place], bool], Callable[[str, Spec], list[str]]], ...] = (
    (_named("newest"), _more_or_less),
    (_named("when", "must"), _negated),
    (lambda place: place.keys[0] == "define" or "open" in place.keys or "requires" in place.keys, _negated),
    (lambda place: not {"about", "move"} & set(place.keys), _parts),
    (_named("move"), _other_moves),
    (_named("missing", "otherwise", "answer"), _other_answers),
    (_named("due"), _other_states),
    (lambda place: place.keys[-1] == "of" and "retain" in place.keys, _other_states),
    (_below("set"), _other_values),
    (lambda place: "default" in place.keys and "statuses" in place.keys, _other_states),
    (_below("gives"), lambda value, _: ["null"] if value != "null" else []),
)


def removable(place: Place) -> bool:
    """Tell of parts of a clause that can go: keys of an order, conditions, fields that are shown."""
    *above, last = place.keys
    if not above or above[0] not in ("entities", "messages", "operations", "on its own", "should"):
        return False
    return (
        last in ("when", "must", "times", "optional", "per")
        or above[-1] in ("by", "order", "shows", "gives", "should")
        or last in ("by", "plural")
    )


# ── What is expected ─────────────────────────────────────────────────────────────────────────────

OPEN = "where everything is open, no row goes, so none covers it"
INVARIANT = "a consequence of the other sentences, stated once more; only the rows that cover it miss it"
DEFAULT = "it says the default"
STANDS_IDLE = "whenever the model is at rest, the field has that value already"
SURVIVORS = {
    "messages.Ended.at most": "in a model of one thread a message that was sent is no longer due",
    "operations.request_cancel.missing": DEFAULT,
    "operations.inspect_job.missing": DEFAULT,
    "operations.restart.may lose": "the model has no files that could be lost",
    "operations.restart.for each.thread.set.thread.boundary_requested": STANDS_IDLE,
    "on its own.busy_after_restart.set.thread.restarted": "becoming idle again clears it too",
    "invariants.terminal is final": INVARIANT,
    "invariants.completion is stamped": INVARIANT,
    "invariants.cancel is stamped": INVARIANT,
    "invariants.told at most once": INVARIANT,
    "invariants.retention holds": INVARIANT,
}
"""Clauses that only `unknown-clause` misses, each with the reason why no row can."""

UNMISSED = {"operations.emit.missing": OPEN}
"""Clauses that nothing misses."""

EQUIVALENT = {
    "operations.finish.set.job.thread.boundary_requested: "
    "job.thread.idle || job.thread.boundary_requested → job.thread.idle": STANDS_IDLE,
    "operations.emit.sends.told: due.Ended.filter(m, m.job_id == job.id && m.to == thread) → "
    "due.Ended.filter(m, m.job_id == job.id)": "a job is private to its thread",
    "on its own.busy_after_restart.when: thread.restarted && thread.idle → thread.restarted": (
        "a thread that is not idle does not become busy"
    ),
    "on its own.busy_after_restart.set.thread.restarted: false → true": "becoming idle again clears it too",
    "without should.0": "its rows are musts too: how binding the source is, only a reader knows",
}
"""Weakenings that change nothing that anybody could see."""


def objections(text: str) -> list[Diagnostic]:
    """What the checker says; it looks thoroughly only if a quick look finds nothing."""
    found = list(check_text(text, "weaker.yaml", quick=True).diagnostics)
    if all(each.code == "unknown-clause" for each in found):
        found += check_text(text, "weaker.yaml").diagnostics
    return found


@cache
def original() -> Spec:
    return Spec.read(spec_path(NAME).read_text(encoding="utf-8"))


def chunk(items: Sequence[Item], number: int) -> Sequence[Item]:
    return items[number::CHUNKS]


def check_places(found: list[Diagnostic], text: str) -> None:
    lines = text.count("\n") + 1
    assert all(1 <= each.where.line <= lines and each.where.column >= 1 for each in found)


@pytest.mark.parametrize("number", range(CHUNKS))
def test_no_sentence_goes_unmissed(number: int) -> None:
    spec = original()
    for clause in chunk(load(NAME).kernel.clauses, number):
        place = sentence(clause.path, list(spec.places))
        assert place is not None, f"{clause.path} is nowhere in the file"
        text = without(spec.text, place)
        found = objections(text)
        assert bool(found) != (clause.path in UNMISSED), f"{clause.path}: {found or 'nobody misses it'}"
        check_places(found, text)
        missed = any(each.code != "unknown-clause" for each in found)
        if clause.path in SURVIVORS or clause.path in UNMISSED:
            assert not missed, f"{clause.path} is missed now: {found}. Take it off the list of survivors"
        else:
            assert missed, f"only `covers` misses {clause.path}: a row that shows it is too weak"


@pytest.mark.parametrize("number", range(CHUNKS))
def test_no_sentence_can_be_weakened_unnoticed(number: int) -> None:
    for name, text in chunk(list(weakenings(original())), number):
        found = [each for each in objections(text) if each.code != "unknown-clause"]
        check_places(found, text)
        if name in EQUIVALENT:
            assert not found, f"{name} is noticed now: {found}. Take it off the list of equivalents"
        else:
            assert found, f"nobody notices {name}"


def test_every_exception_is_about_something_that_the_spec_says() -> None:
    assert {*SURVIVORS, *UNMISSED} <= {clause.path for clause in load(NAME).kernel.clauses}
    assert set(EQUIVALENT) <= {name for name, _ in weakenings(original())}


def test_the_table_of_weakenings_reaches_every_kind_of_sentence() -> None:
    names = " ".join(name for name, _ in weakenings(original()))
    for word in ("newest", "by.1", "order.0", "when", "must", "open.", "move", "otherwise", "missing", "due"):
        assert word in names, word


@pytest.mark.parametrize(
    ("text", "path", "left"),
    [
        ("a:\n  b: 1\n  c:\n    - x\n    - y\nd: 2\n", "a.c", "a:\n  b: 1\nd: 2\n"),
        ("a:\n  b: 1   # why\nd: 2\n", "a.b", "d: 2\n"),
        ("a:\n  c:\n    - x\n    - y\nd: 2\n", "a.c.0", "a:\n  c:\n    - y\nd: 2\n"),
        ("a: {b: 1, c: 2, e: 3}\n", "a.b", "a: {c: 2, e: 3}\n"),
        ("a: {b: 1, c: [2, 3], e: 3}\n", "a.c", "a: {b: 1, e: 3}\n"),
        ("a: {b: 1, c: 2, e: 3}\n", "a.e", "a: {b: 1, c: 2}\n"),
        ("a: {b: {c: 1}, d: 2}\n", "a.b.c", "a: {d: 2}\n"),
        ("a: [b, c]\n", "a.1", "a: [b]\n"),
    ],
)
def test_a_deletion_takes_the_entry_and_nothing_else(text: str, path: str, left: str) -> None:
    place = next(place for place in places(text) if place.path == path)
    assert without(text, place) == left
