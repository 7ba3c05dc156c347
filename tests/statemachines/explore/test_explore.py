"""The explorer finds every reachable configuration, the shortest way to each, and what does not hold."""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import pytest

from statemachines import kernel
from statemachines.bounds import USUAL
from statemachines.compile import Compiled
from statemachines.explore import candidates
from statemachines.explore.configurations import Configurations
from statemachines.explore.explorer import Exploration, Violation, explore
from statemachines.explore.influence import Influence
from statemachines.explore.small_scope import SmallScope, scopes
from statemachines.lifecycle import TypeUse, Word
from statemachines.model import ABSENT
from statemachines.rows import Call, Trace
from statemachines.types import Enum
from tests.arguments import arguments
from tests.checking import compile_text
from tests.one_text import rules_and_rows

THREAD_JOB, _ = rules_and_rows("thread-job")

QUEUE = """
lifecycle: queue
version: 1
about: Jobs whose endings are queued; the newest one stays, and only so many are alive at once.
limits:
  kept: {default: 1, about: ended jobs that stay}
  room: {default: 2, about: jobs that run at once}
types:
  Label: {text: fresh or reused}
entities:
  Job:
    id: minted
    fields:
      label:    Label
      ended_at: {type: time | null}
    states:
      active:   [queued, running]
      terminal: [completed, failed]
    entering:
      terminal: {set: {job.ended_at: now}}
    retain: {newest: limits.kept, of: terminal, by: [job.ended_at, job.completion]}
    shows: {id: job.id, status: job.state, label: job.label}
variables:
  closed: {type: bool, default: false}
messages:
  Ended:
    about:    Job
    due:      terminal
    at most:  once per job
    order:    [job.completion]
    outlives: eviction
    carries: {id: job.id, status: job.state}
operations:
  start:
    takes: {label: Label}
    requires:
      closed:   "!closed"
      no_room:  jobs.filter(j, j.active).size() < limits.room
      repeated: jobs.all(j, j.label != label)
    create:
      Job: {label: label}
    gives: {id: job.id}
  run:
    takes: {job: Job}
    move: queued -> running
  finish:
    takes: {job: Job, outcome: Job.terminal}
    move: running -> outcome
  drain:
    takes: {}
    sends: {told: due.Ended}
    gives: told
  shut:
    takes: {}
    set: {closed: true}
  list_jobs:
    takes: {}
    gives: jobs
invariants:
  stamped: job.terminal == (job.ended_at != null)
  bounded: jobs.filter(j, j.terminal).size() <= limits.kept
  final:   was.active || job.state == was.state
  room:    jobs.filter(j, j.active).size() <= limits.room
"""

KEPT = """
lifecycle: kept
version: 1
about: A job stays for a while after it ended, and a poll waits for a while.
limits:
  retention: {default: 500, about: ms that an ended job stays}
  patience:  {default: 200, about: ms that a poll waits}
entities:
  Job:
    id: minted
    fields:
      ended_at: {type: time | null}
    states:
      active:   [running]
      terminal: [completed, failed]
    entering:
      terminal: {set: {job.ended_at: now}}
    after:
      terminal: {in: limits.retention, since: job.ended_at, remove: true}
  Poll:
    id: minted
    fields:
      asked_at: time
    states:
      active:   [waiting]
      terminal: [returned]
    after:
      waiting: {in: limits.patience, since: poll.asked_at, move: returned}
operations:
  start:
    takes: {}
    create:
      Job: {}
    gives: {id: job.id}
  finish:
    takes: {job: Job, outcome: Job.terminal}
    move: running -> outcome
  poll:
    takes: {}
    create:
      Poll: {asked_at: now}
    gives: {id: poll.id}
invariants:
  stamped: job.terminal == (job.ended_at != null)
  kept:    job.ended_at == null || now <= job.ended_at + limits.retention
"""

DOOR = """
lifecycle: door
version: 1
about: A door that, once open, stays open.
entities:
  Door:
    id: minted
    states:
      any: [shut, ajar]
operations:
  build:
    takes: {}
    create:
      Door: {}
    gives: {id: door.id}
  open_door:
    takes: {door: Door}
    move: shut -> ajar
  close_door:
    takes: {door: Door}
    move: ajar -> shut
invariants:
  stays open: was.state == shut || door.state == ajar
"""


def compiled(text: str) -> Compiled:
    return compile_text(text, "spec.yaml")


def edited(text: str, *edits: tuple[str, str]) -> str:
    """Replace each pattern, which is there just once."""
    for pattern, replacement in edits:
        text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
        assert count == 1, pattern
    return text


def scoped(spec: Compiled, numbers: Mapping[str, int]) -> Compiled:
    """The same spec with another scope: its own, but for these numbers."""
    return replace(spec, lifecycle=replace(spec.lifecycle, scope={**spec.lifecycle.scope, **numbers}))


@functools.cache
def thread_job() -> Compiled:
    return compiled(THREAD_JOB)


@functools.cache
def explored() -> Exploration:
    return explore(thread_job())


# ── What is found in a spec that holds ───────────────────────────────────────────────────────────


def test_every_invariant_of_thread_job_holds_in_every_configuration_of_the_default_scope() -> None:
    assert explored().violation is None
    assert explored().complete
    assert {f"invariants.{each.name}" for each in thread_job().kernel.invariants} <= explored().witnessed


@pytest.mark.thorough
def test_the_states_of_thread_job_are_counted() -> None:
    assert explored().states == 860
    assert explore(scoped(thread_job(), {"threads": 1, "calls": 2, "jobs": 2})).states == 400
    assert explore(scoped(thread_job(), {"threads": 2, "calls": 1, "jobs": 1})).states == 194
    assert explore(scoped(thread_job(), {"threads": 3, "calls": 1, "jobs": 1})).states == 460
    assert explore(scoped(thread_job(), {"jobs": 2})).states == 4922


def test_two_explorations_of_one_spec_are_the_same() -> None:
    again = explore(compiled(THREAD_JOB))
    assert replace(again, reached=()) == replace(explored(), reached=())
    assert again.configurations == explored().configurations


def test_every_state_is_reached_or_one_that_no_sentence_tells_from_it() -> None:
    states = thread_job().kernel.entity("Job").states
    alike = Influence(thread_job().kernel).alike(Enum("Job.state", states))
    model: Any = thread_job().model()
    reached = set()
    for frozen in explored().configurations:
        model.thaw(frozen)
        reached |= {job.state for job in model.jobs.values()}
    assert {alike[state] for state in reached} == set(alike.values())
    assert len(set(alike.values())) == 3


def test_every_clause_is_witnessed_that_does_not_need_a_registry_which_retains_nothing() -> None:
    lacking = {clause.path for clause in thread_job().kernel.clauses} - explored().witnessed
    assert lacking == {"operations.emit.unsaid"}


def test_each_configuration_is_listed_once() -> None:
    found = explore(compiled(QUEUE))
    assert len(set(found.configurations)) == found.states > 1


# ── What is found in a spec that does not ────────────────────────────────────────────────────────

REOPEN = (
    r"^operations:\n",
    "operations:\n  reopen:\n    takes: {job: Job}\n    move:  terminal -> running\n",
)
REOPEN_AND_CLEAR = (REOPEN[0], REOPEN[1] + "    set:   {job.completed_at: null}\n")
UNFINAL = (r"^  terminal is final:.*\n", "")
NO_AT_MOST = (r"^    at most:.*\n", "")
ANY_TO_OUTCOME = "    move:\n      active:   outcome\n      terminal: outcome\n"


@pytest.mark.parametrize(
    ("edits", "broken", "steps"),
    [
        ([(r"^    entering:\n      terminal:.*\n", "")], "completion is stamped", "start finish"),
        ([(r"^    set: +{job.cancel_requested_at: now}\n", "")], "cancel is stamped", "start request_cancel"),
        ([(r"^    retain:.*\n", "")], "retention holds", "start start finish finish"),
        ([(r"^    move: +active -> outcome\n", ANY_TO_OUTCOME)], "terminal is final", "start finish finish"),
        ([REOPEN], "terminal is final", "start finish reopen"),
        ([REOPEN, UNFINAL], "completion is stamped", "start finish reopen"),
        (
            [REOPEN_AND_CLEAR, UNFINAL, NO_AT_MOST],
            "told at most once",
            "start finish reopen finish turn_boundary",
        ),
    ],
)
def test_a_weakened_spec_is_broken_by_a_shortest_trace(edits: list[tuple[str, str]], broken: str, steps: str) -> None:
    spec = compiled(edited(THREAD_JOB, *edits))
    found = explore(spec)
    violation = found.violation
    assert violation is not None
    assert not found.complete
    assert (violation.kind, violation.name) == ("invariant", broken)
    assert [call.operation for call in violation.trace.calls()] == steps.split()
    assert violation.where == spec.kernel.clause(f"invariants.{broken}").where
    *before, last = replayed(spec, spec.model(scopes(spec)[0].limits), violation.trace.calls())
    assert (set(before), last) == ({""}, broken)


def test_with_at_most_a_job_that_ends_twice_is_told_once() -> None:
    assert (
        explore(compiled(edited(THREAD_JOB, REOPEN_AND_CLEAR, UNFINAL)), bounds=replace(USUAL, states=400)).violation
        is None
    )


def test_a_forbidden_way_back_to_a_known_configuration_is_found() -> None:
    violation = explore(compiled(DOOR)).violation
    assert violation is not None
    assert [call.operation for call in violation.trace.calls()] == ["build", "open_door", "close_door"]


def test_no_shorter_trace_breaks_the_invariant() -> None:
    spec = compiled(edited(QUEUE, (r"^    retain:.*\n", "")))
    violation = explore(spec).violation
    assert violation is not None
    assert shortest_violation(spec, "bounded") == len(violation.trace) == 6


def test_a_search_that_is_cut_short_is_not_complete() -> None:
    found = explore(scoped(thread_job(), {"jobs": 2}), replace(USUAL, states=50))
    assert not found.complete
    assert found.violation is None


def livelocked() -> str:
    own = "on its own:\n  again:\n    when: closed\n    must: closed\n    set: {closed: true}\n\ninvariants:\n"
    return edited(QUEUE, (r"^invariants:\n", own))


def test_steps_that_must_be_taken_for_ever_are_found() -> None:
    spec = compiled(livelocked())
    where = spec.kernel.clause("on its own.again").where
    trace = Trace((Call(1, "shut", ()),))
    assert explore(spec).violation == Violation("livelock", "on its own.again", where, trace)


def test_a_step_that_cannot_be_evaluated_is_found() -> None:
    spec = compiled(edited(QUEUE, (r"^      closed:   \"!closed\"\n", "      closed: (!closed && jobs[0].active)\n")))
    violation = explore(spec).violation
    assert violation is not None
    assert (violation.kind, violation.name[:10]) == ("failure", "IndexError")
    assert [call.operation for call in violation.trace.calls()] == ["start"]


def test_an_order_by_what_is_null_for_some_is_found() -> None:
    """Only completed jobs have an instant, so which of two endings goes first cannot be said."""
    spec = compiled(
        edited(
            QUEUE,
            (
                r"^      terminal: {set: {job.ended_at: now}}\n",
                "      completed: {set: {job.ended_at: now}}\n",
            ),
            (r"by: \[job.ended_at, job.completion\]", "by: [job.ended_at]"),
            (r"^  stamped: .*\n", ""),
        )
    )
    violation = explore(spec).violation
    assert violation is not None
    assert (violation.kind, violation.name[:9]) == ("failure", "TypeError")
    assert violation.trace.calls()[-1].operation == "finish"
    assert len(violation.trace) == 6  # each of two jobs starts, runs and ends


def test_a_must_step_that_breaks_an_invariant_is_part_of_the_last_call() -> None:
    spec = edited(THREAD_JOB, (r"^    retain:.*\n", ""), UNFINAL, REOPEN_AND_CLEAR, NO_AT_MOST)
    spec = edited(
        spec,
        (r"^  retention holds:.*\n", ""),
        (r"^  told at most once:.*\n", "  untold: sent.Ended.size() == 0\n"),
    )
    violation = explore(compiled(spec)).violation
    assert violation is not None
    assert [call.operation for call in violation.trace.calls()] == ["start", "finish", "turn_boundary"]


# ── Scopes ───────────────────────────────────────────────────────────────────────────────────────


def test_the_default_is_one_record_in_all_places_and_two_records_in_one() -> None:
    limits = {"retained": 1}
    assert scopes(thread_job()) == [
        SmallScope({"Thread": 3, "Call": 1, "Job": 1}, limits),
        SmallScope({"Thread": 1, "Call": 2, "Job": 2}, limits),
    ]


def test_a_number_may_be_given_by_entity_plural_or_limit_and_goes_before_the_specs_own() -> None:
    spec = compiled(edited(THREAD_JOB, (r"^invariants:", "scope: {jobs: 3, retained: 2}\n\ninvariants:")))
    assert scopes(spec) == [SmallScope({"Thread": 3, "Call": 2, "Job": 3}, {"retained": 2})]
    assert scopes(scoped(spec, {"Job": 1, "Thread": 1, "retained": 0})) == [
        SmallScope({"Thread": 1, "Call": 2, "Job": 1}, {"retained": 0})
    ]


def test_a_fixed_record_that_a_sentence_names_is_never_left_out() -> None:
    spec = compiled(
        edited(
            THREAD_JOB,
            (
                r"^    gives: sent.Ended.filter\(m, m.to == thread\)\n",
                "    gives: sent.Ended.filter(m, m.to == thread || m.to == t2)\n",
            ),
        )
    )
    assert Influence(spec.kernel).named == {"t2"}
    assert explore(scoped(spec, {"threads": 1, "jobs": 1, "calls": 1})).complete


def test_nothing_retained_is_a_scope_too() -> None:
    found = explore(scoped(thread_job(), {"retained": 0}))
    assert found.complete
    assert found.violation is None


# ── A second, naive explorer ─────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Naive:
    """Every configuration as it is: nothing is left out, renamed or taken for something like it."""

    spec: Compiled
    scope: SmallScope
    latest: int = 1

    def reached(self, left_out: tuple[str, ...] = ()) -> dict[tuple[Any, ...], set[tuple[str, Any]]]:
        """Reach every configuration with its budget, every argument tried everywhere; give what each leads to."""
        model: Any = self.spec.model(self.scope.limits)
        for name in left_out:
            del model.threads[name]
        free = [entity for entity in self.spec.kernel.entities if not entity.fixed]
        start = (model.freeze(), tuple(self.scope.records[entity.name] for entity in free))
        waiting = [start]
        found: dict[tuple[Any, ...], set[tuple[str, Any]]] = {start: set()}
        for here in waiting:
            frozen, budget = here
            model.thaw(frozen)
            before = self.counts(model, free)
            for call in list(self.calls(model)):
                model.thaw(frozen)
                carry_out(self.spec, model, call)
                model.settle()
                after = self.counts(model, free)
                left = tuple(have - (new > old) for have, old, new in zip(budget, before, after, strict=True))
                there = (model.freeze(), left)
                if min(left) >= 0:
                    found[here].add((call.operation, there))
                    if there not in found:
                        found[there] = set()
                        waiting.append(there)
        return found

    @staticmethod
    def counts(model: Any, free: list[kernel.Entity]) -> list[int]:
        """Give the last serial of each entity: no step creates two of one, or removes what it creates."""
        records = [attrgetter(entity.collection)(model).values() for entity in free]
        return [max((each.serial for each in some), default=0) for some in records]

    def calls(self, model: Any) -> Iterator[Call]:
        """Walk what could be done in a configuration."""
        for operation in self.spec.kernel.operations:
            if operation.observes:
                continue
            for given in arguments(self.spec, model, operation, self.scope.records):
                if getattr(model, f"may_{operation.name}")(**given).accept:
                    yield Call(0, operation.name, tuple(given.items()))
        own = self.spec.kernel.spontaneous
        for index, keys, _ in model.own_steps():
            names = [variable for variable, _ in own[index].loops]
            yield Call(0, own[index].clause, tuple(zip(names, keys, strict=True)))
        timers = [timer.clause for entity in self.spec.kernel.entities for timer in entity.timers]
        yield from (Call(0, timers[index], (("record", key),)) for _, _, index, key in model.due())
        later = [first - model.now for first, _, _, _ in model.deadlines() if first > model.now]
        gaps = {min(later) + more for more in (-1, 0, 1)} if later else set()
        gaps |= (
            {max(min(last for _, last, _, _ in model.deadlines()) - model.now, 0) + 1} if model.deadlines() else set()
        )
        yield from (Call(0, "wait", (("ms", gap),)) for gap in sorted(gaps) if gap > 0)
        if not any(entity.timers for entity in self.spec.kernel.entities) and model.now < self.latest:
            yield Call(0, "wait", (("ms", 1),))


PLAIN = [
    (r"\[bash, delegate\]", "[bash]"),
    (r"{from: 429, to: 503}", "{from: 429, to: 429}"),
    (r"\[user, agent\]", "[user]"),
    (r"{text: around, .*}", "{text: short}"),
    (r"\[completed, failed, cancelled, timed_out\]", "[completed, failed]"),
]


ONE_TOOL = edited(THREAD_JOB, *PLAIN)
BY = r"by: \[job.ended_at, job.completion\]"
CLOSED = r"^      closed:   \"!closed\"\n"
SENDS = r"^    sends: .*\n"
FIRST = (SENDS, "    sends: {told: due.Ended.take(1)}\n")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "scope", "latest", "left_out"),
    [
        pytest.param(ONE_TOOL, {"threads": 1, "calls": 1, "jobs": 1}, 1, ("t2", "t10"), id="job in one thread"),
        pytest.param(ONE_TOOL, {"threads": 2, "calls": 1, "jobs": 1}, 1, ("t10",), id="job in two threads"),
        pytest.param(QUEUE, {"jobs": 3, "kept": 1}, 2, (), id="queue"),
        pytest.param(QUEUE, {"jobs": 2, "kept": 0}, 2, (), id="queue that keeps nothing"),
        pytest.param(KEPT, {"jobs": 2, "polls": 1}, 0, (), id="timers"),
        pytest.param(KEPT, {"jobs": 1, "polls": 2}, 0, (), id="more timers"),
        pytest.param(
            edited(KEPT, (r"limits.patience, since", "limits.patience, within: 3, since")),
            {"jobs": 1, "polls": 1},
            0,
            (),
            id="a window",
        ),
        pytest.param(edited(QUEUE, (BY, "by: [job.ended_at]")), {"jobs": 3}, 1, (), id="ties by place"),
        pytest.param(edited(QUEUE, (BY, "by: [job.serial]")), {"jobs": 3}, 1, (), id="order of creation"),
        pytest.param(edited(QUEUE, (BY, "by: [job.label]")), {"jobs": 2}, 1, (), id="order of texts"),
        pytest.param(edited(QUEUE, FIRST), {"jobs": 3}, 1, (), id="one at a time"),
        pytest.param(
            edited(QUEUE, (SENDS, "    sends:\n      told: due.Ended.filter(m, m.status == failed)\n")),
            {"jobs": 3},
            1,
            (),
            id="a state that a message carries",
        ),
        pytest.param(
            edited(QUEUE, (CLOSED, "      closed: jobs.all(j, jobs.all(k, j == k || j.state != k.state))\n")),
            {"jobs": 3, "kept": 2},
            2,
            (),
            id="states compared",
        ),
        pytest.param(
            edited(QUEUE, (CLOSED, "      closed: jobs.all(j, j.label != 'Label-1' || j.active)\n")),
            {"jobs": 3, "kept": 2},
            2,
            (),
            id="a text compared",
        ),
        pytest.param(
            edited(QUEUE, (CLOSED, "      closed: jobs.all(j, j.ended_at == null || now - j.ended_at > 1)\n")),
            {"jobs": 2},
            3,
            (),
            id="instants reckoned with",
        ),
        pytest.param(
            edited(QUEUE, (CLOSED, "      closed: (jobs.size() == 0 || jobs[0].active)\n")),
            {"jobs": 3, "kept": 2},
            2,
            (),
            id="a place in a list",
        ),
        pytest.param(
            edited(QUEUE, (r"^    outlives: .*\n", ""), FIRST, NO_AT_MOST),
            {"jobs": 3, "kept": 2},
            2,
            (),
            id="messages that die",
        ),
    ],
)
def test_a_naive_explorer_reaches_the_same_configurations(
    text: str, scope: Mapping[str, int], latest: int, left_out: tuple[str, ...]
) -> None:
    spec = compiled(text)
    (meant,) = scopes(scoped(spec, scope))
    canonical = Configurations(spec.kernel, Influence(spec.kernel), meant.records).canonical
    reached = Naive(spec, meant, latest).reached(left_out)
    same = {(frozen, budget): (canonical(frozen), budget) for frozen, budget in reached}
    found = explore(scoped(spec, scope))
    assert (found.complete, found.violation) == (True, None)
    assert {canonical(frozen) for frozen in found.configurations} == {form for form, _ in same.values()}
    assert found.states == len(set(same.values())) < len(reached)
    # What is taken for one leads to what is taken for one, by the same operations.
    ways: dict[Any, set[tuple[str, Any]]] = {}
    for here, steps in reached.items():
        led = {(operation, same[there]) for operation, there in steps if latest == 0 or operation != "wait"}
        assert ways.setdefault(same[here], led) == led


def shortest_violation(spec: Compiled, broken: str) -> int:
    """Search layer by layer, without looking at what is known, for the length of a shortest violation."""
    (meant,) = scopes(spec)
    naive = Naive(spec, meant, 0)
    layer: set[tuple[Any, ...]] = {spec.model(meant.limits).freeze()}
    model: Any = spec.model(meant.limits)
    for length in range(1, 10):
        reached = set()
        for frozen in layer:
            model.thaw(frozen)
            for call in list(naive.calls(model)):
                model.thaw(frozen)
                if broken in carried_out(spec, model, call):
                    return length
                reached.add(model.freeze())
        layer = reached
    raise AssertionError(broken)


def replayed(spec: Compiled, model: Any, trace: tuple[Call, ...]) -> Iterator[str]:
    """Carry out a trace; give at first and after every single step which invariant does not hold, or ''."""
    yield model.broken(model)
    for call in trace:
        yield from carried_out(spec, model, call)


def carried_out(spec: Compiled, model: Any, call: Call) -> list[str]:
    """Carry out a call and what must follow; give after every step which invariant does not hold, or ''."""
    earlier: Any = spec.model()
    earlier.thaw(model.freeze())
    carry_out(spec, model, call)
    found = [model.broken(earlier)]
    while due := next((step for step in model.own_steps() if step[2]), None):
        earlier.thaw(model.freeze())
        model.take(due[0], due[1])
        found.append(model.broken(earlier))
    return found


def carry_out(spec: Compiled, model: Any, call: Call) -> None:
    own = [step.clause for step in spec.kernel.spontaneous]
    timers = [timer.clause for entity in spec.kernel.entities for timer in entity.timers]
    arguments = dict(call.arguments)
    if call.operation in own:
        model.take(own.index(call.operation), tuple(arguments.values()))
    elif call.operation in timers:
        model.fire(timers.index(call.operation), arguments["record"])
    elif call.operation == "wait":
        model.wait(arguments["ms"])
    elif getattr(model, f"may_{call.operation}")(**arguments).accept:
        getattr(model, f"do_{call.operation}")(**arguments)


# ── Arguments worth trying ───────────────────────────────────────────────────────────────────────


def tried(model: Any, name: str, scope: Mapping[str, int] | None = None) -> list[dict[str, Any]]:
    return list(arguments(thread_job(), model, thread_job().kernel.operation(name), scope))


def values(model: Any, operation: str, parameter: str) -> list[Any]:
    return list(candidates.chooser(thread_job(), thread_job().lifecycle.operations[operation].takes[parameter])(model))


def test_fixed_records_enums_bools_and_ranges_give_their_members_and_ends() -> None:
    model = thread_job().model()
    assert values(model, "start", "thread") == ["t1", "t2", "t10"]
    assert values(model, "finish", "outcome") == ["completed", "failed", "cancelled", "timed_out"]
    assert values(model, "set_idle", "idle") == [False, True]
    assert values(model, "llm_error", "http_status") == [429, 503]


def test_a_record_is_named_by_live_ids_and_one_that_no_record_has() -> None:
    model: Any = thread_job().model()
    assert values(model, "finish", "job") == ["Job-1"]
    first = model.start("t1", "a", "bash").value["job_id"]
    second = model.start("t1", "b", "bash").value["job_id"]
    assert values(model, "finish", "job") == [first, second, "Job-5"]


def test_the_id_that_no_record_has_is_a_former_one_where_one_is_known() -> None:
    model: Any = thread_job().model({"retained": 0})
    gone = model.start("t1", "a", "bash").value["job_id"]
    model.finish(gone, "completed", "x")
    assert values(model, "finish", "job") == [gone]
    assert values(model, "start_as", "job_id") == [gone, "Job-3"]


def test_a_text_is_fresh_or_one_of_those_in_use() -> None:
    model: Any = thread_job().model()
    model.start("t1", "a", "bash")
    model.complete_inline("t2", "b", "bash", "x")
    assert values(model, "start", "tool_call") == ["ToolCall-4", "a", "b"]


def test_texts_around_limits_are_within_all_and_above_each() -> None:
    model = thread_job().model({"max_bytes": 5, "max_lines": 2})
    assert values(model, "finish", "payload") == ["x", "xxxxxx", "x\nx\nx"]
    unbroken = thread_job().model({"max_bytes": 5, "max_lines": None})
    assert values(unbroken, "finish", "payload") == ["x", "xxxxxx"]
    endless = thread_job().model({"max_bytes": 2**62, "max_lines": 2**62})
    assert values(endless, "finish", "payload") == ["x"]


def test_a_list_is_empty_or_full_and_one_with_a_default_is_also_left_out() -> None:
    given = [each for each in tried(thread_job().model(), "list_jobs") if each["thread"] == "t1"]
    states = ["running", "pending_cancel", "completed", "failed", "cancelled", "timed_out"]
    assert given == [{"thread": "t1"}, {"thread": "t1", "statuses": []}, {"thread": "t1", "statuses": states}]


def test_a_type_that_may_be_null_gives_null_first_and_a_reference_stands_for_any_id() -> None:
    where = thread_job().kernel.clauses[0].where
    tool, job = (TypeUse(Word(name, where), nullable=True) for name in ("Tool", "Job"))
    assert candidates.chooser(thread_job(), tool)(thread_job().model())[:2] == [None, "bash"]
    assert candidates.chooser(thread_job(), job)(thread_job().model()) == ["Job-1"]


def test_every_combination_is_walked_and_a_scope_bounds_the_fixed_records() -> None:
    model = thread_job().model()
    assert len(tried(model, "start")) == 6
    assert len(tried(model, "start", {"Thread": 1})) == 2
    assert tried(model, "restart") == [{}]
    assert tried(model, "start") == tried(model, "start")


def test_choosers_mark_what_is_left_out() -> None:
    model = thread_job().model()
    statuses = candidates.choosers(thread_job(), thread_job().kernel.operation("list_jobs"), {})[1]
    assert statuses(model)[0] is ABSENT
