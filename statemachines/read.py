"""Tree → Lifecycle. The structure is known to be right (see `statemachines.structure`); meaning is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, cast

from statemachines import read_rows
from statemachines.diagnostics import Diagnostic, SpecError
from statemachines.expression.parse import parse
from statemachines.expression.syntax import ExpressionError, ListOf
from statemachines.expression.syntax import Literal as LiteralNode
from statemachines.lifecycle import (
    Assignment,
    Creation,
    Definition,
    Entering,
    Entity,
    Expr,
    Gives,
    Lifecycle,
    Limit,
    Loop,
    Move,
    Operation,
    Otherwise,
    Owed,
    Policy,
    Retention,
    Sending,
    SignalUse,
    Spontaneous,
    Timer,
    TypeDeclaration,
    TypeUse,
    Word,
)
from statemachines.tree import Mapping, Node, Scalar, Sequence

Entries = Iterator[tuple[Word, Node]]


class Reader:
    """Reads the parts of one tree and gathers every fault."""

    def __init__(self) -> None:
        self.faults: list[Diagnostic] = []

    def fault(self, code: str, scalar: Scalar, message: str, hint: str, at: int = 0) -> None:
        """Add a fault at an offset into a scalar."""
        self.faults.append(Diagnostic(code, scalar.at(at), message, hint))

    # ── Small parts ──

    def word(self, node: Node) -> Word:
        """Read a name."""
        scalar = cast(Scalar, node)
        return Word(scalar.text, scalar.where)

    def words(self, node: Node | None) -> tuple[Word, ...]:
        """Read a name or a list of names."""
        if node is None:
            return ()
        return tuple(self.word(item) for item in (node.items if isinstance(node, Sequence) else (node,)))

    def text(self, node: Node | None) -> str:
        """Read a text for people."""
        return cast(Scalar, node).text if node is not None else ""

    def entries(self, node: Node | None) -> Entries:
        """Walk a mapping."""
        for key, value in cast(Mapping, node).entries if node is not None else ():
            yield Word(key.text, key.where), value

    def expr(self, node: Node) -> Expr:
        """Read an expression; a faulty one is told, and read as null. A YAML list is a list of expressions."""
        if isinstance(node, Sequence):
            items = [self.expr(item) for item in node.items]
            text = f"[{', '.join(item.text for item in items)}]"
            return Expr(Scalar(None, text, node.where, "plain"), ListOf(0, tuple(item.node for item in items)))
        scalar = cast(Scalar, node)
        try:
            return Expr(scalar, parse(scalar.text))
        except ExpressionError as error:
            self.fault(error.code, scalar, error.message, error.hint, error.at)
            return Expr(scalar, LiteralNode(0, None))

    def expr_or_none(self, node: Node | None) -> Expr | None:
        """Read an expression that may be left out."""
        return None if node is None else self.expr(node)

    def exprs(self, node: Node | None) -> tuple[Expr, ...]:
        """Read an expression or a list of them."""
        if node is None:
            return ()
        return tuple(self.expr(item) for item in (node.items if isinstance(node, Sequence) else (node,)))

    def pairs(self, node: Node | None) -> tuple[tuple[Word, Expr], ...]:
        """Read a mapping from names to expressions."""
        return tuple((name, self.expr(value)) for name, value in self.entries(node))

    # ── Types ──

    def type_use(self, node: Node) -> TypeUse:
        """Read a type where it is used."""
        if isinstance(node, Mapping):
            default = self.expr_or_none(node.get("default"))
            listed = node.get("list of")
            if listed is not None:
                return TypeUse(Word("list", node.where), item=self.type_use(listed), default=default)
            subset = node.get("subset of")
            if subset is not None:
                return TypeUse(Word("subset", node.where), item=self.type_use(subset), default=default, subset=True)
            if node.get("from") is not None:
                bounds = (_number(node.get("from")), _number(node.get("to")))
                return TypeUse(Word("int", node.where), default=default, bounds=bounds)
            choices = self.words(node.get("one of"))
            if choices:
                return TypeUse(Word("one of", node.where), choices=choices, default=default)
            use = self.type_use(cast(Node, node.get("type")))
            return TypeUse(use.name, use.nullable, use.item, default, use.choices)
        scalar = cast(Scalar, node)
        name, bar, null = (part.strip() for part in scalar.text.partition("|"))
        if bar and null != "null":
            self.fault("unknown-type", scalar, f"{scalar.text!r} is not a type", "write X | null, or declare a type")
        return TypeUse(Word(name, scalar.at(0)), nullable=bool(bar))

    def uses(self, node: Node | None) -> dict[str, TypeUse]:
        """Read a mapping from names to types."""
        return {name.text: self.type_use(value) for name, value in self.entries(node)}

    def type_declaration(self, name: Word, node: Node) -> TypeDeclaration:
        body = cast(Mapping, node)
        kind = next(key for key in ("one of", "text", "id of", "from", "record") if body.get(key) is not None)
        sizes = {key: self.expr(value) for key in ("bytes", "lines") if (value := body.get(key)) is not None}
        return TypeDeclaration(
            name,
            cast("Literal['one of', 'text', 'id of', 'range', 'record']", "range" if kind == "from" else kind),
            members=self.words(body.get("one of")),
            text=self.text(body.get("text")),
            sizes=sizes,
            entity=self.word(cast(Node, body.get("id of"))) if kind == "id of" else None,
            bounds=(_number(body.get("from")), _number(body.get("to"))),
            fields=self.uses(body.get("record")),
        )

    # ── Limits, policies, definitions ──

    def limit(self, name: Word, node: Node) -> Limit:
        body = cast(Mapping, node)
        default = cast(Scalar, body.get("default")).value
        return Limit(name, cast("int | None", default), _true(body.get("optional")), self.text(body.get("about")))

    def policy(self, name: Word, node: Node) -> Policy:
        body = cast(Mapping, node)
        keys = {key.text: self.expr(value) for key, value in self.entries(body.get("keys"))}
        choices = tuple(key for key, _ in self.entries(body.get("keys"))) or self.words(body.get("one of"))
        of = body.get("of")
        default = self.word(cast(Node, body.get("default")))
        return Policy(
            name, default, choices, self.word(of) if of is not None else None, keys or None, self.text(body.get("about"))
        )

    def definition(self, key: Word, node: Node) -> Definition:
        match = re.fullmatch(r"(\w+)(?:\(\s*(\w+(?:\s*,\s*\w+)*)?\s*\))?", key.text)
        if match is None:
            scalar = Scalar(key.text, key.text, key.where, "plain")
            self.fault("bad-definition", scalar, f"{key.text!r} is not a name with parameters", "write name(a, b): expression")
            return Definition(key, (), self.expr(node))
        parameters = tuple(Word(part.strip(), key.where) for part in (match[2] or "").split(",") if part.strip())
        return Definition(Word(match[1], key.where), parameters, self.expr(node))

    # ── Effects ──

    def assignments(self, node: Node | None) -> tuple[Assignment, ...]:
        """Read `set`: each key is itself an expression, the field that is set."""
        found = []
        for key, value in cast(Mapping, node).entries if node is not None else ():
            found.append(Assignment(self.expr(key), self.expr(value), Word(key.text, key.where)))
        return tuple(found)

    def signal_uses(self, node: Node | None, *, permitted: bool = False) -> tuple[SignalUse, ...]:
        """Read `signal` or `may signal`."""
        found = []
        for name, value in self.entries(node):
            body = value if isinstance(value, Mapping) else Mapping((), value.where, True)
            repeats = self.text(body.get("times")) == "at least once"
            found.append(
                SignalUse(name, self.pairs(body.get("with")), self.expr_or_none(body.get("when")), repeats, permitted)
            )
        return tuple(found)

    def creations(self, node: Node | None) -> tuple[Creation, ...]:
        found = []
        for name, value in self.entries(node):
            fields = self.pairs(value)
            when = next((expr for key, expr in fields if key.text == "when"), None)
            found.append(Creation(name, tuple(pair for pair in fields if pair[0].text != "when"), when))
        return tuple(found)

    def loops(self, node: Node | None) -> tuple[Loop, ...]:
        found = []
        for name, value in self.entries(node):
            body = cast(Mapping, value)
            when = self.expr_or_none(body.get("when"))
            over = self.expr(cast(Node, body.get("in")))
            found.append(Loop(name, over, when, self.assignments(body.get("set")), _true(body.get("remove"))))
        return tuple(found)

    def otherwise(self, node: Node | None) -> Otherwise | None:
        """Read the answer where a guard does not hold."""
        if node is None:
            return None
        if isinstance(node, Mapping):
            answer = cast(Otherwise, self.otherwise(node.get("answer")))
            signals = self.signal_uses(node.get("may signal"), permitted=True)
            return Otherwise(answer.kind, answer.code, answer.where, signals)
        scalar = cast(Scalar, node)
        kind, _, code = scalar.text.partition(" ")
        return Otherwise(cast("Literal['refused', 'accepted', 'unchanged']", kind), code.strip(), scalar.where)

    def moves(self, node: Node | None) -> tuple[Move, ...]:
        """Read `from -> to`, or a table of such."""
        if node is None:
            return ()
        if isinstance(node, Mapping):
            return tuple(Move(source, self.expr(target), source.where) for source, target in self.entries(node))
        scalar = cast(Scalar, node)
        source, arrow, target = scalar.text.partition("->")
        if not arrow or not target.strip():
            self.fault("bad-move", scalar, f"{scalar.text!r} is not a move", "write from -> to, for example running -> completed")
            return ()
        piece = read_rows.part_of(scalar, len(source) + 2)
        return (Move(Word(source.strip(), scalar.at(0)), self.expr(piece), scalar.where),)

    # ── Entities and messages ──

    def entity(self, name: Word, node: Node) -> Entity:
        body = cast(Mapping, node)
        groups = {group.text: self.words(states) for group, states in self.entries(body.get("states"))}
        private, retain = body.get("private to"), body.get("retain")
        minted = body.key("id")
        return Entity(
            name,
            self.text(body.get("plural")) or f"{_snake(name.text)}s",
            fixed=self.words(body.get("fixed")),
            fields=self.uses(body.get("fields")),
            groups=groups,
            minted=minted.where if minted else None,
            unique=tuple((field, self.word(code)) for field, code in self.entries(body.get("unique"))),
            private=self.word(private) if private is not None else None,
            entering=tuple(self.entering(states, effects) for states, effects in self.entries(body.get("entering"))),
            timers=tuple(self.timer(states, effects) for states, effects in self.entries(body.get("after"))),
            retain=self.retention(body.key("retain"), retain) if retain is not None else None,
            shows=self.pairs(body.get("shows")),
        )

    def entering(self, states: Word, node: Node) -> Entering:
        body = cast(Mapping, node)
        return Entering(
            states, self.assignments(body.get("set")), self.signal_uses(body.get("signal")), self.loops(body.get("for each"))
        )

    def timer(self, states: Word, node: Node) -> Timer:
        body = cast(Mapping, node)
        move = body.get("move")
        return Timer(
            states,
            self.expr(cast(Node, body.get("in"))),
            self.expr(cast(Node, body.get("since"))),
            self.word(move) if move is not None else None,
            body.get("remove") is not None,
            self.assignments(body.get("set")),
            self.signal_uses(body.get("signal")),
        )

    def retention(self, key: Scalar | None, node: Node) -> Retention:
        body = cast(Mapping, node)
        return Retention(
            self.expr(cast(Node, body.get("newest"))),
            self.word(cast(Node, body.get("of"))),
            self.expr_or_none(body.get("per")),
            self.exprs(body.get("by")),
            key.where if key else node.where,
        )

    def message(self, name: Word, node: Node) -> Owed:
        body = cast(Mapping, node)
        order = body.key("order")
        outlives, at_most = body.get("outlives"), body.get("at most")
        return Owed(
            name,
            self.word(cast(Node, body.get("about"))),
            self.words(body.get("due")),
            self.expr_or_none(body.get("to")),
            self.word(at_most) if at_most is not None else None,
            self.exprs(body.get("order")),
            order.where if order else name.where,
            self.word(outlives) if outlives is not None else None,
            self.expr_or_none(body.get("unless")),
            self.pairs(body.get("carries")),
        )

    # ── Operations ──

    def gives(self, node: Node | None) -> Gives | None:
        if node is None:
            return None
        if isinstance(node, Scalar):
            return Gives(self.expr(node))
        body = cast(Mapping, node)
        if (unordered := body.get("unordered")) is not None:
            return Gives(self.expr(unordered), unordered=True)
        if (branches := body.get("first of")) is not None:
            items = [cast(Mapping, item) for item in cast(Sequence, branches).items]
            return Gives(
                branches=tuple(
                    (self.expr_or_none(item.get("when")), self.expr(cast(Node, item.get("reply")))) for item in items
                )
            )
        return Gives(fields=self.pairs(body))

    def operation(self, name: Word, node: Node) -> Operation:
        body = cast(Mapping, node)
        optional, refuses = body.key("optional"), body.get("refuses")
        return Operation(
            name,
            self.uses(body.get("takes")),
            self.text(body.get("about")),
            optional=optional.where if optional and _true(body.get("optional")) else None,
            loses_files=loses.where if (loses := body.key("may lose")) else None,
            refuses=self.word(refuses) if refuses is not None else None,
            requires=self.pairs(body.get("requires")),
            open=self.pairs(body.get("open")),
            missing=self.otherwise(body.get("missing")),
            otherwise=self.otherwise(body.get("otherwise")),
            moves=self.moves(body.get("move")),
            assignments=self.assignments(body.get("set")),
            creations=self.creations(body.get("create")),
            removes=self.words(body.get("remove")),
            loops=self.loops(body.get("for each")),
            sends=tuple(Sending(key, self.expr(value)) for key, value in self.entries(body.get("sends"))),
            signals=self.signal_uses(body.get("signal")) + self.signal_uses(body.get("may signal"), permitted=True),
            gives=self.gives(body.get("gives")),
        )

    def spontaneous(self, name: Word, node: Node) -> Spontaneous:
        body = cast(Mapping, node)
        loops = tuple((variable, self.word(entity)) for variable, entity in self.entries(body.get("for each")))
        return Spontaneous(
            name,
            loops,
            self.expr(cast(Node, body.get("when"))),
            self.expr_or_none(body.get("must")),
            self.expr_or_none(body.get("does")),
            self.assignments(body.get("set")),
            self.signal_uses(body.get("signal")) + self.signal_uses(body.get("may signal"), permitted=True),
        )


def read_lifecycle(tree: Node, file: str) -> Lifecycle:
    """Read a whole spec; raise SpecError with every fault found."""
    reader = Reader()
    body = cast(Mapping, tree)

    def table(section: str, read: Any) -> dict[str, Any]:
        return {name.text: read(name, value) for name, value in reader.entries(body.get(section))}

    definitions = [reader.definition(key, value) for key, value in reader.entries(body.get("define"))]
    lifecycle = Lifecycle(
        name=reader.text(body.get("lifecycle")),
        version=cast(int, cast(Scalar, body.get("version")).value),
        about=reader.text(body.get("about")),
        file=file,
        limits=table("limits", reader.limit),
        policies=table("policies", reader.policy),
        should=reader.words(body.get("should")),
        definitions={definition.name.text: definition for definition in definitions},
        types=table("types", reader.type_declaration),
        entities=table("entities", reader.entity),
        variables=reader.uses(body.get("variables")),
        messages=table("messages", reader.message),
        signals={name.text: reader.uses(value) for name, value in reader.entries(body.get("signals"))},
        operations=table("operations", reader.operation),
        spontaneous=table("on its own", reader.spontaneous),
        invariants=table("invariants", lambda _, value: reader.expr(value)),
        scope={name.text: _number(value) for name, value in reader.entries(body.get("scope"))},
        rows=table("matrix", lambda name, value: read_rows.row(reader, name, value)),
        places=_places(body),
    )
    if reader.faults:
        raise SpecError(reader.faults)
    return lifecycle


def _places(body: Mapping) -> dict[str, Any]:
    """Give the place of every key, by the keys that lead to it: `operations.finish.move`."""
    found = {}

    def walk(node: Mapping, path: str) -> None:
        for key, value in node.entries:
            inner = f"{path}.{key.text}" if path else key.text
            found[inner] = key.where
            if isinstance(value, Mapping):
                walk(value, inner)

    walk(body, "")
    return found


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _number(node: Node | None) -> int:
    return cast(int, cast(Scalar, node).value) if node is not None else 0


def _true(node: Node | None) -> bool:
    return isinstance(node, Scalar) and node.value is True

