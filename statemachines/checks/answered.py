"""Calls with what the model answers, as a row that can be put into the spec: `check` accepts it.

It asserts what each right implementation answers. What some limit, policy or choice makes another answer is left out, or the
row says under which limits and policies it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

from statemachines.bounds import USUAL
from statemachines.checks.choices import watched
from statemachines.checks.claims import AnswersWritten, Claim
from statemachines.checks.coverage import covers, said
from statemachines.checks.rows import RowTrials
from statemachines.compile import Compiled
from statemachines.kernel import Clause
from statemachines.model import NO_ANSWER, Impossible, Restless
from statemachines.rows import (
    WAIT,
    Call,
    ModelSubject,
    Observed,
    RowFailure,
    Trace,
    item,
    row_text,
    symbolic,
)

CANNOT_BE_MADE: Final = (
    *NO_ANSWER,
    Impossible,
    Restless,
    RowFailure,
)

Pins = dict[str, tuple[str, str, Any] | None]
"""Conditions of a row, each with what is declared so that it holds: `limits` or `policies`, the name, the value; None: by default it does."""


class NoRow(Exception):
    """Calls that cannot be a row, and why."""


@dataclass(frozen=True, slots=True)
class AnsweredCalls:
    """Calls that were made of the model, each with what came of it; `seen` are the clauses witnessed, those of the last call first."""

    made: tuple[Observed, ...]
    seen: tuple[str, ...]
    limits: Mapping[str, int | None]
    policies: Mapping[str, Any]
    prompt: bool


class RowsOfAnswers:
    """Writes calls as rows of a life cycle."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._kernel = compiled.kernel
        self._trials = RowTrials(compiled, USUAL)
        self._said = said(compiled)
        self._paths = [clause.path for clause in compiled.kernel.clauses]
        self._optional = {each.name for each in compiled.kernel.operations if each.optional}
        self._model_class = watched(compiled, USUAL)

    # ── Answers ──

    def answered(
        self,
        calls: Sequence[Call],
        limits: Mapping[str, int | None] | None = None,
        policies: Mapping[str, Any] | None = None,
        *,
        prompt: bool = False,
    ) -> AnsweredCalls:
        """Make calls of a model from the start of a case; raise NoRow where one cannot be made, or no row can ask for it.

        What is due comes as soon as it may if the model is `prompt`, else as late.
        """
        model = self._model_class(limits, policies)
        subject, known = ModelSubject(model, self._kernel, prompt=prompt), {WAIT, *self._compiled.lifecycle.operations}
        made, before = [], bytes(len(model.seen))
        for call in calls:
            if call.operation not in known:
                raise NoRow("a step that the system takes by itself leads there, and no row can ask for it")
            before = bytes(model.seen)
            try:
                made.append(subject.call(call.operation, dict(call.arguments)))
            except CANNOT_BE_MADE:
                raise NoRow("the spec leaves open what a call does there, or it waits for what others do") from None
        paths = self._paths
        seen = [path for path, hit in zip(paths, model.seen, strict=True) if hit]
        news = {path for path, hit in zip(paths, before, strict=True) if not hit}
        ordered = sorted(seen, key=lambda path: path not in news)
        return AnsweredCalls(tuple(made), tuple(ordered), vars(model.limits), vars(model.policies), prompt)

    # ── A row ──

    def row(
        self,
        answers: AnsweredCalls,
        name: str,
        about: str,
        source: str,
        *,
        wanted: Sequence[str] = (),
        every: bool = False,
    ) -> str:
        """Return calls as a row that `check` accepts; raise NoRow where there is none.

        wanted  the clauses that it should be about, the best first
        every   it asserts what each call gives, and not only the last one
        """
        trace = symbolic(self._kernel, answers.made)
        lines, claims = AnswersWritten(self._compiled, trace, answers.made, every=every).all()
        covered = self._covered(answers, wanted)
        needs = self._needs(trace)

        def text(kept: Sequence[str], pins: Sequence[str], level: str) -> str:
            asserted = [item(each) for each in kept] or ["- true"]
            return row_text(name, about, level, source, [covered.path], lines, asserted, [*needs, *pins])

        for level in dict.fromkeys((covered.level, "should", "may")):

            def right(kept: Sequence[str], pins: Pins, level: str = level) -> bool:
                return self._shows(answers, pins) and self._right(text(kept, [*pins], level), covered)

            found = self._holding(claims, self._pins(answers), right)
            if found is not None:
                kept, pins = found
                return text(kept, [*pins], level)
        raise NoRow("it holds only with limits and policies that no row can ask for together")

    def _holding(
        self, claims: Sequence[Claim], both: tuple[Pins, Pins], right: Callable[[Sequence[str], Pins], bool]
    ) -> tuple[Sequence[str], Pins] | None:
        """Return what holds of the claims and the fewest conditions that it takes; None where not even the calls hold."""
        first: Sequence[str] = [claim[0] for claim in claims]
        pins = next((each for each in ({}, *both) if right(first, each)), None)
        kept = first
        if pins is None:
            pins = next((each for each in both if right([], each)), None)
            if pins is None:
                return None
            some = pins
            kept = self._true(claims, lambda each: right(each, some))
        for pin in [*pins]:
            fewer = {each: size for each, size in pins.items() if each != pin}
            pins = fewer if right(kept, fewer) else pins
        return kept, pins

    def _shows(self, answers: AnsweredCalls, pins: Pins) -> bool:
        """Return whether all is answered alike where no more is declared than the conditions of a row ask for."""
        calls = [Call(0, each.operation, tuple(each.arguments.items())) for each in answers.made]
        declared = [each for each in pins.values() if each is not None]
        limits = {name: value for kind, name, value in declared if kind == "limits"}
        policies = {name: value for kind, name, value in declared if kind == "policies"}
        try:
            again = self.answered(calls, limits, policies, prompt=answers.prompt)
        except NoRow:
            return False
        alike = _but_retention(again.seen) == _but_retention(answers.seen)
        return alike and list(map(_plain, again.made)) == list(map(_plain, answers.made))

    def _true(self, claims: Sequence[Claim], right: Callable[[Sequence[str]], bool]) -> list[str]:
        """Return of each claim the most that always holds."""
        kept: list[str] = []
        for claim in claims:
            kept += next(([each] for each in claim if right([*kept, each])), [])
        return kept

    def _right(self, text: str, covered: Clause) -> bool:
        """Return whether `check` accepts a row, and its runs come to all that it covers."""
        if self._trials.faults_of_text(text):
            return False
        seen = set(compress(self._paths, self._trials.seen))
        return seen.issuperset(self._below(covered.path))

    def _below(self, path: str) -> list[str]:
        return [clause.path for clause in self._said if covers(path, clause.path)]

    def _pins(self, answers: AnsweredCalls) -> tuple[Pins, Pins]:
        """Return what was declared as conditions of a row: limits that are at least so large, and just so large."""
        spec = self._compiled.lifecycle
        orders = {each.name for each in self._kernel.orders}
        words: Pins = {
            f"policies.{name} == {value}": ("policies", name, value)
            for name, value in answers.policies.items()
            if isinstance(value, str) and name not in orders
        }
        least: Pins = {}
        equal: Pins = {}
        for name, size in answers.limits.items():
            limit = spec.limits[name]
            same = f"limits.{name} == {'null' if size is None else size}"
            equal[same] = ("limits", name, size)
            if size is None or limit.default is None or limit.default < size:
                least[same] = equal[same]
            else:
                guard = f"limits.{name} != null && " if limit.optional else ""
                least[f"{guard}limits.{name} >= {size}"] = None
        return {**least, **words}, {**equal, **words}

    def _needs(self, trace: Trace) -> list[str]:
        """Name what not every system has: operations that are optional, and a clock that can be moved."""
        used = dict.fromkeys(call.operation for call in trace.calls())
        return [*(["clock"] if WAIT in used else []), *(each for each in used if each in self._optional)]

    def _covered(self, answers: AnsweredCalls, wanted: Sequence[str]) -> Clause:
        """Return the clause that a row shows, with all that is below it; raise NoRow where it shows none."""
        last, seen = answers.made[-1].operation, {*answers.seen}
        mine = [path for path in answers.seen if path.startswith(f"operations.{last}.")]
        for path in (*wanted, *mine, *answers.seen):
            below = self._below(path)
            if below and seen.issuperset(below):
                found = next((clause for clause in self._said if clause.path == path), None)
                if found is not None and not path.startswith("invariants."):
                    return found
        raise NoRow("the spec has no clause about it that a row could cover")


def _plain(made: Observed) -> str:
    """Return what came of a call as a text that can be compared."""
    return repr((made.refused, made.given, made.signals))


def _but_retention(paths: Sequence[str]) -> set[str]:
    """Return clauses without those that only say how much stays: a small limit comes to them sooner."""
    return {path for path in paths if not path.endswith(".retain")}


def new_names(rows: Collection[str], letter: str) -> Iterator[str]:
    """Walk names for new rows that no row has: a letter and a number."""
    number = 0
    while True:
        number += 1
        if f"{letter}{number}" not in rows:
            yield f"{letter}{number}"
