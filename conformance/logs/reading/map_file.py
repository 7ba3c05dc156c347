"""The file of a map: read, and refused with every fault of it, each at its place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from conformance.judge import kernel_facts
from conformance.logs.reading.fields import MS, UNITS
from conformance.logs.reading.mapping import KINDS, OTLP, SPANS_LATE, USUALLY_REMEMBERED, LogMap, Rule, declaring
from conformance.system import SIGNAL, DeclarationError
from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic, SpecError, unknown
from statemachines.surface import check_structure
from statemachines.types import RecordType
from statemachines.yaml import Mapping as Tree
from statemachines.yaml import Node, locate, read_file, to_plain

_AMOUNT = re.compile(r"([0-9]+) ?(ms|s|entries)")
_DECLARED = ("limits", "policies")


def read_map(compiled: Compiled, path: str) -> LogMap:
    """Read a map; raise SpecError with every fault of it, each at its place."""
    tree = read_file(path)
    check_structure(tree, "log-map")
    words: dict[str, Any] = {key.text: to_plain(node) for key, node in tree.entries} if isinstance(tree, Tree) else {}
    reader = _MapReader(compiled, tree, words)
    faults = list(reader.faults())
    if faults:
        raise SpecError(faults)
    return reader.map()


class _MapReader:
    """What one file says, beside what a schema can tell of it."""

    def __init__(self, compiled: Compiled, tree: Node, words: Mapping[str, Any]) -> None:
        self._tree = tree
        self._words = words
        self._operations = {each.name: each for each in compiled.kernel.operations}
        self._facts = kernel_facts.of(compiled)
        self._compiled = compiled

    # ── Faults ──

    def faults(self) -> Iterator[Diagnostic]:
        """Walk what is wrong with names, and with words that do not go together."""
        words = self._words
        for index, name in enumerate(words.get("hidden", ())):
            yield from self._hidden(index, name)
        for index, entry in enumerate(words.get("entries", ())):
            yield from self._entry(index, entry)
        if "correlation" not in words:
            for index, entry in enumerate(words.get("entries", ())):
                if {"begins", "ends"} & {*entry}:
                    where, message = self._at("entries", index), "a call begins in one entry and ends in another"
                    yield Diagnostic("missing-word", where, message, "name the field they share under `correlation`")
        form = words.get("form", "lines")
        if form == OTLP and "entries" not in words:
            hint = "list `entries` with conditions such as {is: span, name: start}; or give `--map otel`"
            yield Diagnostic("missing-word", self._at("form"), "spans need `entries`", hint)
        if form == "lines" and "entries" in words and "time" not in words and words.get("clock") != "none":
            hint = "add `time: {field: …}`, or `clock: none` where the log has no times"
            yield Diagnostic("missing-word", self._at("entries"), "nothing says when an entry was", hint)
        timed = not words.get("out of order", "0 entries").endswith("entries")
        if words.get("clock") == "none" and timed:
            hint = "say how many entries: `out of order: 20 entries`"
            yield Diagnostic("bad-value", self._at("out of order"), "the log has no times", hint)
        try:
            self._declaration()
        except DeclarationError as error:
            place = next((each for each in _DECLARED if each in words), "")
            yield Diagnostic("bad-value", self._at(place), str(error), "a map declares what an adapter would")

    def _hidden(self, index: int, name: str) -> Iterator[Diagnostic]:
        is_signal = name.startswith(SIGNAL)
        known: Collection[str] = [f"{SIGNAL}{each}" for each in self._facts.signals] if is_signal else self._operations
        if name not in known:
            what = "signal" if is_signal else "operation"
            message = f"{self._compiled.lifecycle.name} has no {what} {name.removeprefix(SIGNAL)!r}"
            yield unknown(f"unknown-{what}", self._at("hidden", index), name, message, known)

    def _entry(self, index: int, entry: Mapping[str, Any]) -> Iterator[Diagnostic]:
        kinds = [kind for kind in KINDS if kind in entry]
        where = self._at("entries", index)
        if len(kinds) != 1:
            hint = "one of `call`, `begins`, `ends` and `signal` says what such an entry is"
            yield Diagnostic("missing-word" if not kinds else "bad-value", where, "it is not said what it is", hint)
            return
        kind, name = kinds[0], entry[kinds[0]]
        known: Collection[str] = self._facts.signals if kind == "signal" else self._operations
        what = "signal" if kind == "signal" else "operation"
        if name not in known:
            message = f"{self._compiled.lifecycle.name} has no {what} {name!r}"
            yield unknown(f"unknown-{what}", self._at("entries", index, kind), name, message, known)
            return
        yield from self._parts(index, entry, name, is_signal=kind == "signal")
        if kind in ("call", "ends"):
            yield from self._ids(index, entry, name)

    def _parts(self, index: int, entry: Mapping[str, Any], name: str, *, is_signal: bool) -> Iterator[Diagnostic]:
        """Tell of arguments and fields that there are not."""
        gives = self._facts.gives(name)
        taken = [part for part, _ in self._facts.signals[name].fields] if is_signal else [*self._facts.takes(name)]
        given = [part for part, _ in gives.fields] if isinstance(gives, RecordType) and not is_signal else []
        for word, known in (("with", taken), ("fixed", taken), ("gives", given)):
            for part in entry.get(word, {}):
                if part not in known:
                    place = locate(self._tree, ("entries", index, word, part), key=True)
                    message, hint = f"{name} has no {part!r} here", f"known: {', '.join(known) or 'none'}"
                    yield unknown("unknown-field", place, part, message, known, hint)

    def _ids(self, index: int, entry: Mapping[str, Any], name: str) -> Iterator[Diagnostic]:
        """Tell of a new record of which nobody can know the id."""
        for part, entity in self._facts.minted_in(name).items():
            if part not in entry.get("gives", {}) and "reply" not in entry:
                where = f"`gives: {{{part}: …}}`" if part else "`reply: …`"
                message = f"{name} makes a new {entity}, and nothing says which id it has"
                yield Diagnostic("missing-word", self._at("entries", index), message, f"say where it is found: {where}")

    def _at(self, *path: str | int) -> Any:
        return locate(self._tree, path)

    # ── Values ──

    def _declaration(self) -> Any:
        signals = [each for each in self._words.get("hidden", ()) if each.startswith(SIGNAL)]
        said = {word: self._words[word] for word in _DECLARED if word in self._words}
        settles = _amount(self._words.get("settles", "0 ms"))[0] // MS
        clock = self._words.get("clock", "real")
        return declaring(self._compiled, {**said, "lacks": signals, "settles": settles, "clock": clock})

    def map(self) -> LogMap:
        """Return the map."""
        words, form = self._words, self._words.get("form", "lines")
        usual = {"field": "start", "until": "end", "unit": "ns"} if form == OTLP else {"field": "at"}
        plain = "entries" not in words
        usual |= {"until": "until"} if plain else {}
        time = words.get("time", usual)
        late = SPANS_LATE if time.get("until") and not plain else 0
        window, places = _amount(words["out of order"]) if "out of order" in words else (late, 0)
        return LogMap(
            self._declaration(),
            tuple(_rule(each, words.get("words", {})) for each in words.get("entries", ())),
            tuple(words.get("ignore", ())),
            plain=plain,
            form=form,
            time=time["field"],
            until=time.get("until", ""),
            unit=time.get("unit", "ms"),
            split=words.get("split", ""),
            correlation=words.get("correlation", ""),
            window=window,
            places=places,
            slack=_amount(words.get("slack", "0 ms"))[0],
            hidden=tuple(each for each in words.get("hidden", ()) if not each.startswith(SIGNAL)),
            words=words.get("words", {}),
            remember=words.get("remember", USUALLY_REMEMBERED),
            skips=words.get("on bad lines") == "skip",
        )


def _rule(entry: Mapping[str, Any], words: Mapping[str, str]) -> Rule:
    kind = next(kind for kind in KINDS if kind in entry)
    return Rule(
        entry["when"],
        kind,
        entry[kind],
        entry.get("with", {}),
        entry.get("fixed", {}),
        entry.get("gives"),
        entry.get("reply", ""),
        entry.get("refused", ""),
        {**words, **entry.get("words", {})},
    )


def _amount(text: str) -> tuple[int, int]:
    """Return the nanoseconds that a text says, and the entries."""
    amount = _AMOUNT.fullmatch(text)
    number, unit = (int(amount[1]), amount[2]) if amount is not None else (0, "ms")
    return (0, number) if unit == "entries" else (number * UNITS[unit], 0)
