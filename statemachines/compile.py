"""Spec → checked lifecycle → executable model: the whole way, in one place."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as Values
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from statemachines import generate, kernel, leaving_out
from statemachines.choices import limits_of, policies_of
from statemachines.diagnostics import Where
from statemachines.lifecycle import Lifecycle
from statemachines.lower import lower
from statemachines.model import BaseModel
from statemachines.specs import RULES, shipped, spec_path
from statemachines.surface import check_structure, read_lifecycle, read_spec, rules_of
from statemachines.words import Words
from statemachines.yaml import Mapping, Node


@dataclass(frozen=True, eq=False, repr=False)
class Compiled:
    """A lifecycle in all its forms: as stated, as the kernel's verbs, and as a model that runs.

    `origin` is the file that its rules were loaded from, wherever the working directory is by now. Of one that is `lacking`
    sentences are left out.
    """

    lifecycle: Lifecycle
    kernel: kernel.Kernel
    words: Words
    origin: Path | None = None
    lacking: bool = False

    def __repr__(self) -> str:
        spec, clauses = self.lifecycle, len(self.kernel.clauses)
        return f"<life cycle {spec.name}, revision {spec.version}: {clauses} clauses, {len(spec.rows)} rows>"

    @property
    def called(self) -> str:
        """What a command calls the lifecycle: a shipped one by its name, another one by its file or folder/."""
        name = self.lifecycle.name
        known = name in shipped() and self.origin == spec_path(name).resolve()
        if known or self.origin is None:
            return name
        folder, _, file = self.lifecycle.file.rpartition("/")
        return f"{folder}/" if folder and file == RULES else self.lifecycle.file

    def file_of(self, where: Where) -> Path | None:
        """Return the file of a place, wherever the working directory is by now; None of what was read from a text."""
        if self.origin is None:
            return None
        return self.origin.parent / Path(where.file).relative_to(Path(self.lifecycle.file).parent)

    @cached_property
    def source(self) -> str:
        """The Python source of the model."""
        return generate.module(self.kernel)

    @cached_property
    def model_class(self) -> type[BaseModel]:
        """The class of the model."""
        module = ModuleType(f"lifecycle_{self.lifecycle.name.replace('-', '_')}")
        exec(_code(self.source, f"<model of {self.lifecycle.name}>"), module.__dict__)  # noqa: S102 - the source is our own generator's
        found: type[BaseModel] = module.__dict__["Model"]
        return leaving_out.lacking(found) if self.lacking else found

    def model(
        self, limits: Values[str, int | None] | None = None, policies: Values[str, Any] | None = None
    ) -> BaseModel:
        """Make a model at the start of a case, with declared limits and policies.

        Raises ValueError for a name that the life cycle does not have, and for a value that it does not take.
        """
        return self.model_class(
            limits_of(self.lifecycle, {} if limits is None else limits),
            policies_of(self.lifecycle, {} if policies is None else policies),
        )

    def without(self, clauses: Iterable[str]) -> Compiled:
        """Return the same lifecycle with some sentences left out of its kernel; the same one for the same sentences."""
        paths = frozenset(clauses)
        if paths not in self._without:
            shorter = leaving_out.without(self.kernel, paths)
            self._without[paths] = Compiled(self.lifecycle, shorter, self.words, lacking=True)
        return self._without[paths]

    @cached_property
    def _without(self) -> dict[frozenset[str], Compiled]:
        return {}


@lru_cache(maxsize=16)
def _code(source: str, name: str) -> CodeType:
    """Compile a model once: a spec that is checked again has often changed in its rows alone."""
    return compile(source, name, "exec")


def compile_tree(tree: Node, file: str) -> Compiled:
    """Compile a tree; raise SpecError with every fault of its structure, names and types."""
    check_structure(tree)
    lifecycle = read_lifecycle(tree, file)
    lowered, words = lower(lifecycle)
    return Compiled(lifecycle, lowered, words)


def spec_tree(name: str) -> Mapping:
    """Read a shipped lifecycle by its name, or a spec by its path; raises LookupError for an unknown name."""
    path = path_of(name)
    tree = read_spec(path, name=_shown(path, name))
    if not isinstance(tree, Mapping):
        check_structure(tree)
        raise TypeError(tree)  # check_structure has refused it
    return tree


def load(lifecycle: str | Path) -> Compiled:
    """Return a compiled life cycle: a shipped one by its name, for example `thread-job`; or a spec by its path.

    Raises LookupError for a name that there is not, and SpecError with every fault of the spec.
    """
    name = str(lifecycle)
    return _compiled(spec_tree(name), rules_of(path_of(name)).resolve())


@lru_cache(maxsize=16)
def _compiled(tree: Mapping, origin: Path) -> Compiled:
    """Compile a spec as it is now; one that has not changed since is compiled already."""
    return replace(compile_tree(tree, tree.where.file), origin=origin)


def path_of(name: str) -> Path:
    """Return the file or folder of a spec: of a shipped lifecycle by its name, else the path itself.

    What places of a spec call their file leads there, too. Raises LookupError for an unknown name.
    """
    path, is_file = Path(name), name.endswith((".yaml", ".yml"))
    is_folder = name not in {"", *shipped()} and path.is_dir()
    if "/" in name and not (is_file or is_folder):
        raise LookupError(f"there is no file or folder {name}")
    return path if is_folder or is_file else spec_path(name).parent


def _shown(path: Path, name: str) -> str:
    """Return a path as a person would write it here: one below this folder, else as it was named."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return name
