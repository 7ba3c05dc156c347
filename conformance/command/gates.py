"""What the commands do that stand between a run and a pipeline."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from conformance.api import loaded
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
    from conformance.gating import Incomparable, compared

    old, new = (saved_report(path, "compared") for path in (options.old, options.new))
    try:
        found = compared(old, new)
    except Incomparable as error:
        raise UsageError(f"{options.old} and {options.new} cannot be compared: {error}") from None
    print(json.dumps(found.plain(), ensure_ascii=False, indent=2) if options.json else found)
    return found.exit


def freeze(options: argparse.Namespace) -> int:
    """Write the file of what a spec's version requires; nothing where it says that already. Raises UsageError."""
    from conformance.gating import frozen

    print(frozen(loaded(options.spec), again=options.again))
    return EXIT_CONFORMS
