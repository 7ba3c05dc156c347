"""What is new about a call: the situations that one call on a model comes to, as values to count.

A situation is what a mistake may hang on: an operation about a record in some state beside others of its owner, two
sentences one after the other about one record, how many records there are beside a limit, an id that a record had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.expression import python_name
from statemachines.model import BaseModel, Decision
from statemachines.types import Bool, Enum, Optional, Ref, Type, present

MANY = 4  # records beside a limit, beyond which one more is nothing new
BESIDE = 40  # other records of an owner that are looked at
SENTENCE, CALL, PAIR, COUNT = 8.0, 4.0, 2.0, 1.0  # how much a new situation of a kind is worth

Situation = tuple[float, Hashable]  # what it is worth when it is new, and what it is
Label = Hashable  # what a call did


@dataclass(slots=True)
class Story:
    """What has happened to each id, and last of all, in a case or in what is only thought of."""

    last: dict[str, Label] = field(default_factory=dict)
    before: Label = ""

    def fork(self) -> Story:
        """Return another one that goes on from here."""
        return Story(dict(self.last), self.before)


class Situations:
    """The situations of one life cycle, and how often each was come to."""

    def __init__(self, compiled: Compiled) -> None:
        source = compiled.kernel
        self.met: Counter[Hashable] = Counter()
        self._entities = {entity.name: _Records(entity) for entity in source.entities}
        self._of = {
            operation.name: {each.name: each.entity for each in operation.parameters if each.entity}
            for operation in source.operations
        }
        self._minted = [each for each in self._entities.values() if not each.fixed]

    def worth(self, found: Sequence[Situation]) -> float:
        """Return how much situations are worth that were come to as often as they were."""
        return sum(weight / (1 + self.met[what]) ** 2 for weight, what in found)

    def note(self, found: Sequence[Situation]) -> None:
        """Take note that a case has come to these."""
        self.met.update(what for _, what in found)

    def of(
        self, model: BaseModel, operation: str, arguments: Mapping[str, Any], decision: Decision, story: Story
    ) -> list[Situation]:
        """Return the situations of a call on a model before it is made, and make it a part of the story."""
        entities = self._of.get(operation, {})
        told = "ok" if decision.accept else "|".join(decision.refuse) or "open"
        label = (operation, told)
        ids: list[str] = []
        parts: list[Hashable] = []
        beside: list[Hashable] = []
        for name, value in arguments.items():
            records = self._entities.get(entities.get(name, ""))
            if isinstance(value, str) and records is not None:
                ids.append(value)
                parts.append(records.token(model, value, story))
                beside.append(records.beside(model, value))
                ids += records.owners(model, value)
            elif isinstance(value, str) and value in story.last:
                ids.append(value)
                parts.append(("known", story.last[value]))
            else:
                parts.append(_kind(value))
        counts = tuple(each.count(model) for each in self._minted)
        found: list[Situation] = [
            (CALL, (label, *parts)),
            (CALL, (label, *beside)),
            (COUNT, (label, counts)),
            (COUNT, (story.before, label)),
        ]
        for place, value in enumerate(ids):
            if value in story.last:
                found.append((PAIR, (place, story.last[value], label)))
            story.last[value] = label
        story.before = label
        return found

    def came(self, model: BaseModel, operation: str, before: Mapping[str, Any], story: Story) -> list[Situation]:
        """Return the sentences that were at work in a call that was made, after what each record had gone through."""
        sentences = [place for place, hit in enumerate(model.seen) if hit]
        return [(SENTENCE, place) for place in sentences]

    def ids(self, model: BaseModel) -> dict[str, list[str]]:
        """Return the ids of the records that may come and go, by entity."""
        return {each.name: list(each.live(model)) for each in self._minted}

    def owners(self, model: BaseModel, identity: str) -> Iterator[str]:
        """Walk the records that a new record belongs to."""
        for each in self._minted:
            if identity in each.live(model):
                yield from each.owners(model, identity)


class _Records:
    """What there is to see of the records of one entity."""

    def __init__(self, entity: kernel.Entity) -> None:
        self.name, self.fixed = entity.name, bool(entity.fixed)
        self.live = attrgetter(python_name(entity.collection))
        self._small = [python_name(each.name) for each in entity.fields if _is_small(each.type)]
        self._maybe = [
            python_name(each.name)
            for each in entity.fields
            if isinstance(each.type, Optional) and not _is_small(each.type)
        ]
        self._owners = [python_name(each.name) for each in entity.fields if isinstance(present(each.type), Ref)]

    def token(self, model: BaseModel, identity: str, story: Story) -> Hashable:
        """Return what distinguishes a record: its state, and what is said of it that has few values; of one gone, how it went."""
        record = self.live(model).get(identity)
        if record is None:
            return ("gone", story.last.get(identity))
        small = tuple(getattr(record, name) for name in self._small)
        return (getattr(record, "state", ""), small, tuple(getattr(record, name) is None for name in self._maybe))

    def beside(self, model: BaseModel, identity: str) -> Hashable:
        """Return the states of the others that belong to whom the record belongs to, and its own."""
        live = self.live(model)
        record = live.get(identity)
        owners = [getattr(record, name) for name in self._owners] if record is not None else []
        others = (
            getattr(each, "state", "")
            for each in list(live.values())[-BESIDE:]
            if each is not record and owners == [getattr(each, name) for name in self._owners]
        )
        return (getattr(record, "state", "none"), frozenset(others))

    def owners(self, model: BaseModel, identity: str) -> list[str]:
        """Return the ids of the records that a record belongs to."""
        record = self.live(model).get(identity)
        found = [getattr(record, name) for name in self._owners] if record is not None else []
        return [each for each in found if isinstance(each, str)]

    def count(self, model: BaseModel) -> Hashable:
        """Return how many records there are in each state, as far as one more makes a difference."""
        states = Counter(getattr(each, "state", "") for each in self.live(model).values())
        limits = [each for each in vars(model.limits).values() if isinstance(each, int) and each > MANY]
        return tuple(sorted((state, _size(count, limits)) for state, count in states.items()))


def _size(count: int, limits: Sequence[int]) -> Hashable:
    """Return a number as it stands to the limits: one below, at it, one above, twice it and more; else whether it is small."""
    near = next((("limit", count - limit) for limit in limits if abs(count - limit) <= 1), None)
    if near is not None or count <= MANY:
        return near or count
    return ("many", sum(count >= times * limit for limit in limits for times in (1, 2, 3)))


def _is_small(kind: Type) -> bool:
    return isinstance(present(kind), Bool | Enum)


def _kind(value: Any) -> Hashable:
    """Return what distinguishes a value that names no record."""
    match value:
        case str():
            return ("text", len(value).bit_length(), value[:1].isalnum())
        case list():
            return ("list", min(len(value), MANY), frozenset(map(_kind, value[:MANY])))
        case dict():
            return tuple(_kind(each) for each in value.values())
        case int() if not isinstance(value, bool) and value > MANY:
            return ("number", value.bit_length())
        case _:
            return repr(value)
