"""An adapter that is a server: each request is the body of a POST, and the answer that of its response."""

from __future__ import annotations

import contextlib
import http.client
import io
import itertools
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from conformance.errors import UsageError
from conformance.remote import protocol
from conformance.remote.pipes import CHUNK
from conformance.remote.protocol import CLOSES_WITHIN, Message, ProtocolError
from conformance.remote.waits import Waits
from conformance.system import Broken, HarnessError

if TYPE_CHECKING:
    import socket

    from conformance.remote.process import Overheard
    from conformance.remote.turns import CallsAtOnce

_HEADERS: Final = {"Content-Type": "application/json"}


class HttpLink:
    """A server that is there already; it is not ended with the run.

    Each request has a connection of its own: one that was kept open may be gone, and to ask again may do something twice.
    """

    tells = False
    spent = False  # whatever has gone wrong, it can be asked again
    points = False
    detail = ""

    def __init__(self, url: str, overheard: Overheard | None = None) -> None:
        self.turns: CallsAtOnce | None = None
        self.waits = Waits()  # no call can tell
        self._url = urlsplit(address_of(url))
        self._overheard = overheard
        self._numbers = itertools.count(1)

    def answer(
        self, method: str, params: Mapping[str, Any] | None, seconds: float, party: int | None = None
    ) -> Message:
        """Return the answer to a request; raise Broken where there is none, HarnessError where the protocol is broken."""
        number = next(self._numbers)
        line = protocol.request(number, method, params)
        try:
            return _answer_to(number, self._posted(line, seconds))
        except TimeoutError:
            raise Broken("hang", f"{method} did not come back in time") from None
        except ProtocolError as error:
            raise HarnessError(f"{method} was answered in another way than the protocol's: {error}") from None
        except (OSError, http.client.HTTPException) as error:
            raise Broken("crash", f"{method} was not answered: {type(error).__name__}: {error}") from None

    def answer_to_line(self, line: bytes, seconds: float) -> Message | None:
        """Post a line that is no request; return what is said of it, None where nothing that can be read is."""
        with contextlib.suppress(OSError, http.client.HTTPException, ProtocolError):
            return protocol.read(self._posted(line, seconds))
        return None

    def end(self, seconds: float = CLOSES_WITHIN) -> bool:
        """Tell the server that this was all; return whether it answered."""
        with contextlib.suppress(Exception):  # whatever comes of that, nobody asks any more
            self.answer("close", None, min(seconds, CLOSES_WITHIN))
            return True
        return False

    def _posted(self, line: bytes, seconds: float) -> bytes:
        """Return the body of the response; raise OSError, HTTPException, or ProtocolError for one that nobody can read."""
        if self._overheard is not None:
            self._overheard(">", line)
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        until = time.monotonic() + seconds
        connection = kind(self._url.hostname or "", self._url.port, timeout=seconds)
        connection.response_class = partial(_Response, until=until)  # type: ignore[assignment]  # it is only called
        query = f"?{self._url.query}" if self._url.query else ""
        with contextlib.closing(connection):
            connection.request("POST", f"{self._url.path or '/'}{query}", body=line, headers=_HEADERS)
            with contextlib.closing(connection.getresponse()) as response:
                body = _body(response)
        if self._overheard is not None:
            self._overheard("<", body)
        if response.status >= http.client.INTERNAL_SERVER_ERROR:
            raise http.client.HTTPException(f"status {response.status}: {protocol.shortened(body)}")
        if response.status != http.client.OK:
            raise ProtocolError(f"status {response.status}, and 200 is wanted: {protocol.shortened(body)}")
        return body


def _answer_to(number: int, body: bytes) -> Message:
    """Return the message of a body; raise ProtocolError where it does not answer a request."""
    message = protocol.read(body)
    if "method" in message or message["id"] != number:
        raise ProtocolError(f"this is no answer to request {number}: {protocol.shortened(body)}")
    return message


def _body(response: http.client.HTTPResponse) -> bytes:
    """Return the body of a response; raise IncompleteRead for one that is cut off, ProtocolError for one that is too long."""
    body = b""
    while chunk := response.read1(CHUNK):
        body += chunk
        if len(body) > protocol.LONGEST:
            raise ProtocolError(f"this response is longer than {protocol.LONGEST} bytes: {protocol.shortened(body)}")
    if response.length:
        raise http.client.IncompleteRead(body, response.length)
    return body


class _Response(http.client.HTTPResponse):
    """A response that has to be there at some instant, all of it, however slowly it comes."""

    def __init__(self, sock: socket.socket, *given: Any, until: float, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        self.fp.close()
        self.fp = io.BufferedReader(_Within(sock, until))


class _Within(io.RawIOBase):
    """What a socket receives until some instant."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._file = sock.makefile("rb", buffering=0)  # keeps it open as long as somebody reads
        self._sock = sock
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


def address_of(url: str) -> str:
    """Return the address of a server; raise UsageError where it is none."""
    with contextlib.suppress(
        ValueError
    ):  # a port that is no number, half an address, letters that nothing can be asked by
        found = urlsplit(url)
        (found.path + found.query).encode("ascii")
        if found.hostname and found.hostname.encode("idna") and found.port != 0:
            return url
    raise UsageError(f"{url!r} names no server; write http://HOST:PORT/PATH")
