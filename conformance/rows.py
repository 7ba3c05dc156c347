"""The matrix: each row as its witness, then enumerated, then drawn; concurrent rows under many schedules."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.adapter import Adapter, HarnessError
from conformance.case import Case, calls_made
from conformance.counterexample import as_row, row_as_it_ran
from conformance.shrink import Shrinker, Shrunk
from conformance.step import Divergence
from conformance.trace import Played, Trace, play, symbolic
from conformance.verdict import Counterexample, RowResult, Verdict
from statemachines.compile import Compiled
from statemachines.expression.syntax import Call, Field, Name, Node, children
from statemachines.lifecycle import Row, Step
from statemachines.rows import Program, RowCompiler, RowFailure, enumerated, evaluate, witnesses

UNSURE = "there are more explanations than were looked at, or the order depends on instants that nobody sees"
ROUNDS = 40  # schedules of a concurrent row
MANY = 500  # calls at once of a row that is run under fewer schedules, because each shows as much
ROUNDS_OF_MANY = 3
SHRINK_SECONDS = 3.0
HANG_SECONDS = 0.4  # how long a call may take while a hang is shrunk
EXAMPLES = 12  # drawn values of a row, beside its witness
AGAIN = 3  # how often a failure is tried again before it is called flaky


class Fails(AssertionError):
    """One run of a row that does not hold."""

    def __init__(self, case: Case, values: Mapping[str, Any], failure: RowFailure | None) -> None:
        message = failure.message if failure is not None else str(case.divergence)
        super().__init__(message)
        self.case = case
        self.values = values
        self.failure = failure


@dataclass(slots=True)
class Tally:
    """What the runs of a row have shown so far."""

    runs: int = 0
    witnesses: Counter[str] = field(default_factory=Counter)
    overlaps: int = 0
    groups: int = 0
    at_once: int = 0
    unsure: bool = False
    strays: list[Case] = field(default_factory=list)


class RowRunner:
    """Runs the rows of a lifecycle against one adapter.

    `strays` are cases in which the judge saw a fault that the row is not about; the run as a whole
    reports them, so that one fault does not fail every row.
    """

    def __init__(
        self, compiled: Compiled, rows: RowCompiler, adapter: Adapter, *, number: int = 0, quick: bool = False
    ) -> None:
        self.compiled = compiled
        self.rows = rows
        self.adapter = adapter
        self.number = number
        self.quick = quick
        self.strays: list[Case] = []
        self.witnessed: Counter[str] = Counter()

    def run(self, row: Row) -> RowResult:
        """Give the verdict of one row."""
        began = time.monotonic()
        result = self._result(row)
        result.seconds = time.monotonic() - began
        return result

    def _result(self, row: Row) -> RowResult:
        result = RowResult(row.id.text, row.about, row.level, Verdict.PASS, where=str(row.id.where))
        program = self.rows.program(row)
        lacking = self._inapplicable(row)
        if lacking:
            result.verdict, result.reason = Verdict.NOT_APPLICABLE, lacking
            return result
        missing = [name for name in sorted(_operations(row, self.compiled)) if not self.adapter.offers(name)]
        if missing:
            result.verdict, result.reason = (
                Verdict.NOT_EXERCISED,
                f"the system has no operation {', '.join(missing)}",
            )
            return result
        tally = Tally()
        try:
            self._all(program, tally)
        except Fails as failed:
            self._failed(result, program, failed)
        except HarnessError as error:
            result.verdict, result.reason = Verdict.HARNESS_ERROR, str(error)
        result.runs, result.overlaps = tally.runs, tally.overlaps
        result.witnesses = {word.text: _count(tally.witnesses, word.text) for word in row.covers}
        self.witnessed.update(tally.witnesses)
        self.strays += tally.strays[:1]
        if result.verdict is Verdict.PASS:
            self._exercised(result, tally)
        return result

    def _exercised(self, result: RowResult, tally: Tally) -> None:
        """Let a row pass only when something happened in it."""
        unseen = [path for path, count in result.witnesses.items() if not count]
        if tally.groups and not tally.overlaps and self.adapter.declaration.concurrency != "none":
            result.verdict, result.reason = Verdict.NOT_EXERCISED, "the calls made at once never overlapped"
        elif unseen:
            result.verdict, result.reason = Verdict.NOT_EXERCISED, f"nothing witnessed {', '.join(unseen)}"
        elif tally.unsure:
            result.verdict, result.reason = Verdict.COULD_NOT_TELL, UNSURE

    # ── Does the row apply? ──

    def _inapplicable(self, row: Row) -> str:
        """Say what a row needs that this system does not declare; empty when it applies."""
        declaration, model = (
            self.adapter.declaration,
            self.compiled.model(self.adapter.declaration.limits, self.adapter.declaration.policies),
        )
        for expr in row.needs:
            if isinstance(expr.node, Name):
                word = expr.text
                if word == "clock" and declaration.clock != "virtual":
                    return f"needs a virtual clock, and clock: {declaration.clock} is declared"
                if word == "concurrency" and declaration.concurrency == "none":
                    return "needs concurrency, and concurrency: none is declared"
                if word in declaration.lacks or (
                    word in self.compiled.lifecycle.operations and not self.adapter.offers(word)
                ):
                    return f"needs {word}, which is optional and lacking"
            elif not evaluate(self.rows.words, expr, model):
                return f"needs {expr.text}, and declared is {_declared(expr.node, model)}"
        if (
            declaration.clock != "virtual"
            and self._ordered_by_time()
            and "wait" in _operations(row, self.compiled, waits=True)
        ):
            return f"needs a virtual clock: ties are not broken by completion, and clock: {declaration.clock} is declared"
        return ""

    def _ordered_by_time(self) -> bool:
        """Tell whether the order of endings depends on whether two instants are equal."""
        orders = {order.name: order for order in self.compiled.kernel.orders}
        policies = self.adapter.declaration.policies
        return any(policies.get(name, "completion") != "completion" for name in orders)

    # ── Running ──

    def _all(self, program: Program, tally: Tally) -> None:
        declared = self.compiled.model(self.adapter.declaration.limits, self.adapter.declaration.policies)
        first = witnesses(self.rows.words, program.row, declared)
        for values in enumerated(self.compiled.lifecycle, program):
            self._rounds(program, {**values, **first}, tally)
            if self.quick and not makes_calls_at_once(program.row):
                break
        if program.row.drawn and not self.quick:
            self._drawn(program, declared, tally)

    def _rounds(self, program: Program, values: Mapping[str, Any], tally: Tally) -> None:
        """Run once; a concurrent row under several schedules."""
        self._once(program, values, tally, self.number)
        if not makes_calls_at_once(program.row):
            return
        rounds = ROUNDS_OF_MANY if tally.at_once > MANY else ROUNDS
        for round_ in range(1, max(rounds // 4, 1) if self.quick else rounds):
            self._once(program, values, tally, self.number + round_)

    def _drawn(self, program: Program, declared: Any, tally: Tally) -> None:
        from conformance.strategies import Falsified, draw  # Hypothesis is slow to import, and few rows draw

        combinations = list(enumerated(self.compiled.lifecycle, program))

        def test(chosen: dict[str, Any]) -> None:
            for values in combinations:
                self._once(program, {**values, **chosen}, tally, self.number)

        examples = max(2, EXAMPLES // (4 if makes_calls_at_once(program.row) else 1))
        try:
            draw(
                self.compiled,
                self.rows,
                program.row.drawn,
                declared,
                test,
                number=self.number,
                examples=examples,
            )
        except Falsified as falsified:
            if isinstance(falsified.cause, Fails):
                raise falsified.cause from None
            raise

    def _once(self, program: Program, values: Mapping[str, Any], tally: Tally, seed: int) -> None:
        """Run a row once; raise Fails when it does not hold."""
        case = Case(self.compiled, self.adapter, seed)
        failure: RowFailure | None = None
        try:
            program.run(case, values)
        except RowFailure as error:
            failure = error
        tally.runs += 1
        tally.overlaps += case.overlaps
        tally.groups += case.groups
        tally.at_once = max(tally.at_once, *(sum(map(len, each.at_once)) for each in case.trace), 0)
        tally.unsure = tally.unsure or (case.judge.unsure and case.divergence is not None)
        tally.witnesses.update(case.judge.witnessed())
        mine = case.divergence is not None and covers(program.row, case.divergence) and not case.judge.unsure
        if failure is not None or mine:
            raise Fails(case, values, failure)
        if case.divergence is not None and not case.judge.unsure:
            tally.strays.append(case)

    # ── Failures ──

    def _failed(self, result: RowResult, program: Program, failed: Fails) -> None:
        result.verdict = Verdict.FAIL
        result.reason = self._reason(failed)
        result.counterexample = self._counterexample(program, failed)
        if not makes_calls_at_once(program.row) and not self._again(program, failed):
            result.verdict = Verdict.FLAKY
            result.reason += f"; tried again {AGAIN} times, it held"

    def _again(self, program: Program, failed: Fails) -> bool:
        """Tell whether a failure shows again."""
        for _ in range(AGAIN):
            try:
                self._once(program, failed.values, Tally(), self.number)
            except Fails:
                return True
        return False

    @staticmethod
    def _reason(failed: Fails) -> str:
        if failed.failure is not None:
            text, expr = failed.failure.message, failed.failure.expr
            if expr is None:
                return text
            return f"{expr.text} {text}" if text == "is false" else f"{text} ({expr.text})"
        divergence = failed.case.divergence
        return (
            f"expected {divergence.expected}; seen {divergence.seen}"
            if divergence is not None
            else str(failed)
        )

    def _counterexample(self, program: Program, failed: Fails) -> Counterexample:
        found = None
        if failed.case.divergence is not None or failed.case.judge.findings:
            found = shrunk(
                self.compiled,
                self.adapter,
                failed.case,
                program.row.id.text,
                rounds=ROUNDS if makes_calls_at_once(program.row) else 1,
            )
        return found or _row_itself(self.compiled, program, failed)


def shrunk(
    compiled: Compiled, adapter: Adapter, case: Case, of: str, *, rounds: int = 1
) -> Counterexample | None:
    """Shrink what a case recorded; None when playing it again does not show the fault, or cannot be done."""
    patience = adapter.limit
    try:
        return _shrunk(compiled, adapter, case, of, rounds)
    except HarnessError:  # a system that is broken beyond a fresh start; the fault stands all the same
        return None
    finally:
        adapter.limit = patience


def _shrunk(compiled: Compiled, adapter: Adapter, case: Case, of: str, rounds: int) -> Counterexample | None:

    def attempt(trace: Trace, seconds: float = 0.6, tries: int = rounds) -> Played:
        end = time.monotonic() + seconds
        played = Played(None, Trace(()))
        for number in range(tries):
            played = play(compiled, adapter, trace, case.seed + number)
            if played.divergence is not None or time.monotonic() > end:
                break
        return played

    patience = adapter.limit
    hangs = case.divergence is not None and case.divergence.kind == "hang"
    first = attempt(symbolic(case.trace), 10, 4 * rounds)
    if first.divergence is None:
        return None
    adapter.limit = min(patience, HANG_SECONDS) if hangs else patience
    best = Shrinker(compiled, attempt, SHRINK_SECONDS * (4 if rounds > 1 else 1)).shrink(first)
    hits, rounds = _reproduced(compiled, adapter, best.trace, rounds, enough=2 if hangs else rounds)
    adapter.limit = patience
    if hangs and not hits:  # what was called a hang was only slow
        best = Shrunk(first.trace, first, best.tries)
    divergence = best.played.divergence
    assert divergence is not None  # the shrinker keeps what shows the fault
    written = as_row(compiled, best.played, of)
    return Counterexample(
        written.text, len(best.trace), divergence.clause, written.expected, written.seen, rounds, hits
    )


def _reproduced(
    compiled: Compiled, adapter: Adapter, trace: Trace, rounds: int, enough: int
) -> tuple[int, int]:
    """Count in how many of how many schedules a trace shows a fault, until it did so often enough."""
    hits = 0
    for number in range(rounds):
        hits += play(compiled, adapter, trace, number).divergence is not None
        if hits >= enough:
            return hits, number + 1
    return hits, rounds


def _row_itself(compiled: Compiled, program: Program, failed: Fails) -> Counterexample:
    """Give the row as it ran, for what only its own assertion can tell."""
    row, failure = program.row, failed.failure
    expected = failure.expr.text if failure is not None and failure.expr is not None else row.about
    text = row_as_it_ran(compiled, program, failed.values)
    return Counterexample(
        text,
        calls_made(failed.case.trace),
        row.covers[0].text,
        expected,
        failure.message if failure else str(failed),
    )


def covers(row: Row, divergence: Divergence) -> bool:
    """Tell whether a fault is what a row is about."""
    clauses = (divergence.clause, *divergence.related)
    return any(
        clause == word.text or clause.startswith(f"{word.text}.") for word in row.covers for clause in clauses
    )


def _count(witnessed: Counter[str], path: str) -> int:
    return sum(
        count for clause, count in witnessed.items() if clause == path or clause.startswith(f"{path}.")
    )


def _operations(row: Row, compiled: Compiled, *, waits: bool = False) -> set[str]:
    """Give the operations that a row calls."""
    known = {*compiled.lifecycle.operations, *(["wait"] if waits else [])}
    return {name for step in (*row.arrange, *row.act) for name in _step_calls(step)} & known | {
        name for expr in row.asserts for name in _calls(expr.node)
    } & known


def makes_calls_at_once(row: Row) -> bool:
    """Tell whether a row makes calls at once."""
    return any(name == "together" for step in (*row.arrange, *row.act) for name in _step_calls(step))


def _step_calls(step: Step) -> Iterator[str]:
    yield from _calls(step.expr.node)
    for inner in step.body:
        yield from _step_calls(inner)


def _calls(node: Node) -> Iterator[str]:
    if isinstance(node, Call) and node.receiver is None:
        yield node.name
    for child in children(node):
        yield from _calls(child)


def _declared(node: Node, model: Any) -> str:
    """Say what is declared of the limits that a condition reads."""
    found: list[str] = []
    waiting: list[Node] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Field) and isinstance(part.of, Name):
            found.append(f"{part.name} = {getattr(getattr(model, part.of.name), part.name)}")
        waiting += children(part)
    return ", ".join(dict.fromkeys(found))
