"""A command line tool as its callers see it: the operations of `cli-job`, each as one call of the tool.

How a call is made is not decided here: a reference is called in this process, any other tool as a process of its own.
"""

from __future__ import annotations

import itertools
import re
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.cli_tool.envelope import FIELDS, Reading, descriptor_faults, read, schema_faults
from conformance.refused import Refused
from conformance.system import Broken, HarnessError

Arguments = Sequence[str]

UNKNOWN_IDS: Final[Mapping[str, str]] = {
    "empty": "",
    "one_space": " ",
    "spaces": "no such job",
    "quotes": 'it\'s "no" `job`',
    "dash": "-",
    "option": "--no-such-option",
    "help": "--help",
    "metacharacters": "; echo $(no) && cat < /dev/null | tee * & #",
    "traversal": "../../../../etc/passwd",
    "line_break": "no\nsuch",
    "long": "x" * 4096,
}
"""Ids that nobody hands out, by what the spec calls them; `ordinary` is in the tool's own style, `no_argument` is no id at all."""

NOT_FOUND, MISUSED, NOT_RUN = 5, 2, 127
_NUMBERS: Final = ("poll_interval_ms", "timeout_ms")


@dataclass(frozen=True, slots=True)
class Finished:
    """What a call of the tool left."""

    exit: int
    stdout: str
    stderr: str = ""

    @property
    def reading(self) -> Reading:
        """What it printed, as far as it can be read."""
        return read(self.exit, self.stdout)


@dataclass(frozen=True, slots=True)
class Commands:
    """How the tool is called: argument lists, in which {key}, {job_id}, {outcome} and {ms} are filled in.

    start    by how the job that it starts ends; `running` is one that runs on
    unknown  an id in the style of the tool that it never hands out
    """

    schema: Arguments
    start: Mapping[str, Arguments]
    status: Arguments
    cancel: Arguments
    start_as: Arguments = ()
    end: Arguments = ()
    register: Arguments = ()
    advance: Arguments = ()
    unknown: str = "no-such-job"
    tokenizer: str = "posix"


def filled(arguments: Arguments, **values: str) -> list[str]:
    """Fill values in; what is filled in is not looked at again. Raises TypeError for None, which `re` takes for ""."""
    placeholders = re.compile("|".join(rf"\{{{name}\}}" for name in values))
    return [placeholders.sub(lambda found: "" + values[found[0][1:-1]], word) for word in arguments]


def _failed(name: str, hook: Arguments, finished: Finished) -> str:
    """Say of a hook that it failed."""
    said = f": {finished.stderr}" if finished.stderr else ""
    return f"the hook `{name}` fails: `{shlex.join(hook)}` ended with exit {finished.exit}{said}"


@dataclass(slots=True)
class _KnownJob:
    """What callers were told of a job."""

    arguments: list[str]
    descriptor: dict[str, Any] = field(default_factory=dict)


class CommandLine:
    """A tool, operation by operation; one object is one caller, who remembers what was printed."""

    def __init__(self, commands: Commands, run: Callable[[list[str]], Finished]) -> None:
        self._commands = commands
        self._run = run
        self._keys = itertools.count(1)
        self._jobs: dict[str, _KnownJob] = {}
        self._deviations: list[str] = []
        self._printed: Any = None
        self._lock = threading.RLock()

    # ── The operations of the life cycle

    def schema(self) -> dict[str, Any]:
        """Return what the tool declares of the commands that start jobs, bare or in the envelope."""
        finished = self._run(list(self._commands.schema))
        found = finished.reading.fields
        faults = [] if finished.exit == 0 else [f"the exit code is {finished.exit}"]
        faults += schema_faults(found.get("job_descriptor_schema"))
        return {"asynchronous": found.get("async") is True, "faults": faults}

    def start(self, outcome: str) -> dict[str, Any]:
        """Start a job, under a key that no other start had."""
        return self._started(filled(self._commands.start[outcome], key=f"key-{next(self._keys)}"))

    def start_as(self, wanted: str) -> dict[str, Any]:
        """Start a job that runs on, and ask for an id. Raises Refused when the tool does not start one."""
        job_id = UNKNOWN_IDS.get(wanted, self._commands.unknown)
        arguments = filled(self._commands.start_as, job_id=job_id, key=f"key-{next(self._keys)}")
        return self._started(arguments, refused="not_started")

    def start_again(self, original: str) -> dict[str, Any]:
        """Make the very call once more that started a job. Raises Refused when it gives the same job, as it stands, or none."""
        known = self._jobs.get(original)
        if known is None:
            raise Refused("not_found")
        return self._started(known.arguments, original, refused="not_repeated")

    def status(self, job: str, way: str = "printed") -> dict[str, Any]:
        """Ask how a job stands. Raises Refused when the tool knows no such job."""
        finished = self._run(self._command(job, way, "status"))
        reading = self._read(finished)
        if finished.exit == NOT_FOUND and reading.descriptor is None:
            raise Refused("not_found")
        return self._answer(finished, reading)

    def cancel(self, job: str, way: str = "printed") -> dict[str, Any]:
        """Ask for the end of a job."""
        finished = self._run(self._command(job, way, "cancel"))
        return self._answer(finished, self._read(finished))

    def status_of_unknown_id(self, unknown_id: str) -> dict[str, Any]:
        """Ask about an id that was never handed out."""
        return self._of_unknown_id(self._commands.status, unknown_id)

    def cancel_of_unknown_id(self, unknown_id: str) -> dict[str, Any]:
        """Ask for the end of what was never started."""
        return self._of_unknown_id(self._commands.cancel, unknown_id)

    def end(self, job: str, outcome: str) -> None:
        """End a job from outside. Raises HarnessError when the hook fails, and the job runs on."""
        hook = filled(self._commands.end, job_id=job, outcome=outcome)
        finished = self._hooked("end", hook)
        if finished.exit != 0:  # it may be that of a job which has ended, or that nobody knows
            stands = self._run(filled(self._commands.status, job_id=job)).reading.fields
            if stands.get("status") == "running":
                raise HarnessError(f"{_failed('end', hook, finished)}, and the job runs on")

    def register_without_schema(self) -> None:
        """Register a command that declares no descriptor schema, which has to fail. Raises Refused as the tool does."""
        if self._hooked("register", list(self._commands.register)).exit != 0:
            raise Refused("no_descriptor_schema")

    def deviations(self) -> dict[str, Any]:
        """Return what was not as recommended so far, each once."""
        return {"found": list(dict.fromkeys(self._deviations))}

    def wait(self, ms: int) -> None:
        """Let the tool move its clock. Raises HarnessError when the hook fails."""
        hook = filled(self._commands.advance, ms=str(ms))
        finished = self._hooked("advance", hook)
        if finished.exit != 0:
            raise HarnessError(_failed("advance", hook, finished))

    def _hooked(self, name: str, hook: list[str]) -> Finished:
        """Run a hook, which is no part of the tool; raise HarnessError when it cannot be run, or does not end."""
        try:
            finished = self._run(hook)
        except Broken as broken:
            raise HarnessError(f"the hook `{name}` fails: {broken.message}") from None
        if finished.exit == NOT_RUN:
            raise HarnessError(_failed(name, hook, finished))
        return finished

    # ── What was printed

    def _started(self, arguments: list[str], original: str = "", refused: str = "") -> dict[str, Any]:
        finished = self._run(arguments)
        reading = finished.reading
        descriptor = reading.descriptor
        if refused and finished.exit != 0 and descriptor is None:
            raise Refused(refused)
        faults = [*reading.faults, *self._faults(descriptor)]
        if descriptor is None and finished.stderr:
            faults.append(f"stderr: {finished.stderr}")
        answer = self._shown(finished, descriptor, faults)
        job_id = answer["job_id"]
        if original and job_id == original and not answer["faults"]:
            raise Refused(f"same_job_{answer['status']}")
        if isinstance(job_id, str) and descriptor is not None:
            self._jobs.setdefault(job_id, _KnownJob(arguments, descriptor))
        return answer

    def _read(self, finished: Finished) -> Reading:
        """Read a reply whose envelope is only recommended."""
        reading = finished.reading
        self._deviations += reading.faults
        return reading

    def _answer(self, finished: Finished, reading: Reading) -> dict[str, Any]:
        return self._shown(finished, reading.descriptor, list(self._faults(reading.descriptor)))

    def _shown(self, finished: Finished, descriptor: dict[str, Any] | None, faults: list[str]) -> dict[str, Any]:
        found = descriptor or {}
        shown = {name: found.get(name) for name in FIELDS if not name.endswith("_command")}
        return {"exit": finished.exit, **shown, "faults": faults}

    def _faults(self, descriptor: dict[str, Any] | None) -> Iterator[str]:
        """Tell what is wrong with a descriptor, by itself and beside the earlier ones of its job."""
        if descriptor is None:
            return
        yield from descriptor_faults(descriptor, self._declared())
        self._deviations += [
            f"{name} is {descriptor[name]}"
            for name in _NUMBERS
            if isinstance(descriptor.get(name), int) and descriptor[name] <= 0
        ]
        with self._lock:
            known = self._jobs.get(str(descriptor.get("job_id")))
            if known is None:
                return
            before = known.descriptor
            for name in ("status_command", "cancel_command"):
                if before.get(name) != descriptor.get(name):
                    yield f"{name} was {before.get(name)!r}, and is {descriptor.get(name)!r}"
            self._deviations += [
                f"{name} was {before.get(name)}, and is {descriptor.get(name)}"
                for name in _NUMBERS
                if before.get(name) != descriptor.get(name)
            ]

    def _declared(self) -> Any:
        """Return the descriptor schema that the tool prints; asked for once."""
        with self._lock:
            if self._printed is None:
                found = self._run(list(self._commands.schema)).reading.fields
                self._printed = found.get("job_descriptor_schema", False)
            return self._printed

    # ── Which command

    def _command(self, job: str, way: str, name: str) -> list[str]:
        """Return the command for a job: as its descriptor printed it, or as it is known."""
        known = self._jobs.get(job)
        printed = known.descriptor.get(f"{name}_command") if known is not None else None
        if way == "printed" and isinstance(printed, str):
            return self._tokens(printed)
        template = self._commands.status if name == "status" else self._commands.cancel
        return filled(template, job_id=job)

    def _tokens(self, printed: str) -> list[str]:
        if self._commands.tokenizer == "white_space":
            return printed.split()
        try:
            return shlex.split(printed)
        except ValueError:  # an open quote: what a shell would not run either
            return [printed]

    def _of_unknown_id(self, template: Arguments, unknown_id: str) -> dict[str, Any]:
        if unknown_id == "no_argument":
            arguments = [word for word in template if "{job_id}" not in word]
        else:
            arguments = filled(template, job_id=UNKNOWN_IDS.get(unknown_id, self._commands.unknown))
        finished = self._run(arguments)
        usage = finished.exit == MISUSED or unknown_id == "help"  # who misuses a command may be told in plain text
        reading = finished.reading if usage else self._read(finished)
        return {"exit": finished.exit, "descriptor": reading.descriptor is not None}
