"""A reference that threads call: each of its public methods is one atomic step."""

from __future__ import annotations

import inspect

import pytest

from conformance.references.local_agent import LocalAgents
from conformance.references.task_progress import TaskProgress
from conformance.references.thread_job import ThreadJobs
from conformance.references.threaded import Threaded


@pytest.mark.parametrize("system", [ThreadJobs, TaskProgress, LocalAgents])
def test_whoever_calls_a_public_method_holds_the_lock(system: type[Threaded]) -> None:
    methods = inspect.getmembers(system, inspect.isfunction)
    bare = [name for name, method in methods if not name.startswith("_") and not hasattr(method, "__wrapped__")]
    assert bare == []
