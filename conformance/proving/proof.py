"""All mistakes of a spec, tried on one process or on several, and what they say of its rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from conformance.errors import UsageError
from conformance.proving.trial import CALL_SECONDS, GLANCE, MutantResult, Outcome, Prover
from conformance.stand_ins import Race, dead_systems
from conformance.suite import RowRunner
from conformance.targets import open_system
from conformance.verdict import EXIT_CONFORMS, EXIT_VIOLATES, Verdict
from conformance.workers import Ask, Cluster, SpecFile, spec_file, spread
from statemachines.compile import Compiled
from statemachines.diagnostics import SpecError, did_you_mean
from statemachines.kernel import within
from statemachines.lifecycle import Level


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of all the mistakes.

    configurations  in how many a mistake is compared that no row finds; `whole`: these are all of the small scope
    idle            the rows that find no mistake, with their levels
    unasked         the rows that apply to no model by any choice of a policy, each with why
    alive           of each system that answers nothing of use, the MUST rows that it does not fail
    partly          only some clauses were asked for, so that nothing is said of rows
    rowless         the spec has no rows: the search stands in their place
    races           what came of mistakes about locks; None where nobody asked
    """

    lifecycle: str
    version: int
    trials: Sequence[MutantResult]
    configurations: int
    whole: bool
    idle: Sequence[tuple[str, Level]]
    unasked: Sequence[tuple[str, str]]
    alive: Sequence[tuple[str, Sequence[str]]]
    partly: bool = False
    rowless: bool = False
    races: Sequence[MutantResult] | None = None

    def count(self, outcome: Outcome) -> int:
        """Count the mistakes of which this came."""
        return sum(each.outcome == outcome for each in self.trials)

    @property
    def survivors(self) -> list[MutantResult]:
        """The mistakes that no row finds although they are wrong."""
        return [each for each in (*self.trials, *(self.races or ())) if each.outcome == "survives"]

    @property
    def exit(self) -> int:
        """0 where every mistake that makes a difference is found, every MUST row finds one, and what is dead fails."""
        idle = any(level == "must" for _, level in self.idle)
        return EXIT_VIOLATES if self.survivors or idle or self.alive else EXIT_CONFORMS


def proved(
    compiled: Compiled,
    *,
    clause: str = "",
    searched: bool = False,
    raced: bool = False,
    workers: int = 1,
    cluster: Cluster | None = None,
    seed: int = 0,
    told: Callable[[int, int], object] = lambda done, of: None,
) -> Proof:
    """Try every mistake, or those of one `clause` and what is below it; `told` is told how many are done.

    searched  also ask the search without any row
    raced     also try mistakes about locks, one operation at a time
    workers   so many processes, or the workers of a `cluster`; the proof is the same whatever their number

    Raises UsageError where there is no such mistake, where another process cannot read the spec or finds another text of it, and
    where the whole cluster is gone in the middle: what it has found by then is lost.
    """
    prover = Prover(compiled, seed=seed)
    numbers = [number for number, each in enumerate(prover.mutants) if not clause or within(each.clause, clause)]
    locks = [number for number, each in enumerate(prover.races) if raced and _is_near(each, clause)]
    if not numbers and not locks:
        raise UsageError(_nothing_about(compiled, clause))
    with _asking(compiled, seed, workers, cluster, prover) as ask:
        done: list[MutantResult] = []
        for trial in itertools.chain(
            ask(_tried, [(each, searched) for each in numbers]), ask(_raced, [(each,) for each in locks])
        ):
            done.append(trial)
            told(len(done), len(numbers) + len(locks))
        trials, by_locks = done[: len(numbers)], done[len(numbers) :]
        first = {each.row for each in (*trials, *by_locks)}
        unasked = [] if clause else _unasked(prover, first)
        idle = [] if clause else _idle(prover, numbers, trials, first | dict(unasked).keys(), ask)
        alive = [] if clause else list(ask(_alive, [(name,) for name in dead_systems(compiled)]))
    compared = any(each.outcome in ("alike", "allowed") for each in trials)
    exploration = prover.exploration if compared else None
    return Proof(
        compiled.called,
        compiled.lifecycle.version,
        trials,
        0 if exploration is None else exploration.states,
        exploration is None or exploration.complete,
        idle,
        unasked,
        [(name, rows) for name, rows in alive if rows],
        bool(clause),
        not compiled.lifecycle.rows,
        by_locks if raced else None,
    )


def _nothing_about(compiled: Compiled, clause: str) -> str:
    """Say why there is no mistake to make: no clause is named so, or the ones there are cannot be changed by one."""
    known = [each.path for each in compiled.kernel.clauses]
    if clause and not any(within(each, clause) for each in known):
        hint = did_you_mean(clause, known) or "`conformance explain` names the clauses"
        return f"no clause of {compiled.lifecycle.name} is named {clause}; {hint}"
    return f"there is no mistake to make about {clause or compiled.called}: no operator changes what it says"


def _is_near(race: Race, clause: str) -> bool:
    """Return whether a race is in an operation that a clause, if there is one, is about."""
    return not clause or within(race.clause, clause) or within(clause, race.clause)


def _unasked(prover: Prover, first: set[str]) -> list[tuple[str, str]]:
    """List the rows that apply to no model, but for those of which it is known that they are the `first` to find something."""
    rows = (row for row in prover.compiled.lifecycle.rows.values() if row.id.text not in first)
    reasons = ((row.id.text, prover.asked_with(row)[1]) for row in rows)
    return [(row, why) for row, why in reasons if why]


def _idle(
    prover: Prover, numbers: Sequence[int], trials: Sequence[MutantResult], but: set[str], ask: Ask
) -> list[tuple[str, Level]]:
    """List the rows that find none of the mistakes that other rows find first, `but` for some of which more is known."""
    found = [number for number, trial in zip(numbers, trials, strict=True) if trial.outcome == "found"]
    rows = [row for row in prover.compiled.lifecycle.rows.values() if row.id.text not in but]
    tries = [(row.id.text, tuple(prover.likely(row, found))) for row in rows]
    return [(row.id.text, row.level) for row, finds in zip(rows, ask(_finds, tries), strict=True) if not finds]


# ── What is asked of a process ──


def _tried(prover: Prover, number: int, searched: bool) -> MutantResult:
    return prover.tried(number, searched=searched)


def _raced(prover: Prover, number: int) -> MutantResult:
    return prover.raced(number)


def _finds(prover: Prover, row: str, numbers: Sequence[int]) -> bool:
    return any(prover.finds(prover.compiled.lifecycle.rows[row], number) for number in numbers)


def _alive(prover: Prover, name: str) -> tuple[str, list[str]]:
    """Return the MUST rows that a system does not fail which answers nothing of use."""
    compiled, fine = prover.compiled, (Verdict.FAIL, Verdict.NOT_APPLICABLE)
    with closing(open_system(compiled, dead_systems(compiled)[name])) as adapter:
        adapter.limit = CALL_SECONDS
        runner = RowRunner(compiled, prover.rows, adapter, number=prover.seed, budget=GLANCE, shortest=False)
        rows = [row for row in compiled.lifecycle.rows.values() if row.level == "must"]
        return name, [row.id.text for row in rows if runner.run(row).verdict not in fine]


@contextmanager
def _asking(compiled: Compiled, seed: int, workers: int, cluster: Cluster | None, prover: Prover) -> Iterator[Ask]:
    """Yield what asks something of a prover many times: this one, or those of other processes, in order all the same."""
    spec = spec_file(compiled)
    if (workers == 1 and cluster is None) or spec is None:
        yield lambda what, given: (what(prover, *each) for each in given)
        return
    if cluster is not None:
        cluster.needs(partial(_refusal, spec), f"have to be able to read {spec.path}")
    with spread(workers, cluster) as ask:
        yield lambda what, given: ask(_Elsewhere(spec, seed, what), given)


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """Something asked of the prover of another process, which is made once there."""

    spec: SpecFile
    seed: int
    what: Callable[..., Any]

    def __call__(self, *given: Any) -> Any:
        return self.what(_prover(self.spec, self.seed), *given)


@lru_cache(maxsize=1)  # a worker lives longer than what it is asked about one text of a spec
def _prover(spec: SpecFile, seed: int) -> Prover:
    return Prover(spec.load(), seed=seed)


def _refusal(spec: SpecFile) -> str:
    try:
        spec.load()
    except (SpecError, UsageError, OSError) as error:
        return str(error).partition("\n")[0]
    return ""
