"""What each command does: it asks the kit, prints, and returns the exit code."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack, redirect_stdout
from pathlib import Path

from conformance import api
from conformance.command import exploring, exports, gates
from conformance.command.process import Counted, utf8_output, writable, write_out, writing
from conformance.defaults import CHECKED, FAILURES
from conformance.errors import UsageError
from conformance.verdict import EXIT_CONFORMS, EXIT_HARNESS, EXIT_UNKNOWN, EXIT_USAGE, EXIT_VIOLATES
from statemachines.specs import shipped

OUTGROWN = "raise its `version`; or `freeze` it `--again` if nobody has been judged by it"

# ── Runs ─────────────────────────────────────────────────────────────────────────────────────────


def run(options: argparse.Namespace) -> int:
    """Run a matrix, and tell whoever was asked for: the screen or the stream, and the files. Return its exit code."""
    from conformance.report import JUnitFile, Stream, Watcher, summary, view_of
    from conformance.suite import Pace, Saver

    out, saver = sys.stdout, Saver(options.save)
    with ExitStack() as stack:
        if options.json:  # whatever the system prints does not come between the records
            utf8_output()
            stack.enter_context(redirect_stdout(sys.stderr))
        chosen = api.prepared(
            options.lifecycle,
            options.against,
            rows=gates.rows_asked(options),
            seed=options.seed,
            quick=options.quick,
            fail_on=options.fail_on,
            baseline=options.baseline,
            revision=options.revision,
            call_limit=options.call_limit,
            workers=options.workers,
            cluster=options.cluster,
            pace=Pace(options.at_first, options.budget),
        )
        whole = stack.enter_context(chosen)
        watchers: list[Watcher] = [saver]
        if options.report is not None:
            file = stack.enter_context(writable(options.report))
            watchers.append(Stream(file.write, file.flush))
        if options.junit is not None:
            with writing(options.junit):
                tests = JUnitFile(options.junit)
            watchers.append(stack.enter_context(tests))
        if options.json:
            watchers.append(Stream(out.write, out.flush))
        else:
            watchers.append(stack.enter_context(view_of(out, saver.commands.__getitem__)))
        report = whole.go(watchers)
        if options.json and report.exit != EXIT_CONFORMS:  # whoever reads the log of a pipeline sees no record
            said = summary(report.header, report.rows, report.coverage, report.footer)
            print(f"conformance: {' '.join(filter(None, (said.conclusion, said.beside)))}", file=sys.stderr)
        return report.exit


def demo(options: argparse.Namespace) -> int:
    """Show the reference pass, then a planted bug being found. Raises UsageError."""
    from conformance.demo import PLANTED

    name = api.loaded(options.lifecycle).lifecycle.name
    if name not in PLANTED:
        raise UsageError(f"there is no demo of {name}; there are: {', '.join(PLANTED)}")
    planted = PLANTED[name]
    print(f"The reference implementation of {name}:\n", flush=True)
    first = _shown(options.lifecycle, "reference")
    about = " ".join((planted.__doc__ or "").split())
    print(f"\nThe same with one bug in it. {about}\n", flush=True)
    second = _shown(options.lifecycle, planted)
    if (first, second) != (EXIT_CONFORMS, EXIT_VIOLATES):
        print(f"\nThe demo went wrong: the runs ended with {first} and {second}, not with 0 and 1.")
        return EXIT_HARNESS
    print("\nThe bug was found, as it should be: a run of such a system exits with 1. The demo exits with 0.")
    return EXIT_CONFORMS


def _shown(lifecycle: str, system: api.System) -> int:
    """Run quickly and show it; return the exit code of the run."""
    from conformance.report import view_of
    from conformance.suite import Saver

    saver = Saver(Path(FAILURES))
    with (
        api.prepared(lifecycle, system, quick=True) as whole,
        view_of(sys.stdout, saver.commands.__getitem__) as screen,
    ):
        return whole.go([saver, screen]).exit


def show(options: argparse.Namespace) -> int:
    """Show a report that a run has saved: 0, or 4 of a run that did not finish."""
    from conformance.report import view_of

    report = gates.saved_report(options.report, "shown")
    report.show(view_of(sys.stdout))
    return EXIT_CONFORMS if report.finished else EXIT_UNKNOWN


explore, step = exploring.explore, exploring.step
compare, diff, freeze, vectors = gates.compare, gates.diff, gates.freeze, exports.vectors


def render(options: argparse.Namespace) -> int:
    """Write a report that a run has saved in another form: 0, or 4 of a run that did not finish. Raises UsageError."""
    from conformance.report.render import rendered

    if options.since is not None and options.form != "markdown":
        raise UsageError(f"--since is for --as markdown: {options.form} does not say what has changed")
    report = gates.saved_report(options.report, "rendered")
    text = rendered(
        report, options.form, None if options.since is None else gates.saved_report(options.since, "compared")
    )
    write_out(text, options.output)
    return EXIT_CONFORMS if report.finished else EXIT_UNKNOWN


def replay(options: argparse.Namespace) -> int:
    """Run a saved counterexample again: 0 fixed, 1 still fails, 4 could not tell."""
    found = api.replay(options.counterexample, options.against, call_limit=options.call_limit)
    print(found)
    return found.exit


def doctor(options: argparse.Namespace) -> int:
    """Try an adapter alone: 0 it can be asked, 1 there is something to mend, 3 nothing can be asked."""
    from conformance.doctor import examined, exit_of, written

    api.check_arguments(call_limit=options.call_limit)
    steps = examined(api.loaded(options.lifecycle), options.against, options.call_limit)
    for line in written(steps, verbose=options.verbose):
        print(line)
    return exit_of(steps)


def trace(options: argparse.Namespace) -> int:
    """Check a log: 0 it holds, 1 it does not or says nothing, 4 could not tell. Raises UsageError."""
    from conformance.logs import exit_of, plain, written

    utf8_output()
    found = api.trace(options.lifecycle, options.log, options.map)
    lines = [json.dumps(plain(found), ensure_ascii=False, indent=2)] if options.json else written(found)
    for line in lines:
        print(line)
    return exit_of(found)


# ── What is known of a lifecycle ─────────────────────────────────────────────────────────────────


def list_(options: argparse.Namespace) -> int:
    """List the shipped lifecycles, or the rows of one."""
    if options.lifecycle is None:
        for name in shipped():
            compiled = api.loaded(name)
            levels = [row.level for row in compiled.lifecycle.rows.values()]
            print(
                f"{name:<18}{len(levels):>4} rows ({levels.count('must')} must)   {_sentence(compiled.lifecycle.about)}"
            )
        return EXIT_CONFORMS
    from conformance.suite import ABOUT_MACHINE, MACHINE

    rows = api.loaded(options.lifecycle).lifecycle.rows.values()
    for row_id, level, about in [
        *((row.id.text, row.level, row.about) for row in rows),
        (MACHINE, "must", ABOUT_MACHINE),
    ]:
        print(f"{row_id:<9}{level:<8}{about}")
    return EXIT_CONFORMS


def _sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".") + "."


def check(options: argparse.Namespace) -> int:
    """Check specs; return 0 when all are right, 2 when one has faults. Raises UsageError."""
    import statemachines

    faulty, cache = False, None if options.no_cache else Path(CHECKED)
    for name in options.specs:
        try:
            checked = statemachines.check(name, cache=cache)
        except LookupError as error:
            raise UsageError(
                f"{error.args[0]}; give a shipped name, or the path of a YAML file or of a folder with rules.yaml"
            ) from None
        for diagnostic in checked.diagnostics:
            print(diagnostic.render())
        faulty = faulty or bool(checked.diagnostics)
        if not checked.diagnostics:
            print(f"{name}: right. {checked.summary}")
        if checked.outgrown and not checked.diagnostics:
            print(f"{name}: revision {checked.outgrown} is frozen, and the spec says otherwise now: {OUTGROWN}")
    return EXIT_USAGE if faulty else EXIT_CONFORMS


def prove(options: argparse.Namespace) -> int:
    """Put mistakes into a spec's model: 0 where each that makes a difference is found, 1 where not. Raises UsageError."""
    from conformance.proving import as_page, as_plain, proved
    from conformance.workers import cluster_at

    utf8_output()
    api.check_arguments(seed=options.seed)
    api.check_workers(options.workers, options.cluster)
    compiled = api.loaded(options.lifecycle)
    if faults := api.spec_faults(compiled):
        fine = ("[uncovered-clause]", "[no-rows]") if options.search else ("[uncovered-clause]",)
        wrong = [each for each in faults if not any(code in each for code in fine)]
        if wrong:  # what a wrong row finds says nothing
            more = f"; and {len(wrong) - 1} more, which `check` shows" if len(wrong) > 1 else ""
            more = "; with --search the search is asked alone" if all("[no-rows]" in each for each in wrong) else more
            raise UsageError(f"`check` refuses {options.lifecycle}, so nothing can be proved of it: {wrong[0]}{more}")
        if "[no-rows]" not in faults[0]:
            print(f"conformance: `check` refuses {options.lifecycle}: {faults[0]}", file=sys.stderr)
    counter = Counted(sys.stderr, "mistakes tried")
    with cluster_at(options.cluster) as cluster:
        found = proved(
            compiled,
            clause=options.clause,
            searched=options.search,
            raced=options.races,
            workers=options.workers,
            cluster=cluster,
            seed=options.seed,
            told=counter.told,
        )
    counter.over()
    lines = as_page(found, verbose=options.verbose)
    for line in [json.dumps(as_plain(found), ensure_ascii=False, indent=2)] if options.json else lines:
        print(line)
    return found.exit


def explain(options: argparse.Namespace) -> int:
    """Explain a lifecycle, a row, the random machine or a clause."""
    from conformance.command.explain import explained

    print(explained(api.loaded(options.lifecycle), options.part))
    return EXIT_CONFORMS


def generate(options: argparse.Namespace) -> int:
    """Write the model of a lifecycle, or the machines of its records. Raises UsageError."""
    from statemachines.draw import machine_module
    from statemachines.generate import standalone

    compiled = api.loaded(options.lifecycle)
    if options.form == "model":
        text = standalone(compiled.kernel)
    else:
        try:
            text = machine_module(compiled)
        except LookupError as error:
            raise UsageError(str(error)) from None
    write_out(text, options.output)
    return EXIT_CONFORMS


def draw(options: argparse.Namespace) -> int:
    """Draw a lifecycle as Mermaid text. Raises UsageError."""
    from statemachines.draw import mermaid

    utf8_output()
    print(mermaid(api.loaded(options.lifecycle)), end="")
    return EXIT_CONFORMS


def adapter(options: argparse.Namespace) -> int:
    """Print the skeleton of an adapter."""
    from conformance.skeleton import skeleton

    utf8_output()
    print(skeleton(api.loaded(options.lifecycle), options.language), end="")
    return EXIT_CONFORMS
