"""Whether every state can be reached, every record can end, and what has ended stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic, Where
from statemachines.draw import Arrow, arrows, targets
from statemachines.lifecycle import EntitySpec

Way = Mapping[str, Arrow]
"""What one sentence does to a record, by the state that it is in."""


def faults(compiled: Compiled) -> Iterator[Diagnostic]:
    """Tell of states that no record reaches or leaves, and of terminal ones that it leaves."""
    created = [effect for effect in compiled.kernel.effects() if isinstance(effect, kernel.Create)]
    for name, entity in compiled.lifecycle.entities.items():
        creations = [each for each in created if each.entity == name]
        if not entity.fixed and not creations:
            hint = "create it in an operation, name its `fixed` records, or remove it"
            yield Diagnostic("never-created", entity.name.where, f"nothing creates a {name}", hint)
        elif entity.states:
            first = set(entity.states[:1] if entity.fixed else ())
            for each in creations:
                first |= {*(targets(compiled.kernel, each.state)[0] if each.state else entity.states[:1])}
            yield from _of_entity(compiled, entity, first)


def _of_entity(compiled: Compiled, entity: EntitySpec, first: Collection[str]) -> Iterator[Diagnostic]:
    name = entity.name.text
    ways: dict[str, dict[str, Arrow]] = {}
    for arrow in arrows(compiled, name):
        ways.setdefault(arrow.clause, {})[arrow.source] = arrow
    reached = list(dict.fromkeys(first))
    for state in reached:  # it grows on the way
        for way in ways.values():
            reached += [each for each in (way[state].targets if state in way else ()) if each not in reached]
    for group, words in entity.groups.items():
        for word in words:
            if word.text not in reached:
                hint = f"no move leads to it from {entity.states[0]!r}: add one, or remove the state"
                yield Diagnostic("unreachable-state", word.where, f"no {name} can become {word.text!r}", hint)
            elif group != "terminal" and not any(_leaves(way, word.text) for way in ways.values()):
                hint = "add a move or an `after` that leads on, or put it into the group `terminal`"
                message = f"a {name} that is {word.text!r} stays so for ever"
                yield Diagnostic("dead-end", word.where, message, hint)
    for clause, way in ways.items():
        yield from _of_way(compiled, clause, way, name, reached)


def _leaves(way: Way, state: str) -> bool:
    """Return whether a way leads out of a state, if only out of the records."""
    return state in way and set(way[state].targets) != {state}


def _of_way(compiled: Compiled, clause: str, way: Way, name: str, reached: Collection[str]) -> Iterator[Diagnostic]:
    ended = compiled.kernel.entity(name).terminal
    if left := [state for state in way if state in ended and way[state].surely and {*way[state].targets} - {state}]:
        where, said = _written(compiled, clause)
        message = f"{said} takes a {name} out of {left[0]!r}, which is terminal"
        hint = "what has ended stays as it is: start from other states, or take the state out of `terminal`"
        yield Diagnostic("terminal-exit", where, message, hint)
    if way.keys().isdisjoint(reached):
        where, said = _written(compiled, clause)
        message = f"{said} starts where no {name} ever is: {' or '.join(map(repr, way))}"
        yield Diagnostic("unreachable-move", where, message, "start from a state that can be reached")


def _written(compiled: Compiled, path: str) -> tuple[Where, str]:
    """Return where a sentence stands, and what its author calls it."""
    clause = compiled.kernel.clause(path)
    match path.split("."):
        case ["operations", operation, "move"]:
            where = compiled.lifecycle.operations[operation].moves[0].where
            return where, f"`{clause.text.replace('→', '->')}` of {operation}"
        case ["operations", operation, "move", _]:
            return clause.where, f"`{clause.text.replace('→', '->')}` of {operation}"
        case ["entities", _, "after", states] | ["entities", _, "after", states, _]:
            return clause.where, f"`after` of {states}"
        case [*_, "set", _, "state"]:
            return clause.where, "`set`"
        case [*_, "for each", _]:
            return clause.where, "`for each`"
        case _:
            return clause.where, "`move`"
