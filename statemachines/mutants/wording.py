"""A mutant, and how an expression is written where words tell of one."""

from __future__ import annotations

from dataclasses import dataclass, field

from statemachines.expression import (
    Apply,
    At,
    Attribute,
    Build,
    Choose,
    Const,
    Defined,
    Each,
    Found,
    InGroup,
    Items,
    Member,
    Operate,
    Typed,
    Var,
)
from statemachines.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Mutant:
    """A kernel that does one thing otherwise: by which operator, which clause it breaks, and what it does instead, in words."""

    operator: str
    clause: str
    does: str
    kernel: Kernel = field(repr=False)


def written(value: Typed) -> str:  # noqa: C901, PLR0912 - a case for each kind of expression
    """Write an expression as a spec has it, as far as words about it need that."""
    match value:
        case Const(value=None):
            return "null"
        case Const(value=bool(said)):
            return str(said).lower()
        case Const(value=tuple(words)):
            return f"[{', '.join(words)}]"
        case Const(value=said):
            return str(said) or "''"
        case Var(name=name):
            return name
        case Attribute(of=of, name=name) | Member(of=of, name=name):
            return f"{written(of)}.{name}"
        case InGroup(of=of, group=group):
            return f"{written(of)}.{group}"
        case At(of=of, index=index):
            return f"{written(of)}[{written(index)}]"
        case Items(items=items):
            return f"[{', '.join(map(written, items))}]"
        case Build(given=given):
            return f"{{{', '.join(f'{name}: {written(each)}' for name, each in given)}}}"
        case Operate(operator=operator, left=None, right=right):
            return f"{operator}{_part(right)}"
        case Operate(operator=operator, left=Typed() as left, right=right):
            return f"{_part(left)} {operator} {_part(right)}"
        case Choose(condition=condition, value=first, otherwise=other):
            return f"{written(condition)} ? {written(first)} : {written(other)}"
        case Apply(function=function, arguments=arguments) | Defined(name=function, arguments=arguments):
            return f"{function}({', '.join(map(written, arguments))})"
        case Each(macro=macro, over=over, variable=variable, body=body):
            return f"{written(over)}.{macro}({variable}, {written(body)})"
        case Found(collection=collection, key=key):
            return f"{collection.removeprefix('self.')}[{written(key)}]"
        case _:
            return "…"


def _part(value: Typed) -> str:
    """Write a part of an operation, in brackets where it is one."""
    return f"({written(value)})" if isinstance(value, Operate | Choose) and _has_two(value) else written(value)


def _has_two(value: Typed) -> bool:
    return not (isinstance(value, Operate) and (value.left is None or value.operator in ("==", "!=", "in")))
