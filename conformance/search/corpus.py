"""The beginnings of cases that came to something new: others go on from there, elsewhere.

What lies deep takes many calls, of which each alone comes to little that is new; a case that begins where another one has come to
needs only the rest of them.
"""

from __future__ import annotations

import random

from conformance.judge import Case
from statemachines.rows import Observed, Trace, symbolic

LONGEST_BEGINNING = 25  # calls of a beginning
BEGINNINGS_KEPT = 64  # beginnings that are kept: the last ones


class Corpus:
    """The beginnings that were kept in one search."""

    def __init__(self) -> None:
        self._kept: list[Trace] = []

    def keep(self, case: Case, events: int) -> None:
        """Keep what a case of one caller has made in so many events, without what was only looked at; unless it is too long."""
        recorded = enumerate(case.trace[:events])
        made = [each for place, each in recorded if isinstance(each, Observed) and place not in case.looks]
        if 0 < len(made) <= LONGEST_BEGINNING:
            self._kept = [*self._kept[1 - BEGINNINGS_KEPT :], symbolic(case.compiled.kernel, made)]

    def chosen(self, chooser: random.Random) -> Trace | None:
        """Choose one of them; None where there are none."""
        return chooser.choice(self._kept) if self._kept else None
