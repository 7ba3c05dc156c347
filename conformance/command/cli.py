"""The command `conformance`. Every command imports what it needs when it runs, so that none waits for the others'.

One idea: the words of every command.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.__about__ import __version__
from conformance.defaults import CALL_LIMIT, CHECKED, FAILURES, LANGUAGES, STEPS_EXPLORED
from conformance.errors import UsageError
from conformance.verdict import EXIT_HARNESS, EXIT_INTERRUPTED, EXIT_USAGE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code. Without arguments it is that of this process, which then ends with it in time."""
    if arguments is not None:
        return _ran(arguments)
    from conformance.command.process import ended_in_time, interrupted_in_time

    with interrupted_in_time():
        try:
            return ended_in_time(_ran(sys.argv[1:]))
        except KeyboardInterrupt:  # while the command was still loaded
            return _interrupted()


def _interrupted() -> int:
    print("conformance: interrupted; the run did not finish", file=sys.stderr)
    return EXIT_INTERRUPTED


def _ran(arguments: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if not hasattr(options, "command"):
        parser.print_help()
        return EXIT_USAGE
    from conformance.command import commands
    from conformance.command.process import usable_output

    out = usable_output()
    try:
        code: int = getattr(commands, options.command)(options)
        if sys.stdout is not out:  # a system has put something else into its place
            sys.stdout = out
        out.flush()
    except UsageError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
        return 141  # as if SIGPIPE (13) had ended us: the command did not come to its end
    except Exception as error:  # noqa: BLE001 - a fault of the kit is no verdict on the system, nor is what keeps it from being asked; no traceback
        print(f"conformance: {_told(error)}", file=sys.stderr)
        return EXIT_HARNESS
    except KeyboardInterrupt:
        return _interrupted()
    return code


def _told(error: Exception) -> str:
    """Say what kept a command from its end; what cannot be written is not written at the end of the process either."""
    from conformance.command.process import UNWRITABLE, no_output
    from conformance.system import HarnessError

    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        no_output()
        return f"the output cannot be written: {error.strerror}"
    return str(error if isinstance(error, HarnessError) else HarnessError.of_the_kit(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="conformance",
        description="Checks implementations of background job life cycles against their specs.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"conformance {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _run(_command(commands, "run", "run a lifecycle's matrix against a system"))
    demo = _command(commands, "demo", "see the reference pass, and a planted bug be found")
    demo.add_argument("lifecycle", metavar="LIFECYCLE", nargs="?", default="thread-job", help="default: thread-job")
    _lifecycle(_command(commands, "list", "list the lifecycles, or the rows of one"), optional=True)
    check = _command(commands, "check", "check specs: structure, meaning, rows and invariants")
    check.add_argument(
        "specs",
        nargs="+",
        metavar="SPEC",
        help="a YAML file, a folder with rules.yaml, or the name of a shipped lifecycle",
    )
    check.add_argument(
        "--no-cache",
        action="store_true",
        help=f"look at everything again, also at what has not changed since it was right ({CHECKED})",
    )
    freeze = _command(
        commands, "freeze", "write down what a spec's version requires, so that what comes later demotes nobody"
    )
    freeze.add_argument(
        "spec", metavar="SPEC", help="a file, a folder with rules.yaml, or the name of a shipped lifecycle"
    )
    freeze.add_argument(
        "--again", action="store_true", help="write over what is there, as long as nobody was judged by it"
    )
    explain = _command(commands, "explain", "say what a lifecycle, a row, the machine or a clause means")
    _lifecycle(explain)
    explain.add_argument(
        "part",
        nargs="?",
        default="",
        metavar="ROW|OPERATION|CLAUSE",
        help="for example E4, machine, finish, or operations.finish.move",
    )
    generate = _command(commands, "generate", "write a lifecycle as a Python module of its own")
    _lifecycle(generate)
    generate.add_argument(
        "--as",
        dest="form",
        choices=["model", "transitions"],
        default="model",
        help="the executable model, which needs nothing else, or machines of the package `transitions` (default: model)",
    )
    generate.add_argument("--output", metavar="FILE", help="where to write it (default: standard output)")
    _lifecycle(_command(commands, "draw", "draw a lifecycle as a Mermaid state diagram"))
    _about_models(commands)
    vectors = _command(commands, "vectors", "write what rows call, with every allowed answer: test vectors as JSON")
    _lifecycle(vectors)
    _vectors(vectors)
    doctor = _command(commands, "doctor", "try an adapter alone: what to mend before a run can tell anything")
    _lifecycle(doctor)
    _against(doctor)
    doctor.add_argument("--verbose", action="store_true", help="show all that passes, not only what went wrong")
    trace = _command(commands, "trace", "check what a system logged, without calling it")
    _lifecycle(trace)
    trace.add_argument("log", metavar="LOG", help="a file of JSON Lines, or - for standard input")
    trace.add_argument(
        "--map", metavar="MAP", help="how the log is read (YAML), or otel; else it is in the kit's own form"
    )
    trace.add_argument("--json", action="store_true", help="write it as one JSON object instead of text")
    replay = _command(commands, "replay", "run a saved counterexample again")
    replay.add_argument("counterexample", metavar="FILE", help=f"a file that `run` wrote under {FAILURES}/")
    _against(replay)
    show = _command(commands, "show", "show a report that a run has saved")
    show.add_argument("report", metavar="REPORT", help="a file that `run --report` wrote")
    compare = _command(commands, "compare", "say what got worse between two reports, what got better, and what is new")
    compare.add_argument("old", metavar="OLD", help="the report of an earlier run")
    compare.add_argument("new", metavar="NEW", help="the report of a later one of the same life cycle")
    compare.add_argument("--json", action="store_true", help="write it as one JSON object instead of text")
    _render(_command(commands, "render", "write a saved report as a web page, JUnit XML, Markdown or a badge"))
    adapter = _command(commands, "adapter", "print the skeleton of an adapter")
    _lifecycle(adapter)
    adapter.add_argument(
        "--language",
        default=LANGUAGES[0],
        choices=LANGUAGES,
        help=f"the language of the skeleton (default: {LANGUAGES[0]})",
    )
    return parser


def _about_models(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands that look at the model of a spec, and at no system."""
    _prove(
        _command(commands, "prove", "put mistakes into a spec's model one by one, and say whether its rows find them")
    )
    _diff(
        _command(commands, "diff", "say what two revisions of a spec ask for otherwise: may systems stay as they are?")
    )
    _explore(_command(commands, "explore", "say what a spec's model comes to in a small scope, and what it never does"))
    step = _command(commands, "step", "step through a spec's model call by call, in the terminal")
    _lifecycle(step)
    _declared(step)


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, about: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.", allow_abbrev=False)
    parser.set_defaults(command="list_" if name == "list" else name)  # `list` is taken
    return parser


def _render(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", metavar="REPORT", help="a file that `run --report` wrote")
    parser.add_argument(
        "--as",
        dest="form",
        required=True,
        choices=["html", "junit", "markdown", "badge", "badge-json"],
        help="html: one page, which needs jinja2; badge: SVG; badge-json: for an endpoint badge of shields.io",
    )
    parser.add_argument("--output", metavar="FILE", help="where to write it (default: standard output)")
    parser.add_argument("--since", metavar="REPORT", help="an earlier report: Markdown says what has changed since")


def _prove(parser: argparse.ArgumentParser) -> None:
    _lifecycle(parser)
    parser.add_argument(
        "--clause", default="", metavar="CLAUSE", help="only mistakes of this clause, and below it: operations.finish"
    )
    parser.add_argument("--search", action="store_true", help="also ask the search alone, without any row; slow")
    parser.add_argument(
        "-n", dest="workers", type=int, default=1, metavar="WORKERS", help="so many processes; the result is the same"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="what is drawn and scheduled (default: 0)")
    parser.add_argument("--verbose", action="store_true", help="name every mistake, with what came of it")
    parser.add_argument("--json", action="store_true", help="write it as one JSON object instead of text")


def _diff(parser: argparse.ArgumentParser) -> None:
    spec = "a YAML file, a folder with rules.yaml, or the name of a shipped lifecycle"
    parser.add_argument("old", metavar="OLD", help=f"the old revision: {spec}")
    parser.add_argument("new", metavar="NEW", help="the new revision, likewise")
    parser.add_argument("--json", action="store_true", help="write it as one JSON object instead of text")


def _explore(parser: argparse.ArgumentParser) -> None:
    _lifecycle(parser)
    parser.add_argument(
        "--rows", metavar="FILE", help="also write the shortest calls to all that was met, as rows to put into the spec"
    )
    parser.add_argument(
        "--steps",
        type=_count,
        default=STEPS_EXPLORED,
        metavar="N",
        help=f"stop after so many steps in each scope, though there may be more (default: {STEPS_EXPLORED:,})",
    )
    parser.add_argument("--json", action="store_true", help="write it as one JSON object instead of text")


def _vectors(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as",
        dest="form",
        choices=["json", "itf"],
        default="json",
        help="the format of docs/vectors.md, or a trace in the Informal Trace Format of Apalache (default: json)",
    )
    parser.add_argument("--output", metavar="FILE", help="where to write it (default: standard output)")
    _declared(parser)


def _declared(parser: argparse.ArgumentParser) -> None:
    for word, value in ("limit", "NUMBER"), ("policy", "CHOICE"):
        parser.add_argument(
            f"--{word}",
            action="append",
            default=[],
            metavar=f"NAME={value}",
            help=f"a {word} of the system that is not the default; may be given again",
        )


def _lifecycle(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    parser.add_argument(
        "lifecycle",
        metavar="LIFECYCLE",
        nargs="?" if optional else None,
        help="a shipped name such as thread-job, or the file or folder of a spec",
    )


def _against(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--against",
        required=True,
        metavar="TARGET",
        help="reference, model, python:module:Class, stdio:COMMAND, http://HOST:PORT, or cli:FILE.yaml",
    )
    parser.add_argument(
        "--call-limit",
        type=_seconds,
        default=CALL_LIMIT,
        metavar="SECONDS",
        help=f"how long one call may take (default: {CALL_LIMIT:g})",
    )


def _run(parser: argparse.ArgumentParser) -> None:
    _lifecycle(parser)
    _against(parser)
    parser.add_argument(
        "--rows",
        metavar="IDS",
        help="only these rows, for example N1,E*; `machine` is the random machine",
    )
    parser.add_argument(
        "--rerun-failed", metavar="REPORT", help="only what failed in that report, or has no answer there"
    )
    parser.add_argument("-x", dest="at_first", action="store_true", help="stop at the first row that fails the run")
    parser.add_argument(
        "--budget", type=_duration, metavar="TIME", help="how long the run may take, for example 60s or 5m: rows first"
    )
    parser.add_argument(
        "-n", dest="workers", type=int, default=1, metavar="WORKERS", help="so many processes; the report is the same"
    )
    parser.add_argument("--quick", action="store_true", help="fewer drawn values, schedules and random calls")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="what is drawn and scheduled (default: 0)")
    parser.add_argument(
        "--fail-on",
        choices=["must", "should"],
        default="must",
        help="the lowest level that fails the run (default: must)",
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="failures that are known, by row or clause, each with its reason (YAML)"
    )
    parser.add_argument(
        "--revision",
        type=int,
        metavar="N",
        help="the revision whose requirements count (default: the newest frozen one)",
    )
    parser.add_argument("--json", action="store_true", help="write the report as JSON Lines instead of text")
    parser.add_argument("--report", type=Path, metavar="FILE", help="also write the report as JSON Lines to a file")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="also write a JUnit XML file")
    parser.add_argument(
        "--save",
        type=Path,
        default=Path(FAILURES),
        metavar="DIR",
        help=f"where counterexamples are written (default: {FAILURES})",
    )


def _duration(text: str) -> float:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(s|m|h|)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write 90, 90s, 5m or 1h")
    return float(found[1]) * {"m": 60, "h": 3600}.get(found[2], 1)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds") from None
