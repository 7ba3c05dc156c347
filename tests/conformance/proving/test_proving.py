"""Whether the rows of a spec find the mistakes that are put into its model, and what is told of those that they do not find."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.command.cli import main
from conformance.errors import UsageError
from conformance.proving import Proof, as_page, as_plain, proved, trial
from conformance.proving.proof import _idle, _prover
from conformance.proving.search_alone import Searched, searched
from conformance.proving.trial import Prover
from conformance.stand_ins import dead_systems
from conformance.suite import RowRunner
from conformance.workers import spec_file
from statemachines.compile import load

RULES = """
lifecycle: errands
version: 1
about: An errand is begun, and ends once.
policies:
  polite: {one of: [yes, no], default: yes}
entities:
  Errand:
    id: minted
    fields:
      thanked: {type: bool, default: false}
      unread:  {type: bool, default: false}
    states: {active: [going], terminal: [done, dropped]}
types:
  Told: {record: {state: Errand.state, thanked: bool}}
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
    set: {errand.thanked: "policies.polite == yes", errand.unread: true}
  drop:
    about: It is given up.
    takes: {errand: Errand}
    move:
      going: dropped
  look:
    about: What is known of it.
    takes: {errand: Errand}
    gives: Told(errand.state, errand.thanked)
matrix:
  N1:
    about: An errand ends.
    level: must
    source: the source
    covers: [operations.finish.move]
    act:
      - errand = begin()
      - finish(errand.id)
      - last = look(errand.id)
    assert:
      - last.state == done
"""
FURTHER = """
  N2:
    about: An errand is begun.
    level: must
    source: the source
    covers: [operations.begin.create.Errand]
    act:
      - errand = begin()
    assert:
      - errand.id != ''
"""


def spec(folder: Path, rows: str = "") -> Path:
    file = folder / "errands.yaml"
    file.write_text(RULES + rows, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Proof:
    return proved(load(spec(tmp_path_factory.mktemp("proof"), FURTHER)), searched=True)


def outcome(proof: Proof, clause: str, does: str = "") -> str:
    (trial,) = (each for each in proof.trials if each.clause == clause and does in each.does)
    return trial.outcome


GUESSING = """
lifecycle: errands
version: 1
about: An errand that is done may be hidden, and what can be guessed of it then is not said.
entities:
  Errand:
    id: minted
    fields:
      hidden: {type: bool, default: false}
    states: {active: [going], terminal: [done]}
operations:
  begin:
    create: {Errand: {}}
    gives: {id: errand.id}
  finish:
    takes: {errand: Errand}
    move: {going: done}
  hide:
    takes: {errand: Errand}
    set: {errand.hidden: {when: errand.terminal, to: true}}
  guess:
    takes: {errand: Errand}
    unsaid: errand.hidden
    gives: errand.terminal
"""


def test_a_mistake_that_leaves_open_what_the_spec_says_is_none_that_a_system_shows(tmp_path: Path) -> None:
    file = tmp_path / "errands.yaml"
    file.write_text(GUESSING, encoding="utf-8")
    found = proved(load(file), clause="operations.hide.set.errand.hidden")
    assert {each.does: each.outcome for each in found.trials} == {
        "does not do it": "allowed",
        "does it whether `errand.terminal` or not": "allowed",
    }


def test_a_mistake_is_found_by_the_row_that_is_about_it(proof: Proof) -> None:
    (trial,) = (
        each for each in proof.trials if each.clause == "operations.finish.move.going" and "dropped" in each.does
    )
    assert (trial.outcome, trial.row, trial.calls) == ("found", "N1", 3)


def test_what_no_row_asks_for_survives_and_its_shortest_calls_are_shown(proof: Proof) -> None:
    (trial,) = (each for each in proof.trials if each.clause == "operations.drop.move.going" and "to done" in each.does)
    assert trial.outcome == "survives"
    assert [line.split("= ")[-1].strip(" -") for line in trial.shown.splitlines() if "(" in line][:3] == [
        "begin()",
        "drop(errand.id)",
        "look(errand.id)",
    ]
    assert "covers: [operations.drop.move.going]" in trial.shown


def test_what_nobody_can_see_is_alike(proof: Proof) -> None:
    assert outcome(proof, "operations.finish.set.errand.unread") == "alike"


def test_a_mistake_that_shows_only_by_another_choice_of_a_policy_is_tried_with_that(proof: Proof) -> None:
    (trial,) = (each for each in proof.trials if each.clause == "operations.look.gives")
    assert (trial.outcome, trial.row, trial.policies) == ("found", "N1", {"polite": "no"})


def test_a_row_that_finds_nothing_is_named(proof: Proof) -> None:
    assert proof.idle == [("N2", "must")]
    assert proof.exit == 1


def test_each_reason_alone_makes_a_proof_fail_and_what_is_only_recommended_none() -> None:
    survivor = trial.MutantResult("weaker", "operations.finish", "does not ask", "survives")
    right = Proof("errands", 1, [replace(survivor, outcome="found")], 0, True, [], [], [])
    assert right.exit == 0
    assert replace(right, idle=[("N2", "should")]).exit == 0
    for wrong in (
        replace(right, trials=[survivor]),
        replace(right, races=[survivor]),
        replace(right, idle=[("N2", "must")]),
        replace(right, alive=[("constant", ["N1"])]),
    ):
        assert wrong.exit == 1


def test_the_search_finds_without_rows_what_they_do_not_ask_for(proof: Proof) -> None:
    asked = [each for each in proof.trials if each.search is not None]
    assert {each.outcome for each in asked} == {"found", "survives"}
    assert all(each.search is not None and each.search.found for each in asked)


def test_the_row_that_is_shown_finds_the_mistake_once_it_stands_in_the_spec(proof: Proof, tmp_path: Path) -> None:
    clause = "operations.drop.move"
    shown = next(each.shown for each in proof.trials if each.clause == clause and each.outcome == "survives")
    row = "".join(f"  {line}\n" for line in shown.replace("C1:", "N3:", 1).splitlines())
    again = proved(load(spec(tmp_path, row)), clause=clause)
    (found,) = (
        each for each in again.trials if each.does == next(one.does for one in proof.trials if one.shown == shown)
    )
    assert (found.outcome, found.row) == ("found", "N3")


def test_several_processes_say_what_one_does(proof: Proof, tmp_path: Path) -> None:
    file = spec(tmp_path, FURTHER)
    one, two = (as_plain(proved(load(file), workers=workers)) for workers in (1, 2))
    for each in (*one["mistakes"], *two["mistakes"]):
        each.pop("ms")
    assert one == two


def test_another_process_proves_the_text_that_it_is_asked_about_or_none(tmp_path: Path) -> None:
    before = load(spec(tmp_path))
    old = spec_file(before)
    assert old is not None
    assert "N2" not in _prover(old, 0).compiled.lifecycle.rows
    new = spec_file(load(spec(tmp_path, FURTHER)))
    assert new is not None
    assert "N2" in _prover(new, 0).compiled.lifecycle.rows
    with pytest.raises(UsageError, match="says something else than where this began"):
        proved(before, clause="operations.finish.move", workers=2)


def test_a_page_says_what_came_of_it(proof: Proof) -> None:
    text = "\n".join(as_page(proof, verbose=True))
    assert f"revision 1: {len(proof.trials)} mistakes" in text
    assert "--- survives: operations.drop.move" in text
    assert "Rows that find none of these mistakes: N2 (must)." in text
    searches = [each.search for each in proof.trials if each.search is not None]
    first, all_ = (sum(each.found and each.round <= last for each in searches) for last in (1, trial.ROUNDS))
    assert f"The search alone, without any row, finds {first} of {len(searches)} (" in text
    assert f" in one round, and {all_} of {len(searches)} (" in text
    assert "Every MUST row that applies fails against each system that answers nothing of use" not in text
    assert "A system that gives the same for every call passes N2" in text  # it claims hardly anything


def test_of_each_system_that_answers_nothing_of_use_a_page_says_what_it_does(proof: Proof) -> None:
    names = dead_systems(load("thread-job"))
    text = as_page(replace(proof, alive=[(name, ["N1"]) for name in names]))
    assert sum("A system that " in line and "passes N1" in line for line in text) == len(names)


def test_the_command_ends_as_the_proof_does_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(spec(tmp_path))
    assert main(["prove", file, "--clause", "operations.finish.move", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["counts"]["survives"] == 0
    assert {each["row"] for each in said["mistakes"]} == {"N1"}
    assert main(["prove", file]) == 1
    assert "survive" in capsys.readouterr().out


def test_a_clause_of_which_no_mistake_is_made_is_a_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", str(spec(tmp_path)), "--clause", "operations.nothing"]) == 2
    assert "is named operations.nothing; " in capsys.readouterr().err
    assert main(["prove", str(spec(tmp_path)), "--clause", "operations.finsh.move"]) == 2
    said = "is named operations.finsh.move; did you mean 'operations.finish.move'?"
    assert said in capsys.readouterr().err


@pytest.mark.thorough
def test_every_mistake_in_task_progress_that_makes_a_difference_is_found_by_a_row() -> None:
    found = proved(load("task-progress"))
    assert [each.clause for each in found.survivors] == []
    assert (found.idle, found.alive, found.exit) == ([], [], 0)
    assert found.count("found") >= 75


def test_a_spec_whose_rows_are_wrong_proves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = FURTHER.replace("errand.id != ''", "errand.id == ''")
    assert main(["prove", str(spec(tmp_path, wrong))]) == 2
    assert "so nothing can be proved of it" in capsys.readouterr().err


def test_of_a_spec_without_rows_the_search_alone_proves_what_it_can(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "errands.yaml"
    file.write_text(RULES.partition("matrix:")[0], encoding="utf-8")
    about = ["prove", str(file), "--clause", "operations.finish.move"]
    assert main(about) == 2
    assert "with --search the search is asked alone" in capsys.readouterr().err
    assert main([*about, "--search", "--races", "--verbose"]) == 0
    said = capsys.readouterr().out
    assert "the search that makes calls at once finds it" in said
    assert "the search finds it" in said
    assert "found by machine  operations.finish.move" in said
    assert said.endswith("The spec has no rows: the search stands in their place.\n")
    assert "row that" not in said


def test_a_mistake_that_looks_into_nothing_is_found_as_a_crash_and_ends_no_proof(tmp_path: Path) -> None:
    rules = RULES.replace("      unread:", "      next: {type: Errand | null}\n      unread:")
    rules = rules.replace(
        'set: {errand.thanked: "policies.polite == yes"',
        'set: {errand.thanked: "errand.next != null && errand.next.thanked"',
    )
    file = tmp_path / "errands.yaml"
    file.write_text(rules, encoding="utf-8")
    found = proved(load(file), clause="operations.finish.set")
    assert {each.outcome for each in found.trials} <= {"found", "alike", "allowed", "survives"}


def test_the_search_tells_apart_what_the_small_scope_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prover = Prover(load(spec(tmp_path)))
    told = (number for number in range(len(prover.mutants)) if prover.tried(number).outcome == "survives")
    number = next(each for each in told if not prover.tried(each).policies)
    monkeypatch.setattr(prover, "_partings", lambda kernel: iter(()))  # as if it came to nothing
    found = prover.tried(number, searched=True)
    assert found.outcome == "survives"
    assert found.search is not None
    assert found.search.found
    assert "act:" in found.shown
    monkeypatch.setattr(prover.asked, "differs", lambda *_, **__: False)
    assert prover.tried(number).outcome == "alike"


def test_the_search_is_not_made_for_what_answers_alike_all_that_it_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prover = Prover(load(spec(tmp_path)))
    right = prover.compiled
    made: list[tuple[str, int]] = []

    def noted(runner: RowRunner, name: str, round_: int, **how: int) -> Searched:
        made.append((name, round_))
        return searched(runner, name, round_, **how)

    monkeypatch.setattr(trial, "searched", noted)
    for _ in range(2):
        found = prover._by_search(right, {})
        assert not found.found
        assert found.cases > 10
    later = [(name, round_) for round_ in range(1, trial.ROUNDS) for name in ("walks", "pairs")]
    assert made == [("stateful", 0), ("walks", 0), ("pairs", 0), *later]  # each once, of the right system


def test_the_search_alone_counts_what_is_only_recommended() -> None:
    found = proved(load("thread-job"), clause="messages.Ended.outlives", searched=True)
    assert found.trials
    assert all(each.search is not None and each.search.found for each in found.trials if each.outcome == "found")


def test_a_row_is_tried_on_every_mistake_before_it_is_said_that_it_finds_none(
    proof: Proof, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prover = Prover(load(spec(tmp_path, FURTHER)))
    numbers = [*range(len(proof.trials))] * 20
    trials = [proof.trials[number] for number in numbers]
    many: int = sum(each.outcome == "found" for each in trials)
    tried: list[int] = []

    def finds_the_last(_: object, number: int) -> bool:
        tried.append(number)
        return len(tried) % many == 0

    def ask(what: Any, given: Any) -> Any:
        return (what(prover, *each) for each in given)

    monkeypatch.setattr(prover, "finds", finds_the_last)
    assert many > 60
    assert _idle(prover, numbers, trials, set(), ask) == [], "a row was not tried on the last mistake"
