"""Whether each end that is to be told can still be told, from every configuration in which it was not told yet.

From each configuration with a message that is due, one has to be reachable in which that very message was sent (in temporal logic
AG EF). Configurations stand for others that differ only in names, so a message is followed by its number in each. What tells it may
be the creation of another record: only where the scope has room for one more is it held to be stuck.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from statemachines import kernel
from statemachines.explore.configurations import Configurations, Frozen
from statemachines.explore.influence import Influence
from statemachines.explore.small_scope import SmallScope
from statemachines.explore.watching import Reached, SearchWatch

if TYPE_CHECKING:
    from statemachines.compile import Compiled

_Owed = tuple[Reached, int]
"""A configuration, and the number there of the record whose end was not told yet."""


@dataclass(frozen=True, slots=True)
class CanBeTold:
    """Of one kind of message: whether it can be told from wherever it is due.

    owed     so many configurations have one that is due and was not sent, counted once for each such message
    stuck    the nearest configuration from which it is never told, whatever one more record does; None where there is none
    unclear  from so many of them it may be told by more records than the scope has, or where the search did not go on
    """

    message: kernel.Message
    owed: int
    stuck: Reached | None
    unclear: int


def to_be_seen(source: kernel.Kernel) -> list[str]:
    """Name what a search has to tell apart for this: which messages are due, and which were sent (`explore(…, seen=…)`)."""
    boxes = [f"{box}.{each.name}" for each in source.messages for box in ("due", "sent")]
    return [name for box in boxes for name in (box, f"{box}.about")]


def tellings(compiled: Compiled, reached: Sequence[Reached], watch: SearchWatch) -> list[CanBeTold]:
    """Return for each kind of message whether it can be told from wherever it is due, after a search that was watched."""
    return [_LookingBack(compiled, watch, message, place).run(reached) for place, message in _places(compiled.kernel)]


def _places(source: kernel.Kernel) -> Iterator[tuple[int, kernel.Message]]:
    """Walk the kinds of messages, each with the place in a configuration of those that are due; those sent come next."""
    first = 3 + len(source.variables) + len(source.entities)
    yield from ((first + 2 * number, message) for number, message in enumerate(source.messages))


class _LookingBack:
    """Looks back from where a message is told to all from where that can be reached."""

    def __init__(self, compiled: Compiled, watch: SearchWatch, message: kernel.Message, place: int) -> None:
        self._source = compiled.kernel
        self._watch = watch
        self._message = message
        self._place = place
        self._influence = Influence(compiled.kernel, to_be_seen(compiled.kernel) + states_of(compiled.kernel))
        self._configurations: dict[int, Configurations] = {}
        self._known: dict[int, Mapping[Any, int]] = {}

    def run(self, reached: Sequence[Reached]) -> CanBeTold:
        """Look back."""
        before: defaultdict[_Owed, list[_Owed]] = defaultdict(list)
        told: set[_Owed] = set()
        owed: list[_Owed] = []
        beyond: set[_Owed] = set()
        for each in reached:
            for about in self._untold(each.frozen):
                here = each, self._number(each, each.frozen, about)
                owed.append(here)
                if each not in self._watch.ways:
                    beyond.add(here)
                for way in self._watch.ways.get(each, ()):
                    if about in self._abouts(way.there, 1):
                        told.add(here)
                    elif about in self._abouts(way.there, 0):
                        before[way.reached, self._number(way.reached, way.there, about)].append(here)
        can = _all_before(told, before)
        may = _all_before(can | beyond, before)
        never = [node for node in owed if node not in may and node[0] not in self._watch.narrow]
        stuck = min(never, key=lambda node: len(node[0].way()), default=None)
        return CanBeTold(self._message, len(owed), stuck[0] if stuck else None, len(owed) - len(can) - len(never))

    def _abouts(self, frozen: Frozen, box: int) -> list[int]:
        """List whom the messages that are due (0), or were sent (1), are about."""
        return [row[0] for row in frozen[self._place + box]]

    def _untold(self, frozen: Frozen) -> list[int]:
        sent = self._abouts(frozen, 1)
        return [about for about in dict.fromkeys(self._abouts(frozen, 0)) if about not in sent]

    def _number(self, reached: Reached, frozen: Frozen, about: int) -> int:
        """Return the number of a record in a configuration of the scope of another one."""
        key = id(frozen)
        if key not in self._known:
            self._known[key] = self._of(reached.scope).numbers(frozen)
        return self._known[key][about]

    def _of(self, scope: SmallScope) -> Configurations:
        if id(scope) not in self._configurations:
            self._configurations[id(scope)] = Configurations(self._source, self._influence, scope.records)
        return self._configurations[id(scope)]


def states_of(source: kernel.Kernel) -> list[str]:
    """Name the states of records, for a search that is to take no two of them for alike (`explore(…, seen=…)`)."""
    return [f"{each.name}.state" for each in source.entities if each.states]


def _all_before(goal: set[_Owed], before: Mapping[_Owed, Sequence[_Owed]]) -> set[_Owed]:
    """Return all from which a goal can be reached."""
    found, left = set(goal), deque(goal)
    while left:
        for each in before.get(left.popleft(), ()):
            if each not in found:
                found.add(each)
                left.append(each)
    return found
