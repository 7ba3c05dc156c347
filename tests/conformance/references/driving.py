"""What the tests of references share: scripts of calls, what they come to, and an event loop in virtual time.

A script is a list of calls, each a name and its arguments, or a list of calls that are made at once. An
argument `"#0"` is the id of the first task that the script made. `written` replaces ids the other way, so
what two systems say can be compared.
"""

from __future__ import annotations

import asyncio
import inspect
import selectors
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from conformance.refused import Refused


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a script."""

    operation: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.operation}({given})"


Step: TypeAlias = Call | Sequence[Call]
"""One call, or calls that are made at once."""


def call(operation: str, **arguments: Any) -> Call:
    """A call, as it is written in a script."""
    return Call(operation, arguments)


def length(script: Sequence[Step]) -> int:
    """How many calls a script makes."""
    return sum(1 if isinstance(step, Call) else len(step) for step in script)


class Driver:
    """One system and what it said: calls are made on a loop of its own, in virtual time."""

    def __init__(self, system: Callable[[], Any]) -> None:
        self.system = system()
        self.ids: list[str] = []
        self._loop = VirtualTimeLoop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if hasattr(self.system, "close"):
            self._loop.run_until_complete(settled(self.system.close))
        self._loop.run_until_complete(self._given_up())
        self._loop.close()

    def __call__(self, operation: str, **arguments: Any) -> Any:
        """What a call gives, or its `Refused`; ids are those of the system."""
        return self.at_once(call(operation, **arguments))[0]

    def at_once(self, *calls: Call) -> list[Any]:
        """What calls give that are begun one right after the other; on a loop they take turns."""
        return self._loop.run_until_complete(self._gathered(calls))

    def instant(self) -> float:
        """The virtual time, in milliseconds."""
        return self._loop.time() * 1000

    def run(self, script: Sequence[Step]) -> list[Any]:
        """All that a script comes to: replies, refusals and signals, ids replaced."""
        said: list[Any] = []
        for step in script:
            replies = self.at_once(*([step] if isinstance(step, Call) else step))
            said += [self._written(reply) for reply in replies]
            if hasattr(self.system, "signals"):
                said.append(self._written(self("signals")))
        return said

    async def _given_up(self) -> None:
        """End what never came back."""
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _gathered(self, calls: Sequence[Call]) -> list[Any]:
        return await asyncio.gather(*(self._made(each) for each in calls))

    async def _made(self, each: Call) -> Any:
        method = getattr(self.system, each.operation)
        arguments = {name: self._meant(value) for name, value in each.arguments.items()}
        try:
            reply = await settled(lambda: method(**arguments))
        except Refused as refusal:
            return refusal
        if each.operation in {"create_task", "spawn", "spawn_with", "spawn_from"}:
            self.ids.append(reply["task_id"])
        return reply

    def _meant(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith("#"):
            return self.ids[int(value[1:])]
        return value

    def _written(self, said: Any) -> Any:
        match said:
            case Refused():
                return "refused"
            case str():
                return f"#{self.ids.index(said)}" if said in self.ids else said
            case Mapping():
                return {name: self._written(value) for name, value in said.items()}
            case list():
                return [self._written(value) for value in said]
        return said


async def settled(function: Callable[[], Any]) -> Any:
    """What a function gives, awaited if that is needed; then whatever it left to do is done."""
    reply: Awaitable[Any] | Any = function()
    given = await reply if inspect.isawaitable(reply) else reply
    for _ in range(10):
        await asyncio.sleep(0)
    return given


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop on which time passes only when everything waits for it, and then at once."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._jumping.now


class _Jumping(selectors.SelectSelector):
    """Where a loop would wait for a time it is that time; where it would wait for ever it is stuck."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found and timeout is None:
            raise AssertionError("everything waits, and nothing will ever happen")
        if not found and timeout is not None:
            self.now += max(0.0, timeout)
        return found
