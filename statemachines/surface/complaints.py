"""What the schema of specs objects to, with all that it says of the value in question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from statemachines.specs import schema

Path: TypeAlias = tuple[str | int, ...]
Schema: TypeAlias = dict[str, Any]
_schema = cache(schema)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What the schema objects to: a value, by which of its keywords, and all that it says of this value.

    about_key  the value is a key of the mapping to which `path` leads
    branch     the word by which the schema chose what else may stand in this mapping
    language   the name of the schema
    """

    keyword: str
    asked: Any
    value: Any
    path: Path
    schemas: tuple[Schema, ...]
    about_key: bool
    branch: str
    language: str

    @property
    def subject(self) -> str:
        """What a message calls the value."""
        names = [step for step in self.path if isinstance(step, str)]
        if not names:
            return str(_schema(self.language)["title"])
        last = self.path[-1]
        return f"item {last + 1} of {names[-1]!r}" if isinstance(last, int) else repr(names[-1])

    @property
    def title(self) -> str:
        """What the value has to be: `an operation`, `a name like started_at`."""
        return self._texts("title")[-1]

    @property
    def owner(self) -> str:
        """What the mapping is whose key the value is."""
        titles = [part["title"] for part in self.schemas[:-1] if "title" in part]
        return str(titles[-1])

    @property
    def description(self) -> str:
        """What the value is for: what is said of its word comes before what is said of its kind."""
        return self._texts("description")[0]

    @property
    def known(self) -> dict[str, str]:
        """The words that the mapping can have, with what each is for."""
        found: dict[str, str] = {}
        for part in self.schemas:
            for word, inner in part.get("properties", {}).items():
                found.setdefault(word, inner.get("description", ""))
        return found

    @property
    def closed(self) -> bool:
        """Whether the mapping can have no other words."""
        return any(part.get("additionalProperties") is False for part in self.schemas)

    def _texts(self, key: str) -> list[str]:
        """Return what the schemas say of the value, from the outermost one to the definition."""
        return [part[key] for part in self.schemas if key in part]


def complaints(plain: Any, language: str) -> list[Complaint]:
    """List all that the schema of this name objects to in a document."""
    return [_complaint(error, language) for error in _validator(language).iter_errors(plain)]


@cache
def _validator(language: str) -> Any:
    """Build the validator once; importing jsonschema is slow, so only a check pays for it."""
    from jsonschema import Draft7Validator, ValidationError, validators

    def pattern(_: Any, asked: str, value: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(value, str) and not matches(asked, value):
            yield ValidationError(asked)

    def definition(validator: Any, asked: str, value: Any, _: Any) -> Iterator[ValidationError]:
        return validator.descend(value, _defined(asked, language))  # type: ignore[no-any-return]  # it has no annotations

    extend: Callable[..., type[Draft7Validator]] = validators.extend  # it has no annotations of its own
    return extend(Draft7Validator, {"pattern": pattern, "$ref": definition})(_schema(language))


def matches(pattern: str, text: str) -> bool:
    """Return whether a text matches; `$` is its very end, as in JSON schema, never before a line break."""
    return re.search(f"{pattern[:-1]}\\Z" if pattern.endswith("$") else pattern, text) is not None


def _complaint(error: Any, language: str) -> Complaint:
    """Walk the schema as the error did, and keep what it says of the value that the error is about."""
    *steps, keyword = map(str, error.absolute_schema_path)
    schemas, branch, step = _resolved(_schema(language), language), "", ""
    walk = iter(steps)
    for step in walk:
        if step == "then":
            branch = next(iter(schemas[-1]["if"].get("required", ())), branch)
        part = schemas[-1][step]
        if step == "properties":
            part = part[next(walk)]
        if step in ("properties", "additionalProperties", "items"):  # on to a value inside this one
            schemas, branch = [], ""
        schemas += _resolved(part, language)
    about_key = step == "propertyNames"
    path = tuple(error.absolute_path)
    asked, value = error.validator_value, error.instance
    return Complaint(keyword, asked, value, path, tuple(schemas), about_key, branch, language)


def _resolved(part: Schema, language: str) -> list[Schema]:
    """Return a part of the schema and, if it refers to one, the definition."""
    reference = part.get("$ref")
    return [part, _defined(reference, language)] if reference else [part]


def _defined(reference: str, language: str) -> Schema:
    """Return the definition that a part of a schema refers to: all stand in the schema itself."""
    found: Schema = _schema(language)["definitions"][reference.rpartition("/")[2]]
    return found


@cache
def homes(language: str) -> dict[str, tuple[str, ...]]:
    """Return where each word of the language belongs: the titles of all that can have it."""
    found: dict[str, dict[str, None]] = {}

    def visit(part: Any) -> None:
        if not isinstance(part, dict):
            return
        if part.get("additionalProperties") is False:
            for word in part["properties"]:
                found.setdefault(word, {})[part["title"]] = None
        for inner in part.values():
            visit(inner)

    visit(_schema(language))
    return {word: tuple(titles) for word, titles in found.items()}
