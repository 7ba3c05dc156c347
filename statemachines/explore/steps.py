"""The steps that lead on from a configuration: calls of operations, and what the system does unasked."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from statemachines import kernel
from statemachines.explore.candidates import Chooser, choosers, fewer
from statemachines.explore.influence import Influence
from statemachines.explore.small_scope import SmallScope
from statemachines.expression import Const
from statemachines.model import ABSENT
from statemachines.rows import Call

if TYPE_CHECKING:
    from statemachines.compile import Compiled


@dataclass(slots=True)
class Step:
    """One way on: what decides it (None = nothing), what does it, and with which arguments.

    every, few  what lists the values of each argument; `few` leaves out those that lead nowhere else
    creates     the numbers of the entities of which it surely creates a record
    clauses     the numbers of the clauses that it may be the only one to witness
    stays       it changes nothing that counts, so it is taken only for its clauses
    tried       it was carried out with every value, so few will do
    """

    name: str
    names: Sequence[str]
    do: Callable[..., Any]
    may: Callable[..., Any] | None = None
    every: Sequence[Chooser] = ()
    few: Sequence[Chooser] = ()
    creates: Sequence[int] = ()
    clauses: Sequence[int] = ()
    stays: bool = False
    tried: bool = False

    def arguments(self, model: Any, *, every: bool = False) -> Iterable[tuple[Any, ...]]:
        """Walk the arguments to try in a configuration; `every` one also where few of them lead somewhere else."""
        return itertools.product(*[values(model) for values in (self.every if every or not self.tried else self.few)])

    def call(self, number: int, given: tuple[Any, ...]) -> Call:
        """Return the step as a call of a trace; an argument left out has no name in it."""
        pairs = zip(self.names, given, strict=True)
        return Call(number, self.name, tuple((name, value) for name, value in pairs if value is not ABSENT))


@dataclass(frozen=True, slots=True)
class Steps:
    """Makes the steps of a lifecycle: decided by the model `here`, done by the model `there`."""

    compiled: Compiled
    influence: Influence
    scope: SmallScope
    witnessed: Collection[str]
    here: Any
    there: Any

    def operation(self, operation: kernel.Operation) -> Step:
        """Make the step of an operation."""
        free = [entity.name for entity in self.compiled.kernel.entities if not entity.fixed]
        every = choosers(self.compiled, operation, self.scope.records)
        pairs = zip(operation.parameters, every, strict=True)
        creates = [each for each in operation.effects if isinstance(each, kernel.Create) and each.when is None]
        return Step(
            operation.name,
            [parameter.name for parameter in operation.parameters],
            getattr(self.there, f"do_{operation.name}"),
            getattr(self.here, f"may_{operation.name}") if operation.requires else None,
            every,
            [fewer(self.influence, operation, parameter, values, self.here) for parameter, values in pairs],
            [free.index(each.entity) for each in creates],
            self._clauses(operation),
            all(map(_stays, operation.effects)),
        )

    def own(self, index: int, step: kernel.Spontaneous) -> Step:
        """Make a step of the implementation's own."""
        there = self.there
        return Step(step.clause, [variable for variable, _ in step.loops], lambda *keys: there.take(index, keys))

    def timer(self, index: int, clause: str) -> Step:
        """Make the step of a timer that is due."""
        there = self.there
        return Step(clause, ["record"], lambda key: there.fire(index, key))

    def _clauses(self, operation: kernel.Operation) -> list[int]:
        """Number an operation's own clauses, and those about what can be seen in its reply."""
        source = self.compiled.kernel
        wanted = {require.clause for require in operation.requires}
        if operation.reply is not None:
            wanted |= {entity.shows_clause for entity in source.entities}
            wanted |= {f"messages.{each.name}.carries.{key}" for each in source.messages for key, _ in each.carries}
        own = f"operations.{operation.name}."
        wanted |= {clause.path for clause in source.clauses if clause.path.startswith(own)}
        wanted -= {operation.loses_files, *self.witnessed}
        return [number for number, clause in enumerate(source.clauses) if clause.path in wanted]


def _stays(effect: kernel.Effect) -> bool:
    """Return whether an effect changes nothing: a signal, or a move from each state to itself."""
    if isinstance(effect, kernel.Move):
        return all(isinstance(target, Const) and target.value == state for state, target in effect.arrows)
    return isinstance(effect, kernel.Emit)
