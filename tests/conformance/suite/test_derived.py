"""What only rows show that ask what no source states is recommended, wherever else it is seen."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import conformance
from conformance.budget import never
from conformance.judge import PRESENCE, Finding, kernel_facts
from conformance.references.background_tasks import BackgroundTasks
from conformance.references.task_progress import TaskProgress
from conformance.refused import Refused
from conformance.suite import machine
from conformance.suite.levels import SeenFault, only_derived, only_derived_race, racing
from conformance.suite.rows import RowRunner
from conformance.verdict import EXIT_CONFORMS, EXIT_VIOLATES, MACHINE, Counterexample, Judged, Made, Verdict
from statemachines.compile import load
from statemachines.rows import RowCompiler
from statemachines.surface.spec import read_lifecycle
from statemachines.yaml import read
from tests.checking import compile_text
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import REFERENCE, adapted, shrinking, thread_job, whole_run
from tests.faulty.thread_job.isolation import UnknownIsToldApart

LIES = {(name, lie.__name__): lie for name, suite in SUITES.items() for lie in suite.faulty}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "lie", "rows"),
    [
        ("background-tasks", "ZeroIsAll", {"X37"}),  # a block too many
        ("background-tasks", "CanceledLeaveFirst", {"X25"}),  # one row instead of another
        ("job", "DisposeWaitsForBodies", {"E10", "E11", "E75"}),  # a hang
        ("local-agent", "QueuesOverwriteEachOther", {"B9", "B19"}),  # calls at once
        ("task-progress", "FailedRegistrationRuns", {"E4"}),  # what should have been left out
    ],
)
def test_who_does_otherwise_what_no_source_states_conforms_and_is_told(name: str, lie: str, rows: set[str]) -> None:
    code, results = whole_run(LIES[name, lie], load(name), quick=True)
    found = {each.id: each.level for each in results if each.verdict is Verdict.FAIL}
    assert code == EXIT_CONFORMS
    assert {"should"} == {*found.values()}
    assert rows == {each for each in found if not each.startswith(MACHINE)}


class KnownToTellApart(UnknownIsToldApart):
    """The same, of which that is known."""

    declares: ClassVar[Any] = {**UnknownIsToldApart.declares, "deviates": {"X5": {"reason": "it counts the ids"}}}


@pytest.mark.parametrize(
    ("system", "asked", "told"),
    [
        (UnknownIsToldApart, "machine", [("machine", "must", "pass"), ("machine-2", "should", "fail")]),
        (UnknownIsToldApart, "X5,machine", [("X5", "should", "fail"), ("machine", "must", "pass")]),
        (KnownToTellApart, "machine", [("X5", "should", "known fail"), ("machine", "must", "pass")]),
        (REFERENCE, "machine", [("machine", "must", "pass")]),
    ],
)
def test_what_is_only_recommended_the_search_tells_where_no_row_does(
    system: type, asked: str, told: list[tuple[str, str, str]]
) -> None:
    report = conformance.run("thread-job", system, rows=asked, quick=True)
    assert [(each.id, each.level, each.verdict) for each in report.rows] == told
    assert report.exit == EXIT_CONFORMS


class UnseenToldApart(UnknownIsToldApart):
    """The same, and nobody can see in which order its jobs end: what it shows need not be its fault."""

    declares: ClassVar[Any] = {**UnknownIsToldApart.declares, "clock": "none", "policies": {"tie": "id"}}


def test_the_search_tells_nothing_that_is_recommended_where_what_it_sees_need_not_be_a_fault() -> None:
    report = conformance.run("thread-job", UnseenToldApart, rows="machine", quick=True)
    assert [(each.id, each.verdict) for each in report.rows] == [("machine", Verdict.COULD_NOT_TELL)]


@pytest.mark.thorough
def test_what_comes_of_calls_that_only_derived_rows_make_at_once_is_recommended_however_it_shows() -> None:
    lie = LIES["local-agent", "DrainLosesMessage"]
    code, results = whole_run(lie, load("local-agent"), quick=True, only=[lie.row, MACHINE])
    found = [(each.level, each.counterexample) for each in results if each.verdict is Verdict.FAIL]
    assert (code, {level for level, _ in found}) == (EXIT_CONFORMS, {"should"})
    made = [
        shown.at_once - {"get"} if shown is not None else None for _, shown in found
    ]  # a caller may look beside the other
    assert all(each is not None and each <= {"drain_messages", "queue_message"} for each in made)


def test_calls_that_another_row_makes_at_once_as_well_are_stated() -> None:
    rows = load("local-agent").lifecycle.rows
    assert only_derived_race(rows.values(), {"queue_message", "drain_messages"})
    assert not only_derived_race(rows.values(), {"complete"})  # B12 and B13 do so beside others
    assert not only_derived_race(rows.values(), {"queue_message", "complete"})  # no row does
    assert not only_derived_race([rows["B19"]], ())


@pytest.mark.parametrize(
    ("callers", "raced"),
    [
        ([["queue_message"], ["drain_messages", "get"]], {"queue_message", "drain_messages"}),
        ([["queue_message"], ["get"]], {"queue_message", "get"}),  # what it sees may be half done
        ([["queue_message", "get"], ["get"]], {"queue_message", "get"}),
    ],
)
def test_who_looks_after_a_call_of_its_own_races_nobody_by_that(callers: list[list[str]], raced: set[str]) -> None:
    made = [Made(2, f"{name}(task)", caller=number) for number, names in enumerate(callers) for name in names]
    shown = Counterexample("", 0, "", "", "", played=(Made(1, "list(task)"), *made))
    assert racing(shown, kernel_facts.of(load("local-agent")).observes) == raced


@pytest.mark.parametrize(
    ("name", "lie", "row"),
    [("task-progress", "FailedRegistrationRuns", "E4"), ("background-tasks", "ZeroIsAll", "X37")],
)
def test_such_a_row_alone_breaks_no_must_either(name: str, lie: str, row: str) -> None:
    code, results = whole_run(LIES[name, lie], load(name), only=[row])
    assert (code, [each.verdict for each in results]) == (EXIT_CONFORMS, [Verdict.FAIL])


def test_what_a_row_shows_as_well_that_is_no_derived_one_is_as_binding_as_ever() -> None:
    compiled = thread_job()
    rows = compiled.lifecycle.rows
    clause = "operations.turn_boundary.sends"
    derived, stated = rows["X6"], rows["N5"]
    assert (derived.derived, stated.derived) == (True, False)
    with adapted(LIES["thread-job", "OrderLostBetweenEmitters"], compiled) as adapter:
        runner = RowRunner(compiled, RowCompiler(compiled.lifecycle), adapter)
        matter, other = "reply [].status", "reply [].tool"
        assert not only_derived(runner.shown, SeenFault(clause, matter))  # no row says so
        shown = Counterexample("", 1, clause, "", "", matter=matter)
        runner.shown.append((derived, shown))
        assert only_derived(runner.shown, SeenFault(clause, matter))
        assert not only_derived(runner.shown, SeenFault(clause, other))
        assert not only_derived(runner.shown, SeenFault("operations.finish.move", matter))
        runner.shown.append((stated, shown))
        assert not only_derived(runner.shown, SeenFault(clause, matter))


def test_a_row_that_says_it_is_not_derived_may_be_a_must() -> None:
    text = (Path(__file__).parents[2] / "invalid_specs" / "derived-must.yaml").read_text(encoding="utf-8")
    lifecycle = read_lifecycle(read(text.replace("derived: true", "derived: false"), "a.yaml"), "a.yaml")
    assert {row.derived for row in lifecycle.rows.values()} == {False}


class RegistersLate(TaskProgress):
    """Who cannot be registered waits all the same, which only a derived row forbids; and a complete batch is never opened again."""

    def __init__(self) -> None:
        super().__init__()
        self._complete: set[str] = set()

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Any:
        return super().create_task(label, batch)

    def batch_status(self, batch: str) -> Any:
        said = super().batch_status(batch)
        self._complete |= {batch} if said["complete"] else set()
        return {"complete": batch in self._complete}


@pytest.mark.thorough
def test_what_a_derived_row_shows_hides_no_fault_beside_it() -> None:
    code, results = whole_run(RegistersLate, load("task-progress"))
    found = {each.id: each for each in results if each.verdict is Verdict.FAIL}
    assert code == EXIT_VIOLATES
    assert found["E4"].level == "should"
    # A batch that was complete before says so of a task as well of which nobody has seen yet that it waits.
    assert {each.level for name, each in found.items() if name != "E4"} == {"must"}
    shown = found[MACHINE].counterexample
    assert shown is not None
    assert (", false)" in shown.row, shown.given) == (False, ())


class LiesOnceAsked(RegistersLate):
    """Once a task could not be registered, every other that completes is said to have failed."""

    def __init__(self) -> None:
        super().__init__()
        self._lies = False

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Any:
        self._lies = self._lies or not registers
        return super().create_task(label, batch, registers)

    def status(self, task: str) -> Any:
        said = super().status(task)
        return "failed" if self._lies and said == "completed" else said

    def batch_status(self, batch: str) -> Any:
        return TaskProgress.batch_status(self, batch)


@pytest.mark.thorough
def test_what_is_wrong_only_beside_what_a_derived_row_shows_breaks_a_must_all_the_same() -> None:
    code, results = whole_run(LiesOnceAsked, load("task-progress"), only=["E4", MACHINE], quick=True)
    found = {each.id: each for each in results if each.verdict is Verdict.FAIL}
    assert code == EXIT_VIOLATES
    assert found.pop("E4").level == "should"
    assert {name: each.level for name, each in found.items()} == {
        MACHINE: "must"
    }  # once, in whichever order it was seen
    shown = found[MACHINE].counterexample
    assert shown is not None
    assert (shown.clause, shown.given) == ("operations.status.gives", ())  # nobody looked at the other task


class CrashesOnceAsked(RegistersLate):
    """There is no progress of a task that could not be registered, and no answer either."""

    def __init__(self) -> None:
        super().__init__()
        self._unregistered: set[str] = set()

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Any:
        said = super().create_task(label, batch)
        self._unregistered |= set() if registers else {said["task_id"]}
        return said

    def progress(self, task: str) -> Any:
        if task in self._unregistered:
            raise KeyError(task)
        return super().progress(task)

    def batch_status(self, batch: str) -> Any:
        return TaskProgress.batch_status(self, batch)


@pytest.mark.thorough
def test_a_crash_right_after_the_calls_of_a_derived_row_breaks_a_must() -> None:
    code, results = whole_run(CrashesOnceAsked, load("task-progress"), only=["E4", MACHINE], quick=True)
    crashes = {
        each.level for each in results if each.counterexample is not None and "KeyError" in each.counterexample.seen
    }
    assert (code, crashes) == (EXIT_VIOLATES, {"must"})


@pytest.mark.thorough
def test_the_level_of_a_fault_does_not_depend_on_which_rows_are_run() -> None:
    lie = LIES["task-progress", "FailedRegistrationRuns"]
    # shortest calls tell the level: there is time for them, however busy the machine is
    code, results = whole_run(lie, load("task-progress"), only=[MACHINE], budget=shrinking(60.0))
    told = [f"{each.verdict}: {each.reason}" for each in results]
    assert {(each.verdict, each.level) for each in results} == {(Verdict.FAIL, "should")}, told
    assert code == EXIT_CONFORMS, told


@pytest.mark.thorough
def test_what_a_must_would_tell_as_well_is_one_although_only_derived_rows_were_asked() -> None:
    code, results = whole_run(LIES["thread-job", "ToldTwice"], load("thread-job"), only=[MACHINE], quick=True)
    assert {(each.verdict, each.level) for each in results} == {(Verdict.FAIL, "must")}
    assert code == EXIT_VIOLATES


def test_derived_rows_that_were_not_asked_for_are_asked_once_and_nothing_is_told_of_them() -> None:
    compiled, lie = load("task-progress"), LIES["task-progress", "FailedRegistrationRuns"]
    with adapted(lie, compiled) as adapter:
        runner = RowRunner(compiled, RowCompiler(compiled.lifecycle), adapter)
        runner.ask_derived()
        ((row, shown),) = runner.shown
        runner.ask_derived()
        of_the_mistake, story = replace(shown, changing=()), replace(shown, diagnosis=None)
        rows = compiled.lifecycle.rows.values()
        assert {each.id.text for each in rows if runner._tells_of(each, of_the_mistake)} == {"E4", "X4", "X20"}
        made = {each.id.text for each in rows if runner._tells_of(each, story)}
        assert "N1" in made
        assert "X10" not in made, "it starts nothing"
        assert not any(runner._tells_of(each, replace(story, changing=("start",))) for each in rows), "each row does"
    assert (row.id.text, len(runner.shown), runner.strays) == ("E4", 1, [])
    assert only_derived(runner.shown, SeenFault(shown.clause, shown.matter))
    assert only_derived(
        runner.shown, SeenFault("operations.finish.otherwise", "", ("start", *shown.changing, "finish"))
    )
    assert only_derived(runner.shown, SeenFault("operations.progress.gives", "", (*shown.changing, "finish")))
    assert not only_derived(runner.shown, SeenFault("operations.progress.gives", "", ("start", *shown.changing)))
    assert not only_derived(runner.shown, SeenFault("operations.progress.gives", "", ("start", "finish")))
    mistake = shown.diagnosis
    assert mistake is not None
    assert mistake.explains
    elsewhere = SeenFault("operations.summarize.signal.announced", "", ("create_task", "summarize"))
    assert not only_derived(runner.shown, elsewhere)
    assert only_derived(runner.shown, elsewhere._replace(mistake=mistake)), "the same mistake explains what is seen"
    assert not only_derived(runner.shown, elsewhere._replace(mistake=replace(mistake, words="is not done")))


PILE = """
lifecycle: pile
version: 1
about: Things are piled up.
entities:
  Thing:
    id: minted
    states: {active: [kept]}
operations:
  push:
    create: {Thing: {}}
    gives: {thing: thing.id}
  count:
    gives: things.size()
  is_full:
    gives: "things.size() >= 2"
matrix:
  N1:
    about: What is pushed is counted.
    level: must
    source: the test
    covers: [operations.push, operations.count, entities.Thing.id]
    act:
      - push()
      - push()
      - n = count()
    assert: n == 2
  D1:
    about: Two are full.
    level: should
    derived: true
    source: the test
    covers: [operations.is_full]
    act:
      - push()
      - push()
      - full = is_full()
    assert: full
"""


class CountsThree:
    """It counts to three, which breaks a must, and is full late, which only a derived row forbids."""

    declares: ClassVar[dict[str, Any]] = {"clock": "virtual", "concurrency": "none"}

    def __init__(self) -> None:
        self._pushed = 0

    def push(self) -> Any:
        self._pushed += 1
        return {"thing": f"t{self._pushed}"}

    def count(self) -> int:
        return min(self._pushed, 3)

    def is_full(self) -> bool:
        return self._pushed >= 3

    def wait(self, ms: int) -> None:
        pass


def test_calls_after_which_all_was_right_elsewhere_make_no_must_a_should() -> None:
    code, results = whole_run(CountsThree, compile_text(PILE, "pile.yaml"), quick=True)
    found = {each.counterexample.clause: each.level for each in results if each.counterexample is not None}
    assert code == EXIT_VIOLATES
    assert found["operations.count.gives"] == "must"
    assert found["operations.is_full.gives"] == "should"


def test_derived_rows_are_asked_without_calls_that_are_known_to_hang_and_until_the_time_is_over() -> None:
    compiled, lie = load("task-progress"), LIES["task-progress", "FailedRegistrationRuns"]
    with adapted(lie, compiled) as adapter:
        runner = RowRunner(compiled, RowCompiler(compiled.lifecycle), adapter)
        runner.late = lambda: True
        runner.ask_derived()
        runner.late = never
        assert (runner.asked, runner.shown) == (set(), [])
        runner.broken_calls.go_on_from({("hang", "create_task"): ["N1", "N2", "N3"]}, ["create_task"])
        runner.ask_derived()
        assert runner.shown == []


class LeaveByStart(BackgroundTasks):
    """Rows leave in the order of their start, which only a derived row forbids."""

    def _evict(self, table: Any) -> None:
        ended = sorted((row for row in table.rows.values() if row.status != "running"), key=lambda row: row.serial)
        for row in ended[: max(0, len(ended) - self._retained)]:
            del table.rows[row.task_id]


class RefusesMarkup(LeaveByStart):
    """And a label with markup is refused, which breaks a must."""

    async def spawn(self, label: str) -> Any:
        if "<b>" in label:
            raise Refused("session_cancelled", "no")
        return await super().spawn(label)


class HidesMarkup(LeaveByStart):
    """And a running task with markup in its label is not listed, which breaks a must."""

    async def list(self) -> Any:
        return [row for row in await super().list() if "<b>" not in row["label"]]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("system", "clause"), [(RefusesMarkup, "operations.spawn"), (HidesMarkup, "operations.list.gives")]
)
def test_which_record_leaves_excuses_nothing_else_that_is_missing(system: type, clause: str) -> None:
    code, results = whole_run(system, load("background-tasks"), only=["B2", MACHINE], quick=True)
    found = [(each.id, each.level, each.counterexample) for each in results if each.verdict is Verdict.FAIL]
    assert code == EXIT_VIOLATES
    assert [(name, level) for name, level, _ in found if name == "B2"] == [("B2", "should")]
    assert (clause, "must") in {(shown.clause, level) for _, level, shown in found if shown is not None}


def test_only_calls_at_once_are_what_calls_at_once_have_led_to() -> None:
    compiled = load("local-agent")
    row = compiled.lifecycle.rows["B9"]
    raced = Counterexample("", 4, "a", "", "", rounds=40, matter="x", changing=("register", "queue", "drain"))
    alone = SeenFault("b", "y", ("register", "queue"))
    assert row.derived
    assert only_derived([(row, raced)], alone._replace(at_once=True))
    assert not only_derived([(row, raced)], alone)
    assert not only_derived([(row, raced)], alone._replace(at_once=True), [("register", "queue", "drain")])
    assert not only_derived([(row, replace(raced, rounds=1))], alone._replace(at_once=True))


def test_what_a_derived_row_leads_to_may_have_other_calls_between_unless_that_was_right_elsewhere() -> None:
    row = load("task-progress").lifecycle.rows["E4"]
    shown = Counterexample("", 3, "a", "", "", matter="x", changing=("create no", "start"))
    assert row.derived

    def excused(story: tuple[str, ...], *held: tuple[str, ...]) -> bool:
        return only_derived([(row, shown)], SeenFault("b", "y", story), held)

    between = ("create no", "subscribe", "start", "summarize")
    assert excused(between)
    assert not excused(between, ("create no", "finish", "start", "abort"))  # so it is not what leads there
    assert excused(between, ("create no", "finish"), ("create", "create no", "start"))
    assert not excused(("subscribe", "create no", "start"))
    assert not excused(("create no", "summarize"))
    assert not excused(between, ("create no", "start"))


def test_other_calls_may_stand_before_what_a_derived_row_leads_to_where_the_fault_shows_as_the_row_has_shown_it() -> (
    None
):
    row = load("task-progress").lifecycle.rows["E4"]
    shown = Counterexample("", 3, "a", "failed", "running", matter="x", changing=("create no", "start"))
    alike = SeenFault("b", "x", ("create", "abort", "start", "create no", "start"), expected="failed", seen="running")
    assert only_derived([(row, shown)], alike)
    for held in (("create no", "finish", "start"), ("abort", "create no", "start"), alike.changing):
        assert not only_derived([(row, shown)], alike, [held])  # so it is not what leads there
    assert not only_derived([(row, shown)], alike._replace(changing=("create", "start", "create no")))
    for other in (alike._replace(seen="pending"), alike._replace(expected="aborted"), alike._replace(matter="y")):
        assert not only_derived([(row, shown)], other)


def test_which_record_leaves_is_one_matter_only_after_as_many_calls_as_it_takes_until_one_leaves() -> None:
    rows = load("background-tasks").lifecycle.rows
    retaining = next(
        row for row in rows.values() if row.derived and any(word.text.endswith(".retain") for word in row.covers)
    )
    shown = Counterexample("", 4, "a", "", "", cause="a", matter=PRESENCE, changing=("spawn", "finish", "finish"))
    for calls, alike in ((3, True), (2, True), (1, False)):  # one call less may do where another call looks
        assert only_derived([(retaining, shown)], SeenFault("b", PRESENCE, ("crash",) * calls)) == alike
    assert not only_derived([(retaining, shown)], SeenFault("b", "reply [].label ", ("crash",) * 3))


class StartsNoA(TaskProgress):
    """A task that is called 'a' is not started; and status says that a running one has failed when markup is told of it."""

    declares: ClassVar[dict[str, Any]] = {
        **TaskProgress.declares,
        "deviates": {"operations.start.move": {"reason": "known since May"}},
    }

    def start(self, task: str) -> None:
        if self._find(task).label != "a":
            super().start(task)

    def status(self, task: str) -> str:
        found = self._find(task)
        odd = found.status == "running" and (found.summary or "").startswith("<b>")
        return "failed" if odd else super().status(task)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_known_of_a_row_stands_for_no_other_fault(seed: int) -> None:
    # What is not made shorter may begin as what is known, and is told as that.
    budget = shrinking(60.0)
    code, results = whole_run(StartsNoA, load("task-progress"), seed=seed, budget=budget, only=["N1", MACHINE])
    assert code == EXIT_VIOLATES
    found = {each.id: each for each in results}
    assert found["N1"].verdict is Verdict.KNOWN_FAIL
    shown = found[MACHINE].counterexample
    assert shown is not None
    assert (found[MACHINE].verdict, shown.expected, shown.seen) == (Verdict.FAIL, "'running'", "'failed'")


def test_of_what_is_recommended_the_first_case_of_each_new_clause_is_told_and_no_more_than_so_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A case that does not show it again tells nothing."""
    asked: list[tuple[Any, str]] = []

    def told(_: RowRunner, seen: Sequence[tuple[Any, Finding]], __: Collection[str]) -> list[tuple[Judged, str]]:
        asked.extend((case, finding.clause) for case, finding in seen)
        shown = [Verdict.FAIL, Verdict.COULD_NOT_TELL, Verdict.FAIL, Verdict.FAIL]
        return [(Judged(verdict), "should") for verdict, _ in zip(shown, seen, strict=False)]

    def tally(case: Any, *clauses: str) -> machine.SearchTally:
        broken = {clause: (case, Finding("reply", clause, "look", "x", "y")) for clause in clauses}
        return machine.SearchTally(recommended=broken)

    monkeypatch.setattr(machine, "_told", told)
    with adapted(REFERENCE) as adapter:
        runner = RowRunner(thread_job(), RowCompiler(thread_job().lifecycle), adapter)
        runner.told["of a row"] = Counterexample("", 1, "of a row", "", "")
        tallies = [tally("first", "a"), tally("second", "a", "b", "c"), tally("third", "of a row", "known", "d")]
        found = machine._recommended(runner, tallies, ["known"], 3)
    assert len(asked) == 3 > len(found) == 2
    assert {each.verdict for each, _ in found} == {Verdict.FAIL}
    assert {case for case, clause in asked if clause == "a"} <= {"first"}
    assert {clause for _, clause in asked} < {"a", "b", "c", "d"}
