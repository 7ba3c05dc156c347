"""What every part of the lowering shares: the words of the spec, its clauses, the faults found so far; and terms.

Terms are typed expressions that no spec writes out: what its sentences imply.
"""

from __future__ import annotations

from collections.abc import Collection

from statemachines import kernel
from statemachines.diagnostics import Diagnostic, Where, unknown
from statemachines.expression import Attribute, Const, Name, Node, Operate, Scope, Typed, Var, check, python_name
from statemachines.lifecycle import EntitySpec, Expr, Lifecycle, TypeUse, Word
from statemachines.types import BOOL, TIME, UNKNOWN, Enum, List, Ref, Type
from statemachines.words import Words


class Lowering:
    """One lifecycle on its way into the kernel."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self.lifecycle = lifecycle
        self.words = Words(lifecycle)
        self.faults: list[Diagnostic] = []
        self.clauses: dict[str, kernel.Clause] = {}
        self._recommended = {word.text for word in lifecycle.should}

    # ── Faults and clauses ──

    def fault(self, code: str, where: Where, message: str, hint: str) -> None:
        """Add a fault."""
        self.faults.append(Diagnostic(code, where, message, hint))

    def unknown(self, code: str, word: Word, message: str, known: Collection[str], hint: str = "") -> None:
        """Add a fault about a word that is none of those known."""
        self.faults.append(unknown(code, word.where, word.text, message, known, hint))

    def clause(self, path: str, where: Where, text: str) -> str:
        """Register a clause and give its path."""
        should = any(kernel.within(path, word) for word in self._recommended)
        self.clauses[path] = kernel.Clause(path, where, "should" if should else "must", text)
        return path

    def place(self, path: str, word: Word) -> Where:
        """Return the place of a key by its path, or that of a word where the key is not written."""
        return self.lifecycle.places.get(path, word.where)

    # ── Expressions ──

    def typed(self, expr: Expr, scope: Scope, expected: Type = UNKNOWN) -> Typed:
        """Type an expression, gathering its faults at their places."""
        return self.part(expr, expr.node, scope, expected)

    def part(self, expr: Expr, node: Node, scope: Scope, expected: Type = UNKNOWN) -> Typed:
        """Type a part of an expression."""
        value, faults = check(node, scope, expected)
        for fault in faults:
            self.fault(fault.code, expr.scalar.at(fault.at), fault.message, fault.hint)
        return value

    def condition(self, expr: Expr | None, scope: Scope) -> Typed | None:
        """Type a condition, which may be left out."""
        return None if expr is None else self.typed(expr, scope, BOOL)

    def default(self, use: TypeUse, kind: Type) -> Typed | None:
        """Type the value of what is left out."""
        return None if use.default is None else self.typed(use.default, self.words.scopes.model(), kind)

    def order(self, exprs: tuple[Expr, ...], scope: Scope) -> tuple[Typed | str, ...]:
        """Type ordering keys; the bare name of an ordering policy stands for its keys."""
        return tuple(self._ordering_policy(expr) or self.typed(expr, scope) for expr in exprs)

    def _ordering_policy(self, expr: Expr) -> str:
        name = expr.node.name if isinstance(expr.node, Name) else ""
        policy = self.lifecycle.policies.get(name)
        return name if policy is not None and policy.keys else ""

    # ── Names ──

    def known_entity(self, word: Word) -> EntitySpec | None:
        """Return the entity of a name, or tell that there is none."""
        entities = self.lifecycle.entities
        if word.text not in entities:
            self.unknown("unknown-entity", word, f"there is no entity {word.text!r}", entities)
        return entities.get(word.text)

    def states(self, entity: EntitySpec, word: Word) -> tuple[str, ...]:
        """Return the states that a state or group name means."""
        if word.text in entity.groups:
            return tuple(state.text for state in entity.groups[word.text])
        if word.text not in entity.states:
            message = f"{entity.name.text} has no state or group {word.text!r}"
            self.unknown("unknown-state", word, message, [*entity.groups, *entity.states])
        return (word.text,)

    def field(self, name: str, use: TypeUse) -> kernel.FieldOf:
        """Lower a field of a record, or a variable."""
        kind = self.words.types.resolve(use)
        return kernel.FieldOf(name, kind, self.default(use, kind))


# ── Terms ──


def local(name: str, kind: Type) -> Typed:
    """Read a local name."""
    return Var(kind, 0, name, python_name(name))


def state_type(entity: EntitySpec) -> Enum:
    """Return the type of a state of an entity's records."""
    return Enum(f"{entity.name.text}.state", entity.states)


def state(entity: EntitySpec, name: str) -> Const:
    """Name one state."""
    return Const(Enum(f"{entity.name.text}.state", (name,)), 0, name)


def in_one_of(entity: EntitySpec, name: str, states: tuple[str, ...]) -> Typed:
    """Ask whether a record is in one of some states."""
    kind = state_type(entity)
    record = local(name, Ref(entity.name.text))
    return Operate(BOOL, 0, "in", Attribute(kind, 0, record, "state"), Const(List(kind), 0, states))


def equal(left: Typed, right: Typed) -> Typed:
    """Ask whether two values are equal."""
    return Operate(BOOL, 0, "==", left, right)


def negated(value: Typed) -> Typed:
    """Ask whether a condition does not hold."""
    return Operate(BOOL, 0, "!", None, value)


def later(instant: Typed, duration: Typed) -> Typed:
    """Return the instant that a duration ends."""
    return Operate(TIME, 0, "+", instant, duration)
