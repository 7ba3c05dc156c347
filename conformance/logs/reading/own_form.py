"""The kit's own form of a log: what an entry is whose fields are called as the spec has them.

{"at": 0, "call": "start", "with": {"task": "t1"}, "gives": …}      or "refused": code; "until": its end, if it took time
{"at": 5, "signal": "announced", "task": "t1", …}                   or its fields under "with"
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from conformance.judge import kernel_facts
from conformance.logs.reading.lines import BadLine
from conformance.logs.reading.mapping import Rule
from statemachines.diagnostics import did_you_mean

_FORM = 'an entry is {"at": ms, "call": operation, "with": {…}, "gives": …} or {"at": ms, "signal": name, …}'


def plain_rule(
    entry: Mapping[str, Any], operations: Mapping[str, Any], facts: kernel_facts.Facts, words: Mapping[str, str]
) -> Rule | None:
    """Return what an entry is; None of one that is neither a call nor a signal. Raises BadLine."""
    if "call" in entry:
        name = _known(entry["call"], operations, "operation")
        _fits(entry, ("at", "until", "call", "with", "gives", "refused"), entry["call"])
        arguments = entry.get("with", {})
        if not isinstance(arguments, Mapping):
            raise BadLine("`with` is no object", _FORM)
        _fits(arguments, [*facts.takes(name)], f"the arguments of {name}")
        minted = facts.minted_in(name)
        if minted and not ({"gives", "refused"} & {*entry}):
            raise BadLine(f"{name} makes a new {next(iter(minted.values()))}, and `gives` does not say its id", _FORM)
        paths = {each: f"with.{each}" for each in arguments}
        return Rule({}, "call", name, paths, reply="gives" if "gives" in entry else "", refused="refused", words=words)
    if "signal" in entry:
        name = _known(entry["signal"], facts.signals, "signal")
        parts = [part for part, _ in facts.signals[name].fields]
        inside = "with." if "with" in entry else ""  # a field may be called as one of the entry itself
        return Rule({}, "signal", name, {part: f"{inside}{part}" for part in parts}, words=words)
    return None


def _known(name: Any, known: Collection[str], what: str) -> str:
    if not isinstance(name, str) or name not in known:
        hint = did_you_mean(str(name), known) or f"known: {', '.join(known) or 'none'}"
        raise BadLine(f"there is no {what} {name!r}", hint)
    return name


def _fits(found: Mapping[str, Any], known: Collection[str], of: Any) -> None:
    strange = next((each for each in found if each not in known), None)
    if strange is not None:
        hint = did_you_mean(strange, known) or f"known: {', '.join(known) or 'none'}"
        raise BadLine(f"nothing of {of} is called {strange!r}", hint)
