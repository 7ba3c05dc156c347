"""The skeleton of an adapter in Python: what to declare, observers and test controls, then the operations of the product."""

from __future__ import annotations

from conformance.skeleton.facts import Effect, Method, Outline
from statemachines.types import Bool, Int, List, Null, Optional, RecordType, Time, Type

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


def python(said: Outline) -> str:
    """Write the skeleton of an adapter in Python."""
    head = _HEAD.format(
        name=said.name,
        called=said.called,
        code=said.code,
        limits=_literal(dict(said.limits)),
        policies=_literal(dict(said.policies)),
        lacks=_literal(list(said.lacks)),
        parts=f'\n        "parts": {_literal(list(said.parts))},  # which of them it has' if said.parts else "",
        choices="".join(f"\n    # {each}" for each in said.choices),
        signals=_SIGNALS.format(signals="\n".join(map(_signal, said.signals))) if said.signals else "",
    )
    return "".join([head, *map(_method, said.controls), _PRODUCT, *map(_method, said.product)])


def _literal(value: object) -> str:
    return repr(value).replace("'", '"')


def _signal(signal: Effect) -> str:
    given = ", ".join(f'"{key}": …' for key in signal.fields)
    return f'        {{"signal": "{signal.name}", {given}}}  {signal.told}'.rstrip()


def _method(method: Method) -> str:
    arguments = "".join(
        f", {each.name}: {_annotation(each.type)}{' = None' if each.may_be_left_out else ''}" for each in method.asked
    )
    words = "\n        ".join(method.said("None"))
    return (
        f"\n    def {method.name}(self{arguments}) -> {_annotation(method.gives)}:\n"
        f'        """{words}"""\n'
        f'        raise NotImplementedError("{method.name}")\n'
    )


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
