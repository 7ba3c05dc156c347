"""The whole numbers that the rules of a spec say, and what a caller gives that they are compared with.

Such a number is where a rule begins to say something else, so it is worth a try. One idea: numbers at which rules turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from statemachines import kernel
from statemachines.explore.candidates import bounds_of
from statemachines.expression import Attribute, Const, Defined, Items, Operate, Typed, Var
from statemachines.types import INT, Ref, present

if TYPE_CHECKING:
    from statemachines.compile import Compiled

COMPARING = frozenset(("==", "!=", "<", "<=", ">", ">=", "in"))

Place = tuple[str, str]
"""Where a value stands: a parameter of an operation or of a named expression, a field of an entity, or a variable of no owner."""


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


def numbers_met(compiled: Compiled) -> dict[Place, set[int]]:
    """Return for each operation and parameter that takes any whole number those above 1 with which what is given is compared.

    Be it where it was kept: a wait that was set once is compared with the five that there may be when somebody waits.
    The same for each variable that is a number.
    """
    compared, kept = _places(compiled.kernel)
    variables = [("", each.name) for each in compiled.kernel.variables if present(each.type) == INT]
    return {place: {*_compared(place, compared, kept)} for place in (*_of_any_number(compiled), *variables)}


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


def _compared(start: Place, compared: Mapping[Place, set[int]], kept: Mapping[Place, set[Place]]) -> Iterator[int]:
    """Walk the numbers with which a value is compared at a place, and wherever it comes to from there as it is."""
    found, coming = {start}, [start]
    while coming:
        place = coming.pop()
        yield from compared.get(place, ())
        coming += kept.get(place, set()) - found
        found |= kept.get(place, set())


def _places(source: kernel.Kernel) -> tuple[dict[Place, set[int]], dict[Place, set[Place]]]:
    """Return with which numbers what stands at each place is compared, and to which other places it comes as it is."""
    compared: dict[Place, set[int]] = {}
    kept: dict[Place, set[Place]] = {}
    parameters = {each.name: each.parameters for each in source.definitions}
    for owner, names, rules in _scopes(source):

        def comes_to(value: Any, place: Place, owner: str = owner, names: frozenset[str] = names) -> None:
            if (here := _place(value, owner, names)) is not None:
                kept.setdefault(here, set()).add(place)

        for part in kernel.everything(rules):
            match part:
                case kernel.Set():
                    comes_to(part.value, (part.entity if part.record is not None else "", part.field))
                case kernel.Create():
                    for field, value in part.fields:
                        comes_to(value, (part.entity, field))
                case kernel.Operation():
                    for name, value in part.reads:
                        comes_to(value, (owner, name))
                case Defined():
                    for name, value in zip(parameters[part.name], part.arguments, strict=True):
                        comes_to(value, (part.name, name))
                case Operate(operator=operator, left=Typed() as left, right=right) if operator in COMPARING:
                    for one, other in ((left, right), (right, left)):
                        if (here := _place(one, owner, names)) is not None:
                            compared.setdefault(here, set()).update(_numbers(other))
    return compared, kept


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


def _numbers(value: Typed) -> Iterator[int]:
    """Walk the numbers above 1 that a constant is, or the items of a list: 0 and 1 are tried in any case."""
    for each in value.items if isinstance(value, Items) else (value,):
        if isinstance(each, Const) and isinstance(each.value, int) and each.value > 1:
            yield each.value
