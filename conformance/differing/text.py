"""The difference of two revisions on one page, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.differing.difference import Grade, Part, SpecDiff
from conformance.differing.witness import Witness
from statemachines.compare import SpecChange, shown

_MEANS: Final[dict[Grade, str]] = {
    "same": "what is right by the one is right by the other, as far as they were compared",
    "loosening": "what was right stays right, and more is right now",
    "tightening": "what is right by the new one was right before, and something that was right is so no more",
    "breaking": "something else is asked for, so a system that was right has to change",
}
_ORDER: Final[tuple[Grade, ...]] = ("breaking", "tightening", "loosening", "same")


def as_page(found: SpecDiff) -> Iterator[str]:
    """Walk the lines of a difference."""
    old, new = found.old, found.new
    yield f"{old.called}, revision {old.compiled.lifecycle.version}  →  {new.called}, revision {new.compiled.lifecycle.version}"
    if found.apart:
        yield found.apart
    yield f"{_graded(found.grade, found.together)}: {_MEANS[found.grade]}."
    if found.parts:
        yield ""
        yield from (f"  {_graded(part.grade, part):<22}{_named(part)}" for part in _worst_first(found))
    yield from _beside(found)
    for part in _worst_first(found):
        yield ""
        yield from _told(part, found)
    if len(found.parts) > 1 and found.grade != _worst_first(found)[0].grade:
        yield ""
        yield f"--- {found.grade}: all of them together"
        yield from _shown(found.together, found)


def _worst_first(found: SpecDiff) -> list[Part]:
    return sorted(found.parts, key=lambda each: (_ORDER.index(each.grade), each.level != "must"))


def _graded(grade: Grade, part: Part) -> str:
    return f"{grade} (should)" if part.level == "should" and grade != "same" else grade


def _named(part: Part) -> str:
    return ", ".join(f"{_path(each)} {_does(each)}" for each in part.changes)


def _path(change: SpecChange) -> str:
    return change.keys[1] if change.kind == "level" else change.path


def _does(change: SpecChange) -> str:
    if change.kind == "level":
        return "is should now, and was must" if change.new is not None else "is must now, and was should"
    return "in another order" if change.kind == "order" else change.does


def _beside(found: SpecDiff) -> Iterator[str]:
    """Walk what no system sees."""
    if found.aside:
        yield ""
        yield "What no system sees:"
        yield from (f"  {each.path} {each.does}" for each in found.aside)
    if found.rows:
        yield ""
        yield "Rows:"
        for does in dict.fromkeys(does for _, does in found.rows):
            yield f"  {does}: {', '.join(name for name, each in found.rows if each == does)}"


def _told(part: Part, found: SpecDiff) -> Iterator[str]:
    """Walk the lines of some changes."""
    yield f"--- {_graded(part.grade, part)}: {_named(part)}"
    for change in part.changes:
        if change.kind in ("level", "order"):
            continue
        name = f"{change.path}: " if len(part.changes) > 1 else ""
        yield from (
            f"  {word}  {name}{shown(node)}" for word, node in (("old", change.old), ("new", change.new)) if node
        )
    yield from _shown(part, found)


def _shown(part: Part, found: SpecDiff) -> Iterator[str]:
    yield from (f"  {fact.words}" for fact in part.facts)
    for witness in part.witnesses:
        yield from _calls(witness, found)
    if part.grade == "same":
        yield f"  {_compared(part)}"
    elif not part.witnesses:
        yield "  No calls were found that show it."


def _compared(part: Part) -> str:
    if not part.configurations:
        return "Both have one and the same model: there is nothing to compare."
    where = f"{'the whole small scope' if part.whole else 'the small scope, not all of it'}"
    return f"No difference was found in {where}: {part.configurations:,} configurations were compared."


def _calls(witness: Witness, found: SpecDiff) -> Iterator[str]:
    """Walk the calls that tell two revisions apart, with what each of them answers."""
    less = witness.direction == "less"
    first, second = ("old", "new") if less else ("new", "old")
    wrong = "wrong" if witness.level == "must" else "not as recommended"
    yield f"  right by the {first} one, {wrong} by the {second} one; as a row of the {second} one:"
    yield from (f"    {line}" for line in witness.row.splitlines())
    asked = f"{second} asks for {witness.expected}"
    yield f"    the last call: {first} may give {witness.seen}; {asked}"
    if witness.words:
        yield f"    with what is declared: {witness.words}"


def as_plain(found: SpecDiff) -> dict[str, Any]:
    """Return a difference as plain values."""
    old, new = (
        {"spec": each.called, "lifecycle": each.compiled.lifecycle.name, "revision": each.compiled.lifecycle.version}
        for each in (found.old, found.new)
    )
    return {
        "old": old,
        "new": new,
        "apart": found.apart,
        "class": found.grade,
        "level": found.together.level,
        "configurations": found.together.configurations,
        "whole_scope": found.together.whole,
        "changes": [_part(each) for each in found.parts],
        "not_seen": [_change(each) for each in found.aside],
        "rows": [{"row": name, "does": does} for name, does in found.rows],
    }


def _part(part: Part) -> dict[str, Any]:
    return {
        "class": part.grade,
        "level": part.level,
        "clauses": [_change(each) for each in part.changes],
        "because": [{"words": each.words, "level": each.level} for each in part.facts],
        "shown_by": [
            {
                "right_by": "old" if each.direction == "less" else "new",
                "wrong_by": "new" if each.direction == "less" else "old",
                "level": each.level,
                "row": each.row,
                "calls": each.calls,
                "expected": each.expected,
                "seen": each.seen,
                "declared": each.words,
            }
            for each in part.witnesses
        ],
        "configurations": part.configurations,
        "whole_scope": part.whole,
    }


def _change(change: SpecChange) -> dict[str, Any]:
    return {
        "clause": _path(change),
        "does": _does(change),
        "old": shown(change.old) if change.old is not None else None,
        "new": shown(change.new) if change.new is not None else None,
    }
