"""The machine of `transitions` that a user has: live, and written as a module; every life cycle, against its model."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from transitions import Machine, MachineError

import statemachines
from conformance.command.cli import main
from statemachines.bounds import USUAL
from statemachines.compile import Compiled
from statemachines.draw import machine_module
from statemachines.draw.chart import arrows, drawn
from statemachines.explore import explore
from statemachines.model import ABSENT
from statemachines.specs import shipped
from tests.arguments import arguments
from tests.checking import compile_text

ROOT = Path(__file__).parents[3]
TRIES = {"job": 2}  # of calls in one mix of states: there one takes a list of lists, so each configuration takes long
USUALLY = 40
UNASKED = "(unasked)"  # timers, and steps that the system takes on its own

Move = tuple[str, str, str, str]  # entity, trigger, from, to


def with_states(compiled: Compiled) -> list[str]:
    return [name for name, entity in compiled.lifecycle.entities.items() if entity.states]


def written(compiled: Compiled) -> dict[str, Any]:
    """The names of the module that is written."""
    module = ModuleType("written")
    sys.modules["written"] = module  # a dataclass looks its module up
    try:
        exec(compile(machine_module(compiled), "<written>", "exec"), module.__dict__)  # noqa: S102 - our own text
    finally:
        del sys.modules["written"]
    return module.__dict__


def live(compiled: Compiled, entity: str, **options: Any) -> Machine:
    return statemachines.machine(compiled.lifecycle, entity, **options)


def from_module(compiled: Compiled, entity: str, **options: Any) -> Machine:
    chart = written(compiled)[f"{entity.upper()}_CHART"]
    made: Machine = chart.machine(**options)
    return made


def steps(machine: Machine) -> list[tuple[str, str, str | None, list[str]]]:
    """Every transition of a machine, with the names of its conditions."""
    return [
        (name, each.source, each.dest, [str(condition.func) for condition in each.conditions])
        for name, event in machine.events.items()
        for several in event.transitions.values()
        for each in several
    ]


# --- both against the model ---------------------------------------------------------------------------------


def observed(compiled: Compiled) -> set[Move]:
    """Every change of a state that the model makes, by itself or by calls; these in a few configurations of a mix, at rest."""
    found = explore(compiled, bounds=replace(USUAL, states=1000))
    tries = TRIES.get(compiled.lifecycle.name, USUALLY)
    tried: Counter[tuple[object, ...]] = Counter()
    moves: set[Move] = set()
    visited = [*found.configurations]
    known = {*visited}
    for frozen in visited:  # which grows by those on the way to rest
        model: Any = compiled.model()
        model.thaw(frozen)
        before = states(compiled, model)
        mix = tuple(sorted((entity, state) for (entity, _), state in before.items()))
        tried[mix] += 1
        called = tried[mix] <= tries and not model.forced()
        for trigger, act in [*unasked(model), *(calls(compiled, model) if called else ())]:
            model.thaw(frozen)
            act()
            after = states(compiled, model)
            moves |= {
                (entity, trigger, state, after[entity, key])
                for (entity, key), state in before.items()
                if after.get((entity, key), state) != state
            }
            if model.forced() and (between := model.freeze()) not in known:
                known.add(between)
                visited.append(between)
    return moves


def states(compiled: Compiled, model: Any) -> dict[tuple[str, Any], str]:
    return {
        (entity.name, key): record.state
        for entity in compiled.kernel.entities
        if entity.states
        for key, record in getattr(model, entity.collection).items()
    }


Act = tuple[str, Callable[[], object]]  # what it is called, and what does it


def unasked(model: Any) -> list[Act]:
    """What the model may do by itself in the configuration that it is in."""
    own = [(UNASKED, bound(model.take, index, keys)) for index, keys, _ in model.own_steps()]
    return own + [(UNASKED, bound(model.fire, index, key)) for _, _, index, key in model.deadlines()]


def calls(compiled: Compiled, model: Any) -> list[Act]:
    """The calls that are accepted in the configuration that a model is in."""
    fixed = {each.name: len(getattr(model, each.collection)) for each in compiled.kernel.entities if each.fixed}
    found: list[Act] = []
    for operation in compiled.kernel.operations:
        for given in arguments(compiled, model, operation, fixed):
            values = [given.get(parameter.name, ABSENT) for parameter in operation.parameters]
            if getattr(model, f"may_{operation.name}")(*values).accept:
                found.append((operation.name, bound(getattr(model, f"do_{operation.name}"), *values)))
    return found


def bound(function: Callable[..., object], *values: Any) -> Callable[[], object]:
    return lambda: function(*values)


def offered_by(compiled: Compiled, machine: Machine, entity: str) -> set[Move]:
    """Every change of a state that a machine has."""
    operations = compiled.lifecycle.operations
    return {
        (entity, trigger if trigger in operations else UNASKED, source, target)
        for trigger, source, target, _ in steps(machine)
        if target is not None
    }


def consequences(compiled: Compiled, entity: str) -> set[tuple[str, str]]:
    """The changes of a state that may follow from what another record comes to, whatever brought it there."""
    return {(each.source, to) for each in arrows(compiled, entity) if not each.trigger for to in each.targets}


DEEP = {("job", "Delivery")}  # what the model observes there needs more calls than the small scope has


@pytest.mark.thorough
@pytest.mark.parametrize("name", shipped())
def test_a_machine_has_every_move_that_the_model_makes_and_no_other(name: str) -> None:
    """It would catch a chart that does not see through what an operation reads, or through a definition."""
    compiled = statemachines.load(name)
    seen = observed(compiled)
    assert seen
    for entity in with_states(compiled):
        moves = offered_by(compiled, live(compiled, entity), entity)
        of_this = {move for move in seen if move[0] == entity}
        further = {(source, target) for _, _, source, target in of_this - moves}
        assert further <= consequences(compiled, entity)  # a trigger of a machine does what it does to this record
        assert moves <= of_this or (name, entity) in DEEP


@pytest.mark.parametrize("name", shipped())
def test_the_live_machine_and_the_written_one_are_the_same(name: str) -> None:
    compiled = statemachines.load(name)
    for entity in with_states(compiled):
        here, there = live(compiled, entity), from_module(compiled, entity)
        assert steps(here) == steps(there)
        assert [(each.name, each.final) for each in here.states.values()] == [
            (each.name, each.final) for each in there.states.values()
        ]
        expected = [
            (arrow.trigger, arrow.source, target) for arrow in drawn(compiled, entity) for target in arrow.targets
        ]
        assert sorted((trigger, source, target or source) for trigger, source, target, _ in steps(here)) == sorted(
            expected
        )


# --- in a product -------------------------------------------------------------------------------------------


class Job:
    """A job of a product, which writes down what happens to it."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.trusted = False

    def on_enter_pending_cancel(self) -> None:
        self.log.append("asked to stop")

    def on_exit_running(self, **_: Any) -> None:
        self.log.append("runs no longer")

    def is_trusted(self, **_: Any) -> bool:
        return self.trusted

    def note(self, **_: Any) -> None:
        self.log.append("about to change")


@pytest.fixture(params=["live", "written"])
def machine_of(request: pytest.FixtureRequest) -> Callable[..., Machine]:
    """Each kind of machine of a job of thread-job, with options."""
    if request.param == "live":
        return partial(statemachines.machine, "thread-job", "Job")
    chart = written(statemachines.load("thread-job"))["JOB_CHART"]
    machine: Callable[..., Machine] = chart.machine
    return machine


def test_callbacks_are_those_of_transitions(machine_of: Callable[..., Machine]) -> None:
    job: Any = Job()
    machine: Any = machine_of(job, before_state_change="note")
    machine.before_request_cancel(lambda: job.log.append("before"))
    machine.after_request_cancel(lambda: job.log.append("after"))
    machine.on_enter_cancelled(lambda outcome: job.log.append(f"ended {outcome}"))
    assert job.request_cancel()
    assert job.log == ["about to change", "before", "runs no longer", "asked to stop", "after"]
    assert job.finish(outcome="cancelled")
    assert job.log[-1] == "ended cancelled"
    assert job.is_cancelled()


def test_what_is_refused_raises_as_transitions_does(machine_of: Callable[..., Machine]) -> None:
    job: Any = Job()
    machine_of(job)
    with pytest.raises(TypeError, match="finish needs outcome=, one of completed, failed, cancelled, timed_out"):
        job.finish()
    with pytest.raises(ValueError, match=r"outcome is one of .*, not 'running'"):
        job.finish(outcome="running")
    job.finish(outcome="failed")
    with pytest.raises(MachineError, match="Can't trigger event request_cancel from state failed"):
        job.request_cancel()
    assert (job.state, job.may_finish(outcome="failed")) == ("failed", False)


def test_what_a_machine_cannot_know_is_a_condition_of_the_product(machine_of: Callable[..., Machine]) -> None:
    job: Any = Job()
    machine_of(job, conditions={"finish": "is_trusted", "request_cancel": [lambda: True, lambda: job.trusted]})
    assert (job.finish(outcome="failed"), job.request_cancel(), job.state) == (False, False, "running")
    job.trusted = True
    assert (job.request_cancel(), job.finish(outcome="failed"), job.state) == (True, True, "failed")


def test_a_condition_of_a_trigger_that_there_is_not_is_told(machine_of: Callable[..., Machine]) -> None:
    with pytest.raises(LookupError, match="no trigger finnish; there are finish, llm_error"):
        machine_of(conditions={"finnish": "is_trusted"})


def test_a_machine_of_what_there_is_not_is_told(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="thread-job has no entity 'Jobs'; did you mean 'Job'"):
        statemachines.machine("thread-job", "Jobs")
    with pytest.raises(LookupError, match="no lifecycle is named 'thread-jbo'"):
        statemachines.machine("thread-jbo", "Job")
    with pytest.raises(statemachines.SpecError, match="file-not-found"):
        statemachines.machine(tmp_path / "none.yaml", "Job")


def test_a_spec_may_be_named_by_its_path() -> None:
    product: Any = statemachines.machine(shipped()["task-progress"], "Task")
    product.start()
    product.finish(outcome="failed")
    assert product.state == "failed"


# --- the module ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped())
def test_the_module_is_without_fault_and_the_same_each_time(name: str, tmp_path: Path) -> None:
    text = machine_module(statemachines.load(name))
    assert text == machine_module(statemachines.load(name))
    file = tmp_path / "machines.py"
    file.write_text(text, encoding="utf-8")
    ruff = str(Path(sys.executable).with_name("ruff"))
    lint = [ruff, "check", "--isolated", "--select", "F,E7,E9,W", str(file)]
    subprocess.run(lint, check=True, capture_output=True)


USED = """
import sys
import machines

class Job:
    pass

job = Job()
machines.JOB_CHART.machine(job)
job.request_cancel()
job.finish(outcome="cancelled")
print(job.state, *sorted({name.partition(".")[0] for name in sys.modules} & {"statemachines", "conformance"}))
"""


@pytest.mark.thorough
def test_the_module_runs_with_transitions_alone(tmp_path: Path) -> None:
    """As the command writes it, in two processes with other hash seeds: the same bytes."""
    texts = []
    for seed in ("1", "2"):
        out = tmp_path / "machines.py"
        command = [sys.executable, "-m", "conformance", "generate", "thread-job", "--as", "transitions"]
        environment = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
        subprocess.run([*command, "--output", out], cwd=tmp_path, env=environment, check=True)
        texts.append(out.read_bytes())
    assert texts[0] == texts[1]
    (tmp_path / "use.py").write_text(USED, encoding="utf-8")
    done = subprocess.run([sys.executable, "use.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["cancelled"]


def test_the_module_says_what_the_machine_leaves_to_the_product() -> None:
    text = machine_module(compile_text(GUARDED, "guarded.yaml"))
    assert "        # Ends it.\n        # Refused with locked unless !locked\n" in text
    assert "        # After 5m.\n        Trigger('after_active', ('running',), ('late',)),\n" in text


GUARDED = """
lifecycle: guarded
version: 1
about: A job that can be locked.
entities:
  Job:
    id: minted
    fields: {since: time}
    states:
      active:   [running]
      terminal: [ended, late]
    after:
      active: {in: 300000, since: job.since, move: late}
operations:
  start:
    takes: {}
    create:
      Job: {since: now}
  end:
    about: Ends it.
    takes: {job: Job, locked: bool}
    requires: {locked: "!locked"}
    move: running -> ended
"""


def test_a_life_cycle_without_states_has_no_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "stateless.yaml"
    file.write_text(STATELESS, encoding="utf-8")
    with pytest.raises(ValueError, match="Thing has no states"):
        statemachines.machine(file, "Thing")
    assert main(["generate", str(file), "--as", "transitions"]) == 2
    assert "no entity of stateless has states" in capsys.readouterr().err


STATELESS = """
lifecycle: stateless
version: 1
about: Things that are there.
entities:
  Thing:
    id: minted
    fields: {since: time}
operations:
  start:
    takes: {}
    create:
      Thing: {since: now}
matrix: {}
"""


# --- the front door -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", statemachines.__all__)
def test_everything_that_the_door_offers_is_there_and_documented(name: str) -> None:
    offered = getattr(statemachines, name)
    assert offered.__doc__
    assert name in dir(statemachines)


def test_importing_the_door_loads_nothing() -> None:
    code = "import sys, statemachines; print(*[name for name in sys.modules if name.startswith('statemachines.')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_door_loads_checks_and_runs_a_model() -> None:
    compiled = statemachines.load("thread-job")
    assert isinstance(compiled, statemachines.Compiled)
    assert isinstance(compiled.lifecycle, statemachines.Lifecycle)
    model: Any = compiled.model({"retained": 3})
    assert isinstance(model, statemachines.Model)
    started: Any = model
    assert started.start("t1", "call", "bash").value["status"] == "running"
    checked = statemachines.check("task-progress", quick=True)
    assert isinstance(checked, statemachines.Checked)
    assert checked.right
    with pytest.raises(LookupError, match="no lifecycle is named 'task-progres'"):
        statemachines.check("task-progres")
    assert [each.code for each in statemachines.check(Path("none.yaml")).diagnostics] == ["file-not-found"]
