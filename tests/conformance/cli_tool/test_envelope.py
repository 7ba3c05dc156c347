"""The schema that a command line tool prints of its job descriptors: every way to write it right, and what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.cli_tool.envelope import FIELDS, STATUSES, schema_faults

WORDS = {"enum": list(STATUSES)}
PLAIN: dict[str, Any] = {
    **{name: {"type": "string"} for name in FIELDS},
    "status": WORDS,
    "terminal": {"type": "boolean"},
    "poll_interval_ms": {"type": "integer"},
    "timeout_ms": {"type": "integer"},
}
DEFINED = {
    "Status": WORDS,
    "Ms": {"type": "integer"},
    "Milliseconds": {"$ref": "#/$defs/Ms"},
    "Loop": {"$ref": "#/$defs/Loop"},
}


def faults(**properties: Any) -> list[str]:
    """What is wrong with a schema that says something else of some fields."""
    schema = {
        "type": "object",
        "required": list(FIELDS),
        "properties": {**PLAIN, **properties},
        "$defs": DEFINED,
    }
    return list(schema_faults(schema))


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"status": {"$ref": "#/$defs/Status"}},
        {"status": {"allOf": [{"$ref": "#/$defs/Status"}], "description": "how it stands"}},
        {"status": {"oneOf": [{"const": word} for word in STATUSES]}},
        {"status": {"anyOf": [{"const": word, "title": word} for word in STATUSES]}},
        {"timeout_ms": {"$ref": "#/$defs/Milliseconds"}},
    ],
)
def test_a_schema_may_be_written_in_every_usual_way(properties: dict[str, Any]) -> None:
    assert faults(**properties) == []


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        ({"status": {"type": "string"}}, "the enum of status is null"),
        ({"status": {"oneOf": [{"const": "running"}]}}, 'the enum of status is ["running"]'),
        ({"status": {"oneOf": [True]}}, "the enum of status is [null]"),
        ({"status": {"$ref": "#/$defs/Ms"}}, "the enum of status is null"),
        ({"timeout_ms": {"$ref": "#/$defs/Status"}}, "the type of timeout_ms is null, not integer"),
        ({"timeout_ms": {"$ref": "#/$defs/nowhere"}}, "the type of timeout_ms is null, not integer"),
        ({"timeout_ms": {"$ref": "#/$defs/Loop"}}, "the type of timeout_ms is null, not integer"),
        ({"timeout_ms": {"allOf": [True]}}, "the type of timeout_ms is null, not integer"),
        ({"terminal": {"type": "string"}}, 'the type of terminal is "string", not boolean'),
    ],
)
def test_a_field_that_is_said_to_be_another_is_told(properties: dict[str, Any], told: str) -> None:
    assert faults(**properties) == [told]
