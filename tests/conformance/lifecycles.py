"""Every shipped lifecycle with the systems that try it; a lifecycle comes in by its spec, and needs no line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Protocol, TypeVar

from conformance.stand_ins import dead_systems
from conformance.system.found_class import resolve
from conformance.targets import REFERENCES
from statemachines.compile import Compiled, load
from statemachines.specs import shipped

AT_ONCE = ("concurrency", "beside_endings")  # the modules of lies that only calls at once can show
Item = TypeVar("Item")
System = Callable[[], Any]


class Lie(Protocol):
    """What a wrong system says about itself: the row that must catch it, and in how few calls."""

    row: ClassVar[str]
    calls: ClassVar[int]


@dataclass(frozen=True)
class Suite:
    """One lifecycle and the systems whose verdicts are known."""

    name: str

    @cached_property
    def compiled(self) -> Compiled:
        """The spec, compiled once in this process."""
        return load(self.name)

    @cached_property
    def reference(self) -> System:
        """The reference that comes with the kit."""
        return resolve(REFERENCES[self.name])

    @cached_property
    def faulty(self) -> list[type[Lie]]:
        """Wrong systems, one lie each, in a stable order."""
        return list(self._package("faulty").FAULTY)

    @cached_property
    def sequential(self) -> list[type[Lie]]:
        """Those that one caller alone can catch."""
        return [lie for lie in self.faulty if lie.__module__.rpartition(".")[2] not in AT_ONCE]

    @cached_property
    def right(self) -> list[System]:
        """Right systems: the reference, and those of other construction."""
        return [self.reference, *self._package("right").RIGHT]

    @cached_property
    def dead(self) -> dict[str, type]:
        """The dead systems, by what they do."""
        return dead_systems(self.compiled)

    def _package(self, kind: str) -> Any:
        return import_module(f"tests.{kind}.{self.name.replace('-', '_')}")


SUITES = {name: Suite(name) for name in shipped()}


def pairs(part: Callable[[Suite], Iterable[Item]]) -> list[tuple[Suite, Item]]:
    """Every lifecycle with each of its systems that `part` gives, for `parametrize`."""
    return [(suite, item) for suite in SUITES.values() for item in part(suite)]


def named(value: object) -> str:
    """The name of a lifecycle or of a system in the id of a test."""
    if isinstance(value, Suite):
        return value.name
    return value.__name__ if isinstance(value, type) else str(value)
