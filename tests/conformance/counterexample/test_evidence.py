"""A counterexample shows the fault that was found, with the calls that it takes, or says that it does not."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from conformance.budget import USUAL
from conformance.counterexample import again, evidence, shrunk
from conformance.counterexample.choice import choice_that_explains
from conformance.counterexample.play import NOTHING, play, symbolic
from conformance.judge import Case
from conformance.references.job import Jobs
from conformance.references.thread_job import ACTIVE, Reply, ThreadJob
from conformance.refused import Refused
from conformance.report.content import failing
from conformance.system import Adapter
from conformance.verdict import Counterexample, RowResult, Verdict
from statemachines.compile import load
from tests.checking import compile_text
from tests.conformance.systems import BRIEF, REFERENCE, adapted, explained, row_result, shrinking, thread_job, whole_run
from tests.faulty.thread_job.listing import DefaultListsEnded

FEW = replace(BRIEF, reproductions=4)


def searched(system: type, **budget: Any) -> RowResult:
    """What the random searches say of a system."""
    _, (result, *_) = whole_run(system, only=["machine"], **budget)
    return result


def steps(found: Counterexample | None) -> list[str]:
    """The steps of a counterexample."""
    assert found is not None
    lines = found.row.partition("act:\n")[2].partition("  assert:\n")[0].splitlines()
    return [line.strip().removeprefix("- ") for line in lines]


# --- what the kit looks at --------------------------------------------------------------------------------


class RemembersItsList(REFERENCE):
    """What a list showed once it shows for ever."""

    def __init__(self, *limits: Any, **named: Any) -> None:
        super().__init__(*limits, **named)
        self._listed: dict[Any, list[Reply]] = {}

    def list_jobs(self, thread: str, statuses: Any = ACTIVE) -> list[Reply]:
        found = super().list_jobs(thread, statuses)
        return self._listed.setdefault((thread, *statuses), found)


@pytest.mark.thorough
def test_a_fault_that_takes_a_look_is_shown_with_that_look() -> None:
    result = searched(RemembersItsList, budget=BRIEF)
    assert result.verdict is Verdict.FAIL, explained(result)
    *before, last = steps(result.counterexample)
    look = last.removeprefix("last = ")
    assert look in before, explained(result)
    # a job that ends stays in the list, or one that is cancelled as it was; or one that starts never comes to it
    ends = any("finish" in each or "request_cancel" in each for each in before)
    calls = [each for each in before if not each.endswith("= fresh(Job)")]  # that only names an id
    assert len(calls) == (3 if ends else 2), explained(result)
    assert look.startswith("list_jobs(t1")


# --- one caller, or several -------------------------------------------------------------------------------


class SaysPending(REFERENCE):
    """A start replies that it is being cancelled."""

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        return super().start(thread, tool_call, tool) | {"status": "pending_cancel"}


def two_at_once(adapter: Adapter, *before: tuple[str, dict[str, Any]]) -> Case:
    """A case in which two jobs start at once, after some calls."""
    case = Case(thread_job(), adapter)
    for call in before:
        case.call(*call)
    given = [{"thread": "t1", "tool_call": name, "tool": "bash"} for name in ("first", "second")]
    case.together([partial(case.call, "start", each) for each in given])
    return case


def test_what_one_caller_shows_is_not_shown_with_calls_at_once() -> None:
    with adapted(SaysPending) as adapter:
        case = two_at_once(adapter, ("messages", {"thread": "t1"}))
        assert case.finding is not None
        assert case.finding.kind == "order"
        found = shrunk(case, rounds=4)
    assert steps(found) == ["last = start(t1, fresh, bash)"]
    assert found is not None
    assert (found.reproduced, found.rounds, found.expected) == (1, 1, "status = 'running'")


class LosesOne(REFERENCE):
    """Of jobs that start at once one is not kept; which threads were inside decides it."""

    inside = 0

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        self.inside += 1
        try:
            alone = self.inside == 1
            reply = super().start(thread, tool_call, tool)
            return reply if alone and self.inside == 1 else reply | {"status": "completed"}
        finally:
            self.inside -= 1


def test_what_only_calls_at_once_show_is_shown_with_them() -> None:
    with adapted(LosesOne) as adapter:
        found = shrunk(two_at_once(adapter), rounds=4)
    assert steps(found) == ["together(2, start(t1, fresh, bash))"]
    assert found is not None
    assert found.reproduced > 0


def taking(seconds: float, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let each play take so long, by the clock that a counterexample goes by; give how many calls were played each time."""
    lengths: list[int] = []

    def slow(compiled: Any, adapter: Adapter, trace: Any, *arguments: Any, **named: Any) -> Any:
        lengths.append(len(trace))
        return play(compiled, adapter, trace, *arguments, **named)

    monkeypatch.setattr(again, "play", slow)
    for module in (again, evidence):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: seconds * len(lengths)))
    return lengths


def test_calls_at_once_that_take_long_are_made_in_turn_only_when_there_are_fewer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with adapted(SaysPending) as adapter:
        case = two_at_once(adapter)
        lengths = taking(USUAL.reproduce_seconds * 1.1, monkeypatch)
        found = shrunk(case, rounds=4)
    assert lengths[:2] == [2, 1], "after the first play there is no time for more that are as long"
    assert steps(found) == ["last = start(t1, fresh, bash)"]


def test_what_takes_long_is_counted_in_fewer_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    with adapted(LosesOne) as adapter:
        case = two_at_once(adapter)
        taking(USUAL.reproduce_seconds * 0.4, monkeypatch)
        found = shrunk(case, rounds=40)
    assert found is not None
    assert 0 < found.reproduced <= found.rounds < 3 * USUAL.more_reproductions


class WrongFirst(REFERENCE):
    """The jobs of the first cases in a process are told to have one id when they start, and those of no later case."""

    cases = 0
    wrong = 1

    def __init__(self, *limits: Any, **named: Any) -> None:
        super().__init__(*limits, **named)
        type(self).cases += 1
        self._lies = self.cases <= self.wrong

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        reply = super().start(thread, tool_call, tool)
        return reply | {"job_id": "job"} if self._lies else reply


@pytest.mark.thorough
@pytest.mark.parametrize("wrong", [1, 2])
def test_a_row_whose_failure_never_came_again_is_flaky(wrong: int) -> None:
    result = row_result(type("Wrong", (WrongFirst,), {"cases": 0, "wrong": wrong}), "X42", budget=FEW)
    assert result.verdict is Verdict.FLAKY, explained(result)
    assert result.reason.endswith("times, it did not show")
    found = result.counterexample
    assert found is not None
    assert found.reproduced == 0
    assert dict(failing(result, {}).facts)["shown by"] == f"{found.calls} calls, once"


def test_a_search_whose_fault_never_came_again_is_flaky() -> None:
    result = searched(type("Wrong", (WrongFirst,), {"cases": 0, "wrong": 3}), budget=BRIEF)
    assert result.verdict is Verdict.FLAKY, explained(result)
    assert "it did not show" in result.reason


# --- a choice that explains it ----------------------------------------------------------------------------


class ByStart(REFERENCE):
    """Of jobs that end at one instant the one that was started first leaves first; declared is something else."""

    def _order(self, job: Any) -> tuple[int, int]:
        return job.completed_at, job.serial


class CodeOfItsOwn(REFERENCE):
    """A cancel of an unknown job is refused with a code that nobody has declared."""

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        try:
            return super().request_cancel(thread, job, actor)
        except Refused as refusal:
            raise Refused(refusal.code if job in self._jobs else "no_such_job") from refusal


class LeavesByStart(REFERENCE):
    """Of jobs that end at one instant the one that was started first leaves, but they are told in the order in which they ended."""

    def _leaving(self, thread: str) -> list[ThreadJob]:
        count = len(super()._leaving(thread))
        return sorted(self._ended_in(thread), key=lambda job: (job.completed_at, job.serial))[:count]


def test_no_choice_is_named_by_which_another_row_would_fail() -> None:
    result = row_result(LeavesByStart, "X23")
    assert result.verdict is Verdict.FAIL, explained(result)
    assert result.counterexample is not None
    assert "were declared" not in result.counterexample.seen


@pytest.mark.parametrize(
    ("system", "row", "choice"), [(ByStart, "X23", "tie: start"), (CodeOfItsOwn, "X2", "unknown_code: its_own")]
)
def test_a_finding_names_the_choice_that_would_explain_it(system: type, row: str, choice: str) -> None:
    result = row_result(system, row, budget=shrinking(60.0))  # all rows are asked, however busy the machine is
    assert result.verdict is Verdict.FAIL, explained(result)
    assert result.counterexample is not None
    assert result.counterexample.seen.endswith(f"; it would be right if `{choice}` were declared"), explained(result)


@pytest.mark.parametrize(("again", "named"), [(True, "`unknown_code: its_own`"), (False, "")])
def test_a_choice_is_named_only_where_what_is_declared_shows_the_fault_again(again: bool, named: str) -> None:
    with adapted(CodeOfItsOwn) as adapter:
        case = Case(thread_job(), adapter)
        case.call("request_cancel", {"thread": "t1", "job": "nobody's", "actor": "user"})
        trace = symbolic(thread_job(), case.trace)
        shown = play(thread_job(), adapter, trace, case.seed, case.budget)
        assert shown.finding is not None
        assert choice_that_explains(case, shown, lambda *_: shown if again else NOTHING, lambda *_: True) == named


def test_a_finding_that_no_choice_explains_names_none() -> None:
    result = row_result(DefaultListsEnded, "N8")
    assert result.counterexample is not None
    assert "were declared" not in result.counterexample.seen


class CountsOnly(Jobs):
    """The id of a job is the next number, whoever asked for it already; that job is gone then."""

    def _free_id(self, preferred: str) -> str:
        return super()._free_id(preferred) if preferred else self._mint_id()


def test_an_id_that_a_call_asks_for_and_the_system_gives_is_written_as_it_is() -> None:
    """With a new text in its place the calls would show nothing."""
    job = load("job")
    with adapted(CountsOnly, job) as adapter:
        case = Case(job, adapter)
        for wanted in ("bg_1", None):
            case.call("register", {"type": "bash", "label": "x", "id": wanted, "owner": None})
        found = shrunk(case)
        assert found is not None
        assert "'bg_1'" in "".join(steps(found))
        assert "fresh" not in found.row


def test_no_system_is_asked_about_a_choice_that_what_it_has_shown_refutes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def noting(*given: Any, **named: Any) -> Any:
        asked.append((given, named))
        return NOTHING

    monkeypatch.setattr("conformance.counterexample.choice.play", noting)
    row_result(DefaultListsEnded, "N8")
    assert asked == []


LAPSES = """
lifecycle: lapsing
version: 1
about: A ticket lapses after a while, and whoever listens is told.
types:
  TicketId: {id of: Ticket}
entities:
  Ticket:
    id: minted
    fields: {opened: {type: time, default: now}}
    states: {active: [open], terminal: [lapsed, closed]}
    after:
      open: {in: 100, since: ticket.opened, move: lapsed, signal: {Lapsed: {with: {ticket: ticket.id}}}}
    shows: {status: ticket.state}
signals:
  Lapsed: {ticket: TicketId}
operations:
  open: {create: {Ticket: {}}, gives: {ticket_id: ticket.id}}
  withdraw: {takes: {ticket: Ticket}, move: {open: closed}, otherwise: unchanged}
  look: {takes: {ticket: Ticket}, gives: ticket}
matrix: {}
"""
SIGNAL = ", signal: {Lapsed: {with: {ticket: ticket.id}}}"


class LapsedAreClosed:
    """A ticket that lapses is said to be closed, and to have lapsed."""

    declares: ClassVar[dict[str, Any]] = {"clock": "virtual"}

    def __init__(self) -> None:
        self.now, self.until, self.status = 0, 0, "open"
        self.sent: list[dict[str, str]] = []

    def wait(self, ms: int) -> None:
        self.now += ms
        if self.status == "open" and self.now >= self.until:
            self.status = "closed"
            self.sent.append({"signal": "Lapsed", "ticket": "a"})

    def signals(self) -> list[dict[str, str]]:
        sent, self.sent = self.sent, []
        return sent

    def open(self) -> Any:
        self.until = self.now + 100
        return {"ticket_id": "a"}

    def withdraw(self, ticket: str) -> None:
        self.status = "closed"

    def look(self, ticket: str) -> Any:
        return {"status": self.status}


class LapsedQuietly(LapsedAreClosed):
    """The same, and nobody is told."""

    def signals(self) -> list[dict[str, str]]:
        return []


@pytest.mark.parametrize(
    ("system", "text", "ms", "claim"),
    [
        (LapsedAreClosed, LAPSES, 101, "last.status == lapsed"),  # who was told that it lapsed may claim nothing before
        (LapsedQuietly, LAPSES.replace(SIGNAL, ""), 100, "last.status == open || last.status == lapsed"),
    ],
)
def test_what_is_wrong_at_the_very_instant_of_a_timer_is_shown_a_moment_later_where_nothing_can_be_claimed_then(
    system: type, text: str, ms: int, claim: str
) -> None:
    compiled = compile_text(text, "lapsing.yaml")
    with adapted(system, compiled) as adapter:
        case = Case(compiled, adapter)
        case.call("open", {})
        case.call("wait", {"ms": 100})  # at this instant it need not have lapsed
        case.call("look", {"ticket": "a"})
        found = shrunk(case)
    assert steps(found) == ["ticket = open()", f"wait({ms})", "last = look(ticket.ticket_id)"]
    assert found is not None
    assert found.row.endswith(f"- {claim}\n")
