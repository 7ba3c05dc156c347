"""Text → syntax tree: a Pratt parser for the language's subset of CEL."""

from __future__ import annotations

import re
from functools import lru_cache

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
    children,
)

MAX_BYTES = 4096
MAX_NESTING = 60
MAX_CONDITIONALS = 3

# Binding power of each infix operator; a comparison does not chain (`a == b == c` is refused).
_LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%"))
_POWER = {operator: power for power, operators in enumerate(_LEVELS, 1) for operator in operators}
_UNARY_POWER, _POSTFIX_POWER = 6, 7
_WORDS = {"null": None, "true": True, "false": False}
RESERVED = ("if", "then", "else", "in")  # words that are never names
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>\d+(?![\w.]))
      | (?P<name>[A-Za-z_]\w*)
      | (?P<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
      | (?P<mark>\|\||&&|==|!=|<=|>=|[-+*/%<>!().,\[\]])
    """,
    re.VERBOSE | re.ASCII,
)
_SIGN = re.compile(r"(?![dD][89a-fA-F])[0-9a-fA-F]{4}")  # half of a surrogate pair is no sign
_CONDITIONAL = "write if condition then value else other value"
_INSTEAD = {
    "=": "write == to compare",
    ":": "in `assert`, write `when CONDITION: expression` without quotes around the whole",
    "and": "write && for 'and'",
    "or": "write || for 'or'",
    "not": "write !(…) for 'not'",
    "elif": "write else if",
    "&": "write && for 'and'",
    "|": "write || for 'or'",
    "?": _CONDITIONAL,
    "{": "there are no maps; a record of values is written as YAML",
    "'": "the text is not closed",
    '"': "the text is not closed",
}


@lru_cache(maxsize=4096)
def parse(text: str) -> Node:
    """Read one expression; raise ExpressionError with the offset of the offending token."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise ExpressionError(
            "expression-too-long", 0, f"an expression of more than {MAX_BYTES} bytes", "name its parts in `define`"
        )
    return _Parser(text).whole()


class _Parser:
    """One pass over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.next = 0
        self.depth = 0

    def whole(self) -> Node:
        if self.tokens[0][0] == "end":
            raise ExpressionError("expression-syntax", 0, "an empty expression", "write a value or a condition")
        node = self.expression(0)
        kind, word, at = self.tokens[self.next]
        if kind != "end":
            hint = self.instead("an expression ends before it; is an operator missing?")
            raise self.fault(at, f"{word!r} is not expected here", hint)
        _bound(node)
        return node

    def instead(self, usual: str) -> str:
        """Return what to write for a word of another language that stands here or just before, or the usual hint."""
        near = (self.tokens[at][1] for at in (self.next, self.next - 1))
        return next((_INSTEAD[word] for word in near if word in _INSTEAD), usual)

    def expression(self, power: int) -> Node:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise _too_deep(self.tokens[self.next][2])
        left = self.conditional() if self.tokens[self.next][1] == "if" and power == 0 else self.prefix()
        while (found := _POWER.get(self.tokens[self.next][1], 0)) > power:
            _, operator, at = self.take()
            right = self.expression(found)
            if found == _POWER["=="] == _POWER.get(self.tokens[self.next][1]):
                at = self.tokens[self.next][2]
                raise self.fault(at, "comparisons do not chain", "join two comparisons with &&")
            left = Binary(at, operator, left, right)
        self.depth -= 1
        return left

    def conditional(self) -> Node:
        """Read `if … then … else …`; each of its parts reaches as far as it can."""
        _, _, at = self.take()
        condition = self.expression(0)
        self.expect("then", _CONDITIONAL)
        value = self.expression(0)
        self.expect("else", _CONDITIONAL)
        return Conditional(at, condition, value, self.expression(0))

    def prefix(self) -> Node:
        kind, word, at = self.take()
        if kind == "mark" and word in ("!", "-"):
            operand = self.expression(_UNARY_POWER)
            if word == "-" and isinstance(operand, Literal) and type(operand.value) is int:
                return Literal(at, -operand.value)
            return Unary(at, word, operand)
        return self.postfix(self.primary(kind, word, at))

    def primary(self, kind: str, word: str, at: int) -> Node:
        if kind == "number":
            return Literal(at, int(word))
        if kind == "text":
            return Literal(at, _unescape(word, at))
        if word == "(":
            inner = self.expression(0)
            self.expect(")")
            return inner
        if word == "[":
            return ListOf(at, self.arguments("]"))
        if kind == "name" and word in _WORDS:
            return Literal(at, _WORDS[word])
        if kind == "name" and word == "if":
            raise self.fault(at, "a conditional cannot stand here by itself", "put if … then … else … in parentheses")
        if kind == "name" and word not in RESERVED:
            if self.tokens[self.next][1] == "(":
                self.take()
                return FunctionCall(at, word, None, self.arguments(")"))
            return Name(at, word)
        if kind == "end":
            raise self.fault(at, "the expression ends too early", "a value is missing at the end")
        raise self.fault(at, f"{word!r} is not expected here", "a value, a name or ( belongs here")

    def postfix(self, node: Node) -> Node:
        while True:
            kind, word, at = self.tokens[self.next]
            if kind == "mark" and word == ".":
                self.take()
                kind, name, at = self.take()
                if kind != "name":
                    raise self.fault(at, "a name belongs after the dot", "for example job.state")
                if self.tokens[self.next][1] == "(":
                    self.take()
                    node = FunctionCall(at, name, node, self.arguments(")"))
                else:
                    node = Field(at, node, name)
            elif kind == "mark" and word == "[":
                self.take()
                index = self.expression(0)
                self.expect("]")
                node = Index(at, node, index)
            else:
                return node

    def arguments(self, end: str) -> tuple[Node, ...]:
        items: list[Node] = []
        if self.tokens[self.next][1] != end:
            items.append(self.expression(0))
            while self.tokens[self.next][1] == ",":
                self.take()
                items.append(self.expression(0))
        self.expect(end)
        return tuple(items)

    def take(self) -> tuple[str, str, int]:
        token = self.tokens[self.next]
        if token[0] != "end":
            self.next += 1
        return token

    def expect(self, wanted: str, hint: str = "brackets have to be closed in order") -> None:
        hint = self.instead(hint)
        kind, word, at = self.take()
        if word != wanted:
            found = "the end" if kind == "end" else repr(word)
            raise self.fault(at, f"{wanted!r} is missing before {found}", hint)

    @staticmethod
    def fault(at: int, message: str, hint: str) -> ExpressionError:
        return ExpressionError("expression-syntax", at, message, hint)


def _bound(node: Node) -> None:
    """Refuse a tree that is too deep: one such as a.b.c…, since what reads it is recursive, or one of conditionals."""
    level = [(node, 0)]
    for _ in range(MAX_NESTING):
        level = [(child, _within(parent, depth)) for parent, depth in level for child in children(parent)]
    if level:
        raise _too_deep(level[0][0].at)


def _within(node: Node, depth: int) -> int:
    """Return in how many conditionals the parts of a node are, if the node itself is in `depth` of them."""
    if not isinstance(node, Conditional):
        return depth
    if depth == MAX_CONDITIONALS:
        message = f"more than {MAX_CONDITIONALS} conditionals in each other"
        raise ExpressionError("conditional-too-deep", node.at, message, "name its parts in `define`")
    return depth + 1


def _too_deep(at: int) -> ExpressionError:
    message = f"an expression nested deeper than {MAX_NESTING}"
    return ExpressionError("expression-too-deep", at, message, "name its parts in `define`")


def _tokens(text: str) -> list[tuple[str, str, int]]:
    """Split into (kind, word, offset), with an `end` token last."""
    found: list[tuple[str, str, int]] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _strange(text, at)
        kind = match.lastgroup or ""
        if kind != "space":
            found.append((kind, match.group(), at))
        at = match.end()
    found.append(("end", "", len(text)))
    return found


def _strange(text: str, at: int) -> ExpressionError:
    sign = text[at]
    if sign.isdigit():
        return ExpressionError(
            "expression-syntax", at, "not a whole number", "numbers are whole: there are no fractions or units"
        )
    hint = _INSTEAD.get(sign, "only names, numbers, texts in quotes and operators can stand in an expression")
    return ExpressionError("expression-syntax", at, f"{sign!r} has no meaning here", hint)


def _unescape(word: str, at: int) -> str:
    """Return what a quoted text means; offsets of faults point at the backslash."""
    if "\\" not in word:
        return word[1:-1]
    parts: list[str] = []
    index = 1
    while index < len(word) - 1:
        if word[index] != "\\":
            parts.append(word[index])
            index += 1
        elif word[index + 1] == "u" and _SIGN.fullmatch(word[index + 2 : index + 6]):
            parts.append(chr(int(word[index + 2 : index + 6], 16)))
            index += 6
        elif word[index + 1] in _ESCAPES:
            parts.append(_ESCAPES[word[index + 1]])
            index += 2
        else:
            raise ExpressionError(
                "expression-syntax",
                at + index,
                f"unknown escape {word[index : index + 2]!r}",
                r"known are \n \t \r \\ \' \" and \uXXXX",
            )
    return "".join(parts)
