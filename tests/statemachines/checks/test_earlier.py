"""What is known to be right is not looked at again; whatever has changed is, and says the same as a first look."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from statemachines.bounds import USUAL
from statemachines.checks import earlier, rows
from statemachines.checks.spec import Checked, check_tree
from statemachines.explore import explore
from statemachines.yaml import read
from tests.statemachines.checks.test_check import SMALL, edited

FIRST = SMALL + (
    "  N2:\n    about: A job starts.\n    level: must\n    source: '1'\n    covers: operations.start\n"
    "    act:\n      - job = start(t1, fresh)\n    assert: inspect(job.job_id).status == running\n"
)


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was looked at, the names of rows and `scope`, in order."""
    seen: list[str] = []
    trial = rows._Trial

    def tried(*of: object) -> object:
        seen.append(of[2].row.id.text)  # type: ignore[attr-defined]  # the program is the third
        return trial(*of)  # type: ignore[arg-type]  # as they came

    def explored(*of: object, **how: object) -> object:
        seen.append("scope")
        return explore(*of, **how)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(rows, "_Trial", tried)
    monkeypatch.setattr("statemachines.checks.exploration.explore", explored)
    return seen


def checked(text: str, folder: Path | None, *, quick: bool = False) -> Checked:
    """Check a text beside what is kept in a folder; how long it took, and what it did not look at, does not count."""
    bounds = USUAL.quick() if quick else USUAL
    return replace(check_tree(lambda: read(text, "small.yaml"), bounds, cache=folder), seconds=0.0, unchanged=0)


def test_what_has_not_changed_is_not_looked_at_again(tmp_path: Path, looked: list[str]) -> None:
    first = checked(FIRST, tmp_path)
    assert first.right
    assert looked == ["N1", "N2", "scope"]
    assert checked(FIRST, tmp_path) == first
    assert checked(f"# A comment moves all lines.\n{FIRST}", tmp_path) == first
    assert looked == ["N1", "N2", "scope"]
    assert checked(FIRST, None) == first
    assert looked == ["N1", "N2", "scope"] * 2


def test_a_row_that_says_something_else_is_run_again_and_no_other(tmp_path: Path, looked: list[str]) -> None:
    checked(FIRST, tmp_path)
    looked.clear()
    other = FIRST.replace("(job.job_id).status == running", "(job.job_id).status == done")
    found = checked(other, tmp_path)
    assert looked == ["N2"]
    assert [each.code for each in found.diagnostics] == ["row-fails"]
    assert checked(other, tmp_path) == found == checked(other, None), "a fault is told each time"
    assert checked(FIRST, tmp_path).right


def test_the_level_of_a_row_counts(tmp_path: Path, looked: list[str]) -> None:
    """Of a must it is asked whether its `needs` are wanted at all."""
    strict = ("    needs: limits.kept >= 1\n", "    needs: limits.kept >= 4\n")
    checked(edited(strict, ("    level: must\n", "    level: should\n")), tmp_path)
    looked.clear()
    found = checked(edited(strict), tmp_path)
    assert looked == ["N1"]
    assert found == checked(edited(strict), None)


def test_after_a_rule_has_changed_everything_is_looked_at_again(tmp_path: Path, looked: list[str]) -> None:
    checked(FIRST, tmp_path)
    looked.clear()
    wrong = FIRST.replace("    move: active -> outcome\n", "    move: active -> failed\n")
    found = checked(wrong, tmp_path)
    assert looked == ["N1", "N2", "scope"]
    assert "row-fails" in {each.code for each in found.diagnostics}
    assert found == checked(wrong, None)


def test_a_scope_with_a_fault_is_explored_each_time(tmp_path: Path, looked: list[str]) -> None:
    wrong = edited(("job.terminal == (job.ended_at != null)", "job.state != done"))
    found = checked(wrong, tmp_path)
    assert checked(wrong, tmp_path) == found
    assert looked.count("scope") == 2
    assert "invariant-broken" in {each.code for each in found.diagnostics}


def test_a_clause_that_nothing_comes_to_is_told_each_time(tmp_path: Path) -> None:
    idle = edited(("    when: thread.idle && due", "    when: thread.idle && limits.kept > 9 && due"))
    found = checked(idle, tmp_path)
    assert "dead-clause" in {each.code for each in found.diagnostics}
    assert checked(idle, tmp_path) == found


def test_a_quick_look_is_no_whole_one(tmp_path: Path, looked: list[str]) -> None:
    checked(FIRST, tmp_path, quick=True)
    looked.clear()
    assert checked(FIRST, tmp_path) == checked(FIRST, None)
    assert looked == ["N1", "N2", "scope"] * 2


def test_another_state_of_the_kit_looks_again(
    tmp_path: Path, looked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(FIRST, tmp_path)
    looked.clear()
    (tmp_path / "kit").mkdir()
    file = tmp_path / "kit" / "rows.py"
    for text in ("worse", "other", "other"):
        file.write_text(text, encoding="utf-8")
        monkeypatch.setattr(earlier, "_KIT", earlier._kit(tmp_path / "kit"))
        checked(FIRST, tmp_path / "cache")
    assert looked == ["N1", "N2", "scope"] * 2


def test_blanks_within_a_text_count_and_others_do_not(tmp_path: Path, looked: list[str]) -> None:
    odd = FIRST.replace("assert: inspect(job.job_id).status == running", "assert: text('a  b', 4) == 'a  b'")
    assert checked(odd, tmp_path).right
    looked.clear()
    assert checked(odd.replace(") == ", ")   == "), tmp_path).right
    assert looked == []
    found = checked(odd.replace("== 'a  b'", "== 'a b'"), tmp_path)
    assert [each.code for each in found.diagnostics] == ["row-fails"]


@pytest.mark.parametrize(
    "kept", ["", "[]", "{", '{"of": 3}', "\x00", '{"of": "%s", "rows": 3, "scope": null}', "[" * 100_000]
)
@pytest.mark.parametrize("signed", [True, False])
def test_a_file_that_says_nothing_is_none(kept: str, signed: bool, tmp_path: Path, looked: list[str]) -> None:
    first = checked(FIRST, tmp_path)
    (file,) = tmp_path.iterdir()
    key = file.read_text(encoding="utf-8").split('"')[3]
    looked.clear()
    body = kept.replace("%s", key)
    file.write_text(f"{earlier._hash(body)}\n{body}" if signed else body, encoding="utf-8")
    assert checked(FIRST, tmp_path) == first
    assert looked == ["N1", "N2", "scope"]


def test_a_file_that_somebody_has_changed_is_none(tmp_path: Path, looked: list[str]) -> None:
    first = checked(FIRST, tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text(encoding="utf-8").replace("[1, ", "[2, "), encoding="utf-8")
    looked.clear()
    assert checked(FIRST, tmp_path) == first
    assert looked == ["N1", "N2", "scope"]


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert checked(FIRST, tmp_path / "file" / "below") == checked(FIRST, None)


def test_only_what_is_there_is_kept(tmp_path: Path) -> None:
    checked(FIRST, tmp_path)
    (file,) = tmp_path.iterdir()
    before = file.stat().st_size
    checked(SMALL, tmp_path)
    assert file.stat().st_size < before
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
