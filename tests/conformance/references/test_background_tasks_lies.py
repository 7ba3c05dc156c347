"""What each wrong background-tasks system does differently from the reference, in a script of calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from conformance.references.background_tasks import BackgroundTasks
from tests.conformance.references.driving import Call, Driver, Step, call, length
from tests.faulty.background_tasks import FAULTY, Lie


def end(task: str, outcome: str = "completed") -> Call:
    return call("finish", task=task, outcome=outcome, text="x")


WAIT, DRAIN = call("wait_for_completion", timeout=1000), call("drain_completed")
SPAWN, END, FAIL, CANCEL = (
    call("spawn", label="x"),
    end("#0"),
    end("#0", "failed"),
    call("cancel_task", task="#0"),
)
LIST, COUNT, HAS = call("list"), call("running_count"), call("has_completed")
CRASH, ALL, CLONE = call("crash", task="#0"), call("cancel_all"), call("clone")
SOON, PEEK = call("wait_for_completion", timeout=5), call("peek", task="#0")
ATTACH, APPEND = call("attach_history", task="#0"), call("append_history", task="#0", blocks=["a", "b", "c"])
ELEVEN = call("append_history", task="#0", blocks=[str(number) for number in range(11)])
BLOCKS = call("append_history", task="#0", blocks=[str(number) for number in range(120)])
HISTORY: list[Step] = [SPAWN, ATTACH, APPEND]
MANY: list[Step] = [*[SPAWN] * 65, *(end(f"#{number}") for number in range(64))]
FULL: list[Step] = [*MANY, end("#64")]
THROWS, RAISES, OBLIGES = (
    call("spawn_with", does=does, label="x", text="why") for does in ("throws", "raises", "obliges")
)
WITHIN = call("spawn_from", spawner="#0", label="x")
REVERSED: list[Step] = [*[SPAWN] * 65, *(end(f"#{number}") for number in range(64, -1, -1))]


def peek(recent: int) -> Call:
    return call("peek", task="#0", recent=recent)


SCRIPTS: dict[str, Sequence[Step]] = {
    "FailureIsCompleted": [SPAWN, FAIL, DRAIN],
    "TextOfFailureIsLost": [SPAWN, FAIL, DRAIN],
    "CrashNeverEnds": [SPAWN, CRASH, LIST],
    "CrashBringsNothing": [SPAWN, CRASH, DRAIN],
    "CrashWakesNobody": [SPAWN, CRASH, SOON],
    "SecondOutcomeWins": [SPAWN, END, FAIL, LIST],
    "SecondOutcomeIsDelivered": [SPAWN, END, FAIL, DRAIN],
    "SecondOutcomeKeepsRow": [*MANY, FAIL, end("#64"), LIST],
    "LateCrashFails": [SPAWN, END, CRASH, LIST],
    "UnknownEndIsDelivered": [call("finish", task="no", outcome="failed", text="x"), DRAIN],
    "EndedAreCounted": [SPAWN, END, COUNT],
    "CancelledAreNotCounted": [SPAWN, CANCEL, COUNT],
    "DrainedRowsLeave": [SPAWN, END, DRAIN, LIST],
    "ListShowsRunningOnly": [SPAWN, END, LIST],
    "EndedAreListedLast": [SPAWN, SPAWN, END, LIST],
    "ListIsByStart": [*[SPAWN] * 11, LIST],
    "ListIsDescending": [SPAWN, SPAWN, LIST],
    "LabelIsTrimmed": [call("spawn", label=" x"), LIST],
    "LabelIsUnique": [SPAWN, SPAWN, LIST],
    "IdIsReused": [*FULL, SPAWN],
    "OneRowTooFew": [*MANY[1:65], *MANY[65:], LIST],
    "OneRowTooMany": [*FULL, LIST],
    "RunningRowsLeave": [*[SPAWN] * 65, END, LIST],
    "FirstStartedLeaves": [*REVERSED, LIST],
    "LastFinishedLeaves": [*FULL, LIST],
    "CanceledLeaveFirst": [*MANY[:65], call("cancel_task", task="#1"), *FULL[65:], LIST],
    "FirstRowLeaves": [*[SPAWN] * 66, *(end(f"#{number}") for number in range(1, 66)), LIST],
    "EvictionTakesOutcome": [*FULL, DRAIN],
    "QueueIsBounded": [*FULL, DRAIN],
    "EvictedCancelIsLate": [*FULL, CANCEL, PEEK],
    "EvictedCanBeSeen": [*FULL, CANCEL, PEEK],
    "CancelEndsAtOnce": [SPAWN, CANCEL, LIST],
    "CancelledBodyIsLost": [SPAWN, CANCEL, END, DRAIN],
    "CancelledBodyWakesNobody": [SPAWN, CANCEL, END, SOON],
    "CancelIsDelivered": [SPAWN, CANCEL, DRAIN],
    "CancelOfEndedWakes": [SPAWN, END, DRAIN, SOON, CANCEL, SOON],
    "CancelIsForgotten": [SPAWN, CANCEL, END, LIST],
    "CanceledIsDeliveredAsFailed": [SPAWN, CANCEL, END, DRAIN],
    "CanceledTextIsLost": [SPAWN, CANCEL, END, DRAIN],
    "StubbornNeverEnds": [SPAWN, CANCEL, END, LIST],
    "UnknownIsTooLate": [call("cancel_task", task="no")],
    "EndedIsUnknown": [SPAWN, END, CANCEL],
    "EndedIsCancelled": [SPAWN, END, CANCEL],
    "SecondCancelIsLate": [SPAWN, CANCEL, CANCEL],
    "CancelStopsItsLabel": [SPAWN, SPAWN, CANCEL, end("#1"), LIST],
    "CancelStopsByPrefix": [*[SPAWN] * 10, CANCEL, end("#9"), LIST],
    "CancelStopsSession": [SPAWN, CANCEL, SPAWN, end("#1"), LIST],
    "CancelAllStopsFirst": [SPAWN, SPAWN, ALL, end("#1"), LIST],
    "CancelAllTwiceIsNone": [SPAWN, ALL, ALL, END, LIST],
    "CancelAllEnds": [SPAWN, ALL, LIST],
    "SessionIsNotHeard": [SPAWN, call("session_cancelled"), END, LIST],
    "SpawnAfterCancelIsRefused": [ALL, SPAWN],
    "SpawnAfterCancelRuns": [ALL, SPAWN, END, LIST],
    "DrainLeavesQueue": [SPAWN, END, DRAIN, DRAIN],
    "DrainGivesOne": [SPAWN, SPAWN, END, end("#1"), DRAIN],
    "DrainIsNewestFirst": [SPAWN, SPAWN, END, end("#1"), DRAIN],
    "DrainIsByStart": [SPAWN, SPAWN, end("#1"), END, DRAIN],
    "DrainIsByLabel": [SPAWN, SPAWN, END, end("#1"), DRAIN],
    "LabelIsNotDelivered": [SPAWN, END, DRAIN],
    "HasCompletedSticks": [SPAWN, END, DRAIN, HAS],
    "WaitTakesOutcome": [SPAWN, END, SOON, DRAIN],
    "PermitIsNotStored": [SPAWN, END, SOON],
    "SecondCompletionTakesPermit": [SPAWN, SPAWN, END, end("#1"), SOON],
    "DrainTakesPermit": [SPAWN, END, DRAIN, SOON],
    "FirstWaitReturns": [SOON],
    "PermitIsKept": [SPAWN, END, SOON, DRAIN, SOON, SOON],
    "TimeIsNotSaid": [SOON],
    "GivenUpWaiterIsWoken": [SPAWN, SOON, END, SOON],
    "NewestBlockFirst": [*HISTORY, PEEK],
    "AppendReplaces": [*HISTORY, APPEND, PEEK],
    "NoHistoryIsNull": [SPAWN, PEEK],
    "UnknownIsEmpty": [call("peek", task="no")],
    "ZeroIsAll": [*HISTORY, peek(0)],
    "ZeroIsNone": [*HISTORY, peek(0)],
    "OldestBlocks": [*HISTORY, peek(2)],
    "TotalIsOfShown": [*HISTORY, peek(1)],
    "TooManyAreNone": [*HISTORY, peek(4)],
    "DefaultIsAll": [SPAWN, ATTACH, ELEVEN, PEEK],
    "ListReadsHistory": [*HISTORY, LIST],
    "ListGivesNewestBlock": [*HISTORY, LIST],
    "HistoryGoesWithEnd": [*HISTORY, END, PEEK],
    "HistoryIsShared": [*HISTORY, SPAWN, call("attach_history", task="#1"), call("peek", task="#1")],
    "CloneHasItsOwnQueue": [CLONE, SPAWN, END, DRAIN],
    "CloneHasItsOwnRows": [CLONE, SPAWN, LIST],
    "CloneNumbersAnew": [CLONE, SPAWN, SPAWN],
    "CloneHasItsOwnPermit": [CLONE, SPAWN, END, SOON],
    "CloneDoesNotHearCancel": [CLONE, ALL, SPAWN, END, LIST],
    "WaitersAreNotWoken": [SPAWN, [WAIT, END]],
    "WaitersFindThePermitAtTheEnd": [SPAWN, [WAIT, END]],
    "StoredPermitIsTakenAtTheEnd": [SPAWN, END, WAIT],
    "DrainEndsNoWait": [SPAWN, [WAIT, END, DRAIN]],
    "SecondWaiterIsNotWoken": [SPAWN, SPAWN, [WAIT, WAIT, END, end("#1")]],
    "QueueKeepsFromWaking": [SPAWN, SPAWN, END, WAIT, [WAIT, end("#1")]],
    "WakeUpIsLost": [SPAWN, [WAIT, END]],
    "TwoWaitersAreNone": [SPAWN, [WAIT, WAIT, END]],
    "DrainedTwice": [SPAWN, END, [DRAIN, DRAIN]],
    "DrainedAway": [SPAWN, [END, DRAIN], DRAIN],
    "OutcomeIsOverwritten": [SPAWN, SPAWN, [END, end("#1")], DRAIN],
    "CancelWritesRunning": [SPAWN, [CANCEL, END], LIST],
    "SecondCancelTrustsFirst": [SPAWN, [CANCEL, CANCEL, END], LIST],
    "EndBesideCancelIsLost": [SPAWN, [CANCEL, END], DRAIN],
    "IdIsMintedTwice": [[SPAWN, SPAWN]],
    "RowIsLost": [[SPAWN, SPAWN], LIST],
    "EndsTwice": [SPAWN, [END, FAIL], DRAIN],
    "EvictsTooFew": [*[SPAWN] * 66, *MANY[65:], [end("#64"), end("#65")], LIST],
    "NewestIdComesAgain": [*REVERSED, SPAWN],
    "CanceledOutcomeGoesWithRow": [*MANY[:65], CANCEL, *FULL[65:], DRAIN],
    "SpawnEscapesCancelOfAll": [[SPAWN, ALL], END, LIST],
    "AttachingAgainClears": [*HISTORY, ATTACH, PEEK],
    "CancelAllStopsTen": [*[SPAWN] * 11, ALL, end("#10"), LIST],
    "CancelKeepsLonger": [*MANY, CANCEL, end("#64"), LIST],
    "PeekKeepsLonger": [*MANY, PEEK, end("#64"), LIST],
    "TextIsTrimmed": [SPAWN, call("finish", task="#0", outcome="completed", text=" x "), DRAIN],
    "NoTextGetsSome": [SPAWN, call("finish", task="#0", outcome="completed", text=""), DRAIN],
    "EmptyLabelGetsName": [call("spawn", label=""), LIST],
    "QueueOfForty": [*[SPAWN] * 41, *(end(f"#{number}") for number in range(41)), DRAIN],
    "DrainsForty": [*[SPAWN] * 41, *(end(f"#{number}") for number in range(41)), DRAIN],
    "PeeksFifty": [SPAWN, ATTACH, BLOCKS, peek(110)],
    "LabelIsCut": [call("spawn", label="x" * 81), LIST],
    "TextIsCut": [SPAWN, call("finish", task="#0", outcome="completed", text="ä"), DRAIN],
    "EmptyBlocksAreDropped": [SPAWN, ATTACH, call("append_history", task="#0", blocks=[""]), PEEK],
    "CrashedRowsStay": [*[SPAWN] * 65, *(call("crash", task=f"#{number}") for number in range(65)), LIST],
    "ThrownFunctionLeavesRow": [THROWS, LIST],
    "ThrownFunctionBreaksTable": [THROWS, SPAWN],
    "EarlyRaiseRunsForEver": [RAISES, LIST],
    "EarlyRaiseWakesNobody": [RAISES, SOON],
    "TokenIsCancelledLate": [OBLIGES, CANCEL, LIST],
    "ObligingBodyHasFailed": [OBLIGES, CANCEL, LIST],
    "LastWordsAreLost": [OBLIGES, CANCEL, DRAIN],
    "ObligingBodyEndsTwice": [OBLIGES, CANCEL, DRAIN],
    "CancelReachesBodiesOfLabel": [OBLIGES, OBLIGES, CANCEL, DRAIN],
    "LateBodyIsNotTold": [ALL, OBLIGES, DRAIN],
    "InnerTokenIsChild": [SPAWN, WITHIN, CANCEL, end("#1"), LIST],
    "InnerEndsWithOuter": [SPAWN, WITHIN, END, LIST],
    "InnerEscapesCancelOfAll": [SPAWN, ALL, WITHIN, end("#1"), LIST],
    "CancelledRaiseIsLost": [ALL, RAISES, DRAIN],
    "RaisedTaskCompletes": [RAISES, END, LIST],
    "RaisedAfterCancelHasCompleted": [ALL, RAISES, LIST],
    "CanceledFromTheStartIsNotTold": [ALL, SPAWN, END, DRAIN],
    "NeverRunsIsToldTwice": [ALL, SPAWN, DRAIN],
    "BornCanceledAndRaisedIsToldTwice": [ALL, RAISES, DRAIN],
    "ObligingBodyWakesNobody": [OBLIGES, [WAIT, ALL]],
    "HistoryKeepsBody": [OBLIGES, ATTACH, CANCEL, COUNT],
    "HistoryKeepsThirty": [SPAWN, ATTACH, BLOCKS, peek(110)],
}
OTHERWISE = {
    "OldRowsExpire",
    "PeekAndSpawnDeadlock",
    "RefusedTaskLeavesRow",
    "DrainOfManyYields",
    "EarlyRaiseReachesCaller",
    "ThrownFunctionBringsNothing",
    "InnerIsAccepted",
    "CrashedBodyObliges",
    "ObligingBodyIsAccepted",
    "CancelIsSeenAgain",
    "OneIsAskedAtATime",
    "CancelsShareTarget",
    "CancelAsksByPlace",
    "CancelOfAllStopsAtEnd",
    "CancelRewritesEnd",
    "SpawnEndsWaits",
    "EndedSeeSessionCancelled",
    "CancelOfAllIsNotSeen",
    "LateCancelIsNotSeen",
    "WaitIsHalved",
    "WaitIsTooLong",
}
"""Those that need time to pass between calls or another turn of the loop, never come back or in another time, crash, signal, or choose
otherwise."""


@pytest.mark.parametrize("lie", [lie for lie in FAULTY if lie.__name__ in SCRIPTS], ids=lambda lie: lie.__name__)
def test_a_lie_differs_from_the_reference_in_as_many_calls_as_it_says(lie: type[Lie]) -> None:
    script = SCRIPTS[lie.__name__]
    with Driver(BackgroundTasks) as right, Driver(lie) as wrong:
        assert (wrong.run(script), wrong.instant()) != (right.run(script), right.instant())
    assert length(script) == lie.calls


def test_every_lie_has_its_script() -> None:
    assert {lie.__name__ for lie in FAULTY} == SCRIPTS.keys() | OTHERWISE


def test_rows_expire_where_time_is_no_reason() -> None:
    (lie,) = (lie for lie in FAULTY if lie.__name__ == "OldRowsExpire")
    for system, rows in ((BackgroundTasks, 1), (lie, 0)):
        with Driver(system) as driver:
            driver.at_once(SPAWN)
            driver.at_once(END)
            driver.at_once(call("wait_for_completion", timeout=1))
            driver.at_once(call("wait_for_completion", timeout=3_600_000))
            assert len(driver("list")) == rows


def test_a_deadlock_is_seen() -> None:
    (lie,) = (lie for lie in FAULTY if lie.__name__ == "PeekAndSpawnDeadlock")
    with Driver(lie) as wrong:
        wrong.at_once(SPAWN)
        with pytest.raises(AssertionError, match="everything waits"):
            wrong.at_once(PEEK, SPAWN)


def test_a_refused_task_leaves_a_row() -> None:
    (lie,) = (lie for lie in FAULTY if lie.__name__ == "RefusedTaskLeavesRow")
    for system, rows in ((partial(BackgroundTasks, spawn_after_cancel="refused"), 0), (lie, 1)):
        with Driver(system) as driver:
            driver.run([ALL, SPAWN])
            assert len(driver("list")) == rows
