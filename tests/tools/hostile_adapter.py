"""An adapter of task-progress that does to the kit what no adapter should: `hostile_adapter.py WAY`.

Behind it is a small right system that has four operations; most ways misbehave at `finish`, so rows without it hold.
It stands alone, so that it starts at once.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, ClassVar, Final

MIB: Final = 1 << 20
OPERATIONS: Final = ["create_task", "start", "finish", "status"]
LIMIT: Final = 0.6  # seconds that a test gives a call
Message = dict[str, Any]


class Adapter:
    """Answers one request after the other, as it should."""

    welcome: ClassVar[Message] = {"protocol": 1, "declares": {"concurrency": "threads"}, "operations": OPERATIONS}

    def __init__(self) -> None:
        self.tasks: dict[str, str] = {}

    def serve(self) -> None:
        """Answer to the end of stdin, or until it is told to close."""
        while line := sys.stdin.buffer.readline():
            if not line.startswith(b"{"):
                continue
            message = json.loads(line)
            self.handle(message)
            if message.get("method") == "close":
                return

    def handle(self, message: Message) -> None:
        """Answer one request."""
        self.write(self.answer(message))

    def answer(self, message: Message) -> Message:
        """Return the answer to a request."""
        return {
            "jsonrpc": "2.0",
            "id": message["id"],
            "result": self.result(message["method"], message.get("params", {})),
        }

    def result(self, method: str, given: Message) -> Any:
        """Carry out a request."""
        match method:
            case "hello":
                return self.welcome
            case "reset":
                self.tasks = {}
            case "signals":
                return []
            case "create_task":
                task = f"task-{len(self.tasks) + 1}"
                self.tasks[task] = "pending"
                return {"task_id": task, "status": "pending"}
            case "start":
                self.tasks[given["task"]] = "running"
            case "finish":
                if self.tasks[given["task"]] == "running":
                    self.tasks[given["task"]] = given["outcome"]
            case "status":
                return self.tasks[given["task"]]
        return None

    def write(self, message: Message, end: str = "\n") -> None:
        """Write a message as a line."""
        self.raw(f"{json.dumps(message)}{end}".encode())

    def raw(self, line: bytes) -> None:
        """Write bytes."""
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


Way = Callable[[Adapter, Message], None]
WAYS: dict[str, type[Adapter]] = {}


def at(method: str) -> Callable[[Way], Way]:
    """Let an adapter do something else at one method, under the name of the function."""

    def add(way: Way) -> Way:
        def handle(self: Adapter, message: Message) -> None:
            (way if message["method"] == method else Adapter.handle)(self, message)

        WAYS[way.__name__] = type(way.__name__, (Adapter,), {"handle": handle})
        return way

    return add


def welcoming(name: str, welcome: Any, base: type[Adapter] = Adapter) -> None:
    """Let an adapter answer hello in another way."""
    WAYS[name] = type(name, (base,), {"welcome": welcome})


def declaring(**declares: Any) -> Message:
    """Return an answer to hello that declares something."""
    return {"protocol": 1, "declares": declares}


WAYS["right"] = Adapter

# ── No answer, or late ──


@at("hello")
def silent_at_hello(self: Adapter, message: Message) -> None:
    pass


@at("finish")
def silent(self: Adapter, message: Message) -> None:
    pass


@at("reset")
def silent_at_reset(self: Adapter, message: Message) -> None:
    pass


@at("finish")
def slow(self: Adapter, message: Message) -> None:
    time.sleep(LIMIT / 3)
    self.write(self.answer(message))


@at("finish")
def too_slow(self: Adapter, message: Message) -> None:
    time.sleep(LIMIT * 1.5)
    self.write(self.answer(message))


@at("reset")
def never_reads(self: Adapter, message: Message) -> None:
    self.write(self.answer(message))
    time.sleep(600)


# ── Lines that are no messages ──


def writes(name: str, *lines: bytes | Callable[[bytes], bytes]) -> None:
    """Let an adapter write something else than the answer of `finish`; what is called is given the right line."""

    def way(self: Adapter, message: Message) -> None:
        right = json.dumps(self.answer(message)).encode()
        for line in lines:
            self.raw(line if isinstance(line, bytes) else line(right))

    way.__name__ = name
    at("finish")(way)


def replies(name: str, text: str) -> None:
    """Let `status` give a result that is written so."""

    def way(self: Adapter, message: Message) -> None:
        self.raw(f'{{"jsonrpc": "2.0", "id": {message["id"]}, "result": {text}}}\n'.encode())

    way.__name__ = name
    at("status")(way)


writes("garbage", b"finished a task\n")
writes("invalid_utf8", b'{"jsonrpc": "2.0", "id": 1, "result": "\xff\xfe"}\n')
writes("byte_order_mark", lambda right: b"\xef\xbb\xbf" + right + b"\n")
writes("empty_line", b"\n", lambda right: right + b"\n")
writes("carriage_return", lambda right: right + b"\r\n")
writes("two_on_a_line", lambda right: right + right + b"\n")
writes("duplicate_key", lambda right: right.replace(b"{", b'{"jsonrpc": "2.0", ', 1) + b"\n")
writes("answers_twice", lambda right: right + b"\n", lambda right: right + b"\n")
writes("wrong_id", lambda right: right.replace(b'"id": ', b'"id": 77') + b"\n")
writes("text_id", lambda right: right.replace(b'"id": ', b'"id": "x", "was": ') + b"\n")
writes("result_and_error", lambda right: right[:-1] + b', "error": {"code": 1, "message": "both"}}\n')
writes("neither", lambda right: right.replace(b', "result": null', b"") + b"\n")
writes("asks", lambda right: right.replace(b'"result": null', b'"method": "ask", "params": {}') + b"\n")
writes("long_line", *[b"x" * MIB] * 100, b"\n")
replies("large_reply", f'"{"x" * 50 * MIB}"')
replies("deep", "[" * 100_000 + "]" * 100_000)
replies("quite_deep", "[" * 900 + "]" * 900)
replies("not_a_number", "NaN")
replies("huge_integer", "1" + "0" * 400)
replies("endless_integer", "1" + "0" * 5000)
replies("infinite", "1e999")


def fails(name: str, error: Any) -> None:
    """Let `finish` be answered by an error."""
    text = json.dumps(error).encode()
    writes(name, lambda right: right.replace(b'"result": null', b'"error": ' + text) + b"\n")


fails("unknown_code", {"code": 4711, "message": "the disk is full"})
fails("no_method", {"code": -32601, "message": "no such method"})
fails("unknown_refusal", {"code": 1, "message": "no", "data": {"refused": "the_weather"}})
fails("text_as_error", "the disk is full")


@at("finish")
def half_a_line(self: Adapter, message: Message) -> None:
    self.raw(b'{"jsonrpc": "2.0", "id"')
    sys.exit(0)


@at("finish")
def unread(self: Adapter, message: Message) -> None:
    self.write({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "parse error"}})


# ── Ends ──


@at("hello")
def crash_at_hello(self: Adapter, message: Message) -> None:
    sys.exit("there is no configuration")


@at("finish")
def crash(self: Adapter, message: Message) -> None:
    sys.exit("the disk is full")


@at("finish")
def killed(self: Adapter, message: Message) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@at("reset")
def crash_at_reset(self: Adapter, message: Message) -> None:
    sys.exit("there is no database")


@at("finish")
def closes_stdout(self: Adapter, message: Message) -> None:
    os.close(1)
    time.sleep(600)


@at("reset")
def crash_after_reset(self: Adapter, message: Message) -> None:
    self.write(self.answer(message))
    sys.exit(4)


# ── What stays, and floods ──


def ignores_signals() -> None:
    """Stay whoever asks."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


STAYS: Final = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


@at("finish")
def leaves_children(self: Adapter, message: Message) -> None:
    """Each call starts a process in a session of its own, which keeps stdout and stderr open."""
    subprocess.Popen([sys.executable, "-S", "-c", STAYS], start_new_session=True)
    self.write(self.answer(message))


@at("finish")
def leaves_children_and_hangs(self: Adapter, message: Message) -> None:
    subprocess.Popen([sys.executable, "-S", "-c", STAYS], start_new_session=True)


class Stays(Adapter):
    """Ends for no request, no signal, and not with its stdin."""

    def serve(self) -> None:
        ignores_signals()
        while line := sys.stdin.buffer.readline():
            if line.startswith(b"{"):
                self.handle(json.loads(line))
        time.sleep(600)


WAYS["stays"] = Stays


@at("finish")
def floods_stderr(self: Adapter, message: Message) -> None:
    for _ in range(100):
        sys.stderr.buffer.write(b"x" * (MIB - 1) + b"\n")
    self.write(self.answer(message))


# ── Order, and points ──


class OutOfOrder(Adapter):
    """Answers what has come within a moment, the last first."""

    def serve(self) -> None:
        with open(0, "rb", buffering=0) as stdin:
            while line := stdin.readline():
                lines = [line]
                while select.select([stdin], [], [], 0.005)[0] and (line := stdin.readline()):
                    lines.append(line)
                for answer in reversed([self.answer(json.loads(each)) for each in lines]):
                    self.write(answer)


WAYS["out_of_order"] = OutOfOrder


class TellsOfPoints(Adapter):
    """Tells of a point before each call, and does not wait there."""

    call: Any = 0  # what it says of the call, besides its id

    def serve(self) -> None:
        while line := sys.stdin.buffer.readline():
            message = json.loads(line)
            if message.get("method") in OPERATIONS:
                params = {"call": message["id"] + self.call}
                self.write({"jsonrpc": "2.0", "id": "p", "method": "point", "params": params})
            if "method" in message:
                self.handle(message)


POINTS: Final = {**Adapter.welcome, "points": True}
welcoming("tells_no_points", POINTS)
welcoming("tells_points_unasked", Adapter.welcome, TellsOfPoints)
welcoming("tells_points_and_goes_on", POINTS, TellsOfPoints)
welcoming("tells_points_of_no_call", POINTS, type("OfNoCall", (TellsOfPoints,), {"call": 1000}))

# ── Lies at hello ──

welcoming("other_protocol", {"protocol": 2})
welcoming("no_protocol", {"declares": {}})
welcoming("no_object", [])
welcoming("unknown_word", {"protocol": 1, "version": 3})
welcoming("unknown_declaration", declaring(speed=9))
welcoming("unknown_limit", declaring(limits={"tasks": 3}))
welcoming("unknown_policy", declaring(policies={"manners": "good"}))
welcoming("unknown_operation", {**Adapter.welcome, "operations": [*OPERATIONS, "explode"]})
welcoming("unknown_lack", declaring(lacks=["explode"]))
welcoming("odd_lacks", declaring(lacks=5))
welcoming(
    "lacks_and_offers",
    {**Adapter.welcome, "declares": {"lacks": ["subscribe"]}, "operations": [*OPERATIONS, "subscribe"]},
)


class Changes(Adapter):
    """Ends at each `finish`, and says something else whenever it starts."""

    def result(self, method: str, given: Message) -> Any:
        if method == "finish":
            sys.exit(1)
        known = {"N3": {"reason": f"seen by process {os.getpid()}"}}
        declares = {"concurrency": "threads", "deviates": known}
        return {**self.welcome, "declares": declares} if method == "hello" else super().result(method, given)


WAYS["changes_its_mind"] = Changes


if __name__ == "__main__":
    WAYS[sys.argv[1]]().serve()
