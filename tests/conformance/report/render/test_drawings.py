"""The drawings of a report: a counterexample as a sequence, the states of a life cycle."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from conformance.report.render.life_cycle import GONE, life_cycle, ways
from conformance.report.render.sequence import SIGNS_ON_A_LINE, letters, sequence
from conformance.verdict import Counterexample, Made
from tests.conformance.report.render.samples import CHART, RACE, SECOND


def lines(drawing: str, style: str = "") -> list[str]:
    """The texts of a drawing from top to bottom, or those of one style."""
    found = ElementTree.fromstring(drawing).iter("text")
    texts = [((each.text or "").replace("\u00a0", " "), (each.get("class") or "").split()) for each in found]
    return [text for text, styles in texts if not style or style in styles]


def joined(said: list[str]) -> str:
    """Lines that are one text, as it was before it was wrapped."""
    return " ".join(" ".join(said).split())


def shapes(drawing: str, kind: str, style: str) -> list[ElementTree.Element]:
    return [each for each in ElementTree.fromstring(drawing).iter(kind) if style in (each.get("class") or "").split()]


# --- a counterexample -------------------------------------------------------------------------------------


def test_the_wrong_reply_is_marked_with_what_was_expected() -> None:
    drawing = sequence(SECOND, "N2")
    assert lines(drawing, "bad") == ["✗ 'failed'"]
    assert lines(drawing, "fine-note") == ["✓ expected: 'completed'"]
    assert len(shapes(drawing, "line", "bad")) == 1
    label = ElementTree.fromstring(drawing).get("aria-label")
    assert (
        label
        == "N2: 5 calls of the kit to the system, one below the other; it goes wrong at status(job='job-1') → 'failed'"
    )


def test_calls_that_come_again_and_again_are_drawn_once() -> None:
    said = lines(sequence(SECOND, ""))
    assert sum("finish(" in line for line in said) == 1
    assert "⋮ finish: 9 more times, with arguments of their own" in joined(said)


def test_a_cycle_of_calls_is_drawn_once_too() -> None:
    made = [Made(step, f"{'start' if step % 2 else 'wait'}({step})", began=1, ended=2) for step in range(1, 13)]
    last = Made(13, "look()", "1", began=1, ended=2, wrong=True)
    said = joined(lines(sequence(replace(SECOND, played=(*made, last)), "")))
    assert "start, wait: 5 more times" in said


def test_what_the_report_leaves_out_is_told() -> None:
    played = (Made(1, "a()", began=1, ended=2), Made(40, "b()", "2", began=3, ended=4, wrong=True))
    assert "⋮ 38 steps left out here" in lines(sequence(replace(SECOND, played=played), ""))


def test_calls_at_once_have_a_lane_each_from_where_they_began_to_where_they_came_back() -> None:
    drawing = sequence(RACE, "B4")
    assert "at once, by 2 callers" in lines(drawing)
    first, second = shapes(drawing, "rect", "bar")
    assert (first.get("class"), second.get("class")) == ("bar fine", "bar bad")
    spans = [(float(each.get("x", "")[:-1]), float(each.get("width", "")[:-1])) for each in (first, second)]
    assert spans[0][0] < spans[1][0]
    assert spans[0][0] + spans[0][1] > spans[1][0] + spans[1][1]
    assert len(shapes(drawing, "line", "track")) == 2
    assert "✓ The longest part that some order explains: A." in joined(lines(drawing))
    assert "✗ No order explains B as well." in lines(drawing)


def test_a_call_without_an_answer_is_open_at_its_end() -> None:
    hung = replace(RACE, played=(*RACE.played[:3], replace(RACE.played[3], gave="no answer", ended=0)))
    drawing = sequence(hung, "")
    assert shapes(drawing, "rect", "open")[0].get("class") == "bar bad open"
    assert "✗ No answer: B." in lines(drawing)


def test_where_only_signals_are_wrong_it_says_so() -> None:
    played = (*RACE.played[:3], replace(RACE.played[3], wrong=False, place=2))
    said = joined(lines(sequence(replace(RACE, played=played), "")))
    assert "In the order A, B each reply is right, but not all the signals." in said
    assert "✗ seen: turn_boundary" in said


def test_a_claim_of_a_row_that_no_call_breaks_stands_at_the_end() -> None:
    played = tuple(replace(each, wrong=False) for each in SECOND.played)
    assert lines(sequence(replace(SECOND, played=played), ""))[-2:] == ["✓ expected: 'completed'", "✗ seen: 'failed'"]


def test_no_line_is_too_wide_for_a_telephone() -> None:
    long = Made(1, f"start({'x' * 300}, {'y ' * 90})", "z" * 500, began=1, ended=2, wrong=True)
    found = replace(SECOND, played=(long,), expected="e" * 300)
    for drawing in (sequence(found, ""), sequence(RACE, "")):
        assert max(map(len, lines(drawing))) <= SIGNS_ON_A_LINE


def test_a_report_without_the_calls_has_no_drawing() -> None:
    assert sequence(Counterexample("C1:", 1, "", "", ""), "") == ""


def test_there_are_letters_for_any_number_of_calls() -> None:
    assert letters(3) == ["A", "B", "C"]
    assert letters(28)[-2:] == ["A2", "B2"]


# --- a life cycle -----------------------------------------------------------------------------------------


def test_what_does_the_same_in_several_states_is_one_way() -> None:
    found = {way.label: way for way in ways(CHART)}
    assert [*found] == ["start", "finish(outcome)", "progress", "Job retain", "after 5m"]
    assert found["Job retain"].sources == ("completed", "failed")
    assert found["Job retain"].targets == (GONE,)
    assert found["progress"].stays
    assert not found["finish(outcome)"].stays


def test_what_was_witnessed_is_told_from_what_was_not() -> None:
    drawing = life_cycle(CHART, {"operations.finish.move": 3})
    styles = {lines(ElementTree.tostring(way, "unicode"))[0]: way.get("class") for way in ways_in(drawing)}
    assert styles["✓ finish(outcome)"] == "way seen"
    assert styles["○ progress"] == "way never"
    assert (
        "finish(outcome): from running, to completed or failed (operations.finish.move); witnessed 3 times" in drawing
    )
    assert ElementTree.fromstring(drawing).get("aria-label") == "Job: 3 states, 5 arrows, 1 of 5 witnessed"


def ways_in(drawing: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(drawing).iter("g"))


def test_of_a_run_that_did_not_finish_nothing_is_said_of_witnesses() -> None:
    drawing = life_cycle(CHART, None)
    assert {way.get("class") for way in ways_in(drawing)} == {"way unknown"}
    assert "witnessed" not in drawing


def test_each_state_has_its_line_and_one_that_has_ended_a_double_edge() -> None:
    drawing = life_cycle(CHART, {})
    assert lines(drawing, "state") == ["running", "completed", "failed", GONE]
    assert len(shapes(drawing, "rect", "inner")) == 2


def test_an_arrow_points_to_where_it_leads() -> None:
    back = next(way for way in ways_in(life_cycle(CHART, {})) if "after 5m" in "".join(way.itertext()))
    (tip,) = (each.get("d") or "" for each in back.iter("path"))
    assert "l10," in tip  # its back lies to the right of its point: it leads left, from failed to running
