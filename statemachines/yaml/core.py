"""YAML 1.2's core rules: which characters may stand in a text, and what a plain scalar is worth."""

from __future__ import annotations

import re
from typing import Final

from statemachines.yaml.traps import TextFault

_REFUSED = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_PREFIXED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_LIMIT: Final = 1 << 63
_LONGEST_NUMBER: Final = 40


def resolve(text: str) -> str | int | bool | None:
    """Return what a plain scalar stands for: null, a boolean, an integer, else its text (`on`, `12:30`, `1.5`)."""
    if text in _WORDS:
        return _WORDS[text]
    if not _DECIMAL.fullmatch(text) and not _PREFIXED.fullmatch(text):
        return text
    if len(text) > _LONGEST_NUMBER:
        return -_LIMIT if text.startswith("-") else _LIMIT
    return int(text, 0 if text[:2] in ("0o", "0x") else 10)


def fits(value: str | int | bool | None) -> bool:
    """Return whether a value takes at most 64 bits, if it is a number."""
    return not isinstance(value, int) or -_LIMIT < value < _LIMIT


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
