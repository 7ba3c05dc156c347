"""Typed tree → Python source, with no more parentheses than a reader needs."""

from __future__ import annotations

import keyword
from dataclasses import replace

from statemachines import model
from statemachines.expression.typed import (
    Apply,
    At,
    Attribute,
    Build,
    Choose,
    Const,
    Defined,
    Each,
    Found,
    Fresh,
    InGroup,
    Invoke,
    Items,
    Member,
    Minted,
    Operate,
    Repeat,
    Together,
    Typed,
    Var,
    local_name,
)
from statemachines.types import List, ReplyType, Type

_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _POSTFIX, _ATOM = 1, 2, 3, 4, 6, 7, 8, 9, 10
_OPERATORS = {
    "||": ("or", _OR),
    "&&": ("and", _AND),
    **{sign: (sign, _COMPARE) for sign in ("==", "!=", "<", "<=", ">", ">=")},
    **{sign: (sign, _SUM) for sign in ("+", "-")},
    "*": ("*", _PRODUCT),
}
# Python evaluates these as CEL does; everything else is a function of `statemachines.model`.
_METHODS = {"startsWith": "startswith", "trim": "strip"}
_BUILT_IN = {"size": "len", "sum": "sum", "min": "min", "max": "max", "string": "str"}
_RENAMED = {
    "sameItems": "same_items",
    "range": "numbers",
    "text": "sized_text",
    "reversed": "reversed_",
    "such_as": "SuchAs",
}


_CALLED = frozenset(("all", "any", "sorted", *_BUILT_IN.values(), *(n for n, f in vars(model).items() if callable(f))))
"""What an expression may call: nothing of a spec or a row may hide it."""
_LOCAL = frozenset(("found", "first", "key", "before", "decision", "alike", "new_id", "signals", "may", "again"))
"""What the methods of a model call their own, beside what a spec names."""
_SHARED = frozenset(("Model", "Any", "Signal", *(name for name in vars(model) if name[0].isupper())))


def python_name(name: str) -> str:
    """Return a Python name for a name of a spec."""
    taken = keyword.iskeyword(name) or name in ("self", "seen") or name in _CALLED or name in _LOCAL
    return f"{name}_" if taken else name


def class_name(name: str) -> str:
    """Return the name of the class of an entity's records, or of a message: what every model has keeps its own."""
    return f"{name}_" if name in _SHARED else name


def group_constant(entity: str, group: str) -> str:
    """Return the name of the module constant that lists the states of a group."""
    return f"{entity}_{group}".upper()


def emit(value: Typed, power: int = 0) -> str:
    """Write a typed expression as Python source, in a place that binds with `power`.

    It is a value that is read: a reply stands for what it gave, records for a list.
    """
    source, own = _write(value)
    if isinstance(value.type, ReplyType):
        source, own = f"{_wrap(source, own, _POSTFIX)}.value", _POSTFIX
    elif isinstance(value, Var) and source.endswith(".values()"):
        source, own = f"[*{source}]", _ATOM
    return _wrap(source, own, power)


def emit_iterable(value: Typed) -> str:
    """Write a list that is only walked over, without copying it."""
    return value.source if isinstance(value, Var) and not isinstance(value.type, ReplyType) else emit(value)


def _replies(kind: Type) -> bool:
    return isinstance(kind, List) and isinstance(kind.item, ReplyType)


def _values(value: Typed, power: int) -> str:
    """Write a value that is compared or handed on: a list of replies as the list of what they gave."""
    if _replies(value.type):
        return f"[each.value for each in {emit_iterable(value)}]"
    return emit(value, power)


def _wrap(source: str, own: int, power: int) -> str:
    return f"({source})" if own < power else source


def _write(value: Typed) -> tuple[str, int]:
    """Return the source of a value and how tightly it binds."""
    if (sides := _membership(value)) is not None:
        return f"{sides[0]} in {sides[1]}", _COMPARE
    match value:
        case Const(value=constant):
            return _constant(constant)
        case Var(source=source):
            return source, _ATOM
        case Attribute() | Member() | At():
            return _part(value)
        case Items(items=items):
            return f"[{', '.join(map(emit, items))}]", _ATOM
        case Build(given=given):
            return f"{{{', '.join(f'{name!r}: {emit(part)}' for name, part in given)}}}", _ATOM
        case Operate():
            return _operate(value)
        case Apply() | Choose():
            return _apply(value) if isinstance(value, Apply) else _choose(value)
        case Found(collection=collection, key=key):
            return f"with_key({collection}, {emit(key)})", _ATOM
        case Each():
            return _each(value)
        case _:
            return _called(value)


def _constant(value: str | int | tuple[str, ...] | None) -> tuple[str, int]:
    if isinstance(value, tuple):
        return repr(list(value)), _ATOM
    negative = type(value) is int and value < 0
    return repr(value), _SIGN if negative else _ATOM


def _part(value: Attribute | Member | At) -> tuple[str, int]:
    """Write a part of another value: a field of a record, a member of a plain value, an item of a list."""
    match value:
        case Attribute(of=of, name=name):
            source, own = _write(of)
            return f"{_wrap(source, own, _POSTFIX)}.{python_name(name)}", _POSTFIX
        case Member(of=of, name=name):
            return f"{emit(of, _POSTFIX)}[{name!r}]", _POSTFIX
        case At(of=of, index=index):
            return f"item({emit(of)}, {emit(index)})", _ATOM


def _called(value: Typed) -> tuple[str, int]:
    """Write a call: of what the model itself works out, or, in rows, of operations, one after the other or at once."""
    match value:
        case Defined(name=name, arguments=arguments):
            return f"self.{python_name(name)}({', '.join(map(emit, arguments))})", _POSTFIX
        case Minted(entity=entity, arguments=arguments):
            return f"self.minted({', '.join((repr(entity), *map(emit, arguments)))})", _POSTFIX
        case Invoke(operation=operation, arguments=named):
            pairs = ", ".join(f"{name!r}: {emit(argument)}" for name, argument in named)
            return f"self.call({operation!r}, {{{pairs}}})", _POSTFIX
        case Fresh(type=kind):
            return f"self.fresh({str(kind)!r})", _POSTFIX
        case Repeat(count=count, body=body, at_once=at_once):
            how = "together" if at_once else "repeat"
            return f"self.{how}([lambda: {_write(body)[0]}] * self.times({emit(count)}))", _POSTFIX
        case Together(bodies=bodies):
            return f"self.together([{', '.join(f'lambda: {_write(body)[0]}' for body in bodies)}])", _POSTFIX
        case _:
            raise TypeError(value)


def _membership(value: Typed) -> tuple[str, str] | None:
    """Return the two sides of a value that asks whether something is in a list, or None."""
    least = _COMPARE + 1
    match value:
        case InGroup(of=of, entity=entity, group=group):
            return f"{emit(of, _POSTFIX)}.state", group_constant(entity, group)
        case Operate(operator="in", left=Typed() as left, right=right):
            return emit(left, least), _values(right, least)
        case Apply(function="contains", arguments=(whole, part)):
            return emit(part, least), _values(whole, least)
        case Each(macro="exists", over=Found(collection=collection, key=key), body=Const(value=True)):
            return emit(key, least), collection
        case _:
            return None


def _negation(value: Typed) -> tuple[str, int]:
    """Write that a condition does not hold; `not in` and `is not` are operators of their own."""
    if (sides := _membership(value)) is not None:
        return f"{sides[0]} not in {sides[1]}", _COMPARE
    if isinstance(value, Operate) and value.operator in ("==", "!=") and _is_null(value.right):
        return _operate(replace(value, operator="!=" if value.operator == "==" else "=="))
    return f"not {emit(value, _NOT)}", _NOT


def _is_null(value: Typed) -> bool:
    return isinstance(value, Const) and value.value is None


def _operate(value: Operate) -> tuple[str, int]:
    if value.left is None:
        return _negation(value.right) if value.operator == "!" else (f"-{emit(value.right, _SIGN)}", _SIGN)
    if value.operator in ("/", "%"):
        function = "quotient" if value.operator == "/" else "remainder"
        return f"{function}({emit(value.left)}, {emit(value.right)})", _ATOM
    operator, power = _OPERATORS[value.operator]
    if operator in ("==", "!=") and _is_null(value.right):
        return f"{emit(value.left, power + 1)} {'is' if operator == '==' else 'is not'} None", power
    least = power + 1 if power == _COMPARE else power  # comparisons do not chain; sums do, from the left
    write = emit if _replies(value.type) else _values
    return f"{write(value.left, least)} {operator} {write(value.right, power + 1)}", power


def _choose(value: Choose) -> tuple[str, int]:
    write = emit if _replies(value.type) else _values
    condition, first, second = emit(value.condition, 1), write(value.value, 1), write(value.otherwise, 0)
    return f"({first} if {condition} else {second})", _ATOM


def _apply(value: Apply) -> tuple[str, int]:
    name = value.function
    first = value.arguments[0]
    if name == "size":
        return f"len({emit_iterable(first)})", _ATOM
    write = _values if name in ("flatten", "sameItems") else emit
    arguments = [write(part, 0) for part in value.arguments]
    if name in _METHODS:
        return f"{emit(first, _POSTFIX)}.{_METHODS[name]}({', '.join(arguments[1:])})", _POSTFIX
    if name == "join":
        return f"{emit(value.arguments[1], _POSTFIX)}.join({arguments[0]})", _POSTFIX
    function = _BUILT_IN.get(name) or _RENAMED.get(name) or name
    return f"{function}({', '.join(arguments)})", _ATOM


def _each(value: Each) -> tuple[str, int]:
    over, name = emit_iterable(value.over), local_name(value.variable)
    body = emit(value.body, 1)
    match value.macro:
        case "all":
            return f"all({body} for {name} in {over})", _ATOM
        case "exists":
            return f"any({body} for {name} in {over})", _ATOM
        case "filter":
            return f"[{name} for {name} in {over} if {body}]", _ATOM
        case "map":
            return f"[{body} for {name} in {over}]", _ATOM
        case _:
            return f"sorted({over}, key=lambda {name}: {body})", _ATOM
