"""What is allowed: a system's calls, as observed, beside the model, and what is not explained by it.

`Case` makes the calls of one case and judges each; a crash or a hang, which `system` notices, is judged here too.
"""

from __future__ import annotations

from conformance.judge import kernel_facts
from conformance.judge.avoided import BrokenCalls, endless
from conformance.judge.case import CASES_OF_A_SEED, CallFailed, Case, case_seed
from conformance.judge.differences import InOrder, Listed, Times, part
from conformance.judge.finding import (
    ACCEPTED,
    BESIDE,
    NO_REPLY,
    NO_SIGNAL,
    NO_WAY,
    PRESENCE,
    REFUSED,
    Finding,
    said,
    short,
)
from conformance.judge.history import Event, History, calls_of, longest
from conformance.judge.judge import Judge, Suspicion
from conformance.judge.lockstep import Lockstep
from conformance.judge.matching import Seen, Signals, comparable, permitted, required
from conformance.judge.observation import Observation, WrongShape, observe
from conformance.judge.passing import AT_ONCE, Passing
from conformance.judge.step import Configuration, Stepper
