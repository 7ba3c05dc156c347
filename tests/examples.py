"""The examples of a document, run as its reader runs them: files written, edits made, commands and Python typed.

Every fenced block of a document is an example, unless it is a picture (mermaid). They run in their order in one new folder:

    ```python title="jobs.py"     writes the file, whatever the language
    ```diff title="jobs.py"       edits it: lines with `-` go, lines with `+` come, all others stay
    ```console                    types each line after `$ ` into a shell, and compares what is printed below it
    ```pycon                      the same for Python's prompt `>>> `; names last until an example of another kind
    ```jsonl                      checks each message of the protocol for adapters: `> ` from the kit, `< ` from an adapter

`…` on a line of its own stands for any lines, within a line for any text. How long something took is not compared.
A command ends with the exit code that the last line shown says, `exit 1`, or that `$ echo $?` below it prints; else with 0.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from jsonschema import Draft7Validator, ValidationError

from statemachines.specs import schema

ROOT = Path(__file__).parent.parent
DURATION = re.compile(r"\d+(\.\d+)?m?s\b")
PIPELINE = ("CI", "BUILD_NUMBER")  # where one is set, pytest prints more than in a reader's shell
LEFT_OUT = "…"
FENCE = re.compile(r'^```(\w*)(?: title="([^"]+)")?$')
PROMPT = "$ "
PICTURE = "mermaid"


class Wrong(Exception):
    """An example that does not do what its document shows; the message begins with its place."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a document: `place` is `name:number`."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """A fenced block: its language, the file that it names or "", its first line and those inside it."""

    language: str
    title: str
    fence: Line
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """Return the block as a text that ends with a line break."""
        return "".join(f"{line.text}\n" for line in self.lines)


def examples(name: str, text: str) -> Iterator[Example]:
    """Yield the examples of a document. Raise Wrong for a fence that is written otherwise or does not end."""
    lines = iter([Line(f"{name}:{number}", each) for number, each in enumerate(text.splitlines(), 1)])
    for line in lines:
        if not line.text.lstrip().startswith("```"):
            continue
        opened = FENCE.match(line.text)
        if opened is None:
            raise Wrong(f'{line.place}: a block begins with ```LANGUAGE or ```LANGUAGE title="FILE"')
        block: list[Line] = []
        for each in lines:
            if each.text == "```":
                break
            block.append(each)
        else:
            raise Wrong(f"{line.place}: the block does not end")
        if opened[1] != PICTURE:
            yield Example(opened[1], opened[2] or "", line, tuple(block))


def run_examples(name: str, text: str, folder: Path) -> int:
    """Run the examples of a document in a folder and return how many there were. Raise Wrong where one fails."""
    found = list(examples(name, text))
    for at, example in enumerate(found):
        if example.language == "diff" and example.title:
            edit(example, folder)
        elif example.title:
            (folder / example.title).write_text(example.text, encoding="utf-8")
        elif example.language == "console":
            type_commands(example, folder)
        elif example.language == "pycon":
            if not found[at + 1 :] or found[at + 1].language != "pycon":
                type_python(name, session(found[: at + 1]), folder)
        elif example.language == "jsonl":
            check_messages(example)
        else:
            raise Wrong(f"{example.fence.place}: nothing runs a block of this kind; see tests/examples.py")
    return len(found)


def session(found: Sequence[Example]) -> list[Line]:
    """Return the lines of the blocks of Python's prompt that stand last, with no other example between them."""
    blocks = list(takewhile(lambda example: example.language == "pycon", reversed(found)))
    return [line for example in reversed(blocks) for line in example.lines]


def check_messages(example: Example) -> None:
    """Check messages of the protocol by its schema. Raise Wrong for the first that is none."""
    kinds = {"> ": "from_kit", "< ": "from_system"}
    definitions = schema("protocol")["definitions"]
    for line in example.lines:
        kind = kinds.get(line.text[:2])
        if kind is None:
            raise Wrong(f"{line.place}: a message begins with `> ` or `< `")
        try:
            Draft7Validator({"$ref": f"#/definitions/{kind}", "definitions": definitions}).validate(
                json.loads(line.text[2:])
            )
        except (ValueError, ValidationError) as error:
            raise Wrong(f"{line.place}: this is no message of the protocol: {str(error).splitlines()[0]}") from None


def edit(example: Example, folder: Path) -> None:
    """Change a file as a diff shows it. Raise Wrong unless the lines before the change stand there just once."""
    before = "".join(f"{line.text[1:]}\n" for line in example.lines if not line.text.startswith("+"))
    after = "".join(f"{line.text[1:]}\n" for line in example.lines if not line.text.startswith("-"))
    path = folder / example.title
    source = path.read_text(encoding="utf-8")
    if source.count(before) != 1:
        raise Wrong(f"{example.fence.place}: these lines stand in {example.title} {source.count(before)} times")
    path.write_text(source.replace(before, after), encoding="utf-8")


def type_commands(example: Example, folder: Path) -> None:
    """Run the commands of a transcript. Raise Wrong where the output or the exit code is not the one shown."""
    if not example.lines or not example.lines[0].text.startswith(PROMPT):
        raise Wrong(f"{example.fence.place}: a transcript begins with a command, `$ …`")
    starts = [at for at, line in enumerate(example.lines) if line.text.startswith(PROMPT)]
    before = 0
    for start, end in zip(starts, [*starts[1:], len(example.lines)], strict=True):
        command, shown = example.lines[start], example.lines[start + 1 : end]
        done = run(command.text.removeprefix(PROMPT).replace("$?", str(before)), folder)
        compare(shown, done.stdout, command)
        before = done.returncode
        asked = end < len(example.lines) and example.lines[end].text == f"{PROMPT}echo $?"
        if before != exit_shown(shown) and not asked:
            raise Wrong(f"{command.place}: exit code {before}, not {exit_shown(shown)}\n{done.stdout}")


def exit_shown(shown: Sequence[Line]) -> int:
    """Return the exit code that the last line of a transcript says, and 0 if it says none."""
    code = re.fullmatch(r"exit (\d+)", next((line.text for line in reversed(shown) if line.text), ""))
    return int(code[1]) if code else 0


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell that finds this Python's programs and, before all others, this checkout."""
    environment = {
        **{name: value for name, value in os.environ.items() if name not in PIPELINE},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(ROOT),
        "CHECKOUT": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",  # an edit in the same second would be taken for the compiled file
        "COLUMNS": "120",
    }
    return subprocess.run(
        command,
        shell=True,  # a transcript is what somebody types into a shell
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def compare(shown: Sequence[Line], printed: str, command: Line) -> None:
    """Raise Wrong at the first line shown that was not printed there. Blank lines make no difference."""
    if not any(line.text for line in shown):
        return  # a command whose output the document does not show
    lines = [DURATION.sub("#", line.rstrip()) for line in printed.splitlines() if line.strip()]
    places = {0}  # how many of the printed lines those shown so far may stand for
    for line in shown:
        if not line.text:
            continue
        if line.text.strip() == LEFT_OUT:
            places = set(range(min(places), len(lines) + 1))
            continue
        pattern = pattern_of(line.text)
        following = {place + 1 for place in places if place < len(lines) and pattern.fullmatch(lines[place])}
        if not following:
            raise Wrong(f"{line.place}: not printed there: {line.text}\nprinted:\n{printed}")
        places = following
    if len(lines) not in places:
        raise Wrong(f"{command.place}: more was printed than is shown:\n{printed}")


def pattern_of(shown: str) -> re.Pattern[str]:
    """Return what matches a line as it is shown, with any text for each `…` and any duration for each one."""
    parts = DURATION.sub("#", shown.rstrip()).split(LEFT_OUT)
    return re.compile(".*".join(map(re.escape, parts)))


def type_python(name: str, typed: Sequence[Line], folder: Path) -> None:
    """Run what stands behind `>>>` with doctest. Raise Wrong with its report, in the document's own lines."""
    last = int(typed[-1].place.rpartition(":")[2])
    source = [""] * last
    for line in typed:
        source[int(line.place.rpartition(":")[2]) - 1] = line.text.replace(LEFT_OUT, "...")
    path = folder / f"{Path(name).stem}.pycon"
    path.write_text("\n".join(source) + "\n", encoding="utf-8")
    done = run(f"python -m doctest -o ELLIPSIS -o NORMALIZE_WHITESPACE -o FAIL_FAST {path.name}", folder)
    if done.returncode:
        found = re.search(r"line (\d+), in", done.stdout)
        raise Wrong(f"{name}:{found[1] if found else last}: Python's prompt answers otherwise\n{done.stdout}")
