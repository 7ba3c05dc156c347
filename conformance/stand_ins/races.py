"""Models with a race: systems that do right what one caller asks for after the other, and not what several ask for at once.

Each has one mistake that people make about locks, in one operation. Between its two halves it lets others in.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from conformance.stand_ins.model import ModelSystem, model_system
from statemachines.compile import Compiled
from statemachines.model import Document, Impossible
from statemachines.rows import Observed
from statemachines.types import holds_documents

Halves = Generator[None, None, Observed]
Mistake = Literal["checked before", "written back", "shared file"]
MISTAKES: Final[Mapping[Mistake, str]] = {
    "checked before": "whether it may be done is looked up before, and not again when it is done",
    "written back": "all that is stored is read, changed and written back, over what others have done meanwhile",
    "shared file": "the names of its files are looked up before, and taken when it is done",
}
"""What each does, in words."""


@dataclass(frozen=True, slots=True)
class Race:
    """A mistake in an operation."""

    operation: str
    mistake: Mistake

    @property
    def clause(self) -> str:
        """The clause of the operation."""
        return f"operations.{self.operation}"

    @property
    def does(self) -> str:
        """What it does, in words."""
        return MISTAKES[self.mistake]


def races_of(compiled: Compiled) -> list[Race]:
    """List the races that a system can have: two in each operation that changes something, and one in each that tells files.

    One that changes nothing has none, nor has a model in which calls wait for each other: it lets no others in.
    """
    operations = compiled.kernel.operations
    if any(each.waits is not None for each in operations):
        return []
    found = [
        Race(each.name, mistake)
        for each in operations
        for mistake in ("checked before", "written back")
        if not each.observes
    ]
    tells = (each.name for each in operations if each.reply is not None and holds_documents(each.reply.type))
    return [*found, *(Race(name, "shared file") for name in tells)]


def racing_system(compiled: Compiled, race: Race, *, asynchronous: bool = False) -> type[ModelSystem]:
    """Return the class of a system that does what a model does, with a race: among threads, or among tasks of an event loop."""
    kind = _KINDS[race.mistake]
    bases = (_Awaiting, kind) if asynchronous else (kind,)
    declares = {"concurrency": "async"} if asynchronous else None
    return model_system(compiled, declares, type(kind.__name__, bases, {"_of": race.operation}))


class _Racing(ModelSystem):
    """One operation of it has a race."""

    _of: str

    def _asked(self, operation: str, arguments: dict[str, Any]) -> Observed:
        if operation != self._of:
            return super()._asked(operation, arguments)
        halves = self._halves(operation, arguments)
        with self._turn:
            next(halves)
        with self._turn:
            return _last(halves)

    def _halves(self, operation: str, arguments: dict[str, Any]) -> Halves:
        """Make a call in two halves, between which others are let in."""
        raise NotImplementedError


class _Awaiting(_Racing):
    """The same, where all its operations are async."""

    @staticmethod
    def _method(operation: str, names: list[str]) -> Callable[..., Any]:
        async def method(self: _Awaiting, *given: Any, **named: Any) -> Any:
            arguments = {**dict(zip(names, given, strict=False)), **named}
            if operation != self._of:
                return self._called(operation, arguments)
            halves = self._halves(operation, arguments)
            next(halves)
            await asyncio.sleep(0)
            return self._answered(operation, _last(halves))

        method.__name__ = operation
        return method


class _ChecksBefore(_Racing):
    def _halves(self, operation: str, arguments: dict[str, Any]) -> Halves:
        subject = self._subject
        decision = subject.model.decide(operation, arguments)
        yield
        stored, subject.decided = subject.model.freeze(), decision
        try:
            return self._told(subject.call(operation, arguments))
        except (Impossible, LookupError, AttributeError):  # what it is about is not there any more: that is noticed
            subject.model.thaw(stored)
        finally:
            subject.decided = None
        return self._told(subject.call(operation, arguments))


class _WritesBack(_Racing):
    def _halves(self, operation: str, arguments: dict[str, Any]) -> Halves:
        model = self._subject.model
        stored = model.freeze()
        yield
        now = model.now
        model.thaw(stored)
        model.now = now
        return self._told(self._subject.call(operation, arguments))


class _SharesFiles(_Racing):
    _taken = 0

    def _halves(self, operation: str, arguments: dict[str, Any]) -> Halves:
        taken = self._taken
        yield
        call = self._told(self._subject.call(operation, arguments))
        files = [*_in_files(call.value)]
        for number, document in enumerate(files, taken + 1):
            document.file = str(number)  # those of other operations have names of another form
        self._taken = taken + len(files)
        return call


def _last(halves: Halves) -> Observed:
    """Make the second half of a call."""
    try:
        next(halves)
    except StopIteration as over:
        call: Observed = over.value
        return call
    raise AssertionError("a call has two halves")


def _in_files(value: Any) -> Iterator[Document]:
    """Walk the texts within a reply that are told in files."""
    match value:
        case list():
            yield from itertools.chain.from_iterable(map(_in_files, value))
        case dict():
            yield from _in_files([*value.values()])
        case Document(inline=False):
            yield value
        case _:
            pass


_KINDS: Final[Mapping[Mistake, type[_Racing]]] = {
    "checked before": _ChecksBefore,
    "written back": _WritesBack,
    "shared file": _SharesFiles,
}
