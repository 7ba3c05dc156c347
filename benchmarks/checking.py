"""`check` of a shipped spec: in a warm process, and as a command."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from benchmarks.command import command
from benchmarks.measure import LESS, Finding, seconds, spread

SPEC = Path(__file__).parent.parent / "spec" / "thread-job.yaml"
_WARM, _COMMAND = "check thread-job.yaml in a warm process", "check thread-job.yaml as a command"


class Checking:
    """Reads, compiles and checks thread-job, explorer scope included, here and in a process of its own."""

    rounds = 9

    def __init__(self) -> None:
        self._warm: list[float] = []
        self._command: list[float] = []
        self._start: list[float] = []
        self._said = ""
        self._code = 0

    def once(self) -> None:
        """Check here, then by command."""
        try:
            from statemachines.check import check_file
        except ImportError as error:
            self._said = f"not there yet: {error}"
            return
        found = check_file(SPEC)  # it is warm from here on, caches of the machine included
        self._warm.append(seconds(lambda: check_file(SPEC)) * 1000)
        scope = f"{found.states:,} states, {found.transitions:,} transitions, {found.runs} runs of rows"
        self._said = (
            f"{scope}; {'nothing found' if found.right else f'{len(found.diagnostics)} FAULTS FOUND'}"
        )
        done = command([sys.executable, "-m", "conformance", "check", str(SPEC)])
        self._command.append(done.seconds * 1000)
        self._code = done.code
        self._start.append(command([sys.executable, "-c", "pass"]).seconds * 1000)

    def findings(self) -> list[Finding]:
        """Give a line for each way."""
        if not self._warm:
            return [
                Finding(_WARM, None, "ms", LESS, 150, self._said),
                Finding(_COMMAND, None, "ms", LESS, 500, self._said),
            ]
        warm = f"{spread(self._warm, 'ms')}; {self._said}"
        cold = f"{spread(self._command, 'ms')}; exit {self._code}; Python alone takes {statistics.median(self._start):.0f} ms"
        return [
            Finding(_WARM, statistics.median(self._warm), "ms", LESS, 150, warm),
            Finding(_COMMAND, statistics.median(self._command), "ms", LESS, 500, cold),
        ]
