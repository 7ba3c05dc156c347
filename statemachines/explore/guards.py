"""The guards of a spec: each condition that decides something, and a model that tells how each of them comes out.

A guard is what stands under `requires`, `only if`, `when`, `open` and `unsaid`, the condition of an `if`, and the states from
which a move leads. What is meant to hold always, an invariant, is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.diagnostics import Where
from statemachines.expression import Choose, Const, Defined, Operate, Typed, Var, every_part
from statemachines.mutants import written
from statemachines.types import BOOL, INT

NOTED = "_noted"  # no name in a spec begins so
_ROLES = {"guard": "requires", "when": "when", "may": "when", "must": "must", "condition": "if"}
Note = Callable[[int, bool], bool]


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition: the clause that it belongs to, itself in words, and where it stands.

    role       the word under which it stands: requires, when, must, if
    operation  the one that alone asks it; '' where several may
    declared   the limits and policies that it reads
    settled    it reads nothing else: what is declared decides it once and for all
    """

    clause: str
    role: str
    words: str
    where: Where
    operation: str
    declared: tuple[str, ...]
    settled: bool


class Guards:
    """The guards of a life cycle, and the kernel of a model that tells how each comes out."""

    def __init__(self, compiled: Compiled) -> None:
        self.all: list[Guard] = []
        self._compiled = compiled
        self._places = {each.path: each.where for each in compiled.kernel.clauses}
        source = compiled.kernel
        self.noting: kernel.Kernel = replace(
            source,
            definitions=tuple(self._inside(each, f"define.{each.name}", "") for each in source.definitions),
            entities=tuple(self._inside(each, f"entities.{each.name}", "") for each in source.entities),
            messages=tuple(self._inside(each, f"messages.{each.name}", "") for each in source.messages),
            operations=tuple(self._inside(each, f"operations.{each.name}", each.name) for each in source.operations),
            spontaneous=tuple(self._inside(each, each.clause, "") for each in source.spontaneous),
        )

    def model_class(self, note: Note) -> type[Any]:
        """Return the class of a model that tells `note` the number of a guard, and how it came out."""
        spec = self._compiled
        made = Compiled(spec.lifecycle, self.noting, spec.words).model_class
        return type(made.__name__, (made,), {NOTED: staticmethod(note), "__slots__": ()})

    # ── Noting ──

    def _inside(self, value: Any, clause: str, operation: str) -> Any:
        """Return a part of a kernel in which every guard is noted."""
        if isinstance(value, tuple):
            return tuple(self._inside(each, clause, operation) for each in value)
        if not is_dataclass(value) or isinstance(value, type):
            return value
        clause = getattr(value, "clause", "") or clause
        guards = dict(_guards_of(value))
        parts = {each.name: self._inside(getattr(value, each.name), clause, operation) for each in fields(value)}
        for name in guards:
            parts[name] = self._noted(getattr(value, name), parts[name], clause, operation, _ROLES[name])
        if isinstance(value, kernel.Reply):
            pairs = zip(value.branches, parts["branches"], strict=True)
            parts["branches"] = tuple(
                (guard if plain is None else self._noted(plain, guard, clause, operation, "when"), reply)
                for (plain, _), (guard, reply) in pairs
            )
        return replace(value, **parts)

    def _noted(self, plain: Typed, inner: Typed, clause: str, operation: str, role: str) -> Typed:
        """Return a guard that tells how it comes out; one that is turned round as its author wrote it."""
        if isinstance(plain, Operate) and isinstance(inner, Operate) and plain.operator == "!":
            return replace(inner, right=self._noted(plain.right, inner.right, clause, operation, role))
        if isinstance(plain, Const):
            return inner
        names = [each.name for each in _leaves(self._compiled.kernel, plain)]
        declared = tuple(dict.fromkeys(each for each in names if each.startswith(("limits.", "policies."))))
        place = self._place(clause)
        words = written(plain).replace(
            ".exists(other, true)", " exists"
        )  # which is how a rule `unique` looks a record up
        self.all.append(Guard(clause, role, words, place, operation, declared, len(declared) == len({*names})))
        return Defined(BOOL, plain.at, NOTED, (Const(INT, plain.at, len(self.all) - 1), inner))

    def _place(self, clause: str) -> Where:
        """Return where a sentence stands, or what it is a part of."""
        if clause.startswith("define."):
            return self._compiled.lifecycle.definitions[clause.removeprefix("define.")].name.where
        while clause and clause not in self._places:
            below = [path for path in self._places if path.startswith(f"{clause}.")]
            clause = below[0] if below else clause.rpartition(".")[0]
        return self._places.get(clause, self._compiled.lifecycle.places["lifecycle"])


def _guards_of(value: Any) -> Iterator[tuple[str, Typed]]:
    """Walk the guards of one part of a kernel, each with the name of its field."""
    match value:
        case kernel.Require(guard=Typed() as guard):
            yield "guard", guard
        case kernel.Emit() | kernel.Set() | kernel.Create() | kernel.ForEach() | kernel.Timer() if value.when:
            yield "when", value.when
        case kernel.Spontaneous(may=may, must=must):
            yield from ((name, each) for name, each in (("may", may), ("must", must)) if each is not None)
        case Choose(condition=condition):
            yield "condition", condition


def _leaves(source: kernel.Kernel, value: Typed) -> Iterator[Var]:
    """Walk the names that an expression reads, those of the named expressions that it uses included."""
    for part in every_part(value):
        if isinstance(part, Var):
            yield part
        elif isinstance(part, Defined):
            yield from _leaves(source, next(each.body for each in source.definitions if each.name == part.name))
