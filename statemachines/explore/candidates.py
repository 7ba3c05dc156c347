"""Arguments worth trying: for every parameter a few values, derived from its type and the configuration.

The order of the values is fixed, so a position in the list names a value: the explorer walks them all,
a Hypothesis machine or a shrinker picks by number. One idea: for each type, its values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from statemachines import kernel
from statemachines.explore.influence import Influence
from statemachines.explore.numbers import bounds_of, numbers_held
from statemachines.explore.sentences import walked
from statemachines.expression import Var, check, emit, python_name
from statemachines.lifecycle import TypeUse
from statemachines.model import ABSENT, BaseModel, quotient, remainder
from statemachines.types import BOOL, INT, TEXT, TIME, Enum, Id, Optional, Ref, Text, Type, present

if TYPE_CHECKING:
    from statemachines.compile import Compiled

Chooser = Callable[[Any], Sequence[Any]]
"""Gives the values worth trying for one type in a model's present configuration."""


def worth_trying(parameter: kernel.Parameter, chooser: Chooser, model: BaseModel, gone: Gone | None) -> Sequence[Any]:
    """Return the values of one parameter; the record that left last stands for all that are not there.

    Where an id may be chosen, the one that looks as if it came next is chosen, too.
    """
    values = chooser(model)
    late = gone.last(model, parameter.type) if gone is not None else None
    if gone is None or late is None:
        return values
    chooses = not isinstance(present(parameter.type), Ref)
    coming = gone.coming(model, parameter.type) if chooses else None
    kept = values if chooses else values[:-1]
    return [*kept, *(each for each in dict.fromkeys((late, coming)) if each is not None and each not in kept)]


def choosers(compiled: Compiled, operation: kernel.Operation, scope: Mapping[str, int]) -> list[Chooser]:
    """Return what lists the values of each parameter of an operation; ABSENT stands for one left out."""
    uses = compiled.lifecycle.operations[operation.name].takes
    found = []
    for parameter in operation.parameters:
        chosen = chooser(compiled, uses[parameter.name], scope)
        held = numbers_held(compiled).get((operation.name, parameter.name))
        chosen = chosen if held is None else _with(chosen, held)
        found.append(chosen if parameter.default is None else _after([ABSENT], chosen))
    return found


def chooser(compiled: Compiled, use: TypeUse, scope: Mapping[str, int] | None = None) -> Chooser:
    """Return what lists the values of a type: of the type itself, or of a list of it; null where it may be."""
    plain = use.item or use
    declared = compiled.lifecycle.types.get(plain.name.text)
    if declared is not None and declared.kind == "record":
        parts = {name: _part(compiled, field, scope or {}) for name, field in declared.fields.items()}
        found = _records(parts)
    else:
        found = _single(compiled, plain, scope or {})
    if use.item is not None:
        found = _lists(found)
    return _after([None], found) if use.nullable and not compiled.words.types.is_any_id(use) else found


def _part(compiled: Compiled, use: TypeUse, scope: Mapping[str, int]) -> Chooser:
    """Return what lists the values of a record's field."""
    if use.item is not None:
        return _lists(_single(compiled, use.item, scope))
    return _single(compiled, use, scope)


def _single(compiled: Compiled, use: TypeUse, scope: Mapping[str, int]) -> Chooser:
    """Return what lists the values of a type that is neither a list nor a record."""
    if (bounds := bounds_of(compiled, use)) is not None:
        return _always(list(dict.fromkeys(bounds)))
    kind = present(compiled.words.types.resolve(use))
    match kind:
        case Enum(members=members):
            return _always(list(members))
        case Ref(entity=name) if fixed := compiled.kernel.entity(name).fixed:
            return _always(list(fixed[: scope.get(name, len(fixed))]))
        case Ref(entity=name):
            return _records_ids(compiled.kernel, compiled.kernel.entity(name))
        case Id(entity=name):
            return _any_ids(compiled.kernel, compiled.kernel.entity(name))
        case Text(name=name) if name in compiled.lifecycle.types:
            return _texts(compiled, name)
        case _:
            return _SIMPLE.get(kind, _always([None]))


def _always(values: list[Any]) -> Chooser:
    return lambda model: values


def _with(first: Chooser, more: Chooser) -> Chooser:
    return lambda model: list(dict.fromkeys([*first(model), *more(model)]))


def _after(first: list[Any], rest: Chooser) -> Chooser:
    return lambda model: [*first, *rest(model)]


_SIMPLE: Mapping[Type, Chooser] = {
    BOOL: _always([False, True]),
    INT: _always([0, 1]),
    TIME: lambda model: [model.now],
    TEXT: _always(["x"]),
}


def _lists(items: Chooser) -> Chooser:
    """Return no item and every item."""
    return lambda model: [[], full] if (full := list(items(model))) else [[]]


def _records(fields: Mapping[str, Chooser]) -> Chooser:
    """Return as many records as it takes for every field to have each of its values once."""

    def values(model: Any) -> list[Any]:
        columns = [list(field(model)) or [None] for field in fields.values()]
        longest = max(map(len, columns), default=1)
        rows = zip(*[column + column[-1:] * (longest - len(column)) for column in columns], strict=True)
        return [dict(zip(fields, row, strict=True)) for row in rows]

    return values


# ── Ids and texts ────────────────────────────────────────────────────────────────────────────────


def _records_ids(source: kernel.Kernel, entity: kernel.Entity) -> Chooser:
    """Return the ids of the live records, and last one that no record has: a former one if known, else a new one."""
    everything = _any_ids(source, entity)
    collection = attrgetter(python_name(entity.collection))
    return lambda model: everything(model)[: len(collection(model)) + 1]


def _any_ids(source: kernel.Kernel, entity: kernel.Entity) -> Chooser:
    """Return the ids of the live records, those still known of former records, and a new one."""
    collection, key = attrgetter(python_name(entity.collection)), attrgetter(python_name(entity.key))
    known = _used(source, Id(entity.name))

    def values(model: Any) -> list[Any]:
        found = list(dict.fromkeys([*map(key, collection(model).values()), *known(model)]))
        return [*found, _fresh(model, entity.name, found)]

    return values


_COUNTED = re.compile(r"(.*?)([0-9]+)([^0-9]*)")


class Gone:
    """Ids that no record has: those of records that left, by retention or by a restart, and what looks like an id.

    A system may remember what the model does not, so late calls are about these. `look` is called with the
    model whenever a record may have come.
    """

    def __init__(self, source: kernel.Kernel) -> None:
        """Prepare for the models of a kernel."""
        entities = [entity for entity in source.entities if entity.minted]
        self._live = {entity.name: attrgetter(python_name(entity.collection)) for entity in entities}
        self._ids: dict[str, dict[str, None]] = {entity.name: {} for entity in entities}
        self._there: dict[str, dict[str, None]] = {entity.name: {} for entity in entities}
        self._changed: dict[str, list[str]] = {entity.name: [] for entity in entities}
        # An id that only reads like one that was given may well stand for something, too, where content makes the id.
        self._guessed = {entity.name for entity in entities if not entity.by_content}
        texts = {parameter.type for operation in source.operations for parameter in operation.parameters}
        self._named = {
            kind.name: entity.name
            for kind in map(present, texts)
            for entity in entities
            if isinstance(kind, Text) and may_name(source, kind, entity)
        }

    def look(self, model: Any) -> None:
        """Note the records that are there."""
        for name, live in self._live.items():
            there = dict.fromkeys(live(model))
            self._changed[name] += [each for each in self._there[name] if each not in there]
            self._changed[name] += [each for each in there if each not in self._there[name]]
            self._there[name] = there
            self._ids[name].update(there)

    def came_or_left(self) -> dict[str, list[str]]:
        """Return the ids of the first and the last record that came or left since this was asked, by entity."""
        found = {name: list(dict.fromkeys([*ids[:1], *ids[-1:]])) for name, ids in self._changed.items()}
        self._changed = {name: [] for name in self._changed}
        return found

    def last(self, model: Any, kind: Type) -> str | None:
        """Return the newest id that a value of a type may be and that no record has any more.

        While every record is still there, give one that merely reads like the newest: its beginning.
        """
        name = self._entity(kind)
        if not self._ids.get(name):
            return None
        live, newest = self._live[name](model), next(reversed(self._ids[name]))
        known = (each for each in reversed(self._ids[name]) if each not in live)
        guess = newest[:-1] if newest[:-1] not in live and name in self._guessed else None
        return next(known, guess) or None

    def _entity(self, kind: Type) -> str:
        """Name the entity whose ids a value of a type may be, or become; an empty text where there is none."""
        match present(kind):
            case Ref(entity=name) | Id(entity=name):
                return name
            case Text(name=name):
                return self._named.get(name, "")
            case _:
                return ""

    def coming(self, model: Any, kind: Type) -> str | None:
        """Return the id that comes after the newest one, if ids are counted; None where they are not, or where it is there."""
        name = self._entity(kind)
        newest = reversed(self._ids.get(name) or {} if name in self._guessed else {})
        counted = next(filter(None, map(_COUNTED.fullmatch, newest)), None)
        if counted is None:
            return None
        before, number, after = counted.groups()
        found = f"{before}{int(number) + 1:0{len(number)}}{after}"
        return None if found in self._live[name](model) else found


def _texts(compiled: Compiled, name: str) -> Chooser:
    declared = compiled.lifecycle.types[name]
    if declared.text == "fresh or reused":
        used = _used(compiled.kernel, Text(name))
        return lambda model: [_fresh(model, name, known := used(model)), *known]
    if declared.text == "around":
        scope = compiled.words.scopes.model()
        sizes = {
            key: compile(emit(check(expr.node, scope, INT)[0]), name, "eval") for key, expr in declared.sizes.items()
        }
        return lambda model: _around(model, sizes)
    return _always(["x"])


def _fresh(model: Any, name: str, known: Sequence[Any]) -> str:
    """Return a text that nothing holds; no record created earlier did, for their count is in it."""
    number = model.serials + 1
    while f"{name}-{number}" in known:
        number += 1
    return f"{name}-{number}"


def _used(source: kernel.Kernel, kind: Type) -> Chooser:
    """Return the values of a type that records and messages hold, oldest first."""
    places: list[tuple[attrgetter[Any], attrgetter[Any]]] = []
    for entity in source.entities:
        collection = attrgetter(f"{python_name(entity.collection)}.values")
        fields = [field.name for field in entity.fields if _holds(field.type, kind)]
        is_id = kind == Id(entity.name) and (entity.minted or entity.fixed)
        fields += ["id"] if is_id or may_name(source, kind, entity) else []
        places += [(collection, attrgetter(python_name(name))) for name in fields]
    for message in source.messages:
        carried = [key for key, value in message.carries if _holds(value.type, kind)]
        boxes = [attrgetter(f"{box}_{message.name.lower()}.copy") for box in ("due", "sent")]
        places += [(box, attrgetter(python_name(name))) for box in boxes for name in carried]

    def values(model: Any) -> list[Any]:
        found = dict.fromkeys(value(each) for records, value in places for each in records(model)())
        found.pop(None, None)
        return list(found)

    return values


def may_name(source: kernel.Kernel, kind: Type, entity: kernel.Entity) -> bool:
    """Return whether what a caller gives as a value of a type may become the id of a new record."""
    for operation in source.operations:
        given = {each.name for each in operation.parameters if _holds(each.type, kind)}
        for effect in kernel.walk(operation.effects):
            if isinstance(effect, kernel.Create) and effect.entity == entity.name and effect.id is not None:
                parts = walked(source, effect.id)
                if any(isinstance(part, Var) and part.name in given for part in parts):
                    return True
    return False


def _holds(kind: Type, wanted: Type) -> bool:
    return kind == wanted or (isinstance(kind, Optional) and kind.item == wanted)


# ── Texts around a limit ─────────────────────────────────────────────────────────────────────────


LONGEST_TRIED: Final = 2**24
"""Characters, beyond which no text is made: whoever has no limit declares none, or one that no text comes to."""


def _around(model: Any, sizes: Mapping[str, CodeType]) -> list[Any]:
    """Return a text within the limits, and for each limit one that is just above it, unless it is so far away that nobody sends as much."""
    limits = {key: _size(model, size) for key, size in sizes.items()}
    found = ["x"]
    if (size := limits.get("bytes")) is not None and size < LONGEST_TRIED:
        found.append("x" * (size + 1))
    if (lines := limits.get("lines")) is not None and 2 * lines < LONGEST_TRIED:
        found.append("x\n" * lines + "x")  # no text ends in a line break: how that counts is left open
    return list(dict.fromkeys(found))


def _size(model: Any, size: CodeType) -> int | None:
    """Evaluate a number over limits; null where a limit of it is null."""
    try:
        found: int | None = eval(size, {"self": model, "quotient": quotient, "remainder": remainder})  # noqa: S307 - the code is our own emitter's
    except TypeError:
        return None
    return found


# ── Fewer of them ───────────────────────────────────────────────────────────────────────────────


def fewer(
    influence: Influence, operation: kernel.Operation, parameter: kernel.Parameter, every: Chooser, model: Any
) -> Chooser:
    """Leave out the values of an argument that lead nowhere else, from the start of a case on.

    One is left where nothing depends on the argument, two of each set of alike members of an enum (one of
    them may be what a record is already), and no id without a record where that is never accepted.
    """
    if not influence.keeps(f"{operation.name}.{parameter.name}"):
        return _always(list(every(model)[:1]))
    if any(each.guard is None and each.parameter == parameter.name for each in operation.requires):
        live = attrgetter(python_name(influence.source.entity(parameter.entity).collection))
        return lambda model: list(live(model))
    kind = present(parameter.type)
    if isinstance(kind, Enum):
        alike = influence.alike(kind)
        kept = [
            value
            for first in dict.fromkeys(alike.values())
            for value in [each for each in alike if alike[each] == first][:2]
        ]
        return _always([value for value in every(model) if value in kept or value not in alike])
    return every
