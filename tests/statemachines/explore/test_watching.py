"""A search that is watched: states and calls that are met, both sides of guards, and ends that can still be told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from statemachines.bounds import USUAL
from statemachines.explore import CanBeTold, Cell, SearchWatch, explore, states_of, tellings, to_be_seen
from statemachines.explore.explorer import Exploration
from tests.checking import compile_text

PARCELS = """
lifecycle: parcels
version: 1
about: A parcel is packed, and arrives or is lost; its sender is told once.
policies:
  polite: {one of: [yes, no], default: yes}
limits:
  kept: {default: 9}
entities:
  Parcel:
    id: minted
    fields:
      thanked: {type: bool, default: false}
    states: {active: [packed], terminal: [arrived, lost]}
    retain: {newest: limits.kept, of: terminal, by: [parcel.completion]}
variables:
  closed: {type: bool, default: false}
messages:
  Ended:
    about:    Parcel
    due:      terminal
    at most:  once per parcel
    order:    [parcel.completion]
    outlives: eviction
    carries:  {id: parcel.id}
types:
  Fate: {one of: [arrived, lost]}
operations:
  pack:
    create: {Parcel: {}}
    gives: {id: parcel.id}
  end:
    takes: {parcel: Parcel, fate: Parcel.terminal}
    move: packed -> fate
    otherwise: unchanged
    set: {parcel.thanked: {when: fate == arrived, to: true}}
  look:
    takes: {parcel: Parcel}
    gives: {thanked: if parcel.thanked then 1 else 0}
  tell:
    takes: {}
    sends: {told: due.Ended}
    gives: told
  shut:
    takes: {}
    set: {closed: true}
"""


def edited(*edits: tuple[str, str]) -> str:
    text = PARCELS
    for before, after in edits:
        assert before in text
        text = text.replace(before, after, 1)
    return text


def watched(text: str, *, states: int = USUAL.states) -> tuple[Exploration, SearchWatch, list[CanBeTold]]:
    compiled = compile_text(text, "spec.yaml")
    watch = SearchWatch(compiled)
    seen = [*states_of(compiled.kernel), *to_be_seen(compiled.kernel)]

    found = explore(compiled, replace(USUAL, states=states), seen=seen, watch=watch)
    return found, watch, tellings(compiled, found.reached, watch)


def sides(watch: SearchWatch, words: str) -> set[bool]:
    numbers = {number for number, guard in enumerate(watch.guards.all) if guard.words == words}
    assert numbers, [guard.words for guard in watch.guards.all]
    return {side for number, side in watch.sides if number in numbers}


def calls(steps: object) -> list[str]:
    return [call.operation for call in steps.calls()]  # type: ignore[attr-defined]  # a trace


def test_every_state_and_every_call_about_it_is_met_with_the_shortest_calls_to_it() -> None:
    found, watch, _ = watched(PARCELS)
    assert found.complete
    assert {state for _, state in watch.states} == {"packed", "arrived", "lost"}
    assert set(watch.cells) == set(watch.every_cell)
    lost = watch.cells[Cell("Parcel", "lost", "end", "parcel")]
    assert calls(lost["unchanged"].trace) == ["pack", "end", "end"]
    assert calls(watch.cells[Cell("Parcel", "missing", "look", "parcel")]["refused"].trace) == ["look"]


def test_a_state_that_nothing_leads_to_is_not_met_nor_any_call_about_it() -> None:
    _, watch, _ = watched(
        edited(
            ("takes: {parcel: Parcel, fate: Parcel.terminal}", "takes: {parcel: Parcel}"),
            ("packed -> fate", "packed -> arrived"),
            ("fate == arrived", "true"),
        )
    )
    assert ("Parcel", "lost") not in watch.states
    assert Cell("Parcel", "lost", "look", "parcel") not in watch.cells


def test_a_call_of_which_the_spec_leaves_all_open_is_told_apart_from_one_that_is_never_met() -> None:
    _, watch, _ = watched(
        edited(("    takes: {parcel: Parcel}\n", "    takes: {parcel: Parcel}\n    unsaid: parcel.state == lost\n"))
    )
    cell = Cell("Parcel", "lost", "look", "parcel")
    assert cell in watch.nobody
    assert cell not in watch.cells


def test_both_sides_of_a_guard_are_met_that_leads_nowhere_else() -> None:
    _, watch, _ = watched(PARCELS)
    assert sides(watch, "fate == arrived") == {True, False}
    assert sides(watch, "parcel.thanked") == {True, False}
    assert all(guard.where.line > 1 for guard in watch.guards.all)


def test_a_guard_that_never_decides_has_one_side_alone() -> None:
    _, watch, _ = watched(edited(("fate == arrived", "fate == arrived || fate == lost")))
    assert sides(watch, "fate == arrived || fate == lost") == {True}


def test_a_guard_is_noted_as_its_author_wrote_it() -> None:
    _, watch, _ = watched(
        edited(("    create: {Parcel: {}}\n", "    requires: {shut: '!closed'}\n    create: {Parcel: {}}\n"))
    )
    assert sides(watch, "closed") == {True, False}


def test_what_is_declared_settles_a_guard_that_reads_nothing_else() -> None:
    _, watch, _ = watched(edited(("fate == arrived", "policies.polite == yes")))
    (guard,) = [each for each in watch.guards.all if "polite" in each.words]
    assert guard.settled
    assert guard.declared == ("policies.polite",)


def test_guards_of_branches_definitions_and_steps_of_its_own_are_noted() -> None:
    _, watch, _ = watched(
        edited(
            ("operations:\n", "define:\n  odd(p): if p.thanked then 1 else 0\noperations:\n"),
            (
                "{thanked: if parcel.thanked then 1 else 0}",
                "{first of: [{when: closed, reply: odd(parcel)}, {reply: 2}]}",
            ),
        )
        + "on its own:\n  shut:\n    when: closed\n    must: closed\n    set: {closed: false}\n"
    )
    roles = {(guard.clause.partition(".")[0], guard.role) for guard in watch.guards.all}
    assert {("define", "if"), ("on its own", "when"), ("on its own", "must"), ("operations", "when")} <= roles
    (definition,) = [guard for guard in watch.guards.all if guard.clause.startswith("define.")]
    assert definition.where.line == PARCELS[: PARCELS.index("operations:")].count("\n") + 2


def test_an_end_can_be_told_from_wherever_it_is_due() -> None:
    _, _, (telling,) = watched(PARCELS)
    assert (telling.message.name, telling.stuck, telling.unclear) == ("Ended", None, 0)
    assert telling.owed > 1


def test_an_end_that_can_never_be_told_any_more_is_shown_by_the_shortest_calls() -> None:
    shut = edited(
        (
            "    takes: {}\n    sends: {told: due.Ended}",
            "    takes: {}\n    requires: {shut: '!closed'}\n    sends: {told: due.Ended}",
        )
    )
    _, _, (telling,) = watched(shut)
    assert telling.stuck is not None
    assert sorted(calls(telling.stuck.way())) == ["end", "pack", "shut"]


@pytest.mark.parametrize(("sends", "stuck"), [("due.Ended", False), ("due.Ended.filter(m, !closed)", True)])
def test_what_may_be_told_when_another_record_comes_is_stuck_only_where_there_is_room_for_one(
    sends: str, stuck: bool
) -> None:
    _, _, (telling,) = watched(
        edited(
            ("    create: {Parcel: {}}\n    gives: {id: parcel.id}\n", ""),
            ("    takes: {}\n    sends: {told: due.Ended}\n    gives: told\n", ""),
            (
                "  pack:\n",
                f"  pack:\n    sends: {{told: {sends!r}}}\n    create: {{Parcel: {{}}}}\n    gives: {{id: parcel.id, told: told}}\n",
            ),
            ("  tell:\n", ""),
        )
    )
    assert telling.unclear > 0
    assert (telling.stuck is not None) == stuck
    if telling.stuck is not None:
        assert sorted(calls(telling.stuck.way())) == ["end", "pack", "shut"]


def test_of_two_ends_the_one_that_is_stuck_is_not_taken_for_the_other() -> None:
    text = edited(
        (
            "sends: {told: due.Ended}",
            "sends: {told: 'due.Ended.filter(m, parcels.exists(p, p.id == m.id && p.thanked))'}",
        )
    )
    _, _, (telling,) = watched(text)
    assert telling.stuck is not None
    assert [(call.operation, dict(call.arguments).get("fate")) for call in telling.stuck.way().calls()] == [
        ("pack", None),
        ("end", "lost"),
    ]


def test_what_a_search_that_was_cut_has_not_gone_on_from_is_unclear_and_not_wrong() -> None:
    found, watch, (telling,) = watched(PARCELS, states=6)
    assert not found.complete
    assert len(watch.ways) < len(found.reached)
    assert telling.stuck is None
    assert telling.unclear > 0


def test_a_search_that_is_watched_reaches_what_another_one_does() -> None:
    compiled = compile_text(PARCELS, "spec.yaml")
    plain, seen = explore(compiled), explore(compiled, watch=SearchWatch(compiled))
    assert plain.configurations == seen.configurations
    assert plain.witnessed == seen.witnessed
