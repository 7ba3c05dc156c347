"""Records looked up by their key: `jobs.exists(j, j.id == id)` need not walk over all jobs."""

from __future__ import annotations

from collections.abc import Callable

from statemachines.expression import Attribute, Const, Found, Operate, Typed, Var, every_part
from statemachines.types import BOOL, List, Ref


def looked_up(macro: str, over: Typed, variable: str, body: Typed, key_of: Callable[[str], str]) -> tuple[Typed, Typed]:
    """Return the same records and condition, looking records up by their key where that is possible."""
    if macro not in ("exists", "filter") or not isinstance(over, Var) or not over.source.endswith(".values()"):
        return over, body
    if not (isinstance(over.type, List) and isinstance(over.type.item, Ref)):
        return over, body
    first: Typed = body
    rest: Typed = Const(BOOL, body.at, True)
    if isinstance(body, Operate) and body.operator == "&&" and body.left is not None:
        first, rest = body.left, body.right
    match first:
        case Operate(operator="==", left=Attribute(of=Var(name=name), name=field), right=wanted):
            by_key = name == variable and field == key_of(over.type.item.entity)
            mentions = any(isinstance(part, Var) and part.name == variable for part in every_part(wanted))
            if by_key and not mentions:
                return Found(over.type, over.at, over.source.removesuffix(".values()"), wanted), rest
    return over, body
