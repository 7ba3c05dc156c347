"""A counterexample file: that of a spec without rows holds its own row alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.refused import Refused
from conformance.suite.replays import replay
from conformance.suite.trace_file import read
from tests.conformance.systems import adapted

SPEC = """
lifecycle: shelf
version: 1
about: A book is put on a shelf and taken from it.
entities:
  Book:
    id: minted
operations:
  put:
    create: {Book: {}}
    gives: {book_id: book.id}
  take:
    takes: {book: Book}
    for each: {it: {in: "[book]", remove: it}}
  count:
    gives: books.size()
"""
COUNTEREXAMPLE = """
lifecycle: shelf.yaml
matrix:
  C1:
    about: A book that was taken is gone.
    level: must
    source: the search
    covers: [operations.count.gives]
    act: [one = put(), take(one.book_id), left = count()]
    assert: left == 0
"""


class Shelf:
    """Counts what is there."""

    def __init__(self) -> None:
        self.books: set[str] = set()
        self.put_so_far = 0

    def put(self) -> dict[str, Any]:
        """Put a book."""
        self.put_so_far += 1
        self.books.add(f"book-{self.put_so_far}")
        return {"book_id": f"book-{self.put_so_far}"}

    def take(self, book: str) -> None:
        """Take a book."""
        if book not in self.books:
            raise Refused("not_found")
        self.books.discard(book)

    def count(self) -> int:
        """Count the books."""
        return len(self.books)


class CountsWhatWasPut(Shelf):
    """What was taken counts as well."""

    def count(self) -> int:
        return self.put_so_far


@pytest.mark.parametrize(("system", "failed"), [(Shelf, 0), (CountsWhatWasPut, 1)])
def test_the_counterexample_of_a_spec_without_rows_is_played(system: type, failed: int, tmp_path: Path) -> None:
    (tmp_path / "saved").mkdir()
    (tmp_path / "shelf.yaml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "saved" / "shelf-machine.yaml").write_text(COUNTEREXAMPLE, encoding="utf-8")
    saved = read(str(tmp_path / "saved" / "shelf-machine.yaml"))
    with adapted(system, saved.compiled) as adapter:
        replayed = replay(saved, adapter)
    assert [(each.id, each.rounds, each.failed) for each in replayed.rows] == [("C1", 1, failed)]
    assert replayed.exit == failed
