"""One mistake tried: which row finds it, whether the search alone does, or that nothing tells it from what is right.

One idea: what becomes of one mistake.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any, Final, Literal

from conformance.budget import USUAL, Budget
from conformance.counterexample import shown_as_row
from conformance.proving.asked_before import AskedOfRight, RowOrSearch
from conformance.proving.policies_read import policies_read
from conformance.proving.search_alone import Search, Searched, searched
from conformance.stand_ins import ModelSystem, Race, model_system, races_of, racing_system
from conformance.suite import PAIRS, SEARCHES, WALKS, RowRunner, inapplicable, makes_calls_at_once, rounds_of
from conformance.system import Adapter
from conformance.targets import open_system
from conformance.verdict import MACHINE, Verdict
from statemachines.bounds import USUAL as USUAL_BOUNDS
from statemachines.compare import ModelComparison, Parting
from statemachines.compile import Compiled
from statemachines.explore import Exploration
from statemachines.kernel import within
from statemachines.lifecycle import Row
from statemachines.mutants import Mutant, mutants
from statemachines.rows import RowCompiler

CALL_SECONDS: Final = 2.0  # seconds for one call: some mistakes make a model go on for ever
GLANCE: Final = replace(USUAL.quick(), schedules=4, schedules_of_all=8, schedules_of_each=1, more_schedules=4)
"""How often a row is run: a model that makes one call after the other has no races."""
ROUNDS: Final = 4
"""In how many rounds the search alone is made where it finds nothing: as far as a run comes in about a minute."""
MOST_SETTINGS: Final = 6  # with which the rows are run for one mistake
ELSEWHERE: Final = replace(USUAL_BOUNDS, states=200, transitions=2_000)
"""How far a mistake is compared where a policy is not the default one."""
BACKWARDS: Final = replace(USUAL_BOUNDS, states=1_000, transitions=10_000)
"""How far it is compared from where the wrong model comes to."""
MOST_PARTINGS: Final = 40  # of which the judge is asked

Outcome = Literal["found", "alike", "allowed", "survives"]
"""A row finds it; it does what is right in all of the small scope, or is about locks and did not show; it does something else that is
right too; or no row finds it.
"""

Policies = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MutantResult:
    """What came of a mistake.

    row       the row that finds it, by a case of so many `calls`, after `ms` milliseconds of it and the rows tried before; of a
              spec that has no rows it is the search, by the name under which a run tells of it
    policies  the choices that make it show, where they are not the default ones
    shown     of one that survives: the shortest calls that tell it apart, as a row; all of a race that did not show again
    search    None where the search was not asked
    """

    operator: str
    clause: str
    does: str
    outcome: Outcome
    row: str = ""
    calls: int = 0
    ms: int = 0
    policies: Policies = field(default_factory=dict)
    shown: str = ""
    search: Search | None = None


class Prover:
    """Tries the mistakes of one spec, each as a system that does what the mutant does."""

    def __init__(self, compiled: Compiled, *, seed: int = 0) -> None:
        self.compiled = compiled
        self.seed = seed
        self.mutants = mutants(compiled.kernel)
        self.rows = RowCompiler(compiled.lifecycle).checked()
        self._comparison = cache(self._compared_with)
        self.asked = AskedOfRight(compiled, self._ask_right, CALL_SECONDS)

    def tried(self, number: int, *, searched: bool = False) -> MutantResult:
        """Try the mistake of a number."""
        mutant = self.mutants[number]
        mistaken = self.model_of(mutant)
        made = self._by_rows(mutant, mistaken, self._likely_settings(mistaken)) or self._by_comparison(mutant, mistaken)
        if not searched or made.outcome not in ("found", "survives"):
            return made
        came = self._by_search(mistaken, made.policies)
        if came.found and not self._has_rows:
            made = replace(made, outcome="found", row=MACHINE, calls=came.calls, ms=came.ms, shown="")
        return replace(made, search=came)

    @property
    def _has_rows(self) -> bool:
        return bool(self.compiled.lifecycle.rows)

    def model_of(self, mutant: Mutant) -> Compiled:
        """Return the life cycle with the mistake in its kernel."""
        return Compiled(self.compiled.lifecycle, mutant.kernel, self.compiled.words)

    # ── By rows ──

    def _by_rows(self, mutant: Mutant, mistaken: Compiled, settings: Iterable[Policies]) -> MutantResult | None:
        began = time.monotonic()
        for policies, descending in itertools.product(settings, (False, True)):
            with closing(self._system(mistaken, policies, descending=descending)) as adapter:
                runner = self._runner(adapter)
                for row in self._likely_first(mutant):
                    if not self.asked.differs(mistaken, row.id.text, policies, descending=descending):
                        continue
                    calls = self._fails(runner, row)
                    if calls is not None:
                        ms = round((time.monotonic() - began) * 1000)
                        return _result(mutant, "found", row=row.id.text, calls=calls, ms=ms, policies=policies)
        return None

    def finds(self, row: Row, number: int) -> bool:
        """Return whether a row finds the mistake of a number, with the first policies by which the row applies, or likely ones."""
        mistaken = self.model_of(self.mutants[number])
        policies, why = self.asked_with(row)
        settings = [policies, *(each for each in self._likely_settings(mistaken) if each != policies)]
        return not why and any(
            self._finds(row, mistaken, each, descending=descending)
            for each, descending in itertools.product(settings, (False, True))
        )

    def _finds(self, row: Row, mistaken: Compiled, policies: Policies, *, descending: bool) -> bool:
        if not self.asked.differs(mistaken, row.id.text, policies, descending=descending):
            return False
        with closing(self._system(mistaken, policies, descending=descending)) as adapter:
            return self._fails(self._runner(adapter), row) is not None

    def asked_with(self, row: Row) -> tuple[Policies, str]:
        """Return the first policies by which a row applies to a model; or why it does by none."""
        why = ""
        for policies in ({}, *self._others):
            with closing(self._system(self.compiled, policies)) as adapter:
                reason = inapplicable(self.compiled, self.rows.words, adapter, row)
            if not reason:
                return policies, ""
            why = why or reason
        return {}, why

    def _ask_right(self, system: type[ModelSystem], what: RowOrSearch) -> None:
        """Run a row, or make a search in some round, on a right system."""
        with closing(self._opened(system)) as adapter:
            if isinstance(what, str):
                self._runner(adapter).run(self.compiled.lifecycle.rows[what])
            else:
                searched(self._runner(adapter, USUAL), *what)

    def _runner(self, adapter: Adapter, budget: Budget = GLANCE) -> RowRunner:
        return RowRunner(self.compiled, self.rows, adapter, number=self.seed, budget=budget, shortest=False)

    def _fails(self, runner: RowRunner, row: Row) -> int | None:
        """Return in how many calls a row, or the judge beside it, finds something wrong; None where nothing is."""
        result = runner.run(row)
        if result.verdict in (Verdict.FAIL, Verdict.FLAKY):
            return result.counterexample.calls if result.counterexample is not None else 0
        return len(runner.strays[0][1].calls) if runner.strays else None

    def likely(self, row: Row, numbers: Sequence[int]) -> list[int]:
        """Order mistakes by how likely it is that a row finds them."""
        return sorted(numbers, key=lambda number: _far(row, self.mutants[number].clause))

    def _likely_first(self, mutant: Mutant) -> list[Row]:
        return sorted(self.compiled.lifecycle.rows.values(), key=lambda row: _far(row, mutant.clause))

    def _likely_settings(self, mistaken: Compiled) -> list[Policies]:
        """List the policies with which rows are run: by default, and each choice that what the mistake changes asks for."""
        asked = policies_read(self.compiled.source, mistaken.source)
        return [{}, *(each for each in self._others if each.keys() <= asked)][:MOST_SETTINGS]

    @cached_property
    def _others(self) -> list[Policies]:
        """The choices of one policy that are not the default."""
        return [
            {name: word.text}
            for name, policy in self.compiled.lifecycle.policies.items()
            for word in policy.choices
            if word.text != policy.default.text
        ]

    def _system(
        self,
        mistaken: Compiled,
        policies: Policies,
        limits: Mapping[str, int | None] | None = None,
        *,
        descending: bool = False,
    ) -> Adapter:
        """Open a system that does what a model does; with `descending` ids each new one comes before those there are.

        Also where the mistake leaves open what the spec says: a system does something wherever it is called.
        """
        declares = {"policies": dict(policies), "limits": dict(limits or {})}
        return self._opened(model_system(_anywhere(mistaken), declares, descending=descending))

    def _opened(self, system: type[ModelSystem]) -> Adapter:
        adapter = open_system(self.compiled, system)
        adapter.limit = CALL_SECONDS
        return adapter

    # ── By the search alone ──

    def _by_search(self, mistaken: Compiled, policies: Policies) -> Search:
        began = time.monotonic()
        came = self._searched(mistaken, policies)
        ms = round((time.monotonic() - began) * 1000)
        return Search(came.seen is not None, came.round + 1, came.cases, came.calls, ms)

    def _searched(
        self,
        mistaken: Compiled,
        policies: Policies,
        only: Sequence[str] = SEARCHES,
        rounds: int = ROUNDS,
        *,
        shortest: int = 0,
    ) -> Searched:
        """Search until something is found, in so many rounds; a search of which a right system answers all alike finds nothing."""
        cases = 0
        with closing(self._system(mistaken, policies)) as adapter:
            coming = itertools.takewhile(lambda each: each[1] < rounds, rounds_of(adapter, endless=True))
            for what in (each for each in coming if each[0] in only):
                if not self.asked.differs(mistaken, what, policies):
                    cases += self.asked.count(what, policies)
                    continue
                came = searched(self._runner(adapter, USUAL), *what, shortest=shortest)
                cases += came.cases
                if came.seen is not None:
                    return replace(came, cases=cases)
        return Searched(cases)

    # ── Races ──

    @cached_property
    def races(self) -> list[Race]:
        """The mistakes about locks that a system can have."""
        return races_of(self.compiled)

    def raced(self, number: int) -> MutantResult:
        """Try the race of a number: by the rows that make calls at once, then by the search for any two."""
        race, began = self.races[number], time.monotonic()
        told = partial(MutantResult, race.mistake, race.clause, race.does)
        with closing(open_system(self.compiled, racing_system(self.compiled, race))) as adapter:
            adapter.limit = CALL_SECONDS
            rows = filter(makes_calls_at_once, self.compiled.lifecycle.rows.values())
            nearest = sorted(rows, key=lambda row: _far(row, race.clause))
            # First few schedules, for most races show soon; then all, for few may miss one by chance.
            runners = [self._runner(adapter, budget) for budget in (USUAL.quick(), USUAL)]
            for runner, row in itertools.product(runners, nearest):
                calls = self._fails(runner, row)
                if calls is not None:
                    ms = round((time.monotonic() - began) * 1000)
                    return told("found", row=row.id.text, calls=calls, ms=ms)
            seen = searched(runners[-1], PAIRS, shortest=USUAL.reproductions).seen
        if seen is None:
            return told("alike")
        if self._has_rows:
            return told("survives", shown=seen.row, calls=seen.calls)
        return told("found", row=MACHINE, calls=seen.calls, ms=round((time.monotonic() - began) * 1000))

    # ── By what models do ──

    def _by_comparison(self, mutant: Mutant, mistaken: Compiled) -> MutantResult:
        """Say of a mistake that no row finds what tells it apart, if anything does: also by another choice of a policy."""
        apart = False
        for policies, partings in self._partings(mistaken):
            for parting in itertools.islice(partings, MOST_PARTINGS):
                apart = True
                if parting.trace is None:
                    continue
                with closing(self._system(mistaken, policies, parting.limits)) as adapter:
                    told = shown_as_row(self.compiled, adapter, parting.trace, self.seed, mutant.clause)
                if told is not None:
                    survives = _result(mutant, "survives", shown=told.row, calls=told.calls, policies=policies)
                    return (self._by_rows(mutant, mistaken, [policies]) if policies else None) or survives
        apart = apart or self.asked.differs(mistaken, (WALKS, 0), {})  # far from where the small scope comes to
        seen = self._searched(mistaken, {}, [WALKS], 1, shortest=1).seen if apart else None
        if seen is not None:
            return _result(mutant, "survives", shown=seen.row, calls=seen.calls)
        return _result(mutant, "allowed" if apart else "alike")

    def _partings(self, mistaken: Compiled) -> Iterator[tuple[Policies, Iterator[Parting]]]:
        """Walk where a mistake parts from what is right: from where the right model comes to, and from where the wrong one does.

        The rules of the wrong one may read what those of the right one do not, and tell more configurations apart.
        """
        yield {}, self._comparison(()).partings(mistaken)
        yield {}, ModelComparison(mistaken, bounds=BACKWARDS).partings(self.compiled)
        yield from ((each, self._comparison(tuple(each.items())).partings(mistaken)) for each in self._others)

    def _compared_with(self, policies: Sequence[tuple[str, str]]) -> ModelComparison:
        return ModelComparison(self.compiled, dict(policies), ELSEWHERE if policies else USUAL_BOUNDS)

    @property
    def exploration(self) -> Exploration:
        """The configurations of the small scope in which mistakes are compared that no row finds."""
        return self._comparison(()).exploration


def _anywhere(compiled: Compiled) -> Compiled:
    """Return the life cycle without what says where nothing is said."""
    said = tuple(
        replace(each, requires=tuple(one for one in each.requires if one.answer != "avoided"))
        for each in compiled.kernel.operations
    )
    if said == compiled.kernel.operations:
        return compiled
    return Compiled(compiled.lifecycle, replace(compiled.kernel, operations=said), compiled.words)


def _result(mutant: Mutant, outcome: Outcome, **told: Any) -> MutantResult:
    return MutantResult(mutant.operator, mutant.clause, mutant.does, outcome, **told)


def _far(row: Row, clause: str) -> int:
    """Return how far a row is from a mistake in a clause: it covers what that breaks, or something of the same operation, or neither."""
    covers = [word.text for word in row.covers]
    operation = ".".join(clause.split(".")[:2])
    if any(within(clause, each) or within(each, clause) for each in covers):
        return 0
    return 1 if any(within(each, operation) for each in covers) else 2
