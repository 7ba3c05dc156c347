"""Rows that run: steps and assertions as Python code, executed against anything that answers calls."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any, Protocol

from statemachines import model
from statemachines.expression import Operate, Typed, emit, python_name
from statemachines.lifecycle import Expr, Row
from statemachines.rows.spelling import shown
from statemachines.types import ReplyType, Type

SETTLES = "settles"  # a number that rows read: after so many milliseconds all can be seen that a call has caused
LONGEST_WALK = 10_000  # values that a row walks over, one after the other


class RowStopped(Exception):
    """A row ends before it is through, and at which expression, as far as that is known."""

    def __init__(self, message: str, expr: Expr | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.expr = expr


class RowFailure(RowStopped):
    """A row does not hold: an assertion is false, or something it builds on was refused or is not there.

    part  what of the assertion is false, if it is that
    """

    def __init__(self, message: str, expr: Expr | None = None, part: Typed | None = None) -> None:
        super().__init__(message, expr)
        self.part = part


class NothingGiven(RowFailure):
    """A row reads from a reply that was refused."""


class NotEvaluable(RowFailure):
    """A row reads what a reply does not have, or computes what cannot be computed."""


class RowTooLong(RowStopped):
    """A row walks over more than can be walked: with such limits it cannot be run, and says nothing."""


def numbers(count: int) -> list[int]:
    """Return 0, 1, … up to but without `count`; raise RowTooLong where a row would never come to an end."""
    if count > LONGEST_WALK:
        raise RowTooLong(f"{count} is more than {LONGEST_WALK}, the most that a row can walk over")
    return model.numbers(count)


FUNCTIONS = {name: value for name, value in vars(model).items() if callable(value) and not name.startswith("_")} | {
    "numbers": numbers
}
"""What emitted code calls by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """A call as it was observed: with which arguments it was made, and what came of it, as values of the spec.

    reply      what was given; ANYTHING where it is not of the form that the spec gives, and `malformed` says why
    refused    the code of a refusal
    signals    those that came since the call before; of calls made at once they belong to all of them
    compared   False where nothing follows from the reply: a row does not see it, and only what leaves out a
               sentence that is recommended may ask for it
    began, ended  when, in steps of a clock that only counts: they order calls that were made at once
    at, elapsed  when it was made, in milliseconds of the system's own clock, and how many passed meanwhile
    within     between which instants of a clock that runs on it was made; None where that stands still
    """

    operation: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    reply: Any = None
    refused: str | None = None
    signals: tuple[model.Signal, ...] = ()
    compared: bool = True
    malformed: str = ""
    began: int = 0
    ended: int = 0
    at: int = 0
    elapsed: int = 0
    within: tuple[int, int] | None = None

    @property
    def span(self) -> tuple[int, int]:
        """Between which instants of the clock it was made."""
        return self.within or (self.at, self.at + (self.arguments["ms"] if self.operation == "wait" else self.elapsed))

    @property
    def is_open(self) -> bool:
        """Whether it was made beside others and has never come back: it hung, or crashed."""
        return self.began > 0 and not self.ended

    @property
    def given(self) -> Any:
        """Return the reply; None where it is not compared."""
        return self.reply if self.compared and self.reply is not model.ANYTHING else None

    @property
    def value(self) -> Any:
        """Return the reply; raise NothingGiven, so that a row which reads it from a refusal does not hold."""
        if self.refused is not None:
            raise NothingGiven(f"{self.operation} was refused ({self.refused}), so it gave nothing to look at")
        return self.given

    @property
    def signalled(self) -> Mapping[str, list[dict[str, Any]]]:
        """Return the fields of the signals that came, by the signal's name; an empty list for any other name."""
        found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for name, fields in self.signals:
            found[name].append(dict(fields))
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Observed) and self.value == other.value

    __hash__ = None  # type: ignore[assignment]  # replies hold dicts; nothing puts them in a set


class Subject(Protocol):
    """What a row runs against."""

    limits: Any
    policies: Any
    settles: int

    def call(self, operation: str, arguments: dict[str, Any]) -> Observed:
        """Make one call."""

    def together(self, bodies: Sequence[Callable[[], Any]]) -> list[Any]:
        """Evaluate bodies at once, each of which makes calls; give their values in order."""


UNEVALUABLE = (IndexError, KeyError, TypeError, ValueError, ZeroDivisionError, AttributeError)
"""What a row's code raises where a reply lacks what it reads."""


@dataclass(frozen=True)
class Line:
    """A line of a row as code; with `binding` its value gets a name, with `body` it is walked over.

    claim  it says what is so: the value of a reply counts, not that there was one
    when   the claim is made only where this holds, which is about what is declared
    """

    expr: Expr
    typed: Typed
    binding: str = ""
    loop: str = ""
    body: tuple[Line, ...] = ()
    claim: bool = False
    when: Line | None = None

    @cached_property
    def code(self) -> CodeType:
        """The code of the expression."""
        source = emit(self.typed)
        if isinstance(self.typed.type, ReplyType) and not (self.claim or self.loop):
            source = source.removesuffix(".value")  # a reply is bound as it is, not read
        return _compiled(source, self.expr.text)

    def value(self, environment: dict[str, Any]) -> Any:
        """Evaluate. Raises NotEvaluable, which is a failure of the row."""
        try:
            return eval(self.code, environment)  # noqa: S307 - the code is our own emitter's
        except RowStopped as stopped:
            stopped.expr = stopped.expr or self.expr
            raise
        except UNEVALUABLE as error:
            raise NotEvaluable(f"cannot be evaluated: {error}", self.expr) from error

    def held(self, environment: dict[str, Any]) -> bool | None:
        """Return whether a claim holds; None where the implementation chooses that."""
        found = self.value(environment)
        return None if found is model.CHOSEN else bool(found)

    def is_made(self, environment: dict[str, Any]) -> bool:
        """Return whether a claim is made, with the limits and policies that are declared."""
        return self.when is None or bool(self.when.value(environment))

    def run(self, environment: dict[str, Any]) -> None:
        """Take the step."""
        found = self.value(environment)
        if self.binding:
            environment[self.binding] = found
        if self.loop:
            for environment[self.loop] in found:
                for step in self.body:
                    step.run(environment)


@lru_cache(maxsize=2000)
def _compiled(source: str, name: str) -> CodeType:
    """Compile an expression once: rows make the same calls, and so does a spec that is checked again."""
    return compile(source, name, "eval")


@dataclass(frozen=True, slots=True)
class Program:
    """A row that was typed: its steps, its assertions and what it leaves open, as Python code."""

    row: Row
    steps: tuple[Line, ...]
    asserts: tuple[Line, ...]
    open: tuple[Line, ...]
    parameters: tuple[tuple[str, Type], ...]

    def run(self, subject: Subject, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run the row once with these values for its parameters; raise RowFailure when it does not hold.

        Gives the names that are bound at its end, for what the row leaves open.
        """
        environment = named_values(subject, arguments)
        for step in self.steps:
            step.run(environment)
        for each in self.asserts:
            if each.is_made(environment) and not (held := each.held(environment)):
                if held is None:
                    raise RowFailure("is what the implementation chooses", each.expr)
                part = _failing(each.typed, environment)
                raise RowFailure(explain(part, environment), each.expr, part)
        return environment


def named_values(subject: Subject, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the names in a row's code stand for at its beginning."""
    names = {python_name(name): value for name, value in arguments.items()}
    return {**FUNCTIONS, **names, SETTLES: subject.settles, "self": _Context(subject)}


class _Context:
    """What a row's code calls `self`."""

    def __init__(self, subject: Subject) -> None:
        self.limits = subject.limits
        self.policies = subject.policies
        self.call = subject.call
        self.together = subject.together
        self._numbers = itertools.count(1)

    def fresh(self, kind: str) -> str:
        """Return a value that this case has not seen."""
        return f"fresh-{kind.removeprefix('id of ').lower()}-{next(self._numbers)}"

    @staticmethod
    def times(count: int) -> int:
        """Return how often; raise RowTooLong where that is too often."""
        return len(numbers(count))

    @staticmethod
    def repeat(bodies: Sequence[Callable[[], Any]]) -> list[Any]:
        """Evaluate bodies one after the other."""
        return [body() for body in bodies]


# ── Why an assertion is false ────────────────────────────────────────────────────────────────────


def explain(part: Typed, environment: dict[str, Any]) -> str:
    """Say what is false about the part of an assertion that fails: the values on both sides."""
    if isinstance(part, Operate) and part.left is not None and part.operator not in ("&&", "||"):
        left, right = _evaluated(part.left, environment), _evaluated(part.right, environment)
        left, right = (each.given if isinstance(each, Observed) else each for each in (left, right))
        return f"{shown(left)} {part.operator} {shown(right)} is false"
    return "is false"


def _failing(value: Typed, environment: dict[str, Any]) -> Typed:
    """Descend into the first part of a conjunction that is false."""
    while isinstance(value, Operate) and value.operator == "&&" and value.left is not None:
        value = value.right if _evaluated(value.left, environment) else value.left
    return value


def _evaluated(value: Typed, environment: dict[str, Any]) -> Any:
    try:
        return eval(emit(value), environment)  # noqa: S307 - the code is our own emitter's
    except Exception:  # noqa: BLE001 - the assertion is false already; this is only for the message
        return "?"
