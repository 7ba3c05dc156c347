"""Short ways to what seldom happens, found on the model before the system is asked anything.

Who looks three calls ahead comes to what lies six calls away by chance alone, for most of those calls come to little that is new.
A call of the model costs microseconds: so thousands are tried there at random, each from a place where something was as it had
not been before, and of each situation the shortest way to it is kept. Walks go such ways, in their middle as well. One idea: the plan.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.search.ahead import Ahead, Ids, Intended, made_since
from conformance.search.records import Story
from conformance.search.situations import Situation, Situations

CALLS_PLANNED = (
    170  # calls on the model, for each walk that is to be made: about a tenth of the time that the walks take
)
LONGEST_WAY = 12  # calls of a way: twice as many as the rows of a spec mostly make
PLACES_LOOKED_AT = 8  # of which a call is tried from the one that was tried least, and lies nearest
WAYS_LOOKED_AT = 200  # of which one is chosen: of all there are, a case would try those again that it cannot go
GOALS = ("sentence", "parts", "holds", "became", "kin")
"""The kinds of situations to which ways are kept: what may go wrong about a record. Others hang on what else was called before."""


@dataclass(slots=True)
class PlannedWay:
    """Calls of which the last one comes to some situations, its goals, and to none of them sooner on any other way that was found."""

    calls: Sequence[Intended]
    goals: list[Situation] = field(default_factory=list)


@dataclass(slots=True)
class _Place:
    """Where some calls have led, and how often another one was tried from there."""

    calls: Sequence[Intended]
    state: Any
    story: Story
    visits: int = 0


def planned(ahead: Ahead, tries: int) -> list[PlannedWay]:
    """Return the shortest ways that so many calls on the model of a case find, from where it is now."""
    model, situations = ahead.driver.case.judge.model.fork(), ahead.situations
    places = [_Place((), model.freeze(), Story())]
    seen = situations.features(model)
    ways: dict[Situation, PlannedWay] = {}
    for _ in range(tries):
        few = ahead.chooser.sample(places, min(len(places), PLACES_LOOKED_AT))
        place = min(few, key=lambda each: each.visits + len(each.calls))
        place.visits += 1
        after, story = model.thawed(place.state), place.story.fork()
        before = situations.ids(after)
        call = ahead.call(after, story)
        found = ahead.thought(after, *call, story) if call is not None else None
        if call is None or found is None:
            continue
        way = PlannedWay([*place.calls, Intended(*call, made_since(before, situations.ids(after)))])
        goals = [each for each in found if each[1][0] in GOALS]
        ways.update((each, way) for each in goals if each not in ways or len(way.calls) < len(ways[each].calls))
        features = situations.features(after) - seen
        if features and len(way.calls) < LONGEST_WAY:
            seen |= features
            places.append(_Place(way.calls, after.freeze(), story))
    for goal, way in ways.items():
        way.goals.append(goal)
    return [*{id(way): way for way in ways.values()}.values()]


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
