"""The faults that searches find: each once, and what is suspected because of them in the next case."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from conformance.budget import never
from conformance.judge import BrokenCalls, Case, Finding, Suspicion


class Diverged(AssertionError):
    """A step that no right implementation takes."""

    def __init__(self, finding: Finding, case: Case) -> None:
        super().__init__(f"{finding.clause}: expected {finding.expected}; seen {finding.seen}")
        self.finding = finding
        self.case = case
        self.given = case.judge.given(finding)  # what else the system did not follow on the way


@dataclass
class Faults:
    """What searches have found so far.

    broken  the calls that end cases
    most    after so many faults they have seen enough
    known   the clauses that are known to be left out
    declared  the clauses of faults that are no news, as somebody has declared them: they count for nothing
    found   each fault once, as it was found first
    late    whether the time is used up
    """

    broken: BrokenCalls
    most: int = 1
    known: Collection[str] = ()
    declared: Collection[str] = ()
    found: list[Diverged] = field(default_factory=list)
    late: Callable[[], bool] = never
    _stood: set[str] = field(default_factory=set)

    @property
    def first(self) -> Diverged | None:
        """The first of them."""
        return next(iter(self.found), None)

    @property
    def enough(self) -> bool:
        """Whether nobody has to look for more: what one clause explains when it is left out counts once, and not if it is no news."""
        faults = (each.finding for each in self.found if each.finding.clause not in self.declared)
        causes = {each.clause if each.spoke_of else (each.key, each.part) for each in faults}
        return len(causes - {*self.known}) >= self.most

    @property
    def over(self) -> bool:
        """Whether no further case begins."""
        return self.enough or self.late()

    @property
    def silent(self) -> bool:
        """Whether nothing was found, and nothing noticed that changes what is looked for."""
        return not self.found and not self._stood and self.broken.silent

    @property
    def suspicion(self) -> Suspicion:
        """What is suspected in the next case."""
        clauses = [each.finding.clause for each in self.found if each.finding.spoke_of]
        plain = tuple(each.finding for each in self.found if not each.finding.spoke_of)
        return Suspicion((*self.known, *clauses), certain=(*self.known, *sorted(self._stood)), plain=plain)

    def take(self, case: Case) -> None:
        """Take note of what a case has shown that no other has; what it has taken back since is forgotten.

        A fault that shows where nothing else was wrong before stands for one that was only seen beside another.
        """
        self.found[:] = [each for each in self.found if each.case is not case or each.finding in case.faults]
        for finding in case.faults:
            new, known = Diverged(finding, case), [each for each in self.found if finding.shows([each.finding])]
            if not known or (not new.given and all(each.given for each in known)):
                self.found[:] = [*(each for each in self.found if each not in known), new]

    def stood(self, case: Case) -> None:
        """Take note that a case came to its end, and that nothing contradicted what it left out."""
        self._stood.update(case.judge.deviating)
