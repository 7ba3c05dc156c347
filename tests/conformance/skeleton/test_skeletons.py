"""Skeletons: what each says in its language, and that what is not filled in is told to be missing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import conformance
from conformance.defaults import LANGUAGES
from conformance.refused import Refused
from conformance.skeleton import WRITERS, skeleton
from conformance.system import Broken
from conformance.verdict import FROM_OUTSIDE, Verdict
from statemachines.compile import load
from statemachines.specs import shipped
from tests.conformance.systems import adapted

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden"
ENDINGS = {"typescript": "ts", "go": "go", "clojure": "clj"}  # of what nothing here need be able to run
TABLED = ("go", "rust", "java", "clojure")  # in which an operation is an entry of a table
NODE = ("javascript", "typescript")
LONGEST = 120  # lines
BODIES: dict[str, str] = {
    "create_task": "this.tasks.push('pending'); return { task_id: `task-${this.tasks.length}`, status: 'pending' };",
    "start": "this.tasks[number(asked.task)] = 'running';",
    "finish": "this.tasks[number(asked.task)] = asked.outcome;",
    "status": "const found = this.tasks[number(asked.task)]; if (!found) throw new Refused('not_found'); return found;",
}
RUST_BODIES: dict[str, str] = {
    "create_task": """{
        point("lock");
        let mut tasks = self.tasks.lock().unwrap();
        tasks.push("pending".to_owned());
        Ok(json!({"task_id": format!("task-{}", tasks.len()), "status": "pending"}))
    }""",
    "start": '{ self.tasks.lock().unwrap_or_else(|held| held.into_inner())[number(asked)] = "running".into(); Ok(Value::Null) }',
    "finish": '{ self.tasks.lock().unwrap()[number(asked)] = asked["outcome"].as_str().unwrap().into(); Ok(Value::Null) }',
    "status": """{
        point("lock");
        self.tasks.lock().unwrap().get(number(asked)).map(|task| json!(task.clone())).ok_or(Refused("not_found"))
    }""",
}
RUST_NUMBER = """
fn number(asked: &Value) -> usize {
    asked["task"].as_str().unwrap().rsplit('-').next().unwrap().parse().unwrap_or(0usize).wrapping_sub(1)
}
"""

# What skeletons use of libraries that need not be there.
SERDE = """
#[path = "{path}"] pub mod read;
pub use read::{{parse as from_str, Json as Value}};
impl Value {{
    pub fn as_i64(&self) -> Option<i64> {{ self.as_int() }}
    pub fn as_str(&self) -> Option<&str> {{ self.as_text() }}
}}
impl std::ops::Index<&str> for Value {{ type Output = Value; fn index(&self, name: &str) -> &Value {{ self.get(name) }} }}
macro_rules! from {{ ($($kind:ty, $given:ident => $made:expr;)*) => {{
    $(impl From<$kind> for Value {{ fn from($given: $kind) -> Value {{ $made }} }})*
}} }}
from! {{
    bool, given => Value::Bool(given);
    i32, given => Value::Int(given.into());
    i64, given => Value::Int(given);
    Option<i64>, given => given.map_or(Value::Null, Value::Int);
    &str, given => read::text(given);
    String, given => read::text(given);
}}
#[macro_export]
macro_rules! json {{
    (@ $to:ident) => {{}};
    (@ $to:ident $name:literal : {{ $($value:tt)* }} $(, $($rest:tt)*)?) => {{
        $to.push(($name.to_owned(), $crate::json!({{ $($value)* }}))); $($crate::json!(@ $to $($rest)*);)?
    }};
    (@ $to:ident $name:literal : [ $($value:tt)* ] $(, $($rest:tt)*)?) => {{
        $to.push(($name.to_owned(), $crate::json!([ $($value)* ]))); $($crate::json!(@ $to $($rest)*);)?
    }};
    (@ $to:ident $name:literal : null $(, $($rest:tt)*)?) => {{
        $to.push(($name.to_owned(), $crate::Value::Null)); $($crate::json!(@ $to $($rest)*);)?
    }};
    (@ $to:ident $name:literal : $value:expr $(, $($rest:tt)*)?) => {{
        $to.push(($name.to_owned(), $crate::json!($value))); $($crate::json!(@ $to $($rest)*);)?
    }};
    ({{ $($fields:tt)* }}) => {{{{
        #[allow(unused_mut)] let mut found = Vec::new();
        $crate::json!(@ found $($fields)*);
        $crate::Value::Object(found)
    }}}};
    ([ $($value:expr),* ]) => {{ $crate::Value::List(vec![$($crate::json!($value)),*]) }};
    ($value:expr) => {{ $crate::Value::from($value) }};
}}
"""
ORG_JSON = """
package org.json;
public class JSONObject {
    public static final Object NULL = new Object();
    public JSONObject() {}
    public JSONObject(String source) {}
    public JSONObject put(String name, Object value) { return this; }
    public JSONObject put(String name, java.util.Collection<?> value) { return this; }
    public JSONObject put(String name, int value) { return this; }
    public JSONObject put(String name, long value) { return this; }
    public JSONObject put(String name, boolean value) { return this; }
    public String getString(String name) { return ""; }
    public String optString(String name) { return ""; }
    public int getInt(String name) { return 0; }
    public boolean has(String name) { return false; }
    public JSONObject getJSONObject(String name) { return this; }
    public static Object wrap(Object value) { return value; }
}
"""
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


@pytest.mark.parametrize("language", TABLED)
@pytest.mark.parametrize("name", shipped())
def test_a_skeleton_has_an_entry_for_each_mandatory_operation_with_its_words(name: str, language: str) -> None:
    compiled = load(name)
    text = skeleton(compiled, language)
    assert len(text.splitlines()) <= LONGEST
    assert "waits" in text  # for the clock
    assert "refused" in text
    controls, product = text.split(" ── The operations of your product")
    for operation in compiled.kernel.operations:
        where = controls if operation.control else product
        entry = re.compile(rf'\s*(methods\.put\()?"{operation.name}"')
        found = [line for line in where.splitlines() if entry.match(line)]
        assert len(found) == (not operation.optional)
        for line in found:
            assert " ".join(operation.about.split()) in line
            assert all(f"{each.name}: " in line for each in operation.parameters)
    for signal, _ in compiled.kernel.signals:
        assert f'{{"signal": "{signal}"' in controls


@pytest.mark.parametrize(("language", "ending"), ENDINGS.items())
def test_a_skeleton_is_as_it_was(language: str, ending: str) -> None:
    golden = (GOLDEN / f"task-progress.{ending}").read_text(encoding="utf-8")
    assert skeleton(load("task-progress"), language) == golden


@pytest.fixture(scope="module")
def rustc(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A command that compiles a program of Rust, with what stands for its one dependency."""
    folder = tmp_path_factory.mktemp("rust")
    library = folder / "serde_json.rs"
    library.write_text(SERDE.format(path=ROOT / "examples" / "rust" / "src" / "json.rs"), encoding="utf-8")
    command = ["rustc", "--edition", "2021", "-D", "warnings", "--out-dir", f"{folder}"]
    made([*command, "--crate-type", "rlib"], f"{library}")
    return [*command, "--extern", f"serde_json={folder / 'libserde_json.rlib'}"]


@needs("cargo")
@pytest.mark.thorough
@pytest.mark.parametrize("name", shipped())
def test_a_skeleton_in_rust_is_compiled(name: str, rustc: list[str], tmp_path: Path) -> None:
    (tmp_path / "adapter.rs").write_text(skeleton(load(name), "rust"), encoding="utf-8")
    made([*rustc, "--emit", "metadata"], f"{tmp_path / 'adapter.rs'}")


@needs("cargo")
@pytest.mark.thorough
@pytest.mark.parametrize("points", ["false", "true"])
def test_in_rust_what_is_filled_in_passes_and_the_rest_is_not_there(
    points: str, rustc: list[str], tmp_path: Path
) -> None:
    text = skeleton(load("task-progress"), "rust").replace("POINTS: bool = false", f"POINTS: bool = {points}")
    text = text.replace('"concurrency": "none"', '"concurrency": "threads"')
    text = text.replace("struct MyJobs {}", "struct MyJobs { tasks: Mutex<Vec<String>> }")
    for name, body in RUST_BODIES.items():
        text = text.replace(f'"{name}" => Err(Missing)', f'"{name}" => {body}')
    (tmp_path / "adapter.rs").write_text(f"{text}{RUST_NUMBER}", encoding="utf-8")
    made([*rustc, "-o", f"{tmp_path / 'adapter'}"], f"{tmp_path / 'adapter.rs'}")
    compiled, target = load("task-progress"), f"stdio:{tmp_path / 'adapter'}"
    report = conformance.run("task-progress", target, rows="N1,X10,E5", quick=True)
    found = {each.id: (each.verdict, each.reason) for each in report.rows}
    assert found["N1"][0] is Verdict.PASS
    assert found["X10"] == (Verdict.PASS, "" if points == "true" else FROM_OUTSIDE)
    assert found["E5"][0] is Verdict.FAIL
    with adapted(target, compiled) as adapter:
        adapter.reset()
        with pytest.raises(Refused, match="not_found"):
            adapter.call("status", {"task": "task-1"})
        with pytest.raises(Broken, match="abort is not there"):
            adapter.call("abort", {"task": "task-1"})
        with pytest.raises(Broken, match="start failed: it panicked"):
            adapter.call("start", {"task": "task-1"})


@needs("javac")
@pytest.mark.thorough
def test_skeletons_in_java_are_compiled(tmp_path: Path) -> None:
    json = tmp_path / "org" / "json" / "JSONObject.java"
    json.parent.mkdir(parents=True)
    json.write_text(ORG_JSON, encoding="utf-8")
    for name in shipped():
        program = tmp_path / name / "Adapter.java"
        program.parent.mkdir()
        program.write_text(skeleton(load(name), "java"), encoding="utf-8")
        made(
            ["javac", "-Xlint:-serial", "-Werror", "-d", f"{program.parent}", "-cp", f"{tmp_path}"],
            str(json),
            str(program),
        )


def made(command: list[str], *files: str) -> None:
    """Compile files."""
    done = subprocess.run([*command, *files], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


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


@needs("node")
def test_what_a_call_set_going_comes_to_points_of_no_call_once_it_is_answered(tmp_path: Path) -> None:
    text = skeleton(load("task-progress"), "javascript")
    later = "const store = pointed(new Map()); const twice = () => store.get(1).then(() => store.get(1)); "
    body = f"async start(asked) {{ {later}await store.get(1); setTimeout(twice, 30); }}"
    text = text.replace("async start(asked) { missing(); }", body)
    (tmp_path / "adapter.mjs").write_text(text, encoding="utf-8")
    asked = ["node", f"{tmp_path / 'adapter.mjs'}"]
    with subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdin is not None
        assert node.stdout is not None
        told: list[Any] = []
        node.stdin.write('{"jsonrpc": "2.0", "id": 7, "method": "start", "params": {"task": "task-1"}}\n')
        while len(told) < 4:
            node.stdin.flush()
            told.append(json.loads(node.stdout.readline()))
            if told[-1].get("method") == "point":
                node.stdin.write(json.dumps({"jsonrpc": "2.0", "id": told[-1]["id"], "result": None}) + "\n")
        node.stdin.close()
    assert [each["params"]["call"] if "method" in each else "answer" for each in told] == [7, "answer", None, None]
