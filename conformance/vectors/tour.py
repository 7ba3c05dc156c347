"""A tour of the model: walks that come to the clauses, and to the situations of each operation, that no row before came to.

A situation is an operation, the states of the records that it is asked about, its words, and whether it is refused; or two
operations one after the other. After each step that changes something, what only looks is asked.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.judge import kernel_facts
from conformance.vectors.answers import Answered
from conformance.vectors.patterns import Inexpressible
from conformance.vectors.recording import Recorder
from conformance.vectors.vector import Oracle, Vector
from statemachines import kernel
from statemachines.explore import Gone, choosers, worth_trying
from statemachines.expression import python_name
from statemachines.model import ABSENT, BaseModel, Restless
from statemachines.rows import WAIT, RowFailure
from statemachines.types import Bool, Enum, present

PLAIN_WALKS: Final = (
    8  # that a system can go which has no more than it has to: no clock, and nothing that may be lacking
)
WALKS: Final = 16  # that may call everything
STEPS_EACH: Final = 24  # of a walk, beside the looks
MOST_WITH_LOOKS: Final = 20 * STEPS_EACH  # calls of a walk
IDLE: Final = 4  # steps that come to nothing new, after which a walk ends
TRIED_EACH: Final = 8  # arguments of an operation at each step
LOOKS_EACH: Final = 1  # of each operation that only looks, after a step
PASSING: Final = (1, 1000, 60_000)  # milliseconds
Goal = tuple[str, ...]
Step = tuple[str, dict[str, Any]]
CARRIED_OUT: Final = ("carried out",)


class Tour:
    """Makes vectors of walks. `covered` are clauses that were witnessed before; `left_out` counts walks that are none."""

    def __init__(self, oracle: Oracle, covered: Iterable[str]) -> None:
        self.left_out: Counter[str] = Counter()
        self._oracle = oracle
        self._reached: set[Goal] = {("clause", each) for each in covered}

    def vectors(self) -> Iterator[Vector]:
        """Walk the vectors: each comes to something that none before it came to."""
        operations = self._oracle.compiled.lifecycle.operations
        needed = [name for name, each in operations.items() if not each.optional]
        for number in range(1, PLAIN_WALKS + WALKS + 1):
            names = needed if number <= PLAIN_WALKS else [*operations, WAIT]
            walk = _Walk(self._oracle, random.Random(f"tour {number}"), self._reached, names)
            try:
                walk.go()
                asked = self._asked(walk)
            except Inexpressible as error:
                self.left_out[f"walk: {error}"] += 1
                continue
            if walk.found:
                self._reached |= walk.found.keys()
                clauses = tuple(sorted(goal[1] for goal in walk.found if goal[0] == "clause"))
                yield Vector(f"tour/{number}", (), clauses, "must", {}, tuple(walk.recorder.calls), asked)

    def _asked(self, walk: _Walk) -> tuple[Answered, ...]:
        """Return what the calls of a walk may be answered; it ends before the first of which that cannot be said."""
        while walk.found:
            try:
                return self._oracle.asked(walk.recorder.calls)
            except Inexpressible as error:
                walk.cut(error.step)
        return ()

    @property
    def not_covered(self) -> list[str]:
        """The clauses that no vector comes to, in the order of the spec: but for what always holds, and what nobody asks."""
        source = self._oracle.compiled.kernel
        open_ = {
            each.clause for operation in source.operations for each in operation.requires if each.answer == "avoided"
        }
        paths = (each.path for each in source.clauses if each.path not in open_)
        return [each for each in paths if ("clause", each) not in self._reached and not each.startswith("invariants.")]


class _Walk:
    """One walk from the start of a case. `found` are the goals that it reached first."""

    def __init__(self, oracle: Oracle, chooser: random.Random, reached: set[Goal], names: Collection[str]) -> None:
        compiled = oracle.compiled
        self.recorder = Recorder(compiled, oracle.declaration, MOST_WITH_LOOKS)
        self.found: dict[Goal, int] = {}  # each with the number of calls after which it is reached
        self._compiled = compiled
        self._chooser = chooser
        self._reached = reached
        self._gone = Gone(compiled.kernel)
        self._operations = {each.name: each for each in compiled.kernel.operations if each.name in names}
        self._looks = [each.name for each in kernel_facts.of(compiled).observers() if each.name in names]
        self._moments = PASSING if WAIT in names else ()
        self._values = {
            each.name: [*zip(each.parameters, choosers(compiled, each, {}), strict=True)]
            for each in compiled.kernel.operations
        }
        self._last = ""

    def go(self) -> None:
        """Walk until nothing new comes, and leave out what came after the last that was new. Raises Inexpressible."""
        idle = 0
        for _ in range(STEPS_EACH):
            step = self._next()
            if step is None or idle > IDLE:
                break
            new = self._new(step)
            self._take(*step)
            self.found.update(dict.fromkeys(new, len(self.recorder.calls)))
            idle = 0 if new else idle + 1
        self.cut(len(self.recorder.calls))

    def cut(self, calls: int) -> None:
        """Keep no more than so many calls, and none after the last that was new."""
        self.found = {goal: number for goal, number in self.found.items() if number <= calls}
        del self.recorder.calls[max(self.found.values(), default=0) :]

    def _new(self, step: Step) -> set[Goal]:
        return self._goals(*step) - self._reached - self.found.keys() - {CARRIED_OUT}

    def _next(self) -> Step | None:
        """Return the step that comes to most that is new; where none does, any that is carried out."""
        steps = [*self._steps()]
        self._chooser.shuffle(steps)
        gains = [len(self._new(step)) for step in steps]
        most = max(gains, default=0)
        if most:
            return steps[gains.index(most)]
        return next((step for step in steps if CARRIED_OUT in self._goals(*step)), None)

    def _steps(self) -> Iterator[Step]:
        for ms in self._moments:
            yield WAIT, {"ms": ms}
        for name in self._operations:
            yield from ((name, given) for given in self._given(name, TRIED_EACH))

    def _given(self, name: str, most: int) -> list[dict[str, Any]]:
        """Return some arguments worth a try, each of them once."""
        lists = [[*worth_trying(each, values, self.recorder.model, self._gone)] for each, values in self._values[name]]
        names = [each.name for each, _ in self._values[name]]
        found: list[dict[str, Any]] = []
        for _ in range(most if all(lists) else 0):
            chosen = zip(names, map(self._chooser.choice, lists), strict=True)
            given = {key: value for key, value in chosen if value is not ABSENT}
            found += [given] if given not in found else []
        return found

    def _take(self, name: str, given: Mapping[str, Any]) -> None:
        self._make(name, given)
        self._last = name
        for look in self._looks if name not in self._looks else ():
            about = [*given.values()]
            for chosen in sorted(
                self._given(look, TRIED_EACH), key=lambda each: -sum(it in about for it in each.values())
            )[:LOOKS_EACH]:
                if self._goals(look, chosen):
                    self._make(look, chosen)

    def _make(self, name: str, given: Mapping[str, Any]) -> None:
        try:
            self.recorder.call(name, dict(given))
        except RowFailure as error:
            raise Inexpressible(error.message) from None
        self._gone.look(self.recorder.model)

    def _goals(self, name: str, given: Mapping[str, Any]) -> set[Goal]:
        """Return what a step comes to; nothing where the spec leaves open what it does."""
        model = self._copy()
        if name == WAIT:
            model.wait(given["ms"])
            return {CARRIED_OUT, *(("clause", path) for path in model.witnessed())}
        given = self.recorder.without_time(name, given)
        decision = model.decide(name, given)
        if decision.avoid or decision.blocks:
            return set()
        situation = [name, *self._situation(self._operations[name], model, given)]
        try:
            if decision.accept:
                model.do(name, given)
                model.settle()
        except Restless:
            return set()
        done = CARRIED_OUT[0] if decision.accept else f"refused {' '.join(decision.refuse)}"
        clauses = {("clause", path) for path in model.witnessed()}
        pair = ("pair", self._last, name, done)
        return {("situation", *situation, done), pair, *clauses, *({CARRIED_OUT} if decision.accept else ())}

    def _copy(self) -> BaseModel:
        """Return a model as it is now that witnesses nothing here, nor takes an id away."""
        model = self.recorder.model
        copy: BaseModel = model.thawed_as(self._compiled.model_class, model.freeze())
        copy.seen = bytearray(len(model.seen))
        return copy

    def _situation(self, operation: kernel.Operation, model: Any, given: Mapping[str, Any]) -> Iterator[str]:
        """Walk the states of the records that a call is about, and the words that it gives."""
        for each in operation.parameters:
            value = given.get(each.name)
            if each.entity:
                record = getattr(model, python_name(self._compiled.kernel.entity(each.entity).collection)).get(value)
                yield str(getattr(record, "state", record is not None))
            elif isinstance(present(each.type), Enum | Bool):
                yield str(value)
            else:
                yield str(value is None)
