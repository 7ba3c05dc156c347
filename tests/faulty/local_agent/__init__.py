"""Wrong implementations of local-agent, one named lie each, and the row that must catch it."""

from __future__ import annotations

from types import ModuleType

from tests.faulty.local_agent import (
    aborting,
    concurrency,
    ending,
    evicting,
    foregrounding,
    late,
    messages,
    registering,
    sessions,
    telling,
)
from tests.faulty.local_agent.lie import Lie

__all__ = ["FAULTY", "Lie"]


def _lies(module: ModuleType) -> list[type[Lie]]:
    """The module's lies as they are written; a class without a row of its own is only a base."""
    classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Lie)]
    return [each for each in classes if each.__module__ == module.__name__ and "row" in vars(each)]


FAULTY: list[type[Lie]] = [
    lie
    for module in (
        registering,
        foregrounding,
        late,
        ending,
        telling,
        sessions,
        messages,
        evicting,
        aborting,
        concurrency,
    )
    for lie in _lies(module)
]
"""All of them, in a stable order."""
