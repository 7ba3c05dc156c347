"""A trace written as a row in the spec's own words, ready to be read, pasted into the matrix, or replayed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.observation import InOrder, Listed
from conformance.step import Divergence
from conformance.trace import AtOnce, Call, Given, Played, Step, Trace
from statemachines.compile import Compiled
from statemachines.lifecycle import Step as RowStep
from statemachines.model import Document, byte_length, line_count, sized_text
from statemachines.rows import Program
from statemachines.types import BOOL, Enum, Id, List, Ref, Text, Type, present
from statemachines.words import Words

FEW = 4  # calls alike that are still written one by one
_PIECES = ("x", "abc", "xyz", "é", "😀")


@dataclass(slots=True)
class _Names:
    """What each call whose reply is used is called, and how its reply is reached."""

    words: Words
    uses: Counter[str] = field(default_factory=Counter)
    reach: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Written:
    """A counterexample in words: the row, what was expected, and what was seen."""

    text: str
    expected: str
    seen: str


def as_row(compiled: Compiled, played: Played, name: str = "C1") -> Written:
    """Write what a trace shows as a row: its steps, what was expected, and what was seen."""
    trace, divergence = played.trace, played.divergence
    assert divergence is not None  # a trace that shows nothing is no counterexample
    names = _Names(Words(compiled.lifecycle))
    for call in trace.calls():
        for _, value in call.arguments:
            if isinstance(value, str):
                names.uses[value] += 1
    told = divergence.expected + divergence.seen
    lines = _steps(trace.steps, names, {given.step for value, given in played.origins if repr(value) in told})
    ids = {
        value: f"{names.reach[given.step]}.{given.field}"
        for value, given in played.origins
        if given.step in names.reach
    }
    expected, seen = _named(divergence.expected, ids), _named(divergence.seen, ids)
    known = any(f"{clause.path}.".startswith(f"{divergence.clause}.") for clause in compiled.kernel.clauses)
    covers = divergence.clause if known else f"operations.{trace.calls()[-1].operation}"
    about = _one_line(f"Expected {expected}; seen {seen}.")
    out = [
        f"{name}:",
        f"  about: {json.dumps(about, ensure_ascii=False)}",
        "  level: must",
        "  source: counterexample",
    ]
    out += [f"  covers: [{covers}]", "  act:"]
    out += [f"    {line}" for line in lines]
    out += ["  assert:", f"    - {_assertion(divergence, ids, trace)}"]
    return Written("\n".join(out) + "\n", expected, seen)


def _named(text: str, ids: Mapping[str, str]) -> str:
    """Write the ids of one run as the replies that they came from, which every run has."""
    for value, reach in ids.items():
        text = text.replace(repr(value), reach)
    return text


def row_as_it_ran(compiled: Compiled, program: Program, values: Mapping[str, Any]) -> str:
    """Write a row with the values that its parameters had, as the first steps."""
    row, names = program.row, _Names(Words(compiled.lifecycle))
    kinds = dict(program.parameters)
    lines = [f"- {name} = {_value(value, kinds.get(name), names)}" for name, value in values.items()]
    for step in (*row.arrange, *row.act):
        lines += _written(step)
    out = [
        f"{row.id.text}:",
        f"  about: {json.dumps(_one_line(row.about), ensure_ascii=False)}",
        f"  level: {row.level}",
    ]
    out += [f"  source: {row.source}", f"  covers: [{', '.join(word.text for word in row.covers)}]"]
    needs = [f"    - {expr.text}" for expr in row.needs]
    out += ["  needs:", *needs] if needs else []
    out += [
        "  act:",
        *(f"    {line}" for line in lines),
        "  assert:",
        *(f"    - {expr.text}" for expr in row.asserts),
    ]
    return "\n".join(out) + "\n"


def _written(step: RowStep) -> list[str]:
    if step.loop is not None:
        inner = [f"    {line}" for each in step.body for line in _written(each)]
        return [f"- for each {step.loop.text} in {step.expr.text}:", *inner]
    return [
        f"- {step.binding.text} = {step.expr.text}" if step.binding is not None else f"- {step.expr.text}"
    ]


def _one_line(text: str) -> str:
    return " ".join(text.split())


# ── Steps ──


def _steps(steps: Sequence[Step], names: _Names, told: set[int]) -> list[str]:
    """Write the steps; the last single call is bound as `last`, for the assertion.

    `told` are the calls whose replies the words about the fault need.
    """
    used = (told - {call.number for call in _calls(steps[-1])}) | {
        number for step in steps for call in _calls(step) for number in call.refers()
    }
    lines: list[str] = []
    index = 0
    end = len(steps) - 1  # the last step has a name of its own
    while index < len(steps):
        many = _alike(steps, index, used, names)
        walked = _walk(steps[:end], index, names)
        if many >= FEW:
            lines.append(_repeated(steps[index : index + many], names))
            index += many
        elif walked is not None:
            lines += walked[0]
            index += walked[1]
        else:
            lines.append(_single(steps[index], index == len(steps) - 1, used, names))
            index += 1
    return [f"- {line}" if not line.startswith(" ") else line for line in lines]


def _calls(step: Step) -> tuple[Call, ...]:
    return step.calls() if isinstance(step, AtOnce) else (step,)


def _alike(steps: Sequence[Step], index: int, used: set[int], names: _Names) -> int:
    """Count the calls from here on that create records in the same way."""
    first = steps[index]
    if not isinstance(first, Call) or first.number not in used or first.refers():
        return 0
    count = 0
    for step in steps[index:-1]:
        if (
            not isinstance(step, Call)
            or step.operation != first.operation
            or step.number not in used
            or step.refers()
        ):
            break
        if _call(step, names) != _call(first, names):
            break
        count += 1
    return count


def _repeated(steps: Sequence[Step], names: _Names) -> str:
    binding = _binding("started", names)
    for position, step in enumerate(steps):
        assert isinstance(step, Call)  # _alike counts calls only
        names.reach[step.number] = f"{binding}[{position}]"
    first = steps[0]
    assert isinstance(first, Call)
    return f"{binding} = repeat({len(steps)}, {_call(first, names)})"


def _walk(steps: Sequence[Step], index: int, names: _Names) -> tuple[list[str], int] | None:
    """Write calls that go through repeated records one after the other as a loop, if they do."""
    for period in (1, 2):
        body = steps[index : index + period]
        if len(body) < period or not all(isinstance(step, Call) for step in body):
            continue
        first = _position(body[0], names)
        if first is None:
            continue
        for step in (1, -1):
            rounds = 0
            while _follows(
                steps[index + rounds * period : index + (rounds + 1) * period],
                body,
                first[0],
                first[1] + step * rounds,
                names,
            ):
                rounds += 1
            if rounds >= FEW:
                return _loop(body, first, rounds, step, names), rounds * period
    return None


def _position(step: Step, names: _Names) -> tuple[str, int] | None:
    """Give the list and the position of the repeated record that a call is about."""
    for value in (value for _, value in step.arguments) if isinstance(step, Call) else ():
        if isinstance(value, Given) and (reach := names.reach.get(value.step, "")).endswith("]"):
            binding, _, position = reach[:-1].partition("[")
            return binding, int(position)
    return None


def _follows(steps: Sequence[Step], body: Sequence[Step], binding: str, position: int, names: _Names) -> bool:
    if len(steps) != len(body):
        return False
    for step, like in zip(steps, body, strict=True):
        if not isinstance(step, Call) or not isinstance(like, Call) or step.operation != like.operation:
            return False
        for (_, value), (_, wanted) in zip(step.arguments, like.arguments, strict=True):
            if isinstance(value, Given):
                if names.reach.get(value.step) != f"{binding}[{position}]":
                    return False
            elif value != wanted:
                return False
    return True


def _loop(body: Sequence[Step], first: tuple[str, int], rounds: int, step: int, names: _Names) -> list[str]:
    """Write a loop over a stretch of a list, forwards or backwards."""
    binding, position = first
    total = sum(1 for reach in names.reach.values() if reach.startswith(f"{binding}["))
    over, skipped = binding, position
    if step < 0:
        over, skipped = f"{binding}.reversed()", total - 1 - position
    over += (f".drop({skipped})" if skipped else "") + (
        f".take({rounds})" if skipped + rounds < total else ""
    )
    item = _binding("r", names)
    lines = [f"for each {item} in {over}:"]
    for call in body:
        assert isinstance(call, Call)  # _walk has looked
        inner = {value.step: item for _, value in call.arguments if isinstance(value, Given)}
        lines.append(f"    - {_call(call, names, inner)}")
    return lines


def _single(step: Step, last: bool, used: set[int], names: _Names) -> str:
    if isinstance(step, AtOnce):
        return _together(step, names)
    text = _call(step, names)
    if step.number in used:
        names.reach[step.number] = _binding("job", names)
        return f"{names.reach[step.number]} = {text}"
    return f"last = {text}" if last else text


def _together(step: AtOnce, names: _Names) -> str:
    bodies = [[_call(call, names) for call in caller] for caller in step.callers]
    if all(body == bodies[0] for body in bodies) and len(bodies[0]) == 1:
        return f"together({len(bodies)}, {bodies[0][0]})"
    if all(len(set(body)) == 1 for body in bodies) and all(body == bodies[0] for body in bodies):
        return f"together({len(bodies)}, repeat({len(bodies[0])}, {bodies[0][0]}))"
    parts = [
        body[0] if len(set(body)) == 1 and len(body) == 1 else f"repeat({len(body)}, {body[0]})"
        for body in bodies
    ]
    return f"together({', '.join(parts)})"


def _binding(base: str, names: _Names) -> str:
    taken = {reach.partition("[")[0] for reach in names.reach.values()} | set(
        names.words.lifecycle.operations
    )
    if base not in taken:
        return base
    return next(f"{base}{number}" for number in range(2, 10_000) if f"{base}{number}" not in taken)


# ── Values ──


def _call(call: Call, names: _Names, inner: dict[int, str] | None = None) -> str:
    operation = names.words.lifecycle.operations.get(call.operation)
    parts = []
    for name, value in call.arguments:
        kind = names.words.wire(names.words.resolve(operation.takes[name])) if operation is not None else None
        if isinstance(value, Given):
            parts.append(
                f"{(inner or {}).get(value.step) or names.reach.get(value.step, 'job')}.{value.field}"
            )
        else:
            parts.append(_value(value, kind, names))
    return f"{call.operation}({', '.join(parts)})"


def _value(value: Any, kind: Type | None, names: _Names) -> str:
    plain = present(kind) if kind is not None else None
    if value is None:
        return "null"
    if isinstance(value, bool) or plain == BOOL:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list | tuple):
        item = plain.item if isinstance(plain, List) else None
        return f"[{', '.join(_value(each, item, names) for each in value)}]"
    if isinstance(plain, Enum | Ref):
        return str(value)
    if names.uses[value] <= 1 and _may_be_fresh(plain, names):
        return "fresh"
    return _text(value)


def _may_be_fresh(kind: Type | None, names: _Names) -> bool:
    """Tell whether any new value would do: an id that no record has, or a text that only has to be new."""
    if isinstance(kind, Id):
        return True
    declared = names.words.lifecycle.types.get(kind.name) if isinstance(kind, Text) else None
    return declared is not None and declared.text == "fresh or reused"


def _text(value: str) -> str:
    """Write a text; a long one by what it is made of."""
    size, lines = byte_length(value), line_count(value)
    if size > 40:
        for piece in _PIECES:
            if size >= 2 * lines - 1 and sized_text(piece, size, lines) == value:
                return f"text('{piece}', {size}{f', {lines}' if lines > 1 else ''})"
    escaped = "".join(_ESCAPES.get(sign) or (f"\\u{ord(sign):04x}" if _odd(sign) else sign) for sign in value)
    return f"'{escaped}'"


_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _odd(sign: str) -> bool:
    """Tell whether a sign cannot stand in a spec as it is."""
    return not sign.isprintable() and sign != " " and ord(sign) < 0x10000


def _assertion(divergence: Divergence, ids: Mapping[str, str], trace: Trace) -> str:
    """Write what should have been, as far as a row can say it."""
    match divergence.kind:
        case "accepted" if divergence.value not in (None, "*"):
            return f"last.refused == {divergence.value}"
        case "accepted":
            return "last.refused != null"
        case "refused":
            return f"last.refused == {divergence.value or 'null'}"
        case "signal":
            return f"last.signals.{divergence.path}.size() {'> 0' if divergence.value else '== 0'}"
        case "reply" if any(isinstance(step, AtOnce) for step in trace.steps):
            return "true"  # another order of the calls at once may give something else
        case "reply":
            return _reply_assertion(divergence, ids)
        case _:
            return "true"


def _reply_assertion(divergence: Divergence, ids: Mapping[str, str]) -> str:
    reach = "last" + ("" if not divergence.path or divergence.path.startswith("[") else ".") + divergence.path
    match divergence.value:
        case Listed(field=field, identity=identity, there=there):
            identified = f"{reach}.exists(each, each.{field} == {ids.get(identity) or _text(identity)})"
            return identified if there else f"(!{identified})"
        case InOrder(field=field, identities=identities):
            return f"{reach}.map(each, each.{field}) == [{', '.join(ids.get(each) or _text(each) for each in identities)}]"
        case Document(inline=inline):
            return f"{reach}.inline == {'true' if inline else 'false'}"
        case list() as values:
            return f"{reach}.size() == {len(values)}"
        case None | bool() | int() as value:
            return f"{reach} == {'null' if value is None else str(value).lower()}"
        case str() as value if value in ids:
            return f"{reach} == {ids[value]}"
        case str() as value if value.isidentifier() and divergence.path.rpartition(".")[2] in _WORDS:
            return f"{reach} == {value}"
        case str() as value:
            return f"{reach} == {_text(value)}"
        case _:
            return "true"


_WORDS = ("status", "mode", "tool", "thread")  # fields whose values are words of the spec
