"""What a right implementation may choose while a row runs: every such choice is tried on the model."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any, Final

from statemachines.compile import Compiled
from statemachines.kernel import Operation
from statemachines.lifecycle import Lifecycle
from statemachines.model import BaseModel, Impossible, Outcome, ordinal_id
from statemachines.types import DOCUMENT, List, Optional, Record, Type

MOST_ORDERS: Final = 200
"""In so many orders calls that are made at once are run, where there are more than four of them."""

PATIENCE: Final = 10_000
"""After so many steps of its own in one run, the model is taken never to rest."""

SMALL: Final = 5
"""Limits below this are tried, the smallest with which a row runs."""

DIGITS: Final = 6
"""So many digits has an id that is minted before all others, where the spec does not say how long ids are."""

Declared = tuple[dict[str, int | None], dict[str, str]]
"""Limits and policies that an implementation declares."""


def declarations(lifecycle: Lifecycle) -> Iterator[list[Declared]]:
    """Walk what an implementation may declare, one thing at a time: small limits, no limit, other policies.

    Of each list a row is run with the first that it can do with.
    """
    for name, limit in lifecycle.limits.items():
        yield [({name: size}, {}) for size in range(SMALL) if size != limit.default]
        if limit.optional and limit.default is not None:
            yield [({name: None}, {})]
    for name, policy in lifecycle.policies.items():
        for word in policy.choices:
            if word.text != policy.default.text:
                yield [({}, {name: word.text})]


def orders(calls: int) -> Iterator[tuple[int, ...]]:
    """Walk orders of different calls made at once, other than the order in which they are written."""
    if calls <= 4:
        yield from itertools.islice(itertools.permutations(range(calls)), 1, None)
        return
    shuffler = random.Random(calls)
    for _ in range(MOST_ORDERS):
        yield tuple(shuffler.sample(range(calls), calls))


# ── Steps that are taken unasked, and signals that may come ──────────────────────────────────────


def watched(compiled: Compiled) -> type[BaseModel]:
    """Give the model's class, whose instances can be eager, and rest at last.

    descending  mints ids each of which comes before those of the records so far
    telling  operations whose replies may hold documents
    eager    takes every step of its own that it may take, each once between two calls
    could    there was one
    fired    a timer has fired
    taken    so many steps of its own were taken in this run
    """
    model_class = compiled.model_class

    class Watched(model_class):  # type: ignore[valid-type,misc]  # the base is made at run time
        __slots__ = ("could", "eager", "fired", "taken")
        telling = frozenset(operation.name for operation in compiled.kernel.operations if _tells(operation))

        def reset(self) -> None:
            super().reset()
            self.could = self.eager = self.fired = False
            self.taken = 0

        def descending(self, entity: str, prefix: str = "", size: int | None = None) -> str:
            """Mint an id that comes before those of the records so far."""
            digits = DIGITS if size is None else size - len(prefix)
            return ordinal_id(entity, prefix, size, 10**digits - 1 - self.serials)

        def settle(self) -> list[Outcome]:
            done: list[Any] = []
            outcomes: list[Outcome] = []
            while steps := self.own_steps():
                due = next((step for step in steps if step[2] or (self.eager and step[:2] not in done)), None)
                self.could = True
                if due is None:
                    break
                done.append(due[:2])
                outcomes.append(self.take(due[0], due[1]))
            return outcomes

        def take(self, index: int, keys: tuple[Any, ...]) -> Any:
            self.count()
            return super().take(index, keys)

        def fire(self, index: int, key: Any) -> Any:
            self.fired = True
            self.count()
            return super().fire(index, key)

        def count(self) -> None:
            self.taken += 1
            if self.taken > PATIENCE:
                raise Impossible(
                    "on its own", f"more than {PATIENCE} steps follow by themselves, without rest"
                )

    return Watched


def _tells(operation: Operation) -> bool:
    """Tell whether the reply of an operation may hold a document."""
    return operation.reply is not None and _holds_document(operation.reply.type)


def _holds_document(kind: Type) -> bool:
    match kind:
        case List(item=item) | Optional(item=item):
            return _holds_document(item)
        case Record(fields=fields):
            return any(_holds_document(each) for _, each in fields)
        case _:
            return kind == DOCUMENT
