"""What an operation reads before its effects has names, and each may use those before it."""

from typing import Any

import pytest

from statemachines.diagnostics import SpecError
from tests.checking import compile_text

SPEC = """\
lifecycle: read
version: 1
about: Lamps are switched, all those of one colour at once.

entities:
  Lamp:
    id: minted
    fields: {{red: bool, on: {{type: bool, default: false}}}}
    shows: {{lamp_id: lamp.id, on: lamp.on}}

operations:
  add:
    takes: {{red: bool}}
    create:
      Lamp: {{red: red}}
    gives: {{lamp_id: lamp.id}}
  switch:
    takes: {{red: bool}}
    reads:
{reads}
    for each:
      lamp: {{in: class, set: {{lamp.on: true}}}}
    gives: seen.size()
  list:
    gives: {{unordered: lamps}}

matrix: {{}}
"""


def test_each_may_use_those_before_it_and_be_called_as_a_word_of_python() -> None:
    reads = "      seen: lamps.filter(l, l.red == red)\n      class: seen.filter(l, !l.on)"
    model: Any = compile_text(SPEC.format(reads=reads), "read.yaml").model()
    for red in (True, True, False):
        model.add(red)
    assert [model.switch(True).value, model.switch(True).value] == [2, 2]
    assert [lamp["on"] for lamp in model.list().value] == [True, True, False]


def test_none_may_use_one_behind_it() -> None:
    reads = "      class: seen.filter(l, !l.on)\n      seen: lamps.filter(l, l.red == red)"
    with pytest.raises(SpecError) as told:
        compile_text(SPEC.format(reads=reads), "read.yaml")
    assert [fault.code for fault in told.value.diagnostics][:1] == ["unknown-name"]
