"""The messages of an adapter elsewhere, tried one by one over a link of their own: what no run asks, too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from conformance.doctor.step import Exchange, State, Tried, Trying, Wrong
from conformance.remote import NO_METHOD, PROTOCOL, Link, ProtocolError, check_welcome, result_of
from conformance.system import Broken, HarnessError
from statemachines.compile import Compiled

_UNKNOWN: Final = "no_such_operation"
_BAD_LINE: Final = b"this line is no JSON\n"
_BLINK: Final = 0.02  # seconds between two looks whether a call has come to a point
_NOTICED: Final = 0.5  # seconds within which a bad line is told of, or not at all
_ENDED_ADVICE: Final = (
    "The program has ended: run the command by hand. It has to answer hello, and to go on until `close`."
)
_NO_METHOD_ADVICE: Final = (
    f'Answer a method that you do not know with {{"error": {{"code": {NO_METHOD}, "message": "…"}}}}.'
)
First = tuple[str, Mapping[str, Any]]  # a call that can be made on an empty system


def examine_messages(
    compiled: Compiled, opened: Callable[[], Link], exchange: Exchange, seconds: float, steps: list[Tried]
) -> Mapping[str, Any] | None:
    """Try hello, reset, an unknown method, a bad line and close; return the answer to hello, None where there is none."""
    link, welcome = None, None
    with Trying("start", exchange, steps, fatal=True) as say:
        link = opened()
        say("it is there")
    if link is None:
        return None
    try:
        with Trying("hello", exchange, steps, fatal=True) as say:
            welcome = _hello(compiled, link, max(seconds, 30.0))
            say(_told_of(welcome))
        if welcome is None:
            return None
        link.points = bool(welcome.get("points"))
        with Trying("reset", exchange, steps) as say:
            for _ in range(2):
                result_of(link.answer("reset", None, seconds), "reset", link.detail)
            say("twice in one process")
        _unknown(link, exchange, seconds, steps)
        _bad_line(link, exchange, seconds, steps)
    finally:
        _close(link, exchange, seconds, steps)
    return welcome


def _hello(compiled: Compiled, link: Link, seconds: float) -> Mapping[str, Any]:
    spec = compiled.lifecycle
    asked = {"protocol": PROTOCOL, "lifecycle": spec.name, "revision": spec.version}
    try:
        answer = link.answer("hello", asked, seconds)
    except Broken as error:
        if error.kind != "crash":
            raise
        raise Wrong(f"{error.message}\n{error.detail}".rstrip(), _ENDED_ADVICE) from None
    try:
        welcome = check_welcome(result_of(answer, "hello", link.detail))
    except ProtocolError as error:
        raise Wrong(str(error), 'Answer {"protocol": 1, "declares": {…}}; docs/protocol.md names all words.') from None
    if welcome.get("points") and not link.tells:
        raise Wrong("it says that it tells of points, and it cannot over HTTP", "Leave `points` out.")
    return welcome


def _told_of(welcome: Mapping[str, Any]) -> str:
    declares = welcome.get("declares", {})
    words = [f"{word}: {declares[word]}" for word in ("clock", "concurrency") if word in declares]
    return ", ".join(["protocol 1", *words, f"points: {'yes' if welcome.get('points') else 'no'}"])


def _unknown(link: Link, exchange: Exchange, seconds: float, steps: list[Tried]) -> None:
    with Trying("unknown method", exchange, steps) as say:
        error = link.answer(_UNKNOWN, {}, seconds).get("error")
        if error is None:
            raise Wrong(f"{_UNKNOWN} is answered as if it were there", _NO_METHOD_ADVICE)
        if error["code"] != NO_METHOD:
            raise Wrong(f"{_UNKNOWN} is answered with the code {error['code']}", _NO_METHOD_ADVICE)
        say(f"error {NO_METHOD}")


def _bad_line(link: Link, exchange: Exchange, seconds: float, steps: list[Tried]) -> None:
    with Trying("bad line", exchange, steps) as say:
        answer = link.answer_to_line(_BAD_LINE, _NOTICED)
        advice = "Ignore a line that is no JSON, or answer it with an error whose id is null, and go on with the next."
        try:
            result_of(link.answer("reset", None, seconds), "reset", link.detail)
        except (Broken, HarnessError) as error:
            raise Wrong(f"after a line that is no JSON it does not go on: {error}", advice) from None
        say("it is told of" if answer is not None else "it is ignored")


def _close(link: Link, exchange: Exchange, seconds: float, steps: list[Tried]) -> None:
    if link.spent:
        link.end(seconds)
        steps.append(Tried("close", State.AWAY, "it could not be asked any more"))
        return
    with Trying("close", exchange, steps) as say:
        if not link.end(seconds):
            advice = "Answer `close`, then end the process; end it also when stdin comes to its end."
            raise Wrong("it does not end by itself", advice)
        say("it answers, and ends")


# ── Two at once ──


def examine_two(link: Link, calls: Sequence[First], exchange: Exchange, seconds: float, steps: list[Tried]) -> None:
    """Make a call twice at once; where the adapter tells of points, hold one there, and see that others are answered meanwhile.

    What is one step as a whole tells of no point: one of the calls has to.
    """
    with Trying("two at once", exchange, steps) as say:
        say(_made_at_once(link, calls, seconds))


def _made_at_once(link: Link, calls: Sequence[First], seconds: float) -> str:
    """Say what was seen of calls that were made twice at once. Raises Wrong."""
    if not link.points:
        _made_twice(link, calls[0], seconds)
        return "both are answered; that they are carried out at once, only points would show"
    if not any(_made_twice(link, call, seconds) for call in calls):
        raise Wrong(
            f"it says that it tells of points, and none of {', '.join(name for name, _ in calls)} told of one",
            "Write a `point` before each access of what calls share, and wait for its answer; or do not say `points`.",
        )
    return "while a call waits at its point, others are answered"


def _made_twice(link: Link, call: First, seconds: float) -> bool:
    """Make a call twice at once on an empty system; return whether it came to a point. Raises Wrong."""
    result_of(link.answer("reset", None, seconds), "reset", link.detail)
    held = _Held()
    link.turns = held if link.points else None
    with ThreadPoolExecutor(2) as pool:
        try:
            answers = [pool.submit(link.answer, *call, seconds, party) for party in range(2)]
            pointed = link.points and _comes_to_a_point(held, answers, seconds / 3)
            if pointed:
                _answered_meanwhile(link, seconds / 3)
        finally:
            link.turns = None
            held.release()
        for answer in answers:
            answer.result()
    return pointed


def _comes_to_a_point(held: _Held, answers: Sequence[Future[Any]], seconds: float) -> bool:
    """Return whether a call comes to a point before all are answered."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not all(each.done() for each in answers):
        if held.pointed.wait(_BLINK):
            return True
    return held.pointed.is_set()


def _answered_meanwhile(link: Link, seconds: float) -> None:
    """See that a request is answered while a call is held; raise Wrong where it is not. The call itself may hold a lock."""
    try:
        link.answer(_UNKNOWN, {}, seconds)
    except Broken:
        raise Wrong(
            "while a call waits at its point, no other request is answered",
            "Carry out each request on a thread or task of its own, and go on reading meanwhile; or do not declare "
            '"concurrency": then one call is made at a time.',
        ) from None


class _Held:
    """Holds all calls that come to points, until they may go on."""

    def __init__(self) -> None:
        self.pointed = threading.Event()
        self._going: list[Callable[[], object]] | None = []
        self._lock = threading.Lock()

    def sent(self, party: int, call: int) -> None:
        """Let it be sent."""

    def waits(self, call: int | None) -> None:
        """Take no note: the clock is not moved here."""

    def came_back(self, party: int) -> None:
        """Let it come back."""

    def point(self, call: int | None, go: Callable[[], object]) -> None:
        """Hold a call, or let it go on when all may."""
        self.pointed.set()
        with self._lock:
            if self._going is not None:
                self._going.append(go)
                return
        go()

    def release(self) -> None:
        """Let all go on."""
        with self._lock:
            going, self._going = self._going or [], None
        for go in going:
            go()
