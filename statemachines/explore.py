"""Every reachable configuration of a small scope, breadth first: what holds, what is reached, and how.

Only what can decide a later step is told apart: fields that nothing depends on are left out, ids count by
where they stand, instants and completions by their order, and states that no sentence tells apart are one.
So one configuration stands for all that differ in nothing that matters. The first way that breaks an
invariant is a shortest one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Literal

from statemachines import kernel
from statemachines.candidates import Chooser, Influence, choosers, fewer, walked
from statemachines.diagnostics import Where
from statemachines.expression.emit import python_name
from statemachines.expression.typed import Const, Var
from statemachines.generate.records import message_names, record_names
from statemachines.model import ABSENT, Impossible
from statemachines.types import (
    INT,
    UNKNOWN,
    Enum,
    Id,
    Identity,
    List,
    Ref,
    Text,
    Time,
    Type,
    present,
)

if TYPE_CHECKING:
    from statemachines.compile import Compiled

LIVELOCK = 50
"""After so many steps that had to follow one another, they are taken to follow for ever."""

PATIENCE = 3
"""Until this instant time passes where instants are reckoned with and no timer says how far."""


@dataclass(frozen=True, slots=True)
class Call:
    """One step: a call of an operation, `wait` with `ms`, or the path of a step that is taken unasked."""

    operation: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Violation:
    """What does not hold, where it is stated, and the shortest way there.

    kind  'invariant': `name` is its name · 'livelock': steps that must be taken follow one another for ever,
          `name` is the path of one of them · 'failure': a step cannot be evaluated, `name` says why
    """

    kind: Literal["invariant", "livelock", "failure"]
    name: str
    where: Where
    trace: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Exploration:
    """What was found: `complete` when every configuration of the scope was reached and held.

    witnesses       the shortest way to each clause that was witnessed; the last call witnesses it
    reached         the states in which a record of each entity was seen
    configurations  one that `thaw` takes for each state, the nearest first in each scope
    """

    states: int
    transitions: int
    complete: bool
    violation: Violation | None
    witnesses: Mapping[str, tuple[Call, ...]]
    reached: Mapping[str, frozenset[str]]
    configurations: Sequence[tuple[Any, ...]]

    @property
    def witnessed(self) -> frozenset[str]:
        """Give the paths of the clauses that were witnessed."""
        return frozenset(self.witnesses)


@dataclass(frozen=True, slots=True)
class Scope:
    """How small: of a fixed entity so many records take part, of another so many are created; some limits."""

    records: Mapping[str, int]
    limits: Mapping[str, int]


def explore(
    compiled: Compiled, scope: Mapping[str, int] | None = None, max_states: int = 5000
) -> Exploration:
    """Explore every configuration of a scope, or of each default one, up to so many in each.

    `scope` gives numbers by entity, plural or limit, and goes before the scope of the spec; raises
    LookupError at any other name. Where neither says how many records: first one of each entity with all
    fixed records, then two of each entity with one fixed record.
    """
    influence = Influence(compiled.kernel)
    found: list[Exploration] = []
    witnesses: dict[str, tuple[Call, ...]] = {}
    for each in scopes(compiled, scope or {}):
        found.append(_Search(compiled, influence, each, witnesses).run(max_states))
        for path, trace in found[-1].witnesses.items():
            if len(trace) < len(witnesses.setdefault(path, trace)):
                witnesses[path] = trace
    broken = [each.violation for each in found if each.violation]
    return Exploration(
        sum(each.states for each in found),
        sum(each.transitions for each in found),
        all(each.complete for each in found),
        min(broken, key=lambda violation: len(violation.trace), default=None),
        witnesses,
        {name: frozenset().union(*(each.reached[name] for each in found)) for name in found[0].reached},
        [frozen for each in found for frozen in each.configurations],
    )


def scopes(compiled: Compiled, given: Mapping[str, int]) -> list[Scope]:
    """Give the scopes that are meant by numbers, or the default ones."""
    entities = compiled.kernel.entities
    names = {word: entity.name for entity in entities for word in (entity.name, entity.collection)}
    limits = dict.fromkeys(_bounding_limits(compiled.kernel), 1)
    records = {}
    for word, number in {**compiled.lifecycle.scope, **given}.items():
        if word in names:
            records[names[word]] = number
        elif word in compiled.lifecycle.limits:
            limits[word] = number
        else:
            known = ", ".join([*names, *compiled.lifecycle.limits])
            raise LookupError(f"a scope has no {word!r}; known: {known}")
    fixed = {entity.name: len(entity.fixed) for entity in entities if entity.fixed}
    free = [entity.name for entity in entities if not entity.fixed]
    many = {**fixed, **dict.fromkeys(free, 2), **records}
    if records or not free or max(fixed.values(), default=1) == 1:
        return [Scope(many, limits)]
    one_record, one_place = dict.fromkeys(free, 1), dict.fromkeys(fixed, 1)
    return [Scope({**fixed, **one_record}, limits), Scope({**many, **one_place}, limits)]


def _bounding_limits(source: kernel.Kernel) -> list[str]:
    """Name the limits over 3 that bound how many records stay: by a `retain` or in an invariant."""
    bounds = [entity.retain.newest for entity in source.entities if entity.retain]
    bounds += [invariant.holds for invariant in source.invariants]
    named = [node.name for bound in bounds for node in walked(source, bound) if isinstance(node, Var)]
    sizes = {f"limits.{name}": name for name, size in source.limits if size is not None and size > 3}
    return [sizes[name] for name in dict.fromkeys(named) if name in sizes]


# ── One value for all configurations that differ in nothing that matters ─────────────────────────

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
        """Give what a row says apart from names; of a list of names, how long it is."""
        found = [taken(row[at]) for at, taken in self.plain]
        found += [ranks[order][row[at]] for at, order in self.ranked]
        for at, state, states in self.clocks:
            found.append(None if row[at] is None else now - row[at] if row[state] in states else "over")
        found += [None if row[at] is None else len(row[at]) for at in self.lists]
        return (self.at, place if self.ordered else 0, *found)

    def held(self, row: Frozen) -> tuple[Any, ...]:
        """Give the names in a row."""
        return tuple([row[at] for at in self.names] + [name for at in self.lists for name in row[at] or ()])


_ORDERS = {"completion": 1, "serial": 2}  # instants have order 0


def _taken_for(column: _Column, influence: Influence) -> Callable[[Any], Any]:
    """Give what values are taken for: null or not, or a member of an enum for one that is like it."""
    if column.how == "?":
        return lambda value: value is not None
    kind = present(column.kind)
    same = column.same if column.same is not None else influence.alike(kind) if isinstance(kind, Enum) else {}
    return lambda value: same.get(value, value)


def _names_something(kind: Type, influence: Influence) -> bool:
    return isinstance(present(kind), Ref | Identity) or (
        influence.opaque and isinstance(present(kind), Text | Id)
    )


def _referred(kind: Type) -> list[str]:
    """Name the entity whose records a value stands for."""
    inner = present(kind)
    inner = present(inner.item) if isinstance(inner, List) else inner
    return [inner.entity] if isinstance(inner, Ref | Identity) else []


class Configurations:
    """Brings configurations that differ in nothing that matters to one value."""

    def __init__(
        self, source: kernel.Kernel, influence: Influence, usable: Mapping[str, int] | None = None
    ) -> None:
        """Prepare for a kernel's models; `usable` tells of fixed records how many calls can name."""
        self.influence = influence
        self.head = 3 + len(source.variables)
        kinds = [("", self._variables(source))]
        kinds += [(entity.name, self._entity(entity, usable or {})) for entity in source.entities]
        kinds += [
            (each.name, self._message(each, box)) for each in source.messages for box in ("due", "sent")
        ]
        referred = {
            name for _, columns in kinds for column in columns or () for name in _referred(column.kind)
        }
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
            _Column(each.name, at, each.type, keeps(f".{each.name}"))
            for at, each in enumerate(source.variables, 3)
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

    def _clocks(
        self, entity: kernel.Entity, places: Mapping[str, int], kinds: Mapping[str, Type]
    ) -> list[_Column]:
        """Give the fields that timers read: they count while one of these runs."""
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
        """Give the one value of all configurations that are alike but for names and the flow of time."""
        parts = [(frozen[: self.head],), *frozen[self.head :]]
        clock = (frozen[0], *[parts[table.at] for table in self.timed])
        found = list(self.known.get(clock) or self._clocked(clock))
        for table in self.others:
            part = parts[table.at]
            if part:
                found.append(table.known.get(part) or self._rows(table, part))
        shades = self._shades(found) if any(map(_FIRST, found)) else {}
        return self._numbered(found, shades)

    def happened(self, frozen: Frozen) -> bool:
        """Tell whether something that counts happened at this very instant."""
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
        found = [
            self._rows(table, part, now, ranks) for table, part in zip(self.timed, clock[1:], strict=True)
        ]
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

    def _numbered(self, rows: list[_Rows], shades: dict[Any, int]) -> Hashable:
        """Number the names in the order of the rows that hold them."""
        numbers: dict[Any, int] = {None: -1}

        def by_names(row: _Row) -> tuple[Any, ...]:
            return row[0], [(shades[name], numbers.get(name, len(shades))) for name in row[1]]

        found: list[int] = []
        for tied, part in rows:
            for colour, names in sorted(part, key=by_names) if tied else part:
                found.append(colour)
                found += [numbers.setdefault(name, len(numbers)) for name in names]
        return tuple(found)


# ── The search ───────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Step:
    """One way on: what decides it (None = nothing), what does it, and with which arguments.

    every, few  what lists the values of each argument; `few` leaves out those that lead nowhere else
    creates     the numbers of the entities of which it surely creates a record
    clauses     the numbers of the clauses that it may be the only one to witness
    stays       it changes nothing that counts, so it is taken only for its clauses
    tried       it was carried out with every value, so few will do
    """

    name: str
    names: Sequence[str]
    do: Callable[..., Any]
    may: Callable[..., Any] | None = None
    every: Sequence[Chooser] = ()
    few: Sequence[Chooser] = ()
    creates: Sequence[int] = ()
    clauses: Sequence[int] = ()
    stays: bool = False
    tried: bool = False

    def arguments(self, model: Any) -> Iterable[tuple[Any, ...]]:
        """Walk the arguments to try in a configuration."""
        return itertools.product(*[values(model) for values in (self.few if self.tried else self.every)])

    def call(self, given: tuple[Any, ...]) -> Call:
        """Give the step as a call; an argument left out has no name in it."""
        pairs = zip(self.names, given, strict=True)
        return Call(self.name, {name: value for name, value in pairs if value is not ABSENT})


class _Steps:
    """Makes the steps of a lifecycle: decided by the model `here`, done by the model `there`."""

    def __init__(
        self,
        compiled: Compiled,
        influence: Influence,
        scope: Scope,
        witnessed: Collection[str],
        here: Any,
        there: Any,
    ) -> None:
        self.compiled = compiled
        self.influence = influence
        self.scope = scope
        self.witnessed = witnessed
        self.here = here
        self.there = there
        self.free = [entity.name for entity in compiled.kernel.entities if not entity.fixed]

    def operation(self, operation: kernel.Operation) -> _Step:
        """Make the step of an operation."""
        every = choosers(self.compiled, operation, self.scope.records)
        pairs = zip(operation.parameters, every, strict=True)
        creates = [each for each in operation.effects if isinstance(each, kernel.Create)]
        return _Step(
            operation.name,
            [parameter.name for parameter in operation.parameters],
            getattr(self.there, f"do_{operation.name}"),
            getattr(self.here, f"may_{operation.name}") if operation.requires else None,
            every,
            [fewer(self.influence, operation, parameter, values, self.here) for parameter, values in pairs],
            [self.free.index(each.entity) for each in creates],
            self._clauses(operation),
            all(map(_stays, operation.effects)),
        )

    def own(self, index: int, step: kernel.Spontaneous) -> _Step:
        """Make a step of the implementation's own."""
        there = self.there
        return _Step(
            step.clause, [variable for variable, _ in step.loops], lambda *keys: there.take(index, keys)
        )

    def _clauses(self, operation: kernel.Operation) -> list[int]:
        """Number an operation's own clauses, and those about what can be seen in its reply."""
        source = self.compiled.kernel
        wanted = {require.clause for require in operation.requires}
        if operation.reply is not None:
            wanted |= {entity.shows_clause for entity in source.entities}
            wanted |= {
                f"messages.{each.name}.carries.{key}" for each in source.messages for key, _ in each.carries
            }
        own = f"operations.{operation.name}."
        wanted |= {clause.path for clause in source.clauses if clause.path.startswith(own)}
        wanted -= {operation.loses_files, *self.witnessed}
        return [number for number, clause in enumerate(source.clauses) if clause.path in wanted]


def _stays(effect: kernel.Effect) -> bool:
    """Tell whether an effect changes nothing: a signal, or a move from each state to itself."""
    if isinstance(effect, kernel.Move):
        return all(isinstance(target, Const) and target.value == state for state, target in effect.arrows)
    return isinstance(effect, kernel.Emit)


def _model(compiled: Compiled, scope: Scope) -> Any:
    return compiled.model(scope.limits)


def _leave_out(model: Any, source: kernel.Kernel, influence: Influence, scope: Scope) -> None:
    """Take the fixed records beyond the scope away, where the others do not depend on them."""
    for entity in source.entities:
        for name in entity.fixed[scope.records[entity.name] :]:
            if influence.separable(entity, name):
                del getattr(model, python_name(entity.collection))[name]


@dataclass(frozen=True, slots=True)
class _Node:
    """A configuration that was reached: how many records may still be created, and the last step to it."""

    frozen: Frozen
    budget: tuple[int, ...]
    parent: _Node | None = None
    last: tuple[_Step, tuple[Any, ...]] | None = None


class _Search:
    """One search of one scope: from the configuration `here`, every step is taken in `there`."""

    def __init__(
        self, compiled: Compiled, influence: Influence, scope: Scope, witnessed: Collection[str]
    ) -> None:
        source = compiled.kernel
        self.source = source
        self.here = _model(compiled, scope)
        self.there = _model(compiled, scope)
        self.between = _model(compiled, scope)  # the configuration one step before `there`
        _leave_out(self.here, source, influence, scope)
        self.seen = self.there.seen = self.between.seen = self.here.seen
        self.known = bytes(len(self.seen))
        steps = _Steps(compiled, influence, scope, witnessed, self.here, self.there)
        self.operations = [steps.operation(each) for each in source.operations]
        self.own = [steps.own(index, each) for index, each in enumerate(source.spontaneous)]
        self.wait = _Step("wait", ["ms"], self._pass)
        self.timers = [timer.clause for entity in source.entities for timer in entity.timers]
        self.must = any(step.must is not None for step in source.spontaneous)
        free = [entity for entity in source.entities if not entity.fixed]
        self.records = [
            (entity.name, attrgetter(f"{python_name(entity.collection)}.values")) for entity in free
        ]
        self.reached: dict[str, set[str]] = {entity.name: set() for entity in free if entity.states}
        self.configurations = Configurations(source, influence, scope.records)
        backs = {invariant.looks_back for invariant in source.invariants}
        places = enumerate(source.entities, self.configurations.head)
        self.back = [place for place, entity in places if entity.name in backs]
        self.first: dict[str, tuple[Call, ...]] = {}
        self.transitions = 0
        self.violation: Violation | None = None
        self.doing: tuple[_Step, tuple[Any, ...]] | None = None
        self.node = _Node(self.here.freeze(), tuple(scope.records[entity.name] for entity in free))
        self.nodes = [self.node]
        self.met = {(self.node.budget, self.node.frozen)}
        self.found = {(self.node.budget, self.configurations.canonical(self.node.frozen))}

    def run(self, most: int) -> Exploration:
        """Search to the end, to the first violation, or to so many configurations."""
        for node in self.nodes:  # it grows on the way
            if len(self.nodes) > most or self.violation:
                break
            self._expand(node)
        return Exploration(
            len(self.nodes),
            self.transitions,
            len(self.nodes) <= most and self.violation is None,
            self.violation,
            self.first,
            {name: frozenset(states) for name, states in self.reached.items()},
            [node.frozen for node in self.nodes],
        )

    # ── From one configuration ──

    def _expand(self, node: _Node) -> None:
        """Take every step from a configuration."""
        self.node, self.doing, self.earlier = node, None, self.here
        self.here.thaw(node.frozen)
        self.there.thaw(node.frozen)
        try:
            for moved in self._ways():
                if moved and not self.violation:
                    self._arrive()
                if self.seen != self.known:
                    self._witness()
                if self.violation:
                    return
        except Impossible as error:
            self._violated("failure", str(error), error.clause)
        except (ArithmeticError, IndexError, ValueError) as error:
            self._violated("failure", f"{type(error).__name__}: {error}", self._path())

    def _ways(self) -> Iterator[bool]:
        """Take one step after the other; tell whether it may have led somewhere."""
        self._holds()
        yield False
        budget = self.node.budget
        for step in self.operations:
            moves = not step.stays and not (
                step.creates and min(budget[entity] for entity in step.creates) <= 0
            )
            if moves or self._has_more(step):
                yield from self._carried_out(step, moves)
        for index, keys, _ in self.here.own_steps():
            step = self.own[index]
            self.doing = (step, keys)
            step.do(*keys)
            yield True
        for ms in self._waits():
            self.doing = (self.wait, (ms,))
            self._pass(ms)
            self.earlier = self.there
            yield True

    def _carried_out(self, step: _Step, moves: bool) -> Iterator[bool]:
        """Carry out an operation wherever it is accepted; where it may not move, for its clauses alone."""
        accepted = False
        may, do, here = step.may, step.do, self.here
        for given in step.arguments(here):
            self.doing = (step, given)
            if (may is None or may(*given).accept) and (moves or step.stays):
                do(*given)
                accepted = True
                yield moves
            else:
                yield False
        step.tried = step.tried or accepted

    def _has_more(self, step: _Step) -> bool:
        """Tell whether a step has clauses that were not witnessed yet."""
        if step.clauses and all(self.seen[clause] for clause in step.clauses):
            step.clauses = ()
        return bool(step.clauses)

    def _waits(self) -> list[int]:
        """List how long to wait: to the next deadline and one more or less; and so that `now` is new."""
        now = self.here.now
        gap = min((instant for instant, _, _ in self.here.deadlines()), default=now) - now
        found = {gap - 1, gap, gap + 1} if gap else set()
        if self.configurations.influence.relative:
            found |= {1} if not self.timers and now < PATIENCE else set()
        elif self.configurations.happened(self.node.frozen):
            found.add(1)
        return sorted(ms for ms in found if ms > 0)

    def _pass(self, ms: int) -> None:
        """Let time pass in `there`, deadline by deadline."""
        end = self.there.now + ms
        due: tuple[int, int, Any] | None = None
        for _ in range(LIVELOCK):
            due = min((timer for timer in self.there.deadlines() if timer[0] <= end), default=None)
            if due is None:
                self.there.now = end
                return
            self.between.thaw(self.there.freeze())
            self.there.now = max(self.there.now, due[0])
            self.there.fire(due[1], due[2])
            self.earlier = self.between
            self._note_states()
            if not (self._holds() and self._rests()):
                return
        clause = self.timers[due[1]] if due else ""
        self._violated("livelock", clause, clause)

    # ── To another ──

    def _arrive(self) -> None:
        """Look at where a step led, and go back."""
        self.transitions += 1
        there, before = self.there, self.node.frozen
        frozen = there.freeze()
        if frozen == before:
            return
        budget = self.node.budget if frozen[1] == before[1] else self._left()
        if (budget, frozen) not in self.met:
            self.met.add((budget, frozen))
            self._note_states()
            if self._holds() and self._rests():
                self._enter()
        else:
            for place in self.back:
                if frozen[place] != before[place]:
                    self._holds()
        there.thaw(before)

    def _enter(self) -> None:
        """Keep the configuration in `there`, unless one like it is known or too many records were created."""
        frozen = self.there.freeze()
        budget = self.node.budget if frozen[1] == self.node.frozen[1] else self._left()
        key = (budget, self.configurations.canonical(frozen))
        if key not in self.found and min(budget, default=0) >= 0:
            self.found.add(key)
            self.met.add((budget, frozen))
            self.nodes.append(_Node(frozen, budget, self.node, self.doing))

    def _holds(self) -> bool:
        """Check the invariants in `there`."""
        broken = self.there.broken(self.earlier)
        if broken:
            self._violated("invariant", broken, f"invariants.{broken}")
        return not broken

    def _rests(self) -> bool:
        """Take the steps that must be taken until none is left."""
        for _ in range(LIVELOCK if self.must else 0):
            due = next((step for step in self.there.own_steps() if step[2]), None)
            if due is None:
                return True
            self.between.thaw(self.there.freeze())
            self.there.take(due[0], due[1])
            self._note_states()
            earlier, self.earlier = self.earlier, self.between
            holds = self._holds()
            self.earlier = earlier
            if not holds:
                return False
            clause = self.own[due[0]].name
        if self.must:
            self._violated("livelock", clause, clause)
        return not self.must

    def _note_states(self) -> None:
        """Note the states in which there are records."""
        for name, values in self.records:
            if name in self.reached:
                self.reached[name].update([record.state for record in values(self.there)()])

    def _left(self) -> tuple[int, ...]:
        """Tell how many records may still be created."""
        before = self.here.serials
        counts = [
            sum([record.serial > before for record in values(self.there)()]) for _, values in self.records
        ]
        missing = self.there.serials - before - sum(counts)  # created, and gone at once
        for entity in self.doing[0].creates if self.doing else ():
            if missing and not counts[entity]:
                counts[entity] += 1
                missing -= 1
        return tuple([left - count for left, count in zip(self.node.budget, counts, strict=True)])

    # ── What was found ──

    def _trace(self) -> tuple[Call, ...]:
        """Give the shortest way to what is being done, itself included."""
        steps = [self.doing] if self.doing else []
        node: _Node | None = self.node
        while node is not None and node.last is not None:
            steps.append(node.last)
            node = node.parent
        return tuple(step.call(given) for step, given in reversed(steps))

    def _witness(self) -> None:
        """Note the clauses that were witnessed for the first time."""
        trace = self._trace()
        for clause, before, after in zip(self.source.clauses, self.known, self.seen, strict=True):
            if after and not before:
                self.first[clause.path] = trace
        self.known = bytes(self.seen)

    def _path(self) -> str:
        """Name the clauses of what is being done."""
        name = self.doing[0].name if self.doing else ""
        return name if name in [step.name for step in self.own] else f"operations.{name}"

    def _violated(self, kind: Literal["invariant", "livelock", "failure"], name: str, path: str) -> None:
        clauses = self.source.clauses
        clause = next((each for each in clauses if f"{each.path}.".startswith(f"{path}.")), clauses[0])
        self.violation = Violation(kind, name, clause.where, self._trace())
