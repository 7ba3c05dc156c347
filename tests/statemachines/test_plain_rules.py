"""The shipped rules read plainly: no definition is longer than three lines, no sentence nests deeper than two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from statemachines.compile import load
from statemachines.expression.syntax import Conditional, FunctionCall, Node, children
from statemachines.lifecycle import Expr, Lifecycle
from statemachines.specs import shipped

OVER_LISTS = ("all", "exists", "filter", "map", "sortBy")
LINES, WIDTH, DEPTH = 3, 120, 2


def depth(node: Node) -> int:
    """How deep conditions and walks over lists stand in each other; `else if` is the next line, and no deeper."""
    match node:
        case Conditional(condition=condition, value=value, otherwise=Conditional() as otherwise):
            return max(1 + depth(condition), 1 + depth(value), depth(otherwise))
        case Conditional():
            return 1 + max(map(depth, children(node)))
        case FunctionCall(receiver=Node() as receiver, name=name, arguments=arguments) if name in OVER_LISTS:
            return max(depth(receiver), *(1 + depth(each) for each in arguments))
    return max(map(depth, children(node)), default=0)


def sentences(part: Any) -> Iterator[Expr]:
    """Every expression of the rules."""
    match part:
        case Expr():
            yield part
        case dict():
            yield from sentences(tuple(part.values()))
        case tuple():
            for each in part:
                yield from sentences(each)
        case _ if is_dataclass(part):
            for field in fields(part):
                if not (isinstance(part, Lifecycle) and field.name == "rows"):
                    yield from sentences(getattr(part, field.name))


@pytest.mark.thorough
@pytest.mark.parametrize("name", shipped())
def test_no_sentence_nests_deeper_than_two(name: str) -> None:
    found = list(sentences(load(name).lifecycle))
    assert len(found) > 50
    assert [f"{each.where}: {each.text}" for each in found if depth(each.node) > DEPTH] == []


@pytest.mark.parametrize("name", shipped())
def test_no_definition_is_longer_than_three_lines(name: str) -> None:
    long = []
    for word, definition in load(name).lifecycle.definitions.items():
        where = definition.name.where
        rest = Path(where.file).read_text(encoding="utf-8").splitlines()[where.line - 1 :]
        if not rest[0].startswith(f"  {word}("):
            continue  # the condition of a role, which stands where its records are described
        following = next(
            (number for number, line in enumerate(rest[1:], 1) if re.match(r" {0,2}\S|\s*$", line)), len(rest)
        )
        written = [line for line in rest[:following] if not line.rstrip().endswith((">-", "):"))]
        if sum(1 + len(line) // WIDTH for line in written) > LINES:
            long.append(word)
    assert long == []
