"""`check` of a shipped spec that was checked before, and from scratch: in a warm process, and as a command."""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.command import CHECK, SPEC, Done, command
from benchmarks.measure import LESS, Finding, seconds, spread
from statemachines.checks import check

UNCHANGED, WHOLE = "unchanged", "from scratch"
WARM, COMMAND = "in a warm process", "as a command"
_LIMITS = {(UNCHANGED, WARM): 150, (UNCHANGED, COMMAND): 500, (WHOLE, WARM): 300, (WHOLE, COMMAND): 1_000}


class Checking:
    """Reads, compiles and checks thread-job, explorer scope included, here and in a process of its own."""

    rounds = 9

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="benchmark-checked-")
        self._ms: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._done: list[Done] = []
        self._said = ""

    def once(self) -> None:
        """Check here, then by command; both with what was right before, and without."""
        cache, folder = Path(self._folder.name) / "here", self._folder.name
        if not self._done:
            check(SPEC, cache=cache)
            command(CHECK, within=folder)
        for what, known in ((UNCHANGED, cache), (WHOLE, None)):
            self._ms[what, WARM].append(seconds(partial(check, SPEC, cache=known)) * 1000)
        for what, arguments in ((UNCHANGED, CHECK), (WHOLE, (*CHECK, "--no-cache"))):
            self._done.append(command(arguments, within=folder))
            self._ms[what, COMMAND].append(self._done[-1].seconds * 1000)
        self._ms["Python", COMMAND].append(command([sys.executable, "-c", "pass"]).seconds * 1000)
        found = check(SPEC)
        faults = "nothing found" if found.right else f"{len(found.diagnostics)} FAULTS FOUND"
        self._said = f"{found.states:,} states, {found.runs} runs of rows, {faults}"

    def findings(self) -> list[Finding]:
        """Return a line for each way."""
        codes = ", ".join(sorted({str(done.code) for done in self._done}))
        python = statistics.median(self._ms["Python", COMMAND])
        beside = {WARM: self._said, COMMAND: f"exit {codes}; Python alone {python:.0f} ms"}
        return [
            Finding(
                f"check thread-job {what}, {how}",
                statistics.median(self._ms[what, how]),
                "ms",
                LESS,
                limit,
                f"{spread(self._ms[what, how], 'ms')}; {beside[how]}",
            )
            for (what, how), limit in _LIMITS.items()
        ]
