"""The vectors of the shipped life cycles: right systems pass them through either runner, and most of the wrong ones do not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from conformance.vectors import as_json, exported
from statemachines.specs import schema
from tests.conformance.lifecycles import SUITES, Suite, System, named, pairs
from tests.conformance.systems import adapted
from tests.tools.plain import plain
from tests.tools.vectors import RUNNERS, fails, run_vectors

QUICK = ("task-progress", "cli-job")  # whose vectors are made in some seconds; the soak takes the rest
ROOT = Path(__file__).parent.parent.parent.parent
HANGS = 0.4  # seconds, after which a call of a wrong system does not come back
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
File = Callable[[Suite, dict[str, Any], dict[str, Any]], Path]


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> File:
    """The file of a life cycle for some limits and choices, made once."""
    folder, made = tmp_path_factory.mktemp("vectors"), dict[str, Path]()

    def file(suite: Suite, limits: dict[str, Any], policies: dict[str, Any]) -> Path:
        key = json.dumps([suite.name, limits, policies])
        if key not in made:
            made[key] = folder / f"{len(made)}.json"
            made[key].write_text(as_json(exported(suite.compiled, limits, policies)), encoding="utf-8")
        return made[key]

    return file


def each(marks: Callable[[Suite], bool]) -> Iterator[Any]:
    for suite in SUITES.values():
        mark = pytest.mark.thorough if marks(suite) else pytest.mark.soak
        yield pytest.param(suite, marks=[pytest.mark.thorough, mark], id=suite.name)


quick = pytest.mark.parametrize("suite", list(each(lambda suite: suite.name in QUICK)))


@quick
def test_a_reference_passes_by_the_runner_in_python(suite: Suite, written: File) -> None:
    file = written(suite, {}, {})
    said = json.loads(file.read_text(encoding="utf-8"))
    assert [error.message for error in Draft7Validator(schema("vectors")).iter_errors(said)] == []
    assert run_vectors(file, plain(suite.name, "reference")) == (0, f"{len(said['vectors'])} passed\n")


@needs_node
@quick
def test_a_reference_passes_by_the_runner_in_javascript(suite: Suite, written: File) -> None:
    served = [sys.executable, "-m", "tests.tools.served", f"tests.tools.plain:{suite.name}"]
    file = written(suite, {}, {})
    code, printed = by_node(file, ROOT / "tests" / "tools" / "bridge.mjs", {"SERVED": json.dumps(served)})
    assert (code, printed) == (0, f"{len(json.loads(file.read_text())['vectors'])} passed\n")


@needs_node
@pytest.mark.soak
@pytest.mark.thorough
def test_the_registry_in_javascript_passes_by_its_runner(written: File) -> None:
    file = written(SUITES["thread-job"], {}, {})
    code, printed = by_node(file, RUNNERS / "thread-job.mjs", {})
    assert (code, printed) == (0, f"{len(json.loads(file.read_text())['vectors'])} passed\n")


@needs_node
@pytest.mark.thorough
def test_the_runner_in_javascript_sees_what_is_wrong(tmp_path: Path) -> None:
    adapter = tmp_path / "adapter.mjs"
    adapter.write_text(
        "export default class { look() { return this.value; } set({ value }) { this.value = value + 1; } }"
    )
    for reply, code in ((2, 0), (1, 1)):
        steps = [
            {"call": "set", "arguments": {"value": 1}, "answers": [{}]},
            {"call": "look", "arguments": {}, "answers": [{"reply": reply}]},
        ]
        file = tmp_path / "vectors.json"
        file.write_text(json.dumps({"vectors": [{"name": "N1", "steps": steps}]}), encoding="utf-8")
        assert by_node(file, adapter, {})[0] == code


def by_node(file: Path, adapter: Path, more: dict[str, str]) -> tuple[int, str]:
    """Return the exit code of the runner in JavaScript, and what it printed."""
    command = ["node", str(RUNNERS / "runner.mjs"), str(file), str(adapter)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **more}, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.thorough
def test_some_walks_of_a_tour_call_nothing_that_a_system_may_lack() -> None:
    suite = SUITES["task-progress"]
    optional = {name for name, each in suite.compiled.lifecycle.operations.items() if each.optional} | {"wait"}
    vectors = json.loads(as_json(exported(suite.compiled, {}, {})))["vectors"]
    tours = [{step["call"] for step in each["steps"]} for each in vectors if each["name"].startswith("tour/")]
    assert sum(not called & optional for called in tours) >= 3
    assert any(called & optional for called in tours)


@pytest.mark.parametrize("runner", ["runner.py", "runner.mjs"])
def test_a_runner_is_short(runner: str) -> None:
    assert len((RUNNERS / runner).read_text(encoding="utf-8").splitlines()) <= 60


# ── Right systems and wrong ones ──


@pytest.mark.soak
@pytest.mark.thorough
@pytest.mark.parametrize(("suite", "system"), pairs(lambda suite: suite.right), ids=named)
def test_no_right_system_is_accused(suite: Suite, system: System, written: File) -> None:
    limits, policies = declared(suite, system)
    code, printed = run_vectors(written(suite, limits, policies), plain(suite.name, system))
    assert code == 0, printed
    assert " passed" in printed


def declared(suite: Suite, system: System) -> tuple[dict[str, Any], dict[str, Any]]:
    """The limits and choices of a system."""
    with adapted(system, suite.compiled) as adapter:
        words = getattr(system, "declares", {})
        return dict(words.get("limits", adapter.declaration.limits)), dict(words.get("policies", {}))


LEAST = 0.5


@pytest.mark.soak
@pytest.mark.thorough
@pytest.mark.parametrize("suite", SUITES.values(), ids=named)
def test_most_lies_that_one_caller_can_show_fail(suite: Suite, written: File) -> None:
    """The figure is that of docs/vectors.md."""
    file = written(suite, {}, {})
    failing = [lie for lie in suite.sequential if fails(file, plain(suite.name, lie, HANGS), lie.row)]
    print(f"{suite.name}: {len(failing)} of {len(suite.sequential)}")
    assert len(failing) >= LEAST * len(suite.sequential)
