"""What each command does. A fault of what was given is told without a traceback, with exit code 2 or 3."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from conformance.verdict import EXIT_CONFORMS, EXIT_HARNESS, EXIT_USAGE, EXIT_VIOLATES, RowResult
from statemachines.compile import Compiled, load
from statemachines.diagnostics import SpecError, did_you_mean
from statemachines.specs import shipped


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


def _open(compiled: Compiled, options: argparse.Namespace) -> Any:
    from conformance.adapter import HarnessError
    from conformance.targets import UnknownTarget, open_target

    try:
        adapter = open_target(compiled, options.against)
        adapter.limit = options.call_limit
    except UnknownTarget as error:
        raise Unusable(str(error)) from None
    except HarnessError as error:
        raise Unusable(str(error), EXIT_HARNESS) from None
    return adapter


# ── run and demo ─────────────────────────────────────────────────────────────────────────────────


def run(options: argparse.Namespace) -> int:
    """Run a matrix; give its exit code."""
    from conformance.run import NoSuchRow, Run

    compiled = _load(options.lifecycle)
    adapter = _open(compiled, options)
    try:
        whole = Run(
            compiled,
            adapter,
            only=options.rows,
            seed=options.seed,
            quick=options.quick,
            fail_on=options.fail_on,
        )
    except NoSuchRow as error:
        raise Unusable(str(error)) from None
    with ExitStack() as stack:
        stack.callback(adapter.close)
        watchers = _watchers(options, compiled, stack)
        code = whole.go(watchers)
    if options.junit is not None:
        _write_junit(options.junit, watchers)
    return code


def _watchers(options: argparse.Namespace, compiled: Compiled, stack: ExitStack) -> list[Any]:
    """Give those who are told of a run: the screen or the stream, and the files that were asked for."""
    from conformance.report import Stream

    saver = _Saver(options.save, compiled, options.against)
    found: list[Any] = [
        Stream(sys.stdout.write, sys.stdout.flush)
        if options.json
        else _Shown(stack.enter_context(_view()), saver)
    ]
    if options.json:
        found.append(saver)
    if options.report is not None:
        file = stack.enter_context(_writable(options.report))
        found.append(Stream(file.write, file.flush))
    if options.junit is not None:
        _writable(options.junit).close()
        found.append(_Kept())
    return found


def _writable(path: Path) -> Any:
    try:
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise Unusable(f"{path} cannot be written: {error.strerror}") from None


def _view() -> Any:
    """Give the view for this terminal or pipe."""
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        from conformance.render.terminal import Terminal

        return Terminal(sys.stdout)
    from conformance.render.plain import Plain

    return Plain(sys.stdout)


class _Saver:
    """Writes every counterexample to a file, and says how to run it again."""

    def __init__(self, folder: Path, compiled: Compiled, target: str) -> None:
        self._folder = folder
        self._name = compiled.lifecycle.name
        self._target = target

    def header(self, header: Any) -> None:
        """Nothing to save yet."""

    def began(self, row_id: str) -> None:
        """Nothing to save yet."""

    def row(self, result: RowResult) -> str:
        """Save a counterexample; give the command that runs it again, or that runs the row."""
        from conformance.replay import save

        if result.counterexample is None:
            return f"conformance run {self._name} --against {shlex.quote(self._target)} --rows {result.id}"
        try:
            path = save(self._folder, self._name, result.id, result.counterexample.row)
        except OSError as error:
            return f"(not saved: {error})"
        return f"conformance replay {shlex.quote(str(path))} --against {shlex.quote(self._target)}"

    def finish(self, coverage: Any, footer: Any) -> None:
        """Nothing left to save."""


class _Shown:
    """Shows a run to a person."""

    def __init__(self, view: Any, saver: _Saver) -> None:
        self.header, self.began, self.finish = view.header, view.began, view.finish
        self._view, self._saver = view, saver

    def row(self, result: RowResult) -> None:
        """Show a result with the command that runs it again."""
        self._view.row(result, self._saver.row(result))


class _Kept:
    """Keeps a run for a report that is written at its end."""

    def __init__(self) -> None:
        self.rows: list[RowResult] = []

    def header(self, header: Any) -> None:
        """Keep the header."""
        self.head = header

    def began(self, row_id: str) -> None:
        """Nothing to keep."""

    def row(self, result: RowResult) -> None:
        """Keep a result."""
        self.rows.append(result)

    def finish(self, coverage: Any, footer: Any) -> None:
        """Keep what ends a report."""
        self.coverage, self.footer = coverage, footer


def _write_junit(path: Path, watchers: list[Any]) -> None:
    from conformance.render.junit import junit
    from conformance.report import Report

    kept = next(each for each in watchers if isinstance(each, _Kept))
    path.write_text(junit(Report(kept.head, tuple(kept.rows), kept.coverage, kept.footer)), encoding="utf-8")


def demo(options: argparse.Namespace) -> int:
    """Show the reference pass, then a planted bug being found."""
    from conformance.demo import PLANTED
    from conformance.run import Run
    from conformance.targets import open_class, open_target

    compiled = _load(options.lifecycle)
    if compiled.lifecycle.name not in PLANTED:
        raise Unusable(f"there is no demo of {compiled.lifecycle.name}; there are: {', '.join(PLANTED)}")
    planted = PLANTED[compiled.lifecycle.name]
    print(f"The reference implementation of {compiled.lifecycle.name}:\n", flush=True)
    good = Run(compiled, open_target(compiled, "reference"), quick=True)
    with _view() as view:
        first = good.go([_Shown(view, _Saver(Path(FAILED), compiled, "reference"))])
    about = " ".join((planted.__doc__ or "").split())
    print(f"\nThe same with one bug in it. {about}\n", flush=True)
    bad = Run(compiled, open_class(compiled, planted), quick=True)
    with _view() as view:
        second = bad.go([_Shown(view, _Saver(Path(FAILED), compiled, bad.adapter.name))])
    return EXIT_CONFORMS if (first, second) == (EXIT_CONFORMS, EXIT_VIOLATES) else EXIT_HARNESS


FAILED = ".conformance"


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
    for row in _load(options.lifecycle).lifecycle.rows.values():
        print(f"{row.id.text:<5}{row.level:<8}{row.about}")
    return EXIT_CONFORMS


def _sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".") + "."


def check(options: argparse.Namespace) -> int:
    """Check specs; give 0 when all are right, 2 when one has faults."""
    from statemachines.check import check as check_compiled

    faulty = False
    for name in options.specs:
        try:
            checked = check_compiled(load(name))
        except SpecError as error:
            print(error)
            faulty = True
            continue
        except LookupError as error:
            raise Unusable(f"{error.args[0]}; give the path of a YAML file, or a shipped name") from None
        for diagnostic in checked.diagnostics:
            print(diagnostic.render())
        faulty = faulty or bool(checked.diagnostics)
        if not checked.diagnostics:
            print(f"{name}: right. {checked.summary}")
    return EXIT_USAGE if faulty else EXIT_CONFORMS


def explain(options: argparse.Namespace) -> int:
    """Explain a lifecycle, a row or a clause."""
    from conformance.explain import explain_clause, explain_lifecycle, explain_row

    compiled = _load(options.lifecycle)
    part = options.part
    if not part:
        print(explain_lifecycle(compiled))
    elif part in compiled.lifecycle.rows:
        print(explain_row(compiled, part))
    else:
        found = [
            clause
            for clause in compiled.kernel.clauses
            if clause.path == part or clause.path.startswith(f"{part}.")
        ]
        if not found:
            known = [*compiled.lifecycle.rows, *(clause.path for clause in compiled.kernel.clauses)]
            hint = did_you_mean(part, known) or f"`conformance explain {options.lifecycle}` lists them"
            raise Unusable(f"{compiled.lifecycle.name} has no row or clause {part!r}; {hint}")
        print("\n".join(explain_clause(compiled, clause) for clause in found))
    return EXIT_CONFORMS


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

    print(mermaid(_load(options.lifecycle).lifecycle), end="")
    return EXIT_CONFORMS


def adapter(options: argparse.Namespace) -> int:
    """Print the skeleton of an adapter."""
    from conformance.scaffold import python_skeleton

    print(python_skeleton(_load(options.lifecycle)), end="")
    return EXIT_CONFORMS


def replay(options: argparse.Namespace) -> int:
    """Run a saved counterexample again: 0 fixed, 1 still fails."""
    from conformance.replay import read
    from conformance.replay import replay as replayed

    try:
        compiled = read(options.trace)
        target = _open(compiled, options)
        results = list(replayed(compiled, target))
    except SpecError as error:
        raise Unusable(f"the trace has faults\n{error}") from None
    target.close()
    for result in results:
        print(f"{result.id}: {result.verdict}{f' - {result.reason}' if result.reason else ''}")
    return EXIT_VIOLATES if any(result.failed for result in results) else EXIT_CONFORMS
