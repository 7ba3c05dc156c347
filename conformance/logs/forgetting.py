"""What is forgotten of a model that follows a log for days: records that have ended long ago, and messages sent before them.

Nothing that lives is forgotten, nothing that waits for its time or is still due, and nothing of which the life cycle itself keeps
the newest. The ids and keys of what was forgotten stay in a filter of a fixed size, which says of none that it was not there. So
what an entry tells about it is known to be about something forgotten, and is not judged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from conformance.judge import Configuration
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.explore import walked
from statemachines.expression import Typed, Var, python_name
from statemachines.model import BaseModel
from statemachines.types import Id, Identity, List, RecordType, Ref, Text, Type, present

_BITS = 1 << 25  # 4 MiB: of a million texts in it, one in a hundred thousand others is taken for one of them
_PLACES = 7  # bits of a text


class Faded:
    """Texts that were forgotten, in 4 MiB however many they are: each of them is known, and hardly any other."""

    def __init__(self) -> None:
        self._bits = bytearray()  # as long as nothing was forgotten, it takes no room
        self.count = 0

    def add(self, text: str) -> None:
        """Take up a text."""
        self._bits = self._bits or bytearray(_BITS // 8)
        self.count += 1
        for place in _places(text):
            self._bits[place >> 3] |= 1 << (place & 7)

    def __contains__(self, text: str) -> bool:
        return bool(self._bits) and all(self._bits[place >> 3] & 1 << (place & 7) for place in _places(text))


def _is_like(one: Any, other: Any) -> bool:
    """Return whether two records say the same of themselves."""
    return all(getattr(one, name) == getattr(other, name) for name in type(one).__slots__)


def _places(text: str) -> Iterator[int]:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4 * _PLACES).digest()
    return (int.from_bytes(digest[4 * each : 4 * each + 4], "big") % _BITS for each in range(_PLACES))


class Forgetting:
    """Keeps models small: `most` records that have ended and messages sent, of each kind.

    faded  the ids and keys of what was forgotten
    """

    def __init__(self, compiled: Compiled, most: int) -> None:
        self._most = most
        self._kernel = compiled.kernel
        self.faded = Faded()
        self._faded_kinds: set[str] = set()
        texts = compiled.lifecycle.types
        self._names = {name for name, each in texts.items() if each.kind == "text" and each.text == "fresh or reused"}

    def full(self, model: BaseModel) -> bool:
        """Return whether there is more than should be remembered."""
        return any(len(each) > self._most + self._most // 4 for each in self._all(model))

    def _all(self, model: BaseModel) -> Iterator[Any]:
        for entity in self._kernel.entities:
            if entity.retain is None:
                yield getattr(model, python_name(entity.collection))
            if entity.once:
                yield getattr(model, f"issued_{python_name(entity.collection)}")
        yield from (getattr(model, f"sent_{each.name.lower()}") for each in self._kernel.messages)
        yield from (getattr(model, python_name(each.name)) for each in self._lists)

    @property
    def _lists(self) -> list[kernel.FieldOf]:
        return [each for each in self._kernel.variables if isinstance(each.type, List)]

    def shortened(self, configuration: Configuration) -> Configuration:
        """Return a configuration without what is to be forgotten: its model is changed."""
        model = configuration.model
        for entity in self._kernel.entities:
            if entity.fixed:
                self._unused(model, entity)
            elif entity.retain is None:
                self._records(model, entity)
            if entity.once:
                self._issued(model, entity)
        for variable in self._lists:
            self._variable(model, variable)
        return self._messages(configuration)

    # ── Records ──

    def _records(self, model: BaseModel, entity: kernel.Entity) -> None:
        collection = getattr(model, python_name(entity.collection))
        if len(collection) <= self._most:
            return
        needed = self._needed(model)
        over = [
            (key, each)
            for key, each in collection.items()
            if (not entity.states or each.state in entity.terminal) and not needed & {each.serial, key}
        ]
        over.sort(key=lambda pair: (getattr(pair[1], "completion", 0), pair[1].serial))
        for key, record in over[: max(len(collection) - self._most, 0)]:
            del collection[key]
            self._forget(entity.name, self._texts(entity, key, record))

    def _unused(self, model: BaseModel, entity: kernel.Entity) -> None:
        """Let records go that exist from the start and are as they began: they begin again when they are spoken of."""
        collection = getattr(model, python_name(entity.collection))
        if len(collection) <= self._most:
            return
        needed, anew = self._needed(model), model.fork()
        anew.reset()
        begun = getattr(anew, python_name(entity.collection))
        for key, record in [*collection.items()]:
            begun.clear()
            getattr(anew, f"begin_{python_name(entity.variable)}")(key)
            if not needed & {key, record.serial} and _is_like(record, begun[key]):
                del collection[key]

    def _needed(self, model: BaseModel) -> set[Any]:
        """Return the serials of records that others speak of, and the keys of those that something will yet come of."""
        found: set[Any] = {key for *_, key in model.deadlines()}
        found |= {key for _, keys, _ in model.own_steps() for key in keys}
        for entity in self._kernel.entities:
            held = [python_name(each.name) for each in entity.fields if isinstance(present(each.type), Ref)]
            for record in getattr(model, python_name(entity.collection)).values() if held else ():
                found |= {getattr(getattr(record, name), "serial", None) for name in held}
        for message in self._kernel.messages:
            found |= {each.about for each in getattr(model, f"due_{message.name.lower()}")}
            both = (*getattr(model, f"due_{message.name.lower()}"), *getattr(model, f"sent_{message.name.lower()}"))
            found |= {getattr(each.to, "serial", None) for each in both}
        return found - {None}

    def _texts(self, entity: kernel.Entity, key: Any, record: Any) -> Iterator[str]:
        yield from (each for each in (key,) if isinstance(each, str))
        for each in entity.fields:
            yield from self._named(each.type, getattr(record, python_name(each.name)))

    def _named(self, kind: Type, value: Any) -> Iterator[str]:
        """Walk the texts in a value by which something may be asked for later."""
        match present(kind), value:
            case Id() | Identity(), str():
                yield value
            case Ref(), _ if isinstance(getattr(value, "id", None), str):
                yield value.id
            case Text(name=name), str() if name in self._names:
                yield value
            case List(item=item), list() | tuple():
                for each in value:
                    yield from self._named(item, each)
            case RecordType(fields=fields), dict():
                for name, field in fields:
                    yield from self._named(field, value.get(name))

    def _forget(self, kind: str, texts: Iterable[str]) -> None:
        self._faded_kinds.add(kind)
        for text in texts:
            self.faded.add(text)

    # ── Ids that were given, lists and messages ──

    def _issued(self, model: BaseModel, entity: kernel.Entity) -> None:
        """Forget which ids were given, but for those of records that are there."""
        issued: set[str] = getattr(model, f"issued_{python_name(entity.collection)}")
        if len(issued) > self._most:
            here = {each.id for each in getattr(model, python_name(entity.collection)).values()}
            self._forget(entity.name, issued - here)
            issued &= here

    def _variable(self, model: BaseModel, variable: kernel.FieldOf) -> None:
        values = getattr(model, python_name(variable.name))
        over = values[: max(len(values) - self._most, 0)]
        if over:
            self._forget(variable.name, self._named(variable.type, over))
            setattr(model, python_name(variable.name), values[len(over) :])

    def _messages(self, configuration: Configuration) -> Configuration:
        """Forget messages that were sent, but for those of which the order is open."""
        open_ones = [each for each in configuration.unordered if not each.settled]
        for message in self._kernel.messages:
            sent = getattr(configuration.model, f"sent_{message.name.lower()}")
            start = min((each.start for each in open_ones if each.name == message.name), default=len(sent))
            over = sent[: min(max(len(sent) - self._most, 0), start)]
            if not over:
                continue
            ids = [each for each in self._kernel.entity(message.entity).shows if isinstance(present(each[1].type), Id)]
            for each in over:
                self._forget(message.name, (getattr(each, name) for name, _ in ids if hasattr(each, name)))
            del sent[: len(over)]
            open_ones = [
                replace(each, start=each.start - len(over)) if each.name == message.name else each for each in open_ones
            ]
        return replace(configuration, unordered=tuple(open_ones))

    # ── What is not judged any more ──

    def about(self, texts: Iterable[str], operations: Iterable[str]) -> bool:
        """Return whether something that was forgotten is spoken of, or read by one of some operations as one of many."""
        if not self._faded_kinds:
            return False
        return any(each in self.faded for each in texts) or any(self._reads_all(each) for each in operations)

    def _reads_all(self, operation: str) -> bool:
        """Return whether an operation shows something of all there is of a kind of which something was forgotten."""
        reply = next((each.reply for each in self._kernel.operations if each.name == operation), None)
        if reply is None:
            return False
        values: list[Typed] = [value for _, value in reply.fields or ()]
        values += [part for pair in reply.branches for part in pair if part is not None]
        values += reply.options
        spoken = {part.name for value in values for part in walked(self._kernel, value) if isinstance(part, Var)}
        collections = {each.name: each.collection for each in self._kernel.entities}
        names = {collections.get(each, each) for each in self._faded_kinds}
        return bool(spoken & (names | {f"sent.{each}" for each in names}))
