"""Calls at once: threads from a common start, yielding at random lines of the system's own code.

A plain race between threads almost never shows a check-then-set fault, because a thread runs for
milliseconds before another gets its turn. A yield at a few lines, chosen by a seed, shows it within a
few rounds.
"""

from __future__ import annotations

import os
import random
import site
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from conformance.adapter import Broken
from conformance.worker import slices

_LIBRARY = tuple(
    {sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    | set(site.getsitepackages())
)
_KIT = tuple(
    f"{Path(module.__file__ or '').parent}{os.sep}"
    for name in ("conformance", "statemachines")
    if (module := sys.modules.get(name))
)
_RATES = (0.03, 0.15, 0.5)  # how often a line yields: some faults need many switches, others few


def is_own(file: str, own: frozenset[str] = frozenset()) -> bool:
    """Tell whether a source file belongs to the system under test: no library, and not the kit.

    Files in `own` do whatever else they are: the system's class may live in a library, or in the kit.
    """
    return file in own or not (file.startswith(("<", *_LIBRARY)) or file.startswith(_KIT))


def one_after_the_other(bodies: Sequence[Callable[[], Any]], seed: int) -> list[Any]:
    """Evaluate bodies in an order that the seed chooses; give their values in the order of the bodies."""
    order = list(range(len(bodies)))
    random.Random(seed).shuffle(order)
    found = {index: bodies[index]() for index in order}
    return [found[index] for index in range(len(bodies))]


def run_at_once(
    bodies: Sequence[Callable[[], Any]],
    seed: int,
    own: frozenset[str],
    limit: float,
    progress: Callable[[], int],
) -> list[Any]:
    """Evaluate bodies on threads of their own; give their values in order.

    The first exception of a body is raised again. When `progress` stands still for `limit` seconds and
    bodies are not done, that is a hang; their threads are left behind.
    """
    results: list[Any] = [None] * len(bodies)
    failures: list[BaseException | None] = [None] * len(bodies)
    start = threading.Barrier(len(bodies))
    rate = random.Random(seed).choice(_RATES)

    def work(index: int) -> None:
        sys.settrace(_yielding(random.Random(f"{seed}/{index}"), rate, own))
        try:
            start.wait()
            results[index] = bodies[index]()
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that asked
            failures[index] = error
        finally:
            sys.settrace(None)

    threads = [threading.Thread(target=work, args=(index,), daemon=True) for index in range(len(bodies))]
    for thread in threads:
        thread.start()
    stuck = _joined(threads, limit, progress)
    if stuck:
        raise Broken(
            "hang",
            f"{stuck} of {len(bodies)} calls made at once did not come back: nothing moved for {limit:g} s",
        )
    for failure in failures:
        if failure is not None:
            raise failure
    return results


def _joined(threads: Sequence[threading.Thread], limit: float, progress: Callable[[], int]) -> int:
    """Wait until the threads are done, or nothing has moved for `limit` seconds; give how many are not done."""
    made, waiting = progress(), slices(limit)
    for thread in threads:
        while thread.is_alive() and (seconds := next(waiting, 0.0)):
            thread.join(seconds)
            if progress() != made:
                made, waiting = progress(), slices(limit)
    return sum(thread.is_alive() for thread in threads)


def _yielding(
    choice: random.Random, rate: float, own: frozenset[str]
) -> Callable[[FrameType, str, Any], Any]:
    """Give a trace function that lets other threads run at random lines of the system's own code."""

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and choice.random() < rate:
            time.sleep(0 if choice.random() < 0.7 else 1e-5)
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        return line if is_own(frame.f_code.co_filename, own) else None

    return call


def overlapping(calls: Sequence[tuple[int, int, int]]) -> int:
    """Count the calls that overlapped one of another caller; each is (began, ended, caller)."""
    count = 0
    running: list[tuple[int, int]] = []
    for began, ended, caller in sorted(calls):
        running = [(end, who) for end, who in running if end > began]
        count += any(who != caller for _, who in running)
        running.append((ended, caller))
    return count
