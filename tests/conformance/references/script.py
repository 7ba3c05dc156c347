"""Short scripts of calls of a job system, and what came of each call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from conformance.refused import Refused
from tests.conformance.references.virtual_time import Driven

TAKEN = {"settle": "handle", "register_from": "handle", "tool_result": "token", "abort_tool": "token"}
"""What of a reply a name stands for, by the call that takes it; otherwise the job's id."""

Came = tuple[str, Any, tuple[Any, ...]]
"""An operation, its reply or how it failed, and its signals."""


def history(system: Any, script: str) -> list[Came]:
    """Play a script such as `a = register('bash', 'x'); settle(a, 'ok', 'done')`; `3 * wait(1)` is three calls."""
    driven = Driven(system)
    replies: dict[str, Any] = {}
    found = []
    for name, call in _calls(script):
        came = _came(driven, call, replies)
        replies[name] = came[1]
        found.append(came)
    driven.close()
    return found


def _calls(script: str) -> Iterator[tuple[str, ast.Call]]:
    for statement in ast.parse(script).body:
        assert isinstance(statement, ast.Assign | ast.Expr)
        name = ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        value = statement.value
        times = ast.literal_eval(value.left) if isinstance(value, ast.BinOp) else 1
        call = value.right if isinstance(value, ast.BinOp) else value
        assert isinstance(call, ast.Call)
        yield from [(name, call)] * times


def _came(driven: Driven, call: ast.Call, replies: dict[str, Any]) -> Came:
    operation = ast.unparse(call.func)

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return replies[node.id][TAKEN.get(operation, "job_id")]
        return [value(each) for each in node.elts] if isinstance(node, ast.List) else ast.literal_eval(node)

    given = [value(each) for each in call.args]
    named = {str(each.arg): value(each.value) for each in call.keywords}
    try:
        reply = getattr(driven, operation)(*given, **named)
    except Refused as refusal:
        reply = refusal.code
    except RuntimeError as stuck:
        reply = str(stuck)
    return operation, reply, tuple(driven.system.signals())
