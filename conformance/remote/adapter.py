"""The kit's side of an adapter elsewhere: an object of Python whose methods are requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, ClassVar, Final, Protocol

from conformance.remote import protocol
from conformance.remote.protocol import ProtocolError
from conformance.remote.turns import Turns
from conformance.system import Adapter, Broken, Declare, HarnessError, Signature, Thread, fulfil

HELLO_LIMIT: Final = 30.0  # seconds: what is started may be compiled first
_MOST_FAULTS: Final = 3  # starts that end in a broken protocol, after which nothing is asked any more
_PARTY = threading.local()  # which of several callers this thread is


class Link(Protocol):
    """A way to an adapter elsewhere."""

    usable: bool
    fault: str
    turns: Turns | None

    def ask(self, method: str, params: Mapping[str, Any] | None, seconds: float, party: int | None = None) -> Any:
        """Return what a request gives; raise Refused, Broken or HarnessError."""

    def end(self) -> None:
        """End it, and what it has started."""


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
        self._faults = 0
        self.link: Link | None = None
        self.welcome: Mapping[str, Any] = {}
        self.welcome = self._begun()

    def reset(self) -> None:
        """Begin a case. Raises HarnessError, or Broken."""
        if self.link is None or not self.link.usable:
            self.end()
            if self._begun() != self.welcome:
                raise HarnessError("the adapter answered hello in another way than when it was started first")
        self.ask("reset", None)

    def ask(self, method: str, params: Mapping[str, Any] | None) -> Any:
        """Return what a request gives; raise Refused, Broken or HarnessError."""
        if self.link is None:
            raise HarnessError("the adapter has been ended")
        return self.link.ask(method, params, self.seconds, getattr(_PARTY, "number", None))

    def end(self) -> None:
        """End the adapter."""
        link, self.link = self.link, None
        if link is not None:
            self._faults += bool(link.fault)
            link.end()

    def _begun(self) -> Mapping[str, Any]:
        if self._faults >= _MOST_FAULTS:
            raise HarnessError(f"the adapter has broken the protocol {self._faults} times, and is not asked any more")
        link = self.link = self._opened()
        try:
            return protocol.check_welcome(link.ask("hello", self._hello, max(self.seconds, HELLO_LIMIT)))
        except Broken as broken:
            raise HarnessError(f"there is no answer to hello: {broken.message}\n{broken.detail}".rstrip()) from None
        except ProtocolError as error:
            raise HarnessError(f"the answer to hello cannot be used: {error}") from None


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
        if taken := [each for each in protocol.RESERVED if each in operations]:
            raise HarnessError(f"{name}: the protocol has methods of its own called {', '.join(taken)}")
        self._remote = Remote(opened, *lifecycle, limit)
        try:
            kind = _class_of(self._remote, operations)
            self.points = bool(self._remote.welcome.get("points", False))
            super().__init__(kind, name, operations, declare, limit)
        except BaseException:
            self._remote.end()
            raise

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
        return max(self.limit, HELLO_LIMIT) + 1

    @property
    def seen_inside(self) -> bool:
        """Whether the system itself tells how calls at once overlap."""
        return self.points

    def turn(self) -> None:
        """Wait until a call that is made beside others may begin."""
        link, party = self._remote.link, getattr(_PARTY, "number", None)
        if link is not None and link.turns is not None and party is not None:
            link.turns.begin(party)

    def _run_at_once(self, bodies: Sequence[Callable[[], Any]], seed: int) -> list[Any]:
        """Make calls from threads of their own: each of the system's points is a turn, or they are only sent at once."""
        results: list[Future[Any]] = [Future() for _ in bodies]
        turns, start = Turns(len(bodies), seed, self.limit / 2), threading.Barrier(len(bodies))
        link = self._remote.link
        if self.points and link is not None:
            link.turns = turns

        def work(party: int, body: Callable[[], Any]) -> None:
            _PARTY.number = party
            start.wait()
            if not self.points:
                turns.spread(party)
            fulfil(results[party], body)
            turns.end(party)

        threads = [Thread(partial(work, *each)) for each in enumerate(bodies)]
        for thread in threads:
            thread.start()
        turns.run()
        for thread in threads:
            thread.join()
        if link is not None:
            link.turns = None
        self.overlapped = len(turns.overlapped) if self.points else None
        return [each.result() for each in results]

    def close(self) -> None:
        """End the last case, and the adapter."""
        try:
            super().close()
        finally:
            self._remote.end()


def _class_of(remote: Remote, operations: Mapping[str, Signature]) -> type[RemoteObject]:
    """Return the class of the objects that ask over a link; raise HarnessError for an operation that there is not."""
    declares = dict(remote.welcome.get("declares", {}))
    lacks = declares.get("lacks", [])
    offered = remote.welcome.get("operations", [each for each in operations if each not in lacks])
    if strange := [each for each in offered if each not in operations]:
        remote.end()
        raise HarnessError(f"the adapter offers {strange[0]!r}, which is no operation; known: {', '.join(operations)}")
    if declares.get("concurrency") == "async":  # elsewhere it makes no difference
        declares["concurrency"] = "threads"
    clock = ["wait"] if declares.get("clock") == "virtual" else []
    methods = {name: _method(name) for name in (*offered, *clock)}
    return type("Remote", (RemoteObject,), {**methods, "declares": declares, "remote": remote})


def _method(name: str) -> Callable[..., Any]:
    def method(self: RemoteObject, **arguments: Any) -> Any:
        return self.remote.ask(name, arguments)

    method.__name__ = name
    return method
