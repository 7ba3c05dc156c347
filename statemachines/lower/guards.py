"""What has to hold before an operation is carried out, and what is answered where it does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from statemachines import kernel
from statemachines.expression import (
    Attribute,
    Binary,
    Const,
    Each,
    FunctionCall,
    Literal,
    Name,
    Node,
    Operate,
    Scope,
    Typed,
)
from statemachines.lifecycle import WITH_ANY_CODE, EntitySpec, Expr, MoveSpec, OperationSpec, Otherwise, Word
from statemachines.lower.context import Lowering, equal, in_one_of, local, negated
from statemachines.lower.effects import arrows, signals
from statemachines.types import BOOL, UNKNOWN, Ref, Type

Parameters = tuple[kernel.Parameter, ...]


def lookups(low: Lowering, operation: OperationSpec, parameters: Parameters, path: str) -> list[kernel.Require]:
    """Require that the records an operation is about exist, and are visible to the caller."""
    found = []
    names = {parameter.name for parameter in parameters}
    for parameter in parameters:
        entity = low.lifecycle.entities.get(parameter.entity)
        if entity is None or entity.fixed or parameter.type != Ref(parameter.entity):
            continue
        where = low.place(f"{path}.takes.{parameter.name}", operation.name)
        said = low.lifecycle.missing(operation.name.text, parameter.entity)
        answer = said or Otherwise("refused", "not_found", where)
        text = f"no such {parameter.name}: {_answered(answer)}"
        clause = low.clause(f"{path}.missing", answer.where, text)
        free = low.condition(answer.any_code, low.words.scopes.model())
        found.append(replace(_require(clause, None, answer, parameter.name, parameter.entity), free=free))
        if entity.private and entity.private.text in names:
            found.append(_visible(low, entity, entity.private, parameter, answer))
    if operation.missing and not found:
        message = "`missing` answers for a record that is gone, and none is taken"
        low.fault("unused-missing", operation.missing.where, message, "remove it")
    return found


def unused_missing(low: Lowering, operations: Iterable[kernel.Operation]) -> None:
    """Tell of a `missing` of a kind of record that no operation answers with."""
    answered = {
        require.entity
        for operation in operations
        for require in operation.requires
        if low.lifecycle.operations[operation.name].missing is None
    }
    for name, entity in low.lifecycle.entities.items():
        if entity.missing and name not in answered:
            message = f"no operation takes a {name} that could be missing, or each says what it answers"
            low.fault("unused-missing", entity.missing.where, message, "remove it")


def _visible(
    low: Lowering, entity: EntitySpec, owner: Word, record: kernel.Parameter, answer: Otherwise
) -> kernel.Require:
    """Require that a record is the caller's own; for anybody else it does not exist."""
    clause = f"entities.{entity.name.text}.private to"
    low.clause(clause, owner.where, f"for another {owner.text} it does not exist")
    kind = low.words.types.record_fields(entity.name.text).get(owner.text, UNKNOWN)
    field = Attribute(kind, 0, local(record.name, record.type), owner.text)
    if answer.kind == "open":  # what is open about a record that is gone is not about one of somebody else
        answer = replace(answer, kind="unchanged")
    if answer.kind == "refused" and not answer.code:
        answer = replace(answer, code="not_found")
    return _require(clause, equal(field, local(owner.text, kind)), answer, record.name)


def _roles(low: Lowering, operation: OperationSpec, scope: Scope) -> Iterator[kernel.Require]:
    """Require that the records which an operation takes have the role that it takes: of others nothing is said."""
    for key, use in operation.takes.items():
        if use.role is not None:
            entity = low.lifecycle.entities[use.name.text]
            condition = entity.roles[use.role.text].condition
            path = f"entities.{entity.name.text}.roles.{use.role.text}"
            clause = low.clause(path, low.lifecycle.places[path], f"of any other {entity.name.text} nothing is said")
            node: Node = FunctionCall(0, condition.name.text, None, (Name(0, key),))
            if use.nullable:
                node = Binary(0, "||", Binary(0, "==", Name(0, key), Literal(0, None)), node)
            yield kernel.Require(clause, low.part(condition.body, node, scope, BOOL), "avoided")


def guards(low: Lowering, operation: OperationSpec, scope: Scope, path: str) -> list[kernel.Require]:
    """Lower the roles that are taken, `refuses`, `requires`, `open`, `unsaid`, `waits` and `only if`."""
    found = [*_roles(low, operation, scope)]
    if operation.refuses:
        code = operation.refuses
        clause = low.clause(f"{path}.refuses", code.where, f"always refused {code.text}")
        found.append(kernel.Require(clause, Const(BOOL, 0, False), "refused", code.text))
    for code, expr in operation.requires:
        text = f"unless {expr.text}: refused {code.text}"
        clause = low.clause(f"{path}.requires.{code.text}", code.where, text)
        found.append(kernel.Require(clause, low.condition(expr, scope), "refused", code.text))
    for code, expr in operation.open:
        free = code.text == WITH_ANY_CODE
        text = f"where {expr.text}: refused {f'with {WITH_ANY_CODE}' if free else code.text}, or carried out"
        clause = low.clause(f"{path}.open.{code.text}", code.where, text)
        guard = negated(low.typed(expr, scope, BOOL))
        found.append(kernel.Require(clause, guard, "open", kernel.ANY_CODE if free else code.text))
    if operation.unsaid is not None:
        expr = operation.unsaid
        clause = low.clause(f"{path}.unsaid", low.place(f"{path}.unsaid", operation.name), f"unsaid where {expr.text}")
        found.append(kernel.Require(clause, negated(low.typed(expr, scope, BOOL)), "avoided"))
    if operation.until is not None and operation.waits is None:
        expr = operation.until
        clause = low.clause(f"{path}.waits", low.place(f"{path}.waits", operation.name), f"waits until {expr.text}")
        found.append(kernel.Require(clause, low.typed(expr, scope, BOOL), "awaited"))
    if operation.only_if is not None:
        found.append(_only_if(low, operation, operation.only_if, scope, path))
    return found


def _only_if(low: Lowering, operation: OperationSpec, expr: Expr, scope: Scope, path: str) -> kernel.Require:
    """Lower `only if`: where it does not hold, the answer is that of `otherwise`."""
    place = low.place(f"{path}.only if", operation.name)
    answer = operation.otherwise or Otherwise("refused", "wrong_state", place)
    clause = low.clause(f"{path}.only if", place, f"only if {expr.text}; otherwise {_answered(answer)}")
    permitted = () if operation.moves else tuple(signals(low, answer.signals, scope, f"{path}.otherwise"))
    return kernel.Require(clause, low.condition(expr, scope), answer.kind, _code(answer), permitted)


def move(
    low: Lowering, operation: OperationSpec, parameters: Parameters, scope: Scope, path: str
) -> tuple[kernel.Require, kernel.Move] | None:
    """Lower `move` and `otherwise`: the state that a record has to be in, and the one that it goes to."""
    first = operation.moves[0]
    moved = next((each for each in parameters if each.entity and low.lifecycle.entities[each.entity].states), None)
    if moved is None:
        message = "no record with states is taken here"
        low.fault("bad-move", first.where, message, "take the record that moves: {job: Job}")
        return None
    entity = low.lifecycle.entities[moved.entity]
    found = arrows(low, operation.moves, entity, scope)
    sentences = _sentences(low, operation.moves, entity, path) if operation.is_table else ()
    where = low.lifecycle.places.get(f"{path}.move", first.where)
    text = "; ".join(
        f"{each.source.text if each.source else 'any state'} → {each.target.text}" for each in operation.moves
    )
    clause = low.clause(f"{path}.move", where, text)
    answer = operation.otherwise or Otherwise("refused", "wrong_state", first.where)
    other = low.clause(f"{path}.otherwise", answer.where, f"in any other state: {_answered(answer)}")
    permitted = tuple(signals(low, answer.signals, scope, f"{path}.otherwise"))
    guard = in_one_of(entity, moved.name, tuple(found))
    require = kernel.Require(other, guard, answer.kind, _code(answer), permitted, moved.name)
    return require, kernel.Move(clause, moved.name, moved.entity, tuple(found.items()), sentences)


def _sentences(low: Lowering, moves: tuple[MoveSpec, ...], entity: EntitySpec, path: str) -> tuple[str, ...]:
    """Register the arrows of a table, each as a clause of its own; return those of the states in order."""
    found: dict[str, str] = {}
    for each in moves:
        if each.source is not None:
            text = f"{each.source.text} → {each.target.text}"
            clause = low.clause(f"{path}.move.{each.source.text}", each.source.where, text)
            found.update((source, clause) for source in low.states(entity, each.source))
    return tuple(found.values())


def unique(low: Lowering, entity: EntitySpec, create: kernel.Create) -> list[kernel.Require]:
    """Require that what has to be unique about a new record is not in use."""
    found = []
    kinds = low.words.types.record_fields(entity.name.text)
    given = {**dict(create.fields), "id": create.id}
    for key, code in entity.unique:
        value = given.get(key.text)
        if value is not None:
            clause = f"entities.{entity.name.text}.unique.{key.text}"
            guard = _unused(low, value, entity, key.text, kinds[key.text])
            if create.when is not None:
                guard = Operate(BOOL, 0, "||", negated(create.when), guard)
            found.append(kernel.Require(clause, guard, "refused", code.text))
    return found


def _unused(low: Lowering, value: Typed, entity: EntitySpec, field: str, kind: Type) -> Typed:
    """Ask whether no record has this value in a field."""
    name, plural = entity.name.text, entity.plural
    every = low.words.scopes.model().names[plural]
    body = equal(Attribute(kind, 0, local("other", Ref(name)), field), value)
    over, body = low.words.narrowed("exists", every, "other", body)
    return negated(Each(BOOL, 0, "exists", over, "other", body))


def _require(clause: str, guard: Typed | None, answer: Otherwise, parameter: str, entity: str = "") -> kernel.Require:
    kind = "avoided" if answer.kind == "open" else answer.kind
    return kernel.Require(clause, guard, kind, _code(answer), (), parameter, entity)


def _answered(answer: Otherwise) -> str:
    free = f", or with any code where {answer.any_code.text}" if answer.any_code else ""
    return f"refused {answer.code}".strip() + free if answer.kind == "refused" else answer.kind


def _code(answer: Otherwise) -> str:
    return (answer.code or kernel.ANY_CODE) if answer.kind == "refused" else ""
