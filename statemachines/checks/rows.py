"""Whether every row is typed, runs, and holds on the model: rows and rules test each other.

One idea: a row is tried with the values, limits and policies that it reads.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from statemachines.bounds import USUAL, Bounds
from statemachines.checks.choices import declarations, orders, watched
from statemachines.checks.earlier import Earlier, HeldRow
from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic, Where
from statemachines.expression import Name, nodes, path_of
from statemachines.lifecycle import Expr, Row
from statemachines.model import BaseModel, Impossible, Watched
from statemachines.rows import (
    ModelSubject,
    Program,
    RowCompiler,
    RowFailure,
    RowTooLong,
    RowWords,
    enumerated,
    evaluate,
    extremes,
    not_exercised,
    witnesses,
)
from statemachines.surface import Reader
from statemachines.surface import row as read_row
from statemachines.yaml import read, tree

_ONE_DIGIT: Final = 9  # so many ids come one after the other as texts, too
_FALSE: Final = "the row and the rules of the spec contradict each other: one of them is wrong"
_ELSEWHERE: Final = "add to `needs` the condition under which the row holds: an implementation may declare this"
_IDLE_THERE: Final = (
    "add to `needs` what it takes, or let it come to that with every choice: a right system would not have exercised it"
)
_ASTRAY: Final = "leave the call out: whatever follows would accuse a system that is right"
_SHORTER: Final = "fewer do; if it is a limit, a smaller default does: an implementation declares its own"
_IDLE: Final = "correct the condition, or leave out what stands below it"
_REFUSED: Final = "what may be refused is refused"
_LATE: Final = "what is due at some instant, or before calls made at once end, is done as late as it may be"
_ONE_WAY: Final = "let the rules leave both open, or assert what they say"


@dataclass(slots=True)
class Ran:
    """What running the rows showed.

    paths     the clauses of the spec
    seen      by row, 1 for each clause that one of its runs witnessed; only rows that hold have an entry
    runs      how often a row was run, now or when it was found to hold; `unchanged` are the rows that were not run now
    complete  every row was run, and held
    """

    paths: tuple[str, ...]
    faults: list[Diagnostic] = field(default_factory=list)
    seen: dict[str, bytes] = field(default_factory=dict)
    runs: int = 0
    unchanged: int = 0
    complete: bool = True

    @property
    def witnessed(self) -> frozenset[str]:
        """The paths of the clauses that some row witnessed."""
        return frozenset(itertools.chain(*(itertools.compress(self.paths, seen) for seen in self.seen.values())))


class RowTrials:
    """Runs rows on the model: by default, and with other limits and policies.

    seen  1 for each clause that a run of the last row witnessed; `runs`: so many runs there were
    """

    def __init__(self, compiled: Compiled, bounds: Bounds) -> None:
        self.compiler = RowCompiler(compiled.lifecycle)
        self.runs = 0
        self.seen = bytearray(len(compiled.kernel.clauses))
        self._compiled, self._bounds = compiled, bounds
        model_class, self._needs = watched(compiled, bounds), Needs(self.compiler.words)
        self._standard = model_class()
        other = declarations(compiled.lifecycle, bounds.small_limits)
        self._declared = [[model_class(*each) for each in choices] for choices in other]

    def faults(self, program: Program) -> list[Diagnostic]:
        """Return the first fault of a row that is typed, if it has one."""
        self._standard.seen = self.seen = bytearray(len(self.seen))
        trial = _Trial(self._compiled, self._needs, program, self._standard, self._bounds)
        found = trial.found(self._declared)
        self.runs += trial.runs
        return found

    def faults_of_text(self, text: str) -> list[Diagnostic]:
        """Return what is wrong with a row that is no part of the spec, given as text."""
        reader = Reader()
        ((name, body),) = reader.entries(cast(tree.Mapping, read(text, "row")))
        row = read_row(reader, name, body)
        if reader.faults:
            return reader.faults
        compiler = RowCompiler(self._compiled.lifecycle)
        program = compiler.program(row)
        return compiler.faults or self.faults(program)


def run_rows(compiled: Compiled, bounds: Bounds, earlier: Earlier) -> Ran:
    """Type every row, and run those without a fault: by default, and with other limits and policies.

    One that is known to hold is not run again.
    """
    trials = RowTrials(compiled, bounds)
    compiler, ran = trials.compiler, Ran(tuple(clause.path for clause in compiled.kernel.clauses))
    for name, row in compiled.lifecycle.rows.items():
        before = len(compiler.faults)
        program = compiler.program(row)
        if len(compiler.faults) > before:
            continue
        held = earlier.row(row)
        if held is None:
            runs, found = trials.runs, trials.faults(program)
            ran.faults += found
            held = HeldRow(trials.runs - runs, bytes(trials.seen))
            if not found:
                earlier.note_row(row, held)
                ran.seen[name] = held.seen
        else:
            ran.seen[name] = held.seen
            ran.unchanged += 1
        ran.runs += held.runs
    ran.faults += compiler.faults
    ran.complete = len(ran.seen) == len(compiled.lifecycle.rows)
    return ran


def holds(compiled: Compiled, text: str, limits: Mapping[str, int | None], policies: Mapping[str, Any]) -> bool:
    """Run a row, given as text, on the model with these limits and policies, as `check` does; tell whether it holds every time."""
    reader, compiler = Reader(), RowCompiler(compiled.lifecycle)
    ((name, body),) = reader.entries(cast(tree.Mapping, read(text, "row")))
    row = read_row(reader, name, body)
    if reader.faults:
        return False
    program, bounds = compiler.program(row), replace(USUAL, elsewhere=False)
    model = watched(compiled, bounds)(limits, policies)
    model.seen = bytearray(len(compiled.kernel.clauses))
    return not compiler.faults and not _Trial(compiled, Needs(compiler.words), program, model, bounds).found(())


class _Trial:
    """One row, run on a model with every choice that it leaves."""

    def __init__(self, compiled: Compiled, needs: Needs, program: Program, model: BaseModel, bounds: Bounds) -> None:
        self.compiled = compiled
        self.needs = needs
        self.program = program
        self.row = program.row
        self.came: list[set[bool]] = [set() for _ in program.open]
        self.idle = [each.when for each in program.asserts if each.when is not None]
        self.refusing = bytearray(len(model.seen))
        self.limits_read: set[str] = set()
        self.policies_read: set[str] = set()
        self.model: Any = self._noting_reads(model)
        self.runs = 0
        self.bounds = bounds
        self.at_once = any(each.text == "concurrency" for each in program.row.needs)

    def found(self, declared: Sequence[Sequence[BaseModel]]) -> list[Diagnostic]:
        """Run the row with all values of its parameters, then with other limits; return the first fault.

        A row about a choice that is not the default runs with that choice.
        """
        try:
            return list(self._faults(declared))
        except RowTooLong as long:
            where = long.expr.where if long.expr else self.row.id.where
            message = f"row {self.row.id.text} cannot be run: {long.message}"
            return [Diagnostic("row-too-long", where, message, _SHORTER)]

    def _faults(self, declared: Sequence[Sequence[BaseModel]]) -> Iterator[Diagnostic]:
        idle = self.needs.unmet(self.row, self.model)
        if idle is not None:
            self.model = self._noting_reads(next(self._fitting(declared), self.model))
        if self.needs.unmet(self.row, self.model) is not None:
            assert idle is not None
            hint = "choose defaults with which every row runs, or weaken the condition"
            message = f"row {self.row.id.text} never runs: {idle.text} is false by default, and with every other choice"
            yield Diagnostic("row-never-runs", idle.where, message, hint)
        elif found := self._holds(every=True) or self._idle(self.model):
            yield found
        else:
            yield from self._one_way()
            if self.bounds.elsewhere:
                yield from self._elsewhere(declared)
                yield from self._never_made()
            if idle is None and self.row.level == "must":
                yield from self._too_strict(declared)

    def _noting_reads(self, model: BaseModel) -> BaseModel:
        """Note from now on which limits and policies are read: with others that are not, all would be the same."""
        model.limits = Watched(vars(model.limits), self.limits_read)
        model.policies = Watched(vars(model.policies), self.policies_read)
        return model

    def _fitting(self, declared: Sequence[Sequence[BaseModel]]) -> Iterator[BaseModel]:
        """Walk what may be declared with which the row runs; what is witnessed there counts for the row."""
        for model in itertools.chain(*declared):
            if self.needs.unmet(self.row, model) is None:
                model.seen = self.model.seen
                yield model

    def _one_way(self) -> Iterator[Diagnostic]:
        """Tell of what the row leaves open and the rules do not."""
        for each, came in zip(self.program.open, self.came, strict=True):
            if len(came) == 1:
                always = "always" if True in came else "never"
                message = f"row {self.row.id.text} leaves open what is not: `{each.expr.text}` {always} holds"
                yield Diagnostic("one-way", each.expr.where, message, _ONE_WAY)

    def _too_strict(self, declared: Sequence[Sequence[BaseModel]]) -> Iterator[Diagnostic]:
        """Tell of a must that asks for a choice which is only recommended."""
        standard = vars(self.model.policies)
        for model in itertools.chain(*declared):
            other = [name for name, value in vars(model.policies).items() if value != standard[name]]
            unmet = self.needs.unmet(self.row, model)
            if unmet is not None and not set(other).isdisjoint(self.compiled.kernel.recommended):
                message = f"row {self.row.id.text} is a must, and the source only recommends {unmet.text}"
                hint = "give the row the level should, or let it hold with every choice"
                yield Diagnostic("row-too-strict", unmet.where, message, hint)
                return

    def _elsewhere(self, declared: Sequence[Sequence[BaseModel]]) -> Iterator[Diagnostic]:
        """Run with other limits and policies, where the row runs at all; return its first fault.

        Where the row is about a choice that is not the default, what is witnessed there counts for it.
        """
        standard = self.model
        about_a_choice = _otherwise(standard.limits, standard.LIMITS) or _otherwise(
            standard.policies, standard.POLICIES
        )
        for choices in () if standard.serials > self.bounds.large_row else declared:
            here = (self._declaring(model, standard) for model in choices)
            self.model = next((model for model in here if self.needs.unmet(self.row, model) is None), standard)
            if not self._matters(standard):
                continue
            if found := self._holds(every=True):
                yield Diagnostic("row-needs-more", found.where, found.message, _ELSEWHERE)
                break
            if idle := self._idle(standard):
                yield idle
                break
            if about_a_choice:
                standard.seen[:] = bytes(map(max, standard.seen, self.model.seen))
        self.model = standard

    def _declaring(self, other: BaseModel, standard: BaseModel) -> BaseModel:
        """Return a model that declares what another one does otherwise than by default, and else what the row runs with."""
        found = type(standard)(
            {**vars(standard.limits), **_otherwise(other.limits, standard.LIMITS)},
            {**vars(standard.policies), **_otherwise(other.policies, standard.POLICIES)},
        )
        found.seen = bytearray(len(standard.seen))
        self.refusing = bytearray(len(standard.seen))
        return found

    def _idle(self, standard: BaseModel) -> Diagnostic | None:
        """Tell of what the row comes to, and does not with what is declared here, or where what may be refused is."""
        never = not_exercised(self.row, standard.witnessed())
        of_its_own = [path for path in self.model.CLAUSES if path.startswith("on its own.")]  # nobody asks for it
        strict = [*of_its_own, *itertools.compress(self.model.CLAUSES, self.refusing)]
        for witnessed, how in ((self.model.witnessed(), []), (strict, [_REFUSED])):
            for word in (each for each in not_exercised(self.row, witnessed) if each not in never):
                message = f"row {self.row.id.text} never comes to {word.text}{self._where(how)}"
                return Diagnostic("not-witnessed", word.where, message, _IDLE_THERE)
        return None

    def _never_made(self) -> Iterator[Diagnostic]:
        """Run with every choice that a `when` reads and that did not hold so far; tell of one that never does."""
        standard = self.model
        while self.idle:
            self.model, when = standard, self.idle[0]
            for model in self._choices(when.expr):
                self.model = model
                if when in self.idle and self.needs.unmet(self.row, self.model) is None:
                    found = self._holds(every=False)
                    if found is not None:
                        yield Diagnostic("row-needs-more", found.where, found.message, _ELSEWHERE)
                        return
            if when in self.idle:
                message = (
                    f"row {self.row.id.text} asserts something when {when.expr.text}, which is never so where it runs"
                )
                yield Diagnostic("when-never-holds", when.expr.where, message, _IDLE)
                self.idle = [each for each in self.idle if each.expr != when.expr]
        self.model = standard

    def _choices(self, condition: Expr) -> Iterator[BaseModel]:
        """Walk models with every choice of the policies, and small and usual limits, that a condition reads; the rest is as here.

        What is witnessed there counts for the row.
        """
        spec, reads = self.compiled.lifecycle, {path_of(node) for node in nodes(condition.node)}
        here = self.model
        limits = {
            name: [each.default, *range(self.bounds.small_limits), *((None,) if each.optional else ())]
            for name, each in spec.limits.items()
            if f"limits.{name}" in reads
        }
        policies = {
            name: [word.text for word in each.choices]
            for name, each in spec.policies.items()
            if f"policies.{name}" in reads
        }
        for sizes in itertools.product(*limits.values()):
            for words in itertools.product(*policies.values()):
                model = type(here)(
                    {**vars(here.limits), **dict(zip(limits, sizes, strict=True))},
                    {**vars(here.policies), **dict(zip(policies, words, strict=True))},
                )
                model.seen = here.seen
                yield model

    def _matters(self, standard: BaseModel) -> bool:
        """Return whether the model declares anything else about what was read."""
        read = [(standard.limits, self.model.limits, self.limits_read)]
        read += [(standard.policies, self.model.policies, self.policies_read)]
        return any(vars(one)[name] != vars(other)[name] for one, other, names in read for name in names)

    def _holds(self, *, every: bool) -> Diagnostic | None:
        """Run with every value of the parameters under `each`, or just with the first."""
        try:
            drawn = witnesses(self.needs.words, self.row, self.model)
            far = list(extremes(self.needs.words, self.row, self.model)) if every else []
        except (ArithmeticError, TypeError, ValueError) as error:
            return self._fails(self.row.drawn[0].name.where, f"a witness or a bound cannot be evaluated: {error}", [])
        for chosen in enumerated(self.compiled.lifecycle, self.program):
            found = self._with({**chosen, **drawn}, chosen, eagerly=True)
            if found or not every:
                return found
        chosen = next(iter(enumerated(self.compiled.lifecycle, self.program)), {})
        told = ({**chosen, **values} for values in far)
        return next(filter(None, (self._with(values, values, eagerly=False) for values in told)), None)

    def _with(self, arguments: Mapping[str, Any], chosen: Mapping[str, Any], *, eagerly: bool) -> Diagnostic | None:
        """Run with some values, in every order in which calls made at once can come."""
        given = [f"{name} = {spoken(value)}" for name, value in chosen.items()]
        first = self._subject(())
        found = self._run(first, arguments, given)
        fired, serials = self.model.fired, self.model.serials
        found = found or self._refusing(first, arguments, given)
        fired = fired or self.model.fired
        if found is None and serials > 1:
            said = [*given, "each id comes before those that were given before it"]
            found = self._run(self._subject((), descending=True), arguments, said)
        if found is None and serials > _ONE_DIGIT:
            said = [*given, "each id comes after those that were given before it"]
            found = self._run(self._subject((), ascending=True), arguments, said)
        if found is None and eagerly and first.could:
            said = [*given, "the implementation does by itself all that it may"]
            found = self._run(self._subject((), eager=True), arguments, said)
        in_parts = bool(self.model.ENDING) and first.widest > 1
        if found is None and (fired or in_parts):
            found = self._either_way(self._subject((), prompt=False), arguments, [*given, _LATE])
        for order in orders(first.widest, self.bounds.orders):
            called = ", ".join(str(index + 1) for index in order)
            said = [*given, f"calls made at once in the order {called}"]
            found = found or self._either_way(self._subject(order), arguments, said)
            if found is None and in_parts:
                found = self._either_way(self._subject(order, prompt=False), arguments, [*said, _LATE])
        return found

    def _either_way(self, first: ModelSubject, arguments: Mapping[str, Any], how: list[str]) -> Diagnostic | None:
        """Run with what is open carried out; then, if anything was, with what may be refused refused."""
        return self._run(first, arguments, how) or self._refusing(first, arguments, how)

    def _refusing(self, first: ModelSubject, arguments: Mapping[str, Any], how: list[str]) -> Diagnostic | None:
        """Run with what may be refused refused, if something was carried out that may be."""
        if not first.chose:
            return None
        other = self._subject(first.order, lenient=False, prompt=first.prompt)
        return self._run(other, arguments, [*how, _REFUSED])

    def _subject(self, order: Sequence[int], **how: bool) -> ModelSubject:
        """Return the model at the start of a case; `order` is that of calls at once, `how` all else of ModelSubject."""
        self.model.reset()
        return ModelSubject(self.model, self.compiled.kernel, order, at_once=self.at_once, **how)

    def _run(self, subject: ModelSubject, arguments: Mapping[str, Any], how: list[str]) -> Diagnostic | None:
        """Run once; what is witnessed counts, and apart what is of who refuses all that may be refused."""
        before = self.model.seen
        self.model.seen = bytearray(len(before))
        try:
            return self._run_once(subject, arguments, how)
        finally:
            seen, self.model.seen = self.model.seen, before
            before[:] = bytes(map(max, before, seen))
            if not (subject.lenient and subject.chose):
                self.refusing = bytearray(map(max, self.refusing, seen))

    def _run_once(self, subject: ModelSubject, arguments: Mapping[str, Any], how: list[str]) -> Diagnostic | None:
        self.runs += 1
        try:
            names = self.program.run(subject, arguments)
            self.idle = [when for when in self.idle if not when.held(names)]
            for each, came in zip(self.program.open, self.came, strict=True):
                held = each.held(names)
                came.update((True, False) if held is None else (held,))
        except RowFailure as failure:
            place = failure.expr.where if failure.expr else self.row.id.where
            if subject.astray:
                return Diagnostic("open-call", place, f"row {self.row.id.text}: {failure.message}", _ASTRAY)
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
        lifecycle = self.compiled.lifecycle
        standard: dict[str, Any] = {f"limits.{name}": each.default for name, each in lifecycle.limits.items()}
        standard |= {f"policies.{name}": each.standard for name, each in lifecycle.policies.items()}
        said = [(f"limits.{name}", value) for name, value in vars(self.model.limits).items()]
        said += [(f"policies.{name}", value) for name, value in vars(self.model.policies).items()]
        other = [f"{name} = {spoken(value)}" for name, value in said if value != standard[name]]
        return f", with {', '.join((*other, *how))}" if other or how else ""


class Needs:
    """What rows need of limits and policies; a condition that stands in many rows is evaluated once."""

    def __init__(self, words: RowWords) -> None:
        self.words = words
        self._known: dict[tuple[str, str, str], bool] = {}

    def unmet(self, row: Row, declared: Any) -> Expr | None:
        """Return the first condition of a row that does not hold with the limits and policies of a model."""
        return next((expr for expr in row.needs if not self._holds(expr, declared)), None)

    def _holds(self, expr: Expr, declared: Any) -> bool:
        key = (expr.text, str(vars(declared.limits)), str(vars(declared.policies)))
        if key not in self._known:
            try:
                self._known[key] = isinstance(expr.node, Name) or bool(evaluate(self.words, expr, declared))
            except (ArithmeticError, TypeError):  # a limit that is null
                self._known[key] = False
        return self._known[key]


def spoken(value: Any) -> str:
    """Write the value of a parameter as a spec would."""
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case list():
            return f"[{', '.join(map(spoken, value))}]"
        case _:
            return str(value)


def _otherwise(declared: object, usual: Mapping[str, Any]) -> dict[str, Any]:
    """Return the declared values that are not the usual ones."""
    return {name: value for name, value in vars(declared).items() if value != usual[name]}
