"""What a call costs that goes to another process: beside a bare echo over a pipe, and where the time goes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Final

from benchmarks.measure import Finding, Pair, seconds
from conformance.remote import ProcessLink, protocol

_CALLS: Final = 300
_PARAMS: Final = {"task": "task-1"}
_ECHO: Final = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""
_ADAPTER: Final = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": "pending"}) + chr(10))
    sys.stdout.flush()
"""


class Remote:
    """Calls over stdio against lines that are only sent back, each one waited for."""

    rounds = 10

    def __init__(self) -> None:
        self._link = ProcessLink(f"{sys.executable} -S -c '{_ADAPTER}'")
        self._echo = subprocess.Popen(
            [sys.executable, "-S", "-c", _ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._line = protocol.request(1, "status", _PARAMS)
        self._answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": "pending"}).encode()
        self._pair = Pair(lambda: seconds(self._asked), lambda: seconds(self._echoed), pairs=2)
        self._work = Pair(lambda: seconds(self._checked), lambda: seconds(self._parsed), pairs=2)

    def once(self) -> None:
        """Time some calls, some lines, and what is done to messages."""
        self._pair.once()
        self._work.once()

    def findings(self) -> list[Finding]:
        """Return what a call adds, and what of it are the messages."""
        self._link.end()
        self._echo.communicate()
        call, echo, messages, plain = (
            each / _CALLS * 1e6 for each in (self._pair.slow, self._pair.fast, self._work.slow, self._work.fast)
        )
        return [
            Finding(
                "a call over stdio against a bare echo over a pipe",
                self._pair.ratio,
                "times",
                note=f"{call:.0f} against {echo:.0f} µs; {self._pair.spread}",
            ),
            Finding(
                "  of what it adds, messages that are written, read and checked",
                100 * messages / max(call - echo, 1e-9),
                "%",
                note=f"{messages:.0f} µs, of which JSON alone {plain:.0f}; the rest wakes threads, and the adapter's own JSON",
            ),
        ]

    def _asked(self) -> None:
        for _ in range(_CALLS):
            self._link.answer("status", _PARAMS, 60.0)

    def _echoed(self) -> None:
        stdin, stdout = self._echo.stdin, self._echo.stdout
        assert stdin is not None  # both were asked for as pipes
        assert stdout is not None
        for _ in range(_CALLS):
            stdin.write(self._line)
            stdout.read(1 << 16)

    def _checked(self) -> None:
        for _ in range(_CALLS):
            protocol.request(1, "status", _PARAMS)
            protocol.read(self._answer)

    def _parsed(self) -> None:
        for _ in range(_CALLS):
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "status", "params": _PARAMS}).encode()
            json.loads(self._answer)
