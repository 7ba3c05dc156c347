"""Policies of which nobody knows yet what a system has chosen: one choice is told from another only where it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from statemachines.model import BaseModel, Impossible, Values

Found = TypeVar("Found")
_Known = tuple[tuple[str, Any], ...]


class Undecided(Values):
    """Choices of which some are not known: of those the first one is read, and it is noted that somebody read it.

    _open     the policies that are not known
    _read     those of them that were read
    _choices  what each policy may be that was not known at first
    _kin      the same policies with more or fewer of them known: where as much is known, they are one object
    """

    __slots__ = ("_choices", "_kin", "_open", "_read")  # no policy is called so

    def __init__(
        self,
        known: Mapping[str, Any],
        choices: Mapping[str, Sequence[str]],
        kin: dict[_Known, Undecided] | None = None,
    ) -> None:
        super().__init__(known)
        self._choices = choices
        self._open = tuple(name for name in choices if name not in known)
        self._read: set[str] = set()
        self._kin = {} if kin is None else kin
        self._kin[tuple(known.items())] = self

    def __getattr__(self, name: str) -> Any:
        """Return the first choice of a policy that is not known."""
        if name.startswith("_"):  # a copy that is under way has nothing of its own yet
            raise AttributeError(name)
        plain = name if name in self._open else name.removesuffix("_")  # that of a keyword in Python
        if plain in self._open:
            self._read.add(plain)
            return self._choices[plain][0]
        return super().__getattr__(name)

    def _with(self, **changed: Any) -> Undecided:
        """Return the same with one more known; or, where that is None, with one fewer."""
        known = {**vars(self), **changed}
        fixed = {name: value for name, value in known.items() if name not in self._choices}
        known = fixed | {name: known[name] for name in self._choices if known.get(name) is not None}
        return self._kin.get(tuple(known.items())) or Undecided(known, self._choices, self._kin)


def read_of(policies: Values) -> set[str]:
    """Return the policies that are not known and were read so far; what is added to them counts as read as well."""
    return policies._read if isinstance(policies, Undecided) else set()


def each_choice(model: BaseModel) -> list[BaseModel]:
    """Return a model with each choice of the policies that are not known; itself where all are."""
    policies = model.policies
    if not isinstance(policies, Undecided) or not policies._open:
        return [model]
    name, frozen = policies._open[0], model.freeze()
    found = []
    for choice in policies._choices[name]:
        other = model.thawed(frozen)
        other.policies = policies._with(**{name: choice})
        found += each_choice(other)
    return found


def with_each_choice(
    model: BaseModel, work: Callable[[BaseModel], Iterable[Found]], noted: list[Any] | None = None
) -> Iterator[Found]:
    """Work something out with a model, and with each choice of those policies that it reads and that are not known.

    That it reads one shows only then: what came of it by then is no result, and what it has `noted` is taken back.
    """
    policies = model.policies
    if not isinstance(policies, Undecided) or not policies._open:
        yield from work(model)
        return
    frozen = model.freeze()
    begun = len(noted) if noted is not None else 0
    policies._read.clear()
    found: list[Found] = []
    try:
        found += work(model)
    except Impossible:
        if not policies._read:
            raise
    name = next((each for each in policies._open if each in policies._read), None)
    if name is None:
        yield from found
        return
    if noted is not None:
        del noted[begun:]
    impossible = 0
    for choice in policies._choices[name]:
        other = model.thawed(frozen)
        other.policies = policies._with(**{name: choice})
        try:
            yield from with_each_choice(other, work, noted)
        except Impossible:
            impossible += 1
            if impossible == len(policies._choices[name]):
                raise


def joined(policies: Sequence[Values]) -> list[tuple[Values, list[int]]]:
    """Join policies of what is alike in all else: where there is one with each choice, nothing is known of it any more.

    Gives the policies that are left, each with the places of those that it stands for.
    """
    left = [(each, [place]) for place, each in enumerate(policies) if isinstance(each, Undecided)]
    if len(left) < max(len(policies), 2):
        return [(each, [place]) for place, each in enumerate(policies)]
    known: list[tuple[Undecided, list[int]]] = []
    while len(left) != len(known):
        known = left
        for name, choices in left[0][0]._choices.items():
            alike: dict[Undecided, list[tuple[Undecided, list[int]]]] = {}
            for each, places in left:
                alike.setdefault(each._with(**{name: None}), []).append((each, places))
            left = []
            for wider, several in alike.items():
                chosen = {vars(each).get(name) for each, _ in several}
                if None in chosen or chosen >= {*choices}:
                    left.append((wider, sorted(place for _, places in several for place in places)))
                else:
                    left += several
    return [(each, places) for each, places in sorted(left, key=lambda found: found[1])]
