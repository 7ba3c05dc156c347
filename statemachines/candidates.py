"""Arguments worth trying: for every parameter a few values, derived from its type and the configuration.

The order of the values is fixed, so a position in the list names a value: the explorer walks them all,
a Hypothesis machine or a shrinker picks by number. `Influence` tells what can decide a later step at all,
and with it which of the values lead elsewhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from statemachines import kernel
from statemachines.expression.check import check
from statemachines.expression.emit import python_name
from statemachines.expression.typed import (
    Apply,
    At,
    Attribute,
    Const,
    Defined,
    Each,
    Found,
    InGroup,
    Items,
    Operate,
    Typed,
    Var,
    parts,
)
from statemachines.lifecycle import TypeUse
from statemachines.model import ABSENT, BaseModel, quotient, remainder
from statemachines.types import (
    BOOL,
    INT,
    TEXT,
    TIME,
    Enum,
    Id,
    List,
    Message,
    Optional,
    Ref,
    Text,
    Time,
    Type,
    present,
)

if TYPE_CHECKING:
    from statemachines.compile import Compiled

Chooser = Callable[[Any], Sequence[Any]]
"""Gives the values worth trying for one type in a model's present configuration."""


def arguments(
    compiled: Compiled, model: BaseModel, operation: kernel.Operation, scope: Mapping[str, int] | None = None
) -> Iterator[dict[str, Any]]:
    """Walk the combinations of arguments worth trying, by parameter name.

    An argument that may be left out comes first without its name. `scope` bounds how many of an entity's
    fixed records take part, by the entity's name.
    """
    names = [parameter.name for parameter in operation.parameters]
    lists = [chooser(model) for chooser in choosers(compiled, operation, scope or {})]
    for chosen in itertools.product(*lists):
        yield {name: value for name, value in zip(names, chosen, strict=True) if value is not ABSENT}


def choices(compiled: Compiled, model: BaseModel, kind: TypeUse) -> list[Any]:
    """List the values worth trying for a type where it is used, in the model's present configuration."""
    return list(chooser(compiled, kind)(model))


def choosers(compiled: Compiled, operation: kernel.Operation, scope: Mapping[str, int]) -> list[Chooser]:
    """Give what lists the values of each parameter of an operation; ABSENT stands for one left out."""
    uses = compiled.lifecycle.operations[operation.name].takes
    found = []
    for parameter in operation.parameters:
        chosen = chooser(compiled, uses[parameter.name], scope)
        found.append(chosen if parameter.default is None else _after([ABSENT], chosen))
    return found


def chooser(compiled: Compiled, use: TypeUse, scope: Mapping[str, int] | None = None) -> Chooser:
    """Give what lists the values of a type: of the type itself, or of a list of it; null where it may be."""
    plain = use.item or use
    declared = compiled.lifecycle.types.get(plain.name.text)
    if declared is not None and declared.kind == "record":
        parts = {name: _part(compiled, field, scope or {}) for name, field in (declared.fields or {}).items()}
        found = _records(parts)
    else:
        found = _single(compiled, plain, scope or {})
    if use.item is not None:
        found = _lists(found)
    return _after([None], found) if use.nullable else found


def _part(compiled: Compiled, use: TypeUse, scope: Mapping[str, int]) -> Chooser:
    """Give what lists the values of a record's field."""
    if use.item is not None:
        return _lists(_single(compiled, use.item, scope))
    return _single(compiled, use, scope)


def _single(compiled: Compiled, use: TypeUse, scope: Mapping[str, int]) -> Chooser:
    """Give what lists the values of a type that is neither a list nor a record."""
    declared = compiled.lifecycle.types.get(use.name.text)
    bounds = use.bounds or (declared.bounds if declared and declared.kind == "range" else None)
    if bounds is not None:
        return _always(list(dict.fromkeys(bounds)))
    kind = present(compiled.words.resolve(use))
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


def _after(first: list[Any], rest: Chooser) -> Chooser:
    return lambda model: [*first, *rest(model)]


_SIMPLE: Mapping[Type, Chooser] = {
    BOOL: _always([False, True]),
    INT: _always([0, 1]),
    TIME: lambda model: [model.now],
    TEXT: _always(["x"]),
}


def _lists(items: Chooser) -> Chooser:
    """Give no item and every item."""
    return lambda model: [[], full] if (full := list(items(model))) else [[]]


def _records(fields: Mapping[str, Chooser]) -> Chooser:
    """Give as many records as it takes for every field to have each of its values once."""

    def values(model: Any) -> list[Any]:
        columns = [list(field(model)) or [None] for field in fields.values()]
        longest = max(map(len, columns), default=1)
        rows = zip(*[column + column[-1:] * (longest - len(column)) for column in columns], strict=True)
        return [dict(zip(fields, row, strict=True)) for row in rows]

    return values


# ── Ids and texts ────────────────────────────────────────────────────────────────────────────────


def _records_ids(source: kernel.Kernel, entity: kernel.Entity) -> Chooser:
    """Give the ids of the live records, and one that no record has: a former one if known, else a new one."""
    everything = _any_ids(source, entity)
    collection = attrgetter(python_name(entity.collection))
    return lambda model: everything(model)[: len(collection(model)) + 1]


def _any_ids(source: kernel.Kernel, entity: kernel.Entity) -> Chooser:
    """Give the ids of the live records, those still known of former records, and a new one."""
    collection, key = attrgetter(python_name(entity.collection)), attrgetter(python_name(entity.key))
    known = _used(source, Id(entity.name))

    def values(model: Any) -> list[Any]:
        found = list(dict.fromkeys([*map(key, collection(model).values()), *known(model)]))
        return [*found, _fresh(model, entity.name, found)]

    return values


def _texts(compiled: Compiled, name: str) -> Chooser:
    declared = compiled.lifecycle.types[name]
    if declared.text == "fresh or reused":
        used = _used(compiled.kernel, Text(name))
        return lambda model: [_fresh(model, name, known := used(model)), *known]
    if declared.text == "around":
        scope = compiled.words.model_scope()
        sizes = {key: check(expr.node, scope, INT)[0] for key, expr in (declared.sizes or {}).items()}
        return lambda model: _around(model, sizes)
    return _always(["x"])


def _fresh(model: Any, name: str, known: Sequence[Any]) -> str:
    """Give a text that nothing holds; no record created earlier did, for their count is in it."""
    number = model.serials + 1
    while f"{name}-{number}" in known:
        number += 1
    return f"{name}-{number}"


def _used(source: kernel.Kernel, kind: Type) -> Chooser:
    """Give the values of a type that records and messages hold, oldest first."""
    places: list[tuple[attrgetter[Any], attrgetter[Any]]] = []
    for entity in source.entities:
        collection = attrgetter(f"{python_name(entity.collection)}.values")
        fields = [field.name for field in entity.fields if _holds(field.type, kind)]
        fields += ["id"] if kind == Id(entity.name) and (entity.minted or entity.fixed) else []
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


def _holds(kind: Type, wanted: Type) -> bool:
    return kind == wanted or (isinstance(kind, Optional) and kind.item == wanted)


# ── Texts around a limit ─────────────────────────────────────────────────────────────────────────


def _around(model: Any, sizes: Mapping[str, Typed]) -> list[Any]:
    """Give a text within the limits, and for each limit one that is just above it."""
    limits = {key: evaluated(model, size) for key, size in sizes.items()}
    found = ["x"]
    if (size := limits.get("bytes")) is not None:
        found.append("x" * (size + 1))
    if (lines := limits.get("lines")) is not None:
        found.append("x\n" * lines + "x")  # no text ends in a line break: how that counts is left open
    return list(dict.fromkeys(found))


def evaluated(model: Any, value: Typed) -> int | None:
    """Evaluate a number over limits; null where a limit of it is null."""
    ordered, waiting = [], [value]
    while waiting:
        part = waiting.pop()
        ordered.append(part)
        if isinstance(part, Operate):
            waiting += [side for side in (part.left, part.right) if side is not None]
    stack: list[Any] = []
    for part in reversed(ordered):
        match part:
            case Const(value=number):
                stack.append(number)
            case Var(name=name):
                stack.append(getattr(model.limits, python_name(name.removeprefix("limits."))))
            case Operate(operator=operator, left=left):
                two = stack.pop()
                one = stack.pop() if left is not None else 0
                stack.append(None if one is None or two is None else _ARITHMETIC[operator](one, two))
            case _:
                raise TypeError(part)
    found: int | None = stack.pop()
    return found


_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda one, two: one + two,
    "-": lambda one, two: one - two,
    "*": lambda one, two: one * two,
    "/": quotient,
    "%": remainder,
}


# ── What can decide a later step ─────────────────────────────────────────────────────────────────


def walked(source: kernel.Kernel, value: Typed) -> list[Typed]:
    """List an expression's parts, itself first, those of the named expressions that it uses included."""
    found: list[Typed] = []
    waiting = [value]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += reversed(parts(node))
        if isinstance(node, Defined):
            waiting.append(next(each.body for each in source.definitions if each.name == node.name))
    return found


@dataclass(frozen=True, slots=True)
class _Sentence:
    """An expression, and the names that it decides; where there are none it decides a step.

    Names are written Job.state, due.Ended.to, finish.payload (an argument) and .permit (a variable); with
    `?` behind, only whether it is null counts, with `#` only its place in an order, with `@` only how long
    ago it was, while a timer of the entity `timed` runs.
    """

    decides: tuple[str, ...]
    value: Typed
    operation: str = ""
    timed: str = ""


class Influence:
    """What can decide a later step, over all sentences that do, directly or through others."""

    def __init__(self, source: kernel.Kernel) -> None:
        self.source = source
        self.ordered: set[str] = set()  # kinds of records and messages whose places in their list count
        self.relative = False  # instants are reckoned with, so their distance from now counts
        self.opaque = True  # texts are only compared with each other
        self.named: set[str] = set()  # fixed records that a sentence names
        self._tests: dict[str, list[tuple[str, ...]]] = {}
        self._mixed: set[str] = set()  # enums whose values are compared with each other
        self._chosen = dict(source.policies)
        self.names = self._roots()
        sentences = [(each, self._reads(each)) for each in self._sentences()]
        size = -1
        while size != len(self.names):
            size = len(self.names)
            for sentence, read in sentences:
                if self._counts(sentence):
                    self.names |= read
        for sentence, _ in sentences:
            if self._counts(sentence):
                relative = self.relative
                self._look(sentence.value)
                self.relative = relative if sentence.timed else self.relative
        self._look_at_states()
        self._look_for_names([sentence.value for sentence, _ in sentences])

    def keeps(self, name: str) -> str:
        """Tell how a name counts: by value (=), in an order (#), for timers (@), as null (?), or not."""
        if name in self.names:
            return "="
        return next((how for how in "#@?" if name + how in self.names), "")

    def alike(self, kind: Enum) -> dict[str, str]:
        """Give the first member of an enum that is like each member: no sentence tells them apart."""
        tests = self._tests.get(kind.name, [])
        first: dict[tuple[object, ...], str] = {}
        found = {}
        for member in kind.members:
            mark = (member,) if kind.name in self._mixed else tuple(member in test for test in tests)
            found[member] = first.setdefault(mark, member)
        return found

    def separable(self, entity: kernel.Entity, name: str) -> bool:
        """Tell whether a lifecycle without this fixed record would treat the others just as it does."""
        return name not in self.named and f".{entity.collection}" not in self.names

    def _counts(self, sentence: _Sentence) -> bool:
        return not sentence.decides or any(self.keeps(name) for name in sentence.decides)

    # ── Sentences ──

    def _roots(self) -> set[str]:
        """Name what counts whatever the sentences say."""
        found = {f"{entity.name}.state" for entity in self.source.entities if entity.states}
        for operation in self.source.operations:
            found |= {
                f"{operation.name}.{each.parameter}" for each in operation.requires if each.guard is None
            }
            found |= {
                f"{operation.name}.{each.record}"
                for each in operation.effects
                if isinstance(each, kernel.Move)
            }
        for entity in self.source.entities:
            found |= self._order_roots(entity.name, entity.retain) if entity.retain else set()
        for message in self.source.messages:
            name = message.name
            if message.once_clause:
                found |= {f"sent.{name}", f"sent.{name}.about", f"due.{name}.about"}
            if not message.outlives_clause:
                found.add(f"due.{name}.about")
        return found

    def _order_roots(self, entity: str, rule: kernel.Retain) -> set[str]:
        """Name the counters that an order goes by; without one, ties are broken by the places in the list."""
        keys = self._order(rule)
        counters = {key.name for key in keys if isinstance(key, Attribute) and _is_counter(key)}
        if any(isinstance(part, str) for part in rule.order):
            counters.add("completion")  # with which every ordering policy ends
        if not counters:
            self.ordered.add(entity)
        self.opaque = self.opaque and not any(_is_text(key) for key in keys)
        return {f"{entity}.{counter}#" for counter in counters}

    def _sentences(self) -> Iterator[_Sentence]:
        for entity in self.source.entities:
            yield from self._entity(entity)
        for message in self.source.messages:
            yield from self._message(message)
        for operation in self.source.operations:
            guards = [require.guard for require in operation.requires]
            guards += [emit.when for require in operation.requires for emit in require.permitted]
            yield from (_Sentence((), guard, operation.name) for guard in guards if guard is not None)
            yield from self._effects(operation.effects, operation.name)
        for step in self.source.spontaneous:
            yield from (_Sentence((), guard) for guard in (step.may, step.must) if guard is not None)
            yield from self._effects(step.effects)
            if step.operation:
                given = zip(self.source.operation(step.operation).parameters, step.arguments, strict=False)
                yield from (_Sentence((f"{step.operation}.{each.name}",), value) for each, value in given)
        for invariant in self.source.invariants:
            yield _Sentence((), invariant.holds)

    def _entity(self, entity: kernel.Entity) -> Iterator[_Sentence]:
        for rule in entity.entered:
            yield from self._effects(rule.effects)
        for timer in entity.timers:
            yield _Sentence((), timer.deadline, timed=entity.name)
            yield from self._effects(timer.effects)
        if entity.retain is not None:
            yield _Sentence((), entity.retain.newest)
            keys = [key for key in self._order(entity.retain) if not _is_counter(key)]
            yield from (_Sentence((), part) for part in (entity.retain.per, *keys) if part is not None)

    def _order(self, rule: kernel.Retain) -> list[Typed]:
        """List what an order reads, an ordering policy as its default choice."""
        policies = {
            policy.name: dict(policy.keys)[self._chosen[policy.name]] for policy in self.source.orders
        }
        return [policies[part] if isinstance(part, str) else part for part in rule.order]

    def _message(self, message: kernel.Message) -> Iterator[_Sentence]:
        if message.unless is not None:
            yield _Sentence((), message.unless)
        for name, value in (("to", message.to), *message.carries):
            if value is not None:
                yield _Sentence((f"due.{message.name}.{name}", f"sent.{message.name}.{name}"), value)

    def _effects(self, effects: tuple[kernel.Effect, ...], operation: str = "") -> Iterator[_Sentence]:
        for effect in kernel.walk(effects):
            values: list[Typed | None] = []
            match effect:
                case kernel.Move(arrows=arrows):
                    values = [target for _, target in arrows]
                case kernel.Set(record=record, entity=entity, field=field, value=value):
                    yield from (
                        _Sentence((f"{entity}.{field}",), part, operation) for part in (record, value) if part
                    )
                case kernel.Create(entity=entity, fields=fields, id=chosen):
                    yield from (_Sentence((f"{entity}.{name}",), value, operation) for name, value in fields)
                    if chosen is not None:
                        yield _Sentence((f"{entity}.id",), chosen, operation)
                case kernel.Emit(when=when):
                    values = [when]
                case kernel.Send(messages=messages):
                    values = [messages]
                case kernel.ForEach(over=Var(source=where), when=when) if where.endswith(".values()"):
                    values = [when]  # every record, each by itself
                case kernel.ForEach(over=over, when=when):
                    values = [over, when]
            yield from (_Sentence((), value, operation) for value in values if value is not None)

    # ── What a sentence reads, and what it makes of it ──

    def _reads(self, sentence: _Sentence) -> set[str]:
        """Name what a sentence reads."""
        nodes = walked(self.source, sentence.value)
        boxes = {node.variable: self._boxes(node.over) for node in nodes if isinstance(node, Each)}
        nulls = {id(node.left) for node in nodes if isinstance(node, Operate) and _is_null(node.right)}
        arguments = {each.name for each in self._parameters(sentence.operation)}
        found = set()
        for node in nodes:
            match node:
                case Attribute(type=kind, of=of, name=name):
                    clock = sentence.timed in self._owners(of, boxes) and isinstance(present(kind), Time)
                    mark = "@" if clock else "?" if id(node) in nulls else ""
                    found |= {f"{owner}.{name}{mark}" for owner in self._owners(of, boxes)}
                case InGroup(entity=entity):
                    found.add(f"{entity}.state")
                case Found(type=List(item=Ref(entity=entity))):
                    found.add(f"{entity}.{self.source.entity(entity).key}")
                case Var(name=name) if name in arguments:
                    found.add(f"{sentence.operation}.{name}")
                case Var(name=name):
                    found.add(name if name.startswith(("due.", "sent.")) else f".{name}")
        return found

    def _parameters(self, operation: str) -> tuple[kernel.Parameter, ...]:
        return self.source.operation(operation).parameters if operation else ()

    def _boxes(self, over: Typed) -> tuple[str, ...]:
        """Name the collections of messages that a list is made from; of those just sent, both."""
        return tuple(
            node.name
            for node in walked(self.source, over)
            if isinstance(node, Var) and isinstance(node.type, List)
        )

    @staticmethod
    def _owners(of: Typed, boxes: Mapping[str, tuple[str, ...]]) -> list[str]:
        """Name the kinds of record or message that a field may be read from."""
        match of.type:
            case Ref(entity=entity) | Optional(item=Ref(entity=entity)):
                return [entity]
            case Message(name=name) | Optional(item=Message(name=name)):
                known = boxes.get(of.name, ()) if isinstance(of, Var) else ()
                both = [f"due.{name}", f"sent.{name}"]
                return [box for box in both if box in known] or both
            case _:
                return []

    def _look(self, value: Typed) -> None:
        """Note what a sentence makes of texts, instants, places in lists and enums."""
        for node in walked(self.source, value):
            match node:
                case At() | Apply(function="take" | "drop" | "reversed" | "join" | "pick"):
                    self._all_ordered()
                case Const(type=Enum(name=name) | List(item=Enum(name=name)), value=word):
                    self._tests.setdefault(name, []).append(word if isinstance(word, tuple) else (str(word),))
                case InGroup(entity=entity, group=group):
                    states = dict(self.source.entity(entity).groups)[group]
                    self._tests.setdefault(f"{entity}.state", []).append(states)
                case Operate():
                    self._look_at_operator(node)
            if isinstance(node, Const | Apply) and any(_is_text(part) for part in (node, *parts(node))):
                self.opaque = False
            if isinstance(node, Apply):
                self._mixed |= {name for part in parts(node) if (name := _enum_name(part))}

    def _look_for_names(self, values: list[Typed]) -> None:
        """Note the fixed records that anything names, be it only a reply."""
        for operation in self.source.operations:
            if operation.reply is not None:
                values += [value for _, value in operation.reply.fields or ()]
                values += [part for branch in operation.reply.branches for part in branch if part is not None]
        effects = [effect for operation in self.source.operations for effect in operation.effects]
        effects += [effect for step in self.source.spontaneous for effect in step.effects]
        emits = [effect for effect in kernel.walk(tuple(effects)) if isinstance(effect, kernel.Emit)]
        values += [value for emit in emits for _, value in emit.fields]
        values += [value for entity in self.source.entities for _, value in entity.shows]
        for value in values:
            for node in walked(self.source, value):
                if isinstance(node, Var) and isinstance(node.type, Ref) and node.source.startswith("self."):
                    self.named.add(node.name)

    def _look_at_operator(self, node: Operate) -> None:
        sides = [node.right] if node.left is None else [node.left, node.right]
        if node.operator in ("==", "!=", "in"):
            names = [_enum_name(side) for side in sides if not _is_constant(side)]
            if len(names) == 2 and not _is_before_and_after(*sides):
                self._mixed |= {name for name in names if name}
            if all(isinstance(side.type, List) and not _is_constant(side) for side in sides):
                self._all_ordered()
            return
        self.opaque = self.opaque and not any(_is_text(side) for side in sides)
        if node.operator in ("+", "-", "*", "/", "%"):
            self.relative = self.relative or any(isinstance(present(side.type), Time) for side in sides)

    def _all_ordered(self) -> None:
        self.ordered |= {entity.name for entity in self.source.entities}
        self.ordered |= {message.name for message in self.source.messages}

    def _look_at_states(self) -> None:
        """Note which states the sentences without expressions tell apart."""
        for entity in self.source.entities:
            tests = self._tests.setdefault(f"{entity.name}.state", [])
            tests += [rule.states for rule in entity.entered]
            tests += [timer.states for timer in entity.timers]
            tests += [entity.terminal, entity.retain.states if entity.retain else ()]
            tests += [message.states for message in self.source.messages if message.entity == entity.name]
        for operation in self.source.operations:
            for effect in operation.effects:
                if isinstance(effect, kernel.Move):
                    by_target: dict[object, list[str]] = {}
                    for state, target in effect.arrows:
                        aim = target.value if isinstance(target, Const) else target
                        by_target.setdefault("same" if aim == state else aim, []).append(state)
                    self._tests[f"{effect.entity}.state"] += [tuple(states) for states in by_target.values()]


def _is_counter(key: Typed) -> bool:
    return (
        isinstance(key, Attribute) and isinstance(key.of.type, Ref) and key.name in ("completion", "serial")
    )


def _is_null(value: Typed) -> bool:
    return isinstance(value, Const) and value.value is None


def _is_constant(value: Typed) -> bool:
    return isinstance(value, Const) or (
        isinstance(value, Items) and all(isinstance(item, Const) for item in value.items)
    )


def _is_text(value: Typed) -> bool:
    return isinstance(present(value.type), Text | Id)


def _is_before_and_after(left: Typed, right: Typed) -> bool:
    """Tell whether these are the same field of a record, one of them one step earlier."""
    return (
        isinstance(left, Attribute)
        and isinstance(right, Attribute)
        and left.name == right.name
        and [side.of.name for side in (left, right) if isinstance(side.of, Var)].count("was") == 1
    )


def _enum_name(value: Typed) -> str:
    """Name the enum of a value or of a list's items."""
    kind = present(value.type)
    item = present(kind.item) if isinstance(kind, List) else kind
    return item.name if isinstance(item, Enum) else ""


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
