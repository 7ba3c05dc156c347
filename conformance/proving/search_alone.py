"""What the search finds where no row is run: of a mistake in the model, and of one about locks."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.counterexample import Shown, shown_as_played, shrunk
from conformance.suite import RowRunner, SearchTally, search
from conformance.verdict import Counterexample


@dataclass(frozen=True, slots=True)
class Search:
    """What the search found without any row: whether it did, in how many cases and calls, and milliseconds."""

    found: bool
    cases: int
    calls: int
    ms: int


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search came to, or several: in how many cases, and the first fault as it was seen; `calls` are those until it was, or 0."""

    cases: int
    calls: int = 0
    seen: Counterexample | Shown | None = None


def searched(runner: RowRunner, name: str, *, shortest: int = 0) -> Searched:
    """Make a search with a runner, until it finds something; that is shown in its `shortest` calls under so many schedules."""
    from conformance.search import Faults  # Hypothesis is slow to import

    faults, tally = Faults(runner.broken_calls, 1), SearchTally(runner.witnessed)
    search(runner, name, faults, tally)
    if faults.first is None:
        return Searched(tally.judged)
    case, finding = faults.first.case, faults.first.finding
    shown = (shrunk(case, rounds=shortest) if shortest else None) or shown_as_played(case, finding)
    return Searched(tally.judged, len(case.calls), shown)
