"""A whole run of thread-job against the reference, as a command."""

from __future__ import annotations

import statistics

from benchmarks.command import RUN, Done, command
from benchmarks.measure import LESS, Finding, spread
from conformance.verdict import Verdict


class Running:
    """Runs the command and reads what it writes to a pipe."""

    rounds = 3

    def __init__(self) -> None:
        self._done: list[Done] = []

    def once(self) -> None:
        """Run everything."""
        self._done.append(command(RUN, _is_row))

    def findings(self) -> list[Finding]:
        """Return the time to the end, and the time to the first row."""
        whole = [done.seconds for done in self._done]
        working = statistics.median(done.processor for done in self._done)
        firsts = [done.first for done in self._done if done.first is not None]
        first = statistics.median(firsts) if firsts else None
        codes = ", ".join(sorted({str(done.code) for done in self._done}))
        about = f"{spread(whole, 's', 1)}, {working:.1f} s of processor; exit {codes}"
        seen = spread(firsts, "s", 2) if firsts else f"no row was seen; the last words: {self._done[-1].last}"
        return [
            Finding("run thread-job --against reference, whole", statistics.median(whole), "s", LESS, 20, about),
            Finding("  its first row on screen", first, "s", LESS, 1, seen),
        ]


def _is_row(line: str) -> bool:
    return any(line.startswith(f"  {verdict} ") for verdict in Verdict)
