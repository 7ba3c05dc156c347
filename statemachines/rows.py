"""Rows that run: a scenario of the matrix, typed, and executed against anything that answers calls."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType
from typing import Any, Protocol

from statemachines import model
from statemachines.diagnostics import Diagnostic, did_you_mean
from statemachines.expression.check import Scope, check, facts
from statemachines.expression.emit import emit, python_name
from statemachines.expression.syntax import Name
from statemachines.expression.typed import Invoke, Operate, Typed
from statemachines.lifecycle import Drawn, Expr, Lifecycle, Row, Step, TypeUse
from statemachines.row_words import RowWords
from statemachines.types import BOOL, INT, UNKNOWN, Enum, List, Ref, Reply, Type

NEEDS = ("clock", "concurrency")  # what a row can need beside optional operations and conditions


class RowFailure(Exception):
    """A row does not hold: an assertion is false, or something it builds on was refused or is not there."""

    def __init__(self, message: str, expr: Expr | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.expr = expr


@dataclass(slots=True)
class Answer:
    """What a call was answered: a value or a refusal, and the signals that came with it."""

    operation: str
    given: Any = None
    refused: str | None = None
    signals: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def value(self) -> Any:
        """The value that was given; a row that reads it from a refusal does not hold."""
        if self.refused is not None:
            raise RowFailure(f"{self.operation} was refused ({self.refused}), so it gave nothing to look at")
        return self.given

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answer) and self.value == other.value

    __hash__ = None  # type: ignore[assignment]  # answers hold dicts; nothing puts them in a set


class Subject(Protocol):
    """What a row runs against."""

    limits: Any
    policies: Any

    def call(self, operation: str, arguments: dict[str, Any]) -> Answer:
        """Make one call."""

    def together(self, bodies: Sequence[Callable[[], Any]]) -> list[Any]:
        """Evaluate bodies at once, each of which makes calls; give their values in order."""


@dataclass(frozen=True, slots=True)
class Program:
    """A row that was typed: its steps and assertions as Python code."""

    row: Row
    steps: tuple[Compiled, ...]
    asserts: tuple[Compiled, ...]
    parameters: tuple[tuple[str, Type], ...]

    def run(self, subject: Subject, arguments: Mapping[str, Any]) -> None:
        """Run the row once with these values for its parameters; raise RowFailure when it does not hold."""
        names = {python_name(name): value for name, value in arguments.items()}
        context = _Context(subject)
        environment: dict[str, Any] = {**_FUNCTIONS, **names, "self": context}
        for step in self.steps:
            step.run(environment)
        for each in self.asserts:
            if not each.value(environment):
                raise RowFailure(explain(each, environment), each.expr)

    @property
    def concurrent(self) -> bool:
        """Tell whether the row makes calls at once."""
        return any(expr.text == "concurrency" for expr in self.row.needs)


@dataclass(frozen=True)
class Compiled:
    """An expression as code; with `binding` its value gets a name, with `body` it is walked over."""

    expr: Expr
    typed: Typed
    binding: str = ""
    loop: str = ""
    body: tuple[Compiled, ...] = ()

    @cached_property
    def code(self) -> CodeType:
        """The code of the expression."""
        return compile(emit(self.typed) if not isinstance(self.typed.type, Reply) else _unread(self.typed), self.expr.text, "eval")

    def value(self, environment: dict[str, Any]) -> Any:
        """Evaluate; what cannot be evaluated is a failure of the row."""
        try:
            return eval(self.code, environment)
        except RowFailure as failure:
            raise RowFailure(failure.message, failure.expr or self.expr) from None
        except (IndexError, KeyError, TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
            raise RowFailure(f"cannot be evaluated: {error}", self.expr) from error

    def run(self, environment: dict[str, Any]) -> None:
        """Take the step."""
        found = self.value(environment)
        if self.binding:
            environment[self.binding] = found
        if self.loop:
            for environment[self.loop] in found:
                for step in self.body:
                    step.run(environment)


def _unread(value: Typed) -> str:
    """Write a call whose reply is bound, not read."""
    source = emit(value)
    return source.removesuffix(".value")


class _Context:
    """What a row's code calls `self`."""

    def __init__(self, subject: Subject) -> None:
        self.limits = subject.limits
        self.policies = subject.policies
        self.call = subject.call
        self.together = subject.together
        self._numbers = itertools.count(1)

    def fresh(self, kind: str) -> str:
        """Give a value that this case has not seen."""
        return f"fresh-{kind.removeprefix('id of ').lower()}-{next(self._numbers)}"

    @staticmethod
    def repeat(bodies: Sequence[Callable[[], Any]]) -> list[Any]:
        """Evaluate bodies one after the other."""
        return [body() for body in bodies]


_FUNCTIONS = {name: value for name, value in vars(model).items() if callable(value) and not name.startswith("_")}


def explain(assertion: Compiled, environment: dict[str, Any]) -> str:
    """Say what is false about an assertion: the part that fails, and the values on both sides."""
    part = _failing(assertion.typed, environment)
    if isinstance(part, Operate) and part.left is not None and part.operator not in ("&&", "||"):
        left, right = _evaluated(part.left, environment), _evaluated(part.right, environment)
        return f"{shown(left)} {part.operator} {shown(right)} is false"
    return "is false"


def _failing(value: Typed, environment: dict[str, Any]) -> Typed:
    """Descend into the first part of a conjunction that is false."""
    while isinstance(value, Operate) and value.operator == "&&" and value.left is not None:
        value = value.right if _evaluated(value.left, environment) else value.left
    return value


def _evaluated(value: Typed, environment: dict[str, Any]) -> Any:
    try:
        return eval(emit(value), environment)
    except Exception:  # the assertion itself could be evaluated; this is only for the message
        return "?"


def shown(value: Any) -> str:
    """Write a value shortly, for a message."""
    text = repr(value.given if isinstance(value, Answer) else value)
    return text if len(text) <= 160 else f"{text[:100]} … {text[-50:]}"


# ── Typing ───────────────────────────────────────────────────────────────────────────────────────


class RowCompiler:
    """Types the rows of a lifecycle and gathers their faults."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self.words = RowWords(lifecycle)
        self.lifecycle = lifecycle
        self.faults: list[Diagnostic] = []

    def program(self, row: Row) -> Program:
        """Type one row."""
        names: dict[str, Type] = {}
        for word, use in row.each:
            names[word.text] = self._parameter(use)
        for drawn in row.drawn:
            names[drawn.name.text] = self._drawn(drawn)
        parameters = tuple(names.items())
        needed: frozenset[str] = frozenset()
        for expr in row.needs:
            self._need(expr, self.words.scope({}).with_present(needed))
            needed |= facts(expr.node, True)
        scope = self.words.scope(names).with_present(needed)
        steps, scope = self._steps((*row.arrange, *row.act), scope)
        asserts = tuple(Compiled(expr, self._typed(expr, scope, BOOL)) for expr in row.asserts)
        self.faults += self.words.faults
        self.words.faults = []
        return Program(row, steps, asserts, parameters)

    def _fault(self, code: str, expr: Expr, message: str, hint: str, at: int = 0) -> None:
        self.faults.append(Diagnostic(code, expr.scalar.at(at), message, hint))

    def _typed(self, expr: Expr, scope: Scope, expected: Type = UNKNOWN) -> Typed:
        value, faults = check(expr.node, scope, expected)
        for fault in faults:
            self._fault(fault.code, expr, fault.message, fault.hint, fault.at)
        return value

    def _parameter(self, use: TypeUse) -> Type:
        kind = self.words.resolve(use)
        if use.bounds is None and not enumerable(kind):
            self.faults.append(Diagnostic("not-enumerable", use.name.where, f"{kind} cannot be enumerated", "draw it under `any`, with a witness"))
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
            where = drawn.where or drawn.name.where
            self.faults.append(Diagnostic("missing-witness", where, f"{drawn.name.text!r} is drawn without a witness", "witness: the value that is tried first, and that alone finds the fault"))
        elif not isinstance(drawn.witness, str):
            self._typed(drawn.witness, scope, kind)
        return kind

    def _need(self, expr: Expr, scope: Scope) -> None:
        if not isinstance(expr.node, Name):
            self._typed(expr, scope, BOOL)
            return
        word = expr.text
        optional = [name for name, operation in self.lifecycle.operations.items() if operation.optional]
        if word not in NEEDS and word not in optional:
            known = [*NEEDS, *optional]
            hint = did_you_mean(word, known) or f"known: {', '.join(known)}, or a condition over limits"
            self._fault("unknown-need", expr, f"a row cannot need {word!r}", hint)

    def _steps(self, steps: Sequence[Step], scope: Scope) -> tuple[tuple[Compiled, ...], Scope]:
        found = []
        for step in steps:
            typed = self._typed(step.expr, scope)
            if step.binding is not None:
                self._free(step.binding.text, step, scope)
                found.append(Compiled(step.expr, typed, binding=python_name(step.binding.text)))
                scope = self._bound(scope, step.binding.text, typed.type)
            elif step.loop is not None:
                self._free(step.loop.text, step, scope)
                kind = typed.type.value if isinstance(typed.type, Reply) else typed.type
                if not isinstance(kind, List) and kind != UNKNOWN:
                    self._fault("expression-type", step.expr, f"{typed.type} is not a list", "for each walks over a list")
                inner = self._bound(scope, step.loop.text, kind.item if isinstance(kind, List) else UNKNOWN)
                body, _ = self._steps(step.body, inner)
                found.append(Compiled(step.expr, typed, loop=python_name(step.loop.text), body=body))
            else:
                if not isinstance(typed, Invoke) and not isinstance(typed.type, List) and typed.type != UNKNOWN:
                    self._fault("idle-step", step.expr, "this step calls nothing and is bound to no name", "make a call, or write name = …")
                found.append(Compiled(step.expr, typed))
        return tuple(found), scope

    def _bound(self, scope: Scope, name: str, kind: Type) -> Scope:
        return scope.with_names({name: self.words.scope({name: kind}).names[name]})

    def _free(self, name: str, step: Step, scope: Scope) -> None:
        word = step.binding or step.loop
        if word is not None and (name in scope.names or name in self.lifecycle.operations):
            self.faults.append(Diagnostic("shadowed-name", word.where, f"{name!r} already means something here", "choose another name"))


def enumerable(kind: Type) -> bool:
    """Tell whether the values of a type are few and can be listed."""
    return isinstance(kind, Enum | Ref) or kind == BOOL or (isinstance(kind, List) and isinstance(kind.item, Enum))


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
            return [list(chosen) for size in range(len(members) + 1) for chosen in itertools.combinations(members, size)]
        case _:
            return [False, True]


def enumerated(lifecycle: Lifecycle, program: Program) -> Iterator[dict[str, Any]]:
    """Walk every combination of the parameters under `each`."""
    kinds = dict(program.parameters)
    lists = [values(lifecycle, use, kinds[word.text]) for word, use in program.row.each]
    for chosen in itertools.product(*lists):
        yield {word.text: value for (word, _), value in zip(program.row.each, chosen, strict=True)}


def evaluate(words: RowWords, expr: Expr, declared: Any) -> Any:
    """Evaluate an expression over limits and policies alone, as in `needs` and `witness`."""
    scope = words.scope({}).with_present(f"limits.{name}" for name in words.lifecycle.limits)
    typed, _ = check(expr.node, scope, INT if isinstance(expr.node, Name) else UNKNOWN)
    return eval(emit(typed), {**_FUNCTIONS, "self": declared})


def witnesses(words: RowWords, row: Row, declared: Any) -> dict[str, Any]:
    """Give the witness of every parameter under `any`."""
    found: dict[str, Any] = {}
    for drawn in row.drawn:
        if isinstance(drawn.witness, Expr):
            found[drawn.name.text] = evaluate(words, drawn.witness, declared)
        elif drawn.high is not None:
            found[drawn.name.text] = list(range(evaluate(words, drawn.high, declared)))[::-1]
    return found

