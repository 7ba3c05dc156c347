"""Statements as ruff's formatter would leave them: in double quotes, and on as many lines as they need.

This knows the statements that the generator writes, and no more of Python: no comments, no strings over
several lines, no operators outside parentheses in a keyword argument or a dict.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator

WIDTH = 110
INDENT = "    "

_TOKEN = re.compile(r"""\w*"(?:[^"\\]|\\.)*"|\w*'(?:[^'\\]|\\.)*'|not in\b|is not\b|\w+|[<>=!]=|\s+|.""")
_HEAD = re.compile(r"(?:return|raise|if|elif|while|for .+? in) ")
_IN_BRACKETS = re.compile(r"(?:^(?:return|raise|if|elif|while)| in| =) \(.*\):?$")  # needlessly, perhaps
_ONE_WHOLE = re.compile(r"lambda |for |\*|\w+=(?!=)|[\w\"'.]+: ")  # what no operator breaks
# What a line breaks before, in parentheses: of these kinds the first that occurs.
_OPERATORS = (
    ("if", "else"),
    ("or",),
    ("and",),
    ("in", "not in", "is", "is not", "<", "<=", ">", ">=", "!=", "=="),
    ("+", "-"),
    ("*",),
)


def laid_out(statement: str, depth: int) -> list[str]:
    """Give the lines of one statement at a depth, each with its indent."""
    statement = _in_double_quotes(statement)
    if _fits(statement, depth) and not _IN_BRACKETS.search(statement):
        return [INDENT * depth + statement]
    if statement.startswith(("def ", "class ")):
        return _around(statement, _groups(statement)[0], depth)
    head, value, tail = _parts(statement)
    whole, groups = f"{head}{value}{tail}", _groups(value)
    if _fits(whole, depth):
        return [INDENT * depth + whole]
    targets, _, rest = head.rpartition(" = ")
    if "," in targets and not rest and not groups:
        return _within("(", _inside(targets, depth + 1), f") = {value}", depth)
    if groups and _ends_in_brackets(value, groups[-1]):
        start, end = groups[-1]
        if _fits(head + value[: start + 1], depth):
            return _around(whole, (len(head) + start, len(head) + end), depth)
    return _within(f"{head}(", _inside(value, depth + 1), f"){tail}", depth)


def entry(text: str, depth: int) -> list[str]:
    """Give the lines of one entry of a tuple, a list or a dict, with its comma."""
    lines = _piece(_in_double_quotes(text), depth)
    return [*lines[:-1], f"{lines[-1]},"]


def quoted(text: str) -> str:
    """Write a text in double quotes, or in single ones where that saves backslashes."""
    single = repr(text + '"')  # a double quote makes repr choose single quotes
    if text.count('"') > text.count("'"):
        return f"{single[:-2]}'"
    inside = single[1:-2].replace('"', '\\"').replace("\\'", "'")
    return f'"{inside}"'


def _in_double_quotes(source: str) -> str:
    return _TOKEN.sub(_token, source) if "'" in source else source


def _token(match: re.Match[str]) -> str:
    return quoted(literal_eval(match[0])) if match[0].startswith("'") else match[0]


def _parts(statement: str) -> tuple[str, str, str]:
    """Give the value of a statement, without needless brackets, with what stands before and after it."""
    tail = ":" if statement.endswith(":") else ""
    body = statement.removesuffix(":")
    head = _HEAD.match(body)
    start = head.end() if head else next((at + 2 for at, token in _top(body) if token == "="), 0)
    return body[:start], _bare(body[start:]), tail


def _bare(value: str) -> str:
    """Give a value without brackets around the whole of it."""
    if not (value.startswith("(") and _groups(value) == [(0, len(value))]):
        return value
    inner = value[1:-1]
    needed = not inner or any(token in (",", "for") for _, token in _top(inner))
    return value if needed else inner


def _ends_in_brackets(value: str, last: tuple[int, int]) -> bool:
    """Tell whether a value can be broken in its last brackets alone: it has one operator at most."""
    pieces = next((pieces for kind in _OPERATORS if len(pieces := _split(value, kind)) > 1), [value])
    return last[1] == len(value) and len(pieces) <= 2


def _around(text: str, group: tuple[int, int], depth: int) -> list[str]:
    """Break a text in one pair of its brackets."""
    start, end = group
    call = text[start] == "(" and re.match(r"\w", text[start - 1 :]) is not None
    inner = _inside(text[start + 1 : end - 1], depth + 1, call=call)
    return _within(text[: start + 1], inner, text[end - 1 :], depth)


def _within(head: str, inner: list[str], tail: str, depth: int) -> list[str]:
    return [INDENT * depth + head, *inner, INDENT * depth + tail]


def _inside(content: str, depth: int, *, call: bool = False) -> list[str]:
    """Give the lines of what stands in brackets; what a call is given stays on one line if it fits there."""
    items = _split(content, (",",))
    if len(items) == 1 or call:
        if _fits(content, depth):
            return [INDENT * depth + content]
        if any(token == "for" for _, token in _top(content)):
            clauses = _split(content, ("for", "if"))
            return [line for clause in clauses for line in _piece(clause, depth)]
    if len(items) == 1:
        return _piece(content, depth)
    return [line for item in items for line in entry(item, depth)]


def _piece(text: str, depth: int) -> list[str]:
    """Give the lines of one value that stands in brackets."""
    if _fits(f"{text},", depth):
        return [INDENT * depth + text]
    if not _ONE_WHOLE.match(text):
        for kind in _OPERATORS:
            pieces = _split(text, kind)
            if len(pieces) > 1:
                return [line for piece in pieces for line in _piece(piece, depth)]
    groups = [(start, end) for start, end in _groups(text) if end - start > 2]
    return _around(text, groups[-1], depth) if groups else [INDENT * depth + text]


def _fits(text: str, depth: int) -> bool:
    return len(INDENT) * depth + len(text) <= WIDTH


def _split(text: str, words: tuple[str, ...]) -> list[str]:
    """Split at words that stand outside brackets: before each of them, and commas fall away."""
    cuts = [at for at, token in _top(text) if token in words and at > 0]
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return [kept for piece in pieces if (kept := piece.strip(", "))]


def _groups(text: str) -> list[tuple[int, int]]:
    """Give where the outermost brackets begin and end."""
    marks = [at for at, token in _top(text) if token in "()[]{}"]
    return [(start, end + 1) for start, end in zip(marks[::2], marks[1::2], strict=True)]


def _top(text: str) -> Iterator[tuple[int, str]]:
    """Walk the tokens outside brackets, and the outermost brackets themselves."""
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        depth -= token in ")]}"
        if depth == 0:
            yield match.start(), token
        depth += token in "([{"
