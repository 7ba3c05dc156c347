"""Wrong implementations of task-progress, one named lie each, and the row that must catch it."""

from __future__ import annotations

from types import ModuleType

from tests.faulty.task_progress import batches, concurrency, counting, life, listing, telling
from tests.faulty.task_progress.lie import Lie

__all__ = ["FAULTY", "Lie"]


def _lies(module: ModuleType) -> list[type[Lie]]:
    """The module's lies as they are written; a class without a row of its own is only a base."""
    classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Lie)]
    return [each for each in classes if each.__module__ == module.__name__ and "row" in vars(each)]


FAULTY: list[type[Lie]] = [
    lie for module in (life, counting, listing, telling, batches, concurrency) for lie in _lies(module)
]
"""All of them, in a stable order."""
