"""What is declared under `types` has its meaning wherever it stands."""

from typing import Any

import pytest

from statemachines.types import INT, List, RecordType
from tests.checking import compile_text

RECORDS = {
    "Part": "  Part: {record: {size: int}}",
    "Whole": "  Whole: {record: {parts: {list of: Part}, first: Part | null}}",
    "Shelf": "  Shelf: {record: {wholes: {list of: Whole}}}",
}
SPEC = """\
lifecycle: shelf
version: 1
about: A record holds others.

types:
%s

entities:
  Lamp: {id: minted, fields: {on: bool}}

variables:
  shelf: {type: Shelf, default: "Shelf([Whole([Part(1)])])"}

operations:
  size:
    gives: shelf.wholes[0].parts.map(p, p.size).sum()

matrix: {}
"""


@pytest.mark.parametrize("order", ["Part Whole Shelf", "Shelf Whole Part", "Whole Shelf Part"])
def test_a_record_may_hold_one_that_is_declared_behind_it(order: str) -> None:
    compiled = compile_text(SPEC % "\n".join(RECORDS[name] for name in order.split()), "shelf.yaml")
    part = RecordType((("size", INT),), "Part")
    whole = compiled.words.types.declared["Whole"]
    assert isinstance(whole, RecordType)
    assert whole.field("parts") == List(part)
    assert compiled.kernel.operation("size").reply is not None
    model: Any = compiled.model()
    assert model.size().value == 1
