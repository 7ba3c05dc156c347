"""What a trace shows that nobody has played yet, and what a case has shown as it stands, written as rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conformance.counterexample.play import Played, play, symbolic
from conformance.counterexample.text import as_row
from conformance.judge import Case, Finding
from conformance.system import Adapter
from statemachines.compile import Compiled
from statemachines.rows import Trace


@dataclass(frozen=True, slots=True)
class Shown:
    """What a trace shows on a system, as a row: of how many calls, what was expected and what was seen; `should`: no must forbids it."""

    row: str
    calls: int
    expected: str
    seen: str
    should: bool


def shown_as_row(compiled: Compiled, adapter: Adapter, trace: Trace, seed: int, covers: str = "") -> Shown | None:
    """Return what a trace shows on a system, as a row; None where nothing is wrong about it.

    The row `covers` the clause that is known to be wrong; without one, that of the call that shows it.
    """
    played = play(compiled, adapter, trace, seed)
    if played.finding is None:
        return None
    finding = replace(played.finding, clause=covers or played.finding.clause)
    return _shown(compiled, replace(played, finding=finding), finding)


def shown_as_played(case: Case, finding: Finding) -> Shown:
    """Return what a case has shown as a row with all of its calls, for one that did not show it again."""
    return _shown(case.compiled, Played(finding, symbolic(case.compiled, case.trace)), finding)


def _shown(compiled: Compiled, played: Played, finding: Finding) -> Shown:
    written = as_row(compiled, played)
    return Shown(written.text, len(played.trace), written.expected, written.seen, finding.should)
