"""What the fields of a log say: paths, instants in each unit, values of OpenTelemetry; and what is none of these."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.logs.reading import otlp
from conformance.logs.reading.fields import meets, nanoseconds, there
from conformance.logs.reading.lines import BadLine


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", 1),
        ("a.c", None),
        ("list.1.x", 2),
        ("list.2", None),
        ("list.x", None),
        ("dotted.name.z", 3),
        ("a.b.c", None),
    ],
)
def test_a_path_leads_into_records_and_lists(path: str, value: Any) -> None:
    data = {"a": {"b": 1}, "list": [{}, {"x": 2}], "dotted.name": {"z": 3}}
    assert there(data, path) == value


def test_a_condition_asks_for_a_value_for_one_of_several_for_any_or_for_none() -> None:
    data = {"is": "new", "count": 1}
    assert meets(data, {"is": ["old", "new"], "count": "*", "other": None})
    assert not any(meets(data, each) for each in ({"is": "old"}, {"other": "*"}, {"count": True}, {"is": ["old"]}))


@pytest.mark.parametrize(
    ("raw", "unit", "found"),
    [
        ("1.5", "ms", 1_500_000),
        (2, "s", 2_000_000_000),
        (7, "ns", 7),
        ("1970-01-01T00:00:01.25Z", "iso", 1_250_000_000),
        ("1970-01-01T01:00:00+01:00", "iso", 0),
        ("1970-01-01T00:00:02", "iso", 2_000_000_000),
    ],
)
def test_an_instant_is_read_in_its_unit(raw: Any, unit: str, found: int) -> None:
    assert nanoseconds(raw, unit) == found


@pytest.mark.parametrize(
    ("raw", "unit"), [("soon", "ms"), (None, "s"), (True, "ms"), ("Infinity", "ms"), ("soon", "iso")]
)
def test_what_is_no_instant_is_told(raw: Any, unit: str) -> None:
    with pytest.raises(BadLine, match="is no"):
        nanoseconds(raw, unit)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"intValue": "7"}, 7),
        ({"stringValue": "x"}, "x"),
        ({"boolValue": False}, False),
        ({"arrayValue": {"values": [{"intValue": 1}, {}]}}, [1, None]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"stringValue": "b"}}]}}, {"a": "b"}),
        (None, None),
    ],
)
def test_a_value_of_a_span_is_a_plain_one(value: Any, found: Any) -> None:
    assert otlp._value(value) == found


@pytest.mark.parametrize(
    "value", [{"intValue": "x"}, {"kvlistValue": {"values": 3}}, {"kvlistValue": {"values": ["a"]}}], ids=str
)
def test_what_is_no_value_of_a_span_is_told(value: Any) -> None:
    with pytest.raises(BadLine, match=r"is no"):
        otlp._value(value)
