"""One value for all configurations of a model that differ in nothing that matters.

Only what can decide a later step is told apart: fields that nothing depends on are left out, ids count by
where they stand, instants and completions by their order, and states that no sentence tells apart are one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from statemachines import kernel
from statemachines.explore.influence import Influence
from statemachines.expression import python_name
from statemachines.generate import message_names, record_names
from statemachines.types import INT, UNKNOWN, Enum, Id, Identity, List, Ref, Text, Time, Type, present

Frozen = tuple[Any, ...]
"""A configuration as `freeze` gives it: now, two counters, the variables, and for every kind its rows."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A field that counts: its name, where it is in a row, its type, how it counts, what its values mean."""

    name: str
    at: int
    kind: Type
    how: str = "="
    same: Mapping[Any, Any] | None = None
    state: int = 0
    states: tuple[str, ...] = ()


_Row = tuple[int, tuple[Any, ...]]
"""A number for what a row says, and the names in it."""

_Rows = tuple[bool, list[_Row]]
"""Whether some rows say the same, and the rows by what they say."""

_FIRST = itemgetter(0)


class _Table:
    """What counts of the rows of one kind."""

    def __init__(self, at: int, columns: list[_Column], influence: Influence, *, ordered: bool) -> None:
        self.at = at
        self.ordered = ordered
        self.plain: list[tuple[int, Callable[[Any], Any]]] = []  # where, and what a value is taken for
        self.ranked: list[tuple[int, int]] = []  # where, and by which order
        self.clocks: list[tuple[int, int, tuple[str, ...]]] = []  # where, and while a state is one of these
        self.names: list[int] = []
        self.lists: list[int] = []
        self.known: dict[Any, _Rows] = {}
        for column in columns:
            kind = present(column.kind)
            if column.how == "#" or (isinstance(kind, Time) and column.how == "="):
                self.ranked.append((column.at, _ORDERS.get(column.name, 0)))
            elif column.how == "@":
                self.clocks.append((column.at, column.state, column.states))
            elif column.how == "=" and _names_something(kind, influence):
                self.names.append(column.at)
            elif column.how == "=" and isinstance(kind, List) and _names_something(kind.item, influence):
                self.lists.append(column.at)
            else:
                self.plain.append((column.at, _taken_for(column, influence)))

    def said(self, row: Frozen, place: int, now: int, ranks: Sequence[Mapping[Any, Any]]) -> tuple[Any, ...]:
        """Return what a row says apart from names; of a list of names, how long it is."""
        found = [taken(row[at]) for at, taken in self.plain]
        found += [ranks[order][row[at]] for at, order in self.ranked]
        for at, state, states in self.clocks:
            found.append(None if row[at] is None else now - row[at] if row[state] in states else "over")
        found += [None if row[at] is None else len(row[at]) for at in self.lists]
        return (self.at, place if self.ordered else 0, *found)

    def held(self, row: Frozen) -> tuple[Any, ...]:
        """Return the names in a row."""
        return tuple([row[at] for at in self.names] + [name for at in self.lists for name in row[at] or ()])


_ORDERS = {"completion": 1, "serial": 2}  # instants have order 0


def _taken_for(column: _Column, influence: Influence) -> Callable[[Any], Any]:
    """Return what values are taken for: null or not, or a member of an enum for one that is like it."""
    if column.how == "?":
        return lambda value: value is not None
    kind = present(column.kind)
    same = column.same if column.same is not None else influence.alike(kind) if isinstance(kind, Enum) else {}
    return lambda value: same.get(value, value)


def _names_something(kind: Type, influence: Influence) -> bool:
    return isinstance(present(kind), Ref | Identity) or (influence.opaque and isinstance(present(kind), Text | Id))


def _referred(kind: Type) -> list[str]:
    """Name the entity whose records a value stands for."""
    inner = present(kind)
    inner = present(inner.item) if isinstance(inner, List) else inner
    return [inner.entity] if isinstance(inner, Ref | Identity) else []


class Configurations:
    """Brings configurations that differ in nothing that matters to one value."""

    def __init__(self, source: kernel.Kernel, influence: Influence, usable: Mapping[str, int] | None = None) -> None:
        """Prepare for a kernel's models; `usable` tells of fixed records how many calls can name."""
        self.influence = influence
        self.head = 3 + len(source.variables)
        kinds = [("", self._variables(source))]
        kinds += [(entity.name, self._entity(entity, usable or {})) for entity in source.entities]
        kinds += [(each.name, self._message(each, box)) for each in source.messages for box in ("due", "sent")]
        referred = {name for _, columns in kinds for column in columns or () for name in _referred(column.kind)}
        tables = []
        for at, (name, columns) in enumerate(kinds):
            if columns is not None:
                serial = [_Column("serial", 0, Identity(name))] if name in referred else []
                tables.append(_Table(at, serial + columns, influence, ordered=name in influence.ordered))
        tables.sort(key=lambda table: -len(table.names))
        self.timed = [table for table in tables if table.ranked or table.clocks]
        self.others = [table for table in tables if table not in self.timed]
        self.known: dict[tuple[Any, ...], list[_Rows]] = {}
        self.colours: dict[Any, int] = {}

    def _variables(self, source: kernel.Kernel) -> list[_Column] | None:
        keeps = self.influence.keeps
        columns = [
            _Column(each.name, at, each.type, keeps(f".{each.name}")) for at, each in enumerate(source.variables, 3)
        ]
        return [column for column in columns if column.how] or None

    def _entity(self, entity: kernel.Entity, usable: Mapping[str, int]) -> list[_Column] | None:
        kinds: dict[str, Type] = {field.name: field.type for field in entity.fields}
        kinds |= {"serial": INT, "completion": INT, "id": Id(entity.name)}
        kinds |= {"state": Enum(f"{entity.name}.state", entity.states)}
        places = {name: at for at, name in enumerate(record_names(entity))}
        columns = [
            _Column(name, places[python_name(name)], kind, how)
            for name, kind in kinds.items()
            if python_name(name) in places and (how := self.influence.keeps(f"{entity.name}.{name}")) != "@"
        ]
        if entity.fixed:
            named = self.influence.named
            marks = {name: number * (name in named) for number, name in enumerate(entity.fixed, 1)}
            marks |= dict.fromkeys(entity.fixed[usable.get(entity.name, len(entity.fixed)) :], -1)
            columns = [column for column in columns if column.name != "id"]
            columns.append(_Column("id", places["id"], UNKNOWN, "=", marks))
        if entity.timers:
            columns += self._clocks(entity, places, kinds)
        return [column for column in columns if column.how]

    def _clocks(self, entity: kernel.Entity, places: Mapping[str, int], kinds: Mapping[str, Type]) -> list[_Column]:
        """Return the fields that timers read: they count while one of these runs."""
        states = tuple(dict.fromkeys(state for timer in entity.timers for state in timer.states))
        return [
            _Column(name, places[python_name(name)], kind, "@", None, places["state"], states)
            for name, kind in kinds.items()
            if f"{entity.name}.{name}@" in self.influence.names
        ]

    def _message(self, message: kernel.Message, box: str) -> list[_Column] | None:
        if f"{box}.{message.name}" not in self.influence.names:
            return None
        kinds: dict[str, Type] = {key: value.type for key, value in message.carries}
        kinds |= {"about": Identity(message.entity), "to": message.to.type if message.to else UNKNOWN}
        columns = [
            _Column(name, message_names(message).index(python_name(name)), kind, keeps)
            for name, kind in kinds.items()
            if (keeps := self.influence.keeps(f"{box}.{message.name}.{name}"))
        ]
        return [*columns, _Column("key", 2, UNKNOWN)] if message.name in self.influence.ordered else columns

    def canonical(self, frozen: Frozen) -> Hashable:
        """Return the one value of all configurations that are alike but for names and the flow of time."""
        return self._numbered(*self._read(frozen), {None: -1})

    def numbers(self, frozen: Frozen) -> Mapping[Any, int]:
        """Return the number of each name in a configuration: those that are alike have the same for what stands in the same place."""
        found: dict[Any, int] = {None: -1}
        self._numbered(*self._read(frozen), found)
        return found

    def _read(self, frozen: Frozen) -> tuple[list[_Rows], dict[Any, int]]:
        """Read the rows of all tables, and what tells their names apart."""
        parts = [(frozen[: self.head],), *frozen[self.head :]]
        clock = (frozen[0], *[parts[table.at] for table in self.timed])
        found = list(self.known.get(clock) or self._clocked(clock))
        for table in self.others:
            part = parts[table.at]
            if part:
                found.append(table.known.get(part) or self._rows(table, part))
        return found, self._shades(found) if any(map(_FIRST, found)) else {}

    def happened(self, frozen: Frozen) -> bool:
        """Return whether something that counts happened at this very instant."""
        parts = [(frozen[: self.head],), *frozen[self.head :]]
        return any(
            row[at] == frozen[0]
            for table in self.timed
            for at, order in table.ranked
            if order == 0
            for row in parts[table.at]
        )

    def _rows(
        self, table: _Table, part: tuple[Frozen, ...], now: int = 0, ranks: Sequence[Mapping[Any, Any]] = ()
    ) -> _Rows:
        """Read the rows of a table, numbering what they say."""
        colours = self.colours
        found = [
            (colours.setdefault(table.said(row, place, now, ranks), len(colours)), table.held(row))
            for place, row in enumerate(part)
        ]
        found.sort(key=_FIRST)
        rows = (len({colour for colour, _ in found}) < len(found), found)
        if not ranks:
            table.known[part] = rows
        return rows

    def _clocked(self, clock: tuple[Any, ...]) -> list[_Rows]:
        """Read the tables with instants and counters: these become their ranks, or distances from now."""
        now = clock[0]
        values: list[set[Any]] = [{now}, set(), set()]
        for table, part in zip(self.timed, clock[1:], strict=True):
            for at, order in table.ranked:
                values[order].update([row[at] for row in part])
        ranks: list[dict[Any, Any]] = []
        for held in values:
            held.discard(None)
            ranks.append({value: rank for rank, value in enumerate(sorted(held))})
        if self.influence.relative:
            ranks[0] = {value: value - now for value in values[0]}
        for rank in ranks:
            rank[None] = None
        found = [self._rows(table, part, now, ranks) for table, part in zip(self.timed, clock[1:], strict=True)]
        found.append((False, [(self.colours.setdefault(ranks[0][now], len(self.colours)), ())]))
        self.known[clock] = found
        return found

    def _shades(self, rows: list[_Rows]) -> dict[Any, int]:
        """Tell names apart by the rows that hold them, as far as these say different things."""
        holders: dict[Any, list[int]] = {}
        for _, found in rows:
            for colour, names in found:
                for slot, name in enumerate(names, colour << 8):
                    holders.setdefault(name, []).append(slot)
        colours = self.colours
        return {name: colours.setdefault(tuple(sorted(held)), len(colours)) for name, held in holders.items()}

    def _numbered(self, rows: list[_Rows], shades: dict[Any, int], numbers: dict[Any, int]) -> Hashable:
        """Number the names in the order of the rows that hold them: into `numbers`."""

        def by_names(row: _Row) -> tuple[Any, ...]:
            return row[0], [(shades[name], numbers.get(name, len(shades))) for name in row[1]]

        found: list[int] = []
        for tied, part in rows:
            for colour, names in sorted(part, key=by_names) if tied else part:
                found.append(colour)
                found += [numbers.setdefault(name, len(numbers)) for name in names]
        return tuple(found)
