"""Skeletons: what each says in its language, and that what is not filled in is told to be missing."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import conformance
from conformance.defaults import LANGUAGES
from conformance.skeleton import WRITERS, skeleton
from conformance.system import Broken
from conformance.verdict import Verdict
from statemachines.compile import load
from statemachines.specs import shipped
from tests.conformance.systems import adapted

GOLDEN = Path(__file__).parents[2] / "golden" / "task-progress.ts"
NODE = ("javascript", "typescript")
LONGEST = 120  # lines
BODIES: dict[str, str] = {
    "create_task": "this.tasks.push('pending'); return { task_id: `task-${this.tasks.length}`, status: 'pending' };",
    "start": "this.tasks[number(asked.task)] = 'running';",
    "finish": "this.tasks[number(asked.task)] = asked.outcome;",
    "status": "const found = this.tasks[number(asked.task)]; if (!found) throw new Refused('not_found'); return found;",
}

# What a skeleton uses of node, where the types of node are not installed.
NODE_TYPES = """
declare module "node:async_hooks" {
  export class AsyncLocalStorage<T> { getStore(): T | undefined; run<R>(store: T, body: () => R): R; }
}
declare module "node:readline" {
  export function createInterface(from: { input: unknown }): { on(event: "line", heard: (line: string) => unknown): void };
}
declare const process: { stdin: unknown; stdout: { write(text: string): boolean } };
"""


def needs(program: str) -> Callable[[Any], Any]:
    """Skip where a program is not there."""
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not there")


def test_every_language_that_can_be_asked_for_has_a_writer() -> None:
    assert tuple(WRITERS) == LANGUAGES


@pytest.mark.parametrize("language", NODE)
@pytest.mark.parametrize("name", shipped())
def test_a_skeleton_is_short_and_says_what_each_mandatory_operation_is_about(name: str, language: str) -> None:
    compiled = load(name)
    text = skeleton(compiled, language)
    assert len(text.splitlines()) <= LONGEST
    controls, product = text.split("// ── The operations of your product")
    for operation in compiled.kernel.operations:
        where = controls if operation.control else product
        assert (f"async {operation.name}(" in where) == (not operation.optional)
        assert operation.optional or " ".join(operation.about.split()) in where
        for parameter in () if operation.optional else operation.parameters:
            assert f"{parameter.name}{'?' if parameter.default is not None else ''}: " in where


def test_a_skeleton_in_typescript_is_as_it_was() -> None:
    assert skeleton(load("task-progress"), "typescript") == GOLDEN.read_text(encoding="utf-8")


@needs("tsc")
@pytest.mark.thorough
@pytest.mark.parametrize("name", shipped())
def test_a_skeleton_in_typescript_is_compiled(name: str, tmp_path: Path) -> None:
    (tmp_path / "adapter.mts").write_text(skeleton(load(name), "typescript"), encoding="utf-8")
    (tmp_path / "node.d.ts").write_text(NODE_TYPES, encoding="utf-8")
    asked = ["tsc", "--strict", "--target", "es2022", "--module", "nodenext", "adapter.mts", "node.d.ts"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert "missing()" in (tmp_path / "adapter.mjs").read_text(encoding="utf-8")


@needs("node")
@pytest.mark.thorough
def test_what_is_not_filled_in_is_not_there(tmp_path: Path) -> None:
    compiled = load("task-progress")
    (tmp_path / "adapter.mjs").write_text(skeleton(compiled, "javascript"), encoding="utf-8")
    target = f"stdio:node {tmp_path / 'adapter.mjs'}"
    with adapted(target, compiled) as adapter:
        for operation in compiled.kernel.operations:
            adapter.reset()
            with pytest.raises(Broken, match=f"^{operation.name} is not there$"):
                adapter.call(operation.name, {})
    report = conformance.run("task-progress", target, rows="N*,E*", quick=True)
    assert {each.verdict for each in report.rows} <= {Verdict.FAIL, Verdict.NOT_EXERCISED}


@needs("node")
@pytest.mark.thorough
@pytest.mark.parametrize("points", ["false", "true"])
def test_what_is_filled_in_passes_and_what_is_wrong_is_found(points: str, tmp_path: Path) -> None:
    text = skeleton(load("task-progress"), "javascript").replace("const points = false", f"const points = {points}")
    text = text.replace('concurrency: "none"', 'concurrency: "async"')
    for name, body in BODIES.items():
        text = text.replace(f"async {name}(asked) {{ missing(); }}", f"async {name}(asked) {{ {body} }}")
    text = text.replace("async close() {}", "tasks = [];\n  async close() {}")
    text += "const number = (task) => Number(task.split('-')[1]) - 1;\n"
    (tmp_path / "adapter.mjs").write_text(text, encoding="utf-8")
    report = conformance.run("task-progress", f"stdio:node {tmp_path / 'adapter.mjs'}", rows="N1,E5", quick=True)
    assert {each.id: each.verdict for each in report.rows} == {"N1": Verdict.PASS, "E5": Verdict.FAIL}
