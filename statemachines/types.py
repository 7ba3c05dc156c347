"""The types of the language: what a name, a field, an argument or a reply can be.

Types are frozen values compared by equality. Texts are nominal: a `ToolCall` and a `JobId` are both
texts, and comparing one with the other is a fault of the spec, not a comparison that is always false.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Type:
    """The common base of every type."""

    def __str__(self) -> str:
        return type(self).__name__.lower()


@dataclass(frozen=True, slots=True)
class Null(Type):
    """The type of `null` alone."""


@dataclass(frozen=True, slots=True)
class Bool(Type):
    """`true` or `false`."""


@dataclass(frozen=True, slots=True)
class Int(Type):
    """A whole number."""


@dataclass(frozen=True, slots=True)
class Time(Type):
    """An instant or a duration in whole milliseconds; an instant is 0 at the start of a case."""


@dataclass(frozen=True, slots=True)
class Text(Type):
    """A text; `name` is the declared type, or empty for a literal or a computed text."""

    name: str = ""

    def __str__(self) -> str:
        return self.name or "text"


@dataclass(frozen=True, slots=True)
class Id(Type):
    """The identifier of a record of `entity`: on the wire a text."""

    entity: str

    def __str__(self) -> str:
        return f"id of {self.entity}"


@dataclass(frozen=True, slots=True)
class Identity(Type):
    """What a record is, beyond its id: it survives the record and is never used again."""

    entity: str

    def __str__(self) -> str:
        return f"identity of {self.entity}"


@dataclass(frozen=True, slots=True)
class Enum(Type):
    """One of a few words."""

    name: str
    members: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Ref(Type):
    """A record of an entity."""

    entity: str

    def __str__(self) -> str:
        return self.entity


@dataclass(frozen=True, slots=True)
class MessageType(Type):
    """A message owed or sent."""

    name: str

    def __str__(self) -> str:
        return f"message {self.name}"


@dataclass(frozen=True, slots=True)
class DocumentType(Type):
    """A text told inline, or a reference to a file that holds it."""

    def __str__(self) -> str:
        return "document"


@dataclass(frozen=True, slots=True)
class List(Type):
    """A list; `unordered` when only its members count, as in a reply compared as a set."""

    item: Type
    unordered: bool = False

    def __str__(self) -> str:
        return f"list of {self.item}"


@dataclass(frozen=True, slots=True)
class Several(List):
    """A list of different kinds of values, known by their positions; `item` is what they have in common."""

    kinds: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordType(Type):
    """A plain value with named fields, such as what a caller sees of a job."""

    fields: tuple[tuple[str, Type], ...]
    name: str = ""

    def __str__(self) -> str:
        return self.name or "record of " + ", ".join(name for name, _ in self.fields)

    def field(self, name: str) -> Type | None:
        """Return the type of a field, or None."""
        return next((kind for key, kind in self.fields if key == name), None)


@dataclass(frozen=True, slots=True)
class Optional(Type):
    """A value or null."""

    item: Type

    def __str__(self) -> str:
        return f"{self.item} or null"


@dataclass(frozen=True, slots=True)
class ReplyType(Type):
    """What a bound step of a row is: the value a call gave, whether it was refused, and its signals."""

    operation: str
    value: Type

    def __str__(self) -> str:
        return f"reply of {self.operation}"


@dataclass(frozen=True, slots=True)
class Unknown(Type):
    """The type of a faulty expression, which fits everything, so that one fault is told once."""


NULL, BOOL, INT, TIME, TEXT, DOCUMENT, UNKNOWN = Null(), Bool(), Int(), Time(), Text(), DocumentType(), Unknown()


def optional(item: Type) -> Type:
    """Return `item` or null; a type that already has null stays as it is."""
    return item if isinstance(item, (Optional, Null, Unknown)) else Optional(item)


def present(kind: Type) -> Type:
    """Return the type without null."""
    return kind.item if isinstance(kind, Optional) else kind


def guarded(kind: Type) -> Type:
    """Return the type of a value that is known not to be null, be it that of a reply."""
    return replace(kind, value=present(kind.value)) if isinstance(kind, ReplyType) else present(kind)


def replied(kind: Type) -> Type:
    """Return the type of the value that a reply gives; any other type stays as it is."""
    return kind.value if isinstance(kind, ReplyType) else kind


def underlying(kind: Type) -> Type:
    """Return the type behind null and behind a reply."""
    return replied(present(kind))


def holds_documents(kind: Type) -> bool:
    """Return whether values of a type can hold documents."""
    match kind:
        case Optional(item=item) | List(item=item):
            return holds_documents(item)
        case RecordType(fields=fields):
            return any(holds_documents(field) for _, field in fields)
        case _:
            return isinstance(kind, DocumentType)


def accepts(wanted: Type, given: Type) -> bool:
    """Return whether a value of type `given` may stand where `wanted` is asked for."""
    if wanted == given or UNKNOWN in (wanted, given):
        return True
    if isinstance(wanted, Optional):
        return isinstance(given, Null) or accepts(wanted.item, present(given))
    if isinstance(given, ReplyType):
        return accepts(wanted, given.value)
    if isinstance(wanted, List) and isinstance(given, List):
        return accepts(wanted.item, given.item)
    if isinstance(wanted, RecordType) and isinstance(given, RecordType):
        return all((kind := given.field(name)) is not None and accepts(field, kind) for name, field in wanted.fields)
    if isinstance(wanted, Text | Id) and isinstance(given, Text | Id):
        return Text("") in (wanted, given)  # one without a declared type fits every text
    if isinstance(wanted, Enum) and isinstance(given, Enum):
        return wanted.name == given.name and set(given.members) <= set(wanted.members)
    return isinstance(wanted, Time | Int) and isinstance(given, Time | Int)


def comparable(left: Type, right: Type) -> bool:
    """Return whether `left == right` can be true for some values."""
    if isinstance(left, Null) or isinstance(right, Null):
        other = right if isinstance(left, Null) else left
        return isinstance(other, Optional | Null | Unknown | ReplyType)
    left, right = (side.value if isinstance(side, ReplyType) else present(side) for side in (left, right))
    if isinstance(left, RecordType) and isinstance(right, RecordType):
        names = {name for name, _ in left.fields} & {name for name, _ in right.fields}
        return bool(names) and all(
            comparable(left.field(name) or UNKNOWN, right.field(name) or UNKNOWN) for name in names
        )
    if isinstance(left, List) and isinstance(right, List):
        return comparable(left.item, right.item)
    return accepts(left, right) or accepts(right, left)


def join(left: Type, right: Type) -> Type | None:
    """Return the narrowest type that holds both, or None."""
    if isinstance(left, Unknown):
        return right
    if isinstance(left, List) and isinstance(right, List):
        item = join(left.item, right.item)
        return None if item is None else List(item, left.unordered or right.unordered)
    if accepts(left, right):
        return left
    if accepts(right, left):
        return right
    if isinstance(left, Null):
        return optional(right)
    if isinstance(right, Null):
        return optional(left)
    if isinstance(left, Enum) and isinstance(right, Enum) and left.name == right.name:
        return Enum(left.name, tuple(dict.fromkeys(left.members + right.members)))
    if left == present(left) and right == present(right):
        return None
    inner = join(present(left), present(right))
    return None if inner is None else optional(inner)


def plausible(kind: Type) -> object:
    """Return the first value of a type that comes to mind."""
    match kind:
        case Enum(members=members):
            return members[0]
        case Bool():
            return True
        case Int() | Time():
            return 0
        case List(item=item):
            return [plausible(item)]
        case RecordType(fields=fields):
            return {name: plausible(field) for name, field in fields}
        case Optional():
            return None
        case DocumentType():
            return {"text": "x"}
        case Null():
            return None
        case _:
            return "1"
