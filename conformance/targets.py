"""From a system to its adapter: a class, or the text of a target, as it stands after `--against`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.cli_tool import CommandLineAdapter, read_target, tool_of
from conformance.defaults import CALL_LIMIT
from conformance.errors import UsageError, faults_told
from conformance.remote import HttpLink, Link, Overheard, ProcessLink, RemoteAdapter, address_of, command_of
from conformance.stand_ins import model_system
from conformance.system import Adapter, Signature, declared, resolve
from statemachines.compile import Compiled, load
from statemachines.diagnostics import SpecError
from statemachines.kernel import Operation

KINDS = ("reference", "model", "python:module:Class", "stdio:COMMAND", "http://HOST:PORT", "cli:FILE.yaml")
FOR_TOOLS = "cli-job"  # the life cycle whose operations are commands
REFERENCES = {
    "thread-job": "conformance.references.thread_job:ThreadJobs",
    "task-progress": "conformance.references.task_progress:TaskProgress",
    "background-tasks": "conformance.references.background_tasks:BackgroundTasks",
    "local-agent": "conformance.references.local_agent:LocalAgents",
    "job": "conformance.references.job:Jobs",
    "cli-job": "conformance.references.cli_job:CliJobs",
}


def open_system(compiled: Compiled, system: Callable[[], Any] | str, overheard: Overheard | None = None) -> Adapter:
    """Return an adapter for a system; raise HarnessError when it cannot be reached.

    `overheard` is told of every message that passes to a system elsewhere, and from it. Raises UsageError for what is no
    system, for a target that names nothing, and for a file of a command line tool that has faults.
    """
    if isinstance(system, str):
        return _open_target(compiled, system, overheard)
    if not callable(system):
        raise UsageError(
            f"{system!r} is no system; give a class, a function that makes an object, or the text of a target: "
            f"{' or '.join(KINDS)}"
        )
    where = getattr(system, "__module__", "") or "?"
    return _python(compiled, system, f"python:{where}:{getattr(system, '__qualname__', system)}")


def link_of(target: str, overheard: Overheard | None = None) -> Callable[[], Link] | None:
    """Return what opens a link to a system elsewhere; None for a target that is none. Raises UsageError."""
    kind, colon, rest = target.partition(":")
    if kind == "stdio" and colon:
        return partial(ProcessLink, command_of(rest), overheard)
    if kind in ("http", "https") and colon:
        return partial(HttpLink, address_of(target), overheard)
    return None


def _open_target(compiled: Compiled, target: str, overheard: Overheard | None) -> Adapter:
    name = compiled.lifecycle.name
    if target == "reference":
        if name not in REFERENCES:
            raise UsageError(f"there is no reference implementation of {name}; there are: {', '.join(REFERENCES)}")
        return _python(compiled, resolve(REFERENCES[name]), target)
    kind, colon, rest = target.partition(":")
    if kind == "model":
        return _python(compiled, model_system(_other(rest) if colon else compiled), target)
    if kind == "python" and colon:
        return _python(compiled, resolve(rest), target)
    if (link := link_of(target, overheard)) is not None:
        return _remote(compiled, link, target)
    if kind == "cli" and colon:
        if name != FOR_TOOLS:
            raise UsageError(f"a command line tool can be run against {FOR_TOOLS}, not against {name}")
        with faults_told("target"):
            tool = tool_of(read_target(rest))
        return CommandLineAdapter(tool, target, _operations(compiled), partial(declared, compiled), CALL_LIMIT)
    raise UsageError(f"{target!r} is no target; write {' or '.join(KINDS)}")


def _other(spec: str) -> Compiled:
    """Return the spec of another model."""
    try:
        return load(spec)
    except LookupError as error:
        raise UsageError(f"model:{spec}: {error}") from error
    except SpecError as error:
        raise UsageError(f"model:{spec}: {error.diagnostics[0].render()}") from error


def _remote(compiled: Compiled, opened: Callable[[], Link], target: str) -> Adapter:
    spec = compiled.lifecycle
    operations, declare = _operations(compiled), partial(declared, compiled)
    return RemoteAdapter(opened, target, (spec.name, spec.version), operations, declare, CALL_LIMIT)


def _python(compiled: Compiled, factory: Callable[[], Any], name: str) -> Adapter:
    return Adapter(factory, name, _operations(compiled), partial(declared, compiled), CALL_LIMIT)


def _operations(compiled: Compiled) -> dict[str, Signature]:
    return {operation.name: _signature(operation) for operation in compiled.kernel.operations}


def _signature(operation: Operation) -> Signature:
    required = [each.name for each in operation.parameters if each.default is None]
    return required, [each.name for each in operation.parameters if each.default is not None]
