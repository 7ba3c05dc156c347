"""Replies, refusals and errors that nobody expects: a verdict on the system, never a fault of the kit."""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest

import conformance
from conformance.refused import Refused
from conformance.verdict import Verdict
from tests.conformance.judge.test_observation import ENDLESS, Failing, Stubborn, nested
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import BRIEF, REFERENCE, explained, row_result, whole_run

ROW = "N2"  # a start, and a look


def raising(error: Callable[[], BaseException]) -> Callable[[dict[str, Any]], Any]:
    """What raises this in place of a reply."""

    def reply(right: dict[str, Any]) -> Any:
        raise error()

    return reply


WRONG: dict[str, Callable[[dict[str, Any]], Any]] = {
    "very deep": lambda right: nested(100_000),
    "deep inside": lambda right: {**right, "status": nested(100_000)},
    "long": lambda right: {**right, "status": "x" * 50_000_000},
    "many": lambda right: [1] * 1_000_000,
    "endless": lambda right: ENDLESS,
    "half a sign": lambda right: {**right, "status": "\ud800"},
    "not readable": lambda right: Failing(),
    "an error with half a sign": raising(lambda: ValueError("\ud800")),
    "a long error": raising(lambda: ValueError("x" * 50_000_000)),
    "a code with half a sign": raising(lambda: Refused("\ud800")),
    "a code that is none": raising(lambda: Refused(nested(100_000))),  # type: ignore[arg-type]  # as a system may
    "a stubborn code": raising(lambda: Refused(Stubborn("no"))),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", WRONG)
def test_an_odd_reply_fails_the_row_and_its_counterexample_replays(kind: str, tmp_path: Path) -> None:
    class Odd(REFERENCE):
        """A right system whose starts reply so."""

        def start(self, thread: str, tool_call: str, tool: str) -> Any:
            return WRONG[kind](super().start(thread, tool_call, tool))

    report = conformance.run("thread-job", Odd, rows=ROW, quick=True, save=tmp_path)
    assert report[ROW].verdict is Verdict.FAIL, report
    assert len(str(report)) < 10_000, "what is told of a long reply is long"
    assert not conformance.replay(tmp_path / f"thread-job-{ROW}.yaml", Odd).ok


def test_odd_signals_fail_the_row() -> None:
    for odd in (nested(100_000), ENDLESS, Failing(), {"signal": ENDLESS}, {"signal": Stubborn("x")}):

        class Odd(REFERENCE):
            """A right system that signals so."""

            def signals(self, odd: Any = odd) -> list[Any]:
                return [odd]

        result = row_result(Odd, ROW, quick=True)
        assert result.verdict is Verdict.FAIL, explained(result)


def stubborn(value: Any) -> Any:
    """A value with each of its texts made a stubborn one."""
    match value:
        case str():
            return Stubborn(value)
        case dict():
            return {key: stubborn(each) for key, each in value.items()}
        case list() | tuple():
            return [stubborn(each) for each in value]
        case _:
            return value


@pytest.mark.thorough
@pytest.mark.parametrize("name", SUITES)
def test_no_right_system_is_accused_for_its_own_class_of_texts(name: str) -> None:
    compiled: Any = SUITES[name].compiled
    system: Any = SUITES[name].reference
    made = {
        operation: _stubborn_reply(getattr(system, operation))
        for operation in compiled.lifecycle.operations
        if callable(getattr(system, operation, None))
    }
    code, results = whole_run(type("Stubborn", (system,), made), compiled, budget=BRIEF)
    assert code == 0, [explained(each) for each in results if each.verdict is not Verdict.PASS]


def _stubborn_reply(method: Callable[..., Any]) -> Callable[..., Any]:
    async def awaited(self: Any, **arguments: Any) -> Any:
        return stubborn(await method(self, **arguments))

    return awaited if iscoroutinefunction(method) else lambda self, **arguments: stubborn(method(self, **arguments))
