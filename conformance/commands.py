"""What each command does. A fault of what was given is told without a traceback, with exit code 2 or 3."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from conformance.defaults import CALL_LIMIT, FAILURES
from conformance.verdict import EXIT_CONFORMS, EXIT_HARNESS, EXIT_UNKNOWN, EXIT_USAGE, EXIT_VIOLATES
from statemachines.compile import Compiled, load
from statemachines.diagnostics import SpecError, did_you_mean
from statemachines.kernel import Clause, within
from statemachines.specs import shipped

if TYPE_CHECKING:  # every command imports what it needs when it runs
    from conformance.adapter import Adapter
    from conformance.report import Watcher


class Unusable(Exception):
    """What was given cannot be used; the message says what and what to do instead."""

    def __init__(self, message: str, code: int = EXIT_USAGE) -> None:
        super().__init__(message)
        self.code = code


def _load(name: str) -> Compiled:
    try:
        return load(name)
    except LookupError as error:
        hint = did_you_mean(name, shipped())
        raise Unusable(f"{error.args[0]}{f'; {hint}' if hint else ''}") from None
    except SpecError as error:
        raise Unusable(f"the spec has faults\n{error}") from None


@contextmanager
def _opened(make: Callable[[], Adapter], limit: float = CALL_LIMIT) -> Iterator[Adapter]:
    """Give an adapter that can be asked, and close it in the end; what prevents asking is told."""
    from conformance.adapter import HarnessError, UnknownTarget

    try:
        made = make()
    except UnknownTarget as error:
        raise Unusable(str(error)) from None
    except SpecError as error:
        raise Unusable(f"the target has faults\n{error}") from None
    except HarnessError as error:
        raise Unusable(str(error), EXIT_HARNESS) from None
    try:
        with closing(made) as adapter:
            adapter.limit = limit
            adapter.ready()
            yield adapter
    except HarnessError as error:
        raise Unusable(str(error), EXIT_HARNESS) from None


def _writable(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise Unusable(f"{path} cannot be written: {error.strerror}") from None


# ── Runs ─────────────────────────────────────────────────────────────────────────────────────────


def run(options: argparse.Namespace) -> int:
    """Run a matrix; give its exit code."""
    from conformance.run import NoSuchRow, Run, selected
    from conformance.targets import open_target

    compiled = _load(options.lifecycle)
    try:
        selected(compiled, options.rows)
    except NoSuchRow as error:
        raise Unusable(str(error)) from None
    with ExitStack() as stack:
        out = sys.stdout
        if options.json:  # whatever the system prints does not come between the records
            stack.enter_context(redirect_stdout(sys.stderr))
        adapter = stack.enter_context(
            _opened(lambda: open_target(compiled, options.against), options.call_limit)
        )
        try:
            whole = Run(
                compiled,
                adapter,
                only=options.rows,
                seed=options.seed,
                quick=options.quick,
                fail_on=options.fail_on,
            )
        except SpecError as error:
            raise Unusable(f"the spec has faults\n{error}") from None
        return whole.go(_watchers(options, stack, out))


def _watchers(options: argparse.Namespace, stack: ExitStack, out: TextIO) -> list[Watcher]:
    """Give those who are told of a run: the screen or the stream, and the files that were asked for."""
    from conformance.report import Stream
    from conformance.watchers import Junit, Saver, Shown, view

    found: list[Watcher] = [saver := Saver(options.save)]
    if options.report is not None:
        file = stack.enter_context(_writable(options.report))
        found.append(Stream(file.write, file.flush))
    if options.junit is not None:
        found.append(Junit(stack.enter_context(_writable(options.junit)).write))
    if options.json:
        found.append(Stream(out.write, out.flush))
    else:
        found.append(Shown(stack.enter_context(view()), saver))
    return found


def demo(options: argparse.Namespace) -> int:
    """Show the reference pass, then a planted bug being found."""
    from conformance.demo import PLANTED
    from conformance.targets import open_class, open_target

    compiled = _load(options.lifecycle)
    if compiled.lifecycle.name not in PLANTED:
        raise Unusable(f"there is no demo of {compiled.lifecycle.name}; there are: {', '.join(PLANTED)}")
    planted = PLANTED[compiled.lifecycle.name]
    print(f"The reference implementation of {compiled.lifecycle.name}:\n", flush=True)
    first = _shown(compiled, lambda: open_target(compiled, "reference"))
    about = " ".join((planted.__doc__ or "").split())
    print(f"\nThe same with one bug in it. {about}\n", flush=True)
    second = _shown(compiled, lambda: open_class(compiled, planted))
    if (first, second) != (EXIT_CONFORMS, EXIT_VIOLATES):
        print(f"\nThe demo went wrong: the runs ended with {first} and {second}, not with 0 and 1.")
        return EXIT_HARNESS
    print("\nThe bug was found, as it should be: a run of such a system exits with 1. The demo exits with 0.")
    return EXIT_CONFORMS


def _shown(compiled: Compiled, make: Callable[[], Adapter]) -> int:
    """Run quickly and show it; give the exit code of the run."""
    from conformance.run import Run
    from conformance.watchers import Saver, Shown, view

    with _opened(make) as adapter, view() as screen:
        saver = Saver(Path(FAILURES))
        return Run(compiled, adapter, quick=True).go([saver, Shown(screen, saver)])


def show(options: argparse.Namespace) -> int:
    """Show a report that a run has saved."""
    from conformance.render import show as show_report
    from conformance.report_reader import ReportError, read
    from conformance.watchers import rerun, view

    try:
        report = read(options.report)
    except OSError as error:
        raise Unusable(f"{options.report} cannot be read: {error.strerror}; {_REPORTS}") from None
    except ReportError as error:
        raise Unusable(f"{error}; {_REPORTS}") from None
    show_report(report, view(), lambda row: rerun(report.header, row.id))
    return EXIT_CONFORMS


_REPORTS = "`conformance run … --report FILE` writes a report that can be shown"


def replay(options: argparse.Namespace) -> int:
    """Run a saved counterexample again: 0 fixed, 1 still fails, 4 could not tell."""
    from conformance.render.content import RAN
    from conformance.render.texts import latest, one_line
    from conformance.replay import read
    from conformance.replay import replay as replayed
    from conformance.targets import open_target
    from statemachines.rows import RowTooLong

    try:
        saved = read(options.trace)
        with _opened(lambda: open_target(saved.compiled, options.against), options.call_limit) as adapter:
            results = list(replayed(saved, adapter))
    except SpecError as error:
        raise Unusable(f"the trace has faults\n{error}") from None
    except RowTooLong as error:
        where = f"{error.expr.where}: " if error.expr else ""
        raise Unusable(f"{where}{error.message}; a shorter row does") from None
    for result in results:
        because = result.unanswered or result.reason
        print(one_line(f"{result.name}: {result.verdict}{f': {because}' if because else ''}"))
        if result.transcript:
            print("", RAN, "", textwrap.indent(latest(result.transcript), "  "), "", sep="\n")
    if any(result.failed for result in results):
        return EXIT_VIOLATES
    return EXIT_UNKNOWN if any(result.unanswered for result in results) else EXIT_CONFORMS


# ── What is known of a lifecycle ─────────────────────────────────────────────────────────────────


def list_(options: argparse.Namespace) -> int:
    """List the shipped lifecycles, or the rows of one."""
    if options.lifecycle is None:
        for name in shipped():
            compiled = _load(name)
            levels = [row.level for row in compiled.lifecycle.rows.values()]
            print(
                f"{name:<18}{len(levels):>4} rows ({levels.count('must')} must)   {_sentence(compiled.lifecycle.about)}"
            )
        return EXIT_CONFORMS
    from conformance.run import ABOUT_MACHINE, MACHINE

    rows = _load(options.lifecycle).lifecycle.rows.values()
    for row_id, level, about in [
        *((row.id.text, row.level, row.about) for row in rows),
        (MACHINE, "must", ABOUT_MACHINE),
    ]:
        print(f"{row_id:<9}{level:<8}{about}")
    return EXIT_CONFORMS


def _sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".") + "."


def check(options: argparse.Namespace) -> int:
    """Check specs; give 0 when all are right, 2 when one has faults."""
    from statemachines.check import check_spec

    faulty = False
    for name in options.specs:
        try:
            checked = check_spec(name)
        except LookupError as error:
            raise Unusable(f"{error.args[0]}; give the path of a YAML file, or a shipped name") from None
        for diagnostic in checked.diagnostics:
            print(diagnostic.render())
        faulty = faulty or bool(checked.diagnostics)
        if not checked.diagnostics:
            print(f"{name}: right. {checked.summary}")
    return EXIT_USAGE if faulty else EXIT_CONFORMS


def explain(options: argparse.Namespace) -> int:
    """Explain a lifecycle, a row, the random machine or a clause."""
    from conformance.explain import (
        explain_choice,
        explain_clause,
        explain_lifecycle,
        explain_machine,
        explain_operation,
        explain_row,
    )
    from conformance.run import MACHINE

    compiled = _load(options.lifecycle)
    part = options.part
    if not part:
        print(explain_lifecycle(compiled))
    elif part in compiled.lifecycle.rows:
        print(explain_row(compiled, part))
    elif part == MACHINE:
        print(explain_machine(compiled))
    elif found := explain_operation(compiled, part):
        print(found)
    elif clauses := _clauses(compiled, part):
        print("\n".join(explain_clause(compiled, clause) for clause in clauses))
    elif found := explain_choice(compiled, part):
        print(found)
    else:
        paths = [clause.path for clause in compiled.kernel.clauses]
        spec = compiled.lifecycle
        choices = [*spec.limits, *spec.policies, *spec.signals]
        known = [*spec.rows, MACHINE, *spec.operations, *choices, *paths]
        hint = did_you_mean(part, known) or f"`conformance explain {options.lifecycle}` lists them"
        raise Unusable(
            f"{compiled.lifecycle.name} has no row, operation, limit, policy, signal or clause {part!r}; {hint}"
        )
    return EXIT_CONFORMS


def _clauses(compiled: Compiled, part: str) -> list[Clause]:
    """Give the clauses of a path, or of a path without its section: `finish` for `operations.finish`."""
    clauses = compiled.kernel.clauses
    sections = dict.fromkeys(each.path.partition(".")[0] for each in clauses)
    wanted = [part, *(f"{section}.{part}" for section in sections)]
    return [each for each in clauses if any(within(each.path, path) for path in wanted)]


def generate(options: argparse.Namespace) -> int:
    """Write the model of a lifecycle."""
    from statemachines.generate import standalone

    text = standalone(_load(options.lifecycle).kernel)
    if options.output is None:
        print(text, end="")
        return EXIT_CONFORMS
    with _writable(Path(options.output)) as file:
        file.write(text)
    return EXIT_CONFORMS


def draw(options: argparse.Namespace) -> int:
    """Draw a lifecycle as Mermaid text."""
    from statemachines.drawing import mermaid

    compiled = _load(options.lifecycle)
    try:
        print(mermaid(compiled.lifecycle), end="")
    except SpecError as error:
        raise Unusable(f"{compiled.lifecycle.name} cannot be drawn\n{error}") from None
    return EXIT_CONFORMS


def adapter(options: argparse.Namespace) -> int:
    """Print the skeleton of an adapter."""
    from conformance.scaffold import python_skeleton

    print(python_skeleton(_load(options.lifecycle)), end="")
    return EXIT_CONFORMS
