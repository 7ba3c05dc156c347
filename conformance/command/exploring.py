"""The commands `explore` and `step`: what a spec's model comes to, and the model call by call."""

from __future__ import annotations

import argparse
import io
import json
import sys
from contextlib import suppress

from conformance import api
from conformance.command.exports import chosen, chosen_limits
from conformance.command.process import utf8_output, write_out
from conformance.errors import UsageError
from conformance.verdict import EXIT_CONFORMS

PROMPT = "> "


def explore(options: argparse.Namespace) -> int:
    """Say what a spec's model comes to in its small scope: 0 where nothing is wrong with it, else 1. Raises UsageError."""
    from conformance.exploring import as_page, as_plain, explored, rows_of

    utf8_output()
    found = explored(api.loaded(options.lifecycle), options.steps)
    lines = [json.dumps(as_plain(found), ensure_ascii=False, indent=2)] if options.json else as_page(found)
    for line in lines:
        print(line)
    if options.rows is not None:
        rows = rows_of(found)
        write_out(rows.text, options.rows)
        print(f"{options.rows}: {rows.count} row{'' if rows.count == 1 else 's'}", file=sys.stderr)
        for reason, count in sorted(rows.without.items()):
            print(f"no row for {count} of what was met: {reason}", file=sys.stderr)
    return found.exit


def step(options: argparse.Namespace) -> int:
    """Let a person step through a life cycle: 0 at the end. Raises UsageError."""
    from conformance.stepping import Session, stepped

    utf8_output()
    _usable_input()
    compiled = api.loaded(options.lifecycle)
    try:
        session = Session(compiled, chosen_limits(options.limit), chosen(options.policy, "policy"))
    except ValueError as error:
        raise UsageError(str(error)) from None
    stepped(session, _typed, sys.stdout)
    return EXIT_CONFORMS


def _usable_input() -> None:
    """Let the input hold anything, and be edited on a terminal as it is in a shell."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="backslashreplace")
    if sys.stdin is not None and sys.stdin.isatty():
        with suppress(ImportError):  # Windows has none
            import readline  # noqa: F401 - `input` uses it where it is there


def _typed() -> str | None:
    """Return the next line that was typed; one that comes out of a pipe is shown, as it would be on a terminal."""
    if sys.stdin is None or sys.stdin.closed:
        return None
    try:
        line = input(PROMPT).strip()
    except EOFError:
        print()
        return None
    if not sys.stdin.isatty():
        print(line)
    return line
