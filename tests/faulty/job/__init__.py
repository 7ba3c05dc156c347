"""Wrong implementations of job, one named lie each, and the row that must catch it."""

from __future__ import annotations

from types import ModuleType

from tests.faulty.job import (
    cancelling,
    concurrency,
    delivering,
    limits,
    outcomes,
    owners,
    polling,
    replies,
    retention,
    reuse,
    suppression,
)
from tests.faulty.job.lie import Lie

__all__ = ["FAULTY", "Lie"]


def _lies(module: ModuleType) -> list[type[Lie]]:
    """The module's lies as they are written; a class without a row of its own is only a base."""
    classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Lie)]
    return [each for each in classes if each.__module__ == module.__name__ and "row" in vars(each)]


FAULTY: list[type[Lie]] = [
    lie
    for module in (
        outcomes,
        cancelling,
        polling,
        replies,
        owners,
        delivering,
        suppression,
        reuse,
        retention,
        limits,
        concurrency,
    )
    for lie in _lies(module)
]
"""All of them, in a stable order."""
