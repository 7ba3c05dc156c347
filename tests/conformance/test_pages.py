"""Lists that come in pages: what a cursor stands for is a record, and one that is minted by content may come again."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import pytest

from conformance.refused import Refused
from statemachines.diagnostics import SpecError
from statemachines.model import Impossible
from tests.checking import codes, compile_text
from tests.conformance.systems import failing

SPEC = """
lifecycle: pages
version: 1
about: Notes are listed in pages.
limits:
  page: {default: 2, about: notes in one reply}
types:
  Text: {text: short}
  Cursor: {id of: Page, or: fresh}
entities:
  Note:
    id: minted
    fields: {text: Text}
    shows: {note_id: note.id, text: note.text}
  Page:
    id: minted by content
    fields: {after: int}
operations:
  add:
    takes: {text: Text}
    create: {Note: {text: text}}
    gives: {note_id: note.id}
  list:
    takes: {cursor: {type: Cursor | null, default: null}}
    requires: {no_such_cursor: "cursor == null || pages.exists(p, p.id == cursor)"}
    reads:
      rest: notes.filter(n, pages.all(p, p.id != cursor || n.serial > p.after)).sortBy(n, n.serial)
      told: rest.take(limits.page)
    create:
      Page:
        when: told != [] && rest.size() > told.size()
        after: told[told.size() - 1].serial
    gives: {notes: told, next: if page == null then null else page.id}
matrix:
  N1:
    about: A list that is longer than a page goes on where the page ended.
    level: must
    source: the handbook
    needs: limits.page > 0
    covers: [entities, operations]
    act:
      - all = repeat(limits.page + 1, add('x'))
      - first = list()
      - second = list(first.next)
      - unknown = list(fresh)
    assert:
      - first.notes.size() == limits.page && second.notes.map(n, n.note_id) == [all[limits.page].note_id]
      - second.next == null && unknown.refused == no_such_cursor
"""


class Pager:
    """A cursor is the place where the list goes on, for all to see; nothing is kept."""

    declares: ClassVar[dict[str, Any]] = {}
    size = 2

    def __init__(self) -> None:
        self.notes: list[str] = []

    def add(self, text: str) -> dict[str, str]:
        self.notes.append(text)
        return {"note_id": f"n{len(self.notes)}"}

    def place(self, cursor: str) -> int:
        if not re.fullmatch("from-[0-9]+", cursor):
            raise Refused("no_such_cursor")
        return int(cursor.removeprefix("from-"))

    def cursor(self, place: int) -> str:
        return f"from-{place}"

    def next(self, place: int) -> str | None:
        return self.cursor(place) if place < len(self.notes) else None

    def list(self, cursor: str | None = None) -> dict[str, Any]:
        first = 0 if cursor is None else self.place(cursor)
        part = self.notes[first : first + self.size]
        notes = [{"note_id": f"n{number}", "text": text} for number, text in enumerate(part, first + 1)]
        return {"notes": notes, "next": self.next(first + len(part))}


class LargerPages(Pager):
    declares: ClassVar[dict[str, Any]] = {"limits": {"page": 3}}
    size = 3


class Tokens(Pager):
    """Each cursor is a new one."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, int] = {}

    def place(self, cursor: str) -> int:
        if cursor not in self.places:
            raise Refused("no_such_cursor")
        return self.places[cursor]

    def cursor(self, place: int) -> str:
        token = f"token-{len(self.places)}"
        self.places[token] = place
        return token


class GoodOnce(Tokens):
    def place(self, cursor: str) -> int:
        place = super().place(cursor)
        del self.places[cursor]
        return place


class OneForAll(Tokens):
    """All lists go on with one cursor."""

    def cursor(self, place: int) -> str:
        self.places["more"] = place
        return "more"


class Again(Pager):
    """The last note of a page is the first of the next one, too."""

    def cursor(self, place: int) -> str:
        return super().cursor(place - 1)


class Endless(Pager):
    """After the last page there is another one, which is empty."""

    def next(self, place: int) -> str | None:
        return self.cursor(place)


class OnePage(Pager):
    def next(self, place: int) -> str | None:
        return None


class AnyCursor(Pager):
    """A cursor that nobody gave begins from the front."""

    def place(self, cursor: str) -> int:
        return super().place(cursor) if re.fullmatch("from-[0-9]+", cursor) else 0


def test_the_spec_is_right() -> None:
    assert codes(SPEC) == set()


@pytest.mark.thorough
@pytest.mark.parametrize("system", [Pager, LargerPages, Tokens])
def test_cursors_that_lead_on_pass(system: type) -> None:
    assert failing(SPEC, system) == set()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("system", "rows"),
    [(GoodOnce, set()), (OneForAll, set()), (Again, {"N1"}), (Endless, {"N1"}), (OnePage, {"N1"}), (AnyCursor, {"N1"})],
)
def test_cursors_that_lead_elsewhere_fail(system: type, rows: set[str]) -> None:
    assert failing(SPEC, system) == {*rows, "machine"}


def test_a_cursor_must_be_a_new_one_where_it_is_not_minted_by_content() -> None:
    assert failing(SPEC.replace(" by content", ""), Pager, pairs=0) == {"machine"}


def test_a_record_is_minted_by_content_only_without_states() -> None:
    spec = SPEC.replace("after: int}", "after: int}\n    states: {active: [open], terminal: [shut]}")
    with pytest.raises(SpecError, match="Page has states"):
        compile_text(spec, "pages.yaml")


def test_alike_records_of_one_id_are_one_and_others_cannot_be() -> None:
    model: Any = compile_text(SPEC, "pages.yaml").model()
    for text in "abcde":
        model.add(text)

    def listed(cursor: str | None, gives: str) -> Any:
        return model.do("list", {"cursor": cursor}, lambda *_: gives).value["next"]

    assert [listed(None, "x"), listed(None, "x"), listed(None, "y")] == ["x", "x", "y"]
    assert sorted(model.pages) == ["x", "y"]
    with pytest.raises(Impossible, match="stands for something else"):
        listed("x", "y")
    assert listed("x", "z") == "z"
    assert model.do("list", {"cursor": "z"}, lambda *_: "z").value["next"] is None


PERHAPS = """
lifecycle: perhaps
version: 1
about: A job may come with a note, and one that is loud says so.
signals: {Noted: {}}
entities:
  Job: {id: minted}
  Note:
    fields: {name: text}
    unique: {name: name_taken}
    states: {active: [loud, still], terminal: [gone]}
    entering: {loud: {signal: {Noted: {}}}}
operations:
  start:
    takes: {name: text | null}
    create:
      Job: {}
      Note: {when: name != null, name: name, state: if name == 'a' then loud else still}
    gives: {job_id: job.id, noted: "note != null && note.state == loud"}
"""


def test_what_is_created_on_a_condition_is_nothing_elsewhere() -> None:
    model: Any = compile_text(PERHAPS, "perhaps.yaml").model()
    found = [model.start(name) for name in (None, "b", "a")]
    assert [(each.value["noted"], each.signals) for each in found] == [
        (False, ()),
        (False, ()),
        (True, (("Noted", ()),)),
    ]
    assert model.start("a").refuse == ("name_taken",)
    assert [note.name for note in model.notes.values()] == ["b", "a"]
