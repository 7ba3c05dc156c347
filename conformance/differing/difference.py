"""Two revisions of a spec: what each says otherwise, which calls tell that apart, and whether systems are still right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from conformance.differing.facts import BOTH, Direction, Fact, facts
from conformance.differing.told_apart import Revisions
from conformance.differing.witness import ToldApart, Witness
from conformance.verdict import EXIT_CONFORMS, EXIT_VIOLATES
from statemachines.compare import SpecChange, changes, groups_alone, touched
from statemachines.compile import Compiled
from statemachines.kernel import within
from statemachines.lifecycle import Level
from statemachines.requirements import row_hash
from statemachines.yaml import Mapping

Grade = Literal["same", "loosening", "tightening", "breaking"]
"""No difference; more is right now; less is right now; something else is."""
RowChange = Literal["added", "removed", "changed", "raised", "lowered", "reworded"]

_GRADES: Final[dict[tuple[bool, bool], Grade]] = {
    (False, False): "same",
    (False, True): "loosening",
    (True, False): "tightening",
    (True, True): "breaking",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Changes that are looked at together, and what they make of systems.

    configurations  in how many the two were compared; 0 where both have one and the same model
    whole           these are all of the small scope
    """

    changes: tuple[SpecChange, ...]
    facts: tuple[Fact, ...]
    witnesses: tuple[Witness, ...]
    configurations: int
    whole: bool

    @property
    def level(self) -> Level:
        """Whether a must is concerned, or only what is recommended."""
        return "must" if "must" in self._levels or not self._levels else "should"

    @property
    def _levels(self) -> set[Level]:
        return {each.level for each in self.facts} | {each.level for each in self.witnesses}

    @property
    def grade(self) -> Grade:
        """What becomes of systems, by what is a must if any of it is."""
        found: set[Direction] = {each.direction for each in self.witnesses if each.level == self.level}
        for fact in self.facts:
            found |= set(fact.directions) if fact.level == self.level else set()
        return _GRADES["less" in found, "more" in found]


@dataclass(frozen=True, slots=True)
class Spec:
    """One revision: what a command calls it, its tree and itself compiled."""

    called: str
    tree: Mapping
    compiled: Compiled


@dataclass(frozen=True, slots=True)
class SpecDiff:
    """All that two revisions say otherwise.

    parts    the changes of rules, as far apart as they can be looked at
    together all of them, looked at as one
    aside    changes that no system sees: words for people, the scope of searches, invariants
    rows     the rows that are not the same, each with what was done to it
    apart    why these cannot be called two revisions of one life cycle; empty where they can
    strange  whether they have no operation in common, so that nothing of them was compared
    """

    old: Spec
    new: Spec
    parts: Sequence[Part]
    together: Part
    aside: Sequence[SpecChange]
    rows: Sequence[tuple[str, RowChange]]
    apart: str = ""
    strange: bool = False

    @property
    def grade(self) -> Grade:
        """What becomes of systems, all in all."""
        return "breaking" if self.strange else self.together.grade

    @property
    def exit(self) -> int:
        """0 where nothing is another rule, else 1."""
        return EXIT_CONFORMS if self.grade == "same" else EXIT_VIOLATES


def differing(old: Spec, new: Spec, told: Callable[[int, int], object] = lambda done, of: None) -> SpecDiff:
    """Return what two revisions say otherwise, and what becomes of systems; `told` is told how far each comparison has come."""
    clauses = {each.path for side in (old, new) for each in side.compiled.kernel.clauses}
    found = changes(old.tree, new.tree, clauses)
    aside = [each for each in found if each.kind in ("words", "aside")]
    rows = list(_rows(old.compiled, new.compiled))
    apart = _apart(old.compiled, new.compiled)
    if apart and not _common(old.compiled, new.compiled):
        return SpecDiff(old, new, (), Part((), (), (), 0, True), (), (), apart, strange=True)
    rules = [each for each in found if each.kind not in ("words", "aside")]
    made = groups_alone(old.tree, new.tree, rules)
    if len(made) == 1:
        together = _part(tuple(rules), old.compiled, new.compiled, told)
        return SpecDiff(old, new, (together,), together, aside, rows, apart)
    parts = [_part(each.changes, old.compiled, each.compiled, told) for each in made]
    alike = (
        part
        for part, each in zip(parts, made, strict=True)
        if part.configurations and not touched(each.compiled, new.compiled)
    )
    together = _part(tuple(rules), old.compiled, new.compiled, told, parts, next(alike, None))
    return SpecDiff(old, new, parts, together, aside, rows, apart)


def _part(
    made: tuple[SpecChange, ...],
    old: Compiled,
    new: Compiled,
    told: Callable[[int, int], object],
    parts: Iterable[Part] = (),
    alike: Part | None = None,
) -> Part:
    """Look at changes together.

    parts  some of them alone, of which the calls may show the same here
    alike  one of these that has the same model, so that there are no other calls to look for
    """
    if not made:
        return Part((), (), (), 0, True)
    revisions, found = Revisions(old, new), ToldApart()
    for each in (witness for part in parts for witness in part.witnesses):
        if each.asked is not None and not found.has(each.direction):
            found.note(revisions.judged(each.direction, *each.asked))
    if alike is not None:
        found.configurations, found.whole = alike.configurations, alike.whole
    elif not (found.has("less") and found.has("more")):
        looked = revisions.told_apart(told)
        for witness in looked.witnesses.values():
            found.note(witness)
        found.configurations, found.whole = looked.configurations, looked.whole
    for change in made:
        if change.kind == "level" and not found.witnesses:
            _note_level(found, revisions, change)
    witnesses = tuple(found.witnesses[each] for each in BOTH if each in found.witnesses)
    return Part(made, tuple(facts(old, new)), witnesses, found.configurations, found.whole)


def _note_level(found: ToldApart, revisions: Revisions, change: SpecChange) -> None:
    """Look for calls that show another level of a clause, or of one below it."""
    for clause in revisions.new.kernel.clauses:
        if within(clause.path, change.keys[1]) and not found.witnesses:
            found.note(revisions.of_level(clause.path))


def _common(old: Compiled, new: Compiled) -> set[str]:
    return {*old.lifecycle.operations} & {*new.lifecycle.operations}


def _apart(old: Compiled, new: Compiled) -> str:
    """Say why two specs are hardly two revisions of one life cycle."""
    said = []
    if old.lifecycle.name != new.lifecycle.name:
        said.append(f"They are two life cycles by their names, {old.lifecycle.name} and {new.lifecycle.name}")
    if not _common(old, new):
        said.append(f"{'and they have' if said else 'They have'} no operation in common, so no call can be compared")
    return f"{', '.join(said)}." if said else ""


def _rows(old: Compiled, new: Compiled) -> Iterable[tuple[str, RowChange]]:
    """Walk the rows that are not the same."""
    ours, theirs = old.lifecycle.rows, new.lifecycle.rows
    for name in dict.fromkeys((*theirs, *ours)):
        if name not in ours or name not in theirs:
            yield name, "added" if name in theirs else "removed"
        elif row_hash(ours[name]) != row_hash(theirs[name]):
            yield name, "changed"
        elif ours[name].level != theirs[name].level:
            yield name, "raised" if theirs[name].level == "must" or ours[name].level == "may" else "lowered"
        elif (ours[name].about, ours[name].source) != (theirs[name].about, theirs[name].source):
            yield name, "reworded"
