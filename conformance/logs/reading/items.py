"""What the entries of a log come to: calls, signals, and calls of which no end was logged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.logs.reading.lines import LogLine
from statemachines.model import Signal
from statemachines.rows import Observed

BEGUN = "begun"  # what is said of a call of which the log shows no end


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call: between which instants it was, in nanoseconds; where both are the same, its place in the log tells its order.

    system  which of the systems made it that have nothing to do with each other
    number  of the entry, in the order of the log
    """

    line: LogLine
    call: Observed
    began: int
    ended: int
    system: str
    number: int

    @property
    def at_once(self) -> bool:
        """Whether it is known as one instant."""
        return self.began == self.ended


@dataclass(frozen=True, slots=True)
class LoggedSignal:
    """A signal, and when it was logged."""

    line: LogLine
    signal: Signal
    began: int
    system: str
    number: int

    @property
    def ended(self) -> int:
        """The same instant."""
        return self.began


@dataclass(frozen=True, slots=True)
class Unended:
    """A call of which only the beginning was logged: nobody knows what became of it."""

    line: LogLine
    operation: str
    began: int
    system: str
    number: int

    @property
    def ended(self) -> int:
        """The instant at which it began."""
        return self.began


Item = LoggedCall | LoggedSignal | Unended


def called(operation: str, arguments: dict[str, Any]) -> str:
    """Write a call as a row does."""
    return f"{operation}({', '.join(f'{name}: {value!r}' for name, value in arguments.items())})"
