"""What there is to see of the records of an entity: what tells one from another, as far as it has few values; and what happened to each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from statemachines import kernel
from statemachines.expression import python_name
from statemachines.model import BaseModel
from statemachines.types import Bool, Enum, Id, Int, List, Optional, Ref, Text, Type, present

MANY_RECORDS = 4  # records beside a limit, beyond which one more is nothing new
BESIDE = 40  # other records of an owner that are looked at
MOST_COUNTED = 2  # of what a record counts, beyond which one more is nothing new

Label = Hashable  # what a call did


@dataclass(slots=True)
class Story:
    """What has happened last to each id, two calls of it, and last of all, and to which id; in a case or in thought."""

    last: dict[Hashable, tuple[Label, ...]] = field(default_factory=dict)
    before: Label = ""
    about: Hashable = None
    given: dict[Hashable, tuple[str, Hashable]] = field(default_factory=dict)
    """What each argument was last, of all and of each id: as it is written, and of what kind."""
    when: dict[Hashable, int] = field(default_factory=dict)  # the instant of the last call of each id
    twice: Label = ""  # what the last two calls did, where that is the same

    def fork(self) -> Story:
        """Return another one that goes on from here."""
        return Story(dict(self.last), self.before, self.about, dict(self.given), dict(self.when), self.twice)


class Records:
    """What there is to see of the records of one entity."""

    def __init__(self, entity: kernel.Entity, fixed: Collection[str]) -> None:
        self.name, self.fixed = entity.name, bool(entity.fixed)
        self.live = attrgetter(python_name(entity.collection))
        self._small, self._maybe = with_few_values(entity.fields)
        self._counts = [python_name(each.name) for each in entity.fields if isinstance(present(each.type), Int)]
        self._small_of, self._counts_of, self._maybe_of = map(_reads, (self._small, self._counts, self._maybe))
        self._owners = [
            (python_name(each.name), *_refers_to(each.type)) for each in entity.fields if _refers_to(each.type)
        ]
        self._texts = [python_name(each.name) for each in entity.fields if isinstance(present(each.type), Text)]
        self._links = [python_name(each.name) for each in entity.fields if _links(present(each.type), fixed)]

    @property
    def is_told_apart(self) -> bool:
        """Whether something that has few values is said of a record."""
        return bool(self._small or self._maybe or self._counts)

    def tokens(self, model: BaseModel) -> Iterator[Hashable]:
        """Walk what distinguishes each record."""
        return map(self._said, self.live(model).values())

    def _said(self, record: Any) -> Hashable:
        """Return the state of a record, and what is said of it that has few values."""
        counts = tuple([min(each or 0, MOST_COUNTED) for each in self._counts_of(record)])
        absent = tuple([each is None for each in self._maybe_of(record)])
        return (getattr(record, "state", ""), self._small_of(record), counts, absent)

    def token(self, model: BaseModel, identity: Hashable, story: Story) -> Hashable:
        """Return what distinguishes a record: its state, and what is said of it that has few values; of one gone, how it went."""
        record = self.live(model).get(identity)
        return ("gone", story.last.get(identity)) if record is None else self._said(record)

    def beside(self, model: BaseModel, identity: str) -> Hashable:
        """Return the states of the others that belong to whom the record belongs to, and its own."""
        live = self.live(model)
        record = live.get(identity)
        owners = [getattr(record, name) for name, _ in self._owners] if record is not None else []
        others: Counter[str] = Counter()
        elsewhere = set()
        for each in list(live.values())[-BESIDE:]:
            if owners != [getattr(each, name) for name, _ in self._owners]:
                elsewhere.add(getattr(each, "state", ""))
            elif each is not record:
                others[getattr(each, "state", "")] += 1
        return (getattr(record, "state", "none"), sizes(model, others), frozenset(elsewhere))

    def owners(self, model: BaseModel, identity: str) -> list[tuple[str, str]]:
        """Return the records that a record belongs to: the entity and the id of each."""
        record = self.live(model).get(identity)
        owners = [(entity, getattr(record, name)) for name, entity in self._owners] if record is not None else []
        return [(entity, each.id) for entity, each in owners if each is not None]

    def like(self, model: BaseModel, identity: str) -> list[str]:
        """Return the ids of the oldest and the newest other records in the state of one, which belong to the same ones."""
        live = self.live(model)
        said = [self._standing(each) for each in live.values()]
        same = self._standing(live[identity])
        others = [key for key, each in zip(live, said, strict=True) if each == same and key != identity]
        return list(dict.fromkeys([*others[:1], *others[-1:]]))

    def _standing(self, record: Any) -> list[Any]:
        return [getattr(record, "state", ""), *(getattr(record, name) for name, _ in self._owners)]

    def named(self, model: BaseModel, text: str) -> Iterator[str]:
        """Walk the states of the records of which a text is said."""
        for each in list(self.live(model).values())[-BESIDE:]:
            if any(getattr(each, name) == text for name in self._texts):
                yield getattr(each, "state", "")

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
        return sizes(model, Counter(getattr(each, "state", "") for each in self.live(model).values()))


def _reads(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads some attributes, however few; it is called more often than anything else here."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple([getattr(record, name) for name in names])


def sizes(model: BaseModel, states: Mapping[str, int]) -> Hashable:
    """Return how many there are in each state, beside the limits."""
    limits = [each for each in vars(model.limits).values() if isinstance(each, int) and each > MANY_RECORDS]
    return frozenset((state, _size(count, limits)) for state, count in states.items())


def _size(count: int, limits: Sequence[int]) -> Hashable:
    """Return a number as it stands to the limits: one below, at it, one above, twice it and more; else whether it is small."""
    near = next((("limit", count - limit) for limit in limits if abs(count - limit) <= 1), None)
    if near is not None or count <= MANY_RECORDS:
        return near or count
    return ("many", sum(count >= times * limit for limit in limits for times in (1, 2, 3)))


def with_few_values(fields: Sequence[kernel.FieldOf]) -> tuple[list[str], list[str]]:
    """Return the names of the fields that have few values, and of those of which it is told whether they have any."""
    small = [python_name(each.name) for each in fields if _is_small(each.type)]
    return small, [
        python_name(each.name) for each in fields if isinstance(each.type, Optional) and not _is_small(each.type)
    ]


def _is_small(kind: Type) -> bool:
    return isinstance(present(kind), Bool | Enum)


def _links(kind: Type, fixed: Collection[str]) -> bool:
    """Return whether a field may hold a record that comes and goes, or several."""
    item = kind.item if isinstance(kind, List) else kind
    return isinstance(item, Ref | Id) and item.entity not in fixed


def named_by(parameter: kernel.Parameter) -> tuple[str, bool] | None:
    """Return the entity whose record a parameter names, and whether it names several; None where it names none."""
    kind = present(parameter.type)
    if isinstance(kind, List) and isinstance(kind.item, Id) and kind.item.entity:
        return kind.item.entity, True
    return (parameter.entity, False) if parameter.entity else None


def _refers_to(kind: Type) -> tuple[str, ...]:
    """Return the entity of the record that a value is; nothing where it is none."""
    known = present(kind)
    return (known.entity,) if isinstance(known, Ref) else ()
