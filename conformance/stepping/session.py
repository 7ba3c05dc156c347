"""The calls made so far of a model, and what may be called next: calls can be made, taken back, and saved as a row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from statemachines.bounds import USUAL
from statemachines.checks import AnsweredCalls, NoRow, RowsOfAnswers, watched, way_as_row
from statemachines.compile import Compiled
from statemachines.diagnostics import SpecError
from statemachines.explore import Influence, choosers, fewer
from statemachines.expression import python_name
from statemachines.model import ABSENT, NO_ANSWER, Decision, Impossible, Restless
from statemachines.rows import WAIT, Call, ModelSubject, Observed, RowStopped, Trace, TypedSteps

MOST_EACH: Final = 60  # candidates of one operation
CANNOT: Final = (*NO_ANSWER, Impossible, Restless)
SAVED_FROM: Final = "conformance step"


class NotTaken(Exception):
    """A step that cannot be taken, and why; everything is as it was."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A step worth trying: a call, or with `own` a step that the system may take by itself.

    leads_on  it may be carried out, and may lead somewhere else than those before it of the same operation
    """

    operation: str
    arguments: Mapping[str, Any]
    own: tuple[int, tuple[Any, ...]] | None = None
    leads_on: bool = True


class _Recorded(ModelSubject):
    """A model that remembers the calls made of it, and what each might have been answered as well."""

    def __init__(self, model: Any, compiled: Compiled) -> None:
        super().__init__(model, compiled.kernel)
        self.made: list[Observed] = []
        self.decisions: list[Decision | None] = []

    def call(self, operation: str, arguments: dict[str, Any]) -> Observed:
        decision = self.model.fork().decide(operation, arguments) if operation != WAIT else None
        found = super().call(operation, arguments)
        self.made.append(found)
        self.decisions.append(decision)
        return found


class Session:
    """A model, and the calls made of it since the start of a case."""

    def __init__(
        self,
        compiled: Compiled,
        limits: Mapping[str, int | None] | None = None,
        policies: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin a case; raise ValueError for a limit or a policy that the life cycle does not have."""
        self.compiled = compiled
        declared = compiled.model(limits, policies)
        self._subject = _Recorded(watched(compiled, USUAL)(vars(declared.limits), vars(declared.policies)), compiled)
        self._names = TypedSteps(compiled.lifecycle, self._subject)
        self._before: list[tuple[int, Any, Any]] = []
        influence = Influence(compiled.kernel)
        self._tried = []
        for each in compiled.kernel.operations:
            every = choosers(compiled, each, {})
            few = [
                fewer(influence, each, parameter, values, self.model)
                for parameter, values in zip(each.parameters, every, strict=True)
            ]
            self._tried.append((each.name, [parameter.name for parameter in each.parameters], few, every))

    @property
    def model(self) -> Any:
        """The model as it is now."""
        return self._subject.model

    @property
    def made(self) -> Sequence[Observed]:
        """The calls so far, each with what came of it."""
        return self._subject.made

    def records(self) -> Iterator[tuple[str, str]]:
        """Walk the records that are there: the entity and the id of each."""
        for entity in self.compiled.kernel.entities:
            yield from ((entity.name, str(key)) for key in getattr(self.model, python_name(entity.collection)))

    # ── What may come next ──

    def candidates(self) -> list[Candidate]:
        """Return the steps worth trying, those of each operation together: first those that may lead somewhere else."""
        own = [each.clause for each in self.compiled.kernel.spontaneous]
        steps = [
            Candidate(own[index], {str(at): key for at, key in enumerate(keys)}, (index, keys))
            for index, keys, _ in self.model.own_steps()
        ]
        found = steps
        for name, parameters, few, every in self._tried:
            first = [each for each in self._given(parameters, few) if self._may_be_carried_out(name, each)]
            rest = (each for each in self._given(parameters, every) if each not in first)
            found += [Candidate(name, each) for each in first]
            found += [Candidate(name, each, leads_on=False) for each in itertools.islice(rest, MOST_EACH)]
        return found + [Candidate(WAIT, {"ms": ms}) for ms in self._instants() if ms > 0]

    def _instants(self) -> list[int]:
        """Return the milliseconds until the timers that run fire, the next one first."""
        return sorted(
            {instant - self.model.now for first, last, *_ in self.model.deadlines() for instant in (first, last)}
        )

    def _may_be_carried_out(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        try:
            return bool(self.model.decide(operation, arguments).accept)
        except CANNOT:
            return False

    def _given(self, names: Sequence[str], lists: Sequence[Any]) -> Iterator[dict[str, Any]]:
        products = itertools.product(*[values(self.model) for values in lists])
        for given in itertools.islice(products, MOST_EACH):
            yield {name: value for name, value in zip(names, given, strict=True) if value is not ABSENT}

    # ── Steps ──

    def take(self, candidate: Candidate) -> list[Observed]:
        """Take a step, and return the calls that it made. Raises NotTaken."""
        if candidate.own is None:
            return self._taken(lambda: self._subject.call(candidate.operation, dict(candidate.arguments)))
        return self._taken(lambda: self._by_itself(candidate))

    def typed(self, text: str) -> list[Observed]:
        """Take a step that is written as in a row, such as `job = start(t1)`. Raises NotTaken."""
        return self._taken(lambda: self._names.take(text))

    def wait(self, ms: int) -> list[Observed]:
        """Let time pass. Raises NotTaken."""
        return self._taken(lambda: self._subject.call(WAIT, {"ms": ms}))

    def back(self) -> bool:
        """Take the last step back; tell whether there was one."""
        if not self._before:
            return False
        self._come_back(self._before.pop())
        return True

    def alternative(self, made: Observed) -> Decision | None:
        """Return what a call might have been answered; None where there was nothing to decide."""
        at = next(at for at, each in enumerate(self._subject.made) if each is made)
        return self._subject.decisions[at]

    def _by_itself(self, candidate: Candidate) -> None:
        """Let the system do what it may, and what follows."""
        assert candidate.own is not None  # told apart by whoever takes it
        outcomes = [self.model.take(*candidate.own), *self.model.settle()]
        signals = tuple(signal for each in outcomes for signal in (*each.signals, *each.again))
        self._subject.made.append(Observed(candidate.operation, dict(candidate.arguments), signals=signals))
        self._subject.decisions.append(None)

    def _taken(self, step: Any) -> list[Observed]:
        before = len(self._subject.made), self.model.freeze(), self._names.kept()
        try:
            step()
        except SpecError as error:
            fault = error.diagnostics[0]
            message = f"{fault.message}; {fault.hint}" if fault.hint else fault.message
            self._come_back(before)
            raise NotTaken(message) from None
        except RowStopped as stopped:
            self._come_back(before)
            raise NotTaken(stopped.message) from None
        except CANNOT as error:
            self._come_back(before)
            raise NotTaken(f"the model cannot do that: {error}") from None
        made = self._subject.made[before[0] :]
        if made:
            self._before.append(before)
        return made

    def _come_back(self, before: tuple[int, Any, Any]) -> None:
        number, frozen, names = before
        del self._subject.made[number:], self._subject.decisions[number:]
        self.model.thaw(frozen)
        self._names.come_back(names)

    # ── A row of them ──

    def row(self, name: str) -> str:
        """Return the calls so far, with what was answered, as a row. Raises NoRow where there are none."""
        if not self.made:
            raise NoRow("nothing was called yet")
        calls = [
            Call(number, each.operation, tuple(each.arguments.items())) for number, each in enumerate(self.made, 1)
        ]
        limits, policies = vars(self.model.limits), vars(self.model.policies)
        about = f"What the model answers to {len(calls)} call{'' if len(calls) == 1 else 's'}."
        writer = RowsOfAnswers(self.compiled)
        try:
            answers: AnsweredCalls = writer.answered(calls, limits, policies, prompt=True)
            return writer.row(answers, name, about, SAVED_FROM, every=True)
        except NoRow as why:
            if all(each.operation in self._known() for each in self.made):
                raise
            covered = next(each.operation for each in self.made if each.operation not in self._known())
            return f"# {why}: it claims nothing.\n" + way_as_row(
                self.compiled, Trace(tuple(calls)), self._changed(limits), about, covered, name
            )

    def _known(self) -> set[str]:
        return {WAIT, *self.compiled.lifecycle.operations}

    def _changed(self, limits: Mapping[str, int | None]) -> dict[str, int | None]:
        declared = self.compiled.lifecycle.limits
        return {name: size for name, size in limits.items() if size != declared[name].default}
