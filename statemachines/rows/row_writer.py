"""A row as text in the spec's own words, ready to be read, put into the matrix, or run again.

The calls of a trace become its steps: alike ones repeated, walks over them as loops, the rest one by one.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from statemachines.compile import Compiled
from statemachines.lifecycle import Row, RowStep
from statemachines.rows.group_writer import together, writable
from statemachines.rows.names import Names, item
from statemachines.rows.programs import Program
from statemachines.rows.trace import AtOnce, Call, Given, Step, callers_of, calls_of, refers_to

OWN = "on its own."
LONGEST_SENTENCE = 2000  # characters of what a row is about
FEW = 4  # calls alike that are still written one by one


def row_text(
    name: str,
    about: str,
    level: str,
    source: str,
    covers: Iterable[str],
    steps: Sequence[str],
    claims: Iterable[str] = ("- true",),
    needs: Sequence[str] = (),
) -> str:
    """Return a row as YAML; `steps` and `claims` are lines as they stand below their words, `needs` are expressions."""
    lines = [
        f"{name}:",
        f"  about: {json.dumps(_sentence(about), ensure_ascii=False)}",
        f"  level: {level}",
        f"  source: {source}",
        f"  covers: [{', '.join(covers)}]",
        *(["  needs:"] if needs else []),
        *(f"    {item(each)}" for each in needs),
        "  act:",
        *(f"    {line}" for line in steps),
        "  assert:",
        *(f"    {line}" for line in claims),
    ]
    return "\n".join(lines) + "\n"


def row_as_it_ran(compiled: Compiled, program: Program, values: Mapping[str, Any]) -> str:
    """Return a row as text with the values that its parameters had, as the first steps."""
    row, names = program.row, Names(compiled)
    kinds = dict(program.parameters)
    steps = [item(f"{name} = {names.bound(value, kinds.get(name))}") for name, value in values.items()]
    for step in (*row.arrange, *row.act):
        steps += _step(step)
    return row_text(
        row.id.text,
        row.about,
        row.level,
        row.source,
        [word.text for word in row.covers],
        steps,
        _claims(row),
        [expr.text for expr in row.needs],
    )


def _claims(row: Row) -> Iterator[str]:
    """Write what a row asserts, what stands below one `when` together."""
    for when, claims in itertools.groupby(row.asserts, lambda claim: claim.when):
        if when is not None:
            yield f"- when {_one_line(when.text)}:"
        for claim in claims:
            yield f"{'' if when is None else '    '}{item(_one_line(claim.expr.text))}"


def _step(step: RowStep) -> list[str]:
    if step.loop is not None:
        inner = [f"    {line}" for each in step.body for line in _step(each)]
        return [f"- for each {step.loop.text} in {step.expr.text}:", *inner]
    text = _one_line(step.expr.text)
    return [item(f"{step.binding.text} = {text}" if step.binding is not None else text)]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _sentence(text: str) -> str:
    """Return a text on one line as a spec can hold it: odd signs as their escapes, the middle of a very long one left out."""
    half = LONGEST_SENTENCE // 2
    kept = text if len(text) <= LONGEST_SENTENCE else f"{text[:half]} … {text[-half:]}"
    signs = (sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in _one_line(kept))
    return "".join(signs)


# ── The calls of a trace as steps ──


def written(steps: Sequence[Step], names: Names, told: set[int]) -> list[str]:
    """Write the steps; the last single call is bound as `last`, for the assertion.

    `told` are the calls whose replies the words about the fault need.
    """
    used = (told - {call.number for call in calls_of(steps[-1])}) | _used(steps)
    steps = [each for step in steps for each in writable(step, used, names)]
    used |= _used(steps)
    lines = [item(f"{name} = fresh({kind})") for name, kind in names.shared.values()]
    index = 0
    end = len(steps) - 1  # the last step has a name of its own
    while index < len(steps):
        many = _alike(steps[:end], index, names)
        walked = _walk(steps[:end], index, used, names)
        if many >= FEW:
            lines.append(item(_repeated(steps[index : index + many], used, names)))
            index += many
        elif walked is not None:
            lines += walked[0]
            index += walked[1]
        else:
            lines.append(_single(steps[index], index == end, used, names))
            index += 1
    return lines


def _used(steps: Sequence[Step]) -> set[int]:
    """Return the numbers of the calls whose replies others use than the later ones of the same caller."""
    return {number for step in steps for caller in callers_of(step) for number in refers_to(caller)}


# ── Calls alike ──


def _alike(steps: Sequence[Step], index: int, names: Names) -> int:
    """Count the calls from here on that read the same, and are about no earlier reply."""
    count = 0
    first = ""
    for step in steps[index:]:
        if not isinstance(step, Call) or step.refers() or names.unasked(step):
            break
        text = names.call(step)
        if text != (first := first or text):
            break
        count += 1
    return count


def _repeated(steps: Sequence[Step], used: set[int], names: Names) -> str:
    """Write calls that read the same as one; with a name if a later step uses one of their replies."""
    calls = [call for step in steps for call in calls_of(step)]
    text = f"repeat({len(calls)}, {names.call(calls[0])})"
    if not any(call.number in used for call in calls):
        return text
    binding = names.free("started")
    for position, call in enumerate(calls):
        names.reach[call.number] = f"{binding}[{position}]"
    return f"{binding} = {text}"


# ── Walks over repeated records ──


def _walk(steps: Sequence[Step], index: int, used: set[int], names: Names) -> tuple[list[str], int] | None:
    """Write calls that go through repeated records one after the other as a loop, if they do.

    A call whose reply a later step uses stands alone: nothing reaches into a loop.
    """
    left = list(itertools.takewhile(lambda step: not used & {call.number for call in calls_of(step)}, steps[index:]))
    for period in (1, 2):
        body = left[:period]
        first = _position(body[0], names) if len(body) == period else None
        if first is None:
            continue
        for step in (1, -1):
            rounds = _rounds(left, body, first, step, names)
            if rounds >= FEW:
                return _loop(body, first, rounds, step, names), rounds * period
    return None


def _position(step: Step, names: Names) -> tuple[str, int] | None:
    """Return the list and the position of the repeated record that a call is about."""
    for _, value in step.arguments if isinstance(step, Call) else ():
        if isinstance(value, Given) and (reach := names.reach.get(value.step, "")).endswith("]"):
            binding, _, position = reach[:-1].partition("[")
            return (binding, int(position)) if position.isdigit() else None
    return None


def _rounds(steps: Sequence[Step], body: Sequence[Step], first: tuple[str, int], step: int, names: Names) -> int:
    """Count how often the body comes, each time about the next record."""
    binding, position = first
    period, rounds = len(body), 0
    while _follows(
        steps[rounds * period : (rounds + 1) * period], body, f"{binding}[{position + step * rounds}]", names
    ):
        rounds += 1
    return rounds


def _follows(steps: Sequence[Step], body: Sequence[Step], reach: str, names: Names) -> bool:
    """Return whether steps are those of a loop's body, about one repeated record."""
    if len(steps) != len(body):
        return False
    for step, like in zip(steps, body, strict=True):
        if not isinstance(step, Call) or not isinstance(like, Call) or step.operation != like.operation:
            return False
        if [name for name, _ in step.arguments] != [name for name, _ in like.arguments]:
            return False
        for (_, value), (_, wanted) in zip(step.arguments, like.arguments, strict=True):
            about = isinstance(value, Given) and names.reach.get(value.step) == reach
            if about != isinstance(wanted, Given) or not (about or value == wanted):
                return False
    return True


def _loop(body: Sequence[Step], first: tuple[str, int], rounds: int, step: int, names: Names) -> list[str]:
    """Write a loop over a stretch of a list, forwards or backwards."""
    binding, position = first
    total = len({reach.partition("]")[0] for reach in names.reach.values() if reach.startswith(f"{binding}[")})
    over, skipped = binding, position
    if step < 0:
        over, skipped = f"{binding}.reversed()", total - 1 - position
    over += (f".drop({skipped})" if skipped else "") + (f".take({rounds})" if skipped + rounds < total else "")
    each = names.free("r")
    lines = [f"- for each {each} in {over}:"]
    for call in (call for step in body for call in calls_of(step)):
        inner = {value.step: each for _, value in call.arguments if isinstance(value, Given)}
        lines.append(f"    {item(names.call(call, inner))}")
    return lines


# ── One by one ──


def _single(step: Step, last: bool, used: set[int], names: Names) -> str:
    if isinstance(step, AtOnce):
        return item(together(step, used, names))
    if names.unasked(step):
        about = [names.value(each, None) if isinstance(each, Given) else str(each) for _, each in step.arguments]
        return f"# the implementation takes {step.operation.removeprefix(OWN)}({', '.join(about)}) unasked"
    text = names.call(step)
    if step.number in used:
        names.reach[step.number] = names.reply(step)
        return item(f"{names.reach[step.number]} = {text}")
    return item(f"last = {text}" if last else text)
