"""Typed tree → Python source, with no more parentheses than a reader needs."""

from __future__ import annotations

import keyword

from statemachines.expression.typed import (
    Apply,
    At,
    Attribute,
    Const,
    Defined,
    Each,
    Found,
    Fresh,
    InGroup,
    Invoke,
    Items,
    Member,
    Operate,
    Repeat,
    Together,
    Typed,
    Var,
)
from statemachines.types import List, Reply

_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _POSTFIX, _ATOM = 1, 2, 3, 4, 6, 7, 8, 9, 10
_OPERATORS = {
    "||": ("or", _OR),
    "&&": ("and", _AND),
    "==": ("==", _COMPARE),
    "!=": ("!=", _COMPARE),
    "<": ("<", _COMPARE),
    "<=": ("<=", _COMPARE),
    ">": (">", _COMPARE),
    ">=": (">=", _COMPARE),
    "in": ("in", _COMPARE),
    "+": ("+", _SUM),
    "-": ("-", _SUM),
    "*": ("*", _PRODUCT),
}
# Python evaluates these as CEL does; everything else is a function of `statemachines.model`.
_METHODS = {"startsWith": "startswith", "endsWith": "endswith", "trim": "strip"}
_BUILT_IN = {"size": "len", "sum": "sum", "min": "min", "max": "max", "string": "str", "number": "int"}
_RENAMED = {
    "sameItems": "same_items",
    "bytes": "byte_length",
    "lines": "line_count",
    "range": "numbers",
    "text": "sized_text",
    "reversed": "reversed_",
}


def python_name(name: str) -> str:
    """Give a Python name for a name of a spec."""
    return f"{name}_" if keyword.iskeyword(name) or name in ("self", "seen") else name


def group_constant(entity: str, group: str) -> str:
    """Give the name of the module constant that lists the states of a group."""
    return f"{entity}_{group}".upper()


def emit(value: Typed) -> str:
    """Write a typed expression as Python source."""
    return _plain(value, 0)


def emit_iterable(value: Typed) -> str:
    """Write a list that is only walked over, without copying it."""
    return value.source if isinstance(value, Var) and not isinstance(value.type, Reply) else emit(value)


def _plain(value: Typed, power: int) -> str:
    """Write a value in a place that binds with `power`; a reply stands for what it gave."""
    source, own = _write(value)
    if isinstance(value.type, Reply):
        source, own = f"{_wrap(source, own, _POSTFIX)}.value", _POSTFIX
    elif isinstance(value, Var) and source.endswith(".values()"):
        source, own = f"list({source})", _ATOM
    return _wrap(source, own, power)


def _wrap(source: str, own: int, power: int) -> str:
    return f"({source})" if own < power else source


def _write(value: Typed) -> tuple[str, int]:
    """Give the source of a value and how tightly it binds."""
    match value:
        case Const(value=tuple() as words):
            return repr(list(words)), _ATOM
        case Const(value=constant):
            negative = type(constant) is int and constant < 0
            return repr(constant), _SIGN if negative else _ATOM
        case Var(source=source):
            return source, _ATOM
        case Attribute(of=of, name=name):
            source, own = _write(of)
            return f"{_wrap(source, own, _POSTFIX)}.{python_name(name)}", _POSTFIX
        case Member(of=of, name=name):
            return f"{_plain(of, _POSTFIX)}[{name!r}]", _POSTFIX
        case InGroup(of=of, entity=entity, group=group):
            return f"{_plain(of, _POSTFIX)}.state in {group_constant(entity, group)}", _COMPARE
        case At(of=of, index=index):
            return f"item({_plain(of, 0)}, {_plain(index, 0)})", _ATOM
        case Items(items=items):
            return f"[{', '.join(_plain(part, 0) for part in items)}]", _ATOM
        case Operate():
            return _operate(value)
        case Apply():
            return _apply(value)
        case Found(collection=collection, key=key):
            return f"with_key({collection}, {_plain(key, 0)})", _ATOM
        case Each(macro="exists", over=Found() as over, body=Const(value=True)):
            return f"{_plain(over.key, _COMPARE + 1)} in {over.collection}", _COMPARE
        case Each():
            return _each(value)
        case Defined(name=name, arguments=arguments):
            return f"self.{python_name(name)}({', '.join(_plain(part, 0) for part in arguments)})", _POSTFIX
        case Invoke(operation=operation, arguments=named):
            pairs = ", ".join(f"{name!r}: {_plain(argument, 0)}" for name, argument in named)
            return f"self.call({operation!r}, {{{pairs}}})", _POSTFIX
        case Fresh(type=kind):
            return f"self.fresh({str(kind)!r})", _POSTFIX
        case Repeat(count=count, body=body, at_once=at_once):
            how = "together" if at_once else "repeat"
            return f"self.{how}([lambda: {_write(body)[0]}] * {_plain(count, _PRODUCT)})", _POSTFIX
        case Together(bodies=bodies):
            return f"self.together([{', '.join(f'lambda: {_write(body)[0]}' for body in bodies)}])", _POSTFIX
        case _:
            raise TypeError(value)


def _operate(value: Operate) -> tuple[str, int]:
    if value.left is None:
        if value.operator == "!":
            return f"not {_plain(value.right, _NOT)}", _NOT
        return f"-{_plain(value.right, _SIGN)}", _SIGN
    if value.operator in ("/", "%"):
        function = "quotient" if value.operator == "/" else "remainder"
        return f"{function}({_plain(value.left, 0)}, {_plain(value.right, 0)})", _ATOM
    operator, power = _OPERATORS[value.operator]
    if operator in ("==", "!=") and isinstance(value.right, Const) and value.right.value is None:
        return f"{_plain(value.left, power + 1)} {'is' if operator == '==' else 'is not'} None", power
    least = power + 1 if power == _COMPARE else power
    return f"{_plain(value.left, least)} {operator} {_plain(value.right, power + 1)}", power


def _apply(value: Apply) -> tuple[str, int]:
    name = value.function
    if name == "pick":
        guard, then, other = value.arguments
        return f"({_plain(then, 1)} if {_plain(guard, 1)} else {_plain(other, 0)})", _ATOM
    first = value.arguments[0]
    if name == "size":
        return f"len({emit_iterable(first)})", _ATOM
    if name == "flatten" and isinstance(first.type, List) and isinstance(first.type.item, Reply):
        return f"flatten([each.value for each in {_plain(first, 0)}])", _ATOM
    if name == "contains":
        return f"{_plain(value.arguments[1], _COMPARE + 1)} in {_plain(first, _COMPARE + 1)}", _COMPARE
    arguments = [_plain(part, 0) for part in value.arguments]
    if name in _METHODS:
        return f"{_plain(first, _POSTFIX)}.{_METHODS[name]}({', '.join(arguments[1:])})", _POSTFIX
    if name == "join":
        return f"{_plain(value.arguments[1], _POSTFIX)}.join({arguments[0]})", _POSTFIX
    function = _BUILT_IN.get(name) or _RENAMED.get(name) or name
    return f"{function}({', '.join(arguments)})", _ATOM


def _each(value: Each) -> tuple[str, int]:
    over, name = emit_iterable(value.over), python_name(value.variable)
    body = _plain(value.body, 1)
    match value.macro:
        case "all":
            return f"all({body} for {name} in {over})", _ATOM
        case "exists":
            return f"any({body} for {name} in {over})", _ATOM
        case "exists_one":
            return f"[{body} for {name} in {over}].count(True) == 1", _COMPARE
        case "filter":
            return f"[{name} for {name} in {over} if {body}]", _ATOM
        case "map":
            return f"[{body} for {name} in {over}]", _ATOM
        case _:
            return f"sorted({over}, key=lambda {name}: {body})", _ATOM
