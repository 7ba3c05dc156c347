"""What the search finds where no row is run: of a mistake in the model, and of one about locks."""

from __future__ import annotations

from collections.abc import Iterable
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
    """What searches came to: in how many cases, and the first fault as it was seen; `calls` are those until it was, or 0."""

    cases: int
    calls: int = 0
    seen: Counterexample | Shown | None = None


def searched(runner: RowRunner, names: Iterable[str], *, shortest: int = 0) -> Searched:
    """Make some searches with a runner, until one finds something; it is shown in its `shortest` calls under so many schedules."""
    from conformance.search import Faults  # Hypothesis is slow to import

    faults, cases = Faults(runner.broken_calls, 1), 0
    for name in names:
        tally = SearchTally(runner.witnessed)
        search(runner, name, faults, tally)
        cases += tally.judged
        if faults.first is not None:
            case, finding = faults.first.case, faults.first.finding
            shown = (shrunk(case, rounds=shortest) if shortest else None) or shown_as_played(case, finding)
            return Searched(cases, len(case.calls), shown)
    return Searched(cases)
