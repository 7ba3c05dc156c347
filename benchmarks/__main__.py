"""`python -m benchmarks`: every measurement, its rounds between those of the others, as one table.

It exits 0 whatever is measured: a number that is missed is told, and judged by a person.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.against_transitions import PlainMoves, Walk
from benchmarks.checking import Checking
from benchmarks.compiling import Compiling
from benchmarks.emitting import Emitting
from benchmarks.exploring import Exploring
from benchmarks.hypothesis_step import HypothesisStep
from benchmarks.measure import Benchmark, Finding
from benchmarks.remote import Remote
from benchmarks.running import Running
from benchmarks.shrinking import Shrinking
from statemachines.compile import Compiled, load

BENCHMARKS: Mapping[str, Callable[[Compiled], Benchmark]] = {
    "moves": PlainMoves,
    "walk": Walk,
    "hypothesis": HypothesisStep,
    "emitting": Emitting,
    "explore": Exploring,
    "check": lambda compiled: Checking(),
    "run": lambda compiled: Running(),
    "shrink": Shrinking,
    "compile": lambda compiled: Compiling(),
    "remote": lambda compiled: Remote(),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measures how fast the kit is.", allow_abbrev=False
    )
    parser.add_argument("only", nargs="*", metavar="NAME", help=f"only these: {', '.join(BENCHMARKS)}")
    parser.add_argument("--json", action="store_true", help="write one JSON object instead of a table")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.only if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no {unknown[0]}; there are {', '.join(BENCHMARKS)}")
    machine = _machine()
    found = measure(options.only or list(BENCHMARKS))
    machine["load after"] = _load()
    if options.json:
        print(
            json.dumps(
                {"machine": machine, "findings": [_plain(each) for each in found]},
                indent=2,
                ensure_ascii=False,
            )
        )
    else:
        print(_table(found))
        print()
        print(textwrap.fill(", ".join(f"{key} {value}" for key, value in machine.items()), 110))
        if _busy():
            print("The machine was busy with other things: what is told by the clock is too long.")
    return 0


def measure(names: Sequence[str]) -> list[Finding]:
    """Measure, round by round: one that asks for few rounds has them spread over the whole time."""
    compiled = load("thread-job")
    made: dict[str, Benchmark] = {}
    failed: dict[str, str] = {}
    for name in names:
        _try(name, failed, partial(_make, made, name, compiled))
    last = max((each.rounds for each in made.values()), default=0)
    for number in range(last):
        for name, each in made.items():
            if name not in failed and number * each.rounds // last != (number + 1) * each.rounds // last:
                _say(f"round {number + 1} of {last}: {name}")
                _try(name, failed, each.once)
    _say("")
    found: list[Finding] = []
    for name in names:
        if name in failed:
            found.append(Finding(name, None, "", note=failed[name]))
        else:
            found += made[name].findings()
    return found


def _make(made: dict[str, Benchmark], name: str, compiled: Compiled) -> None:
    made[name] = BENCHMARKS[name](compiled)


def _try(name: str, failed: dict[str, str], work: Callable[[], object]) -> None:
    try:
        work()
    except Exception as error:  # noqa: BLE001 - one that cannot be measured takes nothing from the others
        failed[name] = f"could not be measured: {type(error).__name__}: {error}"


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _table(found: Sequence[Finding]) -> str:
    rows = [("what", "measured", "target", "met?", "")]
    rows += [(each.what, _amount(each), _target(each), _met(each), each.note) for each in found]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = []
    for *cells, note in rows:
        padded = [
            _padded(cell, width, right=column in (1, 2))
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join([*padded, note]).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    missed = [each for each in found if each.met is False]
    unknown = [each for each in found if each.value is None]
    targets = sum(each.met is not None for each in found)
    lines += ["", f"{targets - len(missed)} of {targets} targets met{', MISSED:' if missed else ''}"]
    lines += [f"  {each.what.strip()}: {_amount(each)}, and {_target(each)} is wanted" for each in missed]
    lines += [f"  NOT MEASURED: {each.what.strip()}" for each in unknown]
    return "\n".join(lines)


def _padded(cell: str, width: int, *, right: bool) -> str:
    return cell.rjust(width) if right else cell.ljust(width)


def _amount(each: Finding) -> str:
    if each.value is None:
        return "-"
    places = 0 if each.unit == "calls" or each.value >= 100 else 2 if each.value < 10 else 1
    return f"{each.value:.{places}f} {each.unit}"


def _target(each: Finding) -> str:
    return f"{each.sign} {each.target:g} {each.unit}" if each.target is not None else "-"


def _met(each: Finding) -> str:
    return {True: "yes", False: "MISSED", None: "-"}[each.met]


def _plain(each: Finding) -> dict[str, Any]:
    return {
        "what": each.what.strip(),
        "value": each.value,
        "unit": each.unit,
        "target": f"{each.sign} {each.target:g}" if each.target is not None else None,
        "met": each.met,
        "note": each.note,
    }


def _machine() -> dict[str, str]:
    return {
        "CPU": f"{_processor()} × {os.cpu_count()}",
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.system()} {platform.machine()}",
        **{name: version(name) for name in ("hypothesis", "transitions")},
        "load before": _load(),
    }


def _processor() -> str:
    """Return the name of the processor, where the system tells it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _busy() -> bool:
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > max(os.cpu_count() or 1, 1.5)


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


if __name__ == "__main__":
    sys.exit(main())
