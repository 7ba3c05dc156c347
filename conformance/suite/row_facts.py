"""What a row calls, what it needs of a system, and which faults it is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.judge import Finding
from conformance.system import Adapter, Declaration, ordered_by_completion
from statemachines.compile import Compiled
from statemachines.expression import Field, FunctionCall, Name, Node, children, nodes
from statemachines.kernel import within
from statemachines.lifecycle import Row, RowStep
from statemachines.rows import RowWords, evaluate


def inapplicable(compiled: Compiled, words: RowWords, adapter: Adapter, row: Row) -> str:
    """Say what a row needs that this system does not declare; empty when it applies."""
    declaration = adapter.declaration
    model = compiled.model(declaration.limits, declaration.policies)
    for expr in row.needs:
        if isinstance(expr.node, Name):
            word = expr.text
            if word == "clock" and declaration.clock != "virtual":
                return f"needs a virtual clock, and clock: {declaration.clock} is declared"
            if word == "concurrency" and declaration.concurrency == "none":
                return "needs concurrency, and concurrency: none is declared"
            if word in declaration.lacks or (word in compiled.lifecycle.operations and not adapter.offers(word)):
                return f"needs {word}, which is optional and lacking"
        elif not evaluate(words, expr, model):
            return f"needs {expr.text}, and {_declared(expr.node, model, declaration)}"
    waits = "wait" in operations(row, compiled, waits=True)
    if declaration.clock != "virtual" and waits and not ordered_by_completion(compiled, declaration):
        return f"needs a virtual clock: ties are not broken by completion, and clock: {declaration.clock} is declared"
    return ""


def impossible(compiled: Compiled, words: RowWords, adapter: Adapter, row: Row) -> str:
    """Say why a row cannot be run against this system; empty when it can."""
    return inapplicable(compiled, words, adapter, row) or lacking(compiled, adapter, row)


def lacking(compiled: Compiled, adapter: Adapter, row: Row) -> str:
    """Say which operations of a row the system lacks; empty when it has them all."""
    missing = [name for name in sorted(operations(row, compiled)) if not adapter.offers(name)]
    return f"the system has no operation {', '.join(missing)}" if missing else ""


def covers(row: Row, finding: Finding) -> bool:
    """Return whether a fault is what a row is about."""
    clauses = (finding.clause, *finding.related)
    return any(within(clause, word.text) for word in row.covers for clause in clauses)


def operations(row: Row, compiled: Compiled, *, waits: bool = False) -> set[str]:
    """Return the operations that a row calls."""
    known = {*compiled.lifecycle.operations, *(["wait"] if waits else [])}
    return {name for step in (*row.arrange, *row.act) for name in _step_calls(step)} & known | {
        name for claim in row.asserts for name in _calls(claim.expr.node)
    } & known


def makes_calls_at_once(row: Row) -> bool:
    """Return whether a row makes calls at once."""
    return any(name == "together" for step in (*row.arrange, *row.act) for name in _step_calls(step))


def _step_calls(step: RowStep) -> Iterator[str]:
    yield from _calls(step.expr.node)
    for inner in step.body:
        yield from _step_calls(inner)


def _calls(node: Node) -> Iterator[str]:
    return (part.name for part in nodes(node) if isinstance(part, FunctionCall) and part.receiver is None)


def _declared(node: Node, model: Any, declaration: Declaration) -> str:
    """Say what is declared of the limits and policies that a condition reads, or what holds for want of that."""
    found: list[str] = []
    declared = False
    waiting: list[Node] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Field) and isinstance(part.of, Name):
            found.append(f"{part.name} = {getattr(getattr(model, part.of.name), part.name)}")
            declared = declared or part.name in {**declaration.limits, **declaration.policies}
        waiting += children(part)
    return f"{'declared is' if declared else 'nothing else is declared than'} {', '.join(dict.fromkeys(found))}"
