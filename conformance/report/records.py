"""The records of a run, from which everything else is rendered, and how they are written: one JSON object a line.

header, then a row for each row of the matrix, coverage, footer. A report without a footer is one of a run
that did not finish. Two runs with the same seed write the same bytes, but for what is under `timing` and
`schedule`, as long as the system itself does the same twice: one that orders ties by ids it draws at random does
not, and of calls at once on threads the order in which they came to pass decides what was witnessed.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
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
class Led:
    """Where a sentence leads a record that is in one state.

    trigger    an operation or a step of its own; empty where it only follows from something else
    source     the state that it begins in; empty where it makes the record
    targets    the states that may follow: only `source` when nothing moves, none when the record goes
    chosen_by  the parameter that picks the target, or `to`
    after      how long a timer waits
    clause     the path of the sentence
    """

    trigger: str
    source: str
    targets: tuple[str, ...]
    chosen_by: str = ""
    after: str = ""
    clause: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """The states of a kind of record, the first one first, those in which it has ended, and what leads where."""

    record: str
    states: tuple[str, ...]
    ended: tuple[str, ...] = ()
    arrows: tuple[Led, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    """What is run against what: the first record. `rows` are in the order in which they are reported.

    declares  limits, policies, lacks, clock and concurrency as plain values, and known failures; `declares` makes it
    spec  the file or folder/ of a lifecycle that is not shipped
    faults  what `check` tells of that, a line for each
    judged_by  the revision whose frozen requirements count, where that is another one; 0 where it is not
    sentences  what each clause of the lifecycle says, by its path
    charts     where its sentences lead each kind of record
    date, python, platform  when and where the kit ran; empty where nobody took note
    """

    lifecycle: str
    revision: int
    target: str
    seed: int
    declares: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[Planned, ...] = ()
    kit: str = __version__
    spec: str | None = None
    faults: tuple[str, ...] = ()
    judged_by: int = 0
    sentences: Mapping[str, str] = field(default_factory=dict)
    charts: tuple[Chart, ...] = ()
    date: str = field(default="", compare=False)
    python: str = field(default="", compare=False)
    platform: str = field(default="", compare=False)

    @property
    def called(self) -> str:
        """What a command calls the lifecycle: by its file or folder/, or a shipped one by its name."""
        return self.spec or self.lifecycle

    @property
    def in_shell(self) -> bool:
        """Whether a command can name the target: it cannot name a class of a prompt or of a function, or a lambda."""
        return "<" not in self.target and not self.target.startswith("python:__main__:")

    def rerun(self, *row_ids: str) -> str:
        """Return the command that runs some rows again, or all where none is named; empty where no command can.

        A further result of one row, such as `machine-2`, is that of the row.
        """
        if not self.in_shell:
            return ""
        known = {row.id for row in self.rows}
        heads = {row_id: row_id.rpartition("-")[0] for row_id in row_ids}
        asked = dict.fromkeys(
            head if row_id not in known and head in known else row_id for row_id, head in heads.items()
        )
        rows = f" --rows {shlex.quote(','.join(asked))}" if asked else ""
        seed = f" --seed {self.seed}" if self.seed else ""
        return f"conformance run {shlex.quote(self.called)} --against {shlex.quote(self.target)}{rows}{seed}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often anything in the run witnessed each clause of the lifecycle, and those never witnessed.

    unasked  of those never witnessed, what nobody could ask for, by what the system declares; they are no gaps
    """

    clauses: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Footer:
    """How the run ended: per level how many rows have each verdict, the exit code, and how long it took.

    strays  the clauses of faults that were seen and that none of the rows asked is about
    stale   the rows and clauses that are said to fail, and do not any more
    left    the rows that the run did not come to, and `stopped` why
    """

    verdicts: Mapping[str, Mapping[str, int]]
    exit: int
    seconds: float = 0.0
    strays: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    stopped: str = ""


Record = Header | RowResult | Coverage | Footer
KINDS: dict[str, type[Record]] = {"header": Header, "row": RowResult, "coverage": Coverage, "footer": Footer}


def declares(declaration: Declaration) -> dict[str, Any]:
    """Return a declaration as the plain values of a header."""
    return {
        "limits": {
            name: None if name in declaration.unlimited else value for name, value in sorted(declaration.limits.items())
        },
        "policies": {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in sorted(declaration.policies.items())
        },
        "parts": list(declaration.parts),
        "lacks": sorted(declaration.lacks),
        "deviates": {
            name: {part: said for part, said in asdict(each).items() if said}
            for name, each in sorted(declaration.deviates.items())
        },
        "clock": declaration.clock,
        "concurrency": declaration.concurrency,
        "settles": declaration.settles,
        "measured": getattr(declaration.measured, "__qualname__", ""),
    }


def tally(results: Iterable[RowResult]) -> dict[str, dict[str, int]]:
    """Count rows by level and verdict, in a fixed order, leaving out what does not occur."""
    counts = Counter((result.level, result.verdict) for result in results)
    found = {
        level: {verdict.value: counts[level, verdict] for verdict in Verdict if counts[level, verdict]}
        for level in LEVELS
    }
    return {level: each for level, each in found.items() if each}


class Watcher:
    """One who is told how a run goes; a subclass takes note of what it wants to know."""

    def header(self, header: Header) -> None:
        """Note that the run begins."""

    def began(self, row_id: str) -> None:
        """Note that a row begins."""

    def row(self, result: RowResult) -> None:
        """Note the verdict of a row."""

    def finish(self, coverage: Coverage, footer: Footer) -> None:
        """Note that the run has ended."""


@dataclass(frozen=True, slots=True)
class Stream(Watcher):
    """Writes the records of a run as they come, each with one call of `write`: a line, its end included."""

    write: Callable[[str], object]
    flush: Callable[[], object] = lambda: None

    def header(self, header: Header) -> None:
        """Write the first record."""
        self._record(header)

    def row(self, result: RowResult) -> None:
        """Write a result."""
        self._record(result)

    def finish(self, coverage: Coverage, footer: Footer) -> None:
        """Write what ends a report."""
        self._record(coverage)
        self._record(footer)

    def _record(self, value: Record) -> None:
        self.write(line(value))
        self.flush()


APART = {
    "timing": ("seconds", "date", "python", "platform"),
    "schedule": ("overlaps", "reproduced", "rounds", "played", "ids"),
}
"""The fields that two runs with one seed need not share, by the name under which they stand in a record."""
IF_ANY = (
    "spec",
    "faults",
    "judged_by",
    "later",
    "left",
    "stale",
    "stopped",
    "unasked",
    "sentences",
    "charts",
    "timing",
)
"""The fields that stand in a record only where there is something to say."""
_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def line(value: Record) -> str:
    """Return a record as one line of UTF-8 text.

    What some readers take for the end of a line, and halves of surrogate pairs, which UTF-8 cannot hold, are
    escaped.
    """
    text = json.dumps(_fields(value), ensure_ascii=False, allow_nan=False)
    return _BREAKS.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"


def _told(made: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call of a counterexample that say something."""
    return {name: each for name, each in made.items() if each or name in ("step", "call")}


def _fields(value: Record) -> dict[str, Any]:
    """Return the fields of a record; what two runs with one seed need not share stands under a name of its own."""
    said = asdict(value)
    match value:
        case Header():
            where = {name: told for name in ("date", "python", "platform") if (told := said.pop(name))}
            said = {"format": FORMAT, **said, "timing": where}
        case RowResult():
            said["witnesses"] = dict(sorted(value.witnesses.items()))
            found = said["counterexample"] or {}
            rounds = {name: found.pop(name, 0) for name in ("reproduced", "rounds")}
            played = [_told(each) for each in found.pop("played", ())]
            shown = {name: each for name, each in (("played", played), ("ids", found.pop("ids", {}))) if each}
            found.pop("matter", "")  # it only tells faults apart while a run goes on, and so does the next
            (found.get("diagnosis") or {}).pop("explains", "")
            for name in ("given", "diagnosis"):
                if not found.get(name, True):
                    del found[name]
            said["schedule"] = {"overlaps": said.pop("overlaps"), **rounds, **shown}
        case Coverage():
            said["clauses"] = dict(sorted(value.clauses.items()))
    said = {name: each for name, each in said.items() if each or name not in IF_ANY}
    if "seconds" in said:
        said["timing"] = {"seconds": round(said.pop("seconds"), 6)}
    (kind,) = (name for name, each in KINDS.items() if isinstance(value, each))
    return {"record": kind, **said}
