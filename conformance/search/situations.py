"""What is new about a call: the situations that one call on a model comes to, as values to count.

A situation is what a mistake may hang on: an operation about a record in some state beside others of its owner, two
sentences one after the other about one record, how many records there are beside a limit, an id that a record had.
Taken widely it is also all settings together, what was given before, at the same instant or not, and groups.
One idea: what a call comes to.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any

from conformance.search.records import BESIDE, MANY_RECORDS, Label, Records, Story, named_by, sizes, with_few_values
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.explore import numbers_compared
from statemachines.expression import python_name
from statemachines.model import BaseModel, Decision
from statemachines.types import Text, present

LAST = BESIDE // 4  # records of an entity that are looked at beside those that a call names
KIN = 12  # records of an entity that are looked at for those that have to do with a call's
SENTENCE, CALL, PAIR, COUNT = 8.0, 4.0, 2.0, 1.0  # how much a new situation of a kind is worth

OF_EACH = ("kin", "of all", "became", "holds")  # the kinds of which a call comes to one for each of some records

Situation = tuple[float, tuple[Hashable, ...]]  # what it is worth when it is new, and what it is: first of which kind


class Situations:
    """The situations of one life cycle, and how often each was come to; taken `wide`, or no wider than records and their owners."""

    def __init__(self, compiled: Compiled, *, wide: bool = False) -> None:
        source = compiled.kernel
        self.wide = wide
        self.met: Counter[Hashable] = Counter()
        fixed = {entity.name for entity in source.entities if entity.fixed}
        self._entities = {entity.name: Records(entity, fixed) for entity in source.entities}
        self._of = {
            operation.name: {each.name: each.entity for each in operation.parameters if each.entity}
            for operation in source.operations
        }
        self.names = {
            operation.name: [each for each in operation.parameters if takes_a_name(compiled, each)]
            for operation in source.operations
        }
        """By operation, the parameters that take a name that was given before, or a new one."""
        self.records_named = {
            operation.name: [(each.name, *named) for each in operation.parameters if (named := named_by(each))]
            for operation in source.operations
        }
        """By operation, the parameters that name a record, or several, each with the entity, and whether it is several."""
        self._minted = [each for each in self._entities.values() if not each.fixed]
        self._fixed = [each for each in self._entities.values() if each.fixed and each.is_told_apart]
        self._small, self._maybe = with_few_values(source.variables)
        self._compared = {python_name(name): each for (of, name), each in numbers_compared(compiled).items() if not of}

    def worth(self, found: Sequence[Situation]) -> float:
        """Return how much situations are worth that were come to as often as they were.

        Of those that each of many records is in the best counts: a call about many is worth no more for that.
        """
        best: dict[Hashable, float] = {}
        for weight, what in found:
            each = what[0] if what[0] in OF_EACH else what
            best[each] = max(best.get(each, 0.0), weight / (1 + self.met[what]) ** 2)
        return sum(best.values())

    def note(self, found: Sequence[Situation]) -> None:
        """Take note that a case has come to these."""
        self.met.update(what for _, what in found)

    def of(
        self, model: BaseModel, operation: str, arguments: Mapping[str, Any], decision: Decision, story: Story
    ) -> list[Situation]:
        """Return the situations of a call on a model before it is made, and make it a part of the story."""
        told = "ok" if decision.accept else "|".join(decision.refuse) or "open"
        chosen = (value for value in arguments.values() if value is None or isinstance(value, bool))
        label = (operation, told, *chosen)
        ids, parts, beside, kin = self._about(model, operation, arguments, story)
        counts = tuple(each.count(model) for each in self._minted)
        found: list[Situation] = [
            (CALL, ("parts", label, *parts)),
            (COUNT, ("counts", label, counts)),
            (COUNT, ("after", story.before, label)),
        ]
        if story.twice != "":
            found.append((COUNT, ("after twice", story.twice, label)))
        if beside:
            found.append((CALL, ("beside", label, *beside)))
        for place, value in enumerate(ids):
            if value in story.last:
                at_once = self.wide and story.when.get(value) == model.now
                found.append((PAIR, (place, story.last[value][-1], label, at_once)))
                found.append((COUNT, (place, story.last[value], label)))
        if ids and story.about is not None and story.about != ids[0] and story.about in story.last:
            found.append((PAIR, ("after another", story.last[story.about][-1], label)))
        if self.wide:
            found += self._again(operation, label, arguments, ids, parts, story)
            found += self._in_settings(model, label, parts)
            found += self._alike(model, label, kin, story)
        if not ids:
            found += self._of_all(model, label, story)
        found += self._holding(model, label)
        found += dict.fromkeys(
            (PAIR, ("kin", of.name, of.token(model, value, story), story.last.get(value), label))
            for value, of in kin.items()
        )
        ids += [value for value in kin if value not in ids]
        names = (arguments.get(each.name) for each in self.names.get(operation, ()))
        # One that was refused may be taken as given all the same.
        ids += [each for each in names if isinstance(each, str) and each not in ids]
        story.last.update({each: (*story.last.get(each, ())[-1:], label) for each in ids})
        story.when.update(dict.fromkeys(ids, model.now))
        story.twice = label if label == story.before else ""
        story.before, story.about = label, ids[0] if ids else story.about
        return found

    def _about(
        self, model: BaseModel, operation: str, arguments: Mapping[str, Any], story: Story
    ) -> tuple[list[Hashable], list[Hashable], list[Hashable], dict[Hashable, Records]]:
        """Return the ids that a call is about, what distinguishes each argument, the other records beside those, and their kin."""
        entities = self._of.get(operation, {})
        ids: list[Hashable] = []
        parts: list[Hashable] = []
        beside: list[Hashable] = []
        kin: dict[Hashable, Records] = {}
        for name, value in arguments.items():
            records = self._entities.get(entities.get(name, ""))
            if isinstance(value, str) and records is not None:
                ids.append(value)
                parts.append(records.token(model, value, story))
                beside.append(records.beside(model, value))
                ids += [owner for _, owner in records.owners(model, value)]
                kin |= self._kin(model, records, value)
            elif isinstance(value, list) and any(self._is_known(model, each, story) for each in value):
                named = list(dict.fromkeys(each for each in value if isinstance(each, str)))
                ids += named[:MANY_RECORDS]
                kin |= self._kin(model, self._holder(model, named[0]), named[0])
                tokens = (self._token(model, each, story) for each in named[-BESIDE:])
                parts.append(("list", min(len(value), MANY_RECORDS), len(value) > len(named), frozenset(tokens)))
            elif isinstance(value, str) and value in story.last:
                ids.append(value)
                parts.append(("known", story.last[value]))
                beside += [self._named(model, value)] if self.wide else []
            else:
                parts.append(_kind(value))
        return ids, parts, beside, kin

    def _settings(self, model: BaseModel) -> list[tuple[str, Hashable]]:
        """List what holds beside the records: of a number whether a rule compares it with this one."""
        numbers = ((name, getattr(model, name), known) for name, known in self._compared.items())
        small = [(name, getattr(model, name)) for name in self._small]
        return [*small, *((name, value if value in known else "another") for name, value, known in numbers)]

    def _named(self, model: BaseModel, text: str) -> Hashable:
        """Return the states of the records of which a text is said, such as those of one batch."""
        return tuple(sizes(model, Counter(each.named(model, text))) for each in self._minted)

    def _in_settings(self, model: BaseModel, label: Label, parts: Sequence[Hashable]) -> Iterator[Situation]:
        """Walk the situations that a call is in by what holds beside the records that come and go, as far as it has few values."""
        small = [value for _, value in self._settings(model)]
        absent = [getattr(model, name) is None for name in self._maybe]
        fixed = [frozenset(Counter(each.tokens(model)).items()) for each in self._fixed]
        if settings := (*small, *absent, *fixed):
            yield PAIR, ("settings", label, settings)
        if settings and parts:
            yield COUNT, ("settings", label, parts[0], settings)

    @staticmethod
    def _alike(model: BaseModel, label: Label, kin: Mapping[Hashable, Records], story: Story) -> Iterator[Situation]:
        """Walk how many records that have to do with those of a call are in which state."""
        alike = Counter((of.name, of.token(model, value, story)) for value, of in kin.items())
        if alike:
            yield PAIR, ("alike", label, frozenset((each, min(n, MANY_RECORDS)) for each, n in alike.items()))

    def _again(
        self,
        operation: str,
        label: Label,
        arguments: Mapping[str, Any],
        ids: Sequence[Hashable],
        parts: Sequence[Hashable],
        story: Story,
    ) -> Iterator[Situation]:
        """Walk which arguments that name no record are what they were last, of the same record and of any; and what follows what."""
        plain = {
            name: (repr(value), _kind(value))
            for name, value in arguments.items()
            if not (isinstance(value, str) and value in ids)
        }
        about = ids[0] if ids else None
        same = [
            (story.given.get((operation, name, about)) == value, story.given.get((operation, name)) == value)
            for name, value in plain.items()
        ]
        if same:
            yield PAIR, ("again", label, *same)
        if same and parts:
            yield COUNT, ("again", label, parts[0], *same)
        for name, (_, kind) in plain.items():
            _, before = story.given.get((operation, name, about), ("", None))
            yield COUNT, ("turn", label, name, before, kind)
        story.given.update({(operation, name, about): value for name, value in plain.items()})
        story.given.update({(operation, name): value for name, value in plain.items()})

    def _kin(self, model: BaseModel, records: Records | None, identity: str) -> dict[Hashable, Records]:
        """Return the records that come and go which that of an id refers to, that refer to it, or to what it refers to."""
        record = records.live(model).get(identity) if records is not None else None
        if records is None or record is None:
            return {}
        links = {identity, record, *records.links(record)}
        return {
            key: each
            for each in self._minted
            for key, other in list(each.live(model).items())[-KIN:]
            if other is not record and (other in links or key in links or not links.isdisjoint(each.links(other)))
        }

    def related(self, model: BaseModel, identity: str) -> dict[str, list[str]]:
        """Return the ids of the record of an id, of those that it belongs to, and of its kin, by entity.

        Nothing for an id that no record has.
        """
        holder = self._holder(model, identity)
        if holder is None:
            return {}
        kin = ((records.name, each) for each, records in self._kin(model, holder, identity).items())
        found = {holder.name: [identity]}
        for entity, each in (*holder.owners(model, identity), *kin):
            if isinstance(each, str) and each not in found.setdefault(entity, []):
                found[entity].append(each)
        return found

    def like(self, model: BaseModel, identity: str) -> dict[str, list[str]]:
        """Return the ids of other records like that of an id, by entity: in its state, of the same owner."""
        holder = self._holder(model, identity)
        return {} if holder is None else {holder.name: holder.like(model, identity)}

    def of_serials(self, model: BaseModel, serials: Collection[Hashable]) -> dict[str, list[str]]:
        """Return the ids of the records of some numbers, by entity."""
        return {
            each.name: [key for key, record in each.live(model).items() if record.serial in serials]
            for each in self._minted
        }

    def _holder(self, model: BaseModel, identity: str) -> Records | None:
        """Return the records that come and go among which that of an id is."""
        return next((each for each in self._minted if identity in each.live(model)), None)

    def _is_known(self, model: BaseModel, value: Any, story: Story) -> bool:
        return isinstance(value, str) and (value in story.last or self._holder(model, value) is not None)

    def _token(self, model: BaseModel, identity: str, story: Story) -> Hashable:
        """Return what distinguishes the record of an id, whichever entity it is of."""
        records = self._holder(model, identity)
        return story.last.get(identity) if records is None else records.token(model, identity, story)

    def of_wait(self, model: BaseModel, label: tuple[Hashable, ...], story: Story) -> list[Situation]:
        """Return the situations of a wait, before it is made, and make it a part of the story."""
        found = [(CALL, label), (PAIR, ("after", story.before, label)), *self._of_all(model, label, story)]
        found += self._in_settings(model, label, ()) if self.wide else ()
        found += self._holding(model, label)
        story.before, story.twice = label, ""
        return found

    def standing(self, model: BaseModel) -> dict[tuple[str, Hashable], Hashable]:
        """Return what distinguishes each of the last records, by its entity and id."""
        return {
            (each.name, identity): each.token(model, identity, _NEW)
            for each in self._minted
            for identity in list(each.live(model))[-LAST:]
        }

    def became(
        self, before: Mapping[tuple[str, Hashable], Hashable], model: BaseModel, operation: str, story: Story
    ) -> list[Situation]:
        """Return what records have become by a call that names none, or a wait, after what had happened to each.

        It is a part of their stories.
        """
        found: list[Situation] = []
        for (name, identity), token in before.items():
            record = self._entities[name].live(model).get(identity)
            after = self._entities[name].token(model, identity, _NEW) if record is not None else "gone"
            if after != token:
                found.append((PAIR, ("became", operation, name, token, after, story.last.get(identity))))
                story.last[identity] = (*story.last.get(identity, ())[-1:], (operation, after))
        return found

    def names_none(self, operation: str) -> bool:
        """Return whether a call of an operation names no record that comes and goes."""
        return all(self._entities[entity].fixed for entity in self._of.get(operation, {}).values())

    def _of_all(self, model: BaseModel, label: Label, story: Story) -> list[Situation]:
        """Return the situations of what names no record, and so may be about each: what happened to it last."""
        return [
            (PAIR, ("of all", label, each.token(model, identity, story), story.last.get(identity)))
            for each in self._minted
            for identity in list(each.live(model))[-LAST:]
        ]

    def _holding(self, model: BaseModel, label: Label) -> Iterator[Situation]:
        """Walk what a call meets, whatever it is about: records in each state, and each setting."""
        for each in self._minted:
            states = dict.fromkeys(getattr(record, "state", "") for record in list(each.live(model).values())[-LAST:])
            yield from ((PAIR, ("holds", label, each.name, state)) for state in states)
        yield from ((PAIR, ("holds", label, *setting)) for setting in self._settings(model))

    def features(self, model: BaseModel) -> set[Hashable]:
        """Return what is there: each record as it is, each setting, and any two of the states of records and settings."""
        alone, states = set[Hashable](), set[Hashable]()
        for each in self._minted:
            for identity, record in list(each.live(model).items())[-LAST:]:
                alone.add((each.name, each.token(model, identity, _NEW)))
                states.add((each.name, getattr(record, "state", "")))
        states.update(self._settings(model))
        return alone | states | {frozenset(two) for two in itertools.combinations(states, 2)}

    @staticmethod
    def sentences(model: BaseModel) -> list[Situation]:
        """Return the sentences that were at work since the model was made or asked."""
        return [(SENTENCE, ("sentence", place)) for place, hit in enumerate(model.seen) if hit]

    def ids(self, model: BaseModel) -> dict[str, list[str]]:
        """Return the ids of the records that may come and go, by entity."""
        return {each.name: list(each.live(model)) for each in self._minted}


def takes_a_name(compiled: Compiled, parameter: kernel.Parameter) -> bool:
    """Return whether a parameter takes a name that was given before, or a new one."""
    kind = present(parameter.type)
    declared = compiled.lifecycle.types.get(kind.name) if isinstance(kind, Text) else None
    return declared is not None and declared.text == "fresh or reused"


_NEW = Story()  # of which nothing is known


def _kind(value: Any) -> Hashable:
    """Return what distinguishes a value that names no record."""
    match value:
        case str():
            return ("text", len(value).bit_length(), value[:1].isalnum())
        case list():
            return ("list", min(len(value), MANY_RECORDS), frozenset(map(_kind, value[:MANY_RECORDS])))
        case dict():
            return tuple(_kind(each) for each in value.values())
        case int() if not isinstance(value, bool) and value > MANY_RECORDS:
            return ("number", value.bit_length())
        case _:
            return repr(value)
