"""Values as a vectors file has them: ids by the reply that gave them, and what a system may choose as a pattern.

A pattern is a JSON value; an object whose one key begins with `$` stands for something else than itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from conformance.vectors.texts import WRITTEN_OUT, in_pieces, of_pieces
from statemachines.model import ANYTHING, Document, SuchAs
from statemachines.types import Bool, DocumentType, Id, Int, List, Null, Optional, RecordType, Time, Type

TEXTS: Final = ["string"]
RECOMMENDED: Final = "$recommended"  # before it is written: a part, what it may be otherwise, and the clause
MAYBE: Final = "$maybe"  # so too: a new id, and those which it may be as well
IN_A_STEP: Final = 100  # ids that one call may mint
FACTORS: Final = (1, -1, 387_217, 618_033)
"""By which the numbers of ids are multiplied: none has a factor in common with ten, so no two become one."""
Given = Mapping[str, Sequence[str]]
Place = tuple[int, tuple[str, ...]]
"""The number of a step, and the way into its reply."""


class Inexpressible(Exception):
    """What a vector cannot say in a few answers, or a plain runner cannot do; the message is the reason.

    step  the number of the call, where all before it can be said
    """

    def __init__(self, reason: str, step: int = 0) -> None:
        super().__init__(reason)
        self.step = step


class Ids:
    """The ids that a system hands out in one vector, each by the place in the reply that told it first.

    given  the texts that its calls give as ids of an entity, or as what may become one
    order  which of some orders the ids have: as they come, turned round, or mixed
    """

    def __init__(self, given: Given | None = None, order: int = 0) -> None:
        self.given = given or {}
        self._factor = FACTORS[order]
        self._entities: dict[str, str] = {}
        self._places: dict[str, Place] = {}
        self._at: dict[Place, str] = {}
        self._forms: dict[str, tuple[str, int | None]] = {}
        self.step = 0
        self.minted = 0  # in this step

    def mint(self, entity: str, prefix: str = "", size: int | None = None) -> str:
        """Return a new id: the same one for each way in which a step may go."""
        self.minted += 1
        number, digits = self.step * IN_A_STEP + self.minted, 6 if size is None else size - len(prefix)
        ordinal = f"{number * self._factor % 10**digits:0{digits}d}"
        found = prefix + ordinal if prefix or size is not None else f"{entity.lower()} {ordinal}"
        self._entities[found] = entity
        self._forms[found] = (prefix, size)
        return found

    def told(self, reply: Any) -> None:
        """Take note of the ids that the reply of this step tells for the first time."""
        for way, value in _named(reply):
            if value in self._entities and value not in self._places:
                self._places[value] = place = (self.step, way)
                self._at[place] = value

    def entity(self, text: str) -> str:
        """Return of what a text is the id; an empty text where no system chose it."""
        return self._entities.get(text, "")

    def form(self, found: str) -> tuple[str, int | None]:
        """Return how an id begins, and its length if that is said."""
        return self._forms[found]

    def place(self, found: str) -> Place:
        """Return where an id was told. Raises Inexpressible."""
        if found not in self._places:
            raise Inexpressible("an id that no reply gave before")
        return self._places[found]

    def earlier(self, entity: str) -> list[str]:
        """Return the ids of an entity that steps before this one have told."""
        return [each for each, (step, _) in self._places.items() if step < self.step and self._entities[each] == entity]

    # ── Arguments ──

    def written(self, value: Any) -> Any:
        """Return an argument as a file has it. Raises Inexpressible."""
        match value:
            case str():
                return self._text(value)
            case Mapping():
                return {name: self.written(part) for name, part in value.items()}
            case list() | tuple():
                return [self.written(part) for part in value]
            case _:
                return value

    def read(self, value: Any) -> Any:
        """Return an argument that a file has as a value."""
        match value:
            case {"$ref": [step, *way]}:
                return self._at.get((step, tuple(way)), f"no id of step {step}")
            case {"$text": pieces}:
                return of_pieces(pieces)
            case dict():
                return {name: self.read(part) for name, part in value.items()}
            case list():
                return [self.read(part) for part in value]
            case _:
                return value

    def _text(self, value: str) -> Any:
        if value in self._entities:
            step, way = self.place(value)
            return {"$ref": [step, *way]}
        if any(each in value for each in self._entities):
            raise Inexpressible("a text that is made of an id")
        return {"$text": in_pieces(value)} if len(value) > WRITTEN_OUT else value


class Patterns:
    """Writes what is given and signalled in one vector as patterns.

    recommended  whether a clause is only recommended
    live         the ids of the records of an entity, as a model has them now
    lost         files need not be there any more
    """

    def __init__(
        self, ids: Ids, recommended: Callable[[str], bool], live: Callable[[str], Iterable[str]], *, lost: bool = False
    ) -> None:
        self._lost = lost
        self._ids = ids
        self._recommended = recommended
        self._live = live
        self._new: set[str] = set()  # told in the reply that is being written

    def of(self, kind: Type, value: Any) -> Any:
        """Return the pattern of a value of a type. Raises Inexpressible."""
        match kind:
            case _ if isinstance(value, SuchAs) or value is ANYTHING:
                return {"$any": json_types(kind)}
            case Optional(item=item):
                return None if value is None else self.of(item, value)
            case RecordType(fields=fields, name=name) if value is not None:
                return {each: self._part(f"messages.{name}.carries.{each}", part, value[each]) for each, part in fields}
            case List(item=item, unordered=unordered) if value is not None:
                items = [self.of(item, each) for each in value]
                return {"$unordered": sorted(items, key=whenever)} if unordered and len(items) > 1 else items
            case Time() if isinstance(value, int):
                return {"$time": [int(value), int(value)]}
            case DocumentType() if isinstance(value, Document):
                text = self._ids.written(value.text)
                lost = {"text": None, "file": {"$any": TEXTS}}
                return {"text": text, "file": None} if value.inline else lost if self._lost else {"$file": text}
            case Id() if isinstance(value, str) and self._ids.entity(value):
                return self._id(value)
            case _:
                return self._ids.written(value)

    def _part(self, clause: str, kind: Type, value: Any) -> Any:
        found = self.of(kind, value)
        return {RECOMMENDED: [found, {"$any": json_types(kind)}, clause]} if self._recommended(clause) else found

    def _id(self, value: str) -> Any:
        """Return an id by its place; one that is new by its form, and which earlier ones may come again."""
        step, way = self._ids.place(value)
        if step < self._ids.step or value in self._new:
            return {"$ref": [step, *way]}
        self._new.add(value)
        entity, (prefix, size) = self._ids.entity(value), self._ids.form(value)
        live = set(self._live(entity))
        gone = [self._ids.written(each) for each in self._ids.earlier(entity) if each not in live]
        given = [each for each in self._ids.given.get(entity, ()) if each.startswith(prefix)]
        more = "[\\s\\S]+" if size is None else f"[\\s\\S]{{{size - len(prefix)}}}"
        new = {"$id": [entity, re.escape(prefix) + more]}
        return {MAYBE: [new, [*gone, *given]]} if gone or given else new


def canonical(value: Any) -> str:
    """Return a JSON value as one text, the same for the same value."""
    return json.dumps(value, sort_keys=True)


def timeless(pattern: Any) -> Any:
    """Return a pattern without its instants: those that are the same without them have a hull."""
    match pattern:
        case {"$time": _}:
            return {"$time": None}
        case dict():
            return {name: timeless(part) for name, part in pattern.items()}
        case list():
            return list(map(timeless, pattern))
        case _:
            return pattern


def whenever(pattern: Any) -> tuple[str, str]:
    """Return what to sort patterns by, so that those which differ in instants alone stand in one order."""
    return canonical(timeless(pattern)), canonical(pattern)


def json_types(kind: Type) -> list[str]:
    """Name the types of JSON that a value of a type may have."""
    match kind:
        case Optional(item=item):
            return [*json_types(item), "null"]
        case Null():
            return ["null"]
        case Bool():
            return ["boolean"]
        case Int() | Time():
            return ["number"]
        case List():
            return ["array"]
        case RecordType() | DocumentType():
            return ["object"]
        case _:
            return TEXTS


def _named(reply: Any, way: tuple[str, ...] = ()) -> Iterable[tuple[tuple[str, ...], str]]:
    """Walk the texts of a reply that names alone lead to."""
    if isinstance(reply, str):
        yield way, reply
    elif isinstance(reply, dict):
        for name, part in reply.items():
            yield from _named(part, (*way, name))
