"""Two revisions of a small spec: what changed, in which groups, what becomes of systems, and what is told of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.command.cli import main
from conformance.differing import Part, Spec, SpecDiff, as_page, as_plain, differing
from statemachines.compile import compile_tree, spec_tree
from statemachines.yaml import Mapping

RULES = """
lifecycle: errands
version: 1
about: An errand is begun, and ends once.
limits:
  kept: {default: 9}
policies:
  polite: {one of: [yes, no], default: yes}
types:
  Size: {from: 1, to: 3}
entities:
  Errand:
    id: minted
    fields:
      size:    Size
      thanked: {type: bool, default: false}
    states: {active: [going], terminal: [done, dropped]}
    retain: {newest: limits.kept, of: terminal, by: [errand.completion]}
operations:
  begin:
    about: An errand begins.
    takes: {size: Size}
    create:
      Errand: {size: size}
    gives: {id: errand.id}
  finish:
    about: It ends.
    takes: {errand: Errand}
    move:
      going: done
    otherwise: unchanged
    set: {errand.thanked: "policies.polite == yes"}
  drop:
    about: It is given up.
    takes: {errand: Errand}
    move:
      going: dropped
    otherwise: refused over
  look:
    about: What is known of it.
    takes: {errand: Errand}
    gives: {state: errand.state, size: errand.size, thanked: errand.thanked}
"""
ROW = """
matrix:
  N1:
    about: An errand ends.
    level: must
    source: the source
    covers: [operations.finish.move]
    act: [errand = begin(1), finish(errand.id)]
    assert: look(errand.id).state == done
"""


def spec(folder: Path, name: str, text: str) -> Spec:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    tree = spec_tree(str(file))
    assert isinstance(tree, Mapping)
    return Spec(name, tree, compile_tree(tree, name))


def difference(folder: Path, *edits: tuple[str, str], old: str = RULES) -> SpecDiff:
    new = old
    for before, after in edits:
        assert before in new
        new = new.replace(before, after, 1)
    return differing(spec(folder, "old.yaml", old), spec(folder, "new.yaml", new))


def paths(part: Part) -> list[str]:
    return [each.path for each in part.changes]


def last_call(part: Part, direction: str) -> str:
    (witness,) = (each for each in part.witnesses if each.direction == direction)
    return next(line for line in witness.row.splitlines() if "last = " in line).strip(" -")


def test_an_answer_that_is_another_one_is_breaking_and_shown_both_ways(tmp_path: Path) -> None:
    found = difference(tmp_path, ("refused over", "refused too_late"))
    (part,) = found.parts
    assert (found.grade, paths(part), found.exit) == ("breaking", ["operations.drop.otherwise"], 1)
    assert {each.direction: (each.expected, each.seen) for each in part.witnesses} == {
        "less": ("refused too_late", "refused over"),
        "more": ("refused over", "refused too_late"),
    }
    assert last_call(part, "less") == "last = drop(errand.id)"


def test_what_was_left_open_and_is_not_any_more_is_tightening(tmp_path: Path) -> None:
    found = difference(tmp_path, ("otherwise: unchanged", "otherwise: refused over"))
    assert found.grade == "tightening"
    assert [each.direction for each in found.together.witnesses] == ["less"]


def test_what_is_left_open_is_loosening(tmp_path: Path) -> None:
    found = difference(tmp_path, ("otherwise: refused over", "otherwise: unchanged"))
    assert found.grade == "loosening"
    assert [each.direction for each in found.together.witnesses] == ["more"]


def test_changes_that_need_each_other_are_one_and_others_stand_alone(tmp_path: Path) -> None:
    found = difference(
        tmp_path,
        ("kept: {default: 9}", "kept: {default: 9}\n  most: {default: 2}"),
        (
            "    takes: {size: Size}\n    create",
            "    takes: {size: Size}\n    requires: {too_many: errands.size() < limits.most}\n    create",
        ),
        ("refused over", "refused too_late"),
    )
    assert sorted(map(paths, found.parts)) == [
        ["limits.most", "operations.begin.requires"],
        ["operations.drop.otherwise"],
    ]
    assert found.grade == "breaking"


def test_each_part_of_a_difference_has_a_class_of_its_own(tmp_path: Path) -> None:
    found = difference(
        tmp_path, ("otherwise: unchanged", "otherwise: refused over"), ("  look:\n", "  look:\n    optional: true\n")
    )
    assert {paths(each)[0]: each.grade for each in found.parts} == {
        "operations.finish.otherwise": "tightening",
        "operations.look.optional": "loosening",
    }
    assert found.grade == "breaking"


def test_a_default_of_a_limit_counts_for_those_who_declare_none_and_shows_with_small_limits(tmp_path: Path) -> None:
    found = difference(tmp_path, ("default: 9", "default: 7"))
    (fact,) = found.together.facts
    assert fact.words.startswith("whoever declares no kept has to keep to 7, and not to 9")
    assert found.grade == "breaking"
    assert "kept is 2 in place of 9, and 1 in place of 7" in found.together.witnesses[0].words


@pytest.mark.parametrize(
    ("before", "after", "grade"),
    [
        ("default: yes}", "default: no}", "breaking"),
        ("default: yes}", "default: any}", "loosening"),
        ("default: yes}", "default: yes, recommended: true}", "loosening"),
        ("{from: 1, to: 3}", "{from: 1, to: 4}", "tightening"),
        ("{from: 1, to: 3}", "{from: 1, to: 2}", "loosening"),
        ("  drop:\n", "  skip:\n    takes: {errand: Errand}\n    move: going -> dropped\n  drop:\n", "breaking"),
        ("    id: minted\n", "    id: minted once\n", "tightening"),
        ("{errand: Errand}\n    gives", "{errand: Errand, deep: {type: bool, default: false}}\n    gives", "breaking"),
        ("state: errand.state, ", "", "loosening"),
        ("size: errand.size, ", "", "loosening"),
        ("about: It ends.", "about: It is over.", "same"),
        ("kept: {default: 9}", "kept: {default: 9, about: how many}", "same"),
    ],
)
def test_what_becomes_of_systems(before: str, after: str, grade: str, tmp_path: Path) -> None:
    assert difference(tmp_path, (before, after)).grade == grade


def test_back_again_what_was_loosening_is_tightening(tmp_path: Path) -> None:
    new = RULES.replace("default: yes}", "default: any}")
    found = difference(tmp_path, ("default: any}", "default: yes}"), old=new)
    assert found.grade == "tightening"


def test_whoever_waits_is_told_how_far_a_comparison_has_come(tmp_path: Path) -> None:
    """One setting for what nobody declares, and one for each choice and limit that systems may declare."""
    old = spec(tmp_path, "old.yaml", RULES)
    new = spec(tmp_path, "new.yaml", RULES.replace("refused over", "refused too_late"))
    heard: list[tuple[int, int]] = []
    differing(old, new, told=lambda done, of: heard.append((done, of)))
    (of,) = {each for _, each in heard}
    assert [done for done, _ in heard] == [*range(of)]


def test_a_level_that_falls_is_shown_by_who_does_not_follow_the_clause(tmp_path: Path) -> None:
    found = difference(tmp_path, ("entities:", "should: [operations.finish.set.errand.thanked]\nentities:"))
    assert found.grade == "loosening"
    assert last_call(found.together, "more").startswith("last = look(")


def test_rows_and_words_alone_are_the_same_and_named(tmp_path: Path) -> None:
    found = difference(tmp_path, ("N1:", "N2:"), ("An errand is begun, and", "It"), old=RULES + ROW)
    assert (found.grade, found.exit) == ("same", 0)
    assert found.rows == [("N2", "added"), ("N1", "removed")]
    text = "\n".join(as_page(found))
    assert "about changed" in text
    assert "added: N2" in text


def test_a_difference_that_nobody_sees_is_the_same_as_far_as_was_compared(tmp_path: Path) -> None:
    found = difference(tmp_path, ("going: dropped\n", "going: dropped\n    set: {errand.thanked: errand.thanked}\n"))
    assert found.grade == "same"
    assert "No difference was found in the whole small scope" in "\n".join(as_page(found))


TIMED = """
lifecycle: doors
version: 1
about: A door is opened, and is looked at.
limits:
  open_for: {default: 50}
entities:
  Door:
    id: minted
    fields: {opened_at: {type: time, default: now}}
define:
  is_open(door): now < door.opened_at + limits.open_for
operations:
  open:
    about: A door is opened.
    create:
      Door: {opened_at: now}
    gives: {id: door.id}
  look:
    about: Whether it is open.
    takes: {door: Door}
    gives: {open: is_open(door)}
matrix: {}
"""


@pytest.mark.parametrize("back", [False, True])
def test_an_instant_that_only_one_revision_knows_is_waited_for(tmp_path: Path, *, back: bool) -> None:
    """Nothing in either model is due then: only who asks just then sees a difference."""
    change = (
        "now < door.opened_at + limits.open_for",
        "(now < door.opened_at + limits.open_for || now > door.opened_at + 600000)",
    )
    new = TIMED.replace(*change)
    both = [spec(tmp_path, "old.yaml", TIMED), spec(tmp_path, "new.yaml", new)]
    found = differing(*(reversed(both) if back else both))
    assert found.grade == "breaking"
    assert "wait(600001)" in found.together.witnesses[0].row


NOTE = "  Note:\n    fields: {text: {one of: [kind, curt]}}\noperations:\n"


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize(
    "edits",
    [
        [
            ("operations:\n", NOTE),
            ("    otherwise: unchanged\n", "    otherwise: unchanged\n    create: {Note: {text: kind}}\n"),
        ],
        [
            ("  Errand:\n    id", "  Trip:\n    id"),
            ("      Errand: {", "      Trip: {"),
            ("{errand: Errand}", "{errand: Trip}"),
            ("[errand.completion]", "[trip.completion]"),
            ("{id: errand.id}", "{id: trip.id}"),
        ],
    ],
    ids=["one more", "another name"],
)
def test_an_entity_of_one_revision_alone_is_compared(
    edits: list[tuple[str, str]], *, back: bool, tmp_path: Path
) -> None:
    text = RULES
    for before, after in edits:
        text = text.replace(before, after)
    both = [spec(tmp_path, "old.yaml", RULES), spec(tmp_path, "new.yaml", text)]
    found = differing(*(reversed(both) if back else both))
    assert (found.apart, found.together.configurations > 0) == ("", True)


def test_another_name_alone_is_the_same(tmp_path: Path) -> None:
    found = difference(tmp_path, ("errands\n", "trips\n"))
    assert (found.grade, found.exit) == ("same", 0)
    assert "two life cycles by their names" in found.apart


def test_life_cycles_with_nothing_in_common_are_said_to_be_so(tmp_path: Path) -> None:
    other = RULES.replace("errands\n", "trips\n", 1)
    for name in ("begin", "finish", "drop", "look"):
        other = other.replace(f"  {name}:\n", f"  {name}_it:\n")
    found = differing(spec(tmp_path, "old.yaml", RULES), spec(tmp_path, "new.yaml", other))
    assert (found.grade, found.exit) == ("breaking", 1)
    assert found.apart == (
        "They are two life cycles by their names, errands and trips, and they have no operation in common, "
        "so no call can be compared."
    )


def test_the_command_writes_json_and_ends_as_diff_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec(tmp_path, "old.yaml", RULES)
    spec(tmp_path, "new.yaml", RULES.replace("refused over", "refused too_late"))
    old, new = str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")
    assert main(["diff", old, old]) == 0
    assert "same" in capsys.readouterr().out
    assert main(["diff", old, new, "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["class"] == "breaking"
    assert [each["right_by"] for each in said["changes"][0]["shown_by"]] == ["old", "new"]
    assert main(["diff", old, new, "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == said


def test_a_spec_that_does_not_compile_is_a_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec(tmp_path, "old.yaml", RULES)
    (tmp_path / "new.yaml").write_text(RULES.replace("going: done", "going: gone"), encoding="utf-8")
    assert main(["diff", str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")]) == 2
    assert "nothing here is called 'gone'" in capsys.readouterr().err


def test_what_is_told_as_plain_values_says_how_far_both_were_compared(tmp_path: Path) -> None:
    said = as_plain(difference(tmp_path, ("otherwise: unchanged", "otherwise: refused over")))
    assert said["changes"][0]["configurations"] == 9
    assert said["whole_scope"] is True


RECOMMENDED = RULES.replace("default: yes}", "default: yes, recommended: true}")


def test_what_is_excused_where_nothing_is_declared_counts_of_systems_that_declare_the_usual_choice(
    tmp_path: Path,
) -> None:
    """Of who declares nothing any thanks are excused; who says that they are polite has thanked, and does not any more."""
    found = difference(tmp_path, ("policies.polite == yes", "policies.polite == no"), old=RECOMMENDED)
    assert found.grade == "breaking"
    assert {(each.level, each.words) for each in found.together.witnesses} == {("must", "polite is yes")}
