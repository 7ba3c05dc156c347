"""Limits and policies as somebody types them, and the command `vectors`: what was chosen, the vectors, and what there are not."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from typing import Any

from conformance import api
from conformance.command.process import write_out
from conformance.errors import UsageError
from conformance.verdict import EXIT_CONFORMS


def vectors(options: argparse.Namespace) -> int:
    """Write the test vectors of a lifecycle; what is left out is told on the error stream. Raises UsageError."""
    from conformance.system import DeclarationError
    from conformance.vectors import as_itf, as_json, exported

    compiled = api.loaded(options.lifecycle)
    try:
        found = exported(compiled, chosen_limits(options.limit), chosen(options.policy, "policy"))
    except DeclarationError as error:
        raise UsageError(str(error)) from None
    text = as_itf(found) if options.form == "itf" else as_json(found)
    write_out(text, options.output)
    calls = sum(len(each.calls) for each in found.vectors)
    print(f"{found.lifecycle}: {len(found.vectors)} vectors, {calls} calls", file=sys.stderr)
    for reason, count in sorted(found.left_out.items()):
        print(f"left out: {count}, {reason}", file=sys.stderr)
    return EXIT_CONFORMS


def chosen_limits(words: Sequence[str]) -> dict[str, int | None]:
    """Return limits by name; raise UsageError for what is no number."""
    found: dict[str, int | None] = {}
    for name, value in _named(words, "limit").items():
        if value != "null" and not re.fullmatch("[0-9]{1,18}", value):
            raise UsageError(f"limit {name} is a whole number from 0 on, or null, and this is {value}")
        found[name] = None if value == "null" else int(value)
    return found


def chosen(words: Sequence[str], kind: str) -> dict[str, Any]:
    """Return what was chosen by name; a list of fields is given as JSON. Raises UsageError for what has no name."""
    return {name: _listed(value) if value.startswith("[") else value for name, value in _named(words, kind).items()}


def _named(words: Sequence[str], kind: str) -> dict[str, str]:
    found = {}
    for word in words:
        name, is_there, value = word.partition("=")
        if not is_there:
            raise UsageError(f"--{kind} is NAME=VALUE, and this is {word}")
        found[name] = value
    return found


def _listed(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"a list of fields is JSON, and this is {text}") from None
    return [str(each) for each in found]
