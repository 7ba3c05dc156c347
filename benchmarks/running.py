"""A whole run of thread-job against the reference, as a command."""

from __future__ import annotations

import statistics
import sys

from benchmarks.command import Done, command
from benchmarks.measure import LESS, Finding, spread
from conformance.verdict import Verdict


class Running:
    """Runs the command and reads what it writes to a pipe."""

    rounds = 3

    def __init__(self) -> None:
        self._done: list[Done] = []

    def once(self) -> None:
        """Run everything."""
        self._done.append(
            command(
                [sys.executable, "-m", "conformance", "run", "thread-job", "--against", "reference"], _is_row
            )
        )

    def findings(self) -> list[Finding]:
        """Give the time to the end, and the time to the first row."""
        whole = [done.seconds for done in self._done]
        firsts = [done.first for done in self._done if done.first is not None]
        codes = ", ".join(sorted({str(done.code) for done in self._done}))
        return [
            Finding(
                "run thread-job --against reference, whole",
                statistics.median(whole),
                "s",
                LESS,
                20,
                f"{spread(whole, 's', 1)}; exit {codes}",
            ),
            Finding(
                "  its first row on screen",
                statistics.median(firsts) if firsts else None,
                "s",
                LESS,
                1,
                spread(firsts, "s", 2)
                if firsts
                else f"no row was seen; the last words: {self._done[-1].last}",
            ),
        ]


def _is_row(line: str) -> bool:
    return any(line.startswith(f"  {verdict} ") for verdict in Verdict)
