"""What every generated model shares: the listed functions, documents, replies and decisions.

Standard library only. `conformance generate` copies this text into the file it writes, so that a
generated module needs nothing beside itself.
One idea, and so one file: it is copied as one text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Self, TypeVar

# ── The listed functions ─────────────────────────────────────────────────────────────────────────


def item(values: Sequence[Any], index: int) -> Any:
    """Return the item at a position counted from 0. Raises IndexError outside the list, where negative ones are."""
    if not 0 <= index < len(values):
        raise IndexError(f"there is no position {index} in a list of {len(values)}")
    return values[index]


def with_key(records: Mapping[Any, Any], key: Any) -> tuple[Any, ...]:
    """Return the record of a key, or nothing."""
    record = records.get(key)
    return () if record is None else (record,)


def quotient(left: int, right: int) -> int:
    """Divide, rounding towards zero."""
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


def remainder(left: int, right: int) -> int:
    """Return what `quotient` leaves; it has the sign of `left`."""
    return left - right * quotient(left, right)


def distinct(values: Iterable[Any]) -> list[Any]:
    """Return the values without repetitions, in the order of their first appearance."""
    try:
        return list(dict.fromkeys(values))
    except TypeError:  # values such as records have no hash
        found: list[Any] = []
        for value in values:
            if value not in found:
                found.append(value)
        return found


def flatten(values: Iterable[Iterable[Any]]) -> list[Any]:
    """Join lists into one."""
    return [part for value in values for part in value]


def take(values: Sequence[Any], count: int) -> list[Any]:
    """Return the first `count` items, or all there are."""
    return list(values[: max(count, 0)])


def drop(values: Sequence[Any], count: int) -> list[Any]:
    """Return what follows the first `count` items."""
    return list(values[max(count, 0) :])


def reversed_(values: Sequence[Any]) -> list[Any]:
    """Return the items from last to first."""
    return list(values[::-1])


def same_items(left: Iterable[Any], right: Iterable[Any]) -> bool:
    """Return whether two lists hold the same values equally often, in any order."""
    left, rest = list(left), list(right)
    try:
        return Counter(left) == Counter(rest)
    except TypeError:  # values such as records have no hash
        pass
    for value in left:
        if value not in rest:
            return False
        rest.remove(value)
    return not rest


def byte_length(text: str) -> int:
    """Count the UTF-8 bytes of a text."""
    return len(text.encode("utf-8", "surrogatepass"))


def line_count(text: str) -> int:
    """Count the lines of a text: one more than its line breaks."""
    return text.count("\n") + 1


def numbers(count: int) -> list[int]:
    """Return 0, 1, … up to but without `count`."""
    return list(range(count))


class Measured(int):
    """A limit of texts that is not held against a text itself, but against what `measure` makes of it; so is one near it."""

    measure: Callable[[str], str]

    def __new__(cls, size: int, measure: Callable[[str], str]) -> Self:
        """Return the limit as a number that knows how texts are measured."""
        limit = super().__new__(cls, size)
        limit.measure = measure
        return limit

    def __add__(self, more: int) -> Measured:
        """Return a size above it."""
        return Measured(int(self) + more, self.measure)

    def __sub__(self, less: int) -> Measured:
        """Return a size below it."""
        return Measured(int(self) - less, self.measure)


def measured(text: str, *limits: int | None) -> str:
    """Return what is held against some limits of a text."""
    return next((limit.measure(text) for limit in limits if isinstance(limit, Measured)), text)


def sized_text(piece: str, size: int, lines: int = 1) -> str:
    """Repeat `piece` to a text of exactly `size` UTF-8 bytes in exactly `lines` lines, filling up with x.

    No line is empty and none is broken at the end, so `size` has to be at least 2 · lines − 1. Where texts are measured
    otherwise, it has that size as it is measured, if one more x is one byte more. Raises ValueError.
    """
    if not isinstance(size, Measured):
        return _plain_text(piece, size, lines)
    fits, over = 2 * lines - 1, int(size) + 1
    while over - fits > 1:
        middle = (fits + over) // 2
        small = byte_length(measured(_plain_text(piece, middle, lines), size)) <= size
        fits, over = (middle, over) if small else (fits, middle)
    text = _plain_text(piece, fits, lines)
    return text + "x" * (size - byte_length(measured(text, size)))


def _plain_text(piece: str, size: int, lines: int) -> str:
    breaks = lines - 1
    room = size - 2 * breaks
    width = byte_length(piece)
    if room < 1 or lines < 1 or width == 0 or "\n" in piece:
        raise ValueError(f"no text has {size} bytes in {lines} lines")
    return "x\n" * breaks + piece * (room // width) + "x" * (room % width)


class Document:
    """A text as it was told: inline, or in a file of its own.

    Equal documents hold the same text in the same way; where the file lies does not count.
    """

    __slots__ = ("file", "inline", "text")

    def __init__(self, text: str, *, inline: bool, file: str | None = None) -> None:
        self.text = text
        self.inline = inline
        self.file = file

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and (self.inline, self.text) == (other.inline, other.text)

    def __hash__(self) -> int:
        return hash((self.inline, self.text))

    def __repr__(self) -> str:
        counts = (byte_length(self.text), "byte"), (line_count(self.text), "line")
        size = ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
        more = "…" if len(self.text) > 12 else ""
        return f"<{'inline' if self.inline else 'file'}: {size}, {self.text[:12]!r}{more}>"


def document(text: str, max_bytes: int | None, max_lines: int | None) -> Document:
    """Tell a text inline when it is within both limits, and in a file when it is not."""
    said = measured(text, max_bytes, max_lines)
    within = (max_bytes is None or byte_length(said) <= max_bytes) and (
        max_lines is None or line_count(said) <= max_lines
    )
    return Document(text, inline=within)


class Descending:
    """An ordering key turned round."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: Descending) -> bool:
        return bool(other.key < self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descending) and bool(self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)


# ── What a step says ─────────────────────────────────────────────────────────────────────────────

Signal = tuple[str, tuple[tuple[str, Any], ...]]  # its name, and its fields in the order declared


class _Sentinel:
    """A value that is nothing but itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class _Anything(_Sentinel):
    """Whatever the implementation chooses; so is every part of it."""

    def __getitem__(self, part: Any) -> Any:
        return self

    def get(self, part: Any) -> Any:
        """Return a part of it."""
        return self

    def _unknown(self, *_: Any) -> NoReturn:
        raise TypeError("the implementation chooses it, so nothing can be said of it")

    __iter__ = __contains__ = _unknown  # or its parts would be walked over for ever


class _Chosen(_Anything):
    """The same to the eyes of a row, which must claim nothing of it."""

    def __eq__(self, other: object) -> bool:
        return True if other is self else self._unknown()

    __ne__ = __bool__ = __len__ = _Anything._unknown
    __hash__ = object.__hash__


class SuchAs:
    """A part of a reply that the implementation chooses, with an example."""

    __slots__ = ("example",)

    def __init__(self, example: Any) -> None:
        self.example = example

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SuchAs) and bool(self.example == other.example)

    def __hash__(self) -> int:
        return hash(SuchAs)

    def __repr__(self) -> str:
        return f"such as {self.example!r}"


def exemplary(value: Any) -> Any:
    """Return a value with the examples of all that the implementation chooses; what has none is CHOSEN."""
    match value:
        case _ if value is ANYTHING:
            return CHOSEN
        case SuchAs(example=example):
            return exemplary(example)
        case dict():
            return {name: exemplary(part) for name, part in value.items()}
        case list() | tuple():
            return [exemplary(part) for part in value]
        case _:
            return value


ABSENT: Any = _Sentinel("ABSENT")  # an argument that the caller left out
ANYTHING: Any = _Anything("ANYTHING")  # a part of a reply that is not compared
CHOSEN: Any = _Chosen("CHOSEN")  # such a part of a reply, as a row sees it


class _Said:
    """A value that shows what it says, and leaves out what it does not."""

    __slots__: tuple[str, ...] = ()

    def __repr__(self) -> str:
        parts = ((name, repr(getattr(self, name))) for name in self.__slots__)
        said = (f"{name}={value}" for name, value in parts if value not in {"None", "False", "()"})
        return f"{type(self).__name__}({', '.join(said)})"


class Decision(_Said):
    """What an operation is allowed to answer, decided before anything changes.

    refuse  codes of which one may be the refusal
    accept  it may be carried out
    idle    it may be refused with any code, or accepted with any reply: either way nothing changes
    avoid   anything may happen, so that the call is better not made
    blocks  it does not come back before something else has happened, but that it may be refused
    may     signals that may come although nothing changes
    clauses the numbers of all clauses that decided; none where nothing stands in the way
    """

    __slots__ = ("accept", "avoid", "blocks", "clauses", "idle", "may", "refuse")

    def __init__(
        self,
        refuse: tuple[str, ...] = (),
        *,
        accept: bool = False,
        idle: bool = False,
        avoid: bool = False,
        blocks: bool = False,
        may: tuple[Signal, ...] = (),
        clauses: tuple[int, ...] = (),
    ) -> None:
        self.refuse = refuse
        self.accept = accept
        self.idle = idle
        self.avoid = avoid
        self.blocks = blocks
        self.may = may
        self.clauses = clauses


ACCEPT = Decision(accept=True)


class Outcome(_Said):
    """What carrying out an operation gives: a value, signals that must come, and signals that may.

    `again` are signals that came once and may come again, now or later.
    """

    __slots__ = ("again", "may", "signals", "value")

    def __init__(
        self,
        value: Any = None,
        signals: tuple[Signal, ...] = (),
        may: tuple[Signal, ...] = (),
        again: tuple[Signal, ...] = (),
    ) -> None:
        self.value = value
        self.signals = signals
        self.may = may
        self.again = again


NOTHING = Outcome()


class AnyOf(_Said):
    """A value that is one of several, each as right as the others."""

    __slots__ = ("options",)

    def __init__(self, options: Sequence[Any]) -> None:
        self.options = options


def declared_keys(declared: Any, fields: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the ordering keys of one that orders by shown fields, such as `["started_at", "job_id desc"]`."""
    keys = []
    for word in declared:
        name, _, direction = word.partition(" ")
        keys.append(Descending(fields[name]) if direction == "desc" else fields[name])
    return tuple(keys)


def ordinal_id(entity: str, prefix: str, size: int | None, number: int) -> str:
    """Write a number as an id that begins so, or else with the name of the entity, and has so many characters."""
    if size is not None:
        return prefix + str(number).zfill(size - len(prefix))
    return f"{prefix or entity.lower()}-{number}"


Timer = tuple[int, int, int, Any]
"""The first and the last instant at which it may fire, its number, and the key of the record."""


class Impossible(Exception):
    """A step that cannot be: what was observed contradicts a clause, for example an id given twice.

    `wanted` says in words what would have been possible.
    """

    def __init__(self, clause: str, message: str, wanted: str = "an id that no other record has") -> None:
        super().__init__(message)
        self.clause = clause
        self.message = message
        self.wanted = wanted


Other = TypeVar("Other", bound="BaseModel")
NO_ANSWER = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a rule raises that has no answer: an order by null, say, or what null shows."""
MOST_AT_AN_INSTANT = 20_000  # steps and timers, after which a model is taken to go on for ever


class Doubted:
    """The keys of the records to which something may have come by now that may come at any time, as far as what is seen tells.

    all_of   so many may be any
    named    those that are spoken of
    missing  those that ought to be shown and are not
    sure     those that nothing can have come to: a new record has their id
    """

    __slots__ = ("all_of", "missing", "named", "sure")

    def __init__(self) -> None:
        self.trust()

    def trust(self) -> None:
        """Let nothing have come."""
        self.all_of = -1
        self.named: frozenset[Any] = frozenset()
        self.missing: frozenset[Any] = frozenset()
        self.sure: frozenset[Any] = frozenset()


class Restless(RuntimeError):
    """A model that does not come to rest: without some sentence of its own it goes on for ever at one instant."""


class BaseModel:
    """The part of a model that is the same for every lifecycle.

    `limits` and `policies` are the declared numbers and choices; `now` is the virtual clock in
    milliseconds; `seen[i]` is 1 once clause `CLAUSES[i]` was witnessed. `TELLING` are the numbers of the steps of its
    own that change nothing, `ENDING` those of steps with which the call ends that made them due, `LOOSE` those that may be
    taken at any time, of a record that is doubted. `doubted` and `seen` are the same for all that come of one model.
    """

    CLAUSES: tuple[str, ...] = ()
    LIMITS: Mapping[str, int | None] = {}
    RENAMED: Mapping[str, str] = {}  # parameters that Python calls otherwise than the spec
    POLICIES: Mapping[str, Any] = {}
    TELLING: frozenset[int] = frozenset()
    ENDING: frozenset[int] = frozenset()
    LOOSE: frozenset[int] = frozenset()

    __slots__ = ("doubted", "limits", "mint", "now", "policies", "seen")

    now: int

    def __init__(
        self, limits: Mapping[str, int | None] | None = None, policies: Mapping[str, Any] | None = None
    ) -> None:
        self.limits = Values({**self.LIMITS, **(limits or {})})
        self.policies = Values({**self.POLICIES, **(policies or {})})
        self.seen = bytearray(len(self.CLAUSES))
        self.doubted = Doubted()
        self.mint: Callable[..., str] | None = None  # not its own method: models that hold themselves are freed late
        self.reset()

    def reset(self) -> None:
        """Go back to the start of a case."""
        raise NotImplementedError

    def next_ordinal(self, entity: str, prefix: str = "", size: int | None = None) -> str:
        """Mint the model's own id of a new record, which no record had before."""
        raise NotImplementedError

    def minted(self, entity: str, prefix: str = "", size: int | None = None) -> str:
        """Mint the id of a new record, with a prefix and a length if they are said. Raises Impossible for another one."""
        found = (self.mint or self.next_ordinal)(entity, prefix, size)
        if not found.startswith(prefix) or (size is not None and len(found) != size):
            wanted = f"an id that begins with {prefix!r}" + (f" and has {size} characters" if size is not None else "")
            raise Impossible(f"entities.{entity}.id", f"the id {found!r}", wanted)
        return found

    def freeze(self) -> tuple[Any, ...]:
        """Return the whole state as one value that can be compared, hashed and kept."""
        raise NotImplementedError

    def thaw(self, frozen: tuple[Any, ...]) -> None:
        """Take up a frozen state: all of it, so that nothing of the state before is left."""
        raise NotImplementedError

    def thawed(self, frozen: tuple[Any, ...]) -> Self:
        """Make another model in a frozen state, with the same limits and choices, that witnesses clauses where this one does."""
        return self.thawed_as(type(self), frozen)

    def thawed_as(self, kind: type[Other], frozen: tuple[Any, ...]) -> Other:
        """Make one of another kind: of the same life cycle, without some of its sentences."""
        other = kind.__new__(kind)
        other.limits, other.policies, other.seen, other.doubted = self.limits, self.policies, self.seen, self.doubted
        other.mint = None
        other.thaw(frozen)
        return other

    def fork(self) -> Self:
        """Return another model in the same state, to look what would come of a step; it witnesses nothing here."""
        other = self.thawed(self.freeze())
        other.seen = bytearray(len(self.seen))
        return other

    def broken(self, earlier: Any = None) -> str:
        """Return the name of an invariant that does not hold, or an empty text; `earlier` is the model one step before."""
        raise NotImplementedError

    def _renamed(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return arguments by the names that Python has for them."""
        if not self.RENAMED:
            return arguments
        return {self.RENAMED.get(name, name): value for name, value in arguments.items()}

    def decide(self, operation: str, arguments: Mapping[str, Any]) -> Decision:
        """Return what an operation may answer now, before anything changes."""
        found: Decision = getattr(self, f"may_{operation}")(**self._renamed(arguments))
        return found

    def blocks_for(self, operation: str, arguments: Mapping[str, Any]) -> int | None:
        """Return the milliseconds for which a call of an operation that `waits` may block now; None where it is not accepted."""
        if not self.decide(operation, arguments).accept:
            return None
        found: int = getattr(self, f"blocks_for_{operation}")(**self._renamed(arguments))
        return found

    def ends_wait(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether a call of an operation that `waits` for a time has no more reason to, so that it comes back now."""
        found: bool = getattr(self, f"ends_wait_{operation}")(**self._renamed(arguments))
        return found

    def do(self, operation: str, arguments: Mapping[str, Any], mint: Callable[..., str] | None = None) -> Outcome:
        """Carry an operation out, with `mint` to choose the ids of new records; raise Impossible where one does not fit."""
        before, self.mint = self.mint, mint or self.mint
        try:
            outcome: Outcome = getattr(self, f"do_{operation}")(**self._renamed(arguments))
        finally:
            self.mint = before
        return outcome

    def own_steps(self) -> list[tuple[int, tuple[Any, ...], bool]]:
        """List the steps that may be taken unasked: number, keys of the records, and whether it must be."""
        raise NotImplementedError

    def take(self, index: int, keys: tuple[Any, ...], already: Any = None) -> Outcome:
        """Take one of them; `already` are the messages that it has sent one by one, None where it sends them now."""
        raise NotImplementedError

    def deadlines(self) -> list[Timer]:
        """List the timers that run: the first and the last instant, the number of the timer, the key of the record."""
        raise NotImplementedError

    def fire(self, index: int, key: Any) -> Outcome:
        """Do what follows when a timer is due."""
        raise NotImplementedError

    def forced(self) -> list[tuple[int, tuple[Any, ...]]]:
        """Return the steps that must be taken now: the number of each, and the keys of its records."""
        return [(index, keys) for index, keys, must in self.own_steps() if must]

    def ending(self) -> list[tuple[int, tuple[Any, ...]]]:
        """Return those of them with which calls end that have been made."""
        return [step for step in self.forced() if step[0] in self.ENDING] if self.ENDING else []

    def to_rest(self, but: Collection[int] = ()) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Walk the steps that must be taken until none is left; whoever walks takes each before asking for the next.

        Those whose number is in `but` are left out. Raises Restless where there is no end of them.
        """
        taken = 0
        while steps := [step for step in self.forced() if step[0] not in but]:
            if (taken := taken + 1) > MOST_AT_AN_INSTANT:
                raise Restless
            yield steps[0]

    def settle(self, but: Collection[int] = ()) -> list[Outcome]:
        """Take the steps that must be taken until none is left, but for those of these numbers."""
        return [self.take(*step) for step in self.to_rest(but)]

    def due(self) -> list[Timer]:
        """List the timers that may fire at this very instant: before a call, or after it."""
        return [timer for timer in self.deadlines() if timer[0] <= self.now]

    def wait(self, ms: int, *, prompt: bool = False, most: int | None = None) -> list[Outcome]:
        """Move the clock, passing the deadlines on the way one by one, each to rest.

        A timer fires as late as it may: no sooner than time moves on. A prompt one fires as soon as it may.
        Raises Restless where there is no end of them at one instant, or more than `most` of them fire in all.
        """
        end = self.now + ms
        taken: list[Outcome] = []
        since, fired, passed = self.now, 0, 0
        while due := self.next_timer(end, prompt=prompt):
            self.now = max(self.now, due[0] if prompt else due[1])
            since, fired = (since, fired + 1) if self.now == since else (self.now, 0)
            passed += 1
            if fired > MOST_AT_AN_INSTANT or (most is not None and passed > most):
                raise Restless
            taken += [self.fire(due[2], due[3]), *self.settle()]
        self.now = end
        return taken

    def next_timer(self, end: int, *, prompt: bool) -> Timer | None:
        """Return the timer that fires next: before the end, or at the end when it is prompt."""
        if prompt:
            return min((timer for timer in self.deadlines() if timer[0] <= end), default=None)
        late = (timer for timer in self.deadlines() if max(timer[1], self.now) < end)
        return min(late, key=lambda timer: timer[1:], default=None)

    def witnessed(self) -> frozenset[str]:
        """Return the clauses that were witnessed since `seen` was last cleared."""
        return frozenset(path for path, hit in zip(self.CLAUSES, self.seen, strict=True) if hit)


class Values:
    """Declared numbers or choices, read as attributes."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        """Return a value whose name is no name in Python, such as `class_`."""
        if name.endswith("_") and name[:-1] in self.__dict__:
            return self.__dict__[name[:-1]]
        raise AttributeError(name)


class Watched(Values):
    """The same, and which of them were read: what was not read made no difference."""

    __slots__ = ("__read",)  # no limit and no policy is called so

    def __init__(self, values: Mapping[str, Any], read: set[str]) -> None:
        super().__init__(values)
        self.__read = read

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__  # a model reads a choice often: nothing of this may come here again
        if name[0] != "_" and name not in (read := own(self, "_Watched__read")):
            read.add(name if name in own(self, "__dict__") else name.removesuffix("_"))  # that of a keyword in Python
        return own(self, name)
