"""`python -m benchmarks.diagnosing`: of how many wrong systems a counterexample names the clause that they break.

Which clauses those are says `diagnoses.yaml`, written by somebody who has read the systems. Each is asked by the row that names its fault.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from conformance.budget import USUAL
from conformance.suite.rows import RowRunner
from conformance.targets import open_system
from conformance.workers import spread
from statemachines.kernel import within
from statemachines.rows import RowCompiler
from tests.conformance.lifecycles import SUITES

KNOWN = Path(__file__).with_name("diagnoses.yaml")
LIMIT = 1.0  # seconds for a call: some systems deadlock


class Told(NamedTuple):
    """What a counterexample tells of a wrong system: the clause, and in words what the system seems to do, if anything."""

    clause: str
    words: str


def main() -> int:
    """Ask each of the systems, and print how many are told right, by life cycle."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.diagnosing", description=__doc__, allow_abbrev=False)
    parser.add_argument("lifecycles", nargs="*", metavar="LIFECYCLE", help="which of them; all by default")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--missed", action="store_true", help="name what is told otherwise")
    options = parser.parse_args()
    known: dict[str, dict[str, list[str]]] = yaml.safe_load(KNOWN.read_text(encoding="utf-8"))
    asked = [(life, name) for life in options.lifecycles or known for name in known[life]]
    counts: dict[str, Counter[str]] = {life: Counter() for life, _ in asked}
    with spread(options.workers) as ask:
        for (life, name), told in zip(asked, ask(told_of, asked), strict=True):
            right = any(agrees(told.clause, each) for each in known[life][name])
            counts[life].update(["right"] * right + ["in words"] * bool(right and told.words) + ["of"])
            if options.missed and not right:
                print(f"  {life} {name}: {told.clause or 'nothing'} {told.words}", flush=True)
    for life, count in {**counts, "all": sum(counts.values(), Counter())}.items():
        print(
            f"{life:16} {count['right']:3} of {count['of']:3} by the right clause, {count['in words']:3} of these in words"
        )
    return 0


def agrees(told: str, known: str) -> bool:
    """Return whether a clause is the one that is known, within it, or the operation that it is of."""
    return within(told, known) or (told.count(".") == 1 and told.startswith("operations.") and within(known, told))


def told_of(lifecycle: str, name: str) -> Told:
    """Run the row that names the fault of a wrong system."""
    suite = SUITES[lifecycle]
    lies: Sequence[Any] = suite.faulty
    lie = next(each for each in lies if each.__name__ == name)
    with closing(open_system(suite.compiled, lie)) as adapter:
        adapter.limit = LIMIT
        runner = RowRunner(suite.compiled, RowCompiler(suite.compiled.lifecycle), adapter, number=0, budget=USUAL)
        found = runner.run(suite.compiled.lifecycle.rows[lie.row]).counterexample
    if found is None:
        return Told("", "")
    return Told(found.diagnosis.clause, found.diagnosis.words) if found.diagnosis else Told(found.clause, "")


if __name__ == "__main__":
    sys.exit(main())
