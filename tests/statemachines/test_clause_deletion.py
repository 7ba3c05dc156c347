"""No sentence of a spec is idle: without it, or with a weaker one, the checker has something to say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

import pytest

from statemachines.bounds import USUAL
from statemachines.compile import load
from statemachines.diagnostics import Diagnostic
from statemachines.specs import shipped
from tests.checking import check_text
from tests.one_text import one_text
from tests.statemachines.tolerated import TOLERATED
from tests.statemachines.weakening import Place, Spec, places, sentence, weakenings, without

pytestmark = pytest.mark.thorough

Item = TypeVar("Item")
CHUNKS = 16
EACH_CHUNK = [(name, number) for name in shipped() for number in range(CHUNKS)]
# In these much is left open: most weakenings only open more, which no row can notice.
LARGE = {"local-agent", "job"}
# Checking takes long: of deletions `make test` takes an eighth, and none where much is left open, of weakenings the first chunk.
DELETED = [
    pytest.param(name, number, marks=[pytest.mark.soak] if number % 8 or name in LARGE else [])
    for name, number in EACH_CHUNK
]
WEAKENED = [
    pytest.param(name, number, marks=[pytest.mark.soak] if number or name == "background-tasks" else [])
    for name, number in EACH_CHUNK
    if name not in LARGE
]


def objections(text: str) -> list[Diagnostic]:
    """What the checker says; it looks thoroughly only if a quick look finds nothing."""
    found = list(check_text(text, "weaker.yaml", USUAL.quick()).diagnostics)
    if all(each.code == "unknown-clause" for each in found):
        found += check_text(text, "weaker.yaml").diagnostics
    return found


@cache
def original(name: str) -> Spec:
    return Spec.read(one_text(name))


def chunk(items: Sequence[Item], number: int) -> Sequence[Item]:
    return items[number::CHUNKS]


def of_every_operation(name: str, path: str) -> Place | None:
    """The place of what an operation answers because the kind of its record says so: `missing` of an entity."""
    requires = [require for operation in load(name).kernel.operations for require in operation.requires]
    entity = next((each.entity for each in requires if each.clause == path and each.entity), "")
    return sentence(f"entities.{entity}.missing", list(original(name).places))


def check_places(found: list[Diagnostic], text: str) -> None:
    lines = text.count("\n") + 1
    assert all(1 <= each.where.line <= lines and each.where.column >= 1 for each in found)


@pytest.mark.parametrize(("name", "number"), DELETED)
def test_no_sentence_goes_unmissed(name: str, number: int) -> None:
    spec, tolerated = original(name), TOLERATED[name]
    wrong = []
    for clause in chunk(load(name).kernel.clauses, number):
        place = sentence(clause.path, list(spec.places)) or of_every_operation(name, clause.path)
        if place is None and clause.path.endswith((".missing", ".otherwise")):
            continue  # the answer that goes without saying
        assert place is not None, f"{clause.path} is nowhere in the file"
        text = without(spec.text, place)
        found = objections(text)
        check_places(found, text)
        missed = any(each.code != "unknown-clause" for each in found)
        if clause.path in tolerated.survivors or clause.path in tolerated.unmissed:
            if missed:
                wrong.append(f"{clause.path} is missed now: {found}. Take it off the list of survivors")
            elif bool(found) == (clause.path in tolerated.unmissed):
                wrong.append(f"{clause.path}: {found or 'nobody misses it'}")
        elif not found:
            wrong.append(f"nobody misses {clause.path}")
        elif not missed:
            wrong.append(f"only `covers` misses {clause.path}: a row that shows it is too weak")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("name", "number"), WEAKENED)
def test_no_sentence_can_be_weakened_unnoticed(name: str, number: int) -> None:
    equivalent = TOLERATED[name].equivalent
    wrong = []
    for what, text in chunk(list(weakenings(original(name))), number):
        found = [each for each in objections(text) if each.code != "unknown-clause"]
        check_places(found, text)
        if what in equivalent and found:
            wrong.append(f"{what} is noticed now: {found}. Take it off the list of equivalents")
        elif what not in equivalent and not found:
            wrong.append(f"nobody notices {what}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", TOLERATED)
def test_every_exception_is_about_something_that_the_spec_says(name: str) -> None:
    tolerated = TOLERATED[name]
    assert {*tolerated.survivors, *tolerated.unmissed} <= {clause.path for clause in load(name).kernel.clauses}
    assert set(tolerated.equivalent) <= {what for what, _ in weakenings(original(name))}


def test_the_table_of_weakenings_reaches_every_kind_of_sentence() -> None:
    names = " ".join(what for name in TOLERATED for what, _ in weakenings(original(name)))
    for word in (
        "newest",
        "by.1",
        "order.0",
        "when",
        "must",
        "open.",
        "move",
        "move.",
        "otherwise",
        "missing",
    ):
        assert word in names, word
    for word in ("due", "only if", "unsaid", "requires"):
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
        ("a:\n  b: >-\n    x\n    y\n  c: 1\n", "a.b", "a:\n  c: 1\n"),
        ("a:\n  - b: 1\n    c: 2\n", "a.0.b", "a:\n  - c: 2\n"),
    ],
)
def test_a_deletion_takes_the_entry_and_nothing_else(text: str, path: str, left: str) -> None:
    place = next(place for place in places(text) if place.path == path)
    assert without(text, place) == left
