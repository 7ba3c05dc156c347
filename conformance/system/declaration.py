"""What an implementation says of itself: its limits, its choices, and what it cannot do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

from statemachines.choices import limits_of, policies_of
from statemachines.compile import Compiled
from statemachines.diagnostics import did_you_mean
from statemachines.model import Measured

CLOCKS = ("virtual", "running", "real", "none")
MOVED = ("virtual", "running")  # those that `wait` moves
CONCURRENCIES = ("threads", "async", "none")
SIGNAL = "signal "  # stands before the name of a signal that is lacking
UNLIMITED = 10**15  # what the model takes for a limit that there is not: no row and no random calls come so far
WORDS = ("limits", "policies", "parts", "lacks", "deviates", "clock", "concurrency", "settles", "measured")


class DeclarationError(Exception):
    """A declaration that does not fit the lifecycle; the message says which word and what is known."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """Why something that is asked fails, and is known to; perhaps where more is said of it, and since when."""

    reason: str
    link: str = ""
    since: str = ""

    def __str__(self) -> str:
        more = "; ".join([*([f"since {self.since}"] if self.since else []), *([self.link] if self.link else [])])
        return f"{self.reason} ({more})" if more else self.reason


@dataclass(frozen=True, slots=True)
class Declaration:
    """What an adapter declares, checked against the lifecycle.

    unlimited  the limits that there are not, for which the model has one that nobody reaches
    lacks  operations, and signals as `signal NAME`
    parts  those of the life cycle's parts that there are; none where it has no parts, or all of them are there
    absent  the operations that are nobody's to ask for, each with why
    unsent  the clauses of the signals that are lacking
    clock  virtual: `wait` moves it, or the kit's own event loop does, and nothing else; running: `wait` moves it, and so
           does the time that passes; real: `wait` sleeps; none: there is no `wait`
    concurrency  threads: calls may come from several threads; async: several calls may be awaited at
                 once; none: one call at a time
    settles  milliseconds until what a call causes can be seen; 0: at once
    looks  the operations that change nothing: only they can be asked again
    waits  the operations that may block for a time
    rests  all that is started comes to rest before anybody looks: on the kit's own loop nothing comes later
    deviates  the failures that are known, by row or clause
    measured  what the system makes of a text before it holds it against a limit; None: that is the text itself
    """

    limits: Mapping[str, int | None] = field(default_factory=dict)
    policies: Mapping[str, Any] = field(default_factory=dict)
    lacks: frozenset[str] = frozenset()
    clock: str = "none"
    concurrency: str = "none"
    settles: int = 0
    looks: frozenset[str] = frozenset()
    rests: bool = False
    deviates: Mapping[str, Deviation] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict)
    unsent: frozenset[str] = frozenset()
    unlimited: frozenset[str] = frozenset()
    measured: Callable[[str], str] | None = None
    waits: frozenset[str] = frozenset()

    @property
    def silent(self) -> frozenset[str]:
        """The signals that do not come."""
        return frozenset(each.removeprefix(SIGNAL) for each in self.lacks if each.startswith(SIGNAL))

    @property
    def instants(self) -> bool:
        """Whether instants can be compared to the millisecond."""
        return self.clock == "virtual"

    @property
    def runs_on(self) -> bool:
        """Whether time passes while nobody waits."""
        return self.clock in ("running", "real")


def declared(compiled: Compiled, words: Mapping[str, Any], *, has_wait: bool, asynchronous: bool) -> Declaration:
    """Check what an adapter declares; what it leaves out follows from what it offers. Raises DeclarationError."""
    if not isinstance(words, Mapping):
        raise DeclarationError(f"`declares` is a mapping, and this is {words!r}")
    for word in words:
        if word not in WORDS:
            raise DeclarationError(
                f"`declares` has no word {word!r}; {did_you_mean(str(word), WORDS) or 'known: ' + ', '.join(WORDS)}"
            )
    clock = words.get("clock", "virtual" if has_wait else "none")
    concurrency = words.get("concurrency", "async" if asynchronous else "none")
    _one_of("clock", clock, CLOCKS)
    _one_of("concurrency", concurrency, CONCURRENCIES)
    if clock == "running" and not has_wait:
        raise DeclarationError(
            "a running clock is declared, and there is no wait(ms) that moves it on; without one it is real"
        )
    if clock == "virtual" and not has_wait and not asynchronous:
        raise DeclarationError("a virtual clock is declared, and there is no wait(ms) that moves it")
    if concurrency == "async" and not asynchronous:
        raise DeclarationError("concurrency: async is declared, and no operation is an async method")
    settles = words.get("settles", 0)
    if isinstance(settles, bool) or not isinstance(settles, int) or settles < 0:
        raise DeclarationError(f"settles is a number of milliseconds, and this is {settles!r}")
    rests = clock == "virtual" and not has_wait
    if settles and rests:
        raise DeclarationError(
            "settles is about real milliseconds, and the virtual clock of the kit stands still meanwhile; leave it out: "
            "all that is started comes to rest before anybody looks; what sleeps for a while on the way needs clock: real as well"
        )
    try:
        limits, unlimited = _limits(compiled, words.get("limits", {}))
        measure = words.get("measured")
        limits |= _measured(compiled, limits, measure)
        policies = policies_of(compiled.lifecycle, words.get("policies", {}))
    except ValueError as error:
        raise DeclarationError(str(error)) from None
    lacks = _lacks(compiled, words.get("lacks", ()))
    parts = _parts(compiled, words.get("parts", ()))
    absent = dict(_absent(compiled, lacks, parts))
    unsent = _unsent(compiled, lacks)
    looks = frozenset(each.name for each in compiled.kernel.operations if each.observes)
    deviates = deviations(compiled, words.get("deviates", {}))
    return Declaration(
        limits,
        policies,
        lacks,
        clock,
        concurrency,
        settles,
        looks,
        rests,
        deviates,
        parts,
        absent,
        unsent,
        unlimited,
        measure,
        frozenset(each.name for each in compiled.kernel.operations if each.waits is not None),
    )


def _limits(compiled: Compiled, words: Any) -> tuple[dict[str, int | None], frozenset[str]]:
    """Return the limits, and those that there are not although each system of the description has one. Raises ValueError."""
    known, given = compiled.lifecycle.limits, words.items() if isinstance(words, Mapping) else ()
    unlimited = [name for name, value in given if value is None and name in known and not known[name].optional]
    numbers = {**words, **dict.fromkeys(unlimited, UNLIMITED)} if unlimited else words
    return limits_of(compiled.lifecycle, numbers), frozenset(unlimited)


def _measured(compiled: Compiled, limits: Mapping[str, int | None], measure: Any) -> dict[str, int | None]:
    """Return the limits of texts as what the system holds against them. Raises DeclarationError."""
    if measure is None:
        return {}
    spec = compiled.lifecycle
    sizes = [expr.text for each in spec.types.values() for expr in (each.sizes or {}).values()]
    around = [name for name in spec.limits if f"limits.{name}" in sizes]
    if not callable(measure) or not around:
        takes = f"a function from a text to what is held against {' and '.join(around)}"
        known = takes if around else f"nothing that {spec.name} knows: it has no limits of texts"
        raise DeclarationError(f"measured is {known}, and this is {measure!r}")
    all_limits = {**{name: limit.default for name, limit in spec.limits.items()}, **limits}
    found = ((name, all_limits[name]) for name in around)
    return {name: None if size is None else Measured(size, measure) for name, size in found}


def _one_of(word: str, value: Any, known: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in known:
        raise DeclarationError(f"{word} is one of {', '.join(known)}, and this is {value!r}")


def _names(word: str, words: Any, of: str) -> list[Any]:
    if isinstance(words, str) or not isinstance(words, list | tuple | set | frozenset):
        raise DeclarationError(f"{word} is a list of {of}, and this is {words!r}")
    return list(words)


def _known(compiled: Compiled, kind: str, name: Any, known: Collection[str]) -> None:
    if not isinstance(name, str) or name not in known:
        hint = did_you_mean(str(name), known) or f"known: {', '.join(known) or 'none'}"
        raise DeclarationError(f"{compiled.lifecycle.name} has no {kind} {name!r}; {hint}")


def _lacks(compiled: Compiled, words: Any) -> frozenset[str]:
    """Return what need not be there: what is optional, what only shows something, be it asked or not, and test controls."""
    spec, operations = compiled.lifecycle, compiled.kernel.operations
    optional = [each.name for each in operations if each.optional]
    looking = [each.name for each in operations if each.observes and not each.optional]
    controls = [each.name for each in operations if each.control and not (each.observes or each.optional)]
    names = _names("lacks", words, "operations and signals")
    for name in names:
        if isinstance(name, str) and name.startswith(SIGNAL):
            _known(compiled, "signal", name.removeprefix(SIGNAL), spec.signals)
            continue
        if isinstance(name, str) and name in spec.signals:
            raise DeclarationError(f"{name!r} is a signal: write {SIGNAL + name!r}")
        _known(compiled, "operation", name, spec.operations)
        if name not in (*optional, *looking, *controls):
            others = f"; so may be what only looks: {', '.join(looking)}" if looking else ""
            others += f"; and test controls: {', '.join(controls)}" if controls else ""
            raise DeclarationError(f"{name} cannot be lacking; optional are: {', '.join(optional) or 'none'}{others}")
    return frozenset(names)


def _parts(compiled: Compiled, words: Any) -> tuple[str, ...]:
    """Return the parts that there are; none where that is all of them."""
    names = _names("parts", words, "parts")
    for name in names:
        _known(compiled, "part", name, compiled.lifecycle.parts)
    return tuple(part for part in compiled.lifecycle.parts if part in names)


def _absent(compiled: Compiled, lacks: Collection[str], parts: Collection[str]) -> Iterator[tuple[str, str]]:
    """Walk the operations that are not asked for, each with why."""
    for operation in compiled.kernel.operations:
        owners = compiled.lifecycle.parts_of(operation.name)
        if parts and not {*owners} & {*parts}:
            yield operation.name, f"is of the part {' and '.join(owners)}, and parts: {', '.join(parts)} is declared"
        elif operation.name in lacks:
            yield operation.name, "is optional and lacking" if operation.optional else "is declared lacking"


def _unsent(compiled: Compiled, lacks: Collection[str]) -> frozenset[str]:
    """Return the clauses of the signals that are lacking."""
    ends = tuple(f"{before}{each}" for each in lacks if each.startswith(SIGNAL) for before in (".", ".may "))
    paths = (clause.path for clause in compiled.kernel.clauses)
    return frozenset(path for path in paths if path.endswith(tuple(each.replace(SIGNAL, "signal.") for each in ends)))


def deviations(compiled: Compiled, words: Any) -> dict[str, Deviation]:
    """Return the failures that are said to be known, by row or clause. Raises DeclarationError."""
    if not isinstance(words, Mapping):
        raise DeclarationError(f"deviates is a mapping from rows and clauses to reasons, and this is {words!r}")
    known, parts = may_fail(compiled), [each.name for each in fields(Deviation)]
    for name, said in words.items():
        if name not in known:
            where = f"{name!r} under deviates is no row and no clause of {compiled.lifecycle.name}"
            raise DeclarationError(f"{where}; {meant(compiled, str(name))}")
        if not isinstance(said, Mapping) or not all(isinstance(each, str) for each in said.values()):
            raise DeclarationError(f"{name} deviates for a reason, {{'reason': …}}, and this is {said!r}")
        if strange := [str(part) for part in said if part not in parts]:
            hint = did_you_mean(strange[0], parts) or f"known: {', '.join(parts)}"
            raise DeclarationError(f"what is said of {name} has no word {strange[0]!r}; {hint}")
        if not said.get("reason", "").strip():
            raise DeclarationError(f"{name} deviates for no reason: give one, {{'reason': …}}")
    return {name: Deviation(**said) for name, said in words.items()}


@lru_cache(maxsize=16)
def may_fail(compiled: Compiled) -> frozenset[str]:
    """Return all that can be named as a known failure: the rows, and whatever a counterexample may call its clause."""
    spec = compiled.lifecycle
    clauses = {clause.path for clause in compiled.kernel.clauses}
    wholes = {f"operations.{name}" for name in spec.operations} | {f"policies.{name}" for name in spec.policies}
    covered = {word.text for row in spec.rows.values() for word in row.covers}
    return frozenset({*spec.rows, *clauses, *wholes, *covered})


def meant(compiled: Compiled, name: str) -> str:
    """Say which row or clause is meant by a name that none has, or what to do instead."""
    if "*" in name or "?" in name:
        return "there are no wildcards: each row and each clause is named by itself"
    if name == "machine":
        return "what random calls come upon is any of its clauses: name the one that the counterexample names"
    told = f"`conformance list {compiled.called}` names the rows, and a counterexample names its clause"
    return did_you_mean(name, may_fail(compiled)) or told


def ordered_by_completion(compiled: Compiled, declaration: Declaration) -> bool:
    """Return whether records are ordered by the order of their endings alone, whatever the time."""
    standard = dict(compiled.kernel.policies)
    chosen = (declaration.policies.get(order.name, standard[order.name]) for order in compiled.kernel.orders)
    return all(choice == "completion" for choice in chosen)
