"""What is written between the kit and an adapter elsewhere: JSON-RPC 2.0, each message checked by `spec/protocol.schema.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from conformance.refused import Refused
from conformance.system import Broken
from statemachines.specs import schema

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

PROTOCOL: Final = 1
LONGEST: Final = 1 << 20  # bytes of a message
RESERVED: Final = ("hello", "reset", "signals", "close", "point")  # methods of the protocol: no operation is called so
NO_METHOD: Final = -32601
_TOLD: Final = 200  # characters of a message that is told
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
        message = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise ProtocolError(f"this is not UTF-8 ({error.reason}): {_told(line)}") from None
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"this is not JSON ({_said(error)}): {_told(line)}") from None
    _check("from_system", message, line)
    return dict(message)


def check_welcome(result: Any) -> Mapping[str, Any]:
    """Return the answer to hello; raise ProtocolError where it is none."""
    _check("welcome", result)
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


def _line(message: Message) -> bytes:
    _check("from_kit", message)
    return json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace") + b"\n"


def _check(kind: str, message: Any, line: bytes = b"") -> None:
    """Raise ProtocolError where a message is not of a kind; it says what is wrong, and where."""
    from jsonschema.exceptions import best_match

    validator = _validator(kind)
    if validator.is_valid(message):
        return
    fault = best_match(validator.iter_errors(message))
    where = f" at {fault.json_path}" if fault.absolute_path else ""
    raise ProtocolError(f"this is no message of the protocol ({fault.message[:_TOLD]}{where}): {_told(line or message)}")


@cache
def _validator(kind: str) -> Validator:
    from jsonschema import Draft7Validator

    protocol = schema("protocol")
    return Draft7Validator({"$ref": f"#/definitions/{kind}", "definitions": protocol["definitions"]})


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def _said(error: Exception) -> str:
    return "nested too deep" if isinstance(error, RecursionError) else str(error)[:_TOLD]


def _told(message: Any) -> str:
    text = message.decode("utf-8", "backslashreplace").rstrip("\n") if isinstance(message, bytes) else repr(message)
    return text if len(text) <= _TOLD else f"{text[:_TOLD]}… ({len(text)} characters)"
