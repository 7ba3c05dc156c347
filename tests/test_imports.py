"""Which module may import which.

An import counts wherever it stands: at the top, in a function, under TYPE_CHECKING, or as a literal
name given to `import_module`.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
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
    lazily: bool = False  # an import inside a function, or for types only, is allowed


BOTH = ("statemachines", "conformance")
READER = ("statemachines.yaml", "statemachines.surface", "statemachines.diagnostics")

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
        may=("conformance.refused", "conformance.references", "conformance.cli_tool"),
    ),
    Rule(
        "an adapter, and the plumbing below it, never sees an expected answer",
        who=("conformance/system", "conformance/cli_tool", "conformance/refused.py", "conformance/errors.py"),
        unless=("conformance/system/declaration.py",),  # what may be declared stands in the spec
        never=BOTH,
        # files of targets are read as specs are
        may=(
            "conformance.system",
            "conformance.cli_tool",
            "conformance.refused",
            "conformance.errors",
            *READER,
        ),
    ),
    Rule(
        "what was observed is the same whoever judges it",
        who=tuple(f"conformance/judge/{name}.py" for name in ("observation", "differences", "kernel_facts")),
        never=tuple(f"conformance.judge.{name}" for name in ("judge", "lockstep", "step", "history", "case")),
    ),
    Rule(
        "a right system is built by other means than ours",
        who=("tests/right",),
        never=(*BOTH, "tests"),
        may=("conformance.refused", "conformance.Refused", "tests.right"),
    ),
    Rule(
        "a system that goes another way is a reference that chooses otherwise, and knows no expected answer",
        who=("tests/other_ways",),
        never=(*BOTH, "tests"),
        may=("conformance.refused", "conformance.Refused", "conformance.references", "tests.other_ways"),
    ),
    Rule(
        "a faulty system is a reference, or one that goes another way, with one lie, and knows no expected answer",
        who=("tests/faulty",),
        never=(*BOTH, "tests"),
        may=(
            "conformance.refused",
            "conformance.Refused",
            "conformance.references",
            "tests.faulty",
            "tests.other_ways",
        ),
    ),
    Rule(
        "only targets.py picks a concrete system, and the demo plants a bug in one",
        who=("conformance",),
        unless=(
            "conformance/targets.py",
            "conformance/demo.py",
            "conformance/cli_tool",
            "conformance/references",
        ),
        never=("conformance.cli_tool", "conformance.references"),
    ),
    Rule(
        "a command that draws nothing does not pay for hypothesis",
        who=BOTH,
        unless=("conformance/search",),
        never=("hypothesis",),
    ),
    Rule(
        "a command that searches nothing does not pay for hypothesis either",
        who=("conformance",),
        unless=("conformance/search",),
        never=("conformance.search",),
        lazily=True,
    ),
    Rule(
        "a command that is no test does not pay for pytest",
        who=BOTH,
        unless=("conformance/testcases.py", "conformance/pytest_plugin.py"),
        never=("pytest", "_pytest"),
    ),
    Rule(
        "who does not look at a terminal does not pay for rich",
        who=BOTH,
        unless=("conformance/report/terminal.py",),
        never=("rich",),
    ),
    Rule(
        "who makes no page does without jinja2, which is an extra",
        who=BOTH,
        never=("jinja2", "markupsafe"),
        lazily=True,
    ),
    Rule(
        "jsonschema is slow to import, so only the function that validates pays for it",
        who=BOTH,
        never=("jsonschema",),
        lazily=True,
    ),
)

# Folders that other folders may look into, past the door.
OPEN = {"conformance.references": "each module is opened by its name, as anybody's system is"}
MODULES_IN_A_FOLDER = 15  # beside its door


@dataclass(frozen=True, slots=True)
class Import:
    """One import: the full name (`package.module.Name`), its line, and whether it is delayed."""

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
    """Every statement and expression below `node`, with whether it is run only later, or never."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.expr):
            yield child, lazy
        yield from walk(child, lazy=lazy or delays(child))


def delays(node: ast.AST) -> bool:
    """Whether what stands in a node is not run when the module is imported."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


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
        if within(found.name, rule.never) and not within(found.name, rule.may) and not (rule.lazily and found.lazy)
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


# --- folders and their doors ------------------------------------------------------------------------------


def folder_of(module: str, doors: set[str]) -> str:
    """The folder that a module belongs to; what lies right in a package is a floor of its own."""
    above = module if module in doors else module.rpartition(".")[0]
    return above if "." in above else module


def past_doors(sources: dict[str, str]) -> list[str]:
    """Every import that reaches into a folder of another floor, past what its door offers."""
    names = {dotted(path): path for path in sources}
    doors = {name for name, path in names.items() if path.endswith("/__init__.py") and "." in name}
    found = []
    for path, text in sources.items():
        for what in imports(path, text):
            target = nearest(what.name, names)
            if target is None or target in doors:
                continue
            there, here = folder_of(target, doors), folder_of(dotted(path), doors)
            if there in doors and there not in OPEN and there != here and not offered(what, target, sources, names):
                found.append(f"{path}:{what.line} imports {what.name}: import it from {there}")
    return found


def offered(what: Import, target: str, sources: dict[str, str], names: dict[str, str]) -> bool:
    """Whether what is imported is a module that the door itself offers by name."""
    door = target.rpartition(".")[0]
    return what.name == target and any(each.name == target for each in imports(names[door], sources[names[door]]))


def floors(sources: dict[str, str]) -> dict[str, set[str]]:
    """Folder → the other folders that it imports from."""
    doors = {dotted(path) for path in sources if path.endswith("/__init__.py")}
    graph: dict[str, set[str]] = {}
    for module, targets in import_graph(sources).items():
        here = folder_of(module, doors)
        graph.setdefault(here, set()).update({folder_of(each, doors) for each in targets} - {here})
    return graph


def layout() -> list[str]:
    """The folders and modules in the order of the table in ARCHITECTURE.md: each imports only from those before it."""
    table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Layout")[2].partition("\n## ")[0]
    names, package = [], ""
    for line in table.splitlines():
        cell = line.split("|")[1] if line.count("|") > 2 else ""
        package = heading[1] if (heading := re.search(r"\*\*`(\w+)/`\*\*", cell)) else package
        names += [f"{package}.{name}" for name in re.findall(r"`(\w+)/?`", cell) if package in BOTH and not heading]
    return names


def upwards(graph: dict[str, set[str]], order: list[str]) -> list[str]:
    """The imports of a floor from one that stands further up in the house."""
    level = {name: number for number, name in enumerate(order)}
    return sorted(
        f"{floor} imports from {other}"
        for floor, others in graph.items()
        for other in others
        if floor in level and other in level and level[other] > level[floor]
    )


def crowded(paths: Iterable[str]) -> list[str]:
    """The folders that hold more modules than one can keep in mind."""
    counts = Counter(
        str(PurePosixPath(path).parent) for path in paths if not path.endswith(("__init__.py", "__main__.py"))
    )
    return [f"{folder} holds {count} modules" for folder, count in counts.items() if count > MODULES_IN_A_FOLDER]


def test_other_floors_are_entered_by_their_doors() -> None:
    found = past_doors(modules("statemachines", "conformance"))
    assert not found, "\n".join(found)


def test_every_open_folder_exists() -> None:
    assert [name for name in OPEN if not (ROOT / name.replace(".", "/")).is_dir()] == []


def test_no_folder_closes_a_circle() -> None:
    found = circle(floors(modules("statemachines", "conformance")))
    assert not found, "each imports from the next: " + ", ".join(reversed(found))


def test_the_layout_in_the_architecture_goes_from_the_bottom_to_the_top() -> None:
    assert upwards(floors(modules(*BOTH)), layout()) == []


def test_an_import_from_further_up_is_seen() -> None:
    assert upwards({"p.low": {"p.high"}, "p.high": {"p.low"}}, ["p.low", "p.high"]) == ["p.low imports from p.high"]


def test_no_folder_is_crowded() -> None:
    assert crowded(modules("statemachines", "conformance")) == []


@pytest.mark.parametrize("path", [path for path in modules(*BOTH) if path.endswith("/__init__.py")])
def test_a_door_says_what_the_floor_is_for_and_names_what_it_offers(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    tree = ast.parse(text)
    docstring = ast.get_docstring(tree) or ""
    assert len(re.findall(r"[.:](?:\s|$)", docstring)) >= 2, "two sentences: what it is for, and its door"
    if len(PurePosixPath(path).parts) > 2:
        assert [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)] == []


# --- the checker itself -----------------------------------------------------------------------------------

VIOLATIONS = {
    "at the top": ("statemachines/model.py", "import conformance"),
    "of a part": ("statemachines/expression/emitter.py", "from conformance.report import Report"),
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
    "the kit its tests": ("conformance/suite/rows.py", "from tests.faulty import thread_job"),
    "a reference the model": ("conformance/references/job.py", "from statemachines import compile"),
    "a reference, relatively": ("conformance/references/job.py", "from ..judge import run"),
    "a reference, the whole kit": ("conformance/references/job.py", "from conformance import judge"),
    "an adapter the oracle": ("conformance/system/stdio.py", "from conformance.judge import run"),
    "observation the judge": (
        "conformance/judge/observation.py",
        "from conformance.judge.lockstep import Lockstep",
    ),
    "an adapter a star": ("conformance/system/stdio.py", "from conformance import *"),
    "the plumbing the model": ("conformance/system/worker.py", "from statemachines.model import Model"),
    "another way the judge": ("tests/other_ways/job.py", "from conformance.judge import Case"),
    "a right system a reference": ("tests/right/job.py", "from conformance.references.job import Jobs"),
    "a faulty system the rows": ("tests/faulty/job.py", "from conformance import rows"),
    "the runner a reference": (
        "conformance/suite/rows.py",
        "def f():\n    from conformance.references import job",
    ),
    "hypothesis in passing": ("conformance/command/cli.py", "def f():\n    from hypothesis import settings"),
    "the search at the top": ("conformance/suite/run.py", "from conformance.search import walks"),
    "pytest in passing": ("conformance/suite/rows.py", "import pytest"),
    "rich outside render": ("conformance/command/cli.py", "from rich.console import Console"),
    "jinja2 for everyone": ("conformance/report/render/html.py", "from jinja2 import Template"),
    "jsonschema for everyone": ("statemachines/surface/spec.py", "from jsonschema import Draft7Validator"),
    "jsonschema in a class body": ("statemachines/surface/spec.py", "class C:\n    import jsonschema"),
}

ALLOWED = {
    "a name that only looks alike": ("statemachines/model.py", "import conformance_of_others"),
    "the word in a text": ("statemachines/model.py", "x = 'import conformance'  # import conformance"),
    "the kit the compiler": ("conformance/judge/lockstep.py", "from statemachines import Model"),
    "a reference the refusal": ("conformance/references/job.py", "from conformance.refused import Refused"),
    "a reference its neighbour": ("conformance/references/job.py", "from . import clock"),
    "an adapter its declaration": ("conformance/system/stdio.py", "import conformance.system.declaration"),
    "a right system the refusal": ("tests/right/job.py", "from conformance import Refused"),
    "a faulty system the reference": ("tests/faulty/job.py", "from conformance.references.job import Jobs"),
    "the front door a reference": (
        "conformance/targets.py",
        "def f():\n    from conformance.references import job",
    ),
    "hypothesis where it belongs": ("conformance/search/stateful.py", "import hypothesis"),
    "the search where it is used": ("conformance/suite/run.py", "def f():\n    import conformance.search"),
    "rich where it belongs": ("conformance/report/terminal.py", "from rich.table import Table"),
    "jinja2 where it is used": ("conformance/report/render/html.py", "def f():\n    import jinja2"),
    "jsonschema where it is used": ("statemachines/surface/spec.py", "def f():\n    import jsonschema"),
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


SAMPLE = {
    "p/__init__.py": "",
    "p/values.py": "",
    "p/low/__init__.py": "from p.low.inner import f\nfrom p.low import plain",
    "p/low/inner.py": "from p.low.plain import g\nfrom p.values import V",
    "p/low/plain.py": "",
    "p/high/__init__.py": "from p.high.top import h",
}


@pytest.mark.parametrize(
    "text", ["from p.low.inner import f", "import p.low.inner", "def h():\n    from p.low import inner"]
)
def test_an_import_past_a_door_is_seen(text: str) -> None:
    assert len(past_doors({**SAMPLE, "p/high/top.py": text})) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from p.low import f",
        "import p.low",
        "from p.low import plain",
        "from p.values import V",
        "from p.high.x import y",
    ],
)
def test_an_import_by_a_door_is_no_fault(text: str) -> None:
    assert past_doors({**SAMPLE, "p/high/x.py": "", "p/high/top.py": text}) == []


def test_a_circle_of_folders_is_seen_where_no_modules_make_one() -> None:
    back = {**SAMPLE, "p/high/top.py": "from p.low import f", "p/high/other.py": ""}
    assert circle(floors(back)) == []
    back["p/low/plain.py"] = "from p.high.other import x"
    assert circle(import_graph(back)) == []
    assert set(circle(floors(back))) == {"p.low", "p.high"}


def test_a_crowded_folder_is_seen() -> None:
    paths = ["p/low/__init__.py", *(f"p/low/m{number}.py" for number in range(MODULES_IN_A_FOLDER))]
    assert crowded(paths) == []
    assert crowded([*paths, "p/low/one_more.py"]) == ["p/low holds 16 modules"]
