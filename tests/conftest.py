"""What every test shares: one deterministic Hypothesis profile, and no skip that nobody wrote down."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ALLOWED_SKIPS = Path(__file__).with_name("allowed_skips.txt")

# The same examples on every machine and in every run: a test that turns red was turned by a change.
# No deadline: a busy machine is not a defect.
settings.register_profile(
    "repository",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repository")


def pytest_configure(config: pytest.Config) -> None:
    """Watch skips where the whole run is seen: in the one process, or in the one that leads the workers."""
    if not hasattr(config, "workerinput"):
        allowed = frozenset(allowed_skips(ALLOWED_SKIPS.read_text(encoding="utf-8")))
        config.pluginmanager.register(SkipGuard(allowed), "skip-guard")


def allowed_skips(text: str) -> list[str]:
    """The test ids of allowed_skips.txt. Raises ValueError at a line that gives no reason."""
    ids = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        test_id, _, reason = line.partition("#")
        if not reason.strip():
            raise ValueError(f"{ALLOWED_SKIPS.name}:{number}: give the reason after a #: {line}")
        ids.append(test_id.strip())
    return ids


class SkipGuard:
    """Names every test and every file that was skipped, and fails the run for those not on the list."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self.allowed = allowed
        self.skipped: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.note(report)

    def note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        self.skipped[report.nodeid] = reason.removeprefix("Skipped: ")

    def unlisted(self) -> list[str]:
        return [test_id for test_id in sorted(self.skipped) if test_id.partition("[")[0] not in self.allowed]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unlisted() and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.skipped:
            return
        unlisted = set(self.unlisted())
        terminalreporter.section("skipped tests")
        for test_id, reason in sorted(self.skipped.items()):
            listed = "NOT in tests/allowed_skips.txt" if test_id in unlisted else "allowed"
            terminalreporter.line(f"{test_id}: {reason} ({listed})", red=test_id in unlisted)
        if unlisted:
            terminalreporter.line(f"{len(unlisted)} unlisted skip(s): the run fails")
