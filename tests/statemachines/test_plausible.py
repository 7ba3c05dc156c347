"""The first value of each type that comes to mind, with which a system answers that does nothing of use."""

from __future__ import annotations

import pytest

from statemachines.types import (
    BOOL,
    INT,
    TEXT,
    TIME,
    DocumentType,
    Enum,
    List,
    Null,
    Optional,
    RecordType,
    Type,
    plausible,
)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Enum("Actor", ("user", "agent")), "user"),
        (BOOL, True),
        (INT, 0),
        (TIME, 0),
        (TEXT, "1"),
        (List(INT), [0]),
        (RecordType((("ok", BOOL), ("text", TEXT))), {"ok": True, "text": "1"}),
        (Optional(INT), None),
        (DocumentType(), {"text": "x"}),
        (Null(), None),
    ],
)
def test_each_type_has_a_plausible_value(kind: Type, value: object) -> None:
    assert plausible(kind) == value
