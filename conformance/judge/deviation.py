"""Deviations: what may follow when a system does something else instead of a sentence that is only recommended.

Nobody knows what it does instead. So what differs between the model with the sentence and the model without
it is in doubt: the records that are not the same in both, and the parts of a reply that are not. What a
system shows of anything else is as certain as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from conformance.judge.finding import Finding
from conformance.judge.history import Event, History
from conformance.judge.matching import comparable
from conformance.judge.past import Beside
from conformance.judge.step import Stepper
from statemachines.expression import python_name
from statemachines.kernel import Kernel
from statemachines.model import ANYTHING, AnyOf, BaseModel, Outcome, Signal, SuchAs
from statemachines.rows import Observed, parts
from statemachines.types import Id, List, Optional, RecordType, Ref, Type, present

# The way to a part of a reply: names of fields, and in a list of records what identifies one.
Place = tuple[str, ...]
_ORDER = "in another order"
_LISTED = "in the list"


def may_follow(stepper: Stepper, finding: Finding, event: Event, strict: Beside, loose: Beside) -> bool:
    """Return whether a finding about an event may come of what is not the same with a sentence and without it."""
    source, one, other = stepper.compiled.kernel, strict.before, loose.before
    if finding.kind == "identity" and any(each.once and each.minted == finding.clause for each in source.entities):
        return False  # an id that was given stays given, whichever records are there
    before, after = _in_doubt(source, one, other), _in_doubt(source, strict.after, loose.after)
    if finding.kind == "refused" and after - before:  # what the call would do is in doubt
        return True
    doubts = before | after
    if isinstance(event, History):
        calls = event.calls
        told = {text for call in calls for text in _texts((dict(call.arguments), call.given))}
        return bool(told & doubts) or any(
            _expected(stepper, one, call) != _expected(stepper, other, call) for call in calls
        )
    decided, reply, signals = _expected(stepper, one, event)
    else_decided, else_reply, else_signals = _expected(stepper, other, event)
    about = {*_texts(dict(event.arguments)), *stepper.facts.ids(event).values()}
    if finding.kind == "signal":
        mine, others, seen = (
            [each for each in all_of if each[0] == finding.path]
            for all_of in (signals, else_signals, list(map(comparable, event.signals)))
        )
        return mine != others or bool(doubts & set(_texts((mine, others, seen))))
    if decided != else_decided or about & doubts:
        return True
    if finding.kind != "reply" or event.refused is not None:
        return False
    kind = stepper.facts.gives(event.operation)
    disputed = set(_places(kind, reply, else_reply))
    different = set(_places(kind, else_reply, event.reply))
    return bool(different) and all(_covered(each, disputed, doubts) for each in different)


def _in_doubt(source: Kernel, one: BaseModel, other: BaseModel) -> set[str]:
    """Return the ids of the records that differ; where one is there in one only, another like it might have gone."""
    found: set[str] = set()
    for entity in source.entities:
        collection = python_name(entity.collection)
        rows = [{each.serial: each for each in getattr(model, collection).values()} for model in (one, other)]
        ids = [field.name for field in entity.fields if isinstance(present(field.type), Id | Ref)]
        states: set[str] = set()
        for serial in {*rows[0], *rows[1]}:
            both = [table[serial] for table in rows if serial in table]
            if len(both) == 1:
                states.add(getattr(both[0], "state", ""))
            if len(both) == 1 or _plain(both[0], deep=True) != _plain(both[1], deep=True):
                found.update(*(_named(each, ids) for each in both))
        for table in rows if states else ():
            found.update(*(_named(each, ids) for each in table.values() if getattr(each, "state", "") in states))
    return found


def _covered(place: Place, disputed: set[Place], doubts: set[str]) -> bool:
    """Return whether a part of a reply is in doubt: itself, what it is a part of, or which records are listed at all."""
    if any(place[: len(each)] == each for each in disputed):
        return True
    if place[-1:] == (_LISTED,):  # another one like those may be there or not
        return place[-2] in doubts and any(each[-1:] == (_LISTED,) and each[:-2] == place[:-2] for each in disputed)
    return any(part in doubts for part in place)


def _places(kind: Type, one: Any, other: Any, path: Place = ()) -> Iterator[Place]:
    """Walk the parts in which two replies differ."""
    if one == other or any(each is ANYTHING or isinstance(each, SuchAs) for each in (one, other)):
        return
    match kind:
        case Optional(item=item) if one is not None and other is not None:
            yield from _places(item, one, other, path)
        case RecordType(fields=fields) if isinstance(one, dict) and isinstance(other, dict):
            for name, field in fields:
                yield from _places(Optional(field), one[name], other[name], (*path, name))
        case List(item=RecordType(fields=fields) as item, unordered=unordered) if (
            one is not None and other is not None and fields
        ):
            key = fields[0][0]
            left, right = ({str(each[key]): each for each in listed} for listed in (one, other))
            for identity in left.keys() ^ right.keys():
                yield (*path, identity, _LISTED)
            common = [identity for identity in left if identity in right]
            if not unordered and common != [identity for identity in right if identity in left]:
                yield (*path, _ORDER)
            for identity in common:
                yield from _places(item, left[identity], right[identity], (*path, identity))
        case _:
            yield path


def _expected(stepper: Stepper, model: BaseModel, call: Observed) -> tuple[Any, Any, list[Signal]]:
    """Return what a call may be answered now, what it would give, and the signals that would come."""
    then = model.fork()
    decision, done = stepper.follow(then, replace(call, refused=None))
    if decision is None:
        return None, None, _signals(done)
    decided = decision.refuse, decision.accept, decision.idle, decision.avoid, decision.blocks
    if not done:
        return decided, None, []
    value = done[0].value
    came = [*done, *(then.wait(call.elapsed) if call.elapsed else ())]
    return decided, value.options[0] if isinstance(value, AnyOf) else value, _signals(came)


def _signals(outcomes: list[Outcome]) -> list[Signal]:
    return [comparable(each) for outcome in outcomes for each in (*outcome.signals, *outcome.again, *outcome.may)]


def _named(record: Any, ids: list[str]) -> set[str]:
    """Return the ids that a record is told by: its own, and those of records that it belongs to."""
    found = {getattr(record, "id", None), *(getattr(record, python_name(each)) for each in ids)}
    return {name for each in found if isinstance(name := getattr(each, "id", each), str)}


def _plain(value: Any, *, deep: bool = False) -> Any:
    """Return a value, or a record's fields, so that those of two models can be compared."""
    if deep:
        return [_plain(getattr(value, name)) for name in type(value).__slots__]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return getattr(value, "serial", value)


def _texts(value: Any) -> Iterator[str]:
    """Walk the texts in a value, as deep as they lie."""
    return (each for each in parts(value) if isinstance(each, str))
