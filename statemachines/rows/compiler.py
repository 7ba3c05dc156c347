"""Rows as programs: a scenario of the matrix, typed, and the values that its parameters take."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from statemachines.diagnostics import Diagnostic, SpecError, Where, did_you_mean
from statemachines.expression import Invoke, Name, Scope, Typed, check, emit, every_part, facts, python_name
from statemachines.lifecycle import Claim, Drawn, Expr, Lifecycle, Row, RowStep, TypeUse, Word
from statemachines.rows.programs import FUNCTIONS, SETTLES, Line, Program, RowTooLong, numbers
from statemachines.rows.words import RowWords
from statemachines.types import BOOL, INT, UNKNOWN, Enum, List, Ref, Type, replied

NEEDS = ("clock", "concurrency")  # what a row can need beside optional operations and conditions


class RowCompiler:
    """Types the rows of a lifecycle and gathers their faults."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self.words = RowWords(lifecycle)
        self.lifecycle = lifecycle
        self.faults: list[Diagnostic] = []
        self._programs: dict[str, Program] = {}

    def checked(self) -> RowCompiler:
        """Type every row, and give the compiler itself; raise SpecError with every fault."""
        for row in self.lifecycle.rows.values():
            self.program(row)
        if self.faults:
            raise SpecError(self.faults)
        return self

    def program(self, row: Row) -> Program:
        """Type one row, once."""
        if row.id.text not in self._programs:
            self._programs[row.id.text] = self._program(row)
        return self._programs[row.id.text]

    def _program(self, row: Row) -> Program:
        names: dict[str, Type] = {word.text: self._parameter(use) for word, use in row.each}
        names |= {drawn.name.text: self._drawn(drawn) for drawn in row.drawn}
        needed: frozenset[str] = frozenset()
        for expr in row.needs:
            self._need(expr, self.words.scope({}).with_present(needed))
            needed |= facts(expr.node, True)
        scope = self.words.scope({**names, SETTLES: INT}).with_present(needed)
        steps, scope = self._steps((*row.arrange, *row.act), scope)
        declared = self.words.scope({}).with_present(needed)
        asserts = tuple(self._claim(each, scope, declared) for each in row.asserts)
        left_open = tuple(self._said(expr, scope) for expr in row.open)
        self.faults += self.words.faults
        self.words.faults.clear()
        return Program(row, steps, asserts, left_open, tuple(names.items()))

    def _fault(self, code: str, where: Where, message: str, hint: str) -> None:
        self.faults.append(Diagnostic(code, where, message, hint))

    def _typed(self, expr: Expr, scope: Scope, expected: Type = UNKNOWN) -> Typed:
        value, faults = check(expr.node, scope, expected)
        for fault in faults:
            self._fault(fault.code, expr.scalar.at(fault.at), fault.message, fault.hint)
        return value

    def step(self, step: RowStep, scope: Scope) -> tuple[Line, Scope]:
        """Type one step of a row; return the scope of what follows, too. Raises SpecError with what is wrong with it."""
        (line,), after = self._steps((step,), scope)
        if faults := [*self.faults, *self.words.faults]:
            self.faults.clear()
            self.words.faults.clear()
            raise SpecError(faults)
        return line, after

    def _claim(self, claim: Claim, scope: Scope, declared: Scope) -> Line:
        """Type what a row asserts; what it asserts only `when` something is declared knows of that."""
        when = None
        if claim.when is not None:
            when = self._said(claim.when, declared)
            scope = scope.with_present(facts(claim.when.node, True))
        return self._said(claim.expr, scope, when)

    def _said(self, expr: Expr, scope: Scope, when: Line | None = None) -> Line:
        return Line(expr, self._typed(expr, scope, BOOL), claim=True, when=when)

    # ── Parameters and needs ──

    def _parameter(self, use: TypeUse) -> Type:
        kind = self.words.resolve(use)
        if use.bounds is None and not enumerable(kind):
            message = f"{kind} cannot be enumerated"
            self._fault("not-enumerable", use.name.where, message, "draw it under `any`, with a witness")
        return kind

    def _drawn(self, drawn: Drawn) -> Type:
        scope = self.words.scope({})
        kind: Type = List(INT) if drawn.kind == "permutation" else INT
        if drawn.kind == "type" and drawn.type is not None:
            kind = self.words.resolve(drawn.type)
        for expr in (drawn.low, drawn.high):
            if expr is not None:
                self._typed(expr, scope, INT)
        if drawn.witness is None:
            message = f"{drawn.name.text!r} is drawn without a witness"
            hint = "witness: the value that is tried first, and that alone finds the fault"
            self._fault("missing-witness", drawn.where or drawn.name.where, message, hint)
        elif isinstance(drawn.witness, Expr):
            self._typed(drawn.witness, scope, kind)
        return kind

    def _need(self, expr: Expr, scope: Scope) -> None:
        if not isinstance(expr.node, Name):
            self._typed(expr, scope, BOOL)
            return
        word = expr.text
        optional = [name for name, operation in self.lifecycle.operations.items() if operation.optional]
        known = [*NEEDS, *optional]
        if word not in known:
            hint = did_you_mean(word, known) or f"known: {', '.join(known)}, or a condition over limits"
            self._fault("unknown-need", expr.scalar.at(0), f"a row cannot need {word!r}", hint)

    # ── Steps ──

    def _steps(self, steps: Sequence[RowStep], scope: Scope) -> tuple[tuple[Line, ...], Scope]:
        """Type steps one after the other; return the scope of what follows, too."""
        found = []
        for step in steps:
            typed = self._typed(step.expr, scope)
            if step.binding is not None:
                self._free(step.binding, scope)
                found.append(Line(step.expr, typed, binding=python_name(step.binding.text)))
                scope = self._bound(scope, step.binding.text, typed.type)
            elif step.loop is not None:
                self._free(step.loop, scope)
                found.append(self._loop(step, step.loop.text, typed, scope))
            else:
                calls = any(isinstance(part, Invoke) for part in every_part(typed))
                if not calls and typed.type != UNKNOWN:
                    message = "this step calls nothing and is bound to no name"
                    self._fault("idle-step", step.expr.scalar.at(0), message, "make a call, or write name = …")
                found.append(Line(step.expr, typed))
        return tuple(found), scope

    def _loop(self, step: RowStep, name: str, over: Typed, scope: Scope) -> Line:
        kind = replied(over.type)
        if not isinstance(kind, List) and kind != UNKNOWN:
            message = f"{over.type} is not a list"
            self._fault("expression-type", step.expr.scalar.at(0), message, "for each walks over a list")
        inner = self._bound(scope, name, kind.item if isinstance(kind, List) else UNKNOWN)
        body, _ = self._steps(step.body, inner)
        return Line(step.expr, over, loop=python_name(name), body=body)

    def _bound(self, scope: Scope, name: str, kind: Type) -> Scope:
        return scope.with_names({name: self.words.scope({name: kind}).names[name]})

    def _free(self, word: Word, scope: Scope) -> None:
        if word.text in scope.names or word.text in self.lifecycle.operations:
            message = f"{word.text!r} already means something here"
            self._fault("shadowed-name", word.where, message, "choose another name")


# ── The values of parameters ─────────────────────────────────────────────────────────────────────


def enumerable(kind: Type) -> bool:
    """Return whether the values of a type are few and can be listed."""
    if isinstance(kind, List):
        return isinstance(kind.item, Enum)
    return isinstance(kind, Enum | Ref) or kind == BOOL


def values(lifecycle: Lifecycle, use: TypeUse, kind: Type) -> list[Any]:
    """List every value of an enumerated parameter."""
    if use.bounds is not None:
        return list(range(use.bounds[0], use.bounds[1] + 1))
    match kind:
        case Enum(members=members):
            return list(members)
        case Ref(entity=entity):
            return [word.text for word in lifecycle.entities[entity].fixed]
        case List(item=Enum(members=members)):
            sizes = range(len(members) + 1)
            return [list(chosen) for size in sizes for chosen in itertools.combinations(members, size)]
        case _:
            return [False, True]


def enumerated(lifecycle: Lifecycle, program: Program) -> Iterator[dict[str, Any]]:
    """Walk every combination of the parameters under `each`."""
    kinds = dict(program.parameters)
    lists = [values(lifecycle, use, kinds[word.text]) for word, use in program.row.each]
    for chosen in itertools.product(*lists):
        yield {word.text: value for (word, _), value in zip(program.row.each, chosen, strict=True)}


def evaluate(words: RowWords, expr: Expr, declared: Any) -> Any:
    """Evaluate an expression over limits and policies alone, as in `needs` and `witness`. Raises RowTooLong."""
    scope = words.scope({}).with_present(f"limits.{name}" for name in words.lifecycle.limits)
    typed, _ = check(expr.node, scope, INT if isinstance(expr.node, Name) else UNKNOWN)
    try:
        return eval(emit(typed), {**FUNCTIONS, "self": declared})  # noqa: S307 - the code is our own emitter's
    except RowTooLong as long:
        raise RowTooLong(long.message, expr) from None


def witnesses(words: RowWords, row: Row, declared: Any) -> dict[str, Any]:
    """Return the witness of every parameter under `any`."""
    found: dict[str, Any] = {}
    for drawn in row.drawn:
        if isinstance(drawn.witness, Expr):
            found[drawn.name.text] = evaluate(words, drawn.witness, declared)
        elif drawn.high is not None:  # reversed: the last permutation
            found[drawn.name.text] = positions(words, drawn.high, declared)[::-1]
    return found


def positions(words: RowWords, count: Expr, declared: Any) -> list[int]:
    """Return what a permutation permutes: the positions of so many items. Raises RowTooLong."""
    try:
        return numbers(evaluate(words, count, declared))
    except RowTooLong as long:
        raise RowTooLong(long.message, count) from None


def extremes(words: RowWords, row: Row, declared: Any) -> Iterator[dict[str, Any]]:
    """Walk the values under `any` in which one is as far from its witness as it may be, and the others are not."""
    first = witnesses(words, row, declared)
    for drawn in row.drawn:
        low = evaluate(words, drawn.low, declared) if drawn.low is not None else 0
        ends: list[Any] = []
        if drawn.kind == "permutation" and drawn.high is not None:
            straight = positions(words, drawn.high, declared)
            ends = [straight, straight[::-1]]
        elif drawn.kind == "range":
            ends = [low, 0 if drawn.high is None else evaluate(words, drawn.high, declared)]
        for value in ends:
            if value != first[drawn.name.text]:
                yield {**first, drawn.name.text: value}
