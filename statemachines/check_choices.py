"""What a right implementation may choose while a row runs: every such choice is tried on the model."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any, Final

from statemachines.compile import Compiled
from statemachines.kernel import Kernel, Operation
from statemachines.lifecycle import Lifecycle
from statemachines.lower import ANY
from statemachines.model import ACCEPT, BaseModel, Impossible, Outcome, exemplary
from statemachines.model_subject import ModelSubject
from statemachines.rows import Answer, RowFailure

MOST_ORDERS: Final = 200
"""In so many orders calls that are made at once are run, where there are more than four of them."""

PATIENCE: Final = 10_000
"""After so many steps of its own in one run, the model is taken never to rest."""

SMALL: Final = 5
"""Limits below this are tried, the smallest with which a row runs."""

UNKNOWN_CODE: Final = "a_code_of_its_own"


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

    loose  operations whose answers leave something open beside whether they are refused
    eager  takes every step of its own that it may take, each once between two calls
    could  there was one
    fired  a timer has fired
    taken  so many steps of its own were taken in this run
    """
    model_class = compiled.model_class

    class Watched(model_class):  # type: ignore[valid-type,misc]  # the base is made at run time
        __slots__ = ("could", "eager", "fired", "taken")
        loose = frozenset(operation.name for operation in compiled.kernel.operations if _is_loose(operation))

        def reset(self) -> None:
            super().reset()
            self.could = self.eager = self.fired = False
            self.taken = 0

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


class Choosing(ModelSubject):
    """A subject that can also be eager: it takes every step that it may, and sends every signal, even again.

    Where any code will do, it refuses with one that nobody knows. `could` tells whether there was a chance,
    `astray` that a call was made of which the spec does not say what happens.
    """

    def __init__(
        self,
        model: Any,
        kernel: Kernel,
        order: Sequence[int],
        *,
        lenient: bool,
        eager: bool,
        prompt: bool = True,
    ) -> None:
        super().__init__(model, kernel, lenient=lenient, order=order, prompt=prompt)
        self.eager = model.eager = eager
        self.could = False
        self.astray = False

    def call(self, operation: str, arguments: dict[str, Any]) -> Answer:
        """Make one call, and let the steps follow that must, or may."""
        model: Any = self.model
        decision = getattr(model, f"may_{operation}")(**arguments) if operation in model.loose else ACCEPT
        if decision.avoid:
            self.astray = True
            raise RowFailure(f"the spec does not say what {operation} does here")
        answer = super().call(operation, arguments)
        self.could = self.could or model.could
        self._offer(answer, decision.may)
        if answer.refused is not None and (decision.idle or ANY in decision.refuse):
            self.could = True
            answer.refused = UNKNOWN_CODE if self.eager else answer.refused
        return answer

    def _answer(self, operation: str, outcome: Outcome, after: list[Outcome]) -> Answer:
        answer = super()._answer(operation, outcome, after)
        for each in (outcome, *after):
            self._offer(answer, (*each.may, *each.again))
        return answer

    def _offer(self, answer: Answer, may: Sequence[Any]) -> None:
        if may:
            self.could = True
            for name, fields in may if self.eager else ():
                answer.signals[name].append(exemplary(dict(fields)))


def _is_loose(operation: Operation) -> bool:
    """Tell whether an answer of an operation leaves anything open beside whether it is refused."""
    loose = ("unchanged", "avoided")
    return any(each.permitted or each.answer in loose or each.code == ANY for each in operation.requires)
