"""The repository as a stranger gets it: its documents, its comments, its wheel, and its own guards."""

import ast
import io
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib.util import find_spec
from os import environ
from pathlib import Path

import pytest

from conformance.__about__ import __version__
from statemachines import specs
from tests.conftest import ALLOWED_SKIPS, allowed_skips

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def repository_files(root: Path) -> list[Path]:
    """A repository's text files: tracked, or new and not ignored; in an unpacked archive, all that show."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
        paths = [root / name for name in sorted(set(listed.split("\0"))) if name]
    else:
        paths = [p for p in sorted(root.rglob("*")) if not hidden(p.relative_to(root))]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()]


def hidden(path: Path) -> bool:
    return any(part.startswith(".") or part in {"__pycache__", "dist"} for part in path.parts)


FILES = repository_files(ROOT)
PYTHON = [path for path in FILES if path.suffix == ".py"]
MARKDOWN = [path for path in FILES if path.suffix == ".md"]


def lines(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Every line of the files, with `path:number` to point at it."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line


# --- what is in the repository ------------------------------------------------------------------------------


def kept_though_ignored(root: Path) -> list[str]:
    """What a repository keeps although it ignores it: a checkout would put it in the place of what somebody has there."""
    if not (root / ".git").exists():
        return []
    command = ["git", "ls-files", "-z", "--cached", "--ignored", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name]


def test_nothing_is_kept_that_is_ignored() -> None:
    assert kept_though_ignored(ROOT) == []


def test_a_link_to_an_environment_that_was_added_is_seen(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".venv").symlink_to(tmp_path / "elsewhere")
    shutil.copy(ROOT / ".gitignore", tmp_path)
    for command in (["init", "--quiet"], ["add", "--force", ".venv", ".gitignore"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    assert kept_though_ignored(tmp_path) == [".venv"]


# --- documents --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"])
def test_the_document_is_there(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8").strip()


def test_every_relative_link_leads_somewhere() -> None:
    dead = [
        f"{path.relative_to(ROOT)} → {target}"
        for path in MARKDOWN
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", path.read_text(encoding="utf-8"))
        if "://" not in target and not (path.parent / target).exists()
    ]
    assert not dead


def test_every_link_to_a_heading_leads_to_one() -> None:
    dead = [
        f"{path.relative_to(ROOT)} → {target}#{heading}"
        for path in MARKDOWN
        for target, heading in re.findall(r"\]\(([^)#\s:]*\.md)?#([^)\s]+)\)", path.read_text(encoding="utf-8"))
        if heading not in headings(path.parent / target if target else path)
    ]
    assert not dead


def headings(path: Path) -> set[str]:
    """Return the names under which the headings of a document can be linked to."""
    titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_make_target_that_a_document_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {(where, target) for where, line in lines(MARKDOWN) for target in re.findall(r"`make ([a-z]+)", line)}
    assert named
    assert [one for one in sorted(named) if one[1] not in targets] == []


# --- what stands in no file -------------------------------------------------------------------------------

# A path that begins with somebody's own folder. The lookbehind leaves URLs and relative paths alone.
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:home|Users|root|work|workspace)/\w")
LEFT_OPEN = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME)\b")


def test_no_file_names_a_path_of_one_machine() -> None:
    found = [f"{where}: {line.strip()}" for where, line in lines(FILES) if names_a_machine(line)]
    assert not found, "\n".join(found)


def names_a_machine(line: str) -> bool:
    return bool(MACHINE_PATH.search(line)) or (len(ROOT.parts) > 2 and f"{ROOT}/" in line)


def test_no_python_file_leaves_work_open() -> None:
    found = [f"{where}: {line.strip()}" for where, line in lines(PYTHON) if LEFT_OPEN.search(line)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", ["home", "Users", "root", "work"])
def test_a_path_of_one_machine_is_seen(folder: str) -> None:
    assert names_a_machine(f"see /{folder}/someone/notes.txt")
    assert names_a_machine(f'open("/{folder}/x")')
    assert not names_a_machine(f"see docs/{folder}/notes.txt and https://example.org/{folder}/x")


def test_work_left_open_is_seen() -> None:
    assert LEFT_OPEN.search("x = 1  # TO" + "DO: more")
    assert not LEFT_OPEN.search("mastodon = methodology")


def modules_of(package: str) -> list[str]:
    """The modules and folders of modules of a package, by name."""
    found = [path for path in (ROOT / package).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    return sorted({path.stem for path in found if not path.name.startswith("__")})


@pytest.mark.parametrize("package", ["statemachines", "conformance"])
def test_the_layout_names_every_module_and_nothing_that_is_not_there(package: str) -> None:
    layout = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Layout")[2].partition("\n## ")[0]
    part = layout.partition(f"**`{package}/`**")[2].partition("| **")[0]
    cells = [line.split("|")[1] for line in part.splitlines() if line.count("|") > 2]
    names = [name.rstrip("/") for cell in cells for name in re.findall(r"`([\w*/]+)`", cell)]
    modules = modules_of(package)
    assert [each for each in modules if not any(fnmatchcase(each, name) for name in names)] == []
    assert [name for name in names if not any(fnmatchcase(each, name) for each in modules)] == []


# --- every exception has its reason beside it -------------------------------------------------------------

EXEMPTION = re.compile(
    r"#\s*(?:type:\s*ignore(?:\[[\w\s,-]*\])?"
    r"|(?:ruff:\s*)?noqa(?::\s*[A-Z]+\d+(?:[\s,]+[A-Z]+\d+)*)?"
    r"|pragma:\s*no\s+(?:cover|branch)"
    r"|mypy:\s*[\w-]+(?:=\S+)?"
    r"|fmt:\s*(?:off|skip))",
    re.IGNORECASE,
)


def bare_exemptions(source: str) -> list[tuple[int, str]]:
    """The comments, with their lines, that switch a check off and do not say why (in two words or more)."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT]
    return [(line, text) for line, text in comments if not says_why(text)]


def says_why(comment: str) -> bool:
    switch = EXEMPTION.search(comment)
    return switch is None or len(re.findall(r"\w+", EXEMPTION.sub("", comment[switch.start() :]))) > 1


def test_every_exemption_says_why() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in PYTHON
        for line, text in bare_exemptions(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_every_exemption_of_a_tool_says_why() -> None:
    """In pyproject.toml, an ignored code or warning stands on a line of its own, with a comment."""
    ignored = [
        (w, line) for w, line in lines([ROOT / "pyproject.toml"]) if re.match(r'\s*"(ignore:|[A-Z]+\d+",)', line)
    ]
    assert ignored
    assert [where for where, line in ignored if not re.search(r"#\s*\w+ \w+", line)] == []


MARK = "# "  # keeps the samples below from being exemptions themselves


@pytest.mark.parametrize(
    "comment",
    [
        "type: ignore[misc]",
        "type: ignore[misc]  # why?",
        "noqa: BLE001",
        "noqa: E501, F401",
        "pragma: no cover",
        "type: ignore[misc]  # noqa: E501",
        "mypy: disable-error-code=misc",
        "fmt: skip",
    ],
)
def test_an_exemption_without_a_reason_is_seen(comment: str) -> None:
    assert bare_exemptions(f"x = 1\ny = 2  {MARK}{comment}\n") == [(2, MARK + comment)]


@pytest.mark.parametrize(
    "comment",
    [
        "type: ignore[misc]  # the stub is wrong: it is callable",
        "noqa: BLE001 - a system under test may raise anything",
        "pragma: no cover - only where there is no C loader",
        "type: ignore[misc]  # noqa: E501  # the stub is wrong",
        "an ordinary comment",
    ],
)
def test_a_reason_satisfies(comment: str) -> None:
    assert bare_exemptions(f"y = 2  {MARK}{comment}\n") == []


# --- skips ------------------------------------------------------------------------------------------------


def test_every_test_that_may_skip_exists() -> None:
    for test_id in allowed_skips(ALLOWED_SKIPS.read_text(encoding="utf-8")):
        path, _, name = test_id.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert set(name.split("::")) - {""} <= defined, f"{test_id} is in allowed_skips.txt and nowhere else"


def test_an_allowed_skip_has_a_reason() -> None:
    assert allowed_skips("# a heading\n\ntests/test_x.py::test_y  # no such tool there\n") == [
        "tests/test_x.py::test_y"
    ]
    with pytest.raises(ValueError, match=r"allowed_skips\.txt:1: give the reason"):
        allowed_skips("tests/test_x.py::test_y\n")


SKIPPING = """
import pytest

def test_passes():
    pass

@pytest.mark.parametrize("n", [1, 2])
def test_skips(n):
    pytest.skip("no such tool")

@pytest.mark.xfail(reason="a known fault", strict=True)
def test_known():
    raise AssertionError
"""


A_FILE = "import pytest\npytest.importorskip('nowhere')"
LISTED = "test_it.py::test_skips  # rarely there"
TEST_SAYS = "test_it.py::test_skips[[]2[]]: no such tool "
FILE_SAYS = "test_it.py: could not import 'nowhere'*"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("workers", "allowed", "source", "status", "expected"),
    [
        ("0", "", SKIPPING, 1, TEST_SAYS + "(NOT in *"),
        ("2", "", SKIPPING, 1, TEST_SAYS + "(NOT in *"),
        ("0", LISTED, SKIPPING, 0, TEST_SAYS + "(allowed)"),
        ("0", "", A_FILE, 1, FILE_SAYS + "(NOT in *"),
        ("2", "", A_FILE, 1, FILE_SAYS + "(NOT in *"),
    ],
    ids=["unlisted", "unlisted, in a worker", "listed", "a whole file", "a whole file, in a worker"],
)
def test_a_skip_that_is_not_listed_fails_the_run(
    pytester: pytest.Pytester, workers: str, allowed: str, source: str, status: int, expected: str
) -> None:
    shutil.copy(ALLOWED_SKIPS.with_name("conftest.py"), pytester.path)
    pytester.path.joinpath(ALLOWED_SKIPS.name).write_text(allowed, encoding="utf-8")
    pytester.makepyfile(test_it=source)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-n", workers)
    result.stdout.fnmatch_lines([expected])
    assert result.ret == status


# --- specs and the wheel ----------------------------------------------------------------------------------


def test_every_file_of_spec_is_found_by_name() -> None:
    assert specs.shipped() == {path.name: path / specs.RULES for path in (ROOT / "spec").iterdir() if path.is_dir()}
    assert "thread-job" in specs.shipped()
    assert specs.spec_path("thread-job").read_text(encoding="utf-8").count("lifecycle: thread-job")
    for path in (ROOT / "spec").glob("*.schema.json"):
        assert specs.schema(path.name.removesuffix(".schema.json"))["$schema"]


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(LookupError, match=r"no lifecycle is named 'thread_job'; known: .*\bthread-job\b"):
        specs.spec_path("thread_job")
    with pytest.raises(LookupError, match=r"no schema is named 'nothing'; known: .*\blifecycle\b"):
        specs.schema("nothing")


def test_a_missing_data_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specs, "_CHECKOUT", tmp_path)
    with pytest.raises(LookupError, match=re.escape(f"known: none: {tmp_path} holds no lifecycle")):
        specs.spec_path("thread-job")


def test_every_entry_point_names_a_module() -> None:
    groups = [PROJECT["scripts"], *PROJECT.get("entry-points", {}).values()]
    targets = [target.partition(":")[0] for group in groups for target in group.values()]
    assert [target for target in targets if find_spec(target) is None] == []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout as an installer would, but with the hatchling that is there."""
    folder = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed in it, to be put before the checkout on the path."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "--no-deps", "--no-index", "--target", str(folder), str(wheel)], folder)
    return folder


def run(command: list[str], folder: Path, **variables: str) -> str:
    """What a command prints. It is not measured: coverage knows the checkout and not the copy."""
    env = {name: value for name, value in environ.items() if not name.startswith(("COVERAGE_", "COV_CORE_"))}
    done = subprocess.run(command, cwd=folder, env=env | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_wheel_carries_both_packages_their_types_and_the_specs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    data = {
        f"statemachines/_spec/{p.relative_to(ROOT / 'spec').as_posix()}"
        for p in (ROOT / "spec").rglob("*")
        if p.suffix in {".yaml", ".json"}
    }
    code = {
        p.relative_to(ROOT).as_posix()
        for p in PYTHON
        if p.relative_to(ROOT).parts[0] in {"conformance", "statemachines"}
    }
    data |= {p.relative_to(ROOT).as_posix() for p in (ROOT / "conformance").rglob("templates/*")}
    assert "conformance/report/render/templates/report.html.j2" in data
    assert {"conformance/py.typed", "statemachines/py.typed"} | data | code <= names
    assert {name.partition("/")[0] for name in names} == {
        "conformance",
        "statemachines",
        f"lifecycle_conformance-{__version__}.dist-info",
    }


@pytest.mark.thorough
def test_the_installed_wheel_finds_its_specs(installed: Path, tmp_path: Path) -> None:
    code = (
        "from statemachines import specs\n"
        "for name, path in specs.shipped().items(): print(name, path)\n"
        "specs.schema('lifecycle')"
    )
    printed = run([sys.executable, "-c", code], tmp_path, PYTHONPATH=str(installed))
    folder = installed / "statemachines" / "_spec"
    assert printed.splitlines() == [f"{name} {folder / name / specs.RULES}" for name in specs.shipped()]


@pytest.mark.thorough
def test_the_installed_command_says_its_version(installed: Path, tmp_path: Path) -> None:
    said = run([str(installed / "bin" / "conformance"), "--version"], tmp_path, PYTHONPATH=str(installed))
    assert __version__ in said.split()
