"""Spans of OpenTelemetry as entries: one for each span, and one for each event of a span, whatever they are about.

An entry of a span has `is: span`, `name`, `start` and `end` in nanoseconds, `status`, `attributes`, `resource` and `scope`.
That of an event has `is: event`, its `name`, `start`, its `attributes`, and the span in `span`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.logs.reading.lines import BadLine

_STATUS = {0: "unset", 1: "ok", 2: "error"}
_PLAIN = ("stringValue", "boolValue", "doubleValue", "bytesValue")


def entries(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Walk the entries that an object of OTLP JSON holds; none of what is no trace. Raises BadLine."""
    for of_resource in _listed(data, "resourceSpans"):
        resource = attributes(_inner(of_resource, "resource"))
        for of_scope in _listed(of_resource, "scopeSpans"):
            scope = _inner(of_scope, "scope").get("name", "")
            for span in _listed(of_scope, "spans"):
                yield from _span(span, {"resource": resource, "scope": scope})


def _span(span: dict[str, Any], around: dict[str, Any]) -> Iterator[dict[str, Any]]:
    status = _inner(span, "status")
    code = status.get("code", 0)
    entry = {
        "is": "span",
        "name": span.get("name", ""),
        "trace": span.get("traceId", ""),
        "id": span.get("spanId", ""),
        "parent": span.get("parentSpanId", ""),
        "start": span.get("startTimeUnixNano"),
        "end": span.get("endTimeUnixNano"),
        "status": _STATUS.get(code, str(code).removeprefix("STATUS_CODE_").lower()),
        "message": status.get("message", ""),
        "attributes": attributes(span),
        **around,
    }
    yield entry
    for event in _listed(span, "events"):
        yield {
            "is": "event",
            "name": event.get("name", ""),
            "start": event.get("timeUnixNano"),
            "attributes": attributes(event),
            "span": entry,
            **around,
        }


def attributes(data: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, an event or a resource by their names. Raises BadLine."""
    return {str(each.get("key", "")): _value(each.get("value")) for each in _listed(data, "attributes")}


def _value(value: Any) -> Any:
    """Return a value of OTLP as a plain one; a whole number is written as a text there."""
    match value:
        case {"intValue": str() | int() as number}:
            try:
                return int(number)
            except ValueError:
                raise BadLine(f"the intValue {number!r} is no whole number", _AS_JSON) from None
        case {"arrayValue": {"values": list(values)}}:
            return [_value(each) for each in values]
        case {"arrayValue": _}:
            return []
        case {"kvlistValue": dict(pairs)}:
            return {str(each.get("key", "")): _value(each.get("value")) for each in _listed(pairs, "values")}
        case dict():
            return next((value[name] for name in _PLAIN if name in value), None)
        case _:
            return None


_AS_JSON = "write each request as OTLP JSON on one line, as the file exporter of the collector does"


def _listed(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    values = data.get(name, [])
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        raise BadLine(f"{name} is no list of objects", _AS_JSON)
    return values


def _inner(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name) or {}
    if not isinstance(value, dict):
        raise BadLine(f"{name} is no object", _AS_JSON)
    return value
