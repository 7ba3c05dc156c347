"""Which module may import which.

An import counts wherever it stands: at the top, in a function, under TYPE_CHECKING, or as a literal
name given to `import_module`.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Rule:
    """Modules at `who`, those at `unless` apart, never import `never`, except what starts with one of `may`.

    `who` and `unless` are path patterns; a folder stands for everything below it. `never` and `may` are
    dotted names; each stands for what is below it too.
    """

    why: str
    who: tuple[str, ...]
    never: tuple[str, ...]
    unless: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    lazily: bool = False  # an import inside a function is allowed


BOTH = ("statemachines", "conformance")
PLUMBING = (
    "refused",
    "adapter",
    "worker",
    "virtual",
    "concurrent",
    "thread_state",
    "command_line",
    "envelope",
)
FOR_ADAPTERS = tuple(f"conformance.{name}" for name in (*PLUMBING, "declaration"))
READER = tuple(f"statemachines.{name}" for name in ("source", "structure", "tree", "diagnostics"))

RULES = (
    Rule(
        "the compiler knows nothing of testing",
        who=("statemachines",),
        never=("conformance", "tests", "benchmarks"),
    ),
    Rule(
        "the kit does not lean on its own tests",
        who=("conformance",),
        never=("tests", "benchmarks"),
    ),
    Rule(
        "a reference is a second, independent reading of the lifecycle",
        who=("conformance/references",),
        never=BOTH,
        may=("conformance.refused", "conformance.references", "conformance.command_line"),
    ),
    Rule(
        "an adapter never sees an expected answer",
        who=("conformance/adapters",),
        never=BOTH,
        may=(*FOR_ADAPTERS, *READER, "conformance.adapters"),  # files of targets are read as specs are
    ),
    Rule(
        "the plumbing below an adapter knows no expected answer either",
        who=tuple(f"conformance/{name}.py" for name in PLUMBING),
        never=BOTH,
        may=FOR_ADAPTERS,
    ),
    Rule(
        "a right system is built by other means than ours",
        who=("tests/right",),
        never=(*BOTH, "tests"),
        may=("conformance.refused", "conformance.Refused", "tests.right"),
    ),
    Rule(
        "a faulty system is a reference with one lie, and knows no expected answer",
        who=("tests/faulty",),
        never=(*BOTH, "tests"),
        may=("conformance.refused", "conformance.Refused", "conformance.references", "tests.faulty"),
    ),
    Rule(
        "only targets.py picks a concrete system, and the demo plants a bug in one",
        who=("conformance",),
        unless=(
            "conformance/targets.py",
            "conformance/demo.py",
            "conformance/adapters",
            "conformance/references",
        ),
        never=("conformance.adapters", "conformance.references"),
    ),
    Rule(
        "a command that draws nothing does not pay for hypothesis",
        who=BOTH,
        unless=("conformance/stateful.py", "conformance/strategies.py"),
        never=("hypothesis",),
    ),
    Rule(
        "a command that is no test does not pay for pytest",
        who=BOTH,
        unless=("conformance/testcases.py",),
        never=("pytest", "_pytest"),
    ),
    Rule(
        "how a report looks is decided in one folder",
        who=BOTH,
        unless=("conformance/render",),
        never=("rich",),
    ),
    Rule(
        "jsonschema is slow to import, so only the function that validates pays for it",
        who=BOTH,
        never=("jsonschema",),
        lazily=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Import:
    """One import: the full name (`package.module.Name`), its line, and whether a function delays it."""

    name: str
    line: int
    lazy: bool


def imports(path: str, text: str) -> list[Import]:
    """Every import of the module at `path` (relative to the repository) whose source is `text`."""
    package = PurePosixPath(path).parent.parts
    return [
        Import(name, node.lineno, lazy)
        for node, lazy in walk(ast.parse(text, path), lazy=False)
        for name in imported_names(node, package)
    ]


def walk(node: ast.AST, *, lazy: bool) -> Iterator[tuple[ast.stmt | ast.expr, bool]]:
    """Every statement and expression below `node`, with whether it stands in a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.expr):
            yield child, lazy
        yield from walk(
            child, lazy=lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        )


def imported_names(node: ast.AST, package: tuple[str, ...]) -> list[str]:
    """The full names that one node imports; none if it is no import."""
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            above = package[: len(package) - level + 1] if level else ()
            return [".".join([*above, *([module] if module else []), alias.name]) for alias in names]
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            return [name]
    return []


def at(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether `path` is one of the files, or lies in one of the folders."""
    return any(PurePosixPath(path).is_relative_to(pattern) for pattern in patterns)


def within(name: str, above: tuple[str, ...]) -> bool:
    """Whether a dotted name is one of `above`, or below it."""
    return any(name == one or name.startswith(one + ".") for one in above)


def broken(path: str, text: str) -> list[tuple[Rule, Import]]:
    """Every rule that one module breaks, with the import that breaks it."""
    rules = [rule for rule in RULES if at(path, rule.who) and not at(path, rule.unless)]
    return [
        (rule, found)
        for found in imports(path, text)
        for rule in rules
        if within(found.name, rule.never)
        and not within(found.name, rule.may)
        and not (rule.lazily and found.lazy)
    ]


def modules(*folders: str) -> dict[str, str]:
    """The Python files below the folders: path in the repository → source."""
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def test_every_import_follows_the_rules() -> None:
    found = [
        f"{path}:{what.line} imports {what.name}: {rule.why}"
        for path, text in modules("statemachines", "conformance", "tests/right", "tests/faulty").items()
        for rule, what in broken(path, text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.why)
def test_every_place_that_a_rule_names_exists(rule: Rule) -> None:
    missing = [place for place in (*rule.who, *rule.unless) if not (ROOT / place).exists()]
    assert not missing, f"the rule speaks of what is not there; correct its row: {missing}"


# --- no cycles --------------------------------------------------------------------------------------------


def import_graph(sources: dict[str, str]) -> dict[str, set[str]]:
    """Module → the modules of `sources` that it imports, or imports a name from."""
    names = {dotted(path): path for path in sources}
    return {
        dotted(path): {target for found in imports(path, text) if (target := nearest(found.name, names))}
        for path, text in sources.items()
    }


def dotted(path: str) -> str:
    """The module name of a path: `a/b.py` and `a/b/__init__.py` are both `a.b`."""
    return ".".join(PurePosixPath(path.removesuffix(".py").removesuffix("/__init__")).parts)


def nearest(name: str, known: dict[str, str]) -> str | None:
    """The longest known module that a dotted name is or lies in."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name or None


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The modules of one circle, the first again at the end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(module) for module in error.args[1]]
    return []


def test_no_import_closes_a_circle() -> None:
    found = circle(import_graph(modules("statemachines", "conformance")))
    assert not found, "each imports the next: " + ", ".join(reversed(found))


# --- the checker itself -----------------------------------------------------------------------------------

VIOLATIONS = {
    "at the top": ("statemachines/model.py", "import conformance"),
    "of a part": ("statemachines/expression/emit.py", "from conformance.report import Report"),
    "in a function": ("statemachines/model.py", "def f():\n    if True:\n        import conformance.rows"),
    "in a method": ("statemachines/model.py", "class C:\n    async def f(self):\n        import conformance"),
    "for types only": (
        "statemachines/model.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from conformance.rows import Row",
    ),
    "by its name": (
        "statemachines/model.py",
        "import importlib\nx = importlib.import_module('conformance.rows')",
    ),
    "by its name alone": ("statemachines/model.py", "x = __import__('conformance')"),
    "with an alias, in a list": ("statemachines/model.py", "import json, conformance as c"),
    "the kit its tests": ("conformance/rows.py", "from tests.faulty import thread_job"),
    "a reference the model": ("conformance/references/job.py", "from statemachines import compile"),
    "a reference, relatively": ("conformance/references/job.py", "from ..lockstep import run"),
    "a reference, the whole kit": ("conformance/references/job.py", "from conformance import lockstep"),
    "an adapter the oracle": ("conformance/adapters/stdio.py", "from conformance.lockstep import run"),
    "an adapter a star": ("conformance/adapters/stdio.py", "from conformance import *"),
    "the plumbing the model": ("conformance/worker.py", "from statemachines.model import Model"),
    "a right system a reference": ("tests/right/job.py", "from conformance.references.job import Jobs"),
    "a faulty system the rows": ("tests/faulty/job.py", "from conformance import rows"),
    "the runner a reference": ("conformance/rows.py", "def f():\n    from conformance.references import job"),
    "hypothesis in passing": ("conformance/cli.py", "def f():\n    from hypothesis import settings"),
    "pytest in passing": ("conformance/rows.py", "import pytest"),
    "rich outside render": ("conformance/cli.py", "from rich.console import Console"),
    "jsonschema for everyone": ("statemachines/read.py", "from jsonschema import Draft7Validator"),
    "jsonschema in a class body": ("statemachines/read.py", "class C:\n    import jsonschema"),
}

ALLOWED = {
    "a name that only looks alike": ("statemachines/model.py", "import conformance_of_others"),
    "the word in a text": ("statemachines/model.py", "x = 'import conformance'  # import conformance"),
    "the kit the compiler": ("conformance/lockstep.py", "from statemachines import Model"),
    "a reference the refusal": ("conformance/references/job.py", "from conformance.refused import Refused"),
    "a reference its neighbour": ("conformance/references/job.py", "from . import clock"),
    "an adapter its declaration": ("conformance/adapters/stdio.py", "import conformance.declaration"),
    "a right system the refusal": ("tests/right/job.py", "from conformance import Refused"),
    "a faulty system the reference": ("tests/faulty/job.py", "from conformance.references.job import Jobs"),
    "the front door a reference": (
        "conformance/targets.py",
        "def f():\n    from conformance.references import job",
    ),
    "hypothesis where it belongs": ("conformance/stateful.py", "import hypothesis"),
    "rich where it belongs": ("conformance/render/terminal.py", "from rich.table import Table"),
    "jsonschema where it is used": ("statemachines/read.py", "def f():\n    import jsonschema"),
}


@pytest.mark.parametrize(("path", "text"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_the_checker_sees(path: str, text: str) -> None:
    assert broken(path, text)


@pytest.mark.parametrize(("path", "text"), ALLOWED.values(), ids=ALLOWED)
def test_the_checker_accuses_nobody_of(path: str, text: str) -> None:
    assert not broken(path, text)


def test_every_rule_has_been_seen_to_fail() -> None:
    seen = {rule for path, text in VIOLATIONS.values() for rule, _ in broken(path, text)}
    assert [rule.why for rule in RULES if rule not in seen] == []


def test_a_circle_is_seen_when_a_function_hides_half_of_it() -> None:
    graph = import_graph(
        {
            "p/__init__.py": "from p.a import f as f",
            "p/a.py": "def f():\n    from p import b",
            "p/b.py": "from p.a import f",
        }
    )
    assert graph == {"p": {"p.a"}, "p.a": {"p.b"}, "p.b": {"p.a"}}
    assert set(circle(graph)) == {"p.a", "p.b"}
    assert circle(graph | {"p.b": set()}) == []
