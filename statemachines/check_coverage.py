"""Whether the rows of a spec cover its clauses, and at the level of the source."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from statemachines.check_rows import Ran
from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic, did_you_mean
from statemachines.kernel import Clause
from statemachines.lifecycle import Row, Word


def holds(path: str, word: str) -> bool:
    """Tell whether a clause is the one that a path names, or below it."""
    return path == word or path.startswith(f"{word}.")


def faults(compiled: Compiled, dead: Collection[str]) -> Iterator[Diagnostic]:
    """Tell of paths without a clause, of clauses without a row, and of rows that ask more than the source.

    A clause in `dead` is told of elsewhere: no row can cover it.
    """
    rows = compiled.lifecycle.rows
    if not rows:
        where = compiled.lifecycle.places["lifecycle"]
        hint = "write the scenarios of the source as rows, in `matrix`"
        yield Diagnostic("no-rows", where, "the spec has no rows, so nothing tests it", hint)
    for word in (*compiled.lifecycle.should, *(word for row in rows.values() for word in row.covers)):
        yield from _unknown(word, compiled.kernel.clauses)
    for clause in compiled.kernel.clauses:
        covering = [row for row in rows.values() if any(holds(clause.path, word.text) for word in row.covers)]
        if clause.level == "should":
            yield from _too_strict(clause, covering)
        elif rows and clause.path not in dead and not is_permission(clause.path, compiled):
            yield from _uncovered(clause, covering)


def _uncovered(clause: Clause, covering: list[Row]) -> Iterator[Diagnostic]:
    """Tell of a clause that no row of level must covers."""
    if not any(row.level == "must" for row in covering):
        who = "only rows that are no must cover" if covering else "no row covers"
        hint = f"write a row of level must that shows it, and that covers {clause.path}"
        yield Diagnostic("uncovered-clause", clause.where, f"{who} {clause.path}", hint)


def is_permission(path: str, compiled: Compiled) -> bool:
    """Tell whether a clause only allows something, so that no row can ask for it."""
    if path.endswith(".may lose") or ".may signal." in path:
        return True
    own = compiled.lifecycle.spontaneous
    return any(step.must is None and holds(path, f"on its own.{name}") for name, step in own.items())


def unwitnessed(compiled: Compiled, ran: Ran, dead: Collection[str]) -> Iterator[Diagnostic]:
    """Tell of clauses that a row covers and that its runs on the model never come to."""
    for name, seen in ran.seen.items():
        for word in compiled.lifecycle.rows[name].covers:
            lacking = [
                clause.path
                for clause, hit in zip(compiled.kernel.clauses, seen, strict=True)
                if not hit and clause.path not in dead and _is_asked_for(clause.path, word.text, compiled)
            ]
            if lacking:
                message = f"row {name} never comes to {' or '.join(lacking)}"
                hint = "do in the row what the clause is about, or cover just what the row comes to"
                yield Diagnostic("not-witnessed", word.where, message, hint)


def _is_asked_for(path: str, word: str, compiled: Compiled) -> bool:
    """Tell whether a row that covers `word` has to come to a clause; to a permission only if it names it."""
    if path == word:
        return not path.endswith(".may lose")  # what is lost is no step of the model
    return holds(path, word) and not is_permission(path, compiled)


def _unknown(word: Word, clauses: tuple[Clause, ...]) -> Iterator[Diagnostic]:
    if any(holds(clause.path, word.text) for clause in clauses):
        return
    split = [clause.path.split(".") for clause in clauses]
    known = {".".join(parts[:end]) for parts in split for end in range(2, len(parts) + 1)}
    hint = did_you_mean(word.text, known) or "a path leads to a sentence of the spec: operations.finish.move"
    yield Diagnostic("unknown-clause", word.where, f"there is no clause {word.text!r}", hint)


def _too_strict(clause: Clause, covering: list[Row]) -> Iterator[Diagnostic]:
    """Tell of a clause that is only recommended, and that only rows of level must cover."""
    if covering and all(row.level == "must" for row in covering):
        row = covering[0]
        word = next(word for word in row.covers if holds(clause.path, word.text))
        message = f"row {row.id.text} is a must, and the source only recommends {clause.path}"
        hint = "give the row the level should, or cover the clause in another row"
        yield Diagnostic("row-too-strict", word.where, message, hint)
