"""What a trace shows that nobody has played yet, written as a row."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.counterexample.play import play
from conformance.counterexample.text import as_row
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


def shown_as_row(compiled: Compiled, adapter: Adapter, trace: Trace, seed: int) -> Shown | None:
    """Return what a trace shows on a system, as a row; None where nothing is wrong about it."""
    played = play(compiled, adapter, trace, seed)
    if played.finding is None:
        return None
    written = as_row(compiled, played)
    return Shown(written.text, len(played.trace), written.expected, written.seen, played.finding.should)
