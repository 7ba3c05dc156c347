"""A second evaluator, slow and plain: it walks the syntax tree and does to values what the words say.

It was written from the description of the language and shares nothing with the emitter, or with the
functions that a model calls: no slice, no sort, no `min` or `sum`, where a loop says the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import trunc
from typing import Any

from statemachines.expression.syntax import (
    Binary,
    Conditional,
    Field,
    FunctionCall,
    Index,
    ListOf,
    Literal,
    Name,
    Node,
    Unary,
)

Values = Mapping[str, Any]


class NoValueError(Exception):
    """The expression has no value, as with a division by zero."""


@dataclass(frozen=True)
class Told:
    """A document: its text, and whether it is told inline or in a file."""

    text: str
    inline: bool


def meaning(node: Node, values: Values) -> Any:
    """Give the value of an expression; raise NoValueError when it has none."""
    match node:
        case Literal(value=value):
            return value
        case Name(name=name):
            return values[name]
        case ListOf(items=items):
            return [meaning(item, values) for item in items]
        case Field(of=of, name=name):
            whole = meaning(of, values)
            return getattr(whole, name) if isinstance(whole, Told) else whole[name]
        case Index(of=of, index=index):
            return _item(meaning(of, values), meaning(index, values))
        case Unary(operator="!", operand=operand):
            return not meaning(operand, values)
        case Unary(operand=operand):
            return 0 - meaning(operand, values)
        case Binary():
            return _of_two(node, values)
        case Conditional(condition=guard, value=then, otherwise=otherwise):
            return meaning(then, values) if meaning(guard, values) else meaning(otherwise, values)
        case FunctionCall(name=macro, receiver=Node() as receiver, arguments=(Name(name=name), body)) if (
            macro in MACROS
        ):
            found = meaning(receiver, values)
            return MACROS[macro](found, lambda item: meaning(body, {**values, name: item}))
        case FunctionCall(name=name, receiver=receiver, arguments=arguments):
            parts = arguments if receiver is None else (receiver, *arguments)
            return FUNCTIONS[name](*[meaning(part, values) for part in parts])
    raise TypeError(node)


def _of_two(node: Binary, values: Values) -> Any:
    if node.operator == "&&":
        return meaning(node.right, values) if meaning(node.left, values) else False
    if node.operator == "||":
        return True if meaning(node.left, values) else meaning(node.right, values)
    return OPERATORS[node.operator](meaning(node.left, values), meaning(node.right, values))


# ── Operators ────────────────────────────────────────────────────────────────────────────────────


def _item(items: list[Any], position: int) -> Any:
    for number, item in enumerate(items):
        if number == position:
            return item
    raise NoValueError(f"position {position} of {len(items)}")


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise NoValueError("division by zero")
    return trunc(Fraction(left, right))


OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: not left == right,  # noqa: SIM201 - the opposite of ==, whatever != does
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left < right or left == right,
    ">": lambda left, right: right < left,
    ">=": lambda left, right: right < left or left == right,
    "in": lambda left, right: _holds(right, left),
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divide,
    "%": lambda left, right: left - right * _divide(left, right),
}


def _holds(items: list[Any], wanted: Any) -> bool:
    for item in items:  # noqa: SIM110 - a loop is the plain meaning, and `any` is under test
        if item == wanted:
            return True
    return False


# ── A body for every item ────────────────────────────────────────────────────────────────────────

Body = Callable[[Any], Any]


def _all(items: list[Any], body: Body) -> bool:
    return not _exists(items, lambda item: not body(item))


def _exists(items: list[Any], body: Body) -> bool:
    for item in items:  # noqa: SIM110 - a loop is the plain meaning, and `any` is under test
        if body(item):
            return True
    return False


def _filter(items: list[Any], body: Body) -> list[Any]:
    kept = []
    for item in items:
        if body(item):
            kept += [item]
    return kept


def _map(items: list[Any], body: Body) -> list[Any]:
    found = []
    for item in items:
        found += [body(item)]
    return found


def _sort_by(items: list[Any], body: Body) -> list[Any]:
    """Put each item behind the last one whose key is not greater: equal keys stay in their order."""
    placed: list[tuple[Any, Any]] = []
    for item in items:
        key, place = body(item), len(placed)
        while place > 0 and key < placed[place - 1][0]:
            place -= 1
        placed.insert(place, (key, item))
    return [item for _, item in placed]


MACROS: dict[str, Callable[[list[Any], Body], Any]] = {
    "all": _all,
    "exists": _exists,
    "filter": _filter,
    "map": _map,
    "sortBy": _sort_by,
}

# ── The listed functions ─────────────────────────────────────────────────────────────────────────


def _sum(items: list[int]) -> int:
    total = 0
    for item in items:
        total += item
    return total


def _least(items: list[int]) -> int:
    for item in items:
        if all(item <= other for other in items):
            return item
    raise NoValueError("of no items")


def _greatest(items: list[int]) -> int:
    return -_least([-item for item in items])


def _distinct(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if not _holds(found, item):
            found += [item]
    return found


def _flatten(lists: list[list[Any]]) -> list[Any]:
    found: list[Any] = []
    for items in lists:
        found += items
    return found


def _take(items: list[Any], count: int) -> list[Any]:
    return [item for number, item in enumerate(items) if number < count]


def _drop(items: list[Any], count: int) -> list[Any]:
    return [item for number, item in enumerate(items) if number >= count]


def _range(count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        found += [len(found)]
    return found


def _reversed(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        found = [item, *found]
    return found


def _same_items(left: list[Any], right: list[Any]) -> bool:
    """Cross each item of one list off the other."""
    rest = [*right]
    for item in left:
        if not _holds(rest, item):
            return False
        rest.remove(item)
    return rest == []


def _contains(whole: Any, part: Any) -> bool:
    if isinstance(whole, list):
        return _holds(whole, part)
    return any(_starts_with(whole[at:], part) for at in range(len(whole) + 1))


def _starts_with(text: str, part: str) -> bool:
    return len(part) <= len(text) and all(text[at] == sign for at, sign in enumerate(part))


def _bytes(text: str) -> int:
    """Count as UTF-8 is defined: one byte below U+0080, two below U+0800, three below U+10000."""
    return _sum([1 + (ord(sign) >= 0x80) + (ord(sign) >= 0x800) + (ord(sign) >= 0x10000) for sign in text])


def _lines(text: str) -> int:
    return 1 + len([sign for sign in text if sign == "\n"])


def _trim(text: str) -> str:
    while text and text[0].isspace():
        text = text[1:]
    while text and text[-1].isspace():
        text = text[:-1]
    return text


def _text(piece: str, size: int, lines: int = 1) -> str:
    """A text of exactly so many bytes and lines: an x in each, and the piece, then more x, in the last."""
    if lines < 1 or size < 2 * lines - 1 or piece == "" or "\n" in piece:
        raise NoValueError(f"no text of {size} bytes in {lines} lines")
    found = ""
    for _ in range(lines - 1):
        found += "x\n"
    while _bytes(found + piece) <= size:
        found += piece
    while _bytes(found) < size:
        found += "x"
    return found


def _document(text: str, most_bytes: int | None, most_lines: int | None) -> Told:
    too_big = most_bytes is not None and _bytes(text) > most_bytes
    too_long = most_lines is not None and _lines(text) > most_lines
    return Told(text, not (too_big or too_long))


def _string(number: int) -> str:
    digits, rest = "", abs(number)
    while rest >= 10:
        digits, rest = "0123456789"[rest % 10] + digits, rest // 10
    return ("-" if number < 0 else "") + "0123456789"[rest] + digits


def _join(texts: list[str], between: str) -> str:
    joined = ""
    for number, text in enumerate(texts):
        joined += text if number == 0 else between + text
    return joined


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "size": len,
    "sum": _sum,
    "min": _least,
    "max": _greatest,
    "distinct": _distinct,
    "flatten": _flatten,
    "take": _take,
    "drop": _drop,
    "range": _range,
    "reversed": _reversed,
    "sameItems": _same_items,
    "contains": _contains,
    "startsWith": _starts_with,
    "trim": _trim,
    "text": _text,
    "document": _document,
    "string": _string,
    "join": _join,
}
