"""By which revision of a spec a system is judged: a row that came later is reported, and demotes nobody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from conformance.errors import UsageError, faults_told
from conformance.report import LEVELS, Planned, named, number
from conformance.verdict import RowResult
from statemachines.compile import Compiled
from statemachines.lifecycle import Level, Lifecycle
from statemachines.requirements import (
    Requirements,
    frozen_sets,
    frozen_text,
    lower,
    requirements_folder,
    requirements_of,
)


@dataclass(frozen=True, slots=True)
class Measure:
    """What counts in a run: the frozen requirements of one revision, or all that the spec says where none are frozen.

    searches  the id of the random searches, which ask what the rules say
    """

    now: Requirements
    frozen: Requirements | None = None
    searches: str = "machine"

    @property
    def revision(self) -> int:
        """The revision that is measured by; 0 where it is the spec's own, whatever is frozen."""
        if self.frozen is None or self.frozen.revision == self.now.revision:
            return 0
        return self.frozen.revision

    def counts(self, row_id: str, level: Level) -> tuple[Level, str]:
        """Return the level by which a row counts, and why that is not the one it has in the spec; an empty text where it is."""
        if self.frozen is None:
            return level, ""
        by = f"revision {self.frozen.revision}"
        if row_id not in self.now.rows:
            later = self.revision and self.frozen.rules != self.now.rules
            return ("may", f"the rules are not those of {by}, so it does not count") if later else (level, "")
        required = self.frozen.rows.get(row_id)
        if required is None:
            return "may", f"new since {by}, so it does not count"
        if required.says != self.now.rows[row_id].says:
            return "may", f"it says something else than in {by}, so it does not count"
        counted = lower(level, required.level)
        return counted, "" if counted == level else f"{level} in the spec, and {counted} in {by}"

    def planned(self, row: Planned) -> Planned:
        """Return a row that is going to be asked, with the level by which it counts."""
        return replace(row, level=self.counts(row.id, row.level)[0])

    def judged(self, result: RowResult) -> RowResult:
        """Return a result with the level by which it counts, and what is to be said of that."""
        level, later = self.counts(result.id, result.level)
        return replace(result, level=level, later=later)


def measured_by(compiled: Compiled, revision: int | None = None) -> Measure:
    """Return what counts where a system is judged by a revision; by the newest that is frozen where none is named.

    Raises UsageError for a revision that is not frozen, and where a file of a frozen set has faults.
    """
    spec = compiled.lifecycle
    now = requirements_of(spec)
    sets = _sets(compiled, spec)
    if revision is None:
        return Measure(now, sets[max(sets)] if sets else None)
    if revision not in sets:
        there = f"frozen are {named([str(each) for each in sets])}" if sets else "none is frozen: `conformance freeze`"
        raise UsageError(f"revision {revision} of {spec.name} is not frozen; {there}")
    return Measure(now, sets[revision])


def _sets(compiled: Compiled, spec: Lifecycle) -> dict[int, Requirements]:
    if compiled.origin is None:
        return {}
    with faults_told("frozen set"):
        return frozen_sets(compiled.origin, spec)


def frozen(compiled: Compiled, *, again: bool = False) -> str:
    """Write down what a spec's version requires, in the file of that revision; return what is to be said of it.

    Raises UsageError where a later revision is frozen, and where this one is and requires something else, unless
    that is to be written `again`.
    """
    spec, sets = compiled.lifecycle, _sets(compiled, compiled.lifecycle)
    if compiled.origin is None:
        raise UsageError(f"{spec.name} was read from a text; a spec with a file can be frozen")
    path = requirements_folder(compiled.origin) / f"{spec.version}.yaml"
    now, shown = requirements_of(spec), Path(spec.file).parent / path.relative_to(compiled.origin.parent)
    if sets and max(sets) > spec.version:
        raise UsageError(
            f"revision {max(sets)} of {spec.name} is frozen; {spec.version} comes before it and stays as it is"
        )
    if sets.get(spec.version) == now:
        return f"{shown}: revision {spec.version} is frozen as it is"
    if spec.version in sets and not again:
        raise UsageError(
            f"{shown}: revision {spec.version} is frozen, and the spec says otherwise now; raise `version` to "
            f"{spec.version + 1}, or write it --again if nobody has been judged by it"
        )
    path.parent.mkdir(exist_ok=True)
    path.write_text(frozen_text(now), encoding="utf-8")
    levels = [each.level for each in now.rows.values()]
    counts = ", ".join(f"{levels.count(level)} {level}" for level in LEVELS if level in levels)
    return f"{shown}: revision {spec.version} of {spec.name} requires {number(len(levels), 'row')} ({counts})"
