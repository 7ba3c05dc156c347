"""A spec in a folder: its files make one tree, each fault is told in its file, and no row is lost unseen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from referencing import Registry, Resource

from statemachines.compile import load
from statemachines.diagnostics import SpecError
from statemachines.specs import shipped, spec_path
from statemachines.yaml import read_file, to_plain
from tests.checking import check_file, compile_text
from tests.one_text import one_text

RULES = """\
lifecycle: small
version: 1
about: A job runs until it is done.
entities:
  Job:
    id: minted
    states: {active: [running], terminal: [done]}
    shows: {job_id: job.id, status: job.state}
operations:
  start:
    create: {Job: {}}
    gives: {job_id: job.id}
  finish:
    takes: {job: Job}
    move: running -> done
  inspect:
    takes: {job: Job}
    gives: job
matrix: [normal, edge]
"""
NORMAL = """\
title: Normal use
level: must
arrange:
  - job = start()
rows:
  N1:
    about: A job that is finished is done.
    source: here
    covers: [entities.Job, operations]
    arrange: [before = inspect(job.job_id)]
    act: [finish(job.job_id)]
    assert: [before.status == running, inspect(job.job_id).status == done]
"""
EDGE = """\
title: Edge cases
needs: concurrency
rows:
  E1:
    about: Jobs that start at once are two.
    level: should
    source: here
    covers: [entities.Job.id]
    needs: clock
    act: ["both = together(start(), start())"]
    assert: both[0].job_id != both[1].job_id
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A spec that is right: rules, and two files of rows."""
    return written(tmp_path, rules=RULES, normal=NORMAL, edge=EDGE)


def written(folder: Path, **texts: str) -> Path:
    (folder / "rows").mkdir(exist_ok=True)
    for name, text in texts.items():
        path = folder / ("rules.yaml" if name == "rules" else f"rows/{name}.yaml")
        path.write_text(text, encoding="utf-8")
    return folder


def faults(folder: Path) -> list[str]:
    """What is told of a folder: the file below it, the place, the code."""
    found = check_file(folder).diagnostics
    assert all(each.hint and each.message for each in found)
    return [f"{str(each.where).removeprefix(f'{folder}/')} {each.code}" for each in found]


def hint(folder: Path) -> str:
    return check_file(folder).diagnostics[0].hint


def test_a_folder_is_a_spec(folder: Path) -> None:
    assert faults(folder) == []
    compiled = load(str(folder))
    assert list(compiled.lifecycle.rows) == ["N1", "E1"]
    assert compiled.called == f"{folder}/"


def test_the_groups_come_in_the_order_of_the_list(folder: Path) -> None:
    written(folder, rules=RULES.replace("[normal, edge]", "[edge, normal]"))
    assert list(load(str(folder)).lifecycle.rows) == ["E1", "N1"]


def test_a_row_has_what_its_group_says_before_what_it_says_itself(folder: Path) -> None:
    normal, edge = load(str(folder)).lifecycle.rows.values()
    assert (normal.group.title, normal.level) == ("Normal use", "must")
    assert [step.expr.text for step in normal.arrange] == ["start()", "inspect(job.job_id)"]
    assert (edge.group.title, edge.level) == ("Edge cases", "should")
    assert [need.text for need in edge.needs] == ["concurrency", "clock"]


def test_a_row_may_have_another_level_than_its_group(folder: Path) -> None:
    written(folder, normal=NORMAL.replace("  N1:\n", "  N1:\n    level: may\n"))
    assert load(str(folder)).lifecycle.rows["N1"].level == "may"


@pytest.mark.thorough
@pytest.mark.parametrize("name", shipped())
def test_a_folder_says_the_same_as_its_parts_in_one_text(name: str) -> None:
    whole, parts = compile_text(one_text(name), "one.yaml"), load(name)
    assert list(whole.lifecycle.rows) == list(parts.lifecycle.rows)
    assert whole.source == parts.source
    for row, other in zip(whole.lifecycle.rows.values(), parts.lifecycle.rows.values(), strict=True):
        assert (row.about, row.level, row.group.title) == (other.about, other.level, other.group.title)
        assert (len(row.needs), len(row.arrange)) == (len(other.needs), len(other.arrange))


def test_no_shipped_file_of_rows_is_long() -> None:
    lengths = {
        path: path.read_text(encoding="utf-8").count("\n")
        for rules in shipped().values()
        for path in rules.parent.glob("rows/*.yaml")
    }
    assert {path.name: count for path, count in lengths.items() if count > 620} == {}


@pytest.mark.parametrize("name", shipped())
def test_each_file_is_valid_by_the_schema_that_it_names_for_editors(name: str) -> None:
    """As it is written, with names of files in `matrix`: what an editor sees is one file."""
    schemas = spec_path(name).parent.parent.glob("*.schema.json")
    files = [(path.name, json.loads(path.read_text(encoding="utf-8"))) for path in schemas]
    registry: Registry[Any] = Registry().with_resources(
        (file, Resource.from_contents(content)) for file, content in files
    )
    written = (path for path in spec_path(name).parent.rglob("*.yaml") if path.parent.name != "requirements")
    for path in written:  # what is frozen nobody edits
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        named = path.parent / first.removeprefix("# yaml-language-server: $schema=")
        validator = Draft7Validator(json.loads(named.read_text(encoding="utf-8")), registry=registry)
        found = to_plain(read_file(path))
        assert not list(validator.iter_errors(found)), path
        assert isinstance(found, dict)
        assert list(validator.iter_errors({**found, "titel": "x"})), path


# ── Faults ───────────────────────────────────────────────────────────────────────────────────────


def test_a_fault_is_told_in_the_file_where_it_stands(folder: Path) -> None:
    written(folder, normal=NORMAL.replace("status == done", "status == don"))
    assert faults(folder) == ["rows/normal.yaml:12:70 unknown-name"]


def test_a_fault_of_what_a_group_shares_is_told_once(folder: Path) -> None:
    more = NORMAL.replace("start()", "strat()") + NORMAL[NORMAL.index("  N1:") :].replace("N1:", "N2:")
    assert faults(written(folder, normal=more)) == ["rows/normal.yaml:4:11 unknown-function"]


def test_faults_of_yaml_are_told_of_all_files_at_once(folder: Path) -> None:
    written(folder, normal="\ttitle: x\n", edge="title: [x\n")
    assert [fault.partition(":")[0] for fault in faults(folder)] == ["rows/edge.yaml", "rows/normal.yaml"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "1:1 yaml-empty"),
        ("[a]\n", "1:1 wrong-kind"),
        ("normal\n", "1:1 wrong-kind"),
        ("rows: {}\n", "1:1 missing-word"),
        (NORMAL.replace("title", "titel"), "1:1 unknown-word"),
        (NORMAL.replace("level: must\n", ""), "5:3 missing-word"),
    ],
)
def test_a_file_of_rows_has_its_own_structure(text: str, fault: str, folder: Path) -> None:
    assert f"rows/normal.yaml:{fault}" in faults(written(folder, normal=text))


def test_a_name_that_leads_to_no_file_is_told_where_it_stands(folder: Path) -> None:
    written(folder, rules=RULES.replace("normal", "nromal"))
    assert faults(folder) == ["rules.yaml:19:9 unread-rows", "rules.yaml:19:10 file-not-found"]
    assert check_file(folder).diagnostics[1].hint == "did you mean 'normal'?"


def test_a_file_that_is_not_named_is_told(folder: Path) -> None:
    written(folder, more=EDGE)
    assert faults(folder) == ["rules.yaml:19:9 unread-rows"]
    assert hint(folder) == "add more to the list, or take the file away"


@pytest.mark.parametrize("end", ["", "matrix: {}\n"])
def test_a_list_that_was_forgotten_is_told(end: str, folder: Path) -> None:
    written(folder, rules=RULES.replace("matrix: [normal, edge]\n", end))
    assert {fault.partition(" ")[2] for fault in faults(folder)} == {"unread-rows"}


def test_a_misspelt_list_is_told_as_such(folder: Path) -> None:
    written(folder, rules=RULES.replace("matrix:", "matrx:"))
    assert faults(folder) == ["rules.yaml:19:1 unknown-word"]
    assert "did you mean 'matrix'?" in hint(folder)


def test_rules_that_are_no_mapping_are_told_alone(folder: Path) -> None:
    written(folder, rules="- a\n")
    assert faults(folder) == ["rules.yaml:1:1 wrong-kind"]


@pytest.mark.parametrize("name", ["edge.yml", "edge.YAML", "edge.yaml.bak", "edge"])
def test_a_file_with_another_ending_is_told(name: str, folder: Path) -> None:
    (folder / "rows" / "edge.yaml").rename(folder / "rows" / name)
    assert faults(folder) == ["rules.yaml:19:9 unread-rows", "rules.yaml:19:18 file-not-found"]
    assert hint(folder) == f"a file of rows ends in .yaml: call it {Path(name).stem}.yaml, or take it away"


def test_a_folder_among_the_files_of_rows_is_told(folder: Path) -> None:
    (folder / "rows" / "more").mkdir()
    assert faults(folder) == ["rules.yaml:19:9 unread-rows"]


def test_a_file_that_is_named_twice_is_told(folder: Path) -> None:
    written(folder, rules=RULES.replace("[normal, edge]", "[normal, edge, edge]"))
    assert faults(folder) == ["rows/edge.yaml:1:1 bad-value"]


def test_two_rows_of_one_name_in_two_files_are_told(folder: Path) -> None:
    written(folder, edge=EDGE.replace("E1", "N1"))
    assert faults(folder) == ["rows/edge.yaml:4:3 duplicate-row"]
    assert f"{folder}/rows/normal.yaml:6:3" in check_file(folder).render()


def test_a_limit_holds_for_each_file(folder: Path) -> None:
    half = "#" * (600 * 1024) + "\n"
    assert faults(written(folder, normal=half + NORMAL, edge=half + EDGE)) == []
    written(folder, edge=half + half + EDGE)
    assert faults(folder) == ["rows/edge.yaml:1:1 file-too-large"]


def test_a_folder_without_rules_is_told(tmp_path: Path) -> None:
    assert faults(tmp_path) == ["rules.yaml:1:1 file-not-found"]
    assert hint(tmp_path) == "a spec is a file, or a folder with rules.yaml and its rows in rows/"


def test_a_text_alone_has_no_files_beside_it(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"there is no rows/normal\.yaml beside this file"):
        compile_text(RULES, str(tmp_path / "rules.yaml"))


def test_a_single_file_does_not_mind_other_files_in_a_folder_of_rows(tmp_path: Path) -> None:
    text = spec_path("thread-job").parent.parent.joinpath("README.md").read_text(encoding="utf-8")
    (tmp_path / "small.yaml").write_text(text.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    written(tmp_path, other=EDGE)
    assert check_file(tmp_path / "small.yaml").right
