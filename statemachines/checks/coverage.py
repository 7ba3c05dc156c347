"""Whether the rows of a spec cover its clauses, and at the level of the source."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from statemachines.checks.rows import Ran
from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic, did_you_mean
from statemachines.kernel import Clause, within
from statemachines.lifecycle import Row, Word


def covers(word: str, path: str) -> bool:
    """Return whether a row that covers `word` covers a clause: what only may be has to be named itself."""
    below = path.removeprefix(word) if within(path, word) else None
    return below is not None and ".may signal." not in below and not below.endswith(".may lose")


def covered(row: Row, clause: Clause) -> bool:
    """Return whether a row covers a clause: what is only recommended a MUST has to name itself."""
    named = row.level != "must" or clause.level == "must"
    return any(word.text == clause.path or (named and covers(word.text, clause.path)) for word in row.covers)


def said(compiled: Compiled) -> list[Clause]:
    """List the clauses that the spec says, and that rows have to cover: not the answers that there are by default, which they may."""
    spec = compiled.lifecycle
    left_out = {
        require.clause
        for operation in compiled.kernel.operations
        for require in operation.requires
        if require.guard is None and spec.missing(operation.name, require.entity) is None
    }
    left_out |= {f"operations.{name}.otherwise" for name, each in spec.operations.items() if not each.otherwise}
    return [clause for clause in compiled.kernel.clauses if clause.path not in left_out]


def faults(compiled: Compiled, dead: Collection[str]) -> Iterator[Diagnostic]:
    """Tell of paths without a clause, of clauses without a row, and of rows that ask more than the source.

    A clause in `dead` is told of elsewhere: no row can cover it.
    """
    rows, clauses = compiled.lifecycle.rows, said(compiled)
    if not rows:
        where = compiled.lifecycle.places["lifecycle"]
        hint = "write the scenarios of the source as rows, in `matrix`; until then only the searches of a run test a system"
        yield Diagnostic("no-rows", where, "the spec has no rows, so nothing tests it", hint)
    for word in (*compiled.lifecycle.should, *(word for row in rows.values() for word in row.covers)):
        yield from _unknown(word, compiled.kernel.clauses)
    lacking, asked = [], {clause.path for clause in clauses} - avoided(compiled) - set(dead)
    for clause in clauses:
        covering = [row for row in rows.values() if covered(row, clause)]
        if clause.level == "should":
            yield from _too_strict(clause, covering)
        if covering:
            yield from _too_lenient(clause, covering)
        elif rows and clause.path in asked:
            lacking.append(clause)
    yield from _uncovered(lacking)


def _uncovered(clauses: list[Clause]) -> Iterator[Diagnostic]:
    """Tell of clauses that no row covers; what is below such a one is covered along with it."""
    paths = [clause.path for clause in clauses]
    for clause in clauses:
        if not any(path != clause.path and covers(path, clause.path) for path in paths):
            hint = f"write a row that shows it, and that covers {clause.path}"
            yield Diagnostic("uncovered-clause", clause.where, f"no row covers {clause.path}", hint)


def _too_lenient(clause: Clause, covering: list[Row]) -> Iterator[Diagnostic]:
    """Tell of a MUST that only rows of another level cover."""
    if clause.level == "must" and not any(row.level == "must" for row in covering):
        names = " and ".join(row.id.text for row in covering)
        message = f"{clause.path} is a must, and only {names} covers it, which is none"
        hint = "give the row the level must, or name the clause under `should`"
        yield Diagnostic("row-too-lenient", clause.where, message, hint)


def _too_strict(clause: Clause, covering: list[Row]) -> Iterator[Diagnostic]:
    """Tell of a clause that is only recommended, and that only rows of level must cover."""
    if covering and all(row.level == "must" for row in covering):
        row = covering[0]
        word = next(word for word in row.covers if covers(word.text, clause.path))
        message = f"row {row.id.text} is a must, and the source only recommends {clause.path}"
        hint = "give the row the level should, or cover the clause in another row"
        yield Diagnostic("row-too-strict", word.where, message, hint)


def _unknown(word: Word, clauses: Sequence[Clause]) -> Iterator[Diagnostic]:
    if any(within(clause.path, word.text) for clause in clauses):
        return
    split = [clause.path.split(".") for clause in clauses]
    known = {".".join(parts[:end]) for parts in split for end in range(2, len(parts) + 1)}
    hint = did_you_mean(word.text, known) or "a path leads to a sentence of the spec: operations.finish.move"
    yield Diagnostic("unknown-clause", word.where, f"there is no clause {word.text!r}", hint)


def unwitnessed(compiled: Compiled, ran: Ran, dead: Collection[str]) -> Iterator[Diagnostic]:
    """Tell of clauses that a row covers and that its runs on the model never come to; of an answer by default, if it names that itself."""
    asked = {clause.path: clause for clause in compiled.kernel.clauses}
    for path in (*silent(compiled), *dead):
        asked.pop(path, None)
    spoken = {clause.path for clause in said(compiled)}
    for name, seen in ran.seen.items():
        row = compiled.lifecycle.rows[name]
        named = spoken.union(word.text for word in row.covers)
        idle = [path for path, hit in zip(ran.paths, seen, strict=True) if not hit and path in asked and path in named]
        idle = [path for path in idle if covered(row, asked[path])]
        for word in row.covers:
            lacking = [path for path in idle if covers(word.text, path)]
            if lacking:
                message = f"row {name} never comes to {' or '.join(lacking)}"
                yield Diagnostic("not-witnessed", word.where, message, _how_to_come_to(lacking))


def _how_to_come_to(lacking: Sequence[str]) -> str:
    """Return the hint for clauses that a row never comes to; of an argument it is the default alone that is a clause."""
    default = next((path.split(".") for path in lacking if ".takes." in path), None)
    if default is not None:
        return (
            f"that is the default of {default[-1]}: call {default[1]} without it, or cover just what the row comes to"
        )
    return "do in the row what the clause is about, or cover just what the row comes to"


def silent(compiled: Compiled) -> set[str]:
    """Name the clauses that no run on the model comes to: what may be lost, and where nobody goes."""
    lost = {clause.path for clause in compiled.kernel.clauses if clause.path.endswith(".may lose")}
    return lost | avoided(compiled)


def avoided(compiled: Compiled) -> set[str]:
    """Name the clauses that leave all open: what nobody asks no row can show."""
    requires = [require for operation in compiled.kernel.operations for require in operation.requires]
    return {require.clause for require in requires if require.answer == "avoided"}
