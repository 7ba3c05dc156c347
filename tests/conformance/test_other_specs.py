"""Specs that nobody wrote: the kit never crashes on one, never accuses a right system, and replays what it finds of a wrong one."""

from __future__ import annotations

import pytest

from tests.other_specs.generating import data_of, text_of
from tests.other_specs.trial import Found, glanced_at, tried


def test_a_number_stands_for_one_spec_and_another_number_for_another_one() -> None:
    texts = [text_of(data_of(number)) for number in range(20)]
    assert texts == [text_of(data_of(number)) for number in range(20)]
    assert len(set(texts)) == 20


@pytest.mark.thorough
def test_specs_that_nobody_wrote_are_judged_rightly() -> None:
    found = Found()
    for number in range(24):
        glanced_at(number, found)
    assert not found.faults, "\n\n".join(found.faults)
    assert found.counts["right systems"] >= 20
    assert found.counts["wrong systems that were found"] >= 8


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1000, 2000, 50))
def test_a_thousand_of_them_are(first: int) -> None:
    found = Found()
    for number in range(first, first + 50):
        tried(number, found)
    assert not found.faults, "\n\n".join(found.faults)
