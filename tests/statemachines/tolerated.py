"""What may go from a spec, or be said otherwise, without anybody noticing; each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tolerated:
    """What is known of one spec.

    survivors   clauses that only `unknown-clause` misses, each with the reason why no row can
    unmissed    clauses that nothing misses
    equivalent  weakenings that change nothing that anybody could see
    """

    survivors: Mapping[str, str] = field(default_factory=dict)
    unmissed: Mapping[str, str] = field(default_factory=dict)
    equivalent: Mapping[str, str] = field(default_factory=dict)


OPEN = "where everything is open, no row goes, so none covers it"
INVARIANT = "a consequence of the other sentences, stated once more; only the rows that cover it miss it"
DEFAULT = "it says the default"
OF_NOBODY = "(job.thread != thread || !job.terminal) && due.Ended.exists(m, m.job_id == job.id && m.to == thread)"
OF_TWO = "due.Ended.filter(m, m.job_id == job.id && m.to == thread).size() > 1"
STANDS_IDLE = "whenever the model is at rest, the field has that value already"
THREAD_JOB = Tolerated(
    survivors={
        "messages.Ended.at most": "in a model of one thread a message that was sent is no longer due",
        "operations.request_cancel.missing": DEFAULT,
        "operations.inspect_job.missing": DEFAULT,
        "operations.restart.may lose": "the model has no files that could be lost",
        "operations.restart.for each.thread.set.thread.boundary_requested": STANDS_IDLE,
        "on its own.busy_after_restart.set.thread.restarted": "becoming idle again clears it too",
        "invariants.terminal is final": INVARIANT,
        "invariants.completion is stamped": INVARIANT,
        "invariants.cancel is stamped": INVARIANT,
        "invariants.told at most once": INVARIANT,
        "invariants.retention holds": INVARIANT,
    },
    unmissed={"operations.emit.missing": OPEN, "operations.emit.unsaid": OPEN},
    equivalent={
        "operations.emit.sends.told: due.Ended.filter(m, m.job_id == job.id && m.to == thread) → "
        "due.Ended.filter(m, m.job_id == job.id)": "a job is private to its thread",
        "on its own.busy_after_restart.when: thread.restarted && thread.idle → thread.restarted": (
            "a thread that is not idle does not become busy"
        ),
        "on its own.busy_after_restart.set.thread.restarted: false → true": "becoming idle again clears it too",
        f"operations.emit.unsaid: {OF_NOBODY} || {OF_TWO} → {OF_NOBODY}": OPEN,
        "without should.0": "its rows are musts too: how binding the source is, only a reader knows",
    },
)

ONE_STATE = "the group has no other state"
TASK_PROGRESS = Tolerated(
    survivors={
        "operations.progress.copy": "what the model gives is a value, which nothing can change",
    },
    unmissed={f"operations.{name}.unsaid": OPEN for name in ("finish", "message", "summarize")},
    equivalent={
        "operations.start.move: pending -> running → waiting -> running": ONE_STATE,
        "operations.finish.move: running -> outcome → working -> outcome": ONE_STATE,
        "on its own.stop.move: running -> aborted → working -> aborted": ONE_STATE,
        "operations.summarize.unsaid: text == '' || task.state == pending → task.state == pending": OPEN,
        "operations.summarize.unsaid: text == '' || task.state == pending → text == ''": OPEN,
        "on its own.stop.when: task.state == running && task.asked_to_stop → task.asked_to_stop": (
            "it moves from running only"
        ),
    },
)

WIDENS = "it only widens what is left open, and no row can demand that"
LOCAL_AGENT = Tolerated(
    survivors={
        "operations.background.set.task.place_open": WIDENS,
        "operations.kill.set.cancelled": WIDENS,
        "operations.kill_all.for each.t.set.cancelled": WIDENS,
        "operations.abort_parent.set.cancelled": WIDENS,
        "operations.append_message.set.task.messages_open": WIDENS,
        "operations.foreground.for each.t.set.t.place_open": WIDENS,
        "operations.foreground.for each.previous.set.previous.place_open": WIDENS,
        "operations.foreground.for each.previous.set.previous.signal_open": WIDENS,
        "invariants.terminal is final": INVARIANT,
        "invariants.end is stamped": INVARIANT,
        "invariants.grace": INVARIANT,
        "invariants.one notification": INVARIANT,
        "invariants.one event": INVARIANT,
    },
    unmissed={
        f"operations.{name}.unsaid": OPEN
        for name in (
            *("register_async", "register_main", "register_other", "foreground", "clear", "complete", "fail"),
            *("process_exit", "evict", "append_message", "summarize", "signal_resolved"),
        )
    },
)

BACKGROUND_TASKS = Tolerated(
    survivors={
        "on its own.raised_and_cancelled": WIDENS,
        "messages.Completion.at most": "a message that was sent is no longer due",
        "messages.Completion.order": "tasks that complete become due in that order",
        "operations.crash.set.task.text": WIDENS,
        "invariants.terminal is final": INVARIANT,
        "invariants.one outcome": INVARIANT,
        "invariants.retention holds": INVARIANT,
    },
    unmissed={
        **{f"operations.{name}.unsaid": OPEN for name in ("spawn_from", "finish", "crash", "append_history")},
        "on its own.never_runs.set.task.returned": WIDENS,
    },
    equivalent={
        **dict.fromkeys(
            (
                "operations.append_history.unsaid: (!task.attached) || task.terminal → task.terminal",
                "operations.append_history.unsaid: (!task.attached) || task.terminal → (!task.attached)",
                "operations.spawn_from.unsaid: spawner.terminal || has_no_body(spawner) → has_no_body(spawner)",
                "operations.spawn_from.unsaid: spawner.terminal || has_no_body(spawner) → spawner.terminal",
                "operations.crash.unsaid: task.token || has_no_body(task) → has_no_body(task)",
                "operations.crash.unsaid: task.token || has_no_body(task) → task.token",
                "define.has_no_body(task): task.state == running && has_lost_body(task) → has_lost_body(task)",
                (
                    "define.has_lost_body(task): task.crashed || task.does == throws || task.does == raises → "
                    "task.crashed || task.does == raises"
                ),
            ),
            OPEN,
        ),
        **dict.fromkeys(
            (
                "entities.Task.entering.terminal.set.wake_ups: wake_ups + 1 → 1",
                (
                    "operations.wait_for_completion.gives.any of.1: "
                    "stored || came > 0 || due.Completion.size() > 0 || policies.wakes == any_time → "
                    "stored || came > 0 || policies.wakes == any_time"
                ),
                (
                    "operations.wait_for_completion.gives.any of.1: "
                    "stored || came > 0 || due.Completion.size() > 0 || policies.wakes == any_time → "
                    "came > 0 || due.Completion.size() > 0 || policies.wakes == any_time"
                ),
            ),
            "whether wake-ups coalesce is open, and no row can demand that it is",
        ),
        **dict.fromkeys(
            (
                (
                    "on its own.raised_and_cancelled.when: task.state == running && has_raised(task) && task.token && "
                    "policies.cancelled_body == canceled → task.state == running && has_raised(task) && task.token"
                ),
                "on its own.raised_and_cancelled.must: true → !(true)",
                "without on its own.raised_and_cancelled.must",
            ),
            WIDENS,
        ),
        "operations.wait_for_completion.gives.any of.1: "
        "stored || came > 0 || due.Completion.size() > 0 || policies.wakes == any_time → "
        "stored || came > 0 || due.Completion.size() > 0": WIDENS,
        "operations.cancel_task.for each.t.when: t == task && t.state == running → t == task": (
            "nothing reads the token of a task that has ended"
        ),
    },
)

UNSEEN = "what the tool does unasked nobody sees, so no row can demand that it is asked anew"
EITHER = "refused or ignored, both are right"
LATER = "the next status says the same"
CLI_JOB = Tolerated(
    survivors={
        "operations.start_as.set.unseen": UNSEEN,
        "operations.start.set.unseen": UNSEEN,
        "operations.start_again.set.unseen": UNSEEN,
        "operations.status.set.unseen": UNSEEN,
        "operations.cancel_of_unknown_id.set.unseen": UNSEEN,
        "operations.status.missing": DEFAULT,
        "operations.cancel.missing": EITHER,
        "operations.cancel.move": LATER,
        "operations.end.missing": EITHER,
        "operations.end.otherwise": EITHER,
        "invariants.terminal is final": INVARIANT,
        "invariants.cancelled was asked": INVARIANT,
    },
    unmissed={
        "operations.schema.set.unseen": UNSEEN,
        "operations.cancel.set.unseen": UNSEEN,
        "operations.status_of_unknown_id.set.unseen": UNSEEN,
        "operations.end.set.unseen": UNSEEN,
        "operations.cancel.set.job.earliest_end": WIDENS,
        "operations.start.create.Job.state": UNSEEN,
        "operations.start_again.create.Job.state": UNSEEN,
        "operations.start_again.missing": OPEN,
        **{
            f"operations.{name}.unsaid": OPEN
            for name in ("start_as", "start_again", "status_of_unknown_id", "cancel_of_unknown_id")
        },
    },
    equivalent={
        **dict.fromkeys(
            (
                (
                    "operations.start_as.unsaid: wanted in [no_argument, empty] || jobs.exists(j, j.chosen) → "
                    "jobs.exists(j, j.chosen)"
                ),
                (
                    "operations.start_as.unsaid: wanted in [no_argument, empty] || jobs.exists(j, j.chosen) → "
                    "wanted in [no_argument, empty]"
                ),
            ),
            OPEN,
        ),
        **dict.fromkeys(
            (
                f"operations.{name}: unchanged → {other}"
                for name in ("cancel.missing", "end.missing", "end.otherwise")
                for other in ("refused", "refused not_found", "refused wrong_state")
            ),
            EITHER,
        ),
        **dict.fromkeys(
            (
                (
                    "define.ends_before_timeout(job): limits.timeout == null || (job.own_end != running && limits.settle <= "
                    "limits.timeout) || (job.cancel_asked_at != null && job.cancel_asked_at + limits.settle <= job.started_at + "
                    "limits.timeout) → limits.timeout == null || (job.cancel_asked_at != null && job.cancel_asked_at + limits.settle <= "
                    "job.started_at + limits.timeout)"
                ),
                (
                    "define.timeout_is_due(job): limits.timeout != null && timeout_is_over(job) && now >= job.started_at + "
                    "limits.timeout + limits.settle → limits.timeout != null && now >= job.started_at + limits.timeout + "
                    "limits.settle"
                ),
                "operations.cancel.set.job.cancel_asked_at.to: now → 0",
                *(
                    f"operations.cancel.set.job.cancel_asked_at.when: job.state == running && job.cancel_asked_at == null → {other}"
                    for other in ("job.state == running", "true")
                ),
                (
                    "define.own_end_is_due(job): job.own_end != running && now >= job.started_at + limits.settle → "
                    "job.own_end != running"
                ),
                (
                    "define.may_have_ended(job): job.own_end != running || job.cancel_asked_at != null || timeout_is_over(job) || "
                    "timeout_may_be_over(job) → "
                    "job.cancel_asked_at != null || timeout_is_over(job) || timeout_may_be_over(job)"
                ),
                (
                    "define.may_have_ended(job): job.own_end != running || job.cancel_asked_at != null || timeout_is_over(job) || "
                    "timeout_may_be_over(job) → "
                    "job.own_end != running || timeout_is_over(job) || timeout_may_be_over(job)"
                ),
            ),
            "by when a job has ended is open within the settle time, and no row can demand that it is",
        ),
        "operations.cancel.set.job.cancel_asked_at.when: job.state == running && job.cancel_asked_at == null → job.cancel_asked_at == null": (
            "when somebody asked for the end of a job that had ended nothing reads"
        ),
        **dict.fromkeys(
            (
                "operations.cancel.set.job.earliest_end.to: now → now + 1",
                *(f"operations.{name}.set.job.earliest_end.to: now → 0" for name in ("cancel", "end")),
                *(
                    f"operations.{name}.set.job.earliest_end.when: job.earliest_end == null → true"
                    for name in ("cancel", "end")
                ),
            ),
            "from when on a job may be gone is open, and no row can demand that it is",
        ),
        "define.may_be_misread(unknown_id): unknown_id in [no_argument, empty, dash, option, help] → "
        "!(unknown_id in [no_argument, empty, dash, option, help])": "how strange ids may be misread no row can demand",
    },
)

JOB = Tolerated(
    survivors={
        "entities.Call.entering.returned.for each.job": (
            "a job that has ended owes only what is queued, and that is dropped beside it"
        ),
        **dict.fromkeys(
            (
                "operations.settle.missing",
                "operations.settle.otherwise",
                "operations.cancel.missing",
                "operations.cancel.otherwise",
                "operations.abort_tool.missing",
                "operations.abort_tool.otherwise",
                "operations.tool_result.missing",
            ),
            EITHER,
        ),
        "invariants.a body ends once": INVARIANT,
        "invariants.it ends once": INVARIANT,
        "invariants.one at a time": INVARIANT,
        "invariants.each job is shown once": INVARIANT,
    },
    unmissed={
        "operations.register_from.missing": OPEN,
        **{
            f"operations.{name}.unsaid": OPEN
            for name in ("register_from", "register_both", "watch", "unwatch", "list", "tool", "configure")
        },
    },
)

TOLERATED = {
    "thread-job": THREAD_JOB,
    "task-progress": TASK_PROGRESS,
    "background-tasks": BACKGROUND_TASKS,
    "local-agent": LOCAL_AGENT,
    "job": JOB,
    "cli-job": CLI_JOB,
}
"""What is known, by the name of the lifecycle."""
