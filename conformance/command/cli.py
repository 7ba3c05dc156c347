"""The command `conformance`. Every command imports what it needs when it runs, so that none waits for the others'."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from conformance.command.words import parser
from conformance.errors import UsageError
from conformance.verdict import EXIT_HARNESS, EXIT_INTERRUPTED, EXIT_USAGE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code. Without arguments it is that of this process, which then ends with it in time."""
    if arguments is not None:
        return _ran(arguments)
    from conformance.command.process import ended_in_time, interrupted_in_time
    from conformance.garbage import collect_seldom

    collect_seldom()
    with interrupted_in_time():
        try:
            return ended_in_time(_ran(sys.argv[1:]))
        except KeyboardInterrupt:  # while the command was still loaded
            return _interrupted()


def _interrupted() -> int:
    print("conformance: interrupted; the run did not finish", file=sys.stderr)
    return EXIT_INTERRUPTED


def _ran(arguments: Sequence[str]) -> int:
    words = parser()
    options = words.parse_args(arguments)
    if not hasattr(options, "command"):
        words.print_help()
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
