"""Values beside the usual ones: texts that a system may tidy up or mistake, other lists, records whose fields differ, long times to wait."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from conformance.judge import AT_ONCE, kernel_facts
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.explore import bounds_of, numbers_beside, numbers_compared, numbers_said
from statemachines.expression import FunctionCall, Literal, Var, nodes
from statemachines.rows import said_in
from statemachines.types import Enum, Id, List, Optional, RecordType, Text, Type, present

PIECES = ("x", "é", "😀")
LONG = "ä€😀 " * 7000  # more than whoever cuts texts leaves of one, and more than a pipe holds: 64 KiB
NOT_SHORT = 100  # characters of a text beyond which it is not short
LONG_END = "x" * 200  # of a name: more than a column or a key may hold
UNTIDY = ("", " x ", "one\n\n two", "é😀", "<b>&amp; %s {x}</b>", '{"b":1, "a":2}', LONG)
# What quotes, paths, patterns and templates read as theirs, and what ends a line, or is a blank, only for some.
READ_AS_THEIRS = "it's \\d\t+ $x ../`y`//z* ß\u2028\u0085\u00a0a"
SIGNS = ("\n x", "a\r\nb", "a\0b", "e\u0301", "\ufeffx", "\x1b[1mx", READ_AS_THEIRS)
MOST_ITEMS = 20  # of a list that is longer than a limit
SOME_NUMBERS = (2, 9, 10, 1000)  # of one digit and of more: as texts they have another order
# What is taken for a number, for nothing, or for what every object has.
WORDS = ("007", "1.0", "None", "null", "undefined", "true", "__proto__")
ODD = (*UNTIDY, *SIGNS, *WORDS)
ODD_IDS = ("../x", "--x", "x/y", "x%y_z", "x\0y", "X" + LONG_END)
"""Ids that a caller may choose: like a path, an option, a pattern; beyond a NUL, and longer than the name of a file."""
_SIGNS, _WORDS = frozenset(SIGNS), frozenset(WORDS)
CARRIED = (*ODD, "  ", "x\n")  # where nobody counts lines, and a text is no name: it is only carried about


def beside_usual(
    compiled: Compiled, operation: str, parameter: kernel.Parameter, values: Sequence[Any]
) -> list[list[Any]]:
    """List what else an argument may be than the usual `values`, each kind in a list of its own: odd values and numbers, and odd ids.

    Numbers with which a rule compares it are a kind that comes twice.
    """
    odd = odd_values(compiled, parameter.wire, values)
    odd += odd_numbers(compiled).get((operation, parameter.name), [])
    odd += ODD_IDS if isinstance(present(parameter.type), Id) else ()
    compared = numbers_compared(compiled).get((operation, parameter.name), [])
    return [*in_kinds(odd), *([compared, compared] if compared else [])]


def odd_values(compiled: Compiled, kind: Type, values: Sequence[Any]) -> list[Any]:
    """List odd values beside those of a type.

    They are untidy texts; of names the empty one, and what is like another; lists of one item, of one twice, and backwards, where
    they are of no ids; and mixed records.
    """
    match present(kind):
        case Text(name=name) if name in compiled.lifecycle.types:
            drawn = compiled.lifecycle.types[name].text
            may_count_as_none = drawn == "short" and isinstance(kind, Optional)
            return [each for each in _texts(compiled, drawn, values) if each.strip() or not may_count_as_none]
        case List(item=Id()):
            return []
        case List(item=item):
            whole = values[-1] if values and isinstance(values[-1], list) else []
            found = odd_values(compiled, item, whole) if isinstance(item, Text | RecordType) else []
            several = [found] if isinstance(item, Text) and found else [[each] for each in found]
            longer = _longer(compiled, whole) if isinstance(item, Text | RecordType | Enum) else []
            return [*_selections(whole), *longer, *several]
        case RecordType(fields=fields):
            ends = [each for each in (*values[:1], *values[-1:]) if isinstance(each, dict)]
            return [*_mixed(fields, ends), *(_with_odd_texts(compiled, fields, ends[0]) if ends else [])]
        case _:
            return []


@lru_cache(maxsize=8)
def odd_numbers(compiled: Compiled) -> dict[tuple[str, str], list[int]]:
    """List whole numbers beside the usual ones, for each operation and parameter that takes any: those that the rules say, and a few.

    Of those that the rules of the operation itself say there is one less and one more as well. Of a type with bounds the bounds are
    enough: what lies between them may be more than whoever wrote them had in mind.
    """
    limits = (limit.default for limit in compiled.lifecycle.limits.values())
    numbers = {*SOME_NUMBERS, *(each for each in limits if each and each > 1), *numbers_said(compiled.kernel)}
    return {asked: sorted(numbers | beside) for asked, beside in numbers_beside(compiled).items()}


def in_kinds(odd: Sequence[Any]) -> list[list[Any]]:
    """Put odd values together that are odd in one way, in themselves or in a part of a record or a list.

    What is only untidy comes twice, for it goes wrong most often.
    """
    signs, words, long, rest = list[Any](), list[Any](), list[Any](), list[Any]()
    for each in odd:
        texts = _texts_in(each)
        if not _SIGNS.isdisjoint(texts):
            signs.append(each)
        elif not _WORDS.isdisjoint(texts):
            words.append(each)
        elif any(len(text) > NOT_SHORT for text in texts):
            long.append(each)
        else:
            rest.append(each)
    often = [rest] if signs or words else []
    return [each for each in (rest, *often, long, signs, words) if each]


def _texts_in(value: Any) -> list[str]:
    """Return a text, or those that are the parts of a record or of a list."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return [each for each in parts if isinstance(each, str)]


def _selections(whole: list[Any]) -> list[list[Any]]:
    """Return lists of one of the items of a list, of one of them twice, and of all the other way round."""
    alone = [[each] for each in whole] if len(whole) > 1 else []
    return [*alone, *([each, each] for each in whole[-1:]), *([whole[::-1]] if len(whole) > 1 else [])]


def _longer(compiled: Compiled, whole: list[Any]) -> list[list[Any]]:
    """Return lists of one item more than a limit allows for, in which each kind of item comes and another one is the last.

    What does not count is among them, so that whoever cuts a list before counting is seen.
    """
    sizes = {each.default for each in compiled.lifecycle.limits.values() if each.default and each.default < MOST_ITEMS}
    kinds = len(whole) if len(whole) > 1 else 0
    return [
        list(itertools.islice(itertools.cycle([*whole[turn:], *whole[:turn]]), size + 1))
        for size in sorted(sizes)
        for turn in range(kinds)
    ]


def _mixed(fields: Sequence[tuple[str, Type]], ends: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records of which one field is not as the others are: from another record, or nothing where there may be nothing."""
    found: list[dict[str, Any]] = []
    for record in ends:
        for name, kind in fields:
            others = [each[name] for each in ends] + ([None] if isinstance(kind, Optional) else [])
            mixed = ({**record, name: other} for other in others if other != record[name])
            found += [each for each in mixed if each not in found]
    return found


def _with_odd_texts(
    compiled: Compiled, fields: Sequence[tuple[str, Type]], record: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return a record in whose texts one is an odd one."""
    return [
        {**record, name: odd}
        for name, kind in fields
        if isinstance(present(kind), Text)
        for odd in odd_values(compiled, kind, [])
    ]


def _texts(compiled: Compiled, drawn: str, values: Sequence[Any]) -> Sequence[str]:
    match drawn:
        case "short":
            return CARRIED
        case "around":
            beside = (found for each in values for found in (_in_two_bytes(each), _one_less(each)) if found)
            return (*ODD, *beside)
        case _:
            known = [each for each in values if isinstance(each, str)][1:]  # the first one is new
            plain = [
                each for each in known if len(each) < len(LONG_END)
            ]  # a twin of a long twin is longer than anything
            glued = [f"{more}{each}" for each in plain[-1:] for more in _between_owners(compiled)]
            alike = [odd for each in plain[-1:] for odd in (*_twins(each), *glued)]
            return [each for each in dict.fromkeys(("", *WORDS, *alike)) if each not in known]


def _between_owners(compiled: Compiled) -> Sequence[str]:
    """Return what is between the names of fixed records of which one begins like another: `0` between t1 and t10.

    A name that begins so reads like another one where somebody writes it behind the name of its owner, with nothing between.
    """
    found = (
        other.removeprefix(one)
        for entity in compiled.kernel.entities
        for one, other in itertools.permutations(entity.fixed, 2)
        if other.startswith(one)
    )
    return list(dict.fromkeys(found))


def _in_two_bytes(value: Any) -> str:
    """Return a text of about as many bytes in half as many characters; an empty one for what is short, or takes more bytes as it is."""
    is_long = isinstance(value, str) and len(value) > NOT_SHORT and value.isascii()
    return "é" * ((len(value) + 1) // 2) if is_long else ""


def _one_less(value: Any) -> str:
    """Return a long text without its first line, or its first character: one that is just above a limit is just within it then."""
    if not isinstance(value, str) or len(value) <= NOT_SHORT:
        return ""
    _, _, rest = value.partition("\n")
    return rest or value[1:]


def _twins(name: str) -> Sequence[str]:
    """Return names that a system may take for another: longer, counted, shorter, in other letters, with blanks, beyond a NUL, a pattern."""
    return (
        f"{name}x",
        f"{name}-2",
        f"{name}-x",
        f"{name}{LONG_END}",
        name[:-1],
        name.swapcase(),
        f" {name} ",
        f"{name}\0x",
        f"{name[:-1]}*",
        f"{name[:-1]}%",
        *_taken_for_one(name),
    )


def _taken_for_one(name: str) -> Sequence[str]:
    """Return other names that are the same number, or the same letters in another form of Unicode."""
    numbers = [name.lstrip("0") or "0", f"0{name}", f"{name}.0"] if name.isascii() and name.isdigit() else []
    forms = [unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC")]
    return [each for each in dict.fromkeys((*numbers, *forms)) if each != name]


# ── Long times to wait ──
#
# Who is woken comes back long before, and who is not does not. Of a type with bounds these say how long it may be; but a row that binds,
# and gives more, shows that they are only what is drawn.

LONG_WAIT: Final = 2 * AT_ONCE
"""Milliseconds that such a call waits."""


@lru_cache(maxsize=8)
def waits_long(compiled: Compiled) -> frozenset[tuple[str, str]]:
    """Return the operations with the parameter that says how long each may wait, as far as that may be so long."""
    return frozenset(
        (operation, name) for operation, name in _lasting(compiled) if _may_be_long(compiled, operation, name)
    )


def _lasting(compiled: Compiled) -> Iterator[tuple[str, str]]:
    facts = kernel_facts.of(compiled)
    for operation in compiled.lifecycle.operations:
        wait = facts.wait(operation)
        if wait is not None and isinstance(wait.lasts, Var):
            yield operation, wait.lasts.name


def _may_be_long(compiled: Compiled, operation: str, name: str) -> bool:
    takes = compiled.lifecycle.operations[operation].takes
    bounds = bounds_of(compiled, takes[name])
    given = _given(compiled, operation, [*takes].index(name))
    return bounds is None or bounds[0] <= LONG_WAIT <= max((bounds[1], *given))


def _given(compiled: Compiled, operation: str, place: int) -> Iterator[int]:
    """Walk the numbers that rows of level MUST say in an argument of an operation."""
    for row in (each for each in compiled.lifecycle.rows.values() if each.level == "must"):
        for call in said_in(row):
            if isinstance(call, FunctionCall) and call.name == operation and len(call.arguments) > place:
                said = nodes(call.arguments[place])
                yield from (each.value for each in said if isinstance(each, Literal) and isinstance(each.value, int))
