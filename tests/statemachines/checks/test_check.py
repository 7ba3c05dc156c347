"""The checker: every code has a spec that shows it, all faults come at once, and rows meet every choice."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import statemachines
from statemachines.bounds import USUAL
from statemachines.checks.choices import orders
from statemachines.checks.spec import Checked, check_compiled
from statemachines.diagnostics import Diagnostic
from statemachines.expression.functions import KNOWN
from statemachines.rows.words import RowWords
from statemachines.specs import schema, shipped, spec_path
from tests.checking import check_file, check_text, compile_text

INVALID = Path(__file__).parents[2] / "invalid_specs"
SOURCES = Path(statemachines.__file__).parent
README = spec_path("thread-job").parent.with_name("README.md")

WITHOUT_A_FILE = {
    "file-not-found": "there is no file",
    "file-unreadable": "no checkout can hold a file that nobody can read",
    "file-too-large": "a file of a megabyte",
    "unread-rows": "a folder",
    "file-not-utf8": "every file of this repository can be read as a text",
    **dict.fromkeys(
        ("frozen-again", "frozen-changed", "frozen-later", "frozen-level", "frozen-removed", "wrong-file"),
        "a spec beside a set that was frozen before it changed: test_requirements makes both",
    ),
}
"""Codes that no file in tests/invalid_specs can show, each with the reason."""

NO_CODES = {"utf-8"}

# ── One file for each code ───────────────────────────────────────────────────────────────────────


def expected(path: Path) -> list[tuple[int, int, str]]:
    """What the first lines of a file say: `# expect: LINE:COLUMN code`."""
    text = path.read_text(encoding="utf-8").removeprefix("\ufeff")
    lines = itertools.takewhile(lambda line: line.startswith("# expect: "), text.split("\n"))
    found = [re.fullmatch(r"# expect: (\d+):(\d+) ([a-z0-9-]+)", line) for line in lines]
    return [(int(match[1]), int(match[2]), match[3]) for match in found if match]


def told(checked: Checked) -> list[tuple[int, int, str]]:
    return [(each.where.line, each.where.column, each.code) for each in checked.diagnostics]


@pytest.mark.parametrize("path", sorted(INVALID.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_faulty_spec_is_told_exactly_what_is_wrong_and_where(path: Path) -> None:
    checked = check_file(path)
    assert told(checked) == expected(path), checked.render()
    assert path.stem in {code for _, _, code in expected(path)}
    assert not checked.right
    for diagnostic in checked.diagnostics:
        assert diagnostic.where.file == str(path)
        assert diagnostic.message
        assert diagnostic.hint


def codes() -> set[str]:
    """Every text in the compiler's sources that reads like a code."""
    found = set()
    for source in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(re.findall(r"\A[a-z]+(?:-[a-z0-9]+)+\Z", node.value))
    return found - NO_CODES


@pytest.mark.thorough
def test_every_code_has_a_file_that_shows_it() -> None:
    shown = {path.stem for path in INVALID.glob("*.yaml")}
    assert codes() - shown - set(WITHOUT_A_FILE) == set(), "codes without a file in tests/invalid_specs"
    assert shown - codes() == set(), "files for codes that the compiler does not have"
    assert set(WITHOUT_A_FILE) <= codes() - shown, "exceptions that are none any more"


def test_a_file_that_cannot_be_read_as_a_spec_is_a_diagnostic_too(tmp_path: Path) -> None:
    assert told(check_file(tmp_path / "none.yaml")) == [(1, 1, "file-not-found")]
    assert told(check_file(tmp_path)) == [(1, 1, "file-not-found")]
    (tmp_path / "folder.yaml" / "rules.yaml").mkdir(parents=True)
    assert told(check_file(tmp_path / "folder.yaml")) == [(1, 1, "file-unreadable")]
    large = tmp_path / "large.yaml"
    large.write_text("#" * ((1 << 20) + 1), encoding="utf-8")
    assert told(check_file(large)) == [(1, 1, "file-too-large")]
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("lifecycle: small\nabout: Ein Auftr\u00e4g.\n".encode("latin-1"))
    assert told(check_file(latin)) == [(2, 17, "file-not-utf8")]


# ── A small spec, edited ─────────────────────────────────────────────────────────────────────────

SMALL = """\
lifecycle: small
version: 1
about: A job of a thread runs until it is done; the thread is told.
limits:
  kept: {default: 5}
types:
  Name: {text: fresh or reused}
entities:
  Thread:
    fixed: [t1, t2]
    fields: {idle: {type: bool, default: false}}
  Job:
    id: minted
    fields: {thread: Thread, name: Name, ended_at: time | null}
    states: {active: [running], terminal: [done, failed]}
    entering:
      terminal: {set: {job.ended_at: now}}
    retain: {newest: limits.kept, of: terminal, by: job.completion}
    shows: {job_id: job.id, status: job.state}
messages:
  Ended:
    about: Job
    due: terminal
    to: job.thread
    outlives: eviction
    carries: {job_id: job.id}
signals:
  Woken: {thread: Thread}
operations:
  start:
    takes: {thread: Thread, name: Name}
    create:
      Job: {thread: thread, name: name}
    gives: {job_id: job.id}
  finish:
    takes: {job: Job, outcome: Job.terminal}
    move: active -> outcome
    otherwise: unchanged
  rest:
    takes: {thread: Thread}
    set: {thread.idle: true}
    may signal:
      Woken: {with: {thread: thread}}
  tell:
    takes: {thread: Thread}
    sends:
      told: due.Ended.filter(m, m.to == thread)
    gives: told
  inspect:
    takes: {job: Job}
    missing: refused
    gives: job
on its own:
  wake:
    for each: {thread: Thread}
    when: thread.idle && due.Ended.exists(m, m.to == thread)
    does: tell(thread)
    set: {thread.idle: false}
invariants:
  ended is stamped: job.terminal == (job.ended_at != null)
matrix:
  N1:
    about: A job that ends is told.
    level: must
    source: "1"
    covers: [entities.Job, operations, messages, invariants, operations.rest.may signal.Woken, on its own.wake]
    needs: limits.kept >= 1
    each: {outcome: Job.terminal}
    arrange:
      - for each i in range(5):
          - finish(start(t2, fresh).job_id, failed)
      - job = start(t1, fresh)
      - slept = rest(t1)
    act:
      - one = finish(job.job_id, outcome)
      - two = finish(job.job_id, outcome)
      - told = tell(t1)
      - gone = inspect(fresh)
      - shown = inspect(job.job_id)
    assert:
      - one.refused == null
      - told.size() <= 1 && told.all(m, m.job_id == job.job_id)
      - gone.refused != null
      - shown.status == outcome
    open:
      - two.refused == null
      - slept.signals.Woken == []
"""


def edited(*edits: tuple[str, str]) -> str:
    text = SMALL
    for old, new in edits:
        assert text.count(old) == 1, f"{text.count(old)} times: {old}"
        text = text.replace(old, new)
    return text


def checked(*edits: tuple[str, str]) -> Checked:
    return check_text(edited(*edits), "small.yaml")


def found(*edits: tuple[str, str]) -> dict[str, Diagnostic]:
    """The diagnostics of an edited spec by code; each once."""
    diagnostics = checked(*edits).diagnostics
    by_code = {each.code: each for each in diagnostics}
    assert len(by_code) == len(diagnostics), "\n".join(map(str, diagnostics))
    return by_code


def asserting(text: str) -> tuple[str, str]:
    """One more assertion at the end of the row."""
    return ("      - shown.status == outcome\n", f"      - shown.status == outcome\n      - {text}\n")


def test_a_right_spec_is_told_nothing_and_counted() -> None:
    result = checked()
    assert result.right, result.render()
    assert (result.clauses, result.rows) == (len(compile_text(SMALL, "small.yaml").kernel.clauses), 1)
    assert result.runs > 4
    assert result.states > 10
    assert result.transitions > result.states
    assert result.seconds > 0
    assert "1 row" in result.summary
    assert "not all of it" not in result.summary


def test_a_search_that_did_not_come_to_its_end_says_so() -> None:
    result = check_text(SMALL, "small.yaml", replace(USUAL, transitions=20))
    assert result.right, result.render()
    assert "of the small scope, not all of it" in result.summary


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_shipped_spec_is_right(name: str) -> None:
    result = check_file(spec_path(name))
    assert result.right, result.render()


def test_the_result_of_a_check_is_the_same_each_time() -> None:
    edits = (("      - one.refused == null", "      - one.refused != null"), ("due: terminal", "due: done"))
    first, second = checked(*edits), checked(*edits)
    assert first.diagnostics == second.diagnostics
    assert (first.runs, first.states, first.transitions) == (second.runs, second.states, second.transitions)


def test_all_faults_come_at_once_sorted_by_position() -> None:
    faults = told(
        checked(
            ("  kept: {default: 5}", "  kept: {default: 5}\n  size: {default: 1}"),
            ("  Name: {text: fresh or reused}", "  Name: {text: fresh or reused}\n  Size: {from: 1, to: 2}"),
            ("terminal: [done, failed]", "terminal: [done, failed], lost: [gone]"),
            ("covers: [entities.Job, ", "covers: [entities.Jbo, entities.Job, "),
            ("      - gone.refused != null", "      - gone.refused == null"),
        )
    )
    assert faults == sorted(faults)
    assert {code for _, _, code in faults} == {
        "unused-limit",
        "unused-type",
        "unreachable-state",
        "unused-group",
        "unknown-clause",
        "row-fails",
    }


def test_a_message_about_no_entity_is_told() -> None:
    text = (INVALID / "unknown-message.yaml").read_text(encoding="utf-8")
    text = text.replace("about: Job\n", "about: Jbo\n").replace(
        "carries: {job_id: job.id}", "carries: {job_id: jbo.id}"
    )
    assert "unknown-entity" in {each.code for each in check_text(text, "small.yaml").diagnostics}


def test_an_id_of_no_entity_is_told() -> None:
    fault = found(("types:\n", "types:\n  Odd: {id of: Jbo, or: fresh}\n"))["unknown-entity"]
    assert fault.hint == "did you mean 'Job'?"


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ("{text: around, bytes: limits.kpet}", "unknown-name"),
        ("{text: around, lines: kept}", "unknown-name"),
        ("{text: around, bytes: true}", "expression-type"),
        ("{from: 3, to: 2}", "bad-value"),
    ],
)
def test_a_type_of_which_there_are_no_values_is_a_fault(declared: str, code: str) -> None:
    name = "  Name: {text: fresh or reused}"
    assert code in {each.code for each in checked((name, f"{name}\n  Size: {declared}")).diagnostics}


def test_faults_of_rules_and_of_rows_come_at_once() -> None:
    faults = found(("shows: {job_id: job.id", "shows: {job_id: job.idd"), asserting("nothing == 1"))
    assert set(faults) == {"unknown-field", "unknown-name"}


def test_a_quick_check_leaves_out_the_search() -> None:
    result = check_text(SMALL, "small.yaml", USUAL.quick())
    assert result.right
    assert (result.states, result.transitions) == (0, 0)
    assert 0 < result.runs < checked().runs


# ── Rows, and what a right system may choose ─────────────────────────────────────────────────────


def test_a_row_that_fails_is_told_at_its_assertion_with_both_values() -> None:
    fault = found(("shown.status == outcome", "shown.status == failed"))["row-fails"]
    line = edited().split("\n").index("      - shown.status == outcome") + 1
    assert (fault.where.line, fault.where.column) == (line, 9)
    assert "with outcome = done: `shown.status == failed`: 'done' == 'failed' is false" in fault.message


def test_a_row_that_fails_says_no_value_as_the_language_does() -> None:
    fault = found(("shown.status == outcome", "shown.refused == not_found"))["row-fails"]
    assert "null == 'not_found' is false" in fault.message


@pytest.mark.parametrize(
    ("choices", "default", "hint"),
    [
        ("one of: [refunded, kept]", "keep", "did you mean 'kept'?"),
        ("one of: [refunded, kept]", "nobody", "choices: refunded, kept, or any"),
        ("of: Job, keys: {oldest: job.job_id, newest: job.status}", "oldst", "did you mean 'oldest'?"),
    ],
)
def test_the_default_of_a_policy_is_one_of_its_choices(choices: str, default: str, hint: str) -> None:
    policy = f"policies:\n  deposit: {{about: A, {choices}, default: {default}}}\n\nentities:\n"
    fault = found(("entities:\n", policy))["bad-value"]
    assert (fault.where.line, fault.where.column) == _place(edited(("entities:\n", policy)), f"{default}}}")
    assert hint in fault.hint


def test_a_role_shows_no_field_that_the_entity_shows() -> None:
    text = edited().replace(
        "    shows: {", "    roles: {Big: {when: job.state == done, shows: {job_id: 1}}}\n    shows: {", 1
    )
    faults = {each.code: each.where for each in check_text(text, "small.yaml").diagnostics}
    assert (faults["taken-name"].line, faults["taken-name"].column) == _place(text, "job_id: 1")


def _place(text: str, part: str) -> tuple[int, int]:
    before = text[: text.index(part)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def test_a_step_that_fails_is_told_at_the_step() -> None:
    fault = found(("      - told = tell(t1)", "      - told = tell(t1)\n      - inspect(one.refused)"))
    assert set(fault) == {"expression-type"}
    fault = found(("      - told = tell(t1)", "      - early = tell(t1)\n      - told = [early[3]]"))
    assert "row-fails" in fault or "expression-type" in fault


@pytest.mark.parametrize(
    ("assertion", "said"),
    [
        ("two.refused == null", "what may be refused is refused"),
        ("told.size() == 1", "the implementation does by itself all that it may"),
        ("slept.signals.Woken == []", "the implementation does by itself all that it may"),
        ("gone.refused == not_found", "the implementation does by itself all that it may"),
    ],
)
def test_a_row_that_accuses_a_right_system_fails(assertion: str, said: str) -> None:
    fault = found(asserting(assertion))["row-fails"]
    assert said in fault.message


RESTS = "  rests:\n    takes: {thread: Thread}\n    gives: thread.idle\n  inspect:\n"
RESTED = "      - rested = rests(t2)\n      - shown = inspect(job.job_id)\n"


@pytest.mark.parametrize(("claim", "held"), [("rested", False), ("(!rested)", True)])
def test_an_assertion_that_is_a_reply_claims_what_was_given_not_that_it_was(claim: str, held: bool) -> None:
    edits = [("  inspect:\n", RESTS), ("      - shown = inspect(job.job_id)\n", RESTED)]
    assert ("row-fails" not in found(*edits, asserting(claim))) == held
    assert "one-way" in found(*edits, leaving_open(claim))


def test_an_entity_says_for_every_operation_what_it_answers_where_a_record_is_missing() -> None:
    edit = (
        "    id: minted\n    fields: {thread",
        "    id: minted\n    missing: unchanged\n    fields: {thread",
    )
    for own, answer in (("", "unchanged"), ("    missing: refused gone\n", "refused")):
        text = edited(edit, ("    missing: refused\n", own))
        compiled = compile_text(text, "small.yaml")
        answers = {
            (each.clause, each.answer)
            for operation in compiled.kernel.operations
            for each in operation.requires
            if each.guard is None
        }
        assert answers == {
            ("operations.finish.missing", "unchanged"),
            ("operations.inspect.missing", answer),
        }
        place = str(compiled.kernel.clause("operations.finish.missing").where)
        assert place == str(compiled.lifecycle.entities["Job"].missing.where)  # type: ignore[union-attr]  # it is said
        codes = {each.code for each in check_compiled(compiled).diagnostics}
        assert codes == {"row-fails" if answer == "unchanged" else "not-witnessed"}


POLICIES = (
    "types:\n  Name",
    "policies:\n  one:   {one of: [a, b], default: a}\n  other: {one of: [c, d], default: c}\ntypes:\n  Name",
)


def asserting_when(*conditions: str) -> set[str]:
    """The codes of what is wrong with a row that asserts what is false below conditions."""
    claims = "\n".join(f"      - when {each}: shown.status != outcome" for each in conditions)
    edit = ("      - shown.status == outcome\n", f"      - shown.status == outcome\n{claims}\n")
    return set(found(POLICIES, edit)) - {"unused-policy"}


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("policies.one == a", "row-fails"),  # as is the default
        ("policies.one == b", "row-needs-more"),
        (
            "policies.one == b && policies.other == d",
            "row-needs-more",
        ),  # no two are declared at once elsewhere
        ("policies.one == b && policies.other == d && limits.kept == 2", "row-needs-more"),
        ("policies.one == a && policies.one == b", "when-never-holds"),
        ("limits.kept < 0", "when-never-holds"),
        ("limits.kept == 0", "when-never-holds"),  # the row needs at least 1
        ("one.refused == null", "unknown-name"),
        ("outcome == done", "unknown-name"),
        ("limits.kept", "expression-type"),
        ("policies.one == e", "unknown-name"),
    ],
)
def test_what_is_asserted_under_a_choice_is_tried_with_that_choice(condition: str, code: str) -> None:
    assert asserting_when(condition) == {code}


@pytest.mark.parametrize(("choice", "code"), [("b", {"row-needs-more"}), ("a", {"when-never-holds"})])
def test_what_a_row_asserts_under_a_choice_is_tried_with_the_choice_that_the_row_needs(
    choice: str, code: set[str]
) -> None:
    claim = f"      - shown.status == outcome\n      - when policies.one == {choice} && policies.other == d: shown.status != outcome\n"
    text = edited(
        POLICIES,
        ("      - shown.status == outcome\n", claim),
        ("    needs: limits.kept >= 1\n", "    needs: [limits.kept >= 1, policies.one == b]\n"),
    )
    assert {each.code for each in check_text(text, "small.yaml").diagnostics} - {"unused-policy"} == code


@pytest.mark.parametrize("claim", ["policies.other == c", "limits.kept < 51"])
def test_a_row_about_a_choice_holds_with_that_choice_and_every_other_one(claim: str) -> None:
    needs = ("    needs: limits.kept >= 1\n", "    needs: [limits.kept >= 1, policies.one == b]\n")
    fault = found(
        POLICIES, needs, ("      - shown.status == outcome\n", f"      - shown.status == outcome && {claim}\n")
    )
    assert "policies.one = b" in fault["row-needs-more"].message


def test_each_condition_that_never_holds_is_told() -> None:
    one = "      - when policies.one != policies.one: shown.status == outcome\n"
    two = "      - when limits.kept < 0:\n          - shown.status == outcome\n          - gone.refused != null\n"
    text = edited(POLICIES, ("      - shown.status == outcome\n", one + two))
    diagnostics = [each for each in check_text(text, "small.yaml").diagnostics if each.code != "unused-policy"]
    assert [each.code for each in diagnostics] == ["when-never-holds", "when-never-holds"]
    assert "limits.kept < 0" in diagnostics[1].message


def test_what_a_condition_tells_of_a_limit_is_known_below_it() -> None:
    edits = [
        ("  kept: {default: 5}", "  kept: {default: 5}\n  width: {default: null, optional: true}"),
        (
            "      - shown.status == outcome\n",
            "      - when limits.width != null: limits.width + 1 > limits.width\n",
        ),
    ]
    assert not found(*edits)


CHOSEN = (
    "status: job.state}",
    'status: job.state, glad: if job.terminal then anything else true, notes: "if job.terminal then anything else [job.name]"}',
)


@pytest.mark.parametrize(
    "claim",
    [
        "shown.glad",
        "shown.glad && true",
        "shown.glad != true",
        "shown.notes != []",
        "(shown.glad == true) == false",
        "told.all(x, shown.glad != true)",
        "('x' in shown.notes)",
        "shown.notes.size() == 0",
        "shown.notes.all(n, n == 'x')",
    ],
)
def test_a_row_claims_nothing_of_what_the_implementation_chooses(claim: str) -> None:
    assert "the implementation chooses" in found(CHOSEN, asserting(claim))["row-fails"].message


def test_what_the_implementation_chooses_is_open() -> None:
    assert found(CHOSEN, leaving_open("shown.glad")) == {}


def test_a_step_walks_over_a_reply_that_has_a_name() -> None:
    walked = "      - gone = inspect(fresh)\n      - for each m in told:\n          - inspect(m.job_id)\n"
    assert found(("      - gone = inspect(fresh)\n", walked)) == {}


@pytest.mark.parametrize(
    "condition",
    [
        "one.refused == null",
        "told.size() > 5",
        "gone.refused == null",
        "inspect(job.job_id).status == failed",
    ],
)
def test_what_a_row_leaves_open_has_to_be_open(condition: str) -> None:
    fault = found(leaving_open(condition)).get("one-way")
    assert (fault is None) == condition.startswith("inspect"), "the outcome is a parameter: it comes both ways"


def leaving_open(text: str) -> tuple[str, str]:
    """One more condition that the row leaves open."""
    return ("      - two.refused == null\n", f"      - two.refused == null\n      - {text}\n")


def test_a_row_has_to_hold_with_other_limits_too() -> None:
    fault = found(("    needs: limits.kept >= 1\n", ""))["row-needs-more"]
    assert "limits.kept = 0" in fault.message
    assert "needs" in fault.hint


@pytest.mark.parametrize(("most", "larger"), [(5, 6), (6, 51)])
def test_a_row_has_to_hold_with_larger_limits_too(most: int, larger: int) -> None:
    other = ("limits:\n", "limits:\n  other: {default: 5}\n")
    fault = found(other, asserting(f"limits.other <= {most}"))["row-needs-more"]
    assert f"limits.other = {larger}" in fault.message


def test_a_row_runs_only_with_other_limits_of_those_that_it_reads() -> None:
    other = ("limits:\n", "limits:\n  other: {default: 5}\n")
    assert checked(other).runs == checked().runs
    read = checked(other, asserting("limits.other >= 0"))
    assert read.right
    assert read.runs > checked().runs
    assert "limits.other = 0" in found(other, asserting("limits.other >= 1"))["row-needs-more"].message


@pytest.mark.parametrize("name", ["read", "other_", "class", "limits"])
def test_a_limit_may_have_any_name(name: str) -> None:
    other = ("limits:\n", f"limits:\n  {name}: {{default: 5}}\n")
    assert checked(other, asserting(f"limits.{name} >= 0")).right
    fault = found(other, asserting(f"limits.{name} >= 1"))["row-needs-more"]
    assert f"limits.{name} = 0" in fault.message


IN_ORDER = "([job.job_id, other.job_id].sortBy(i, i)) == [job.job_id, other.job_id]"
ANOTHER = ("      - slept = rest(t1)", "      - slept = rest(t1)\n      - other = start(t1, fresh)")
BACKWARDS = "each id comes before those that were given before it"


@pytest.mark.parametrize("claim", [IN_ORDER, f"outcome == done || {IN_ORDER}"])
def test_ids_come_in_any_order(claim: str) -> None:
    assert BACKWARDS in found(ANOTHER, asserting(claim))["row-fails"].message


def test_ids_come_in_any_order_where_a_call_that_may_be_refused_is_not() -> None:
    begin = "  begin:\n    takes: {thread: Thread, name: Name}\n    open: {busy: thread.idle}\n    create:\n"
    begin += "      Job: {thread: thread, name: name}\n    gives: {job_id: job.id}\n"
    claim = "a.refused != null || b.refused != null || ([a.job_id, b.job_id].sortBy(i, i)) == [a.job_id, b.job_id]"
    row = "  N2:\n    about: Two begin.\n    level: must\n    source: '2'\n    covers: [operations.begin]\n    act:\n"
    row += "".join(f"      - {call}\n" for call in ("rest(t1)", "a = begin(t1, fresh)", "b = begin(t1, fresh)"))
    row += f"    assert:\n      - {claim}\n"
    edits = (("  inspect:\n", f"{begin}  inspect:\n"), ("matrix:\n", f"matrix:\n{row}"))
    assert BACKWARDS in found(*edits)["row-fails"].message


def test_calls_at_once_come_in_every_order() -> None:
    steps = (
        "      - told = tell(t1)",
        "      - both = together(rest(t2), tell(t2))\n      - told = tell(t1)",
    )
    assert checked(steps).right
    race = "      - both = together(start(t2, same), finish(start(t2, fresh).job_id, done))\n"
    assert "unknown-name" in found(("      - told = tell(t1)", f"{race}      - told = tell(t1)"))
    race = "      - both = together(finish(other.job_id, done), finish(other.job_id, failed))\n"
    edits = (
        ("      - slept = rest(t1)", "      - slept = rest(t1)\n      - other = start(t1, fresh)"),
        ("      - told = tell(t1)", f"{race}      - told = [1]"),
        ("      - told.size() <= 1 && told.all(m, m.job_id == job.job_id)\n", ""),
        asserting("inspect(other.job_id).status == done"),
    )
    assert "calls made at once in the order 2, 1" in found(*edits)["row-fails"].message


def test_few_calls_take_every_order_and_many_the_same_random_ones() -> None:
    assert len(list(orders(4, 200))) == 23
    assert (0, 1, 2, 3) not in orders(4, 200)
    assert list(orders(1, 200)) == []
    many = list(orders(6, 200))
    assert len(many) == 200
    assert many == list(orders(6, 200))
    assert all(sorted(order) == list(range(6)) for order in many)


def test_a_witness_that_cannot_be_evaluated_is_told_at_its_parameter() -> None:
    drawn = "    any: {n: {from: 1, to: 9, witness: 1 / (limits.kept - 5)}}\n    each:"
    fault = found(("    each:", drawn))["row-fails"]
    assert "a witness or a bound cannot be evaluated" in fault.message


@pytest.mark.parametrize(
    ("drawn", "claim", "value"),
    [
        ("n: {from: 1, to: 9, witness: 2}", "n < 9", "n = 9"),
        ("n: {from: 1, to: 9, witness: 2}", "n > 1", "n = 1"),
        ("n: {permutation of: 3, witness: [1, 0, 2]}", "n[0] != 2", "n = [2, 1, 0]"),
        (
            "n: {from: 1, to: 9, witness: 2}, many: {from: 1, to: 3, witness: 2}",
            "many < 3 || n > 5",
            "many = 3",
        ),
    ],
)
def test_what_is_drawn_is_tried_as_far_from_its_witness_as_it_may_be(drawn: str, claim: str, value: str) -> None:
    fault = found(("    each:", f"    any: {{{drawn}}}\n    each:"), asserting(claim))["row-fails"]
    assert f"`{claim}`" in fault.message
    assert value in fault.message


def test_rules_that_never_rest_end_the_check() -> None:
    edits = (
        ("    does: tell(thread)\n", ""),
        (
            "    when: thread.idle && due.Ended.exists(m, m.to == thread)\n",
            "    when: true\n    must: true\n",
        ),
    )
    result = check_text(edited(*edits), "small.yaml", USUAL.quick())
    assert {each.code for each in result.diagnostics} == {"row-fails"}
    assert "without rest" in result.render()


def test_an_invariant_is_looked_at_after_each_row() -> None:
    text = edited(("ended is stamped: job.terminal ==", "ended is stamped: job.active =="))
    (fault,) = check_text(text, "small.yaml", USUAL.quick()).diagnostics
    assert fault.code == "invariant-broken"
    assert "at the end of row N1" in fault.message


# ── The search ───────────────────────────────────────────────────────────────────────────────────


def broken_row(*edits: tuple[str, str]) -> str:
    """The row that shows how an invariant breaks."""
    fault = found(*edits)["invariant-broken"]
    return fault.hint.partition("\n")[2]


def test_a_broken_invariant_comes_with_the_shortest_row_that_shows_it() -> None:
    row = broken_row(("      terminal: {set: {job.ended_at: now}}", "      done: {set: {job.ended_at: now}}"))
    assert [line.strip() for line in row.split("\n")] == [
        "X0:",
        'about: "ended is stamped - does not hold afterwards."',
        "level: must",
        "source: the search of the small scope",
        "covers: [invariants.ended is stamped]",
        "needs:",
        "- limits.kept == 1",
        "act:",
        "- job = start(t1, fresh)",
        "- last = finish(job.job_id, failed)",
        "assert:",
        "- true",
    ]


@pytest.mark.parametrize(
    "invariant",
    [
        "jobs.size() < 2 || jobs.exists(a, jobs.exists(b, a.serial < b.serial && a.name != b.name))",
        "jobs.size() < 2",
        "threads.exists(t, !t.idle)",
        "sent.Ended.size() < 1",
        "was.terminal || job.active",
    ],
)
def test_the_row_of_a_broken_invariant_can_be_put_into_the_matrix(invariant: str) -> None:
    new = ("invariants:\n", f"invariants:\n  new: {invariant}\n")
    row = broken_row(new)
    again = check_text(edited(new) + row.replace("- limits.kept == 1", "- limits.kept >= 1"), "x")
    assert {each.code for each in again.diagnostics} <= {"invariant-broken", "not-witnessed"}, again.render()


def test_texts_that_stand_twice_in_a_counterexample_have_a_name() -> None:
    row = broken_row(("invariants:\n", "invariants:\n  new: jobs.map(j, j.name).distinct().size() == jobs.size()\n"))
    assert "- name = fresh(Name)" in row
    assert row.count("start(t1, name)") == 2


def test_steps_that_the_system_takes_unasked_are_comments_in_a_counterexample() -> None:
    row = broken_row(
        ("    set: {thread.idle: false}\n", "    set: {thread.idle: false, thread.woken: true}\n"),
        ("    fields: {idle: ", "    fields: {woken: {type: bool, default: false}, idle: "),
        ("invariants:\n", "invariants:\n  new: threads.all(t, !t.woken)\n"),
    )
    assert "# the implementation takes wake(t1) unasked" in row


def test_a_clause_that_nothing_comes_to_is_told_once() -> None:
    stop = "on its own:\n  stop:\n    for each: {job: Job}\n    when: job.active && job.terminal\n    does: finish(job, done)\n"
    assert set(found(("on its own:\n", stop))) == {"dead-clause"}


# ── States ───────────────────────────────────────────────────────────────────────────────────────


def test_a_timer_leaves_a_state_and_may_remove_what_has_ended() -> None:
    after = "    after:\n      waiting: {in: 5, since: job.held_at, remove: job}\n      done: {in: 5, since: job.ended_at, remove: job}\n"
    edits = (
        ("active: [running]", "active: [running, waiting]"),
        ("ended_at: time | null}", "ended_at: time | null, held_at: time | null}"),
        ("    entering:\n", f"{after}    entering:\n"),
        (
            "  rest:\n",
            "  hold:\n    takes: {job: Job}\n    move: running -> waiting\n    set: {job.held_at: now}\n  rest:\n",
        ),
    )
    codes_found = {each.code for each in checked(*edits).diagnostics}
    assert not codes_found & {"dead-end", "unreachable-state", "terminal-exit"}, codes_found


def test_removing_each_record_of_a_list_leaves_its_state() -> None:
    states = ("active: [running]", "active: [running], held: [waiting]")
    hold = "  hold:\n    takes: {job: Job}\n    move: running -> waiting\n  rest:\n"
    assert "dead-end" in {each.code for each in checked(states, ("  rest:\n", hold)).diagnostics}
    drop = "  drop:\n    for each:\n      job: {in: jobs, when: job.held, remove: true}\n"
    assert "dead-end" not in {each.code for each in checked(states, ("  rest:\n", drop + hold)).diagnostics}


NOTE = """  Note:
    fields: {of: JobId}
    states: {active: [unread], terminal: [read]}
    after:
      unread: {in: 5, since: 0, move: read}
      read: {in: 9, since: 0, create: {Note: {of: note.of}}, remove: note}
"""


def test_whatever_follows_may_create_a_record() -> None:
    edits = (
        ("types:\n", "types:\n  JobId: {id of: Job}\n"),
        ("    entering:\n", "    entering:\n      running: {create: {Note: {of: job.id}}}\n"),
        ("messages:\n", f"{NOTE}messages:\n"),
    )
    assert "shadowed-name" in {each.code for each in checked(*edits).diagnostics}  # a Note of a Note
    edits = (*edits[:2], ("messages:\n", NOTE.replace("create: {Note: {of: note.of}}, ", "") + "messages:\n"))
    model: Any = compile_text(edited(*edits), "small.yaml").model()
    model.do_start("t1", "x")
    assert [(note.of, note.state) for note in model.notes.values()] == [("job-1", "unread")]
    assert not {each.code for each in checked(*edits).diagnostics} & {"never-created", "dead-end"}


def test_a_second_new_record_is_called_otherwise() -> None:
    def creating(called: str) -> tuple[tuple[str, str], ...]:
        note = NOTE.replace("create: {Note: {of: note.of}}", f"create: {{Note: {{{called}of: note.of}}}}")
        return (
            ("types:\n", "types:\n  JobId: {id of: Job}\n"),
            ("    entering:\n", "    entering:\n      running: {create: {Note: {of: job.id}}}\n"),
            ("messages:\n", f"{note}messages:\n"),
        )

    assert "other = Note(" in compile_text(edited(*creating("called: other, ")), "small.yaml").source
    codes = [{each.code for each in checked(*creating(called)).diagnostics} for called in ("", "called: 1 + 1, ")]
    assert codes[0] == {"shadowed-name"}
    assert "bad-name" in codes[1]


def test_an_operation_may_have_the_name_of_something_that_every_model_has() -> None:
    text = edited(("  rest:\n", "  settle:\n    takes: {job: Job}\n    move: running -> done\n  rest:\n"))
    model: Any = compile_text(text, "small.yaml").model()
    model.do_start("t1", "x")
    assert model.settle() == []
    model.settle_("job-1")
    assert model.jobs["job-1"].state == "done"


def test_a_group_that_chooses_a_terminal_state_leaves_it() -> None:
    assert "terminal-exit" in {each.code for each in checked(("active -> outcome", "terminal -> outcome")).diagnostics}
    assert "terminal-exit" not in {each.code for each in checked(("active -> outcome", "terminal -> same")).diagnostics}


CLOSE = """  shut:
    takes: {job: Job}
    set: {job.state: %s}
"""
CLOSE_ALL = """  shut:
    for each:
      each: {in: "%s", %s}
"""


@pytest.mark.parametrize(
    "close",
    [
        CLOSE % "{when: job.state == running, to: done}",
        CLOSE % "{when: job.ended_at == null, to: done}",  # it may be so of none that has ended
        CLOSE % "if job.active then done else job.state",
        CLOSE.replace("    set", "    requires: {ended: (!job.terminal)}\n    set") % "done",
        CLOSE_ALL % ("jobs.filter(j, j.state == running)", "set: {each.state: done}"),
        CLOSE_ALL % ("jobs", "when: each.state != failed && each.state != done, set: {each.state: done}"),
        CLOSE_ALL % ("jobs", "when: each.state == running, move: done"),
    ],
)
def test_a_state_set_under_a_condition_leaves_only_the_states_that_fulfil_it(close: str) -> None:
    codes_found = {each.code for each in checked(("  rest:\n", f"{close}  rest:\n")).diagnostics}
    assert codes_found & {"not-witnessed", "terminal-exit"} == {"not-witnessed"}, codes_found  # of close, by no row


@pytest.mark.parametrize(
    "close",
    [
        CLOSE % "running",
        CLOSE % "{when: job.terminal, to: running}",
        CLOSE.replace("    set", "    requires: {early: now > 5}\n    set") % "{when: job.state == done, to: running}",
        CLOSE % "if job.terminal then running else done",
        CLOSE_ALL % ("jobs.filter(j, j.state == done)", "set: {each.state: running}"),
        CLOSE_ALL % ("jobs", "when: (!each.active), set: {each.state: running}"),
        CLOSE_ALL % ("jobs", "when: each.ended_at == 5, move: {done: running}"),
    ],
)
def test_a_state_set_where_a_record_has_ended_leaves_it(close: str) -> None:
    assert "terminal-exit" in {each.code for each in checked(("  rest:\n", f"{close}  rest:\n")).diagnostics}


# ── Coverage ─────────────────────────────────────────────────────────────────────────────────────


def test_what_only_may_be_has_to_be_named_itself() -> None:
    fault = found(("operations.rest.may signal.Woken, ", ""))["uncovered-clause"]
    assert "operations.rest.may signal.Woken" in fault.message


def test_of_a_sentence_that_no_row_covers_only_the_whole_is_told() -> None:
    fault = found((", on its own.wake]", "]"))["uncovered-clause"]
    assert fault.message == "no row covers on its own.wake"


BOXES = """
lifecycle: boxes
version: 1
about: A box is opened.
entities:
  Box:
    id: minted
    states: {active: [shut], terminal: [open]}
operations:
  make: {create: {Box: {}}, gives: box.id}
  open_it: {takes: {box: Box}, move: shut -> open}
matrix:
  N1:
    about: A box is opened.
    level: must
    source: here
    covers: [entities.Box.id, operations.make, operations.open_it.move]
    act:
      - box = make()
      - opened = open_it(box)
    assert:
      - opened.refused == null
  N2:
    about: A box that is not there cannot be opened.
    level: must
    source: here
    covers: [operations.open_it.missing]
    act:
      - tried = open_it('none')
    assert:
      - tried.refused == not_found
"""


def test_who_covers_a_default_is_told_to_leave_the_argument_out() -> None:
    said = BOXES.replace("create: {Box: {}}, gives", "takes: {size: {type: int, default: 1}}, create: {Box: {}}, gives")
    asked = said.replace("box = make()", "box = make(2)").partition("  N2:")[0]
    (fault,) = check_text(asked, "boxes.yaml").diagnostics
    assert fault.code == "not-witnessed"
    assert fault.hint.startswith("that is the default of size: call make without it")


def test_a_default_that_is_not_written_may_be_covered_and_need_not() -> None:
    assert set(found(("    otherwise: unchanged\n", ""))) == {"one-way"}
    assert check_text(BOXES, "boxes.yaml").right
    assert check_text(BOXES.partition("  N2:")[0], "boxes.yaml").right
    never = BOXES.replace("covers: [entities.Box.id,", "covers: [operations.open_it.otherwise, entities.Box.id,")
    assert [each.code for each in check_text(never, "boxes.yaml").diagnostics] == ["not-witnessed"]


def test_should_names_clauses_that_exist() -> None:
    fault = found(("limits:\n", "should: [messages.Ended.outlvies]\nlimits:\n"))["unknown-clause"]
    assert fault.hint == "did you mean 'messages.Ended.outlives'?"


# ── What is used ─────────────────────────────────────────────────────────────────────────────────

USES = {
    "a policy in an order": (
        "by: job.completion",
        "by: [way, job.completion]",
        "{of: Job, keys: {start: job.serial}, default: start}",
    ),
    "a policy in a condition": (
        "    needs: limits.kept >= 1",
        "    needs: [limits.kept >= 1, policies.way == up]",
        "{one of: [up, down], default: up}",
    ),
}


@pytest.mark.parametrize("how", USES)
def test_a_policy_is_used_where_it_is_read(how: str) -> None:
    old, new, policy = USES[how]
    declared = ("types:\n", f"policies:\n  way: {policy}\ntypes:\n")
    assert "unused-policy" in {each.code for each in checked(declared).diagnostics}
    assert "unused-policy" not in {each.code for each in checked(declared, (old, new)).diagnostics}


RECOMMENDED = ("types:\n", "policies:\n  way: {one of: [up, down], default: up, recommended: true}\ntypes:\n")


@pytest.mark.parametrize(("need", "told"), [("up", True), ("down", False)])
def test_a_must_holds_with_every_choice_where_one_is_only_recommended(need: str, told: bool) -> None:
    asks = ("    needs: limits.kept >= 1", f"    needs: [limits.kept >= 1, policies.way == {need}]")
    assert ("row-too-strict" in {each.code for each in checked(RECOMMENDED, asks).diagnostics}) is told
    firm = (RECOMMENDED[0], RECOMMENDED[1].replace(", recommended: true", ""))
    assert "row-too-strict" not in {each.code for each in checked(firm, asks).diagnostics}


@pytest.mark.parametrize("use", ["list of: Size", "type: Size", "subset of: Size"])
def test_a_type_is_used_wherever_it_stands(use: str) -> None:
    declared = ("types:\n", "types:\n  Size: {one of: [small, large]}\n")
    takes = (
        "takes: {job: Job, outcome: Job.terminal}",
        f"takes: {{job: Job, outcome: Job.terminal, size: {{{use}, default: null}}}}",
    )
    assert "unused-type" in {each.code for each in checked(declared).diagnostics}
    assert "unused-type" not in {each.code for each in checked(declared, takes).diagnostics}


# ── spec/README.md ───────────────────────────────────────────────────────────────────────────────


def rows_of(text: str, head: str) -> Iterator[list[str]]:
    """The cells of every table whose first column has this head."""
    inside = False
    for line in text.split("\n"):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            inside = False
        elif re.match(head, cells[0]):
            inside = True
        elif inside and not cells[0].startswith("---"):
            yield cells


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def schema_words(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(properties := part.get("properties"), dict):
            yield from properties
        for inner in part.values():
            yield from schema_words(inner)


def test_the_language_is_explained_word_by_word() -> None:
    text = README.read_text(encoding="utf-8")
    words = {word for cells in rows_of(text, "word of ") for word in quoted(cells[0])}
    known = set(schema_words(schema("lifecycle")))
    also = {"about", "to"}  # named beside another word
    assert known - words - also == set(), "words of the schema that spec/README.md does not explain"
    assert words - known == set(), "words that the schema does not have"


@pytest.mark.thorough
def test_every_code_is_explained_and_none_that_does_not_exist() -> None:
    text = README.read_text(encoding="utf-8")
    cells = list(rows_of(text, "code$"))
    assert {code for row in cells for code in quoted(row[0])} == codes()
    assert all(len(row) == 3 and all(row) for row in cells)


def test_every_function_is_explained() -> None:
    text = README.read_text(encoding="utf-8")
    said = " ".join(
        word for cell in (*rows_of(text, "function$"), *rows_of(text, "in a row$")) for word in quoted(cell[0])
    )
    callables = [*KNOWN, *RowWords.callables(RowWords(compile_text(SMALL, "x").lifecycle))]
    operations = compile_text(SMALL, "x").lifecycle.operations
    assert {name for name in callables if not re.search(rf"\b{name}\b", said)} <= set(operations)


def test_the_example_is_right() -> None:
    text = README.read_text(encoding="utf-8")
    example = text.partition("```yaml\n")[2].partition("```")[0]
    result = check_text(example, "README.md")
    assert result.right, result.render()


def test_a_compiled_spec_can_be_checked() -> None:
    assert check_compiled(compile_text(SMALL, "small.yaml")).right


POKED = """\
lifecycle: small
version: 1
about: A job that is poked says so.
signals:
  Poked: {job: JobId}
types:
  JobId: {id of: Job}
entities:
  Job:
    id: minted
    fields: {seen: {type: bool, default: false}}
    states: {active: [running], terminal: [done]}
    shows: {job_id: job.id, seen: job.seen}
operations:
  start:
    create: {Job: {}}
    gives: {job_id: job.id}
  finish:
    takes: {job: Job}
    move: running -> done
  poke_all:
    for each:
      job: {in: jobs, when: job.state == running, set: {job.seen: true}, signal: {Poked: {with: {job: job.id}}}}
  inspect:
    takes: {job: Job}
    gives: job
matrix:
  N1:
    about: A job that is poked is seen.
    level: must
    source: the test
    covers: [entities.Job, operations.start, operations.finish, operations.poke_all, operations.inspect.gives]
    act:
      - job = start()
      - poked = poke_all()
      - finish(job.job_id)
    assert:
      - inspect(job.job_id).seen && poked.signals.Poked.size() == 1
"""


def test_a_step_that_signals_for_each_record_alone_can_be_taken() -> None:
    assert told(check_text(POKED, "small.yaml")) == []


@pytest.mark.parametrize("name", ["all", "any", "item", "len", "sized_text", "take"])
def test_what_a_row_names_hides_nothing_that_expressions_call(name: str) -> None:
    claim = f"[{name}].all(a, [a][0].job_id == {name}.job_id) && [{name}].size() == 1 && text('x', 1) == 'x'"
    row = (
        "  N2:\n    about: A job starts.\n    level: must\n    source: '1'\n    covers: operations.start\n"
        f'    act:\n      - {name} = start(t1, fresh)\n    assert: "{claim}"\n'
    )
    assert [each.message for each in check_text(SMALL + row, "small.yaml").diagnostics] == []
