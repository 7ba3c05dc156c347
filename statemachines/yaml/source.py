"""YAML text to a tree with places: strict, by YAML 1.2's core rules, every fault reported at once."""

from __future__ import annotations

from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

from statemachines.diagnostics import Diagnostic, SpecError, Where
from statemachines.yaml.positions import SourceText
from statemachines.yaml.tree import Node

if TYPE_CHECKING:
    from statemachines.yaml.builder import Loader

LARGEST_FILE: Final = 1 << 20
"""The most bytes a file may have."""


@lru_cache(maxsize=64)
def read(text: str, file: str, *, loader: Loader | None = None) -> Node:
    """Return the tree of a YAML text; SpecError with every fault in it, but none below a syntax error.

    `file` is the name that places bear. Every loader makes the same tree; the fastest is taken. It is read once.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > LARGEST_FILE:
        raise SpecError([_too_large(Where(file, 1, 1), size)])
    from statemachines.yaml.builder import LOADER, build  # PyYAML: only who reads a file pays for it

    return build(SourceText(file, text.replace("\r\n", "\n")), loader or LOADER)


def read_file(path: str | PathLike[str], *, name: str | None = None) -> Node:
    """Return the tree of a YAML file; SpecError also if it is missing, unreadable, over 1 MiB or not UTF-8.

    Places bear `name`, by default the path as given.
    """
    start = Where(name or str(path), 1, 1)
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
            size = max(len(content), stream.seek(0, 2)) if len(content) > LARGEST_FILE else len(content)
    except FileNotFoundError:
        hint = "check the path; it is relative to the directory in which the command runs"
        raise SpecError([Diagnostic("file-not-found", start, "there is no such file", hint)]) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = "give the path of a spec file that can be read"
        raise SpecError([Diagnostic("file-unreadable", start, f"the file cannot be read: {reason}", hint)]) from None
    if size > LARGEST_FILE:
        raise SpecError([_too_large(start, size)])
    return read(_decoded(content, start.file), start.file)


def _too_large(where: Where, size: int) -> Diagnostic:
    hint = "a spec describes one life cycle in a few hundred lines: split it, or check that it is the right file"
    return Diagnostic("file-too-large", where, f"the file has {size} bytes, the most is {LARGEST_FILE}", hint)


def _decoded(content: bytes, file: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8").replace("\r\n", "\n")
        where = SourceText(file, before).where(len(before))
        message = f"the file is not UTF-8: byte 0x{content[error.start]:02x} cannot stand here"
        raise SpecError([Diagnostic("file-not-utf8", where, message, "save the file as UTF-8")]) from None
