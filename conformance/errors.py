"""What is told to whoever calls the kit wrongly, as one error that says what to do instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from statemachines.diagnostics import SpecError


class UsageError(ValueError):
    """What was given cannot be used: no such life cycle, row or target, or a file with faults.

    The message says what is wrong and what to do instead; faults of a file stand in it line by line, with their places.
    """


@contextmanager
def faults_told(what: str) -> Iterator[None]:
    """Raise UsageError for a SpecError of the body: `the WHAT has faults`, and each of them."""
    try:
        yield
    except SpecError as error:
        raise UsageError(f"the {what} has faults\n{error}") from None
