"""What a lifecycle declares, as types: states, groups, enums, texts, ids, records of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

from statemachines.diagnostics import Diagnostic, unknown
from statemachines.expression import Name
from statemachines.lifecycle import WITH_ANY_CODE, Creation, EntitySpec, Lifecycle, TypeDeclaration, TypeUse, Word
from statemachines.types import (
    BOOL,
    DOCUMENT,
    INT,
    TEXT,
    TIME,
    UNKNOWN,
    Enum,
    Id,
    List,
    Optional,
    RecordType,
    Ref,
    Text,
    Type,
    optional,
    present,
)

BUILT_IN: Mapping[str, Type] = {"bool": BOOL, "int": INT, "time": TIME, "text": TEXT, "document": DOCUMENT}


class Types:
    """The types of one lifecycle; `faults` gathers the uses of those that it does not declare."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self.lifecycle = lifecycle
        self.faults: list[Diagnostic] = []

    def resolve(self, use: TypeUse) -> Type:
        """Return the type that is meant; an unknown one is told."""
        return self._resolved(use, self.declared)

    def _resolved(self, use: TypeUse, declared: Mapping[str, Type]) -> Type:
        if use.item is not None:
            kind: Type = List(self._resolved(use.item, declared), unordered=use.subset)
        elif use.choices:
            kind = Enum(" / ".join(_texts(use.choices)), _texts(use.choices))
        else:
            kind = self._named(use.name, declared)
        return optional(kind) if use.nullable else kind

    def _named(self, word: Word, declared: Mapping[str, Type]) -> Type:
        found = BUILT_IN.get(word.text) or declared.get(word.text)
        if found is not None:
            return found
        self._unknown("unknown-type", word, f"there is no type {word.text!r}", [*BUILT_IN, *declared])
        return UNKNOWN

    def _unknown(self, code: str, word: Word, message: str, known: Collection[str], hint: str = "") -> None:
        self.faults.append(unknown(code, word.where, word.text, message, known, hint))

    @cached_property
    def declared(self) -> Mapping[str, Type]:
        """Every type that the spec declares: types, entities, states and groups."""
        found: dict[str, Type] = {}
        for name, entity in self.lifecycle.entities.items():
            found[name] = Ref(name)
            if entity.states:
                found[f"{name}.state"] = Enum(f"{name}.state", entity.states)
            for group, words in entity.groups.items():
                found[f"{name}.{group}"] = Enum(f"{name}.state", _texts(words))
        for name, policy in self.lifecycle.policies.items():
            found[f"policies.{name}"] = Enum(f"policies.{name}", _texts(policy.choices))
        for name, declaration in self.lifecycle.types.items():
            owner = declaration.entity  # of `id of:`
            if owner is not None and owner.text not in self.lifecycle.entities:
                message = f"there is no entity {owner.text!r}"
                self._unknown("unknown-entity", owner, message, self.lifecycle.entities)
            found[name] = _declared(name, declaration) if declaration.of is None else self._some_of(declaration, found)
        for name in self._nested():  # a record may use all other types
            fields = self.lifecycle.types[name].fields.items()
            found[name] = RecordType(tuple((key, self._resolved(use, found)) for key, use in fields), name)
        return found

    def _nested(self) -> dict[str, None]:
        """Return the names of the records, each behind those that it holds, wherever they are declared."""
        found: dict[str, None] = {}

        def visit(name: str, holders: frozenset[str]) -> None:
            for use in self.lifecycle.types[name].fields.values():
                held = (use.item or use).name.text
                if held in self.records and held not in holders and held not in found:
                    visit(held, holders | {held})
            found[name] = None

        for name in self.records:
            visit(name, frozenset([name]))
        return found

    def _some_of(self, declaration: TypeDeclaration, found: Mapping[str, Type]) -> Type:
        """Return the type of some states."""
        word = declaration.of
        assert word is not None
        whole = found.get(word.text)
        if not isinstance(whole, Enum):
            self._unknown("unknown-type", word, f"there are no states {word.text!r}", found, "for example Job.state")
            return UNKNOWN
        for member in declaration.members:
            if member.text not in whole.members:
                message, hint = f"{word.text} has no {member.text!r}", f"one of {', '.join(whole.members)}"
                self._unknown("unknown-state", member, message, whole.members, hint)
        return Enum(whole.name, _texts(declaration.members))

    @property
    def records(self) -> list[str]:
        """The names of the types that are records of plain values."""
        return [name for name, each in self.lifecycle.types.items() if each.kind == "record"]

    def wire(self, kind: Type) -> Type:
        """Return the type of an argument as a caller passes it: a record by its id."""
        match kind:
            case Ref(entity=entity) if not self.lifecycle.entities[entity].fixed:
                return Id(entity)
            case List(item=item):
                return List(self.wire(item))
            case Optional(item=item):
                return optional(self.wire(item))
            case _:
                return kind

    def passed(self, use: TypeUse) -> Type:
        """Return the type of a parameter as a caller passes it; `Job | null` is any id, of a record or of none."""
        kind = self.resolve(use)
        return self.wire(present(kind) if self.is_any_id(use) else kind)

    def is_any_id(self, use: TypeUse) -> bool:
        """Return whether a parameter is a record that need not exist: nobody passes null for it."""
        entity = self.lifecycle.entities.get(use.name.text)
        return use.nullable and use.item is None and use.default is None and entity is not None and not entity.fixed

    def record_fields(self, entity: str) -> dict[str, Type]:
        """Return the types of a record's fields, the built-in ones included."""
        declared = self.lifecycle.entities[entity]
        found = {name: self.resolve(use) for name, use in declared.fields.items()}
        found["serial"] = INT
        if declared.minted or declared.fixed:
            found["id"] = Id(entity)
        if declared.states:
            found["state"] = Enum(f"{entity}.state", declared.states)
            found["completion"] = INT
        return found

    def key(self, entity: str) -> str:
        """Return the field by which records are kept: the id, the only unique field, or the serial."""
        declared = self.lifecycle.entities[entity]
        if declared.minted or declared.fixed:
            return "id"
        return declared.unique[0][0].text if len(declared.unique) == 1 else "serial"

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Every reason code that an operation of this lifecycle can be refused with."""
        found = ["not_found", "wrong_state"]
        for operation in self.lifecycle.operations.values():
            found += [operation.refuses.text] if operation.refuses else []
            named = (word.text for word, _ in (*operation.requires, *operation.open))
            found += [code for code in named if code != WITH_ANY_CODE]
            found += [part.code for part in (operation.missing, operation.otherwise) if part and part.code]
        for entity in self.lifecycle.entities.values():
            found += [code.text for _, code in entity.unique]
            found += [entity.missing.code] if entity.missing and entity.missing.code else []
        return tuple(dict.fromkeys(found))


def _declared(name: str, declaration: TypeDeclaration) -> Type:
    """Return the type of a declaration; that of a record has to wait until all others are known."""
    match declaration.kind:
        case "one of":
            return Enum(name, _texts(declaration.members))
        case "text":
            return Text(name)
        case "id of":
            return Id(declaration.entity.text if declaration.entity else "")
        case "range":
            return INT
        case "record":
            return UNKNOWN


def _texts(words: tuple[Word, ...]) -> tuple[str, ...]:
    return tuple(word.text for word in words)


def name_of_new(creation: Creation, entity: EntitySpec) -> str:
    """Return the name under which a new record is known from then on: what it is called, or that of its entity."""
    called = creation.name(entity)
    return called.node.name if called is not None and isinstance(called.node, Name) else variable_of(entity.name.text)


def variable_of(entity: str) -> str:
    """Return the name under which a record of an entity is known where there is just one."""
    return "".join(
        f"_{sign.lower()}" if sign.isupper() and index else sign.lower() for index, sign in enumerate(entity)
    )
