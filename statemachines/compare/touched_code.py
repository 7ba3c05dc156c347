"""Which operations of two models may do something else from one and the same configuration: their code is not the same."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Final

from statemachines.compile import Compiled

_OF_ANY_CALL: Final = frozenset({"own_steps", "take", "deadlines", "fire"})
"""What every call comes to at its end: the steps that must be taken, and the timers that are due."""
WAIT: Final = "wait"
_NO_STEP: Final = frozenset({"CLAUSES", "LIMITS", "POLICIES", "RENAMED", "broken", "freeze", "thaw", "reset"})
"""What says nothing of a step: names, what is declared, what is asked of every state, and how a state is kept."""
_OF_OPERATION: Final = ("may_", "do_", "blocks_for_", "ends_wait_")

_DUE: Final = frozenset({"own_steps", "deadlines"})
"""What tells whether anything comes at the end of a call."""


_LOOKS: Final = frozenset({"get", "values", "items", "keys", "copy"})
"""Methods that change nothing."""


@dataclass(frozen=True, slots=True)
class _CodePart:
    """A function, class or constant of a model: what it says, the names in it, and the attributes that it may change.

    attributes  those in it, in their order
    """

    says: str
    read: frozenset[str]
    changed: frozenset[str]
    attributes: tuple[str, ...]


Parts = Mapping[str, _CodePart]
"""The parts of a model by name."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What may be done otherwise.

    operations  their names; `at_any` call: then it is all of them, and the time that passes
    policies    those that are read in what may be done otherwise
    reads       the names that each operation reads in either model, and a call that only lets time pass
    otherwise   the names that are read in one model where the other one reads others
    """

    operations: frozenset[str]
    at_any: bool
    policies: frozenset[str]
    reads: Mapping[str, frozenset[str]]
    otherwise: frozenset[str]

    def __bool__(self) -> bool:
        """Return whether anything may be done otherwise."""
        return bool(self.operations) or self.at_any


def touched(one: Compiled, other: Compiled, declared: Collection[str] = ()) -> Touched:
    """Return what two models may do otherwise from one configuration; the limits and policies of some names are not the same."""
    ours, theirs = _parts(one), _parts(other)
    names = {each.name for compiled in (one, other) for each in compiled.kernel.operations}
    found = {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)} - _NO_STEP - names
    otherwise = frozenset().union(*(_otherwise(ours.get(name), theirs.get(name)) for name in found))
    found |= {name for parts in (ours, theirs) for name, part in parts.items() if part.read & {*declared}} - _NO_STEP
    before: set[str] = set()
    while before != found:
        before = set(found)
        found |= (
            {name for parts in (ours, theirs) for name, part in parts.items() if part.read & before} - _NO_STEP - names
        )
    of = {name for name in names if any(f"{start}{name}" in found for start in _OF_OPERATION)}
    read = {each for parts in (ours, theirs) for name in _below(parts, found) for each in parts[name].read}
    policies = {name for compiled in (one, other) for name in compiled.lifecycle.policies}
    reads = {name: _read_by(name, ours) | _read_by(name, theirs) for name in (*names, WAIT)}
    return Touched(frozenset(of), bool(found & _OF_ANY_CALL), frozenset(policies & read), reads, otherwise)


def _otherwise(one: _CodePart | None, other: _CodePart | None) -> frozenset[str]:
    """Return the attributes that stand in one part where others, or none, stand in the other."""
    ours, theirs = (each.attributes if each is not None else () for each in (one, other))
    found: set[str] = set()
    for word, first, last, begin, end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        found |= {*ours[first:last], *theirs[begin:end]} if word != "equal" else set()
    return frozenset(found)


def _read_by(operation: str, parts: Parts) -> frozenset[str]:
    """Return the names that a call of an operation reads, and what comes at its end where it may make something due."""
    own, due = (_below(parts, names) for names in ({f"{start}{operation}" for start in _OF_OPERATION}, _DUE))
    asked: frozenset[str] = frozenset().union(*(parts[name].read for name in due))
    changed: frozenset[str] = frozenset().union(*(parts[name].changed for name in own))
    comes = _below(parts, _OF_ANY_CALL) if operation == WAIT or changed & asked else set()
    return asked.union(*(parts[name].read for name in own | comes))


def _below(parts: Parts, names: Collection[str]) -> set[str]:
    """Return parts with all that they lead to."""
    found: set[str] = set()
    left = {each for each in names if each in parts}
    while left:
        found |= left
        left = {each for name in left for each in parts[name].read if each in parts} - found
    return found


@lru_cache(maxsize=64)
def _parts(compiled: Compiled) -> Parts:
    """Read the parts of a model's source: without what is said for people, and without which clause is witnessed where."""
    tree = _Bare().visit(ast.parse(compiled.source))
    found: dict[str, _CodePart] = {}
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) and node.name == "Model" else [node]
        for part in inner:
            for name in _names(part):
                attributes = tuple(each.attr for each in ast.walk(part) if isinstance(each, ast.Attribute))
                read, changed = frozenset(_read(part)) - {name}, frozenset(_changed(part))
                found[name] = _CodePart(ast.dump(part), read, changed, attributes)
    return found


def _names(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=targets):
            return [each.id for each in targets if isinstance(each, ast.Name)]
        case _:
            return []


def _read(part: ast.AST) -> set[str]:
    """Return the names in a part, and those of attributes."""
    nodes = list(ast.walk(part))
    return {each.id for each in nodes if isinstance(each, ast.Name)} | {
        each.attr for each in nodes if isinstance(each, ast.Attribute)
    }


def _changed(part: ast.AST) -> Iterator[str]:
    """Walk the attributes that a part sets, and those whose values it may change by a method or at a key."""
    for node in ast.walk(part) if not isinstance(part, ast.ClassDef) else ():  # a new record is put at a key
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name), attr=method)) if method not in _LOOKS:
                yield name
            case ast.Subscript(value=ast.Attribute(attr=name), ctx=ast.Store() | ast.Del()):
                yield name


class _Bare(ast.NodeTransformer):
    """Leaves out docstrings and types, and which clause is witnessed where."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> Any:
        node.annotation = None
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node.targets:
            case [ast.Subscript(value=ast.Attribute(attr="seen"))]:
                return None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        return node if node.body or node.orelse else None

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        node.keywords = [each for each in node.keywords if each.arg != "clauses"]
        return node
