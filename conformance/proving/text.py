"""A proof on one page, and as plain values for JSON."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from operator import itemgetter
from statistics import median
from typing import Any, Final

from conformance.proving.proof import Proof
from conformance.proving.trial import ROUNDS, MutantResult, Outcome

_ABOUT: Final[tuple[tuple[Outcome, str, str], ...]] = (
    ("found", "found", "a row finds it"),
    ("survives", "survive", "wrong, and no row finds it"),
    ("allowed", "allowed", "not the same, but right as well, as far as it was judged"),
    ("alike", "alike", "no difference was found in {}"),
)


def as_page(proof: Proof, *, verbose: bool = False) -> Iterator[str]:
    """Walk the lines of a proof; `verbose` also names every mistake with what came of it."""
    many = (
        "1 mistake, put into a model"
        if len(proof.trials) == 1
        else f"{len(proof.trials)} mistakes, each put into its own model"
    )
    yield f"{proof.lifecycle}, revision {proof.version}: {many}."
    yield ""
    where = f"the {'whole small scope' if proof.whole else 'small scope, not all of it'}: {proof.configurations:,} configurations"
    for outcome, word, about in _ABOUT:
        if count := proof.count(outcome):
            yield f"  {word:<10}{count:>5}   {_by(proof, about).format(where)}"
    yield from _of_searches(proof)
    yield from _of_races(proof)
    if verbose:
        yield ""
        yield from (f"  {_verdict(each):<18}{_said(each)}" for each in (*proof.trials, *(proof.races or ())))
    for each in proof.survivors:
        yield ""
        yield f"--- survives: {_said(each)}"
        yield from (f"  {name} = {choice} is declared" for name, choice in each.policies.items())
        yield "  the shortest calls that tell it apart, as a row:"
        yield from (f"    {line}" for line in each.shown.splitlines())
    if proof.rowless:
        yield ""
        yield "The spec has no rows: the search stands in their place."
    elif not proof.partly:
        yield ""
        yield from _of_rows(proof)


def _by(proof: Proof, about: str) -> str:
    """Return what came of mistakes in words; of a spec without rows the search stands for them."""
    return (
        about.replace("a row", "the search").replace("no row finds", "the search does not find")
        if proof.rowless
        else about
    )


def _of_searches(proof: Proof) -> Iterator[str]:
    asked = [each.search for each in proof.trials if each.search is not None]
    if not asked:
        return
    found = [each for each in asked if each.found]
    yield ""
    at_once = [each for each in found if each.round == 1]
    line = f"  The search alone, without any row, finds {_share(at_once, asked)} in one round, and {_share(found, asked)} in {ROUNDS}"
    if found:
        line += f": the median in {median(each.calls for each in found):.0f} calls of a case, after {median(each.ms for each in found):.0f} ms"
    yield line + "."
    missed = [each for each in proof.trials if each.search is not None and not each.search.found]
    yield from (f"    missed     {_said(each)}" for each in missed)


def _share(some: Sequence[object], of: Sequence[object]) -> str:
    return f"{len(some)} of {len(of)} ({len(some) / len(of):.0%})"


_DEAD: Final = {
    "silent": "gives null for every call",
    "constant": "gives the same for every call",
    "echo": "gives back what it is called with",
    "accepts_everything": "accepts every call, and does nothing",
    "refuses_everything": "refuses every call",
}
_ABOUT_RACES: Final[Mapping[Outcome, str]] = {
    "found": "a row that makes calls at once finds it",
    "survives": "wrong, and only the search for two calls at once finds it",
    "alike": "neither shows it, as far as both were asked",
}


def _of_races(proof: Proof) -> Iterator[str]:
    if proof.races is None:
        return
    yield ""
    if not proof.races:
        yield "No mistakes about locks: no operation asked for changes anything or tells files, or the spec has calls that wait for others."
        return
    yield f"{len(proof.races)} mistakes about locks, each in one operation of the model:"
    counts = Counter(each.outcome for each in proof.races)
    words = {outcome: word for outcome, word, _ in _ABOUT}
    yield from (
        f"  {words[outcome]:<10}{counts[outcome]:>5}   {_by(proof, about)}"
        for outcome, about in _ABOUT_RACES.items()
        if counts[outcome]
    )


def _of_rows(proof: Proof) -> Iterator[str]:
    finds = Counter(each.row for each in (*proof.trials, *(proof.races or ())) if each.outcome == "found")
    most = ", ".join(f"{row} {count}" for row, count in finds.most_common(8))
    yield f"Rows that find most, each mistake counted once: {most}." if most else "No row finds anything."
    if proof.idle:
        rows = ", ".join(f"{row} ({level})" for row, level in proof.idle)
        yield f"Rows that find none of these mistakes: {rows}."
    else:
        yield f"Every row{' that applies to a model' if proof.unasked else ''} finds one."
    for why, unasked in itertools.groupby(sorted(proof.unasked, key=itemgetter(1)), key=itemgetter(1)):
        yield f"No model is asked {', '.join(row for row, _ in unasked)}: {why}."
    for name, passed in proof.alive:
        yield f"A system that {_DEAD[name]} passes {', '.join(passed)}: say what must have come of the calls before, and not only what must not."
    if not proof.alive:
        yield "Every MUST row that applies fails against each system that answers nothing of use."


def _verdict(trial: MutantResult) -> str:
    return f"found by {trial.row}" if trial.outcome == "found" else trial.outcome


def _said(trial: MutantResult) -> str:
    return f"{trial.clause}: {trial.does} ({trial.operator})"


def as_plain(proof: Proof) -> dict[str, Any]:
    """Return a proof as plain values: what was counted, and each mistake with what came of it."""
    return {
        "lifecycle": proof.lifecycle,
        "revision": proof.version,
        "counts": {outcome: proof.count(outcome) for outcome, _, _ in _ABOUT},
        "configurations": proof.configurations,
        "whole_scope": proof.whole,
        "rows_that_find_nothing": [{"row": row, "level": level} for row, level in proof.idle],
        "rows_not_asked": [{"row": row, "why": why} for row, why in proof.unasked],
        "dead_systems_that_pass": [{"system": name, "rows": list(rows)} for name, rows in proof.alive],
        "mistakes": [asdict(each) for each in proof.trials],
        "races": None if proof.races is None else [asdict(each) for each in proof.races],
    }
