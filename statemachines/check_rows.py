"""Whether every row is typed, runs, and holds on the model: the rows test the spec, and the spec the rows."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic, Where
from statemachines.expression.syntax import Name
from statemachines.lifecycle import Expr, Row
from statemachines.model import BaseModel, Impossible
from statemachines.model_subject import ModelSubject
from statemachines.rows import Program, RowCompiler, RowFailure, enumerated, evaluate, witnesses

MOST_ORDERS: Final = 200
"""In so many orders calls that are made at once are run, where there are more than four of them."""

PATIENCE: Final = 10_000
"""After so many steps of its own in one run, the model is taken never to rest."""

_FALSE: Final = "the row and the rules of the spec contradict each other: one of them is wrong"


@dataclass(slots=True)
class Ran:
    """What running the rows showed.

    seen      by row, 1 for each clause that one of its runs witnessed; only rows that hold have an entry
    complete  every row was run, and held
    """

    faults: list[Diagnostic] = field(default_factory=list)
    seen: dict[str, bytes] = field(default_factory=dict)
    runs: int = 0
    complete: bool = True
    paths: tuple[str, ...] = ()

    @property
    def witnessed(self) -> frozenset[str]:
        """Give the paths of the clauses that some row witnessed."""
        return frozenset(path for seen in self.seen.values() for path, hit in zip(self.paths, seen, strict=True) if hit)


def run_rows(compiled: Compiled) -> Ran:
    """Type every row, and run those without a fault on the model."""
    compiler = RowCompiler(compiled.lifecycle)
    ran = Ran(paths=tuple(clause.path for clause in compiled.kernel.clauses))
    model_class = _restless(compiled.model_class)
    for name, row in compiled.lifecycle.rows.items():
        before = len(compiler.faults)
        program = compiler.program(row)
        if len(compiler.faults) == before:
            trial = _Trial(compiled, compiler, program, model_class())
            if fault := trial.fault():
                ran.faults.append(fault)
            else:
                ran.seen[name] = bytes(trial.model.seen)
            ran.runs += trial.runs
    ran.faults += compiler.faults
    ran.complete = len(ran.seen) == len(compiled.lifecycle.rows)
    return ran


def _restless(model_class: type[BaseModel]) -> type[BaseModel]:
    """Give the model's class, whose instances do not take steps of their own for ever."""

    class Bounded(model_class):  # type: ignore[valid-type,misc]  # the base is made at run time
        __slots__ = ("taken",)

        def reset(self) -> None:
            super().reset()
            self.taken = 0

        def take(self, index: int, keys: tuple[Any, ...]) -> Any:
            self._count()
            return super().take(index, keys)

        def fire(self, index: int, key: Any) -> Any:
            self._count()
            return super().fire(index, key)

        def _count(self) -> None:
            self.taken += 1
            if self.taken > PATIENCE:
                raise Impossible("on its own", f"the model takes more than {PATIENCE} steps of its own and never rests")

    return Bounded


class _Trial:
    """One row, run on one model with every choice that it leaves."""

    def __init__(self, compiled: Compiled, compiler: RowCompiler, program: Program, model: BaseModel) -> None:
        self.compiled = compiled
        self.words = compiler.words
        self.program = program
        self.row = program.row
        self.model: Any = model
        self.runs = 0

    def fault(self) -> Diagnostic | None:
        """Run the row; give its first fault."""
        idle = never_met(self.words, self.row, self.model)
        if idle is not None:
            hint = "choose defaults with which every row runs, or weaken the condition"
            message = f"row {self.row.id.text} never runs by default: {idle.text} is false"
            return Diagnostic("row-never-runs", idle.where, message, hint)
        try:
            drawn = witnesses(self.words, self.row, self.model)
        except (ArithmeticError, TypeError, ValueError) as error:
            place = next((drawn.name.where for drawn in self.row.drawn), self.row.id.where)
            return self._fails(place, f"a witness cannot be evaluated: {error}", "")
        for chosen in enumerated(self.compiled.lifecycle, self.program):
            if found := self._with({**chosen, **drawn}, chosen):
                return found
        return None

    def _with(self, arguments: Mapping[str, Any], chosen: Mapping[str, Any]) -> Diagnostic | None:
        """Run with some values, in every order in which calls made at once can come."""
        given = " and ".join(f"{name} = {spoken(value)}" for name, value in chosen.items())
        first = self._leniently_and_not(arguments, (), given)
        if isinstance(first, Diagnostic):
            return first
        for order in _orders(first):
            called = ", then ".join(str(index + 1) for index in order)
            how = ", ".join(filter(None, (given, f"calls made at once in the order {called}")))
            found = self._leniently_and_not(arguments, order, how)
            if isinstance(found, Diagnostic):
                return found
        return None

    def _leniently_and_not(self, arguments: Mapping[str, Any], order: Sequence[int], how: str) -> Diagnostic | int:
        """Run with what is open carried out, and if there was such a thing, also refused; give the most calls at once."""
        subject = self._subject(lenient=True, order=order)
        found = self._run(subject, arguments, how)
        if found is None and subject.chose:
            refused = ", ".join(filter(None, (how, "what may be refused is refused")))
            found = self._run(self._subject(lenient=False, order=order), arguments, refused)
        return subject.widest if found is None else found

    def _subject(self, *, lenient: bool, order: Sequence[int]) -> ModelSubject:
        self.model.reset()
        return ModelSubject(self.model, self.compiled.kernel, lenient=lenient, order=order)

    def _run(self, subject: ModelSubject, arguments: Mapping[str, Any], how: str) -> Diagnostic | None:
        self.runs += 1
        try:
            self.program.run(subject, arguments)
        except RowFailure as failure:
            place = failure.expr.where if failure.expr else self.row.id.where
            return self._fails(place, failure.message, how)
        except Impossible as impossible:
            return self._fails(self.row.id.where, impossible.message, how)
        broken = self.model.broken()
        return self._breaks(broken, how) if broken else None

    def _fails(self, where: Where, message: str, how: str) -> Diagnostic:
        condition = f", with {how}" if how else ""
        said = f"row {self.row.id.text} does not hold on the model{condition}: {message}"
        return Diagnostic("row-fails", where, said, _FALSE)

    def _breaks(self, invariant: str, how: str) -> Diagnostic:
        where = self.compiled.kernel.clause(f"invariants.{invariant}").where
        condition = f", with {how}" if how else ""
        message = f"{invariant!r} does not hold at the end of row {self.row.id.text}{condition}"
        return Diagnostic("invariant-broken", where, message, _FALSE)


def never_met(words: Any, row: Row, declared: Any) -> Expr | None:
    """Give the first condition of `needs` that does not hold with these limits and policies."""
    for expr in row.needs:
        if not isinstance(expr.node, Name):
            try:
                holds = evaluate(words, expr, declared)
            except (ArithmeticError, TypeError):  # a limit that is null
                holds = False
            if not holds:
                return expr
    return None


def _orders(calls: int) -> Iterator[tuple[int, ...]]:
    """Walk orders of different calls made at once, other than the order in which they are written."""
    if calls <= 4:
        yield from itertools.islice(itertools.permutations(range(calls)), 1, None)
        return
    shuffler = random.Random(calls)
    for _ in range(MOST_ORDERS):
        yield tuple(shuffler.sample(range(calls), calls))


def spoken(value: Any) -> str:
    """Write the value of a parameter as a spec would."""
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case list():
            return f"[{', '.join(map(spoken, value))}]"
        case _:
            return str(value)
