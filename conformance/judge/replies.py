"""Replies beside what a model gives: what differs, and the clause that speaks of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.judge.differences import Difference, InOrder, differences
from conformance.judge.finding import Finding, at, either
from conformance.judge.kernel_facts import Facts
from statemachines.model import ANYTHING, AnyOf
from statemachines.rows import Observed
from statemachines.types import NULL, Type


@dataclass(frozen=True, slots=True)
class Replies:
    """Compares the replies of one lifecycle; without `instants` times are not compared."""

    facts: Facts
    instants: bool

    def faults(self, call: Observed, expected: Any) -> Iterator[Finding]:
        """Walk what is wrong about a reply; where several are expected, beside the one that is nearest."""
        kind = self.facts.gives(call.operation)
        if kind == NULL or call.reply is ANYTHING:
            return
        options = expected.options if isinstance(expected, AnyOf) else (expected,)
        found = [list(self.differences(kind, each, call.reply)) for each in options]
        others = [self.fault(call, kind, each[0]) for each in found if each] if len(options) > 1 else []
        for difference in min(found, key=len):
            yield either(self.fault(call, kind, difference), others)

    def differences(self, kind: Type, expected: Any, seen: Any) -> Iterator[Difference]:
        """Walk every part in which two values of one type differ."""
        return differences(kind, expected, seen, instants=self.instants)

    def fault(self, call: Observed, kind: Type, difference: Difference) -> Finding:
        """Return what is told of a part of a reply that differs."""
        clause = self.clause(call.operation, difference)
        return Finding(
            "reply",
            clause,
            call.operation,
            at(difference.path, difference.expected),
            at(difference.path, difference.seen),
            self.facts.recommended(clause),
            difference.path,
            difference.expected,
            self.facts.setters(kind, difference),
        )

    def clause(self, operation: str, difference: Difference) -> str:
        """Return the clause that a part of a reply comes from: what a message carries, its order, or what is given."""
        name = difference.path.rpartition(".")[2].partition("[")[0]
        kind = self.facts.gives(operation)
        message = f"messages.{getattr(getattr(kind, 'item', kind), 'name', '')}"
        if isinstance(difference.expected, InOrder) and f"{message}.order" in self.facts.levels:
            return f"{message}.order"
        carried = f"{message}.carries.{name}"
        return carried if carried in self.facts.levels else f"operations.{operation}.gives"
