"""A naive second evaluator as oracle for the listed functions, those above all that CEL does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from statemachines.expression.checker import check
from statemachines.expression.emitter import emit
from statemachines.expression.functions import KNOWN
from statemachines.expression.parser import parse
from statemachines.expression.syntax import FunctionCall, ListOf, Literal, Name, Node
from statemachines.model import Document
from statemachines.types import BOOL, INT
from tests.statemachines.expression.generating import KINDS, Expressions
from tests.statemachines.expression.meaning import FUNCTIONS as MEANINGS
from tests.statemachines.expression.meaning import MACROS, NoValueError, Told, meaning
from tests.statemachines.expression.printing import bare, printed, swapped, walk
from tests.statemachines.expression.vocabulary import SCOPE, WORLDS, run, source_of

LISTED = set(KNOWN) - {
    "such_as",
    "minted",
}  # those two stand in one place each, and give no value of their own
AGREED = 6_000
NO_VALUE = (ArithmeticError, LookupError, ValueError, NoValueError)


@dataclass(frozen=True)
class NoValue:
    """What an expression without a value gives, by whichever evaluator."""


def outcome(evaluate: Callable[[Any, Any], Any], expression: Any, values: Any) -> Any:
    """Give a value in a form that tells 1 from true and a document from its text, or NoValue."""
    try:
        return told_apart(evaluate(expression, values))
    except NO_VALUE:
        return NoValue()


def told_apart(value: Any) -> Any:
    match value:
        case Document() | Told():
            return ("document", value.text, value.inline)
        case dict():
            return ("record", sorted((key, told_apart(part)) for key, part in value.items()))
        case list():
            return [told_apart(part) for part in value]
        case _:
            return (type(value).__name__, value)


@dataclass
class Comparison:
    """What became of the expressions that were evaluated twice."""

    counts: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)

    def shortest(self) -> str:
        """Give the few disagreements that are the easiest to understand."""
        return "\n".join(sorted(self.disagreements, key=len)[:5])


def corpus(seed: int = 2) -> Iterator[tuple[Node, str, int]]:
    """Draw different expressions without end: the tree, its text, and the world to look at it in."""
    random = Random(seed)
    seen: set[str] = set()
    while True:
        kind, depth = random.choice((*KINDS, BOOL, INT)), random.choice((1, 2, 2, 3, 3, 4))
        drawn = Expressions(random, listed=True).draw(kind, depth)
        text = printed(drawn)
        if text not in seen and len(text) < 400:
            seen.add(text)
            yield drawn, text, random.randrange(len(WORLDS))


def compare(*, enough: int = 1, emit: Callable[[Any], str] = emit) -> Comparison:
    """Evaluate expressions twice until AGREED values agree, or enough disagreements are found."""
    done = Comparison()
    for tree, text, world in corpus():
        if done.counts["agree"] >= AGREED or len(done.disagreements) >= enough:
            return done
        expected = outcome(meaning, tree, WORLDS[world])
        try:
            source = source_of(text, emitter=emit)
            found = outcome(run, source, WORLDS[world])
        except Exception as error:  # noqa: BLE001 - refused, or no Python, or whatever else: the expression is right
            source, found = f"{type(error).__name__}: {error}", Ellipsis
        if expected != found:
            done.disagreements.append(f"{text}\n  as {source}\n  in world {world}: {expected!r}, ours {found!r}")
        elif expected == NoValue():
            done.counts["both have no value"] += 1
        else:
            done.counts["agree"] += 1
            done.used.update({part.name for part in walk(tree) if isinstance(part, FunctionCall)})
    raise AssertionError("the corpus has no end")


@pytest.mark.thorough
def test_thousands_of_random_expressions_mean_what_their_words_say() -> None:
    done = compare(enough=20)
    print(dict(done.counts), dict(done.used))
    assert not done.disagreements, done.shortest()
    assert done.counts["agree"] >= AGREED
    assert {name for name, times in done.used.items() if times >= 50} == LISTED


def strange(seed: int = 4) -> Iterator[tuple[Node, str]]:
    """Draw expressions of which one part was swapped for another, so that its type may no longer fit."""
    random = Random(seed)
    null, nullable = Literal(0, None), Name(0, "m")
    while True:
        drawn = Expressions(random, listed=True).draw(random.choice(KINDS), random.choice((2, 3)))
        other = Expressions(random, listed=True).draw(random.choice(KINDS), random.choice((0, 0, 1)))
        part = random.choice([*walk(drawn)])
        tree = swapped(drawn, part, random.choice((null, nullable, nullable, other, other, ListOf(0, ()))))
        if not any(unbounded(node) for node in walk(tree)):
            text = printed(tree)
            yield parse(text), text


def unbounded(node: Node) -> bool:
    """Tell a call that may ask for more than a machine can hold, such as the numbers up to 2⁶³."""
    if not isinstance(node, FunctionCall) or node.name not in ("range", "text"):
        return False
    return any(not isinstance(part, Literal | ListOf) and printed(part)[-7:] != ".size()" for part in node.arguments)


@pytest.mark.thorough
def test_what_the_checker_lets_through_means_what_its_words_say() -> None:
    """No value of a wrong type, no null where none was expected, and no part left out."""
    counts: Counter[str] = Counter()
    holes = []
    for _, (tree, text) in zip(range(6000), strange(), strict=False):
        value, faults = check(tree, SCOPE)
        counts["refused" if faults else "let through"] += 1
        if faults:
            continue
        source = emit(value)
        for world in WORLDS:
            try:
                expected = outcome(meaning, tree, world)
                found = outcome(run, source, world)
            except Exception as error:  # noqa: BLE001 - whatever it is, it was let through
                holes.append(f"{text}\n  as {source}: {type(error).__name__}: {error}")
                break
            if expected != found:
                holes.append(f"{text}\n  as {source}: {expected!r}, ours {found!r}")
                break
    print(dict(counts))
    assert not holes, "\n".join(sorted(holes, key=len)[:8])
    assert min(counts["refused"], counts["let through"]) >= 1000


def test_the_second_evaluator_knows_every_listed_function() -> None:
    assert {*MEANINGS, *MACROS} == LISTED


# ── The edges ────────────────────────────────────────────────────────────────────────────────────

ERROR = NoValue()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # sortBy is stable, and goes by whatever has an order
        ("[].sortBy(x, 1)", []),
        ("[3, 1, 2].sortBy(x, x)", [1, 2, 3]),
        ("[3, 1, 2].sortBy(x, -x)", [3, 2, 1]),
        ("[31, 12, 22, 11].sortBy(x, x % 10)", [31, 11, 12, 22]),
        ("['b', 'a', 'B', 'é', 'z'].sortBy(x, x)", ["B", "a", "b", "z", "é"]),
        ("[1, 2, 3].sortBy(x, x == 2)", [1, 3, 2]),
        ("[11, 21, 12].sortBy(x, [x % 10, x])", [11, 21, 12]),
        ("[2, 1].sortBy(x, 0)", [2, 1]),
        # numbers of a list
        ("[].map(x, 1).sum()", 0),
        ("[1, -5, 2].sum()", -2),
        ("[1, -5, 2].min()", -5),
        ("[1, -5, 2].max()", 2),
        ("[7].min()", 7),
        ("[7].max()", 7),
        ("[1].filter(x, false).min()", ERROR),
        ("[1].filter(x, false).max()", ERROR),
        # distinct keeps the first of each
        ("[].distinct()", []),
        ("[2, 1, 2, 1, 3].distinct()", [2, 1, 3]),
        ("[[1], [], [1], []].distinct()", [[1], []]),
        ("['a', 'A', 'a'].distinct()", ["a", "A"]),
        ("[true, false, true].distinct()", [True, False]),
        # flatten goes one level deep
        ("[[1, 2], [], [3]].flatten()", [1, 2, 3]),
        ("[[[1], [2]], [[3]]].flatten()", [[1], [2], [3]]),
        ("[[1]].filter(x, false).flatten()", []),
        # counts below nothing are nothing, counts beyond the end are everything
        *(
            (f"[1, 2, 3].take({count})", value)
            for count, value in ((-1, []), (0, []), (1, [1]), (3, [1, 2, 3]), (4, [1, 2, 3]))
        ),
        *(
            (f"[1, 2, 3].drop({count})", value)
            for count, value in ((-1, [1, 2, 3]), (0, [1, 2, 3]), (1, [2, 3]), (3, []), (4, []))
        ),
        ("[].take(1)", []),
        ("[].drop(1)", []),
        *((f"range({count})", list(range(max(count, 0)))) for count in (-3, -1, 0, 1, 4)),
        ("[].reversed()", []),
        ("[1, 2, 3].reversed()", [3, 2, 1]),
        ("'ab' + ['a'].reversed()[0]", "aba"),
        # the same items, equally often
        ("[].sameItems([])", True),
        ("[1, 2, 2].sameItems([2, 1, 2])", True),
        ("[1, 2, 2].sameItems([2, 1, 1])", False),
        ("[1, 2].sameItems([1, 2, 2])", False),
        ("[1, 2, 2].sameItems([1, 2])", False),
        ("[[1, 2]].sameItems([[2, 1]])", False),
        ("[[1], [2], [1]].sameItems([[1], [1], [2]])", True),
        ("[[1], [2], [2]].sameItems([[1], [1], [2]])", False),
        ("['a'].sameItems(['A'])", False),
        # contains, of a list and of a text
        ("[1, 2].contains(2)", True),
        ("[1, 2].contains(3)", False),
        ("[].contains(3)", False),
        ("[[1]].contains([1])", True),
        ("'abc'.contains('')", True),
        ("''.contains('')", True),
        ("''.contains('a')", False),
        ("'abc'.contains('bc')", True),
        ("'abc'.contains('ac')", False),
        # texts: signs, bytes and lines
        ("''.size()", 0),
        ("'aé€😀'.size()", 4),
        ("' \\t\\n a b\\r '.trim()", "a b"),
        ("' '.trim()", ""),
        ("''.trim()", ""),
        ("'\\u00a0a\\u00a0'.trim()", "a"),
        ("['a', '', 'b'].join(', ')", "a, , b"),
        ("['a'].join(', ')", "a"),
        ("['a'].filter(x, false).join(', ')", ""),
        ("['a', 'b'].join('')", "ab"),
        # a text of a wanted size
        ("text('a', 0)", ERROR),
        ("text('a', -1)", ERROR),
        ("text('', 3)", ERROR),
        ("text('a', 1)", "a"),
        ("text('a', 3)", "aaa"),
        ("text('ab', 3)", "abx"),
        ("text('ab', 1)", "x"),
        ("text('é', 1)", "x"),
        ("text('é', 5)", "ééx"),
        ("text('😀', 7)", "😀xxx"),
        ("text('a', 3, 1)", "aaa"),
        ("text('a', 3, 2)", "x\na"),
        ("text('a', 2, 2)", ERROR),
        ("text('ab', 6, 2)", "x\nabab"),
        ("text('a', 5, 3)", "x\nx\na"),
        ("text('a', 4, 3)", ERROR),
        ("text('a', 3, 0)", ERROR),
        ("text('a', 3, -1)", ERROR),
        # a document is inline up to its limits, and those included
        *((f"document(text('é', {size}), 10, null).inline", size <= 10) for size in (9, 10, 11)),
        *((f"document(text('a', 20, {lines}), null, 3).inline", lines <= 3) for lines in (2, 3, 4)),
        ("document('a', 1, 1).inline", True),
        ("document('aa', 1, 1).inline", False),
        ("document('a\\nb', 3, 1).inline", False),
        ("document('', 0, 1).inline", True),
        ("document('', 0, 0).inline", False),
        ("document('a\\nb', null, null).inline", True),
        ("document('a\\nb', 1, 1).text", "a\nb"),
        ("document('a', null, null) == document('a', 5, 5)", True),
        ("document('ab', null, null) == document('ab', 1, null)", False),
        ("document('a', null, null) == document('b', null, null)", False),
        # between numbers and texts
        ("string(0)", "0"),
        ("string(-12)", "-12"),
        ("string(9223372036854775808)", "9223372036854775808"),
        # nothing is lost where nothing is known of the items of an empty list
        ("[].flatten().size()", 0),
        ("[].flatten().min()", ERROR),
        ("[].sum() + 1", 1),
        ("([] + [[1]])[0].size()", 1),
        ("(if false then [] else [[1]]).map(x, x.size())", [1]),
        ("[[], ['ab']].map(x, x.map(y, y.size()))", [[], [2]]),
        # a conditional evaluates what it chooses and nothing else
        ("if true then 1 else 1 / 0", 1),
        ("if false then 1 / 0 else 2", 2),
        ("if true then null else 1", None),
        ("if 1 / 0 == 1 then 1 else 2", ERROR),
        # no position but those that are there
        ("[1, 2][-1]", ERROR),
        ("[1, 2][2]", ERROR),
        ("[1, 2][1]", 2),
        ("[].map(x, 1)[0]", ERROR),
        # division goes towards zero, and leaves what has the sign of the left side
        *(
            (f"{left} / {right}", value)
            for left, right, value in ((7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (0, 5, 0))
        ),
        *(
            (f"{left} % {right}", value)
            for left, right, value in ((7, 2, 1), (-7, 2, -1), (7, -2, 1), (-7, -2, -1), (0, 5, 0))
        ),
        ("9007199254740993 / 1", 9007199254740993),
        ("1 / 0", ERROR),
        ("1 % 0", ERROR),
        ("false && 1 / 0 == 1", False),
        ("true || 1 / 0 == 1", True),
        ("1 / 0 == 1 || true", ERROR),
    ],
)
def test_at_the_edges_both_evaluators_give_the_value(text: str, value: Any) -> None:
    expected = value if value == ERROR else told_apart(value)
    assert outcome(meaning, parse(text), {}) == expected
    assert outcome(run, source_of(text), {}) == expected


@pytest.mark.parametrize("text", ["text('\\n', 3)", "text('a\\n', 4, 2)", "text('a\\nb', 9, 1)"])
def test_a_piece_with_a_line_break_makes_no_text_of_so_many_lines(text: str) -> None:
    assert outcome(run, source_of(text), {}) == ERROR


def test_a_document_in_a_list_is_compared_like_any_value() -> None:
    documents = "[document('a', 1, null), document('b', 0, null), document('a', 0, null), document('a', 9, 9)]"
    text = f"{documents}.distinct().map(x, [x.text, if x.inline then 'in' else 'out'])"
    assert run(source_of(text), {}) == [["a", "in"], ["b", "out"], ["a", "out"]]


# ── The oracle can fail ──────────────────────────────────────────────────────────────────────────

LIES: Mapping[str, Callable[..., Any]] = {
    "size": lambda value: len(value.encode() if isinstance(value, str) else value),
    "sum": lambda items: sum(items[1:]),
    "min": lambda items: items[0],
    "max": lambda items: items[-1],
    "distinct": lambda items: MEANINGS["reversed"](RIGHT["distinct"](MEANINGS["reversed"](items))),
    "flatten": lambda lists: [part for items in lists[:2] for part in items],
    "take": lambda items, count: items[:count],
    "drop": lambda items, count: items[count:],
    "range": lambda count: list(range(1, count + 1)),
    "reversed": lambda items: items,
    "sameItems": lambda left, right: all(i in right for i in left) and all(i in left for i in right),
    "contains": lambda whole, part: part in whole[1:],
    "startsWith": lambda text, part: part in text,
    "trim": lambda text: text.strip(" "),
    "text": lambda piece, size, lines=1: RIGHT["text"](piece, size),
    "document": lambda text, size, lines: RIGHT["document"](text, size, None),
    "string": lambda number: str(abs(number)),
    "join": lambda texts, between: "".join(text + between for text in texts),
    "all": lambda items, body: bool(items) and RIGHT["all"](items, body),
    "exists": lambda items, body: RIGHT["exists"](items[1:], body),
    "filter": lambda items, body: items[: len(RIGHT["filter"](items, body))],
    "map": lambda items, body: [body(item) for item in items[::-1]],
    "sortBy": lambda items, body: RIGHT["sortBy"](items[::-1], body),
}
RIGHT: Mapping[str, Callable[..., Any]] = {**MEANINGS, **MACROS}


def test_there_is_a_lie_about_every_function() -> None:
    assert {*LIES} == LISTED


@pytest.mark.thorough
@pytest.mark.parametrize("name", LIES)
def test_a_difference_in_one_function_is_seen(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(MACROS if name in MACROS else MEANINGS, name, LIES[name])
    assert compare().disagreements


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (".strip()", ".lstrip()"),
        (" else ", " and "),
        ("sorted(", "list("),
        ("min(", "max("),
        (".inline", ".text"),
    ],
)
def test_an_emitter_that_writes_something_else_is_caught(right: str, wrong: str) -> None:
    assert compare(emit=lambda value: emit(value).replace(right, wrong)).disagreements


def test_the_text_that_is_compared_is_the_tree_that_was_drawn() -> None:
    for _, (tree, text, _) in zip(range(500), corpus(), strict=False):
        assert bare(parse(text)) == tree
