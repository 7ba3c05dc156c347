"""How a system under test is reached: any class with a method for each operation, sync or async.

One idea: the object of a case, from when it is made to its end.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from conformance.refused import Refused
from conformance.system import theirs
from conformance.system.blocking import Clock, Watch
from conformance.system.broken import Broken, HarnessError
from conformance.system.concurrent import one_after_the_other, run_at_once
from conformance.system.declaration import MOVED, Declaration, DeclarationError
from conformance.system.event_loop import Loop, called, rested
from conformance.system.found_class import own_lines, place_of, source_files, takes
from conformance.system.interleaving import Gate, after_turns
from conformance.system.tracing import Place
from conformance.system.worker import Worker, idle, on_one_core

HUNG_LIMIT = 0.4  # seconds for an end that may wait for a call that hangs
Signature = tuple[Sequence[str], Sequence[str]]  # what an operation always takes, and what may be left out


class Declare(Protocol):
    """Checks what an implementation says of itself; raises DeclarationError."""

    def __call__(self, words: Mapping[str, Any], *, has_wait: bool, asynchronous: bool) -> Declaration: ...


class Adapter:
    """Drives a class: `reset` makes a fresh object, every call goes through one thread with a time limit.

    limit   seconds for one call
    costly  a call takes so long that a few well-chosen ones have to do
    seen_inside  whether it is seen inside the system that calls at once overlap, and not only outside
    overlapped   how many calls of the last group did, where the system itself tells
    one_step     whether none of those came to a point, though the system tells of points
    """

    costly = False
    seen_inside = True
    overlapped: int | None = None
    one_step = False

    def __init__(
        self, factory: Callable[[], Any], name: str, operations: Mapping[str, Signature], declare: Declare, limit: float
    ) -> None:
        """Look at what the class offers; `declare` checks what it says of itself against the lifecycle."""
        self.name = name
        self.limit = limit
        self._factory = factory
        self._operations = operations
        self.answered: set[str] = set()  # the operations from which something came back, be it a refusal
        self._made = 0  # calls: while more are made, calls at once do not hang
        self._at_once = threading.local()
        self._group: object | None = None  # the calls at once that are being made
        self._gate: Gate | None = None
        self._own: frozenset[str] = frozenset()
        self._blocking: set[Place] = set()  # where its threads wait for each other, as far as it was seen
        self._instance: Any = None
        self._worker = Worker()
        self._mover: Worker | None = None  # that calls `wait` while another call blocks
        self._clock: Clock | None = None  # of the object, where calls may block on it
        self._loop: Loop | None = None
        self._virtual = False
        self._blocks = False  # whether calls may block on a clock that a method of its own moves
        self._unusable = ""  # why no object is made any more
        self._hung = False  # whether something of this case has not come back
        self._settled_at = 0.0  # by `time.monotonic`: when all can be seen that calls of this case have caused
        self._held = contextlib.ExitStack()
        self._held.enter_context(theirs.process_stays())
        try:
            self._kind = self._class_of(factory)
            asynchronous = any(inspect.iscoroutinefunction(getattr(self._kind, name, None)) for name in operations)
            words, has_wait = getattr(self._kind, "declares", {}), callable(getattr(self._kind, "wait", None))
            self.declaration = declare(words, has_wait=has_wait, asynchronous=asynchronous)
            self._virtual = asynchronous and not has_wait and self.declaration.clock == "virtual"
            self._blocks = not asynchronous and self.declaration.clock == "virtual" and bool(self.declaration.waits)
        except (DeclarationError, HarnessError) as error:
            self.close()
            raise HarnessError(
                f"{place_of(self._kind)}{name}: {error}" if isinstance(error, DeclarationError) else str(error)
            ) from None
        self._own = frozenset(source_files(self._kind))
        if asynchronous:
            self._loop = Loop(virtual=self._virtual)

    @property
    def patience(self) -> float:
        """Seconds for one operation."""
        return self.limit

    def _class_of(self, factory: Callable[[], Any]) -> type:
        """Return the class of what a factory makes; a function has to make one to tell."""
        if inspect.isclass(factory):
            return factory
        self.reset()
        return type(self._instance)

    def is_made_by(self, factory: Callable[[], Any]) -> bool:
        """Return whether its objects are made by this class or function."""
        return self._factory is factory

    def ready(self) -> None:
        """Make an object, and see that each method takes what its operation gives; raise HarnessError."""
        self.reset()
        methods: dict[str, Signature] = {**self._operations, "signals": ((), ())}
        if self.declaration.clock in MOVED and not self._virtual:
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
        """End the last case and make a fresh object. Raises HarnessError when it cannot be made, or the last one not closed."""
        self._end()
        if self._unusable:
            raise HarnessError(self._unusable)
        self._hung = False
        self._settled_at = 0.0
        if self._virtual and self._loop is not None:  # a case begins at the instant 0, with nothing left on the loop
            self._loop.end()
            self._loop = Loop(virtual=True)
        if self._blocks:
            self._clock = Clock(self._move)
        try:
            self._instance = self._run(self._factory, "the constructor")
        except Broken as broken:
            message = f"{self.name}() cannot be made: {broken.message}\n{broken.detail}".rstrip()
            self._unusable = message if broken.kind == "hang" else ""  # each further one would take as long
            raise HarnessError(message) from None
        except Refused as refusal:
            raise HarnessError(f"{self.name}() cannot be made: the constructor refused {refusal.code}") from None

    def offers(self, operation: str) -> bool:
        """Return whether there is a method for an operation, and it is not declared to be lacking."""
        return operation not in self.declaration.absent and callable(getattr(self._kind, operation, None))

    def call(self, operation: str, arguments: Mapping[str, Any], lasts: int | None = None) -> Any:
        """Make one call, and return the reply; raise Refused, or Broken for any other exception and when it does not come back.

        One that `lasts` for some milliseconds may block until the clock has moved so far: nobody else moves it then.
        """
        if getattr(self._at_once, "group", self._group) is not self._group:
            raise Broken("hang", f"{operation}() was not begun: another call had not come back")
        self._made += 1
        if operation in self.declaration.looks or hasattr(self._at_once, "group"):
            return self._answer(operation, arguments, lasts)
        self._let_settle()
        try:
            return self._answer(operation, arguments, lasts)
        finally:
            self._settled_at = time.monotonic() + self.declaration.settles / 1000

    def _answer(self, operation: str, arguments: Mapping[str, Any], lasts: int | None) -> Any:
        if operation == "wait" and self._virtual and self._loop is not None:
            seconds = arguments["ms"] / 1000
            self._loop.run(lambda: asyncio.sleep(seconds), self.patience, "wait()", self._submitted, seconds)
            return None
        clock = self._clock
        if operation == "wait" and clock is not None and hasattr(self._at_once, "group"):
            clock.sleep(arguments["ms"])
            return None
        if operation == "wait" and clock is not None:
            clock.milliseconds += arguments["ms"]
        given = {name: _own(value) for name, value in arguments.items()}
        work = partial(getattr(self._instance, operation), **given)
        try:
            if clock is None or lasts is None:
                found = self._run(work, f"{operation}()")
            else:
                with clock.during(lasts):
                    found = self._run(work, f"{operation}()", look=self._look(clock))
        except Refused:
            self.answered.add(operation)
            raise
        self.answered.add(operation)
        return found

    def _look(self, clock: Clock) -> Callable[[], object]:
        """Return what moves a clock, called again and again, during a call that may block until it has moved."""
        return Watch(clock).look

    @property
    def _submitted(self) -> Callable[[], None] | None:
        """Who is told that a call beside others stands in line; None for a call that is made alone."""
        return self._gate.submitted if self._gate is not None and hasattr(self._at_once, "group") else None

    def _let_settle(self) -> None:
        """Wait until all can be seen that was caused so far: what changes something is called once and not asked again."""
        idle(self._settled_at - time.monotonic())

    @property
    def milliseconds(self) -> int:
        """What a virtual clock shows, as far as the kit moves it by itself; 0 without one."""
        clock = self._loop or self._clock
        return clock.milliseconds if clock is not None else 0

    def _move(self, ms: int) -> None:
        """Move the clock of the system, on a thread of its own: another one may be in a call that waits for that."""
        self._mover = self._mover or Worker()
        self._run(partial(self._instance.wait, ms=ms), "wait()", worker=self._mover)

    def signals(self) -> list[Any]:
        """Return the signals since the last time; a system without `signals` has none. Raises Broken."""
        signals = getattr(self._instance, "signals", None)
        if not callable(signals) and self._loop is None:  # nothing to ask, and no loop that has to come to rest
            return []
        found = self._run(signals if callable(signals) else list, "signals()", rests=True)
        if not isinstance(found, list | tuple):
            raise Broken("shape", f"signals() gives a list, and this is {theirs.told(found)}")
        return list(found)

    @contextlib.contextmanager
    def patient(self, milliseconds: int) -> Iterator[None]:
        """Wait up to so long until what a call causes can be seen, whatever is declared: so it shows how late that is."""
        declared = self.declaration
        self.declaration = replace(declared, settles=milliseconds)
        try:
            yield
        finally:
            self.declaration = declared

    def transcript(self) -> tuple[str, ...]:
        """Return nothing: a method was called, and what it gave is the reply."""
        return ()

    def together(self, bodies: Sequence[Callable[[], Any]], seed: int) -> list[Any]:
        """Evaluate bodies at once, on threads; calls of an async system are all made before one is served.

        Where no concurrency is declared they are evaluated one after the other, in an order that the seed chooses.
        """
        if self.declaration.concurrency == "none":
            return one_after_the_other(bodies, seed)

        self._let_settle()
        group = self._group = object()
        loop = self._loop
        gate = self._gate = Gate(len(bodies), self.patience, seed) if loop is not None else None

        def in_group(caller: int, body: Callable[[], Any]) -> Any:
            self._at_once.group = group  # to a thread that outlives it, the next case's object is not given
            try:
                if gate is not None:
                    self._at_once.turns = gate.turns[caller]
                    gate.enter(caller)
                return body()
            finally:
                del self._at_once.group
                if loop is not None and gate is not None:
                    gate.submitted()  # or the others wait for one that makes no call
                    loop.count(-1)

        if loop is not None and gate is not None:
            loop.count(len(bodies) - 1)  # nobody else calls until they are done
            loop.linger(seed)
            loop.call_soon(gate.hold)
        try:
            marked = [partial(in_group, *each) for each in enumerate(bodies)]
            return self._run_at_once(marked, seed)
        except Broken:
            self._hung = True
            raise
        finally:
            self._gate = self._group = None
            if loop is not None:
                loop.count(1)
                loop.linger(None)

    def _run_at_once(self, bodies: Sequence[Callable[[], Any]], seed: int) -> list[Any]:
        """Evaluate bodies on threads, among which a seed chooses the turns; raise Broken where one does not come back."""
        watch = None if self._clock is None else Watch(self._clock).look_beside
        with contextlib.nullcontext() if self.costly else on_one_core():  # processes run at once, each where it likes
            return run_at_once(bodies, seed, self._own, self.patience, lambda: self._made, self._blocking, watch)

    def turn(self) -> None:
        """Wait until a call that is made beside others may begin: nothing to wait for where its first line is a turn."""

    def close(self) -> None:
        """End the last case, and let the threads end. Raises HarnessError when the last object is the first not to close."""
        known = self._unusable
        try:
            self._end()
        finally:
            self._held.close()
            self._worker.stop()
            if self._mover is not None:
                self._mover.stop()
            if self._loop is not None:
                self._loop.end()
        if self._unusable != known:
            raise HarnessError(self._unusable)

    def _end(self) -> None:
        instance, self._instance, hung = self._instance, None, self._hung
        if instance is None or not callable(getattr(instance, "close", None)):
            return
        try:
            self._run(instance.close, "close()", seconds=HUNG_LIMIT if hung else math.inf)
        except Refused:  # what a case leaves behind does not disturb the next one
            pass
        except Broken as broken:
            if broken.kind == "hang" and not hung:  # else it waits for what the call that hangs has not given back
                self._unusable = f"{self.name}: {broken.message}; it is asked after each case, and has to come back"

    def _run(
        self,
        function: Callable[[], Any],
        what: str,
        *,
        rests: bool = False,
        seconds: float = math.inf,
        worker: Worker | None = None,
        look: Callable[[], object] | None = None,
    ) -> Any:
        """Call something of the system's, on the thread that fits, within the time limit, and within so many seconds.

        Before it, with `rests`, an event loop comes to rest. Where it is called on a worker, `look` is meanwhile.
        """
        limit, worker = min(self.patience, seconds), worker or self._worker
        loop, at_once = self._loop, hasattr(self._at_once, "group")
        try:
            if loop is not None:
                turns = self._at_once.__dict__.pop("turns", 0)
                asked = partial(after_turns, turns, partial(rested if rests else called, function))
                work = partial(theirs.run_async, asked)
                return loop.run(work, limit, what, self._submitted)
            work = partial(theirs.run, function)
            return work() if at_once else worker.run(work, limit, what, look)
        except theirs.Raised as raised:
            error = raised.error
            if isinstance(error, theirs.Exited):
                raise HarnessError(
                    f"{what} ends the process with {error}: a system that does has to run in one of its own"
                ) from None
            raise Broken("crash", f"{what} raised {theirs.error_told(error)}", own_lines(error, self._own)) from None
        finally:  # what is stuck may be so for ever, and ends by itself if not; several callers may find out at once
            self._hung |= worker.stuck or (loop is not None and loop.stopped.is_set())
            if worker.stuck and self._worker is worker:
                self._worker = Worker()
            if worker.stuck and self._mover is worker:
                self._mover = None
            if loop is not None and loop.stopped.is_set() and self._loop is loop:
                self._loop = Loop(virtual=self._virtual)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part) or "no arguments"


def _own(value: Any) -> Any:
    """Return an argument that is the callee's own: whatever becomes of it there, the kit judges by what was asked."""
    match value:
        case list():
            return [_own(each) for each in value]
        case dict():
            return {name: _own(each) for name, each in value.items()}
        case _:
            return value
