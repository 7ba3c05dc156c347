"""The whole numbers that the rules of a spec say, and what a caller gives that they are compared with.

Such a number is where a rule begins to say something else, so it is worth a try. One idea: numbers at which rules turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from statemachines import kernel
from statemachines.explore.instants import COMPARING, RECORDS
from statemachines.expression import Attribute, Const, Defined, Items, Operate, Typed, Var, python_name
from statemachines.model import BaseModel
from statemachines.types import INT, NULL, Ref, present

if TYPE_CHECKING:
    from statemachines.compile import Compiled
    from statemachines.lifecycle import TypeUse

Other = TypeVar("Other")
Place = tuple[str, str]
"""Where a value stands: a parameter of an operation or of a named expression, a field of an entity, or a variable of no owner."""


def bounds_of(compiled: Compiled, use: TypeUse) -> tuple[int, int] | None:
    """Return from where to where the whole numbers of a type go, where it says so."""
    declared = compiled.lifecycle.types.get(use.name.text)
    return use.bounds or (declared.bounds if declared and declared.kind == "range" else None)


def numbers_beside(compiled: Compiled) -> dict[Place, set[int]]:
    """Return for each operation and parameter that takes any whole number those that its rules say, with one less and one more of each.

    Whoever writes `<` for `<=` errs on the one side of a bound, and whoever writes another bound on the other.
    """
    return {
        (operation, parameter): {
            number + more for number in numbers_said(compiled.kernel.operation(operation)) for more in (-1, 0, 1)
        }
        for operation, parameter in _of_any_number(compiled)
    }


@lru_cache(maxsize=8)
def numbers_compared(compiled: Compiled) -> dict[Place, list[int]]:
    """Return the numbers above 1 with which rules compare what is given in each parameter that takes any whole number, if there are some.

    Be it where it was kept: a wait that was set once is compared with the five that there may be when somebody waits.
    The same for each variable that is a number. 0 and 1 are tried in any case.
    """
    compared, _, kept = _places(compiled.kernel)
    variables = [("", each.name) for each in compiled.kernel.variables if present(each.type) == INT]
    found = {place: sorted({*_reached(place, compared, kept)}) for place in (*_of_any_number(compiled), *variables)}
    return {place: numbers for place, numbers in found.items() if numbers}


@lru_cache(maxsize=8)
def numbers_held(compiled: Compiled) -> dict[Place, Callable[[BaseModel], list[int]]]:
    """Return for parameters that take any whole number what lists the numbers in a model that rules compare them with, if there are some.

    That is what fields of the last records and variables hold: a caller proves by such a number that it knows of the last change.
    """
    _, faced, kept = _places(compiled.kernel)
    collections = {each.name: python_name(each.collection) for each in compiled.kernel.entities} | {"": ""}
    kinds = {
        **{("", each.name): each.type for each in compiled.kernel.variables},
        **{(each.name, field.name): field.type for each in compiled.kernel.entities for field in each.fields},
    }
    found: dict[Place, Callable[[BaseModel], list[int]]] = {}
    for place in _of_any_number(compiled):
        fields = [
            (collections[owner], python_name(name))
            for owner, name in sorted({*_reached(place, faced, kept)})
            if present(kinds.get((owner, name), NULL)) == INT  # no limit, and not the time
        ]
        if fields:
            found[place] = partial(_held, fields)
    return found


def _held(fields: Sequence[tuple[str, str]], model: BaseModel) -> list[int]:
    found = dict[int, None]()
    for collection, name in fields:
        holding = [*getattr(model, collection).values()][-RECORDS:] if collection else [model]
        held = (getattr(each, name) for each in holding)
        found |= dict.fromkeys(int(each) for each in held if isinstance(each, int) and not isinstance(each, bool))
    return [*found]


def numbers_said(rules: Any) -> Iterator[int]:
    """Walk the whole numbers above 1 that a kernel, or a part of one, says."""
    for part in kernel.everything(rules):
        if isinstance(part, Const) and isinstance(part.value, int) and part.value > 1:
            yield part.value


def _of_any_number(compiled: Compiled) -> list[Place]:
    """List the parameters of operations that take any whole number."""
    uses = {
        operation.name: compiled.lifecycle.operations[operation.name].takes for operation in compiled.kernel.operations
    }
    return [
        (operation.name, parameter.name)
        for operation in compiled.kernel.operations
        for parameter in operation.parameters
        if present(compiled.words.types.resolve(use := uses[operation.name][parameter.name])) == INT
        and bounds_of(compiled, use) is None
    ]


def _reached(start: Place, compared: Mapping[Place, set[Other]], kept: Mapping[Place, set[Place]]) -> Iterator[Other]:
    """Walk what a value is compared with at a place, and wherever it comes to from there as it is."""
    found, coming = {start}, [start]
    while coming:
        place = coming.pop()
        yield from compared.get(place, ())
        coming += kept.get(place, set()) - found
        found |= kept.get(place, set())


def _places(source: kernel.Kernel) -> tuple[dict[Place, set[int]], dict[Place, set[Place]], dict[Place, set[Place]]]:
    """Return with which numbers what stands at each place is compared, with what stands where, and to which other places it comes as it is."""
    compared: dict[Place, set[int]] = {}
    faced: dict[Place, set[Place]] = {}
    kept: dict[Place, set[Place]] = {}
    parameters = {each.name: each.parameters for each in source.definitions}
    for owner, names, rules in _scopes(source):
        for part in kernel.everything(rules):
            for place, value in _given_to(part, owner, parameters):
                if (here := _place(value, owner, names)) is not None:
                    kept.setdefault(here, set()).add(place)
            if isinstance(part, Operate) and part.operator in COMPARING:
                for one, other in ((part.left, part.right), (part.right, part.left)):
                    if (here := _place(one, owner, names)) is not None:
                        compared.setdefault(here, set()).update(_numbers(other))
                        if (there := _place(other, owner, names)) is not None:
                            faced.setdefault(here, set()).add(there)
    return compared, faced, kept


def _given_to(part: Any, owner: str, parameters: Mapping[str, Sequence[str]]) -> Iterator[tuple[Place, Any]]:
    """Walk the places to which a part of a kernel gives a value, each with that; of whose rules it is a part is `owner`."""
    match part:
        case kernel.Set():
            yield (part.entity if part.record is not None else "", part.field), part.value
        case kernel.Create():
            yield from (((part.entity, field), value) for field, value in part.fields)
        case kernel.Operation():
            yield from (((owner, name), value) for name, value in part.reads)
        case Defined():
            names = ((part.name, name) for name in parameters[part.name])
            yield from zip(names, part.arguments, strict=True)


def _scopes(source: kernel.Kernel) -> Iterator[tuple[str, frozenset[str], Any]]:
    """Walk the parts of a kernel that have names of their own: whose they are, which, and the part; then all that has none."""
    for operation in source.operations:
        yield (
            operation.name,
            frozenset((*(each.name for each in operation.parameters), *dict(operation.reads))),
            operation,
        )
    for each in source.definitions:
        yield each.name, frozenset(each.parameters), each.body
    yield "", frozenset(), (source.entities, source.messages, source.spontaneous)


def _place(value: Any, owner: str, names: frozenset[str]) -> Place | None:
    """Return where a value stands that is read as it is; None for any other expression."""
    match value:
        case Var(name=name) if name in names:
            return owner, name
        case Var(name=name, source=read) if read.startswith("self."):
            return "", name
        case Attribute(of=of, name=name) if isinstance(kind := present(of.type), Ref):
            return kind.entity, name
        case _:
            return None


def _numbers(value: Typed | None) -> Iterator[int]:
    """Walk the numbers above 1 that a constant is, or the items of a list."""
    items = value.items if isinstance(value, Items) else (value,)
    yield from numbers_said(tuple(each for each in items if isinstance(each, Const)))
