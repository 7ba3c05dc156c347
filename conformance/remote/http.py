"""An adapter that is a server: each request is the body of a POST, and the answer that of its response."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from conformance.errors import UsageError
from conformance.remote import protocol
from conformance.remote.process import Overheard
from conformance.remote.protocol import ProtocolError
from conformance.remote.turns import Turns
from conformance.system import Broken, HarnessError

_HEADERS: Final = {"Content-Type": "application/json"}


class HttpLink:
    """A server that is there already; it is not ended with the run.

    Each request has a connection of its own: one that was kept open may be gone, and to ask again may do something twice.
    """

    def __init__(self, url: str, overheard: Overheard | None = None) -> None:
        self.usable = True
        self.fault = ""
        self.turns: Turns | None = None
        self.detail = ""
        self._url = _checked(url)
        self._overheard = overheard
        self._numbers = itertools.count(1)

    def ask(self, method: str, params: Mapping[str, Any] | None, seconds: float, party: int | None = None) -> Any:
        """Return what a request gives; raise Refused, Broken where there is no answer, HarnessError where it is none."""
        number = next(self._numbers)
        line = protocol.request(number, method, params)
        try:
            body = self._posted(line, seconds)
        except TimeoutError:
            raise Broken("hang", f"{method} did not come back in time") from None
        except (OSError, http.client.HTTPException) as error:
            raise Broken("crash", f"{method} was not answered: {type(error).__name__}: {error}") from None
        try:
            message = protocol.read(body)
            if message["id"] != number or "method" in message:
                raise ProtocolError(f"this is no answer to request {number}: {body[:80]!r}")
        except ProtocolError as error:
            self.usable, self.fault = False, str(error)
            raise HarnessError(self.fault) from None
        return protocol.result_of(message, method, "")

    def end(self) -> None:
        """Tell the server that this was all."""
        if self.usable:
            with contextlib.suppress(Exception):  # whatever comes of that, nobody asks any more
                self.ask("close", None, 1.0)
        self.usable = False

    def _posted(self, line: bytes, seconds: float) -> bytes:
        """Return the body of the response; raise OSError, HTTPException, or ProtocolError for one that is none."""
        if self._overheard is not None:
            self._overheard(">", line)
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        until = time.monotonic() + seconds
        connection = kind(self._url.hostname or "", self._url.port, timeout=seconds)
        with contextlib.closing(connection):
            connection.request("POST", f"{self._url.path or '/'}", body=line, headers=_HEADERS)
            response = connection.getresponse()
            body = b""
            while chunk := response.read1(1 << 16):
                body += chunk
                if len(body) > protocol.LONGEST:
                    raise http.client.HTTPException(f"the response is longer than {protocol.LONGEST} bytes")
                if time.monotonic() > until:
                    raise TimeoutError
        if response.status != http.client.OK:
            raise http.client.HTTPException(f"status {response.status}: {body[:200]!r}")
        if self._overheard is not None:
            self._overheard("<", body)
        return body


def _checked(url: str) -> SplitResult:
    found = urlsplit(url)
    with contextlib.suppress(ValueError):  # a port that is no number
        if found.hostname and found.port != 0:
            return found
    raise UsageError(f"{url!r} names no server; write http://HOST:PORT/PATH")
