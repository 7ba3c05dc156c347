"""What many protocols say: a small spec of each sentence, a right system that passes, and wrong ones that it finds."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from conformance.counterexample.play import NOTHING, play
from conformance.judge import Case, History, endless
from conformance.judge.avoided import _Situation
from conformance.refused import Refused
from conformance.search.clashes import calls_of
from conformance.skeleton import skeleton
from statemachines.compile import Compiled
from statemachines.rows import AtOnce, Call, Given, Observed, Trace
from tests.checking import codes, compile_text
from tests.conformance.systems import adapted, failing

# ── A call waits, however long it takes, for what somebody else does ─────────────────────────────

MAILBOX = """
lifecycle: mailbox
version: 1
about: Who takes a mail waits until there is one.
types:
  Word: {text: short}
variables:
  closed: {type: bool, default: false}
entities:
  Mail:
    id: minted
    fields: {word: Word}
operations:
  put:
    takes: {word: Word}
    create: {Mail: {word: word}}
    gives: {mail_id: mail.id}
  take:
    requires: {closed: (!closed)}
    waits: {until: mails.size() > 0}
    reads: {oldest: "mails.sortBy(m, m.serial)[0]"}
    for each: {first: {in: "[oldest]", remove: first}}
    gives: {word: oldest.word}
  shut:
    set: {closed: true}
  words:
    gives: mails.sortBy(m, m.serial).map(m, m.word)
matrix:
  N1:
    about: A mail that is there is taken at once, by one.
    level: must
    source: the handbook
    covers: [entities.Mail, operations.put, operations.take.for each, operations.take.gives, operations.words]
    act: [put('x'), put('y'), mail = take()]
    assert: mail.word == 'x' && words() == ['y']
  N2:
    about: Who comes before there is a mail waits for it.
    level: must
    source: the handbook
    needs: concurrency
    covers: operations.take.waits
    act: ["both = together(take(), put('x'))"]
    assert: both[0].word == 'x'
  E1:
    about: Who takes from a closed box is told at once.
    level: must
    source: the handbook
    covers: [operations.shut, operations.take.requires.closed]
    act: [shut(), mail = take()]
    assert: mail.refused == closed
"""


class Mailbox:
    declares: ClassVar[dict[str, Any]] = {"concurrency": "threads"}

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.mails: list[str] = []
        self.count = 0
        self.is_shut = False

    def put(self, word: str) -> dict[str, str]:
        with self.changed:
            self.mails.append(word)
            self.count += 1
            self.tell()
            return {"mail_id": f"M{self.count}"}

    def tell(self) -> None:
        self.changed.notify()

    def take(self) -> dict[str, str]:
        with self.changed:
            self.changed.wait_for(self.ready)
            if self.is_shut:
                raise Refused("closed")
            return {"word": self.mails.pop(0)}

    def ready(self) -> bool:
        return bool(self.mails) or self.is_shut

    def shut(self) -> None:
        with self.changed:
            self.is_shut = True
            self.changed.notify_all()

    def words(self) -> list[str]:
        return list(self.mails)


class ByTheLoop(Mailbox):
    """The same on an event loop."""

    declares: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.came = asyncio.Condition()

    async def put(self, word: str) -> dict[str, str]:  # type: ignore[override]  # an async method, as an adapter may have
        async with self.came:
            self.came.notify()
            return super().put(word)

    async def take(self) -> dict[str, str]:  # type: ignore[override]  # as above
        async with self.came:
            await self.came.wait_for(self.ready)
            return super().take()

    async def shut(self) -> None:  # type: ignore[override]  # as above
        async with self.came:
            super().shut()
            self.came.notify_all()


class OneCaller(Mailbox):
    """Nobody calls while another does, so that nobody waits."""

    declares: ClassVar[dict[str, Any]] = {}


READABLE = MAILBOX.replace("  words:\n", "  read:\n    takes: {mail: Mail}\n    gives: mail.word\n  words:\n", 1)


class Readable(Mailbox):
    """A mail can be read as long as nobody has taken it."""

    def read(self, mail: str) -> str:
        with self.changed:
            place = int(mail.removeprefix("M")) - 1 - (self.count - len(self.mails))
            if place < 0:
                raise Refused("not_found")
            return self.mails[place]


def test_a_call_about_what_its_caller_gave_is_played_beside_one_that_waits() -> None:
    compiled = compile_text(READABLE, "mailbox.yaml")
    goes_on = (Call(2, "put", (("word", "x"),)), Call(3, "read", (("mail", Given(2, "mail_id")),)))
    for callers in (((Call(1, "take", ()),), goes_on), (goes_on, (Call(1, "take", ()),))):
        with adapted(Readable, compiled) as adapter:
            played = play(compiled, adapter, Trace((AtOnce(callers),)))
        assert played.finding is None
        assert [len(each.calls) for each in played.made if isinstance(each, History)] == [3]


class TooEarly(Mailbox):
    """Whoever finds nothing gets nothing."""

    def take(self) -> dict[str, str]:
        with self.changed:
            return super().take() if self.ready() else {"word": ""}


class TellsNobody(Mailbox):
    """Whoever waits is not told of a mail."""

    def tell(self) -> None:
        pass


class WaitsForEver(Mailbox):
    """Whoever waits is not told that there will be no mail."""

    def shut(self) -> None:
        self.is_shut = True


def mailbox() -> Compiled:
    return compile_text(MAILBOX, "mailbox.yaml")


@pytest.mark.thorough
@pytest.mark.parametrize("system", [Mailbox, ByTheLoop, OneCaller])
def test_who_waits_as_the_spec_says_passes(system: type) -> None:
    assert failing(MAILBOX, system) == set()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("system", "by"), [(TooEarly, {"N2", "machine"}), (TellsNobody, {"N2"}), (WaitsForEver, {"machine"})]
)
def test_who_waits_otherwise_fails(system: type, by: set[str]) -> None:
    assert failing(MAILBOX, system) >= by  # more, as calls at once happen to meet


@pytest.mark.parametrize(
    ("made", "calls", "may"),
    [
        ([], [[("take", {})]], True),
        ([], [[("take", {})], [("put", {"word": "x"})]], False),
        ([], [[("take", {}), ("put", {"word": "x"})]], True),
        ([], [[("take", {})], [("take", {})], [("put", {"word": "x"})]], True),
        (["put"], [[("take", {})], [("take", {})]], True),
        (["put", "put"], [[("take", {})], [("take", {})]], False),
        ([], [[("take", {})], [("shut", {})]], False),
        (["shut"], [[("take", {})]], False),
        ([], [[("words", {})]], False),
    ],
)
def test_calls_of_which_one_may_wait_for_ever_are_told(made: list[str], calls: list[Any], may: bool) -> None:
    with adapted(Mailbox, mailbox()) as adapter:
        case = Case(mailbox(), adapter)
        for operation in made:
            case.call(operation, {"word": "x"} if operation == "put" else {})
        assert endless(case.judge.lockstep, [calls_of(*each) for each in calls]) is may


ERRANDS = """
lifecycle: errands
version: 1
about: Who waits for an errand waits until somebody has done it.
entities:
  Errand:
    id: minted
    states: {active: [open], terminal: [done]}
operations:
  begin:
    create: {Errand: {}}
    gives: {errand_id: errand.id}
  finish:
    takes: {errand: Errand}
    move: {open: done}
  wait_for:
    takes: {errand: Errand}
    waits: {until: errand.terminal}
    gives: errand.state
"""


class Errands:
    """Lets those wait who wait for what nobody has done."""

    declares: ClassVar[dict[str, Any]] = {"clock": "none", "concurrency": "threads"}

    def __init__(self) -> None:
        self.done: dict[str, threading.Event] = {}

    def begin(self) -> dict[str, str]:
        name = f"errand-{len(self.done) + 1}"
        self.done[name] = threading.Event()
        return {"errand_id": name}

    def finish(self, errand: str) -> None:
        if self.done[errand].is_set():
            raise Refused("wrong_state")
        self.done[errand].set()

    def wait_for(self, errand: str) -> str:
        self.done[errand].wait()
        return "done"


BEGUN: Any = ("begin", {})
OWN = {"errand": Given(0, "errand_id")}


@pytest.mark.parametrize(
    ("calls", "may"),
    [
        ([[BEGUN, ("wait_for", OWN)]], True),
        ([[BEGUN, ("finish", OWN), ("wait_for", OWN)]], False),
        ([[BEGUN, ("wait_for", OWN), ("finish", OWN)], [BEGUN]], True),
        ([[BEGUN, ("finish", OWN)], [BEGUN, ("wait_for", OWN)]], True),  # the other one's
    ],
)
def test_who_may_wait_for_ever_for_what_it_has_made_itself_is_told_and_not_accused(calls: list[Any], may: bool) -> None:
    errands = compile_text(ERRANDS, "errands.yaml")
    with adapted(Errands, errands, limit=2.0) as adapter:
        assert endless(Case(errands, adapter).judge.lockstep, [calls_of(*each) for each in calls]) is may
        beside: Any = [("begin", {}), ("begin", {})]  # nobody plays calls of one caller at once
        trace = Trace((AtOnce(tuple(_numbered(who, each) for who, each in enumerate([*calls, beside]))),))
        played = play(errands, adapter, trace)
    assert played == (NOTHING if may else replace(played, finding=None, trace=trace))


def test_what_is_like_another_moment_but_for_what_was_given_is_another_one() -> None:
    gave = [Observed("begin", {}, {"errand_id": name}) for name in ("errand-1", "errand-2")]
    one, other, same = (_Situation((1,), ({0: each},)).key for each in (*gave, gave[0]))
    assert one == same
    assert one != other, "which errand it waits for"


def _numbered(who: int, calls: list[Any]) -> tuple[Call, ...]:
    """Return the calls of one of several callers, each with a number that no other has."""
    own = replace(OWN["errand"], step=10 * who)
    asked = [(name, {"errand": own} if given else {}) for name, given in calls]
    return tuple(replace(call, number=10 * who + call.number) for call in calls_of(*asked))


def test_a_row_that_would_wait_for_ever_is_a_fault_of_the_spec() -> None:
    assert codes(MAILBOX) == set()
    assert codes(MAILBOX.replace("    needs: concurrency\n", "")) == {"open-call"}
    assert codes(MAILBOX.replace("[put('x'), put('y'), mail = take()]", "[mail = take()]")) == {"open-call"}


ORDERED = """
lifecycle: ordered
version: 1
about: What is asked when a call is made, and what when it comes back.
variables:
  shut: {type: bool, default: false}
  lost: {type: bool, default: false}
  odd: {type: bool, default: false}
entities:
  Job:
    id: minted
    states: {active: [running], terminal: [done, gone]}
operations:
  start: {create: {Job: {}}, gives: job.id}
  take:
    takes: {job: Job}
    requires: {shut: (!shut), lost: (!lost)}
    open: {odd: odd}
    waits: {until: job.terminal}
    move: done -> gone
"""


@pytest.mark.parametrize(
    ("state", "facts", "decided"),
    [
        ("running", (), {"blocks": True}),
        ("running", ("odd",), {"blocks": True, "refuse": ("odd",)}),
        ("running", ("shut",), {"refuse": ("shut",)}),
        ("running", ("shut", "lost", "odd"), {"refuse": ("shut", "lost", "odd")}),
        ("gone", (), {"refuse": ("wrong_state",)}),
        ("done", ("odd",), {"accept": True, "refuse": ("odd",)}),
        ("done", (), {"accept": True}),
    ],
)
def test_a_call_is_refused_when_it_is_made_or_when_it_comes_back(
    state: str, facts: tuple[str, ...], decided: dict[str, Any]
) -> None:
    model: Any = compile_text(ORDERED, "ordered.yaml").model()
    job = model.do_start().value
    model.jobs[job].state = state
    for fact in facts:
        setattr(model, fact, True)
    decision = model.may_take(job)
    names = ("accept", "avoid", "blocks", "idle", "refuse")
    assert {name: getattr(decision, name) for name in names if getattr(decision, name)} == decided


def test_the_skeleton_says_what_a_call_waits_for() -> None:
    assert "Waits until mails.size() > 0." in skeleton(mailbox(), "python")
