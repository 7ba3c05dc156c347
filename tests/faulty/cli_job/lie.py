"""What every wrong implementation of cli-job says about itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from conformance.references.cli_job import CliJobs
from conformance.references.cli_program import JobTool


class Lie(CliJobs):
    """A tool that is right but for one named behaviour.

    `calls` counts operation calls: arrangements, waits, and those whose reply shows the lie. Calls that run at the
    same time count one each, with the fewest callers that can show it.
    """

    row: ClassVar[str]
    """The row of the matrix that must catch it."""

    calls: ClassVar[int]
    """The length of the shortest counterexample."""


class Liar(JobTool):
    """A program with one lie; it is made a system by `caught_by`."""

    system: ClassVar[type[Lie]]


def caught_by(row: str, calls: int, **more: Any) -> Callable[[type[Liar]], type[Liar]]:
    """Make a lying program a system under test; `more` is what else the system declares."""

    def made(program: type[Liar]) -> type[Liar]:
        words = {"__doc__": program.__doc__, "__module__": program.__module__, "program": program}
        declares = {**CliJobs.declares, **more}
        program.system = type(program.__name__, (Lie,), {**words, "declares": declares, "row": row, "calls": calls})
        return program

    return made
