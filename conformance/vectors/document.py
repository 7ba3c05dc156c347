"""Vectors as a JSON document, which `vectors.schema.json` describes: a header, then the vectors, a step a line."""

from __future__ import annotations

import json
from typing import Any, Final

from conformance.vectors.export import Export
from conformance.vectors.vector import Vector

FORMAT_OF_VECTORS: Final = 1


def header(export: Export) -> dict[str, Any]:
    """Return what a document says before its vectors."""
    return {
        "format": FORMAT_OF_VECTORS,
        "lifecycle": export.lifecycle,
        "revision": export.revision,
        "rules": export.rules,
        "limits": export.limits,
        "policies": export.policies,
        "left_out": dict(sorted(export.left_out.items())),
        "not_covered": list(export.not_covered),
    }


def about(vector: Vector) -> dict[str, Any]:
    """Return what a document says of a vector before its steps."""
    said = {"name": vector.name, "rows": list(vector.rows), "clauses": list(vector.clauses), "level": vector.level}
    return {**said, **({"values": dict(vector.values)} if vector.values else {})}


def as_json(export: Export) -> str:
    """Write vectors as a JSON document, the same text for the same vectors."""
    said = ",\n".join(f"  {json.dumps(name)}: {_line(value)}" for name, value in header(export).items())
    vectors = ",\n".join(map(_vector, export.vectors))
    return f'{{\n{said},\n  "vectors": [\n{vectors}\n  ]\n}}\n'


def _vector(vector: Vector) -> str:
    steps = ",\n".join(f"      {_line(step)}" for step in vector.steps)
    return f'    {_line(about(vector))[:-1]}, "steps": [\n{steps}\n    ]}}'


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
