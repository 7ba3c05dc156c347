"""The chart, a second reading of a lifecycle's sentences, and the model that the compiler makes of them agree."""

from __future__ import annotations

import itertools
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from transitions import Machine, MachineError
from transitions.extensions import GraphMachine, LockedMachine

from statemachines import kernel
from statemachines.compile import Compiled, load
from statemachines.diagnostics import SpecError
from statemachines.draw.as_transitions import machine
from statemachines.draw.chart import TO, Arrow, arrows, drawn
from statemachines.draw.diagram import mermaid
from statemachines.expression.typed import Const, Operate, Typed
from statemachines.kernel import Kernel
from statemachines.lifecycle import Lifecycle
from statemachines.model import ABSENT
from statemachines.specs import shipped
from statemachines.types import BOOL, INT, Enum, List, present
from tests.checking import compile_text
from tests.statemachines.draw.sentences import said

GOLDEN = Path(__file__).parents[2] / "golden" / "thread-job.mmd"

# What thread-job lacks: a table, a parameter of every state, timers, two kinds of records that move.
TABLES = """
lifecycle: tables
version: 1
about: Jobs that can be blocked, and polls that wait for one of them.
limits:
  retention: {default: 3600000, about: ms that an ended job stays}
  patience:  {default: 300000, about: ms that a poll waits}
entities:
  Job:
    id: minted
    fields: {since: time}
    states:
      active:   [running, blocked]
      stopped:  [cancelled]
      terminal: [completed, failed]
    after:
      blocked:  {in: 90000, since: job.since, move: failed}
      terminal: {in: limits.retention, since: job.since, remove: true}
  Poll:
    id: minted
    fields: {since: time}
    states:
      active:   [waiting]
      terminal: [returned]
    after:
      waiting: {in: limits.patience, since: poll.since, move: returned}
operations:
  start:
    takes: {}
    create:
      Job: {since: now}
  poll:
    takes: {}
    create:
      Poll: {since: now}
  settle:
    takes: {job: Job}
    move: {running: completed, cancelled: cancelled, blocked: same}
  put:
    takes: {to: Job.state, job: Job}
    move: active -> to
  block:
    takes: {job: Job}
    move: running -> blocked
  halt:
    takes: {job: Job}
    move: running -> blocked
  resume:
    takes: {job: Job}
    move: blocked -> running
  cancel:
    takes: {job: Job, reason: int}
    move: running -> cancelled
  answer:
    takes: {poll: Poll, job: Job}
    move: waiting -> returned
"""


@pytest.fixture(scope="module", params=["thread-job", "tables"])
def compiled(request: pytest.FixtureRequest) -> Compiled:
    """Each lifecycle, in all its forms."""
    return load("thread-job") if request.param == "thread-job" else compile_text(TABLES, "tables.yaml")


def made(text: str) -> Compiled:
    return compile_text(text, "made-up.yaml")


def with_states(lifecycle: Lifecycle) -> list[str]:
    """The entities whose records have states."""
    return [name for name, entity in lifecycle.entities.items() if entity.states]


# ── Both readings agree ──────────────────────────────────────────────────────────────────────────

GONE = "gone"
TIMERS = "(timers)"

Choice = tuple[tuple[str, str], ...]  # parameter of a state → the state given
Cell = tuple[str, str, Choice]  # the state a record is in, the operation, the choice
Answer = tuple[bool, tuple[str, ...]]  # whether that is a move, and the state after; of timers every state


class Driven:
    """A generated model, brought by calls alone into every state that a record can have."""

    def __init__(self, compiled: Compiled, entity: str) -> None:
        self.kernel = compiled.kernel
        self.entity = compiled.kernel.entity(entity)
        self.model: Any = compiled.model()
        for each in self.kernel.entities:
            if each.states:  # one record of each kind, for operations that take several
                operation = creator(self.kernel, each.name)
                _, arguments = next(self.calls(operation))
                getattr(self.model, operation.name)(*arguments)
        self.key = next(iter(self.records(self.entity)))

    def records(self, entity: kernel.Entity) -> dict[Any, Any]:
        """The records of an entity by their keys."""
        found: dict[Any, Any] = getattr(self.model, entity.collection)
        return found

    @property
    def state(self) -> str:
        """The state that the record is in."""
        record = self.records(self.entity).get(self.key)
        return record.state if record else GONE

    def cells(self) -> dict[Cell, Answer]:
        """Search breadth-first for the states that calls and timers lead to, and ask about each cell."""
        found: dict[Cell, Answer] = {}
        reached = {self.state: self.model.freeze()}
        for state in (waiting := [self.state]):
            timers: list[str] = []
            for cell, act in [*self.acts(reached[state], state), *self.ends(reached[state], state)]:
                self.model.thaw(reached[state])
                legal = act()
                if cell[1] == TIMERS:
                    timers.append(self.state)
                else:
                    found[cell] = (legal, (state if self.state == GONE else self.state,))
                if self.state != GONE and self.state not in reached:
                    reached[self.state] = self.model.freeze()
                    waiting.append(self.state)
            found[state, TIMERS, ()] = (bool(timers), tuple(sorted(timers)))
        return found

    def acts(self, frozen: object, state: str) -> Iterator[tuple[Cell, Callable[[], bool]]]:
        """Every operation with every choice; an act tells whether it is a move that the state has."""
        self.model.thaw(frozen)
        for operation in self.kernel.operations:
            moves = any(isinstance(each, kernel.Move) and each.entity == self.entity.name for each in operation.effects)
            for choice, arguments in self.calls(operation):
                yield (state, operation.name, choice), self.act(operation.name, arguments, moves)

    def act(self, name: str, arguments: list[Any], moves: bool) -> Callable[[], bool]:
        """One call; whether the model carries it out is asked first."""

        def act() -> bool:
            legal = bool(getattr(self.model, f"may_{name}")(*arguments).accept)
            if legal:
                getattr(self.model, f"do_{name}")(*arguments)
            return moves and legal

        return act

    def ends(self, frozen: object, state: str) -> Iterator[tuple[Cell, Callable[[], bool]]]:
        """Every timer that runs for the record."""
        self.model.thaw(frozen)
        for _, _, index, key in self.model.deadlines():
            if key == self.key:
                yield (state, TIMERS, ()), self.end(index)

    def end(self, index: int) -> Callable[[], bool]:
        """One timer that is due."""

        def end() -> bool:
            self.model.fire(index, self.key)
            return True

        return end

    def calls(self, operation: kernel.Operation) -> Iterator[tuple[Choice, list[Any]]]:
        """The arguments of an operation, with every state where one is asked for."""
        ours = f"{self.entity.name}.state"
        for values in itertools.product(*map(self.values, operation.parameters)):
            chosen = [
                (parameter.name, value)
                for parameter, value in zip(operation.parameters, values, strict=True)
                if isinstance(parameter.type, Enum) and parameter.type.name == ours
            ]
            yield tuple(chosen), list(values)

    def values(self, parameter: kernel.Parameter) -> Iterable[Any]:
        """What is given for a parameter."""
        if parameter.entity == self.entity.name:
            return [self.key]
        if parameter.entity:
            return list(self.records(self.kernel.entity(parameter.entity)))[:1]
        match present(parameter.type):
            case Enum(name=name, members=members):
                return members if name == f"{self.entity.name}.state" else members[:1]
            case List():
                return [ABSENT]
            case kind:
                return [True if kind == BOOL else 500 if kind == INT else "x"]


def creator(source: Kernel, entity: str) -> kernel.Operation:
    """The first operation that creates a record of an entity."""
    return next(
        operation
        for operation in source.operations
        for effect in operation.effects
        if isinstance(effect, kernel.Create) and effect.entity == entity
    )


def answers(compiled: Compiled, entity: str, cells: Iterable[Cell]) -> dict[Cell, Answer]:
    """What the machine says about the same cells."""
    return {
        cell: ends(compiled, entity, cell[0]) if cell[1] == TIMERS else answer(compiled, entity, cell) for cell in cells
    }


def answer(compiled: Compiled, entity: str, cell: Cell) -> Answer:
    """What one trigger does: it is asked whether it may, and then pulled."""
    state, trigger, choice = cell
    subject: Any = machine(compiled, entity, initial=state)
    if trigger not in subject.events:
        return False, (state,)
    try:
        legal = subject.may_trigger(trigger, **dict(choice))
        subject.trigger(trigger, **dict(choice))
    except MachineError:
        assert not legal
        return False, (subject.state,)
    except ValueError:  # the parameter does not name this state
        return False, (subject.state,)
    assert legal
    return True, (subject.state,)


def ends(compiled: Compiled, entity: str, state: str) -> Answer:
    """What the timers of a state lead to."""
    found = []
    for arrow in drawn(compiled, entity):
        if arrow.after and arrow.source == state:
            subject: Any = machine(compiled, entity, initial=state)
            if arrow.targets:
                subject.trigger(arrow.trigger)
            found.append(subject.state if arrow.targets else GONE)
    return bool(found), tuple(sorted(found))


def test_machine_and_model_agree_in_every_cell(compiled: Compiled) -> None:
    """Every (state, operation, choice of target): the same legality, and the same state afterwards.

    It would catch a move that is lowered or generated from the wrong state, to the wrong state, to all
    states of a group but one, or for the wrong record; `same` that moves, a parameter that is ignored or
    offers other states; an operation without `move` that moves; a timer that leads elsewhere; and each
    of these in the chart.
    """
    for entity in with_states(compiled.lifecycle):
        cells = Driven(compiled, entity).cells()
        assert {state for state, _, _ in cells} == set(compiled.lifecycle.entities[entity].states)
        assert {trigger for _, trigger, _ in cells} >= set(compiled.lifecycle.operations)
        assert answers(compiled, entity, cells) == cells


def agree(source: Compiled, lowered: Kernel) -> bool:
    """Whether a kernel still agrees with the sentences of a lifecycle."""
    cells = Driven(Compiled(source.lifecycle, lowered, source.words), "Job").cells()
    return answers(source, "Job", cells) == cells


def changed(source: Kernel, name: str, change: Callable[[kernel.Operation], kernel.Operation]) -> Kernel:
    """A kernel with one operation changed."""
    return replace(
        source,
        operations=tuple(change(each) if each.name == name else each for each in source.operations),
    )


def state(name: str) -> Const:
    """One state of a job."""
    return Const(Enum("Job.state", (name,)), 0, name)


@dataclass(frozen=True)
class Elsewhere:
    """The lie that an arrow leads to another state."""

    source: str
    target: str

    def __call__(self, operation: kernel.Operation) -> kernel.Operation:
        """Tell it."""

        def led(effect: kernel.Effect) -> kernel.Effect:
            if not isinstance(effect, kernel.Move):
                return effect
            told: dict[str, Typed] = {**dict(effect.arrows), self.source: state(self.target)}
            return replace(effect, arrows=tuple(told.items()))

        return replace(operation, effects=tuple(map(led, operation.effects)))


@dataclass(frozen=True)
class From:
    """The lie that an operation moves from these states."""

    states: tuple[str, ...]

    def __call__(self, operation: kernel.Operation) -> kernel.Operation:
        """Tell it."""

        def open_to(require: kernel.Require) -> kernel.Require:
            match require.guard:
                case Operate(operator="in", right=Const() as right) as guard:
                    return replace(require, guard=replace(guard, right=replace(right, value=self.states)))
            return require

        return replace(operation, requires=tuple(map(open_to, operation.requires)))


def moves_too(operation: kernel.Operation) -> kernel.Operation:
    """Tell the lie that an operation without `move` moves its job."""
    move = kernel.Move("operations.emit.sends.told", "job", "Job", (("running", state("failed")),))
    return replace(operation, effects=(move, *operation.effects))


LIES = {
    "one state of a group is forgotten": ("finish", From(("running",))),
    "an operation is open in one state more": ("request_cancel", From(("running", "pending_cancel"))),
    "an ending is no end": ("finish", From(("running", "pending_cancel", "completed"))),
    "an operation is open in no state": ("llm_error", From(())),
    "an operation moves that has no move": ("emit", moves_too),
}


@pytest.mark.parametrize(("operation", "lie"), LIES.values(), ids=LIES)
def test_the_comparison_sees_a_kernel_in_which(
    operation: str, lie: Callable[[kernel.Operation], kernel.Operation]
) -> None:
    """The comparison can fail: a move that is lowered wrongly does not pass."""
    source = load("thread-job")
    assert not agree(source, changed(source.kernel, operation, lie))


@pytest.mark.thorough
def test_the_comparison_sees_every_arrow_that_leads_elsewhere() -> None:
    """Each arrow of the kernel, led in turn to each state that it does not lead to."""
    source = load("thread-job")
    states = source.lifecycle.entities["Job"].states
    lies = [
        (operation.name, begin, end)
        for operation in source.kernel.operations
        for effect in operation.effects
        if isinstance(effect, kernel.Move)
        for begin, target in effect.arrows
        for end in states
        if not (isinstance(target, Const) and target.value == end)
    ]
    assert len(lies) == 5 * 5 + 2 * 6
    assert agree(source, changed(source.kernel, "request_cancel", Elsewhere("running", "pending_cancel")))
    unseen = [
        (name, begin, end)
        for name, begin, end in lies
        if agree(source, changed(source.kernel, name, Elsewhere(begin, end)))
    ]
    assert unseen == []


# ── Arrows ───────────────────────────────────────────────────────────────────────────────────────


def test_the_arrows_of_thread_job_are_those_that_a_person_reads() -> None:
    """Written by hand, in case both readings err alike."""
    ending = ("completed", "failed", "cancelled", "timed_out")
    assert drawn(load("thread-job"), "Job") == [
        Arrow("report_progress", "running", ("running",)),
        Arrow("report_progress", "pending_cancel", ("pending_cancel",)),
        Arrow("llm_error", "running", ("running",)),
        Arrow("llm_error", "pending_cancel", ("pending_cancel",)),
        Arrow("finish", "running", ending, "outcome"),
        Arrow("finish", "pending_cancel", ending, "outcome"),
        Arrow("request_cancel", "running", ("pending_cancel",)),
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*shipped(), "tables"])
def test_a_second_reading_of_the_sentences_finds_the_same_arrows(name: str) -> None:
    """It would catch a move that is lowered from or to the wrong state, whatever the model makes of it."""
    compiled = made(TABLES) if name == "tables" else load(name)
    for entity in with_states(compiled.lifecycle):
        assert [replace(arrow, after="") for arrow in drawn(compiled, entity)] == list(said(compiled.lifecycle, entity))


def test_tables_and_timers_have_arrows_too() -> None:
    found = drawn(made(TABLES), "Job")
    assert [arrow for arrow in found if arrow.trigger == "settle"] == [
        Arrow("settle", "running", ("completed",)),
        Arrow("settle", "cancelled", ("cancelled",)),
        Arrow("settle", "blocked", ("blocked",)),
    ]
    assert found[-3:] == [
        Arrow("after_blocked", "blocked", ("failed",), after="1m30s"),
        Arrow("after_terminal", "completed", (), after="1h (limits.retention)"),
        Arrow("after_terminal", "failed", (), after="1h (limits.retention)"),
    ]


def test_an_operation_moves_the_first_record_with_states_that_it_takes() -> None:
    lifecycle = made(TABLES)
    assert "answer" in {arrow.trigger for arrow in drawn(lifecycle, "Poll")}
    assert "answer" not in {arrow.trigger for arrow in drawn(lifecycle, "Job")}


def test_an_entity_without_states_has_no_arrows_and_no_machine() -> None:
    lifecycle = load("thread-job")
    assert list(arrows(lifecycle, "Thread")) == []
    with pytest.raises(ValueError, match="Thread has no states"):
        machine(lifecycle, "Thread")


def test_an_unknown_entity_is_told_with_the_one_that_may_be_meant() -> None:
    with pytest.raises(LookupError, match="no entity 'Jobs'; did you mean 'Job'"):
        list(arrows(load("thread-job"), "Jobs"))


@pytest.mark.parametrize(
    ("sentence", "wrong", "place", "code", "said"),
    [
        ("running -> blocked", "running -> blocke", "blocke", "unknown-name", "did you mean 'blocked'"),
        ("running -> blocked", "runing -> blocked", "runing", "unknown-state", "did you mean 'running'"),
        ("running -> blocked", "running -> job.since", "since", "expression-type", "Job.state is expected"),
        ("running -> blocked", "running -> job", "job", "expression-type", "Job.state is expected"),
        ("to: Job.state", "to: Poll.state", "to\n", "expression-type", "Job.state is expected"),
        ("to: Job.state", "to: {list of: Job.state}", "to\n", "expression-type", "Job.state is expected"),
        ("to: Job.state", "to: Job.stopt", "Job.stopt", "unknown-type", "did you mean 'Job.stopped'"),
        ("move: failed}", "move: terminal}", "terminal", "unknown-name", "one of running"),
        ("move: failed}", "move: qqq}", "qqq", "unknown-name", "one of running"),
    ],
)
def test_a_move_that_leads_nowhere_is_told_at_its_place(
    sentence: str, wrong: str, place: str, code: str, said: str
) -> None:
    """So every arrow of a spec that compiles leads from states to states."""
    text = TABLES.replace(sentence, wrong, 1)
    with pytest.raises(SpecError) as caught:
        made(text)
    (fault,) = caught.value.diagnostics
    assert (fault.code, said in fault.render()) == (code, True)
    line = text.splitlines(keepends=True)[fault.where.line - 1]
    assert line[fault.where.column - 1 :].startswith(place)


# ── The machine in a product ─────────────────────────────────────────────────────────────────────


class Job:
    """A job as a product writes it: the machine keeps its state and calls it back."""

    state: str
    report_progress: Any
    llm_error: Any
    request_cancel: Any
    finish: Any

    def __init__(self) -> None:
        self.log: list[str] = []

    def on_enter_pending_cancel(self) -> None:
        """Ask the tool to stop."""
        self.log.append("asked")

    def on_exit_running(self, outcome: str = "") -> None:
        """Whatever ends or cancels it, it runs no longer."""
        self.log.append(f"stopped {outcome}".strip())

    def on_enter_failed(self, outcome: str) -> None:
        """The machine hands the choice on."""
        self.log.append(f"told {outcome}")


ENDINGS = load("thread-job").lifecycle.entities["Job"].states[2:]


@pytest.mark.thorough
@pytest.mark.parametrize("outcome", ENDINGS)
@pytest.mark.parametrize("cancel", [False, True])
@pytest.mark.parametrize("machine_class", [Machine, LockedMachine, GraphMachine])
def test_a_job_is_driven_along_every_path(
    machine_class: type[Machine], cancel: bool, outcome: str, recwarn: pytest.WarningsRecorder
) -> None:
    options: dict[str, Any] = {"graph_engine": "mermaid"} if machine_class is GraphMachine else {}
    job = Job()
    product = machine(load("thread-job").lifecycle, "Job", job, machine_class=machine_class, **options)
    assert type(product) is machine_class
    assert job.state == "running"
    assert job.report_progress()
    if cancel:
        assert job.request_cancel()
        assert job.state == "pending_cancel"
        assert job.llm_error()
        with pytest.raises(MachineError, match="request_cancel"):
            job.request_cancel()
    assert job.finish(outcome=outcome)
    assert job.state == outcome
    stopped = ["stopped", "asked"] if cancel else [f"stopped {outcome}"]
    assert job.log == stopped + (["told failed"] if outcome == "failed" else [])
    for trigger in (job.report_progress, job.llm_error, job.request_cancel):
        with pytest.raises(MachineError):
            trigger()
    for again in ENDINGS:
        with pytest.raises(MachineError):
            job.finish(outcome=again)
    assert job.state == outcome
    assert not recwarn


def test_exactly_what_has_ended_is_final() -> None:
    lifecycle = load("thread-job").lifecycle
    product = machine(lifecycle, "Job")
    assert [name for name, each in product.states.items() if each.final] == list(ENDINGS)


def test_without_a_model_the_machine_is_its_own() -> None:
    product: Any = machine(load("thread-job").lifecycle, "Job")
    product.finish(outcome="completed")
    assert product.state == "completed"


def test_one_machine_drives_many_jobs_and_what_was_stored_goes_on() -> None:
    product = machine(load("thread-job").lifecycle, "Job", [])
    fresh, stored = Job(), Job()
    product.add_model(fresh)
    product.add_model(stored, initial="pending_cancel")
    stored.finish(outcome="cancelled")
    assert (fresh.state, stored.state) == ("running", "cancelled")


def test_options_of_the_machine_pass_through() -> None:
    lifecycle = load("thread-job").lifecycle
    quiet: Any = machine(lifecycle, "Job", initial="failed", ignore_invalid_triggers=True)
    assert quiet.finish(outcome="completed") is False
    assert quiet.state == "failed"
    by_event: Any = machine(lifecycle, "Job", send_event=True, model_attribute="status")
    assert by_event.may_finish(outcome="failed")
    by_event.finish(outcome="failed")
    assert by_event.status == "failed"
    assert not hasattr(machine(lifecycle, "Job"), "to_completed")
    assert hasattr(machine(lifecycle, "Job", auto_transitions=True), "to_completed")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({}, TypeError, "finish needs outcome=, one of completed, failed, cancelled, timed_out"),
        ({"result": "failed"}, TypeError, "finish needs outcome="),
        ({"outcome": "typo"}, ValueError, "outcome is one of completed, .*, not 'typo'"),
        ({"outcome": "running"}, ValueError, "not 'running'"),
        ({"outcome": None}, ValueError, "not None"),
    ],
)
def test_a_choice_that_is_none_is_an_error_and_moves_nothing(
    given: dict[str, Any], error: type[Exception], message: str
) -> None:
    product: Any = machine(load("thread-job").lifecycle, "Job")
    with pytest.raises(error, match=message):
        product.finish(**given)
    assert product.state == "running"


def test_a_machine_can_be_stored() -> None:
    product: Any = pickle.loads(pickle.dumps(machine(load("thread-job").lifecycle, "Job")))
    product.request_cancel()
    product.finish(outcome="timed_out")
    assert product.state == "timed_out"


def test_a_timer_is_a_trigger_for_the_clock_of_the_product() -> None:
    lifecycle = made(TABLES)
    product: Any = machine(lifecycle, "Job")
    product.block()
    product.after_blocked()
    assert product.state == "failed"
    assert "after_terminal" not in product.events  # a record that is removed has no state


def test_the_diagrams_of_transitions_name_the_choice() -> None:
    product: Any = machine(
        load("thread-job").lifecycle,
        "Job",
        machine_class=GraphMachine,
        graph_engine="mermaid",
        show_conditions=True,
    )
    assert "running --> failed: finish [outcome = failed]" in product.get_graph().source


@pytest.mark.thorough
def test_who_only_draws_does_not_pay_for_transitions() -> None:
    code = (
        "import sys; from statemachines.compile import load; from statemachines.draw import mermaid;"
        "mermaid(load('thread-job')); sys.exit('transitions' in sys.modules)"
    )
    root = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


# ── The drawing ──────────────────────────────────────────────────────────────────────────────────


def test_the_drawing_of_thread_job_is_what_somebody_looked_at() -> None:
    """To renew it: delete the file, run, look at the picture."""
    drawing = mermaid(load("thread-job")).encode()
    if not GOLDEN.exists():
        GOLDEN.write_bytes(drawing)
        pytest.fail(f"{GOLDEN} was not there; it is now, to be looked at and committed")
    assert drawing == GOLDEN.read_bytes()


Edge = tuple[str, str, str]  # from, label, to


def edges(drawing: str) -> set[Edge]:
    """The arrows of a drawing as a reader follows them: through diamonds, and round in a box."""
    diamonds = set(re.findall(r"state (\S+) <<choice>>", drawing))
    drawn = re.findall(r"^ +(\S+) --> (\S+?)(?:: (.+))?$", drawing, re.MULTILINE)
    found = set()
    for source, target, labels in drawn:
        ways = [end for begin, end, _ in drawn if begin == target] if target in diamonds else [target]
        if source not in diamonds:
            found |= {(source, label, way) for way in ways for label in labels.split(" / ")}
    for source, labels in re.findall(r"^ +(\S+): ↺ (.+)$", drawing, re.MULTILINE):
        found |= {(source, label, source) for label in labels.split(", ")}
    return found


def expected(compiled: Compiled, entity: str, prefix: str) -> set[Edge]:
    """The same, from the arrows, the creations and the ends."""
    record = compiled.lifecycle.entities[entity]
    found = set()
    for arrow in drawn(compiled, entity):
        label = f"{arrow.trigger}({arrow.chosen_by})" if arrow.chosen_by else arrow.trigger
        if arrow.after:
            label = f"after {arrow.after}" if arrow.targets else f"removed after {arrow.after}"
        ends = [prefix + target for target in arrow.targets] or ["[*]"]
        found |= {(prefix + arrow.source, label, end) for end in ends}
    for name, operation in compiled.lifecycle.operations.items():
        if entity in {creation.entity.text for creation in operation.creations}:
            found.add(("[*]", name, prefix + record.states[0]))
    leave = {source for source, _, end in found if end == "[*]"}
    ended = {prefix + word.text for word in (record.groups or {}).get("terminal", ())}
    return found | {(end, "", "[*]") for end in ended - leave}


def test_a_drawing_shows_every_state_and_every_arrow_and_no_other(compiled: Compiled) -> None:
    lifecycle = compiled.lifecycle
    drawing = mermaid(compiled)
    names = with_states(lifecycle)
    every: set[Edge] = set()
    for entity in names:
        prefix = f"{entity}_" if len(names) > 1 else ""
        every |= expected(compiled, entity, prefix)
        for each in lifecycle.entities[entity].states:
            assert drawing.count(f'state "{each}" as {prefix}{each}\n') == 1
    assert edges(drawing) == every


def test_a_drawing_gives_each_group_one_colour_and_each_state_one_group(compiled: Compiled) -> None:
    drawing = mermaid(compiled)
    colours = dict(re.findall(r"classDef (\w+) fill:(#\w+)", drawing))
    coloured = [
        name for names in re.findall(r"^ +class (\S+) \w+$", drawing, re.MULTILINE) for name in names.split(",")
    ]
    groups = {group for each in compiled.lifecycle.entities.values() for group in each.groups or {}}
    assert set(colours) == groups
    assert len(set(colours.values())) == len(groups)
    assert sorted(coloured) == sorted(re.findall(r'state "\w+" as (\w+)$', drawing, re.MULTILINE))


def test_operations_with_the_same_effect_share_an_arrow() -> None:
    drawing = mermaid(made(TABLES))
    assert "Job_running --> Job_blocked: block / halt\n" in drawing
    assert drawing.count("Job_running --> Job_blocked") == 1


def test_choices_between_the_same_states_share_a_diamond() -> None:
    assert mermaid(load("thread-job")).count("<<choice>>") == 1


def test_a_frame_never_has_the_name_of_an_end_of_mermaids_own() -> None:
    """Mermaid 11 calls the end of a frame FRAME_end: a state `end` in a frame `Job` fell together with it."""
    drawing = mermaid(made(TABLES.replace("cancelled", "end")))
    assert 'state "end" as Job_end\n' in drawing
    assert 'state "Job" as Job_ {\n' in drawing


WORDS = """
lifecycle: words
version: 1
about: States whose names are words of Mermaid.
entities:
  Job:
    id: minted
    fields: {since: time}
    states:
      default:  [note, state]
      terminal: [end]
    after:
      state: {in: DURATION, since: job.since, move: end}
limits:
  patience: {default: 0, about: ms}
  grace:    {default: null, optional: true, about: ms}
operations:
  go:
    takes: {job: Job}
    move: note -> state
"""


def test_words_that_mermaid_keeps_for_itself_get_another_name() -> None:
    drawing = mermaid(made(WORDS.replace("DURATION", "5")))
    assert 'state "note" as note_\n' in drawing
    assert "    note_ --> state_: go\n" in drawing
    assert "    class note_,state_ default_\n" in drawing
    assert 'state "end" as end\n' in drawing


@pytest.mark.parametrize(
    ("duration", "said"),
    [
        ("300000", "5m"),
        ("5400000", "1h30m"),
        ("500", "500ms"),
        ("90061001", "1d1h1m1s1ms"),
        ("0", "0ms"),
        ("limits.patience", "0ms (limits.patience)"),
        ("limits.grace", "limits.grace"),
        ("2 * limits.patience", "2 * limits.patience"),
        ("[1, 2].filter(x, x > 1)[0]", "[1, 2].filter(x, x #62; 1)[0]"),
    ],
)
def test_a_timer_says_its_time_as_people_do(duration: str, said: str) -> None:
    lifecycle = made(WORDS.replace("{in: DURATION,", f"{{in: '{duration}',"))
    assert f"    state_ --> end: after {said}\n" in mermaid(lifecycle)


def test_a_timer_that_moves_nothing_is_no_arrow() -> None:
    lifecycle = made(
        WORDS.replace("{in: DURATION, since: job.since, move: end}", "{in: 1, since: job.since, set: {job.since: now}}")
    )
    assert [arrow.trigger for arrow in drawn(lifecycle, "Job")] == ["go"]


TIMED = TABLES.replace("since: job.since, move: failed", "since: job.since, set: {job.state: VALUE}")


@pytest.mark.parametrize(
    ("value", "targets", "chosen_by"),
    [
        ("failed", ("failed",), ""),
        ("if limits.patience > 3 then completed else failed", ("completed", "failed"), TO),
        ("{when: limits.patience > 3, to: failed}", ("failed", "blocked"), TO),
        ("{when: limits.patience > 3, to: blocked}", ("blocked",), ""),
    ],
)
def test_a_timer_that_sets_the_state_is_an_arrow(value: str, targets: tuple[str, ...], chosen_by: str) -> None:
    found = [arrow for arrow in drawn(made(TIMED.replace("VALUE", value)), "Job") if arrow.trigger == "after_blocked"]
    assert [(arrow.source, arrow.targets, arrow.chosen_by) for arrow in found] == [("blocked", targets, chosen_by)]


def test_a_lifecycle_without_states_draws_an_empty_diagram() -> None:
    lifecycle = replace(load("thread-job"), kernel=replace(load("thread-job").kernel, entities=()))
    assert mermaid(lifecycle) == "---\ntitle: thread-job\n---\nstateDiagram-v2\n"
