"""Specs that nobody wrote: the kit never crashes on one, never accuses a right system, and replays what it finds of a wrong one."""

from __future__ import annotations

import pytest

from statemachines.compile import Compiled, load
from tests.other_specs.generating import data_of, text_of
from tests.other_specs.mutants.operators import mutants
from tests.other_specs.trial import Found, glanced_at, tried


def test_a_number_stands_for_one_spec_and_another_number_for_another_one() -> None:
    texts = [text_of(data_of(number)) for number in range(20)]
    assert texts == [text_of(data_of(number)) for number in range(20)]
    assert len(set(texts)) == 20


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


@pytest.mark.thorough
def test_specs_that_nobody_wrote_are_judged_rightly() -> None:
    found = Found()
    for number in range(24):
        glanced_at(number, found)
    assert not found.faults, "\n\n".join(found.faults)
    assert found.counts["right systems"] >= 20
    assert found.counts["wrong systems that were found"] >= 8


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1000, 2000, 50))
def test_a_thousand_of_them_are(first: int) -> None:
    found = Found()
    for number in range(first, first + 50):
        tried(number, found)
    assert not found.faults, "\n\n".join(found.faults)
