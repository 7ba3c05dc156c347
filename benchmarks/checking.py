"""`check` of a shipped spec: in a warm process, and as a command."""

from __future__ import annotations

import statistics
import sys
import time

from benchmarks.command import CHECK, SPEC, Done, command
from benchmarks.measure import LESS, Finding, seconds, spread
from statemachines.checks import check

_WARM, _COMMAND = "check thread-job in a warm process", "check thread-job as a command"


class Checking:
    """Reads, compiles and checks thread-job, explorer scope included, here and in a process of its own."""

    rounds = 9

    def __init__(self) -> None:
        self._warm: list[float] = []
        self._processor: list[float] = []
        self._done: list[Done] = []
        self._python: list[float] = []
        self._said = ""

    def once(self) -> None:
        """Check here, then by command."""
        if not self._warm:
            check(SPEC)
        before = time.process_time()
        self._warm.append(seconds(lambda: check(SPEC)) * 1000)
        self._processor.append((time.process_time() - before) * 1000)
        found = check(SPEC)
        faults = "nothing found" if found.right else f"{len(found.diagnostics)} FAULTS FOUND"
        self._said = f"{found.states:,} states, {found.runs} runs of rows, {faults}"
        self._done.append(command(CHECK))
        self._python.append(command([sys.executable, "-c", "pass"]).seconds * 1000)

    def findings(self) -> list[Finding]:
        """Return a line for each way."""
        commands = [done.seconds * 1000 for done in self._done]
        working = statistics.median(done.processor for done in self._done) * 1000
        warm = f"{spread(self._warm, 'ms')}, {statistics.median(self._processor):.0f} ms of processor; "
        warm += self._said
        cold = f"{spread(commands, 'ms')}, {working:.0f} ms of processor; exit {_codes(self._done)}; "
        cold += f"Python alone {statistics.median(self._python):.0f} ms"
        return [
            Finding(_WARM, statistics.median(self._warm), "ms", LESS, 150, warm),
            Finding(_COMMAND, statistics.median(commands), "ms", LESS, 500, cold),
        ]


def _codes(done: list[Done]) -> str:
    return ", ".join(sorted({str(each.code) for each in done}))
