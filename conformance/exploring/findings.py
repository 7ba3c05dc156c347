"""What a search of the small scope of a spec shows: how far it went, and what it never came to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

from conformance.verdict import EXIT_CONFORMS, EXIT_VIOLATES
from statemachines.bounds import USUAL
from statemachines.compile import Compiled
from statemachines.diagnostics import Where
from statemachines.explore import (
    MISSING,
    THERE,
    CanBeTold,
    Cell,
    Exploration,
    FirstMet,
    Guard,
    SearchWatch,
    SmallScope,
    explore,
    states_of,
    tellings,
    to_be_seen,
)

CONFIGURATIONS: Final = 20_000  # in each scope, after which the search stops

Side = Literal["always true", "always false", "never asked"]


@dataclass(frozen=True, slots=True)
class Unmet:
    """A state that no record is ever in; where it stands."""

    entity: str
    state: str
    where: Where


@dataclass(frozen=True, slots=True)
class OneSided:
    """A guard that never decides anything: how it comes out, and of which operations, where it stands for several."""

    guard: Guard
    comes_out: Side
    operations: tuple[str, ...]


@dataclass(frozen=True)
class Findings:
    """All that a search shows.

    exploration  what was reached, and whether that is all
    watch        what was met on the way
    tellings     of each kind of message, whether it can be told from wherever it is due
    """

    compiled: Compiled
    exploration: Exploration
    watch: SearchWatch
    tellings: Sequence[CanBeTold]

    @property
    def whole(self) -> bool:
        """Whether every configuration of the scope was reached, and all steps from each were taken."""
        return self.exploration.complete

    @property
    def exit(self) -> int:
        """1 where something is wrong: of what was never met only if the search saw all; else 0."""
        wrong = self.exploration.violation is not None or any(each.stuck for each in self.tellings)
        never = self.whole and bool(self.states_never or self.cells_never)
        return EXIT_VIOLATES if wrong or never else EXIT_CONFORMS

    @cached_property
    def scopes(self) -> Sequence[SmallScope]:
        """The scopes, in the order in which they were searched."""
        return list({id(each.scope): each.scope for each in self.exploration.reached}.values())

    @cached_property
    def states_never(self) -> Sequence[Unmet]:
        """The states that no record is ever in."""
        found = []
        for name, entity in self.compiled.lifecycle.entities.items():
            words = [word for words in entity.groups.values() for word in words]
            found += [
                Unmet(name, word.text, word.where) for word in words if (name, word.text) not in self.watch.states
            ]
        return found

    @cached_property
    def cells_never(self) -> Sequence[Cell]:
        """The calls about a record in some state that were never met, though such a record was, and the spec says what they do."""
        never = {(each.entity, each.state) for each in self.states_never}
        met = {*self.watch.cells, *self.watch.nobody}
        return [each for each in self.watch.every_cell if each not in met and each[:2] not in never]

    @cached_property
    def records(self) -> Mapping[str, int]:
        """How many records of each entity stand together at most in one configuration."""
        most: dict[str, int] = {}
        first = 3 + len(self.compiled.kernel.variables)
        for each in self.exploration.reached:
            for place, entity in enumerate(self.compiled.kernel.entities, first):
                most[entity.name] = max(most.get(entity.name, 0), len(each.frozen[place]))
        return most

    # ── Guards ──

    @cached_property
    def guards(self) -> Mapping[tuple[Any, ...], Sequence[int]]:
        """The guards as they are written, each with its numbers: one that stands at several places of the model is one."""
        found: dict[tuple[Any, ...], list[int]] = {}
        for number, guard in enumerate(self.watch.guards.all):
            found.setdefault((guard.clause, guard.role, guard.words, guard.where), []).append(number)
        return found

    @cached_property
    def one_sided(self) -> Sequence[OneSided]:
        """The guards that came out in only one way, those apart that what is declared decides."""
        return [each for each in self._one_sided() if not each.guard.settled]

    @cached_property
    def declared(self) -> Sequence[OneSided]:
        """The guards that what is declared decides alone."""
        return [each for each in self._one_sided() if each.guard.settled]

    def _one_sided(self) -> Iterator[OneSided]:
        guards = self.watch.guards.all
        for numbers in self.guards.values():
            came = {side for number in numbers for side in (True, False) if (number, side) in self.watch.sides}
            if len(came) < 2:
                out: Side = "never asked" if not came else "always true" if True in came else "always false"
                operations = tuple(dict.fromkeys(guards[number].operation for number in numbers))
                yield OneSided(guards[numbers[0]], out, operations)

    # ── Witnesses ──

    def witnesses(self) -> Iterator[tuple[str, str, FirstMet]]:
        """Walk what was met, in words, with the clause that it is about and the first calls to it."""
        for cell, answers in self.watch.cells.items():
            about = record_in_words(cell)
            for answer, witness in answers.items():
                yield f"{cell.operation} about {about}: {answer}", f"operations.{cell.operation}", witness
        for (number, side), witness in self.watch.sides.items():
            guard = self.watch.guards.all[number]
            of = f" of {guard.operation}" if guard.operation and guard.operation not in guard.clause else ""
            said = f"`{guard.words}` in {guard.clause}{of} is {'true' if side else 'false'}"
            yield said, guard.clause, witness


def record_in_words(cell: Cell) -> str:
    """Return what a call is about, in words."""
    if cell.state == MISSING:
        return f"no {cell.entity}"
    return a_or_an(cell.entity) + ("" if cell.state == THERE else f" that is {cell.state}")


def a_or_an(noun: str) -> str:
    """Return a noun with its article."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def explored(compiled: Compiled, steps: int) -> Findings:
    """Search the small scope of a spec, so many steps in each scope at most."""
    watch = SearchWatch(compiled)
    seen = [*states_of(compiled.kernel), *to_be_seen(compiled.kernel)]
    bounds = replace(USUAL, states=CONFIGURATIONS, transitions=steps)
    exploration = explore(compiled, bounds, seen=seen, replies=True, watch=watch)
    return Findings(compiled, exploration, watch, tellings(compiled, exploration.reached, watch))
