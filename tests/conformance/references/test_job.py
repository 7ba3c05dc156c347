"""The reference of job and another right system do what the description says; each wrong one differs."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from conformance.references.job import Jobs
from conformance.refused import Refused
from tests.conformance.references.job_scenarios import SCENARIOS
from tests.conformance.references.script import history
from tests.conformance.references.virtual_time import Driven
from tests.faulty.job import FAULTY, Lie, concurrency
from tests.right.job import RIGHT

OTHER_CHOICES = {
    "late_settlement": "anew",
    "id_reuse": "no",
    "retry_order": "overtaking",
    "unwatch_restores": "lost",
    "ack_running": "ignored",
    "list_acknowledges": "yes",
    "owner_scope": "list_only",
}


def choosing(name: str, choice: str) -> Callable[[], Jobs]:
    return lambda: Jobs(**{name: choice})  # type: ignore[arg-type]  # every policy is a word


SYSTEMS: dict[str, Callable[[], Any]] = {
    "reference": Jobs,
    **{system.__name__: system for system in RIGHT},
    **{f"{name}={choice}": choosing(name, choice) for name, choice in OTHER_CHOICES.items()},
}
BOTH = "a = register('bash', 'x'); b = register('task', 'y'); "

# What is read off the description: a script, and the last reply, or what `signal:` says of the last call's signals.
READ: dict[str, tuple[str, Any]] = {
    "a result completes": (
        "a = register('bash', 'x'); settle(a, 'ok', 't'); get(a)",
        {"status": "completed"},
    ),
    "an error fails": ("a = register('bash', 'x'); settle(a, 'error', 't'); get(a)", {"error_text": "t"}),
    "a late text is stored": (
        "a = register('bash', 'x'); cancel(a); settle(a, 'ok', 't'); get(a)",
        {"status": "cancelled", "result_text": "t"},
    ),
    "the limit holds": ("configure(1); register('bash', 'x'); register('bash', 'x')", "limit_reached"),
    "a cancel frees the slot": (
        "configure(1); a = register('bash', 'x'); cancel(a); b = register('bash', 'y'); get(b)",
        {"status": "running"},
    ),
    "kept a millisecond before": (
        "configure(1, 100); a = register('bash', 'x'); settle(a, 'ok', 't'); wait(99); get(a)",
        {"status": "completed"},
    ),
    "gone a millisecond after": (
        "configure(1, 100); a = register('bash', 'x'); settle(a, 'ok', 't'); wait(101); get(a)",
        None,
    ),
    "gone though the body never ends": (
        "configure(1, 100); a = register('bash', 'x'); cancel(a); wait(101); get(a)",
        None,
    ),
    "a poll waits": (BOTH + "t = tool(poll=[a, b]); wait(1); tool_result(t)", None),
    "the first to settle ends a poll": (
        BOTH + "t = tool(poll=[a, b]); settle(b, 'ok', 't'); tool_result(t)",
        {
            "shown": {"x": "running", "y": "completed"},
            "headings": ["## Completed (1)", "## Still Running (1)"],
        },
    ),
    "a poll gives up": (
        "configure(2, 9, 5000); " + BOTH + "t = tool(poll=[a]); wait(5001); tool_result(t)",
        {"shown": {"x": "running"}, "headings": ["## Still Running (1)"]},
    ),
    "an aborted poll cancels nothing": (
        BOTH + "t = tool(poll=[a]); abort_tool(t); tool_result(t)",
        {"shown": {"x": "running"}},
    ),
    "a cancel in the same call is not waited for": (
        BOTH + "t = tool(poll=[a], cancel=[a]); tool_result(t)",
        {"shown": {"x": "cancelled"}, "outcomes": ["cancelled"]},
    ),
    "cancel outcomes": (
        BOTH + "settle(a, 'error', ''); t = tool(cancel=['n', a, b]); tool_result(t)",
        {"outcomes": ["not_found", "already_completed", "cancelled"]},
    ),
    "list and poll exclude each other": (BOTH + "tool(poll=[a], list=True)", "list_is_exclusive"),
    "no manager": (
        "t = tool(manager='none'); tool_result(t)",
        {"text": "Async execution is disabled; no background jobs are available.", "jobs": []},
    ),
    "unknown ids": (
        "t = tool(poll=['m', 'n']); tool_result(t)",
        {"text": "No matching jobs found for IDs: m, n", "jobs": []},
    ),
    "nothing runs": ("t = tool(); tool_result(t)", {"text": "No running background jobs to wait for."}),
    "an empty list": ("t = tool(list=True); tool_result(t)", {"jobs": []}),
    "delivered at once": (BOTH + "settle(a, 'ok', 't')", "signal: delivered t"),
    "not delivered once cancelled": (BOTH + "cancel(a); settle(a, 'ok', 't')", "signal:"),
    "not delivered beside a poll": (BOTH + "tool(poll=[a]); settle(a, 'ok', 't'); wait(90000)", "signal:"),
    "delivered after a poll that was aborted": (
        BOTH + "t = tool(poll=[a]); abort_tool(t); settle(a, 'ok', 't')",
        "signal: delivered t",
    ),
    "not tried before the delay is over": (
        BOTH + "sink('refuse'); settle(a, 'ok', 't'); sink('accept'); wait(499)",
        "signal:",
    ),
    "tried again": (
        BOTH + "sink('raise'); settle(a, 'ok', 't'); sink('accept'); wait(700)",
        "signal: delivered t",
    ),
    "owed beyond eviction": (
        "configure(2, 9); " + BOTH + "sink('refuse'); settle(a, 'ok', 't'); wait(99); sink('accept'); wait(700)",
        "signal: delivered t",
    ),
    "not retried once a poll has shown it": (
        BOTH + "sink('refuse'); settle(a, 'ok', 't'); tool(poll=[a]); sink('accept'); wait(90000)",
        "signal:",
    ),
    "acknowledged in flight": (
        BOTH + "sink('block'); settle(a, 'ok', 't'); settle(b, 'ok', 'u'); acknowledge([a]); sink('accept'); "
        "release_sink()",
        "signal: delivered t, u",
    ),
    "nothing after dispose": (
        BOTH + "sink('refuse'); settle(a, 'ok', 't'); dispose(); wait(90000)",
        "signal:",
    ),
    "no job after dispose": ("dispose(); register('bash', 'x')", "disposed"),
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("rule", READ)
def test_a_right_system_does_what_the_description_says(system: str, rule: str) -> None:
    script, expected = READ[rule]
    _, reply, signals = history(SYSTEMS[system](), script)[-1]
    if isinstance(expected, str) and expected.startswith("signal:"):
        told = [signal["text"] for signal in signals if signal["signal"] == "delivered"]
        assert (["signal: delivered " + ", ".join(told)] if told else ["signal:"]) == [expected]
    elif isinstance(expected, dict):
        seen = shown(reply)
        assert {name: seen[name] for name in expected} == expected
    else:
        assert reply == expected


def shown(reply: Any) -> dict[str, Any]:
    """A reply, with what a reply of the tool shows in short."""
    assert isinstance(reply, dict)
    return reply | {
        "shown": {job["label"]: job["status"] for job in reply.get("jobs", ())},
        "outcomes": [outcome["status"] for outcome in reply.get("cancelled") or ()],
        "headings": [line for line in reply.get("text", "").splitlines() if line.startswith("## ")],
    }


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_delay_doubles_up_to_a_ceiling(system: str) -> None:
    *_, settled, later = history(
        SYSTEMS[system](), "sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 't'); wait(160_000)"
    )
    instants = [signal["at"] for _, _, signals in (settled, later) for signal in signals]
    delays = [after - before for before, after in itertools.pairwise(instants)]
    least = [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000, 30000]
    assert len(delays) >= 9
    assert all(low <= delay < low + 200 for low, delay in zip(least, delays, strict=False))


@pytest.mark.parametrize("system", SYSTEMS)
def test_progress_comes_at_once_and_every_half_second_until_the_poll_returns(system: str) -> None:
    came = history(
        SYSTEMS[system](),
        "a = register('bash', 'x'); t = tool(poll=[a], listen=True); wait(499); wait(2); wait(500); "
        "settle(a, 'ok', 't'); wait(5000)",
    )
    updates = [sum(signal["signal"] == "progress" for signal in signals) for _, _, signals in came]
    assert updates == [0, 1, 0, 1, 1, 0, 0]


def test_the_reference_keeps_an_old_holder_away_from_an_id() -> None:
    came = history(
        Jobs(),
        "configure(2, 1000); a = register('bash', 'old', 'x'); cancel(a); wait(1001); "
        "b = register('task', 'new', 'x'); settle(a, 'ok', 'late'); wait(1001); get(b); settle(b, 'ok', 'mine')",
    )
    assert came[4][1]["job_id"] == "x"
    assert [signals for _, _, signals in came[5:7]] == [(), ()]
    assert came[7][1]["status"] == "running"
    assert came[8][2][-1]["text"] == "mine"


SEQUENTIAL = [lie for lie in FAULTY if lie.__module__ != concurrency.__name__]


@pytest.mark.parametrize("lie", SEQUENTIAL, ids=lambda lie: lie.__name__)
def test_a_lie_shows_within_as_many_calls_as_it_says(lie: type[Lie]) -> None:
    right = history(rightly(lie), SCENARIOS[lie])
    assert history(rightly(lie), SCENARIOS[lie]) == right
    assert history(lie(), SCENARIOS[lie]) != right
    assert len(right) == lie.calls


def rightly(lie: type[Lie]) -> Jobs:
    """The right system that declares what the wrong one does."""
    right: Jobs = getattr(lie, "right", Jobs)()
    return right


def test_every_lie_says_what_it_is() -> None:
    assert [lie.__name__ for lie in FAULTY if not (lie.__doc__ or "").strip()] == []
    assert len({lie.__name__ for lie in FAULTY}) == len(FAULTY)
    assert set(SCENARIOS) == set(SEQUENTIAL)


# Calls made at once: what they leave behind, of a right system and of one that lets go between a check and its use.


def slots(system: Driven) -> Any:
    system.configure(2)
    system.register("bash", "x")
    at_once(system, [("register", "bash", "y")] * 3)
    return len(system.running())


def ids(system: Driven) -> Any:
    at_once(system, [("register", "bash", "y", "same")] * 3)
    return len(system.list())


def cancel_beside_settlement(system: Driven) -> Any:
    job = system.register("bash", "x")
    at_once(system, [("settle", job["handle"], "ok", "t"), ("cancel", job["job_id"])])
    delivered = any(signal["signal"] == "delivered" for signal in system.system.signals())
    return delivered == (system.get(job["job_id"])["status"] == "completed")


def settlements_under_a_poll(system: Driven) -> Any:
    one, two = system.register("bash", "x"), system.register("bash", "y")
    call = system.tool(poll=[one["job_id"], two["job_id"]])
    at_once(system, [("settle", each["handle"], "ok", "t") for each in (one, two)])
    had = [job["id"] for job in system.tool_result(call["token"])["jobs"] if job["status"] == "completed"]
    told = [signal["job"] for signal in system.system.signals() if signal["signal"] == "delivered"]
    return sorted(had + told) == sorted([one["job_id"], two["job_id"]])


def settlement_beside_poll(system: Driven) -> Any:
    job = system.register("bash", "x")
    at_once(system, [("tool", [job["job_id"]]), ("settle", job["handle"], "ok", "t")])
    return system.tool_result("call-1")["jobs"][0]["status"] if system.tool_result("call-1") else None


def at_once(system: Driven, calls: list[tuple[Any, ...]]) -> None:
    """Make all calls before one of them is served; whoever is refused is left alone."""

    async def together() -> None:
        made = [getattr(system.system, operation)(*arguments) for operation, *arguments in calls]
        for came in await asyncio.gather(*made, return_exceptions=True):
            assert came is None or isinstance(came, dict | Refused)

    system.run(together())


@pytest.mark.parametrize(
    ("lie", "race", "right"),
    [
        (concurrency.SlotIsCheckedTooEarly, slots, 2),
        (concurrency.IdIsCheckedTooEarly, ids, 3),
        (concurrency.CancelOverwritesSettlement, cancel_beside_settlement, True),
        (concurrency.WhoRunsIsLookedAtTooLate, settlement_beside_poll, "completed"),
        (concurrency.SettledBetweenReplyAndAcknowledgement, settlements_under_a_poll, True),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_calls_at_once_tell_right_from_wrong(lie: type[Lie], race: Callable[[Driven], Any], right: Any) -> None:
    for system, holds in ((Jobs(), True), (lie(), False)):
        driven = Driven(system)
        assert (race(driven) == right) is holds
        driven.close()


@pytest.mark.parametrize("system", [Jobs, *(each for each in RIGHT if hasattr(each, "register_with"))])
@pytest.mark.parametrize("stop", [("cancel", "job_id"), ("dispose",)])
def test_a_body_may_end_just_before_it_is_told_to(system: Callable[[], Any], stop: tuple[str, ...]) -> None:
    driven = Driven(system())
    job = driven.register_with("obliges", "bash", "x", "sorry")
    operation, *named = stop
    at_once(driven, [("settle", job["handle"], "ok", "t"), (operation, *(job[name] for name in named))])
    driven.close()
