"""Every wrong system is caught by the row that names its lie, with a short counterexample that replays."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import suite as kit_suite
from conformance.suite import trace_file
from conformance.suite.row_facts import makes_calls_at_once
from conformance.system.adapter import Adapter
from conformance.verdict import RowResult, Verdict
from tests.conformance.lifecycles import SUITES, Lie, Suite, named, pairs
from tests.conformance.systems import adapted, explained, row_result, shrinking, verdicts, whole_run

pytestmark = pytest.mark.thorough

LIMIT, SHORTER = (
    1.0,
    0.4,
)  # seconds for a call: some of the lies are deadlocks, and nothing else takes a tenth
ATTEMPTS = 10  # replays of a counterexample that depends on the schedule, of which one has to show it


WAITS = "it needs a time to wait that no step of the search comes upon"
CLAIM = "the claim is about so many records, and cutting a row leaves out steps, not records"
LONGER_THAN_KNOWN: dict[str, dict[str, str]] = {
    "job": dict.fromkeys(
        (
            "AcknowledgeDropsFirst",
            "AcknowledgedByName",
            "BackoffOverflows",
            "BurstKeepsLast",
            "FlightFailureLosesCompletion",
            "LastSettledFirst",
            "LimitIsPerOwner",
            "ListAcknowledges",
            "SecondTimerEvictsNewHolder",
            "WatchDoesNotStopRetry",
            "ZeroRetentionKeeps",
        ),
        WAITS,
    ),
    "task-progress": {
        "BatchLooksAtAHundred": "of a hundred tasks each would need one other call in place of two",
        "MessageMakesTask": "a claim of the row makes a call, which is made again to tell what it gave",
    },
    "local-agent": {
        "LastNotificationWins": "the claim is about the order of two agents, and one would do to tell it from the reference"
    },
    "background-tasks": {
        **dict.fromkeys(("CrashedRowsStay", "EvictedCancelIsLate"), CLAIM),
    },
}
"""Lies whose counterexamples are some calls longer than the shortest ones known, each with the reason."""

ENDS = "a task starts and finishes in two calls where another call, that no step has, would end it in one"
ONE_MORE: dict[str, str] = {
    **dict.fromkeys(
        (
            "BatchByBeginning",
            "BatchIgnoresCase",
            "BatchesAreOne",
            "CompleteBatchIsForgotten",
            "FirstEndCompletes",
            "TasksWithoutBatchCount",
        ),
        ENDS,
    ),
    **dict.fromkeys(
        (
            "ProgressIsEmptyBesideCancel",
            "AcknowledgeClearsQueue",
            "AcknowledgedIsGone",
            "CancelIsScopedAlthoughOnlyListsAre",
            "CancelStopsAtUnknown",
            "EvictionDropsCompletion",
            "PollKeepsLonger",
            "SecondOutcomeIsDelivered",
        ),
        "what its row claims is read one call after what tells it from the reference",
    ),
    "AbortedStarts": "the task has to be told as completed again; without its finish it would run, which is not what was seen",
    "FilterReadsOneStatus": "the list would have to be turned round as a call goes",
    "OtherThreadsLeave": "the last call would have to ask for another thread as a call goes",
    "TimerResolvesNothing": "it would have to wait a millisecond longer as a call goes",
}
"""Lies whose counterexamples are one call longer than the shortest ones known, each with the reason."""


SLOW = {"JitterIsTooWide", "DrainOfManyYields", "CanceledLeaveFirst", "OwedIsToldLate", "AbortReachesFirstChild"}
"""Lies whose counterexamples take ten seconds to find; the soak takes them."""


def every_lie() -> Iterator[Any]:
    """A twentieth of thread-job's that one caller can catch and a fortieth of the others; the soak takes the rest."""
    for suite in SUITES.values():
        for number, lie in enumerate(suite.faulty):
            longer = LONGER_THAN_KNOWN.get(suite.name, {}).get(lie.__name__)
            later = number % (20 if suite.name == "thread-job" and lie in suite.sequential else 40)
            marks = [pytest.mark.xfail(strict=True, reason=longer)] if longer else []
            marks += [pytest.mark.soak] if later or lie.__name__ in SLOW else []
            yield pytest.param(suite, lie, marks=marks, id=f"{suite.name}-{lie.__name__}")


LONG = {"BackoffOverflows"}
"""Lies that show after a quarter of an hour of retries, which takes long to judge; the soak takes them."""
ONE_OF = 10


def caught() -> Iterator[Any]:
    """Every tenth lie; the soak takes the rest."""
    for number, (suite, lie) in enumerate(pairs(lambda suite: suite.faulty)):
        later = pytest.mark.soak if number % ONE_OF or lie.__name__ in LONG else ()
        yield pytest.param(suite, lie, marks=later, id=f"{suite.name}-{lie.__name__}")


@pytest.mark.parametrize(("suite", "lie"), list(caught()))
def test_the_row_that_names_a_lie_catches_it(suite: Suite, lie: type[Lie]) -> None:
    result = row_result(lie, lie.row, suite.compiled, limit=LIMIT, shortest=False)
    assert result.verdict is Verdict.FAIL, explained(result)


@pytest.mark.parametrize(("suite", "lie"), list(every_lie()))
def test_its_counterexample_is_short_and_replays(suite: Suite, lie: type[Lie], tmp_path: Path) -> None:
    # how far a race shrinks depends on the schedule; everything else has time enough, however busy the machine is
    budget = shrinking(60.0 if lie in suite.sequential else 1.0)
    result = row_result(lie, lie.row, suite.compiled, limit=LIMIT, budget=budget)
    assert result.verdict is Verdict.FAIL, explained(result)
    found = result.counterexample
    assert found is not None
    at_once = "together(" in found.row
    if not at_once:
        assert found.calls <= lie.calls + (lie.__name__ in ONE_MORE), explained(result)
    path = kit_suite.save(tmp_path, suite.name, lie.__name__, result.id, found)
    saved = kit_suite.read(str(path))
    assert (saved.of, list(saved.compiled.lifecycle.rows)) == (lie.row, [found.row.partition(":")[0]])
    with adapted(lie, suite.compiled, limit=SHORTER) as adapter:
        attempts = ATTEMPTS if at_once else 1
        assert any(again(saved, adapter).failed for _ in range(attempts)), found.row
    with adapted(getattr(lie, "right", suite.reference), suite.compiled) as adapter:  # that declares the same
        right = again(saved, adapter)
    assert not right.failed, f"the reference fails it too: {right.reason}\n{found.row}"


def again(saved: trace_file.Saved, adapter: Adapter) -> kit_suite.Replayed:
    """What comes of a saved counterexample, which is one row."""
    (replayed,) = kit_suite.replay(saved, adapter).rows
    return replayed


@pytest.mark.parametrize("suite", SUITES.values(), ids=named)
def test_every_row_is_named_by_a_lie(suite: Suite) -> None:
    names = {lie.row for lie in suite.faulty}
    assert [row for row in suite.compiled.lifecycle.rows if row not in names] == []


@pytest.mark.parametrize("suite", SUITES.values(), ids=named)
def test_every_lie_names_a_row_and_says_what_it_is(suite: Suite) -> None:
    assert {lie.row for lie in suite.faulty} <= set(suite.compiled.lifecycle.rows)
    assert [lie.__name__ for lie in suite.faulty if not (lie.__doc__ or "").strip()] == []
    assert len({lie.__name__ for lie in suite.faulty}) == len(suite.faulty)


def sample() -> Iterator[Any]:
    """A lie of each lifecycle that needs no calls at once; the soak takes all but that of thread-job."""
    for suite in SUITES.values():
        (lie,) = random.Random("a lie fails the rows that it is about").sample(suite.sequential, 1)
        later = () if suite.name == "thread-job" else pytest.mark.soak
        yield pytest.param(suite, lie, marks=later, id=f"{suite.name}-{lie.__name__}")


@pytest.mark.parametrize(("suite", "lie"), list(sample()))
def test_a_lie_fails_the_rows_that_it_is_about_and_no_crowd(suite: Suite, lie: type[Lie]) -> None:
    """At most a third of the matrix: the rows that only happen to see a fault leave it to those about it."""
    rows = suite.compiled.lifecycle.rows
    code, results = whole_run(lie, suite.compiled, only=list(rows), quick=True, budget=shrinking(0.3))
    passing = (Verdict.PASS, Verdict.NOT_APPLICABLE)
    failing = {result.id: result for result in results if result.verdict not in passing}
    assert failing[lie.row].verdict is Verdict.FAIL
    assert code == (1 if any(result.level == "must" for result in failing.values()) else 0)
    assert len(failing) <= len(rows) / 3, verdicts(results)
    assert all(explains(result, suite) for result in failing.values()), verdicts(results)


def explains(result: RowResult, suite: Suite) -> bool:
    """Whether a row that fails does so with a counterexample; calls at once may leave more orders than are tried."""
    if result.verdict is Verdict.COULD_NOT_TELL:
        return makes_calls_at_once(suite.compiled.lifecycle.rows[result.id])
    return result.verdict is Verdict.FAIL and result.counterexample is not None
