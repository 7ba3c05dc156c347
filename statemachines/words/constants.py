"""The words that are constants: states, groups, members of enums, codes and records that always exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from statemachines.expression import ExpressionError
from statemachines.types import Enum, List, Ref, Type, present
from statemachines.words.types import Types

Meaning = tuple[Type, str | tuple[str, ...]]
"""The type of a constant, and its word; of a group, the words of its states."""


class Constants:
    """Finds what a word means where a type is expected."""

    def __init__(self, types: Types) -> None:
        self._types = types

    def names(self) -> Iterable[str]:
        """List every word that is a constant somewhere."""
        return self._meanings

    def meaning(self, name: str, expected: Type, at: int) -> Meaning | None:
        """Return what a word means, or None. Raises ExpressionError where it is ambiguous without an expected type."""
        meanings = self._meanings.get(name, [])
        wanted = present(expected)
        certain = [meaning for meaning in meanings if _same_words(wanted, meaning[0])]
        if certain:
            return certain[0]
        # Where none of its types is expected, a word is a code only if it is nothing else.
        unexpected = [meaning for meaning in meanings if meaning[0] != Enum("refusal", (name,))] or meanings
        fitting = self._word_of(wanted, name) if isinstance(wanted, Enum) else unexpected
        if len(fitting) > 1:
            kinds = " or ".join(str(kind) for kind, _ in fitting)
            hint = "compare it with a value of the type that is meant"
            raise ExpressionError("ambiguous-name", at, f"{name!r} may mean {kinds}", hint)
        return fitting[0] if fitting else None

    def _word_of(self, wanted: Enum, name: str) -> list[Meaning]:
        """Return a word of a type that no declaration gives, or another constant of a constant's type."""
        if name in wanted.members:
            return [(Enum(wanted.name, (name,)), name)]
        if len(wanted.members) != 1:
            return []
        meanings = self._meanings.get(name, [])
        return [each for each in meanings if isinstance(each[0], Enum) and each[0].name == wanted.name]

    @cached_property
    def _meanings(self) -> dict[str, list[Meaning]]:
        found: dict[str, list[Meaning]] = {}
        for name, meaning in self._every():
            found.setdefault(name, []).append(meaning)
        return found

    def _every(self) -> Iterator[tuple[str, Meaning]]:
        """Walk every word with each of its meanings."""
        for name, entity in self._types.lifecycle.entities.items():
            for state in entity.states:
                yield state, (Enum(f"{name}.state", (state,)), state)
            for group, words in entity.groups.items():
                states = tuple(word.text for word in words)
                yield group, (List(Enum(f"{name}.state", states)), states)
            for word in entity.fixed:
                yield word.text, (Ref(name), word.text)
        for kind in self._types.declared.values():
            if isinstance(kind, Enum) and not kind.name.endswith(".state"):
                for member in kind.members:
                    yield member, (Enum(kind.name, (member,)), member)
        for code in self._types.codes:
            yield code, (Enum("refusal", (code,)), code)


def _same_words(wanted: Type, found: Type) -> bool:
    """Return whether a constant of type `found` belongs to the enum or entity that is wanted."""
    if isinstance(wanted, Enum) and isinstance(found, Enum):
        return wanted.name == found.name and found.members[0] in wanted.members
    if isinstance(wanted, List) and isinstance(found, List):
        one, other = wanted.item, found.item
        same_enum = isinstance(one, Enum) and isinstance(other, Enum) and one.name == other.name
        return same_enum or _same_words(one, other)
    return isinstance(wanted, Ref) and wanted == found
