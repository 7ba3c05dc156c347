"""Calls that hang or crash row after row: when a run has seen enough of them, and what it says then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from conformance.counterexample import Fails
from conformance.judge import BESIDE, CallFailed, Finding
from conformance.report import named
from conformance.system import Adapter

ENOUGH = 3  # rows that fail alike
_DID = {"hang": "did not come back", "crash": "crashed"}


def broken(failed: Fails) -> Finding | None:
    """Return what a row fails by, if that is a call that hung or crashed."""
    finding = failed.failure.finding if isinstance(failed.failure, CallFailed) else failed.case.finding
    return finding if finding is not None and finding.kind in _DID else None


@dataclass(slots=True)
class GivenUp:
    """What one system was seen to hang and to crash at, row by row.

    A call that never gave an answer, and broke enough rows, is asked no more. Where enough rows hung, nobody waits
    long for what hung before: an answer may come all the same, and then the row tells what it is about.
    """

    adapter: Adapter
    _rows: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # by kind and operation

    def note(self, row: str, finding: Finding) -> None:
        """Take note of a row that failed by such a call."""
        for operation in finding.operation.split(BESIDE):
            self._rows.setdefault((finding.kind, operation), []).append(row)

    def knows(self, finding: Finding) -> bool:
        """Return whether a row failed alike before."""
        return any((finding.kind, operation) in self._rows for operation in finding.operation.split(BESIDE))

    def hopeless(self, operations: Iterable[str]) -> str:
        """Say which of some operations is asked no more; an empty text where each may answer."""
        for operation in operations:
            for kind, did in _DID.items():
                rows = self._rows.get((kind, operation), [])
                if len(rows) >= ENOUGH and operation not in self.adapter.answered:
                    return f"{operation} is asked no more: it {did} in {named(rows)}, and never gave an answer"
        return ""

    @property
    def hung(self) -> list[str]:
        """The rows that hung."""
        return list(dict.fromkeys(row for (kind, _), rows in self._rows.items() if kind == "hang" for row in rows))

    @contextmanager
    def hurried(self, seconds: float) -> Iterator[None]:
        """Let no call take longer than so many seconds."""
        usual = self.adapter.limit
        self.adapter.limit = min(usual, seconds)
        try:
            yield
        finally:
            self.adapter.limit = usual
