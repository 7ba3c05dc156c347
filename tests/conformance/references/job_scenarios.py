"""The shortest sequence of calls in which each wrong job system differs from a right one.

A sequence is written as Python: `a = register('bash', 'x'); settle(a, 'ok', 'done')`. A name stands for
the handle, the id or the token of a reply, whichever the call takes; `3 * wait(1)` is three calls.
"""

from __future__ import annotations

from tests.faulty.job import (
    cancelling,
    choices,
    delivering,
    limits,
    outcomes,
    owners,
    polling,
    provoked,
    replies,
    retention,
    reuse,
    suppression,
    ways,
)
from tests.faulty.job.lie import Lie

IN_FLIGHT = "sink('block'); a = register('bash', 'x'); settle(a, 'ok', 'done');"

SCENARIOS: dict[type[Lie], str] = {
    provoked.FlightFailureLosesCompletion: f"{IN_FLIGHT} refuse_sink(); wait(60_000)",
    provoked.FlightFailureIsTriedAtOnce: f"{IN_FLIGHT} refuse_sink()",
    provoked.AcknowledgedFlightIsTriedAgain: f"{IN_FLIGHT} acknowledge([a]); refuse_sink(); wait(700)",
    provoked.DisposedFlightIsTriedAgain: f"{IN_FLIGHT} dispose(); refuse_sink(); wait(700)",
    provoked.WatchedFlightIsTriedAgain: f"{IN_FLIGHT} watch([a]); refuse_sink(); wait(700)",
    provoked.ThrowingBodyBreaksRegister: "register_with('throws', 'bash', 'x', 'broken')",
    provoked.ThrowingBodyRunsForEver: "register_with('throws', 'bash', 'x', 'broken')",
    provoked.ThrowingBodyLosesText: "a = register_with('throws', 'bash', 'x', 'broken'); get(a)",
    provoked.ThrowingBodyEndsAgain: "a = register_with('throws', 'bash', 'x', 'broken'); settle(a, 'error', 'more'); get(a)",
    provoked.ObligingBodySpeaksFirst: "a = register_with('obliges', 'bash', 'x', 'stopped'); get(a)",
    provoked.OneCancelStopsAllObliging: (
        "a = register_with('obliges', 'bash', 'x', 'stopped'); b = register_with('obliges', 'bash', 'y', 'stopped'); "
        "cancel(a); get(b)"
    ),
    provoked.AbortComesBeforeMark: "a = register_with('obliges', 'bash', 'x', 'stopped'); cancel(a); get(a)",
    provoked.LastWordsAreLost: "a = register_with('obliges', 'bash', 'x', 'stopped'); cancel(a); get(a)",
    provoked.OnlyOwnEndWakes: (
        "a = register_with('obliges', 'bash', 'x', 'stopped'); b = tool([a]); cancel(a); tool_result(b)"
    ),
    provoked.EarlyAbortIsNotSeen: "a = register('bash', 'x'); b = aborted_tool([a]); tool_result(b)",
    provoked.EarlyAbortCancels: "a = register('bash', 'x'); aborted_tool([a])",
    provoked.EarlyAbortLeavesWatch: "a = register('bash', 'x'); aborted_tool([a]); settle(a, 'ok', 'done')",
    provoked.InnerIsCancelledWithOuter: "a = register('bash', 'x'); b = register_from(a, 'bash', 'y'); cancel(a); get(b)",
    provoked.InnerHasNoSlot: "configure(1); a = register('bash', 'x'); register_from(a, 'bash', 'y')",
    provoked.InnerBeginsAfterDispose: "a = register('bash', 'x'); dispose(); register_from(a, 'bash', 'y')",
    provoked.InnerTakesId: "register_both('bash', 'x', 'y')",
    provoked.InnerIsPartOfOuter: "a = register_both('bash', 'x', 'y'); cancel(a)",
    provoked.BodyBeginsUnderLock: "register_both('bash', 'x', 'y')",
    provoked.CountedAfterItsBody: "configure(1); register_both('bash', 'x', 'y')",
    provoked.InnerTakesTwoSlots: "configure(3); register_both('bash', 'x', 'y'); register('bash', 'z')",
    provoked.InnerIsKept: "configure(3, 50_000); register_both('bash', 'x', 'y'); cancel_all(); wait(50_001); list()",
    provoked.BothBeginAfterDispose: "dispose(); register_both('bash', 'x', 'y')",
    provoked.ThrowingBodyBeginsAfterDispose: "dispose(); register_with('throws', 'bash', 'x', 'broken')",
    polling.UnknownTokenAbortsAll: (
        "a = register('bash', 'x'); b = tool(poll=[a]); abort_tool('nobody'); tool_result(b)"
    ),
    polling.UnknownTokenUsesUpAbort: (
        "a = register('bash', 'x'); b = tool(poll=[a]); abort_tool('nobody'); abort_tool(b); tool_result(b)"
    ),
    replies.StillRunningCountsAll: (
        "a = register('bash', 'x'); b = register('bash', 'y'); c = tool(poll=[a, b]); "
        "settle(a, 'ok', 'x'); tool_result(c)"
    ),
    outcomes.FailedIsCompleted: "a = register('bash', 'x'); settle(a, 'error', 'done'); get(a)",
    outcomes.DeliveredTwice: "a = register('bash', 'x'); settle(a, 'ok', 'done')",
    outcomes.OwnerIsNotFiltered: "register('bash', 'test'); list('alice')",
    outcomes.StampedByHand: "a = register('bash', 'build', owner='alice'); get(a)",
    outcomes.CancelledComesBack: "a = register('bash', 'x'); cancel(a); settle(a, 'ok', 'late'); get(a)",
    outcomes.LateSettlementIsDelivered: "a = register('bash', 'x'); cancel(a); settle(a, 'ok', 'late')",
    outcomes.LateTextIsDropped: "a = register('bash', 'x'); cancel(a); settle(a, 'ok', 'late'); get(a)",
    outcomes.SecondEndOverwrites: ("a = register('bash', 'x'); settle(a, 'ok', 'one'); settle(a, 'ok', 'two'); get(a)"),
    outcomes.CancelOverwritesEnd: "a = register('bash', 'x'); settle(a, 'ok', 'one'); cancel(a)",
    outcomes.LateSettlementRevivesRecord: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); cancel(a); wait(1_001); settle(a, 'ok', 'late'); list()"
    ),
    outcomes.LateSettlementIsDeliveredOnceEvicted: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); cancel(a); wait(1_001); settle(a, 'ok', 'late')"
    ),
    cancelling.EndedIsNotFound: (
        "a = register('bash', 'x'); settle(a, 'error', 'x'); b = tool(cancel=['nobody', a]); tool_result(b)"
    ),
    cancelling.CancelStopsAtUnknown: "a = register('bash', 'x'); tool(cancel=['nobody', a])",
    cancelling.CancelledIsWaitedFor: ("a = register('bash', 'x'); b = tool(poll=[a], cancel=[a]); tool_result(b)"),
    cancelling.PollComesBeforeCancel: "a = register('bash', 'x'); tool(poll=[a], cancel=[a])",
    cancelling.CancelIsNotSignalled: "a = register('bash', 'x', owner='alice'); cancel(a)",
    cancelling.CancelWaitsForBody: "a = register('bash', 'x', owner='alice'); cancel(a); get(a)",
    cancelling.CancelAllTakesAll: "register('bash', 'y', owner='bob'); cancel_all('alice')",
    cancelling.CancelIsDelivered: "a = register('bash', 'x'); cancel(a)",
    cancelling.DoubleCancelSignalsTwice: "a = register('bash', 'x'); tool(cancel=[a, a])",
    cancelling.EmptyCancelReturnsAtOnce: "register('bash', 'x'); a = tool(cancel=[]); tool_result(a)",
    cancelling.CancelKeepsSlot: (
        "configure(2, 100_000, 5_000); a = register('bash', 'x'); register('bash', 'y'); cancel(a); "
        "register('bash', 'z')"
    ),
    cancelling.LateSettlementFreesAgain: (
        "configure(2, 100_000, 5_000); a = register('bash', 'x'); register('bash', 'y'); cancel(a); "
        "register('bash', 'z'); settle(a, 'ok', 'late'); register('bash', 'z')"
    ),
    polling.PollWaitsForAll: (
        "a = register('bash', 'x'); b = register('task', 'y'); c = tool(poll=[a, b]); "
        "settle(b, 'ok', 'done'); tool_result(c)"
    ),
    polling.PollShowsOnlySettled: (
        "a = register('bash', 'x'); b = register('task', 'y'); c = tool(poll=[a, b]); "
        "settle(b, 'ok', 'done'); tool_result(c)"
    ),
    polling.FailureFailsPoll: (
        "a = register('task', 'y'); b = tool(poll=[a]); settle(a, 'error', 'done'); tool_result(b)"
    ),
    polling.PollAllShowsEnded: (
        "a = register('bash', 'x'); settle(a, 'ok', 'x'); b = register('bash', 'y'); c = tool(); "
        "settle(b, 'ok', 'x'); tool_result(c)"
    ),
    polling.PollAllWaitsForFirst: ("register('bash', 'x'); a = register('bash', 'y'); tool(); settle(a, 'ok', 'x')"),
    polling.UnknownIdSpoilsPoll: "a = register('bash', 'x'); b = tool(poll=['nope', a]); tool_result(b)",
    polling.UnknownIdIsWaitedFor: "a = tool(poll=['nope']); tool_result(a)",
    polling.EmptyPollPollsAll: "register('bash', 'x'); a = tool(poll=[]); tool_result(a)",
    polling.EndedIsWaitedFor: ("a = register('bash', 'x'); settle(a, 'error', 'x'); tool(poll=[a], listen=True)"),
    polling.AbortCancels: "a = register('bash', 'x'); b = tool(poll=[a]); abort_tool(b)",
    polling.AbortIsIgnored: "a = register('bash', 'x'); b = tool(poll=[a]); abort_tool(b); tool_result(b)",
    polling.AbortRepliesAgain: (
        "a = register('bash', 'x'); b = register('bash', 'y'); c = tool(poll=[a, b]); "
        "settle(a, 'ok', 'x'); settle(b, 'ok', 'y'); abort_tool(c); tool_result(c)"
    ),
    polling.CancelledDoesNotWake: (
        "a = register('bash', 'x'); b = tool(poll=[a]); cancel(a); settle(a, 'ok', 'late'); tool_result(b)"
    ),
    polling.ListBesidePoll: "a = register('bash', 'x'); tool(poll=[a], list=True)",
    polling.EmptyPollSpoilsList: "tool(poll=[], cancel=[], list=True)",
    polling.NamedTwiceShownTwice: (
        "a = register('bash', 'x'); settle(a, 'ok', 'x'); b = tool(poll=[a, a]); tool_result(b)"
    ),
    polling.AcknowledgedIsGone: ("a = register('bash', 'x'); acknowledge([a]); b = tool(poll=[a]); tool_result(b)"),
    polling.OnePollReturns: (
        "a = register('bash', 'x'); tool(poll=[a]); b = tool(poll=[a]); settle(a, 'ok', 'x'); tool_result(b)"
    ),
    polling.WaitIsFixed: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); b = tool(poll=[a]); wait(5_001); tool_result(b)"
    ),
    polling.WaitIsCutShort: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); b = tool(poll=[a]); wait(4_999); tool_result(b)"
    ),
    polling.TimeOutCancels: ("configure(2, 1_000, 5_000); a = register('bash', 'x'); tool(poll=[a]); wait(5_001)"),
    polling.ProgressPutsLimitOff: (
        "a = register('bash', 'x'); b = tool(poll=[a], listen=True); wait(30_001); tool_result(b)"
    ),
    polling.OddWaitIsTaken: ("configure(2, 1_000, 0); a = register('bash', 'x'); b = tool(poll=[a]); tool_result(b)"),
    replies.EmptyListIsRefused: "tool(list=True)",
    replies.ListHidesEnded: ("a = register('task', 'y'); settle(a, 'ok', 'done'); b = tool(list=True); tool_result(b)"),
    replies.NoProgressAtOnce: "a = register('bash', 'x'); tool(poll=[a], listen=True)",
    replies.ProgressEverySecond: "a = register('bash', 'x'); tool(poll=[a], listen=True); wait(501)",
    replies.ProgressIsStale: "a = register('bash', 'x'); tool(poll=[a], listen=True); wait(501)",
    replies.ProgressOnFastPath: ("a = register('bash', 'x'); settle(a, 'error', 'x'); tool(poll=[a], listen=True)"),
    replies.ProgressAfterReturn: (
        "a = register('bash', 'x'); tool(poll=[a], listen=True); settle(a, 'ok', 'x'); wait(5_000)"
    ),
    replies.ProgressUnasked: "a = register('bash', 'y'); tool(poll=[a])",
    replies.HeadingLeavesOutUnknown: (
        "a = register('bash', 'z'); b = tool(poll=[a], cancel=['nobody']); settle(a, 'ok', 'more'); tool_result(b)"
    ),
    replies.TextLeavesOutErrors: (
        "a = register('bash', 'y'); settle(a, 'error', 'the error'); "
        "b = tool(poll=[a], cancel=['nobody']); tool_result(b)"
    ),
    replies.CompletedCountsOnlyCompleted: (
        "a = register('bash', 'y'); settle(a, 'error', 'the error'); "
        "b = tool(poll=[a], cancel=['nobody']); tool_result(b)"
    ),
    replies.DisabledIsRefused: "tool(manager='none')",
    replies.DisabledInOtherWords: "a = tool(manager='none'); tool_result(a)",
    replies.CancelsWithoutManager: "a = register('bash', 'x'); tool(cancel=[a], manager='none')",
    replies.ListsWithoutManager: "a = register('bash', 'x'); b = tool([a], manager='none'); tool_result(b)",
    replies.NothingIsSaid: "a = tool(poll=['nope', 'nada']); tool_result(a)",
    replies.EmptyTextsAreShown: ("a = register('bash', 'x'); settle(a, 'ok', ''); b = tool(poll=[a]); tool_result(b)"),
    replies.ListAcknowledges: (
        "sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); tool(list=True); wait(60_000)"
    ),
    owners.ForeignIsCancelled: ("a = register('bash', 'y', owner='bob'); tool(poll=[a], cancel=[a], owner='alice')"),
    owners.ForeignIsPolled: ("a = register('bash', 'y', owner='bob'); tool(owner='alice'); settle(a, 'ok', 'x')"),
    owners.ForeignIsListed: ("register('bash', 'y', owner='bob'); a = tool(list=True, owner='alice'); tool_result(a)"),
    owners.NobodySeesNothing: "register('bash', 'x', owner='alice'); a = tool(list=True); tool_result(a)",
    owners.CancelIsScopedAlthoughOnlyListsAre: (
        "a = register('bash', 'y', owner='bob'); tool(poll=[a], cancel=[a], owner='alice')"
    ),
    owners.OwnerIsABeginning: "register('bash', 'x', owner='alice b'); list('alice')",
    delivering.LastSettledFirst: (
        "sink('block'); a = register('bash', 'x'); b = register('bash', 'x'); c = register('bash', 'x'); "
        "settle(c, 'ok', 'x'); settle(a, 'ok', 'x'); settle(b, 'ok', 'x'); release_sink()"
    ),
    delivering.SyncFailureLosesCompletion: (
        "a = register('bash', 'x'); sink('raise'); settle(a, 'ok', 'done'); wait(800)"
    ),
    delivering.AsyncFailureLosesCompletion: (
        "a = register('bash', 'x'); sink('refuse'); settle(a, 'ok', 'done'); wait(800)"
    ),
    delivering.DeliveredAgainAfterRetry: (
        "a = register('bash', 'x'); sink('raise'); settle(a, 'ok', 'done'); sink('accept'); wait(30_000)"
    ),
    delivering.FailedIsQueuedTwice: ("a = register('bash', 'x'); sink('refuse'); settle(a, 'ok', 'y'); wait(60_000)"),
    delivering.FailureRepeatsBatch: (
        "a = register('bash', 'x'); b = register('bash', 'x'); settle(a, 'ok', 'x'); sink('refuse'); "
        "settle(b, 'ok', 'y')"
    ),
    delivering.InFlightIsTakenOffByPlace: (
        "sink('block'); a = register('bash', 'x'); b = register('bash', 'y'); settle(a, 'ok', 'x'); "
        "settle(b, 'ok', 'y'); acknowledge([a]); release_sink(); wait(60_000)"
    ),
    delivering.AcknowledgeClearsQueue: (
        "sink('refuse'); a = register('bash', 'x'); b = register('bash', 'x'); settle(a, 'ok', 'x'); "
        "settle(b, 'ok', 'x'); acknowledge([a]); wait(60_000)"
    ),
    delivering.AcknowledgeDropsFirst: (
        "sink('refuse'); a = register('bash', 'x'); b = register('bash', 'x'); settle(a, 'ok', 'x'); "
        "settle(b, 'ok', 'x'); acknowledge([b])"
    ),
    delivering.RetriesAfterDispose: (
        "sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); dispose(); wait(60_000)"
    ),
    delivering.DisposeDeliversUnasked: "sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); dispose()",
    delivering.DisposeTellsWhatIsInFlight: (
        "sink('block'); a = register('bash', 'x'); settle(a, 'ok', 'x'); dispose(); release_sink()"
    ),
    delivering.EvictionDropsCompletion: (
        "configure(2, 100, 5_000); sink('refuse'); a = register('bash', 'x'); settle(a, 'error', 'owed'); wait(60_000)"
    ),
    delivering.EvictionLetsGoTwice: ("a = register('bash', 'x'); watch([a]); settle(a, 'ok', 'x'); wait(300_001)"),
    delivering.OvertakesAgainstDeclaration: (
        "a = register('bash', 'x'); b = register('bash', 'y'); sink('refuse'); settle(a, 'ok', 'x'); "
        "settle(b, 'ok', 'y')"
    ),
    delivering.SettledDuringBackoffIsLost: (
        "a = register('bash', 'x'); b = register('bash', 'y'); sink('refuse'); settle(a, 'ok', 'x'); "
        "sink('accept'); settle(b, 'ok', 'y'); wait(800)"
    ),
    delivering.BackoffHasNoCeiling: ("sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); wait(153_500)"),
    delivering.BackoffIsConstant: ("sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); wait(153_500)"),
    delivering.BackoffStartsDoubled: ("sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); wait(153_500)"),
    delivering.BackoffStartsOverAtCeiling: (
        "sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); wait(153_500)"
    ),
    delivering.JitterIsTooWide: ("sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); wait(153_500)"),
    delivering.JitterGoesBothWays: ("sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); wait(153_500)"),
    delivering.FailuresAreShared: (
        "a = register('bash', 'x'); b = register('bash', 'y'); sink('refuse'); settle(a, 'ok', 'x'); "
        "sink('accept'); wait(60_000); sink('refuse'); settle(b, 'ok', 'y'); wait(800)"
    ),
    delivering.AttemptsOverlap: (
        "sink('block'); a = register('bash', 'x'); b = register('bash', 'x'); settle(a, 'ok', 'x'); "
        "settle(b, 'ok', 'x')"
    ),
    delivering.BurstKeepsLast: (
        "sink('block'); a = register('bash', 'x'); b = register('bash', 'x'); c = register('bash', 'x'); "
        "settle(a, 'ok', 'x'); settle(b, 'ok', 'x'); settle(c, 'ok', 'x'); release_sink()"
    ),
    suppression.PollDoesNotAcknowledge: (
        "sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'one'); tool(poll=[a]); wait(60_000)"
    ),
    suppression.FastPathDoesNotAcknowledge: ("a = register('bash', 'x'); settle(a, 'ok', 'one'); tool(poll=[a])"),
    suppression.FailedIsNotAcknowledged: (
        "sink('refuse'); a = register('bash', 'x'); settle(a, 'error', 'one'); tool(poll=[a]); wait(60_000)"
    ),
    suppression.WatchDoesNotStopRetry: (
        "sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); watch([a]); wait(60_000)"
    ),
    suppression.WatchedIsDelivered: "a = register('bash', 'x'); watch([a]); settle(a, 'ok', 'x')",
    suppression.UnwatchLoses: "a = register('bash', 'x'); watch([a]); settle(a, 'ok', 'x'); unwatch([a])",
    suppression.UnwatchForgetsAcknowledgement: (
        "a = register('bash', 'x'); watch([a]); settle(a, 'ok', 'x'); acknowledge([a]); unwatch([a])"
    ),
    suppression.WatchIsFlag: ("a = register('bash', 'x'); watch([a]); watch([a]); unwatch([a]); settle(a, 'ok', 'x')"),
    suppression.PollUnwatchesForAll: (
        "a = register('bash', 'x'); b = tool(poll=[a]); tool(poll=[a]); abort_tool(b); settle(a, 'ok', 'x')"
    ),
    suppression.PollEndsWatch: (
        "a = register('bash', 'x'); watch([a]); b = tool(poll=[a]); abort_tool(b); settle(a, 'ok', 'x')"
    ),
    suppression.AbortLeavesWatched: (
        "a = register('bash', 'x'); b = tool(poll=[a]); abort_tool(b); settle(a, 'ok', 'x')"
    ),
    suppression.TimeOutLeavesWatched: (
        "a = register('bash', 'x'); b = register('bash', 'z'); tool(poll=[a, b]); settle(b, 'ok', 'z'); "
        "settle(a, 'ok', 'x')"
    ),
    suppression.OnlySettledIsUnwatched: (
        "a = register('bash', 'x'); b = register('bash', 'z'); tool(poll=[a, b]); settle(b, 'ok', 'z'); "
        "settle(a, 'ok', 'x')"
    ),
    suppression.RunningIsAcknowledgedByPoll: (
        "a = register('bash', 'x'); b = tool(poll=[a]); abort_tool(b); settle(a, 'ok', 'x')"
    ),
    suppression.UnknownIsAcknowledged: ("acknowledge(['x']); a = register('bash', 'x', 'x'); settle(a, 'ok', 'done')"),
    suppression.RetriesUnderAWatch: (
        "sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); watch([a]); wait(60_000)"
    ),
    suppression.WatchesBelowNone: "a = register('bash', 'x'); unwatch([a]); watch([a]); settle(a, 'ok', 'x')",
    suppression.WatchTakesBackFailures: (
        "sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); watch([a]); unwatch([a]); wait(800); wait(600)"
    ),
    suppression.RunningIsNotSilenced: "a = register('bash', 'x'); acknowledge([a]); settle(a, 'ok', 'x')",
    reuse.CollisionReplaces: "register('bash', 'first', ' build '); register('bash', 'second', 'build')",
    reuse.CollisionIsRefused: "register('bash', 'first', ' build '); register('bash', 'second', 'build')",
    reuse.SuffixIsTakenUnseen: (
        "register('bash', 'first', ' build '); register('bash', 'second', 'build'); register('bash', 'third', 'build ')"
    ),
    reuse.BlankIsId: "register('bash', 'fourth', '  ')",
    reuse.LateSettlementEndsNewHolder: (
        "configure(2, 1_000, 5_000); a = register('bash', 'old', 'x'); cancel(a); wait(1_001); "
        "register('task', 'new', 'x'); settle(a, 'ok', 'late')"
    ),
    reuse.LateTextReachesNewHolder: (
        "configure(2, 1_000, 5_000); a = register('bash', 'old', 'x'); cancel(a); wait(1_001); "
        "b = register('task', 'new', 'x'); settle(a, 'ok', 'late'); get(b)"
    ),
    reuse.SecondTimerEvictsNewHolder: (
        "configure(2, 1_000, 5_000); a = register('bash', 'old', 'x'); cancel(a); wait(600); "
        "settle(a, 'ok', 'late'); wait(401); b = register('task', 'new', 'x'); wait(998); get(b)"
    ),
    reuse.AcknowledgementOutlivesRecord: (
        "configure(2, 1_000, 5_000); a = register('bash', 'old', 'x'); acknowledge([a]); cancel(a); "
        "wait(1_001); b = register('task', 'new', 'x'); settle(b, 'ok', 'mine')"
    ),
    reuse.WatchOutlivesRecord: (
        "configure(2, 1_000, 5_000); a = register('bash', 'old', 'x'); watch([a]); cancel(a); wait(1_001); "
        "b = register('task', 'new', 'x'); settle(b, 'ok', 'mine')"
    ),
    reuse.PollUnwatchesByName: (
        "configure(3, 1_000, 5_000); a = register('bash', 'old', 'x'); b = register('bash', 'y'); "
        "settle(a, 'ok', 'x'); c = tool(poll=[a, b]); wait(1_001); d = register('task', 'new', 'x'); "
        "watch([d]); abort_tool(c); settle(d, 'ok', 'mine')"
    ),
    reuse.PollShowsNewHolder: (
        "configure(3, 1_000, 5_000); a = register('bash', 'old', 'x'); b = register('bash', 'y'); "
        "settle(a, 'ok', 'x'); c = tool(poll=[a, b]); wait(1_001); register('task', 'new', 'x'); "
        "abort_tool(c); tool_result(c)"
    ),
    reuse.WaiterHoldsNewHolder: (
        "configure(3, 1_000, 300_000); a = register('bash', 'old', 'x'); tool(poll=[a]); cancel(a); "
        "wait(1_001); b = register('task', 'new', 'x'); settle(b, 'ok', 'mine')"
    ),
    reuse.AcknowledgedByName: (
        "configure(2, 100, 5_000); sink('refuse'); a = register('bash', 'old', 'x'); "
        "settle(a, 'ok', 'owed'); wait(101); b = register('task', 'new', 'x'); acknowledge([b]); "
        "wait(60_000)"
    ),
    reuse.ReusedAgainstDeclaration: (
        "configure(2, 1_000, 5_000); a = register('bash', 'old', 'x'); cancel(a); wait(1_001); "
        "register('task', 'new', 'x')"
    ),
    retention.RetentionFromStart: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); wait(1_699); settle(a, 'ok', 'x'); get(a)"
    ),
    retention.FailedIsKept: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); settle(a, 'error', 'x'); wait(1_001); get(a)"
    ),
    retention.EvictedIsOnlyUnlisted: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); settle(a, 'ok', 'x'); wait(1_001); get(a)"
    ),
    retention.CancelledIsKeptUntilBodyEnds: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); cancel(a); wait(1_001); get(a)"
    ),
    retention.CancelAgainRestartsRetention: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); cancel(a); wait(999); cancel(a); wait(2); get(a)"
    ),
    retention.LateSettlementRestartsRetention: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); cancel(a); wait(999); "
        "settle(a, 'ok', 'late'); wait(2); get(a)"
    ),
    retention.LateSettlementCountsFromStart: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); wait(500); cancel(a); settle(a, 'ok', 'late'); "
        "wait(500); get(a)"
    ),
    retention.ZeroRetentionKeeps: ("configure(2, 0, 5_000); a = register('bash', 'x'); settle(a, 'ok', 'x'); list()"),
    retention.ZeroRetentionLosesCompletion: ("configure(2, 0, 5_000); a = register('bash', 'x'); settle(a, 'ok', 'x')"),
    retention.PollKeepsLonger: (
        "a = register('bash', 'x'); settle(a, 'ok', 'x'); wait(299_999); tool(poll=[a]); wait(2); get(a)"
    ),
    retention.RunningIsEvicted: "a = register('bash', 'x'); wait(86_400_000); get(a)",
    retention.DeclaredRetentionIsNotKept: ("a = register('bash', 'x'); settle(a, 'ok', 'x'); wait(60_001); get(a)"),
    retention.DeliveryRestartsRetention: (
        "configure(2, 1_000, 5_000); sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); "
        "sink('accept'); wait(1_001); get(a)"
    ),
    retention.ToolCancelRestartsRetention: (
        "configure(2, 1_000, 5_000); a = register('bash', 'x'); settle(a, 'ok', 'x'); wait(800); "
        "tool(cancel=[a]); wait(201); get(a)"
    ),
    retention.ForgottenWithItsRecord: (
        "configure(2, 100, 5_000); sink('refuse'); a = register('bash', 'x'); settle(a, 'error', 'owed'); "
        "wait(1_900); sink('accept'); wait(60_000)"
    ),
    replies.CancelledHaveNoEnd: "wait(70); a = register('bash', 'x'); b = tool(cancel=[a]); tool_result(b)",
    replies.FailedHaveNoEnd: (
        "wait(70); a = register('bash', 'x'); settle(a, 'error', 'x'); b = tool(poll=[a]); tool_result(b)"
    ),
    replies.ManyAreNinePlus: ("10 * register('bash', 'x'); cancel_all(); b = tool(list=True); tool_result(b)"),
    retention.RetentionOverflows: (
        "configure(5, 5_000_000_000, 5_000); a = register('bash', 'x'); settle(a, 'ok', 'x'); wait(1_000); get(a)"
    ),
    replies.ProgressGetsTired: (
        "configure(2, 1_000, 60_000); a = register('bash', 'x'); tool(poll=[a], listen=True); wait(59_999)"
    ),
    replies.FiftyAreSaid: "configure(100); 51 * register('bash', 'x'); b = tool(list=True); tool_result(b)",
    replies.FiftyAreListed: "configure(100); 51 * register('bash', 'x'); running()",
    delivering.HeldHoldsOthers: (
        "a = register('bash', 'x'); b = register('bash', 'y'); c = register('bash', 'z'); sink('refuse'); "
        "settle(a, 'ok', 'x'); sink('accept'); tool(poll=[a, b]); wait(1_000); settle(c, 'ok', 'z')"
    ),
    delivering.LoopEndsWithThePolled: (
        "a = register('bash', 'x'); b = register('bash', 'y'); sink('refuse'); settle(a, 'ok', 'x'); "
        "settle(b, 'error', 'y'); sink('accept'); tool([a]); wait(1_400)"
    ),
    delivering.LeavesItsWatchBehind: (
        "configure(retention_ms=1_000); a = register('bash', 'x'); settle(a, 'ok', 'x'); watch([a]); wait(1_000); "
        "b = register('bash', 'y'); settle(b, 'ok', 'y')"
    ),
    delivering.LoopEndsWithTheAcknowledged: (
        "a = register('bash', 'x'); b = register('bash', 'y'); sink('refuse'); settle(a, 'ok', 'x'); "
        "settle(b, 'error', 'y'); sink('accept'); acknowledge([a]); wait(1_400)"
    ),
    delivering.DeliveredComesBack: (
        "a = register('bash', 'x'); sink('refuse'); settle(a, 'ok', 'x'); sink('accept'); wait(700); "
        "watch([a]); unwatch([a]); wait(0)"
    ),
    limits.OneMoreRuns: "15 * register('bash', 'x'); register('bash', 'y', owner='bob')",
    limits.OneFewerRuns: "15 * register('bash', 'x')",
    limits.LimitIsPerOwner: "15 * register('bash', 'x'); register('bash', 'y', owner='bob')",
    limits.EndedKeepsSlot: (
        "a = register('bash', 'x'); 14 * register('bash', 'x'); settle(a, 'ok', 'x'); register('bash', 'z')"
    ),
    limits.DisposeWaitsForBodies: "register('bash', 'x'); dispose()",
    limits.DisposeLeavesRunning: "register('bash', 'x'); dispose()",
    limits.RegisteredAfterDispose: "dispose(); register('bash', 'y')",
    delivering.CancelOfAllEmptiesQueue: (
        "a = register('bash', 'x'); sink('refuse'); settle(a, 'ok', 'x'); cancel_all(); sink('accept'); wait(31000)"
    ),
    delivering.AcknowledgedTwiceTakesTwo: (
        "a = register('bash', 'x'); b = register('bash', 'y'); sink('refuse'); settle(a, 'ok', 'x'); "
        "acknowledge([b, b]); sink('accept'); wait(31000)"
    ),
    polling.TimedOutPollAcknowledgesNothing: (
        "a = register('bash', 'x'); b = register('bash', 'y'); sink('refuse'); settle(b, 'ok', 'x'); tool([a, b]); wait(31000)"
    ),
    polling.AbortEndsAllPolls: (
        "a = register('bash', 'x'); t = tool(poll=[a]); u = tool(poll=[a]); abort_tool(t); tool_result(u)"
    ),
    polling.AbortEndsPollsOfItsJobs: (
        "a = register('bash', 'x'); t = tool(poll=[a]); u = tool(poll=[a]); abort_tool(t); tool_result(u)"
    ),
    polling.AbortedPollAcknowledgesNothing: (
        "a = register('bash', 'x'); b = register('bash', 'y'); sink('refuse'); settle(b, 'ok', 'x'); "
        "t = tool([a, b]); abort_tool(t); wait(31000)"
    ),
    replies.ResultIsCut: f"a = register('bash', 'x'); settle(a, 'ok', '{5000 * 'x'}')",
    replies.LateWordsAreNotShown: (
        "configure(15); a = register('bash', 'x'); b = register('bash', 'y'); settle(a, 'ok', 'x'); cancel(b); "
        "settle(b, 'ok', 'late'); t = tool([b]); tool_result(t)"
    ),
    replies.WaitForgetsCancelledHeading: (
        "configure(15); a = register('bash', 'x'); b = register('bash', 'y'); c = register('bash', 'z'); "
        "t = tool([a], [a]); tool_result(t); t = tool([c], [b]); tool_result(t); settle(c, 'ok', 'done'); tool_result(t)"
    ),
    reuse.RefusedNameIsTaken: (
        "configure(1); a = register('bash', 'x'); register('bash', 'y', 'build'); settle(a, 'ok', 'x'); "
        "register('bash', 'y', 'build')"
    ),
    reuse.SuffixIsCounted: (
        "register('bash', 'x', 'build-3'); register('bash', 'y', 'build'); register('bash', 'z', 'build')"
    ),
    reuse.NineSuffixes: "10 * register('bash', 'x', 'build')",
    reuse.IdIsCut: "register('bash', 'x', 'abcdefghijklmnopqrstuvwxyzabcdefg')",
    reuse.IdLosesOddSigns: "register('bash', 'x', 'a/b')",
    reuse.OnlyBlanksAreTrimmed: "register('bash', 'x', '\\tx')",
    delivering.QueueOfTwenty: (
        "configure(60); sink('block'); "
        + "; ".join(f"b{number} = register('bash', 'x')" for number in range(22))
        + "; "
        + "; ".join(f"settle(b{number}, 'ok', 'x')" for number in range(22))
        + "; sink('accept'); release_sink()"
    ),
    delivering.DeliversTheBeginning: f"a = register('bash', 'x'); settle(a, 'ok', '{5000 * 'x'}')",
    delivering.GivesUpAfterTwenty: ("a = register('bash', 'x'); sink('refuse'); settle(a, 'ok', 'x'); wait(900_000)"),
    delivering.BackoffOverflows: ("a = register('bash', 'x'); sink('refuse'); settle(a, 'ok', 'x'); wait(900_000)"),
    owners.OwnerIgnoresCase: "register('bash', 'x', owner='Alice'); list('alice')",
    reuse.IdFromCount: (
        "configure(15, 1000); a = register('bash', 'x'); register('bash', 'y'); settle(a, 'ok', 'x'); wait(1001); "
        "register('bash', 'z')"
    ),
    reuse.DeliveredIdsAreRemembered: (
        "configure(15, 1000); a = register('bash', 'x', 'x'); settle(a, 'ok', 'one'); wait(1001); b = register('bash', 'y', 'x'); "
        "settle(b, 'ok', 'two')"
    ),
    reuse.FailuresStayWithTheId: (
        "configure(2, 1000); sink('refuse'); a = register('bash', 'x', 'x'); settle(a, 'ok', 'one'); acknowledge([a]); "
        "wait(1001); b = register('bash', 'y', 'x'); settle(b, 'ok', 'two'); sink('accept'); wait(700)"
    ),
    suppression.PollAcknowledgesWhatItWaitedFor: (
        "sink('refuse'); a = register('bash', 'x'); b = register('bash', 'y'); settle(a, 'ok', 'x'); tool(poll=[a, b]); "
        "settle(b, 'ok', 'y'); wait(60_000)"
    ),
    choices.OwnersShareSlots: (
        "; ".join(15 * ["register('bash', 'x', owner='alice')"]) + "; register('bash', 'y', owner='bob')"
    ),
    choices.TakenIdGetsSuffix: "register('bash', 'x', 'build'); register('bash', 'y', 'build')",
    choices.CancelledIsNotTold: "a = register('bash', 'x'); cancel(a)",
    replies.ProgressIsEmptyBesideCancel: (
        "a = register('bash', 'x'); b = register('bash', 'y'); tool(poll=[a], cancel=[b], listen=True)"
    ),
    choices.CancelledIsToldTwice: (
        "a = register('bash', 'x'); sink('refuse'); cancel(a); sink('accept'); wait(60_000)"
    ),
    choices.WatchOutlastsPoll: (
        "a = register('bash', 'x'); watch([a]); t = tool(poll=[a]); abort_tool(t); settle(a, 'ok', 'x')"
    ),
    ways.NoLimitAtNothing: "register('bash', 'x'); register('bash', 'y')",
    ways.NoLimitForObliging: (
        "register_with('obliges', 'bash', 'x', 'told'); register_with('obliges', 'bash', 'y', 'told')"
    ),
    ways.OwedIsToldLate: (
        "sink('refuse'); register_with('throws', 'bash', 'x', 'broken'); wait(300_001); sink('accept'); wait(60_000)"
    ),
    ways.AllEndedLeave: (
        "a = register('bash', 'x'); b = register('bash', 'y'); settle(a, 'ok', 'x'); settle(b, 'ok', 'y'); "
        "t = tool(poll=[a]); get(b)"
    ),
    provoked.EarlyAbortTakesAll: (
        "a = register('bash', 'x'); sink('refuse'); settle(a, 'ok', 'x'); aborted_tool(['nope']); wait(1_000)"
    ),
    replies.UpdatesSkipEnded: (
        "a = register('bash', 'x'); b = register('bash', 'y'); settle(a, 'ok', 'x'); tool([a, b], listen=True)"
    ),
    reuse.EvictedIdIsTaken: (
        "a = register('bash', 'x', 'id'); settle(a, 'ok', 'x'); wait(300_000); register('bash', 'y', 'id')"
    ),
    ways.EarlyAbortWaitsForNothing: "a = aborted_tool(['nope']); tool_result(a)",
    ways.HeldIsToldTwice: "a = register('bash', 'x'); watch([a]); settle(a, 'ok', 'x'); tool(cancel=[a])",
    ways.OwedStays: (
        "sink('refuse'); a = register('bash', 'x'); settle(a, 'ok', 'x'); tool(cancel=[a]); get(a); wait(60_000)"
    ),
    ways.TextIsRepeated: (
        "a = register('bash', 'x'); settle(a, 'ok', 'x'); tool(poll=[a]); t = tool(poll=[a]); tool_result(t)"
    ),
}
