"""`pytest --lifecycle NAME --against TARGET`: a test for each row, named for it, which stands where the row does in the spec.

Without `--lifecycle` it does nothing: it brings one option, and no part of the kit.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # who has no row to test does not wait for the kit
    from conformance.gating import Measure
    from conformance.suite import Baseline, RowRunner
    from conformance.verdict import RowResult
    from statemachines.lifecycle import Row


class RowFails(Exception):
    """A row that does not hold; the message is what shows it."""


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add `--lifecycle`; what goes with it only where it is given, for others call their own options so."""
    group = parser.getgroup("lifecycle", "life cycles of background jobs")
    about = "test the rows of a life cycle, one test each; with it, --help shows more options"
    group.addoption("--lifecycle", metavar="LIFECYCLE", default=None, help=about)
    if not _is_given(pluginmanager.get_plugin("pytestconfig")):
        return
    target = "reference, model, python:module:Class, stdio:COMMAND, http://HOST:PORT, or cli:FILE.yaml"
    group.addoption("--against", metavar="TARGET", default=None, help=target)
    group.addoption("--rows", metavar="IDS", default=None, help="only these rows, for example N1,E*")
    group.addoption("--seed", metavar="N", type=int, default=0, help="what is drawn and scheduled (default: 0)")
    group.addoption(
        "--quick", action="store_true", default=False, help="fewer drawn values, schedules and random calls"
    )
    group.addoption("--baseline", metavar="FILE", default=None, help="failures that are known, by row or clause (YAML)")


def _is_given(config: Any) -> bool:
    """Return whether `--lifecycle` stands in the command, in PYTEST_ADDOPTS or in the configuration."""
    words = [
        *config.invocation_params.args,
        *shlex.split(os.environ.get("PYTEST_ADDOPTS", "")),
        *config.getini("addopts"),
    ]
    return any(str(word).partition("=")[0] == "--lifecycle" for word in words)


def pytest_configure(config: pytest.Config) -> None:
    """Add the rows of the life cycle that is given, if one is; tests of files run beside them only where files are named.

    Raises UsageError where there is no system.
    """
    if config.getoption("lifecycle", None) is None:
        return
    if config.getoption("against", None) is None:
        raise pytest.UsageError("--lifecycle needs a system: --against python:module:Class")
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args[:] = []
    config.pluginmanager.register(_Plugin(config), "lifecycle-rows")


class _Plugin:
    """The rows of one life cycle, in one process, and what their tests share: the system, and what is known to be wrong."""

    runner: RowRunner
    baseline: Baseline
    measure: Measure

    def __init__(self, config: pytest.Config) -> None:
        self.results: list[RowResult] = []
        self.stale: tuple[str, ...] = ()
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add a test for each row, in the order of the spec. Raises UsageError for what cannot be used or asked."""
        from conformance.errors import UsageError
        from conformance.system import HarnessError

        try:
            items += self._tests(session)
        except (UsageError, HarnessError) as error:
            raise pytest.UsageError(str(error)) from None

    def _tests(self, session: pytest.Session) -> list[RowItem]:
        from conformance import api
        from conformance.budget import USUAL
        from conformance.errors import faults_told
        from conformance.gating import measured_by
        from conformance.suite import MACHINE, Baseline, RowRunner, selected
        from conformance.targets import open_system
        from statemachines.rows import RowCompiler

        asked = self._config.getoption
        compiled = api.loaded(asked("lifecycle"))
        rows, with_machine = selected(compiled, asked("rows"))
        known = api.known_failures(compiled, asked("baseline"))
        with faults_told("spec"):
            programs = RowCompiler(compiled.lifecycle).checked()
        adapter = open_system(compiled, asked("against"))
        self._config.add_cleanup(adapter.close)
        adapter.ready()
        budget = USUAL.quick() if asked("quick") else USUAL
        self.runner = RowRunner(compiled, programs, adapter, number=asked("seed"), budget=budget)
        self.baseline = Baseline(compiled, {**adapter.declaration.deviates, **known}, whole=budget.whole)
        self.measure = measured_by(compiled)
        parent = RowCollector.from_parent(session, name=compiled.lifecycle.name, nodeid=compiled.lifecycle.name)
        tests = [RowItem.from_parent(parent, name=row.id.text, plugin=self, row=row) for row in rows]
        return [*tests, *([RowItem.from_parent(parent, name=MACHINE, plugin=self)] if with_machine else [])]

    def judged(self, row: Row | None) -> list[RowResult]:
        """Run a row, or the random searches; return the results by the revision that counts, before any is excused."""
        from conformance.suite import run_machine, run_row

        found = run_machine(self.runner, self.baseline.known) if row is None else run_row(self.runner, row)
        self.results += [self.baseline.judged(each, self.results) for each in found]
        return [self.measure.judged(each) for each in found]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the session for a clause that is said to fail, and does not any more: no row has an entry of its own."""
        from conformance.suite import MACHINE

        if self.results:
            stale = self.baseline.stale(self.results, self.runner.witnessed, MACHINE)
            self.stale = tuple(name for name in stale if name not in self.runner.compiled.lifecycle.rows)
        if self.stale and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Name those clauses."""
        from conformance.report import stale_told

        if self.stale:
            terminalreporter.line(stale_told(self.stale), red=True)


class RowCollector(pytest.Collector):
    """What the tests of a life cycle lie in; its name begins their names."""

    def collect(self) -> Iterator[pytest.Item]:
        """Return nothing: the rows are added where all that is collected comes together."""
        return iter(())


class RowItem(pytest.Item):
    """The test of a row, or of the random searches."""

    def __init__(self, *, plugin: _Plugin, row: Row | None = None, **more: Any) -> None:
        super().__init__(**more)
        self._plugin = plugin
        self._row = row
        known = plugin.baseline.known.get(self.name)
        if known is not None:
            strict = row is not None and plugin.baseline.tells(row)
            self.add_marker(pytest.mark.xfail(reason=str(known), strict=strict))

    def runtest(self) -> None:
        """Run the row. Raises RowFails with what shows that it does not hold."""
        from conformance.testcases import failure_text
        from conformance.verdict import Verdict, gates, is_aside

        results = self._plugin.judged(self._row)
        named = self.name in self._plugin.baseline.known
        excused = [each if named else self._plugin.baseline.judged(each, self._plugin.results) for each in results]
        failing = [
            each
            for each in excused
            if gates(each, "should") or (each.verdict is Verdict.COULD_NOT_TELL and not is_aside(each))
        ]
        if failing:
            raise RowFails("\n\n".join(map(failure_text, failing)))
        for each in excused:
            if each.verdict in (Verdict.NOT_APPLICABLE, Verdict.NOT_EXERCISED):
                pytest.skip(f"{each.verdict}: {each.reason}")
            if each.verdict is not Verdict.PASS:
                pytest.xfail(f"{each.verdict}: {each.later or each.reason}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the counterexample alone of a row that fails: how the kit came to it is no part of that."""
        return str(excinfo.value) if isinstance(excinfo.value, RowFails) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the row stands in the spec, and how the test is called."""
        spec = self._plugin.runner.compiled
        title = f"{spec.lifecycle.name} {self.name}"
        if self._row is None:
            return spec.origin or self.path, None, title
        where = self._row.id.where
        return spec.file_of(where) or self.path, where.line - 1, title
