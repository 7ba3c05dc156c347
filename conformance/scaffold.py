"""The skeleton of an adapter: every operation with its parameters, what it gives and how it refuses."""

from __future__ import annotations

from conformance.explain import shape
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.types import NULL, Bool, Enum, Int, List, Optional, Record, Time, Type

_HEAD = '''"""An adapter for {name}: between your system and the kit.

    conformance run {name} --against python:THIS_MODULE:MyJobs

A fresh object is made for every case. A method makes the call on your system and gives plain values
back; it refuses with `raise Refused(code)`. Anything else that is raised counts as a crash.
"""

from typing import Any

from conformance import Refused  # raise Refused("{code}")


class MyJobs:
    # What your system says of itself; leave a word out where its default fits.
    declares = {{
        "limits": {limits},
        "policies": {policies},
        "lacks": {lacks},  # the optional operations that it does not have
        "clock": "none",  # "virtual" with a wait(ms) below that moves it; "real" when only time moves it
        "concurrency": "none",  # "threads" when calls may come from several threads at once
    }}

    def __init__(self) -> None:
        """Make your system, empty."""

    def close(self) -> None:
        """Free what this case used."""

    def signals(self) -> list[dict[str, Any]]:
        """What your system did beside its replies since the last call of signals().

{signals}
        """
        return []
'''


def python_skeleton(compiled: Compiled) -> str:
    """Write the skeleton of a Python adapter."""
    spec = compiled.lifecycle
    signals = "\n".join(
        f'        {{"signal": "{name}", {", ".join(f"{key!r}: …".replace(chr(39), chr(34)) for key, _ in fields)}}}'
        for name, fields in compiled.kernel.signals
    )
    optional = [operation.name for operation in compiled.kernel.operations if operation.optional]
    text = _HEAD.format(
        name=spec.name,
        code=next((code for code in compiled.words.codes if code != "wrong_state"), "not_found"),
        limits=_literal({name: limit.default for name, limit in spec.limits.items()}),
        policies=_literal({name: policy.default.text for name, policy in spec.policies.items()}),
        lacks=_literal(optional),
        signals=signals,
    )
    return text + "".join(
        _method(operation) for operation in compiled.kernel.operations if not operation.optional
    )


def _literal(value: object) -> str:
    return repr(value).replace("'", '"')


def _method(operation: kernel.Operation) -> str:
    arguments = "".join(
        f", {each.name}: {_annotation(each.wire)}{' | None = None' if each.default is not None else ''}"
        for each in operation.parameters
    )
    gives = operation.reply.type if operation.reply is not None else NULL
    codes = sorted({r.code for r in operation.requires if r.answer == "refused" and r.code not in ("", "*")})
    about = " ".join(operation.about.split()) or "…"
    lines = [f"\n    def {operation.name}(self{arguments}) -> {_annotation(gives)}:", f'        """{about}']
    if gives != NULL:
        lines.append(f"        Gives {shape(gives)}.")
    if codes:
        lines.append(f"        Refuses {', '.join(codes)}.")
    lines[-1] += '"""'
    lines.append(f'        raise NotImplementedError("{operation.name}")')
    return "\n".join(lines) + "\n"


def _annotation(kind: Type) -> str:
    match kind:
        case Optional(item=item):
            return f"{_annotation(item)} | None"
        case List(item=item):
            return f"list[{_annotation(item)}]"
        case Record():
            return "dict[str, Any]"
        case Bool():
            return "bool"
        case Int() | Time():
            return "int"
        case Enum():
            return "str"
        case _ if kind == NULL:
            return "None"
        case _:
            return "str"
