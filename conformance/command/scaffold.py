"""The skeleton of an adapter: what to declare, observers and test controls, then the operations of the system."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from conformance.command.explain import refusals, shape
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.lifecycle import Policy
from statemachines.types import NULL, Bool, Enum, Int, List, Null, Optional, RecordType, Time, Type, optional

_HEAD = '''"""An adapter for {name}: between your system and the kit.

    conformance run {called} --against python:THIS_MODULE:MyJobs

A fresh object is made for every case. A method makes the call on your system and gives plain values
back; it refuses with `raise Refused(code)`. Anything else that is raised counts as a crash.
"""

from __future__ import annotations

from typing import Any

from conformance import Refused  # raise Refused("{code}")


class MyJobs:
    # What your system says of itself; leave a word out where its default fits.{choices}
    declares = {{
        "limits": {limits},
        "policies": {policies},
        "lacks": {lacks},  # optional operations, those that only look, test controls, and signals: "signal NAME"{parts}
        "deviates": {{}},  # known failures, by row or clause: {{"N1": {{"reason": "…"}}}}
        "clock": "none",  # "virtual" with the wait(ms) below, which moves it; "running": time does, too; "real": only time does
        "concurrency": "none",  # "threads" when several threads may call at once; "async" with async methods.
        # Replies to concurrent calls must not be mixed up: keep nothing of one call in this object.
        # Milliseconds until what a call causes can be seen, its signals included. With 0 it is there when the call comes
        # back: what was ended has ended, and the very next call that reads, drains or signals() tells of it. If that takes
        # a moment on another thread, or until something is flushed, say here how long at most.
        "settles": 0,
    }}

    def __init__(self) -> None:
        """Make your system, empty."""

    def close(self) -> None:
        """Free what this case used."""

    # ── Observers and test controls: they are this adapter's, and no part of your product

{signals}    # def wait(self, ms: int) -> None:
    #     """Move the clock that your system reads, for "clock": "virtual"; it is 0 at first."""
'''
_SIGNALS = '''    def signals(self) -> list[dict[str, Any]]:
        """What your system did beside its replies since the last call of signals(), and what may cause it:
{signals}
        """
        return []

'''
_PRODUCT = "\n    # ── The operations of your product\n"


def python_skeleton(compiled: Compiled) -> str:
    """Write the skeleton of a Python adapter."""
    spec = compiled.lifecycle
    mandatory = [operation for operation in compiled.kernel.operations if not operation.optional]
    lacking = [operation.name for operation in compiled.kernel.operations if operation.optional]
    head = _HEAD.format(
        name=spec.name,
        called=shlex.quote(compiled.called),
        code=next((code for code in compiled.words.types.codes if code != "wrong_state"), "not_found"),
        limits=_literal({name: limit.default for name, limit in spec.limits.items()}),
        policies=_literal(
            {
                name: each.default.text
                for name, each in spec.policies.items()
                if not each.is_undeclared and not each.is_recommended
            }
        ),
        lacks=_literal(lacking),
        parts=f'\n        "parts": {_literal(list(spec.parts))},  # which of them it has' if spec.parts else "",
        choices="".join(map(_choice, spec.policies.values())),
        signals=_SIGNALS.format(signals="\n".join(_signals(compiled, mandatory))) if spec.signals else "",
    )
    controls = [_method(compiled, operation) for operation in mandatory if operation.control]
    product = [_method(compiled, operation) for operation in mandatory if not operation.control]
    return "".join([head, *controls, _PRODUCT, *product])


def _choice(policy: Policy) -> str:
    """Tell of a policy that need not be declared; any of its choices is right then."""
    if not policy.is_undeclared and not policy.is_recommended:
        return ""
    words = " | ".join(word.text for word in policy.choices)
    said = f", {policy.default.text} is only recommended" if policy.is_recommended else ""
    return f"\n    # One more policy, to declare or not: {policy.name.text} = {words}{said}."


def _literal(value: object) -> str:
    return repr(value).replace("'", '"')


def _signals(compiled: Compiled, operations: list[kernel.Operation]) -> Iterator[str]:
    """Write each signal as it is given, and the operations that it belongs to."""
    for name, fields in compiled.kernel.signals:
        given = ", ".join(f'"{key}": …' for key, _ in fields)
        causes = [operation.name for operation in operations if name in _emitted(operation.effects)]
        taken = [
            each for each in compiled.kernel.spontaneous if each.operation in causes or name in _emitted(each.effects)
        ]
        told = ", ".join(causes) + (", or unasked" if causes and taken else "unasked" if taken else "")
        yield f'        {{"signal": "{name}", {given}}}  {told}'.rstrip()


def _emitted(effects: tuple[kernel.Effect, ...]) -> set[str]:
    return {effect.signal for effect in kernel.walk(effects) if isinstance(effect, kernel.Emit)}


def _method(compiled: Compiled, operation: kernel.Operation) -> str:
    arguments = "".join(
        f", {each.name}: {_annotation(each.wire if each.default is None else optional(each.wire))}"
        f"{' = None' if each.default is not None else ''}"
        for each in operation.parameters
    )
    gives = operation.reply.type if operation.reply is not None else NULL
    codes = refusals(operation)
    about = " ".join(operation.about.split()) or "…"
    lines = [f"\n    def {operation.name}(self{arguments}) -> {_annotation(gives)}:", f'        """{about}']
    lines += [f"        {said}." for each in operation.parameters if (said := _parameter(compiled, operation, each))]
    until = compiled.lifecycle.operations[operation.name].until
    if until is not None:
        lines.append(f"        Waits until {' '.join(until.text.split())}.")
    if gives != NULL:
        lines.append(f"        Gives {shape(gives)}.")
    if codes:
        lines.append(f"        Refuses {', '.join(codes)}.")
    lines[-1] += '"""'
    lines.append(f'        raise NotImplementedError("{operation.name}")')
    return "\n".join(lines) + "\n"


def _parameter(compiled: Compiled, operation: kernel.Operation, parameter: kernel.Parameter) -> str:
    """Say which words a parameter takes, and what holds for one that a caller leaves out; nothing where there is neither."""
    words = f"{parameter.name}: {shape(parameter.wire)}" if _has_words(parameter.wire) else ""
    if parameter.default is None or (not words and _default(compiled, operation, parameter).endswith(" null")):
        return words
    return f"{words or parameter.name}{';' if words else ''} None: {_default(compiled, operation, parameter)}"


def _has_words(kind: Type) -> bool:
    return _has_words(kind.item) if isinstance(kind, Optional | List) else isinstance(kind, Enum)


def _default(compiled: Compiled, operation: kernel.Operation, parameter: kernel.Parameter) -> str:
    """Say what holds for a parameter that a caller leaves out; a group of states by its members."""
    default = compiled.lifecycle.operations[operation.name].takes[parameter.name].default
    said = default.text if default is not None else "null"
    for entity in compiled.kernel.entities:
        for group, states in entity.groups:
            if group == said:
                return f"the caller left it out and means {', '.join(states)}"
    return f"the caller left it out and means {said}"


def _annotation(kind: Type) -> str:
    match kind:
        case Optional(item=item):
            return f"{_annotation(item)} | None"
        case List(item=item):
            return f"list[{_annotation(item)}]"
        case RecordType():
            return "dict[str, Any]"
        case Bool():
            return "bool"
        case Int() | Time():
            return "int"
        case Null():
            return "None"
        case _:
            return "str"
