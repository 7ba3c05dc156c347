"""What the words of one lifecycle mean: its types, constants, fields and named expressions.

Expressions stand in one of two worlds. In the *model* a job is a record whose fields can be read; in a
*row* there are only replies, ids and constants: what a caller could see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from statemachines.diagnostics import Diagnostic, did_you_mean
from statemachines.expression.check import Checker, Scope, check
from statemachines.expression.emit import python_name
from statemachines.expression.syntax import Call, ExpressionError
from statemachines.expression.typed import Attribute, Const, Defined, Found, InGroup, Member, Operate, Typed, Var, parts
from statemachines.lifecycle import Expr, Lifecycle, Operation, TypeUse
from statemachines.types import (
    BOOL,
    DOCUMENT,
    INT,
    NULL,
    TEXT,
    TIME,
    UNKNOWN,
    Document,
    Enum,
    Id,
    Identity,
    List,
    Message,
    Optional,
    Record,
    Ref,
    Reply,
    Text,
    Type,
    Unknown,
    optional,
    present,
)

BUILT_IN: Mapping[str, Type] = {"bool": BOOL, "int": INT, "time": TIME, "text": TEXT, "document": DOCUMENT}


class Words:
    """The vocabulary of a lifecycle in the model's world; `faults` gathers what is wrong with its types."""

    rows = False

    def __init__(self, lifecycle: Lifecycle) -> None:
        self.lifecycle = lifecycle
        self.faults: list[Diagnostic] = []
        self.used: dict[str, tuple[Type, ...]] = {}  # named expression → types of its first use
        self._carried: dict[str, dict[str, Type]] = {}
        self._shown: dict[str, Record] = {}

    # ── Types ──

    def resolve(self, use: TypeUse) -> Type:
        """Give the type that is meant; an unknown one is told once."""
        if use.item is not None:
            kind: Type = List(self.resolve(use.item))
        elif use.choices:
            kind = Enum(" / ".join(word.text for word in use.choices), tuple(word.text for word in use.choices))
        else:
            kind = self._named(use)
        return optional(kind) if use.nullable else kind

    def _named(self, use: TypeUse) -> Type:
        name = use.name.text
        found = BUILT_IN.get(name) or self.declared.get(name)
        if found is not None:
            return found
        known = [*BUILT_IN, *self.declared]
        hint = did_you_mean(name, known) or f"known: {', '.join(known)}"
        self.faults.append(Diagnostic("unknown-type", use.name.where, f"there is no type {name!r}", hint))
        return UNKNOWN

    @cached_property
    def declared(self) -> dict[str, Type]:
        """Every type that the spec declares: types, entities, states and groups."""
        found: dict[str, Type] = {}
        for name, entity in self.lifecycle.entities.items():
            found[name] = Ref(name)
            if entity.states:
                found[f"{name}.state"] = Enum(f"{name}.state", entity.states)
            for group, words in (entity.groups or {}).items():
                found[f"{name}.{group}"] = Enum(f"{name}.state", tuple(word.text for word in words))
        for name, policy in self.lifecycle.policies.items():
            found[f"policies.{name}"] = Enum(f"policies.{name}", tuple(word.text for word in policy.choices))
        for name, declaration in self.lifecycle.types.items():
            match declaration.kind:
                case "one of":
                    found[name] = Enum(name, tuple(word.text for word in declaration.members))
                case "text":
                    found[name] = Text(name)
                case "id of":
                    found[name] = Id(declaration.entity.text if declaration.entity else "")
                case "range":
                    found[name] = INT
                case "record":
                    found[name] = UNKNOWN
        for name, declaration in self.lifecycle.types.items():
            if declaration.kind == "record":
                self.__dict__["declared"] = found  # a record may use the other types
                fields = declaration.fields or {}
                found[name] = Record(tuple((key, self.resolve(use)) for key, use in fields.items()), name)
        return found

    def wire(self, kind: Type) -> Type:
        """Give the type of an argument as a caller passes it: a record by its id."""
        match kind:
            case Ref(entity=entity) if not self.lifecycle.entities[entity].fixed:
                return Id(entity)
            case List(item=item):
                return List(self.wire(item))
            case Optional(item=item):
                return optional(self.wire(item))
            case _:
                return kind

    def project(self, kind: Type) -> Type:
        """Give the type of a value as a caller sees it: a record as what it shows."""
        match kind:
            case Ref(entity=entity) if self.lifecycle.entities[entity].shows:
                return self.shown(entity)
            case Ref(entity=entity) if not self.lifecycle.entities[entity].fixed:
                return Id(entity)
            case Message(name=name):
                return Record(tuple((key, self.project(value)) for key, value in self.carried(name).items()), name)
            case List(item=item, unordered=unordered):
                return List(self.project(item), unordered)
            case Optional(item=item):
                return optional(self.project(item))
            case _:
                return kind

    def shown(self, entity: str) -> Record:
        """Give the type of what a caller sees of a record."""
        if entity not in self._shown:
            self._shown[entity] = Record((), entity)  # a record that shows itself ends here
            scope = self.model_scope({self.variable(entity): Ref(entity)})
            fields = tuple(
                (key.text, self.project(check(expr.node, scope)[0].type)) for key, expr in self.lifecycle.entities[entity].shows
            )
            self._shown[entity] = Record(fields, entity)
        return self._shown[entity]

    def carried(self, message: str) -> dict[str, Type]:
        """Give the types of what a message carries."""
        if message not in self._carried:
            owed = self.lifecycle.messages[message]
            self._carried[message] = {}
            scope = self.about_scope(message)
            self._carried[message] = {key.text: check(expr.node, scope)[0].type for key, expr in owed.carries}
        return self._carried[message]

    def receiver(self, message: str) -> Type:
        """Give the type of a message's receiver."""
        to = self.lifecycle.messages[message].to
        return NULL if to is None else check(to.node, self.about_scope(message))[0].type

    @staticmethod
    def variable(entity: str) -> str:
        """Give the name under which a record of an entity is known where there is just one."""
        return "".join(f"_{sign.lower()}" if sign.isupper() and index else sign.lower() for index, sign in enumerate(entity))

    # ── Scopes ──

    def about_scope(self, message: str) -> Scope:
        """Give the scope of a message's expressions: the record that it is about."""
        entity = self.lifecycle.messages[message].about.text
        return self.model_scope({self.variable(entity): Ref(entity)})

    def model_scope(self, names: Mapping[str, Type] | None = None) -> Scope:
        """Give the scope of an expression of the model, with local names of these types."""
        found: dict[str, Typed] = dict(self.declared_names)
        found["now"] = Var(TIME, 0, "now", "self.now")
        for name, entity in self.lifecycle.entities.items():
            found[entity.plural] = Var(List(Ref(name)), 0, entity.plural, f"self.{python_name(entity.plural)}.values()")
        for name, use in self.lifecycle.variables.items():
            found[name] = Var(self.resolve(use), 0, name, f"self.{python_name(name)}")
        for name in self.lifecycle.messages:
            for box in ("due", "sent"):
                found[f"{box}.{name}"] = Var(List(Message(name)), 0, f"{box}.{name}", f"self.{box}_{name.lower()}")
        for name, kind in (names or {}).items():
            found[name] = Var(kind, 0, name, python_name(name))
        return Scope(self, found)

    @cached_property
    def declared_names(self) -> dict[str, Typed]:
        """Limits and policies, which both worlds can read."""
        found: dict[str, Typed] = {}
        for name, limit in self.lifecycle.limits.items():
            kind = optional(INT) if limit.optional else INT
            found[f"limits.{name}"] = Var(kind, 0, f"limits.{name}", f"self.limits.{python_name(name)}")
        for name, policy in self.lifecycle.policies.items():
            kind = Enum(f"policies.{name}", tuple(word.text for word in policy.choices))
            found[f"policies.{name}"] = Var(kind, 0, f"policies.{name}", f"self.policies.{python_name(name)}")
        return found

    # ── The vocabulary of the expression checker ──

    def field(self, of: Typed, name: str, at: int) -> Typed | None:
        """Read a field of a record, a message, a document or a plain value."""
        match of.type:
            case Ref(entity=entity) if not self.rows:
                return self._record_field(of, entity, name, at)
            case Message(name=message):
                kind = self._message_fields(message).get(name)
                return None if kind is None else Attribute(kind, at, of, name)
            case Record() as record:
                kind = record.field(name)
                return None if kind is None else Member(kind, at, of, name)
            case Reply(value=value):
                return self._reply_field(of, value, name, at)
            case Document() if name in _DOCUMENT:
                return Attribute(_DOCUMENT[name], at, of, name)
        return None

    def _record_field(self, of: Typed, entity: str, name: str, at: int) -> Typed | None:
        kind = self.record_fields(entity).get(name)
        if kind is not None:
            return Attribute(kind, at, of, name)
        if name in (self.lifecycle.entities[entity].groups or {}):
            return InGroup(BOOL, at, of, entity, name)
        return None

    def record_fields(self, entity: str) -> dict[str, Type]:
        """Give the types of a record's fields, the built-in ones included."""
        declared = self.lifecycle.entities[entity]
        found = {name: self.resolve(use) for name, use in (declared.fields or {}).items()}
        found["serial"] = INT
        if declared.minted or declared.fixed:
            found["id"] = Id(entity)
        if declared.states:
            found["state"] = Enum(f"{entity}.state", declared.states)
            found["completion"] = INT
        return found

    def _message_fields(self, message: str) -> dict[str, Type]:
        about = Identity(self.lifecycle.messages[message].about.text)
        return {"about": about, "to": self.receiver(message), **self.carried(message)}

    def _reply_field(self, of: Typed, value: Type, name: str, at: int) -> Typed | None:
        if name == "refused":
            return Attribute(Optional(Enum("refusal", self.codes)), at, of, name)
        if name == "signals":
            kinds = tuple(
                (signal, List(Record(tuple((key, self.project(self.resolve(use))) for key, use in fields.items()), signal)))
                for signal, fields in self.lifecycle.signals.items()
            )
            return Attribute(Record(kinds, "the signals"), at, of, name)
        kind = value.field(name) if isinstance(value, Record) else None
        return None if kind is None else Member(kind, at, of, name)

    def fields(self, kind: Type) -> Iterable[str]:
        """List the fields that a value of this type has."""
        match kind:
            case Ref(entity=entity) if not self.rows:
                return [*self.record_fields(entity), *(self.lifecycle.entities[entity].groups or {})]
            case Message(name=message):
                return self._message_fields(message)
            case Record(fields=fields):
                return [name for name, _ in fields]
            case Reply(value=value):
                return ["refused", "signals", *self.fields(value)]
            case Document():
                return _DOCUMENT
        return ()

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Every reason code that an operation of this lifecycle can be refused with."""
        found = ["not_found", "wrong_state"]
        for operation in self.lifecycle.operations.values():
            found += [operation.refuses.text] if operation.refuses else []
            found += [word.text for word, _ in (*operation.requires, *operation.open)]
            found += [part.code for part in (operation.missing, operation.otherwise) if part and part.code]
        for entity in self.lifecycle.entities.values():
            found += [code.text for _, code in entity.unique]
        return tuple(dict.fromkeys(found))

    @cached_property
    def _enums(self) -> dict[str, list[tuple[Type, str | tuple[str, ...]]]]:
        """Every word that is a constant somewhere, with the types it can have."""
        found: dict[str, list[tuple[Type, str | tuple[str, ...]]]] = {}

        def add(word: str, kind: Type, value: str | tuple[str, ...]) -> None:
            found.setdefault(word, []).append((kind, value))

        for name, entity in self.lifecycle.entities.items():
            for state in entity.states:
                add(state, Enum(f"{name}.state", (state,)), state)
            for group, words in (entity.groups or {}).items():
                members = tuple(word.text for word in words)
                add(group, List(Enum(f"{name}.state", members)), members)
            for word in entity.fixed:
                add(word.text, Ref(name), word.text)
        for kind in self.declared.values():
            if isinstance(kind, Enum) and not kind.name.endswith(".state"):
                for member in kind.members:
                    add(member, Enum(kind.name, (member,)), member)
        for code in self.codes:
            add(code, Enum("refusal", (code,)), code)
        return found

    def constant(self, name: str, expected: Type, at: int) -> Typed | None:
        """Give the state, group, enum member, policy choice, code or fixed record of this name."""
        meanings = self._enums.get(name, [])
        wanted = present(expected)
        fitting = [meaning for meaning in meanings if _same_words(wanted, meaning[0])]
        if not fitting and isinstance(wanted, Enum) and name in wanted.members:
            fitting = [(Enum(wanted.name, (name,)), name)]
        if not fitting and not isinstance(wanted, Enum):
            fitting = [meaning for meaning in meanings if meaning[0] != Enum("refusal", (name,))] or meanings
        if not fitting:
            return None
        if len(fitting) > 1 and isinstance(wanted, Unknown):
            kinds = " or ".join(str(kind) for kind, _ in fitting)
            raise ExpressionError("ambiguous-name", at, f"{name!r} may mean {kinds}", "compare it with a value of the type that is meant")
        kind, value = fitting[0]
        if isinstance(kind, Ref):
            source = repr(value) if self.rows else f"self.{python_name(self.lifecycle.entities[kind.entity].plural)}[{value!r}]"
            return Var(kind, at, name, source)
        return Const(kind, at, value)

    def constants(self) -> Iterable[str]:
        """List every word that is a constant somewhere."""
        return self._enums

    def called(self, checker: Checker, node: Call, scope: Scope) -> Typed | None:
        """Give the use of a named expression, typed by its arguments."""
        name, at = node.name, node.at
        definition = self.lifecycle.definitions.get(name)
        if definition is None:
            return None
        arguments = tuple(checker.visit(part, scope) for part in node.arguments)
        if len(arguments) != len(definition.parameters):
            message = f"{name} takes {len(definition.parameters)} arguments, and {len(arguments)} are given"
            raise ExpressionError("expression-type", at, message, f"it is defined at {definition.name.where}")
        kinds = tuple(argument.type for argument in arguments)
        self.used.setdefault(name, kinds)
        body, _ = check(definition.body.node, self.definition_scope(name, kinds))
        return Defined(body.type, at, name, arguments)

    def definition_scope(self, name: str, kinds: tuple[Type, ...]) -> Scope:
        """Give the scope of a named expression's body."""
        parameters = self.lifecycle.definitions[name].parameters
        return self.model_scope({word.text: kind for word, kind in zip(parameters, kinds, strict=True)})

    def key(self, entity: str) -> str:
        """Give the field by which an entity's records are kept: the id, the only unique field, or the serial."""
        declared = self.lifecycle.entities[entity]
        if declared.minted or declared.fixed:
            return "id"
        return declared.unique[0][0].text if len(declared.unique) == 1 else "serial"

    def narrowed(self, macro: str, over: Typed, variable: str, body: Typed) -> tuple[Typed, Typed]:
        """Give the same records and condition, looking records up by their key where that is possible."""
        kind = over.type
        if self.rows or macro not in ("exists", "filter") or not isinstance(over, Var):
            return over, body
        if not (isinstance(kind, List) and isinstance(kind.item, Ref) and over.source.endswith(".values()")):
            return over, body
        first = body.left if isinstance(body, Operate) and body.operator == "&&" else body
        rest = body.right if isinstance(body, Operate) and body.operator == "&&" else Const(BOOL, body.at, True)
        match first:
            case Operate(operator="==", left=Attribute(of=Var(name=name), name=field), right=wanted) if (
                name == variable and field == self.key(kind.item.entity) and not _mentions(wanted, variable)
            ):
                collection = over.source.removesuffix(".values()")
                return Found(kind, over.at, collection, wanted), rest
        return over, body

    def callables(self) -> Iterable[str]:
        """List the named expressions."""
        return self.lifecycle.definitions

    # ── Replies ──

    def given(self, operation: Operation) -> Type:
        """Give the type of what an operation replies; null when nothing is compared."""
        gives = operation.gives
        if gives is None:
            return NULL
        scope = self.operation_scope(operation)
        if gives.fields is not None:
            return Record(tuple((key.text, self.project(self._kind(expr, scope))) for key, expr in gives.fields), operation.name.text)
        if gives.value is not None:
            kind = self.project(self._kind(gives.value, scope))
            return List(kind.item, gives.unordered) if isinstance(kind, List) else kind
        kinds = [self.project(self._kind(expr, scope)) for _, expr in gives.branches]
        present_kinds = [present(kind) for kind in kinds if kind != NULL]
        kind = present_kinds[0] if present_kinds else NULL
        return optional(kind) if any(isinstance(each, Optional) or each == NULL for each in kinds) else kind

    @staticmethod
    def _kind(expr: Expr, scope: Scope) -> Type:
        return check(expr.node, scope)[0].type

    def operation_scope(self, operation: Operation) -> Scope:
        """Give the scope of an operation's effects and reply: its parameters, what it creates and sends."""
        names: dict[str, Type] = {name: self.resolve(use) for name, use in operation.takes.items()}
        for creation in operation.creations:
            if creation.entity.text in self.lifecycle.entities:
                names.setdefault(self.variable(creation.entity.text), Ref(creation.entity.text))
        scope = self.model_scope(names)
        for sending in operation.sends:
            kind = check(sending.messages.node, scope)[0].type
            scope = scope.with_names({sending.name.text: Var(kind, 0, sending.name.text, python_name(sending.name.text))})
        return scope


_DOCUMENT: Mapping[str, Type] = {"text": TEXT, "inline": BOOL, "file": optional(TEXT)}


def _mentions(value: Typed, variable: str) -> bool:
    return (isinstance(value, Var) and value.name == variable) or any(_mentions(part, variable) for part in parts(value))


def _same_words(wanted: Type, found: Type) -> bool:
    """Tell whether a constant of type `found` belongs to the enum or entity that is wanted."""
    if isinstance(wanted, Enum) and isinstance(found, Enum):
        return wanted.name == found.name and found.members[0] in wanted.members
    if isinstance(wanted, List) and isinstance(found, List):
        return _same_words(wanted.item, found.item) or (
            isinstance(wanted.item, Enum) and isinstance(found.item, Enum) and wanted.item.name == found.item.name
        )
    return isinstance(wanted, Ref) and wanted == found
