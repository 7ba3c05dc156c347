"""The rows of a life cycle as calls, each with the values that it names for its parameters and the first that is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from conformance.system import Declaration
from conformance.vectors.patterns import Inexpressible
from conformance.vectors.recording import Recorder
from conformance.vectors.vector import Oracle, Vector
from statemachines.checks import Needs
from statemachines.lifecycle import Row
from statemachines.rows import RowCompiler, RowFailure, RowTooLong, enumerated, witnesses

MOST_CALLS: Final = 400  # of a vector


class RowVectors:
    """Makes vectors of rows. `left_out` counts the cases that are none, by reason; `witnessed` are the clauses of the others."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._rows = RowCompiler(oracle.compiled.lifecycle)
        self._needs = Needs(self._rows.words)
        self.left_out: Counter[str] = Counter()
        self.witnessed: set[str] = set()

    def vectors(self) -> Iterator[Vector]:
        """Walk the vectors of all rows, in the order of the spec."""
        declaration: Declaration = self._oracle.declaration
        declared = self._oracle.compiled.model(declaration.limits, declaration.policies)
        for name, row in self._oracle.compiled.lifecycle.rows.items():
            if self._needs.unmet(row, declared) is not None:
                self.left_out["other limits or choices"] += 1
                continue
            values = [*enumerated(self._oracle.compiled.lifecycle, self._rows.program(row))]
            for number, named in enumerate(values, 1):
                found = self._vector(f"{name}/{number}" if len(values) > 1 else name, row, named, declared)
                if found is not None:
                    yield found

    def _vector(self, name: str, row: Row, named: dict[str, Any], declared: Any) -> Vector | None:
        try:
            values = {**named, **witnesses(self._rows.words, row, declared)}
            recorder = Recorder(self._oracle.compiled, self._oracle.declaration, MOST_CALLS)
            self._rows.program(row).run(recorder, values)
            asked = self._oracle.asked(recorder.calls)
        except Inexpressible as error:
            self.left_out[str(error)] += 1
            return None
        except (RowFailure, RowTooLong):
            self.left_out["not to be run with these limits and choices"] += 1
            return None
        self.witnessed.update(recorder.witnessed)
        clauses = tuple(word.text for word in row.covers)
        return Vector(name, (row.id.text,), clauses, row.level, values, tuple(recorder.calls), asked)
