"""How much of a lifecycle is explored: how many records take part, and which limits are made small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from statemachines import kernel
from statemachines.explore.influence import Influence
from statemachines.explore.sentences import walked
from statemachines.expression import Var, python_name

if TYPE_CHECKING:
    from statemachines.compile import Compiled


@dataclass(frozen=True, slots=True)
class SmallScope:
    """How small: of a fixed entity so many records take part, of another so many are created; some limits."""

    records: Mapping[str, int]
    limits: Mapping[str, int | None]


def scopes(compiled: Compiled, *, wide: bool = False) -> list[SmallScope]:
    """Return the scope of a spec, or the default ones; a `wide` one has all fixed records beside two of each other entity."""
    entities = compiled.kernel.entities
    names = {word: entity.name for entity in entities for word in (entity.name, entity.collection)}
    limits: dict[str, int | None] = dict.fromkeys(_bounding_limits(compiled.kernel), 1)
    records = {}
    for word, number in compiled.lifecycle.scope.items():
        if word in names:
            records[names[word]] = number
        else:
            limits[word] = number
    fixed = {entity.name: len(entity.fixed) for entity in entities if entity.fixed}
    free = [entity.name for entity in entities if not entity.fixed]
    many = {**fixed, **dict.fromkeys(free, 2), **records}
    if wide or records or not free or max(fixed.values(), default=1) == 1:
        return [SmallScope(many, limits)]
    one_record, one_place = dict.fromkeys(free, 1), dict.fromkeys(fixed, 1)
    return [SmallScope({**fixed, **one_record}, limits), SmallScope({**many, **one_place}, limits)]


def _bounding_limits(source: kernel.Kernel) -> list[str]:
    """Name the limits over 3 that bound how many records stay: by a `retain` or in an invariant."""
    bounds = [entity.retain.newest for entity in source.entities if entity.retain]
    bounds += [invariant.holds for invariant in source.invariants]
    named = [node.name for bound in bounds for node in walked(source, bound) if isinstance(node, Var)]
    sizes = {f"limits.{name}": name for name, size in source.limits if size is not None and size > 3}
    return [sizes[name] for name in dict.fromkeys(named) if name in sizes]


def leave_out(model: Any, source: kernel.Kernel, influence: Influence, scope: SmallScope) -> None:
    """Take the fixed records beyond the scope away, where the others do not depend on them; of what it does not know none."""
    for entity in source.entities:
        for name in entity.fixed[scope.records.get(entity.name, len(entity.fixed)) :]:
            if influence.separable(entity, name):
                del getattr(model, python_name(entity.collection))[name]
