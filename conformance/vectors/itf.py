"""Vectors in the Informal Trace Format of Apalache: one trace, in which each vector begins with a state of its own.

A state has the vector, the number of the step, the call and the answers that are allowed; before the first call there is
none. Null, which the format does not have, is the variant `None`; what is optional in a call or an answer stands in a map.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from conformance.vectors.document import header
from conformance.vectors.export import Export

VARIABLES: Final = ("vector", "step", "operation", "arguments", "answers")
_NOTHING: Final = {"tag": "None", "value": {"#tup": []}}
_LARGEST: Final = 2**53 - 1


def as_itf(export: Export) -> str:
    """Write vectors as one trace."""
    meta = {**header(export), "format": "ITF", "description": f"test vectors of {export.lifecycle}"}
    lines = ",\n".join(
        f"    {json.dumps({'#meta': {'index': index}, **state}, ensure_ascii=False)}"
        for index, state in enumerate(_states(export))
    )
    head = json.dumps(meta, ensure_ascii=False)
    return f'{{\n  "#meta": {head},\n  "vars": {json.dumps(VARIABLES)},\n  "states": [\n{lines}\n  ]\n}}\n'


def _states(export: Export) -> Iterator[dict[str, Any]]:
    for vector in export.vectors:
        yield _state(vector.name, -1, "", {}, [])
        for number, step in enumerate(vector.steps):
            yield _state(vector.name, number, step["call"], step["arguments"], step["answers"])


def _state(vector: str, step: int, operation: str, arguments: dict[str, Any], answers: list[Any]) -> dict[str, Any]:
    """Return a state; what calls and answers have is not always the same, so they are maps."""
    said = vector, step, operation, _value(arguments), [_value(each) for each in answers]
    return dict(zip(VARIABLES, said, strict=True))


def _value(value: Any) -> Any:
    match value:
        case None:
            return _NOTHING
        case int() if not isinstance(value, bool) and abs(value) > _LARGEST:
            return {"#bigint": str(value)}
        case dict():
            return {"#map": [[name, _value(part)] for name, part in value.items()]}
        case list():
            return [_value(part) for part in value]
        case _:
            return value
