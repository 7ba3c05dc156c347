"""The words of every command: what each is for, and what can be said to it.

One idea: a table of commands, with a short function for the words of each.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from conformance.__about__ import __version__
from conformance.defaults import CALL_LIMIT, CHECKED, FAILURES, LANGUAGES, STEPS_EXPLORED
from conformance.verdict import EXIT_USAGE
from statemachines.diagnostics import did_you_mean

_SPEC = "a file, a folder with rules.yaml, or the name of a shipped lifecycle"


class _CommandParser(argparse.ArgumentParser):
    """Says in a line what is wrong with the words of a command, and what may be meant."""

    def error(self, message: str) -> NoReturn:
        said = re.search(r"(invalid choice: '(.*)') \(choose from (.*)\)", message)
        hint = did_you_mean(said[2], re.findall(r"[\w-]+", said[3])) if said else ""
        if said and hint:
            message = message[: said.end(1)]
        self.exit(EXIT_USAGE, f"{self.prog}: error: {message}; {hint or f'`{self.prog} --help` tells more'}\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command; what it finds has `command`, the name of the function that carries it out."""
    whole = _CommandParser(
        prog="conformance",
        description="Checks implementations of background job life cycles against their specs.",
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=f"conformance {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND")
    for name, about, adds in _COMMANDS:
        described = f"{about[0].upper()}{about[1:]}."
        one = commands.add_parser(name, help=about, description=described, allow_abbrev=False)
        one.set_defaults(command="list_" if name == "list" else name)  # `list` is taken
        adds(one)
    return whole


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lifecycle", metavar="LIFECYCLE", nargs="?", default="thread-job", help="default: thread-job")


def _list(parser: argparse.ArgumentParser) -> None:
    _lifecycle(parser, optional=True)


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", nargs="+", metavar="SPEC", help=_SPEC.replace("a file", "a YAML file", 1))
    parser.add_argument(
        "--no-cache",
        action="store_true",
        help=f"look at everything again, also at what has not changed since it was right ({CHECKED})",
    )


def _freeze(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help=_SPEC)
    parser.add_argument(
        "--again", action="store_true", help="write over what is there, as long as nobody was judged by it"
    )


def _explain(parser: argparse.ArgumentParser) -> None:
    _lifecycle(parser)
    parser.add_argument(
        "part",
        nargs="?",
        default="",
        metavar="ROW|OPERATION|CLAUSE",
        help="for example E4, machine, finish, or operations.finish.move",
    )


def _generate(parser: argparse.ArgumentParser) -> None:
    _lifecycle(parser)
    parser.add_argument(
        "--as",
        dest="form",
        choices=["model", "transitions"],
        default="model",
        help="the executable model, which needs nothing else, or machines of the package `transitions` (default: model)",
    )
    parser.add_argument("--output", metavar="FILE", help="where to write it (default: standard output)")


def _step(parser: argparse.ArgumentParser) -> None:
    _lifecycle(parser)
    _declared(parser)


def _doctor(parser: argparse.ArgumentParser) -> None:
    _lifecycle(parser)
    _against(parser)
    parser.add_argument("--verbose", action="store_true", help="show all that passes, not only what went wrong")


def _trace(parser: argparse.ArgumentParser) -> None:
    _lifecycle(parser)
    parser.add_argument("log", metavar="LOG", help="a file of JSON Lines, or - for standard input")
    parser.add_argument(
        "--map", metavar="MAP", help="how the log is read (YAML), or otel; else it is in the kit's own form"
    )
    parser.add_argument("--json", action="store_true", help="write it as one JSON object instead of text")


def _replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("counterexample", metavar="FILE", help=f"a file that `run` wrote under {FAILURES}/")
    _against(parser)


def _show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", metavar="REPORT", help="a file that `run --report` wrote")


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD", help="the report of an earlier run")
    parser.add_argument("new", metavar="NEW", help="the report of a later one of the same life cycle")
    parser.add_argument("--json", action="store_true", help="write it as one JSON object instead of text")


def _adapter(parser: argparse.ArgumentParser) -> None:
    _lifecycle(parser)
    parser.add_argument(
        "--language",
        default=LANGUAGES[0],
        choices=LANGUAGES,
        help=f"the language of the skeleton (default: {LANGUAGES[0]})",
    )


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


def _workers(parser: argparse.ArgumentParser, result: str) -> None:
    parser.add_argument(
        "-n",
        dest="workers",
        type=int,
        default=1,
        metavar="WORKERS",
        help=f"so many processes; the {result} is the same",
    )
    parser.add_argument(
        "--cluster", default="", metavar="ADDRESS", help="the workers of a Dask cluster instead: tcp://host:8786"
    )


def _prove(parser: argparse.ArgumentParser) -> None:
    _lifecycle(parser)
    parser.add_argument(
        "--clause", default="", metavar="CLAUSE", help="only mistakes of this clause, and below it: operations.finish"
    )
    parser.add_argument(
        "--search",
        action="store_true",
        help="also ask the search alone, without any row; slow. Where a spec has no rows it stands in their place",
    )
    parser.add_argument("--races", action="store_true", help="also try mistakes about locks in each operation; slow")
    _workers(parser, "result")
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
    _lifecycle(parser)
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
    _workers(parser, "report")
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
    seconds = float(found[1]) * {"m": 60, "h": 3600}.get(found[2], 1) if found is not None else 0
    if not seconds:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write 90, 90s, 5m or 1h")
    return seconds


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds") from None


_COMMANDS: tuple[tuple[str, str, Callable[[argparse.ArgumentParser], None]], ...] = (
    ("run", "run a lifecycle's matrix against a system", _run),
    ("demo", "see the reference pass, and a planted bug be found", _demo),
    ("list", "list the lifecycles, or the rows of one", _list),
    ("check", "check specs: structure, meaning, rows and invariants", _check),
    ("freeze", "write down what a spec's version requires, so that what comes later demotes nobody", _freeze),
    ("explain", "say what a lifecycle, a row, the machine or a clause means", _explain),
    ("generate", "write a lifecycle as a Python module of its own", _generate),
    ("draw", "draw a lifecycle as a Mermaid state diagram", _lifecycle),
    ("prove", "put mistakes into a spec's model one by one, and say whether its rows find them", _prove),
    ("diff", "say what two revisions of a spec ask for otherwise: may systems stay as they are?", _diff),
    ("explore", "say what a spec's model comes to in a small scope, and what it never does", _explore),
    ("step", "step through a spec's model call by call, in the terminal", _step),
    ("vectors", "write what rows call, with every allowed answer: test vectors as JSON", _vectors),
    ("doctor", "try an adapter alone: what to mend before a run can tell anything", _doctor),
    ("trace", "check what a system logged, without calling it", _trace),
    ("replay", "run a saved counterexample again", _replay),
    ("show", "show a report that a run has saved", _show),
    ("compare", "say what got worse between two reports, what got better, and what is new", _compare),
    ("render", "write a saved report as a web page, JUnit XML, Markdown or a badge", _render),
    ("adapter", "print the skeleton of an adapter", _adapter),
)
