"""What is written between the kit and an adapter elsewhere: JSON-RPC 2.0, each message checked by `spec/protocol.schema.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from conformance.refused import Refused
from conformance.remote.shapes import Check, checker
from conformance.system import Broken, told
from statemachines.specs import schema

PROTOCOL: Final = 1
LONGEST: Final = 1 << 22  # bytes of a message: the list of thousands of records that a row asks for is one
CLOSES_WITHIN: Final = (
    1.0  # seconds that `close` takes at most, and whatever else takes no time in a process that is alive
)
NO_METHOD: Final = -32601
SHOWN: Final = 200  # characters of a message that is told
_LONGEST_INTEGER: Final = (
    1000  # of a whole number: one that is longer counts as infinite, and is out of bounds either way
)
_BOM: Final = b"\xef\xbb\xbf"
Message = Mapping[str, Any]


class ProtocolError(Exception):
    """A message that is none: the adapter's own fault, and no verdict on the system behind it."""


def request(number: int, method: str, params: Mapping[str, Any] | None = None) -> bytes:
    """Return a request of the kit as one line."""
    asked = {"jsonrpc": "2.0", "id": number, "method": method}
    return _line(asked if params is None else {**asked, "params": dict(params)})


def go(point: int | str) -> bytes:
    """Return the answer to a point, as one line."""
    return _line({"jsonrpc": "2.0", "id": point, "result": None})


def read(line: bytes) -> Message:
    """Return a message of an adapter; raise ProtocolError for anything else."""
    try:
        message = json.loads(
            line.decode("utf-8"), parse_constant=_no_number, parse_int=_integer, object_pairs_hook=_object
        )
    except UnicodeDecodeError as error:
        raise ProtocolError(f"this is not UTF-8 ({error.reason}): {shortened(line)}") from None
    except RecursionError:
        raise ProtocolError(f"this is nested too deep to be read: {shortened(line)}") from None
    except ValueError as error:
        why = "it begins with a byte order mark" if line.startswith(_BOM) else str(error)[:SHOWN]
        said = f"this is not JSON ({why}): {shortened(line)}" if line.strip() else "this line is empty"
        raise ProtocolError(said) from None
    _check("from_system", "message", message, line)
    return dict(message)


def check_welcome(result: Any) -> Mapping[str, Any]:
    """Return the answer to hello; raise ProtocolError where it is none."""
    _check("welcome", "result", result)
    return dict(result)


def result_of(message: Message, method: str, detail: str) -> Any:
    """Return what an answer gives; raise Refused for a refusal, and Broken, with the `detail`, for any other error."""
    error = message.get("error")
    if error is None:
        return message["result"]
    refused = error.get("data", {}).get("refused")
    if refused is not None:
        raise Refused(refused, error["message"])
    said = "is not there" if error["code"] == NO_METHOD else f"failed: {error['message']}"
    raise Broken("crash", f"{method} {said}", detail)


def shortened(line: bytes) -> str:
    """Return a line as a text that fits into a message."""
    text = line[: 4 * SHOWN].decode("utf-8", "backslashreplace").rstrip("\r\n")
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(line)} bytes)"


def _line(message: Message) -> bytes:
    _check("from_kit", "message", message)
    return json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace") + b"\n"


def _check(kind: str, place: str, message: Any, line: bytes = b"") -> None:
    """Raise ProtocolError where a message is not of a kind; it says what is wrong, and where."""
    if fault := _form(kind)(message, place):
        raise ProtocolError(
            f"this is no message of the protocol ({fault}): {shortened(line) if line else told(message, SHOWN)}"
        )


@cache
def _form(kind: str) -> Check:
    definitions = schema("protocol")["definitions"]
    return checker(definitions[kind], definitions)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def _integer(text: str) -> int | float:
    return int(text) if len(text) <= _LONGEST_INTEGER else float(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"an object has {next(each for each in names if names.count(each) > 1)!r} twice")
    return found
