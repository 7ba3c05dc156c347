"""What the commands do that stand between a run and a pipeline."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from conformance.api import loaded
from conformance.command.process import Counted, utf8_output
from conformance.errors import UsageError
from conformance.verdict import EXIT_CONFORMS

if TYPE_CHECKING:
    from conformance.report import Report


def saved_report(path: str, done: str) -> Report:
    """Return a report that a run has saved, of which something is to be `done`. Raises UsageError."""
    from conformance.report import ReportError, read

    try:
        return read(path)
    except (OSError, ReportError) as error:
        why = error if isinstance(error, ReportError) else f"{path} cannot be read: {error.strerror}"
        raise UsageError(f"{why}; `conformance run … --report FILE` writes a report that can be {done}") from None


def compare(options: argparse.Namespace) -> int:
    """Say what two reports differ in: 1 where something got worse, else 0. Raises UsageError."""
    from conformance.report import Incomparable, compared

    old, new = (saved_report(path, "compared") for path in (options.old, options.new))
    try:
        found = compared(old, new)
    except Incomparable as error:
        raise UsageError(f"{options.old} and {options.new} cannot be compared: {error}") from None
    print(json.dumps(found.plain(), ensure_ascii=False, indent=2) if options.json else found)
    return found.exit


def diff(options: argparse.Namespace) -> int:
    """Say what two revisions of a spec ask for otherwise: 0 where that is the same, else 1. Raises UsageError."""
    from conformance.differing import Spec, as_page, as_plain, differing
    from statemachines.compile import spec_tree

    utf8_output()
    compiled = [(name, loaded(name)) for name in (options.old, options.new)]  # which tells what faults they have
    old, new = (Spec(name, spec_tree(name), each) for name, each in compiled)
    counter = Counted(sys.stderr, "settings compared")
    found = differing(old, new, told=counter.told)
    counter.over()
    for line in [json.dumps(as_plain(found), ensure_ascii=False, indent=2)] if options.json else as_page(found):
        print(line)
    return found.exit


def freeze(options: argparse.Namespace) -> int:
    """Write the file of what a spec's version requires; nothing where it says that already. Raises UsageError."""
    from conformance.gating import frozen

    print(frozen(loaded(options.spec), again=options.again))
    return EXIT_CONFORMS


def rows_asked(options: argparse.Namespace) -> str | Sequence[str] | None:
    """Return the rows that a run is asked for: of those named, the ones that an earlier report has no good answer to.

    Raises UsageError where there are none.
    """
    if options.rerun_failed is None:
        rows: str | None = options.rows
        return rows
    from conformance.report import to_run_again
    from conformance.suite import MACHINE, selected

    report, compiled = saved_report(options.rerun_failed, "run again"), loaded(options.lifecycle)
    if report.header.lifecycle != compiled.lifecycle.name:
        said = f"{options.rerun_failed} is a report of {report.header.lifecycle}"
        raise UsageError(f"{said}, and this is a run of {compiled.lifecycle.name}")
    rows_named, with_machine = selected(compiled, options.rows)
    there = [*(row.id.text for row in rows_named), *([MACHINE] if with_machine else [])]
    again = to_run_again(report)
    found = [name for name in there if name in again]
    if not found:
        raise UsageError(f"nothing that is asked for failed in {options.rerun_failed}, or has no answer there")
    return found
