"""The records of a run, from which everything else is rendered.

header, then a row for each row of the matrix, coverage, footer. A report without a footer is one of a run
that did not finish. Two runs with the same seed write the same bytes, but for what is under `timing` and
`schedule`, as long as the system itself does the same twice: one that orders ties by ids it draws at random does
not, and of calls at once on threads the order in which they came to pass decides what was witnessed.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from conformance.__about__ import __version__
from conformance.verdict import RowResult, Verdict
from statemachines.lifecycle import Level

if TYPE_CHECKING:  # it brings the compiler along, and here it is only an argument
    from conformance.system import Declaration

FORMAT = 1
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True, slots=True)
class Planned:
    """A row that the run is going to ask: known before there is a verdict.

    group  the title of the rows that it stands among in the spec; empty where there is none
    """

    id: str
    level: Level
    about: str
    where: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """What is run against what: the first record. `rows` are in the order in which they are reported.

    declares  limits, policies, lacks, clock and concurrency as plain values; `declares` makes it
    spec  the file or folder/ of a lifecycle that is not shipped
    """

    lifecycle: str
    revision: int
    target: str
    seed: int
    declares: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[Planned, ...] = ()
    kit: str = __version__
    spec: str | None = None

    @property
    def called(self) -> str:
        """What a command calls the lifecycle: by its file or folder/, or a shipped one by its name."""
        return self.spec or self.lifecycle

    @property
    def in_shell(self) -> bool:
        """Whether a command can name the target: it cannot name a class of a prompt or of a function, or a lambda."""
        return "<" not in self.target and not self.target.startswith("python:__main__:")

    def rerun(self, row_id: str) -> str:
        """Return the command that runs one row again; empty where no command can."""
        if not self.in_shell:
            return ""
        called, target = shlex.quote(self.called), shlex.quote(self.target)
        return f"conformance run {called} --against {target} --rows {row_id}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often anything in the run witnessed each clause of the lifecycle, and those never witnessed."""

    clauses: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Footer:
    """How the run ended: per level how many rows have each verdict, the exit code, and how long it took.

    strays  the clauses of faults that were seen and that none of the rows asked is about
    """

    verdicts: Mapping[str, Mapping[str, int]]
    exit: int
    seconds: float = 0.0
    strays: tuple[str, ...] = ()


def declares(declaration: Declaration) -> dict[str, Any]:
    """Return a declaration as the plain values of a header."""
    return {
        "limits": dict(sorted(declaration.limits.items())),
        "policies": {name: _plain(value) for name, value in sorted(declaration.policies.items())},
        "lacks": sorted(declaration.lacks),
        "clock": declaration.clock,
        "concurrency": declaration.concurrency,
        "settles": declaration.settles,
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def tally(results: Iterable[RowResult]) -> dict[str, dict[str, int]]:
    """Count rows by level and verdict, in a fixed order, leaving out what does not occur."""
    counts = Counter((result.level, result.verdict) for result in results)
    found = {
        level: {verdict.value: counts[level, verdict] for verdict in Verdict if counts[level, verdict]}
        for level in LEVELS
    }
    return {level: each for level, each in found.items() if each}


class PlanOrder:
    """Returns results in the order of a plan, however they come in."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._waiting = list(dict.fromkeys(ids))
        self._early: dict[str, RowResult] = {}

    def take(self, result: RowResult) -> Iterator[RowResult]:
        """Return what is next now that this result is there; one that nobody planned waits for the end."""
        self._early[result.id] = result
        while self._waiting and self._waiting[0] in self._early:
            yield self._early.pop(self._waiting.pop(0))

    def rest(self) -> Iterator[RowResult]:
        """Return what is left, at the end of a run: the planned results first."""
        for id in [*self._waiting, *sorted(self._early)]:
            if id in self._early:
                yield self._early.pop(id)
        self._waiting.clear()
