"""The figures of proofs that the documents show are those that were kept, and of today's specs."""

from __future__ import annotations

import pytest

from reports.proofs import PAGE, asked_of, figures_of, file_of, kept, page_with
from statemachines.compile import load
from statemachines.mutants import mutants
from statemachines.specs import shipped

PROVED = [name for name in shipped() if file_of(name).exists()]


def test_the_page_shows_the_figures_that_are_kept() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page_with(page, kept()) == page
    assert {each["lifecycle"] for each in kept()} == set(PROVED) >= {"task-progress", "thread-job"}


@pytest.mark.parametrize("name", PROVED)
def test_they_are_of_todays_spec(name: str) -> None:
    spec = load(name)
    (found,) = [each for each in kept() if each["lifecycle"] == name]
    again = f"prove it again: `python -m reports.proofs {name}`"
    assert (found["revision"], found["mistakes"]) == (spec.lifecycle.version, len(mutants(spec.kernel))), again
    assert found["asked"] == asked_of(name), again  # a row that changed may find what it did not, or find it no more
    assert found["mistakes"] == found["found"] + found["survives"] + found["allowed"] + found["alike"]
    assert found["dead systems that pass"] == []


def test_what_is_kept_of_a_proof_is_counted_from_its_mistakes() -> None:
    def mistake(outcome: str, *, found_in: int | None = None) -> dict[str, object]:
        searched = None if found_in is None else {"found": bool(found_in), "round": found_in or 4}
        return {"clause": "define.x", "does": "does not", "outcome": outcome, "search": searched}

    mistakes = [
        *(mistake("found", found_in=number) for number in (1, 2, 1)),
        mistake("survives", found_in=0),
        mistake("alike"),
    ]
    idle = [{"row": "N1", "level": "must"}, {"row": "N2", "level": "should"}]
    proof = {"lifecycle": "one", "revision": 3, "mistakes": mistakes}
    found = figures_of({**proof, "rows_that_find_nothing": idle, "dead_systems_that_pass": []}, "a1")
    assert found["asked"] == "a1"
    table = page_with(page_with("above <!-- figures: made by `python -m reports.proofs` -->\n", []), [found])
    assert table.startswith("above ")
    assert "| one 3 | 5 | 3 | 1 | 0 | 1 | 3 of 4 | 2 | N1 |" in table
    assert "- one: define.x: does not" in table
