"""Every answer that is allowed to some calls, one after the other: what configurations of the model may say.

The judge asks whether an answer is explained; here all are listed, each with the configurations from which it may come and
those that it leads to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.budget import USUAL
from conformance.judge import Lockstep, Passing, Seen, Signals, comparable, kernel_facts, permitted, required
from conformance.system import Declaration
from conformance.vectors.patterns import TEXTS, Given, Ids, Inexpressible, Patterns, canonical, timeless, whenever
from conformance.vectors.resolved import hull
from statemachines.compile import Compiled
from statemachines.expression import python_name
from statemachines.kernel import ANY_CODE
from statemachines.model import AnyOf, BaseModel, Decision, Outcome, Restless, Signal, Watched
from statemachines.quiescence import of_its_own, settled
from statemachines.rows import WAIT
from statemachines.types import NULL, List

MOST_CONFIGURATIONS: Final = 64
MOST_ANSWERS: Final = 48
ANYTHING_AT_ALL: Final = {"refused": {"$any": ["string", "null"]}}
Arguments = Mapping[str, Any]
Call = tuple[str, Arguments]
"""An operation, or `wait`, and its arguments as a file has them."""
Told = dict[str, Any]
"""An answer as a file has it: a refusal or a reply, the signals that have to come, and those that may."""
Way = tuple[BaseModel, list[Outcome], Told]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, the configuration from which it may come, and those that it may lead to."""

    told: Told
    at: int
    to: tuple[int, ...]


@dataclass(slots=True)
class Answered:
    """What a call may be answered, and the clauses, only recommended, that a system need not follow in its answer."""

    answers: list[Answer] = field(default_factory=list)
    recommended: set[str] = field(default_factory=set)

    @property
    def all_told(self) -> frozenset[str]:
        """The answers without the configurations, for comparison."""
        return frozenset(canonical(each.told) for each in self.answers)


class EverySignal(Signals):
    """Takes each signal as seen that would have been needed: all ways are wanted."""

    def seen(self, signals: Iterable[Signal]) -> Seen:
        """Return what lacks no signal."""
        return EverySeen(self, signals)


class EverySeen(Seen):
    """All signals, whichever are needed."""

    def left(self, needed: Iterable[Signal], among: int) -> tuple[int, Signal | None]:
        """Return that nothing is missing."""
        return among, None


@dataclass(slots=True)
class _Explanation:
    model: BaseModel
    standing: frozenset[Signal] = frozenset()

    @property
    def key(self) -> Any:
        return self.model.freeze(), self.standing, tuple(vars(self.model.policies).values())


class AllAnswers:
    """Makes the calls of one vector on all configurations, and lists what they may be answered.

    seen  1 for each clause that some of them witnessed
    read  the policies that made, or could have made, a difference
    """

    def __init__(
        self, compiled: Compiled, declaration: Declaration, given: Given | None = None, order: int = 0
    ) -> None:
        """Begin a vector whose calls give some ids; `order` is that of those that the system chooses."""
        self.ids = Ids(given, order)
        self._facts = kernel_facts.of(compiled)
        self._signals = EverySignal(self._facts.signals, instants=True)
        self._collections = {each.name: python_name(each.collection) for each in compiled.kernel.entities}
        lockstep = Lockstep(compiled, declaration, USUAL)
        self.seen = lockstep.seen
        self._clauses = compiled.kernel.clauses
        self.read: set[str] = set()
        self._configurations = [_Explanation(each.model) for each in lockstep.decided()]
        for each in self._configurations:
            each.model.policies = Watched(vars(each.model.policies), self.read)
        self._losing = {each.name for each in compiled.kernel.operations if each.loses_files}
        self._lost = False  # files that were told before may be gone
        self._windows = any(t.within is not None for entity in compiled.kernel.entities for t in entity.timers)

    def asked(self, calls: Iterable[Call]) -> list[Answered]:
        """Return what each of some calls may be answered. Raises Inexpressible."""
        found: list[Answered] = []
        for call in calls:
            try:
                found.append(self.ask(*call))
            except Inexpressible as error:
                raise Inexpressible(str(error), len(found)) from None
        return found

    def ask(self, operation: str, arguments: Arguments) -> Answered:
        """Return what a call may be answered, and go on from there. Raises Inexpressible."""
        found = Answered()
        given = self.ids.read(dict(arguments))
        after: dict[Any, tuple[int, _Explanation]] = {}
        told: dict[tuple[int, str], tuple[list[Told], set[int]]] = {}
        for at, configuration in enumerate(self._configurations):
            for answer, then in self._answers(configuration, operation, given, found):
                number, _ = after.setdefault(then.key, (len(after), then))
                key = canonical(timeless(answer) if self._windows else answer)
                alike, to = told.setdefault((at, key), ([], set()))
                alike.append(answer)
                to.add(number)
                if len(after) > MOST_CONFIGURATIONS or len(told) > MOST_ANSWERS:
                    raise Inexpressible("more ways than a vector lists")
        self._configurations = [each for _, each in after.values()]
        found.answers = [Answer(hull(alike), at, tuple(sorted(to))) for (at, _), (alike, to) in told.items()]
        self.ids.step += 1
        self._lost = self._lost or operation in self._losing
        return found

    def _answers(
        self, configuration: _Explanation, operation: str, given: dict[str, Any], asked: Answered
    ) -> Iterator[tuple[Told, _Explanation]]:
        """Walk the answers that one configuration allows, each with what it leads to. Raises Inexpressible."""
        try:
            for before, taken in self._own_steps(configuration.model):
                for then, done, told in self._ways(before, operation, given, asked):
                    for rested, forced in settled(then):
                        for after, followed in self._own_steps(rested):
                            came = [*taken, *done, *forced, *followed]
                            again = {comparable(signal) for outcome in came for signal in outcome.again}
                            said = {**told, **self._signalled(came, configuration.standing)}
                            yield said, _Explanation(after, configuration.standing | again)
        except Restless:
            raise Inexpressible("no rest") from None

    def _own_steps(self, model: BaseModel) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        capped = yield from of_its_own(model, USUAL.own_steps, lambda taken: False)  # every way: its signals are told
        if capped:
            raise Inexpressible("more ways than a vector lists")

    def _ways(self, model: BaseModel, operation: str, given: dict[str, Any], asked: Answered) -> Iterator[Way]:
        if operation == WAIT:
            passing = Passing(self._signals, model, (), USUAL.ways_of_time, told=frozenset())
            yield from ((then, done, {}) for then, done in passing.ways(model.now + given["ms"]))
            if passing.partial:
                raise Inexpressible("more ways than a vector lists")
            return
        decision = model.decide(operation, given)
        if decision.avoid:
            raise Inexpressible("the spec leaves open what a call does")
        if decision.blocks:
            raise Inexpressible("a call that comes back only when another has been made")
        if self._facts.wait(operation) is not None and model.fork().blocks_for(operation, given):
            raise Inexpressible("a call that blocks until the clock has moved")
        permitted_only = [Outcome(None, (), decision.may)]
        if decision.idle:
            yield model, permitted_only, ANYTHING_AT_ALL
            return
        if decision.refuse:
            if not decision.accept:
                self._note_refusal(decision, asked)
            codes: list[Any] = [{"$any": TEXTS}] if ANY_CODE in decision.refuse else sorted(decision.refuse)
            for code in codes:
                yield model.thawed(model.freeze()), permitted_only, {"refused": code}
        if decision.accept:
            yield from self._carried_out(model, operation, given, asked)

    def _carried_out(self, model: BaseModel, operation: str, given: dict[str, Any], asked: Answered) -> Iterator[Way]:
        kind, carried_out = self._facts.gives(operation), model.thawed(model.freeze())
        live = {name: [*getattr(model, collection)] for name, collection in self._collections.items()}
        self.ids.minted = 0
        outcome = carried_out.do(operation, given, self.ids.mint)
        options = outcome.value.options if isinstance(outcome.value, AnyOf) else (outcome.value,)
        self._note_reply(operation, options, asked)
        for option in options:
            self.ids.told(option)
            patterns = Patterns(self.ids, self._facts.recommended, live.__getitem__, lost=self._lost)
            told = {"reply": patterns.of(kind, option)}
            yield carried_out.thawed(carried_out.freeze()), [outcome], {} if kind == NULL else told

    # ── Signals ──

    def _signalled(self, came: list[Outcome], standing: frozenset[Signal]) -> Told:
        """Return the signals that have to come, and those that may, as often as anybody likes."""
        due = sorted((self._signal(each) for each in required(came)), key=whenever)
        may = {canonical(told): told for told in map(self._signal, standing | permitted(came))}
        optional = [may[key] for key in sorted(may)]
        return {**({"signals": due} if due else {}), **({"may_signal": optional} if optional else {})}

    def _signal(self, signal: Signal) -> dict[str, Any]:
        name, fields = signal
        patterns = Patterns(self.ids, self._facts.recommended, lambda entity: ())
        return {"signal": name, **patterns.of(self._facts.signals[name], dict(fields))}

    # ── What is only recommended ──

    def _note_refusal(self, decision: Decision, asked: Answered) -> None:
        paths = [self._clauses[number].path for number in decision.clauses]
        if paths and all(map(self._facts.recommended, paths)):
            asked.recommended.update(paths)

    def _note_reply(self, operation: str, options: Iterable[Any], asked: Answered) -> None:
        kind = self._facts.gives(operation)
        order = f"messages.{getattr(getattr(kind, 'item', kind), 'name', '')}.order"
        lists = isinstance(kind, List) and any(isinstance(each, list) and len(each) > 1 for each in options)
        clauses = [self._facts.reply_of(operation), *([order] if lists else [])]
        asked.recommended.update(filter(self._facts.recommended, clauses))
