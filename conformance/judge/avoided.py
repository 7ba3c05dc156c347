"""Calls that are not made: those that may wait for ever, and those that broke, when a run has seen enough of them.

A call is broken that hangs, crashes or answers what nobody can read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple, Self

from conformance.judge.finding import BESIDE, NO_REPLY, Finding
from conformance.judge.lockstep import Lockstep
from conformance.system import Adapter
from statemachines.model import BaseModel
from statemachines.rows import Call, Observed, RowFailure, filled

SELDOM: Final = 8  # of so many times a search makes a call that ended a case once; such a look in one of so many cases


class Hopeless(NamedTuple):
    """An operation that never gave an answer: what it did instead, and the rows that saw it."""

    operation: str
    kind: str
    rows: list[str]


@dataclass(slots=True)
class BrokenCalls:
    """What one system was seen to hang and to crash at, row by row and in searches.

    A call that never gave an answer, and broke enough rows, is asked no more. Where enough rows hung, nobody waits
    long for what hung before: an answer may come all the same, and then the row tells what it is about. A search
    makes what ended one of its cases seldom, and after enough of them not at all; a look that ended one, for what it
    shows is wrong, it takes in few cases, for behind that something else may be wrong.
    """

    ENOUGH: ClassVar = 3  # cases that end alike

    adapter: Adapter
    _rows: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # by kind and operation
    _ended: Counter[str] = field(default_factory=Counter)  # cases of searches, by operation
    _looks: set[str] = field(default_factory=set)  # those that ended cases by what they showed
    _cases: int = 0
    _asked: Counter[str] = field(default_factory=Counter)

    @property
    def silent(self) -> bool:
        """Whether nothing hung or crashed, and no case of a search ended."""
        return not (self._rows or self._ended or self._looks)

    @property
    def known(self) -> tuple[dict[tuple[str, str], list[str]], frozenset[str]]:
        """What rows were seen to break by, and the operations that are asked no more: what a run elsewhere has to know."""
        asked_no_more = frozenset(name for _, name in self._rows if self.hopeless([name]) is not None)
        return {key: [*rows] for key, rows in self._rows.items()}, asked_no_more

    def go_on_from(self, rows: Mapping[tuple[str, str], Sequence[str]], hopeless: Iterable[str]) -> None:
        """Take over what another process knows. An operation that may still give an answer has given one."""
        self._rows = {key: [*each] for key, each in rows.items()}
        self.adapter.answered = {name for _, name in rows} - {*hopeless}

    # ── In rows ──

    def note(self, row: str, finding: Finding) -> None:
        """Take note of a row that failed by a call that hung or crashed."""
        for operation in finding.operation.split(BESIDE):
            self._rows.setdefault((finding.kind, operation), []).append(row)

    def knows(self, finding: Finding) -> bool:
        """Return whether a row failed alike before."""
        return any((finding.kind, operation) in self._rows for operation in finding.operation.split(BESIDE))

    def hopeless(self, operations: Iterable[str]) -> Hopeless | None:
        """Return which of some operations is asked no more; None where each may answer."""
        for operation in operations:
            for kind in NO_REPLY:
                rows = self._rows.get((kind, operation), [])
                if len(rows) >= self.ENOUGH and operation not in self.adapter.answered:
                    return Hopeless(operation, kind, rows)
        return None

    @property
    def hung(self) -> list[str]:
        """The rows that hung."""
        return list(dict.fromkeys(row for (kind, _), rows in self._rows.items() if kind == "hang" for row in rows))

    @contextmanager
    def hurried(self, seconds: float) -> Iterator[None]:
        """Let no call take longer than so many seconds."""
        usual = self.adapter.limit
        self.adapter.limit = min(usual, seconds)
        try:
            yield
        finally:
            self.adapter.limit = usual

    # ── In searches ──

    def begin(self) -> None:
        """Take note that a case of a search begins."""
        self._cases += 1

    def ended(self, finding: Finding, *, looking: bool) -> None:
        """Take note of what ended a case of a search, and whether it was a call that changes nothing."""
        if looking:
            self._looks.add(finding.operation)
        if finding.kind in (*NO_REPLY, "shape"):
            self._ended.update(finding.operation.split(BESIDE))

    def shuns(self, operation: str) -> bool:
        """Return whether a search had better not make a call now: it has ended cases before, or is asked no more."""
        ended = self._ended[operation]
        if ended >= self.ENOUGH or self.hopeless([operation]) is not None:
            return True
        if operation in self._looks:
            return self._cases % SELDOM > 0
        self._asked[operation] += bool(ended)
        return self._asked[operation] % SELDOM > 0


# ── Calls that may wait for ever ──

MOST_SITUATIONS = 500  # of calls at once are looked at; beyond that they might wait for ever

NO_REPLIES: Final[Mapping[int, Observed]] = {}


def endless(
    lockstep: Lockstep, callers: Sequence[Sequence[Call]], replies: Mapping[int, Observed] = NO_REPLIES
) -> bool:
    """Return whether calls made at once may end with one that waits for ever: in some order nobody ends its wait.

    `replies` are those of the calls before; what a call takes out of the reply of one of the same caller is what the model gives.
    """
    if not any(lockstep.stepper.facts.blocks(call.operation) for caller in callers for call in caller):
        return False
    start = _Situation(tuple(map(len, callers)), tuple(replies for _ in callers))
    waiting = [(start, rested.freeze()) for each in lockstep.decided() for rested in lockstep.rests(each.model)]
    known = {(start.key, frozen) for start, frozen in waiting}
    while waiting:
        here, frozen = waiting.pop()
        following = [
            (then, rested.freeze())
            for then, after in _made(lockstep.model.thawed(frozen), callers, here)
            for rested in lockstep.rests(after)
        ]
        if (any(here.left) and not following) or len(known) > MOST_SITUATIONS:
            return True
        new = {(then.key, frozen): (then, frozen) for then, frozen in following}
        waiting += [each for key, each in new.items() if key not in known]
        known.update(new)
    return False


class _Situation(NamedTuple):
    """How many calls each caller has left, and what its calls so far have given it."""

    left: tuple[int, ...]
    replies: tuple[Mapping[int, Observed], ...]

    @property
    def key(self) -> Hashable:
        """What tells it from others."""
        return self.left, tuple(repr([reply.reply for reply in each.values()]) for each in self.replies)

    def after(self, caller: int, left: int, reply: Mapping[int, Observed]) -> Self:
        """Return the situation when a caller has so many calls left, and one more reply."""
        replies = *self.replies[:caller], {**self.replies[caller], **reply}, *self.replies[caller + 1 :]
        return self._replace(left=(*self.left[:caller], left, *self.left[caller + 1 :]), replies=replies)


def _made(
    model: BaseModel, callers: Sequence[Sequence[Call]], here: _Situation
) -> Iterator[tuple[_Situation, BaseModel]]:
    """Walk what comes of the next call of each caller that comes back, as a right system may answer it."""
    for caller, count in enumerate(here.left):
        if not count:
            continue
        call = callers[caller][-count]
        try:
            arguments = {name: filled(value, here.replies[caller]) for name, value in call.arguments}
        except RowFailure:  # who was given nothing does not go on
            yield here.after(caller, 0, {}), model.fork()
            continue
        refused = model.fork()
        decision = refused.decide(call.operation, arguments)
        if decision.accept:
            after = refused.fork()
            gave = Observed(call.operation, arguments, after.do(call.operation, arguments).value)
            after.settle()
            yield here.after(caller, count - 1, {call.number: gave}), after
        if not decision.blocks and (decision.refuse or not decision.accept):
            yield here.after(caller, count - 1, {}), refused
