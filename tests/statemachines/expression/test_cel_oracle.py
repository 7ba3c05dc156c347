"""The official C++ implementation of CEL as oracle: where the languages overlap they mean the same."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given

from statemachines.expression import emitter, parser
from statemachines.expression.emitter import emit
from statemachines.expression.parser import parse
from statemachines.expression.syntax import (
    Binary,
    Conditional,
    ExpressionError,
    Field,
    FunctionCall,
    Index,
    ListOf,
    Name,
    Node,
    Unary,
)
from statemachines.types import BOOL, INT, TEXT, List, RecordType, Type
from tests.statemachines.expression.generating import KINDS, Expressions
from tests.statemachines.expression.printing import COMPARISONS, bare, printed, rebuilt, walk
from tests.statemachines.expression.trees import trees
from tests.statemachines.expression.vocabulary import FUNCTIONS, VARIABLES, WORLDS, run, source_of

AGREED = 4_000  # values that have to be the same before anybody may say "they agree"
ABSORBING = ("&&", "||", "all", "exists")  # CEL passes over an error on one side when the other side decides


@dataclass
class Cel:
    """Evaluates a text as CEL, in each of the worlds."""

    environment: Any
    worlds: list[Any]

    def value(self, text: str, world: int) -> Any:
        """Give the value, or an `Error` with what CEL says."""
        found = self.environment.compile(text, disable_check=True).eval(activation=self.worlds[world])
        return Error(str(found.value())) if found.type().name() == "ERROR" else found.plain_value()


@dataclass(frozen=True)
class Error:
    """An expression that has no value, and why."""

    why: str


@pytest.fixture(scope="module")
def cel() -> Cel:
    """CEL itself; where there is no wheel of it, the tests are skipped by name."""
    pytest.importorskip("cel_expr_python", reason="there is no wheel of CEL for this platform")
    module = importlib.import_module("cel_expr_python.cel")

    def kind_of(kind: Type) -> Any:
        if isinstance(kind, List):
            return module.Type.List(kind_of(kind.item))
        if isinstance(kind, RecordType):
            return module.Type.Map(module.Type.STRING, module.Type.DYN)
        return {BOOL: module.Type.BOOL, INT: module.Type.INT, TEXT: module.Type.STRING}.get(kind, module.Type.DYN)

    environment = module.NewEnv(variables={name: kind_of(kind) for name, kind in VARIABLES.items()})
    return Cel(environment, [environment.Activation(dict(world)) for world in WORLDS])


# ── Comparing ────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Comparison:
    """What became of the expressions that were evaluated twice."""

    counts: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)

    def shortest(self) -> str:
        """Give the few disagreements that are the easiest to understand."""
        return "\n".join(sorted(self.disagreements, key=len)[:5])


def told_apart(value: Any) -> Any:
    """Give a value that differs wherever the type or the value does: 1 is not true."""
    if isinstance(value, dict):
        return ("record", sorted((key, told_apart(part)) for key, part in value.items()))
    if isinstance(value, list | tuple):
        return ("list", [told_apart(part) for part in value])
    return (type(value).__name__, value)


def corpus(seed: int = 1) -> Iterator[tuple[Node, str, int]]:
    """Draw different expressions without end: the tree, its text, and the world to look at it in."""
    random = Random(seed)
    seen: set[str] = set()
    while True:
        drawn = Expressions(random, listed=False).draw(
            random.choice((*KINDS, BOOL, INT)), random.choice((1, 2, 2, 3, 3, 4))
        )
        text = printed(drawn, lambda: random.random() < 0.05)
        if text not in seen and len(text) < 400:
            seen.add(text)
            yield drawn, text, random.randrange(len(WORLDS))


def ours(source: str, world: int, functions: Mapping[str, Any]) -> Any:
    try:
        return run(source, WORLDS[world], functions)
    except (ArithmeticError, LookupError) as error:
        return Error(repr(error))


def in_cel(node: Node) -> Node:
    """Give a tree that is printed as CEL: its conditionals as `condition ? value : other value`."""
    node = rebuilt(node, in_cel)
    if not isinstance(node, Conditional):
        return node
    condition, value, otherwise = map(printed, (node.condition, node.value, node.otherwise))
    return Name(0, f"({condition} ? {value} : {otherwise})")


def words_of(node: Node) -> Iterator[str]:
    """Name every operator and function that a tree uses."""
    for part in walk(node):
        match part:
            case Unary(operator=operator):
                yield f"unary {operator}"
            case Binary(operator=operator):
                yield operator
            case Conditional():
                yield "if"
            case FunctionCall(name=name):
                yield name
            case Field():
                yield "field"
            case Index():
                yield "index"
            case ListOf():
                yield "list"


def verdict(expected: Any, found: Any, words: frozenset[str]) -> str:
    """Say how two outcomes relate: only `agree` and `differ` concern the meaning of values."""
    if isinstance(expected, Error) and isinstance(found, Error):
        return "both have no value"
    if isinstance(expected, Error):
        return "beyond 64 bits in CEL" if "overflow" in expected.why else "differ"
    if isinstance(found, Error):
        return "error absorbed by CEL" if words.intersection(ABSORBING) else "differ"
    return "agree" if told_apart(expected) == told_apart(found) else "differ"


def compare(
    cel: Cel,
    *,
    agreed: int = AGREED,
    enough: int = 1,
    parse: Callable[[str], Node] = parse,
    emit: Callable[[Any], str] = emit,
    functions: Mapping[str, Any] = FUNCTIONS,
) -> Comparison:
    """Evaluate expressions twice until so many values agree, or enough disagreements are found."""
    done = Comparison()
    for tree, text, world in corpus():
        if done.counts["agree"] >= agreed or len(done.disagreements) >= enough:
            return done
        words = frozenset(words_of(tree))
        expected = cel.value(printed(in_cel(tree)), world)
        try:
            source = source_of(text, parser=parse, emitter=emit)
            found = ours(source, world, functions)
        except Exception as error:  # noqa: BLE001 - refused, or no Python, or whatever else: CEL says that it is right
            source, found = f"{type(error).__name__}: {error}", Ellipsis
        outcome = verdict(expected, found, words)
        done.counts[outcome] += 1
        if outcome == "agree":
            done.used.update(words)
        elif outcome == "differ":
            done.disagreements.append(f"{text}\n  as {source}\n  in world {world}: CEL {expected!r}, ours {found!r}")
    raise AssertionError("the corpus has no end")


@pytest.mark.thorough
def test_thousands_of_random_expressions_mean_what_they_mean_in_cel(cel: Cel) -> None:
    done = compare(cel, enough=20)
    print(dict(done.counts), dict(done.used))
    assert not done.disagreements, done.shortest()
    assert done.counts["agree"] >= AGREED
    expected = {
        *("unary !", "unary -", "&&", "||", "+", "-", "*", "/", "%", *COMPARISONS),
        *("all", "exists", "filter", "map", "size", "contains", "startsWith"),
        *("field", "index", "list", "if"),
    }
    assert {word for word, times in done.used.items() if times >= 50} == expected
    assert sum(done.counts.values()) < 1.4 * AGREED, "too many expressions have no value to compare"


@given(tree=trees(cel=True, names=("a", "bc", "_d1", "size", "x", "sortBy")))
def test_whatever_our_parser_reads_cel_reads_too(cel: Cel, tree: Node) -> None:
    text = printed(tree)
    cel.environment.compile(printed(in_cel(tree)), disable_check=True)
    assert bare(parse(text)) == tree


@pytest.mark.parametrize(
    "text", ["a--b", "!!!a", r"'\n\t\r\\\'\"\u00e9'", '"it\'s"', "a\n+\tb", "(((a)))", " a . b [ 0 ] "]
)
def test_so_does_cel_read_what_can_be_written_in_two_ways(cel: Cel, text: str) -> None:
    parse(text)
    cel.environment.compile(text, disable_check=True)


@pytest.mark.parametrize(
    "text",
    [
        "a b",
        "(a",
        "a +",
        "a..b",
        "[a",
        "a ? b",
        "'a",
        r"'\q'",
        r"'\u12'",
        r"'\ud800'",
        r"'\uD83D\uDE00'",
        "é",
        "a = b",
        "a & b",
        "1ms",
        "f(,)",
        "a.1",
        "1_000",
    ],
)
def test_what_cel_cannot_read_our_parser_refuses(cel: Cel, text: str) -> None:
    with pytest.raises(RuntimeError, match="ERROR"):
        cel.environment.compile(text, disable_check=True)
    with pytest.raises(ExpressionError):
        parse(text)


# ── The oracle can fail ──────────────────────────────────────────────────────────────────────────


def without_parentheses(source: str, own: int, power: int) -> str:
    return source


LIES: Mapping[str, Callable[..., Any]] = {
    "quotient": lambda left, right: left // right,
    "remainder": lambda left, right: left % right,
    "item": lambda values, index: values[index],
    "len": lambda value: len(value.encode() if isinstance(value, str) else value),
    "all": lambda values: not values or any(values),
    "any": lambda values: sum(values) == 1,
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", LIES)
def test_a_function_that_lies_is_caught(cel: Cel, name: str) -> None:
    assert compare(cel, functions={**FUNCTIONS, name: LIES[name]}).disagreements


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("quotient(", "(lambda left, right: left // right)("),
        (" else ", " or "),
        (" and ", " or "),
        (" <= ", " < "),
        ("startswith", "endswith"),
    ],
)
def test_an_emitter_that_writes_something_else_is_caught(cel: Cel, right: str, wrong: str) -> None:
    done = compare(cel, emit=lambda value: emit(value).replace(right, wrong))
    assert done.disagreements


def test_an_emitter_that_forgets_parentheses_is_caught(cel: Cel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emitter, "_wrap", without_parentheses)
    assert compare(cel).disagreements


@pytest.mark.parametrize(("one", "other"), [("&&", "||"), ("+", "*"), ("==", "+"), ("!=", "&&")])
def test_a_parser_that_binds_otherwise_is_caught(
    cel: Cel, monkeypatch: pytest.MonkeyPatch, one: str, other: str
) -> None:
    powers = parser._POWER
    monkeypatch.setattr(parser, "_POWER", {**powers, one: powers[other], other: powers[one]})
    assert compare(cel, parse=parse.__wrapped__).disagreements


def test_values_that_python_calls_equal_are_told_apart() -> None:
    assert told_apart([1]) != told_apart([True])
    assert told_apart({"a": 0}) != told_apart({"a": False})
    assert told_apart({"a": 1, "b": [2]}) == told_apart({"b": [2], "a": 1})
    assert bare(parse("a")) == bare(parse(" a"))
