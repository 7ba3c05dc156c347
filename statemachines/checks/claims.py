"""What a row can assert of calls that were made of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from statemachines.compile import Compiled
from statemachines.model import CHOSEN, Document
from statemachines.rows import WAIT, CallTypes, Given, Names, Observed, Trace, quoted, written
from statemachines.types import NULL, Id, List, Optional, RecordType, Time, Type, present

LISTED: Final = 3  # items of a list of which a row says what they are
Claim = tuple[str, ...]
"""What can be asserted of one thing, the most that can be said first."""


class AnswersWritten:
    """The steps of a row, and what it can assert of them."""

    def __init__(self, compiled: Compiled, trace: Trace, made: Sequence[Observed], *, every: bool) -> None:
        self._trace, self._made = trace, made
        self._types = CallTypes(compiled.kernel)
        self._asserted = {call.number for call in trace.calls()} if every else {trace.calls()[-1].number}
        told = {text for each in made for text in _texts(each.given)}
        self._names = Names(compiled, trace.calls(), told.__contains__)

    def all(self) -> tuple[list[str], list[Claim]]:
        """Return the steps and the claims."""
        calls = self._trace.calls()
        lines = self._lines()
        ids = self._ids()
        claims: list[Claim] = []
        for call, made in zip(calls, self._made, strict=True):
            if call.number in self._asserted and made.operation != WAIT:
                name = (
                    "last"
                    if call is calls[-1] and call.number not in self._names.reach
                    else self._names.reach[call.number]
                )
                claims += self._of_call(name, made, ids)
        return lines, list(dict.fromkeys(claims))

    def _lines(self) -> list[str]:
        last = self._trace.calls()[-1].number
        asserted = {
            call.number
            for call in self._trace.calls()
            if call.number in self._asserted and call.number != last and call.operation != WAIT
        }
        return written(self._trace.steps, self._names, asserted)

    def _ids(self) -> dict[str, str]:
        """Return how each id that was given is reached."""
        found: dict[str, str] = {}
        for call, made in zip(self._trace.calls(), self._made, strict=True):
            if call.number in self._names.reach:
                for field, value in self._types.ids(made).items():
                    found.setdefault(value, Given(call.number, field).of(self._names.reach[call.number]))
        return found

    def _of_call(self, name: str, made: Observed, ids: Mapping[str, str]) -> Iterator[Claim]:
        """Walk what can be asserted of a call."""
        if made.refused is not None:
            yield f"{name}.refused == {made.refused}", f"{name}.refused != null"
        else:
            parts = list(self._of_value(name, made.given, self._types.gives(made.operation), ids))
            yield from parts or [(f"{name}.refused == null",)]
        for signal in dict.fromkeys(signal for signal, _ in made.signals):
            count = sum(each == signal for each, _ in made.signals)
            yield f"{name}.signals.{signal}.size() == {count}", f"{name}.signals.{signal}.size() >= {count}"

    def _of_value(self, at: str, value: Any, kind: Type | None, ids: Mapping[str, str]) -> Iterator[Claim]:
        """Walk what can be asserted of a reply, or of a part of one."""
        inner = present(kind) if kind is not None else None
        if value is CHOSEN or kind in (None, NULL):
            return
        match value:
            case Document(inline=inline, text=text):
                yield (f"{at}.inline == {str(inline).lower()} && {at}.text == {quoted(text)}",)
            case dict() if isinstance(inner, RecordType):
                for field, each in inner.fields:
                    yield from self._of_value(f"{at}.{field}", value.get(field), each, ids)
            case list() if isinstance(inner, List):
                yield (f"{at}.size() == {len(value)}",)
                for index, each in enumerate(() if inner.unordered and len(value) > 1 else value[:LISTED]):
                    yield from self._of_value(f"{at}[{index}]", each, inner.item, ids)
            case int() if isinstance(inner, Time) and not isinstance(value, bool):
                if isinstance(kind, Optional):
                    yield (f"{at} != null",)
            case str() if isinstance(inner, Id) and value not in ids:
                return  # the system chooses it
            case None | bool() | int() | str():
                said = ids.get(str(value)) or self._names.known(value, kind)
                if said != at:
                    yield (f"{at} == {said}",)


def _texts(value: Any) -> Iterator[str]:
    """Walk the texts in a reply."""
    match value:
        case str():
            yield value
        case dict():
            yield from (text for each in value.values() for text in _texts(each))
        case list():
            yield from (text for each in value for text in _texts(each))
