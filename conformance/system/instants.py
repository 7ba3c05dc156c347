"""Instants of a clock that runs on by itself: nobody saw them, and they lie between two that the kit did see.

A model asks of an instant only whether a deadline is over. Where that depends on when exactly something was done, both
answers may be right: `each_answer` works something out with either of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

RESOLUTION = 1  # milliseconds by which two clocks differ that count whole ones, on either side
Within = tuple[int, int]  # the earliest and the latest instant at which something was done
Found = TypeVar("Found")


class Instant(int):
    """An instant of which only that is known: it is `shift` after one that lies within `base`, and its number is the first.

    mark  tells such an instant from others that lie within the same two
    """

    base: Within
    mark: Any
    shift: int

    def __new__(cls, base: Within, mark: Any, shift: int = 0) -> Self:
        """Return an instant between two others."""
        made = super().__new__(cls, base[0] + shift)
        made.base, made.mark, made.shift = base, mark, shift
        return made

    @property
    def late(self) -> int:
        """The last instant that it can be."""
        return self.base[1] + self.shift

    def __add__(self, ms: int) -> Instant:
        """Return a later one."""
        return Instant(self.base, self.mark, self.shift + int(ms))

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        """Return an earlier one, or about how much time lies between two."""
        return int(self) - int(other) if isinstance(other, Instant) else self + -other

    def __lt__(self, other: int) -> bool:
        """Return whether it is before another one; so do all comparisons."""
        return _before(self, other)

    def __gt__(self, other: int) -> bool:
        return _before(other, self)

    def __le__(self, other: int) -> bool:
        return not _before(other, self)

    def __ge__(self, other: int) -> bool:
        return not _before(self, other)

    def _same(self) -> tuple[Any, ...]:
        return self.mark, self.base, self.shift

    def __eq__(self, other: object) -> bool:
        return self._same() == other._same() if isinstance(other, Instant) else int(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._same())

    def __repr__(self) -> str:
        return f"{int(self)}…{self.late}"


def earliest(instant: int) -> int:
    """Return the first instant that one can be: what stood still is known."""
    return int(instant)


def latest(instant: int) -> int:
    """Return the last instant that one can be."""
    return instant.late if isinstance(instant, Instant) else instant


# ── Either answer ──


@dataclass(slots=True)
class _Answers:
    """The answers that are given while something is worked out: first those asked for, then yes.

    apart  how far apart two instants lie at least and at most, by what was answered so far
    """

    asked_for: tuple[bool, ...]
    given: list[bool] = field(default_factory=list)
    apart: dict[tuple[Any, Any], tuple[int, int]] = field(default_factory=dict)

    def before(self, one: Instant, other: Instant) -> bool:
        """Return whether an instant is before another one, in keeping with all other answers."""
        pair, limit = (one.mark, other.mark), other.shift - one.shift
        if one.mark == other.mark:
            return limit > 0
        widest = (one.base[0] - other.base[1], one.base[1] - other.base[0])
        if pair[::-1] in self.apart:
            low, high = self.apart[pair[::-1]]
            widest = (-high, -low)
        least, most = self.apart.get(pair, widest)
        if most < limit or least >= limit:
            return most < limit
        place = len(self.given)
        answer = self.asked_for[place] if place < len(self.asked_for) else True
        self.given.append(answer)
        low, high = (least, limit - 1) if answer else (limit, most)
        self.apart[pair], self.apart[pair[::-1]] = (low, high), (-high, -low)
        return answer


_answers: ContextVar[_Answers | None] = ContextVar("_answers", default=None)


def _before(one: int, other: int) -> bool:
    """Return whether an instant is before another one.

    Two at which something was done are in the order in which they were seen. A deadline may be over or not.
    """
    answers = _answers.get()
    one, other = (each if isinstance(each, Instant) else Instant((each, each), "known") for each in (one, other))
    if answers is None or not (one.shift or other.shift):
        both_counted = isinstance(one.mark, int) and isinstance(other.mark, int)
        return int(one) < int(other) or (both_counted and int(one) == int(other) and one.mark < other.mark)
    return answers.before(one, other)


def each_answer(work: Callable[[], Found], most: int) -> Iterator[Found | None]:
    """Work something out with each answer to what nobody can know of instants; None in the end where there are more than `most`."""
    waiting: list[tuple[bool, ...]] = [()]
    for _ in range(most):
        if not waiting:
            return
        asked_for = waiting.pop()
        answers = _Answers(asked_for)
        token = _answers.set(answers)
        try:
            found = work()
        finally:
            _answers.reset(token)
        yield found
        given = answers.given
        waiting += [(*given[:place], not given[place]) for place in range(len(asked_for), len(given))]
    if waiting:
        yield None


# ── The kit's own ──


class Stopwatch:
    """Shows within which instants of a case it is, by a clock that runs on and that `wait` may move; nothing by another one."""

    def __init__(self, *, runs: bool) -> None:
        self._runs = runs
        self._began = time.monotonic()
        self._moved = 0

    def move(self, ms: int) -> None:
        """Note that the clock was moved."""
        self._moved += ms

    @property
    def now(self) -> Within | None:
        """The first and the last instant that it may be now."""
        if not self._runs:
            return None
        passed = (time.monotonic() - self._began) * 1000 + self._moved
        return max(math.floor(passed) - RESOLUTION, 0), math.ceil(passed) + RESOLUTION

    def since(self, began: Within | None) -> Within | None:
        """Return between which instants all was done that began then and is over now."""
        now = self.now
        return began and now and (began[0], now[1])
