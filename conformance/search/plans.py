"""Short ways to what seldom happens, found on the model before the system is asked anything.

Who looks three calls ahead comes to what lies six calls away by chance alone, for most of those calls come to little that is new.
A call of the model costs microseconds: so thousands are tried there at random, each from a place where something was as it had
not been before, and of each situation the shortest way to it is kept. Walks go such ways, in their middle as well. One idea: the plan.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.search.ahead import Ahead, Ids, Intended, made_since
from conformance.search.situations import Situation, Situations
from conformance.search.story import Story

CALLS_PLANNED = 4_000  # calls on the model
LONGEST_WAY = 12  # calls of a way
PLACES_LOOKED_AT = 8  # of which a call is tried from the one that was tried least, and lies nearest
WAYS_LOOKED_AT = 200  # of which one is chosen: of all there are, a case would try those again that it cannot go
GOALS = ("sentence", "parts", "holds", "became", "kin")  # the kinds of situations to which ways are kept


@dataclass(slots=True)
class PlannedWay:
    """Calls of which the last one comes to some situations, and to none of them sooner on any other way that was found."""

    calls: Sequence[Intended]
    goals: list[Situation] = field(default_factory=list)


@dataclass(slots=True)
class _Place:
    """Where some calls have led, and how often another one was tried from there."""

    calls: Sequence[Intended]
    state: Any
    story: Story
    tried: int = 0


def planned(ahead: Ahead, tried: int = CALLS_PLANNED) -> list[PlannedWay]:
    """Return the shortest ways that so many calls on the model of a case find, from where it is now."""
    model, situations = ahead.driver.case.judge.model.fork(), ahead.situations
    places = [_Place((), model.freeze(), Story())]
    seen = situations.features(model)
    ways: dict[Hashable, tuple[Situation, list[Intended]]] = {}
    for _ in range(tried):
        few = ahead.chooser.sample(places, min(len(places), PLACES_LOOKED_AT))
        place = min(few, key=lambda each: each.tried + len(each.calls))
        place.tried += 1
        after, story = model.thawed(place.state), place.story.fork()
        before = situations.ids(after)
        call = ahead.call(after, story)
        found = ahead.thought(after, *call, story) if call is not None else None
        if call is None or found is None:
            continue
        far = len(place.calls) + 1
        goals = [each for each in found if each[1][0] in GOALS and (each[1] not in ways or len(ways[each[1]][1]) > far)]
        features = situations.features(after) - seen if far < LONGEST_WAY else set()
        if goals or features:
            calls = [*place.calls, Intended(*call, made_since(before, situations.ids(after)))]
            ways.update((goal[1], (goal, calls)) for goal in goals)
        if features:
            seen |= features
            places.append(_Place(calls, after.freeze(), story))
    found_ways: dict[int, PlannedWay] = {}
    for goal, calls in ways.values():
        found_ways.setdefault(id(calls), PlannedWay(calls)).goals.append(goal)
    return [*found_ways.values()]


def chosen(ways: Sequence[PlannedWay], situations: Situations, chooser: random.Random) -> PlannedWay | None:
    """Choose of a few ways the one whose goals no case, or few, have come to; None where there is no way."""
    few = chooser.sample(ways, min(len(ways), WAYS_LOOKED_AT))
    return max(few, key=lambda way: situations.worth(way.goals), default=None)


def as_given(calls: Sequence[Intended], ids: Callable[[], Ids]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Walk calls as they were tried on a model, with the `ids` that the system has given by then instead of those of the model.

    Whoever walks makes each call before asking for the next.
    """
    given: dict[str, str] = {}
    for intended in calls:
        before = ids()
        yield intended.operation, {name: _with(value, given) for name, value in intended.arguments.items()}
        for entity, new in made_since(before, ids()).items():
            given.update(zip(intended.made.get(entity, ()), new, strict=False))


def _with(value: Any, given: Mapping[str, str]) -> Any:
    match value:
        case str():
            return given.get(value, value)
        case list():
            return [_with(each, given) for each in value]
        case dict():
            return {name: _with(each, given) for name, each in value.items()}
        case _:
            return value
