"""The source of one model as it is written, with what every part of the generator needs to know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from statemachines import kernel
from statemachines.expression import Operate, Typed, emit, group_constant, python_name
from statemachines.generate.writer import Writer
from statemachines.types import BOOL


class Page(Writer):
    """A writer that knows the kernel, and the number of each of its clauses."""

    def __init__(self, source: kernel.Kernel) -> None:
        super().__init__()
        self.source = source
        self.numbers = {clause.path: index for index, clause in enumerate(source.clauses)}

    def saw(self, path: str) -> None:
        """Write that a clause is witnessed here; nothing where the spec does not have the sentence."""
        if path in self.numbers:
            self.line(f"self.seen[{self.numbers[path]}] = 1")

    @contextmanager
    def method(self, name: str, arguments: str, gives: str) -> Iterator[None]:
        """Write a method, whose body is written within."""
        self.line()
        with self.block(f"def {name}(self{', ' if arguments else ''}{arguments}) -> {gives}:"):
            yield

    @contextmanager
    def where(self, condition: Typed | None) -> Iterator[None]:
        """Write a condition, if there is one, for what is written within."""
        if condition is None:
            yield
        else:
            with self.block(f"if {emit(condition)}:"):
                yield

    def collection(self, entity: str) -> str:
        """Return the source of the dict of an entity's records."""
        return f"self.{python_name(self.source.entity(entity).collection)}"

    @contextmanager
    def for_each(self, loops: tuple[tuple[str, str], ...]) -> Iterator[None]:
        """Write loops over the records of entities, one in the other; their body is written within."""
        with ExitStack() as stack:
            for variable, entity in loops:
                head = f"for {python_name(variable)} in {self.collection(entity)}.values():"
                stack.enter_context(self.block(head))
            yield


def key_of(entity: kernel.Entity, record: str) -> str:
    """Write the key by which a record is kept."""
    return f"{record}.{python_name(entity.key)}"


def negated(condition: Typed) -> str:
    """Write that a condition does not hold."""
    if isinstance(condition, Operate) and condition.operator == "!":
        return emit(condition.right)
    return emit(Operate(BOOL, 0, "!", None, condition))


def inside(entity: kernel.Entity, record: str, states: tuple[str, ...]) -> str:
    """Write that a record is in one of some states."""
    return f"{record}.state {_among(entity, states, '==', 'in')}"


def outside(entity: kernel.Entity, record: str, states: tuple[str, ...]) -> str:
    """Write that a record is in none of some states."""
    return f"{record}.state {_among(entity, states, '!=', 'not in')}"


def enters(entity: kernel.Entity, record: str, states: tuple[str, ...]) -> str:
    """Write that a record has just come into one of some states."""
    return f"{inside(entity, record, states)} and before {_among(entity, states, '!=', 'not in')}"


def _among(entity: kernel.Entity, states: tuple[str, ...], one: str, several: str) -> str:
    """Write a comparison with some states: with the name of their group, where they are one."""
    group = next((name for name, members in entity.groups if members == states), None)
    if group is not None:
        return f"{several} {group_constant(entity.name, group)}"
    return f"{one} {states[0]!r}" if len(states) == 1 else f"{several} {states!r}"
