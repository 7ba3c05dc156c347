"""Systems that answer nothing of use. Every MUST row of every lifecycle has to fail against each of them.

They know a lifecycle's operations and nothing of what these mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.refused import Refused
from statemachines.compile import Compiled
from statemachines.types import Null, Type, plausible

Answer = Callable[[str, Mapping[str, Any]], Any]


def dead_systems(compiled: Compiled) -> dict[str, type]:
    """Return the five dead systems of a lifecycle, by what they do."""
    kinds: dict[str, Type] = {op.name: op.reply.type for op in compiled.kernel.operations if op.reply is not None}
    codes = compiled.words.types.codes

    def silent(operation: str, arguments: Mapping[str, Any]) -> Any:
        return None

    def constant(operation: str, arguments: Mapping[str, Any]) -> Any:
        return plausible(kinds.get(operation, Null()))

    def echo(operation: str, arguments: Mapping[str, Any]) -> Any:
        return dict(arguments)

    def accepts_everything(operation: str, arguments: Mapping[str, Any]) -> Any:
        return {"ok": True, **arguments}

    def refuses_everything(operation: str, arguments: Mapping[str, Any]) -> Any:
        raise Refused(codes[0])

    answers: list[Answer] = [silent, constant, echo, accepts_everything, refuses_everything]
    return {answer.__name__: _system(compiled, answer) for answer in answers}


def _system(compiled: Compiled, answer: Answer) -> type:
    """Make a class with every operation of a lifecycle, all answered in one way."""

    def method(operation: str) -> Callable[..., Any]:
        def call(self: object, **arguments: Any) -> Any:
            return answer(operation, arguments)

        return call

    body: dict[str, Any] = {name: method(name) for name in compiled.lifecycle.operations}
    body["wait"] = lambda self, ms: None
    body["signals"] = lambda self: []
    body["declares"] = {"clock": "virtual", "concurrency": "threads"}
    body["__doc__"] = f"Answers every operation of {compiled.lifecycle.name} alike: {answer.__name__}."
    return type(answer.__name__, (), body)
