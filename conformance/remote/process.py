"""An adapter as a process of its own: its lines, and its end.

One idea: whatever it writes, and whenever it ends, each request has an answer or a reason why there is none.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import IO, Any, Final

from conformance.errors import UsageError
from conformance.remote import pipes, protocol
from conformance.remote.last_lines import LastLines
from conformance.remote.pipes import Ended
from conformance.remote.protocol import CLOSES_WITHIN, Message, ProtocolError
from conformance.remote.turns import CallsAtOnce
from conformance.remote.waits import Waits
from conformance.system import Broken, HarnessError, came, end_marked, marked

_LAST_WORDS: Final = 0.2  # seconds within which what an ended process has printed is read
_HINT: Final = "each line on stdout is one message, and whatever else is printed goes to stderr"
Overheard = Callable[[str, bytes], object]
"""Told of every line that passes: `>` and what the kit writes, `<` and what the adapter does."""


class ProcessLink:
    """A process that answers requests on its stdin by lines on its stdout, in any order.

    spent   whether somebody was told that it cannot be asked any more
    points  whether it may tell of points
    turns   who decides which call goes on, while calls are made at once
    waits   which calls wait for the clock
    """

    tells = True  # an adapter of this kind is able to tell of points

    def __init__(self, command: str, overheard: Overheard | None = None) -> None:
        """Start it. Raises HarnessError."""
        self.spent = False
        self.points = False
        self.turns: CallsAtOnce | None = None
        self.waits = Waits()
        self._overheard = overheard
        self._usable = True  # it has not ended, broken the protocol, or left a call without an answer
        self._fault = ""  # how it has broken the protocol
        self._hangs = False
        self._rest = b""  # of a line without an end
        self._numbers = itertools.count(1)
        self._asked = 0
        self._at_points: dict[int | str, int | None] = {}  # the call that waits at each point
        self._waiting: dict[int | None, Future[Message]] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._over = threading.Event()
        self._stderr = LastLines()
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

    def answer(
        self, method: str, params: Mapping[str, Any] | None, seconds: float, party: int | None = None
    ) -> Message:
        """Return the answer to a request; raise Broken where there is none, HarnessError where the protocol is broken.

        `party` is who makes the call, of those that make some at once.
        """
        number, turns = next(self._numbers), self.turns
        line = protocol.request(number, method, params)
        if turns is not None and party is not None:
            turns.sent(party, number)
        try:
            answer = self._answered(number, line, seconds)
        except Ended:
            self.spent = True
            raise self._ended(method) from None
        finally:
            if turns is not None and party is not None:
                turns.came_back(party)
        if answer is None:
            self.spent = True
            self._hang()
            until = self.waits.until(number)
            waited = "" if until is None else f"; it told that it waits until {until}"
            raise Broken("hang", f"{method} did not come back in time{waited}{self._unfinished}", self.detail)
        return answer

    def answer_to_line(self, line: bytes, seconds: float) -> Message | None:
        """Write a line that is no request; return what is said of it, None where nothing is within so many seconds."""
        with contextlib.suppress(Ended):
            return self._answered(None, line, seconds)
        return None

    @property
    def detail(self) -> str:
        """The last lines of its stderr."""
        return str(self._stderr)

    def end(self, seconds: float = CLOSES_WITHIN) -> bool:
        """End it within so many seconds, and everything that it has started; return whether it ended by itself."""
        until = time.monotonic() + (min(seconds, CLOSES_WITHIN) if self._usable else 0)
        with contextlib.suppress(Exception):  # whatever comes of that, it ends
            self.answer("close", None, until - time.monotonic())
        self._give_up()
        with contextlib.suppress(OSError):
            self._stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0 if self._hangs else max(until - time.monotonic(), 0))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        ended = self._process.wait() != -signal.SIGKILL
        end_marked(self._mark)
        self._over.set()
        for thread in self._threads:
            thread.join()
        return ended

    # ── Lines ──

    def _answered(self, number: int | None, line: bytes, seconds: float) -> Message | None:
        """Write a line; return what answers it, None where nothing does within so many seconds. Raises Ended."""
        answer, until = Future[Message](), time.monotonic() + seconds
        with self._lock:
            if not self._usable:
                raise Ended
            self._waiting[number] = answer
            self._asked = max(self._asked, number or 0)
        try:
            self._write(line, until)
            if came(answer, max(until - time.monotonic(), 0)):
                return answer.result()
        except TimeoutError:
            self._hang()
        with self._lock:
            self._waiting.pop(number, None)
        return None

    def _write(self, line: bytes, until: float) -> None:
        """Write a line; raise TimeoutError where nobody reads it in time, and Ended where nobody ever will."""
        if self._overheard is not None:
            self._overheard(">", line)
        if not self._writing.acquire(timeout=max(until - time.monotonic(), 0)):
            raise TimeoutError
        try:
            pipes.write(self._stdin, line, until)
        finally:
            self._writing.release()

    def _read_answers(self, stdout: IO[bytes]) -> None:
        """Hand each line over to whoever waits for it, to the end of the stream or the first that is none."""
        with stdout:
            try:
                for chunk in pipes.chunks(stdout, self._over):
                    *lines, self._rest = (self._rest + chunk).split(b"\n")
                    for line in lines:
                        self._received(line)
                    if len(self._rest) > protocol.LONGEST:
                        raise _too_long(self._rest)
            except ProtocolError as error:
                with self._lock:
                    self._fault = str(error) if self._usable else ""  # of what comes too late nobody cares
            except Exception as error:  # noqa: BLE001 - or nobody would ever hear of an answer again
                self._fault = str(HarnessError.of_the_kit(error))
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
            if message["id"] is not None and message["id"] in self._at_points.values():
                raise ProtocolError(f"it answers request {message['id']}, of which it said that it waits at a point")
            answer = self._waiting.pop(message["id"], None)
            self.waits.tell(message["id"], None)
        if answer is not None:
            answer.set_result(message)
        elif message["id"] is None:
            raise ProtocolError(f"a request could not be read there: {protocol.shortened(line)}")
        else:
            raise ProtocolError(f"nobody waits for an answer to {message['id']}: {protocol.shortened(line)}")

    def _point(self, message: Message) -> None:
        """Hold a call that has come to a point, or let it go on; raise ProtocolError where there can be none.

        One that tells of an instant waits there for the clock, and not for an answer.
        """
        point, call, turns = message["id"], message["params"]["call"], self.turns
        until = message["params"].get("until")

        def go() -> None:
            with self._lock:
                self._at_points.pop(point, None)
            try:
                self._write(protocol.go(point), time.monotonic() + CLOSES_WITHIN)
            except TimeoutError:  # half a line may have been written
                self._hang()
            except Ended:  # who reads its answers will notice
                pass

        if not self.points and until is None:
            raise ProtocolError("it tells of a point, and did not say at hello that it does")
        if call is not None and not 0 < call <= self._asked:
            raise ProtocolError(f"it tells of a point of request {call}, and there was none of that id")
        with self._lock:
            if point in self._at_points:
                raise ProtocolError(f"it tells of two points {point!r} at once")
            if call in self._waiting:
                self.waits.tell(call, until)
            if until is None:
                self._at_points[point] = call
        if until is not None and turns is not None:
            turns.waits(call)
        if until is not None or turns is None:
            go()
        else:
            turns.point(call, go)

    def _read_stderr(self, stderr: IO[bytes]) -> None:
        with stderr:
            for chunk in pipes.chunks(stderr, self._over):
                self._stderr.add(chunk)

    # ── The end ──

    def _hang(self) -> None:
        """Note that it does not answer, or does not read what it is asked."""
        with self._lock:
            self._hangs = self._hangs or self._usable
        self._give_up()

    def _give_up(self) -> None:
        """Ask it no more; whoever waits is told."""
        with self._lock:
            self._usable = False
            waiting, self._waiting = list(self._waiting.values()), {}
        for each in waiting:
            each.set_exception(Ended())

    def _ended(self, method: str) -> Exception:
        """Return what to tell of a request that nobody answers any more."""
        if not (self._fault or self._hangs):
            for thread in self._threads:  # to its last words
                thread.join(_LAST_WORDS)
        if self._fault:
            return HarnessError(f"{self._fault}\n{_HINT}\n{self.detail}".rstrip())
        if self._hangs:
            return Broken("hang", f"{method} was not answered: another call had not come back", self.detail)
        try:
            code = self._process.wait(_LAST_WORDS)
        except subprocess.TimeoutExpired:
            return Broken("crash", f"{method} was not answered: the process closed its stdout", self.detail)
        told = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return Broken("crash", f"{method} was not answered: the process {told}{self._unfinished}", self.detail)

    @property
    def _unfinished(self) -> str:
        """What was written of a line whose end never came, in words."""
        return f"; a line on stdout has no end yet: {protocol.shortened(self._rest)}" if self._rest else ""


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # each was asked for as a pipe
    return stream


def _too_long(line: bytes) -> ProtocolError:
    return ProtocolError(f"this line is longer than {protocol.LONGEST} bytes: {protocol.shortened(line)}")


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
