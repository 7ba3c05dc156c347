"""What a system showed, projected to the values that the model speaks of.

Both sides of lockstep are compared in this one form: fields that the spec does not know are gone, an
absent field is null, a document has been read from wherever it lies. What is right about it the judge says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from conformance.judge import kernel_facts
from conformance.judge.differences import LOST
from conformance.judge.finding import WELL_FORMED
from conformance.system import error_told, told
from statemachines.compile import Compiled
from statemachines.model import ANYTHING, Document, Signal
from statemachines.rows import Observed
from statemachines.types import (
    Bool,
    DocumentType,
    Enum,
    Id,
    Int,
    List,
    Null,
    Optional,
    RecordType,
    Ref,
    Text,
    Time,
    Type,
)

LARGEST_NUMBER = 2**53 - 1


class WrongShape(Exception):
    """What is not of the form that the spec gives; `path` leads to the part, and `expected` says what should be there."""

    def __init__(self, path: str, message: str, expected: str = WELL_FORMED) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message
        self.expected = expected


@dataclass(frozen=True, slots=True)
class Something:
    """What was given where there is nothing to give, in words."""

    text: str

    def __repr__(self) -> str:
        return self.text


class Observation:
    """Projects what one system shows in one case. After a call that may lose files, those of earlier replies need not be there.

    silent    the signals that the system says it does not send
    measured  what it makes of a text; it may tell that as well as the text
    lost      its files need not be there from the start: it is looked at afterwards, or from elsewhere
    """

    def __init__(
        self,
        compiled: Compiled,
        silent: Collection[str] = (),
        measured: Callable[[str], str] | None = None,
        *,
        lost: bool = False,
    ) -> None:
        self._silent = silent
        self._measured = measured
        self._texts: dict[str, str] = {}  # that were given, by what the system makes of them
        self._facts = kernel_facts.of(compiled)
        self._losing = {operation.name for operation in compiled.kernel.operations if operation.loses_files}
        self._lost = lost

    def given(self, arguments: Mapping[str, Any]) -> None:
        """Take note of the texts that a call is about to give."""
        if self._measured is not None:
            for text in filter(lambda each: isinstance(each, str), arguments.values()):
                self._texts[self._measured(text)] = text

    def call(self, made: Observed) -> Observed:
        """Return a call with its reply as a value of the spec; ANYTHING, and why, where it does not have that form."""
        if made.refused is not None:
            return made
        try:
            return replace(made, reply=self.reply(made.operation, made.reply))
        except WrongShape as wrong:
            return replace(made, reply=ANYTHING, malformed=str(wrong))
        finally:
            self._lost = self._lost or made.operation in self._losing

    def reply(self, operation: str, raw: Any) -> Any:
        """Return a raw reply as a value of the spec; raise WrongShape when it does not have that form."""
        with _readable():
            reply = observe(self._facts.gives(operation), raw, lost=self._lost)
        for each in _documents(reply) if self._texts else ():
            each.text = self._texts.get(each.text, each.text)
        return reply

    def signal(self, raw: Any) -> Signal:
        """Return a signal as the spec has it; raise WrongShape when it is none of the spec's."""
        kinds = self._facts.signals
        with _readable():
            name = raw.get("signal") if isinstance(raw, Mapping) else None
        name = str.__str__(name) if isinstance(name, str) else None
        if name not in kinds:
            such = f'signals such as {{"signal": NAME, …}} with {", ".join(kinds)}'
            raise WrongShape("", told(raw), such if kinds else "no signal, as there are none")
        if name in self._silent:
            raise WrongShape("", told(raw), f"no signal {name}, for it is declared lacking")
        try:
            with _readable():
                fields = observe(kinds[name], raw)
        except WrongShape as wrong:
            expected = f"a signal {name} of the form that the spec gives"
            raise WrongShape(wrong.path, wrong.message, expected) from None
        return name, tuple(sorted(fields.items()))


def observe(kind: Type, raw: Any, path: str = "", *, lost: bool = False) -> Any:
    """Project a raw reply to a value of type `kind`; raise WrongShape when it does not have that form.

    `lost` allows files that cannot be read, as after an operation that may lose them.
    """
    match kind:
        case Optional(item=item):
            return None if raw is None else observe(item, raw, path, lost=lost)
        case Null():
            return None if raw is None else Something(told(raw))
        case RecordType(fields=fields):
            return _record(fields, raw, path, lost)
        case List(item=item):
            if not isinstance(raw, list | tuple):
                raise WrongShape(path, f"a list is expected, and this is {told(raw)}")
            return [observe(item, each, f"{path}[{index}]", lost=lost) for index, each in enumerate(raw)]
        case DocumentType():
            return _document(raw, path, lost)
        case Bool():
            return bool(_of(bool, "true or false", raw, path))
        case Int() | Time():
            return _number(raw, path)
        case Enum(members=members):
            found = _text(raw, f"one of {', '.join(members)}", path)
            if found not in members:
                raise WrongShape(path, f"one of {', '.join(members)} is expected, and this is {told(found)}")
            return found
        case Text() | Id() | Ref():
            return _text(raw, "a text", path)
        case _:
            return _plain(raw)


def _plain(raw: Any) -> Any:
    """Return a value of no certain type with its texts, numbers, lists and records as plain ones."""
    match raw:
        case str():
            return str.__str__(raw)
        case int() if not isinstance(raw, bool):
            return int.__int__(raw)
        case list() | tuple():
            return list(map(_plain, raw))
        case Mapping():
            return {_plain(key): _plain(value) for key, value in raw.items()}
        case _:
            return raw


@contextmanager
def _readable() -> Iterator[None]:
    """Raise WrongShape where what a system gave runs code of its own that fails while it is read."""
    try:
        yield
    except WrongShape:
        raise
    except Exception as error:  # noqa: BLE001 - a record or a list of the system's own making may raise anything
        raise WrongShape("", f"it cannot be read: {error_told(error)}") from None


def _text(raw: Any, name: str, path: str) -> str:
    """Return a plain text, whatever kind of text it is: one may have ideas of its own about what it equals."""
    return str.__str__(_of(str, name, raw, path))


def _of(kind: type, name: str, raw: Any, path: str) -> Any:
    if not isinstance(raw, kind):
        raise WrongShape(path, f"{name} is expected, and this is {told(raw)}")
    return raw


def _number(raw: Any, path: str) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise WrongShape(path, f"a whole number is expected, and this is {told(raw)}")
    number = int.__int__(raw)
    if abs(number) > LARGEST_NUMBER:
        raise WrongShape(path, f"{told(number)} is beyond ±(2^53−1)")
    return number


def _record(fields: tuple[tuple[str, Type], ...], raw: Any, path: str, lost: bool) -> dict[str, Any]:
    if not isinstance(raw, Mapping):
        names = ", ".join(name for name, _ in fields)
        raise WrongShape(path, f"a record with {names} is expected, and this is {told(raw)}")
    found = {}
    for name, kind in fields:
        inner = f"{path}.{name}" if path else name
        value = raw.get(name)
        found[name] = None if value is None else observe(kind, value, inner, lost=lost)
    return found


def _document(raw: Any, path: str, lost: bool) -> Document:
    if not isinstance(raw, Mapping) or (raw.get("text") is None) == (raw.get("file") is None):
        raise WrongShape(path, f'{{"text": …}} or {{"file": PATH}} is expected, and this is {told(raw)}')
    if raw.get("text") is not None:
        return Document(_text(raw["text"], "a text", f"{path}.text"), inline=True)
    named = raw["file"]
    file = _text(fspath(named) if isinstance(named, PathLike) else named, "the path of a file", f"{path}.file")
    try:
        text = Path(file).read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        if lost:
            return Document(LOST, inline=False, file=file)
        raise WrongShape(f"{path}.file", f"the file {file!r} cannot be read: {error}") from None
    preview = raw.get("preview")
    if preview is not None and (not isinstance(preview, str) or preview == text or not text.startswith(preview)):
        raise WrongShape(f"{path}.preview", "a preview is a beginning of the text, and not the whole of it")
    return Document(text, inline=False, file=file)


def _documents(value: Any) -> Iterator[Document]:
    """Walk all documents within a value."""
    if isinstance(value, Document):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _documents(each)


def files(kind: Type, value: Any) -> Iterator[tuple[Any, str]]:
    """Walk the documents in files within a value, each with what it belongs to: the record around it."""
    match kind, value:
        case Optional(item=item), _:
            yield from files(item, value)
        case RecordType(fields=fields), dict():
            for name, field in fields:
                part = value[name]
                if isinstance(field, DocumentType) and isinstance(part, Document) and part.file is not None:
                    yield value, part.file
                elif not isinstance(field, DocumentType):
                    yield from files(field, part)
        case List(item=item), list():
            for each in value:
                yield from files(item, each)


def instants_in(kind: Type, value: Any) -> Iterator[int]:
    """Walk the instants that a value of a type tells of."""
    match kind, value:
        case _, None:
            return
        case Optional(item=item), _:
            yield from instants_in(item, value)
        case Time(), int():
            yield value
        case List(item=item), list():
            for each in value:
                yield from instants_in(item, each)
        case RecordType(fields=fields), dict():
            for name, field in fields:
                yield from instants_in(field, value.get(name))
