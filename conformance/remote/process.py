"""An adapter as a process of its own: its lines, the tail of what it says beside them, and its end."""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import shlex
import signal
import subprocess
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from functools import partial
from typing import IO, Any, Final

from conformance.errors import UsageError
from conformance.remote import protocol
from conformance.remote.protocol import Message, ProtocolError
from conformance.remote.turns import Turns
from conformance.system import Broken, HarnessError, came, end_marked, marked

_LINES: Final = 20  # of stderr that are told
_LONGEST_LINE: Final = 600  # characters of such a line
_CHUNK: Final = 1 << 16  # bytes
_ENDS_WITHIN: Final = 1.0  # seconds that an adapter has to end by itself
_LOOK: Final = 0.2  # seconds between two looks whether anybody still reads
Overheard = Callable[[str, bytes], object]
"""Told of every line that passes: `>` and what the kit writes, `<` and what the adapter does."""


class ProcessLink:
    """A process that answers requests on its stdin by lines on its stdout, in any order.

    usable  whether it can be asked: it has not ended, broken the protocol, or left a call without an answer
    fault   how it has broken the protocol; empty where it has not
    turns   who decides which call goes on, while calls are made at once
    """

    def __init__(self, command: str, overheard: Overheard | None = None) -> None:
        """Start it. Raises HarnessError."""
        self.usable = True
        self.fault = ""
        self.turns: Turns | None = None
        self._overheard = overheard
        self._hangs = False
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Message]] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._over = threading.Event()
        self._stderr: deque[str] = deque(maxlen=_LINES)
        self._mark = uuid.uuid4().hex
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **marked(self._mark)},
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            raise HarnessError(f"`{command}` cannot be run: {error}") from None
        self._stdin, stdout, stderr = map(_pipe, (self._process.stdin, self._process.stdout, self._process.stderr))
        os.set_blocking(self._stdin.fileno(), False)
        readers = partial(self._read_answers, stdout), partial(self._read_stderr, stderr)
        self._threads = [threading.Thread(target=each, daemon=True) for each in readers]
        for thread in self._threads:
            thread.start()

    def ask(self, method: str, params: Mapping[str, Any] | None, seconds: float, party: int | None = None) -> Any:
        """Return what a request gives; raise Refused, Broken where there is no answer, HarnessError where it is none.

        `party` is who makes the call, of those that make some at once.
        """
        number, answer = next(self._numbers), Future[Message]()
        with self._lock:
            if self.usable:
                self._waiting[number] = answer
        if self._waiting.get(number) is not answer:
            raise self._ended(method)
        turns, until = self.turns, time.monotonic() + seconds
        if turns is not None and party is not None:
            turns.sent(party, number)
        try:
            self._write(protocol.request(number, method, params), until)
            if not came(answer, max(until - time.monotonic(), 0)):
                raise TimeoutError
            return protocol.result_of(answer.result(), method, self.detail)
        except TimeoutError:
            self._hangs = True
            self._give_up()
            raise Broken("hang", f"{method} did not come back in time", self.detail) from None
        except _Ended:
            raise self._ended(method) from None
        finally:
            if turns is not None and party is not None:
                turns.came_back(party)

    @property
    def detail(self) -> str:
        """The last lines of its stderr."""
        return "\n".join(self._stderr)

    def end(self) -> None:
        """Let it end, by itself if it does, and everything that it has started."""
        well = self.usable
        if well:
            with contextlib.suppress(Exception):  # whatever comes of that, it ends
                self.ask("close", None, _ENDS_WITHIN)
        self.usable = False
        with contextlib.suppress(OSError):
            self._stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDS_WITHIN if well else 0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        end_marked(self._mark)
        self._over.set()
        for thread in self._threads:
            thread.join()

    # ── Lines ──

    def _write(self, line: bytes, until: float) -> None:
        """Write a line; raise TimeoutError where nobody reads it in time."""
        if self._overheard is not None:
            self._overheard(">", line)
        with self._writing:
            rest = memoryview(line)
            while rest:
                try:
                    if not select.select([], [self._stdin], [], max(until - time.monotonic(), 0))[1]:
                        raise TimeoutError
                    rest = rest[os.write(self._stdin.fileno(), rest) :]
                except BlockingIOError:
                    continue
                except TimeoutError:
                    raise
                except (OSError, ValueError):  # it has ended, or is about to
                    raise _Ended from None

    def _read_answers(self, stdout: IO[bytes]) -> None:
        """Hand each line over to whoever waits for it, to the end of the stream or the first that is none."""
        buffer = b""
        with stdout:
            try:
                for chunk in self._chunks(stdout):
                    *lines, buffer = (buffer + chunk).split(b"\n")
                    for line in lines:
                        self._received(line)
                    if len(buffer) > protocol.LONGEST:
                        raise _too_long(buffer)
                if buffer and not self._over.is_set():
                    raise ProtocolError(f"this line has no end: {buffer[:80]!r}")
            except ProtocolError as error:
                self.fault = str(error)
            self._give_up()

    def _received(self, line: bytes) -> None:
        if self._overheard is not None:
            self._overheard("<", line)
        if len(line) > protocol.LONGEST:
            raise _too_long(line)
        message = protocol.read(line)
        if "method" in message:
            self._point(message)
            return
        with self._lock:
            answer = self._waiting.pop(message["id"], None)
        if answer is None:
            raise ProtocolError(f"nobody waits for an answer to {message['id']}: {line[:80]!r}")
        answer.set_result(message)

    def _point(self, message: Message) -> None:
        def go() -> None:
            with contextlib.suppress(_Ended, TimeoutError):
                self._write(protocol.go(message["id"]), time.monotonic() + _ENDS_WITHIN)

        turns = self.turns
        if turns is None:
            go()
        else:
            turns.point(message["params"]["call"], go)

    def _read_stderr(self, stderr: IO[bytes]) -> None:
        rest = ""
        with stderr:
            for chunk in self._chunks(stderr):
                *lines, rest = (rest + chunk.decode("utf-8", "backslashreplace")).split("\n")
                rest = rest[-_LONGEST_LINE:]
                self._stderr.extend(line[:_LONGEST_LINE] for line in lines[-_LINES:])
        if rest:
            self._stderr.append(rest)

    def _chunks(self, stream: IO[bytes]) -> Iterator[bytes]:
        """Walk what is printed, to its end, or until nobody wants to know: who escaped with it may keep it open."""
        while not self._over.is_set():
            if select.select([stream], [], [], _LOOK)[0]:
                chunk = stream.read(_CHUNK)
                if not chunk:
                    return
                yield chunk

    # ── The end ──

    def _give_up(self) -> None:
        """Ask it no more; whoever waits is told."""
        with self._lock:
            self.usable = False
            waiting, self._waiting = list(self._waiting.values()), {}
        for each in waiting:
            each.set_exception(_Ended())

    def _ended(self, method: str) -> Exception:
        """Return what to tell of a request that nobody answers any more."""
        if self.fault:
            hint = "each line on stdout is one message, and whatever else is printed goes to stderr"
            return HarnessError(f"{self.fault}\n{hint}\n{self.detail}".rstrip())
        if self._hangs:
            return Broken("hang", f"{method} was not answered: another call had not come back", self.detail)
        try:
            code = self._process.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            return Broken("crash", f"{method} was not answered: the process closed its stdout", self.detail)
        self._threads[-1].join(_LOOK)  # its last words
        told = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return Broken("crash", f"{method} was not answered: the process {told}", self.detail)


class _Ended(Exception):
    """Raised where nobody answers any more."""


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # each was asked for as a pipe
    return stream


def _too_long(line: bytes) -> ProtocolError:
    return ProtocolError(f"this line is longer than {protocol.LONGEST} bytes: {line[:80]!r}…")


def command_of(text: str) -> str:
    """Return a command that can be run; raise UsageError where it is none."""
    try:
        if shlex.split(text):
            return text
        problem = "there is no command"
    except ValueError as error:
        problem = str(error).lower()
    raise UsageError(
        f"stdio:{text} names no adapter: {problem}; write stdio:COMMAND, for example 'stdio:node adapter.js'"
    )
