"""Signals: which of those that a system sent are the ones that a model tells of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.judge.differences import differences
from statemachines.model import Outcome, Signal
from statemachines.types import NULL, RecordType, Time, present


def comparable(signal: Signal) -> Signal:
    """Return a signal as a value that can be compared and hashed, whatever the order of its fields."""
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


def required(outcomes: Iterable[Outcome]) -> list[Signal]:
    """Return the signals that have to come, as the model tells of them."""
    return [signal for each in outcomes for signal in (*each.signals, *each.again)]


def permitted(outcomes: Iterable[Outcome]) -> frozenset[Signal]:
    """Return the signals that may come, be it once more; all of them `comparable`."""
    return frozenset(comparable(signal) for each in outcomes for signal in (*each.may, *each.again))


@dataclass(frozen=True, slots=True)
class Signals:
    """Matches the signals of one lifecycle: `kinds` are their types by name; without `instants` times are not compared."""

    kinds: Mapping[str, RecordType]
    instants: bool

    def times(self, seen: Iterable[Signal]) -> tuple[int, ...]:
        """Return the instants that some signals tell of, in order; none where times are not compared."""
        found = {
            value
            for name, fields in (seen if self.instants else ())
            for field, value in fields
            if isinstance(present(self.kinds[name].field(field) or NULL), Time) and value is not None
        }
        return tuple(sorted(found))

    def match(self, signal: Signal, seen: Sequence[Signal]) -> Signal | None:
        """Return the one of the signals seen that may be this signal, or None; all of them `comparable`."""
        if signal in seen:
            return signal
        name, kind, wanted = signal[0], self.kinds[signal[0]], dict(signal[1])
        same = (each for each in seen if each[0] == name)
        return next(
            (each for each in same if not any(differences(kind, wanted, dict(each[1]), instants=self.instants))),
            None,
        )

    def left(self, needed: Iterable[Signal], seen: Iterable[Signal]) -> tuple[list[Signal], Signal | None]:
        """Match signals that have to come: return those seen that are left, and the first that did not come, or None."""
        rest = list(map(comparable, seen))
        for signal in needed:
            found = self.match(comparable(signal), rest)
            if found is None:
                return rest, signal
            rest.remove(found)
        return rest, None

    def stranger(self, seen: Iterable[Signal], allowed: Iterable[Signal]) -> Signal | None:
        """Return the first of the signals seen that is none of those allowed, or None; all of them `comparable`."""
        return next((each for each in seen if not any(self.match(one, [each]) for one in allowed)), None)
