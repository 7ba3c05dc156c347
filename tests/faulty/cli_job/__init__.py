"""Wrong implementations of cli-job, one named lie each, and the row that must catch it."""

from __future__ import annotations

from types import ModuleType

from tests.faulty.cli_job import asking, cancelling, concurrency, ending, printing, starting
from tests.faulty.cli_job.lie import Liar, Lie

__all__ = ["FAULTY", "Lie"]


def _lies(module: ModuleType) -> list[type[Lie]]:
    """The module's lies as they are written; a class that no row catches is only a base."""
    classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Liar)]
    return [each.system for each in classes if each.__module__ == module.__name__ and "system" in vars(each)]


FAULTY: list[type[Lie]] = [
    lie for module in (printing, starting, asking, cancelling, ending, concurrency) for lie in _lies(module)
]
"""All of them, in a stable order."""
