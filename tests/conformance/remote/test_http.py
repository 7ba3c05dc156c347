"""An adapter that is a server: right, and wrong in the ways of HTTP."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from conformance.api import loaded, opened
from conformance.errors import UsageError
from conformance.references.task_progress import TaskProgress
from conformance.refused import Refused
from conformance.remote.http import HttpLink
from conformance.suite import Run
from conformance.system import Broken, HarnessError
from conformance.targets import open_system
from conformance.verdict import FROM_OUTSIDE, Verdict
from tests.conformance.remote.leftovers import nothing_left
from tests.conformance.remote.test_hostile import FEW

LIMIT = 20.0  # seconds, however busy the machine is
SOON = 0.3  # seconds for what never comes
Way = Callable[["Handler", bytes], None]


class Server(ThreadingHTTPServer):
    """Serves the reference of task-progress, in its own way of HTTP."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.way: Way = Handler.give
        self.welcome: dict[str, Any] = {"protocol": 1, "declares": {**TaskProgress.declares, "clock": "virtual"}}
        self.system = TaskProgress()
        self.asked: list[dict[str, Any]] = []
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/adapter?case=1"

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        self.asked.append(message)
        try:
            return {"result": self._result(message["method"], message.get("params", {}))}
        except Refused as refusal:
            return {"error": {"code": 1, "message": str(refusal), "data": {"refused": refusal.code}}}

    def _result(self, method: str, params: dict[str, Any]) -> Any:
        if method == "hello":
            return self.welcome
        if method == "reset":
            self.system = TaskProgress()
            return None
        return None if method == "close" else getattr(self.system, method)(**params)


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/adapter?case=1"
        answer = self.server.answer(message)
        self.server.way(self, json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode())

    def head(self, *lines: str, status: str = "200 OK") -> None:
        """Write the head of a response."""
        self.wfile.write("\r\n".join([f"HTTP/1.1 {status}", "Connection: close", *lines, "", ""]).encode())

    def give(self, body: bytes, status: str = "200 OK") -> None:
        """Answer as it should be."""
        self.head(f"Content-Length: {len(body)}", status=status)
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on a port of its own."""
    found = Server()
    thread = threading.Thread(target=found.serve_forever, args=(0.01,))
    thread.start()
    yield found
    found.over.set()
    found.shutdown()
    thread.join()
    found.server_close()


def status(line: str) -> Way:
    return lambda self, body: self.give(body, status=line)


def without_end(self: Handler, body: bytes) -> None:
    self.head("Transfer-Encoding: chunked")
    self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
    self.server.over.wait(LIMIT)


def trickle(self: Handler, body: bytes) -> None:
    for byte in b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000:
        self.wfile.write(bytes([byte]))
        self.wfile.flush()
        if self.server.over.wait(SOON / 10):
            return


def cut_chunk(self: Handler, body: bytes) -> None:
    self.head("Transfer-Encoding: chunked")
    self.wfile.write(f"{len(body) + 50:x}\r\n".encode() + body)


def of_length(more: int) -> Way:
    def give(self: Handler, body: bytes) -> None:
        self.head(f"Content-Length: {len(body) + more}")
        self.wfile.write(body)

    return give


def nothing(self: Handler, body: bytes) -> None:
    self.close_connection = True


def gibberish(self: Handler, body: bytes) -> None:
    self.wfile.write(b"hello\r\n\r\n")


def other_id(self: Handler, body: bytes) -> None:
    self.give(body.replace(b'"id": ', b'"id": 9'))


def long(self: Handler, body: bytes) -> None:
    self.give(body + b" " * (50 << 20))


def point(self: Handler, body: bytes) -> None:
    self.give(b'{"jsonrpc": "2.0", "id": 1, "method": "point", "params": {"call": 1}}')


@pytest.mark.parametrize(
    ("way", "kind", "said"),
    [
        (without_end, "hang", "status did not come back in time"),
        (trickle, "hang", "status did not come back in time"),
        (nothing, "crash", "RemoteDisconnected"),
        (cut_chunk, "crash", "IncompleteRead"),
        (of_length(9), "crash", "IncompleteRead"),
        (status("500 Oops"), "crash", "status 500"),
        (status("503 Busy"), "crash", "status 503"),
        (of_length(-9), "", "this is not JSON"),
        (status("404 Nowhere"), "", "status 404, and 200 is wanted"),
        (status("301 Elsewhere\r\nLocation: http://127.0.0.1:1/"), "", "status 301, and 200 is wanted"),
        (status("204 Nothing"), "", "status 204, and 200 is wanted"),
        (gibberish, "crash", "BadStatusLine"),
        (other_id, "", "this is no answer to request 1"),
        (long, "", "this response is longer than 4194304 bytes"),
        (point, "", "this is no answer to request 1"),
        (lambda self, body: self.give(b""), "", "this line is empty"),
    ],
)
def test_a_server_that_misbehaves_is_told_once_and_is_asked_again(
    way: Way, kind: str, said: str, server: Server
) -> None:
    server.way = way
    link = HttpLink(server.url)
    with pytest.raises(Broken if kind else HarnessError) as error:
        link.answer("status", {"task": "x"}, SOON if kind == "hang" else LIMIT)
    assert said in str(error.value)
    assert getattr(error.value, "kind", "") == kind
    assert len(server.asked) == 1
    server.way = Handler.give
    assert link.answer("status", {"task": "x"}, LIMIT)["error"]["data"] == {"refused": "not_found"}
    link.end()
    assert [each["method"] for each in server.asked] == ["status", "status", "close"]


def test_a_right_server_conforms_weakly_and_is_asked_everything_once(server: Server) -> None:
    compiled = loaded("task-progress")
    with opened(compiled, server.url, LIMIT) as system:
        report = Run(compiled, system, rows="N1,N2,X14", budget=FEW).go()
    assert {row.verdict for row in report.rows} == {Verdict.PASS}
    assert [row.reason for row in report.rows] == ["", "", FROM_OUTSIDE]
    assert max(Counter(each["id"] for each in server.asked).values()) == 1
    assert [each["id"] for each in server.asked[:3]] == [1, 2, 3]


def test_a_server_that_is_gone_is_a_crash_and_then_cannot_be_asked(server: Server) -> None:
    def leave(self: Handler, body: bytes) -> None:
        self.give(body)
        if len(self.server.asked) == 4:
            self.server.socket.close()

    server.way = leave
    compiled = loaded("task-progress")
    with opened(compiled, server.url, LIMIT) as system:
        report = Run(compiled, system, rows="N1,N2,E5", budget=FEW).go()
    first, *others = [(row.verdict, row.reason) for row in report.rows]
    assert first[0] in (Verdict.FAIL, Verdict.HARNESS_ERROR)
    assert "was not answered: Connection" in first[1]
    assert {verdict for verdict, _ in others} == {Verdict.HARNESS_ERROR}
    assert all("ConnectionRefusedError" in reason for _, reason in others)


def test_points_cannot_be_told_of_over_http(server: Server) -> None:
    server.welcome["points"] = True
    with pytest.raises(HarnessError, match="it tells of points, and it cannot over HTTP"):
        open_system(loaded("task-progress"), server.url)


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "http:8080",
        "http://x:port/",
        "http://x:0/",
        "http://[::1",
        "https:///x",
        "http://x/ü",
        f"http://{'x' * 70}.y/",
    ],
)
def test_what_names_no_server_is_a_usage_error(url: str) -> None:
    with pytest.raises(UsageError, match="names no server; write http://HOST:PORT/PATH"):
        HttpLink(url)


def test_nobody_there_is_a_harness_error_and_leaves_nothing() -> None:
    with nothing_left(), pytest.raises(HarnessError, match=r"there is no answer to hello: .*ConnectionRefusedError"):
        open_system(loaded("task-progress"), "http://127.0.0.1:9/")
