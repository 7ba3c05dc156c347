"""Steps that a system takes by itself: in every order that shows, in many explanations, and where a sentence is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pytest

from conformance.budget import USUAL
from conformance.judge import Case, Finding
from conformance.judge.lockstep import Lockstep
from conformance.references.thread_job import ThreadJobs
from conformance.refused import Refused
from conformance.verdict import Verdict
from statemachines.compile import Compiled, load
from statemachines.mutants import mutants
from tests.checking import compile_text
from tests.conformance.judge.test_passing import LEAVING
from tests.conformance.systems import Watched, adapted, at_once, signal, started, thread_job, turn, whole_run

ORDER = compile_text(
    """
lifecycle: order
version: 1
about: Two steps have to be taken, in whichever order.
types:
  JobId: {id of: Job, or: fresh}
entities:
  Job:
    id: minted
    fields: {log: {list of: text, default: "[]"}, a: bool, b: bool}
    states: {active: [running], terminal: [ended]}
on its own:
  first:
    for each: {job: Job}
    when: job.a
    must: true
    set: {job.a: false, job.log: "job.log + ['a']"}
  second:
    for each: {job: Job}
    when: job.b
    must: true
    set: {job.b: false, job.log: "job.log + ['b']"}
operations:
  start:
    create: {Job: {a: false, b: false}}
    gives: {job: job.id}
  go:
    takes: {job: Job}
    set: {job.a: true, job.b: true}
  look:
    takes: {job: Job}
    gives: {log: job.log}
matrix:
  N1:
    about: A job goes.
    level: must
    source: the test
    covers: [operations.go]
    act: [job = start(), went = go(job.job)]
    assert: went.refused == null
""",
    "order.yaml",
)


@pytest.mark.parametrize(("log", "right"), [("ab", True), ("ba", True), ("aa", False)])
def test_steps_that_must_be_taken_come_in_any_order_that_shows(log: str, right: bool) -> None:
    watched = Watched(ORDER)
    watched.must("start", gives={"job": "j"})
    watched.must("go", "j")
    assert (watched("look", "j", gives={"log": list(log)}) is None) == right


@pytest.mark.parametrize("jobs", [4, 100])
def test_who_ended_first_is_no_part_of_the_state_where_nothing_goes_by_it(jobs: int) -> None:
    """Timers of one instant that end many jobs are in nobody's way then; where the list shows the order, they are."""
    archived = compile_text(ARCHIVED, "archived.yaml")
    assert [each.ranked for each in archived.kernel.entities] == [False]
    assert [each.ranked for each in thread_job().kernel.entities] == [False, False, True]
    watched = Watched(archived)
    for number in range(jobs):
        watched.must("start", gives={"job": f"j{number}"})
    watched.must("wait", 10)
    assert not watched.judge.unsure
    assert watched("look", f"j{jobs - 1}", gives={"state": "running"}) is not None


ARCHIVED = """
lifecycle: archived
version: 1
about: What has run long enough is archived in silence.
types:
  JobId: {id of: Job, or: fresh}
entities:
  Job:
    id: minted
    fields: {since: time}
    states: {active: [running], terminal: [ended]}
    after:
      running: {in: 5, since: job.since, move: ended}
operations:
  start:
    create: {Job: {since: now}}
    gives: {job: job.id}
  look:
    takes: {job: Job}
    gives: {state: job.state}
matrix:
  N1:
    about: A job ends by itself.
    level: must
    source: the test
    covers: [operations.start]
    act: [job = start(), wait(10), seen = look(job.job)]
    assert: seen.state == ended
"""


def test_what_may_leave_at_any_time_is_one_explanation_however_many_there_are() -> None:
    watched = Watched(LEAVING)
    for name in "abcdefghij":
        watched.must("start", gives={"job": name})
        watched.must("stop", name)
    assert (len(watched.judge.lockstep.configurations), watched.judge.unsure) == (1, False)


@pytest.mark.parametrize("turns", [1, 2])
def test_where_an_order_is_by_what_nothing_has_set_other_ways_are_tried(turns: int) -> None:
    """One job was cancelled and the other was not: no order by that instant says which of them is told first."""
    other_field = "`job.cancel_requested_at` in place of `job.completed_at`"
    clause = "messages.Ended.order"
    mistake = next(each for each in mutants(thread_job().kernel) if (each.clause, each.does) == (clause, other_field))
    watched = Watched(replace(thread_job(), kernel=mistake.kernel, lacking=True))
    for name in "ab":
        watched.must("start", "t1", f"c{name}", "bash", gives=started(name))
    watched.must("request_cancel", "t1", "a", "user", signals=[signal("CancelSent", job_id="a")])
    watched.must("set_idle", "t1", True)
    finished = [watched.call("finish", name, "completed", "x", during=(0, 10)) for name in "ab"]
    boundaries = [signal("BoundaryRequested", thread="t1")] * 2
    found = watched.judge.step(at_once(finished, [*boundaries, *[turn()] * turns]))
    assert (found is None) == (turns == 2)  # each told by itself: nothing has to be compared


# ── Where the system does not follow a sentence ──────────────────────────────────────────────────────


class NeverNotesEnds(ThreadJobs):
    """It tells no end, and after twenty of them it sends no signal either."""

    def __init__(self) -> None:
        super().__init__()
        self._finished = 0

    def inspect_job(self, *given: Any, **named: Any) -> Any:
        return {**super().inspect_job(*given, **named), "completed_at": None}

    def finish(self, *given: Any, **named: Any) -> Any:
        self._finished += 1
        return super().finish(*given, **named)

    def signals(self) -> Any:
        found = super().signals()
        return [] if self._finished > 20 else found


def test_the_whole_model_may_come_to_what_only_one_that_lacks_a_sentence_does() -> None:
    with adapted(NeverNotesEnds) as adapter:
        case = Case(thread_job(), adapter)
        jobs = [
            case.call("start", {"thread": "t1", "tool_call": f"c{number}", "tool": "bash"}).given["job_id"]
            for number in range(24)
        ]
        case.call("set_idle", {"thread": "t1", "idle": True})
        for number, job in enumerate(jobs):
            case.call("finish", {"job": job, "outcome": "completed", "payload": "x"})
            if number < 3:
                case.call("inspect_job", {"thread": "t1", "job": job})
        assert [each.clause for each in case.judge.deviations] == [
            "entities.Job.entering.terminal.set.job.completed_at"
        ]
        assert case.finding is not None
        assert case.finding.clause == "operations.finish.signal.BoundaryRequested"


def test_what_steps_of_its_own_lead_to_counts_for_what_an_explanation_may_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each event of such a case costs more than hundred configurations, so that one explanation alone took minutes."""
    advance, costs = Lockstep.advance, list[int]()

    def counted(self: Lockstep, event: Any) -> Finding | None:
        found = advance(self, event)
        costs.append(self.cost)
        return found

    watched = Watched(LEAVING, replace(USUAL, explain_steps=300))
    for name in "abcdefgh":
        watched.must("start", gives={"job": name})
        watched.must("stop", name)
    monkeypatch.setattr(Lockstep, "advance", counted)
    assert watched("start", refused="no") is not None
    assert sum(costs) < 3 * (300 + 2**8)  # it is sought three times, and the last event may cost more than is left


TELLING = compile_text(
    """
lifecycle: telling
version: 1
about: Of a job that has ended it may be told how.
types:
  JobId: {id of: Job, or: fresh}
entities:
  Job:
    id: minted
    fields: {since: {list of: text, default: "[]"}}
    states: {active: [running], terminal: [ended]}
    entering:
      ended: {set: {job.since: "job.since + ['x']"}}
signals:
  Told: {late: {type: bool}}
on its own:
  tell:
    for each: {job: Job}
    when: job.state == ended
    signal: {Told: {with: {late: "job.since[0] == 'x'"}}}
operations:
  start:
    create: {Job: {}}
    gives: {job: job.id}
  stop:
    takes: {job: Job}
    move: running -> ended
  look:
    takes: {job: Job}
    gives: {state: job.state, since: job.since}
matrix:
  N1:
    about: A job ends.
    level: must
    source: the test
    covers: [operations.stop]
    act: [job = start(), seen = stop(job.job), shown = look(job.job), again = look(job.job)]
    assert: seen.refused == null
""",
    "telling.yaml",
)


class NotesNothing:
    """It does not note how a job ended."""

    declares: ClassVar = {"clock": "virtual"}

    def __init__(self) -> None:
        self._states: dict[str, str] = {}

    def start(self) -> Any:
        job = f"j{len(self._states)}"
        self._states[job] = "running"
        return {"job": job}

    def stop(self, job: str) -> None:
        self._known(job)
        self._states[job] = "ended"

    def look(self, job: str) -> Any:
        self._known(job)
        return {"state": self._states[job], "since": []}

    def _known(self, job: str) -> None:
        if job not in self._states:
            raise Refused("not_found")

    def wait(self, ms: int) -> None:
        pass

    def signals(self) -> list[Any]:
        return []


RETIRING = compile_text(
    """
lifecycle: retiring
version: 1
about: A job that is told to stop stops by itself.
types:
  JobId: {id of: Job, or: fresh}
entities:
  Job:
    id: minted
    fields: {told: {type: bool, default: false}}
    states: {active: [running], terminal: [ended]}
on its own:
  obey:
    for each: {job: Job}
    when: job.state == running && job.told
    must: true
    does: stop(job)
operations:
  start:
    create: {Job: {}}
    gives: {job: job.id}
  stop:
    takes: {job: Job}
    move: running -> ended
    otherwise: unchanged
  tell:
    takes: {job: Job}
    set: {job.told: true}
    gives: {ok: "true"}
  look:
    takes: {job: Job}
    gives: {state: job.state}
matrix:
  N1:
    about: A job ends when it is stopped.
    level: must
    source: the test
    covers: [operations.stop]
    act: [job = start(), stop(job.job), seen = look(job.job)]
    assert: seen.state == ended
  N2:
    about: A job ends when it is told to.
    level: must
    source: the test
    covers: [on its own.obey]
    act: [job = start(), stop(job.job), seen = look(job.job), told = tell(job.job)]
    assert: told.refused == null
""",
    "retiring.yaml",
)


class GoesOn(NotesNothing):
    """Nothing stops a job but to be told to, of which it says that it did nothing."""

    def stop(self, job: str) -> None:
        self._known(job)

    def tell(self, job: str) -> Any:
        self._known(job)
        self._states[job] = "ended"
        return {"ok": False}

    def look(self, job: str) -> Any:
        self._known(job)
        return {"state": self._states[job]}


@pytest.mark.parametrize(
    ("compiled", "system"), [(TELLING, NotesNothing), (RETIRING, GoesOn)], ids=["no answer", "no rest"]
)
def test_a_model_that_lacks_a_sentence_and_cannot_go_on_is_no_fault_of_the_kit(
    compiled: Compiled, system: type
) -> None:
    code, results = whole_run(system, compiled, quick=True)
    assert code == 1
    assert not [each for each in results if each.verdict is Verdict.HARNESS_ERROR]


def test_what_explains_nothing_has_not_come_to_pass() -> None:
    watched = Watched()
    watched.start("j")
    lockstep = watched.judge.lockstep
    before = lockstep.witnessed()
    assert lockstep.advance(watched.call("request_cancel", "t1", "j", "user")) is not None  # CancelSent is missing
    assert lockstep.witnessed() == before


@pytest.mark.parametrize(("waited", "right"), [(0, True), (1, False)])
def test_an_attempt_may_be_in_vain_as_all_is_disposed_and_not_later(waited: int, right: bool) -> None:
    watched = Watched(load("job"))
    watched.must("register", "bash", "x", gives={"job_id": "j", "handle": "b"})
    attempted = [signal("delivery_attempted", job="j", at=waited)]
    ended, disposed = watched.call("settle", "b", "ok", "t"), watched.call("dispose")
    found = watched.group(ended, disposed, signals=[] if waited else attempted)
    if waited:
        watched.must("wait", waited)
        found = found or watched("running", gives=[], signals=attempted)
    assert (found is None and not watched.judge.findings) == right


def test_of_several_sentences_that_send_a_signal_the_one_that_binds_is_named() -> None:
    """An attempt that is only allowed as all is disposed says nothing of one that comes for no reason."""
    watched = Watched(load("job"))
    found = watched("running", gives=[], signals=[signal("delivery_attempted", job="j", at=0)])
    assert found is not None
    assert found.clause == "on its own.attempt.signal.delivery_attempted"
