"""The model of each life cycle as a system of its own, in all its ways, and without one thing that is only recommended."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import UsageError
from conformance.stand_ins import model_system
from conformance.targets import open_system
from conformance.verdict import EXIT_CONFORMS, MACHINE, Verdict
from statemachines.compile import load
from statemachines.specs import spec_path
from tests.checking import compile_text
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import BRIEF, explained, whole_run
from tests.other_specs.ways import WAYS

HELD = (Verdict.PASS, Verdict.NOT_APPLICABLE)


def accused(lifecycle: str, way: dict[str, Any], only: tuple[str, ...] | None = None) -> list[str]:
    """What is said of a right system beside that it passes."""
    compiled = load(lifecycle)
    code, results = whole_run(model_system(compiled, **way), compiled, budget=BRIEF, only=only)
    return [explained(each) for each in results if each.verdict not in HELD or code != EXIT_CONFORMS]


@pytest.mark.soak
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way) or "plain")
@pytest.mark.parametrize("lifecycle", SUITES)
def test_the_model_conforms_in_each_way_of_being_right(lifecycle: str, way: dict[str, Any]) -> None:
    assert accused(lifecycle, way) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("lifecycle", "path", "rows"),
    [
        ("job", "operations.dispose.set.disposed", {"E10", "E62", "E69", "E75"}),
        ("job", "operations.dispose.for each.job", {"E10"}),
        ("thread-job", "messages.Ended.outlives", {"X1", "X25", "X50"}),
        ("task-progress", "operations.create_task.create.Task.state", {"E4"}),
    ],
)
def test_one_recommended_thing_that_a_system_lacks_is_one_cause(lifecycle: str, path: str, rows: set[str]) -> None:
    """It calls its operations after what the spec leaves open all the same, and crashes there: nobody is to blame for that."""
    compiled = load(lifecycle)
    lacking = model_system(compiled.without([path]))
    code, results = whole_run(lacking, compiled, budget=BRIEF, only=[*rows, MACHINE])
    found = {each.id: each.counterexample for each in results if each.verdict is not Verdict.PASS}
    assert {row: shown.cause for row, shown in found.items() if shown is not None} == dict.fromkeys(rows, path)
    assert found.keys() == rows
    assert code == EXIT_CONFORMS


BELLS = """
lifecycle: bells
version: 1
about: A bell says something, in a file if it is long.
entities:
  Ring:
    states: {active: [heard]}
signals:
  Rang: {said: text, noted: document}
operations:
  ring:
    create: {Ring: {}}
    signal: {Rang: {with: {said: anything, noted: "document('ding dong', 3, null)"}}}
"""


def test_what_a_signal_of_a_model_carries_is_shown_as_a_system_shows_it() -> None:
    system: Any = model_system(compile_text(BELLS, "bells.yaml"))()
    system.ring()
    (rang,) = system.signals()
    assert (rang["signal"], type(rang["said"])) == ("Rang", str)
    assert Path(rang["noted"]["file"]).read_text(encoding="utf-8") == "ding dong"
    system.close()


LEASES = """
lifecycle: leases
version: 1
about: A lease is given out, or nothing where there is none left.
variables:
  free: {type: int, default: 2}
entities:
  Lease:
    id: minted
    states: {active: [held], terminal: [used]}
    shows: {lease_id: lease.id}
operations:
  claim:
    create: {Lease: {when: free > 0}}
    set: {free: free - 1}
    gives: GIVEN
  complete:
    takes: {lease: Lease}
    move: held -> used
    otherwise: refused lease_lost
matrix:
  N1:
    about: A lease is used once.
    level: must
    source: the source
    covers: [operations.complete.move, operations.complete.otherwise]
    act:
      - one = claim()
      - complete(ID)
      - again = complete(ID)
      - claim()
      - none = claim()
    assert: again.refused == lease_lost
"""


@pytest.mark.parametrize(
    ("gives", "reached"),
    [
        ("lease", "one.lease_id"),
        ("{lease: lease, left: free}", "if one.lease == null then '' else one.lease.lease_id"),
        (
            "{lease: if lease == null then null else lease.id, left: free}",
            "if one.lease == null then '' else one.lease",
        ),
    ],
)
def test_the_id_of_what_is_new_stands_anywhere_in_a_reply(gives: str, reached: str) -> None:
    compiled = compile_text(LEASES.replace("GIVEN", gives).replace("ID", reached), "leases.yaml")
    code, results = whole_run(model_system(compiled), compiled, budget=BRIEF)
    assert [explained(each) for each in results if each.verdict not in HELD or code != EXIT_CONFORMS] == []
    made = next(each for each in results if each.id == MACHINE)
    assert made.verdict is Verdict.PASS


GROWING = """
lifecycle: growing
version: 1
about: A node grows others.
entities:
  Node:
    id: minted
    states: {active: [there]}
    shows: {node_id: node.id}
operations:
  plant:
    create: {Node: {}}
    gives: node
  grow:
    takes: {parent: Node}
    create: {Node: {called: child}}
    gives: {parent: parent, parent_id: parent.id, id: child.id}
"""


def test_a_record_that_a_call_is_about_is_not_the_new_one() -> None:
    compiled = compile_text(GROWING, "growing.yaml")
    code, results = whole_run(model_system(compiled), compiled, budget=BRIEF, only=[MACHINE])
    assert [explained(each) for each in results if each.verdict not in HELD or code != EXIT_CONFORMS] == []


def test_a_spec_runs_against_its_own_model() -> None:
    code, results = whole_run("model", load("task-progress"), only=["N1", "E5"])
    assert (code, {each.verdict for each in results}) == (EXIT_CONFORMS, {Verdict.PASS})


def test_a_changed_model_is_a_wrong_system(tmp_path: Path) -> None:
    rules = shutil.copytree(spec_path("task-progress").parent, tmp_path / "other") / "rules.yaml"
    text = rules.read_text(encoding="utf-8")
    target = f"model:{rules.parent}"
    _, results = whole_run(target, load("task-progress"), only=["N1"], quick=True)
    assert [each.verdict for each in results] == [Verdict.PASS]
    rules.write_text(text.replace("move:      running -> outcome", "move:      running -> completed"), encoding="utf-8")
    _, results = whole_run(target, load("task-progress"), only=["N1"], quick=True)
    assert [each.verdict for each in results] == [Verdict.FAIL]


@pytest.mark.parametrize("name", ["nothing.yaml", "broken.yaml"])
def test_the_model_of_a_spec_that_is_not_there_or_broken_is_no_target(name: str, tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("lifecycle: a\n", encoding="utf-8")
    with pytest.raises(UsageError, match=name):
        open_system(load("task-progress"), f"model:{tmp_path / name}")
