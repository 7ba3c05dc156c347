"""What the runs of a row have shown, and whether that exercised the row: all that it covers has to come to pass."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from conformance.judge import Case, Finding
from conformance.verdict import FROM_OUTSIDE, ONE_STEP
from statemachines.kernel import within
from statemachines.lifecycle import Row
from statemachines.rows import not_exercised

Stray = tuple[Finding, Case]  # a fault, and the case in which it was seen


@dataclass(slots=True)
class Tally:
    """What the runs of a row have shown so far.

    witnesses  how often each clause came to pass
    groups     of calls at once; in `one_step` of them each call was one step of the system, and `overlaps` is how many calls did
    at_once    calls of the largest group
    undecided  runs in which it stays open whether what the row claims holds
    unsure     something was seen that nobody can judge
    stories    the calls that change something of each run of one caller
    """

    runs: int = 0
    witnesses: Counter[str] = field(default_factory=Counter)
    overlaps: int = 0
    groups: int = 0
    one_step: int = 0
    at_once: int = 0
    undecided: int = 0
    unsure: bool = False
    strays: list[Stray] = field(default_factory=list)
    stories: set[tuple[str, ...]] = field(default_factory=set)

    def count(self, path: str) -> int:
        """Return how often a clause came to pass, or one that is a part of it."""
        return sum(count for clause, count in self.witnesses.items() if within(clause, path))

    def unseen(self, row: Row) -> list[str]:
        """List what a row covers and has not come to pass."""
        return [word.text for word in not_exercised(row, self.witnesses)]

    def idle(self, row: Row, *, at_once: bool) -> str:
        """Say what of a row has not happened yet; an empty text when it was exercised. `at_once`: calls can be made at once."""
        if at_once and self.groups > self.one_step and not self.overlaps:
            return "the calls made at once never overlapped"
        unseen = self.unseen(row)
        return f"nothing witnessed {', '.join(unseen)}" if unseen else ""

    def weakness(self, *, seen_inside: bool) -> str:
        """Say why a pass is a weak one for its calls at once, which a system shows inside, or not; an empty text for any other."""
        if self.groups and self.groups == self.one_step:
            return ONE_STEP
        return FROM_OUTSIDE if self.groups and not seen_inside else ""
