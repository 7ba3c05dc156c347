"""A system that is a command line tool: every call is a process of its own, without a shell."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from typing import IO, Any, ClassVar, Final

from conformance.cli_tool.command_line import NOT_RUN, CommandLine, Finished, filled
from conformance.cli_tool.target_file import Target
from conformance.system import Adapter, Broken, Declare, Signature, end_marked, marked, slices

LARGEST_OUTPUT: Final = 1 << 20  # bytes that a command may print
_PROCESSES: Final = 3  # one call of an operation may take so many
_LINES: Final = 20  # of stderr are told; of all that is printed so many at both ends are recorded
_LONGEST_LINE: Final = 600  # characters of a line that is recorded


class Tool(CommandLine):
    """One case of a tool: a folder of its own, and nothing left running when it is closed."""

    declares: ClassVar[Mapping[str, Any]] = {}
    target: ClassVar[Target]
    seconds: ClassVar[float] = 0.0  # for one process

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="conformance-")
        self._mark = uuid.uuid4().hex
        self.transcript: list[str] = []  # of each process: its command, its exit code, what it printed
        self._cwd, *values = filled([self.target.cwd, *self.target.env.values()], dir=self._folder)
        self._environment = {
            **os.environ,
            **dict(zip(self.target.env, values, strict=True)),
            **marked(self._mark),
        }
        super().__init__(self.target.commands, self._process)

    def close(self) -> None:
        """End what the case has left running, and remove its folder."""
        end_marked(self._mark)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _process(self, arguments: Sequence[str]) -> Finished:
        """Run one command; raise Broken when it does not end, or prints too much.

        stdout is a file, so a job that keeps it open does not make its start wait.
        """
        words = filled(arguments, dir=self._folder)
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            try:
                process = subprocess.Popen(
                    words,
                    cwd=self._cwd,
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:  # what a shell tells with 127
                self._record(words, "cannot be run", str(error))
                return Finished(NOT_RUN, "", str(error))
            code = self._exit_of(process)
            if code is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                said = f"`{shlex.join(words)}` did not end within {self.seconds:g} s"
                self._record(words, f"did not end within {self.seconds:g} s", _tail(_content(stderr)))
                raise Broken("hang", said, _tail(_content(stderr)))
            printed, told = _content(stdout), _tail(_content(stderr))
            if len(printed) > LARGEST_OUTPUT:
                self._record(words, f"printed more than {LARGEST_OUTPUT} bytes")
                raise Broken("shape", f"`{shlex.join(words)}` printed more than {LARGEST_OUTPUT} bytes")
            text = printed.decode("utf-8", "backslashreplace")
            self._record(words, f"exit {code}", text, told)
            return Finished(code, text, told)

    def _exit_of(self, process: subprocess.Popen[bytes]) -> int | None:
        """Wait for a process to end; return its exit code, or None after the time limit."""
        for part in slices(self.seconds):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(part)
        return None

    def _record(self, words: Sequence[str], *said: str) -> None:
        command = f"$ {shlex.join(words)}".replace("\n", "\\n")
        lines = [command, *(f"  {line}" for text in said for line in text.splitlines())]
        if len(lines) > 2 * _LINES:
            lines = [*lines[:_LINES], f"  … {len(lines) - 2 * _LINES} lines more", *lines[-_LINES:]]
        lines = [line.replace(self._folder, "{dir}") for line in lines]
        self.transcript += [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in lines]


class CommandLineAdapter(Adapter):
    """Drives a tool. The time limit is that of one process, and an operation may take several."""

    costly = True
    seen_inside = False  # processes run side by side as the operating system has it

    def __init__(
        self, kind: type[Tool], name: str, operations: Mapping[str, Signature], declare: Declare, limit: float
    ) -> None:
        self._tool = kind
        super().__init__(kind, name, operations, declare, limit)

    def transcript(self) -> tuple[str, ...]:
        """Return what was run and printed, line by line; {dir} is the folder of the case."""
        return tuple(getattr(self._instance, "transcript", ()))

    @property
    def limit(self) -> float:
        """Seconds for one process."""
        return self._tool.seconds

    @limit.setter
    def limit(self, seconds: float) -> None:
        self._tool.seconds = seconds

    @property
    def patience(self) -> float:
        """Seconds for one operation: for its processes, and one for what lies between them."""
        return _PROCESSES * self.limit + 1


def tool_of(target: Target) -> type[Tool]:
    """Return the class of a tool, without the operations that it lacks."""
    lacking = dict.fromkeys(target.declares["lacks"])
    return type("Tool", (Tool,), {**lacking, "target": target, "declares": target.declares})


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(LARGEST_OUTPUT + 1)


def _tail(stderr: bytes) -> str:
    return "\n".join(stderr.decode("utf-8", "backslashreplace").splitlines()[-_LINES:])
