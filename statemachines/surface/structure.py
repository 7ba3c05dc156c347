"""Whether a spec has the structure of `spec/lifecycle.schema.json`, told to people who know no JSON schema.

The texts are the schema's own: a `title` names a thing in a message, a `description` says what it is for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from statemachines.diagnostics import Diagnostic, SpecError, did_you_mean
from statemachines.surface.complaints import Complaint, Path, complaints, homes, matches
from statemachines.yaml import Node, locate, to_plain

_KINDS: Final = {  # what JSON schema calls a kind of value, and what a message calls it
    type(None): ("null", "nothing"),
    bool: ("boolean", "true or false"),
    int: ("integer", "a number"),
    str: ("string", "text"),
    list: ("array", "a list"),
    dict: ("object", "a mapping"),
}
_LIST: Final = "write a list, one `- item` a line. "
_MAPPING: Final = "write `name: value` lines, indented below it. "
_EXPRESSION: Final = "an expression that starts with `{`, or has `: ` in it, stands in quotes. "
_QUOTES: Final = "put it in quotes if it is meant as a text. "


def check_structure(tree: Node, language: str = "lifecycle") -> None:
    """Raise SpecError with every fault of a document's structure, each once and at its place.

    `language` is the name of the schema. Codes: unknown-word, missing-word, wrong-kind, bad-name, bad-value.
    """
    found = [fault for complaint in complaints(to_plain(tree), language) for fault in _faults(complaint)]
    faults = _without_echoes(found)
    if faults:
        raise SpecError(fault.diagnostic(tree) for fault in faults)


@dataclass(frozen=True, slots=True)
class _Fault:
    """One fault: `path` leads to the value or, with `on_key`, to the key that it is about.

    words  the words that are missing, of which any one will do
    meant  the word that a misspelt one means
    """

    code: str
    path: Path
    message: str
    hint: str
    on_key: bool = False
    words: tuple[str, ...] = ()
    meant: str = ""

    def diagnostic(self, tree: Node) -> Diagnostic:
        """Return the fault its place in the file."""
        return Diagnostic(self.code, locate(tree, self.path, key=self.on_key), self.message, self.hint)


# ── Faults of a mapping's words ──


def _faults(complaint: Complaint) -> Iterator[_Fault]:
    known, value = complaint.known, complaint.value
    if complaint.about_key:
        yield from _key_faults(complaint)
    elif complaint.keyword == "additionalProperties":
        yield from (_unknown(complaint, word) for word in value if word not in known)
    elif complaint.keyword == "required":
        yield from (_missing(complaint, (word,)) for word in complaint.asked if word not in value)
    elif complaint.keyword == "anyOf":
        yield _missing(complaint, tuple(part["required"][0] for part in complaint.asked))
    else:
        yield _VALUE_FAULTS[complaint.keyword](complaint)


def _missing(complaint: Complaint, words: tuple[str, ...]) -> _Fault:
    message = f"{complaint.title} needs {_listed(map(repr, words))}"
    hint = " ".join(f"{word}: {complaint.known[word]}" for word in words)
    return _Fault("missing-word", complaint.path, message, hint, on_key=True, words=words)


def _unknown(complaint: Complaint, word: str) -> _Fault:
    """Tell of a word that the mapping cannot have, and which one may be meant or where it belongs."""
    known = complaint.known
    left = [name for name in known if name not in complaint.value]
    hint = did_you_mean(word, left)
    meant = next((name for name in left if repr(name) in hint), "")
    places = homes(complaint.language).get(word, ())
    if not hint and places and complaint.title not in places:
        hint = f"it is a word of {_listed(places)}; known words here: {', '.join(known)}"
    hint = hint or f"known words here: {', '.join(known)}"
    message = f"{word!r} is no word of {complaint.title}"
    return _Fault("unknown-word", (*complaint.path, word), message, hint, on_key=True, meant=meant)


def _key_faults(complaint: Complaint) -> Iterator[_Fault]:
    """Tell of a key that is no name, or that cannot stand beside another one."""
    key, path, owner = complaint.value, (*complaint.path, complaint.value), complaint.owner
    if owner in ("a step", "an assertion"):
        message = f"{key!r} is no {owner.split()[-1]}"
        yield _Fault("unknown-word", path, message, complaint.schemas[-1]["description"], True)
    elif complaint.keyword != "enum":
        yield _Fault("bad-name", path, f"{key!r} is not {complaint.title}", _name_hint(complaint), True)
    elif key in complaint.known or not complaint.closed:  # any other is told as unknown
        message = f"{key!r} cannot stand beside {complaint.branch!r} in {owner}"
        yield _Fault("unknown-word", path, message, f"words that go together here: {', '.join(complaint.asked)}", True)


# ── Faults of a value ──


def _wrong_kind(complaint: Complaint) -> _Fault:
    wanted = [complaint.asked] if isinstance(complaint.asked, str) else list(complaint.asked)
    kind = _kind(complaint.value)
    expected, how = complaint.title, ""
    if wanted[0] == "array":
        expected, how = "a list", _LIST
    elif wanted[0] == "object":
        expected, how = "a mapping", _MAPPING
    elif kind == "object" and {"array", "null"} <= set(wanted):
        how = _EXPRESSION
    elif kind in ("boolean", "integer") and expected == "a text":
        how = _QUOTES
    return _of_wrong_kind(complaint, expected, f"{how}{complaint.description}")


def _of_wrong_kind(complaint: Complaint, expected: str, hint: str) -> _Fault:
    found = "there is nothing" if complaint.value is None else f"this is {_shown_kind(complaint.value)}"
    verb = "takes" if complaint.path else "is"
    return _Fault("wrong-kind", complaint.path, f"{complaint.subject} {verb} {expected}, and {found}", hint)


def _bad_choice(complaint: Complaint) -> _Fault:
    choices, value = complaint.asked, complaint.value
    expected = _listed(map(_shown, choices))
    if _kind(value) not in map(_kind, choices):
        return _of_wrong_kind(complaint, expected, complaint.description)
    close = did_you_mean(value, choices) if isinstance(value, str) else ""
    return _bad_value(complaint, expected, f"{close} {complaint.description}".lstrip())


def _bad_pattern(complaint: Complaint) -> _Fault:
    if not complaint.value.strip():
        return _empty(complaint)
    if "name" not in complaint.title:
        return _bad_value(complaint)
    return _bad_value(complaint, complaint.title, _name_hint(complaint), "bad-name")


def _bad_value(complaint: Complaint, expected: str = "", hint: str = "", code: str = "bad-value") -> _Fault:
    message = f"{complaint.subject} takes {expected or complaint.title}, not {_shown(complaint.value)}"
    return _Fault(code, complaint.path, message, hint or complaint.description)


def _empty(complaint: Complaint) -> _Fault:
    return _Fault("bad-value", complaint.path, f"{complaint.subject} is empty", complaint.description)


def _second_entry(complaint: Complaint) -> _Fault:
    second = list(complaint.value)[1]
    kind = complaint.title.split()[-1]
    message, hint = f"{second!r} is a second entry of one {kind}", f"start each {kind} with `- `, on its own line"
    return _Fault("bad-value", (*complaint.path, second), message, hint, on_key=True)


def _listed_twice(complaint: Complaint) -> _Fault:
    items = complaint.value
    index = next(index for index, item in enumerate(items) if item in items[:index])
    message = f"{_shown(items[index])} is in {complaint.subject} twice"
    return _Fault("bad-value", (*complaint.path, index), message, "remove one of them")


_VALUE_FAULTS: Final[dict[str, Callable[[Complaint], _Fault]]] = {
    "type": _wrong_kind,
    "enum": _bad_choice,
    "pattern": _bad_pattern,
    "minimum": _bad_value,
    "maximum": _bad_value,
    "not": _bad_value,
    "minItems": _empty,
    "minProperties": _empty,
    "maxProperties": _second_entry,
    "uniqueItems": _listed_twice,
}


def _without_echoes(faults: list[_Fault]) -> list[_Fault]:
    """Leave out what follows from another fault: the lack of a misspelt word, what an unknown one holds."""
    meant = {(fault.path[:-1], fault.meant) for fault in faults if fault.meant}
    unknown = {fault.path for fault in faults if fault.code == "unknown-word"}

    def entailed(fault: _Fault) -> bool:
        inside = any(fault.path[:end] in unknown for end in range(len(fault.path)))
        same = fault.path in unknown and fault.code != "unknown-word"
        return inside or same or any((fault.path, word) in meant for word in fault.words)

    return [fault for fault in faults if not entailed(fault)]


# ── Words for people ──


def _name_hint(complaint: Complaint) -> str:
    """Tell how such names are written, and this one, if that can be told."""
    rule: str = next(part["description"] for part in reversed(complaint.schemas) if "description" in part)
    text: str = complaint.value
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", " ", text).split()
    ways = [
        re.sub(r"(?<=\.)[a-z]", lambda match: match[0].upper(), text),
        "_".join(words).lower(),
        "".join(word[:1].upper() + word[1:] for word in words),
        "-".join(words).lower(),
        text.upper(),
    ]
    fitting = next((name for name in ways if matches(complaint.asked, name)), "")
    return f"did you mean {fitting!r}? {rule}" if fitting else rule


def _kind(value: Any) -> str:
    return _KINDS[type(value)][0]


def _shown_kind(value: Any) -> str:
    return _KINDS[type(value)][1]


def _shown(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int():
            return repr(value)
        case _:
            return _shown_kind(value)


def _listed(words: Iterable[str]) -> str:
    """Join words as in `a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
