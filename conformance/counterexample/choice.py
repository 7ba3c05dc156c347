"""Whether another choice of a policy explains a fault: then the system may only have declared the wrong one, or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.counterexample.play import NOTHING, Played, play
from conformance.judge import Case
from statemachines.rows import Trace


def choice_that_explains(
    case: Case, trace: Trace, once: Callable[[Trace, int], Played], fits: Callable[[str, str], bool]
) -> str:
    """Name a policy with the choice with which nothing is wrong about a trace; an empty text where there is none.

    What is declared has to show the fault again after that, when it is played `once` more, or the choice need not have
    made the difference. `fits` tells whether the choice of a policy makes nothing else wrong.
    """
    adapter, compiled = case.adapter, case.compiled
    usual = adapter.declaration
    now = {**dict(compiled.kernel.policies), **usual.policies}
    for name, policy in compiled.lifecycle.policies.items():
        free = name in compiled.kernel.undeclared and name not in usual.policies
        for choice in () if free else policy.choices:
            if choice.text == now[name]:
                continue
            adapter.declaration = replace(usual, policies={**usual.policies, name: choice.text})
            try:
                found = play(compiled, adapter, trace, case.seed, case.budget, strictly=True)
            finally:
                adapter.declaration = usual
            explains = found.finding is None and found is not NOTHING and once(trace, case.seed).finding is not None
            if explains and fits(name, choice.text):
                return f"`{name}: {choice.text}`"
    return ""
