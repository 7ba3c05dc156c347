"""The kit's side of an adapter elsewhere: an object of Python whose methods are requests. One idea: how it asks."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, Protocol

from conformance.refused import Refused
from conformance.remote import protocol
from conformance.remote.protocol import ProtocolError
from conformance.remote.turns import CallsAtOnce, HeldCalls
from conformance.remote.waits import Waits, mover
from conformance.system import MOVED, Adapter, Broken, Clock, Declare, HarnessError, Signature, leave, started, told

HELLO_LIMIT: Final = 30.0  # seconds: what is started may be compiled first
_END_LIMIT: Final = 5.0  # seconds within which an adapter surely has been ended
_MOST_IN_VAIN: Final = 3  # cases in which the adapter could not be asked, after which nothing is asked any more
_TELLS: Final = (
    "a call that waits for it tells until when by a point, and has come back or told again when that instant is there"
)
_CANNOT_TELL: Final = "nobody moves it during a call: over HTTP no call can tell that it waits for it"
_PARTY = threading.local()  # which of several callers this thread is


class Link(Protocol):
    """A way to an adapter elsewhere.

    spent   whether somebody was told that it cannot be asked any more: what has not been told is told at the next request
    tells   whether an adapter that is reached so is able to tell of points
    points  whether this one may
    waits   which calls wait for the clock
    detail  what it has printed beside its answers
    """

    spent: bool
    tells: bool
    points: bool
    turns: CallsAtOnce | None
    waits: Waits

    @property
    def detail(self) -> str: ...

    def answer(
        self, method: str, params: Mapping[str, Any] | None, seconds: float, party: int | None = None
    ) -> protocol.Message:
        """Return the answer to a request; raise Broken or HarnessError where there is none."""

    def answer_to_line(self, line: bytes, seconds: float) -> protocol.Message | None:
        """Return what is said of a line that is no request, None where nothing is."""

    def end(self, seconds: float) -> bool:
        """End it within so many seconds, and what it has started; return whether it ended by itself."""


class Remote:
    """Opens a link where there is none that can be used, and asks over it.

    welcome  what the adapter said of itself at first
    seconds  for one call
    """

    def __init__(self, opened: Callable[[], Link], lifecycle: str, revision: int, seconds: float) -> None:
        """Begin to talk. Raises HarnessError."""
        self.seconds = seconds
        self._opened = opened
        self._hello = {"protocol": protocol.PROTOCOL, "lifecycle": lifecycle, "revision": revision}
        self._in_vain = 0
        self._trouble = ""  # what kept the adapter from being asked since the last reset
        self.link: Link | None = None
        self.welcome: Mapping[str, Any] = {}
        self._begin()

    def reset(self) -> None:
        """Begin a case. Raises HarnessError."""
        if self._in_vain < _MOST_IN_VAIN:
            self._in_vain += bool(self._trouble)
        if self._in_vain == _MOST_IN_VAIN:
            self.end()
            why = self._trouble.partition("\n")[0]
            raise HarnessError(f"the adapter is not asked any more, after it could not be {self._in_vain} times: {why}")
        self._trouble = ""
        try:
            if self.link is None or self.link.spent:
                self.end()
                self._begin()
            self.ask("reset", None)
        except Broken as broken:
            raise self._not_asked(f"{broken.message}\n{broken.detail}") from None
        except Refused as refusal:
            raise self._not_asked(f"reset was refused: {refusal.code}") from None

    def ask(self, method: str, params: Mapping[str, Any] | None) -> Any:
        """Return what a request gives; raise Refused, Broken or HarnessError."""
        link = self.link
        if link is None:
            raise HarnessError("the adapter has been ended")
        try:
            answer = link.answer(method, params, self.seconds, getattr(_PARTY, "number", None))
        except HarnessError as error:
            self._trouble = str(error)
            raise
        return protocol.result_of(answer, method, link.detail)

    def end(self) -> None:
        """End the adapter."""
        link, self.link = self.link, None
        if link is not None:
            link.end(self.seconds)

    def _begin(self) -> None:
        """Open a link, and let the adapter say what it is; raise HarnessError."""
        try:
            link = self.link = self._opened()
            answer = link.answer("hello", self._hello, max(self.seconds, HELLO_LIMIT))
            welcome = protocol.check_welcome(protocol.result_of(answer, "hello", link.detail))
            if welcome.get("points") and not link.tells:
                raise ProtocolError("it says that it tells of points, and it cannot over HTTP")
            if welcome != (self.welcome or welcome):
                raise ProtocolError(f"it is another one than at the first start: {told(dict(welcome), protocol.SHOWN)}")
        except Broken as broken:
            raise self._not_asked(f"there is no answer to hello: {broken.message}\n{broken.detail}") from None
        except Refused as refusal:
            raise self._not_asked(f"hello was refused: {refusal.code}") from None
        except ProtocolError as error:
            raise self._not_asked(f"the answer to hello cannot be used: {error}") from None
        except HarnessError as error:
            raise self._not_asked(str(error)) from None
        except BaseException:  # Ctrl-C, and whoever pressed it waits
            self.seconds = 0.0
            self.end()
            raise
        self.welcome = welcome
        link.points = bool(welcome.get("points"))

    def _not_asked(self, why: str) -> HarnessError:
        """End the adapter, and return the error that says why it cannot be asked."""
        self._trouble = why.rstrip()
        self.end()
        return HarnessError(self._trouble)


class RemoteObject:
    """The system of one case: a method for each operation that there is."""

    declares: ClassVar[Mapping[str, Any]] = {}
    remote: ClassVar[Remote]

    def __init__(self) -> None:
        self.remote.reset()

    def signals(self) -> Any:
        """Return what the system did beside its replies since the last time."""
        return self.remote.ask("signals", None)


class RemoteAdapter(Adapter):
    """Drives a system elsewhere. `overlapped` counts calls at once as the system saw them; None where only the kit saw them."""

    def __init__(
        self,
        opened: Callable[[], Link],
        name: str,
        lifecycle: tuple[str, int],
        operations: Mapping[str, Signature],
        declare: Declare,
        limit: float,
    ) -> None:
        """Start an adapter, and ask what it says of itself. `lifecycle` is a name and a revision. Raises HarnessError."""
        self._remote = Remote(opened, *lifecycle, limit)
        self.points = self.seen_inside = bool(self._remote.welcome.get("points"))
        self._turns = HeldCalls(0, 0, 0.0)  # of the last group of calls at once
        try:
            kind = _class_of(self._remote, operations)
            super().__init__(kind, name, operations, declare, limit)
        except BaseException:
            self._remote.end()
            raise

    @property
    def link(self) -> Link:
        """The way to the adapter there, as long as it was not ended. Raises HarnessError."""
        if self._remote.link is None:
            raise HarnessError("the adapter has been ended")
        return self._remote.link

    @property
    def limit(self) -> float:
        """Seconds for one request."""
        return self._remote.seconds

    @limit.setter
    def limit(self, seconds: float) -> None:
        self._remote.seconds = seconds

    @property
    def patience(self) -> float:
        """Seconds for one operation: the link gives up first, and says what it saw."""
        return max(self.limit, HELLO_LIMIT) + _END_LIMIT

    def turn(self) -> None:
        """Wait until a call that is made beside others may begin."""
        party = getattr(_PARTY, "number", None)
        if self.points and party is not None:
            self._turns.begin(party)

    def _run_at_once(self, bodies: Sequence[Callable[[], Any]], seed: int) -> list[Any]:
        """Make calls from threads of their own: each of the system's points is a turn, or they are only sent at once."""
        turns, link = HeldCalls(len(bodies), seed, self.limit / 2), self._remote.link
        self._turns = turns
        if link is not None and self.points:
            link.turns = turns

        @contextlib.contextmanager
        def in_turn(party: int) -> Iterator[None]:
            _PARTY.number = party
            try:
                yield
            finally:
                turns.end(party)

        def spread(party: int, body: Callable[[], Any]) -> Any:
            if not self.points:
                turns.spread(party)
            return body()

        threads, results = started([partial(spread, *each) for each in enumerate(bodies)], in_turn)
        try:
            turns.run(self._steps(lambda: turns.left))
            for thread in threads:
                thread.join()
        finally:
            for thread in threads:  # where the clock does not move, or whoever waits is interrupted
                leave(thread)
            if link is not None:
                link.turns = None
        self.overlapped = len(turns.overlapped) if self.points else None
        self.one_step = self.points and not turns.pointed
        return [each.result() for each in results]

    def _answer(self, operation: str, arguments: Mapping[str, Any], lasts: int | None) -> Any:
        try:
            return super()._answer(operation, arguments, lasts)
        except Broken as broken:
            if broken.kind != "hang" or lasts is None or self._clock is None:
                raise
            link = self._remote.link
            hint = _TELLS if link is None or link.tells else _CANNOT_TELL
            said = f"{broken.message} (the clock shows {self._clock.milliseconds}; {hint})"
            raise Broken("hang", said, broken.detail) from None

    def _look(self, clock: Clock) -> Callable[[], object]:
        return self._steps(lambda: 1) or super()._look(clock)

    def _steps(self, callers: Callable[[], int]) -> Callable[[], bool] | None:
        """Return what moves the clock while all callers wait for it, if calls may wait for one."""
        link, clock = self._remote.link, self._clock
        return None if link is None or clock is None else mover(clock, link.waits, callers)

    def _move(self, ms: int) -> None:
        try:
            super()._move(ms)
        except Broken:  # who waits for the clock would wait on, and be in the way of the next case
            self._remote.end()
            raise

    def close(self) -> None:
        """End the last case, and the adapter."""
        try:
            super().close()
        finally:
            self._remote.end()


def _class_of(remote: Remote, operations: Mapping[str, Signature]) -> type[RemoteObject]:
    """Return the class of the objects that ask over a link; raise HarnessError for an operation that there is not."""
    declares = dict(remote.welcome.get("declares", {}))
    offered = remote.welcome.get("operations")
    lacks = declares.get("lacks")
    for each in offered or ():
        if each not in operations:
            raise HarnessError(f"the adapter offers {each!r}, which is no operation; known: {', '.join(operations)}")
        if isinstance(lacks, list) and each in lacks:
            raise HarnessError(f"the adapter says of {each} that it lacks it, and that it is there")
    if declares.get("concurrency") == "async":  # elsewhere it makes no difference
        declares["concurrency"] = "threads"
    clock = ["wait"] if declares.get("clock") in MOVED else []
    methods = {name: _method(name) for name in (*(operations if offered is None else offered), *clock)}
    its_own = {"declares": declares, "remote": remote, "__module__": ""}  # it stands in no file
    return type("RemoteSystem", (RemoteObject,), {**methods, **its_own})


def _method(name: str) -> Callable[..., Any]:
    def method(self: RemoteObject, **arguments: Any) -> Any:
        return self.remote.ask(name, arguments)

    method.__name__ = name
    return method
