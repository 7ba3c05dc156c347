"""Any syntax tree at all, whether it has a meaning or not."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from statemachines.expression.parser import MAX_CONDITIONALS, RESERVED
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
from tests.statemachines.expression.printing import POWER, printed

WORDS = frozenset(("null", "true", "false", *RESERVED))
OPERATORS = st.sampled_from(sorted(POWER))
HERE = st.just(0)  # offsets are another matter


def trees(*, cel: bool = False, names: Sequence[str] = (), functions: Sequence[str] = ()) -> st.SearchStrategy[Node]:
    """Draw trees, with any names and functions or with these.

    For CEL without what it refuses: longer numbers, words as fields, and ! before -.
    """
    free = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True).filter(lambda name: name not in WORDS)
    named = st.sampled_from(names) if names else free
    called = st.sampled_from(functions) if functions else named
    fields = named if names else named | st.sampled_from(sorted(WORDS))
    largest = 2**63 - 1 if cel else 2**70
    literals = st.none() | st.booleans() | st.integers(-largest, largest) | st.text(max_size=8)
    leaves = st.builds(Literal, HERE, literals) | st.builds(Name, HERE, named)

    def below(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        several = st.lists(inner, max_size=3).map(tuple)
        return st.one_of(
            st.builds(Binary, HERE, OPERATORS, inner, inner),
            st.builds(Conditional, HERE, inner, inner, inner).filter(can_be_read),
            st.builds(Unary, HERE, st.just("!"), inner.filter(lambda node: not (cel and begins(node, "-")))),
            st.builds(
                Unary,
                HERE,
                st.just("-"),
                inner.filter(lambda node: not (is_number(node) or (cel and begins(node, "!")))),
            ),
            st.builds(Field, HERE, inner, fields),
            st.builds(Index, HERE, inner, inner),
            st.builds(ListOf, HERE, several),
            st.builds(FunctionCall, HERE, called, st.none(), several),
            st.builds(FunctionCall, HERE, called if functions else fields, inner, several),
            st.builds(FunctionCall, HERE, called, inner, st.tuples(st.builds(Name, HERE, named), inner)),
        )

    return st.recursive(leaves, below, max_leaves=12)


def can_be_read(node: Node) -> bool:
    """Tell that no more conditionals are in each other than the parser reads."""
    return _conditionals(node) <= MAX_CONDITIONALS


def _conditionals(node: Node) -> int:
    return isinstance(node, Conditional) + max(map(_conditionals, children(node)), default=0)


def is_number(node: Node) -> bool:
    """Tell a number, of which a minus before it is a part."""
    return isinstance(node, Literal) and type(node.value) is int


def begins(node: Node, sign: str) -> bool:
    """Tell that a tree is written with this sign first."""
    return printed(node).startswith(sign)
