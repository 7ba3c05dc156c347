"""Time that passes: what is due at one instant comes in any order, and within a window when the system says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.judge.history import History
from conformance.judge.lockstep import FOLLOWED_WHOLE
from conformance.judge.matching import required
from statemachines.checks.spec import check_compiled
from statemachines.compile import Compiled, load
from statemachines.model import Signal
from tests.checking import compile_text
from tests.conformance.systems import Watched, at_once, signal

TEXT = """
lifecycle: passing
version: 1
about: A lamp goes out some time after it was lit, a candle flickers in times that are its own, a bell rings or not.
variables:
  ended: {type: int, default: 0}
entities:
  Lamp:
    id: minted
    fields: {since: time, number: {type: int, default: 0}}
    states: {active: [lit], terminal: [out]}
    after:
      lit: {in: 10, since: lamp.since, move: out, set: {lamp.number: ended + 1, ended: ended + 1}}
  Candle:
    fields: {since: time}
    states: {active: [burning]}
    after:
      burning:
        in: 10
        since: candle.since
        within: 5
        set: {candle.since: now}
        signal: {Flickered: {with: {at: now}}}
  Clock:
    fields: {since: time, ticked: time}
    states: {active: [running], terminal: [stopped]}
    after:
      running:
        - {in: 12, since: clock.since, move: stopped}
        - {in: 4, since: clock.ticked, set: {clock.ticked: now}, signal: {Ticked: {with: {at: now}}}}
  Bell:
    states: {active: [still], terminal: [rung]}
on its own:
  ring:
    for each: {bell: Bell}
    when: bell.state == still
    move: rung
    signal: {Rang: {with: {at: now}}}
signals:
  Flickered: {at: time}
  Ticked: {at: time}
  Rang: {at: time}
operations:
  light:
    create: {Lamp: {since: now}}
    gives: {lamp: lamp.id}
  kindle:
    create: {Candle: {since: now}}
  wind:
    create: {Clock: {since: now, ticked: now}}
  hang:
    create: {Bell: {}}
  look:
    takes: {lamp: Lamp}
    gives: {out: lamp.terminal, number: lamp.number}
matrix:
  N1:
    about: A lamp goes out in its time.
    level: must
    source: the test
    covers: [operations.light, entities.Lamp.id, entities.Lamp.after.lit, operations.look]
    needs: clock
    act:
      - one = light()
      - wait(9)
      - early = look(one.lamp)
      - wait(2)
    assert: (!early.out) && look(one.lamp).out && look(one.lamp).number == 1
  N2:
    about: A candle flickers when it likes.
    level: must
    source: the test
    covers: [operations.kindle, entities.Candle.after.burning]
    needs: clock
    act:
      - kindle()
      - quiet = wait(9)
      - flickered = wait(10)
    assert: quiet.signals.Flickered == [] && flickered.signals.Flickered.size() == 1
  N3:
    about: A clock ticks until it stops.
    level: must
    source: the test
    covers: [operations.wind, entities.Clock.after]
    needs: clock
    act:
      - wind()
      - ticked = wait(20)
    assert: ticked.signals.Ticked.size() >= 2
  N4:
    about: A bell rings once, if at all.
    level: must
    source: the test
    covers: [operations.hang, on its own.ring]
    needs: clock
    act:
      - hang()
      - rang = wait(20)
    assert: rang.signals.Rang.size() <= 1
"""
SPEC = compile_text(TEXT, "passing.yaml")


def lit(*names: str) -> Watched:
    watching = Watched(SPEC)
    for name in names:
        watching.must("light", gives={"lamp": name})
    return watching


def seen(number: int) -> dict[str, object]:
    return {"out": number > 0, "number": number}


def flickered(*instants: int) -> list[Signal]:
    return [signal("Flickered", at=instant) for instant in instants]


@pytest.mark.thorough
def test_the_spec_is_right_and_a_row_that_leans_on_the_very_instant_is_not() -> None:
    assert {each.code for each in check_compiled(SPEC).diagnostics} == {"dead-end"}  # the candle burns for ever
    for wait in ("wait(1)", "wait(0)"):
        text = TEXT.replace("- wait(2)", f"- {wait}")
        assert "row-fails" in {each.code for each in check_compiled(compile_text(text, "x")).diagnostics}
    early = TEXT.replace("wait(10)", "wait(6)")  # it may be later, and it may be again
    assert "as late as it may be" in check_compiled(compile_text(early, "x")).render()


def test_what_is_due_at_an_instant_may_come_before_a_call_or_after_it() -> None:
    for number in (0, 1):
        watching = lit("a")
        watching.must("wait", 10)
        watching.must("look", "a", gives=seen(number))
        watching.must("wait", 1)
        watching.must("look", "a", gives=seen(1))
    watching = lit("a")
    watching.must("wait", 10)
    watching.must("look", "a", gives=seen(1))
    assert watching("look", "a", gives=seen(0)) is not None


def test_what_is_due_at_one_instant_comes_in_any_order() -> None:
    for order in ((1, 2, 3), (3, 1, 2), (2, 3, 1)):
        watching = lit("a", "b", "c")
        watching.must("wait", 11)
        for name, number in zip("abc", order, strict=True):
            watching.must("look", name, gives=seen(number))
    watching = lit("a", "b")
    watching.must("wait", 11)
    watching.must("look", "a", gives=seen(2))
    assert watching("look", "b", gives=seen(2)) is not None


def test_what_ends_something_at_an_instant_may_come_before_its_last_tick_or_after_it() -> None:
    for ticks in ((4, 8), (4, 8, 12)):
        watching = Watched(SPEC)
        watching.must("wind")
        watching.must("wait", 20, signals=[signal("Ticked", at=tick) for tick in ticks])
    watching = Watched(SPEC)
    watching.must("wind")
    assert watching("wait", 20, signals=[signal("Ticked", at=tick) for tick in (4, 12)]) is not None


def test_nothing_comes_too_early_or_too_late() -> None:
    watching = lit("a")
    watching.must("wait", 9)
    assert watching("look", "a", gives=seen(1)) is not None
    watching = lit("a")
    watching.must("wait", 11)
    assert watching("look", "a", gives=seen(0)) is not None


def test_within_a_window_the_system_says_when() -> None:
    right: list[tuple[int, ...]] = [(10, 20, 30, 40), (15, 25, 36), (12, 24, 37), (15, 30)]
    for instants in right:
        watching = lit()
        watching.must("kindle")
        watching.must("wait", 45 if instants[-1] > 30 else 44, signals=flickered(*instants))
    wrong: list[tuple[int, ...]] = [
        (9, 20, 30, 40),
        (16, 30, 41),
        (10, 26, 40),
        (10, 30, 40),
        (10, 20, 30),
        (),
    ]
    for instants in wrong:
        watching = lit()
        watching.must("kindle")
        assert watching("wait", 46, signals=flickered(*instants)) is not None


def test_a_window_that_is_open_may_be_used_at_the_next_call() -> None:
    watching = lit()
    watching.must("kindle")
    watching.must("wait", 12)
    watching.must("light", gives={"lamp": "a"}, signals=flickered(12))
    watching.must("wait", 9)
    finding = watching("light", gives={"lamp": "b"}, signals=flickered(21))
    assert finding is not None
    assert (finding.kind, finding.path) == ("signal", "Flickered")


@pytest.mark.parametrize("instants", [(12,), (10,), (10, 12), (11, 12, 12, 13, 13, 13)])
def test_what_need_not_come_yet_comes_later_beside_what_comes_now(instants: tuple[int, ...]) -> None:
    """The clock ticks just when the windows of the candles open, and tells of it."""
    watching = Watched(SPEC)
    for _ in instants:
        watching.must("kindle")
    watching.must("wait", 2)
    watching.must("wind")
    ticked = [signal("Ticked", at=instant) for instant in (6, 10)]
    watching.must("wait", 11, signals=[*ticked, *flickered(*instants)])
    assert watching("wait", 2, signals=[signal("Ticked", at=13)]) is not None


def test_what_may_come_unasked_comes_while_time_passes_and_after_something_else_that_did() -> None:
    for instants in ((), (0,), (7,), (19,)):
        watching = Watched(SPEC)
        watching.must("hang")
        watching.must("kindle")
        rang = [signal("Rang", at=instant) for instant in instants]
        watching.must("wait", 20, signals=[*rang, *flickered(12)])
    for wrong in ((3, 7), (21,)):
        watching = Watched(SPEC)
        watching.must("hang")
        assert watching("wait", 20, signals=[signal("Rang", at=instant) for instant in wrong]) is not None
    watching = Watched(SPEC)
    watching.must("hang")
    watching.must("wait", 20, signals=[signal("Rang", at=7)])
    assert watching("wait", 20, signals=[signal("Rang", at=27)]) is not None


def test_a_step_that_tells_nothing_opens_the_way_for_one_that_does() -> None:
    """Of two completions that are held until their records go, the first may go with its record, and the second come."""
    for waits in ([2000], [700, 1300]):
        watched = Watched(load("job"), policies={"unwatch_restores": "delivered", "retry_order": "head_of_line"})
        watched.must("configure", 15, 1000, 30000)
        for name in "ab":
            watched.must("register", "bash", "x", gives={"job_id": name, "handle": f"of {name}"})
        watched.must("watch", ["a", "b"])
        watched.must("settle", "of a", "ok", "x")
        watched.must("wait", 500)
        watched.must("settle", "of b", "ok", "y")
        for ms in waits[:-1]:
            watched.must("wait", ms)
        told = [signal("delivery_attempted", at=1500, job="b"), signal("delivered", job="b", text="y")]
        watched.must("wait", waits[-1], signals=told)


LAMPS = """
lifecycle: lamps
version: 1
about: Lamps go out some time after they were lit; the one that goes out when two are out is the last.
entities:
  Lamp:
    id: minted
    fields: {since: time, last: {type: bool, default: false}}
    states: {active: [lit, out]}
    after:
      lit: {in: 10, since: lamp.since, move: out, set: {lamp.last: "lamps.filter(l, l.state == out).size() >= 2"}}
operations:
  light:
    create: {Lamp: {since: now}}
    gives: {lamp: lamp.id}
  look:
    takes: {lamp: Lamp}
    gives: {last: lamp.last}
"""

GATE = """
lifecycle: gate
version: 1
about: One lamp shuts a gate, another opens it, and a cat may pass the open gate.
variables:
  shut: {type: bool, default: false}
  open: {type: bool, default: false}
  passed: {type: bool, default: false}
entities:
  Shutter:
    fields: {since: time}
    states: {active: [lit, out]}
    after:
      lit: {in: 10, since: shutter.since, move: out, set: {shut: true}}
  Opener:
    fields: {since: time}
    states: {active: [lit, out]}
    after:
      lit: {in: 10, since: opener.since, move: out, set: {open: true}}
on its own:
  pass:
    when: open && (!shut) && (!passed)
    set: {passed: true}
operations:
  light:
    create: {Opener: {since: now}, Shutter: {since: now}}
  look:
    gives: passed
"""

BELLS = """
lifecycle: bells
version: 1
about: Of two bells that ring at once nobody knows what the one says.
entities:
  Vague:
    fields: {since: time}
    states: {active: [lit, out]}
    after:
      lit: {in: 10, since: vague.since, move: out, signal: {Told: {with: {text: anything}}}}
  Exact:
    fields: {since: time}
    states: {active: [lit, out]}
    after:
      lit: {in: 10, since: exact.since, move: out, signal: {Told: {with: {text: "'x'"}}}}
signals:
  Told: {text: text}
operations:
  light:
    create: {Vague: {since: now}, Exact: {since: now}}
"""


@pytest.mark.parametrize("last", "abc")
def test_any_of_three_timers_may_be_the_last_although_two_of_them_never_differ(last: str) -> None:
    watching = Watched(compile_text(LAMPS, "lamps.yaml"))
    for name in "abc":
        watching.must("light", gives={"lamp": name})
    watching.must("wait", 11)
    for name in "abc":
        watching.must("look", name, gives={"last": name == last})


@pytest.mark.parametrize("waits", [[11], [10, 1], [9, 2]])
@pytest.mark.parametrize("passed", [True, False])
def test_what_a_timer_makes_possible_may_be_done_before_another_one_of_its_instant(
    waits: list[int], passed: bool
) -> None:
    watching = Watched(compile_text(GATE, "gate.yaml"))
    watching.must("light")
    for ms in waits:
        watching.must("wait", ms)
    watching.must("look", gives=passed)


@pytest.mark.parametrize("order", ["xy", "yx"])
def test_a_signal_that_may_say_anything_takes_none_from_one_that_may_not(order: str) -> None:
    watching = Watched(compile_text(BELLS, "bells.yaml"))
    watching.must("light")
    watching.must("wait", 11, signals=[signal("Told", text=text) for text in order])


TEN_MINUTES, A_DAY = 600_000, 86_400_000


def attempts_of(ms: int) -> tuple[Watched, list[Signal]]:
    """A job whose completion nobody takes, beside others that may leave; and what some time shows of it, as the model has it."""
    choices = {"unwatch_restores": "delivered", "retry_order": "head_of_line", "returned_leaves": "may"}
    watched = Watched(load("job"), policies=choices)
    for name in "abc":
        watched.must("register", "bash", "x", gives={"job_id": name, "handle": f"of {name}"})
    watched.must("sink", "refuse")
    watched.must("settle", "of b", "ok", "y", signals=[signal("delivery_attempted", at=0, job="b")])
    for name in "c":
        watched.must("settle", f"of {name}", "ok", "y")
    watched.must("acknowledge", list("bc"))
    watched.must("settle", "of a", "ok", "x")
    return watched, required(watched.judge.lockstep.model.fork().wait(ms))


def test_a_day_of_attempts_is_followed_to_its_end() -> None:
    watched, attempts = attempts_of(A_DAY)
    assert len(attempts) > 2_000
    watched.must("wait", A_DAY, signals=attempts)
    assert not watched.judge.unsure


def test_of_many_attempts_the_one_that_was_not_made_is_told() -> None:
    watched, attempts = attempts_of(TEN_MINUTES)
    finding = watched("wait", TEN_MINUTES, signals=[*attempts[:15], *attempts[16:]])
    assert finding is not None
    assert f"at: {dict(attempts[15][1])['at']}" in finding.expected


def test_calls_at_once_leave_the_same_ways_open() -> None:
    watching = lit("a")
    watching.must("wait", 10)
    calls = watching.call("look", "a", gives=seen(0)), watching.call("look", "a", gives=seen(1))
    assert watching.group(*calls) is None
    assert watching("look", "a", gives=seen(0)) is not None


def test_a_call_without_signals_is_held_against_no_step_that_sends_one() -> None:
    watching = Watched(SPEC, replace(USUAL, own_steps=50))
    for _ in range(6):  # in 64 ways some of them have rung
        watching.must("hang")
    watching.must("light", gives={"lamp": "a"})
    assert not watching.judge.unsure


@pytest.mark.parametrize(("most", "unsure"), [(20, True), (2_000, False)])
def test_timers_that_are_held_against_each_other_are_bounded(most: int, unsure: bool) -> None:
    watching = Watched(SPEC, replace(USUAL, ways_of_time=most))
    for _ in range(5):
        watching.must("wind")
    finding = watching("wait", 5, signals=[signal("Ticked", at=4)] * 5)
    assert (finding is not None, watching.judge.unsure) == (
        unsure,
        unsure,
    )  # what is not followed is not explained either


# ── Calls that may block for a time ──────────────────────────────────────────────────────────────────


def table() -> Watched:
    """Background tasks, of which one runs."""
    watched = Watched(load("background-tasks"), concurrency="async")
    watched.must("spawn", "x", gives={"task_id": "a"})
    return watched


@pytest.mark.parametrize(("lasts", "took", "right"), [(1000, 999, True), (1000, 1000, False), (499, 499, True)])
def test_who_waits_though_nothing_keeps_it_need_not_come_back_at_once_but_before_its_time_is_over(
    lasts: int, took: int, right: bool
) -> None:
    watched = table()
    watched.must("finish", "a", "completed", "x")
    finding = watched.step(replace(watched.call("wait_for_completion", lasts, gives=True), elapsed=took))
    assert (finding is None) == right
    assert finding is None or finding.clause == "operations.wait_for_completion.waits"


@pytest.mark.parametrize(("finished", "right"), [(500, False), (501, True), (1000, True)])
def test_what_ends_a_wait_in_its_last_half_second_may_be_told_at_its_end(finished: int, right: bool) -> None:
    watched = table()
    finish = replace(watched.call("finish", "a", "completed", "x", during=(2, 3)), at=finished)
    waits = replace(watched.call("wait_for_completion", 1000, gives=True, during=(1, 4)), elapsed=1000)
    pause = watched.call("wait", finished, during=(1, 2))
    assert (watched.step(History(((waits,), (pause, finish)))) is None) == right


def test_time_passes_once_for_all_who_wait_at_once() -> None:
    watched = table()
    waits = [replace(watched.call("wait_for_completion", 10, gives=False, during=(1, 4)), elapsed=10) for _ in "ab"]
    assert watched.step(at_once(waits)) is None
    assert watched.judge.model.now == 10


@pytest.mark.parametrize(("finished", "right"), [(1000, True), (999, False)])
def test_what_ends_in_the_last_millisecond_of_a_wait_may_come_after_it_though_the_wait_comes_back_later(
    finished: int, right: bool
) -> None:
    watched = table()
    finish = replace(watched.call("finish", "a", "completed", "x", during=(2, 3)), at=finished)
    waits = replace(watched.call("wait_for_completion", 1000, gives=False, during=(1, 4)), elapsed=1000)
    pause = watched.call("wait", finished, during=(1, 2))
    assert (watched.step(History(((waits,), (pause, finish)))) is None) == right


LEAVING_TEXT = """
lifecycle: leaving
version: 1
about: What has ended may leave in silence, or when its time is over, and then it is told.
types:
  JobId: {id of: Job, or: fresh}
entities:
  Job:
    id: minted
    fields: {since: time}
    states: {active: [running], terminal: [ended]}
    after:
      ended: {in: 5, since: job.since, signal: {Late: {}}, remove: job}
on its own:
  delete:
    for each: {job: Job}
    when: job.state == ended
    remove: job
signals:
  Late: {}
operations:
  start:
    create: {Job: {since: now}}
    gives: {job: job.id}
  stop:
    takes: {job: Job}
    move: running -> ended
matrix:
  N1:
    about: A job ends.
    level: must
    source: the test
    covers: [operations.stop]
    act: [job = start(), stopped = stop(job.job)]
    assert: stopped.refused == null
"""
LEAVING = compile_text(LEAVING_TEXT, "leaving.yaml")


AGAIN = compile_text(LEAVING_TEXT.replace("signal: {Late: {}}", "signal: {Late: {times: at least once}}"), "again.yaml")


@pytest.mark.parametrize("spec", [LEAVING, AGAIN], ids=["once", "at least once"])
@pytest.mark.parametrize("told", [[], [signal("Late")]], ids=["in silence", "with a signal"])
def test_one_state_may_be_come_to_with_a_signal_and_without(spec: Compiled, told: list[Any]) -> None:
    watched = Watched(spec)
    watched.must("start", gives={"job": "a"})
    watched.must("wait", 51)
    watched.must("stop", "a", signals=told)


def test_from_many_explanations_fewer_steps_of_its_own_are_followed_than_from_one() -> None:
    """Of so many jobs each may have left or not: what each of the explanations leads to took minutes a call."""
    watched = Watched(LEAVING, replace(USUAL, own_steps=200))
    for name in "abcdefghijkl":
        watched.must("start", gives={"job": name})
        watched.must("stop", name)
    assert len(watched.judge.lockstep.configurations) > 8 * FOLLOWED_WHOLE
    watched.must("start", gives={"job": "m"})
    assert FOLLOWED_WHOLE < watched.judge.lockstep.cost <= 2 * FOLLOWED_WHOLE * 200
    assert watched.judge.unsure


LENT = """
lifecycle: lent
version: 1
about: A book is lent for a time, then it stands in front of all others, and whoever wants one waits for it.
variables:
  shelf: {list of: BookId, default: "[]"}
types:
  BookId: {id of: Book}
entities:
  Book:
    id: minted
    fields: {since: time}
    states: {active: [lent], terminal: [there]}
    after:
      lent: {in: 1000, since: book.since, move: there, set: {shelf: "[book.id] + shelf"}}
operations:
  lend:
    create: {Book: {since: now}}
    gives: {book: book.id}
  wait_for_one:
    takes: {timeout: int}
    waits: {for: timeout, until: shelf.size() > 0}
    gives: shelf.size() > 0
  shelf:
    gives: shelf
"""


@pytest.mark.parametrize("there", [True, False])
def test_what_is_due_when_a_call_comes_back_may_have_been_done_or_not_yet(there: bool) -> None:
    watched = Watched(compile_text(LENT, "lent.yaml"))
    watched.must("lend", gives={"book": "a"})
    watched.must("wait", 500)
    call = watched.call("wait_for_one", 500, gives=there)
    assert watched.step(replace(call, elapsed=500)) is None
    early = watched.call("wait_for_one", 0, gives=not there)
    assert (watched.step(early) is None) is (not there)


def test_one_event_is_not_followed_for_longer_than_all_that_may_come_of_it() -> None:
    """Whatever comes first stands behind: of thirty books due at one instant there are more orders than anybody would follow."""
    watched = Watched(compile_text(LENT, "lent.yaml"), replace(USUAL, own_steps=100, ways_of_time=200))
    for number in range(30):
        watched.must("lend", gives={"book": f"b{number:02}"})
    watched.must("wait", 1000)
    late = replace(watched.call("wait_for_one", 700, gives=True), elapsed=1)
    assert watched.step(late) is None or watched.judge.unsure
    assert watched.judge.unsure
    assert watched.judge.lockstep.cost <= 400


def test_what_is_asked_beside_the_calls_uses_up_nothing() -> None:
    watched = Watched(compile_text(LENT, "lent.yaml"), replace(USUAL, own_steps=20, ways_of_time=40))
    lockstep = watched.judge.lockstep
    for name in "abc":
        watched.must("lend", gives={"book": name})
    late = replace(watched.call("wait_for_one", 2000, gives=True), elapsed=1000)
    assert [lockstep.allows(late) for _ in range(200)] == [True] * 200
    assert not lockstep.unsure
    assert watched.step(late) is None
