"""Whoever can do less, or has other limits, is as right: each reference under every weaker true declaration, and every choice."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import pytest

from conformance.references.cli_job import CliJobs
from conformance.references.local_agent import LocalAgents
from conformance.references.threaded import Threaded
from conformance.verdict import EXIT_CONFORMS, Verdict
from tests.conformance.lifecycles import SUITES, Suite
from tests.conformance.systems import BRIEF, explained, whole_run
from tests.tools.running import RunningTool

pytestmark = pytest.mark.soak


@dataclass(frozen=True)
class Weaker:
    """What a reference declares otherwise, and does: what it is made with is the limits and policies."""

    name: str
    declares: dict[str, Any] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()
    made_with: dict[str, Any] = field(default_factory=dict)

    def of(self, reference: Any) -> type:
        """The reference as a system of its own that is so."""
        standard, made_with = reference.declares, self.made_with
        bases: tuple[type, ...] = (reference,)
        words = {**standard, **self.declares, "lacks": list(self.lacks)}
        for word in ("limits", "policies"):
            own = {name: value for name, value in made_with.items() if name in SPEC_WORDS[word]}
            words[word] = {**standard[word], **own}
        hidden: dict[str, Any] = dict.fromkeys(self.lacks)
        clock = words["clock"]
        if clock == "running" and issubclass(reference, Threaded):
            bases = (RunningTime, reference)
        elif clock != "virtual" and issubclass(reference, Threaded):
            bases = (RealTime, reference)
            hidden["wait"] = None
        if clock in ("running", "real") and issubclass(reference, CliJobs):
            hidden["program"] = RunningTool

        def made(self: Any) -> None:
            reference.__init__(self, **made_with)

        return type(reference.__name__, bases, {**hidden, "declares": words, "__init__": made})


SPEC_WORDS: dict[str, set[str]] = {
    "limits": {name for suite in SUITES.values() for name in suite.compiled.lifecycle.limits},
    "policies": {name for suite in SUITES.values() for name in suite.compiled.lifecycle.policies},
}


class RealTime(Threaded):
    """A system on threads whose clock is that of the machine; what is due then happens before the next operation."""

    began = 0.0

    @property
    def _now(self) -> int:
        self.began = self.began or time.monotonic()
        return int((time.monotonic() - self.began) * 1000)

    @_now.setter
    def _now(self, value: int) -> None:
        """Let nobody move it."""

    def _locked(self) -> AbstractContextManager[bool]:
        if isinstance(self, LocalAgents) and hasattr(self, "_tasks"):
            with super()._locked():
                LocalAgents.wait.__wrapped__(self, 0)  # type: ignore[attr-defined]  # a method that holds the lock
        return super()._locked()


class RunningTime(RealTime):
    """The same, and `wait` moves it on."""

    moved = 0

    @property
    def _now(self) -> int:
        return super()._now + self.moved

    @_now.setter
    def _now(self, value: int) -> None:
        """Let nobody move it but `wait`."""

    def wait(self, ms: int) -> None:
        with self._locked():
            self.moved += ms


def weaker(suite: Suite) -> Iterator[Weaker]:
    """Every declaration that is one step weaker, or one choice another."""
    spec = suite.compiled.lifecycle
    reference: Any = suite.reference
    yield Weaker("no-concurrency", {"concurrency": "none"})
    yield Weaker("no-clock", {"clock": "none"})
    yield Weaker("real-clock", {"clock": "real"})
    if isinstance(reference, type) and issubclass(reference, Threaded | CliJobs):
        yield Weaker("running-clock", {"clock": "running"})
    yield Weaker("none-of-both", {"clock": "none", "concurrency": "none"})
    optional = [name for name, operation in spec.operations.items() if operation.optional]
    for name in optional:
        yield Weaker(f"no-{name}", lacks=(name,))
    if len(optional) > 1:
        yield Weaker("nothing-optional", lacks=tuple(optional))
    taken = inspect.signature(reference).parameters
    free = any(each.kind is each.VAR_KEYWORD for each in taken.values())
    for name, limit in spec.limits.items():
        for size in (1, 2, 3 * (limit.default or 0)) if name in taken else ():
            yield Weaker(f"{name}-{size}", made_with={name: size})
    for name, policy in spec.policies.items():
        for choice in policy.choices if name in taken or (free and name in reference.declares["policies"]) else ():
            if choice.text != reference.declares["policies"].get(name):
                yield Weaker(f"{name}-{choice.text}", made_with={name: choice.text})


def each() -> Iterator[Any]:
    for suite in SUITES.values():
        for one in weaker(suite):
            yield pytest.param(suite, one, id=f"{suite.name}-{one.name}")


@pytest.mark.parametrize(("suite", "one"), list(each()))
def test_a_reference_that_declares_less_or_otherwise_conforms(suite: Suite, one: Weaker) -> None:
    code, results = whole_run(one.of(suite.reference), suite.compiled, budget=BRIEF)
    held = (Verdict.PASS, Verdict.NOT_APPLICABLE)
    assert [explained(each) for each in results if each.verdict not in held] == []
    assert code == EXIT_CONFORMS
