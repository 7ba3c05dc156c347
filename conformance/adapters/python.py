"""A system in this process: any class with a method for each operation, sync or async."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import math
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from conformance.adapter import Broken, HarnessError, Raw
from conformance.adapters.calling import Gate, Returned, called, followed, followed_at_once, turns
from conformance.adapters.found_class import own_lines, place_of, source_files, takes
from conformance.concurrent import Place, one_after_the_other, run_at_once
from conformance.declaration import Declaration, DeclarationError
from conformance.refused import Refused
from conformance.worker import Loop, Worker

Signature = tuple[Sequence[str], Sequence[str]]  # what an operation always takes, and what may be left out


class Declare(Protocol):
    """Checks what an implementation says of itself; raises DeclarationError."""

    def __call__(self, words: Mapping[str, Any], *, has_wait: bool, asynchronous: bool) -> Declaration: ...


class PythonAdapter:
    """Drives a class: `reset` makes a fresh object, every call goes through one thread with a time limit."""

    costly = False

    def __init__(
        self,
        factory: Callable[[], Any],
        name: str,
        operations: Mapping[str, Signature],
        declare: Declare,
        limit: float,
    ) -> None:
        """Look at what the class offers; `declare` checks what it says of itself against the lifecycle.

        `limit` is how long one call may take, in seconds.
        """
        self.name = name
        self.limit = limit
        self._factory = factory
        self._operations = operations
        self._clock = itertools.count(1)
        self._made = 0
        self._at_once = threading.local()
        self._group: object | None = None  # the calls at once that are being made
        self._gate: Gate | None = None
        self._own: frozenset[str] = frozenset()
        self._blocking: set[Place] = set()  # where its threads wait for each other, as far as it was seen
        self._instance: Any = None
        self._worker = Worker()
        self._loop: Loop | None = None
        self._virtual = False
        self._signalled: list[Any] = []  # taken along with calls, and not asked for yet
        self._taken = False  # whether those of the last call are among them
        try:
            self._kind = self._class_of(factory)
            asynchronous = any(
                inspect.iscoroutinefunction(getattr(self._kind, name, None)) for name in operations
            )
            words, has_wait = getattr(self._kind, "declares", {}), self.offers("wait")
            self.declaration = declare(words, has_wait=has_wait, asynchronous=asynchronous)
            self._virtual = asynchronous and not has_wait and self.declaration.clock == "virtual"
        except (DeclarationError, HarnessError) as error:
            self.close()
            raise HarnessError(
                f"{place_of(self._kind)}{name}: {error}"
                if isinstance(error, DeclarationError)
                else str(error)
            ) from None
        self._own = frozenset(source_files(self._kind))
        if asynchronous:
            self._loop = Loop(virtual=self._virtual)

    @property
    def patience(self) -> float:
        """Seconds for one operation."""
        return self.limit

    def _class_of(self, factory: Callable[[], Any]) -> type:
        """Give the class of what a factory makes; a function has to make one to tell."""
        if inspect.isclass(factory):
            return factory
        self.reset()
        return type(self._instance)

    def ready(self) -> None:
        """Make an object, and see that each method takes what its operation gives; raise HarnessError."""
        self.reset()
        methods: dict[str, Signature] = {**self._operations, "signals": ((), ())}
        if self.declaration.clock == "virtual" and not self._virtual:
            methods["wait"] = (("ms",), ())
        for name, (required, optional) in methods.items():
            method = getattr(self._instance, name, None)
            if callable(method) and not (takes(method, required) and takes(method, (*required, *optional))):
                parameters = inspect.signature(method).replace(return_annotation=inspect.Signature.empty)
                named = ", ".join(["self", *required, *(f"{each}=None" for each in optional)])
                raise HarnessError(
                    f"{place_of(method)}{self.name}: {name}{parameters} cannot be called with "
                    f"{_listed([*required, *optional])}; write `def {name}({named})`"
                )

    def reset(self) -> None:
        """End the last case and make a fresh object."""
        self._end()
        if (
            self._virtual and self._loop is not None
        ):  # a case begins at the instant 0, with nothing left on the loop
            self._loop.stop()
            self._loop = Loop(virtual=True)
        self._signalled = []
        try:
            self._instance = self._run(self._factory, "the constructor")
        except Broken as broken:
            raise HarnessError(
                f"{self.name}() cannot be made: {broken.message}\n{broken.detail}".rstrip()
            ) from None
        except Refused as refusal:
            raise HarnessError(
                f"{self.name}() cannot be made: the constructor refused {refusal.code}"
            ) from None

    def offers(self, operation: str) -> bool:
        """Tell whether there is a method for an operation."""
        return callable(getattr(self._kind, operation, None))

    def call(self, operation: str, arguments: Mapping[str, Any]) -> Raw:
        """Make one call; raise Broken when it raises anything but Refused, or does not come back."""
        if getattr(self._at_once, "group", self._group) is not self._group:
            raise Broken("hang", f"{operation}() was not begun: another call had not come back")
        began = self._made = next(self._clock)
        if operation == "wait" and self._virtual and self._loop is not None:
            seconds = arguments["ms"] / 1000
            self._loop.run(lambda: asyncio.sleep(seconds), self.patience, "wait()", seconds=seconds)
            return Raw(None, None, began, next(self._clock))
        before = self._milliseconds
        work = getattr(self._instance, operation)
        try:
            value = self._run(lambda: work(**arguments), f"{operation}()", followed=True)
        except Refused as refusal:
            return Raw(None, str(refusal.code), began, next(self._clock), self._milliseconds - before)
        return Raw(value, None, began, next(self._clock), self._milliseconds - before)

    @property
    def _milliseconds(self) -> int:
        return self._loop.milliseconds if self._loop is not None else 0

    def signals(self) -> list[Any]:
        """Give the signals since the last time; a system without `signals` has none."""
        earlier, self._signalled = self._signalled, []
        if self._taken:
            self._taken = False
            return earlier
        if self._loop is not None:
            self._awaited(turns, "signals()", seconds=0)
        if not callable(getattr(self._instance, "signals", None)):
            return earlier
        found = self._run(self._instance.signals, "signals()")
        if not isinstance(found, list | tuple):
            raise Broken("shape", f"signals() gives a list, and this is {found!r}")
        return [*earlier, *found]

    def transcript(self) -> tuple[str, ...]:
        """Give nothing: a method was called, and what it gave is the reply."""
        return ()

    def together(self, bodies: Sequence[Callable[[], Any]], seed: int) -> list[Any]:
        """Evaluate bodies at once, on threads; calls of an async system are all made before one is served.

        Where no concurrency is declared they are evaluated one after the other, in an order that the seed chooses.
        """
        if self.declaration.concurrency == "none":
            return one_after_the_other(bodies, seed)

        group = self._group = object()
        loop = self._loop
        gate = self._gate = Gate(len(bodies), self.patience) if loop is not None else None

        def body(inner: Callable[[], Any]) -> Callable[[], Any]:
            def marked() -> Any:
                self._at_once.group = (
                    group  # to a thread that outlives it, the next case's object is not given
                )
                try:
                    return inner()
                finally:
                    del self._at_once.group
                    if loop is not None and gate is not None:
                        gate.submitted()  # or the others wait for one that makes no call
                        loop.callers(-1)

            return marked

        if loop is not None and gate is not None:
            loop.callers(len(bodies) - 1)  # nobody else calls until they are done
            loop.call_soon(gate.hold)
        try:
            return run_at_once(
                [body(inner) for inner in bodies],
                seed,
                self._own,
                self.patience,
                lambda: self._made,
                self._blocking,
            )
        finally:
            self._gate = self._group = None
            if loop is not None:
                loop.callers(1)

    def close(self) -> None:
        """End the last case, and let the threads end."""
        self._end()
        self._worker.stop()
        if self._loop is not None:
            self._loop.stop()

    def _end(self) -> None:
        instance, self._instance = self._instance, None
        if instance is None or not callable(getattr(instance, "close", None)):
            return
        with contextlib.suppress(Broken, Refused):  # what a case leaves behind does not disturb the next one
            self._run(instance.close, "close()")

    def _run(self, function: Callable[[], Any], what: str, *, followed: bool = False) -> Any:
        """Call something of the system's, on the thread that fits, within the time limit.

        The signals are taken along where the call is `followed`: that saves a way to the thread.
        """
        self._taken = False
        try:
            if hasattr(self._at_once, "group"):
                if self._loop is not None:
                    return self._awaited(partial(called, function), what, self._gate)
                return function()
            if followed:
                return self._with_signals(function, what)
            if self._loop is not None:
                return self._awaited(partial(called, function), what)
            return self._worked(function, what)
        except (Refused, Broken):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the system raises is its defect
            raise Broken(
                "crash", f"{what} raised {type(error).__name__}: {error}", own_lines(error, self._own)
            ) from None

    def _with_signals(self, function: Callable[[], Any], what: str) -> Any:
        """Call a method and then `signals()`, on one way to the thread."""
        found = getattr(self._instance, "signals", None)
        signals = found if callable(found) else list
        returned = Returned()
        try:
            if self._loop is not None:
                value, error, taken = self._awaited(partial(followed, function, signals, returned), what)
            else:
                work = partial(followed_at_once, function, signals, returned)
                value, error, taken = self._worked(work, what)
        except Broken as broken:
            if not returned.done:
                raise
            message = broken.message.replace(what, "signals()", 1)
            raise Broken(broken.kind, message, broken.detail) from None
        if isinstance(taken, list | tuple):
            self._signalled += taken
            self._taken = True
        if error is not None:
            raise error
        return value

    def _worked(self, function: Callable[[], Any], what: str) -> Any:
        try:
            return self._worker.run(function, self.patience, what)
        except Broken:
            self._worker = Worker()  # the old one may be stuck for ever, and ends by itself if it is not
            raise

    def _awaited(
        self,
        work: Callable[[], Coroutine[Any, Any, Any]],
        what: str,
        gate: Gate | None = None,
        seconds: float = math.inf,
    ) -> Any:
        loop = self._loop
        assert loop is not None  # only async systems come here
        try:
            return loop.run(work, self.patience, what, gate.submitted if gate is not None else None, seconds)
        except Broken:
            if self._loop is loop:  # several callers may find out at once
                self._loop = Loop(
                    virtual=self._virtual
                )  # the old one may be stuck for ever, and ends by itself if it is not
            raise


def _listed(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part) or "no arguments"
