"""All wrong implementations of a package, so that a module that is new is never left out."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from typing import TypeVar

T = TypeVar("T")


def collected(package: str, folders: Iterable[str], base: type[T], own: str) -> list[type[T]]:
    """Give the classes of a package's modules that are of a base, by module and as they are written.

    A class that does not have the attribute `own` for itself is only a base of others.
    """
    modules = [import_module(f"{package}.{each.name}") for each in pkgutil.iter_modules(folders)]
    return [
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type)
        and issubclass(each, base)
        and each.__module__ == module.__name__
        and own in vars(each)
    ]
