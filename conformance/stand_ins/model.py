"""A compiled model as a system under test: one method for each operation, with all that a right system may choose."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from conformance.refused import Refused
from statemachines.bounds import USUAL
from statemachines.checks import watched
from statemachines.compile import Compiled
from statemachines.model import CHOSEN, Document
from statemachines.rows import ModelSubject, Observed
from statemachines.types import List, Null, RecordType, Type, plausible, present

LASTING: Final = replace(USUAL, own_steps=1_000_000)
"""A system works on for as long as time passes: a day may hold many thousand steps of its own."""


def model_system(
    compiled: Compiled,
    declares: Mapping[str, Any] | None = None,
    kind: type[ModelSystem] | None = None,
    **way: Any,
) -> type[ModelSystem]:
    """Return the class of a system that does what a model does.

    declares  what it says of itself; what that leaves out is a clock that only `wait` moves, and threads where none of
              them keeps all others waiting: there is one lock around the model
    kind      the class that it is one of, where it is not a plain ModelSystem
    way       what a right system may choose (`ModelSubject`): `lenient=False`, `eager=True`, `prompt=False`, `descending=True`
    """
    waits = any(each.waits is not None for each in compiled.kernel.operations)
    usual = {"clock": "virtual", "concurrency": "none" if waits else "threads"}
    model_class, declared = watched(compiled, LASTING), {**usual, **(declares or {})}
    limits, policies = declared.get("limits"), declared.get("policies")

    def _begun() -> ModelSubject:
        return ModelSubject(model_class(limits, policies), compiled.kernel, **way)

    kinds = {each.name: each.reply.type for each in compiled.kernel.operations if each.reply is not None}
    kind = kind or ModelSystem
    taken = {each.name: [one.name for one in each.parameters] for each in compiled.kernel.operations} | {"wait": ["ms"]}
    methods = {name: kind._method(name, parameters) for name, parameters in taken.items()}
    shared = {"declares": declared, "_begun": staticmethod(_begun), "_kinds": kinds}
    signals = {name: RecordType(fields, name) for name, fields in compiled.kernel.signals}
    return type(ModelSystem.__name__, (kind,), shared | {"_signals": signals} | methods)


class ModelSystem:
    """A model that answers calls one at a time; the classes that are made of it have a method for each operation.

    _begun  makes the model of a case
    _kinds  the type of each operation's reply, and `_signals` that of each signal
    """

    declares: Mapping[str, Any]

    _begun: Callable[[], ModelSubject]
    _kinds: Mapping[str, Type]
    _signals: Mapping[str, Type]

    def __init__(self) -> None:
        self._subject = self._begun()
        self._came: list[Any] = []
        self._turn = threading.Condition()
        self._folder = tempfile.TemporaryDirectory()

    @staticmethod
    def _method(operation: str, names: list[str]) -> Callable[..., Any]:
        """Make the method of an operation, whose arguments have these names."""

        def method(self: ModelSystem, *given: Any, **named: Any) -> Any:
            return self._called(operation, {**dict(zip(names, given, strict=False)), **named})

        method.__name__ = operation
        return method

    def _called(self, operation: str, arguments: dict[str, Any]) -> Any:
        return self._answered(operation, self._asked(operation, arguments))

    def _answered(self, operation: str, call: Observed) -> Any:
        """Return what a call gives, as a caller gets it; raise Refused where it was refused."""
        if call.refused is not None:
            raise Refused(call.refused)
        return self._shown(call.value, self._kinds.get(operation, Null()))

    def _asked(self, operation: str, arguments: dict[str, Any]) -> Observed:
        """Make a call, one at a time, but for those that wait."""
        with self._turn:
            while operation != "wait" and self._subject.model.decide(operation, arguments).blocks:
                self._turn.wait()
            self._turn.notify_all()
            return self._told(self._subject.call(operation, arguments))

    def _told(self, call: Observed) -> Observed:
        """Keep the signals of a call until somebody asks for them."""
        self._came += call.signals
        return call

    def signals(self) -> list[Any]:
        """Return the signals since the last time."""
        with self._turn:
            came, self._came = self._came, []
        return [{"signal": name, **self._shown(dict(fields), self._signals[name])} for name, fields in came]

    def close(self) -> None:
        """End: its files are gone."""
        self._folder.cleanup()

    def _shown(self, value: Any, kind: Type) -> Any:
        """Return a reply as a caller gets it: a text that is told in a file is written there."""
        match value, present(kind):
            case list(), List(item=item):
                return [self._shown(each, item) for each in value]
            case dict(), RecordType(fields=fields):
                return {name: self._shown(value[name], field) for name, field in fields if name in value}
            case Document(inline=True), _:
                return {"text": value.text}
            case Document(), _:
                return {"file": str(self._written(value))}
            case _:
                return plausible(present(kind)) if value is CHOSEN else value

    def _written(self, document: Document) -> Path:
        """Write a text that is told in a file, and return where."""
        path = Path(self._folder.name, str(document.file))
        path.write_bytes(document.text.encode())
        return path
