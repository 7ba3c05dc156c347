"""The state of a model as tables: the clock, the variables, the records of each entity, the timers, and the messages due and sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from statemachines import kernel
from statemachines.expression import python_name
from statemachines.model import ANYTHING, Document, SuchAs
from statemachines.rows import quoted, spelled

LONGEST_CELL: Final = 28  # characters of one value in a table
EMPTY: Final = ("null", "false", "0", "''", "[]")


def state_lines(source: kernel.Kernel, model: Any, width: int) -> Iterator[str]:
    """Walk the lines of a model's state, none wider than `width` if that can be."""
    variables = [f"{each.name} {value_text(getattr(model, python_name(each.name)))}" for each in source.variables]
    yield ", ".join([f"clock {model.now} ms", *variables])
    for entity in source.entities:
        records = getattr(model, python_name(entity.collection)).values()
        names = ["state"] if entity.states else []
        names += [each.name for each in entity.fields if each.name != entity.key]
        rows = [[_named(each, entity.key), *(_named(each, name) for name in names)] for each in records]
        yield from _table(entity.name, names, rows, width)
    yield from _table("Timer", ["of", "fires in ms"], _timers(source, model), width)
    for message in source.messages:
        names = (["to"] if message.to is not None else []) + [key for key, _ in message.carries]
        numbers = _numbers(source, message, model)
        for box, called in (("due", "waiting to be sent"), ("sent", "sent")):
            rows = [
                [numbers.get(each.about, "one that is gone"), *(_named(each, name) for name in names)]
                for each in getattr(model, f"{box}_{message.name.lower()}")
            ]
            yield from _table(f"{message.name}, {called}", names, rows, width)


def _timers(source: kernel.Kernel, model: Any) -> list[list[str]]:
    """Return the timers that run, the next one first: what each is called, whose it is, and in how long it fires."""
    every = [(entity, timer) for entity in source.entities for timer in entity.timers]
    found = []
    for first, last, index, key in sorted(model.deadlines(), key=lambda each: each[:2]):
        entity, timer = every[index]
        record = getattr(model, python_name(entity.collection)).get(key)
        called = timer.clause.removeprefix(f"entities.{entity.name}.after.")
        soon, late = first - model.now, last - model.now
        whose = value_text(key) if record is None else _named(record, entity.key)
        found.append([called, whose, f"{soon}" if soon == late else f"{soon} to {late}"])
    return found


def _numbers(source: kernel.Kernel, message: kernel.Message, model: Any) -> dict[Any, str]:
    """Return the ids of the records that messages are about, by what they are known by there."""
    entity = source.entity(message.entity)
    records = getattr(model, python_name(entity.collection)).values()
    return {each.serial: _named(each, entity.key) for each in records}


def _named(record: Any, name: str) -> str:
    return value_text(getattr(record, python_name(name)))


def value_text(value: Any) -> str:
    """Write a value as the language of specs does, ids without quotes; a record by its id."""
    return spelled(value, _single)


def _single(value: Any) -> str:
    match value:
        case _ if isinstance(value, type(ANYTHING)):
            return "…"  # the implementation chooses it
        case SuchAs():
            return f"such as {value_text(value.example)}"
        case Document(inline=inline, text=text):
            return quoted(text) if inline else f"a file of {quoted(text)}"
        case str():
            return value if value and value.isprintable() and " " not in value else quoted(value)
        case int():
            return str(value)
        case _:
            return str(getattr(value, "id", None) or f"no. {value.serial}")


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Walk the lines of a table: in several parts where it is too wide; columns that are empty everywhere are left out."""
    if not rows:
        return
    yield ""
    heads = [title, *names]
    columns = [[head, *(_short(row[at]) for row in rows)] for at, head in enumerate(heads)]
    kept = [
        columns[0],
        *(each for each in columns[1:] if each[0] == "state" or not all(text in EMPTY for text in each[1:])),
    ]
    yield from _parts(kept, width)


def _parts(columns: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    first, rest = columns[0], list(columns[1:])
    while True:
        part, wide = [first], _wide(first)
        while rest and (len(part) == 1 or wide + _wide(rest[0]) <= width):
            wide += _wide(rest[0])
            part.append(rest.pop(0))
        for line in zip(*part, strict=True):
            yield "".join(f"{text:<{_wide(column)}}" for text, column in zip(line, part, strict=True)).rstrip()
        if not rest:
            return


def _wide(column: Sequence[str]) -> int:
    return max(map(len, column)) + 2


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
