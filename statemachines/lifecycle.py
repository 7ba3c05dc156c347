"""A lifecycle as its spec states it: frozen values, with the place of everything in the file.

Nothing here has a meaning yet: names are texts, expressions are syntax trees. `statemachines.words`
gives the names a meaning, `statemachines.lower` turns the sentences into the kernel's verbs.
One idea: the words of the language, each as one value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from statemachines.diagnostics import Where
from statemachines.expression import Node
from statemachines.yaml import Scalar

Level = Literal["must", "should", "may"]

_TEXT_OR_BLANKS = re.compile(r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|\s+""")

ANY = "any"  # the default of a policy of which any choice is right
WITH_ANY_CODE = "any code"  # in place of a code: the source does not say with which


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression: where it is written, and its syntax tree."""

    scalar: Scalar
    node: Node

    @property
    def text(self) -> str:
        """The expression as it is written, in one line; what stands in quotes keeps its blanks."""
        return _TEXT_OR_BLANKS.sub(lambda found: found[1] or " ", self.scalar.text).strip()

    @property
    def where(self) -> Where:
        """The place of its first character."""
        return self.scalar.at(0) if self.scalar.text else self.scalar.where


@dataclass(frozen=True, slots=True)
class Word:
    """A name as it stands in the file."""

    text: str
    where: Where


@dataclass(frozen=True, slots=True)
class TypeUse:
    """A type where it is used: the name of a declared or built-in one, a list of another, or a range.

    `subset` is a list that holds each value of its items' type at most once.

    `default` is the value of an argument that a call leaves out, or of a field that `create` does not give.
    `role` is the role that a record has to have, which was written instead of the name of its entity.
    """

    name: Word
    nullable: bool = False
    item: TypeUse | None = None
    default: Expr | None = None
    choices: tuple[Word, ...] = ()
    subset: bool = False
    bounds: tuple[int, int] | None = None
    role: Word | None = None


@dataclass(frozen=True, slots=True)
class TypeDeclaration:
    """A type of `types`, and how its values are drawn.

    kind  'one of', 'text', 'id of', 'range' or 'record'; `text` is 'short', 'fresh or reused' or 'around'
    of    the states that the words of `one of` are some of, as in Job.state
    """

    name: Word
    kind: Literal["one of", "text", "id of", "range", "record"]
    members: tuple[Word, ...] = ()
    of: Word | None = None
    text: str = ""
    sizes: Mapping[str, Expr] = field(default_factory=dict)
    entity: Word | None = None
    bounds: tuple[int, int] = (0, 0)
    fields: Mapping[str, TypeUse] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limit:
    """A number that an implementation may declare as its own; an optional one may be declared as null."""

    name: Word
    default: int | None
    optional: bool = False
    about: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """A choice that the source leaves open: `one of` some words, or an ordering by one of several `keys`.

    is_recommended  the source recommends the default, and no more; any choice is right where none is declared
    """

    name: Word
    default: Word
    choices: tuple[Word, ...]
    entity: Word | None = None
    keys: Mapping[str, Expr] = field(default_factory=dict)
    about: str = ""
    is_recommended: bool = False

    @property
    def is_undeclared(self) -> bool:
        """Whether any choice is right where none is declared."""
        return self.default.text == ANY and all(word.text != ANY for word in self.choices)

    @property
    def standard(self) -> str:
        """The choice that rules and rows are checked with first."""
        return self.choices[0].text if self.is_undeclared else self.default.text


@dataclass(frozen=True, slots=True)
class DefinitionSpec:
    """A named expression with parameters."""

    name: Word
    parameters: tuple[Word, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class Assignment:
    """`record.field: value`, perhaps only `when`; else the old value stays."""

    target: Expr
    value: Expr
    key: Word
    when: Expr | None = None


@dataclass(frozen=True, slots=True)
class SignalUse:
    """A signal that a step sends: when, with which fields, once or at least once; or that it may send."""

    name: Word
    fields: tuple[tuple[Word, Expr], ...] = ()
    when: Expr | None = None
    repeats: bool = False
    permitted: bool = False


@dataclass(frozen=True, slots=True)
class Creation:
    """A record that a step creates; a `state` among the fields is not the initial one."""

    entity: Word
    fields: tuple[tuple[Word, Expr], ...]

    def condition(self, entity: EntitySpec) -> Expr | None:
        """Return the condition under which it is created, `when`; where that is a field of the record there is none."""
        return self._word("when", entity)

    def name(self, entity: EntitySpec) -> Expr | None:
        """Return what it is `called`; None where that is the name of its entity, or a field of the record."""
        return self._word("called", entity)

    def _word(self, word: str, entity: EntitySpec) -> Expr | None:
        return None if word in entity.fields else next((expr for key, expr in self.fields if key.text == word), None)


@dataclass(frozen=True, slots=True)
class MoveSpec:
    """`from → to`: from a state or group, to a state, `same`, or an expression that gives a state.

    Without a source it starts from whatever state the record is in where the sentence stands.
    """

    source: Word | None
    target: Expr
    where: Where


@dataclass(frozen=True, slots=True)
class Effects:
    """What happens to a record, and because of it: wherever a spec says that something follows."""

    moves: tuple[MoveSpec, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    creations: tuple[Creation, ...] = ()
    loops: tuple[ForEachSpec, ...] = ()
    removes: bool = False
    signals: tuple[SignalUse, ...] = ()


@dataclass(frozen=True, slots=True)
class ForEachSpec:
    """`for each name: list`, perhaps only `when`, with effects for each."""

    variable: Word
    over: Expr
    when: Expr | None
    effects: Effects


@dataclass(frozen=True, slots=True)
class TimerSpec:
    """What happens to a record that has been in a state or group for a time, perhaps only `when`.

    `path` is its address below the record's: `after.waiting`, or `after.waiting.1` of several. `within` is the
    length of the window in which the implementation chooses the instant.
    """

    path: str
    where: Where
    states: Word
    duration: Expr
    since: Expr
    within: Expr | None
    when: Expr | None
    effects: Effects


@dataclass(frozen=True, slots=True)
class Entering:
    """What happens to a record as it enters a state or group."""

    states: Word
    effects: Effects


@dataclass(frozen=True, slots=True)
class Retention:
    """Which records stay: the newest so many of a group, per an expression, by an order."""

    newest: Expr
    of: Word
    per: Expr | None
    by: tuple[Expr, ...]
    where: Where


@dataclass(frozen=True, slots=True)
class Role:
    """Some records of an entity, of which more is said than of the others: those for which `condition` holds."""

    name: Word
    condition: DefinitionSpec
    shows: tuple[tuple[Word, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class EntitySpec:
    """A kind of record."""

    name: Word
    plural: str
    fixed: tuple[Word, ...] = ()
    fields: Mapping[str, TypeUse] = field(default_factory=dict)
    groups: Mapping[str, tuple[Word, ...]] = field(default_factory=dict)
    minted: Where | None = None
    once: bool = False
    by_content: bool = False
    unique: tuple[tuple[Word, Word], ...] = ()
    private: Word | None = None
    missing: Otherwise | None = None
    entering: tuple[Entering, ...] = ()
    timers: tuple[TimerSpec, ...] = ()
    retain: Retention | None = None
    shows: tuple[tuple[Word, Expr], ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)

    @property
    def states(self) -> tuple[str, ...]:
        """Every state; the first one is the initial one."""
        return tuple(word.text for words in self.groups.values() for word in words)


@dataclass(frozen=True, slots=True)
class Owed:
    """A kind of message: what it is about, when it becomes due, to whom, and what it carries."""

    name: Word
    about: Word
    due: tuple[Word, ...]
    to: Expr | None
    at_most: Word | None
    order: tuple[Expr, ...]
    outlives: Word | None
    carries: tuple[tuple[Word, Expr], ...]


@dataclass(frozen=True, slots=True)
class Otherwise:
    """The answer where a guard does not hold: a refusal, or either a refusal or acceptance, without effect.

    'open': the source does not say what happens, so nobody goes there. Where `any_code` holds, the refusal may have
    a code of its own.
    """

    kind: Literal["refused", "unchanged", "open"]
    code: str
    where: Where
    signals: tuple[SignalUse, ...] = ()
    any_code: Expr | None = None


@dataclass(frozen=True, slots=True)
class SendingSpec:
    """Messages that a step sends, bound to a name."""

    name: Word
    messages: Expr


@dataclass(frozen=True, slots=True)
class Gives:
    """A reply: one expression, a record of expressions, the first branch whose guard holds, or any of several."""

    value: Expr | None = None
    fields: tuple[tuple[Word, Expr], ...] | None = None
    branches: tuple[tuple[Expr | None, Expr], ...] = ()
    unordered: bool = False
    any_of: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class OperationSpec:
    """Something a caller can ask for; a control belongs to whoever tests, and not to the system."""

    name: Word
    takes: Mapping[str, TypeUse]
    about: str = ""
    optional: Where | None = None
    control: bool = False
    loses_files: Where | None = None
    copies: Where | None = None
    refuses: Word | None = None
    requires: tuple[tuple[Word, Expr], ...] = ()
    open: tuple[tuple[Word, Expr], ...] = ()
    unsaid: Expr | None = None
    only_if: Expr | None = None
    missing: Otherwise | None = None
    otherwise: Otherwise | None = None
    moves: tuple[MoveSpec, ...] = ()
    is_table: bool = False
    assignments: tuple[Assignment, ...] = ()
    creations: tuple[Creation, ...] = ()
    removes: tuple[Word, ...] = ()
    loops: tuple[ForEachSpec, ...] = ()
    reads: tuple[tuple[Word, Expr], ...] = ()
    waits: Expr | None = None
    until: Expr | None = None
    sends: tuple[SendingSpec, ...] = ()
    signals: tuple[SignalUse, ...] = ()
    gives: Gives | None = None


@dataclass(frozen=True, slots=True)
class SpontaneousSpec:
    """A step that the implementation takes unasked: it may when `when` holds, it has to when `must` does.

    `ends_call`: it has to before the call ends that made it due.
    """

    name: Word
    loops: tuple[tuple[Word, Word], ...]
    when: Expr
    must: Expr | None
    ends_call: bool
    does: Expr | None
    effects: Effects


@dataclass(frozen=True, slots=True)
class RowStep:
    """One line of a row: a call, perhaps bound to a name; or a loop over steps."""

    expr: Expr
    binding: Word | None = None
    loop: Word | None = None
    body: tuple[RowStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Drawn:
    """A parameter of a row under `any`: how it is drawn, and the value that is tried first."""

    name: Word
    kind: Literal["permutation", "range", "type"]
    low: Expr | None = None
    high: Expr | None = None
    type: TypeUse | None = None
    witness: Expr | Literal["reversed"] | None = None
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What a row asserts, perhaps only `when` a system declares such limits and policies."""

    expr: Expr
    when: Expr | None = None


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that belong together: their title, and what all of them share. Rows in no group share nothing."""

    title: str = ""
    level: str = ""
    needs: tuple[Expr, ...] = ()
    arrange: tuple[RowStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One scenario of the matrix; what its group needs, and how that begins, come first in `needs` and `arrange`."""

    id: Word
    group: RowGroup
    about: str
    level: Level
    source: str
    covers: tuple[Word, ...]
    needs: tuple[Expr, ...]
    each: tuple[tuple[Word, TypeUse], ...]
    drawn: tuple[Drawn, ...]
    arrange: tuple[RowStep, ...]
    act: tuple[RowStep, ...]
    asserts: tuple[Claim, ...]
    open: tuple[Expr, ...]
    derived: bool = False  # the source does not state what it asks


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """A whole spec."""

    name: str
    version: int
    about: str
    file: str
    limits: Mapping[str, Limit]
    policies: Mapping[str, Policy]
    should: tuple[Word, ...]
    definitions: Mapping[str, DefinitionSpec]
    types: Mapping[str, TypeDeclaration]
    entities: Mapping[str, EntitySpec]
    variables: Mapping[str, TypeUse]
    messages: Mapping[str, Owed]
    signals: Mapping[str, Mapping[str, TypeUse]]
    operations: Mapping[str, OperationSpec]
    parts: Mapping[str, tuple[Word, ...]]
    spontaneous: Mapping[str, SpontaneousSpec]
    invariants: Mapping[str, Expr]
    scope: Mapping[str, int]
    rows: Mapping[str, Row]
    places: Mapping[str, Where]

    def parts_of(self, operation: str) -> tuple[str, ...]:
        """Return the parts that have an operation."""
        return tuple(part for part, words in self.parts.items() if any(word.text == operation for word in words))

    def missing(self, operation: str, entity: str) -> Otherwise | None:
        """Return what an operation answers for such a record that does not exist, if the spec says it."""
        return self.operations[operation].missing or self.entities[entity].missing
