"""A recorder: what a system does in the rows of its life cycle, as a log in the kit's own form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.budget import USUAL
from conformance.logs import LogMap, LogResult, checked
from conformance.suite.row_facts import inapplicable, makes_calls_at_once
from conformance.suite.rows import RowRunner
from conformance.system.adapter import Adapter
from conformance.system.declaration import Declaration
from statemachines.compile import Compiled
from statemachines.model import ANYTHING, Document
from statemachines.rows import Observed, RowCompiler
from tests.conformance.systems import adapted

Entries = list[dict[str, Any]]


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    match value:
        case Document(inline=True, text=text):
            return {"text": text}
        case Document(file=file):
            return {"file": file}
        case dict():
            return {name: plain(part) for name, part in value.items()}
        case list() | tuple():
            return [plain(part) for part in value]
        case str() | int() | None:
            return value
        case _:
            return f"{value!r}"


def recorded(calls: Iterable[Observed]) -> Entries:
    """The entries that a system would have logged: each call when it was over, then the signals that came until then."""
    found: Entries = []
    now = 0
    for call in calls:
        if call.operation == "wait":
            now += call.arguments["ms"]
        else:
            found.append(entry(call, now))
            now += call.elapsed
        for name, fields in call.signals:
            found.append({"at": now, "signal": name, "with": {part: plain(value) for part, value in fields}})
    return found


def entry(call: Observed, now: int) -> dict[str, Any]:
    """The entry of one call."""
    made = {"at": now, "call": call.operation, "with": plain(dict(call.arguments))}
    made |= {"until": now + call.elapsed} if call.elapsed else {}
    if call.refused is not None:
        return made | {"refused": call.refused}
    if call.reply is ANYTHING:
        return made | {"gives": {"malformed": call.malformed}}
    return made | {"gives": plain(call.reply)}


def row_logs(
    compiled: Compiled, adapter: Adapter, rows: Iterable[str] | None = None, *, most: int = 1
) -> Iterator[tuple[str, Entries]]:
    """The logs of rows that make their calls one after the other; of each so many of the values that it names."""
    programs = RowCompiler(compiled.lifecycle)
    runner = RowRunner(compiled, programs, adapter, number=0, budget=USUAL.quick())
    for name, row in compiled.lifecycle.rows.items():
        if (
            (rows is not None and name not in rows)
            or makes_calls_at_once(row)
            or inapplicable(compiled, programs.words, adapter, row)
        ):
            continue
        program = programs.program(row)
        for values in runner.fixed_values(program)[:most]:
            yield name, recorded(runner.ran(program, values, 0)[0].calls)


def log_map(declaration: Declaration, clock: str = "virtual", **words: Any) -> LogMap:
    """The map of a log in the kit's own form, of a system that declares this."""
    return LogMap(replace(declaration, clock=clock, settles=0), **words)


def written(entries: Entries, path: Path) -> Path:
    """A log in a file."""
    path.write_text("".join(f"{json.dumps(each)}\n" for each in entries), encoding="utf-8")
    return path


def outcome(compiled: Compiled, entries: Entries, path: Path, found: LogMap) -> LogResult:
    """What comes of a log."""
    return checked(compiled, str(written(entries, path)), found)


__all__ = ["adapted", "log_map", "outcome", "recorded", "row_logs", "written"]
