"""What skeletons share in which each operation is one entry of a table: its words, and how a template is filled in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Template

from conformance.skeleton.facts import Asked, Effect, Method, Outline, shape
from statemachines.types import Bool, Int, Null, Time, Type


@dataclass(frozen=True, slots=True)
class Style:
    """How a language writes what its template leaves open.

    comment  what a comment begins with
    null     its word for nothing
    entry    the entry of an operation that is not written yet, with its indentation
    fields   an object, of names and values in the form of JSON
    texts    a list of texts
    """

    comment: str
    null: str
    entry: Callable[[str], str]
    fields: Callable[[Mapping[str, object]], str]
    texts: Callable[[Sequence[str]], str]


def written(template: str, style: Style, said: Outline) -> str:
    """Fill in the template of a language."""
    entries = {
        "controls": "".join(_entry(style, each) for each in said.controls),
        "product": "".join(_entry(style, each) for each in said.product),
    }
    entry = style.entry("")
    begin = entry[: len(entry) - len(entry.lstrip())] + style.comment
    return Template(template).substitute(
        entries,
        name=said.name,
        called=said.called,
        code=said.code,
        choices="".join(f"\n{style.comment} {each}" for each in said.choices),
        limits=style.fields(said.limits),
        policies=style.fields(said.policies),
        lacks=style.texts(said.lacks),
        parts=style.texts(said.parts),
        signals="".join(f"\n{begin} {_signal(each)}".rstrip() for each in said.signals),
    )


def plain(value: object, null: str) -> str:
    """Write a number, a text or nothing as most languages do."""
    return null if value is None else json.dumps(value)


def _entry(style: Style, method: Method) -> str:
    entry = style.entry(method.name)
    about, *others = method.said(style.null)
    return f"{entry} {style.comment} {' '.join([about, *_taken(method.asked), *others])}\n"


def _taken(asked: Sequence[Asked]) -> list[str]:
    fields = ", ".join(f"{each.name}: {shape(each.type, _word)}" for each in asked)
    return [f"Takes {fields}."] if asked else []


def _word(kind: Type) -> str:
    match kind:
        case Bool():
            return "bool"
        case Int() | Time():
            return "number"
        case Null():
            return "null"
        case _:
            return "text"


def _signal(signal: Effect) -> str:
    fields = [f'"signal": "{signal.name}"', *(f'"{each}": …' for each in signal.fields)]
    return f"{{{', '.join(fields)}}}  {signal.told}"
