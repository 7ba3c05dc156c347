"""What a right implementation may choose while a row runs: every such choice is tried on the model."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator
from typing import Any, Final

from statemachines.bounds import Bounds
from statemachines.compile import Compiled
from statemachines.lifecycle import Lifecycle
from statemachines.model import BaseModel, Impossible, ordinal_id
from statemachines.types import holds_documents

DIGITS: Final = 6
"""So many digits has an id that is minted before all others, where the spec does not say how long ids are."""

MUCH_MORE: Final = 10
"""So many times its default may a limit be that an implementation declares."""

Declared = tuple[dict[str, int | None], dict[str, str]]
"""Limits and policies that an implementation declares."""


def declarations(lifecycle: Lifecycle, small: int) -> Iterator[list[Declared]]:
    """Walk what an implementation may declare, one thing at a time: limits below `small` and larger ones, no limit, other policies.

    Of each list a row is run with the first that it can do with.
    """
    for name, limit in lifecycle.limits.items():
        yield [({name: size}, {}) for size in range(small) if size != limit.default]
        if limit.default is not None:
            for larger in (limit.default + 1, MUCH_MORE * limit.default + 1):
                yield [({name: larger}, {})]
        if limit.optional and limit.default is not None:
            yield [({name: None}, {})]
    for name, policy in lifecycle.policies.items():
        for word in policy.choices:
            if word.text != policy.default.text:
                yield [({}, {name: word.text})]


def orders(calls: int, most: int) -> Iterator[tuple[int, ...]]:
    """Walk orders of different calls made at once, other than the order in which they are written: of many, so many at most."""
    if calls <= 4:
        yield from itertools.islice(itertools.permutations(range(calls)), 1, None)
        return
    shuffler = random.Random(calls)
    for _ in range(most):
        yield tuple(shuffler.sample(range(calls), calls))


# ── Steps that are taken unasked, and signals that may come ──────────────────────────────────────


def watched(compiled: Compiled, bounds: Bounds) -> type[BaseModel]:
    """Return the model's class, whose instances can be eager, and rest at last.

    ascending   mints ids each of which comes after those of the records so far, also where `job-10` comes before `job-2`
    descending  mints ids each of which comes before them
    telling  operations whose replies may hold documents
    eager    takes every step of its own that it may take, each once between two calls
    could    there was one
    done     the steps of its own that it has taken since a call
    fired    a timer has fired
    taken    so many steps of its own were taken in this run
    """
    model_class = compiled.model_class

    class WatchedModel(model_class):  # type: ignore[valid-type,misc]  # the base is made at run time
        __slots__ = ("could", "done", "eager", "fired", "taken")
        telling = frozenset(
            each.name
            for each in compiled.kernel.operations
            if each.reply is not None and holds_documents(each.reply.type)
        )

        def reset(self) -> None:
            super().reset()
            self.could = self.eager = self.fired = False
            self.taken = 0
            self.done: set[tuple[int, tuple[Any, ...]]] = set()

        def ascending(self, entity: str, prefix: str = "", size: int | None = None) -> str:
            """Mint an id that comes after those of the records so far."""
            digits = DIGITS if size is None else size - len(prefix)
            return ordinal_id(entity, prefix, size, 10 ** (digits - 1) + self.serials)

        def descending(self, entity: str, prefix: str = "", size: int | None = None) -> str:
            """Mint an id that comes before those of the records so far."""
            digits = DIGITS if size is None else size - len(prefix)
            return ordinal_id(entity, prefix, size, 10**digits - 1 - self.serials)

        def own_steps(self) -> list[tuple[int, tuple[Any, ...], bool]]:
            steps: list[tuple[int, tuple[Any, ...], bool]] = super().own_steps()
            self.could = self.could or bool(steps)
            if not self.eager:
                return steps
            return [(index, keys, must or (index, keys) not in self.done) for index, keys, must in steps]

        def settle(self, but: Collection[int] = ()) -> Any:
            self.done = set()
            return super().settle(but)

        def take(self, index: int, keys: tuple[Any, ...], already: Any = None) -> Any:
            self.count()
            self.done.add((index, keys))
            return super().take(index, keys, already)

        def fire(self, index: int, key: Any) -> Any:
            self.fired = True
            self.count()
            return super().fire(index, key)

        def count(self) -> None:
            self.taken += 1
            if self.taken > bounds.own_steps:
                message = f"more than {bounds.own_steps} steps follow by themselves, without rest"
                raise Impossible("on its own", message)

    return WatchedModel
