"""Characters that no spec has, where YAML misreads an expression, and its own complaints: what to write instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_QUOTING = "put it all in double quotes, or in block style (`when: >-`, the expression on an indented line below)"
_PARENTHESES = "put an expression in parentheses: (…); put any other text in quotes"
_COMMA_HINT = "give it a line of its own, outside `{…}` and `[…]`, or put it in double quotes"
_COLON_HINT = f"`: ` ends a key wherever it stands, inside an expression too: {_QUOTING}"
_COMMENT_HINT = f"` #` starts a comment wherever it stands outside YAML's own quotes: {_QUOTING}"

_REFUSED = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_COMMENT = re.compile(r" +(#.*)")
_NEGATION = re.compile(r"(?<![^ \n])(![^ ]*) +\Z")
_COLON = re.compile(r"[ \n]*:")
_INDENTATION = "entries of one mapping or list start in one column; what belongs to an entry is indented below it"
_SQUEEZED = "a colon without a space after it"
_COMPLAINTS = (
    ("unexpected end of stream", "a quoted text is not closed", "add the closing quote"),
    ("unexpected document", "a quoted text is not closed", "add the closing quote"),
    ("unknown escape", "an unknown escape in a double-quoted text", "write \\\\ for a backslash, or single quotes"),
    ("Unicode character", "an escape names no character", "write the character itself"),
    ("hexadecimal", "an escape lacks digits", "\\x takes 2 hexadecimal digits, \\u 4 and \\U 8"),
    ("',' or '", "a `{…}` or `[…]` is not closed, or lacks a comma", "separate members by commas and close it"),
    ("node content", "a member is missing in `{…}` or `[…]`", "remove the comma or the closing bracket too many"),
    ("unexpected ':'", _SQUEEZED, "write a space after it: `name: value`"),
    ("expected ':'", "a line that is neither an entry nor part of one", "write `name: value`"),
    ("sequence entries", "a list cannot start here", "start each item, `- `, on a line of its own, below its key"),
    ("mapping values", "a `: ` that follows no key", _INDENTATION),
    ("mapping keys", "a key cannot start here", _INDENTATION),
    ("block end", "an entry does not fit the ones above it", _INDENTATION),
    ("expected key", "an entry does not fit the ones above it", _INDENTATION),
    ("'-' indicator", "an item does not fit the ones above it", _INDENTATION),
    ("indent", "the indentation is wrong", _INDENTATION),
    ("tag", "a YAML tag stands here", "tags are no part of the language: remove it, or quote the text"),
)


@dataclass(frozen=True, slots=True)
class TextFault:
    """A diagnostic whose place is still an index into the text."""

    code: str
    index: int
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Last:
    """What the parser read last before it gave up: from which index, up to which, and what it was."""

    start: int
    end: int
    kind: Literal["plain", "quoted", "flow"]


@dataclass(frozen=True, slots=True)
class SyntaxComplaint:
    """What PyYAML says of a syntax error; `context` is where the construct began in which `index` came up."""

    problem: str
    during: str
    index: int
    context: int | None


def character_faults(text: str) -> list[TextFault]:
    """Return the characters that no spec needs and that readers of YAML disagree on, the first of each line."""
    faults: list[TextFault] = []
    line_end = -1
    for found in _REFUSED.finditer(text):
        if found.start() > line_end:
            faults.append(_character_fault(found.start(), found[0]))
            line_end = text.find("\n", found.start())
            line_end = len(text) if line_end < 0 else line_end
    return faults


def _character_fault(index: int, char: str) -> TextFault:
    if char == "\t":
        return TextFault("yaml-tab", index, "a tab stands here", "use spaces; in double quotes write \\t")
    if char == "\ufeff" and index == 0:
        return TextFault("yaml-bom", index, "the file starts with a byte order mark", "save it as UTF-8 without it")
    hint = "remove it; in double quotes it can be written as an escape"
    return TextFault("yaml-character", index, f"the character U+{ord(char):04X} cannot stand in a spec", hint)


def unclosed(text: str) -> str:
    """Return the quote or bracket that would close what a piece of an expression leaves open, innermost; else empty.

    A quote right after a letter or digit opens nothing: in prose it is an apostrophe, elsewhere a mistake.
    """
    expected: list[str] = []
    quote = ""
    skipped = False
    for before, char in zip(" " + text, text, strict=False):
        if quote:
            closes = char == quote and not skipped
            skipped = char == "\\" and not skipped
            quote = "" if closes else quote
        elif char in "'\"":
            quote = "" if before.isalnum() else char
        elif char in _CLOSERS:
            expected.append(_CLOSERS[char])
        elif expected and char == expected[-1]:
            expected.pop()
    return quote or (expected[-1] if expected else "")


def comment_cut(text: str, end: int, value: str) -> TextFault | None:
    """Return a comment after a plain scalar that is really part of it: it closes what that opens, or reads `#12`."""
    comment = _COMMENT.match(text, end)
    if comment is None:
        return None
    closer = unclosed(value)
    if not (closer and closer in comment[1]) and not re.match(r"#[0-9]", comment[1]):
        return None
    message = f"YAML takes {_short(comment[1])} for a comment and cuts it off"
    return TextFault("yaml-comment-cut", comment.start(1), message, _COMMENT_HINT)


def key_cut(end: int, key: str) -> TextFault | None:
    """Return a plain key that is the first half of an expression: it leaves a quote or bracket open."""
    return _taken_for_a_key(end, key) if unclosed(key) else None


def _taken_for_a_key(end: int, piece: str) -> TextFault:
    message = f"YAML cuts the text here and takes {_short(piece)} for a key"
    return TextFault("yaml-colon-cut", end, message, _COLON_HINT)


def flow_cut(text: str, end: int, piece: str) -> TextFault:
    """Return a plain scalar inside `{…}` or `[…]` that leaves a quote or bracket open: cut at a comma or colon."""
    if _COLON.match(text, end):
        return _taken_for_a_key(end, piece)
    return _comma(end, f"YAML cuts the text here and takes {_short(piece)} for a whole")


def tag_fault(index: int, tag: str, plain: bool) -> TextFault:
    """Return a tag, which the language has none of; before a plain scalar it may be meant as a negation."""
    if plain and not tag.startswith(("!!", "!<")):
        return TextFault("yaml-special-start", index, "YAML takes a value that starts with `!` for a tag", _PARENTHESES)
    hint = "remove it: the language knows what type each value has, and quotes make any value a text"
    return TextFault("yaml-tag", index, "a YAML tag stands here", hint)


def explain(text: str, complaint: SyntaxComplaint, last: Last | None, in_flow: bool) -> TextFault:
    """Return what is wrong where PyYAML gave up, and what to write instead."""
    return (
        _misread_start(text, complaint, last)
        or _colon(text, complaint, last)
        or _bracket_in_flow(text, complaint, last, in_flow)
        or _friendly(text, complaint)
    )


def _misread_start(text: str, complaint: SyntaxComplaint, last: Last | None) -> TextFault | None:
    index = complaint.index
    here = text[index : index + 1]
    closed = last is not None and last.kind != "plain" and not text[last.end : index].strip(" ")
    if last and closed and here not in ("", ",", ":", "]", "}", "\n"):
        message = f"YAML ends a value that starts with `{text[last.start]}` where that closes, and more follows"
        return TextFault("yaml-special-start", last.start, message, _PARENTHESES)
    if "cannot start any token" in complaint.problem:
        return special_start(text, index)
    if complaint.context is not None and complaint.during.endswith(
        ("an anchor", "an alias", "a tag", "a directive", "a block scalar")
    ):
        return special_start(text, complaint.context)
    return None


def special_start(text: str, index: int) -> TextFault:
    """Return a value that starts with a character which YAML keeps for itself."""
    negation = _NEGATION.search(text, text.rfind("\n", 0, index) + 1, index)
    index = negation.start(1) if negation else index
    message = f"a value cannot start with `{text[index : index + 1]}`, which means something else in YAML"
    return TextFault("yaml-special-start", index, message, _PARENTHESES)


def _colon(text: str, complaint: SyntaxComplaint, last: Last | None) -> TextFault | None:
    index = complaint.index
    line = text[text.rfind("\n", 0, index) + 1 : index]
    half = last is not None and last.kind == "plain" and unclosed(text[last.start : last.end])
    if text[index : index + 1] != ":" or not (": " in line or half):
        return None
    return TextFault("yaml-colon-cut", index, "YAML takes the text before this colon for a key", _COLON_HINT)


def squeezed(text: str, end: int) -> TextFault | None:
    """Return a key inside `{…}` or `[…]` whose colon runs into a bracket or comma: not every reader takes that."""
    if text[end : end + 1] != ":" or text[end + 1 : end + 2] not in (",", "[", "]", "{", "}"):
        return None
    return TextFault("yaml-syntax", end, _SQUEEZED, "write a space after it: `name: value`")


def flow_end(text: str, index: int) -> TextFault:
    """Return a character inside `{…}` or `[…]` that ends a plain scalar there, for one reader of YAML or for all."""
    return _comma(index, f"inside `{{…}}` and `[…]` YAML ends a text at `{text[index]}`")


def _bracket_in_flow(text: str, complaint: SyntaxComplaint, last: Last | None, in_flow: bool) -> TextFault | None:
    index = complaint.index
    after = in_flow and last is not None and last.kind == "plain" and not text[last.end : index].strip(" ")
    return flow_end(text, index) if after and text[index : index + 1] in ("[", "{", "?") else None


def _friendly(text: str, complaint: SyntaxComplaint) -> TextFault:
    for words, message, hint in _COMPLAINTS:
        if words in complaint.problem:
            index = complaint.index
            if complaint.context is not None and "not closed" in message:
                index = complaint.context
            elif words == "unknown escape":
                index = text.rfind("\\", 0, index + 1)
            return TextFault("yaml-syntax", index, message, hint)
    message = f"YAML cannot read this: {complaint.problem}"
    return TextFault("yaml-syntax", complaint.index, message, "compare it with the lines above; quote unusual texts")


def _comma(index: int, message: str) -> TextFault:
    return TextFault("yaml-comma-in-flow", index, message, _COMMA_HINT)


def _short(text: str) -> str:
    return f"`{text}`" if len(text) <= 40 else f"`{text[:39]}…`"
