"""Wrong systems by their kernel: each lacks one effect, signal or refusal, ends elsewhere, or keeps one record too many or too few."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from statemachines import kernel, leaving_out
from statemachines.compile import Compiled
from statemachines.expression import Const, Operate
from statemachines.kernel import Kernel
from statemachines.types import INT


def mutants(compiled: Compiled, number: int, most: int) -> list[tuple[str, Compiled]]:
    """Some wrong kernels of a spec, each with what it says otherwise; the number chooses which."""
    found = [*_lacking(compiled.kernel), *_accepting(compiled.kernel), *_elsewhere(compiled.kernel)]
    found += _off_by_one(compiled.kernel)
    chosen = random.Random(number).sample(found, min(most, len(found)))
    return [(said, Compiled(compiled.lifecycle, wrong, compiled.words)) for said, wrong in chosen]


def _lacking(source: Kernel) -> Iterator[tuple[str, Kernel]]:
    """Walk kernels without one effect: a change, a move, a removal, a signal, a record that leaves in time."""
    paths = [each.clause for each in source.effects() if not isinstance(each, kernel.Create | kernel.Send)]
    paths += [each.retain.clause for each in source.entities if each.retain is not None]
    paths += [each.outlives_clause for each in source.messages if each.outlives_clause]
    for path in dict.fromkeys(paths):
        yield f"lacks {path}", leaving_out.without(source, frozenset({path}))


def _accepting(source: Kernel) -> Iterator[tuple[str, Kernel]]:
    """Walk kernels that do not refuse what they have to: not where a record is missing, for there is nothing to act on."""
    for operation in source.operations:
        for require in operation.requires:
            if require.guard is not None and require.answer == "refused":
                left = tuple(each for each in operation.requires if each is not require)
                yield f"accepts {require.clause}", _with(source, replace(operation, requires=left))


def _elsewhere(source: Kernel) -> Iterator[tuple[str, Kernel]]:
    """Walk kernels in which a move leads to another state."""
    for operation in source.operations:
        for index, effect in enumerate(operation.effects):
            if not isinstance(effect, kernel.Move):
                continue
            states = source.entity(effect.entity).states
            target = next((each for _, each in effect.arrows if isinstance(each, Const)), None)
            if target is None:
                continue
            for state in states:
                if state != target.value:
                    arrows = tuple((before, replace(target, value=state)) for before, _ in effect.arrows)
                    moved = replace(effect, arrows=arrows)
                    effects = (*operation.effects[:index], moved, *operation.effects[index + 1 :])
                    yield f"{effect.clause} to {state}", _with(source, replace(operation, effects=effects))


def _off_by_one(source: Kernel) -> Iterator[tuple[str, Kernel]]:
    """Walk kernels that keep one record too many, or too few."""
    for entity in source.entities:
        for operator in ("+", "-") if entity.retain is not None else ():
            assert entity.retain is not None  # see above
            newest = Operate(INT, 0, operator, entity.retain.newest, Const(INT, 0, 1))
            kept = replace(entity, retain=replace(entity.retain, newest=newest))
            entities = tuple(kept if each is entity else each for each in source.entities)
            yield f"{entity.retain.clause} {operator} 1", replace(source, entities=entities)


def _with(source: Kernel, changed: kernel.Operation) -> Kernel:
    """The kernel with one operation instead of that of its name."""
    operations = tuple(changed if each.name == changed.name else each for each in source.operations)
    return replace(source, operations=operations)
