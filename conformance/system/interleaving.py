"""How calls at once meet on an event loop: in which order they are made, how much later one is, and how long tasks that give way linger."""

from __future__ import annotations

import asyncio
import random
import threading
import weakref
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

# In how many of the groups first calls come later than the first one, and by how many turns of the loop: a call has few steps.
_LATE, _LATER = 0.5, (0, 1, 2, 3, 5, 8)
# In how many of the groups tasks linger, how often one does that lets others run, and for how many turns more.
_LINGERING, _LINGERS, _TURNS_MORE = 0.6, 0.5, (1, 2, 3, 5, 8, 13)
_TURN = 0.0005  # seconds of a turn by a real clock
_STEPS = (
    "TaskStepMethWrapper",
    "__step",
)  # what a task is called with that begins or has given way: written in C, or in Python

Work = Callable[[], Coroutine[Any, Any, Any]]
Held = list[tuple[int, Callable[[], object]]]
"""What lingers: each with the turns of the loop that it does so, and how it goes on."""


class Lingering:
    """Lets tasks that give way to others on a loop do so for some turns more: `asyncio.sleep(0)` stands for what takes time.

    What is called soon otherwise is called in its order, as a loop promises: tasks begin, and those that waited for something
    go on, when it is their turn.

    held  takes what lingers, where the clock is virtual: who holds it knows when it has lingered long enough; None by a real one
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, held: Held | None) -> None:
        self._chooser: random.Random | None = None
        self._loop, self._held = loop, held
        self._begun = weakref.WeakSet[asyncio.Task[Any]]()
        self._soon = loop.call_soon
        loop.call_soon = self._call_soon  # type: ignore[assignment,method-assign]  # tasks ask the loop for it each time

    def begin(self, seed: int | None) -> None:
        """Let tasks linger from now on as a seed chooses, in some of the groups; with None not any more."""
        chooser = random.Random(seed)
        self._chooser = chooser if seed is not None and chooser.random() < _LINGERING else None

    def _call_soon(self, callback: Callable[..., Any], *args: Any, **context: Any) -> asyncio.Handle:
        task = getattr(callback, "__self__", None)
        if not isinstance(task, asyncio.Task) or getattr(callback, "__name__", type(callback).__name__) not in _STEPS:
            return self._soon(callback, *args, **context)
        begun, chooser = task in self._begun, self._chooser
        self._begun.add(task)
        if not begun or chooser is None or chooser.random() >= _LINGERS:
            return self._soon(callback, *args, **context)
        turns, goes_on = chooser.choice(_TURNS_MORE), partial(self._soon, callback, *args, **context)
        if self._held is None:
            return self._loop.call_later(turns * _TURN, goes_on)
        self._held.append((turns, goes_on))
        return asyncio.Handle(goes_on, (), self._loop)


class Gate:
    """Lets callers make their first calls in an order that a seed chooses, and holds an event loop until all have, so that they overlap.

    turns  for each caller, how many turns of the loop its first call comes later: it may meet others in their middle
    """

    def __init__(self, callers: int, limit: float, seed: int) -> None:
        chooser = random.Random(seed)
        self._line = chooser.sample(range(callers), callers)
        late = chooser.random() < _LATE
        later = dict(zip(self._line[1:], chooser.choices(_LATER, k=callers - 1), strict=True)) if late else {}
        self.turns = [later.get(caller, 0) for caller in range(callers)]
        self._may_call = [threading.Event() for _ in range(callers)]
        self._may_call[self._line[0]].set()
        self._submitted = 0
        self._lock = threading.Lock()
        self._open = threading.Event()
        self._limit = limit

    def enter(self, caller: int) -> None:
        """Wait until those before a caller have made their calls."""
        self._may_call[caller].wait(self._limit)

    def submitted(self) -> None:
        """Count a call that was made."""
        with self._lock:
            self._submitted += 1
            if self._submitted < len(self._line):
                self._may_call[self._line[self._submitted]].set()
            else:
                self._open.set()

    def hold(self) -> None:
        """Wait on the loop's own thread."""
        self._open.wait(self._limit)


async def after_turns(turns: int, work: Work) -> Any:
    """Return what work gives that begins so many turns of the loop later."""
    for _ in range(turns):
        await asyncio.sleep(0)
    return await work()
