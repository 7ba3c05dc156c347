"""Tree → types, limits, policies and definitions: what the other sections refer to by name."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal, cast

from statemachines.diagnostics import did_you_mean
from statemachines.lifecycle import ANY, DefinitionSpec, Limit, Policy, TypeDeclaration, TypeUse, Word
from statemachines.surface.reader import Reader
from statemachines.yaml import Mapping, Node, Scalar

_DEFINED = re.compile(r"(\w+)(?:\(\s*(\w+(?:\s*,\s*\w+)*)?\s*\))?")


def type_use(reader: Reader, node: Node | None) -> TypeUse:
    """Read a type where it is used."""
    if isinstance(node, Mapping):
        return replace(_written_out(reader, node), default=reader.expr_or_none(node.get("default")))
    scalar = cast(Scalar, node)
    name, bar, null = (part.strip() for part in scalar.text.partition("|"))
    if bar and null != "null":
        message = f"{scalar.text!r} is not a type"
        reader.fault("unknown-type", scalar.at(0), message, "write X | null, or declare a type")
    return TypeUse(Word(name, scalar.at(0)), nullable=bool(bar))


def _written_out(reader: Reader, body: Mapping) -> TypeUse:
    """Read a type that is more than a name; what is left out of it is read by the caller."""
    if (listed := body.get("list of")) is not None:
        absent = body.get("or") is not None
        return TypeUse(Word("list", body.where), nullable=absent, item=type_use(reader, listed))
    if (subset := body.get("subset of")) is not None:
        return TypeUse(Word("subset", body.where), item=type_use(reader, subset), subset=True)
    if (low := body.get("from")) is not None:
        bounds = (reader.number(low), reader.number(body.get("to")))
        return TypeUse(Word("int", body.where), bounds=bounds)
    if choices := reader.words(body.get("one of")):
        return TypeUse(Word("one of", body.where), choices=choices)
    return type_use(reader, body.get("type"))


def uses(reader: Reader, node: Node | None) -> dict[str, TypeUse]:
    """Read a mapping from names to types."""
    return {name.text: type_use(reader, value) for name, value in reader.entries(node)}


def type_declaration(reader: Reader, name: Word, body: Mapping) -> TypeDeclaration:
    """Read one entry of `types`."""
    kinds = {"one of": "one of", "text": "text", "id of": "id of", "from": "range", "record": "record"}
    kind = next(kind for key, kind in kinds.items() if body.get(key) is not None)
    sizes = {key: reader.expr(value) for key in ("bytes", "lines") if (value := body.get(key)) is not None}
    low, high = reader.number(body.get("from")), reader.number(body.get("to"))
    if low > high:
        message = f"nothing is at least {low} and at most {high}"
        reader.fault("bad-value", cast(Scalar, body.get("to")).at(0), message, "the smaller one stands under `from`")
    return TypeDeclaration(
        name,
        cast("Literal['one of', 'text', 'id of', 'range', 'record']", kind),
        members=reader.words(body.get("one of")),
        of=reader.word_or_none(body.get("of")),
        text=reader.text(body.get("text")),
        sizes=sizes,
        entity=reader.word_or_none(body.get("id of")),
        bounds=(low, high),
        fields=uses(reader, body.get("record")),
    )


def limit(reader: Reader, name: Word, body: Mapping) -> Limit:
    """Read one entry of `limits`."""
    default = cast("int | None", cast(Scalar, body.get("default")).value)
    return Limit(name, default, reader.true(body.get("optional")), reader.text(body.get("about")))


def policy(reader: Reader, name: Word, body: Mapping) -> Policy:
    """Read one entry of `policies`: its choices are words, or the names of ordering keys."""
    keys = reader.pairs(body.get("keys"))
    choices = tuple(key for key, _ in keys) or reader.words(body.get("one of"))
    default, words = reader.word(body.get("default")), [word.text for word in choices]
    if default.text not in (*words, ANY):
        message = f"{default.text!r} is no choice of the policy {name.text!r}"
        hint = f"choices: {', '.join(words)}, or {ANY} where any of them is right"
        hint = did_you_mean(default.text, words) or hint
        reader.fault("bad-value", cast(Scalar, body.get("default")).at(0), message, hint)
    return Policy(
        name,
        default,
        choices,
        entity=reader.word_or_none(body.get("of")),
        keys={key.text: expr for key, expr in keys},
        about=reader.text(body.get("about")),
        is_recommended=reader.true(body.get("recommended")),
    )


def definition(reader: Reader, key: Word, node: Node) -> DefinitionSpec:
    """Read one entry of `define`: `name(parameters): expression`."""
    match = _DEFINED.fullmatch(key.text)
    if match is None:
        message = f"{key.text!r} is not a name with parameters"
        reader.fault("bad-definition", key.where, message, "write name(a, b): expression")
        return DefinitionSpec(key, (), reader.expr(node))
    parameters = [part.strip() for part in (match[2] or "").split(",")]
    words = tuple(Word(part, key.where) for part in parameters if part)
    return DefinitionSpec(Word(match[1], key.where), words, reader.expr(node))
