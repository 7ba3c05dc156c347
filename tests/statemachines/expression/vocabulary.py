"""A fixed set of variables of every type, a vocabulary for them, and the way from a text to a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from statemachines import model
from statemachines.expression.checker import check
from statemachines.expression.emitter import emit
from statemachines.expression.parser import parse
from statemachines.expression.scope import Checker, Scope
from statemachines.expression.syntax import FunctionCall, Node
from statemachines.expression.typed import Attribute, Member, Typed, Var
from statemachines.types import BOOL, INT, TEXT, DocumentType, List, Optional, RecordType, Type

RECORD = RecordType((("n", INT), ("s", TEXT), ("b", BOOL), ("xs", List(INT))), "Row")

VARIABLES: Mapping[str, Type] = {
    "b": BOOL,
    "c": BOOL,
    "i": INT,
    "j": INT,
    "k": INT,
    "big": INT,
    "m": Optional(INT),
    "s": TEXT,
    "t": TEXT,
    "xs": List(INT),
    "ys": List(INT),
    "ss": List(TEXT),
    "xss": List(List(INT)),
    "r": RECORD,
    "rs": List(RECORD),
}


def row(n: int, s: str, b: bool, xs: list[int]) -> dict[str, Any]:
    """Make a value of type RECORD."""
    return {"n": n, "s": s, "b": b, "xs": xs}


# Several meanings of the same names, so that a constant cannot pass for a variable.
WORLDS: tuple[Mapping[str, Any], ...] = (
    {
        "b": True,
        "c": False,
        "i": 7,
        "j": -7,
        "k": 2,
        "big": 2**63 - 1,
        "m": None,
        "s": "abc",
        "t": "naïve 😀",
        "xs": [3, 1, 2, 1],
        "ys": [-5, 0],
        "ss": ["abc", "", "bc", "ü"],
        "xss": [[1, 2], [], [3]],
        "r": row(4, "bc", True, [9, 8]),
        "rs": [row(1, "abc", False, [1]), row(4, "bc", True, [9, 8]), row(1, "", True, [])],
    },
    {
        "b": False,
        "c": True,
        "i": -3,
        "j": 5,
        "k": 1,
        "big": -(2**63),
        "m": 3,
        "s": "",
        "t": " a\nb\n ",
        "xs": [],
        "ys": [4, 4, -4],
        "ss": [],
        "xss": [],
        "r": row(0, "", False, []),
        "rs": [],
    },
    {
        "b": True,
        "c": True,
        "i": 0,
        "j": 1,
        "k": -1,
        "big": 2**62,
        "m": 0,
        "s": "z\u0301é€\U0001f600",
        "t": "z",
        "xs": [0],
        "ys": [10, -10, 3, 7, 7, 2**31],
        "ss": ["z", "z", "€"],
        "xss": [[0], [0], [5, -5]],
        "r": row(-2, "z", True, [1, 1]),
        "rs": [row(-2, "z", True, [1, 1]), row(-2, "z", True, [1, 1])],
    },
)

_DOCUMENT: Mapping[str, Type] = {"text": TEXT, "inline": BOOL}


class Plain:
    """A vocabulary of records and documents, without a word of its own."""

    def field(self, of: Typed, name: str, at: int) -> Typed | None:
        kind = of.type
        if isinstance(kind, RecordType) and (found := kind.field(name)) is not None:
            return Member(found, at, of, name)
        if isinstance(kind, DocumentType) and name in _DOCUMENT:
            return Attribute(_DOCUMENT[name], at, of, name)
        return None

    def fields(self, kind: Type) -> Iterable[str]:
        return [name for name, _ in kind.fields] if isinstance(kind, RecordType) else ()

    def constant(self, name: str, expected: Type, at: int) -> Typed | None:
        return None

    def constants(self) -> Iterable[str]:
        return ()

    def called(self, checker: Checker, node: FunctionCall, scope: Scope) -> Typed | None:
        return None

    def callables(self) -> Iterable[str]:
        return ()

    def narrowed(self, macro: str, over: Typed, variable: str, body: Typed) -> tuple[Typed, Typed]:
        return over, body


def scope_of(variables: Mapping[str, Type]) -> Scope:
    """Give a scope in which these names stand for themselves."""
    return Scope(Plain(), {name: Var(kind, 0, name, name) for name, kind in variables.items()})


SCOPE = scope_of(VARIABLES)
FUNCTIONS: Mapping[str, Any] = {
    name: value for name, value in vars(model).items() if callable(value) and not name.startswith("_")
}


def source_of(
    text: str,
    scope: Scope = SCOPE,
    *,
    parser: Callable[[str], Node] = parse,
    emitter: Callable[[Typed], str] = emit,
) -> str:
    """Give the Python of an expression that has to be right."""
    typed, faults = check(parser(text), scope)
    assert not faults, f"{text}: {faults[0].code} at {faults[0].at}: {faults[0].message}"
    return emitter(typed)


def run(source: str, values: Mapping[str, Any], functions: Mapping[str, Any] = FUNCTIONS) -> Any:
    """Evaluate what the emitter wrote."""
    return eval(compile(source, source, "eval"), {**functions, **values})  # noqa: S307 - the emitter wrote it
