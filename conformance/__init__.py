"""A conformance kit for the life cycles of background jobs.

An adapter stands between the kit and a system. It is a class with a method for each operation, and refuses so:

    from conformance import Refused

From Python, here or in a notebook:

    import conformance

    conformance.run("thread-job", MyJobs)                                  # a Report: which rows hold, and why not
    conformance.replay(".conformance/thread-job-B7.yaml", MyJobs)          # a Replay: does it still fail?
    TestMyJobs = conformance.testcase("thread-job", MyJobs)                # in a test file: one test for each row

The command is `conformance`; see `conformance --help`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from conformance.refused import Refused as Refused

if TYPE_CHECKING:  # they bring the whole kit along, and an adapter needs only `Refused`
    from conformance.__about__ import __version__ as __version__
    from conformance.api import replay as replay
    from conformance.api import run as run
    from conformance.errors import UsageError as UsageError
    from conformance.report import Report as Report
    from conformance.suite import Replay as Replay
    from conformance.system import HarnessError as HarnessError
    from conformance.testcases import testcase as testcase
    from conformance.verdict import Counterexample as Counterexample
    from conformance.verdict import RowResult as RowResult
    from conformance.verdict import Verdict as Verdict

_HOMES = {
    "Counterexample": "verdict",
    "HarnessError": "system",
    "Replay": "suite",
    "Report": "report",
    "RowResult": "verdict",
    "UsageError": "errors",
    "Verdict": "verdict",
    "__version__": "__about__",
    "replay": "api",
    "run": "api",
    "testcase": "testcases",
}
__all__ = [
    "Counterexample",
    "HarnessError",
    "Refused",
    "Replay",
    "Report",
    "RowResult",
    "UsageError",
    "Verdict",
    "replay",
    "run",
    "testcase",
]


if not TYPE_CHECKING:  # a type checker is to see a name that is not offered

    def __getattr__(name: str) -> Any:
        """Return what the front door offers, imported when it is first asked for; raise AttributeError for the rest."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f"conformance.{_HOMES[name]}"), name)
        return found


def __dir__() -> list[str]:
    return __all__
