"""Two revisions of a spec: what they say otherwise, which of it stands alone, and where models of both part."""

from __future__ import annotations

from statemachines.compare import (
    UNSAID,
    WAITS,
    Declared,
    RevisionComparison,
    SpecChange,
    changes,
    groups_alone,
    shown,
    touched,
    with_changes,
)
from statemachines.compile import Compiled, compile_tree
from statemachines.yaml import Mapping, read, to_plain

TEXT = """
lifecycle: errands
version: 1
about: An errand is begun, and ends.
entities:
  Errand:
    id: minted
    fields: {far: {type: int, default: 0}}
    states: {active: [going], terminal: [over]}
operations:
  begin:
    create:
      Errand: {}
    gives: errand.id
  end:
    takes: {errand: Errand}
    move: going -> over
  go:
    takes: {errand: Errand}
    set: {errand.far: errand.far + 1}
  look:
    takes: {errand: Errand}
    gives: {state: errand.state, far: errand.far}
"""


def tree(*edits: tuple[str, str]) -> Mapping:
    text = TEXT
    for before, after in edits:
        assert before in text
        text = text.replace(before, after, 1)
    found = read(text, "spec.yaml")
    assert isinstance(found, Mapping)
    return found


def compiled(*edits: tuple[str, str]) -> Compiled:
    return compile_tree(tree(*edits), "spec.yaml")


def changed(*edits: tuple[str, str]) -> list[SpecChange]:
    clauses = {each.path for side in (compiled(), compiled(*edits)) for each in side.kernel.clauses}
    return changes(tree(), tree(*edits), clauses)


def calls(one: Compiled, other: Compiled) -> list[str]:
    comparison = RevisionComparison(one, other, Declared(), Declared())
    parting = next(comparison.partings({}, 2_000, 3))
    assert parting.trace is not None
    return [each.operation for each in parting.trace.calls()]


def test_a_change_is_named_by_its_clause_with_both_texts() -> None:
    (found,) = changed(("going -> over", "active -> over"))
    assert (found.path, found.does, shown(found.old), shown(found.new)) == (
        "operations.end.move",
        "changed",
        "going -> over",
        "active -> over",
    )


def test_what_is_laid_out_otherwise_is_no_change() -> None:
    assert changed(("{far: {type: int, default: 0}}", "\n      far:\n        type: int\n        default:   0")) == []


def test_words_for_people_are_of_a_kind_of_their_own() -> None:
    (found,) = changed(("and ends.", "and is over."))
    assert found.kind == "words"


def test_a_level_is_a_change_of_its_clause() -> None:
    (found,) = changed(("entities:", "should: [operations.end.move]\nentities:"))
    assert (found.kind, found.keys, found.does) == ("level", ("should", "operations.end.move"), "added")


def test_all_changes_made_lead_from_the_old_spec_to_the_new_one() -> None:
    edits = (
        ("  go:", "  stop:\n    takes: {errand: Errand}\n    move: going -> over\n  go:"),
        ("    move: going -> over\n  stop", "    move: active -> over\n    otherwise: unchanged\n  stop"),
        ("entities:", "should: [operations.end.move]\nlimits: {most: {default: 3}}\nentities:"),
        (", far: errand.far", ""),
    )
    old, new = tree(), tree(*edits)
    there = with_changes(old, new, changed(*edits))
    assert to_plain(there) == to_plain(new)
    back = changes(new, old, {each.path for each in compiled(*edits).kernel.clauses})
    assert to_plain(with_changes(new, old, back)) == to_plain(old)


def test_changes_that_do_not_compile_alone_are_joined_with_those_that_they_need() -> None:
    edits = (
        ("operations:", "signals:\n  Ended: {errand: Errand}\noperations:"),
        ("move: going -> over", "move: going -> over\n    signal: {Ended: {with: {errand: errand}}}"),
        ("errand.far + 1", "errand.far + 2"),
    )
    found = groups_alone(tree(), tree(*edits), changed(*edits))
    assert sorted([each.path for each in group.changes] for group in found) == [
        ["operations.go.set.errand.far"],
        ["signals.Ended", "operations.end.signal"],
    ]


def test_only_operations_with_other_code_are_touched() -> None:
    found = touched(compiled(), compiled(("errand.far + 1", "errand.far + 2")))
    assert (found.operations, found.at_any) == (frozenset({"go"}), False)
    assert "far" in found.reads["look"]
    assert not touched(compiled(), compiled(("and ends.", "and is over."))).operations


def test_the_shortest_calls_lead_to_a_look_at_what_was_done_otherwise() -> None:
    assert calls(compiled(), compiled(("errand.far + 1", "errand.far + 2"))) == ["begin", "go", "look"]


def test_revisions_that_keep_other_fields_are_compared_as_well() -> None:
    other = (
        ("default: 0}}", "default: 0}, ended: {type: bool, default: false}}"),
        ("move: going -> over", "move: going -> over\n    set: {errand.ended: true}"),
        ("far: errand.far}", "far: if errand.ended then 0 - 1 else errand.far}"),
    )
    one, new = compiled(), compiled(*other)
    assert calls(one, new) == ["begin", "end", "look"]
    assert calls(new, one) == ["begin", "end", "look"]


def test_that_nobody_asks_and_that_a_call_waits_tell_revisions_apart() -> None:
    for words, seen in (("unsaid: errand.terminal", UNSAID), ("waits: {until: errand.terminal}", WAITS)):
        one = compiled(("    gives: {state", f"    {words}\n    gives: {{state"))
        comparison = RevisionComparison(one, compiled(), Declared(), Declared())
        assert next(comparison.partings({}, 2_000, 3)).one.refused == seen


def test_models_that_are_alike_do_not_part() -> None:
    comparison = RevisionComparison(compiled(), compiled(("and ends.", "and is over.")), Declared(), Declared())
    assert list(comparison.partings({}, 2_000, 3)) == []
