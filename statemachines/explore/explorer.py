"""Every reachable configuration of a small scope, breadth first: what holds, what is reached, and how.

One configuration stands for all that differ in nothing that matters. The first way that breaks an invariant
is a shortest one. One idea: the search, and what it finds.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from statemachines.bounds import USUAL, Bounds
from statemachines.diagnostics import Where
from statemachines.explore.configurations import Configurations, Frozen
from statemachines.explore.influence import Influence
from statemachines.explore.small_scope import SmallScope, leave_out, scopes
from statemachines.explore.steps import Step, Steps
from statemachines.explore.watching import LeadsTo, Reached, SearchWatch
from statemachines.expression import python_name
from statemachines.kernel import within
from statemachines.model import NO_ANSWER, Impossible, Timer
from statemachines.rows import Trace

if TYPE_CHECKING:
    from statemachines.compile import Compiled


@dataclass(frozen=True, slots=True)
class Violation:
    """What does not hold, where it is stated, and the shortest way there.

    kind  'invariant': `name` is its name · 'livelock': steps that must be taken follow one another for ever,
          `name` is the path of one of them · 'failure': a step cannot be evaluated, `name` says why
    """

    kind: Literal["invariant", "livelock", "failure"]
    name: str
    where: Where
    trace: Trace


@dataclass(frozen=True, slots=True)
class Exploration:
    """What was found: `complete` when every configuration of the scope was reached and held.

    witnessed  the paths of the clauses that were witnessed
    reached    the configurations, the nearest first in each scope
    """

    transitions: int
    complete: bool
    violation: Violation | None
    witnessed: frozenset[str]
    reached: Sequence[Reached]

    @property
    def configurations(self) -> Sequence[Frozen]:
        """Those that were reached, as `thaw` takes them."""
        return [each.frozen for each in self.reached]

    @property
    def states(self) -> int:
        """How many configurations were reached."""
        return len(self.reached)


def explore(
    compiled: Compiled,
    bounds: Bounds = USUAL,
    policies: Mapping[str, Any] | None = None,
    limits: Mapping[str, int | None] | None = None,
    *,
    wide: bool = False,
    seen: Collection[str] = (),
    replies: bool = False,
    watch: SearchWatch | None = None,
) -> Exploration:
    """Explore every configuration of the scope of a spec, or of each default one, as far as the bounds allow.

    Where the spec does not say how many records: first one of each entity with all fixed records, then two of each
    entity with one fixed record. Without `policies` all are the default ones; `limits` come before those of the scope.
    A `wide` one has all fixed records beside two of each other entity, which makes many more configurations. No two
    values of a field that is `seen` are alike, even if no sentence tells them apart; and what decides
    how `replies` come out may be told apart as well. A `watch` is told what is met on the way.
    """
    influence = Influence(compiled.kernel, seen, replies=replies)
    found: list[Exploration] = []
    witnessed: frozenset[str] = frozenset()
    for small in scopes(compiled, wide=wide):
        scope = replace(small, limits={**small.limits, **(limits or {})})
        found.append(_ScopeSearch(compiled, influence, scope, witnessed, bounds, policies, watch).run())
        witnessed |= found[-1].witnessed
    broken = [each.violation for each in found if each.violation]
    return Exploration(
        sum(each.transitions for each in found),
        all(each.complete for each in found),
        min(broken, key=lambda violation: len(violation.trace), default=None),
        witnessed,
        [reached for each in found for reached in each.reached],
    )


class _ScopeSearch:
    """One search of one scope: from the configuration `here`, every step is taken in `there`."""

    def __init__(
        self,
        compiled: Compiled,
        influence: Influence,
        scope: SmallScope,
        witnessed: Collection[str],
        bounds: Bounds,
        policies: Mapping[str, Any] | None,
        watch: SearchWatch | None = None,
    ) -> None:
        source = compiled.kernel
        self.bounds = bounds
        self.source = source
        self.watch = watch
        plain = compiled.model(scope.limits, policies)
        made: type[Any] = watch.model_class if watch else type(plain)
        # `between` is the configuration one step before `there`
        self.here, self.there, self.between = (made(vars(plain.limits), vars(plain.policies)) for _ in range(3))
        leave_out(self.here, source, influence, scope)
        self.seen = self.there.seen = self.between.seen = self.here.seen
        steps = Steps(compiled, influence, scope, witnessed, self.here, self.there)
        self.operations = [steps.operation(each) for each in source.operations]
        self.own = [steps.own(index, each) for index, each in enumerate(source.spontaneous)]
        self.wait = Step("wait", ["ms"], self._pass)
        self.timers = [timer.clause for entity in source.entities for timer in entity.timers]
        self.due = [steps.timer(index, clause) for index, clause in enumerate(self.timers)]
        self.must = any(step.must is not None for step in source.spontaneous)
        free = [entity for entity in source.entities if not entity.fixed]
        self.records = [attrgetter(f"{python_name(entity.collection)}.values") for entity in free]
        self.configurations = Configurations(source, influence, scope.records)
        backs = {invariant.looks_back for invariant in source.invariants}
        places = enumerate(source.entities, self.configurations.head)
        self.back = [place for place, entity in places if entity.name in backs]
        self.transitions = 0
        self.violation: Violation | None = None
        self.doing: tuple[Step, tuple[Any, ...]] | None = None
        self.node = Reached(self.here.freeze(), tuple(scope.records[entity.name] for entity in free), scope)
        self.nodes = [self.node]
        # What was met, with where it leads when it comes to rest: None where that is beyond the scope.
        start = LeadsTo(self.node.frozen, self.node)
        self.met: dict[Any, LeadsTo | None] = {(self.node.budget, self.node.frozen): start}
        self.found = {(self.node.budget, self.configurations.canonical(self.node.frozen)): self.node}

    def run(self) -> Exploration:
        """Search to the end, to the first violation, or as far as the bounds allow."""
        complete, most = True, self.bounds.states
        for node in self.nodes:  # it grows on the way
            if len(self.nodes) > most or self.transitions > self.bounds.transitions or self.violation:
                complete = False
                break
            self._expand(node)
        return Exploration(
            self.transitions,
            complete and len(self.nodes) <= most and self.violation is None,
            self.violation,
            self.here.witnessed(),
            self.nodes,
        )

    # ── From one configuration ──

    def _expand(self, node: Reached) -> None:
        """Take every step from a configuration."""
        self.node, self.earlier = node, self.here
        if self.watch:
            self.watch.at(node)
            self.watch.arrives(node.frozen)
        self._do(None)
        self.here.thaw(node.frozen)
        self.there.thaw(node.frozen)
        try:
            for moved in self._ways():
                if moved and not self.violation:
                    self._arrive()
                if self.violation:
                    return
        except Impossible as error:
            self._violated("failure", str(error), error.clause)
        except NO_ANSWER as error:  # of null, or an order by it
            self._violated("failure", f"{type(error).__name__}: {error}", self._path())

    def _ways(self) -> Iterator[bool]:
        """Take one step after the other; tell whether it may have led somewhere."""
        if self.node.parent is None:  # any other was looked at when it was reached
            self._holds()
            yield False
        budget = self.node.budget
        for step in self.operations:
            left_out = bool(step.creates) and min(budget[entity] for entity in step.creates) <= 0
            if left_out and self.watch:
                self.watch.leads(None)
            moves = not step.stays and not left_out
            if moves or self._has_more(step):
                yield from self._carried_out(step, moves)
        self._do(None)
        for index, keys, _ in self.here.own_steps():
            step = self.own[index]
            self._do((step, keys))
            step.do(*keys)
            yield True
        self._do(None)
        for _, _, index, key in self.here.due():
            step = self.due[index]
            self._do((step, (key,)))
            step.do(key)
            yield True
        self._do(None)
        for ms in self._waits():
            self._do((self.wait, (ms,)))
            self._pass(ms)
            self.earlier = self.there
            yield True

    def _carried_out(self, step: Step, moves: bool) -> Iterator[bool]:
        """Carry out an operation wherever it is accepted; where it may not move, for its clauses alone."""
        accepted = False
        may, do, here, watch = step.may, step.do, self.here, self.watch
        for given in step.arguments(here, every=self._may_show(step)):
            self.doing = (step, given)
            if watch:
                watch.doing(self.doing)
            decision = may(*given) if may is not None else None
            if watch:
                watch.asked(here, step.name, given, decision)
            if (decision is None or decision.accept) and (moves or step.stays):
                do(*given)
                accepted = True
                yield moves
            else:
                yield False
        step.tried = step.tried or accepted

    def _has_more(self, step: Step) -> bool:
        """Return whether a step has clauses that were not witnessed yet."""
        if step.clauses and all(self.seen[clause] for clause in step.clauses):
            step.clauses = ()
        return bool(step.clauses) or self._may_show(step)

    def _may_show(self, step: Step) -> bool:
        """Return whether calls may show something that is watched for and was not met yet."""
        return self.watch is not None and self.watch.wants(step.name)

    def _do(self, step: tuple[Step, tuple[Any, ...]] | None) -> None:
        """Note what is being done; None: nothing, it is looked what may be."""
        self.doing = step
        if self.watch:
            self.watch.doing(step)

    def _waits(self) -> list[int]:
        """List how long to wait: to the next deadline and one more or less; and so that `now` is new."""
        now = self.here.now
        timers = self.here.deadlines()
        gap = min((first for first, _, _, _ in timers if first > now), default=now) - now
        found = {gap - 1, gap, gap + 1} if gap else set()
        if timers:  # until one has to have fired
            found.add(max(min(last for _, last, _, _ in timers) - now, 0) + 1)
        if self.configurations.influence.relative:
            found |= {1} if not self.timers and now < self.bounds.idle_until else set()
        elif self.configurations.happened(self.node.frozen):
            found.add(1)
        return sorted(ms for ms in found if ms > 0)

    def _pass(self, ms: int) -> None:
        """Let time pass in `there`, deadline by deadline."""
        end = self.there.now + ms
        due: Timer | None = None
        for _ in range(self.bounds.forced_steps):
            due = self.there.next_timer(end, prompt=False)
            if due is None:
                self.there.now = end
                return
            self.between.thaw(self.there.freeze())
            self.there.now = max(self.there.now, due[1])
            self.there.fire(due[2], due[3])
            self.earlier = self.between
            if not (self._holds() and self._rests()):
                return
        clause = self.timers[due[2]] if due else ""
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
        known = (budget, frozen) in self.met
        if not known:
            self.met[budget, frozen] = None
            if self._holds() and self._rests():
                self.met[budget, frozen] = self._entered()
        if self.watch:
            self.watch.leads(self.met[budget, frozen])
        if known:
            for place in self.back:
                if frozen[place] != before[place]:
                    self._holds()
        there.thaw(before)

    def _entered(self) -> LeadsTo | None:
        """Return the way to what stands for the configuration in `there`: itself if none like it is known; None beyond the scope."""
        frozen = self.there.freeze()
        budget = self.node.budget if frozen[1] == self.node.frozen[1] else self._left()
        if min(budget, default=0) < 0:
            return None
        key = (budget, self.configurations.canonical(frozen))
        if key not in self.found:
            self.found[key] = Reached(frozen, budget, self.node.scope, self.node, self.doing)
            self.nodes.append(self.found[key])
            self.met[budget, frozen] = LeadsTo(frozen, self.found[key])
        return LeadsTo(frozen, self.found[key])

    def _holds(self) -> bool:
        """Check the invariants in `there`."""
        broken = self.there.broken(self.earlier)
        if broken:
            self._violated("invariant", broken, f"invariants.{broken}")
        return not broken

    def _rests(self) -> bool:
        """Take the steps that must be taken until none is left; tell whether that has an end, and all invariants hold."""
        clause = ""
        for index, keys in itertools.islice(self.there.to_rest(), self.bounds.forced_steps if self.must else 0):
            clause = self.own[index].name
            self.between.thaw(self.there.freeze())
            self.there.take(index, keys)
            earlier, self.earlier = self.earlier, self.between
            holds = self._holds()
            self.earlier = earlier
            if not holds:
                return False
        rests = not (clause and self.there.forced())
        if not rests:
            self._violated("livelock", clause, clause)
        return rests

    def _left(self) -> tuple[int, ...]:
        """Tell how many records may still be created."""
        before = self.here.serials
        counts = [sum([record.serial > before for record in values(self.there)()]) for values in self.records]
        missing = self.there.serials - before - sum(counts)  # created, and gone at once
        for entity in self.doing[0].creates if self.doing else ():
            if missing and not counts[entity]:
                counts[entity] += 1
                missing -= 1
        return tuple([left - count for left, count in zip(self.node.budget, counts, strict=True)])

    # ── What was found ──

    def _path(self) -> str:
        """Name the clauses of what is being done."""
        name = self.doing[0].name if self.doing else ""
        return name if name in [step.name for step in self.own] else f"operations.{name}"

    def _violated(self, kind: Literal["invariant", "livelock", "failure"], name: str, path: str) -> None:
        clauses = self.source.clauses
        clause = next((each for each in clauses if within(each.path, path)), clauses[0])
        self.violation = Violation(kind, name, clause.where, self.node.way(*[self.doing] if self.doing else []))
