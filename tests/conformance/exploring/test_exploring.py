"""What `conformance explore` says of a spec that is right, and of one that is wrong in each way that it tells of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.command.cli import main
from conformance.exploring import Findings, as_page, as_plain, explored, rows_of
from conformance.verdict import EXIT_CONFORMS, Verdict
from statemachines.compile import compile_tree, load, spec_tree
from tests.conformance.systems import whole_run

RULES = """
lifecycle: errands
version: 1
about: An errand is begun, and ends once; who sent it is told.
policies:
  polite: {one of: [yes, no], default: yes}
entities:
  Errand:
    id: minted
    fields:
      thanked: {type: bool, default: false}
    states: {active: [going], terminal: [done, dropped]}
variables:
  shut: {type: bool, default: false}
messages:
  Over:
    about:    Errand
    due:      terminal
    at most:  once per errand
    order:    [errand.completion]
    carries:  {id: errand.id}
operations:
  begin:
    create: {Errand: {}}
    gives: {id: errand.id}
  end:
    takes: {errand: Errand, how: Errand.terminal}
    move: going -> how
    otherwise: unchanged
    set: {errand.thanked: {when: how == done, to: true}}
  polite:
    takes: {errand: Errand}
    gives: if policies.polite == yes then 'thanks' else ''
  tell:
    takes: {}
    sends: {told: due.Over}
    gives: told
  lock_up:
    takes: {}
    set: {shut: true}
"""
SHUT = ("    takes: {}\n    sends", "    takes: {}\n    requires: {closed: '!shut'}\n    sends")
NEVER_DROPPED = (
    "takes: {errand: Errand, how: Errand.terminal}\n    move: going -> how",
    "takes: {errand: Errand}\n    move: going -> done",
)


def spec(folder: Path, *edits: tuple[str, str], more: str = "") -> Path:
    text = RULES
    for before, after in edits:
        assert before in text
        text = text.replace(before, after, 1)
    file = folder / "errands.yaml"
    file.write_text(text + more, encoding="utf-8")
    return file


def findings(folder: Path, *edits: tuple[str, str], more: str = "", steps: int = 50_000) -> Findings:
    return explored(load(spec(folder, *edits, more=more)), steps)


def page(found: Findings) -> str:
    return "\n".join(as_page(found))


def test_a_spec_that_is_right_is_told_in_numbers_and_a_table(tmp_path: Path) -> None:
    found = findings(tmp_path)
    said = page(found)
    assert found.exit == 0
    assert said.startswith("errands, revision 1: the whole small scope, ")
    assert "records: Errand 2" in said
    assert "Every state of every record is reached." in said
    assert "  end     ok     same  same     no" in said
    assert "ok: carried out; no: refused; same: nothing changes" in said
    assert "Guards: 2 of 3 come out both ways" in said
    assert "1 guard more: a limit or a policy alone decides" in said
    assert "Over, about an Errand: it can be told from wherever it is due" in said


def test_a_state_that_nothing_leads_to_is_told_with_its_place(tmp_path: Path) -> None:
    found = findings(tmp_path, NEVER_DROPPED, ("how == done", "errand.thanked"))
    assert found.exit == 1
    assert [(each.entity, each.state, each.where.line) for each in found.states_never] == [("Errand", "dropped", 12)]
    assert "errands.yaml:12:" in page(found)
    assert "Errand is never dropped" in page(found)
    assert found.cells_never == []  # that such a record is never asked about goes without saying


def test_a_call_that_is_never_met_is_told_though_its_record_is_there(tmp_path: Path) -> None:
    cut = [findings(tmp_path, steps=steps) for steps in range(1, 12)]
    found = next(each for each in cut if each.cells_never)
    cell = found.cells_never[0]
    assert (cell.entity, cell.state) in found.watch.states
    assert "Calls never met as far as the search went:" in page(found)
    assert f"  {cell.operation} about an Errand that is {cell.state} (errand)" in page(found)
    assert findings(tmp_path).cells_never == []


def test_a_guard_that_never_decides_is_told_with_its_place(tmp_path: Path) -> None:
    found = findings(tmp_path, ("how == done", "how == done || how == dropped"))
    (one,) = found.one_sided
    assert (one.comes_out, one.guard.clause) == ("always true", "operations.end.set.errand.thanked")
    assert found.exit == 0
    assert (
        f"errands.yaml:{one.guard.where.line}  operations.end.set.errand.thanked: how == done || how == drop"
        in page(found)
    )


@pytest.mark.parametrize(
    "gives",
    [
        "if errand.thanked then 'thanks' else ''",
        "{first of: [{when: errand.thanked, reply: \"'thanks'\"}, {reply: \"''\"}]}",
    ],
)
def test_what_only_decides_what_a_call_gives_comes_out_both_ways(gives: str, tmp_path: Path) -> None:
    """No other step depends on it: configurations that differ only there are told apart all the same."""
    assert findings(tmp_path, ("if policies.polite == yes then 'thanks' else ''", gives)).one_sided == []


def test_a_guard_that_nobody_asks_and_one_that_reads_a_policy_are_told_so(tmp_path: Path) -> None:
    found = findings(
        tmp_path,
        (
            "{when: how == done, to: true}",
            "{when: how == done && policies.polite == no, to: if errand.thanked then false else true}",
        ),
    )
    assert {each.comes_out for each in found.one_sided} == {"always false", "never asked"}
    assert "it reads policies.polite" in page(found)
    assert "never decide anything in this scope" in page(found)


def test_an_end_that_can_never_be_told_is_shown_as_a_row_that_check_accepts(tmp_path: Path) -> None:
    found = findings(tmp_path, SHUT)
    assert found.exit == 1
    said = page(found)
    assert "--- never told: Over, about an Errand" in said
    assert "      - lock_up()" in said or "last = lock_up()" in said
    assert "Over is due afterwards, and is never sent." in said


def test_calls_of_its_own_on_the_way_to_what_is_never_told_are_comments(tmp_path: Path) -> None:
    own = "on its own:\n  lock:\n    when: due.Over != [] && !shut\n    set: {shut: true}\n"
    said = page(findings(tmp_path, SHUT, ("  lock_up:\n    takes: {}\n    set: {shut: true}\n", ""), more=own))
    assert "# the implementation takes lock() unasked" in said


def test_a_message_that_is_never_due_and_a_spec_without_messages_are_told_so(tmp_path: Path) -> None:
    never = (
        "    takes: {errand: Errand, how: Errand.terminal}\n",
        "    takes: {errand: Errand, how: Errand.terminal}\n    requires: {no: shut && !shut}\n",
    )
    assert "Over, about an Errand: it is never due in this scope." in page(findings(tmp_path, never))
    bare = RULES[: RULES.index("messages:")] + RULES[RULES.index("operations:") :].replace(
        "  tell:\n    takes: {}\n    sends: {told: due.Over}\n    gives: told\n", ""
    ).replace("    set: {shut: true}", "")
    (tmp_path / "bare.yaml").write_text(bare, encoding="utf-8")
    assert "No message tells of an end." in page(explored(load(tmp_path / "bare.yaml"), 50_000))


def test_a_search_that_was_cut_says_so_and_accuses_nobody(tmp_path: Path) -> None:
    found = findings(tmp_path, NEVER_DROPPED, ("how == done", "errand.thanked"), steps=5)
    said = page(found)
    assert not found.whole
    assert found.exit == 0
    assert "of the small scope, and not all of it." in said
    assert "of them no step was tried" in said
    assert "States never reached as far as the search went" in said
    assert "of " in said


def test_an_invariant_that_breaks_is_told_with_the_shortest_way(tmp_path: Path) -> None:
    found = findings(tmp_path, more="invariants:\n  nobody is thanked: '!errand.thanked'\n")
    said = page(found)
    assert found.exit == 1
    assert "[invariant-broken]" in said
    assert "up to something that does not hold" in said
    assert as_plain(found)["violation"] is not None


def test_rows_of_what_was_met_are_accepted_by_check_and_hold_against_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "errands"
    (folder / "rows").mkdir(parents=True)
    (folder / "rules.yaml").write_text(RULES, encoding="utf-8")
    assert main(["explore", str(spec(tmp_path)), "--rows", str(folder / "rows" / "found.yaml")]) == 0
    assert "rows\n" in capsys.readouterr().err
    (folder / "rules.yaml").write_text(RULES + "matrix: [found]\n", encoding="utf-8")
    code = main(["check", str(folder)])
    said = capsys.readouterr().out
    assert not [line for line in said.splitlines() if "error" in line and "uncovered-clause" not in line], (code, said)
    rows = load(folder).lifecycle.rows
    assert "end about an Errand that is dropped: unchanged" in " ".join(row.about for row in rows.values())
    code, results = whole_run("model", load(folder), only=[*rows])
    assert (code, {each.verdict for each in results}) == (EXIT_CONFORMS, {Verdict.PASS})


def test_of_what_no_row_can_ask_for_there_is_none_and_it_is_counted(tmp_path: Path) -> None:
    own = "on its own:\n  forget:\n    for each: {errand: Errand}\n    when: errand.state == dropped\n    remove: errand\n"
    rows = rows_of(findings(tmp_path, more=own))
    assert rows.count > 3
    assert "the spec has no clause about it that a row could cover" in rows.without


def test_json_has_all_of_it_with_the_calls_to_each_thing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", str(spec(tmp_path)), "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["whole_scope"] is True
    cell = next(each for each in plain["calls"] if each["operation"] == "end" and each["state"] == "done")
    assert cell["met"] == {
        "unchanged": ["- errand = begin()", "- end(errand.id, done)", "- last = end(errand.id, done)"]
    }
    guard = next(each for each in plain["guards"] if each["condition"] == "how == done")
    assert guard["true"][-1] == "- last = end(errand.id, done)"
    assert plain["ends"][0]["never_told"] is None


@pytest.mark.parametrize("steps", ["0", "many"])
def test_steps_that_are_no_number_are_refused(steps: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["explore", str(spec(tmp_path)), "--steps", steps])
    assert stopped.value.code == 2


def test_a_shipped_life_cycle_is_explored_to_its_end() -> None:
    found = explored(compile_tree(spec_tree("task-progress"), "rules.yaml"), 200_000)
    assert (found.whole, found.exit) == (True, 0)
