"""What the kit says of each of our systems, row by row, to compare before a change with after it.

    python -m tests.verdicts record OUT.jsonl [LIFECYCLE…]     # some 50 minutes on one core
    python -m tests.verdicts compare OLD.jsonl NEW.jsonl       # exit 1 where a verdict differs

A recording has a line for each system: the verdict of every row, and the counterexample of the row that must catch it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from conformance.budget import USUAL
from conformance.suite.rows import RowRunner
from conformance.targets import open_system
from conformance.workers import spread
from statemachines.rows import RowCompiler
from tests.conformance.lifecycles import SUITES, named
from tests.conformance.systems import row_result

LIMIT = 1.0  # seconds for a call of a faulty system: some of the lies are deadlocks
Trial = tuple[str, str, int]  # a lifecycle, the kind of system, which one of them


def main() -> int:
    """Record or compare; return 1 when two recordings differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    recording = commands.add_parser("record")
    recording.add_argument("out", type=Path)
    recording.add_argument("lifecycles", nargs="*", default=list(SUITES))
    recording.add_argument("--processes", type=int, default=2)
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    options = parser.parse_args()
    if options.command == "record":
        return record(options.out, options.lifecycles, options.processes)
    return compare(read(options.old), read(options.new))


def record(out: Path, lifecycles: list[str], processes: int) -> int:
    """Run all systems of some life cycles, and write a line for each."""
    with spread(processes) as ask, out.open("w") as lines:
        for name in lifecycles:
            for said in ask(of_one_system, [(trial,) for trial in trials(name)]):
                lines.write(json.dumps(said) + "\n")
                lines.flush()
    return 0


def trials(name: str) -> list[Trial]:
    """Every system of a life cycle."""
    return [(name, kind, index) for kind, systems in _systems(name).items() for index in range(len(systems))]


def _systems(name: str) -> dict[str, list[Any]]:
    suite = SUITES[name]
    return {"right": suite.right, "faulty": list(suite.faulty), "dead": list(suite.dead.values())}


def of_one_system(trial: Trial) -> dict[str, Any]:
    """The verdict of each row on a system, and of a faulty one the counterexample of the row that must catch it."""
    name, kind, index = trial
    compiled, system = SUITES[name].compiled, _systems(name)[kind][index]
    with closing(open_system(compiled, system)) as adapter:
        adapter.limit = LIMIT if kind == "faulty" else adapter.limit
        rows = RowCompiler(compiled.lifecycle).checked()
        runner = RowRunner(compiled, rows, adapter, budget=USUAL.quick(), shortest=False)
        verdicts = {row.id.text: runner.run(row).verdict.value for row in compiled.lifecycle.rows.values()}
    found = row_result(system, system.row, compiled, limit=LIMIT).counterexample if kind == "faulty" else None
    return {
        "lifecycle": name,
        "kind": kind,
        "system": named(system),
        "rows": verdicts,
        "calls": None if found is None else found.calls,
        "text": None if found is None else found.row,
    }


def read(path: Path) -> dict[str, dict[str, Any]]:
    """A recording, by life cycle and system."""
    found = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {f"{each['lifecycle']} {each['kind']} {each['system']}": each for each in found}


def compare(old: dict[str, dict[str, Any]], new: dict[str, dict[str, Any]]) -> int:
    """Print what differs: verdicts, and counterexamples that became longer or shorter."""
    verdicts = [line for name in old.keys() & new.keys() for line in _differences(name, old[name], new[name])]
    lengths = [_length(name, old[name], new[name]) for name in old.keys() & new.keys()]
    only = [f"only in one recording: {name}" for name in old.keys() ^ new.keys()]
    print("\n".join([*sorted(only), *sorted(verdicts), *sorted(filter(None, lengths))]))
    same = sum(old[name]["text"] == new[name]["text"] for name in old.keys() & new.keys() if old[name]["text"])
    rows = sum(len(each["rows"]) for each in old.values())
    print(f"{len(old)} systems, {rows} verdicts: {len(verdicts)} differ; {same} counterexamples are the same text")
    return 1 if verdicts or only else 0


def _differences(name: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for row in {**old["rows"], **new["rows"]}:
        before, after = old["rows"].get(row, "no row"), new["rows"].get(row, "no row")
        if before != after:
            yield f"{name}, {row}: {before}, now {after}"


def _length(name: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    before, after = old["calls"], new["calls"]
    return "" if before == after else f"{name}: {before} calls, now {after}"


if __name__ == "__main__":
    sys.exit(main())
