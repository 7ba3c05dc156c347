"""Whether every row is typed, runs, and holds on the model: rows and rules test each other."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic, Where
from statemachines.expression.syntax import Name
from statemachines.lifecycle import Expr, Lifecycle, Row
from statemachines.model import BaseModel, Impossible
from statemachines.model_subject import ModelSubject
from statemachines.row_words import RowWords
from statemachines.rows import Program, RowCompiler, RowFailure, enumerated, evaluate, witnesses

MOST_ORDERS: Final = 200
"""In so many orders calls that are made at once are run, where there are more than four of them."""

PATIENCE: Final = 10_000
"""After so many steps of its own in one run, the model is taken never to rest."""

MANY: Final = 500
"""A row that creates more records is not run again with other limits."""

_FALSE: Final = "the row and the rules of the spec contradict each other: one of them is wrong"
_ELSEWHERE: Final = (
    "add to `needs` the condition under which the row holds: an implementation may declare this"
)


@dataclass(slots=True)
class Ran:
    """What running the rows showed.

    paths     the clauses of the spec
    seen      by row, 1 for each clause that one of its runs witnessed; only rows that hold have an entry
    complete  every row was run, and held
    """

    paths: tuple[str, ...]
    faults: list[Diagnostic] = field(default_factory=list)
    seen: dict[str, bytes] = field(default_factory=dict)
    runs: int = 0
    complete: bool = True

    @property
    def witnessed(self) -> frozenset[str]:
        """Give the paths of the clauses that some row witnessed."""
        return frozenset(
            itertools.chain(*(itertools.compress(self.paths, seen) for seen in self.seen.values()))
        )


def run_rows(compiled: Compiled) -> Ran:
    """Type every row, and run those without a fault on the model."""
    compiler = RowCompiler(compiled.lifecycle)
    ran = Ran(tuple(clause.path for clause in compiled.kernel.clauses))
    model_class, needs = _resting(compiled.model_class), Needs(compiler.words)
    standard = model_class()
    declared = [model_class(*each) for each in declarations(compiled.lifecycle)]
    for name, row in compiled.lifecycle.rows.items():
        before, standard.seen = len(compiler.faults), bytearray(len(ran.paths))
        program = compiler.program(row)
        if len(compiler.faults) == before:
            trial = _Trial(compiled, needs, program, standard)
            if fault := trial.fault() or trial.fault_elsewhere(declared):
                ran.faults.append(fault)
            else:
                ran.seen[name] = bytes(trial.model.seen)
            ran.runs += trial.runs
    ran.faults += compiler.faults
    ran.complete = len(ran.seen) == len(compiled.lifecycle.rows)
    return ran


def declarations(lifecycle: Lifecycle) -> Iterator[tuple[dict[str, int | None], dict[str, str]]]:
    """Walk limits and policies that an implementation may declare, one that is not the default at a time."""
    for name, limit in lifecycle.limits.items():
        sizes: list[int | None] = [0, 1, None] if limit.optional else [0, 1]
        yield from (({name: size}, {}) for size in sizes if size != limit.default)
    for name, policy in lifecycle.policies.items():
        yield from (({}, {name: word.text}) for word in policy.choices if word.text != policy.default.text)


def _resting(model_class: type[BaseModel]) -> type[BaseModel]:
    """Give the model's class, whose instances do not take steps of their own for ever."""

    class Resting(model_class):  # type: ignore[valid-type,misc]  # the base is made at run time
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
                raise Impossible(
                    "on its own", f"more than {PATIENCE} steps follow by themselves, without rest"
                )

    return Resting


class _Trial:
    """One row, run on a model with every choice that it leaves."""

    def __init__(self, compiled: Compiled, needs: Needs, program: Program, model: BaseModel) -> None:
        self.compiled = compiled
        self.needs = needs
        self.program = program
        self.row = program.row
        self.model: Any = model
        self.runs = 0

    def fault(self) -> Diagnostic | None:
        """Run the row by default, with all values of its parameters; give its first fault."""
        idle = self.needs.unmet(self.row, self.model)
        if idle is not None:
            hint = "choose defaults with which every row runs, or weaken the condition"
            message = f"row {self.row.id.text} never runs by default: {idle.text} is false"
            return Diagnostic("row-never-runs", idle.where, message, hint)
        return self._holds(every=True)

    def fault_elsewhere(self, declared: Sequence[BaseModel]) -> Diagnostic | None:
        """Run the row with other limits and policies, where it runs at all; give its first fault."""
        model, many = self.model, self.model.serials > MANY
        found = None
        for self.model in () if many else declared:
            if found is None and self.needs.unmet(self.row, self.model) is None:
                found = self._holds(every=False)
        self.model = model
        return found and Diagnostic("row-needs-more", found.where, found.message, _ELSEWHERE)

    def _holds(self, *, every: bool) -> Diagnostic | None:
        """Run with every value of the parameters under `each`, or just with the first."""
        try:
            drawn = witnesses(self.needs.words, self.row, self.model)
        except (ArithmeticError, TypeError, ValueError) as error:
            return self._fails(self.row.drawn[0].name.where, f"a witness cannot be evaluated: {error}", "")
        for chosen in enumerated(self.compiled.lifecycle, self.program):
            found = self._with({**chosen, **drawn}, chosen)
            if found or not every:
                return found
        return None

    def _with(self, arguments: Mapping[str, Any], chosen: Mapping[str, Any]) -> Diagnostic | None:
        """Run with some values, in every order in which calls made at once can come."""
        given = [f"{name} = {spoken(value)}" for name, value in chosen.items()]
        first = self._run_twice(arguments, (), given)
        if isinstance(first, Diagnostic):
            return first
        for order in _orders(first):
            called = ", ".join(str(index + 1) for index in order)
            found = self._run_twice(arguments, order, [*given, f"calls made at once in the order {called}"])
            if isinstance(found, Diagnostic):
                return found
        return None

    def _run_twice(
        self, arguments: Mapping[str, Any], order: Sequence[int], how: list[str]
    ) -> Diagnostic | int:
        """Run with what is open carried out, then, if anything was, refused; give the most calls at once."""
        subject = self._subject(order, lenient=True)
        found = self._run(subject, arguments, how)
        if found is None and subject.chose:
            strict = self._subject(order, lenient=False)
            found = self._run(strict, arguments, [*how, "what may be refused is refused"])
        return subject.widest if found is None else found

    def _subject(self, order: Sequence[int], *, lenient: bool) -> ModelSubject:
        self.model.reset()
        return ModelSubject(self.model, self.compiled.kernel, lenient=lenient, order=order)

    def _run(self, subject: ModelSubject, arguments: Mapping[str, Any], how: list[str]) -> Diagnostic | None:
        self.runs += 1
        try:
            self.program.run(subject, arguments)
        except RowFailure as failure:
            place = failure.expr.where if failure.expr else self.row.id.where
            message = f"`{failure.expr.text}`: {failure.message}" if failure.expr else failure.message
            return self._fails(place, message, how)
        except Impossible as impossible:
            return self._fails(self.row.id.where, impossible.message, how)
        broken = self.model.broken()
        return self._breaks(broken, how) if broken else None

    def _fails(self, where: Where, message: str, how: Sequence[str]) -> Diagnostic:
        said = f"row {self.row.id.text} does not hold on the model{self._where(how)}: {message}"
        return Diagnostic("row-fails", where, said, _FALSE)

    def _breaks(self, invariant: str, how: Sequence[str]) -> Diagnostic:
        where = self.compiled.kernel.clause(f"invariants.{invariant}").where
        message = f"{invariant!r} does not hold at the end of row {self.row.id.text}{self._where(how)}"
        return Diagnostic("invariant-broken", where, message, _FALSE)

    def _where(self, how: Sequence[str]) -> str:
        """Say with which limits, policies, values and choices the row was run."""
        limits = {f"limits.{name}": value for name, value in vars(self.model.limits).items()}
        policies = {f"policies.{name}": value for name, value in vars(self.model.policies).items()}
        defaults: dict[str, Any] = {
            f"limits.{name}": limit.default for name, limit in self.compiled.lifecycle.limits.items()
        }
        defaults |= {
            f"policies.{name}": each.default.text for name, each in self.compiled.lifecycle.policies.items()
        }
        other = [
            f"{name} = {spoken(value)}"
            for name, value in (limits | policies).items()
            if value != defaults[name]
        ]
        return f", with {', '.join((*other, *how))}" if other or how else ""


class Needs:
    """What rows need of limits and policies; a condition that stands in many rows is evaluated once."""

    def __init__(self, words: RowWords) -> None:
        self.words = words
        self._known: dict[tuple[str, int], bool] = {}

    def unmet(self, row: Row, declared: Any) -> Expr | None:
        """Give the first condition of a row that does not hold with the limits and policies of a model."""
        return next((expr for expr in row.needs if not self._holds(expr, declared)), None)

    def _holds(self, expr: Expr, declared: Any) -> bool:
        key = (expr.text, id(declared))
        if key not in self._known:
            self._known[key] = isinstance(expr.node, Name) or self._evaluated(expr, declared)
        return self._known[key]

    def _evaluated(self, expr: Expr, declared: Any) -> bool:
        try:
            return bool(evaluate(self.words, expr, declared))
        except (ArithmeticError, TypeError):  # a limit that is null
            return False


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
