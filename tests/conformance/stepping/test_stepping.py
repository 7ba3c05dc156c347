"""A person steps through a spec: what is shown, what may be typed, and what is saved in the end."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from conformance.command.cli import main
from conformance.stepping import NotTaken, Session, stepped
from conformance.stepping.table import state_lines, value_text
from conformance.verdict import EXIT_CONFORMS, Verdict
from statemachines.compile import load
from statemachines.model import ANYTHING, CHOSEN, Document, SuchAs
from statemachines.specs import shipped
from tests.checking import compile_text
from tests.conformance.systems import whole_run

RULES = """
lifecycle: errands
version: 1
about: An errand is begun, and ends once; who sent it is told.
limits:
  kept: {default: 9}
types:
  Label: {text: fresh or reused}
entities:
  Boy:
    fixed: [b1, b2]
    fields: {tired: {type: bool, default: false}}
  Errand:
    id: minted
    fields:
      boy:   Boy
      label: Label
    states: {active: [going], terminal: [done]}
    retain: {newest: limits.kept, of: terminal, by: [errand.completion]}
variables:
  shut: {type: bool, default: false}
messages:
  Over:
    about:    Errand
    due:      terminal
    to:       errand.boy
    at most:  once per errand
    order:    [errand.completion]
    outlives: eviction
    carries:  {label: errand.label}
signals:
  Bell: {boy: Boy}
operations:
  begin:
    takes: {boy: Boy, label: Label, note: {type: int, default: 0}}
    open: {busy: boy.tired}
    create: {Errand: {boy: boy, label: label}}
    gives: {id: errand.id, label: errand.label}
  end:
    takes: {errand: Errand}
    move: going -> done
    otherwise: unchanged
    signal: {Bell: {with: {boy: errand.boy}}}
  tire:
    takes: {boy: Boy}
    set: {boy.tired: true}
  tell:
    takes: {}
    sends: {told: due.Over}
    gives: told
  count:
    takes: {labels: {list of: Label}}
    gives: labels.size()
  guess:
    takes: {errand: Errand}
    unsaid: errand.state == going
    gives: {left: 1}
on its own:
  rest:
    for each: {boy: Boy}
    when: boy.tired
    set: {boy.tired: false}
matrix:
  S1:
    about: A boy begins.
    level: must
    source: the source
    covers: [operations.begin.create.Errand]
    act:
      - last = begin(b1, fresh)
    assert: last.id != ''
"""


def spec(folder: Path) -> Path:
    file = folder / "errands.yaml"
    file.write_text(RULES, encoding="utf-8")
    return file


def typed(*lines: str, session: Session | None = None) -> str:
    """What is shown when these lines are typed, from the first answer on."""
    out, left = io.StringIO(), iter(lines)
    stepped(session or Session(compile_text(RULES, "errands.yaml")), lambda: next(left, None), out)
    return out.getvalue()


def after(*lines: str) -> str:
    """What is shown after the last of these lines."""
    before = typed(*lines[:-1])
    whole = typed(*lines)
    assert whole.startswith(before)
    return whole[len(before) :]


BEGIN = "errand = begin(b1, 'a')"


def test_the_state_and_the_next_steps_are_shown_at_the_start() -> None:
    shown = typed()
    assert "clock 0 ms, shut false" in shown
    assert "   1  begin(b1, 'Label-1')" in shown
    assert "end(" not in shown  # there is nothing to end
    assert "others, those included that change nothing or are refused" in shown


def test_a_number_makes_a_call_and_shows_its_reply_and_the_state() -> None:
    shown = after("1")
    assert "  begin(b1, 'Label-1')\n    gives {id: errand-1, label: Label-1}" in shown
    assert "Errand    state  boy  label" in shown
    assert "errand-1  going  b1   Label-1" in shown


def test_a_typed_call_works_and_names_its_reply() -> None:
    shown = after(BEGIN, "end(errand.id)")
    assert "end('errand-1')\n    carried out\n    signal Bell(boy: b1)" in shown
    assert "Over, waiting to be sent  to  label" in shown
    sent = after(BEGIN, "end(errand.id)", "tell()")
    assert "Over, sent  to  label" in sent


def test_what_the_spec_leaves_open_is_said() -> None:
    assert "nothing changes: it may be refused or accepted" in after(BEGIN, "end(errand.id)", "end('errand-1')")
    assert "accepted, and nothing changes" in after(BEGIN, "end(errand.id)", "end('errand-1')")
    assert "it may be refused as well, with busy" in after("tire(b1)", BEGIN)


def test_new_texts_are_shown_as_they_are_also_in_lists() -> None:
    assert "count(['Label-1'])" in after("more")
    assert "count(['fresh-label-1', 'b'])" in after("count([fresh, 'b'])")


def test_a_refusal_is_shown_with_its_code() -> None:
    assert "end('nobody')\n    refused not_found" in after("end('nobody')")


def test_a_step_of_the_system_is_offered_and_taken() -> None:
    shown = after("tire(b2)")
    assert "   1  (by itself) rest(b2)" in shown
    assert "the system does rest(b2) by itself" in after("tire(b2)", "1")
    assert "(by itself)" not in after("tire(b2)", "1")


def test_a_step_can_be_taken_back_with_the_name_that_it_gave() -> None:
    assert "Errand" not in after(BEGIN, "back")
    assert "nothing here is called 'errand'" in after(BEGIN, "back", "end(errand.id)")
    assert "gives {id: errand-1" in after(BEGIN, "back", BEGIN)
    assert "There is no step to take back." in after("back")


def test_what_a_call_might_have_been_answered_is_said_of_that_call_also_after_steps_that_were_taken_back() -> None:
    assert "it may be refused as well" in after(BEGIN, "back", "tire(b1)", BEGIN)
    assert "it may be refused" not in after("tire(b1)", BEGIN, "back", "begin(b2, 'a')")
    assert "it may be refused" not in after("tire(b1)", "1", "back", "begin(b2, 'a')")


def test_a_name_alone_is_no_step_to_take_back() -> None:
    assert after(BEGIN, "left = 3 + 4") == ""
    assert "Errand    state" not in after(BEGIN, "left = 3 + 4", "back")


def test_time_passes() -> None:
    assert "clock 25 ms" in after("wait 25")
    assert "clock 25 ms" in after("wait(25)")
    assert "whole number of milliseconds, and this is soon" in after("wait soon")


def test_timers_that_run_are_shown_and_the_wait_for_each_is_offered() -> None:
    lines = ("register(bash, 'x')", "tool()")
    shown = typed(*lines, session=Session(load("job"))).splitlines()
    at = next(number for number, line in enumerate(shown) if line.split() == ["Timer", "of", "fires", "in", "ms"])
    assert shown[at + 1].split() == ["waiting.0", "call-3", "30000"]  # the first of two timers of that state
    assert [line.split()[-1] for line in shown if "wait(" in line] == ["wait(30000)"]
    assert not any("Timer" in line for line in shown[:at])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "Type a number or a call"),
        ("0", "There is no step 0: they are numbered from 1 to"),
        ("9999", "There is no step 9999"),
        ("1" * 5000, "There is no step 111"),
        ("begn(b1, 'x')", "did you mean 'begin'?"),
        ("begin(b1)", "begin takes (boy, label, note), and 1 argument is given"),
        ("end(errand-1)", "An id stands in quotes: 'errand-1'."),
        ("begin(", "Not done: "),
        ("foo", "`help` lists what can be typed"),
        ("errand.id", "calls nothing"),
        ("guess('errand-1')", "the spec does not say what guess does here"),
        ("x = errand.id + 1", "Not done: "),
        ("begin(b1, text('x', 0))", "Not done: "),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_lost(line: str, said: str) -> None:
    assert said in after(BEGIN, line)
    assert "Errand    state" in after(BEGIN, line, "state")
    assert "end('errand-1')" in after(BEGIN, line, "end(errand.id)")


def test_more_lists_every_step_and_help_what_can_be_typed() -> None:
    listed = after(BEGIN, "more")
    assert "end('Errand-2')" in listed or "end('Errand-3')" in listed
    assert "others, those included" not in listed
    assert "save FILE" in after("help")


@pytest.mark.parametrize("word", ["quit", "exit"])
def test_it_ends_where_that_is_typed(word: str) -> None:
    assert typed(word, "wait 5") == typed()


def test_the_calls_are_saved_as_a_row_with_what_was_answered(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    shown = after(BEGIN, "end(errand.id)", f"save {file}")
    assert f"Saved as row S2 in {file}" in shown  # the spec has an S1
    text = file.read_text(encoding="utf-8")
    assert "last = end(errand.id)" in text
    assert "last.signals.Bell.size() == 1" in text
    typed(BEGIN, f"save {file}")
    rows = file.read_text(encoding="utf-8")
    assert "S3:" in rows
    whole = tmp_path / "errands.yaml"
    whole.write_text(RULES + "".join(f"  {line}\n" for line in rows.splitlines()), encoding="utf-8")
    code, results = whole_run("model", load(whole), only=["S1", "S2", "S3"])
    assert (code, {each.verdict for each in results}) == (EXIT_CONFORMS, {Verdict.PASS})


@pytest.mark.thorough
def test_a_row_says_what_was_answered_where_conditions_make_it_no_must(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"  # a must asks for no policy that is only recommended
    typed("job = register(bash, 'x')", "list()", f"save {file}", session=Session(load("job")))
    text = file.read_text(encoding="utf-8")
    assert "level: should" in text
    assert "last[0].job_id == job.job_id" in text
    assert "policies." not in text


def test_a_row_with_steps_of_the_system_claims_nothing(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    typed("tire(b2)", "1", f"save {file}")
    text = file.read_text(encoding="utf-8")
    assert "# the implementation takes rest(b2) unasked" in text
    assert "- true" in text


def test_what_cannot_be_saved_is_said(tmp_path: Path) -> None:
    assert "save takes the file" in after("save")
    assert "Not saved: nothing was called yet." in after(f"save {tmp_path / 'x.yaml'}")
    assert f"{tmp_path} cannot be written" in after(BEGIN, f"save {tmp_path}")
    assert "Not saved: the spec has no clause" in after("wait 5", f"save {tmp_path / 'x.yaml'}")
    assert "cannot be written" in after(BEGIN, "save a\0b")
    (tmp_path / "bytes").write_bytes(b"\xff")
    assert "it is no text" in after(BEGIN, f"save {tmp_path / 'bytes'}")


def test_limits_are_declared(tmp_path: Path) -> None:
    session = Session(load(spec(tmp_path)), {"kept": 0})
    assert "Errand    state" not in typed(BEGIN, "end(errand.id)", session=session).rpartition("carried out")[2]
    file = tmp_path / "mine.yaml"
    typed(f"save {file}", session=session)
    assert "kept" in file.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="none"):
        Session(load(spec(tmp_path)), {"none": 0})


def test_a_table_that_is_too_wide_comes_in_parts_and_long_values_are_cut() -> None:
    session = Session(compile_text(RULES, "errands.yaml"))
    session.typed("begin(b1, 'one two three four five six seven')")
    lines = list(state_lines(session.compiled.kernel, session.model, 24))
    assert sum(line.startswith("Errand ") for line in lines) == 2
    assert any(line.endswith("…") for line in lines)


def test_values_are_written_as_the_language_of_specs_does() -> None:
    values = [None, True, False, 3, "a b", "", [1, "x"], {"a": None}, Document("x", inline=False)]
    written = ["null", "true", "false", "3", "'a b'", "''", "[1, x]", "{a: null}", "a file of 'x'"]
    assert [value_text(value) for value in values] == written
    assert [value_text(value) for value in (ANYTHING, [CHOSEN], SuchAs(3))] == ["…", "[…]", "such as 3"]


@pytest.mark.parametrize("name", sorted(shipped()))
def test_whatever_is_typed_it_goes_on(name: str) -> None:
    for number in range(3):
        chooser = random.Random(number)
        lines = [str(chooser.randint(1, 12)) for _ in range(60)]
        assert "clock" in typed(*lines, session=Session(load(name)))


# ── As a command ──


def test_the_command_reads_a_pipe_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("begin(b1, fresh)\nnonsense\n"))
    assert main(["step", str(spec(tmp_path)), "--limit", "kept=3"]) == 0
    shown = capsys.readouterr().out
    assert "> begin(b1, fresh)\n  begin(b1, 'fresh-label-1')" in shown
    assert shown.endswith("> \n")


def test_the_command_ends_where_there_is_no_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert main(["step", str(spec(tmp_path))]) == 0
    assert "clock 0 ms" in capsys.readouterr().out


def test_a_limit_that_there_is_not_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["step", str(spec(tmp_path)), "--limit", "none=3"]) == 2
    assert "none" in capsys.readouterr().err


@pytest.mark.parametrize(
    "chosen", ["--limit=kept=[1]", f"--limit=kept={'9' * 5000}", "--limit=kept=٣", "--policy=polite=" + "[" * 100_000]
)
def test_a_limit_that_is_no_number_and_a_list_that_is_none_are_refused(
    chosen: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["step", str(spec(tmp_path)), chosen]) == 2
    assert "the kit itself failed" not in capsys.readouterr().err


def test_a_state_from_which_the_model_cannot_go_on_offers_what_it_can_and_loses_nothing() -> None:
    odd = RULES.replace("    takes: {}\n    sends", "    takes: {by: int}\n    requires: {odd: 10 / by > 1}\n    sends")
    session = Session(compile_text(odd, "errands.yaml"))
    shown = typed("begin(b1, 'a')", "tell(0)", "state", session=session)
    assert "Not done: cannot be evaluated" in shown
    assert shown.count("errand-1  going") == 2
    (none,) = [each for each in session.candidates() if each.operation == "tell" and each.arguments == {"by": 0}]
    with pytest.raises(NotTaken, match="the model cannot do that"):
        session.take(none)
    assert len(session.made) == 1
