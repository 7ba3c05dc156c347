"""Names and sizes: one name for a class or a number, docstrings that say what is returned and raised, files that fit in the head."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LONG = 300  # lines; a module that is longer says "One idea" in its docstring, and which
NUMBER = re.compile(r"^_?([A-Z][A-Z_0-9]*)(?:: Final)? = \(?\s*-?[0-9]", re.MULTILINE)
INDEPENDENT = "conformance/references/"  # written without a look at the rest, names included
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef

# How no docstring of a function begins: it says what the function returns or does.
NO_VERBS = ("Give", "Gives", "Whether", "The", "A", "An", "What", "Every", "How", "Where", "All", "Those")
# What a reader expects without being told.
EXPECTED = (
    "AssertionError",
    "AttributeError",
    "KeyError",
    "NotImplementedError",
    "StopIteration",
    "TypeError",
)


def product() -> dict[str, str]:
    """The modules of both packages: path in the repository → source."""
    paths = sorted(path for package in ("statemachines", "conformance") for path in (ROOT / package).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def nodes(sources: Mapping[str, str]) -> Iterator[tuple[str, ast.AST]]:
    """Everything in some modules, with the place of each."""
    for path, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            yield f"{path}:{getattr(node, 'lineno', 1)}", node


def shared_names(sources: Mapping[str, str]) -> list[str]:
    """The classes that are called as another one; a leading underscore makes no other name."""
    found: dict[str, list[str]] = {}
    for where, node in nodes(sources):
        if isinstance(node, ast.ClassDef):
            found.setdefault(node.name.lstrip("_"), []).append(where)
    return [f"{name}: {', '.join(places)}" for name, places in found.items() if len(places) > 1]


def shared_numbers(sources: Mapping[str, str]) -> list[str]:
    """The names that stand for a number in more than one module."""
    found: dict[str, list[str]] = {}
    for path, text in sources.items():
        for name in () if path.startswith(INDEPENDENT) else NUMBER.findall(text):
            found.setdefault(name, []).append(path)
    return [f"{name}: {', '.join(paths)}" for name, paths in found.items() if len(paths) > 1]


def wordless(sources: Mapping[str, str]) -> list[str]:
    """The functions whose docstring does not begin with what they return or do."""
    return [
        f"{where}: {said.splitlines()[0]}"
        for where, node in nodes(sources)
        if isinstance(node, FUNCTION) and not is_property(node) and (said := ast.get_docstring(node))
        if said.split()[0] in NO_VERBS
    ]


def is_property(node: FUNCTION) -> bool:
    """Whether a function is read like a field, and so is described like one."""
    return any(ast.unparse(each).endswith(("property", "setter")) for each in node.decorator_list)


def silent_raises(sources: Mapping[str, str]) -> list[str]:
    """The public functions with a docstring that does not name an exception which they raise themselves."""
    return [
        f"{where} {node.name} raises {', '.join(sorted(missing))}"
        for where, node in nodes(sources)
        if isinstance(node, FUNCTION) and not node.name.startswith("_") and (said := ast.get_docstring(node))
        if (missing := {name for name in raised(node) if name not in said} - {*EXPECTED})
    ]


def raised(node: ast.AST) -> set[str]:
    """The exceptions that a function raises by name, those of functions within it apart."""
    found = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTION | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(child, ast.Raise) and child.exc is not None:
            name = ast.unparse(child.exc.func if isinstance(child.exc, ast.Call) else child.exc)
            found |= {name.rpartition(".")[2]} if name.rpartition(".")[2][:1].isupper() else set()
        found |= raised(child)
    return found


def long_without_reason(sources: Mapping[str, str]) -> list[str]:
    """The modules that are long and do not say which one idea they are."""
    return [
        f"{path}: {text.count(chr(10))} lines"
        for path, text in sources.items()
        if text.count("\n") > LONG and "One idea" not in (ast.get_docstring(ast.parse(text)) or "")
    ]


@pytest.mark.parametrize("check", [shared_names, shared_numbers, wordless, silent_raises, long_without_reason])
def test_the_product_keeps_the_rule(check: Callable[[Mapping[str, str]], list[str]]) -> None:
    assert check(product()) == []


def test_a_class_name_for_two_things_is_seen() -> None:
    sources = {"a.py": "class Row: ...\n", "b.py": "class _Row: ...\nclass Other: ...\n"}
    assert shared_names(sources) == ["Row: a.py:1, b.py:1"]


@pytest.mark.parametrize("other", ["MOST = -2  # of these\n", "X = 1\n\n_MOST: Final = (\n    2, 3\n)\n"])
def test_a_name_for_two_numbers_is_seen(other: str) -> None:
    sources = {"a.py": "MOST = 0.5\n", "b.py": "MOST_OF_ALL = 1\nLEAST = 2\n"}
    assert shared_numbers(sources) == []
    assert shared_numbers({**sources, "c.py": other}) == ["MOST: a.py, c.py"]
    assert shared_numbers({**sources, f"{INDEPENDENT}c.py": other}) == []


@pytest.mark.parametrize("said", ["Give the row.", "Whether it is.", "The row."])
def test_a_docstring_without_a_verb_is_seen(said: str) -> None:
    assert wordless({"a.py": f'def f():\n    """{said}"""\n'}) == [f"a.py:1: {said}"]


def test_a_property_is_described_like_a_field() -> None:
    assert wordless({"a.py": 'class C:\n    @property\n    def f(self):\n        """The row."""\n'}) == []


def test_an_exception_that_no_docstring_names_is_seen() -> None:
    text = 'def f():\n    """Return nothing."""\n    if x:\n        raise errors.Refused("no")\n'
    assert silent_raises({"a.py": text}) == ["a.py:1 f raises Refused"]
    assert silent_raises({"a.py": text.replace("nothing.", "nothing. Raises Refused.")}) == []
    assert silent_raises({"a.py": text.replace("def f", "def _f")}) == []


def test_a_long_module_without_a_reason_is_seen() -> None:
    lines = "x = 1\n" * LONG
    assert long_without_reason({"a.py": '"""Words."""\n' + lines}) == [f"a.py: {LONG + 1} lines"]
    assert long_without_reason({"a.py": '"""One idea: words."""\n' + lines, "b.py": lines}) == []
