"""What is new about a call: the situations that one call on a model comes to, as values to count.

A situation is what a mistake may hang on: an operation about a record in some state beside others of its owner, two
sentences one after the other about one record, how many records there are beside a limit, an id that a record had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.expression import python_name
from statemachines.model import BaseModel, Decision
from statemachines.types import Bool, Enum, Id, Int, List, Optional, Ref, Type, present

MANY_RECORDS = 4  # records beside a limit, beyond which one more is nothing new
BESIDE = 40  # other records of an owner that are looked at
MOST_COUNTED = 2  # of what a record counts, beyond which one more is nothing new
KIN = 12  # records of an entity that are looked at for those that have to do with a call's
SENTENCE, CALL, PAIR, COUNT = 8.0, 4.0, 2.0, 1.0  # how much a new situation of a kind is worth

Situation = tuple[float, Hashable]  # what it is worth when it is new, and what it is
Label = Hashable  # what a call did


@dataclass(slots=True)
class Story:
    """What has happened last to each id, two calls of it, and last of all, and to which id; in a case or in thought."""

    last: dict[Hashable, tuple[Label, ...]] = field(default_factory=dict)
    before: Label = ""
    about: Hashable = None

    def fork(self) -> Story:
        """Return another one that goes on from here."""
        return Story(dict(self.last), self.before, self.about)


class Situations:
    """The situations of one life cycle, and how often each was come to."""

    def __init__(self, compiled: Compiled) -> None:
        source = compiled.kernel
        self.met: Counter[Hashable] = Counter()
        fixed = {entity.name for entity in source.entities if entity.fixed}
        self._entities = {entity.name: _Records(entity, fixed) for entity in source.entities}
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
        chosen = (value for value in arguments.values() if value is None or isinstance(value, bool))
        label = (operation, told, *chosen)
        ids: list[Hashable] = []
        parts: list[Hashable] = []
        beside: list[Hashable] = []
        kin: dict[Hashable, _Records] = {}
        for name, value in arguments.items():
            records = self._entities.get(entities.get(name, ""))
            if isinstance(value, str) and records is not None:
                ids.append(value)
                parts.append(records.token(model, value, story))
                beside.append(records.beside(model, value))
                ids += records.owners(model, value)
                kin |= self._kin(model, records, value)
            elif isinstance(value, list) and any(self._is_known(model, each, story) for each in value):
                named = list(dict.fromkeys(each for each in value if isinstance(each, str)))
                ids += named[:MANY_RECORDS]
                kin |= self._kin(model, self._holder(model, named[0]), named[0])
                tokens = (self._token(model, each, story) for each in named[-BESIDE:])
                parts.append(("list", min(len(value), MANY_RECORDS), len(value) > len(named), frozenset(tokens)))
            elif isinstance(value, str) and value in story.last:
                ids.append(value)
                parts.append(("known", story.last[value]))
            else:
                parts.append(_kind(value))
        counts = tuple(each.count(model) for each in self._minted)
        found: list[Situation] = [
            (CALL, ("parts", label, *parts)),
            (COUNT, ("counts", label, counts)),
            (COUNT, ("after", story.before, label)),
        ]
        if beside:
            found.append((CALL, ("beside", label, *beside)))
        for place, value in enumerate(ids):
            if value in story.last:
                found.append((PAIR, (place, story.last[value][-1], label)))
                found.append((COUNT, (place, story.last[value], label)))
        if ids and story.about is not None and story.about != ids[0] and story.about in story.last:
            found.append((PAIR, ("after another", story.last[story.about][-1], label)))
        if not ids:
            found += self._of_all(model, label, story)
        found += dict.fromkeys(
            (PAIR, ("kin", of.name, of.token(model, value, story), story.last.get(value), label))
            for value, of in kin.items()
        )
        ids += [value for value in kin if value not in ids]
        story.last.update({each: (*story.last.get(each, ())[-1:], label) for each in ids})
        story.before, story.about = label, ids[0] if ids else story.about
        return found

    def _kin(self, model: BaseModel, records: _Records | None, identity: str) -> dict[Hashable, _Records]:
        """Return the records that come and go which that of an id refers to, that refer to it, or to what it refers to."""
        record = records.live(model).get(identity) if records is not None else None
        if records is None or record is None:
            return {}
        links = {identity, record, *records.links(record)}
        return {
            key: each
            for each in self._minted
            for key, other in list(each.live(model).items())[-KIN:]
            if other is not record and (other in links or key in links or not links.isdisjoint(each.links(other)))
        }

    def _holder(self, model: BaseModel, identity: str) -> _Records | None:
        """Return the records that come and go among which that of an id is."""
        return next((each for each in self._minted if identity in each.live(model)), None)

    def _is_known(self, model: BaseModel, value: Any, story: Story) -> bool:
        return isinstance(value, str) and (value in story.last or self._holder(model, value) is not None)

    def _token(self, model: BaseModel, identity: str, story: Story) -> Hashable:
        """Return what distinguishes the record of an id, whichever entity it is of."""
        records = self._holder(model, identity)
        return story.last.get(identity) if records is None else records.token(model, identity, story)

    def of_wait(self, model: BaseModel, label: Label, story: Story) -> list[Situation]:
        """Return the situations of a wait, before it is made, and make it a part of the story."""
        found = [(CALL, label), (PAIR, ("after", story.before, label)), *self._of_all(model, label, story)]
        story.before = label
        return found

    def _of_all(self, model: BaseModel, label: Label, story: Story) -> list[Situation]:
        """Return the situations of what names no record, and so may be about each: what happened to it last."""
        return [
            (PAIR, ("of all", label, each.token(model, identity, story), story.last.get(identity)))
            for each in self._minted
            for identity in list(each.live(model))[-BESIDE // 4 :]
        ]

    @staticmethod
    def sentences(model: BaseModel) -> list[Situation]:
        """Return the sentences that were at work since the model was made or asked."""
        return [(SENTENCE, place) for place, hit in enumerate(model.seen) if hit]

    def ids(self, model: BaseModel) -> dict[str, list[str]]:
        """Return the ids of the records that may come and go, by entity."""
        return {each.name: list(each.live(model)) for each in self._minted}


class _Records:
    """What there is to see of the records of one entity."""

    def __init__(self, entity: kernel.Entity, fixed: Collection[str]) -> None:
        self.name, self.fixed = entity.name, bool(entity.fixed)
        self.live = attrgetter(python_name(entity.collection))
        self._small = [python_name(each.name) for each in entity.fields if _is_small(each.type)]
        self._maybe = [
            python_name(each.name)
            for each in entity.fields
            if isinstance(each.type, Optional) and not _is_small(each.type)
        ]
        self._counts = [python_name(each.name) for each in entity.fields if isinstance(present(each.type), Int)]
        self._owners = [python_name(each.name) for each in entity.fields if isinstance(present(each.type), Ref)]
        self._links = [python_name(each.name) for each in entity.fields if _links(present(each.type), fixed)]

    def token(self, model: BaseModel, identity: Hashable, story: Story) -> Hashable:
        """Return what distinguishes a record: its state, and what is said of it that has few values; of one gone, how it went."""
        record = self.live(model).get(identity)
        if record is None:
            return ("gone", story.last.get(identity))
        small = tuple(getattr(record, name) for name in self._small)
        counts = tuple(min(getattr(record, name) or 0, MOST_COUNTED) for name in self._counts)
        absent = tuple(getattr(record, name) is None for name in self._maybe)
        return (getattr(record, "state", ""), small, counts, absent)

    def beside(self, model: BaseModel, identity: str) -> Hashable:
        """Return the states of the others that belong to whom the record belongs to, and its own."""
        live = self.live(model)
        record = live.get(identity)
        owners = [getattr(record, name) for name in self._owners] if record is not None else []
        others: Counter[str] = Counter()
        elsewhere = set()
        for each in list(live.values())[-BESIDE:]:
            if owners != [getattr(each, name) for name in self._owners]:
                elsewhere.add(getattr(each, "state", ""))
            elif each is not record:
                others[getattr(each, "state", "")] += 1
        return (getattr(record, "state", "none"), _sizes(model, others), frozenset(elsewhere))

    def owners(self, model: BaseModel, identity: str) -> list[str]:
        """Return the ids of the records that a record belongs to."""
        record = self.live(model).get(identity)
        owners = (getattr(record, name) for name in self._owners) if record is not None else ()
        return [each.id for each in owners if each is not None]

    def links(self, record: Any) -> Iterator[Hashable]:
        """Walk the records that a record refers to, and the ids of such."""
        for name in self._links:
            value = getattr(record, name)
            if isinstance(value, Sequence) and not isinstance(value, str):
                yield from value
            elif value is not None:
                yield value

    def count(self, model: BaseModel) -> Hashable:
        """Return how many records there are in each state, as far as one more makes a difference."""
        return _sizes(model, Counter(getattr(each, "state", "") for each in self.live(model).values()))


def _sizes(model: BaseModel, states: Mapping[str, int]) -> Hashable:
    """Return how many there are in each state, beside the limits."""
    limits = [each for each in vars(model.limits).values() if isinstance(each, int) and each > MANY_RECORDS]
    return frozenset((state, _size(count, limits)) for state, count in states.items())


def _size(count: int, limits: Sequence[int]) -> Hashable:
    """Return a number as it stands to the limits: one below, at it, one above, twice it and more; else whether it is small."""
    near = next((("limit", count - limit) for limit in limits if abs(count - limit) <= 1), None)
    if near is not None or count <= MANY_RECORDS:
        return near or count
    return ("many", sum(count >= times * limit for limit in limits for times in (1, 2, 3)))


def _is_small(kind: Type) -> bool:
    return isinstance(present(kind), Bool | Enum)


def _links(kind: Type, fixed: Collection[str]) -> bool:
    """Return whether a field may hold a record that comes and goes, or several."""
    item = kind.item if isinstance(kind, List) else kind
    return isinstance(item, Ref | Id) and item.entity not in fixed


def _kind(value: Any) -> Hashable:
    """Return what distinguishes a value that names no record."""
    match value:
        case str():
            return ("text", len(value).bit_length(), value[:1].isalnum())
        case list():
            return ("list", min(len(value), MANY_RECORDS), frozenset(map(_kind, value[:MANY_RECORDS])))
        case dict():
            return tuple(_kind(each) for each in value.values())
        case int() if not isinstance(value, bool) and value > MANY_RECORDS:
            return ("number", value.bit_length())
        case _:
            return repr(value)
