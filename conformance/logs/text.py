"""How the check of a log reads: as lines, or as one JSON object; and what a command exits with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from conformance.logs.reading import LogLine
from conformance.logs.telling import Refusal
from conformance.logs.ways import LogResult
from conformance.verdict import EXIT_CONFORMS, EXIT_UNKNOWN, EXIT_VIOLATES


def verdict(found: LogResult) -> str:
    """Return `held`, `refused`, `could not tell`, or `nothing consumed` where no entry was about the life cycle."""
    if found.refused is not None:
        return "could not tell" if found.uncertain else "refused"
    if not found.tally.explained:
        return "nothing consumed"
    return "could not tell" if found.tally.doubts and found.tally.not_judged else "held"


def exit_of(found: LogResult) -> int:
    """Return the exit code: 0 held, 1 refused or nothing consumed, 4 could not tell."""
    codes = {"held": EXIT_CONFORMS, "could not tell": EXIT_UNKNOWN}
    return codes.get(verdict(found), EXIT_VIOLATES)


def written(found: LogResult) -> Iterator[str]:
    """Walk the lines that tell of a log."""
    tally = found.tally
    if found.refused is not None:
        yield from _refusal(found.refused)
        yield ""
    for name, counts in (("calls", tally.calls), ("signals", tally.signals)):
        if counts:
            yield f"  {name:<11}{_counted(counts)}"
    if tally.explained:
        yield f"  {'witnessed':<11}{len(tally.witnessed)} of {found.clauses} clauses"
    if tally.systems > 1:
        yield f"  {'systems':<11}{tally.systems}"
    for clause in found.not_followed:
        yield f"  {'should':<11}it is explained without {clause}, which is only recommended"
    for finding in tally.recommended.values():
        yield f"  {'should':<11}{finding.clause}: expected {finding.expected}, seen {finding.seen}"
    yield from _left_out(found)
    yield _summed_up(found)
    yield f"exit {exit_of(found)}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _left_out(found: LogResult) -> Iterator[str]:
    """Walk what was not judged, and why."""
    tally = found.tally
    if tally.ignored:
        yield f"  {'ignored':<11}{_entries(tally.ignored)}, as the map says"
    if tally.not_judged:
        yield f"  {'not judged':<11}{_entries(tally.not_judged)}, about what was forgotten, or after what nobody knows"
    yield from (f"  {'doubt':<11}{doubt}" for doubt in tally.doubts)
    if tally.unmatched:
        yield f"  {'warning':<11}{_entries(tally.unmatched)} that the map says nothing of, or that are no calls and no signals:"
        yield from (f"    {each}" for each in map(_line, tally.unmatched_first))
    if tally.bad_lines:
        lines = "1 line was" if tally.bad_lines == 1 else f"{tally.bad_lines} lines were"
        yield f"  {'warning':<11}{lines} skipped:"
        yield from (f"    {line.place}: {bad.message}" for line, bad in tally.bad)


def _line(line: LogLine) -> str:
    return f"{line.place}  {line.shown}"


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _refusal(refused: Refusal) -> Iterator[str]:
    finding = refused.finding
    yield f"--- {refused.place}"
    yield f"  {'entry':<11}{refused.raw}"
    for each in refused.entries:
        at = f"  ({each.place})" if len(refused.entries) > 1 else ""
        yield f"  {'reads':<11}{each.text}{at}"
    if refused.system:
        yield f"  {'system':<11}{refused.system}"
    yield f"  {'expected':<11}{finding.expected}"
    yield f"  {'seen':<11}{finding.seen}"
    if refused.hint:
        yield f"  {'hint':<11}{refused.hint}"
    yield f"  {'clause':<11}{finding.clause}" + (f": {refused.sentence}" if refused.sentence else "")
    yield "  before it" if refused.before else f"  {'before it':<11}nothing"
    yield from (f"    {each.place}  {each.text}" for each in refused.before)
    yield "  state"
    yield from (f"    {each}" for each in refused.states)
    if refused.instead:
        yield "  instead"
        yield from (f"    {each}" for each in refused.instead)
    if refused.uncertain:
        yield f"  {'but':<11}{refused.uncertain}"


def _summed_up(found: LogResult) -> str:
    entries, name = _entries(found.tally.explained), found.lifecycle
    match verdict(found):
        case "held":
            return f"{found.log} holds: {entries} explained by {name}."
        case "refused" if found.refused is not None:
            return f"{found.log} is refused at {found.refused.place}: {entries} explained by {name} until there."
        case "nothing consumed":
            return f"{found.log} says nothing of {name}: of {found.tally.lines} lines none is a call or a signal of it."
        case _:
            where = f" at {found.refused.place}" if found.refused is not None else ""
            return f"{found.log}: could not tell{where}; {entries} explained by {name}."


# ── As JSON ──


def plain(found: LogResult) -> dict[str, Any]:
    """Return all of it as one JSON object."""
    tally = found.tally
    return {
        "log": found.log,
        "lifecycle": found.lifecycle,
        "verdict": verdict(found),
        "exit": exit_of(found),
        "lines": tally.lines,
        "explained": tally.explained,
        "calls": dict(sorted(tally.calls.items())),
        "signals": dict(sorted(tally.signals.items())),
        "witnessed": sorted(tally.witnessed),
        "clauses": found.clauses,
        "systems": tally.systems,
        "ignored": tally.ignored,
        "unmatched": tally.unmatched,
        "bad_lines": tally.bad_lines,
        "not_judged": tally.not_judged,
        "unended": tally.unended,
        "not_followed": [*found.not_followed, *(each.clause for each in tally.recommended.values())],
        "doubts": list(tally.doubts),
        "refused": None if found.refused is None else _plain(found.refused),
    }


def _plain(refused: Refusal) -> dict[str, Any]:
    finding = refused.finding
    return {
        "place": refused.place,
        "entry": refused.raw,
        "reads": [each.text for each in refused.entries],
        "system": refused.system,
        "clause": finding.clause,
        "sentence": refused.sentence,
        "expected": finding.expected,
        "seen": finding.seen,
        "before": [{"place": each.place, "reads": each.text} for each in refused.before],
        "state": list(refused.states),
        "instead": list(refused.instead),
        "uncertain": refused.uncertain,
        "hint": refused.hint,
    }
