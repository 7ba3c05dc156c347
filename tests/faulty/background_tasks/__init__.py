"""Wrong implementations of background-tasks, one named lie each, and the row that must catch it."""

from __future__ import annotations

from types import ModuleType

from tests.faulty.background_tasks import (
    cancelling,
    concurrency,
    delivery,
    ending,
    handles,
    history,
    rows,
    waiting,
)
from tests.faulty.background_tasks.lie import Lie

__all__ = ["FAULTY", "Lie"]


def _lies(module: ModuleType) -> list[type[Lie]]:
    """The module's lies as they are written; a class without a row of its own is only a base."""
    classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Lie)]
    return [each for each in classes if each.__module__ == module.__name__ and "row" in vars(each)]


FAULTY: list[type[Lie]] = [
    lie
    for module in (ending, rows, cancelling, delivery, waiting, history, handles, concurrency)
    for lie in _lies(module)
]
"""All of them, in a stable order."""
