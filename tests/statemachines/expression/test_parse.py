"""Text → syntax tree: what is read how, what is refused where, and that nothing else can happen."""

from __future__ import annotations

import ast
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from statemachines.expression.parser import MAX_BYTES, MAX_NESTING, parse
from statemachines.expression.syntax import (
    Binary,
    Conditional,
    ExpressionError,
    Field,
    FunctionCall,
    Index,
    ListOf,
    Literal,
    Name,
    Node,
    Unary,
)
from tests.statemachines.expression.printing import bare, printed, walk
from tests.statemachines.expression.trees import trees


def refusal(text: str) -> ExpressionError:
    """Give the error that a text is refused with."""
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    return caught.value


# ── What is read ─────────────────────────────────────────────────────────────────────────────────

A, B, C, D = (Name(0, name) for name in "abcd")


def two(left: Node, operator: str, right: Node) -> Node:
    return Binary(0, operator, left, right)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("null", Literal(0, None)),
        ("true", Literal(0, True)),
        ("false", Literal(0, False)),
        ("0", Literal(0, 0)),
        ("007", Literal(0, 7)),
        ("9223372036854775808", Literal(0, 2**63)),
        ("-12", Literal(0, -12)),
        ("- 12", Literal(0, -12)),
        ("-(12)", Literal(0, -12)),
        ("--12", Literal(0, 12)),
        ("-true", Unary(0, "-", Literal(0, True))),
        ("nullable", Name(0, "nullable")),
        ("inner", Name(0, "inner")),
        ("_a1", Name(0, "_a1")),
        ("''", Literal(0, "")),
        ('""', Literal(0, "")),
        ("'it\"s'", Literal(0, 'it"s')),
        ('"it\'s"', Literal(0, "it's")),
        (r"'\n\t\r\\\'\"'", Literal(0, "\n\t\r\\'\"")),
        (r"'\u00e9\u20AC'", Literal(0, "é€")),
        (r"'\\n'", Literal(0, "\\n")),
        ("'😀 ⏎ # : &'", Literal(0, "😀 ⏎ # : &")),
        ("'a\tb'", Literal(0, "a\tb")),
        ("[]", ListOf(0, ())),
        ("[a]", ListOf(0, (A,))),
        ("[a, [b], 'c']", ListOf(0, (A, ListOf(0, (B,)), Literal(0, "c")))),
        ("a.b", Field(0, A, "b")),
        ("a.b.c", Field(0, Field(0, A, "b"), "c")),
        ("a.null", Field(0, A, "null")),
        ("'x'.y", Field(0, Literal(0, "x"), "y")),
        ("a[b]", Index(0, A, B)),
        ("a[b][c].d", Field(0, Index(0, Index(0, A, B), C), "d")),
        ("a[b || c]", Index(0, A, two(B, "||", C))),
        ("f()", FunctionCall(0, "f", None, ())),
        ("f(a, b)", FunctionCall(0, "f", None, (A, B))),
        ("a.f()", FunctionCall(0, "f", A, ())),
        ("a.f(b).g(c)", FunctionCall(0, "g", FunctionCall(0, "f", A, (B,)), (C,))),
        (
            "a.b.all(x, x.c)",
            FunctionCall(0, "all", Field(0, A, "b"), (Name(0, "x"), Field(0, Name(0, "x"), "c"))),
        ),
        ("[a].size()", FunctionCall(0, "size", ListOf(0, (A,)), ())),
        ("(a)", A),
        ("((a))", A),
        ("(a || b).c", Field(0, two(A, "||", B), "c")),
    ],
)
def test_a_text_is_read_as_its_tree(text: str, tree: Node) -> None:
    assert bare(parse(text)) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a || b && c", two(A, "||", two(B, "&&", C))),
        ("a && b || c", two(two(A, "&&", B), "||", C)),
        ("(a || b) && c", two(two(A, "||", B), "&&", C)),
        ("a || b || c", two(two(A, "||", B), "||", C)),
        ("a && b == c", two(A, "&&", two(B, "==", C))),
        ("a in b && c", two(two(A, "in", B), "&&", C)),
        ("a == b + c", two(A, "==", two(B, "+", C))),
        ("a + b < c", two(two(A, "+", B), "<", C)),
        ("a in b + c", two(A, "in", two(B, "+", C))),
        ("a - b - c", two(two(A, "-", B), "-", C)),
        ("a - (b - c)", two(A, "-", two(B, "-", C))),
        ("a - b * c", two(A, "-", two(B, "*", C))),
        ("a * b - c", two(two(A, "*", B), "-", C)),
        ("a / b % c * d", two(two(two(A, "/", B), "%", C), "*", D)),
        ("a / (b * c)", two(A, "/", two(B, "*", C))),
        ("a == (b == c)", two(A, "==", two(B, "==", C))),
        ("(a < b) == c", two(two(A, "<", B), "==", C)),
        ("!a == b", two(Unary(0, "!", A), "==", B)),
        ("!(a == b)", Unary(0, "!", two(A, "==", B))),
        ("!a && b", two(Unary(0, "!", A), "&&", B)),
        ("if a then b else c", Conditional(0, A, B, C)),
        ("if a && b then c else d + a", Conditional(0, two(A, "&&", B), C, two(D, "+", A))),
        ("if a then b else if c then d else a", Conditional(0, A, B, Conditional(0, C, D, A))),
        ("if a then if b then c else d else a", Conditional(0, A, Conditional(0, B, C, D), A)),
        ("(if a then b else c) + d", two(Conditional(0, A, B, C), "+", D)),
        ("[if a then b else c, d]", ListOf(0, (Conditional(0, A, B, C), D))),
        ("a[if b then c else d]", Index(0, A, Conditional(0, B, C, D))),
        ("f(if a then b else c)", FunctionCall(0, "f", None, (Conditional(0, A, B, C),))),
        ("a.if", Field(0, A, "if")),
        ("!!a", Unary(0, "!", Unary(0, "!", A))),
        ("!a.b", Unary(0, "!", Field(0, A, "b"))),
        ("!a in b", two(Unary(0, "!", A), "in", B)),
        ("-a.b", Unary(0, "-", Field(0, A, "b"))),
        ("-a[b]", Unary(0, "-", Index(0, A, B))),
        ("-a * b", two(Unary(0, "-", A), "*", B)),
        ("a * -b", two(A, "*", Unary(0, "-", B))),
        ("a - -b", two(A, "-", Unary(0, "-", B))),
        ("a--b", two(A, "-", Unary(0, "-", B))),
        ("a -1", two(A, "-", Literal(0, 1))),
        ("-1 - 2", two(Literal(0, -1), "-", Literal(0, 2))),
        ("- -a", Unary(0, "-", Unary(0, "-", A))),
        ("-!a", Unary(0, "-", Unary(0, "!", A))),
    ],
)
def test_operators_bind_as_in_cel(text: str, tree: Node) -> None:
    assert bare(parse(text)) == tree


@pytest.mark.parametrize("text", [" a+b ", "a\n  +\n  b", "\ta + b\r\n", "(a)+(b)", "a +b"])
def test_white_space_means_nothing(text: str) -> None:
    assert bare(parse(text)) == two(A, "+", B)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("  a", [("Name", 2)]),
        ("-12", [("Literal", 0)]),
        ("a - 12", [("Binary", 2), ("Name", 0), ("Literal", 4)]),
        ("!(a in [b])", [("Unary", 0), ("Binary", 4), ("Name", 2), ("ListOf", 7), ("Name", 8)]),
        ("a.bb[0].cc", [("Field", 8), ("Index", 4), ("Field", 2), ("Name", 0), ("Literal", 5)]),
        ("aa.f(b)", [("FunctionCall", 3), ("Name", 0), ("Name", 5)]),
        ("f('😀', b)", [("FunctionCall", 0), ("Literal", 2), ("Name", 7)]),
    ],
)
def test_a_node_stands_where_the_token_that_names_it_begins(text: str, places: list[tuple[str, int]]) -> None:
    assert [(type(node).__name__, node.at) for node in walk(parse(text))] == places


# ── What is refused ──────────────────────────────────────────────────────────────────────────────

ENDS_EARLY = "the expression ends too early"
CHAIN = "comparisons do not chain"
NOT_WHOLE = "not a whole number"


def unexpected(word: str) -> str:
    return f"{word!r} is not expected here"


def strange(sign: str) -> str:
    return f"{sign!r} has no meaning here"


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("", 0, "an empty expression"),
        (" \n ", 0, "an empty expression"),
        ("a b", 2, unexpected("b")),
        ("a 1", 2, unexpected("1")),
        ("a 'x'", 2, unexpected("'x'")),
        ("a !b", 2, unexpected("!")),
        ("a, b", 1, unexpected(",")),
        ("a)", 1, unexpected(")")),
        ("a]", 1, unexpected("]")),
        ("true(a)", 4, unexpected("(")),
        ("f(a)(b)", 4, unexpected("(")),
        (")", 0, unexpected(")")),
        ("* a", 0, unexpected("*")),
        ("in a", 0, unexpected("in")),
        ("a + in", 4, unexpected("in")),
        ("then", 0, unexpected("then")),
        ("a else b", 2, unexpected("else")),
        ("if", 2, ENDS_EARLY),
        ("if a", 4, "'then' is missing before the end"),
        ("if a else b", 5, "'then' is missing before 'else'"),
        ("if a then b", 11, "'else' is missing before the end"),
        ("if a 'then' b else c", 5, "'then' is missing before \"'then'\""),
        ("if a then b then c", 12, "'else' is missing before 'then'"),
        ("if a then b else", 16, ENDS_EARLY),
        ("a + if a then b else c", 4, "a conditional cannot stand here by itself"),
        ("!if a then b else c", 1, "a conditional cannot stand here by itself"),
        ("a && if a then b else c", 5, "a conditional cannot stand here by itself"),
        ("a && || b", 5, unexpected("||")),
        ("a + * b", 4, unexpected("*")),
        ("+a", 0, unexpected("+")),
        ("()", 1, unexpected(")")),
        ("[,]", 1, unexpected(",")),
        ("[a,]", 3, unexpected("]")),
        ("f(,)", 2, unexpected(",")),
        ("f(a,)", 4, unexpected(")")),
        ("a[]", 2, unexpected("]")),
        (".a", 0, unexpected(".")),
        ("a +", 3, ENDS_EARLY),
        ("!", 1, ENDS_EARLY),
        ("-", 1, ENDS_EARLY),
        ("(", 1, ENDS_EARLY),
        ("f(a,", 4, ENDS_EARLY),
        ("a[", 2, ENDS_EARLY),
        ("a &&  ", 6, ENDS_EARLY),
        ("(a", 2, "')' is missing before the end"),
        ("(a b)", 3, "')' is missing before 'b'"),
        ("(a]", 2, "')' is missing before ']'"),
        ("f(a b)", 4, "')' is missing before 'b'"),
        ("[a", 2, "']' is missing before the end"),
        ("[a)", 2, "']' is missing before ')'"),
        ("a[b)", 3, "']' is missing before ')'"),
        ("a[b, c]", 3, "']' is missing before ','"),
        ("a.", 2, "a name belongs after the dot"),
        ("a.1", 2, "a name belongs after the dot"),
        ("a.'b'", 2, "a name belongs after the dot"),
        ("a.(b)", 2, "a name belongs after the dot"),
        ("a..b", 2, "a name belongs after the dot"),
        ("a < b < c", 6, CHAIN),
        ("a == b == c", 7, CHAIN),
        ("a == b != c", 7, CHAIN),
        ("a in b in c", 7, CHAIN),
        ("a < b + 1 >= c", 10, CHAIN),
        ("1.5", 0, NOT_WHOLE),
        ("a + 1.", 4, NOT_WHOLE),
        ("12ms", 0, NOT_WHOLE),
        ("0x1F", 0, NOT_WHOLE),
        ("1e3", 0, NOT_WHOLE),
        ("1_000", 0, NOT_WHOLE),
        ("a = b", 2, strange("=")),
        ("a & b", 2, strange("&")),
        ("a | b", 2, strange("|")),
        ("a ? b : c", 2, strange("?")),
        ("{a: b}", 0, strange("{")),
        ("a # b", 2, strange("#")),
        ("a ; b", 2, strange(";")),
        ("`a`", 0, strange("`")),
        ("a \\ b", 2, strange("\\")),
        ("a ~ b", 2, strange("~")),
        ("a\0", 1, strange("\0")),
        ("a + 'b", 4, strange("'")),
        ('"a', 0, strange('"')),
        ("'a\nb'", 0, strange("'")),
        ("'a\\", 0, strange("'")),
        ("a + '\\", 4, strange("'")),
        (r"'a\qb'", 2, r"unknown escape '\\q'"),
        (r"a + 'b\0'", 6, r"unknown escape '\\0'"),
        (r"'\u12'", 1, r"unknown escape '\\u'"),
        (r"'\u12G4'", 1, r"unknown escape '\\u'"),
        (r"'\x41'", 1, r"unknown escape '\\x'"),
        (r"'\\\a'", 3, r"unknown escape '\\a'"),
    ],
)
def test_a_faulty_text_is_refused_at_the_token_that_is_wrong(text: str, at: int, message: str) -> None:
    error = refusal(text)
    assert (error.code, error.at, error.message) == ("expression-syntax", at, message)
    assert error.hint
    assert str(error) == message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a and b", "&&"),
        ("(a or b)", "||"),
        ("not a", "!(…)"),
        ("if a then b elif c then d else e", "else if"),
        ("when a: b", "without quotes"),
        ("a = b", "write == to compare"),
        ("a & b", "&&"),
        ("a | b", "||"),
        ("a ? b : c", "if condition then value else other value"),
        ("{a: b}", "no maps"),
        ("'a", "the text is not closed"),
        ('"a', "the text is not closed"),
        ("1.5", "numbers are whole"),
        ("a < b < c", "&&"),
        (r"'\q'", r"\uXXXX"),
        ("(a", "brackets have to be closed"),
    ],
)
def test_a_refusal_says_what_to_write_instead(text: str, hint: str) -> None:
    assert hint in refusal(text).hint


@pytest.mark.parametrize(
    ("text", "at"),
    [("aé", 1), ("é", 0), ("١ + 2", 0), ("1٢", 1), ("xs.map(ſ, ſ)", 7), ("a\u00a0+ b", 1), ("a\u2028+ b", 1)],
    ids=ascii,
)
def test_names_numbers_and_white_space_are_written_in_ascii_as_in_cel(text: str, at: int) -> None:
    error = refusal(text)
    assert (error.code, error.at) == ("expression-syntax", at)


# ── How much is read ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("sign", ["a", "é", "€", "😀"])
def test_an_expression_has_at_most_four_kibibytes_of_utf_8(sign: str) -> None:
    assert MAX_BYTES == 4096
    width = len(sign.encode())
    room = MAX_BYTES - 2
    longest = f"'{sign * (room // width)}{'x' * (room % width)}'"
    assert len(longest.encode()) == MAX_BYTES
    assert parse(longest) == Literal(0, longest[1:-1])
    error = refusal(f"{longest} ")
    assert (error.code, error.at) == ("expression-too-long", 0)
    assert error.message == "an expression of more than 4096 bytes"
    assert "define" in error.hint


NESTED = {
    "parentheses": ("(", "a", ")"),
    "lists": ("[", "a", "]"),
    "not": ("!", "a", ""),
    "minus": ("-", "a", ""),
    "calls": ("f(", "a", ")"),
    "arguments": ("a.f(", "a", ")"),
    "positions": ("a[", "a", "]"),
    "on the right": ("a + (", "a", ")"),
}


@pytest.mark.parametrize(("before", "core", "after"), NESTED.values(), ids=NESTED)
def test_nesting_ends_at_sixty(before: str, core: str, after: str) -> None:
    assert MAX_NESTING == 60
    levels = 2 if before == "a + (" else 1  # the right side of an operator is one level, its parentheses another
    fits = (MAX_NESTING - 1) // levels
    parse(before * fits + core + after * fits)
    error = refusal(before * (fits + 1) + core + after * (fits + 1))
    assert (error.code, error.message) == ("expression-too-deep", "an expression nested deeper than 60")
    assert error.at == len(before) * (MAX_NESTING // levels)
    assert "define" in error.hint


@pytest.mark.parametrize(
    "before", [*(part[0] for part in NESTED.values()), "a.b", "a(", "a && ", "if ", "if a then b else "]
)
def test_no_nesting_is_too_deep_for_the_parser_itself(before: str) -> None:
    with pytest.raises(ExpressionError):
        parse((before * MAX_BYTES)[:MAX_BYTES])


CHAINS = {"operators": " + a", "fields": ".b", "positions": "[0]", "calls": ".f()", "conditions": " && a"}


@pytest.mark.parametrize("link", CHAINS.values(), ids=CHAINS)
def test_a_chain_is_as_deep_as_it_is_long(link: str) -> None:
    """Everything behind the parser walks the tree by recursion, so a chain has to end as well."""
    parse("a" + link * (MAX_NESTING // 2))
    assert refusal("a" + link * ((MAX_BYTES - 1) // len(link))).code == "expression-too-deep"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("if a then 1 else if b then 2 else if c then 3 else {}", 51),
        ("if a then [if b then 2 else f(if c then 3 else -({}))] else 1", 49),
        ("if if if {} then a else b then c else d then a else b", 9),
    ],
)
def test_three_conditionals_may_be_in_each_other_and_no_more(text: str, at: int) -> None:
    parse(text.format("d"))
    error = refusal(text.format("if d then 4 else 5"))
    assert (error.code, error.at) == ("conditional-too-deep", at)
    assert "define" in error.hint


def test_conditionals_side_by_side_are_not_in_each_other() -> None:
    parse(" + ".join(["(if a then b else c)"] * 9))


def test_two_expressions_side_by_side_may_be_deep_each() -> None:
    deep = "(" * 50 + "a" + ")" * 50
    assert bare(parse(f"{deep} + {deep} + f({deep}, {deep})[0]")) == two(
        two(A, "+", A), "+", Index(0, FunctionCall(0, "f", None, (A, A)), Literal(0, 0))
    )


# ── Nothing else can happen ──────────────────────────────────────────────────────────────────────

TREES = trees()


def fits(text: str) -> bool:
    """Tell that a text is surely not too deep."""
    return sum(text.count(sign) for sign in "([!-+*/%&|=<>.") < MAX_NESTING


@pytest.mark.thorough
@given(TREES, st.randoms(use_true_random=False))
def test_a_tree_that_is_written_and_read_again_is_the_same_tree(tree: Node, random: Random) -> None:
    for text in (printed(tree), printed(tree, lambda: random.random() < 0.2)):
        assume(fits(text))
        assert bare(parse(text)) == tree


@pytest.mark.thorough
@given(TREES)
def test_every_node_of_every_tree_stands_where_its_token_is(tree: Node) -> None:
    text = printed(tree)
    assume(fits(text))
    for node in walk(parse(text)):
        match node:
            case Literal(value=value):
                token = "'" if isinstance(value, str) else printed(node)
            case Name(name=name) | Field(name=name) | FunctionCall(name=name):
                token = name
            case Unary(operator=operator) | Binary(operator=operator):
                token = operator
            case Conditional():
                token = "if"
            case _:
                token = "["
        assert text.startswith(token, node.at)


CODES = ("expression-syntax", "expression-too-long", "expression-too-deep", "conditional-too-deep")
TOKENS = st.sampled_from(
    [
        *"+-*/%<>!().,[]=&|?{}'\"\\:;# \n\t",
        "||",
        "&&",
        "==",
        "!=",
        "<=",
        ">=",
        "in",
        "if",
        "then",
        "else",
        "if a then b else c",
        "null",
        "true",
        "a",
        "b.c",
        "12",
        "1.5",
        "'x'",
        r"'\n'",
        r"'\u0041'",
        r"'\q'",
        "é",
        "²",
        "\ud800",
        "f(",
        "xs.map(x, x)",
        "in",
        "\0",
    ]
)


def outcome(text: str) -> Node | ExpressionError:
    """Give the tree or the refusal; anything else that is raised goes on its way."""
    try:
        return parse(text)
    except ExpressionError as error:
        return error


@given(st.text() | st.lists(TOKENS, max_size=30).map("".join) | st.lists(TOKENS, max_size=30).map(" ".join))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    found = outcome(text)
    if isinstance(found, Node):
        assert bare(parse(printed(found))) == bare(found)
    else:
        assert found.code in CODES
        assert 0 <= found.at <= len(text)
        assert found.message
        assert found.hint


@pytest.mark.thorough
@given(TREES, st.data())
def test_a_text_with_one_sign_too_few_is_read_or_refused_and_nothing_else(tree: Node, data: st.DataObject) -> None:
    text = printed(tree)
    assume(fits(text))
    at = data.draw(st.integers(0, len(text) - 1))
    found = outcome(text[:at] + text[at + 1 :])
    assert isinstance(found, Node) or 0 <= found.at < len(text)


# ── Python agrees where it reads the same signs ──────────────────────────────────────────────────

PYTHON: dict[type[ast.AST], str] = {
    ast.And: "&&",
    ast.Or: "||",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
}


def from_python(node: ast.expr) -> Node:
    """Give the tree that Python sees."""
    match node:
        case ast.BoolOp(op=operator, values=[first, *rest]):
            tree = from_python(first)
            for value in rest:
                tree = two(tree, PYTHON[type(operator)], from_python(value))
            return tree
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return two(from_python(left), PYTHON[type(operator)], from_python(right))
        case ast.BinOp(left=left, op=operator, right=right):
            return two(from_python(left), PYTHON[type(operator)], from_python(right))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Unary(0, "-", from_python(operand))
        case ast.Subscript(value=value, slice=position):
            return Index(0, from_python(value), from_python(position))
        case ast.Attribute(value=value, attr=name):
            return Field(0, from_python(value), name)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return FunctionCall(0, name, None, tuple(map(from_python, arguments)))
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=arguments):
            return FunctionCall(0, name, from_python(value), tuple(map(from_python, arguments)))
        case ast.List(elts=items):
            return ListOf(0, tuple(map(from_python, items)))
        case ast.Name(id=name):
            return Name(0, name)
        case _:
            raise TypeError(ast.dump(node))


def infix(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Texts of operands and operators side by side, at most one of them a comparison, perhaps in brackets."""

    def joined(parts: tuple[list[str], list[str], int, str]) -> str:
        operands, operators, place, comparison = parts
        signs = [comparison if index == place else sign for index, sign in enumerate(operators)]
        return " ".join(word for pair in zip(operands, [*signs, ""], strict=False) for word in pair).strip()

    flat = st.integers(1, 5).flatmap(
        lambda size: st.tuples(
            st.lists(inner, min_size=size, max_size=size),
            st.lists(st.sampled_from(["+", "-", "*", "/", "%", "&&", "||"]), min_size=size - 1, max_size=size - 1),
            st.integers(-1, size - 2),
            st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in"]),
        )
    )
    texts = flat.map(joined)
    return st.one_of(
        texts,
        texts.map("({})".format),
        texts.map("[{}]".format),
        texts.map("f({})".format),
        texts.map("-({})".format),
        st.tuples(inner, texts).map(lambda pair: f"({pair[0]})[{pair[1]}].n.g(-b)"),
    )


@pytest.mark.thorough
@given(st.recursive(st.sampled_from(["a", "b", "-c", "a.b", "a[b]", "f(a, b)", "[a, b]"]), infix, max_leaves=12))
def test_python_reads_the_same_tree_wherever_it_knows_the_signs(text: str) -> None:
    python = text.replace("&&", " and ").replace("||", " or ")
    try:
        tree = from_python(ast.parse(python, mode="eval").body)
    except TypeError:  # two comparisons met: Python chains them, and we refuse
        assert refusal(text).message == CHAIN
    else:
        assert bare(parse(text)) == tree
