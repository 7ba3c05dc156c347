"""Lies about ids that somebody asked for."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from conformance.references.cli_program import NOT_FOUND, Answer, Job
from tests.faulty.cli_job.lie import Liar, caught_by


@caught_by("E10", 2)
class HelpIsAlwaysHelp(Liar):
    """Wherever --help stands, the help is printed, also where a job is called so."""

    def run(self, arguments: Sequence[str]) -> tuple[int, str]:
        return super().run(["--help"] if arguments[-1] == "--help" else arguments)


@caught_by("E10", 2)
class DashIsNoJob(Liar):
    """A dash alone stands for the standard input, from which no id can be read."""

    def found(self, job_id: str) -> Job | None:
        return None if job_id == "-" else super().found(job_id)


@caught_by("E10", 2)
class OptionsAreCut(Liar):
    """Of an id that was asked for the dashes at its beginning are not kept, but printed."""

    def work(self, chosen: argparse.Namespace) -> Answer:
        code, data, error = super().work(chosen)
        if chosen.id is not None and chosen.id.strip("-") != chosen.id:
            self.state["jobs"][chosen.id.lstrip("-")] = self.state["jobs"].pop(chosen.id)
        return code, data, error


@caught_by("E11", 2)
class IdIsPath(Liar):
    """A job whose id leads to another folder is started, and not found there."""

    def status(self, chosen: argparse.Namespace) -> Answer:
        if ".." in chosen.job and self.found(chosen.job):
            return NOT_FOUND, None, "no such file"
        return super().status(chosen)
