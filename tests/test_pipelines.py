"""The snippets for pipelines: their commands are run, and turn red and stay green where they have to."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from statemachines.specs import spec_path
from tests.examples import ROOT, examples

ENDS_TWICE = """
class MyTasks:
    def __init__(self):
        self.tasks = {}

    def create_task(self, label, batch=None, registers=True):
        task = f"task-{len(self.tasks) + 1}"
        self.tasks[task] = "pending"
        return {"task_id": task, "status": "pending"}

    def start(self, task):
        self.tasks[task] = "running"

    def finish(self, task, outcome):
        self.tasks[task] = outcome

    def status(self, task):
        return self.tasks[task]
"""
RIGHT = ENDS_TWICE.replace(
    "        self.tasks[task] = outcome\n",
    '        if self.tasks[task] == "running":\n            self.tasks[task] = outcome\n',
)
KNOWN = "E5: {reason: until the queue is rewritten}\n"


def snippet(document: str, title: str) -> Any:
    """The YAML of a document that stands under a title."""
    text = (ROOT / document).read_text(encoding="utf-8")
    (found,) = (each for each in examples(document, text) if each.title == title)
    return yaml.safe_load(found.text)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of somebody's repository, with a system that has one known failure."""
    written(tmp_path, ENDS_TWICE)
    (tmp_path / "known.yaml").write_text(KNOWN, encoding="utf-8")
    (tmp_path / "bin").mkdir()
    command = (
        tmp_path / "bin" / "conformance"
    )  # `render` comes with another part of the kit: here it says how it was called
    command.write_text(
        f'#!/bin/sh\nif [ "$1" = render ]; then echo "rendered $*"; exit 0; fi\n'
        f'exec {shlex.quote(sys.executable)} -m conformance "$@"\n',
        encoding="utf-8",
    )
    command.chmod(0o755)
    return tmp_path


def written(folder: Path, system: str) -> None:
    for name in ("adapter.py", "tasks.py"):
        (folder / name).write_text(system, encoding="utf-8")


def shell(script: str, folder: Path, more: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a script as the runner of a pipeline does: it ends at the first command that fails."""
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **more}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def action(folder: Path, **given: str) -> tuple[list[str], str]:
    """Run the action with some inputs; return the steps that failed, and the summary of the job.

    What installs the kit is left out: it is installed here.
    """
    described = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert [name for name in given if name not in described["inputs"]] == []
    inputs = {name: given.get(name, str(each.get("default", ""))) for name, each in described["inputs"].items()}
    failed: list[str] = []
    summary = folder / "summary.md"
    for step in described["runs"]["steps"][1:]:
        if "inputs.before" in step.get("if", "") and not inputs["before"]:
            continue
        if failed and "!cancelled()" not in step.get("if", ""):
            continue
        values = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: inputs[m[1]], said)
            for name, said in step["env"].items()
        }
        assert "${{" not in step["run"], "what an input holds never becomes part of a script"
        if shell(step["run"], folder, {**values, "GITHUB_STEP_SUMMARY": str(summary)}).returncode:
            failed.append(step["name"])
    return failed, summary.read_text(encoding="utf-8") if summary.exists() else ""


def of_readme(**more: str) -> dict[str, str]:
    """The inputs of the snippet in the README, and some more."""
    steps = snippet("README.md", "conformance.yml")["jobs"]["conformance"]["steps"]
    (given,) = (step["with"] for step in steps if "lifecycle-conformance" in step["uses"])
    return {**given, **more}


FEW = {"rows": "N1,E5"}


@pytest.mark.thorough
def test_the_pipeline_of_the_readme_is_green_on_a_known_failure_and_red_on_another_and_on_a_stale_one(
    checkout: Path,
) -> None:
    assert action(checkout, **of_readme(**FEW)) == ([], "rendered render conformance.jsonl --as markdown\n")
    assert (checkout / "conformance.jsonl.xml").exists()

    written(checkout, ENDS_TWICE.replace('self.tasks[task] = "running"', "pass"))
    assert action(checkout, **of_readme(**FEW))[0] == ["Run"]

    written(checkout, RIGHT)
    assert action(checkout, **of_readme(**FEW))[0] == ["Run"]
    (checkout / "known.yaml").write_text("", encoding="utf-8")
    assert action(checkout, **of_readme(**FEW))[0] == []


@pytest.mark.thorough
def test_it_is_red_where_something_got_worse_since_an_earlier_run(checkout: Path) -> None:
    written(checkout, RIGHT)
    given = {**of_readme(**FEW), "baseline": ""}
    assert action(checkout, **given, report="before.jsonl")[0] == []
    written(checkout, ENDS_TWICE)
    listed = {**given, "baseline": "known.yaml"}
    assert action(checkout, **listed, before="before.jsonl")[0] == ["Compare with an earlier run"]
    assert action(checkout, **listed, before="conformance.jsonl", report="again.jsonl")[0] == []


def test_every_input_of_the_documents_is_one_of_the_action() -> None:
    described = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    steps = snippet("docs/pipelines.md", "conformance.yml")["jobs"]["conformance"]["steps"]
    (given,) = (step["with"] for step in steps if "lifecycle-conformance" in step["uses"])
    assert {*given, *of_readme()} <= {*described["inputs"]}
    needed = {name for name, each in described["inputs"].items() if each.get("required")}
    assert needed <= {*given} & {*of_readme()}
    assert '"$GITHUB_ACTION_PATH"' in described["runs"]["steps"][0]["run"]


@pytest.mark.thorough
def test_the_job_for_gitlab_runs(checkout: Path) -> None:
    job = snippet("docs/pipelines.md", ".gitlab-ci.yml")["conformance"]
    install, run = job["script"]
    assert install == 'python -m pip install "$CONFORMANCE_KIT"'
    done = shell(f"{run} --rows N1,E5", checkout, {})
    assert done.returncode == 0, done.stdout
    assert [
        each
        for each in (*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"])
        if not (checkout / each).exists()
    ] == []
    written(checkout, RIGHT)
    assert shell(f"{run} --rows N1,E5", checkout, {}).returncode == 1


@pytest.mark.thorough
def test_the_hook_checks_the_specs_that_it_is_given(checkout: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (used,) = snippet("docs/pipelines.md", ".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert used["id"] == hook["id"]
    spec = checkout / used["args"][0]
    spec.parent.mkdir(parents=True)
    subprocess.run(["cp", "-r", spec_path("task-progress").parent, spec], check=True)
    command = f"{hook['entry']} {shlex.join(used['args'])}"
    assert shell(command, checkout, {}).returncode == 0
    rows = spec / "rows" / "normal.yaml"
    assert re.search(hook["files"], str(rows))
    rows.write_text(rows.read_text(encoding="utf-8").replace("level: must", "level: mist"), encoding="utf-8")
    done = shell(command, checkout, {})
    assert (done.returncode, "bad-value" in done.stdout) == (2, True)
