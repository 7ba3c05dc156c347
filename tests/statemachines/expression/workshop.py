"""A tiny lifecycle with one of everything that an expression can speak of, and the scope of its model."""

from __future__ import annotations

from functools import cache

from statemachines.expression.scope import Scope
from statemachines.rows.words import RowWords
from statemachines.surface.spec import read_lifecycle
from statemachines.types import BOOL, INT, Enum, Id, List, Optional, Ref, Text, Type
from statemachines.words.words import Words
from statemachines.yaml import read

SPEC = """\
lifecycle: workshop
version: 1
about: Tasks are done and told about.
limits:
  most:  {default: 3}
  width: {default: 5, optional: true}
policies:
  rule:  {one of: [eager, lazy], default: eager}
define:
  is_late(task, by): task.due_at != null && task.due_at < by
  waiting_for(owner): tasks.filter(t, t.owner == owner && t.open)
types:
  Label:  {text: short}
  Other:  {text: short}
  Colour: {one of: [red, green]}
  Lamp:   {one of: [red, orange]}
  Pair:
    record: {first: int, second: Label}
entities:
  Owner:
    fixed: [ann, bob]
    fields: {busy: bool}
  Task:
    id: minted
    fields:
      owner:  Owner
      label:  Label
      colour: Colour
      pair:   Pair
      due_at: time | null
      parent: Task | null
      steps:  {list of: int}
      class:  int
    states:
      open: [created, running]
      over: [done, failed]
    shows: {task_id: task.id, status: task.state}
  Visit:
    unique: {label: taken}
    fields: {label: Label}
    states:
      open: [begun, running]
      over: [left]
messages:
  Told:
    about: Task
    due: over
    to: task.owner
    carries: {status: task.state}
operations:
  begin:
    takes: {owner: Owner, label: Label}
    create:
      Task: {owner: owner, label: label}
    gives: {task_id: task.id, size: task.label.size()}
  count:
    takes: {owner: Owner}
    gives: tasks.filter(t, t.owner == owner).size()
  listed:
    takes: {owner: Owner}
    gives: tasks.filter(t, t.owner == owner).map(t, t.steps.size())
"""

LOCALS: dict[str, Type] = {
    "task": Ref("Task"),
    "owner": Ref("Owner"),
    "late": Optional(Ref("Task")),
    "wide": Optional(INT),
    "flag": BOOL,
    "n": INT,
    "xs": List(INT),
    "holes": List(Optional(INT)),
    "label": Text("Label"),
    "other": Text("Other"),
    "task_id": Id("Task"),
    "outcome": Enum("Task.state", ("done", "failed")),
}


@cache
def words() -> Words:
    """Give the vocabulary of the model."""
    return Words(read_lifecycle(read(SPEC, "workshop.yaml"), "workshop.yaml"))


@cache
def row_words() -> RowWords:
    """Give the vocabulary of the rows."""
    return RowWords(words().lifecycle)


@cache
def model_scope() -> Scope:
    """Give the scope of an expression of the model, with a name for a value of every type."""
    return words().scopes.model(LOCALS)


@cache
def row_scope() -> Scope:
    """Give the scope of an expression of a row, with a reply of every operation bound to its name."""
    replies = {f"{name}_reply": row_words().reply(name) for name in words().lifecycle.operations}
    return row_words().scope({**replies, "n": INT, "flag": BOOL, "several": List(row_words().reply("count"))})
