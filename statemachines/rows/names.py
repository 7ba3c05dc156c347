"""The values of a trace as a row writes them: words of the spec, names of replies, new texts, other texts."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from statemachines.compile import Compiled
from statemachines.expression import Const
from statemachines.model import byte_length, line_count, sized_text
from statemachines.rows.trace import Call, CallTypes, Given, Plain, stem_of
from statemachines.types import Enum, Id, List, Optional, RecordType, Ref, Text, Type, present

LONG = 40  # bytes of a text that is written out
WIDE = 12  # signs of a piece that a long text repeats
MANY = 8  # items alike of a list, which are counted
_PIECES = ("x", "abc", "xyz", "é", "😀")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_ORDINARY = re.compile(r"[A-Za-z0-9_.-]+")  # signs that nothing depends on
_RUN = re.compile(rf"(\S)\1{{{LONG},}}")  # of one sign, in a text of others
_CUT = re.compile(r": | #|:$")  # where YAML would end a plain text


class Names:
    """What the values and the replies of one trace are called in a row.

    reach  how the reply of a call is reached, by the number of the call; `maybe` are those of which the row cannot know that it is not null
    shared  the new texts that a row speaks of more than once, each with its name and its type
    plain  texts that are written as they are: those that stand for values of several types, such as an id that
           was asked for in words, and those that tell something by themselves, such as that they are blank
    """

    def __init__(
        self,
        compiled: Compiled,
        calls: Sequence[Call] = (),
        told: Callable[[str], bool] = lambda value: False,
        words: Collection[str] = (),
        literal: Collection[str] = (),
    ) -> None:
        """Name the values of these calls.

        told   tells whether the words about a fault speak of a value
        words  texts that may have some of the values in them: ids that the system gave, and what is asserted
        literal  texts that are written as they are, for the system came to them by itself
        """
        self.compiled = compiled
        self.types = CallTypes(compiled.kernel)
        self.reach: dict[int, str] = {}
        self.maybe: set[int] = set()
        self.shared: dict[str, tuple[str, str]] = {}
        self._operations = {call.number: call.operation for call in calls}
        self._kinds = {operation.name: self.types.takes(operation.name) for operation in compiled.kernel.operations}
        self._defaults: dict[str, dict[str, Any]] = {
            operation.name: {
                each.name: each.default.value if isinstance(each.default, Const) else []  # an empty list
                for each in operation.parameters
                if each.default is not None
            }
            for operation in compiled.kernel.operations
        }
        uses = Counter(
            (text, kind)
            for call in calls
            for name, value in call.arguments
            for text, kind in _texts(value, self.kind(call.operation, name))
        )
        alike = Counter(text for text, _ in uses)
        self.plain = {
            text
            for text, kinds in alike.items()
            if kinds > 1
            or text in literal
            or any(text != each and text in each for each in words)
            or any(text != each and text.startswith(each) and not each[-1:].isdigit() for each in alike if each)
        }
        for kinds in (Text, Id):
            self.plain |= _telling({text for text, kind in uses if isinstance(kind, kinds) and self.may_be_fresh(kind)})
        for (value, kind), count in uses.items():
            if value not in self.plain and self._is_new(value, kind) and (count > 1 or told(value)):
                base = kind.name if isinstance(kind, Text) else "Id"
                self.shared[value] = (self.free(_last_word(base)), _type_name(kind))

    def kind(self, operation: str, argument: str) -> Type | None:
        """Return the type of an argument; None for one that no spec declares, such as that of `wait`."""
        return self._kinds.get(operation, {}).get(argument)

    def unasked(self, call: Call) -> bool:
        """Return whether a call is a step that the implementation takes unasked: no row can ask for it."""
        return call.operation not in self._kinds and call.operation != "wait"

    def free(self, base: str) -> str:
        """Return a name that nothing has yet."""
        taken = {reach.partition("[")[0] for reach in self.reach.values()} | {name for name, _ in self.shared.values()}
        taken |= self._kinds.keys()
        if base not in taken:
            return base
        return next(f"{base}{number}" for number in range(2, 10_000) if f"{base}{number}" not in taken)

    def reply(self, call: Call) -> str:
        """Return a name for the reply of a call: that of the record whose id it gives."""
        entities = self.types.identified(call.operation).values()
        variable = next((self.compiled.kernel.entity(entity).variable for entity in entities), "reply")
        return self.free(variable)

    def may_be_fresh(self, kind: Type) -> bool:
        """Return whether any new value would do: an id that no record has, or a text that only has to be new."""
        if isinstance(kind, Id):
            return not self.compiled.kernel.entity(kind.entity).fixed
        declared = self.compiled.lifecycle.types.get(kind.name) if isinstance(kind, Text) else None
        return declared is not None and declared.text == "fresh or reused"

    def _is_new(self, value: str, kind: Type) -> bool:
        """Return whether any new value would do as well; one that is chosen for its signs is told as it is."""
        return self.may_be_fresh(kind) and is_plain(value)

    # ── Writing ──

    def call(self, call: Call, inner: dict[int, str] | None = None) -> str:
        """Write a call; `inner` names replies where a loop walks over them."""
        reach = self.reach | (inner or {})
        parts = (
            self._given(value, reach[value.step], self.kind(call.operation, name))
            if isinstance(value, Given)
            else self.value(value, self.kind(call.operation, name))
            for name, value in self._without_gaps(call)
        )
        return f"{call.operation}({', '.join(parts)})"

    def as_given(self, call: Call) -> str:
        """Write a call with its values as they are: no new one becomes `fresh`, then or later."""
        kinds = ((value, self.kind(call.operation, name)) for name, value in call.arguments)
        self.plain |= {text for value, kind in kinds for text, _ in _texts(value, kind)}
        given = (self.known(value, self.kind(call.operation, name)) for name, value in self._without_gaps(call))
        return f"{call.operation}({', '.join(given)})"

    def _without_gaps(self, call: Call) -> list[tuple[str, Any]]:
        """Return the arguments in the order of the parameters; one that is left out before another has its default."""
        given = dict(call.arguments)
        names = list(self._kinds.get(call.operation, given))
        last = max((names.index(name) for name in given), default=-1)
        defaults = self._defaults.get(call.operation, {})
        return [(name, given.get(name, defaults.get(name))) for name in names[: last + 1]]

    def value(self, value: Any, kind: Type | None) -> str:
        """Write a value of a type."""
        if isinstance(value, Given):
            return self._given(value, self.reach[value.step], kind)
        if isinstance(value, str):
            plain = present(kind) if kind is not None else None
            if not isinstance(plain, Enum | Ref) and value not in self.shared:
                new = plain is not None and value not in self.plain and self._is_new(value, plain)
                return "fresh" if new else quoted(value)
        return self.known(value, kind)

    def _given(self, value: Given, reply: str, kind: Type | None) -> str:
        """Write a part of a reply; where that may be null and is to stand for what is not, it is guarded."""
        text = value.of(reply)
        found = self.types.gives(self._operations[value.step]) if value.step in self._operations else None
        if value.step in self.maybe:
            text = f"if {reply} == null then '' else {text}"
        if found is None or kind is None or isinstance(kind, Optional) or not value.field:
            return text
        for way in reversed(_nullable(found, value.field.split("."))):
            text = f"if {reply}.{way} == null then '' else {text}"
        return text

    def known(self, value: Any, kind: Type | None) -> str:
        """Write a value that some reply or argument has: never `fresh`."""
        plain = present(kind) if kind is not None else None
        match value:
            case None:
                return "null"
            case bool():
                return "true" if value else "false"
            case int():
                return str(value)
            case list() | tuple():
                item = plain.item if isinstance(plain, List) else None
                texts = [self.value(each, item) for each in value]
                if len(texts) >= MANY and len(set(texts)) == 1 and "fresh" not in texts[0]:
                    return f"range({len(texts)}).map(i, {texts[0]})"
                return f"[{', '.join(texts)}]"
            case Plain(fields=fields):
                return self._plain(dict(fields), plain)
            case dict():
                return self._plain(value, plain)
            case _ if isinstance(plain, Enum | Ref):
                return str(value)
            case _:
                words = str(value)
                return self.shared[words][0] if words in self.shared else quoted(words)

    def _plain(self, value: dict[str, Any], kind: Type | None) -> str:
        """Write a plain value by the name of its type; what is null at its end is left out."""
        fields = kind.fields if isinstance(kind, RecordType) else tuple((name, None) for name in value)
        written = [self.value(value.get(name), each) for name, each in fields]
        while written and written[-1] == "null":
            written.pop()
        return f"{kind or 'record'}({', '.join(written)})"

    def bound(self, value: Any, kind: Type | None) -> str:
        """Write a value that gets a name: a new one says of which type it is."""
        written = self.value(value, kind)
        return f"fresh({_type_name(present(kind))})" if written == "fresh" and kind is not None else written


def _texts(value: Any, kind: Type | None) -> Iterator[tuple[str, Type]]:
    """Walk the texts in a value, each with the type that it stands for there; not the words of the spec."""
    plain = present(kind) if kind is not None else None
    match value:
        case str() if plain is not None and not isinstance(plain, Enum | Ref):
            yield value, plain
        case list() | tuple() if isinstance(plain, List):
            for each in value:
                yield from _texts(each, plain.item)
        case Plain(fields=fields) if isinstance(plain, RecordType):
            for name, each in fields:
                yield from _texts(each, plain.field(name))


def is_plain(name: str) -> bool:
    """Return whether nothing tells a name from another new one: it is neither long nor of odd signs."""
    return len(name) <= LONG and name[:1].isalnum() and bool(_ORDINARY.fullmatch(name))


def _telling(texts: set[str]) -> set[str]:
    """Return the texts if it matters how they read: some are blank, long or have odd signs, or one is a part of another."""
    odd = any(len(each) > LONG or not _ORDINARY.fullmatch(each) for each in texts)
    return texts if odd or any(itertools.starmap(_is_in, itertools.permutations(texts, 2))) else set()


def _is_in(one: str, other: str) -> bool:
    """Return whether a text is a part of another one, whatever the case; not those that were only counted through, as `x-1` and `x-12`."""
    return one.casefold() in other.casefold() and stem_of(one) != stem_of(other)


def _type_name(kind: Type) -> str:
    return kind.entity if isinstance(kind, Id) else str(kind)


def _last_word(name: str) -> str:
    words: list[str] = re.findall(r"[A-Z]?[^A-Z]+|[A-Z]+", name)
    return words[-1].lower()


def quoted(value: str) -> str:
    """Write a text; a long one by what it is made of."""
    size, lines = byte_length(value), line_count(value)
    if size > LONG:
        end = value.rpartition("\n")[2]
        for piece in dict.fromkeys((*_PIECES, *(end[:width] for width in range(1, WIDE + 1)))):
            if piece and size >= 2 * lines - 1 and sized_text(piece, size, lines) == value:
                return f"text({_in_quotes(piece)}, {size}{f', {lines}' if lines > 1 else ''})"
        if run := max(_RUN.finditer(value), key=lambda each: len(each[0]), default=None):
            before, after = value[: run.start()], value[run.end() :]
            return " + ".join(quoted(part) for part in (before, run[0], after) if part)
    return _in_quotes(value)


def _in_quotes(value: str) -> str:
    escaped = "".join(_ESCAPES.get(sign) or (f"\\u{ord(sign):04x}" if _odd(sign) else sign) for sign in value)
    return f"'{escaped}'"


def _odd(sign: str) -> bool:
    """Return whether a sign cannot stand in a spec as it is."""
    return not sign.isprintable() and sign != " " and ord(sign) < 0x10000


def item(line: str) -> str:
    """Write an item of a YAML list, in quotes where YAML would not read the line as it stands."""
    return f"- {json.dumps(line, ensure_ascii=False)}" if _CUT.search(line) else f"- {line}"


def _nullable(kind: Type, way: Sequence[str]) -> list[str]:
    """Return the parts of a reply that may be null on a way to one of its parts; that all of it is not null a row takes for granted."""
    found = []
    for count, name in enumerate(way, 1):
        record = present(kind)
        field = record.field(name) if isinstance(record, RecordType) else None
        if field is None:
            break
        if isinstance(field, Optional):
            found.append(".".join(way[:count]))
        kind = field
    return found
