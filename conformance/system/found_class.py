"""A class of somebody else: found by its name, asked for the arguments that it takes and the lines that are its own."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from conformance.errors import UsageError
from conformance.system.importing import imported
from conformance.system.tracing import is_own
from statemachines.diagnostics import did_you_mean

_HINTED = 8  # of a module's own names, in a hint


def resolve(target: str) -> Callable[[], Any]:
    """Import `module:Class`; raise UsageError when there is none, HarnessError when its import fails."""
    module_name, colon, attribute = target.partition(":")
    if not colon or not module_name or not attribute:
        raise UsageError(f"{target!r} is not module:Class, for example my_jobs:MyJobs")
    found: Any = imported(module_name)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(f"{module_name} has no {part!r}{_instead(part, found)}")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(
            f"{target} is {type(found).__name__}, and a class or a function that makes an object is needed"
        )
    factory: Callable[[], Any] = found
    return factory


def _instead(name: str, found: Any) -> str:
    """Say which of a module's names may be meant, or else which classes are its own."""
    hint = did_you_mean(name, (each for each in vars(found) if not each.startswith("_")))
    if hint:
        return f"; {hint}"
    own = [each for each, value in vars(found).items() if getattr(value, "__module__", "") == found.__name__]
    return f"; it has {', '.join(own[:_HINTED])}" if own else ""


def place_of(kind: Any) -> str:
    """Return `file:line:column: ` of a class or a function, or "" where nobody can say."""
    try:
        lines, first = inspect.getsourcelines(kind)
        file = inspect.getsourcefile(kind)
    except (TypeError, OSError):
        return ""
    return f"{file}:{first}:{len(lines[0]) - len(lines[0].lstrip()) + 1}: "


def takes(method: Callable[..., Any], names: Sequence[str]) -> bool:
    """Return whether a method can be called with arguments of these names; where nobody can say, it can."""
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
    """Return the files of a class and of its bases, whatever package they are in."""
    modules = [sys.modules.get(each.__module__) for each in inspect.getmro(kind) if each is not object]
    return [file for module in modules if (file := getattr(module, "__file__", None))]


def own_lines(error: BaseException, own: frozenset[str]) -> str:
    """Return the last lines of a traceback that are the system's own."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own(frame.filename, own)]
    return "\n".join(f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in frames[-3:])
