"""Messages: what is written, what is read, and what is no message; the checks of the schema, beside those of jsonschema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from conformance.refused import Refused
from conformance.remote import protocol
from conformance.remote.protocol import ProtocolError
from conformance.remote.shapes import checker
from conformance.system import Broken
from statemachines.specs import schema

DEFINITIONS = schema("protocol")["definitions"]


def test_a_request_is_one_line_whatever_its_texts_are() -> None:
    line = protocol.request(7, "start", {"label": "a\nü\ud800", "batch": None})
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "start",
        "params": {"label": "a\nü\ud800", "batch": None},
    }
    assert json.loads(protocol.request(1, "reset")) == {"jsonrpc": "2.0", "id": 1, "method": "reset"}
    assert json.loads(protocol.go("p1")) == {"jsonrpc": "2.0", "id": "p1", "result": None}


@pytest.mark.parametrize("params", [{"ms": "soon"}, {"ms": -1}, {"ms": True}, {}, {"ms": 1, "by": 2}])
def test_what_the_kit_writes_is_checked_as_well(params: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError, match=r"message\.params"):
        protocol.request(1, "wait", params)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"", "this line is empty"),
        (b" \r", "this line is empty"),
        (b"done", "this is not JSON (Expecting value: line 1 column 1 (char 0)): done"),
        (b"\xef\xbb\xbf{}", "this is not JSON (it begins with a byte order mark)"),
        (b"\xff", "this is not UTF-8 (invalid start byte)"),
        (b"{} {}", "Extra data"),
        (b"[NaN]", "NaN is no number of JSON"),
        (b'{"id": 1, "id": 2}', "an object has 'id' twice"),
        (b"[" * 100_000, "this is nested too deep to be read"),
        (b"[]", "message is [], and object is wanted"),
        (b'{"jsonrpc": "2.0", "id": 1}', "message has neither: just one of result or error is wanted"),
        (b'{"jsonrpc": "2.0", "id": true, "result": 1}', "message.id is True, and integer or null is wanted"),
        (b'{"jsonrpc": "2.0", "id": 1.5, "result": 1}', "message.id is 1.5"),
        (b'{"jsonrpc": "2.0", "id": 1e999, "result": 1}', "message.id is inf"),
        (b'{"jsonrpc": "2.0", "id": null, "result": 1}', "message.id is None, and integer is wanted"),
        (b'{"jsonrpc": "1.0", "id": 1, "result": 1}', "message.jsonrpc is '1.0', and '2.0' is wanted"),
        (b'{"jsonrpc": "2.0", "id": 1, "result": 1, "more": 2}', "message.more has no place here"),
        (b'{"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "m"}}', "message.error.code is 'x'"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {"call": 1}}', "message.method is 'ask'"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "point"}', "message has no params"),
    ],
)
def test_what_is_no_message_is_told(line: bytes, said: str) -> None:
    with pytest.raises(ProtocolError) as error:
        protocol.read(line)
    assert said in str(error.value)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    ("text", "value"),
    [("1" + "0" * 400, 10**400), ("1" + "0" * 5000, float("inf")), ("-1" + "0" * 5000, -float("inf")), ("7.0", 7.0)],
)
def test_numbers_of_any_length_are_read(text: str, value: float) -> None:
    assert protocol.read(f'{{"jsonrpc": "2.0", "id": 1, "result": {text}}}\r'.encode())["result"] == value


def test_an_answer_is_a_reply_or_a_refusal_or_a_crash() -> None:
    def result(**answer: Any) -> Any:
        return protocol.result_of({"jsonrpc": "2.0", "id": 1, **answer}, "start", "the last words")

    assert result(result=[1]) == [1]
    with pytest.raises(Refused, match="too late") as refused:
        result(error={"code": 1, "message": "too late", "data": {"refused": "already_resolved"}})
    assert refused.value.code == "already_resolved"
    with pytest.raises(Broken, match="start failed: no disk") as broken:
        result(error={"code": -32000, "message": "no disk", "data": {"trace": "…"}})
    assert (broken.value.kind, broken.value.detail) == ("crash", "the last words")
    with pytest.raises(Broken, match="start is not there"):
        result(error={"code": protocol.NO_METHOD, "message": "?"})


def test_an_answer_to_hello_is_checked() -> None:
    assert protocol.check_welcome({"protocol": 1, "points": True}) == {"protocol": 1, "points": True}
    with pytest.raises(ProtocolError, match=r"result\.protocol is 2, and 1 is wanted"):
        protocol.check_welcome({"protocol": 2})
    with pytest.raises(ProtocolError, match=r"result\.operations\[1\] is 5, and string is wanted"):
        protocol.check_welcome({"protocol": 1, "operations": ["start", 5]})


# ── The checks, beside those of jsonschema ──

WORDS = st.sampled_from(
    [
        "jsonrpc",
        "id",
        "method",
        "params",
        "result",
        "error",
        "code",
        "message",
        "data",
        "refused",
        "call",
        "at",
        "protocol",
        "declares",
        "operations",
        "points",
        "lifecycle",
        "revision",
        "ms",
        "signal",
        "more",
    ]
)
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 3), st.sampled_from(["2.0", "point", "hello", "wait", "x", 1.0, 1.5])
)
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=4))
RIGHT: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 1, "method": "hello", "params": {"protocol": 1, "lifecycle": "x", "revision": 1}},
    {"jsonrpc": "2.0", "id": 1, "method": "wait", "params": {"ms": 0}},
    {"jsonrpc": "2.0", "id": 1, "method": "point", "params": {"call": 1, "at": "x"}},
    {"jsonrpc": "2.0", "id": "p", "result": None},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x", "data": {"refused": "x"}}},
    {"protocol": 1, "declares": {}, "operations": ["x"], "points": True},
]


@st.composite
def nearly_right(draw: st.DrawFn) -> Any:
    """Draw a right message with one change in it."""
    message = json.loads(json.dumps(draw(st.sampled_from(RIGHT))))
    inside = [message, *(each for each in message.values() if isinstance(each, dict))]
    changed = draw(st.sampled_from(inside))
    word = draw(st.sampled_from([*changed, "more"]) | WORDS)
    if draw(st.booleans()):
        changed[word] = draw(VALUES)
    else:
        changed.pop(word, None)
    return message


@pytest.mark.parametrize("kind", ["from_kit", "from_system", "welcome", "signals"])
@given(message=nearly_right() | VALUES)
def test_the_checks_find_what_jsonschema_finds(kind: str, message: Any) -> None:
    theirs = Draft7Validator({"$ref": f"#/definitions/{kind}", "definitions": DEFINITIONS}).is_valid(message)
    assert (checker(DEFINITIONS[kind], DEFINITIONS)(message, "message") == "") == theirs


def test_a_word_of_the_schema_that_nobody_checks_is_an_error() -> None:
    with pytest.raises(ValueError, match="a check of 'pattern' is not known"):
        checker({"type": "string", "pattern": "x"}, {})
