"""Failures that are known: which verdicts they change, and which of them are none any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.suite.row_facts import covers, makes_calls_at_once
from conformance.system import Deviation, deviations, may_fail, meant
from conformance.verdict import Counterexample, RowResult, Verdict
from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic, SpecError
from statemachines.kernel import within
from statemachines.lifecycle import Row
from statemachines.surface import check_structure
from statemachines.yaml import Mapping as Tree
from statemachines.yaml import read_file, to_plain

PERHAPS_STALE = "it is said to fail, and it held: a run without --quick tells whether its entry is stale"
HELD = (Verdict.PASS, Verdict.NOT_APPLICABLE)
Known = Mapping[str, Deviation]  # by row or clause


def read_baseline(compiled: Compiled, path: str | Path) -> Known:
    """Return the known failures that a file names; raise SpecError with every fault of it, each at its place."""
    try:
        tree = read_file(path)
    except SpecError as error:
        if {each.code for each in error.diagnostics} == {"yaml-empty"}:  # the last entry was taken away
            return {}
        raise
    check_structure(tree, "baseline")
    entries, name = tree.entries if isinstance(tree, Tree) else (), compiled.lifecycle.name
    faults = [
        Diagnostic(
            "unknown-name", key.where, f"{key.text!r} is no row and no clause of {name}", meant(compiled, key.text)
        )
        for key, _ in entries
        if key.text not in may_fail(compiled)
    ]
    if faults:
        raise SpecError(faults)
    return deviations(compiled, to_plain(tree))


@dataclass(frozen=True, slots=True)
class Baseline:
    """The failures of a system that are known.

    whole  values are drawn, and all schedules tried; in a quick run a row that has several may pass by chance
    """

    compiled: Compiled
    known: Known
    whole: bool = True

    def judged(self, result: RowResult, before: Sequence[RowResult]) -> RowResult:
        """Return the result of a row; of one that fails or cannot be exercised, and is known to, as a known failure.

        What a search finds is known where it is the fault that a row `before` has shown which is known to fail. One that holds
        in a quick run says why that does not tell whether it is stale.
        """
        row = self.compiled.lifecycle.rows.get(result.id)
        if result.verdict is Verdict.PASS and result.id in self.known and row is not None and not self.tells(row):
            return replace(result, reason=PERHAPS_STALE)
        if result.verdict not in (Verdict.FAIL, Verdict.FLAKY, Verdict.NOT_EXERCISED):
            return result
        clauses = list(_clauses(result))
        if result.id in self.known:
            said = [str(self.known[result.id])]
        elif clauses and all(clause in self.known for clause in clauses):
            said = [f"{clause}: {self.known[clause]}" for clause in dict.fromkeys(clauses)]
        elif (shown := self._shown_by(result, before)) is not None:
            said = [f"the same as {shown}: {self.known[shown]}"]
        else:
            return result
        return replace(result, verdict=Verdict.KNOWN_FAIL, reason="; ".join(said))

    def _shown_by(self, found: RowResult, before: Sequence[RowResult]) -> str | None:
        """Return the row that is known to fail and has shown the fault that a search has found."""
        if found.id in self.compiled.lifecycle.rows or found.counterexample is None:
            return None
        known = ((each.id, each.counterexample) for each in before if each.id in self.known)
        return next((row for row, shown in known if shown and _is_the_same(shown, found.counterexample)), None)

    def stale(self, results: Sequence[RowResult], witnessed: Mapping[str, int], searches: str) -> tuple[str, ...]:
        """Return the names of what does not fail any more, though the run asked for it.

        results   what `judged` has returned
        searches  the id of the random searches: a clause may be broken anywhere, so it takes a whole run to tell of one
        """
        found = {result.id: result for result in results}
        failing = {clause for result in results for clause in _clauses(result)}
        rows = self.compiled.lifecycle.rows
        everything = self.whole and {*rows, searches} <= found.keys()
        well = everything and all(result.verdict in (*HELD, Verdict.KNOWN_FAIL) for result in results)

        def holds(name: str) -> bool:
            if name in rows:
                return self._held([rows[name]], found)
            about = [row for row in rows.values() if covers(row, name) or any(within(w.text, name) for w in row.covers)]
            seen = any(count for path, count in witnessed.items() if within(path, name))
            return well and seen and name not in failing and self._held(about, found)

        return tuple(name for name in self.known if holds(name))

    def tells(self, row: Row) -> bool:
        """Return whether a run of a row that holds tells that it does: in a quick one, several values may pass by chance."""
        return self.whole or _is_one_run(row)

    def _held(self, rows: Sequence[Row], found: Mapping[str, RowResult]) -> bool:
        """Return whether rows were run and held, those apart that do not apply."""
        results = [found.get(row.id.text) for row in rows if self.tells(row)]
        verdicts = [result and result.verdict for result in results]
        return Verdict.PASS in verdicts and set(verdicts) <= {*HELD}


def _is_the_same(known: Counterexample, found: Counterexample) -> bool:
    """Return whether two counterexamples surely show one fault: a cause that they share, or the same calls in one matter.

    That the calls of one are among those of the other is enough to tell them once, and too little to excuse one of them.
    """
    if known.cause or found.cause:
        return known.cause == found.cause
    return (known.changing, known.matter) == (found.changing, found.matter)


def _clauses(result: RowResult) -> Iterator[str]:
    """Walk the clauses that a result says are broken."""
    if result.counterexample is not None:
        yield result.counterexample.clause


def _is_one_run(row: Row) -> bool:
    """Return whether a row does the same in every run: no value is drawn, and there is one order of its calls."""
    return not (row.drawn or makes_calls_at_once(row))
