"""The shortest calls to all that was met, as rows that `check` accepts; one row for all that the same calls show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from conformance.exploring.findings import Findings
from statemachines.checks import SOURCE, NoRow, RowsOfAnswers, new_names
from statemachines.explore import FirstMet


@dataclass(frozen=True, slots=True)
class WitnessRows:
    """Rows as text, how many these are, and of how many things there is none, by the reason."""

    text: str
    count: int
    without: Mapping[str, int]


def rows_of(findings: Findings) -> WitnessRows:
    """Write rows for all that was met."""
    writer, without = RowsOfAnswers(findings.compiled), Counter[str]()
    names = new_names(findings.compiled.lifecycle.rows, "W")
    shown: dict[object, tuple[FirstMet, list[str], list[str]]] = {}
    for said, clause, witness in findings.witnesses():
        key = id(witness.reached.scope), witness.trace
        shown.setdefault(_hashable(key), (witness, [], []))[1].append(said)
        shown[_hashable(key)][2].append(clause)
    rows, name = [], next(names)
    for witness, saids, clauses in shown.values():
        calls = witness.trace.calls()
        if not calls:
            without["it is so at the start, before any call"] += len(saids)
            continue
        try:
            answers = writer.answered(calls, witness.reached.scope.limits)
            rows.append(writer.row(answers, name, "; ".join(saids), SOURCE, wanted=clauses))
            name = next(names)
        except NoRow as why:
            without[str(why)] += len(saids)
    lines = ["title: What the search of the small scope reaches", "", "rows:"]
    lines += [f"  {line}".rstrip() for row in rows for line in row.splitlines()]
    return WitnessRows("\n".join(lines) + "\n" if rows else "", len(rows), without)


def _hashable(value: object) -> str:
    """Return a text that is the same for the same steps: lists in arguments have no hash."""
    return repr(value)
