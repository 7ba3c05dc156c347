"""The steps of the system's own code, at each of which another thread may get its turn."""

from __future__ import annotations

import dis
import itertools
import os
import site
import sys
import sysconfig
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_LIBRARY = tuple(
    {sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")} | set(site.getsitepackages())
)
_KIT = tuple(  # of both packages, imported yet or not
    f"{Path(found.origin).parent}{os.sep}"
    for name in ("conformance", "statemachines")
    if (found := find_spec(name)) is not None and found.origin is not None
)
_NO_STEP = ("RESUME", "COPY_FREE_VARS", "MAKE_CELL")  # with which a function may begin before its first step
_ENTERS = ("BEFORE_WITH", "LOAD_SPECIAL")  # by which a `with` calls what enters, in one version of Python or another
Place = tuple[CodeType, int]  # a line of the system's own code
Come = Callable[[Place, bool], bool]
"""Is told where a thread comes to, and whether a lock may be taken there; says whether there are turns still."""


@cache  # every call of a traced thread asks it
def is_own(file: str, own: frozenset[str] = frozenset()) -> bool:
    """Return whether a source file belongs to the system under test: no library, and not the kit.

    Files in `own` do whatever else they are: the system's class may live in a library, or in the kit.
    """
    return file in own or not (file.startswith(("<", *_LIBRARY)) or file.startswith(_KIT))


def traced(come: Come, own: frozenset[str], *, fine: bool) -> Callable[[FrameType, str, Any], Any]:
    """Return a trace function by which a thread comes to its steps: the lines of the system's own code, if they are `fine` its instructions.

    When `come` says that turns are over, nothing is traced any more: a system that computes for long is slowed down enough.
    """

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if not is_own(code.co_filename, own):
            return None
        locks = taking_locks(code)

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            # In fine schedules the instruction that begins a line is an event of its own, and the same step.
            takes_lock = event == "line" and frame.f_lasti in locks
            if event in ("line", "opcode") and not come((code, frame.f_lineno), takes_lock):
                sys.settrace(None)
                frame.f_trace_opcodes = False
                return None
            return step

        frame.f_trace_opcodes = fine
        return step

    return call


@lru_cache(maxsize=4096)
def taking_locks(code: CodeType) -> frozenset[int]:
    """Return where lines begin that enter a `with` or call `acquire`, by their offset."""
    instructions = (each for each in dis.get_instructions(code) if each.opname not in _NO_STEP)
    lines = (list(each) for _, each in itertools.groupby(instructions, _line_of))
    return frozenset(line[0].offset for line in lines if any(map(_takes_lock, line)))


def _line_of(instruction: dis.Instruction) -> int | None:
    return instruction.positions.lineno if instruction.positions is not None else None


def _takes_lock(instruction: dis.Instruction) -> bool:
    loads = instruction.opname.startswith("LOAD_") and instruction.opname != "LOAD_CONST"
    return instruction.opname in _ENTERS or (loads and instruction.argval == "acquire")
