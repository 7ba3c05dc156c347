"""Calls at once as a row has them: what each caller does is one expression.

The replies of one caller are a list, if that can hold them all. Or the rest is walked over the list of the first reply alone, which has
a name there: so a wait stands before others, and a call is about what an earlier one has given.
"""

from __future__ import annotations

from collections.abc import Sequence

from statemachines.rows.names import Names
from statemachines.rows.trace import AtOnce, Call, Step
from statemachines.rows.words import WAIT
from statemachines.types import Optional, Type, join


def together(step: AtOnce, used: set[int], names: Names) -> str:
    """Write calls at once; with a name if a later step uses one of their replies."""
    binding = names.free("made") if any(call.number in used for call in step.calls()) else ""
    texts = [
        _body(caller, f"{binding}[{position}]" if binding else "", used, names)
        for position, caller in enumerate(step.callers)
    ]
    alike = all(text == texts[0] for text in texts)
    written = f"together({len(texts)}, {texts[0]})" if alike else f"together({', '.join(texts)})"
    return f"{binding} = {written}" if binding else written


def writable(step: Step, used: set[int], names: Names) -> list[Step]:
    """Return a group of calls at once as a row can have it, and before it the calls that cannot stand in it.

    Of a caller whose calls cannot be written in their order each becomes a caller of its own; the first of them is made before all others
    if another one is about what it gave.
    """
    if not isinstance(step, AtOnce):
        return [step]
    before, callers = list[Step](), list[tuple[Call, ...]]()
    for caller in step.callers:
        rest = caller
        while rest and not _is_written(rest, used, names):
            if any(rest[0].number in call.refers() for call in rest):
                before.append(rest[0])
            else:
                callers.append((rest[0],))
            rest = rest[1:]
        callers += [rest] if rest else []
    return [*before, AtOnce(tuple(callers))]


def _is_written(caller: Sequence[Call], used: set[int], names: Names) -> bool:
    """Return whether the calls of one caller can be written in their order, and so that later steps reach the replies that they use."""
    if _is_list(caller, names):
        return True
    if caller[0].number in used:
        return _held_with_first(caller, names) is not None
    return _is_looked_at(caller) and _is_written(caller[1:], used, names)


def _is_list(caller: Sequence[Call], names: Names) -> bool:
    """Return whether calls of one caller are about nothing that one of them has given, and a list holds their replies."""
    about = {number for call in caller for number in call.refers()} & {call.number for call in caller}
    return not about and _joined(caller, names) is not None


def _is_looked_at(caller: Sequence[Call]) -> bool:
    """Return whether the others are about what the first of these calls has given, which a refused one has not; or that never is."""
    return caller[0].operation == WAIT or any(caller[0].number in call.refers() for call in caller)


def _held_with_first(caller: Sequence[Call], names: Names) -> Type | None:
    """Return the type of the replies of calls that are about what the first of them has given; None where no list holds them."""
    first = caller[0].number
    apart = {number for call in caller for number in call.refers()} & {call.number for call in caller} == {first}
    return _joined(caller, names) if apart else None


def _joined(caller: Sequence[Call], names: Names) -> Type | None:
    """Return the type of which all replies are; None where there is none."""
    joined: Type | None = names.types.gives(caller[0].operation)
    for call in caller[1:]:
        joined = None if joined is None else join(joined, names.types.gives(call.operation))
    return joined


def _body(caller: Sequence[Call], at: str, used: set[int], names: Names) -> str:
    """Write what one caller does, one call after the other; the replies are reached `at` a part of those of all, if anybody needs one."""
    if _is_list(caller, names):
        texts = [names.call(call) for call in caller]
        reaches = [at] if len(caller) == 1 else [f"{at}[{index}]" for index in range(len(caller))]
        names.reach |= {call.number: reach for call, reach in zip(caller, reaches, strict=True) if at}
        if len(texts) == 1:
            return texts[0]
        return f"repeat({len(texts)}, {texts[0]})" if len(set(texts)) == 1 else f"[{', '.join(texts)}]"
    first, *rest = caller
    text, name = names.call(first), names.reply(first)
    names.reach[first.number] = name
    if first.number not in used:
        then = _body(rest, f"{at}[0]" if at else "", used, names)
        del names.reach[first.number]
        return f"[{text}].map({name}, {then})"
    then = ", ".join(map(names.call, rest))
    names.reach |= {call.number: f"{at}[0][{index}]" for index, call in enumerate(caller)}
    if isinstance(_held_with_first(caller, names), Optional):
        names.maybe.update(call.number for call in caller)
    return f"[{text}].map({name}, [{name}, {then}])"
