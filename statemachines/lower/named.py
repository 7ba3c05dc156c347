"""Expressions with a name: ordering policies, definitions and invariants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from statemachines import kernel
from statemachines.expression import Name, Node, check, children
from statemachines.lifecycle import Expr, Policy
from statemachines.lower.context import Lowering
from statemachines.types import BOOL, INT, Optional, Ref, Type
from statemachines.words import variable_of


def order_policy(low: Lowering, policy: Policy) -> kernel.OrderPolicy:
    """Lower a policy that orders records; an implementation may also declare fields that records show."""
    name = policy.name.text
    entity = low.known_entity(policy.entity) if policy.entity else None
    owner = entity.name.text if entity else ""
    variable = variable_of(owner)
    scope = low.words.model_scope({variable: Ref(owner)} if owner else {})
    keys = tuple((key, low.typed(expr, scope)) for key, expr in policy.keys.items())
    shown = tuple((key.text, check(expr.node, scope)[0]) for key, expr in (entity.shows if entity else ()))
    text = f"ties are broken as declared: {' | '.join(policy.keys)}"
    path = low.clause(f"policies.{name}", policy.name.where, text)
    return kernel.OrderPolicy(path, name, owner, variable, keys, shown)


def definitions(low: Lowering) -> Iterator[kernel.Definition]:
    """Lower the named expressions, each for the types of its first use; whatever uses one comes before."""
    for name, definition in low.lifecycle.definitions.items():
        kinds = low.words.used.get(name)
        if kinds is None:
            message = f"nothing uses {name!r}"
            low.fault("unused-definition", definition.name.where, message, "remove it, or use it")
            continue
        body = low.typed(definition.body, low.words.scopes.definition(name, kinds))
        yield kernel.Definition(name, tuple(word.text for word in definition.parameters), body)


def invariant(low: Lowering, name: str, expr: Expr) -> kernel.Invariant:
    """Lower an invariant: a free name of a record means every such record, `was` one step earlier."""
    names = set(_names(expr.node))
    records = {variable_of(entity): entity for entity in low.lifecycle.entities}
    loops = tuple((variable, entity) for variable, entity in records.items() if variable in names)
    kinds: dict[str, Type] = {variable: Ref(entity) for variable, entity in loops}
    looks_back = ""
    if "was" in names and loops:
        looks_back = loops[0][1]
        kinds["was"] = Ref(looks_back)
    path = low.clause(f"invariants.{name}", low.lifecycle.places[f"invariants.{name}"], expr.text)
    holds = low.typed(expr, low.words.model_scope(kinds), BOOL)
    return kernel.Invariant(path, name, loops, holds, looks_back)


def _names(node: Node) -> Iterable[str]:
    if isinstance(node, Name):
        yield node.name
    for child in children(node):
        yield from _names(child)


def sizes(low: Lowering) -> None:
    """Type the sizes that texts are drawn around; the candidates read them as they are written."""
    scope = low.words.model_scope()
    for declaration in low.lifecycle.types.values():
        for size in declaration.sizes.values():
            low.typed(size, scope, Optional(INT))
