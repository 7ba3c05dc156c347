"""What can decide a later step at all, and how: by its value, its place in an order, its age, or as null.

The explorer leaves out the rest, so that one configuration stands for all that differ in nothing that matters.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from statemachines import kernel
from statemachines.explore.sentences import Sentence, Sentences, is_counter, walked
from statemachines.expression import (
    Apply,
    At,
    Attribute,
    Choose,
    Const,
    Each,
    Found,
    InGroup,
    Items,
    Operate,
    Typed,
    Var,
    parts,
)
from statemachines.types import Enum, Id, List, MessageType, Optional, Ref, Text, Time, present


class Influence:
    """What can decide a later step, over all sentences that do, directly or through others."""

    def __init__(self, source: kernel.Kernel, seen: Collection[str] = (), *, replies: bool = False) -> None:
        """Read the sentences; fields of some names count as well, since somebody looks at them, and so may how `replies` come out."""
        self.source = source
        self.seen = seen
        self.ordered: set[str] = set()  # kinds of records and messages whose places in their list count
        self.relative = False  # instants are reckoned with, so their distance from now counts
        self.opaque = True  # texts are only compared with each other
        self.named: set[str] = set()  # fixed records that a sentence names
        self._tests: dict[str, list[tuple[str, ...]]] = {}
        self._mixed: set[str] = set()  # enums whose values are compared with each other
        self._all = Sentences(source, replies=replies)
        self.names = self._roots() | self._seen()
        sentences = [(each, self._reads(each)) for each in self._all]
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
        """Return the first member of an enum that is like each member: no sentence tells them apart."""
        tests = self._tests.get(kind.name, [])
        first: dict[tuple[object, ...], str] = {}
        found = {}
        for member in kind.members:
            mark = (member,) if kind.name in self._mixed else tuple(member in test for test in tests)
            found[member] = first.setdefault(mark, member)
        return found

    def separable(self, entity: kernel.Entity, name: str) -> bool:
        """Return whether a lifecycle without this fixed record would treat the others just as it does."""
        return name not in self.named and f".{entity.collection}" not in self.names

    def _counts(self, sentence: Sentence) -> bool:
        return not sentence.decides or any(self.keeps(name) for name in sentence.decides)

    # ── What counts in any case ──

    def _roots(self) -> set[str]:
        """Name what counts whatever the sentences say."""
        found = {f"{entity.name}.state" for entity in self.source.entities if entity.states}
        for operation in self.source.operations:
            found |= {f"{operation.name}.{each.parameter}" for each in operation.requires if each.guard is None}
            found |= {f"{operation.name}.{each.record}" for each in operation.effects if isinstance(each, kernel.Move)}
        for entity in self.source.entities:
            found |= self._order_roots(entity.name, entity.retain) if entity.retain else set()
        for message in self.source.messages:
            name = message.name
            if message.once_clause:
                found |= {f"sent.{name}", f"sent.{name}.about", f"due.{name}.about"}
            if not message.outlives_clause:
                found.add(f"due.{name}.about")
        return found

    def _seen(self) -> set[str]:
        """Name the fields that somebody looks at, so that no two of their values are alike; `Job.state` is one by its whole name."""
        found = {name for name in self.seen if "." in name}
        self._mixed |= {name for name in found if name.endswith(".state")}
        for entity in self.source.entities:
            for field in (each for each in entity.fields if each.name in self.seen):
                found.add(f"{entity.name}.{field.name}")
                kind = present(field.type)
                self._mixed |= {kind.name} if isinstance(kind, Enum) else set()
        return found

    def _order_roots(self, entity: str, rule: kernel.Retain) -> set[str]:
        """Name the counters that an order goes by; without one, ties are broken by the places in the list."""
        keys = self._all.order(rule)
        counters = {key.name for key in keys if isinstance(key, Attribute) and is_counter(key)}
        if any(isinstance(part, str) for part in rule.order):
            counters.add("completion")  # with which every ordering policy ends
        if not counters:
            self.ordered.add(entity)
        self.opaque = self.opaque and not any(_is_text(key) for key in keys)
        return {f"{entity}.{counter}#" for counter in counters}

    # ── What a sentence reads, and what it makes of it ──

    def _reads(self, sentence: Sentence) -> set[str]:
        """Name what a sentence reads."""
        nodes = walked(self.source, sentence.value)
        boxes = {node.variable: self._boxes(node.over) for node in nodes if isinstance(node, Each)}
        nulls = {id(node.left) for node in nodes if isinstance(node, Operate) and _is_null(node.right)}
        arguments = self._arguments(sentence.operation)
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

    def _arguments(self, name: str) -> set[str]:
        """Name what an operation is given, and what it reads before its effects."""
        if not name:
            return set()
        operation = self.source.operation(name)
        return {*(each.name for each in operation.parameters), *(read for read, _ in operation.reads)}

    def _boxes(self, over: Typed) -> tuple[str, ...]:
        """Name the collections of messages that a list is made from; of those just sent, both."""
        return tuple(
            node.name for node in walked(self.source, over) if isinstance(node, Var) and isinstance(node.type, List)
        )

    @staticmethod
    def _owners(of: Typed, boxes: Mapping[str, tuple[str, ...]]) -> list[str]:
        """Name the kinds of record or message that a field may be read from."""
        match of.type:
            case Ref(entity=entity) | Optional(item=Ref(entity=entity)):
                return [entity]
            case MessageType(name=name) | Optional(item=MessageType(name=name)):
                known = boxes.get(of.name, ()) if isinstance(of, Var) else ()
                both = [f"due.{name}", f"sent.{name}"]
                return [box for box in both if box in known] or both
            case _:
                return []

    def _look(self, value: Typed) -> None:
        """Note what a sentence makes of texts, instants, places in lists and enums."""
        for node in walked(self.source, value):
            match node:
                case At() | Apply(function="take" | "drop" | "reversed" | "join") | Choose():
                    self._all_ordered()
                case Const(type=Enum(name=name) | List(item=Enum(name=name)), value=word):
                    self._tests.setdefault(name, []).append(word if isinstance(word, tuple) else (str(word),))
                case InGroup(entity=entity, group=group):
                    states = dict(self.source.entity(entity).groups)[group]
                    self._tests.setdefault(f"{entity}.state", []).append(states)
                case Operate():
                    self._look_at_operator(node)
            if isinstance(node, Const | Apply | Choose) and any(_is_text(part) for part in (node, *parts(node))):
                self.opaque = False
            if isinstance(node, Apply | Choose):
                self._mixed |= {name for part in parts(node) if (name := _enum_name(part))}

    def _look_for_names(self, values: list[Typed]) -> None:
        """Note the fixed records that anything names, be it only a reply."""
        for operation in self.source.operations:
            if operation.reply is not None:
                values += [value for _, value in operation.reply.fields or ()]
                values += [part for branch in operation.reply.branches for part in branch if part is not None]
        emits = [effect for effect in self.source.effects() if isinstance(effect, kernel.Emit)]
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


def _is_null(value: Typed) -> bool:
    return isinstance(value, Const) and value.value is None


def _is_constant(value: Typed) -> bool:
    return isinstance(value, Const) or (
        isinstance(value, Items) and all(isinstance(item, Const) for item in value.items)
    )


def _is_text(value: Typed) -> bool:
    return isinstance(present(value.type), Text | Id)


def _is_before_and_after(left: Typed, right: Typed) -> bool:
    """Return whether these are the same field of a record, one of them one step earlier."""
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
