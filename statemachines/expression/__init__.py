"""Expressions: a strict, typed subset of CEL with a few listed functions, compiled to Python source.

`parse` makes a syntax tree, `check` types it and refuses what cannot mean anything, `emit` turns it into
Python; each knows only the one before it.
"""

from __future__ import annotations

from statemachines.expression.checker import check
from statemachines.expression.emitter import class_name, emit, emit_iterable, group_constant, python_name
from statemachines.expression.functions import ALONE
from statemachines.expression.parser import RESERVED, parse
from statemachines.expression.scope import Checker, Scope, Vocabulary, facts, path_of
from statemachines.expression.syntax import (
    Binary,
    Conditional,
    ExpressionError,
    Field,
    FunctionCall,
    ListOf,
    Literal,
    Name,
    Node,
    children,
    nodes,
)
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
    every_part,
    parts,
    renamed,
    replaced,
)
