"""What a search meets on its way: states of records, calls about records in each state, both sides of each guard, and where calls lead.

The search tells it (`explore(…, watch=SearchWatch(compiled))`), and goes on with calls that lead nowhere new for as long as they may
show something that was not met yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from statemachines import kernel
from statemachines.explore.configurations import Frozen
from statemachines.explore.guards import Guards
from statemachines.explore.small_scope import SmallScope
from statemachines.explore.steps import Step
from statemachines.expression import python_name
from statemachines.generate import record_names
from statemachines.model import ABSENT, Decision
from statemachines.rows import Trace

if TYPE_CHECKING:
    from statemachines.compile import Compiled

THERE, MISSING = "there", "missing"
"""The state of a record that has none, and of one that is not there."""


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """A configuration that was reached, in which scope: how many records may still be created, and the last step to it."""

    frozen: Frozen
    budget: tuple[int, ...]
    scope: SmallScope
    parent: Reached | None = None
    last: tuple[Step, tuple[Any, ...]] | None = None

    def way(self, *more: tuple[Step, tuple[Any, ...]]) -> Trace:
        """Return the shortest way to it, and more steps from there."""
        steps, node = list(reversed(more)), self
        while node.parent is not None and node.last is not None:
            steps.append(node.last)
            node = node.parent
        numbered = enumerate(reversed(steps), 1)
        return Trace(tuple(step.call(number, given) for number, (step, given) in numbered))


class Cell(NamedTuple):
    """A call of an operation about a record in some state; `parameter` names the argument that the record is."""

    entity: str
    state: str
    operation: str
    parameter: str


@dataclass(frozen=True, slots=True)
class FirstMet:
    """The first steps that the search met something with; `last` is the one beyond the configuration reached, if there is one."""

    reached: Reached
    last: tuple[Step, tuple[Any, ...]] | None

    @property
    def trace(self) -> Trace:
        """The steps."""
        return self.reached.way(*[self.last] if self.last else [])


@dataclass(frozen=True, slots=True)
class LeadsTo:
    """Where a step led: to `there`, for which `reached` stands, which differs in nothing that matters."""

    there: Frozen
    reached: Reached


class SearchWatch:
    """What was met in all scopes of a search.

    cells   by cell, and by what became of the call
    sides   by the number of a guard, and how it came out
    states  by entity and state
    ways    by configuration, if all its steps were taken, those apart that create more records than the scope has
    narrow  the configurations with such a step
    nobody  cells that nobody asks for, since the spec leaves open what happens then
    """

    def __init__(self, compiled: Compiled) -> None:
        self.guards = Guards(compiled)
        self.model_class = self.guards.model_class(self._note)
        self.cells: dict[Cell, dict[str, FirstMet]] = {}
        self.sides: dict[tuple[int, bool], FirstMet] = {}
        self.states: dict[tuple[str, str], FirstMet] = {}
        self.ways: dict[Reached, list[LeadsTo]] = {}
        self.narrow: set[Reached] = set()
        self.nobody: set[Cell] = set()
        self._kernel = compiled.kernel
        self._at: Reached | None = None
        self._doing: tuple[Step, tuple[Any, ...]] | None = None
        self._cells = {each.name: list(_cells_of(compiled.kernel, each)) for each in compiled.kernel.operations}
        self._about = {each.name: list(self._records(each)) for each in compiled.kernel.operations}
        self._open = {(number, side) for number in range(len(self.guards.all)) for side in (True, False)}
        self._stateful = [
            (3 + len(compiled.kernel.variables) + place, each, _place_of_state(each))
            for place, each in enumerate(compiled.kernel.entities)
            if each.states
        ]

    @property
    def every_cell(self) -> Sequence[Cell]:
        """All cells that there are by the words of the spec."""
        return [cell for cells in self._cells.values() for cell in cells]

    # ── What the search tells ──

    def at(self, reached: Reached) -> None:
        """Note that all steps from a configuration are taken from now on."""
        self._at, self._doing = reached, None
        self.ways[reached] = []

    def doing(self, step: tuple[Step, tuple[Any, ...]] | None) -> None:
        """Note the step that is taken now; None while it is looked which may be."""
        self._doing = step

    def asked(self, model: Any, operation: str, given: Sequence[Any], decision: Decision | None) -> None:
        """Note a call, made in a configuration, and what it may be answered; None where nothing stands in its way."""
        for parameter, at, entity, collection in self._about[operation]:
            value = given[at]
            if value is None or value is ABSENT:
                continue
            record = getattr(model, collection).get(value)
            state = MISSING if record is None else getattr(record, "state", THERE)
            cell = Cell(entity, state, operation, parameter)
            if decision is not None and decision.avoid:
                self.nobody.add(cell)
                continue
            answers = self.cells.setdefault(cell, {})
            answer = answered(decision)
            if answer not in answers:
                answers[answer] = self._here()

    def leads(self, way: LeadsTo | None) -> None:
        """Note where a step led; None where it takes more records than the scope has."""
        assert self._at is not None  # no step is taken from nowhere
        if way is None:
            self.narrow.add(self._at)
            return
        self.ways[self._at].append(way)
        self.arrives(way.there)

    def arrives(self, there: Frozen) -> None:
        """Note the states of the records of a configuration."""
        for place, entity, state in self._stateful:
            for row in there[place]:
                if (entity.name, row[state]) not in self.states:
                    self.states[entity.name, row[state]] = self._here()

    def wants(self, operation: str) -> bool:
        """Return whether calls of an operation may show something that was not met yet."""
        cells = self._cells[operation]
        if cells and any(cell not in self.cells and cell not in self.nobody for cell in cells):
            return True
        return any(self.guards.all[number].operation in ("", operation) for number, _ in self._open)

    def _note(self, number: int, held: bool) -> bool:
        """Note how a guard came out, and return that."""
        if (number, held) not in self.sides and self._at is not None:
            self.sides[number, held] = self._here()
            self._open.discard((number, held))
        return held

    def _here(self) -> FirstMet:
        assert self._at is not None  # nothing is met nowhere
        return FirstMet(self._at, self._doing)

    def _records(self, operation: kernel.Operation) -> Iterator[tuple[str, int, str, str]]:
        """Walk the arguments of an operation that are records that may go, or that change their state."""
        for at, parameter in enumerate(operation.parameters):
            if parameter.entity:
                entity = self._kernel.entity(parameter.entity)
                if entity.states or not entity.fixed:
                    yield parameter.name, at, entity.name, python_name(entity.collection)


def answered(decision: Decision | None) -> str:
    """Return what becomes of a call that is answered so; None stands for what is always carried out.

    carried out · refused · unchanged: refused or accepted, nothing changes · either: carried out or refused · waits
    """
    if decision is None or (decision.accept and not decision.refuse):
        return "carried out"
    if decision.blocks:
        return "waits"
    if decision.accept:
        return "either"
    return "unchanged" if decision.idle else "refused"


def _cells_of(source: kernel.Kernel, operation: kernel.Operation) -> Iterator[Cell]:
    for parameter in operation.parameters:
        if parameter.entity:
            entity = source.entity(parameter.entity)
            states = [*(entity.states or ((THERE,) if not entity.fixed else ()))]
            for state in states + ([MISSING] if not entity.fixed else []):
                yield Cell(entity.name, state, operation.name, parameter.name)


def _place_of_state(entity: kernel.Entity) -> int:
    return record_names(entity).index("state")
