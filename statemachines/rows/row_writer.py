"""A row as text in the spec's own words, ready to be read, put into the matrix, or run again."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from statemachines.compile import Compiled
from statemachines.lifecycle import Row, RowStep
from statemachines.rows.names import Names, item
from statemachines.rows.programs import Program


def row_text(
    name: str,
    about: str,
    level: str,
    source: str,
    covers: Iterable[str],
    steps: Sequence[str],
    claims: Iterable[str] = ("- true",),
    needs: Sequence[str] = (),
) -> str:
    """Return a row as YAML; `steps` and `claims` are lines as they stand below their words, `needs` are expressions."""
    lines = [
        f"{name}:",
        f"  about: {json.dumps(_one_line(about), ensure_ascii=False)}",
        f"  level: {level}",
        f"  source: {source}",
        f"  covers: [{', '.join(covers)}]",
        *(["  needs:"] if needs else []),
        *(f"    {item(each)}" for each in needs),
        "  act:",
        *(f"    {line}" for line in steps),
        "  assert:",
        *(f"    {line}" for line in claims),
    ]
    return "\n".join(lines) + "\n"


def row_as_it_ran(compiled: Compiled, program: Program, values: Mapping[str, Any]) -> str:
    """Return a row as text with the values that its parameters had, as the first steps."""
    row, names = program.row, Names(compiled)
    kinds = dict(program.parameters)
    steps = [item(f"{name} = {names.bound(value, kinds.get(name))}") for name, value in values.items()]
    for step in (*row.arrange, *row.act):
        steps += _step(step)
    return row_text(
        row.id.text,
        row.about,
        row.level,
        row.source,
        [word.text for word in row.covers],
        steps,
        _claims(row),
        [expr.text for expr in row.needs],
    )


def _claims(row: Row) -> Iterator[str]:
    """Write what a row asserts, what stands below one `when` together."""
    for when, claims in itertools.groupby(row.asserts, lambda claim: claim.when):
        if when is not None:
            yield f"- when {_one_line(when.text)}:"
        for claim in claims:
            yield f"{'' if when is None else '    '}{item(_one_line(claim.expr.text))}"


def _step(step: RowStep) -> list[str]:
    if step.loop is not None:
        inner = [f"    {line}" for each in step.body for line in _step(each)]
        return [f"- for each {step.loop.text} in {step.expr.text}:", *inner]
    text = _one_line(step.expr.text)
    return [item(f"{step.binding.text} = {text}" if step.binding is not None else text)]


def _one_line(text: str) -> str:
    return " ".join(text.split())
