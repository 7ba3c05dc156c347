"""The reference for task-progress, two other right systems, and what each lie does differently."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from conformance.references.task_progress import TaskProgress
from conformance.refused import Refused
from conformance.system.concurrent import run_at_once
from tests.conformance.references.driving import Driver, Step, call, length
from tests.faulty.task_progress import FAULTY, Lie, concurrency
from tests.right.task_progress import RIGHT

SYSTEMS = [TaskProgress, *RIGHT]
OUTCOMES = ("completed", "failed", "aborted")
NOTHING = {
    "tool_use_count": 0,
    "latest_input_tokens": 0,
    "cumulative_output_tokens": 0,
    "token_count": 0,
    "recent_activities": [],
    "last_activity": None,
    "summary": None,
}


@pytest.fixture(params=SYSTEMS, ids=lambda system: system.__name__)
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    with Driver(request.param) as driver:
        yield driver


def usage(read: int, written: int, *cache: int) -> dict[str, int]:
    return dict(zip(("input", "output", "cache_creation", "cache_read"), (read, written, *cache), strict=False))


def use(name: str, given: str = "x") -> dict[str, str]:
    return {"name": name, "input": given}


def said(*uses: Any, read: int = 10, written: int = 5, task: str = "#0", role: str = "assistant") -> Any:
    return call("message", task=task, role=role, usage=usage(read, written), tools=list(uses))


def running(driver: Driver, **arguments: Any) -> str:
    """A task that was started."""
    task: str = driver("create_task", label="a", **arguments)["task_id"]
    driver("start", task=task)
    return task


def limit(driver: Driver) -> int:
    """How many activities a system lists."""
    declared: int = driver.system.declares.get("limits", {}).get("activities", 5)
    return declared


# --- what holds for every right system ----------------------------------------------------------------------


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_task_starts_and_ends_once(driver: Driver, outcome: str) -> None:
    created = driver("create_task", label="a", batch="b")
    assert created == {"task_id": driver.ids[0], "status": "pending"}
    driver("start", task="#0")
    assert (driver("status", task="#0"), driver("batch_status", batch="b")) == (
        "running",
        {"complete": False},
    )
    for second in (outcome, *OUTCOMES):
        driver("finish", task="#0", outcome=second)
        driver("start", task="#0")
        assert driver("status", task="#0") == outcome
        driver("abort", task="#0")
    assert driver("batch_status", batch="b") == {"complete": True}


def test_counters_follow_the_messages(driver: Driver) -> None:
    task = running(driver)
    assert driver("progress", task=task) == NOTHING
    driver("message", task=task, role="assistant", usage=usage(100, 7, 20, 3), tools=[use("bash"), use("grep")])
    early = driver("progress", task=task)
    driver("message", task=task, role="user", usage=usage(9000, 9000), tools=[use("read_file")])
    driver("message", task=task, role="assistant", usage=usage(40, 2), tools=[])
    late = driver("progress", task=task)
    assert (early["latest_input_tokens"], early["cumulative_output_tokens"], early["token_count"]) == (
        123,
        7,
        130,
    )
    assert (late["latest_input_tokens"], late["cumulative_output_tokens"], late["token_count"]) == (40, 9, 49)
    assert late["tool_use_count"] == 2
    assert late["recent_activities"] == [use("bash"), use("grep")]
    assert late["last_activity"] == use("grep")


def test_the_newest_activities_are_listed(driver: Driver) -> None:
    task, shown = running(driver), limit(driver)
    for number in range(shown + 1):
        driver("message", task=task, role="assistant", usage=usage(0, 0), tools=[use("bash", str(number))])
        listed = [each["input"] for each in driver("progress", task=task)["recent_activities"]]
        assert listed == [str(each) for each in range(number + 1)][-shown:]


def test_the_synthetic_tool_is_not_listed(driver: Driver) -> None:
    task = running(driver)
    driver(
        "message",
        task=task,
        role="assistant",
        usage=usage(0, 0),
        tools=[use("bash"), use("structured_output")],
    )
    shown = driver("progress", task=task)
    policy = driver.system.declares.get("policies", {}).get("synthetic_counts", "counted")
    assert shown["tool_use_count"] == (2 if policy == "counted" else 1)
    assert shown["recent_activities"] == [use("bash")]
    assert shown["last_activity"] == use("bash")


def test_a_summary_and_the_counters_leave_each_other_alone(driver: Driver) -> None:
    task = running(driver)
    driver("message", task=task, role="assistant", usage=usage(2**51, 2**51), tools=[use("bash")])
    counted = driver("progress", task=task)
    driver("summarize", task=task, text="reads")
    assert driver("progress", task=task) == {**counted, "summary": "reads"}
    driver("message", task=task, role="assistant", usage=usage(1, 0), tools=[])
    assert driver("progress", task=task)["summary"] == "reads"
    driver("summarize", task=task, text="writes")
    assert driver("progress", task=task)["summary"] == "writes"


def test_subscribers_are_told_of_summaries(driver: Driver) -> None:
    driver("create_task", label="a")
    driver("wait", ms=3)
    driver("start", task="#0")
    driver("wait", ms=4)
    driver("summarize", task="#0", text="one")
    driver("subscribe", on=True)
    driver("message", task="#0", role="assistant", usage=usage(10, 5), tools=[use("bash")])
    driver("summarize", task="#0", text="two")
    driver("subscribe", on=False)
    driver("summarize", task="#0", text="three")
    driver("subscribe", on=True)
    driver("finish", task="#0", outcome="completed")
    driver("summarize", task="#0", text="four")
    (told,) = driver("signals")
    assert told == {
        "signal": "announced",
        "task": driver.ids[0],
        "description": "two",
        "started_at": 3,
        "total_tokens": 15,
        "tool_uses": 1,
        "summary": "two",
    }


def test_nothing_changes_a_reading_that_was_given(driver: Driver) -> None:
    task = running(driver)
    driver("message", task=task, role="assistant", usage=usage(1, 1), tools=[use("bash")])
    given = driver("progress", task=task)
    before = {**given, "recent_activities": list(given["recent_activities"])}
    driver("message", task=task, role="assistant", usage=usage(9, 9), tools=[use("grep")])
    driver("summarize", task=task, text="late")
    assert given == before
    given["recent_activities"].clear()
    given["last_activity"]["name"] = "other"
    assert driver("progress", task=task)["recent_activities"] == [use("bash"), use("grep")]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_updates_of_a_task_that_ended_change_nothing(driver: Driver, outcome: str) -> None:
    task = running(driver)
    driver("message", task=task, role="assistant", usage=usage(10, 5), tools=[use("bash")])
    driver("summarize", task=task, text="kept")
    before = driver("progress", task=task)
    driver("finish", task=task, outcome=outcome)
    driver("message", task=task, role="assistant", usage=usage(11, 6), tools=[use("grep")])
    driver("summarize", task=task, text="late")
    assert driver("progress", task=task) == before


def test_updates_of_a_pending_task_do_not_change_its_record(driver: Driver) -> None:
    driver("create_task", label="a")
    driver("subscribe", on=True)
    driver("message", task="#0", role="assistant", usage=usage(10, 5), tools=[use("bash")])
    driver("summarize", task="#0", text="early")
    assert driver("progress", task="#0") == NOTHING
    assert driver("signals") == []
    driver("finish", task="#0", outcome="completed")
    assert driver("status", task="#0") == "pending"


def test_an_abort_before_the_start_prevents_it(driver: Driver) -> None:
    driver("create_task", label="a", batch="b")
    driver("create_task", label="a", batch="b")
    driver("abort", task="#0")
    assert driver("batch_status", batch="b") == {"complete": False}
    driver("abort", task="#1")
    assert driver("batch_status", batch="b") == {"complete": True}
    driver("start", task="#0")
    driver("message", task="#0", role="assistant", usage=usage(10, 5), tools=[use("bash")])
    assert driver("status", task="#0") == "aborted"
    assert driver("progress", task="#0") == NOTHING


def test_a_task_that_runs_ends_after_its_abort(driver: Driver) -> None:
    task = running(driver)
    driver("abort", task=task)
    assert driver("status", task=task) in {"running", "aborted"}
    driver("finish", task=task, outcome="aborted")
    assert driver("status", task=task) == "aborted"


def test_a_task_that_cannot_be_registered_has_failed(driver: Driver) -> None:
    driver("create_task", label="a", batch="b", registers=False)
    driver("start", task="#0")
    assert driver("status", task="#0") == "failed"
    assert driver("batch_status", batch="b") == {"complete": True}


def test_what_is_unknown_is_refused_and_not_made(driver: Driver) -> None:
    running(driver)
    for late in (
        call("start", task="no"),
        call("abort", task="no"),
        call("finish", task="no", outcome="failed"),
    ):
        driver.at_once(late)
    driver.at_once(said(task="no"), call("summarize", task="no", text="x"))
    unknown = driver.at_once(call("status", task="no"), call("progress", task="no"), call("batch_status", batch="no"))
    assert [isinstance(each, Refused) and each.code for each in unknown] == ["not_found"] * 3
    assert driver("status", task="#0") == "running"


def test_limits_and_policies_are_the_callers_choice() -> None:
    with Driver(lambda: TaskProgress(activities=1, synthetic_counts="not_counted")) as driver:
        task = running(driver)
        tools = [use("bash"), use("grep"), use("structured_output")]
        driver("message", task=task, role="assistant", usage=usage(0, 0), tools=tools)
        shown = driver("progress", task=task)
    assert (shown["tool_use_count"], shown["recent_activities"]) == (2, [use("grep")])


# --- at once ------------------------------------------------------------------------------------------------


def many(system: Any, *bodies: Any, seed: int) -> list[Any]:
    """Bodies on threads of their own, yielding at lines of the system's."""
    own = frozenset({inspect.getfile(system)})
    return run_at_once(bodies, seed, own, 20.0, lambda: 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", SYSTEMS, ids=lambda system: system.__name__)
def test_nothing_is_lost_between_threads(kind: Any, seed: int) -> None:
    with Driver(kind) as driver:
        task, system = running(driver, batch="b"), driver.system

        def talks() -> None:
            for _ in range(10):
                system.message(task, "assistant", usage(4, 2), [use("bash")])

        def sums() -> None:
            system.summarize(task, "kept")

        def reads() -> list[Any]:
            return [system.progress(task) for _ in range(10)]

        def makes() -> list[str]:
            return [system.create_task("a", "b")["task_id"] for _ in range(5)]

        *_, read, one, two = many(kind, talks, sums, talks, reads, makes, makes, seed=seed)
        last = driver("progress", task=task)
        assert (last["tool_use_count"], last["cumulative_output_tokens"], last["summary"]) == (20, 40, "kept")
        for each in read:
            assert each["token_count"] == each["latest_input_tokens"] + each["cumulative_output_tokens"]
        assert len({task, *one, *two}) == 11
        many(kind, *(lambda made=made: system.abort(made) for made in one + two), seed=seed)
        assert driver("batch_status", batch="b") == {"complete": False}
        driver("finish", task=task, outcome="completed")
        assert driver("batch_status", batch="b") == {"complete": True}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", SYSTEMS, ids=lambda system: system.__name__)
def test_an_aborted_task_stays_so_whoever_starts_it(kind: Any, seed: int) -> None:
    with Driver(kind) as driver:
        driver("create_task", label="a")
        task, system = driver.ids[0], driver.system

        def starts() -> None:
            try:
                system.start(task)
            except Refused:
                return

        def aborts() -> str:
            system.abort(task)
            return str(system.status(task))

        _, seen = many(kind, starts, aborts, seed=seed)
        assert seen == driver("status", task=task)
        assert seen in {"aborted", "running"}


# --- the lies -----------------------------------------------------------------------------------------------

MAKE, START = call("create_task", label="a", batch="b"), call("start", task="#0")
RUN: list[Step] = [MAKE, START]
READ, STATUS, BATCH = call("progress", task="#0"), call("status", task="#0"), call("batch_status", batch="b")
ABORT, SUM, ON = (
    call("abort", task="#0"),
    call("summarize", task="#0", text="one"),
    call("subscribe", on=True),
)
DONE, FAIL = call("finish", task="#0", outcome="completed"), call("finish", task="#0", outcome="failed")
LONGER = call("create_task", label="a", batch="bb")
SIX = [use("bash", str(number)) for number in range(6)]
SYNTHETIC = use("structured_output")
TWO_RUNS: list[Step] = [*RUN, said(), said(read=4), READ]
PAUSED: list[Step] = [MAKE, call("wait", ms=5), START, ON, SUM]


def cached(*cache: int) -> Step:
    return call("message", task="#0", role="assistant", usage=usage(10, 5, *cache), tools=[])


SCRIPTS: dict[str, Sequence[Step]] = {
    "FailureLooksCompleted": [*RUN, FAIL, STATUS],
    "StartIsNotShown": [*RUN, STATUS],
    "AbortedStarts": [MAKE, ABORT, START, STATUS],
    "AbortWaitsForStart": [MAKE, ABORT, STATUS],
    "FailedRegistrationStaysPending": [call("create_task", label="a", registers=False), STATUS],
    "FailedRegistrationRuns": [call("create_task", label="a", registers=False), START, STATUS],
    "SecondOutcomeWins": [*RUN, FAIL, DONE, STATUS],
    "FailureOverridesCompletion": [*RUN, DONE, FAIL, STATUS],
    "AbortTakesBack": [*RUN, said(), ABORT, READ],
    "AbortOfRunningFails": [*RUN, ABORT, STATUS],
    "StopsForEver": [*RUN, ABORT, call("finish", task="#0", outcome="aborted"), STATUS],
    "LateStartRevives": [*RUN, DONE, START, STATUS],
    "LateAbortWins": [*RUN, FAIL, ABORT, STATUS],
    "SecondStartResets": [*RUN, said(), START, READ],
    "SecondStartStampsAgain": [*RUN, call("wait", ms=5), START, ON, SUM],
    "PendingCompletes": [MAKE, DONE, STATUS],
    "MessageMakesTask": [call("status", task="no"), said(task="no"), call("status", task="no")],
    "SilenceFails": [*RUN, call("wait", ms=3_600_000), STATUS],
    "InputTokensAdd": TWO_RUNS,
    "OutputTokensReplace": TWO_RUNS,
    "MessageCountsOneUse": [*RUN, said(use("bash"), use("grep")), READ],
    "TotalLeavesOutputOut": [*RUN, said(), READ],
    "InputTokensNeverFall": TWO_RUNS,
    "UserTokensCount": [*RUN, said(role="user"), READ],
    "UserToolsCount": [*RUN, said(use("bash"), role="user"), READ],
    "LateMessageCounts": [*RUN, DONE, said(), READ],
    "EndClearsReading": [*RUN, said(), DONE, READ],
    "CacheCreationIsFree": [*RUN, cached(3, 0), READ],
    "CacheReadIsFree": [*RUN, cached(0, 3), READ],
    "MissingCacheIsAsBefore": [*RUN, cached(0, 3), cached(), READ],
    "SyntheticIsNotCounted": [*RUN, said(SYNTHETIC), READ],
    "ZeroInputIsMissing": [*RUN, said(), said(read=0), READ],
    "MessageWithoutTokensIsNone": [*RUN, said(use("bash"), read=0, written=0), READ],
    "CountsWrap": [*RUN, said(read=2**40), READ],
    "TotalIsRounded": [*RUN, said(read=2**40), READ],
    "LabelSharesCounters": [MAKE, MAKE, START, said(), call("progress", task="#1")],
    "SyntheticIsListed": [*RUN, said(SYNTHETIC), READ],
    "MessageWithoutToolsForgetsLast": [*RUN, said(use("bash")), said(), READ],
    "OutputIsSynthetic": [*RUN, said(use("structured_output_files")), READ],
    "SyntheticIsLast": [*RUN, said(SYNTHETIC), READ],
    "SyntheticPushesOut": [*RUN, said(*SIX[:5], SYNTHETIC), READ],
    "OneActivityTooFew": [*RUN, said(*SIX), READ],
    "OneActivityTooMany": [*RUN, said(*SIX), READ],
    "OldestStay": [*RUN, said(*SIX), READ],
    "NewestFirst": [*RUN, said(*SIX), READ],
    "RepeatedUseIsListedOnce": [*RUN, said(use("bash"), use("bash")), READ],
    "MessageListsItsLastUse": [*RUN, said(use("bash"), use("grep")), READ],
    "LastIsFirstOfMessage": [*RUN, said(use("bash"), use("grep")), READ],
    "InputIsTrimmed": [*RUN, said(use("bash", " x")), READ],
    "InputIsCut": [*RUN, said(use("bash", "x" * 81)), READ],
    "MessageWipesSummary": [*RUN, SUM, said(), READ],
    "SummaryWipesCounters": [*RUN, said(), SUM, READ],
    "SummaryWipesActivities": [*RUN, said(use("bash")), SUM, READ],
    "AnnouncesUnasked": [*RUN, SUM],
    "OptingOutIsForgotten": [*RUN, ON, call("subscribe", on=False), SUM],
    "EachOptInTells": [*RUN, ON, ON, SUM],
    "NeverAnnounces": [*RUN, ON, SUM],
    "AnnouncesMessages": [*RUN, ON, SUM, said()],
    "AnnouncesInputAsTotal": [*RUN, ON, said(), SUM],
    "AnnouncesFormerSummary": [*RUN, ON, SUM],
    "DescribesLabel": [*RUN, ON, SUM],
    "LateSummaryIsKept": [*RUN, DONE, SUM, READ],
    "LateSummaryIsAnnounced": [*RUN, ON, DONE, SUM],
    "StampIsOfCreation": PAUSED,
    "StampIsOfAnnouncement": [*RUN, ON, call("wait", ms=5), SUM],
    "FirstSummaryStays": [*RUN, SUM, call("summarize", task="#0", text="two"), READ],
    "AnnouncesFirstSummaryOnly": [*RUN, ON, SUM, call("summarize", task="#0", text="two")],
    "AnnouncesUnderFirstTask": [
        MAKE,
        *RUN,
        call("start", task="#1"),
        ON,
        SUM,
        call("summarize", task="#1", text="x"),
    ],
    "FirstEndCompletes": [MAKE, MAKE, ABORT, BATCH],
    "NothingRunsCompletes": [MAKE, BATCH],
    "CompleteMeansSuccess": [*RUN, FAIL, BATCH],
    "OneFailureCompletes": [MAKE, *RUN, FAIL, BATCH],
    "UnstartedIsNoPart": [MAKE, ABORT, BATCH],
    "UnregisteredIsNoPart": [call("create_task", label="a", batch="b", registers=False), BATCH],
    "BatchesAreOne": [MAKE, call("create_task", label="a", batch="c"), ABORT, BATCH],
    "TasksWithoutBatchCount": [MAKE, call("create_task", label="a"), ABORT, BATCH],
    "CompleteBatchIsForgotten": [MAKE, ABORT, BATCH, BATCH],
    "EachEndCounts": [MAKE, *RUN, DONE, DONE, BATCH],
    "BatchIgnoresCase": [MAKE, ABORT, call("create_task", label="a", batch="B"), BATCH],
    "BatchByBeginning": [MAKE, ABORT, LONGER, BATCH],
    "BatchLooksAtAHundred": [
        *[MAKE] * 101,
        *(call("abort", task=f"#{number}") for number in range(100)),
        BATCH,
    ],
    "SummaryIsStripped": [*RUN, call("summarize", task="#0", text=" x "), READ],
    "SummaryIsCut": [*RUN, call("summarize", task="#0", text="x" * 201), READ],
    "UsesFitAByte": [*RUN, said(*[use("bash", "x")] * 256), READ],
}
CRASHES: dict[str, Sequence[Step]] = {
    "MissingCacheCrashes": [*RUN, cached()],
    "UnknownCrashes": [call("status", task="no")],
    "UnknownReadingCrashes": [call("progress", task="no")],
    "UnusedCrashes": [BATCH],
}
OTHERWISE = {*CRASHES, "ReadingIsLive", "ListIsLive"}
"""Those that do not show in what a script comes to, but in a crash and in readings given before."""


@pytest.mark.parametrize("lie", [lie for lie in FAULTY if lie.__name__ in SCRIPTS], ids=lambda lie: lie.__name__)
def test_a_lie_differs_from_the_reference_in_as_many_calls_as_it_says(lie: type[Lie]) -> None:
    script = SCRIPTS[lie.__name__]
    with Driver(TaskProgress) as right, Driver(lie) as wrong:
        assert wrong.run(script) != right.run(script)
    assert length(script) == lie.calls


def test_every_sequential_lie_has_its_script() -> None:
    sequential = {lie.__name__ for lie in FAULTY if lie.__module__ != concurrency.__name__}
    assert sequential == SCRIPTS.keys() | OTHERWISE


@pytest.mark.parametrize("name", CRASHES)
def test_what_crashes_does_so_where_the_reference_replies(name: str) -> None:
    (lie,) = (lie for lie in FAULTY if lie.__name__ == name)
    with Driver(TaskProgress) as right:
        right.run(CRASHES[name])
    with Driver(lie) as wrong, pytest.raises((LookupError, ValueError)):
        wrong.run(CRASHES[name])


@pytest.mark.parametrize("name", ["ReadingIsLive", "ListIsLive"])
def test_a_live_reading_changes_after_it_was_given(name: str) -> None:
    (lie,) = (lie for lie in FAULTY if lie.__name__ == name)
    with Driver(lie) as wrong:
        task = running(wrong)
        given = wrong("progress", task=task)
        wrong.at_once(said(use("bash")))
        assert given["recent_activities"]
