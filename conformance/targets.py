"""From the text after `--against` to an adapter: `reference`, `python:module:Class`, or `cli:FILE.yaml`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.adapter import Adapter, UnknownTarget
from conformance.adapters.cli import CommandLineAdapter, tool_of
from conformance.adapters.cli_file import read_target
from conformance.adapters.found_class import resolve
from conformance.adapters.python import PythonAdapter, Signature
from conformance.declaration import declared
from conformance.defaults import CALL_LIMIT
from statemachines.compile import Compiled
from statemachines.kernel import Operation

KINDS = ("reference", "python:module:Class", "cli:FILE.yaml")
FOR_TOOLS = "cli-job"  # the life cycle whose operations are commands
REFERENCES = {
    "thread-job": "conformance.references.thread_job:ThreadJobs",
    "task-progress": "conformance.references.task_progress:TaskProgress",
    "background-tasks": "conformance.references.background_tasks:BackgroundTasks",
    "local-agent": "conformance.references.local_agent:LocalAgents",
    "job": "conformance.references.job:Jobs",
    "cli-job": "conformance.references.cli_job:CliJobs",
}


def open_target(compiled: Compiled, target: str) -> Adapter:
    """Give an adapter for a target; raise UnknownTarget, or HarnessError when it cannot be reached.

    A file of a command line tool that has faults raises SpecError.
    """
    name = compiled.lifecycle.name
    if target == "reference":
        if name not in REFERENCES:
            raise UnknownTarget(
                f"there is no reference implementation of {name}; there are: {', '.join(REFERENCES)}"
            )
        return _python(compiled, resolve(REFERENCES[name]), target)
    kind, colon, rest = target.partition(":")
    if kind == "python" and colon:
        return _python(compiled, resolve(rest), target)
    if kind == "cli" and colon:
        if name != FOR_TOOLS:
            raise UnknownTarget(f"a command line tool can be run against {FOR_TOOLS}, not against {name}")
        return CommandLineAdapter(
            tool_of(read_target(rest)), target, _operations(compiled), partial(declared, compiled), CALL_LIMIT
        )
    raise UnknownTarget(f"{target!r} is no target; write {' or '.join(KINDS)}")


def open_class(compiled: Compiled, factory: Callable[[], Any]) -> Adapter:
    """Give an adapter for a class that is at hand."""
    return _python(
        compiled, factory, f"python:{factory.__module__}:{getattr(factory, '__qualname__', factory)}"
    )


def _python(compiled: Compiled, factory: Callable[[], Any], name: str) -> Adapter:
    return PythonAdapter(factory, name, _operations(compiled), partial(declared, compiled), CALL_LIMIT)


def _operations(compiled: Compiled) -> dict[str, Signature]:
    return {operation.name: _signature(operation) for operation in compiled.kernel.operations}


def _signature(operation: Operation) -> Signature:
    required = [each.name for each in operation.parameters if each.default is None]
    return required, [each.name for each in operation.parameters if each.default is not None]
