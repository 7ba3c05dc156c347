"""What is told of an entry that nothing explains: what was before it, what is known then, and what could have come instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.judge import NO_SIGNAL, Event, Finding, calls_of, comparable, said, short
from conformance.logs.following import Following, Unexplained
from conformance.logs.reading import LoggedCall, LoggedSignal, called
from statemachines.compile import Compiled
from statemachines.expression import python_name
from statemachines.kernel import ANY_CODE
from statemachines.model import ANYTHING, AnyOf, BaseModel, Impossible, SuchAs
from statemachines.rows import WAIT, Observed

MOST_RECORDS = 8  # that are shown, those that the entry speaks of first
MOST_INSTEAD = 6
LOOKED_AT = 16  # explanations, of which it is told what each allows


@dataclass(frozen=True, slots=True)
class ToldEntry:
    """An entry in words: where it stands, and what it is."""

    place: str
    text: str

    @classmethod
    def of(cls, item: LoggedCall | LoggedSignal) -> ToldEntry:
        """Return an entry in words."""
        text = said(item.signal) if isinstance(item, LoggedSignal) else answered(item.call)
        return cls(item.line.place, text)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An entry that nothing explains.

    entries    what is not explained: one entry, or calls that overlap
    raw        the line of the log
    before     the last that was explained
    states     the records then, in words
    instead    what could have come
    sentence   the clause as the spec has it
    uncertain  why it need not be a fault; empty where it is one
    """

    place: str
    raw: str
    entries: tuple[ToldEntry, ...]
    finding: Finding
    before: tuple[ToldEntry, ...]
    states: tuple[str, ...]
    instead: tuple[str, ...]
    sentence: str
    system: str
    uncertain: str

    @property
    def hint(self) -> str:
        """What to say in the map where the log only does not show what is missing."""
        missing = self.finding.kind == "signal" and self.finding.expected != NO_SIGNAL
        return (
            f"a log that does not show it says so in its map: `hidden: [signal {self.finding.path}]`" if missing else ""
        )


def answered(call: Observed) -> str:
    """Write a call and what came of it."""
    made = called(call.operation, dict(call.arguments))
    if call.refused is not None:
        return f"{made} → refused {call.refused}"
    if call.malformed:
        return f"{made} → {call.malformed}"
    return f"{made} → {_shown(call.reply)}" if call.reply is not None else made


def _shown(value: Any) -> str:
    """Write a reply, without the parts that the log does not show."""
    return "…" if value is ANYTHING else short(_without_gaps(value))


def _without_gaps(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_gaps(part) for name, part in value.items() if part is not ANYTHING}
    return list(map(_without_gaps, value)) if isinstance(value, list) else value


def refusal(
    compiled: Compiled, following: Following, found: Unexplained, before: Sequence[ToldEntry], system: str
) -> Refusal:
    """Return what is told of a moment that nothing explains."""
    finding, moment = found.finding, found.moment
    culprits: list[LoggedCall | LoggedSignal] = [*_blamed(found)]
    clause = next((each.text for each in compiled.kernel.clauses if each.path == finding.clause), "")
    models = [each.configuration.model for each in found.points[:LOOKED_AT]]
    texts = {each for item in moment.items for each in item.texts}
    unsure = following.unsure
    why = following.doubt or "there were more ways than were looked at, or instants that nobody can see"
    return Refusal(
        culprits[0].line.place,
        culprits[0].line.shown,
        tuple(map(ToldEntry.of, culprits)),
        finding,
        tuple(before),
        tuple(_records(compiled, models[0], texts)),
        tuple(dict.fromkeys(_instead(following, models, found.event)))[:MOST_INSTEAD],
        clause,
        system,
        why if unsure else "",
    )


def _blamed(found: Unexplained) -> Sequence[LoggedCall | LoggedSignal]:
    """Return the entries that are not explained: a signal that was not due, else the calls."""
    ahead = frozenset[int]().union(*(each.ahead for each in found.points))
    rest = [each for each in found.moment.must if each.number not in ahead]
    named = [each for each in rest if each.signal[0] == found.finding.path]
    named = [each for each in named if said(comparable(each.signal)) == found.finding.seen] or named
    if found.finding.kind == "signal" and named and found.finding.seen.startswith("signal "):
        return named[:1]
    return found.moment.calls or found.moment.must


def _records(compiled: Compiled, model: BaseModel, texts: set[str]) -> Iterator[str]:
    """Walk the records in words: those that an entry speaks of first, then the newest."""
    found: list[tuple[bool, int, str]] = []
    for entity in compiled.kernel.entities:
        if entity.fixed and not entity.states:
            continue
        for key, record in getattr(model, python_name(entity.collection)).items():
            named = str(getattr(record, "id", key))
            state = record.state if entity.states else "there"
            newness = record.serial if isinstance(record.serial, int) else 0
            found.append((named in texts or key in texts, newness, f"{entity.name} {named}: {state}"))
    found.sort(key=lambda each: each[:2], reverse=True)
    yield from (text for *_, text in found[:MOST_RECORDS])
    if len(found) > MOST_RECORDS:
        yield f"and {len(found) - MOST_RECORDS} more"
    if not found:
        yield "no records"


def _instead(following: Following, models: Sequence[BaseModel], event: Event) -> Iterator[str]:
    """Walk what the calls of an event could have been answered, by each explanation of what was before."""
    for call in calls_of(event):
        if call.operation == WAIT:
            continue
        for model in models:
            yield from (f"{call.operation}: {each}" for each in _answers(following, model, call))


def _answers(following: Following, model: BaseModel, call: Observed) -> Iterator[str]:
    for arrived, _ in following.lockstep.stepper.arrived(model.fork(), call.within, call, call.signals, []):
        then = arrived.fork()
        decision = then.decide(call.operation, call.arguments)
        if decision.idle:
            yield "any answer, and nothing changes"
        if decision.blocks:
            yield "no answer yet: it waits"
        yield from ("refused, with any code" if each == ANY_CODE else f"refused {each}" for each in decision.refuse)
        if decision.accept:
            try:
                outcome = then.do(call.operation, call.arguments)
            except Impossible:
                yield "accepted"
            else:
                signals = [*outcome.signals, *outcome.again]
                also = f", and {', '.join(map(said, signals))}" if signals else ""
                yield f"accepted{_given(outcome.value)}{also}"


def _given(value: Any) -> str:
    match value:
        case None:
            return ""
        case AnyOf(options=options):
            return f", giving {' or '.join(map(short, options))}"
        case SuchAs():
            return ", giving what it chooses"
        case _:
            return f", giving {_shown(value)}"
