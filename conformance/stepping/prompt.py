"""What a person sees and types while stepping through a life cycle."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TextIO

from conformance.stepping.session import Candidate, NotTaken, Session
from conformance.stepping.table import state_lines, value_text
from statemachines.checks import NoRow, new_names
from statemachines.explore import answered
from statemachines.model import Decision
from statemachines.rows import WAIT, Call, Names, Observed

SHOWN_EACH: Final = 2  # candidates of an operation
LEAST_WIDTH: Final = 60
HELP: Final = """\
  NUMBER       take the step with this number
  CALL         make a call, written as in a row: finish('job-2', completed); job = start(t1) gives its reply a name
  wait N       let N milliseconds pass
  back         take the last step back
  more         list every step worth trying, not only the first ones of each operation
  state        show the state and the steps again
  save FILE    write the calls so far, with what was answered, as a row at the end of a file
  help, quit   this list; the end, as at the end of input"""
_ANSWERED: Final = {
    "either": "the spec leaves open whether it is carried out: it may be refused as well",
    "unchanged": "the spec only says that nothing changes: it may be refused or accepted",
}

Read = Callable[[], str | None]
"""Returns what was typed next, without the end of the line; None at the end of input."""


def stepped(session: Session, read: Read, out: TextIO) -> None:
    """Let a person step through a life cycle, to the end of input or until `quit` is typed."""
    _Prompt(session, out).run(read)


class _Prompt:
    """One conversation: what is typed is read line by line, and nothing that is typed wrongly loses anything."""

    def __init__(self, session: Session, out: TextIO) -> None:
        self._session = session
        self._out = out
        self._names = Names(session.compiled)
        self._candidates: list[Candidate] = []
        self._first = 0  # of these are listed without being asked for

    def run(self, read: Read) -> None:
        """Read and do until there is nothing more."""
        name = self._session.compiled.lifecycle.name
        self._say(
            f"{name}: a number takes a step, a call is written as in a row; help lists what else can be typed.", ""
        )
        self._show()
        while (line := read()) is not None:
            if line in ("quit", "exit"):
                return
            self._do(line)

    def _do(self, line: str) -> None:
        """Do what was typed."""
        word, _, rest = line.partition(" ")
        match word:
            case "":
                self._say("Type a number or a call; help lists what else can be typed.")
            case "help" if not rest:
                self._say(HELP)
            case "more" if not rest:
                self._say(*self._listed(every=True))
            case "state" if not rest:
                self._show()
            case "back" if not rest:
                if self._session.back():
                    self._show()
                else:
                    self._say("There is no step to take back.")
            case "save" if "(" not in word:
                self._save(rest.strip())
            case "wait" if rest and "(" not in rest:
                self._wait(rest.strip())
            case _ if re.fullmatch(r"[0-9]+", line):
                self._numbered(line)
            case _:
                self._take(lambda: self._session.typed(line), line)

    # ── Steps ──

    def _numbered(self, text: str) -> None:
        number = int(text) if len(text) < 10 else 0  # longer than any list
        if not 1 <= number <= len(self._candidates):
            self._say(f"There is no step {text}: they are numbered from 1 to {len(self._candidates)}.")
            return
        candidate = self._candidates[number - 1]
        self._take(lambda: self._session.take(candidate), "")

    def _wait(self, text: str) -> None:
        if not re.fullmatch(r"[0-9]{1,15}", text):
            self._say(f"wait takes a whole number of milliseconds, and this is {text}.")
            return
        self._take(lambda: self._session.wait(int(text)), "")

    def _take(self, step: Callable[[], Sequence[Observed]], line: str) -> None:
        try:
            made = step()
        except NotTaken as why:
            help_ = ["  `help` lists what can be typed."] if re.fullmatch(r"\w+", line) else []
            self._say(f"Not done: {why}.", *self._ids_in_words(line), *help_)
            return
        for each in made:
            self._say(*self._told(each))
        if made:
            self._say("")
            self._show()

    def _ids_in_words(self, line: str) -> list[str]:
        """Say how ids are written, where one stands in what was typed as if it were a name."""
        ids = [record for _, record in self._session.records() if not record.isidentifier()]
        return [f"  An id stands in quotes: '{each}'." for each in ids if each in line and f"'{each}'" not in line][:1]

    def _told(self, made: Observed) -> Iterator[str]:
        """Walk what came of a step."""
        call = Call(0, made.operation, tuple(made.arguments.items()))
        if self._names.unasked(call):
            yield f"  the system does {self._by_itself(made.operation, list(made.arguments.values()))} by itself"
        else:
            yield f"  {self._names.as_given(call)}"
        if made.refused is not None:
            yield f"    refused {made.refused}"
        elif self._is_idle(made):
            yield "    accepted, and nothing changes"
        elif made.reply is not None:
            yield f"    gives {value_text(made.reply)}"
        elif made.operation != WAIT and not self._names.unasked(call):
            yield "    carried out"
        decision = self._session.alternative(made)
        yield from _freedom(decision)
        for name, fields in made.signals:
            yield f"    signal {name}({', '.join(f'{key}: {value_text(value)}' for key, value in fields)})"

    def _is_idle(self, made: Observed) -> bool:
        decision = self._session.alternative(made)
        return decision is not None and decision.idle

    def _by_itself(self, clause: str, keys: Sequence[object]) -> str:
        return f"{clause.removeprefix('on its own.')}({', '.join(map(value_text, keys))})"

    # ── What is shown ──

    def _show(self) -> None:
        """Show the state, and the steps worth trying."""
        steps = self._session.candidates()
        groups = itertools.groupby(steps, lambda each: (each.operation, each.own is None))
        first = [each for _, group in groups for each in [each for each in group if each.leads_on][:SHOWN_EACH]]
        self._candidates, self._first = [*first, *(each for each in steps if each not in first)], len(first)
        width = max(shutil.get_terminal_size((120, 24)).columns, LEAST_WIDTH)
        self._say(*state_lines(self._session.compiled.kernel, self._session.model, width), "")
        self._say(*self._listed(every=False))

    def _listed(self, *, every: bool) -> Iterator[str]:
        """Walk the steps worth trying, or only those at the beginning."""
        shown = self._candidates if every else self._candidates[: self._first]
        yield from (f"{number:>4}  {self._written(each)}" for number, each in enumerate(shown, 1))
        if left := len(self._candidates) - len(shown):
            yield f"      more: {left} others, those included that change nothing or are refused"

    def _written(self, candidate: Candidate) -> str:
        if candidate.own is not None:
            return f"(by itself) {self._by_itself(candidate.operation, list(candidate.arguments.values()))}"
        return self._names.as_given(Call(0, candidate.operation, tuple(candidate.arguments.items())))

    # ── Saving ──

    def _save(self, path: str) -> None:
        """Write the calls as a row, below what a file has already."""
        if not path:
            self._say("save takes the file to write to: save calls.yaml.")
            return
        file = Path(path)
        try:
            there = file.read_text(encoding="utf-8") if file.exists() else ""
            taken = {*self._session.compiled.lifecycle.rows, *re.findall(r"^\s*([A-Z][0-9]+):", there, re.MULTILINE)}
            name = next(new_names(taken, "S"))
            text = self._session.row(name)
            with file.open("a", encoding="utf-8") as end:
                end.write(f"{'' if not there or there.endswith(chr(10)) else chr(10)}{text}")
        except NoRow as why:
            self._say(f"Not saved: {why}.")
        except (OSError, ValueError) as error:  # a path with a NUL is no value for one
            said = error.strerror if isinstance(error, OSError) else "it is no text"
            self._say(f"Not saved: {path} cannot be written: {said}.")
        else:
            self._say(f"Saved as row {name} in {path}: put it below `matrix:` of the spec.")

    def _say(self, *lines: str) -> None:
        for line in lines:
            print(line, file=self._out)
        self._out.flush()


def _freedom(decision: Decision | None) -> Iterator[str]:
    """Walk what a right system may do otherwise."""
    if decision is not None and (said := _ANSWERED.get(answered(decision))):
        codes = [each for each in decision.refuse if each != "*"]
        yield f"    ({said}{f', with {chr(32).join(codes)}' if codes else ''})"
