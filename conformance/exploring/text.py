"""What was found of a spec on one page, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from conformance.exploring.findings import Findings, OneSided, a_or_an, record_in_words
from statemachines.checks import SOURCE, NoRow, RowsOfAnswers, steps_of, violated, way_as_row
from statemachines.explore import CanBeTold, Cell, FirstMet, SmallScope
from statemachines.kernel import within

LONGEST_GUARD: Final = 100  # signs of it that a page shows
_MARKS: Final = {"carried out": "ok", "refused": "no", "unchanged": "same", "either": "may", "waits": "waits"}
_LEGEND: Final = {
    "ok": "carried out",
    "no": "refused",
    "same": "nothing changes, whatever is answered",
    "may": "carried out or refused",
    "waits": "comes back later",
    "open": "the spec leaves open what happens",
    "-": "never met",
}


def as_page(found: Findings) -> Iterator[str]:
    """Walk the lines of what was found."""
    spec = found.compiled.lifecycle
    yield f"{spec.name}, revision {spec.version}: {_reach(found)}."
    yield from (f"  {_scope(found, each)}" for each in found.scopes)
    together = ", ".join(f"{entity} {most}" for entity, most in found.records.items())
    yield f"  at most so many records stood together: {together}"
    if found.exploration.violation is not None:
        yield ""
        yield from violated(found.compiled, found.exploration.violation).render().splitlines()
        yield "The search stopped there: what follows is what it had seen."
    yield ""
    yield from _states(found)
    yield from _cells(found)
    yield ""
    yield from _guards(found)
    yield ""
    yield from _ends(found)


def _reach(found: Findings) -> str:
    went = f"{_counted(found.exploration.states, 'configuration')}, {_counted(found.exploration.transitions, 'step')}"
    if found.exploration.violation is not None:
        return f"{went}, up to something that does not hold"
    return f"the whole small scope, {went}" if found.whole else f"{went} of the small scope, and not all of it"


def _scope(found: Findings, scope: SmallScope) -> str:
    """Say how small a scope is, and how far it was searched."""
    nodes = [each for each in found.exploration.reached if each.scope is scope]
    records = ", ".join(f"{entity} {count}" for entity, count in scope.records.items())
    limits = "".join(f", limits.{name} = {'null' if size is None else size}" for name, size in scope.limits.items())
    left = sum(each not in found.watch.ways for each in nodes)
    cut = f"; from {left:,} of them no step was tried" if left else ""
    return f"records: {records}{limits}: {_counted(len(nodes), 'configuration')}{cut}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _so_far(found: Findings) -> str:
    return "in this scope" if found.whole else "as far as the search went"


# ── States and calls ──


def _states(found: Findings) -> Iterator[str]:
    if found.states_never:
        yield f"States never reached {_so_far(found)}:"
        yield from (f"  {each.where}: {each.entity} is never {each.state}" for each in found.states_never)
    else:
        yield "Every state of every record is reached."
    if found.cells_never:
        yield f"Calls never met {_so_far(found)}:"
        yield from (f"  {_cell(each)}" for each in found.cells_never)


def _cell(cell: Cell) -> str:
    return f"{cell.operation} about {record_in_words(cell)} ({cell.parameter})"


def _cells(found: Findings) -> Iterator[str]:
    """Walk a table for each entity: by state, what becomes of each call about one."""
    used: set[str] = set()
    for entity in found.compiled.kernel.entities:
        cells = [each for each in found.watch.every_cell if each.entity == entity.name]
        states = list(dict.fromkeys(each.state for each in cells))
        names = list(dict.fromkeys((each.operation, each.parameter) for each in cells))
        rows = [[entity.name, *states]]
        for operation, parameter in names:
            marks = [_mark(found, Cell(entity.name, state, operation, parameter)) for state in states]
            used |= {mark for each in marks for mark in each.split("/")}
            several = sum(each == operation for each, _ in names) > 1
            rows.append([f"  {operation}{f' ({parameter})' if several else ''}", *marks])
        if cells:
            yield ""
            yield from _aligned(rows)
    if used:
        yield "  " + "; ".join(f"{mark}: {words}" for mark, words in _LEGEND.items() if mark in used)


def _mark(found: Findings, cell: Cell) -> str:
    answers = found.watch.cells.get(cell, {})
    marks = [mark for answer, mark in _MARKS.items() if answer in answers]
    return "/".join([*marks, *(["open"] if cell in found.watch.nobody else [])]) or "-"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    for row in rows:
        yield "".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()


# ── Guards ──


def _guards(found: Findings) -> Iterator[str]:
    total, settled = len(found.guards), len(found.declared)
    both = total - settled - len(found.one_sided)
    yield f"Guards: {both} of {total} come out both ways, with the default policies and the arguments that are tried."
    if settled:
        yield f"  {_counted(settled, 'guard')} more: a limit or a policy alone decides, once and for all."
    if found.one_sided:
        yield f"  {len(found.one_sided)} never {'decides' if len(found.one_sided) == 1 else 'decide'} anything {_so_far(found)}:"
        yield from (f"    {_one_sided(each)}" for each in found.one_sided)


def _one_sided(each: OneSided) -> str:
    guard = each.guard
    operations = [name for name in each.operations if name and f".{name}." not in f"{guard.clause}."]
    of = f", in {', '.join(operations)}" if operations else ""
    reads = f"; it reads {', '.join(guard.declared)}" if guard.declared else ""
    words = guard.words if len(guard.words) <= LONGEST_GUARD else f"{guard.words[:LONGEST_GUARD]}…"
    role = f"{guard.role} " if guard.role in ("if", "must") else ""
    return f"{each.comes_out:<13} {guard.where.file}:{guard.where.line}  {guard.clause}{of}: {role}{words}{reads}"


# ── Ends ──


def _ends(found: Findings) -> Iterator[str]:
    if not found.tellings:
        yield "No message tells of an end."
    for each in found.tellings:
        about = f"{each.message.name}, about {a_or_an(each.message.entity)}"
        if each.stuck is not None:
            yield f"--- never told: {about}"
            yield "  The shortest calls after which it is due, and no step in this scope leads to where it is sent, as a row:"
            yield from (f"    {line}" for line in _stuck_row(found, each).splitlines())
        elif not each.owed:
            yield f"{about}: it is never due {_so_far(found)}."
        else:
            unclear = f"; of {each.unclear:,} it takes more records or steps than were tried" if each.unclear else ""
            yield f"{about}: it can be told from wherever it is due, {_counted(each.owed, 'case')}{unclear}."


def _stuck_row(found: Findings, each: CanBeTold) -> str:
    """Write the shortest calls to where a message is due for ever: with what they are answered, if a row can have that."""
    assert each.stuck is not None  # whoever asks has looked
    way, limits = each.stuck.way(), each.stuck.scope.limits
    about = f"{each.message.name} is due afterwards, and is never sent."
    paths = [clause.path for clause in found.compiled.kernel.clauses]
    due = f"messages.{each.message.name}.due"
    wanted = [due, *(path for path in paths if within(path, f"messages.{each.message.name}"))]
    writer = RowsOfAnswers(found.compiled)
    try:
        return writer.row(writer.answered(way.calls(), limits), "X0", about, SOURCE, wanted=wanted)
    except NoRow:
        return way_as_row(found.compiled, way, limits, about, next(path for path in (*wanted, *paths) if path in paths))


# ── As plain values ──


def as_plain(found: Findings) -> dict[str, Any]:
    """Return what was found as plain values."""
    spec, violation = found.compiled.lifecycle, found.exploration.violation
    return {
        "lifecycle": spec.name,
        "revision": spec.version,
        "whole_scope": found.whole,
        "configurations": found.exploration.states,
        "steps": found.exploration.transitions,
        "scopes": [{"records": dict(each.records), "limits": dict(each.limits)} for each in found.scopes],
        "records": dict(found.records),
        "violation": violated(found.compiled, violation).render() if violation else None,
        "states_never_reached": [
            {"entity": each.entity, "state": each.state, "where": str(each.where)} for each in found.states_never
        ],
        "calls": [_plain_cell(found, each) for each in found.watch.every_cell],
        "guards": list(_plain_guards(found)),
        "ends": [
            {
                "message": each.message.name,
                "about": each.message.entity,
                "cases": each.owed,
                "unclear": each.unclear,
                "never_told": _stuck_row(found, each) if each.stuck else None,
            }
            for each in found.tellings
        ],
    }


def _plain_cell(found: Findings, cell: Cell) -> dict[str, Any]:
    answers = found.watch.cells.get(cell, {})
    return {
        **cell._asdict(),
        "open": cell in found.watch.nobody,
        "met": {answer: _calls(found, witness) for answer, witness in answers.items()},
    }


def _plain_guards(found: Findings) -> Iterable[dict[str, Any]]:
    for (clause, role, words, where), numbers in found.guards.items():
        guard = found.watch.guards.all[numbers[0]]
        sides = {
            side: next((found.watch.sides[each, side] for each in numbers if (each, side) in found.watch.sides), None)
            for side in (True, False)
        }
        yield {
            "clause": clause,
            "role": role,
            "condition": words,
            "where": str(where),
            "declared": list(guard.declared),
            "decided_by_what_is_declared": guard.settled,
            **{str(side).lower(): None if each is None else _calls(found, each) for side, each in sides.items()},
        }


def _calls(found: Findings, witness: FirstMet) -> list[str]:
    """Write the shortest calls as steps of a row."""
    return steps_of(found.compiled, witness.trace, witness.reached.scope.limits)
