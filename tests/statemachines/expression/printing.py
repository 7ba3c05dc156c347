"""Syntax trees as text: the way back from the parser, written from the table of operators alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

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
    children,
)

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in")
LOOSEST_FIRST: tuple[tuple[str, ...], ...] = (("||",), ("&&",), COMPARISONS, ("+", "-"), ("*", "/", "%"))
POWER = {operator: power for power, level in enumerate(LOOSEST_FIRST, 1) for operator in level}
CONDITIONAL, SIGN, POSTFIX, ATOM = 0, 6, 7, 8
ESCAPED = str.maketrans({"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\", "'": r"\'"})


def never() -> bool:
    """Write no parentheses but those that are needed."""
    return False


def printed(node: Node, needless: Callable[[], bool] = never, least: int = 0) -> str:
    """Write a tree, in parentheses where it has to bind at least as tightly as `least`, or needlessly."""
    source, own = _written(node, needless)
    return f"({source})" if own < least or needless() else source


def _written(node: Node, needless: Callable[[], bool]) -> tuple[str, int]:
    match node:
        case Literal(value=str() as text):
            return f"'{text.translate(ESCAPED)}'", ATOM
        case Literal(value=bool() | None as word):
            return {True: "true", False: "false", None: "null"}[word], ATOM
        case Literal(value=number):
            return str(number), SIGN if isinstance(number, int) and number < 0 else ATOM
        case Name(name=name):
            return name, ATOM
        case ListOf(items=items):
            return f"[{_listed(items, needless)}]", ATOM
        case Field(of=of, name=name):
            return f"{_receiver(of, needless)}.{name}", POSTFIX
        case Index(of=of, index=index):
            return f"{printed(of, needless, POSTFIX)}[{printed(index, needless)}]", POSTFIX
        case FunctionCall(name=name, receiver=receiver, arguments=arguments):
            before = "" if receiver is None else f"{_receiver(receiver, needless)}."
            return f"{before}{name}({_listed(arguments, needless)})", POSTFIX
        case Unary(operator=operator, operand=operand):
            return f"{operator}{printed(operand, needless, SIGN)}", SIGN
        case Binary(operator=operator, left=left, right=right):
            power = POWER[operator]
            first = printed(left, needless, power + (operator in COMPARISONS))
            return f"{first} {operator} {printed(right, needless, power + 1)}", power
        case Conditional(condition=condition, value=value, otherwise=otherwise):
            first, second, third = (printed(part, needless) for part in (condition, value, otherwise))
            return f"if {first} then {second} else {third}", CONDITIONAL
        case _:
            raise TypeError(node)


def _listed(nodes: tuple[Node, ...], needless: Callable[[], bool]) -> str:
    return ", ".join(printed(node, needless) for node in nodes)


def _receiver(node: Node, needless: Callable[[], bool]) -> str:
    """Write what stands before a dot: a number needs parentheses there, or it would read as a fraction."""
    source = printed(node, needless, POSTFIX)
    return f"({source})" if source.isdigit() else source


def rebuilt(node: Node, change: Callable[[Node], Node]) -> Node:
    """Give the same node with other direct parts."""
    match node:
        case Field(of=of):
            return replace(node, of=change(of))
        case Index(of=of, index=index):
            return replace(node, of=change(of), index=change(index))
        case FunctionCall(receiver=receiver, arguments=arguments):
            first = None if receiver is None else change(receiver)
            return replace(node, receiver=first, arguments=tuple(map(change, arguments)))
        case ListOf(items=items):
            return replace(node, items=tuple(map(change, items)))
        case Unary(operand=operand):
            return replace(node, operand=change(operand))
        case Binary(left=left, right=right):
            return replace(node, left=change(left), right=change(right))
        case Conditional(condition=condition, value=value, otherwise=otherwise):
            return replace(node, condition=change(condition), value=change(value), otherwise=change(otherwise))
        case _:
            return node


def bare(node: Node) -> Node:
    """Give the same tree with every offset 0, to compare trees by what they say."""
    return replace(rebuilt(node, bare), at=0)


def swapped(node: Node, part: Node, other: Node) -> Node:
    """Give the same tree with another tree in the place of one of its parts."""
    return other if node is part else rebuilt(node, lambda child: swapped(child, part, other))


def walk(node: Node) -> Iterator[Node]:
    """Give a node and everything below it."""
    yield node
    for child in children(node):
        yield from walk(child)
