"""What an implementation says of itself, checked word for word against the lifecycle."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report.records import declares
from conformance.system.broken import HarnessError
from conformance.system.declaration import (
    CLOCKS,
    CONCURRENCIES,
    UNLIMITED,
    WORDS,
    Declaration,
    DeclarationError,
    declared,
)
from tests.conformance.systems import REFERENCE, adapted, thread_job
from tests.right.thread_job import RIGHT


def checked(words: Any, *, has_wait: bool = True, asynchronous: bool = False) -> Declaration:
    return declared(thread_job(), words, has_wait=has_wait, asynchronous=asynchronous)


@pytest.mark.parametrize(
    ("has_wait", "asynchronous", "clock", "concurrency"),
    [
        (True, False, "virtual", "none"),
        (False, False, "none", "none"),
        (True, True, "virtual", "async"),
        (False, True, "none", "async"),
    ],
)
def test_what_is_left_out_follows_from_what_is_offered(
    has_wait: bool, asynchronous: bool, clock: str, concurrency: str
) -> None:
    found = checked({}, has_wait=has_wait, asynchronous=asynchronous)
    assert (found.clock, found.concurrency, found.settles) == (clock, concurrency, 0)
    assert (found.limits, found.policies, found.lacks) == ({}, {}, frozenset())
    assert found.instants == (clock == "virtual")


@pytest.mark.parametrize(
    ("words", "part", "value"),
    [
        ({"clock": "real"}, "clock", "real"),
        ({"clock": "running"}, "clock", "running"),
        ({"clock": "none"}, "clock", "none"),
        ({"concurrency": "threads"}, "concurrency", "threads"),
        ({"settles": 250}, "settles", 250),
        ({"limits": {"retained": 0}}, "limits", {"retained": 0}),
        ({"limits": {"max_lines": None}}, "limits", {"max_lines": None}),
        ({"limits": {"max_lines": None}}, "unlimited", frozenset()),
        ({"limits": {"retained": None}}, "limits", {"retained": UNLIMITED}),
        ({"limits": {"retained": None}}, "unlimited", {"retained"}),
        ({"measured": str.upper}, "measured", str.upper),
        ({"measured": str.upper, "limits": {"max_lines": None}}, "limits", {"max_bytes": 25600, "max_lines": None}),
        ({"policies": {"tie": "id"}}, "policies", {"tie": "id"}),
        (
            {"policies": {"tie": ["started_at", "job_id desc"]}},
            "policies",
            {"tie": ("started_at", "job_id desc")},
        ),
        ({"lacks": ["emit", "start_as"]}, "lacks", {"emit", "start_as"}),
        ({"lacks": ()}, "lacks", frozenset()),
        ({"lacks": ["restart", "messages"]}, "absent", dict.fromkeys(["restart", "messages"], "is declared lacking")),
    ],
)
def test_a_right_word_is_taken(words: dict[str, Any], part: str, value: Any) -> None:
    assert getattr(checked(words), part) == value


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (None, "`declares` is a mapping, and this is None"),
        ([("clock", "none")], "`declares` is a mapping"),
        ({"limit": {}}, "`declares` has no word 'limit'; did you mean 'limits'?"),
        ({"zzz": 1}, "`declares` has no word 'zzz'; known: limits, policies"),
        ({1: 2}, "`declares` has no word 1"),
        ({"clock": "virtuel"}, "clock is one of virtual, running, real, none, and this is 'virtuel'"),
        ({"clock": ["virtual"]}, "clock is one of"),
        ({"concurrency": None}, "concurrency is one of threads, async, none, and this is None"),
        ({"concurrency": "async"}, "concurrency: async is declared, and no operation is an async method"),
        ({"settles": -1}, "settles is a number of milliseconds, and this is -1"),
        ({"settles": True}, "settles is a number of milliseconds"),
        ({"settles": 1.5}, "settles is a number of milliseconds"),
        (
            {"measured": "json"},
            "measured is a function from a text to what is held against max_bytes and max_lines, and this is",
        ),
        ({"limits": {"retain": 3}}, "thread-job has no limit 'retain'; did you mean 'retained'?"),
        ({"limits": {"zzz": 3}}, "thread-job has no limit 'zzz'; known: retained, max_bytes, max_lines"),
        ({"limits": {"retained": -1}}, "limit retained is a whole number from 0 on, and this is -1"),
        ({"limits": {"retained": True}}, "limit retained is a whole number"),
        ({"limits": {"retained": "20"}}, "limit retained is a whole number from 0 on, and this is '20'"),
        ({"limits": [20]}, "limits"),
        ({"limits": None}, "limits"),
        ({"policies": {"ties": "id"}}, "thread-job has no policy 'ties'; did you mean 'tie'?"),
        ({"policies": {"tie": "completions"}}, "policy tie is one of completion, start, id"),
        ({"policies": {"tie": ["started"]}}, "policy tie orders by shown fields (job_id, thread"),
        ({"policies": {"tie": [3]}}, "policy tie orders by shown fields"),
        ({"policies": {"tie": {}}}, "policy tie is one of"),
        ({"policies": "completion"}, "policies"),
        ({"lacks": ["emitt"]}, "thread-job has no operation 'emitt'; did you mean 'emit'?"),
        ({"lacks": ["start"]}, "start cannot be lacking; optional are: start_as, emit"),
        ({"lacks": ["signal TurnTrigered"]}, "thread-job has no signal 'TurnTrigered'; did you mean 'TurnTriggered'?"),
        ({"parts": ["tool"]}, "thread-job has no part 'tool'; known: none"),
        ({"parts": "tool"}, "parts is a list of parts, and this is 'tool'"),
        ({"deviates": ["N1"]}, "deviates is a mapping from rows and clauses to reasons"),
        (
            {"deviates": {"N111": {"reason": "x"}}},
            "'N111' under deviates is no row and no clause of thread-job; did you mean",
        ),
        ({"deviates": {"N1": {}}}, "N1 deviates for no reason"),
        ({"deviates": {"N1": "x"}}, "N1 deviates for a reason"),
        ({"deviates": {"N1": {"reson": "x"}}}, "what is said of N1 has no word 'reson'; did you mean 'reason'?"),
        ({"lacks": ["CancelSent"]}, "'CancelSent' is a signal: write 'signal CancelSent'"),
        ({"lacks": ["signals"]}, "thread-job has no operation 'signals'"),
        ({"lacks": 3}, "lacks"),
        ({"lacks": "emit"}, "lacks"),
        ({"lacks": [["emit"]]}, "no operation ['emit']"),
    ],
)
def test_a_wrong_word_is_refused_with_what_is_known(words: Any, message: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        checked(words)
    assert message in str(refused.value)


def test_a_list_of_operations_is_not_a_text() -> None:
    """`lacks: "emit"` would otherwise be read letter by letter."""
    with pytest.raises(DeclarationError) as refused:
        checked({"lacks": "emit"})
    assert "'e'" not in str(refused.value)


def test_a_virtual_clock_needs_something_that_moves_it() -> None:
    with pytest.raises(DeclarationError, match=r"there is no wait\(ms\) that moves it"):
        checked({"clock": "virtual"}, has_wait=False)
    assert checked({"clock": "real"}, has_wait=False).instants is False


def test_a_declaration_that_does_not_fit_prevents_asking_and_names_the_system() -> None:
    class Boastful:
        declares = {"clock": "sundial"}  # noqa: RUF012 - as an implementer would write it

    with (
        pytest.raises(HarnessError, match=r"Boastful: clock is one of virtual, running, real, none"),
        adapted(Boastful),
    ):
        pass


@pytest.mark.parametrize("system", [REFERENCE, *RIGHT], ids=lambda system: system.__name__)
def test_what_a_system_declares_is_what_the_report_says(system: Any) -> None:
    with adapted(system) as adapter:
        said = declares(adapter.declaration)
    assert set(said) == set(WORDS)
    for word, value in system.declares.items():
        assert said[word] == (sorted(value) if word == "lacks" else value)


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(CLOCKS + CONCURRENCIES)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.sampled_from(WORDS), inner),
    max_leaves=8,
)


@pytest.mark.thorough
@given(st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), ANYTHING, max_size=4))
def test_whatever_is_declared_is_taken_or_refused_in_words(words: dict[str, Any]) -> None:
    try:
        found = checked(words)
    except DeclarationError as refused:
        assert str(refused).strip()  # noqa: PT017 - either outcome is right, and this one says why
    else:
        assert found.clock in CLOCKS
        assert found.concurrency in CONCURRENCIES


def test_nothing_settles_later_while_a_virtual_clock_stands_still() -> None:
    """The kit's own loop is at rest before anybody looks; a class that moves its clock itself may have threads as well."""
    with pytest.raises(DeclarationError, match="the virtual clock of the kit stands still"):
        checked({"clock": "virtual", "settles": 40}, has_wait=False, asynchronous=True)
    assert checked({"settles": 40}, asynchronous=True).settles == 40
