"""Whether another choice of a policy explains a fault: then the system may only have declared the wrong one, or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.counterexample.play import NOTHING, Played, play
from conformance.judge import NO_REPLY, Case, Lockstep
from conformance.system import Declaration
from statemachines.model import Restless
from statemachines.rows import Trace


def choice_that_explains(
    case: Case, best: Played, once: Callable[[Trace, int], Played], fits: Callable[[str, str], bool]
) -> str:
    """Name a policy with the choice with which nothing is wrong about a trace; an empty text where there is none.

    What is declared has to show the fault again after that, when it is played `once` more, or the choice need not have
    made the difference. `fits` tells whether the choice of a policy makes nothing else wrong. A system is asked only where
    the choice explains what it has shown so far, for some take long.
    """
    adapter, compiled, trace = case.adapter, case.compiled, best.trace
    usual = adapter.declaration
    now = {**dict(compiled.kernel.policies), **usual.policies}
    for name, policy in compiled.lifecycle.policies.items():
        free = name in compiled.kernel.undeclared and name not in usual.policies
        for choice in () if free else policy.choices:
            if choice.text == now[name]:
                continue
            other = replace(usual, policies={**usual.policies, name: choice.text})
            if not _explained(case, other, best):
                continue
            adapter.declaration = other
            try:
                found = play(compiled, adapter, trace, case.seed, case.budget, strictly=True)
            finally:
                adapter.declaration = usual
            explains = found.finding is None and found is not NOTHING and once(trace, case.seed).finding is not None
            if explains and fits(name, choice.text):
                return f"`{name}: {choice.text}`"
    return ""


def _explained(case: Case, declared: Declaration, played: Played) -> bool:
    """Return whether what a trace has shown is right by another declaration; no call without a proper reply is."""
    if played.finding is not None and played.finding.kind in (*NO_REPLY, "shape"):
        return False
    lockstep = Lockstep(case.compiled.without(declared.unsent), declared, case.budget)
    try:
        return all(lockstep.advance(each) is None for each in played.made)
    except Restless:
        return False
