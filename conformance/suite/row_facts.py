"""What a row calls, what it needs of a system, and which faults it is about."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from conformance.judge import BESIDE, Finding
from conformance.system import MOVED, Adapter, Declaration, ordered_by_completion
from conformance.verdict import RowResult, Verdict
from statemachines.compile import Compiled
from statemachines.expression import Const, Field, FunctionCall, Name, Node, Operate, Typed, nodes, parts
from statemachines.kernel import within
from statemachines.lifecycle import Expr, Row
from statemachines.rows import RowWords, evaluate, said_in, said_in_steps
from statemachines.types import Time, present


def inapplicable(compiled: Compiled, words: RowWords, adapter: Adapter, row: Row) -> str:
    """Say what a row needs that this system does not declare; empty when it applies."""
    declaration = adapter.declaration
    for expr in row.needs:
        if unmet := _unmet(compiled, words, adapter, row, expr):
            return f"needs {unmet}"
    if counted := _limits_of_steps(row) & declaration.unlimited:
        return f"needs a number for {', '.join(sorted(counted))}, and there is none: null is declared"
    for name in operations(row, compiled):
        if name in declaration.absent:
            return f"needs {name}, which {declaration.absent[name]}"
    if name := _unsent(row, compiled, declaration):
        return f"needs the signal {name}, which is declared lacking"
    if declaration.clock != "virtual" and "wait" in _called(row) and not ordered_by_completion(compiled, declaration):
        return f"needs a virtual clock: ties are not broken by completion, and clock: {declaration.clock} is declared"
    return ""


def _unmet(compiled: Compiled, words: RowWords, adapter: Adapter, row: Row, expr: Expr) -> str:
    """Say which condition of a row does not hold, and why; empty when it does, by each choice of a policy that need not be declared."""
    declaration, word = adapter.declaration, expr.text
    if isinstance(expr.node, Name):
        if word == "clock" and declaration.clock not in MOVED:
            return f"a clock that can be moved, and clock: {declaration.clock} is declared"
        if word == "clock" and declaration.runs_on and _waits_beside(row):
            return f"a clock that stands still beside a wait, and clock: {declaration.clock} is declared"
        if word == "concurrency" and declaration.concurrency == "none":
            return "concurrency, and concurrency: none is declared"
        if word in compiled.lifecycle.operations and not adapter.offers(word):
            return f"{word}, which {declaration.absent.get(word, 'is optional and lacking')}"
        return ""
    open_ = _undeclared(compiled, declaration, expr.node)
    for chosen in itertools.product(*(_choices(compiled, name) for name in open_)):
        policies = {**declaration.policies, **dict(zip(open_, chosen, strict=True))}
        model = compiled.model(declaration.limits, policies)
        if not evaluate(words, expr, model):
            free = f"nothing is declared of {', '.join(open_)}"
            return f"{word}, and {free if open_ else _declared(expr.node, model, declaration)}"
    return ""


def unasked(compiled: Compiled, declaration: Declaration, results: Iterable[RowResult]) -> frozenset[str]:
    """Return the clauses for which nobody could ask, by what is declared: no row that covers one of them applies."""
    away = {result.id for result in results if result.verdict is Verdict.NOT_APPLICABLE}
    absent = tuple(f"operations.{name}." for name in declaration.absent)
    rows = compiled.lifecycle.rows.values()

    def beyond(path: str) -> bool:
        about = {row.id.text for row in rows if covers(row, path)}
        return path in declaration.unsent or path.startswith(absent) or bool(about and about <= away)

    return frozenset(clause.path for clause in compiled.kernel.clauses if beyond(clause.path))


def lacking(adapter: Adapter, operations: Iterable[str]) -> str:
    """Say which of some operations the system lacks; empty when it has them all."""
    missing = [name for name in operations if not adapter.offers(name)]
    return (
        f"the system has no operation {', '.join(missing)}; what it need not have is declared in `lacks`"
        if missing
        else ""
    )


def covers(row: Row, *clauses: str) -> bool:
    """Return whether a row is about one of some clauses."""
    return any(within(clause, word.text) for word in row.covers for clause in clauses)


def may_tell(row: Row, finding: Finding, observes: Callable[[str], bool]) -> bool:
    """Return whether a row may fail by a fault: it is about it, or makes the calls at once that show it.

    It need not make those that change nothing, as `observes` tells: fewer calls may show it as well.
    """
    changing = [each for each in _at_once(finding) if not observes(each)]
    return is_about(row, finding) or any(changing and called.issuperset(changing) for called in calls_at_once(row))


def is_about(row: Row, finding: Finding) -> bool:
    """Return whether a fault is what a row is about: of calls that no order explains, any clause of one of them."""
    called = any(within(word.text, f"operations.{operation}") for word in row.covers for operation in _at_once(finding))
    return called or covers(row, finding.clause, *finding.related)


def _at_once(finding: Finding) -> list[str]:
    """Return the operations of which calls at once show a fault; none of a fault that one caller shows."""
    return finding.operation.split(BESIDE) if finding.kind == "order" else []


def operations(row: Row, compiled: Compiled) -> list[str]:
    """List the operations that a row calls, by name."""
    return sorted(_called(row) & {*compiled.lifecycle.operations})


def tried_alone(compiled: Compiled, words: RowWords, adapter: Adapter, offered: Iterable[str]) -> Iterator[Row]:
    """Walk rows, the first ones that there are, until each operation was called that a row without calls at once calls."""
    there = {*offered}
    left = set(there)
    for row in compiled.lifecycle.rows.values():
        called = {*operations(row, compiled)}
        if not called & left or not called <= there or makes_calls_at_once(row):
            continue
        if not inapplicable(compiled, words, adapter, row):
            left -= called
            yield row


def makes_calls_at_once(row: Row) -> bool:
    """Return whether a row makes calls at once."""
    return "together" in _called(row)


def calls_at_once(row: Row) -> list[frozenset[str]]:
    """List what a row calls at once, each time that it does: operations, and words such as `wait`."""
    together = (part for part in said_in(row) if isinstance(part, FunctionCall) and part.name == "together")
    called = ((part for part in nodes(each) if isinstance(part, FunctionCall)) for each in together)
    return [frozenset(part.name for part in each if part.name != "together") for each in called]


def _waits_beside(row: Row) -> bool:
    """Return whether a row makes calls beside a wait: what comes first is a matter of the time between them."""
    return any("wait" in called for called in calls_at_once(row))


def needs_clock(row: Row) -> bool:
    """Return whether a row needs a clock that can be moved."""
    return any(isinstance(expr.node, Name) and expr.text == "clock" for expr in row.needs)


def reads_instants(part: Typed) -> bool:
    """Return whether a part of a claim is about when something was, and not only about whether it was."""
    within_it = parts(part)
    asks_whether = isinstance(part, Operate) and any(
        isinstance(side, Const) and side.value is None for side in within_it
    )
    return isinstance(present(part.type), Time) or (not asks_whether and any(map(reads_instants, within_it)))


def _unsent(row: Row, compiled: Compiled, declaration: Declaration) -> str:
    """Name a signal that a system lacks and that a row reads, or can only be about; an empty text where there is none."""
    fields = [each for each in said_in(row) if isinstance(each, Field)]
    read = {each.name for each in fields if isinstance(each.of, Field) and each.of.name == "signals"}
    for word in row.covers if declaration.unsent else ():
        covered = {clause.path for clause in compiled.kernel.clauses if within(clause.path, word.text)}
        if covered and covered <= declaration.unsent:
            read |= {path.rpartition(".")[2] for path in covered}
    return min(read & declaration.silent, default="")


def _limits_of_steps(row: Row) -> set[str]:
    """Return the limits up to which a row counts or waits."""
    drawn = [expr.node for each in row.drawn for expr in (each.low, each.high) if expr is not None]
    read = (part for node in (*said_in_steps((*row.arrange, *row.act)), *drawn) for part in nodes(node))
    fields = (part for part in read if isinstance(part, Field) and isinstance(part.of, Name))
    return {part.name for part in fields if isinstance(part.of, Name) and part.of.name == "limits"}


def _called(row: Row) -> set[str]:
    """Return what a row calls: operations, functions, and words such as `wait` and `together`."""
    calls = (part for part in said_in(row) if isinstance(part, FunctionCall))
    return {call.name for call in calls if call.receiver is None}


def _undeclared(compiled: Compiled, declaration: Declaration, node: Node) -> list[str]:
    """List the policies that a condition reads of which any choice is right where none is declared, and none is."""
    free = {*compiled.kernel.undeclared} - declaration.policies.keys()
    return sorted({name for of, name in _settings_read(node) if of == "policies" and name in free})


def _choices(compiled: Compiled, policy: str) -> list[str]:
    return [word.text for word in compiled.lifecycle.policies[policy].choices]


def _settings_read(node: Node) -> list[tuple[str, str]]:
    """List the limits and policies that a condition reads, each behind the word before its name."""
    return [(each.of.name, each.name) for each in nodes(node) if isinstance(each, Field) and isinstance(each.of, Name)]


def _declared(node: Node, model: Any, declaration: Declaration) -> str:
    """Say what is declared of the limits and policies that a condition reads, or what holds for want of that."""
    read = _settings_read(node)
    declared = any(name in {**declaration.limits, **declaration.policies} for _, name in read)
    found = dict.fromkeys(f"{name} = {getattr(getattr(model, of), name)}" for of, name in read)
    return f"{'declared is' if declared else 'nothing else is declared than'} {', '.join(found)}"
