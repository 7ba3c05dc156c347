"""Lies about what is printed: the declaration, the envelope, the descriptor, the commands in it."""

from __future__ import annotations

from typing import Any

from conformance.references.cli_program import SCHEMA, Answer, Job
from tests.faulty.cli_job.lie import Liar, caught_by


@caught_by("N1", 1)
class IsNotDeclared(Liar):
    """The command that starts jobs does not say so."""

    def declaration(self) -> dict[str, Any]:
        return {**super().declaration(), "async": False}


@caught_by("N1", 1)
class CancelledIsNotDeclared(Liar):
    """The printed schema knows three words for a status."""

    def declaration(self) -> dict[str, Any]:
        properties = {**SCHEMA["properties"], "status": {"enum": ["running", "complete", "failed"]}}
        return {**super().declaration(), "job_descriptor_schema": {**SCHEMA, "properties": properties}}


@caught_by("N1", 1)
class OptionalTimeout(Liar):
    """By the printed schema a descriptor need not have timeout_ms."""

    def declaration(self) -> dict[str, Any]:
        required = [name for name in SCHEMA["required"] if name != "timeout_ms"]
        return {**super().declaration(), "job_descriptor_schema": {**SCHEMA, "required": required}}


@caught_by("N2", 1)
class SchemaIsBroken(Liar):
    """The descriptor does not fit the schema that --schema prints."""

    def declaration(self) -> dict[str, Any]:
        properties = {**SCHEMA["properties"], "job_id": {"type": "string", "pattern": "^[0-9]+$"}}
        return {**super().declaration(), "job_descriptor_schema": {**SCHEMA, "properties": properties}}


@caught_by("N2", 1)
class TerminalIsAlwaysTrue(Liar):
    """terminal says that there is nothing left to do, whatever the status."""

    def descriptor(self, job_id: str, job: Job) -> dict[str, Any]:
        return {**super().descriptor(job_id, job), "terminal": True}


@caught_by("N2", 1)
class NoPollInterval(Liar):
    """The descriptor has six fields."""

    def descriptor(self, job_id: str, job: Job) -> dict[str, Any]:
        found = super().descriptor(job_id, job)
        del found["poll_interval_ms"]
        return found


@caught_by("N2", 1)
class TimeoutIsAText(Liar):
    """timeout_ms is written as a text."""

    def descriptor(self, job_id: str, job: Job) -> dict[str, Any]:
        return {**super().descriptor(job_id, job), "timeout_ms": "60000"}


@caught_by("N2", 1)
class StartGreets(Liar):
    """A line for people stands before the envelope of a start."""

    def printed(self, envelope: dict[str, Any]) -> str:
        started = envelope["data"] is not None and "job_id" in envelope["data"] and envelope["ok"]
        return f"{'Started.' if started else ''}\n{super().printed(envelope)}"


@caught_by("X1", 2)
class FailureIsOk(Liar):
    """The envelope of a status says ok, whatever the exit code."""

    def envelope(self, code: int, data: Any, error: str | None) -> dict[str, Any]:
        return {**super().envelope(code, data, error), "ok": True}


@caught_by("X1", 2)
class PollIsZero(Liar):
    """poll_interval_ms of a status is 0: ask as often as you like."""

    def status(self, chosen: Any) -> Answer:
        code, data, error = super().status(chosen)
        return code, data and {**data, "poll_interval_ms": 0}, error


@caught_by("E6", 4)
class CommandIsNotQuoted(Liar):
    """The printed commands join their words with spaces, whatever is in them."""

    def command(self, *words: str) -> str:
        return " ".join([*self.tool, *words])


@caught_by("E6", 8)
class DashIsAnOption(Liar):
    """In the printed commands an id that starts with a dash reads as an option."""

    def command(self, *words: str) -> str:
        return super().command(*(word for word in words if word != "--"))


@caught_by("N8", 2)
class PrintsTheOtherCommand(Liar):
    """The printed status command is that of a cancel."""

    def descriptor(self, job_id: str, job: Job) -> dict[str, Any]:
        found = super().descriptor(job_id, job)
        return {**found, "status_command": found["cancel_command"]}
