"""Mistakes about locks, put into a model: right for one caller after the other, and found where rows make calls at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.budget import USUAL
from conformance.command.cli import main
from conformance.judge import BrokenCalls
from conformance.proving import as_page, as_plain, proved, search_alone, trial
from conformance.proving.trial import Prover
from conformance.search import Faults, pairs
from conformance.stand_ins import Race, races_of, racing_system
from conformance.stand_ins.races import MISTAKES, Mistake
from conformance.suite import RowRunner, makes_calls_at_once
from conformance.targets import open_system
from conformance.verdict import Verdict
from statemachines.compile import load
from statemachines.rows import RowCompiler
from tests.conformance.systems import adapted

RULES = """
lifecycle: errands
version: 1
about: An errand is begun, and ends once.
entities:
  Errand:
    id: minted
    states: {active: [going], terminal: [done, dropped]}
operations:
  begin:
    about: An errand begins.
    create:
      Errand: {}
    gives: {id: errand.id}
  finish:
    about: It ends.
    takes: {errand: Errand}
    move:
      going: done
  drop:
    about: It is given up.
    takes: {errand: Errand}
    move:
      going: dropped
  look:
    about: What is known of it.
    takes: {errand: Errand}
    gives: errand.state
matrix:
  N1:
    about: An errand ends.
    level: must
    source: the source
    covers: [operations.finish.move, operations.begin, operations.look.gives]
    act:
      - errand = begin()
      - finish(errand.id)
    assert:
      - look(errand.id) == done
  N2:
    about: An errand is given up.
    level: must
    source: the source
    covers: [operations.drop.move]
    act:
      - errand = begin()
      - drop(errand.id)
    assert:
      - look(errand.id) == dropped
"""
AT_ONCE = """
  B1:
    about: It ends once, whoever ends it at the same time.
    level: must
    source: the source
    covers: [operations.finish.otherwise, operations.drop.otherwise]
    act:
      - errand = begin()
      - ended = together(finish(errand.id), drop(errand.id), finish(errand.id), drop(errand.id))
    assert:
      - ended.filter(each, each.refused == null).size() == 1
"""


def errands(folder: Path, rows: str = "") -> Path:
    file = folder / "errands.yaml"
    file.write_text(RULES + rows, encoding="utf-8")
    return file


def test_a_row_that_makes_calls_at_once_finds_who_checks_before(tmp_path: Path) -> None:
    proof = proved(load(errands(tmp_path, AT_ONCE)), clause="operations.finish", raced=True)
    assert proof.races is not None
    assert [(each.operator, each.outcome, each.row) for each in proof.races] == [
        ("checked before", "found", "B1"),
        ("written back", "found", "B1"),
    ]
    page = "\n".join(as_page(proof, verbose=True))
    assert "2 mistakes about locks, each in one operation of the model:\n  found         2   a row that" in page
    assert f"operations.finish: {MISTAKES['checked before']} (checked before)" in page


def test_where_no_row_does_the_search_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = errands(tmp_path)
    proof = proved(load(spec), clause="operations.finish", raced=True)
    assert [each.outcome for each in proof.races or ()] == ["survives", "survives"]
    assert all("together(" in each.shown for each in proof.races or ())
    assert proof.exit == 1
    told = as_plain(proof)["races"]
    assert [each["operator"] for each in told] == ["checked before", "written back"]
    code = main(["prove", str(spec), "--clause", "operations.finish", "--races", "--json"])
    assert code == 1
    assert [each["outcome"] for each in json.loads(capsys.readouterr().out)["races"]] == ["survives", "survives"]


def test_a_race_that_does_not_show_again_survives_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_alone, "shrunk", lambda case, **_: None)
    prover = Prover(load(errands(tmp_path)))
    found = prover.raced(prover.races.index(Race("finish", "checked before")))
    assert found.outcome == "survives"
    assert "together(" in found.shown


def test_mistakes_about_locks_are_told_where_no_other_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "USUAL", USUAL.quick().quick())  # what comes of them does not matter
    about = ["prove", str(errands(tmp_path)), "--clause", "operations.begin.gives"]
    main([*about, "--races", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["mistakes"] == []
    assert [each["operator"] for each in told["races"]] == ["checked before", "written back"]
    assert main(about) == 2
    assert "there is no mistake to make about operations.begin.gives" in capsys.readouterr().err


def test_nobody_asked_for_races_and_a_model_that_lets_nobody_in(tmp_path: Path) -> None:
    proof = proved(load(errands(tmp_path)), clause="operations.look")
    assert proof.races is None
    assert as_plain(proof)["races"] is None
    assert races_of(load("background-tasks")) == []


def test_each_operation_that_changes_something_has_two_and_each_that_tells_files_one() -> None:
    found = races_of(load("thread-job"))
    changing = [each.name for each in load("thread-job").kernel.operations if not each.observes]
    assert len(found) == 2 * len(changing) + 2
    telling = [each.operation for each in found if each.mistake == "shared file"]
    assert telling == ["turn_boundary", "messages"]


@pytest.mark.thorough
def test_files_that_share_a_name_are_found_by_a_row() -> None:
    prover = Prover(load("thread-job"))
    found = prover.raced(prover.races.index(Race("turn_boundary", "shared file")))
    assert (found.outcome, found.row) == ("found", "X43")


@pytest.mark.parametrize("asynchronous", [False, True], ids=["threads", "tasks"])
@pytest.mark.parametrize("mistake", ["checked before", "written back"])
def test_two_calls_at_once_show_it_among_threads_and_among_tasks_of_a_loop(
    tmp_path: Path, mistake: Mistake, asynchronous: bool
) -> None:
    compiled = load(errands(tmp_path))
    system = racing_system(compiled, Race("finish", mistake), asynchronous=asynchronous)
    with adapted(system, compiled) as adapter:
        assert adapter.declaration.concurrency == ("async" if asynchronous else "threads")
        faults = Faults(BrokenCalls(adapter))
        pairs.search(compiled, adapter, 0, USUAL, after=lambda driver: None, faults=faults)
        assert faults.found
        assert faults.found[0].case.groups


SOME = [*races_of(load("thread-job"))[::4], Race("messages", "shared file")]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["threads", "tasks"])
@pytest.mark.parametrize("race", SOME, ids=lambda race: f"{race.operation}-{race.mistake}")
def test_one_caller_after_the_other_notices_nothing(race: Race, asynchronous: bool) -> None:
    compiled = load("thread-job")
    adapter = open_system(compiled, racing_system(compiled, race, asynchronous=asynchronous))
    try:
        runner = RowRunner(compiled, RowCompiler(compiled.lifecycle), adapter, budget=USUAL.quick().quick())
        alone = [row for row in compiled.lifecycle.rows.values() if not makes_calls_at_once(row)]
        verdicts = {runner.run(row).verdict for row in alone[::3]}
        assert verdicts <= {Verdict.PASS, Verdict.NOT_APPLICABLE}
        assert not runner.strays
    finally:
        adapter.close()
