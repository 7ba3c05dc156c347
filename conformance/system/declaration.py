"""What an implementation says of itself: its limits, its choices, and what it cannot do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

from statemachines.choices import limits_of, policies_of
from statemachines.compile import Compiled
from statemachines.diagnostics import did_you_mean

CLOCKS = ("virtual", "real", "none")
CONCURRENCIES = ("threads", "async", "none")
WORDS = ("limits", "policies", "lacks", "deviates", "clock", "concurrency", "settles")


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

    clock  virtual: `wait` moves it, or the kit's own event loop does; real: `wait` sleeps; none: there is no `wait`
    concurrency  threads: calls may come from several threads; async: several calls may be awaited at
                 once; none: one call at a time
    settles  milliseconds until what a call causes can be seen; 0: at once
    rests  all that is started comes to rest before anybody looks: on the kit's own loop nothing comes later
    deviates  the failures that are known, by row or clause
    """

    limits: Mapping[str, int | None] = field(default_factory=dict)
    policies: Mapping[str, Any] = field(default_factory=dict)
    lacks: frozenset[str] = frozenset()
    clock: str = "none"
    concurrency: str = "none"
    settles: int = 0
    rests: bool = False
    deviates: Mapping[str, Deviation] = field(default_factory=dict)

    @property
    def instants(self) -> bool:
        """Whether instants can be compared to the millisecond."""
        return self.clock == "virtual"


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
            "all that is started comes to rest before anybody looks"
        )
    try:
        limits = limits_of(compiled.lifecycle, words.get("limits", {}))
        policies = policies_of(compiled.lifecycle, words.get("policies", {}))
    except ValueError as error:
        raise DeclarationError(str(error)) from None
    lacks = _lacks(compiled, words.get("lacks", ()))
    deviates = deviations(compiled, words.get("deviates", {}))
    return Declaration(limits, policies, lacks, clock, concurrency, settles, rests, deviates)


def _one_of(word: str, value: Any, known: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in known:
        raise DeclarationError(f"{word} is one of {', '.join(known)}, and this is {value!r}")


def _lacks(compiled: Compiled, words: Any) -> frozenset[str]:
    if isinstance(words, str) or not isinstance(words, list | tuple | set | frozenset):
        raise DeclarationError(f"lacks is a list of operations, and this is {words!r}")
    operations = compiled.lifecycle.operations
    optional = [name for name, operation in operations.items() if operation.optional]
    for name in words:
        if not isinstance(name, str) or name not in operations:
            raise DeclarationError(
                f"{compiled.lifecycle.name} has no operation {name!r}; "
                f"{did_you_mean(str(name), operations) or 'known: ' + ', '.join(operations)}"
            )
        if name not in optional:
            raise DeclarationError(f"{name} cannot be lacking; optional are: {', '.join(optional) or 'none'}")
    return frozenset(words)


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
