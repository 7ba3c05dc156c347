"""What a skeleton has to say, whatever its language: what may be declared, and each operation in words."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.lifecycle import Policy
from statemachines.types import NULL, DocumentType, Enum, List, Optional, RecordType, Type, optional


@dataclass(frozen=True, slots=True)
class Asked:
    """One parameter of an operation.

    left_out  what holds where a caller leaves it out, if that is not just null; empty where there is nothing to say
    """

    name: str
    type: Type
    may_be_left_out: bool
    left_out: str

    def said(self, null: str) -> str:
        """Say which words it takes, and what holds where it is left out, which is `null` in a language; "" for neither."""
        words = f"{self.name}: {shape(present)}" if _has_words(present := self.type_given) else ""
        if not self.left_out:
            return words
        return f"{words or self.name}{';' if words else ''} {null}: {self.left_out}"

    @property
    def type_given(self) -> Type:
        """Its type where a caller gives it."""
        return self.type.item if self.may_be_left_out and isinstance(self.type, Optional) else self.type


@dataclass(frozen=True, slots=True)
class Method:
    """One operation as a method of an adapter.

    gives    NULL where it gives nothing
    until    what it waits for; empty where it comes back by itself
    refuses  the codes with which it may be refused
    control  whether it is an observer or a test control, and no part of the product
    """

    name: str
    about: str
    asked: tuple[Asked, ...]
    gives: Type
    until: str
    refuses: tuple[str, ...]
    control: bool

    def said(self, null: str, *, gives: bool = True) -> Iterator[str]:
        """Walk what there is to say of it, a sentence each; what it `gives` only where the language's types do not."""
        yield self.about
        yield from (f"{said}." for each in self.asked if (said := each.said(null)))
        if self.until:
            yield f"Waits until {self.until}."
        if gives and self.gives != NULL:
            yield f"Gives {shape(self.gives)}."
        if self.refuses:
            yield f"Refuses {', '.join(self.refuses)}."


@dataclass(frozen=True, slots=True)
class Effect:
    """One signal: its fields, and the operations that it belongs to, in words."""

    name: str
    fields: tuple[str, ...]
    told: str


@dataclass(frozen=True, slots=True)
class Outline:
    """All that the skeleton of a life cycle says.

    called    the life cycle as the command line names it, quoted
    code      a code with which its operations refuse
    limits, policies, lacks, parts  what it may declare, as it holds where nothing is declared; no parts where it has none
    choices   sentences about policies that need not be declared
    """

    name: str
    called: str
    code: str
    limits: Mapping[str, int | None]
    policies: Mapping[str, str]
    lacks: tuple[str, ...]
    parts: tuple[str, ...]
    choices: tuple[str, ...]
    signals: tuple[Effect, ...]
    methods: tuple[Method, ...]

    @property
    def controls(self) -> tuple[Method, ...]:
        """Observers and test controls."""
        return tuple(each for each in self.methods if each.control)

    @property
    def product(self) -> tuple[Method, ...]:
        """The operations of the product."""
        return tuple(each for each in self.methods if not each.control)


def outline(compiled: Compiled) -> Outline:
    """Return what the skeleton of a life cycle has to say."""
    spec = compiled.lifecycle
    mandatory = [operation for operation in compiled.kernel.operations if not operation.optional]
    policies = {
        name: each for name, each in spec.policies.items() if not each.is_undeclared and not each.is_recommended
    }
    return Outline(
        name=spec.name,
        called=shlex.quote(compiled.called),
        code=next((code for code in compiled.words.types.codes if code != "wrong_state"), "not_found"),
        limits={name: limit.default for name, limit in spec.limits.items()},
        policies={name: each.default.text for name, each in policies.items()},
        lacks=tuple(operation.name for operation in compiled.kernel.operations if operation.optional),
        parts=tuple(spec.parts),
        choices=tuple(_choice(each) for name, each in spec.policies.items() if name not in policies),
        signals=tuple(_signals(compiled, mandatory)),
        methods=tuple(_method(compiled, operation) for operation in mandatory),
    )


def _choice(policy: Policy) -> str:
    """Tell of a policy that need not be declared; any of its choices is right then."""
    words = " | ".join(word.text for word in policy.choices)
    said = f", {policy.default.text} is only recommended" if policy.is_recommended else ""
    return f"One more policy, to declare or not: {policy.name.text} = {words}{said}."


def _signals(compiled: Compiled, operations: list[kernel.Operation]) -> Iterator[Effect]:
    for name, fields in compiled.kernel.signals:
        causes = [operation.name for operation in operations if name in _emitted(operation.effects)]
        taken = [
            each for each in compiled.kernel.spontaneous if each.operation in causes or name in _emitted(each.effects)
        ]
        told = ", ".join(causes) + (", or unasked" if causes and taken else "unasked" if taken else "")
        yield Effect(name, tuple(key for key, _ in fields), told)


def _emitted(effects: tuple[kernel.Effect, ...]) -> set[str]:
    return {effect.signal for effect in kernel.walk(effects) if isinstance(effect, kernel.Emit)}


def _method(compiled: Compiled, operation: kernel.Operation) -> Method:
    declared = compiled.lifecycle.operations[operation.name]
    ends = [declared.until] if declared.until is not None else []
    until = [" ".join(each.text.split()) for each in ends]
    if declared.waits is not None and until:
        until.insert(0, f"{declared.waits.text} ms are over")
    return Method(
        name=operation.name,
        about=" ".join(operation.about.split()) or "…",
        asked=tuple(_asked(compiled, operation, each) for each in operation.parameters),
        gives=operation.reply.type if operation.reply is not None else NULL,
        until=", or ".join(until),
        refuses=tuple(refusals(operation)),
        control=operation.control,
    )


def _asked(compiled: Compiled, operation: kernel.Operation, parameter: kernel.Parameter) -> Asked:
    if parameter.default is None:
        return Asked(parameter.name, parameter.wire, may_be_left_out=False, left_out="")
    said = _default(compiled, operation, parameter)
    told = "" if said == "null" and not _has_words(parameter.wire) else f"the caller left it out and means {said}"
    return Asked(parameter.name, optional(parameter.wire), may_be_left_out=True, left_out=told)


def _default(compiled: Compiled, operation: kernel.Operation, parameter: kernel.Parameter) -> str:
    """Say what holds for a parameter that a caller leaves out; a group of states by its members."""
    default = compiled.lifecycle.operations[operation.name].takes[parameter.name].default
    said = default.text if default is not None else "null"
    for entity in compiled.kernel.entities:
        for group, states in entity.groups:
            if group == said:
                return ", ".join(states)
    return said


def _has_words(kind: Type) -> bool:
    return _has_words(kind.item) if isinstance(kind, Optional | List) else isinstance(kind, Enum)


# ── Words that `explain` uses too ──


def refusals(operation: kernel.Operation) -> list[str]:
    """List the codes with which an operation may be refused."""
    refused = {require.code for require in operation.requires if require.answer == "refused"}
    return sorted(refused - {"", kernel.ANY_CODE})


def by_name(kind: Type) -> str:
    """Write a value that is no list and no record by the words of an enumeration, or by the name of its type."""
    return " | ".join(kind.members) if isinstance(kind, Enum) else str(kind)


def shape(kind: Type, plain: Callable[[Type], str] = by_name) -> str:
    """Write the form of a value as JSON would show it; `plain` writes what is no list and no record."""
    match kind:
        case Optional(item=item):
            return f"{shape(item, plain)} | null"
        case List(item=item):
            return f"[{shape(item, plain)}]"
        case RecordType(fields=fields):
            return "{" + ", ".join(f"{name}: {shape(field, plain)}" for name, field in fields) + "}"
        case DocumentType():
            return '{"text": …} | {"file": path}'
        case _:
            return plain(kind)
