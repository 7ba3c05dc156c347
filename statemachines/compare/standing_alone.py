"""Which changes of a spec can be made alone, so that each can be looked at by itself, and which only together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from statemachines.compare.tree_changes import SpecChange, with_changes
from statemachines.compile import Compiled, compile_tree
from statemachines.diagnostics import SpecError
from statemachines.yaml import Mapping

MOST_ALONE: Final = 40  # changes of which one is looked for that others need: of more, those are taken together


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Changes that are made together because none of them stands without the others, and the old spec with them alone."""

    changes: tuple[SpecChange, ...]
    compiled: Compiled


def groups_alone(old: Mapping, new: Mapping, changes: Sequence[SpecChange]) -> list[ChangeGroup]:
    """Return the changes in groups as small as compile with the old spec, in the order of their first ones.

    The whole is a group of its own where nothing smaller compiles.
    """
    compiling: dict[frozenset[int], Compiled | None] = {}

    def compiled(numbers: frozenset[int]) -> Compiled | None:
        if numbers not in compiling:
            made = with_changes(old, new, [each for number, each in enumerate(changes) if number in numbers])
            try:
                compiling[numbers] = compile_tree(made, old.where.file)
            except SpecError:
                compiling[numbers] = None
        return compiling[numbers]

    every = frozenset(range(len(changes)))
    groups = [frozenset({number}) for number in every]
    needing = [each for each in groups if compiled(each) is None]
    if len(needing) > MOST_ALONE:
        groups = [each for each in groups if each not in needing] + [frozenset().union(*needing)]
    else:
        groups = [each if each not in needing else _least(each, every, compiled) for each in groups]
    found = []
    for group in _joined(groups):
        whole = group if compiled(group) is not None else every
        found.append(whole)
    result = []
    for group in dict.fromkeys(_joined(found)):
        made = compiled(group)
        if made is not None:
            result.append(ChangeGroup(tuple(changes[number] for number in sorted(group)), made))
    return result


def _least(
    wanted: frozenset[int], every: frozenset[int], compiled: Callable[[frozenset[int]], Compiled | None]
) -> frozenset[int]:
    """Return as few changes as compile together with one that does not alone: none of them can be left out."""
    kept = every
    for number in sorted(every - wanted):
        if compiled(kept - {number}) is not None:
            kept -= {number}
    return kept


def _joined(groups: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Join groups that have something in common."""
    found: list[frozenset[int]] = []
    for group in groups:
        apart = [each for each in found if not each & group]
        found = [*apart, group.union(*(each for each in found if each & group))]
    return sorted(found, key=min)
