"""Values in words: as the language of specs writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

WORD = 12  # signs that are left out of a long value besides, so that no word is cut


def spelled(value: Any, single: Callable[[Any], str] = repr) -> str:
    """Write a value as the language does, whole: its words for no value and for truth, and fields without quotes.

    single  writes what is no list, no record, no truth and not nothing
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case dict():
            return f"{{{', '.join(f'{name}: {spelled(each, single)}' for name, each in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(spelled(each, single) for each in value)}]"
        case _:
            return single(value)


def shown(value: Any) -> str:
    """Write a value for a message; of a long one both ends."""
    text = spelled(value)
    if len(text) <= 160:
        return text
    end, start = text.rfind(" ", 100 - WORD, 101), text.find(" ", len(text) - 51, len(text) - 50 + WORD)
    return f"{text[: end if end >= 0 else 100]} … {text[start + 1 if start >= 0 else -50 :]}"
