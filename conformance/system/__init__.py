"""How a system under test is reached and called: adapters, worker threads, clocks, schedules of calls at once.

How threads take turns is decided here, and a hang or a crash is noticed; no expected answer is seen here.
"""

from __future__ import annotations

from conformance.system.adapter import Adapter, Declare, Signature
from conformance.system.blocking import Clock
from conformance.system.broken import Broken, HarnessError
from conformance.system.concurrent import overlapping
from conformance.system.declaration import (
    MOVED,
    SIGNAL,
    UNLIMITED,
    Declaration,
    DeclarationError,
    Deviation,
    declared,
    deviations,
    may_fail,
    meant,
    ordered_by_completion,
)
from conformance.system.found_class import resolve
from conformance.system.instants import Instant, Stopwatch, Within, each_answer, earliest, latest
from conformance.system.processes import end_all_marked, end_marked, marked
from conformance.system.theirs import code_of, error_told, told
from conformance.system.worker import came, idle, leave, slices, started
