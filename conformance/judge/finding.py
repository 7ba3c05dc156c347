"""What is told of a fault: the clause, what was expected and what was seen, in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from conformance.judge.differences import InOrder, Listed
from statemachines.model import Impossible, Signal
from statemachines.rows import Observed, spelled

FaultKey = tuple[str, str, str]
"""What makes two findings the same fault: the kind, the clause, the operation."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What no configuration explains: the clause it speaks of, in words what was expected and what was seen.

    kind  'accepted', 'refused', 'reply', 'signal', 'identity', 'file', 'order', 'shape', 'late', 'crash' or 'hang'
    path, value  the part of the reply that differs, and what the model gives there
    related  the other clauses that it speaks of: those that set what differs, or that refuse as well
    excused  the clause of the fault, where it is only of level SHOULD because `clause` is
    spoke_of  the clause that the divergence itself speaks of, where it is explained by leaving out `clause`
    others   the same fault as other explanations see it, which expect something else
    """

    kind: str
    clause: str
    operation: str
    expected: str
    seen: str
    should: bool = False
    path: str = ""
    value: Any = None
    related: tuple[str, ...] = ()
    excused: str = ""
    spoke_of: str = ""
    others: tuple[Finding, ...] = ()

    @property
    def key(self) -> FaultKey:
        """What makes two findings the same fault; for a signal it is not the call under which it was seen."""
        return (self.kind, self.excused or self.clause, "" if self.kind == "signal" else self.operation)

    @property
    def part(self) -> tuple[str, str]:
        """Where in a reply it is, at whatever place of a list, and what is wrong there.

        A record that is missing is another fault than one too many, and so is a signal; so is a yes in place of a no.
        """
        match self.value:
            case Listed(there=there):
                wrong = "missing" if there else "extra"
            case InOrder() | list() | dict():
                wrong = type(self.value).__name__
            case bool():
                wrong = self.expected
            case _:
                wrong = "extra" if self.kind == "signal" and self.expected == NO_SIGNAL else ""
        return _PLACE.sub("[]", self.path), wrong

    @property
    def word_seen(self) -> str:
        """The word that was seen in place of another one; an empty text where it is not a word."""
        found = _WORD.search(self.seen) if isinstance(self.value, str) else None
        return found[1] if found else ""

    def sees_as(self, other: Finding, states: Collection[str]) -> bool:
        """Return whether it saw what another one did: where that was a state in place of another one, the same state."""
        return other.word_seen not in states or self.word_seen == other.word_seen

    @property
    def matter(self) -> str:
        """What it is about, whichever call tells it: whether a record is there, which of two answers is right, or a part of a reply."""
        path, wrong = self.part
        refused = self.kind == "refused" and self.seen == NOT_THERE
        if refused or isinstance(self.value, Listed) or (not path and spelled(None) in (self.expected, self.seen)):
            return PRESENCE
        return f"{self.kind} {path.removeprefix(IN_A_LIST)} {wrong}"

    def explained_without(self, clause: str) -> Finding:
        """Return this as a finding of the clause without which what was seen is explained, whoever expects what."""
        others = tuple(each.explained_without(clause) for each in self.others)
        related = (self.clause, *self.related)
        return replace(self, clause=clause, spoke_of=self.clause, related=related, others=others)

    @property
    def guessed(self) -> bool:
        """Whether it is a finding of a clause that it does not speak of itself: something may contradict that yet."""
        return bool(self.spoke_of) and self.clause not in self.related

    @property
    def unexplained(self) -> Finding:
        """The same again as a finding of the clause that it speaks of."""
        others = tuple(each.unexplained for each in self.others)
        return replace(self, clause=self.spoke_of, spoke_of="", related=self.related[1:], others=others)

    def shows(self, wanted: Iterable[Finding]) -> bool:
        """Return whether this is one of some findings again, in whatever run: alike in its key and its part.

        Where a whole record was wrong, any field of it is a part of that.
        """
        others = [each for found in wanted for each in (found, *found.others)]
        return any(
            one.key == other.key and (one.part == other.part or (other.part[1] == "dict" and other._holds(one)))
            for one in (self, *self.others)
            for other in others
        )

    def is_seen_alone(self, race: Finding) -> bool:
        """Return whether one of the calls at once that no order explained shows something wrong by itself."""
        return race.kind == "order" != self.kind and self.operation in race.operation.split(BESIDE)

    def is_race_within(self, other: Finding) -> bool:
        """Return whether both say that no order explains calls at once, and this one of fewer operations, for the same cause if any."""
        if not self.kind == other.kind == "order":
            return False
        plain = not (self.spoke_of or self.excused or other.spoke_of or other.excused)
        fewer = {*self.operation.split(BESIDE)} < {*other.operation.split(BESIDE)}
        return fewer and (plain or self.key[:2] == other.key[:2])

    def _holds(self, other: Finding) -> bool:
        path = self.part[0]
        return not path or other.part[0].startswith(f"{path}.")

    def is_of(self, at_once: Finding) -> bool:
        """Return whether a finding of one caller is what calls at once showed, or is about one of those calls.

        That no order explains calls at once tells nothing of its own where one of them is wrong in an order.
        """
        called = at_once.operation.split(BESIDE)
        return self.shows([at_once]) or (at_once.kind in ("order", self.kind) and self.operation in called)


def either(first: Finding, reasons: Iterable[Finding]) -> Finding:
    """Join what several explanations expect in one reply: each of it would have been right."""
    alike = {each.expected: each for each in (first, *reasons) if first.kind == "reply" and each.key == first.key}
    others = tuple(each for expected, each in alike.items() if expected != first.expected)
    return replace(first, expected=" or ".join(alike), others=others) if others else first


IN_A_LIST: Final = "[]."  # with which the way to a part of a reply begins that is a list
PRESENCE: Final = "whether it is there"  # the matter of a finding about that
NO_REPLY: Final = ("hang", "crash")  # the kinds of finding where no reply came at all
ACCEPTED: Final = "accepted"  # the kind where a yes came in place of a no
REFUSED: Final = "refused"  # the kind where a no came in place of a yes, or of another no
NOT_THERE: Final = "refused not_found"  # what is seen where the system does not know a record
NO_SIGNAL: Final = "no such signal"
WELL_FORMED: Final = "a reply of the form that the spec gives"
_PLACE = re.compile(r"\[[0-9]+\]")
_WORD = re.compile(r"(?:^|= )'(\w+)'$")
BESIDE: Final = " ∥ "  # between the operations of calls at once
LINE = 40  # characters of a text that nobody has to count
TOLD_WHOLE = 200  # signs of a value that is told whole
TOLD_ITEMS = 8  # items of a list that is longer than that


def short(value: Any) -> str:
    """Write a value on one line: of one that is long, of each of its items less, and at last its middle left out.

    A long list says how many items it has, a long text how many characters.
    """
    match value:
        case list() | tuple() if len(spelled(value)) > TOLD_WHOLE:
            items = [_part(each, TOLD_WHOLE // 2) for each in value]
            shown = items if len(items) <= TOLD_ITEMS else [*items[: TOLD_ITEMS - 1], "…", items[-1]]
            return f"{f'{len(value)} items: ' if len(value) > 1 else ''}[{', '.join(shown)}]"
        case dict() if len(spelled(value)) > TOLD_WHOLE:
            return f"{{{', '.join(f'{key}: {_part(each, TOLD_WHOLE // 2)}' for key, each in value.items())}}}"
        case _:
            return _part(value, TOLD_WHOLE)


def _part(value: Any, length: int) -> str:
    """Write a value or a part of it without its middle if that is longer, and how long it is if it is a long text."""
    text = spelled(value)
    shown = text if len(text) <= length else f"{text[: length * 3 // 4]} … {text[-length // 5 :]}"
    return f"{shown} ({len(value)} characters)" if isinstance(value, str) and len(value) > LINE else shown


def at(path: str, value: Any) -> str:
    """Write a value with the path that leads to it."""
    return f"{path} = {short(value)}" if path else short(value)


def said(signal: Signal) -> str:
    """Write a signal with what it is about."""
    name, fields = signal
    return f"signal {name}({', '.join(f'{key}: {short(value)}' for key, value in fields)})"


NO_WAY = Impossible("operations", "nothing that they have an answer to", "what the other rules allow")


def cannot_be(impossible: Impossible, call: Observed) -> Finding:
    """Return the finding that a call leads to what cannot be."""
    return Finding("identity", impossible.clause, call.operation, impossible.wanted, impossible.message)
