"""Structure: every fault is told at its place, in words that help, and what passes can be read."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
from jsonschema import Draft7Validator

import statemachines.surface.spec
from statemachines.diagnostics import Diagnostic, SpecError
from statemachines.specs import schema, shipped
from statemachines.surface.files import read_spec
from statemachines.surface.spec import read_lifecycle
from statemachines.surface.structure import check_structure
from statemachines.yaml import read
from statemachines.yaml.tree import Mapping, Node, Sequence

EVERY_WORD = """
lifecycle: every-word
version: 1
about: Each word of the language, once.
limits:
  retained: {default: 2, about: records kept}
  lines: {default: null, optional: true}
should: [messages.Ended.outlives]
policies:
  tie:
    about: Who is first?
    of: Job
    keys: {start: job.serial}
    default: start
  way: {one of: [up, down], default: up, recommended: true}
define:
  over(job): job.terminal
types:
  Text: {text: around, bytes: 10, lines: 3}
  Tool: {one of: [bash, delegate]}
  JobId: {id of: Job, or: fresh}
  Status: {from: 400, to: 599}
  Pair: {record: {left: int, rightOnes: {list of: Tool, or: absent}}}
entities:
  Thread:
    fixed: [t1, t2]
    fields: {idle: {type: bool, default: false}}
  Job:
    plural: jobs
    id: minted
    unique: {tool: tool_in_use}
    private to: thread
    fields:
      thread: Thread
      tool: {one of: [bash, delegate]}
      seen: {subset of: Tool, default: []}
      left: {from: 0, to: 3, default: 3}
      ended_at: time | null
    states: {active: [running], terminal: [completed, failed]}
    entering:
      terminal:
        set: {job.ended_at: now}
        create: {Note: {of: job}}
        signal: {Woke: {with: {thread: job.thread}}}
        for each: {other: {in: jobs, when: other.active, remove: true}}
    after:
      terminal: {in: 5, since: job.ended_at, remove: job}
      running:
        - {in: 5, since: 0, within: 2, when: job.left > 0, move: failed, set: {job.left: 0}, signal: {Woke: }}
        - {in: 9, since: 0, move: {running: completed}, for each: {other: {in: jobs, move: active -> failed}}}
    retain: {newest: limits.retained, of: terminal, per: job.thread, by: [job.ended_at, tie]}
    shows: {jobStatus: job.state}
    roles:
      Late: {when: job.ended_at != null, shows: {since: job.ended_at}}
variables:
  disposed: {type: bool, default: false}
messages:
  Ended:
    about: Job
    due: terminal
    to: job.thread
    at most: once per job
    order: [job.ended_at, tie]
    outlives: eviction
    carries: {jobStatus: job.state}
signals:
  Woke: {thread: Thread}
operations:
  start:
    about: A job starts.
    optional: true
    control: true
    takes: {thread: Thread, tool: Tool}
    requires: {is_disposed: "!disposed"}
    open: {too_many: jobs.size() > 3}
    create:
      Job: {when: true, thread: thread, tool: tool}
    gives: {jobStatus: job.state}
  finish:
    takes: {job: Job, outcome: Job.terminal}
    missing: {answer: refused not_found, any code: disposed}
    move: active -> outcome
    otherwise: {answer: refused too_late, may signal: {Woke: {when: true, with: {thread: job.thread}}}}
    signal:
      Woke: {when: job.thread.idle, with: {thread: job.thread}, times: at least once}
    gives:
      first of:
        - {when: job.terminal, reply: 1}
        - {reply: null}
  pause: {takes: {job: Job}, move: {running: same}, set: {disposed: true}, refuses: not_now}
  note: {takes: {job: Job}, unsaid: job.terminal, only if: (!disposed), otherwise: unchanged, set: {job.left: 1}}
  restart:
    remove: [Job, due.Ended]
    may lose: files
    for each: {thread: {in: threads, set: {thread.idle: true}}}
  tell:
    takes: {thread: Thread}
    sends: {told: due.Ended}
    may signal: {Woke: {with: {thread: thread}}}
    gives: told
  jobs_of: {copy: true, gives: {unordered: jobs}}
  rest: {takes: {ms: int}, reads: {idle: disposed}, waits: ms, gives: {any of: [idle, disposed]}}
  outcome: {takes: {job: Job}, waits: {until: job.terminal}, gives: job}
  outcome_soon: {takes: {job: Job}, waits: {for: 1000, until: job.terminal}, gives: job}
parts: {jobs: [start, finish, pause, note, restart, jobs_of, outcome], clock: [tell, rest]}
on its own:
  wake: {for each: {thread: Thread}, when: thread.idle, must: disposed, does: tell(thread)}
  stir: {when: disposed, must: true, before: the call ends, set: {disposed: true}, signal: {Woke: }, may signal: {Woke: }}
invariants:
  it ends once: job.terminal || job.active
scope: {jobs: 2}
matrix:
  - title: Normal use
    level: must
    needs: limits.lines == null
    arrange: [wait(1)]
    rows:
      N1a:
        about: A job starts.
        level: should
        derived: true
        source: 1
        covers: operations.start
        needs: [clock, limits.retained >= 2]
        each: {tool: Tool}
        any:
          order: {permutation of: 3, witness: reversed}
          count: {from: 1, to: 3, witness: 2}
          text: {type: Text, witness: "''"}
        arrange:
          - started = start(t1, tool)
          - for each i in order:
              - for each j in order:
                  - wait(i + j)
        act:
          - finish(started.id, completed)
        assert: started.refused == null
"""


ROW = "about: x\nlevel: must\nsource: N1\ncovers: [a.b]\nassert: [x]"
NEEDED = {
    "lifecycle": "lifecycle: a",
    "version": "version: 1",
    "about": "about: x",
    "entities": "entities: {}",
    "operations": "operations: {}",
}

# Where a snippet stands, and the snippet; below it the code, the place, parts of the message and the hint.
FAULTS = r"""
# the whole
spec | 3
    wrong-kind 1:1 | a spec is a mapping, and this is a number | `name: value` lines
spec | - a
    wrong-kind 1:1 | a spec is a mapping, and this is a list | `name: value` lines
part | retain: 3
    unknown-word 1:1 | 'retain' is no word of a spec | a word of an entity; known
part | limit: {}
    unknown-word 1:1 | 'limit' is no word of a spec | did you mean 'limits'?
spec | lifecycle: a\nversion: 1\nabout: x\nentities: {}
    missing-word 1:1 | needs 'operations' | can ask for
part | version: one
    wrong-kind 1:10 | whole number from 1 on, and this is text | from 1 on
part | version: true
    wrong-kind 1:10 | and this is true or false | from 1 on
part | version: 0
    bad-value 1:10 | a whole number from 1 on, not 0 | from 1 on
part | about: 7
    wrong-kind 1:8 | 'about' takes a text, and this is a number | put it in quotes
part | about: ' '
    bad-value 1:8 | 'about' is empty | What the life cycle is about
part | about:
    wrong-kind 1:7 | 'about' takes a text, and there is nothing | What the life cycle is about
part | lifecycle: Thread Job
    bad-name 1:12 | not 'Thread Job' | did you mean 'thread-job'?
part | operations:
    wrong-kind 1:12 | takes a mapping, and there is nothing | can ask for
part | should: []
    bad-value 1:9 | 'should' is empty | only recommends
part | should: [a.b, c, a.b]
    bad-value 1:18 | 'a.b' is in 'should' twice | remove one
part | scope: {jobs: 1000}
    bad-value 1:15 | a number from 0 to 100, not 1000 | explored
part | scope: {jobs: -1}
    bad-value 1:15 | not -1 | explored
part | invariants: [a]
    wrong-kind 1:13 | takes a mapping, and this is a list | every state

# limits, policies, types
limits | a: 3
    wrong-kind 2:6 | 'a' takes a mapping, and this is a number | declare as its own
limits | a: {}
    missing-word 2:3 | a limit needs 'default' | default: The number that holds
limits | a: {default: -1}
    bad-value 2:16 | from 0 on, or null, not -1 | none is declared
limits | a: {default: null}
    missing-word 2:3 | is null needs 'optional' | optional: true
limits | a: {default: , optional: false}
    bad-value 2:28 | takes true, not false | is optional
policies | a: {default: b}
    missing-word 2:3 | a policy needs 'one of' or 'keys' | keys: Ordering keys
policies | a: {default: b, keys: {b: c}}
    missing-word 2:3 | with keys needs 'of' | of: The entity
policies | a: {default: b, of: Job, one of: [b]}
    unknown-word 2:19 | 'of' cannot stand beside 'one of' in a policy | together here: about, one of, default
policies | a: {default: b, one of: [b], recommended: often}
    wrong-kind 2:45 | 'recommended' takes true or false | another choice is no fault
types | A: {}
    missing-word 2:3 | a type needs 'one of', 'text', 'id of', 'from' or 'record' | id of: The entity
types | A: {text: shrt}
    bad-value 2:13 | takes 'short', 'fresh or reused' or 'around' | did you mean 'short'?
types | A: {text: 3}
    wrong-kind 2:13 | or 'around', and this is a number | short ones
types | A: {text: around}
    missing-word 2:3 | around a size needs 'bytes' or 'lines' | UTF-8 bytes
types | A: {text: short, bytes: 3}
    unknown-word 2:20 | beside 'text' | here: text
types | A: {one of: [a], text: shrt}
    unknown-word 2:20 | beside 'one of' | here: one of
types | A: {from: 1}
    missing-word 2:3 | a range needs 'to' | The greatest
types | A: {one of: a b}
    bad-name 2:15 | takes a list of names, not 'a b' | The words
types | A: {one of: [true]}
    wrong-kind 2:16 | item 1 of 'one of' takes a name | to choose
types | my_type: {text: short}
    bad-name 2:3 | not a name like ToolCall | mean 'MyType'?

# entities
entities | Job:
    wrong-kind 2:7 | 'Job' takes a mapping, and there is nothing | A kind of record
entities / Job | retan: {}
    unknown-word 3:5 | no word of an entity | did you mean 'retain'?
entities / Job | push: at once
    unknown-word 3:5 | 'push' is no word | known words here: plural
entities / Job | cascades: [Call]
    unknown-word 3:5 | 'cascades' is no word | known words
entities / Job | handle: minted
    unknown-word 3:5 | 'handle' is no word | known words here
entities / Job | id: given
    bad-value 3:9 | takes 'minted', 'minted once' or 'minted by content', not 'given' | that none ever had
entities / Job | states: [a]
    wrong-kind 3:13 | a mapping, and this is a list | in groups
entities / Job | states: {}
    bad-value 3:13 | 'states' is empty | in groups
entities / Job | states: {all: [a, a]}
    bad-value 3:23 | 'a' is in 'all' twice | remove one
entities / Job | states: {all: [timedOut]}
    bad-name 3:20 | item 1 of 'all' | 'timed_out'?
entities / Job | states: {all: [a: b]}
    wrong-kind 3:20 | and this is a mapping | underscores
entities / Job / fields | a: [int]
    wrong-kind 4:10 | a type, and this is a list | Job.state
entities / Job / fields | a: {lst of: Job}
    unknown-word 4:11 | 'lst of' | mean 'list of'?
entities / Job / fields | a: {default: 1}
    missing-word 4:7 | a type needs 'type', 'list of' | list of
entities / Job / fields | jobLabel: int
    bad-name 4:7 | 'jobLabel' is not a name like started_at | mean 'job_label'?
types | A: {record: {Left: int}}
    bad-name 2:16 | 'Left' is not a name like started_at | mean 'left'?
operations / a / takes | b: {list of: int, or: none}
    bad-value 4:29 | takes 'absent' | not the empty list
operations / a / takes | b: {subset of: A, or: absent}
    unknown-word 4:25 | beside 'subset of' | here: subset of, default
entities / Job | retain: {newest: 3, by: x}
    missing-word 3:5 | `retain` needs 'of' | records are counted
entities / Job | after: {a: {in: 3, move: b}}
    missing-word 3:13 | `after` needs 'since' | instant
entities / Job | after: {a: {in: 3, since: x}}
    missing-word 3:13 | 'move', 'set', 'create', 'for each', 'remove', 'signal' or 'may signal' | move: The state
entities / Job | after: [a]
    wrong-kind 3:12 | 'after' takes a mapping | for a time
entities / Job / after | a: {in: 3, since: x, remove: false}
    bad-value 4:36 | 'remove' takes the record's name, or true, not false | The record is removed
entities / Job | entering: {a: {}}
    missing-word 3:16 | 'move', 'set', 'create', 'for each', 'remove', 'signal' or 'may signal' | set: Fields
entities / Job / entering / a | for each: {poll: polls}
    wrong-kind 5:26 | 'poll' takes a mapping, and this is text | The list, and what happens

# messages and signals
messages | M: {about: Job}
    missing-word 2:3 | a message needs 'due' | due: The states
messages | M: {about: job, due: a}
    bad-name 2:14 | like ToolCall, not 'job' | mean 'Job'?
messages / M | about: Job\ndue: a\noutlives: evict
    bad-value 5:15 | 'outlives' takes 'eviction', not 'evict' | did you mean 'eviction'?
messages / M | about: Job\ndue: a\norder: {a: b}
    wrong-kind 5:12 | takes an expression or a list of them, and this is a mapping | stands in quotes
messages / M | about: Job\ndue: a\npush: 3
    unknown-word 5:5 | 'push' is no word of a message | known words here: about, due
signals | S: {a: {type: int, default: 3}}
    unknown-word 2:22 | of a type | known words here

# operations
operations | StartAs: {}
    bad-name 2:3 | not a name like started_at | mean 'start_as'?
operations / a | retain: x
    unknown-word 3:5 | no word of an operation | word of an entity;
operations / a | optional: 'yes'
    wrong-kind 3:15 | true or false, and this is text | need not have it
operations / a | takes: [x]
    wrong-kind 3:12 | 'takes' takes a mapping | The parameters
operations / a | missing: refuse x
    bad-value 3:14 | takes an answer, not 'refuse x' | by default
operations / a | otherwise: {}
    missing-word 3:5 | an answer needs 'answer' | answer: refused
operations / a / otherwise | answer: nothing
    bad-value 4:15 | 'answer' takes an answer, not 'nothing' | refused CODE
operations / a / may signal | S: {times: at least once}
    unknown-word 4:11 | 'times' is no word of a permitted signal | a word of a signal; known words here: when
operations / a / signal | S: now
    wrong-kind 4:10 | 'S' takes a mapping | When the signal
operations / a / signal | S: {times: once}
    bad-value 4:18 | takes 'at least once' | How often
operations / a | move: {}
    bad-value 3:11 | 'move' is empty | from -> to
operations / a | move: [b]
    wrong-kind 3:11 | takes a move, and this is a list | from -> to
operations / a | create: {Call: }
    wrong-kind 3:19 | 'Call' takes a mapping | Names, each
entities / Job / entering / a | create: [Call]
    wrong-kind 5:17 | 'create' takes a mapping, and this is a list | Records that are created
operations / a | remove: [due.job]
    bad-name 3:14 | not 'due.job' | mean 'due.Job'?
operations / a | may lose: jobs
    bad-value 3:15 | takes 'files', not 'jobs' | told before
operations / a | set: {b.c: {when: d, to: e, if: f}}
    unknown-word 3:33 | 'if' is no word of an expression, or one with a condition | known words here: when, to
operations / a | set: {b.c: {to: e}}
    missing-word 3:11 | needs 'when' | without which the old value stays
matrix / N1 | about: x\nlevel: must\nsource: N1\ncovers: [a.b]\nact: [a()]\nassert: [{if x: y}]
    unknown-word 8:15 | 'if x' is no assertion | `when CONDITION:` with expressions below it
matrix / N1 | about: x\nlevel: must\nsource: N1\ncovers: [a.b]\nact: [a()]\nassert: [{when x: y, when z: y}]
    bad-value 8:26 | 'when z' is a second entry of one assertion | start each assertion with `- `
operations / a | reads: {b: {d: e}}
    wrong-kind 3:16 | takes an expression | in quotes
operations / a | gives: [b]
    wrong-kind 3:12 | takes a reply, and this is a list | unordered
operations / a / gives | unordered: jobs\nsize: 3
    unknown-word 5:7 | 'size' cannot stand beside 'unordered' in a reply | go together here: unordered
operations / a / gives | first of: []
    bad-value 4:17 | 'first of' is empty | the first whose
operations / a / gives | first of: [x]
    wrong-kind 4:18 | item 1 of 'first of' | A condition
operations / a / gives | first of: [{when: x}]
    missing-word 4:18 | needs 'reply' | reply: The reply
operations / a / gives | my id: x
    bad-name 4:7 | 'my id' is not a name like | mean 'my_id'?

# steps of its own
on its own | a: {does: b(c)}
    missing-word 2:3 | a step of its own needs 'when' | may be taken
on its own | a: {when: b}
    missing-word 2:3 | needs 'does', 'move', 'set', 'create', 'remove', 'signal' or 'may signal' | does: The operation
on its own | a: {when: b, set: {c: d}, before: the call ends}
    missing-word 2:3 | a step with which a call ends needs 'must' | must: The condition
on its own / a | when: b\nmust: true\ndoes: c\nbefore: noon
    bad-value 6:13 | 'noon' | the call ends
on its own / a | when: b\ndoes: c\nwithin: 3
    unknown-word 5:5 | 'within' | known words here

# rows
matrix / n1 | about: x\nlevel: must\nsource: N1\ncovers: [a.b]\nassert: [x]\nact: [a]
    bad-name 2:3 | not a name of a row, like N1 | mean 'N1'?
matrix | 3
    wrong-kind 2:3 | takes a mapping | Rows under their names
matrix | []
    bad-value 2:3 | is empty | or a list of groups
matrix | [Normal]
    bad-name 2:4 | item 1 of 'matrix' takes a group of rows, or the name of a file in rows/, not 'Normal' | mean 'normal'?
matrix | [normal, normal]
    bad-value 2:12 | 'normal' is in 'matrix' twice | remove one of them
matrix | [3]
    wrong-kind 2:4 | item 1 of 'matrix' takes a mapping | Rows that belong together
matrix | - title: x
    missing-word 2:5 | needs 'rows' | rows: The rows under their names
matrix | - {rows: {}, title: x}
    bad-value 2:12 | 'rows' is empty | under their names
matrix | - title: x\n  abuot: y\n  rows: {N1: {about: x, level: must, source: 1, covers: a.b, act: [a], assert: b}}
    unknown-word 3:5 | 'abuot' is no word of a group of rows | it
matrix | - title: x\n  rows: {N1: {about: x, source: 1, covers: a.b, act: [a], assert: b}}
    missing-word 3:12 | a row needs 'level' | level: How binding
matrix / N1 | about: x\nsource: N1\ncovers: [a]\nassert: [x]\nact: [a]
    missing-word 2:3 | a row needs 'level' | level: How binding
row | needs: clock
    missing-word 2:3 | a row needs 'act' or 'arrange' | act: The steps
matrix / N1 | level: shall\nabout: x\nsource: N1\ncovers: [a]\nassert: [x]\nact: [a]
    bad-value 3:12 | not 'shall' | How binding
matrix / N1 | assert: []\nabout: x\nlevel: must\nsource: N1\ncovers: [a]\nact: [a]
    bad-value 3:13 | is empty | afterwards
row | act: []
    bad-value 8:10 | 'act' is empty | that are tested
row | act: a
    wrong-kind 8:10 | takes a list, and this is text | one `- item` a line
row | act: [a, 3]
    wrong-kind 8:14 | item 2 of 'act' takes a step | A call
row | act:\n  - told: a(t1)
    unknown-word 9:9 | 'told' is no step | `name = call(
row | act:\n  - for each a in b: c
    wrong-kind 9:26 | takes a list | one `- item` a line
row | act:\n  - for each a in b: [c]\n    for each d in e: [f]
    bad-value 10:9 | 'for each d in e' is a second entry of one step | start each step with `- `
row | act: [a]\nany: {a: {from: 1}}
    missing-word 9:11 | a range needs 'to' | to: The greatest
row | act: [a]\nany: {a: {witness: 1}}
    missing-word 9:11 | 'permutation of', 'from' or 'type' | How many numbers
row | act: [a]\nany: {a: {permutaton of: 3}}
    unknown-word 9:15 | 'permutaton of' is no word of a drawn parameter | did you mean 'permutation of'?
"""


def faults_of(text: str) -> tuple[Diagnostic, ...]:
    try:
        check_structure(read(text, "a.yaml"))
    except SpecError as error:
        return error.diagnostics
    return ()


def spec_of(place: str, snippet: str) -> str:
    """A spec that is right but for a snippet: all of it, a `part`, the end of a `row`, or below some keys."""
    if place == "spec":
        return snippet
    if place == "row":
        place, snippet = "matrix / N1", f"{ROW}\n{snippet}"
    keys = [] if place == "part" else place.split(" / ")
    lines = [f"{'  ' * depth}{key}:" for depth, key in enumerate(keys)]
    text = "\n".join([*lines, indent(snippet, "  " * len(keys))])
    return "\n".join([text, *(line for word, line in NEEDED.items() if not text.startswith(f"{word}:"))])


def table() -> Iterator[tuple[str, ...]]:
    """Each case of FAULTS: its spec, the code, the place, a part of the message, a part of the hint."""
    lines = [line for line in FAULTS.splitlines() if line and not line.startswith("#")]
    for case, fault in zip(lines[::2], lines[1::2], strict=True):
        place, _, snippet = case.partition(" | ")
        start, message, hint = fault.strip().split(" | ")
        yield spec_of(place, snippet.replace("\\n", "\n")), *start.split(), message, hint


@pytest.mark.parametrize(("spec", "code", "place", "message", "hint"), list(table()))
def test_a_fault_is_told_once_at_its_place(spec: str, code: str, place: str, message: str, hint: str) -> None:
    faults = faults_of(spec)
    assert [(fault.code, str(fault.where)) for fault in faults] == [(code, f"a.yaml:{place}")]
    assert message in faults[0].message
    assert hint in faults[0].hint


def test_several_faults_come_at_once_sorted_by_position() -> None:
    faults = faults_of(
        dedent("""\
            lifecycle: a
            entities:
              job: {retan: 3, states: {active: [a, 3]}}
            operations: {}
            about: x
            extra: 1
            """)
    )
    assert [(fault.code, fault.where.line, fault.where.column) for fault in faults] == [
        ("missing-word", 1, 1),
        ("bad-name", 3, 3),
        ("unknown-word", 3, 9),
        ("wrong-kind", 3, 40),
        ("unknown-word", 6, 1),
    ]


def test_a_misspelt_word_is_not_missing_as_well() -> None:
    faults = faults_of(spec_of("part", "").replace("operations", "opertions").replace("about", "abuot"))
    assert [fault.hint for fault in faults] == ["did you mean 'about'?", "did you mean 'operations'?"]


def test_a_line_break_is_no_part_of_a_name() -> None:
    (fault,) = faults_of(spec_of("part", "lifecycle: |\n  a"))
    assert (fault.code, fault.hint.partition("?")[0]) == ("bad-name", "did you mean 'a'")


def test_a_word_that_is_there_is_not_suggested() -> None:
    (fault,) = faults_of(spec_of("operations / a", "about: x\nabuot: y"))
    assert fault.hint.startswith("known words here: ")


# ── The whole language ──


@pytest.mark.thorough
@pytest.mark.parametrize("path", shipped().values(), ids=list(shipped()))
def test_shipped_specs_have_the_structure(path: Path) -> None:
    check_structure(read_spec(path))


def test_every_word_validates_and_can_be_read() -> None:
    tree = read(EVERY_WORD, "a.yaml")
    check_structure(tree)
    assert read_lifecycle(tree, "a.yaml").name == "every-word"


def test_every_word_of_the_schema_is_in_the_example_of_every_word() -> None:
    def keys(node: Node) -> Iterator[str]:
        match node:
            case Mapping(entries=entries):
                for key, value in entries:
                    yield key.text
                    yield from keys(value)
            case Sequence(items=items):
                for item in items:
                    yield from keys(item)

    assert words() - set(keys(read(EVERY_WORD, "a.yaml"))) == set()


def test_the_schema_has_the_words_that_the_reader_reads_and_no_others() -> None:
    folder = Path(str(statemachines.surface.spec.__file__)).parent
    paths = [path for path in sorted(folder.glob("*.py")) if path.stem not in ("structure", "complaints")]
    source = "".join(path.read_text(encoding="utf-8") for path in paths)
    read_by_name = set(re.findall(r"""\.(?:get|key)\("([^"]+)"\)""", source))
    assert read_by_name - words() == set()
    never_read = {word for word in words() if f'"{word}"' not in source}
    assert never_read == set()


def replaced(node: Node, number: int, value: Node) -> Node:
    """The same tree with its node of that number, counted from the top, replaced."""
    count = iter(range(10_000))

    def copy(part: Node) -> Node:
        if next(count) == number:
            return value
        match part:
            case Mapping(entries=entries):
                return Mapping(tuple((key, copy(inner)) for key, inner in entries), part.where, part.flow)
            case Sequence(items=items):
                return Sequence(tuple(map(copy, items)), part.where, part.flow)
        return part

    return copy(node)


def nodes(node: Node) -> int:
    match node:
        case Mapping(entries=entries):
            return 1 + sum(nodes(value) for _, value in entries)
        case Sequence(items=items):
            return 1 + sum(map(nodes, items))
    return 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    "wrong", ["", "x", *(pytest.param(each, marks=pytest.mark.soak) for each in ("3", "[[x]]", "{x: y}"))]
)
def test_what_passes_can_be_read_whatever_stands_where(wrong: str) -> None:
    """The reader assumes a right structure: each value in turn is replaced, and what still passes is read."""
    tree = read(EVERY_WORD, "a.yaml")
    found = read(f"x: {wrong}", "a.yaml")
    assert isinstance(found, Mapping)
    value = found.entries[0][1]
    accepted = 0
    for number in range(nodes(tree)):
        changed = replaced(tree, number, value)
        try:
            check_structure(changed)
        except SpecError:
            continue
        accepted += 1
        with contextlib.suppress(SpecError):  # faulty expressions are the reader's to tell
            read_lifecycle(changed, "a.yaml")
    assert accepted < nodes(tree)


# ── The schema ──


def parts(node: Any, *path: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every mapping of the schema, with its path."""
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            yield from parts(value, *path, key)


def words() -> set[str]:
    """Every word of the language."""
    return {word for path, part in parts(schema("lifecycle")) if path[-1:] == ("properties",) for word in part}


def test_the_schema_is_a_valid_one_without_one_of() -> None:
    found = schema("lifecycle")
    Draft7Validator.check_schema(found)
    assert not [path for path, part in parts(found) if "oneOf" in part and path[-1:] != ("properties",)]


def test_every_word_and_every_definition_says_what_it_is_for() -> None:
    for path, part in parts(schema("lifecycle")):
        if path[-2:-1] == ("properties",) and "if" not in path:
            assert part.get("description", "").endswith("."), path
        if path[-2:-1] == ("definitions",):
            assert part.get("description", "").endswith("."), path
            assert part.get("title"), path


def test_no_mapping_of_the_schema_is_open() -> None:
    for path, part in parts(schema("lifecycle")):
        if "object" in part.get("type", ()) and path[-1:] != ("gives",):
            assert "additionalProperties" in part, path


def test_a_type_is_the_type_of_a_field_without_default() -> None:
    definitions = schema("lifecycle")["definitions"]
    of_field, plain = definitions["field"]["properties"], definitions["type"]["properties"]
    assert {word: text for word, text in of_field.items() if word != "default"} == plain


def test_the_schema_validator_is_imported_only_when_a_spec_is_checked() -> None:
    program = "import sys, statemachines.surface.structure; sys.exit('jsonschema' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
