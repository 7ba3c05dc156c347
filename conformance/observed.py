"""One call as it was observed: its arguments, its answer as values of the spec, and its signals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SignalKey = tuple[str, tuple[tuple[str, Any], ...]]


@dataclass(slots=True)
class Observed:
    """A call and what came of it.

    minted  the ids in the reply that the system may have chosen for new records, each with its entity
    caller, began, ended  who made it and when, for calls made at once
    elapsed  milliseconds that passed meanwhile
    aside    the reply, where nothing follows from it; something may without a sentence that is only recommended
    """

    operation: str
    arguments: Mapping[str, Any]
    given: Any = None
    refused: str | None = None
    signals: list[SignalKey] = field(default_factory=list)
    minted: tuple[tuple[str, str], ...] = ()
    caller: int = 0
    began: int = 0
    ended: int = 0
    elapsed: int = 0
    aside: Any = None


def signal_key(signal: tuple[str, tuple[tuple[str, Any], ...]]) -> SignalKey:
    """Give a signal as a value that can be compared and hashed, whatever the order of its fields."""
    name, fields = signal
    return name, tuple(sorted((field, _hashable(value)) for field, value in fields))


class _Fields(dict[str, Any]):
    """A plain value that can be hashed: nobody changes it."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none
        return hash(frozenset(self.items()))


def _hashable(value: Any) -> Any:
    match value:
        case dict():
            return _Fields({name: _hashable(part) for name, part in value.items()})
        case list() | tuple():
            return tuple(map(_hashable, value))
        case _:
            return value
