"""Verdicts, which of them gate, and the exit code that follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from statemachines.lifecycle import Level


class Verdict(StrEnum):
    """What is known of a row after a run."""

    PASS = "pass"
    FAIL = "fail"
    FLAKY = "flaky"
    KNOWN_FAIL = "known fail"
    NOT_APPLICABLE = "not applicable"
    NOT_EXERCISED = "not exercised"
    COULD_NOT_TELL = "could not tell"
    HARNESS_ERROR = "harness error"


MACHINE = "machine"  # the id under which the random searches are reported
UNSURE = "there are more explanations than were looked at, or the order depends on instants that nobody sees"
FROM_OUTSIDE = "a weak pass: that calls overlapped was only seen outside the system"
OTHER_ORDER = (
    "a weak pass: only another order of the calls at once, which did not come, witnesses all that the row is about"
)
ONE_STEP = "a weak pass: the calls at once told of no point, so that each was one step of the system"
WEAK = (FROM_OUTSIDE, OTHER_ORDER, ONE_STEP)
BUSY = "it was slow once, or the machine was busy; --call-limit says how long a call may take"
NO_ANSWER = "no answer"  # what a call gave that did not come back
NONE_SENT = "no signal"  # with which what calls at once gave ends, where signals may have been due
EXIT_CONFORMS, EXIT_VIOLATES, EXIT_USAGE, EXIT_HARNESS, EXIT_UNKNOWN = 0, 1, 2, 3, 4
EXIT_INTERRUPTED = 130  # as if SIGINT (2) had ended us


@dataclass(frozen=True, slots=True)
class Made:
    """A call of a counterexample as it was made when it showed the fault, with the values of that time.

    step     the number of the step; calls with one number were made at once, by several callers
    call     the operation with its arguments; `gave` is the reply or the refusal
    signals  what was signalled meanwhile; of calls made at once with the last of them
    began, ended  when, in steps of a clock that only counts; `ended` is 0 for a call that did not come back
    place    of calls made at once: its place in the longest order that explains what it gave; 0 if it is in none
    wrong    it shows the fault
    """

    step: int
    call: str
    gave: str = ""
    caller: int = 0
    signals: tuple[str, ...] = ()
    began: int = 0
    ended: int = 0
    place: int = 0
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The sentence that a system seems to break, if one is known, and in words what it does instead, or since when that is seen.

    `explains`: what it does instead explains all that was seen.
    """

    clause: str
    words: str
    explains: bool = field(default=True, compare=False)

    def __str__(self) -> str:
        return f"{self.clause}: {self.words}" if self.clause else self.words


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The shortest trace that shows a fault, as a row; `reproduced` of `rounds` when threads are in it.

    cause       the clause without which the fault is explained, if that is known
    changing    the calls that change something, in order: the operation, and each yes or no that is said
    transcript  what passed between the kit and the system, where the calls alone do not tell: a tool's processes
    played      the calls as they were made when they showed it; of very many not all
    ids         what each id was then that is told by the reply that gave it
    matter      what it is about, whichever call tells it
    given       the other clauses that the system did not follow on the way
    diagnosis   what the system seems to do, where that says more
    """

    row: str
    calls: int
    clause: str
    expected: str
    seen: str
    rounds: int = 1
    reproduced: int = 1
    cause: str = ""
    changing: tuple[str, ...] = ()
    transcript: tuple[str, ...] = ()
    played: tuple[Made, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    matter: str = ""
    given: tuple[str, ...] = ()
    diagnosis: Diagnosis | None = None

    @property
    def at_once(self) -> frozenset[str]:
        """The operations that it calls at once; none where every call was made alone."""
        steps = Counter(made.step for made in self.played)
        return frozenset(made.call.partition("(")[0] for made in self.played if steps[made.step] > 1)


class Judged(NamedTuple):
    """What is known of a row: the verdict, why it is that, and what shows it."""

    verdict: Verdict
    reason: str = ""
    counterexample: Counterexample | None = None


def verdict_of(found: Counterexample) -> Judged:
    """Return the verdict that a counterexample bears out: what never showed again is no plain failure."""
    reason = f"expected {found.expected}; seen {found.seen}"
    if found.reproduced:
        return Judged(Verdict.FAIL, reason, found)
    times = "once" if found.rounds == 1 else f"{found.rounds} times"
    return came_back(f"{reason}; played again {times}, it did not show", found, hangs=found.matter.startswith("hang"))


def came_back(reason: str, found: Counterexample | None, *, hangs: bool) -> Judged:
    """Return the verdict on what never showed again: of a call that did not come back in time nobody can tell whose fault it is."""
    if hangs:
        return Judged(Verdict.COULD_NOT_TELL, f"{reason}: {BUSY}", found)
    return Judged(Verdict.FLAKY, reason, found)


@dataclass(frozen=True, slots=True)
class RowResult:
    """The verdict of one row and what it rests on.

    witnesses  how often each clause that the row covers was witnessed; `runs` is how often it ran
    level      the one by which it counts, and `later` why that is not the one of the spec: the row or its level is newer
               than the revision that the system is judged by
    """

    id: str
    about: str
    level: Level
    verdict: Verdict
    reason: str = ""
    runs: int = 0
    witnesses: Mapping[str, int] = field(default_factory=dict)
    overlaps: int = 0
    counterexample: Counterexample | None = None
    where: str = ""
    seconds: float = 0.0
    later: str = ""


def gates(result: RowResult, fail_on: Level = "must") -> bool:
    """Return whether a verdict makes a run fail."""
    counted = result.level == "must" or (fail_on == "should" and result.level == "should")
    match result.verdict:
        case Verdict.FAIL | Verdict.FLAKY:
            return counted
        case Verdict.NOT_EXERCISED:
            return result.level == "must"
        case Verdict.HARNESS_ERROR:
            return not is_aside(result)
        case _:
            return False


def word_for(result: RowResult) -> str:
    """Return the word that stands for what came of a row: its verdict, or that it is a weak pass."""
    return f"weak {result.verdict}" if result.verdict is Verdict.PASS and result.reason in WEAK else result.verdict


def is_aside(result: RowResult) -> bool:
    """Return whether a row counts for nothing, whatever came of it: the revision that is judged by does not have it."""
    return bool(result.later) and result.level == "may"


def exit_code(
    results: Iterable[RowResult], fail_on: Level = "must", beside: Collection[str] = (), *, unfinished: bool = False
) -> int:
    """Return the exit code of a run: 1 violates, 3 harness error, 4 could not tell, 0 conforms.

    beside  what makes a run fail beside its results: failures that are said to be known and are none any more, and
            clauses that are broken and that no row told of
    unfinished  the run did not come to a row of level MUST
    """
    found = list(results)
    if beside or any(gates(result, fail_on) and result.verdict is not Verdict.HARNESS_ERROR for result in found):
        return EXIT_VIOLATES
    asked = [result for result in found if not is_aside(result)]
    if any(result.verdict is Verdict.HARNESS_ERROR for result in asked):
        return EXIT_HARNESS
    if unfinished or any(result.verdict is Verdict.COULD_NOT_TELL for result in asked):
        return EXIT_UNKNOWN
    if not any(result.verdict in (Verdict.PASS, Verdict.FAIL, Verdict.KNOWN_FAIL) for result in found):
        return EXIT_VIOLATES
    return EXIT_CONFORMS
