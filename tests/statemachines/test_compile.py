"""From a file to a model: what is compiled again, and what is not."""

from __future__ import annotations

from pathlib import Path

from statemachines import load
from tests.examples import ROOT


def test_a_spec_is_compiled_again_when_any_of_its_files_has_changed(tmp_path: Path) -> None:
    spec = tmp_path / "jobs"
    (spec / "rows").mkdir(parents=True)
    shipped = ROOT / "spec" / "thread-job"
    for path in (shipped / "rules.yaml", *shipped.glob("rows/*.yaml")):
        (spec / path.relative_to(shipped)).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    first = load(spec)
    assert load(spec) is first
    edited = spec / "rows" / "normal.yaml"
    edited.write_text(edited.read_text(encoding="utf-8").replace("about: ", "about: Now, ", 1), encoding="utf-8")
    second = load(spec)
    assert second is not first
    assert [row.about for row in second.lifecycle.rows.values()] != [row.about for row in first.lifecycle.rows.values()]
    assert load(spec) is second
