"""How binding it is what a search finds: what only derived rows ask, no source states, and nobody breaks a must by it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from conformance.suite.row_facts import covers
from conformance.verdict import Counterexample
from statemachines.lifecycle import Row

Shown = Sequence[tuple[Row, Counterexample]]
"""The rows that failed, each with its counterexample."""


def only_derived(
    failed: Shown,
    clause: str,
    matter: str,
    changing: Sequence[str] = (),
    given: Collection[str] = (),
    held: Collection[Sequence[str]] = (),
) -> bool:
    """Return whether only rows tell a fault that ask what the source does not state, or it was judged beside one of these.

    failed    the rows that failed: of these, those that tell the fault are asked
    clause    the clause that the fault is one of, and `matter` what it is about
    changing  the calls that change something in what shows it
    given     the other clauses that the system did not follow on the way
    held      the calls that change something of cases in which all was right: what these make leads nobody astray
    """
    told = [
        row for row, shown in failed if _tells(row, shown, clause, matter) or _leads(row, shown, clause, changing, held)
    ]
    return any(_fails_derived(failed, each) for each in given) or (bool(told) and all(row.derived for row in told))


def in_order(few: Sequence[str], many: Sequence[str]) -> bool:
    """Return whether all of a few are among many, in their order."""
    rest = iter(many)
    return all(each in rest for each in few)


def _tells(row: Row, shown: Counterexample, clause: str, matter: str) -> bool:
    """Return whether a row failed in the same matter by a clause; where nobody knows what made it fail, by any that it covers."""
    same = shown.clause == clause or (not shown.cause and covers(row, clause))
    return same and shown.matter == matter


def _leads(
    row: Row, shown: Counterexample, clause: str, changing: Sequence[str], held: Collection[Sequence[str]]
) -> bool:
    """Return whether what made a row fail leads to a fault as well: the same calls, or two calls or more with which they begin.

    If the row is about the clause of the fault, those of one may stand anywhere among those of the other, in their order; if
    it is not, such calls lead to nothing after which all was right elsewhere.
    """
    few, many = sorted((tuple(changing), shown.changing), key=len)
    if few and (shown.clause == clause or covers(row, clause)):
        return few == many or (len(few) > 1 and in_order(few, many))  # one call that many cases make is no story
    astray = bool(few) and not any(tuple(story[: len(few)]) == few for story in held)
    return astray and few == shown.changing and (few == many or (len(few) > 1 and many[: len(few)] == few))


def _fails_derived(failed: Shown, clause: str) -> bool:
    """Return whether rows failed by a clause, and all of them are derived."""
    rows = [row for row, shown in failed if shown.clause == clause]
    return bool(rows) and all(row.derived for row in rows)
