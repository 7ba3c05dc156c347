"""What tells two revisions apart: the shortest calls in each direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.differing.facts import Direction
from conformance.differing.settings import DeclaredPair
from statemachines.compare import Way
from statemachines.lifecycle import Level
from statemachines.rows import Trace


@dataclass(frozen=True, slots=True)
class Witness:
    """Calls that tell two revisions apart, as a row: of what is right by one revision and wrong by the other.

    less: the row is one of the new revision, which wants `expected`, and a system by the old one answers `seen`; more: the
    other way round. `words` say what is declared; `level` is that of the clause.
    """

    direction: Direction
    row: str
    calls: int
    expected: str
    seen: str
    words: str
    level: Level
    asked: tuple[DeclaredPair, Way, Mapping[str, int | None], Trace] | None = field(
        default=None, repr=False, compare=False
    )


@dataclass(slots=True)
class ToldApart:
    """The shortest calls each way; in how many configurations they were looked for, whether that were all, and whether the models differ."""

    witnesses: dict[Direction, Witness] = field(default_factory=dict)
    configurations: int = 0
    whole: bool = True
    touched: bool = True

    def note(self, witness: Witness | None) -> None:
        """Keep calls, unless there are others already that show as much in fewer."""
        if witness is None:
            return
        known = self.witnesses.get(witness.direction)
        if known is None or _rank(witness) < _rank(known):
            self.witnesses[witness.direction] = witness

    def has(self, direction: Direction) -> bool:
        """Return whether there are calls that show something of level MUST."""
        return direction in self.witnesses and self.witnesses[direction].level == "must"


def _rank(witness: Witness) -> tuple[bool, bool, int]:
    return witness.level != "must", bool(witness.words), witness.calls
