"""The file behind `cli:FILE.yaml`: how a command line tool is called, and what it declares."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from conformance.cli_tool.command_line import Commands
from statemachines.diagnostics import Diagnostic, SpecError, did_you_mean
from statemachines.surface import check_structure
from statemachines.yaml import Mapping as Tree
from statemachines.yaml import Node, Scalar, locate, read_file, to_plain
from statemachines.yaml import Sequence as Items

_CALLS: Final = ("schema", "start_as", "status", "cancel", "end", "register", "advance")  # words that are one command
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_]+)\}")
_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "start_as": ("job_id",),
    "status": ("job_id",),
    "cancel": ("job_id",),
    "end": ("job_id", "outcome"),
    "advance": ("ms",),
}
_FILLED: Final[Mapping[str, tuple[str, ...]]] = {
    **_NEEDED,
    "start": ("key",),
    "start_as": ("job_id", "key"),
    "env": ("dir",),
    "cwd": ("dir",),
}
"""The placeholders of each word; {dir} can stand in all of them."""


@dataclass(frozen=True, slots=True)
class Target:
    """A tool, how it is called, and what it says of itself, in the words of a declaration."""

    commands: Commands
    env: Mapping[str, str]
    cwd: str
    declares: Mapping[str, Any]


def read_target(path: str) -> Target:
    """Read a file; raise SpecError with every fault of it, each at its place."""
    tree = read_file(path)
    check_structure(tree, "cli-target")
    entries = tree.entries if isinstance(tree, Tree) else ()
    words: dict[str, Any] = {key.text: to_plain(node) for key, node in entries}
    faults = [*_placeholders(tree), *_programs(tree, words), *_clock(tree, words)]
    if faults:
        raise SpecError(faults)
    return Target(_commands(words), words.get("env", {}), words.get("cwd", "{dir}"), _declares(words))


# ── What a schema cannot say ─────────────────────────────────────────────────────────────────────


def _placeholders(tree: Node) -> Iterator[Diagnostic]:
    """Tell of placeholders that nothing fills in, and of those that a command cannot do without."""
    for name, node in _named(tree):
        known = (*_FILLED.get(name, ()), "dir")
        found = set()
        scalars = node.items if isinstance(node, Items) else (node,)
        for scalar in (each for each in scalars if isinstance(each, Scalar)):
            for match in _PLACEHOLDER.finditer(scalar.text):
                found.add(match[1])
                if match[1] not in known:
                    hint = did_you_mean(match[1], known) or f"known here: {', '.join(f'{{{each}}}' for each in known)}"
                    message = f"nothing fills {match[0]} in under {name!r}"
                    yield Diagnostic("bad-value", scalar.at(match.start()), message, hint)
        for needed in _NEEDED.get(name, ()) if found.issubset(known) else ():  # another one may be meant by it
            if needed not in found:
                hint = f"write {{{needed}}} where it belongs, as an argument of its own or as a part of one"
                yield Diagnostic("bad-value", node.where, f"{name!r} needs {{{needed}}}", hint)


def _programs(tree: Node, words: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Tell of programs and folders that are not there."""
    paths: list[tuple[str | int, ...]] = [(name, 0) for name in words if name in _CALLS]
    paths += [("start", outcome, 0) for outcome in words["start"]]
    if "tool" in words:
        paths = [("tool", 0)]
    search = words.get("env", {}).get("PATH", os.environ.get("PATH"))
    for path in paths:
        program: Any = words
        for step in path:
            program = program[step]
        if "{" not in program and shutil.which(program, path=search) is None:
            hint = "give a program on the PATH, or its path; arguments stand in items of their own"
            message = f"there is no program {program!r} that can be run"
            yield Diagnostic("bad-value", locate(tree, path), message, hint)
    cwd = words.get("cwd", "{dir}")
    if "{" not in cwd and not Path(cwd).is_dir():
        hint = "give a folder that exists; left out, each case gets an empty one"
        yield Diagnostic("bad-value", locate(tree, ("cwd",)), f"there is no folder {cwd!r}", hint)


def _clock(tree: Node, words: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Tell of a clock that nothing can move."""
    if "clock" in words and "advance" not in words:
        hint = "give the hook `advance`, or leave `clock` out: then the kit sleeps"
        yield Diagnostic("bad-value", locate(tree, ("clock",)), "'clock' is about one that `advance` moves", hint)


def _named(tree: Node) -> Iterator[tuple[str, Node]]:
    for key, node in tree.entries if isinstance(tree, Tree) else ():
        if key.text in ("start", "env") and isinstance(node, Tree):
            yield from ((key.text, value) for _, value in node.entries)
        elif isinstance(node, Items) or key.text == "cwd":
            yield key.text, node


# ── Values ───────────────────────────────────────────────────────────────────────────────────────


def _commands(words: Mapping[str, Any]) -> Commands:
    tool: Sequence[str] = words.get("tool", ())
    given: dict[str, Any] = {name: (*tool, *words[name]) for name in _CALLS if name in words}
    given |= {name: words[name] for name in ("unknown", "tokenizer") if name in words}
    return Commands(start={outcome: (*tool, *arguments) for outcome, arguments in words["start"].items()}, **given)


def _declares(words: Mapping[str, Any]) -> dict[str, Any]:
    start, cancelled = words["start"], words.get("cancelled_exit", 4)
    ways = [outcome for outcome in ("complete", "failed") if outcome in start]
    ends = "complete_and_failed" if len(ways) == 2 else f"{ways[0]}_only" if ways else "never"
    lacking = {"start_as": "start_as", "end": "end", "register": "register_without_schema"}
    limits = {"timeout": "timeout_ms", "poll": "poll_interval_ms", "kept": "kept_ms"}
    settle = {"settle": words["settle_ms"]} if "settle_ms" in words else {}
    return {
        "clock": words.get("clock", "virtual") if "advance" in words else "real",
        "concurrency": "threads",
        "lacks": [operation for word, operation in lacking.items() if word not in words],
        "limits": settle | {name: words.get(word) for name, word in limits.items()},
        "policies": {
            "running_exit": f"exit_{words.get('running_exit', 3)}",
            "cancelled_exit": "exit_4" if cancelled == 4 else "any_exit",
            "data": words.get("data", "always"),
            "repeated": words.get("repeated", "any_reply"),
            "ends": ends,
        },
    }
