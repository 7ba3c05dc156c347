"""What the entries of a log come to: calls, signals, and calls of which no end was logged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.logs.reading.lines import LogLine
from statemachines.model import Signal
from statemachines.rows import Observed, parts


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call: between which instants it was, in nanoseconds.

    Where both are the same, its place in the log tells its order, unless entries may stand out of their place.

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

    @property
    def texts(self) -> Iterator[str]:
        """The texts in its arguments and in its reply."""
        return texts_of(dict(self.call.arguments), self.call.reply)


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

    @property
    def texts(self) -> Iterator[str]:
        """The texts in its fields."""
        return texts_of(dict(self.signal[1]))


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


def texts_of(*values: Any) -> Iterator[str]:
    """Walk the texts that some values are made of."""
    return (each for value in values for each in parts(value) if isinstance(each, str))


def called(operation: str, arguments: dict[str, Any]) -> str:
    """Write a call with its arguments by name."""
    return f"{operation}({', '.join(f'{name}: {value!r}' for name, value in arguments.items())})"
