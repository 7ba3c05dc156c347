"""Mutants of a kernel: each kind of mistake, in words, and each a model that runs."""

from __future__ import annotations

from statemachines.compile import Compiled, load
from statemachines.mutants import mutants
from statemachines.specs import shipped

MISTAKES = {
    "left out": "messages.Ended.outlives | does not do it",
    "accepted": "entities.Job.unique.id | carries `start_as` out all the same",
    "off by one": "entities.Job.retain | keeps one more",
    "kept": "entities.Job.retain | counts all together, not by `job.thread`",
    "order": "messages.Ended.order | breaks no ties",
    "other field": "entities.Job.retain | `job.started_at` in place of `job.completed_at`",
    "other state": "operations.request_cancel.move | leads from running to completed",
    "other code": "operations.inspect_job.missing | refuses with already_resolved",
    "doubled": "operations.finish.signal.BoundaryRequested | does it twice",
    "whenever": "operations.finish.signal.BoundaryRequested | does it whether `job.thread.idle` or not",
    "unfiltered": "operations.messages.gives | takes all, whether `m.to == thread` or not",
    "weaker": "operations.list_jobs.gives | does not ask whether `j.thread == thread`",
    "opposite": "entities.Job.private to | `job.thread != thread` in place of `job.thread == thread`",
}


def test_mutants_make_each_kind_of_mistake_say_so_in_words_and_are_models() -> None:
    compiled = load("thread-job")
    found = mutants(compiled.kernel)
    said = {(each.operator, f"{each.clause} | {each.does}") for each in found}
    assert {*MISTAKES.items()} <= said
    assert compiled.kernel not in [each.kernel for each in found]
    for each in found[::10]:
        Compiled(compiled.lifecycle, each.kernel, compiled.words).model()


def test_each_kind_of_mistake_is_made_in_some_shipped_spec_and_no_other() -> None:
    """A kind that is lost is missed here, and not only where somebody proves a spec again."""
    found = {each.operator for name in shipped() for each in mutants(load(name).kernel)}
    assert found == MISTAKES.keys() | {"boundary", "stronger", "one way"}


def test_a_message_goes_to_others_of_other_states_or_comes_again() -> None:
    said = {each.does for each in mutants(load("thread-job").kernel) if each.clause.startswith("messages.Ended")}
    assert said >= {
        "tells of those that are running as well",
        "does not tell of those that are failed",
        "tells whoever asks, not `job.thread` alone",
        "tells it again",
    }


def test_a_message_that_comes_again_is_told_whenever_messages_are() -> None:
    right = load("thread-job")
    again = next(each for each in mutants(right.kernel) if each.clause == "messages.Ended.at most")
    for compiled, second in ((right, 0), (Compiled(right.lifecycle, again.kernel, right.words), 1)):
        model = compiled.model()
        job = model.do("start", {"thread": "t1", "tool_call": "c", "tool": "bash"}).value["job_id"]
        model.do("finish", {"job": job, "outcome": "completed", "payload": "x"})
        assert len(model.do("turn_boundary", {"thread": "t1"}).value) == 1
        assert len(model.do("turn_boundary", {"thread": "t1"}).value) == second


def test_a_timer_is_a_millisecond_late_or_early() -> None:
    found = [each for each in mutants(load("job").kernel) if each.clause == "entities.Job.after.terminal"]
    assert {"comes a millisecond late", "comes a millisecond early"} <= {each.does for each in found}
    assert "comes to those that are running as well" in {each.does for each in found}


def test_a_limit_counts_what_it_need_not() -> None:
    found = [each for each in mutants(load("thread-job").kernel) if each.clause == "entities.Job.retain"]
    assert {"counts those that are running as well", "does not count those that are failed"} <= {
        each.does for each in found
    }


def test_a_reply_that_is_always_yes_says_no() -> None:
    found = [each.does for each in mutants(load("cli-job").kernel) if each.clause == "operations.schema.gives"]
    assert found == ["says false for `asynchronous`"]
