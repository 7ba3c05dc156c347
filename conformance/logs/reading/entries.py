"""From an entry of a log to the call or the signal that it is, in the values of the spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.judge import Observation, WrongShape, kernel_facts, observe
from conformance.logs.reading import otlp
from conformance.logs.reading.fields import MS, as_far_as_said, meets, nanoseconds, there, translated
from conformance.logs.reading.items import Item, LoggedCall, LoggedSignal, Unended
from conformance.logs.reading.lines import BadLine, LogLine
from conformance.logs.reading.mapping import OTLP, LogMap, Rule
from conformance.logs.reading.own_form import plain_rule
from statemachines.compile import Compiled
from statemachines.model import ANYTHING
from statemachines.rows import Observed
from statemachines.types import NULL, Optional, RecordType, Type

FIRST_SHOWN = 3  # entries of a kind that are shown where they say nothing


@dataclass(frozen=True, slots=True)
class _Begun:
    """A call that has begun in one entry and is to end in another; `number` is that of the first."""

    line: LogLine
    operation: str
    arguments: dict[str, Any]
    at: int
    number: int


class EntryReader:
    """Reads the entries of one log; what they come to is counted.

    unmatched  the entries that no rule is about: their number, and the first lines
    ignored    the entries that the map says to ignore
    """

    def __init__(self, compiled: Compiled, log_map: LogMap) -> None:
        self._map = log_map
        self._facts = kernel_facts.of(compiled)
        self._operations = {each.name: each for each in compiled.kernel.operations}
        self._observation = Observation(compiled, log_map.declaration.silent, lost=True)
        self._open: dict[tuple[str, str, str], _Begun] = {}
        self._origin: int | None = 0 if log_map.clock == "virtual" else None
        self._number = 0
        self.unmatched: list[LogLine] = []
        self.counts: Counter[str] = Counter()

    # ── Entries ──

    def items(self, line: LogLine, data: dict[str, Any]) -> Iterator[Item]:
        """Walk what a line comes to. Raises BadLine."""
        for entry in otlp.entries(data) if self._map.form == OTLP else (data,):
            self._number += 1
            yield from self._items(line, entry)

    def _items(self, line: LogLine, entry: dict[str, Any]) -> Iterator[Item]:
        if any(meets(entry, each) for each in self._map.ignore):
            self.counts["ignored"] += 1
            return
        rule = self._rule(entry)
        if rule is None:
            self.counts["unmatched"] += 1
            self.unmatched += [line] if len(self.unmatched) < FIRST_SHOWN else []
            return
        system = there(entry, self._map.split) if self._map.split else ""
        began = self._instant(entry, self._map.time)
        if rule.kind == "signal":
            signal = self._signal(rule, entry)
            yield LoggedSignal(line, signal, began, str(system), self._number)
        elif rule.kind == "call":
            until = there(entry, self._map.until) if self._map.until else None
            ended = began if until is None else self._instant(entry, self._map.until)
            call = self._call(rule, entry, self._arguments(rule, entry))
            yield self._made(line, call, began, max(ended, began), str(system))
        else:
            yield from self._half(line, rule, entry, began, str(system))

    def _rule(self, entry: dict[str, Any]) -> Rule | None:
        if self._map.plain:
            return plain_rule(entry, self._operations, self._facts, self._map.words)
        return next((each for each in self._map.rules if meets(entry, each.when)), None)

    def _made(self, line: LogLine, call: Observed, began: int, ended: int, system: str) -> LoggedCall:
        slack = self._map.slack
        return LoggedCall(line, call, began - slack, ended + slack, system, self._number)

    # ── Calls that begin in one entry and end in another ──

    @property
    def oldest_open(self) -> int | None:
        """The instant at which the first call began of those whose end was not read so far."""
        first = min((each.at for each in self._open.values()), default=None)
        return None if first is None else first - self._map.slack

    def _half(self, line: LogLine, rule: Rule, entry: dict[str, Any], at: int, system: str) -> Iterator[Item]:
        name = there(entry, self._map.correlation)
        if name is None:
            raise BadLine(f"it has no {self._map.correlation}", "each entry that `begins` or `ends` a call has it")
        key = (system, rule.name, str(name))
        if rule.kind == "begins":
            if key in self._open:
                yield self._unended(key)
            arguments = self._arguments(rule, entry, partly=True)
            self._open[key] = _Begun(line, rule.name, arguments, at, self._number)
            return
        begun = self._open.pop(key, None)
        if begun is None:
            raise BadLine(f"the {rule.name} with {self._map.correlation} {name!r} ends, and it never began", _WHOLE)
        arguments = {**begun.arguments, **self._arguments(rule, entry, partly=True)}
        call = self._call(rule, entry, self._complete(rule.name, arguments))
        yield self._made(line, call, begun.at, max(at, begun.at), system)

    def _unended(self, key: tuple[str, str, str]) -> Unended:
        begun = self._open.pop(key)
        self.counts["unended"] += 1
        return Unended(begun.line, begun.operation, begun.at - self._map.slack, key[0], begun.number)

    def give_up(self) -> Iterator[Item]:
        """Walk the calls whose end was not read so far: it will not come."""
        for key in list(self._open):
            yield self._unended(key)

    # ── Values ──

    def _instant(self, entry: dict[str, Any], path: str) -> int:
        """Return when an entry was, in nanoseconds after the first one; where there are no times, its number."""
        if self._map.clock == "none":
            return self._number
        raw = there(entry, path)
        if raw is None:
            raise BadLine(f"it has no time {path!r}", "say under `time` where it is; or `clock: none`")
        at = nanoseconds(raw, self._map.unit)
        if self._origin is None:
            self._origin = at
        return at - self._origin

    def _milliseconds(self, raw: Any) -> Any:
        """Return an instant within a value."""
        if self._map.clock == "none" or self._origin is None:
            return 0
        return (nanoseconds(raw, self._map.unit) - self._origin) // MS

    def _value(self, kind: Type, raw: Any, words: Mapping[str, str]) -> Any:
        return translated(kind, raw, words, self._milliseconds)

    def _arguments(self, rule: Rule, entry: dict[str, Any], *, partly: bool = False) -> dict[str, Any]:
        """Return the arguments of a call. Raises BadLine."""
        found = {name: there(entry, path) for name, path in rule.paths.items()} | dict(rule.fixed)
        given: dict[str, Any] = {}
        for each in self._operations[rule.name].parameters:
            raw = found.get(each.name)
            if raw is None:
                continue
            try:
                given[each.name] = observe(each.wire, self._value(each.wire, raw, rule.words), each.name)
            except WrongShape as wrong:
                hint = "its words can be translated under `words`" if not self._map.plain else _WHOLE
                raise BadLine(f"an argument of {rule.name} is not of its type: {wrong}", hint) from None
        return given if partly else self._complete(rule.name, given)

    def _complete(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return arguments with null where nothing stands for nothing. Raises BadLine."""
        for each in self._operations[name].parameters:
            if each.name not in given and each.default is None:
                if not isinstance(each.wire, Optional):
                    raise BadLine(f"it does not say {each.name!r}, which {name} takes", "see `conformance explain`")
                given[each.name] = None
        return given

    def _call(self, rule: Rule, entry: dict[str, Any], arguments: dict[str, Any]) -> Observed:
        """Return a call with what is shown of its reply. Raises BadLine."""
        made = Observed(rule.name, arguments)
        code = there(entry, rule.refused) if rule.refused else None
        if code not in (None, "", False):
            return replace(made, refused=rule.words.get(str(code), str(code)))
        kind = self._facts.gives(rule.name)
        if kind == NULL and not rule.reply:
            return made
        if rule.gives is None and not rule.reply:
            return replace(made, reply=ANYTHING)
        raw = (
            there(entry, rule.reply)
            if rule.gives is None
            else {name: there(entry, path) for name, path in rule.gives.items()}
        )
        value = self._value(kind, raw, rule.words)
        observed = self._observation.call(replace(made, reply=value))
        if rule.gives is None and not self._map.plain:
            observed = replace(observed, reply=as_far_as_said(observed.reply, value))
        if rule.gives is not None and isinstance(observed.reply, dict) and isinstance(kind, RecordType):
            for name in observed.reply.keys() - rule.gives.keys():
                observed.reply[name] = ANYTHING
        return observed

    def _signal(self, rule: Rule, entry: dict[str, Any]) -> Any:
        kinds = dict(self._facts.signals[rule.name].fields)
        raw = {name: there(entry, path) for name, path in rule.paths.items()}
        known = {name: self._value(kinds[name], value, rule.words) for name, value in raw.items() if value is not None}
        try:
            name, fields = self._observation.signal({"signal": rule.name, **known})
        except WrongShape as wrong:
            raise BadLine(f"the signal {rule.name} is not of its form: {wrong}", _WHOLE) from None
        shown = ((part, value if part in rule.paths else ANYTHING) for part, value in fields)
        return name, tuple(shown)


_WHOLE = "a log is read from its beginning; `on bad lines: skip` in a map leaves out what is no entry"
