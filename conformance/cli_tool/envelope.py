"""What a command line tool prints: the one JSON envelope, the job descriptor in it, and the schema of that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NoReturn

FIELDS: Final[Mapping[str, type]] = {
    "job_id": str,
    "status": str,
    "terminal": bool,
    "status_command": str,
    "cancel_command": str,
    "poll_interval_ms": int,
    "timeout_ms": int,
}
"""The fields of every descriptor, in the order in which they are told of."""

STATUSES: Final = ("running", "complete", "failed", "cancelled")
_WORDS: Final = ("ok", "data", "error", "warnings", "meta")
_NAMES: Final = {str: "a text", bool: "true or false", int: "a whole number"}
_HOPS: Final = 8  # of `$ref`, one after the other
_QUOTED: Final = 60  # characters of what was printed that a fault quotes


@dataclass(frozen=True, slots=True)
class Reading:
    """What stood on stdout: the data of the envelope, and what is wrong with the envelope.

    Data that stands there without an envelope is taken too, and told of.
    """

    data: Any
    faults: tuple[str, ...]

    @property
    def fields(self) -> dict[str, Any]:
        """The data, if it is an object."""
        return self.data if isinstance(self.data, dict) else {}

    @property
    def descriptor(self) -> dict[str, Any] | None:
        """The job descriptor, if the data looks like one, whole or not."""
        return self.fields if "job_id" in self.fields or "status" in self.fields else None


def read(exit_code: int, stdout: str) -> Reading:
    """Read what a command printed."""
    try:
        value = json.loads(stdout, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return Reading(None, (f"stdout is not one JSON value: {_quoted(stdout)}",))
    if not isinstance(value, dict):
        return Reading(None, (f"stdout is no JSON object: {_quoted(stdout)}",))
    if "ok" not in value and "data" not in value:
        return Reading(value, ("there is no envelope",))
    return Reading(value.get("data"), tuple(_envelope_faults(exit_code, value)))


def _no_json(word: str) -> NoReturn:
    raise ValueError(word)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…")


def _envelope_faults(exit_code: int, envelope: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"the envelope has no {word}" for word in _WORDS if word not in envelope)
    ok, meta = envelope.get("ok"), envelope.get("meta")
    if ok is not (exit_code == 0):
        yield f"ok is {json.dumps(ok)}, and the exit code is {exit_code}"
    if (envelope.get("error") is None) is not (exit_code == 0):
        there = "none" if envelope.get("error") is None else "one"
        yield f"there is {there} under error, and the exit code is {exit_code}"
    if not isinstance(envelope.get("warnings", []), list):
        yield "warnings is no list"
    if meta is not None and not (isinstance(meta, dict) and type(meta.get("duration_ms")) in (int, float)):
        yield "meta.duration_ms is no number"


# ── The descriptor ───────────────────────────────────────────────────────────────────────────────


def descriptor_faults(descriptor: Mapping[str, Any], printed: Any) -> Iterator[str]:
    """Tell what is wrong with a descriptor, by itself and by the schema that the tool printed."""
    yield from (f"the descriptor has no {name}" for name in FIELDS if name not in descriptor)
    for name, kind in FIELDS.items():
        value = descriptor.get(name)
        right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if name in descriptor and not right:
            yield f"{name} is {_NAMES[kind]}, and this is {json.dumps(value)}"
    status, terminal = descriptor.get("status"), descriptor.get("terminal")
    if isinstance(status, str) and status not in STATUSES:
        yield f"status is one of {', '.join(STATUSES)}, and this is {json.dumps(status)}"
    if isinstance(terminal, bool) and status in STATUSES and terminal is (status == "running"):
        yield f"terminal is {json.dumps(terminal)}, and status is {status}"
    if isinstance(printed, dict) and not schema_faults(printed):
        yield from _against(printed, descriptor)


def _against(printed: dict[str, Any], descriptor: Mapping[str, Any]) -> Iterator[str]:
    """Validate against the printed schema, which may not lead out of itself."""
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        validator_for(printed)(printed, registry=Registry()).validate(descriptor)
    except ValidationError as error:
        path = ".".join(map(str, error.absolute_path))
        yield f"by its own schema{f', {path}' if path else ''}: {error.message}"
    except Unresolvable as error:
        yield f"the printed schema refers to what is not in it: {error}"


# ── The schema ───────────────────────────────────────────────────────────────────────────────────


def schema_faults(schema: Any) -> tuple[str, ...]:
    """Tell what is wrong with a printed `job_descriptor_schema`."""
    return _schema_faults(json.dumps(schema)) if isinstance(schema, dict) else ("there is no job_descriptor_schema",)


@lru_cache(maxsize=16)
def _schema_faults(printed: str) -> tuple[str, ...]:
    """Tell the same of one that is written as JSON: a tool prints one and the same again and again."""
    return tuple(_faults_of(json.loads(printed)))


def _faults_of(schema: dict[str, Any]) -> Iterator[str]:
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        yield f"job_descriptor_schema is no JSON schema: {error.message}"
        return
    if schema.get("type") != "object":
        yield "job_descriptor_schema is not that of an object"
    lacking = [name for name in FIELDS if name not in schema.get("required", [])]
    if lacking:
        yield f"required lacks {', '.join(lacking)}"
    statuses = _words(schema, _part(schema, "status"))
    if not isinstance(statuses, list) or sorted(map(str, statuses)) != sorted(STATUSES):
        yield f"the enum of status is {json.dumps(statuses)}"
    for name, kind in (("terminal", "boolean"), ("poll_interval_ms", "integer"), ("timeout_ms", "integer")):
        said = _part(schema, name).get("type")
        if said != kind:
            yield f"the type of {name} is {json.dumps(said)}, not {kind}"


def _part(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return what a schema says of a field."""
    properties = schema.get("properties")
    return _resolved(schema, properties.get(name) if isinstance(properties, dict) else None)


def _resolved(schema: Mapping[str, Any], part: Any) -> Mapping[str, Any]:
    """Follow `$ref`, also as the only one of `allOf`: generators of schemas name the types of fields so."""
    for _ in range(_HOPS):
        if isinstance(part, dict) and len(part.get("allOf", ())) == 1:
            part = part["allOf"][0]
        if not isinstance(part, dict) or "$ref" not in part:
            break
        target: Any = schema
        for step in str(part["$ref"]).removeprefix("#/").split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            target = target.get(step) if isinstance(target, dict) else None
        part = target
    return part if isinstance(part, dict) else {}


def _words(schema: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
    """Return the values that a field may have: an `enum`, or a `const` for each."""
    each = part.get("oneOf", part.get("anyOf"))
    if "enum" in part or not isinstance(each, list):
        return part.get("enum")
    return [_resolved(schema, one).get("const") for one in each]
