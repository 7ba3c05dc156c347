"""Many timers of one instant, and many steps that must be taken at once: one order stands for all only where none differs."""

from __future__ import annotations

import pytest

from tests.checking import compile_text
from tests.conformance.systems import Watched, signal

LAMPS = """
lifecycle: lamps
version: 1
about: Lamps go out some time after they were lit.
variables:
  gone:  {type: int, default: 0}
  waved: {type: bool, default: false}
entities:
  Lamp:
    id: minted
    fields: {since: time}
    states: {active: [lit], terminal: [out]}
    after:
      lit: {in: 10, since: lamp.since, WHEN move: out, set: {gone: gone + 1}}
operations:
  light: {create: {Lamp: {since: now}}, gives: {lamp: lamp.id}}
  count: {gives: {n: gone, waved: waved}}
"""
TWO_GO = compile_text(LAMPS.replace("WHEN", "when: gone < 2,"), "two.yaml")
WAVING = compile_text(
    LAMPS.replace("WHEN", "")
    + """
signals: {Waved: {}}
on its own:
  wave: {when: "!waved && gone == 0", set: {waved: true}, signal: {Waved: {}}}
""",
    "waving.yaml",
)
KEPT = """
lifecycle: jobs
version: 1
about: Jobs end, and leave; not more than so many stay that have ended.
limits:
  kept: {default: 5, about: ended jobs that are kept}
variables:
  open: {type: bool, default: false}
entities:
  Job:
    id: minted
    fields: {since: time, ended_at: time | null}
    states: {active: [running], terminal: [done, gone]}
    entering:
      terminal: {set: {job.ended_at: now}}
    retain: {newest: limits.kept, of: terminal, by: job.completion}
    MORE
operations:
  begin: {create: {Job: {since: now}}, gives: {job: job.id}}
  end:   {takes: {job: Job}, move: running -> done}
  raise: {set: {open: true}}
  count: {gives: {n: jobs.size()}}
"""
LEAVING = compile_text(
    KEPT.replace(
        "MORE",
        """after:
      running: {in: 10, since: job.since, move: done}
      done:    {in: 10, since: job.ended_at, remove: job}""",
    ),
    "leaving.yaml",
)
TIDYING = compile_text(
    KEPT.replace("MORE", "").replace("default: 5", "default: 3")
    + """
on its own:
  tidy:   {for each: {job: Job}, when: job.state == done && open, must: true, move: gone}
  finish: {for each: {job: Job}, when: job.state == running && open, must: true, move: done}
""",
    "tidying.yaml",
)


@pytest.mark.parametrize("lamps", [4, 6, 12])
def test_of_many_timers_that_keep_each_other_from_running_only_some_fire(lamps: int) -> None:
    watched = Watched(TWO_GO)
    for number in range(lamps):
        watched.must("light", gives={"lamp": f"l{number}"})
    watched.must("wait", 11)
    assert watched("count", gives={"n": 3, "waved": False}) is not None
    assert not watched.judge.unsure
    watched = Watched(TWO_GO)
    for number in range(lamps):
        watched.must("light", gives={"lamp": f"l{number}"})
    watched.must("wait", 11)
    watched.must("count", gives={"n": 2, "waved": False})


@pytest.mark.parametrize("lamps", [5, 6, 12])
def test_what_may_only_be_done_before_the_first_of_many_timers_may_be_done(lamps: int) -> None:
    watched = Watched(WAVING)
    for number in range(lamps):
        watched.must("light", gives={"lamp": f"l{number}"})
    watched.must("wait", 11, signals=[signal("Waved")])
    watched.must("count", gives={"n": lamps, "waved": True})


def test_a_record_that_leaves_while_many_timers_fire_fires_no_more() -> None:
    watched = Watched(LEAVING)
    for number in range(4):
        watched.must("begin", gives={"job": f"j{number}"})
    watched.must("wait", 10)
    for number in range(4, 7):
        watched.must("begin", gives={"job": f"j{number}"})
    watched.must("wait", 11)
    watched.must("count", gives={"n": 3})


def test_a_record_that_leaves_while_many_steps_are_taken_takes_none_any_more() -> None:
    watched = Watched(TIDYING)
    for number in range(5):
        watched.must("begin", gives={"job": f"j{number}"})
    for number in range(2):
        watched.must("end", f"j{number}")
    watched.must("raise")
    watched.must("count", gives={"n": 3})
