"""The conformance kit for the life cycles of background jobs.

    from conformance import Refused            # what an adapter raises to refuse

    import conformance
    TestMyJobs = conformance.testcase("thread-job", MyJobs)   # one test for each row

The command is `conformance`; see `conformance --help`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.refused import Refused as Refused

if TYPE_CHECKING:  # it brings the whole kit along; an adapter needs only `Refused`
    from conformance.testcases import testcase as testcase

__all__ = ["Refused", "testcase"]


def __getattr__(name: str) -> Any:
    if name == "testcase":
        from conformance.testcases import testcase

        return testcase
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
