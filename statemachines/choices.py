"""Limits and policies, which a life cycle leaves to each implementation: whether it has those that somebody chose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statemachines.diagnostics import did_you_mean
from statemachines.lifecycle import Lifecycle


def limits_of(lifecycle: Lifecycle, words: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the limits that are chosen; raise ValueError for one that there is not, and for what is no limit."""
    known = lifecycle.limits
    _check_names(lifecycle, "limit", words, known)
    for name, value in words.items():
        if value is None and known[name].optional:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"limit {name} is a whole number from 0 on, and this is {value!r}")
    return dict(words)


def policies_of(lifecycle: Lifecycle, words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policies that are chosen; raise ValueError for one that there is not, and for what it does not offer."""
    known = lifecycle.policies
    _check_names(lifecycle, "policy", words, known)
    found: dict[str, Any] = {}
    for name, value in words.items():
        choices = tuple(word.text for word in known[name].choices)
        entity = known[name].entity
        if isinstance(value, list | tuple) and entity is not None:
            shown = [key.text for key, _ in lifecycle.entities[entity.text].shows]
            for each in value:
                if str(each).removesuffix(" desc") not in shown:
                    raise ValueError(
                        f"policy {name} orders by shown fields ({', '.join(shown)}, each may end in ' desc'), and {each!r} is none"
                    )
            found[name] = tuple(value)
        elif isinstance(value, str) and value in choices:
            found[name] = value
        else:
            raise ValueError(f"policy {name} is one of {', '.join(choices)}, and this is {value!r}")
    return found


def _check_names(lifecycle: Lifecycle, kind: str, words: Any, known: Mapping[str, object]) -> None:
    """Raise ValueError for what is no mapping, and for a name that is not known."""
    if not isinstance(words, Mapping):
        plural = {"limit": "limits", "policy": "policies"}[kind]
        raise ValueError(f"{plural} is a mapping from names to values, and this is {words!r}")
    for name in words:
        if name not in known:
            hint = did_you_mean(str(name), known) or f"known: {', '.join(known) or 'none'}"
            raise ValueError(f"{lifecycle.name} has no {kind} {name!r}; {hint}")
