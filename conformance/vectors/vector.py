"""A vector: calls with every answer that is allowed, and where that follows from what is only recommended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from conformance.judge import kernel_facts
from conformance.system import Declaration
from conformance.vectors.answers import ANYTHING_AT_ALL, AllAnswers, Answer, Answered, Call
from conformance.vectors.minimal import minimal, whatever_ids
from conformance.vectors.patterns import FACTORS, Given, Inexpressible, canonical
from conformance.vectors.resolved import loose, strict, undecided
from statemachines.compile import Compiled
from statemachines.explore import may_name
from statemachines.lifecycle import Level
from statemachines.types import Id, List, Ref, Text, Type, present


@dataclass(frozen=True, slots=True)
class Vector:
    """What a file has of one vector; `asked` is what each call may be answered.

    rows     the rows whose calls they are; none of a tour
    clauses  what the rows are about, or what the tour has come to first
    values   those of the row's parameters
    """

    name: str
    rows: tuple[str, ...]
    clauses: tuple[str, ...]
    level: Level
    values: Mapping[str, Any]
    calls: tuple[Call, ...]
    asked: tuple[Answered, ...]

    @property
    def steps(self) -> Iterator[dict[str, Any]]:
        """Walk the steps as a file has them."""
        for (operation, arguments), asked in zip(self.calls, self.asked, strict=True):
            yield {"call": operation, "arguments": dict(arguments), "answers": [*_written(asked)]}


def _written(asked: Answered) -> Iterator[dict[str, Any]]:
    """Walk answers as a file has them: first those after which nobody can go on, last those that only a recommendation forbids."""
    lines: dict[str, tuple[int, dict[str, Any], set[int]]] = {}

    def add(place: int, told: Any, answer: Answer, **more: Any) -> None:
        said = {**told, **({"to": [*answer.to]} if answer.to != (0,) else {}), **more}
        lines.setdefault(canonical(said), (place, said, set()))[2].add(answer.at)

    for each in asked.answers:
        for known in undecided(each.told):
            add(0, known, replace(each, to=(0,)), ends=True)
        add(1, strict(each.told), each)
        other, clauses = loose(each.told)
        if clauses:
            add(2, other, each, against=sorted({*clauses}))
        if asked.recommended:
            whatever = {**ANYTHING_AT_ALL, "may_signal": [{}]}
            add(3, whatever, replace(each, to=(0,)), against=sorted(asked.recommended), ends=True)
    for _, said, before in sorted(lines.values(), key=itemgetter(0)):
        yield {**({"in": sorted(before)} if before != {0} else {}), **said}


class Oracle:
    """The test oracle: finds what calls may be answered, for one life cycle with some limits and choices."""

    def __init__(self, compiled: Compiled, declaration: Declaration) -> None:
        self.compiled = compiled
        self.declaration = declaration
        self._facts = kernel_facts.of(compiled)

    def asked(self, calls: Sequence[Call]) -> tuple[Answered, ...]:
        """Return what each of some calls may be answered. Raises Inexpressible."""
        given = self._given(calls)
        declaration, answers, raw = self._choosing(calls, given)
        orders = (AllAnswers(self.compiled, declaration, given, order) for order in range(1, len(FACTORS)))
        found = whatever_ids([minimal(raw), *(minimal(each.asked(calls)) for each in orders)])
        witnessed = {each.path for each, hit in zip(self.compiled.kernel.clauses, answers.seen, strict=True) if hit}
        for clause, compiled, other in self._without_what_is_recommended(witnessed, declaration, answers.read):
            told = _told(AllAnswers(compiled, other, given), calls)
            for each, as_recommended, otherwise in zip(found, raw, told, strict=True):
                if as_recommended.all_told != otherwise:
                    each.recommended.add(clause)
        return tuple(found)

    def _choosing(self, calls: Sequence[Call], given: Given) -> tuple[Declaration, AllAnswers, list[Answered]]:
        """Return what calls may be answered, where what the system need not declare is open if it makes a difference."""
        kernel, chosen = self.compiled.kernel, self.declaration.policies
        free: set[str] = set()
        while True:
            firsts = {name: self._choices(name)[0] for name in kernel.undeclared if name not in free}
            declaration = replace(self.declaration, policies={**firsts, **chosen})
            answers = AllAnswers(self.compiled, declaration, given)
            asked = answers.asked(calls)
            if answers.read & {*kernel.undeclared} <= {*free, *chosen}:
                return declaration, answers, asked
            free |= answers.read

    def _given(self, calls: Iterable[Call]) -> Given:
        """Return the texts that calls give as ids, or as what may become one, by entity."""
        found: dict[str, dict[str, None]] = {each.name: {} for each in self.compiled.kernel.entities if each.minted}
        for operation, arguments in calls:
            for name, kind in self._facts.takes(operation).items():
                value = arguments.get(name)
                texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
                for entity, known in found.items():
                    known.update(dict.fromkeys(texts if self._may_be_id(kind, entity) else ()))
        return {entity: [*texts] for entity, texts in found.items()}

    def _may_be_id(self, kind: Type, name: str) -> bool:
        item, kernel = present(kind.item if isinstance(kind, List) else kind), self.compiled.kernel
        if isinstance(item, Text):
            return may_name(kernel, item, kernel.entity(name))
        return isinstance(item, Id | Ref) and item.entity == name

    def _choices(self, policy: str) -> list[str]:
        return [word.text for word in self.compiled.lifecycle.policies[policy].choices]

    def _without_what_is_recommended(
        self, witnessed: set[str], declaration: Declaration, read: set[str]
    ) -> Iterator[tuple[str, Compiled, Declaration]]:
        """Walk what a system may be that does not follow something that is recommended, and what that is."""
        for path in self._facts.recommended_effects:
            if path in witnessed:
                yield path, self.compiled.without([path]), declaration
        for name in self.compiled.kernel.recommended:
            default = self.compiled.lifecycle.policies[name].default.text
            for word in self._choices(name) if name in read and name not in self.declaration.policies else ():
                if word != default:
                    other = replace(declaration, policies={**declaration.policies, name: word})
                    yield f"policies.{name}", self.compiled, other


def _told(answers: AllAnswers, calls: Sequence[Call]) -> list[frozenset[str] | None]:
    """Return what each of some calls may be answered, without configurations; None from where that cannot be said."""
    found: list[frozenset[str] | None] = [None] * len(calls)
    with suppress(Inexpressible):
        for place, call in enumerate(calls):
            found[place] = answers.ask(*call).all_told
    return found
