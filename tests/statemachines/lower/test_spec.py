"""A scope names records and limits; what it names otherwise is told with its place."""

import pytest

from statemachines.diagnostics import SpecError
from tests.checking import compile_text

SPEC = """\
lifecycle: kept
version: 1
about: Notes are kept.

limits: {{most: {{default: 3}}}}

entities:
  Note:
    id: minted
    shows: {{note_id: note.id}}

operations:
  add:
    create: {{Note: {{}}}}
    gives: {{note_id: note.id}}
scope: {{{scope}}}
matrix: {{}}
"""


def test_a_scope_names_records_one_or_many_and_limits() -> None:
    assert compile_text(SPEC.format(scope="notes: 2, most: 1"), "kept.yaml").lifecycle.scope == {"notes": 2, "most": 1}
    assert compile_text(SPEC.format(scope="Note: 2"), "kept.yaml").lifecycle.scope == {"Note": 2}


def test_what_a_scope_names_otherwise_is_told_with_its_place() -> None:
    with pytest.raises(SpecError) as told:
        compile_text(SPEC.format(scope="most: 1, notse: 2"), "kept.yaml")
    (fault,) = told.value.diagnostics
    assert (fault.code, str(fault.where)) == ("unknown-name", "kept.yaml:16:18")
    assert fault.message == "no record and no limit is called 'notse'"
    assert fault.hint == "did you mean 'notes'?"
