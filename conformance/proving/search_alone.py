"""What the search finds where no row is run: of a mistake in the model, and of one about locks. What is only recommended counts, too."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.counterexample import Shown, shown_as_played, shrunk
from conformance.suite import RowRunner, SearchTally, search
from conformance.verdict import Counterexample


@dataclass(frozen=True, slots=True)
class Search:
    """What the search found without any row: whether it did, in which round, in how many cases and calls, and milliseconds.

    The first round, 1, is all that a run makes which nobody gives a time; others follow where nothing is found.
    Where nothing is found at all, it is 1.
    """

    found: bool
    round: int
    cases: int
    calls: int
    ms: int


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search came to, or several: in how many cases, and the first fault as it was seen; `calls` are those until it was, or 0.

    `round` counts those of the searches that go on in ever more of them, from 0.
    """

    cases: int
    calls: int = 0
    round: int = 0
    seen: Counterexample | Shown | None = None


def searched(runner: RowRunner, name: str, round_: int = 0, *, shortest: int = 0) -> Searched:
    """Make a search with a runner, until it finds something; that is shown in its `shortest` calls under so many schedules."""
    from conformance.search import Faults  # Hypothesis is slow to import

    tally = SearchTally(runner.witnessed)
    faults = Faults(runner.broken_calls, 1, late=lambda: bool(tally.recommended))
    search(runner, name, faults, tally, round_)
    if faults.first is not None:
        case, finding = faults.first.case, faults.first.finding
    elif tally.recommended:
        case, finding = next(iter(tally.recommended.values()))
    else:
        return Searched(tally.judged, round=round_)
    shown = (shrunk(case, rounds=shortest) if shortest else None) or shown_as_played(case, finding)
    return Searched(tally.judged, len(case.calls), round_, shown)
