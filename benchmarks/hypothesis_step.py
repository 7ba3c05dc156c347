"""How much of one step of a Hypothesis machine is the model's, observers aside."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable
from time import thread_time
from typing import Any

from hypothesis import Phase, seed
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from benchmarks.measure import LESS, Finding, seconds, spread
from conformance.budget import USUAL
from conformance.search.strategies import settings_of
from statemachines.compile import Compiled
from statemachines.explore.candidates import choosers
from statemachines.model import ABSENT

EXAMPLES = 40
Drawn = list[tuple[str, int]]
Move = tuple[str, dict[str, Any]]


class HypothesisStep:
    """A machine with the rules of the lifecycle that do nothing, then what it drew, made on the model alone.

    Cases begin in turn with nothing, and with as many ended jobs as are retained, three told of and three
    running.
    """

    rounds = 7

    def __init__(self, compiled: Compiled) -> None:
        self._names = [*(operation.name for operation in compiled.kernel.operations), "wait"]
        model: Any = compiled.model()
        self._model = model
        self._choosers = {
            operation.name: list(
                zip(
                    (each.name for each in operation.parameters),
                    choosers(compiled, operation, {}),
                    strict=True,
                )
            )
            for operation in compiled.kernel.operations
        }
        self._starts = [self._model.freeze(), self._filled()]
        self._round = 0
        self._empty: list[float] = []  # seconds a step
        self._own: list[float] = []

    def once(self) -> None:
        """Run the empty machine; then make its steps on the model."""
        cases: list[Drawn] = []
        machine = seed(self._round)(_machine(self._names, cases))
        settings = settings_of(EXAMPLES, stateful_step_count=USUAL.stateful_steps, phases=(Phase.generate,))
        gc.collect()
        empty = seconds(lambda: run_state_machine_as_test(machine, settings=settings), thread_time)
        steps = sum(map(len, cases))
        resolved = [
            (self._starts[number % 2], self._resolved(self._starts[number % 2], drawn))
            for number, drawn in enumerate(cases)
        ]
        own = sum(self._made(start, moves) for start, moves in resolved)
        self._empty.append(empty / steps)
        self._own.append(own / steps)
        self._round += 1

    def findings(self) -> list[Finding]:
        """Return the model's share of a step."""
        shares = [own / (empty + own) * 100 for empty, own in zip(self._empty, self._own, strict=True)]
        own, empty = statistics.median(self._own) * 1e6, statistics.median(self._empty) * 1e6
        note = f"{own:.1f} µs beside {empty:.0f} µs of Hypothesis' own; {spread(shares, '%', 2)}"
        what = "model's share of a Hypothesis step, observers aside"
        return [Finding(what, statistics.median(shares), "%", LESS, 2, note)]

    def _filled(self) -> Any:
        model = self._model
        ids = [
            model.start("t1", f"call-{number}", "bash").value["job_id"] for number in range(model.limits.retained + 3)
        ]
        for number, job in enumerate(ids[3:]):
            model.finish(job, "completed", "x")
            if number == 2:
                model.turn_boundary("t1")
        return model.freeze()

    def _resolved(self, start: Any, drawn: Drawn) -> list[Move]:
        """Map the drawn numbers onto arguments, as the kit's machine does; what has none is left out."""
        self._model.thaw(start)
        moves = []
        for name, number in drawn:
            arguments = self._arguments(name, number)
            if arguments is not None:
                moves.append((name, arguments))
                self._make(name, arguments)
        return moves

    def _arguments(self, name: str, number: int) -> dict[str, Any] | None:
        if name == "wait":
            return {"ms": (1, 7, 1000)[number % 3]}
        found: dict[str, Any] = {}
        for parameter, chooser in self._choosers[name]:
            values = chooser(self._model)
            if not values:
                return None
            number, index = divmod(number, len(values))
            if values[index] is not ABSENT:
                found[parameter] = values[index]
        return found

    def _make(self, name: str, arguments: dict[str, Any]) -> None:
        getattr(self._model, name)(**arguments)
        self._model.settle()

    def _made(self, start: Any, moves: list[Move]) -> float:
        """Return how long the model takes for the steps of one case."""
        model = self._model
        model.thaw(start)
        begin = thread_time()
        for name, arguments in moves:
            getattr(model, name)(**arguments)
            model.settle()
        return thread_time() - begin


def _machine(names: list[str], cases: list[Drawn]) -> type[RuleBasedStateMachine]:
    """Make a machine with a rule for each name, which only notes what was drawn."""

    def begin(self: Any, number: int) -> None:
        cases.append([])

    body: dict[str, Any] = {"begin": initialize(number=st.integers(0, 2**16))(begin)}
    for name in names:
        body[name] = rule(number=st.integers(0, 2**16))(_step(name, cases))
    return type("EmptyMachine", (RuleBasedStateMachine,), body)


def _step(name: str, cases: list[Drawn]) -> Callable[[Any, int], None]:
    def step(self: Any, number: int) -> None:
        cases[-1].append((name, number))

    step.__name__ = name
    return step
