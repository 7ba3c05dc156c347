"""What a map says: which entry of a log is what, where its parts are found, and what is known of the system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from conformance.logs.reading.fields import MS
from conformance.system import Declaration, declared
from statemachines.compile import Compiled
from statemachines.kernel import Operation
from statemachines.types import RecordType

Kind = Literal["call", "begins", "ends", "signal"]
KINDS: tuple[Kind, ...] = ("call", "begins", "ends", "signal")
OTLP = "otlp"
USUALLY_REMEMBERED = 100  # ended records and messages sent, of each kind


@dataclass(frozen=True, slots=True)
class Rule:
    """What an entry is that meets some conditions.

    name   of the operation or the signal
    paths  where its arguments or its fields are found
    gives  where the fields of its reply are found; None where they are not said one by one
    reply  where its reply is found as a whole; empty where it is not
    """

    when: Mapping[str, Any]
    kind: Kind
    name: str
    paths: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    gives: Mapping[str, str] | None = None
    reply: str = ""
    refused: str = ""
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogMap:
    """How a log is read, and what is known of the system that wrote it.

    plain     its entries are in the kit's own form
    clock     real, virtual or none
    window    nanoseconds by which entries may be out of their order; `places`, how many entries
    slack     nanoseconds by which the time of an entry may be wrong
    hidden    the operations that the log does not show
    """

    declaration: Declaration
    rules: tuple[Rule, ...] = ()
    ignore: tuple[Mapping[str, Any], ...] = ()
    plain: bool = True
    form: str = "lines"
    time: str = "at"
    until: str = "until"
    unit: str = "ms"
    split: str = ""
    correlation: str = ""
    window: int = 0
    places: int = 0
    slack: int = 0
    hidden: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    remember: int = USUALLY_REMEMBERED
    skips: bool = False

    @property
    def clock(self) -> str:
        """What the times of the log are."""
        return self.declaration.clock


def declaring(compiled: Compiled, words: Mapping[str, Any]) -> Declaration:
    """Return what is known of a system that wrote a log, in the words of a declaration. Raises DeclarationError."""
    return declared(compiled, {"clock": "real", **words}, has_wait=True, asynchronous=False)


def usual(compiled: Compiled) -> LogMap:
    """Return the map of a log in the kit's own form, of a system that has declared nothing."""
    return LogMap(declaring(compiled, {}))


# ── Spans ──

SPANS_LATE = 10_000 * MS  # nanoseconds: a span is written when it is over, and in a batch


def of_spans(compiled: Compiled) -> LogMap:
    """Return the map of spans that are called as the operations are, and span events as the signals.

    An argument is an attribute of its name, a field of the reply an attribute `gives.NAME`, the whole reply `gives`, and the code
    of a refusal `refused`. The name of the life cycle and a dot may stand before each name of a span or an event.
    """
    spec = compiled.lifecycle
    rules = [_span(spec.name, operation) for operation in compiled.kernel.operations]
    rules += [
        Rule(
            {"is": "event", "name": [name, f"{spec.name}.{name}"]},
            "signal",
            name,
            {part: f"attributes.{part}" for part, _ in fields},
        )
        for name, fields in compiled.kernel.signals
    ]
    return LogMap(
        declaring(compiled, {}),
        tuple(rules),
        plain=False,
        form=OTLP,
        time="start",
        until="end",
        unit="ns",
        window=SPANS_LATE,
    )


def _span(lifecycle: str, operation: Operation) -> Rule:
    kind = operation.reply.type if operation.reply is not None else None
    parts = kind.fields if isinstance(kind, RecordType) else None
    whole = "attributes.gives" if operation.reply is not None and parts is None else ""
    return Rule(
        {"is": "span", "name": [operation.name, f"{lifecycle}.{operation.name}"]},
        "call",
        operation.name,
        {each.name: f"attributes.{each.name}" for each in operation.parameters},
        gives={name: f"attributes.gives.{name}" for name, _ in parts} if parts is not None else None,
        reply=whole,
        refused="attributes.refused",
    )
