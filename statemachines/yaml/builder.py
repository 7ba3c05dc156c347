"""PyYAML's events to a tree, refusing what the language does without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn, TypeAlias

import yaml

from statemachines.diagnostics import Diagnostic, SpecError
from statemachines.yaml.positions import SourceText
from statemachines.yaml.traps import (
    Last,
    SyntaxComplaint,
    TextFault,
    character_faults,
    comment_cut,
    explain,
    flow_cut,
    flow_end,
    key_cut,
    special_start,
    squeezed,
    tag_fault,
    unclosed,
)
from statemachines.yaml.tree import Mapping, Node, Scalar, Sequence, Style, fits, resolve

Loader: TypeAlias = Any
"""A loader class of PyYAML, of which only the events are used."""

LOADER: Final[Loader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEEPEST: Final = 40
"""How deep lists and mappings may nest."""

_DIRECTIVE = re.compile(r"(?:[ ]*(?:#.*)?\n)*(%)")
_COLON = re.compile(r"[ \n]*:")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSPACED = re.compile(r"[|>][-+0-9]*#")
_LONGEST_PIECE: Final = 256


class _Stopped(Exception):
    """Nothing below can be read."""


@dataclass(slots=True)
class _Frame:
    """One list or mapping while it is read: `piece` is what a cut expression has shown of itself so far."""

    flow: bool
    piece: str = ""
    was_cut: bool = False


def build(source: SourceText, loader: Loader = LOADER) -> Node:
    """Return the tree of a text whose line breaks are `\\n`; SpecError with all its faults."""
    faults = character_faults(source.text)
    if not faults:
        builder = _Builder(source, loader)
        with suppress(_Stopped):
            root = builder.document()
            if not builder.faults:
                return root
        faults = builder.faults
    raise SpecError(Diagnostic(fault.code, source.where(fault.index), fault.message, fault.hint) for fault in faults)


class _Builder:
    """Reads one document; `faults` fills meanwhile."""

    def __init__(self, source: SourceText, loader: Loader) -> None:
        self.faults: list[TextFault] = []
        self._source = source
        self._text = source.text
        self._events: Iterator[yaml.Event] = yaml.parse(source.text, Loader=loader)
        self._last: Last | None = None
        self._frames: list[_Frame] = []

    def document(self) -> Node:
        """Return the root of the only document. Raises _Stopped where there is none to be had."""
        directive = _DIRECTIVE.match(self._text)
        if directive:
            self._stop("yaml-directive", directive.start(1), "a YAML directive stands here", "remove the line")
        self._next()
        root = None if isinstance(self._next(), yaml.StreamEndEvent) else self._node(self._next())
        if root is None or (isinstance(root, Scalar) and root.style == "plain" and not root.text):
            hint = "a spec starts with `lifecycle: NAME`, a file of rows with `title:`"
            self._stop("yaml-empty", 0, "there is nothing in the file", hint)
        self._next()
        after = self._next()
        if isinstance(after, yaml.DocumentStartEvent):
            hint = "one file holds one spec: move the rest to a file of its own"
            self._stop("yaml-documents", _start(after), "a second YAML document starts here", hint)
        return root

    def _node(self, event: yaml.Event, after: int | None = None) -> Node:
        match event:
            case yaml.ScalarEvent():
                return self._scalar(event, after)
            case yaml.SequenceStartEvent():
                return self._sequence(event)
            case yaml.MappingStartEvent():
                return self._mapping(event)
            case _:
                hint = "aliases are no part of the language: repeat the value, or put a text in quotes"
                self._fault("yaml-alias", _start(event), "YAML takes a value that starts with `*` for an alias", hint)
                return Scalar(None, "", self._source.where(_start(event)), "plain")

    def _sequence(self, event: yaml.SequenceStartEvent) -> Sequence:
        frame = self._enter(event)
        items: list[Node] = []
        while not isinstance(item := self._next(), yaml.SequenceEndEvent):
            items.append(self._node(item))
        self._leave(event, item)
        return Sequence(tuple(items), self._source.where(_start(event)), frame.flow)

    def _mapping(self, event: yaml.MappingStartEvent) -> Mapping:
        frame = self._enter(event)
        entries: list[tuple[Scalar, Node]] = []
        seen: dict[str, int] = {}
        repeated: list[TextFault] = []
        while not isinstance(start := self._next(), yaml.MappingEndEvent):
            key = self._key(start, frame)
            colon = _COLON.match(self._text, _end(start))
            value = self._node(self._next(), colon.end() if colon else _end(start))
            if key is not None:
                entries.append((key, value))
                if seen.setdefault(key.text, _start(start)) != _start(start):
                    message = f"the key {key.text!r} stands here a second time"
                    first = self._source.where(seen[key.text]).line
                    hint = f"it is first on line {first}: rename one, or join the two"
                    repeated.append(TextFault("yaml-duplicate-key", _start(start), message, hint))
        self._leave(event, start)
        if not frame.was_cut:
            self.faults += repeated
        return Mapping(tuple(entries), self._source.where(_start(event)), frame.flow)

    def _key(self, event: yaml.Event, frame: _Frame) -> Scalar | None:
        node = self._node(event)
        if isinstance(node, Scalar) and node.style != "block" and (node.text or node.style == "quoted"):
            cut = None if frame.flow or node.style == "quoted" else key_cut(_end(event), node.text)
            if cut:
                frame.was_cut = True
                self.faults.append(cut)
            return replace(node, value=node.text)
        if not frame.was_cut and not isinstance(event, yaml.AliasEvent):
            hint = "a key is a text before a colon; put an expression that starts so in parentheses"
            self._fault("yaml-key", _start(event), "a key is missing, or is no text of one line", hint)
        return None

    def _scalar(self, event: yaml.ScalarEvent, after: int | None) -> Scalar:
        start, end, indicator = _start(event), _end(event), event.style or ""
        if start == end and after is not None:  # nothing is written here, and loaders differ on where
            start = end = after
        self._properties(event, plain=not indicator)
        if indicator == '"' and _SURROGATE.search(event.value):
            raise self._given_up(_bad_escape(start))
        style: Style = "plain" if not indicator else "block" if indicator in "|>" else "quoted"
        if style == "block" and _UNSPACED.match(self._text, start):
            self.faults.append(special_start(self._text, start))
        if end > start:
            self._last = Last(start, end, "quoted" if style == "quoted" else "plain")
        value = event.value if indicator else resolve(event.value)
        if not fits(value):
            hint = "put it in quotes if it is a text"
            self._fault("yaml-number", start, "the number takes more than 64 bits", hint)
        if value == event.value and style == "plain":
            self._traps(start, end, event.value)
        spots = self._source.spots(start, end, indicator, event.value)
        return Scalar(value, event.value, self._source.where(start), style, spots)

    def _traps(self, start: int, end: int, value: str) -> None:
        """Note what YAML has cut off a plain text, or would cut off."""
        if comment := comment_cut(self._text, end, value):
            self.faults.append(comment)
        frame = self._frames[-1] if self._frames else None
        if frame is None or not frame.flow:
            return
        if squeeze := squeezed(self._text, end):
            self.faults.append(squeeze)
        if "?" in value:
            self.faults.append(flow_end(self._text, self._text.index("?", start)))
        if not frame.piece and unclosed(value):
            frame.was_cut = True
            self.faults += [] if comment else [flow_cut(self._text, end, value)]
        joined = f"{frame.piece}, {value}" if frame.piece else value
        frame.piece = joined if unclosed(joined) and len(joined) < _LONGEST_PIECE else ""

    def _enter(self, event: yaml.CollectionStartEvent) -> _Frame:
        self._properties(event, plain=False)
        frame = _Frame(bool(event.flow_style))
        self._frames.append(frame)
        if len(self._frames) > DEEPEST:
            hint = "give the inner parts names of their own"
            self._stop("yaml-depth", _start(event), f"lists and mappings nest more than {DEEPEST} deep", hint)
        return frame

    def _leave(self, start: yaml.Event, end: yaml.Event) -> None:
        if self._frames.pop().flow:
            self._last = Last(_start(start), _end(end), "flow")

    def _properties(self, event: yaml.CollectionStartEvent | yaml.ScalarEvent, plain: bool) -> None:
        start = _start(event)
        if event.anchor is not None:
            hint = "anchors are no part of the language: repeat the value, or put a text in quotes"
            message = "YAML takes a value that starts with `&` for an anchor"
            self._fault("yaml-anchor", self._text.index("&", start), message, hint)
        if event.tag is not None:
            index = self._text.index("!", start)
            self.faults.append(tag_fault(index, self._text[index : index + 2], plain))

    def _next(self) -> yaml.Event:
        try:
            return next(self._events)
        except yaml.MarkedYAMLError as error:
            raise self._given_up(_complaint(error)) from None
        except (yaml.YAMLError, ValueError, OverflowError):
            raise self._given_up(_bad_escape(self._last.end if self._last else 0)) from None

    def _given_up(self, complaint: SyntaxComplaint) -> _Stopped:
        """Return the end of reading, after adding the syntax error, unless it follows from a fault known already."""
        in_flow = bool(self._frames) and self._frames[-1].flow
        fault = explain(self._text, complaint, self._last, in_flow)
        known = {self._source.where(fault.index).line for fault in self.faults}
        near = [fault.index, complaint.index, *([self._last.start] if self._last else [])]
        if known.isdisjoint(self._source.where(index).line for index in near):
            self.faults.append(fault)
        return _Stopped()

    def _fault(self, code: str, index: int, message: str, hint: str) -> None:
        self.faults.append(TextFault(code, index, message, hint))

    def _stop(self, code: str, index: int, message: str, hint: str) -> NoReturn:
        self._fault(code, index, message, hint)
        raise _Stopped


def _complaint(error: yaml.MarkedYAMLError) -> SyntaxComplaint:
    context = None if error.context_mark is None else error.context_mark.index
    index = context or 0 if error.problem_mark is None else error.problem_mark.index
    return SyntaxComplaint(error.problem or "", error.context or "", index, context)


def _bad_escape(index: int) -> SyntaxComplaint:
    return SyntaxComplaint("found invalid Unicode character escape code", "while scanning a quoted scalar", index, None)


def _start(event: yaml.Event) -> int:
    return 0 if event.start_mark is None else event.start_mark.index


def _end(event: yaml.Event) -> int:
    return 0 if event.end_mark is None else event.end_mark.index
