"""What one step of an examination has shown, and what passed meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from conformance.remote import shortened
from conformance.system import Broken, HarnessError
from conformance.verdict import EXIT_CONFORMS, EXIT_HARNESS, EXIT_VIOLATES

_MOST_LINES: Final = 12  # of an exchange, at its end: more than that nobody reads


class State(StrEnum):
    """How a step ended."""

    OK = "ok"
    MEND = "mend"
    FATAL = "stop"  # nothing more can be asked
    AWAY = "-"  # there is nothing to try


@dataclass(frozen=True, slots=True)
class Tried:
    """One step: what was tried, what was seen, and how to mend it; `exchange` is what passed, `>` to the adapter and `<` from it."""

    name: str
    state: State
    seen: str
    mend: str = ""
    exchange: tuple[str, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether there is something to mend."""
        return self.state in (State.MEND, State.FATAL)


class Wrong(Exception):
    """Raised where a step shows something to mend: what was seen, and what to do."""

    def __init__(self, seen: str, mend: str) -> None:
        super().__init__(seen)
        self.seen = seen
        self.mend = mend


class Exchange:
    """Hears what passes."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, side: str, line: bytes) -> None:
        """Take a line."""
        with self._lock:
            self._lines.append(f"{side} {shortened(line)}")

    def taken(self) -> tuple[str, ...]:
        """Return what passed since the last time."""
        with self._lock:
            lines, self._lines = self._lines, []
        left_out = len(lines) - _MOST_LINES
        return tuple(lines if left_out <= 0 else [f"… {left_out} lines before", *lines[left_out:]])


_PAGES: Final = (
    "docs/protocol.md says what each message has to be, docs/adapters.md what a class needs and may declare."
)
ADVICE: Final = {
    "hang": "Write one answer for each request, with its id, as one line, and flush stdout after it.",
    "crash": "Carry the call out, or refuse it with a code of the life cycle. What the adapter said on stderr, if anything, stands above.",
    "shape": "Give the reply in the form that `conformance explain` shows.",
}


class Trying:
    """Adds a step: well, with what the body says of it, or with what it raises. With `fatal` nothing can be asked without it."""

    def __init__(self, name: str, exchange: Exchange, steps: list[Tried], *, fatal: bool = False) -> None:
        self._name = name
        self._exchange = exchange
        self._steps = steps
        self._fatal = fatal
        self._said = ""

    def __enter__(self) -> Callable[[str], None]:
        """Return what takes the words of a step that goes well."""
        self._exchange.taken()
        return self._say

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Add the step; only what tells of the adapter stays here."""
        match error:
            case None:
                self._add(State.OK, self._said)
            case Wrong():
                self._add(State.MEND, error.seen, error.mend)
            case Broken():
                self._add(State.MEND, f"{error.message}\n{error.detail}".rstrip(), ADVICE[error.kind])
            case HarnessError():
                self._add(
                    State.MEND,
                    str(error),
                    _PAGES,
                )
            case _:
                return False
        return True

    def _say(self, text: str) -> None:
        self._said = text

    def _add(self, state: State, seen: str, mend: str = "") -> None:
        ended = State.FATAL if self._fatal and state is State.MEND else state
        self._steps.append(Tried(self._name, ended, seen, mend, self._exchange.taken()))


def exit_of(steps: Sequence[Tried]) -> int:
    """Return the exit code: 0 well, 1 something to mend, 3 it cannot be asked."""
    if any(step.state is State.FATAL for step in steps):
        return EXIT_HARNESS
    return EXIT_VIOLATES if any(step.wrong for step in steps) else EXIT_CONFORMS
