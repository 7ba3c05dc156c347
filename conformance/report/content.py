"""What is said of a run: its opening, a block for each row that fails, and the summary. One idea: a run in words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.report.calls_at_once import at_once_told
from conformance.report.records import LEVELS, Coverage, Footer, Header, tally
from conformance.report.texts import cut, latest, named, number, one_line, visible
from conformance.verdict import (
    EXIT_CONFORMS,
    EXIT_HARNESS,
    EXIT_UNKNOWN,
    EXIT_VIOLATES,
    MACHINE,
    RowResult,
    Verdict,
    gates,
)

Fact = tuple[str, str]  # what it is called, and what it says


@dataclass(frozen=True, slots=True)
class Block:
    """What there is to say of a row that fails, or of the rows that one cause kept from an answer.

    trace       the counterexample as a row of the matrix
    transcript  what a tool's processes were called with and printed meanwhile
    replay      the command that runs the row again
    """

    verdict: Verdict
    title: str
    about: str
    facts: tuple[Fact, ...]
    trace: str = ""
    transcript: str = ""
    replay: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Rows that have a verdict for the same reason."""

    verdict: Verdict
    reason: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """What is said last: counts by verdict and level, what did not apply, gaps, what the exit code means."""

    levels: tuple[str, ...]
    counts: tuple[tuple[Verdict, tuple[int, ...]], ...]  # how many rows of each of the levels have a verdict
    notes: tuple[Note, ...]
    witnessed: str
    gaps: tuple[str, ...]
    unasked: tuple[str, ...]
    seconds: float
    conclusion: str
    beside: str
    exit: int | None


def subject(header: Header) -> str:
    """Say what is run against what."""
    return one_line(f"{header.lifecycle} revision {header.revision} against {header.target}")


def opening(header: Header) -> list[Fact]:
    """Say what is known before the first row runs."""
    levels = [row.level for row in header.rows]
    counts = [f"{levels.count(level)} {level}" for level in ("must", "should", "may") if level in levels]
    found = [
        ("rows", f"{len(levels)} ({', '.join(counts)})" if levels else "none"),
        ("seed", str(header.seed)),
        ("kit", header.kit),
    ]
    if header.faults:
        first, *more = header.faults
        beside = f"; and {number(len(more), 'fault')} more" if more else ""
        found.append(("spec", one_line(f"`conformance check {header.called}` refuses it: {first}{beside}")))
    if header.judged_by:
        found.append(("judged by", f"revision {header.judged_by}: what is newer does not count"))
    return [*found, *(("declares", said) for said in [declared_text(header.declares)] if said)]


def declared_text(declares: Mapping[str, Any]) -> str:
    """Say on one line what is declared."""
    parts = [f"{name} {_value(value)}" for name, value in declares.items() if value not in ({}, [], "", 0)]
    return one_line(" · ".join(parts))


def _value(value: Any) -> str:
    match value:
        case dict():
            return ", ".join(
                name if isinstance(each, dict) else f"{name} = {_value(each)}" for name, each in value.items()
            )
        case list():
            return ", ".join(map(_value, value))
        case None:
            return "null"
        case _:
            return str(value)


RAN = "what was run for it, and what it printed"
NOTED = (Verdict.KNOWN_FAIL, Verdict.NOT_APPLICABLE, Verdict.PASS)  # rows with a reason, which the summary names
FAILING = {Verdict.FAIL: "fails", Verdict.FLAKY: "is flaky"}
UNANSWERED = (Verdict.HARNESS_ERROR, Verdict.NOT_EXERCISED, Verdict.COULD_NOT_TELL)


def blocks(results: Sequence[RowResult], replay: Callable[[str], str]) -> list[Block]:
    """Return what there is to say of each row that fails, then of those without an answer, by cause."""
    earlier: dict[str, str] = {}
    found = [failing(row, earlier, replay(row.id)) for row in results if row.verdict in FAILING]
    abouts = {row.id: row.about for row in results}
    for note in notes(results, UNANSWERED):
        first, *more = note.ids
        title = f"{named(note.ids)}: {note.verdict}"
        facts = (("because", cut(note.reason)),) if note.reason else ()
        about = "" if more else one_line(abouts[first])
        found.append(Block(note.verdict, title, about, facts, replay=replay(first)))
    return found


def failing(row: RowResult, earlier: dict[str, str], replay: str = "") -> Block:
    """Return what there is to say of a row that fails; `earlier` holds which row showed a trace first."""
    title = f"{row.id} {FAILING[row.verdict]}" + ("" if row.level == "must" else f" (level: {row.level})")
    facts = [("spec", one_line(row.where))] if row.where else []
    found = row.counterexample
    if row.later:
        facts.append(("counts", row.later))
    if found is None:
        facts.append(("because", cut(row.reason)))
        return Block(row.verdict, title, one_line(row.about), tuple(facts), replay=replay)
    at_once = at_once_told(found)
    seen = at_once if at_once and found.matter.startswith("order") else cut(found.seen)
    facts += [
        ("clause", one_line(found.clause)),
        ("expected", cut(found.expected)),
        ("seen", seen),
        ("at once", at_once if at_once != seen else ""),
        ("likely", cut(str(found.diagnosis)) if found.diagnosis else ""),
    ]
    rounds = f"; reproduces in {found.reproduced} of {found.rounds} rounds" if found.rounds > 1 else ""
    if not found.reproduced:
        rounds = ", once"
    same = earlier.setdefault(found.row, row.id)
    where = "" if same == row.id else f", the same as for {same}"
    facts.append(("shown by", f"{number(found.calls, 'call')}{where}{rounds}"))
    more = row.reason.removeprefix(f"expected {found.expected}; seen {found.seen}").removeprefix("; ")
    if more:
        facts.append(("because", cut(more)))
    trace = visible(found.row).strip("\n") if same == row.id else ""
    transcript = latest(found.transcript) if same == row.id else ""
    said = tuple(fact for fact in facts if fact[1])
    return Block(row.verdict, title, one_line(row.about), said, trace, transcript, replay)


def notes(results: Iterable[RowResult], verdicts: Iterable[Verdict]) -> list[Note]:
    """Group the rows of some verdicts by their reasons, in the order in which they first occur."""
    found: dict[tuple[Verdict, str], list[str]] = {}
    wanted = list(verdicts)
    for row in results:
        if row.verdict in wanted:
            found.setdefault((row.verdict, row.reason), []).append(row.id)
    return [
        Note(verdict, reason, tuple(ids))
        for (verdict, reason), ids in sorted(found.items(), key=lambda item: wanted.index(item[0][0]))
    ]


def summary(header: Header, results: Sequence[RowResult], coverage: Coverage | None, footer: Footer | None) -> Summary:
    """Return what is said last; without a footer the run did not finish."""
    seen = {} if coverage is None else coverage.clauses
    gaps = () if coverage is None else coverage.gaps
    unasked = () if coverage is None else coverage.unasked
    clauses = len({*seen, *gaps} - {*unasked})
    witnessed = sum(count > 0 for count in seen.values())
    tallied = tally(results) if footer is None else footer.verdicts
    levels = tuple(level for level in LEVELS if level in tallied)
    counts = ((verdict, tuple(tallied[level].get(verdict, 0) for level in levels)) for verdict in Verdict)
    return Summary(
        levels,
        tuple((verdict, each) for verdict, each in counts if any(each)),
        tuple(note for note in notes(results, NOTED) if note.reason),
        f"{witnessed:,} of {number(clauses, 'clause')} witnessed" if clauses else "",
        gaps,
        unasked,
        sum(row.seconds for row in results) if footer is None else footer.seconds,
        concluded(header, results, footer),
        "" if footer is None else " ".join(filter(None, _besides(results, footer))),
        None if footer is None else footer.exit,
    )


def by_head(paths: Iterable[str]) -> list[str]:
    """Name clauses by what they are of, an operation or a kind of record; one that is alone with its whole path."""
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(".".join(path.split(".")[:2]), []).append(path)
    return [each[0] if len(each) == 1 else f"{head} ({len(each)})" for head, each in found.items()]


def concluded(header: Header, results: Sequence[RowResult], footer: Footer | None) -> str:
    """Say what an exit code means, or how far a run came that has no footer."""
    target, lifecycle = one_line(header.target), one_line(header.lifecycle)
    if footer is None:
        done = f"{len(results)} of {number(len(header.rows), 'row')}"
        return f"The run did not finish: {done} of {lifecycle} had a verdict."
    match footer.exit:
        case code if code == EXIT_CONFORMS and [(row.id, row.verdict) for row in results] == [(MACHINE, Verdict.PASS)]:
            cases = number(results[0].runs, "case")
            return f"The search found nothing wrong of {target} by {lifecycle} in {cases}; no row was run."
        case code if code == EXIT_CONFORMS:
            passed = number(sum(row.verdict is Verdict.PASS for row in results), "row")
            lacking = sum(row.verdict is Verdict.NOT_APPLICABLE for row in results)
            besides = f", and {lacking} did not apply" if lacking else ""
            failing = [row.id for row in results if row.verdict is Verdict.KNOWN_FAIL]
            but = f" but for {number(len(failing), 'known failure')} ({named(failing)})" if failing else ""
            return f"{target} conforms to {lifecycle}{but}: {passed} held{besides}."
        case code if code == EXIT_VIOLATES:
            rows = against(results, footer.stale)
            if footer.strays and not rows:
                return f"{target} violates {lifecycle} in what none of these rows is about, or only recommends."
            return stale_told(footer.stale) if footer.stale and not rows else _violated(target, lifecycle, rows)
        case code if code == EXIT_HARNESS:
            ids = [row.id for row in results if row.verdict is Verdict.HARNESS_ERROR]
            return f"No verdict on {target}: {number(len(ids), 'row')} could not be asked ({named(ids)})."
        case code if code == EXIT_UNKNOWN:
            ids = [row.id for row in results if row.verdict is Verdict.COULD_NOT_TELL]
            if footer.left and not ids:
                return f"No verdict on {target}: not every row of level must was run."
            return f"No verdict on {target}: {named(ids) or 'a search'} reached a cap before an answer."
        case _:
            return f"The run of {lifecycle} against {target} ended with code {footer.exit}."


def against(results: Sequence[RowResult], stale: Collection[str] = ()) -> list[RowResult]:
    """Return the rows for which a run ends with "violates": must rows, or should rows if nothing else can be the cause."""
    asked = [row for row in results if row.verdict is not Verdict.HARNESS_ERROR]
    return [row for row in asked if gates(row)] or [row for row in asked if gates(row, "should") and not stale]


def _violated(target: str, lifecycle: str, rows: Sequence[RowResult]) -> str:
    failing = [row.id for row in rows if row.verdict in FAILING]
    idle = [row.id for row in rows if row.verdict not in FAILING]
    unexercised = f"{named(idle)} {'was' if len(idle) == 1 else 'were'} not exercised"
    if failing:
        ways = {way_of(row) for row in rows if row.verdict in FAILING}
        how = f", in {number(len(ways), 'way')}" if len(ways) < len(failing) else ""
        said = f"{target} violates {number(len(failing), 'row')} of {lifecycle}{how}: {named(failing)}"
        said = f"{said}; {unexercised}." if idle else f"{said}."
        return " ".join((said, *_causes(rows)))
    if idle:
        return f"{target} does not conform to {lifecycle}: {unexercised}, and that is no pass."
    return f"Nothing was exercised, so nothing is known of {target}."


def way_of(row: RowResult) -> str:
    """Return what is equal of rows that fail in one way: for one cause, or by the same calls."""
    found = row.counterexample
    return row.id if found is None else found.cause or found.row


def _causes(rows: Sequence[RowResult]) -> Iterator[str]:
    """Say which rows fail for one cause: a clause without which all that they show is explained; or what they all say is likely."""
    found: dict[str, list[RowResult]] = {}
    for row in rows:
        if row.counterexample is not None and row.counterexample.cause:
            found.setdefault(row.counterexample.cause, []).append(row)
    for cause, alike in found.items():
        if len(alike) > 1:
            likely = {each.counterexample.diagnosis for each in alike if each.counterexample is not None}
            clauses = {each.clause or cause if each is not None else cause for each in likely}
            told = clauses.pop() if len(clauses) == 1 else cause
            yield f"{named([each.id for each in alike])}: one cause, {one_line(told)}."


def _besides(results: Sequence[RowResult], footer: Footer) -> Iterator[str]:
    """Walk what else is said at the end of a run."""
    yield _beside(results, footer)
    yield _strayed(footer)
    if footer.left:
        yield f"The run did not come to {named(footer.left)}: {footer.stopped}."
    yield from (f"{row.id}: {row.later}." for row in results if row.later)
    if footer.stale and (footer.strays or against(results, footer.stale)):
        yield stale_told(footer.stale)


def stale_told(names: Sequence[str]) -> str:
    """Name what is said to fail, and does not any more."""
    if len(names) == 1:
        return f"{names[0]} is said to fail, and it does not any more: take its entry away."
    return f"{named(names)} are said to fail, and they do not any more: take their entries away."


def _beside(results: Sequence[RowResult], footer: Footer) -> str:
    """Name the rows that fail without deciding the exit code, because the source only recommends them."""
    deciding = {row.id for row in against(results, footer.stale)} if footer.exit == EXIT_VIOLATES else set()
    ids = [row.id for row in results if row.verdict in FAILING and row.id not in deciding]
    if not ids:
        return ""
    fail = "fails" if len(ids) == 1 else "fail"
    counts = "" if footer.stale else ", which does not count: the level is not must"
    return f"{named(ids)} {fail}{counts}."


def _strayed(footer: Footer) -> str:
    """Say of which faults the rows asked tell nothing, though they were seen."""
    seen = f"A fault of {named(footer.strays)} was seen, which none of these rows is about, or only recommends: ask `machine` for it."
    return seen if footer.strays else ""
