"""A class of somebody else: found by its name, asked for the arguments that it takes and the lines that are its own."""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from conformance.adapter import HarnessError
from conformance.concurrent import is_own


def resolve(target: str) -> Callable[[], Any]:
    """Import `module:Class`; raise HarnessError that says what is missing."""
    module_name, colon, attribute = target.partition(":")
    if not colon or not module_name or not attribute:
        raise HarnessError(f"{target!r} is not module:Class, for example my_jobs:MyJobs")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        raise HarnessError(
            f"there is no module {missing!r}; it is looked for in this directory and in what is installed"
        ) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever its import raises is told, not shown as ours
        raise HarnessError(f"{module_name} cannot be imported: {type(error).__name__}: {error}") from None
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            close = difflib.get_close_matches(
                part, [name for name in vars(found) if not name.startswith("_")], n=1
            )
            raise HarnessError(
                f"{module_name} has no {part!r}{f'; did you mean {close[0]!r}?' if close else ''}"
            )
        found = getattr(found, part)
    if not callable(found):
        raise HarnessError(
            f"{target} is {type(found).__name__}, and a class or a function that makes an object is needed"
        )
    factory: Callable[[], Any] = found
    return factory


def takes(method: Callable[..., Any], names: Sequence[str]) -> bool:
    """Tell whether a method can be called with arguments of these names; where nobody can say, it can."""
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError:
        return False
    return True


def source_files(kind: type) -> list[str]:
    """Give the files of a class and of its bases, whatever package they are in."""
    modules = [sys.modules.get(each.__module__) for each in inspect.getmro(kind) if each is not object]
    return [file for module in modules if (file := getattr(module, "__file__", None))]


def own_lines(error: BaseException, own: frozenset[str]) -> str:
    """Give the last lines of a traceback that are the system's own."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own(frame.filename, own)]
    return "\n".join(
        f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in frames[-3:]
    )
