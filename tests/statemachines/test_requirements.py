"""What a revision requires is frozen: a spec that requires more, or else, without a raised version is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from statemachines.checks import check
from statemachines.compile import Compiled, load
from statemachines.diagnostics import SpecError
from statemachines.requirements import frozen_sets, frozen_text, requirements_folder, requirements_of, row_hash
from statemachines.specs import shipped

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

matrix: [normal]
"""
ROWS = """\
title: Normal use
level: must

rows:
  N1:
    about: A job that is finished is done.
    source: the handbook
    covers: [entities.Job, operations.start, operations.finish.move, operations.inspect.gives]
    act:
      - job = start()
      - finish(job.job_id)
    assert: inspect(job.job_id).status == done

  N2:
    about: A job runs at first.
    level: should
    source: the handbook
    covers: [operations.finish.move]
    arrange: [job = start()]
    act:
      - first = inspect(job.job_id)
      - finish(job.job_id)
    assert: first.status == running && inspect(job.job_id).status == done
"""


def written(folder: Path, rules: str = RULES, rows: str = ROWS) -> Compiled:
    """The small spec in a folder, perhaps with something changed."""
    (folder / "rows").mkdir(exist_ok=True, parents=True)
    (folder / "rules.yaml").write_text(rules, encoding="utf-8")
    (folder / "rows" / "normal.yaml").write_text(rows, encoding="utf-8")
    return load(folder)


def freeze(compiled: Compiled) -> None:
    """Write down what a spec requires now."""
    assert compiled.origin is not None
    folder = requirements_folder(compiled.origin)
    folder.mkdir(exist_ok=True)
    found = requirements_of(compiled.lifecycle)
    (folder / f"{found.revision}.yaml").write_text(frozen_text(found), encoding="utf-8")


def faults(folder: Path) -> list[str]:
    return [each.code for each in check(folder, quick=True).diagnostics]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The small spec, its revision 1 frozen."""
    freeze(written(tmp_path / "small"))
    return tmp_path / "small"


def test_what_was_frozen_is_read_back(spec: Path) -> None:
    compiled = load(spec)
    assert compiled.origin is not None
    assert frozen_sets(compiled.origin, compiled.lifecycle) == {1: requirements_of(compiled.lifecycle)}
    assert faults(spec) == []


def test_the_set_of_a_spec_in_one_file_lies_beside_it() -> None:
    assert requirements_folder(Path("specs/small.yaml")) == Path("specs/small.requirements")
    assert requirements_folder(Path("small/rules.yaml")) == Path("small/requirements")


ADDED = ROWS + "\n" + ROWS[ROWS.index("  N2:") :].replace("N2", "N3")
RAISED_LEVEL = ROWS.replace("    level: should\n", "")
LOWERED = ROWS.replace("level: should", "level: may")
REMOVED = ROWS[: ROWS.index("  N2:")]
OTHER_WORDS = ROWS.replace("A job runs at first.", "At first a job runs.").replace("the handbook", "chapter 3")
LAID_OUT = ROWS.replace("arrange: [job = start()]", "arrange:\n      - job = start()").replace(
    "== running", "==  running"
)
ASKS_MORE = ROWS.replace("first.status == running", "first.status == running && first.job_id == job.job_id")


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (ADDED, []),
        (LOWERED, []),
        (OTHER_WORDS, []),
        (LAID_OUT, []),
        (RAISED_LEVEL, ["frozen-level"]),
        (REMOVED, ["frozen-removed"]),
        (ASKS_MORE, ["frozen-changed"]),
    ],
)
def test_what_requires_more_or_else_needs_a_new_version(rows: str, found: list[str], spec: Path) -> None:
    written(spec, rows=rows)
    assert faults(spec) == found
    written(spec, RULES.replace("version: 1", "version: 2"), rows)
    assert faults(spec) == []


def test_a_fault_says_where_and_what_to_do(spec: Path) -> None:
    written(spec, rows=REMOVED)
    (fault,) = check(spec, quick=True).diagnostics
    assert Path(fault.where.file).parts[-2:] == ("requirements", "1.yaml")
    assert fault.message == "revision 1 requires N2, and the spec has no such row"
    assert fault.hint == "bring it back, or raise `version` to 2, then `conformance freeze`"


def test_the_name_of_a_row_is_never_used_again(spec: Path) -> None:
    freeze(written(spec, RULES.replace("version: 1", "version: 2"), REMOVED))
    written(spec, RULES.replace("version: 1", "version: 3"))
    assert faults(spec) == ["frozen-again"]


def test_a_version_never_falls(spec: Path) -> None:
    freeze(written(spec, RULES.replace("version: 1", "version: 2")))
    written(spec)
    assert faults(spec) == ["frozen-later"]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("revision: 1", "revision: 2", "wrong-file"),
        ("lifecycle: small", "lifecycle: large", "wrong-file"),
        ("level: should", "level: perhaps", "bad-value"),
    ],
)
def test_a_file_that_somebody_has_edited_is_told(old: str, new: str, code: str, spec: Path) -> None:
    file = spec / "requirements" / "1.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert {*faults(spec)} == {code}
    compiled = load(spec)
    assert compiled.origin is not None
    with pytest.raises(SpecError, match=r"requirements/1\.yaml"):
        frozen_sets(compiled.origin, compiled.lifecycle)


def test_a_hash_holds_what_a_row_draws_needs_and_shares_with_its_group(tmp_path: Path) -> None:
    def said(rows: str) -> str:
        return row_hash(written(tmp_path / "small", rows=rows).lifecycle.rows["N2"])

    others = [
        ROWS.replace("level: must\n", "level: must\nneeds: clock\n"),
        ROWS.replace("level: must\n", "level: must\narrange: [start()]\n"),
        ROWS.replace("covers: [operations.finish.move]", "covers: [operations.finish.move, operations.start]"),
        ROWS + "    any: {number: {from: 1, to: 3, witness: 2}}\n",
    ]
    assert len({said(rows) for rows in (ROWS, *others)}) == 5


@pytest.mark.parametrize("name", shipped())
def test_revision_1_of_every_life_cycle_is_frozen(name: str) -> None:
    compiled = load(name)
    assert compiled.origin is not None
    (first,) = frozen_sets(compiled.origin, compiled.lifecycle).values()
    assert (first.revision, first.rows.keys()) == (1, compiled.lifecycle.rows.keys())
