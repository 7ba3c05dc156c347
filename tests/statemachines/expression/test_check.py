"""Syntax tree → typed tree: what has a type, what is refused, with which code and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import assume, given, settings

from statemachines.expression.checker import check
from statemachines.expression.emitter import emit
from statemachines.expression.functions import KNOWN, MACROS
from statemachines.expression.parser import MAX_BYTES, MAX_NESTING, parse
from statemachines.expression.scope import Checker, Scope, Vocabulary, facts, path_of
from statemachines.expression.syntax import ExpressionError, Node
from statemachines.expression.typed import Typed, Var, parts
from statemachines.surface.spec import read_lifecycle
from statemachines.types import (
    BOOL,
    DOCUMENT,
    INT,
    NULL,
    TEXT,
    TIME,
    UNKNOWN,
    Enum,
    Id,
    Identity,
    List,
    Optional,
    RecordType,
    Ref,
    Text,
    Type,
)
from statemachines.words.words import Words
from statemachines.yaml import read
from tests.statemachines.expression.printing import printed
from tests.statemachines.expression.trees import trees
from tests.statemachines.expression.vocabulary import SCOPE, Plain
from tests.statemachines.expression.workshop import LOCALS, SPEC, model_scope, row_scope, words

STATES = ("created", "running", "done", "failed")


class Patience(Exception):
    """The checker looks at more parts than there are."""


Look = Callable[[Checker, Node, Scope, Type], Typed]


def patient(look: Look, most: int) -> Look:
    """Give the same way to look at a part, which gives up after so many looks."""
    looks = 0

    def counting(checker: Checker, node: Node, scope: Scope, expected: Type = UNKNOWN) -> Typed:
        nonlocal looks
        looks += 1
        if looks > most:
            raise Patience
        return look(checker, node, scope, expected)

    return counting


def checked(text: str, scope: Scope | None = None, expected: Type = UNKNOWN) -> tuple[Typed, list[ExpressionError]]:
    return check(parse(text), scope or model_scope(), expected)


def faults(text: str, scope: Scope | None = None, expected: Type = UNKNOWN) -> list[tuple[str, int]]:
    """Give the code and the offset of every fault, in the order of the text."""
    return sorted(((fault.code, fault.at) for fault in checked(text, scope, expected)[1]), key=lambda fault: fault[1])


def fault(text: str, scope: Scope | None = None, expected: Type = UNKNOWN) -> ExpressionError:
    """Give the one fault of a text."""
    found = checked(text, scope, expected)[1]
    assert len(found) == 1, [(each.code, each.at, each.message) for each in found]
    return found[0]


def type_of(text: str, scope: Scope | None = None) -> Type:
    value, found = checked(text, scope)
    assert not found, [(each.code, each.at, each.message) for each in found]
    return value.type


# ── What has a type ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("null", NULL),
        ("true", BOOL),
        ("1", INT),
        ("'a'", TEXT),
        ("n", INT),
        ("now", TIME),
        ("task", Ref("Task")),
        ("tasks", List(Ref("Task"))),
        ("late", Optional(Ref("Task"))),
        ("task.label", Text("Label")),
        ("task.id", Id("Task")),
        ("task.serial", INT),
        ("task.completion", INT),
        ("task.state", Enum("Task.state", STATES)),
        ("task.over", BOOL),
        ("task.owner.busy", BOOL),
        ("task.pair.second", Text("Label")),
        ("task.due_at", Optional(TIME)),
        ("task.steps[0]", INT),
        ("limits.most", INT),
        ("limits.width", Optional(INT)),
        ("policies.rule", Enum("policies.rule", ("eager", "lazy"))),
        ("created", Enum("Task.state", ("created",))),
        ("ann", Ref("Owner")),
        ("due.Told[0].about", Identity("Task")),
        ("sent.Told.map(m, m.status)", List(Enum("Task.state", STATES))),
        ("is_late(task, now)", BOOL),
        ("waiting_for(owner)", List(Ref("Task"))),
        ("[]", List(UNKNOWN)),
        ("[1, 2]", List(INT)),
        ("[1, null]", List(Optional(INT))),
        ("[[], [1]]", List(List(INT))),
        ("[created, done]", List(Enum("Task.state", ("created", "done")))),
        ("[task.label, 'x']", List(Text("Label"))),
        ("!flag", BOOL),
        ("-n", INT),
        ("-now", TIME),
        ("n + 1", INT),
        ("now + n", TIME),
        ("n - now", TIME),
        ("now / 2", TIME),
        ("'a' + task.label", TEXT),
        ("[1] + xs", List(INT)),
        ("[] + xs", List(INT)),
        ("xs + []", List(INT)),
        ("[] + tasks", List(Ref("Task"))),
        ("n in xs", BOOL),
        ("n < now", BOOL),
        ("flag && n == 1", BOOL),
        ("if flag then 1 else 2", INT),
        ("if flag then 1 else null", Optional(INT)),
        ("if flag then null else 'x'", Optional(TEXT)),
        ("if flag then null else null", NULL),
        ("if flag then wide else 1", Optional(INT)),
        ("if flag then created else done", Enum("Task.state", ("created", "done"))),
        ("if flag then [] else tasks", List(Ref("Task"))),
        ("if flag then tasks else []", List(Ref("Task"))),
        ("tasks.filter(t, t.over)", List(Ref("Task"))),
        ("tasks.map(t, t.label)", List(Text("Label"))),
        ("tasks.map(t, t.due_at)", List(Optional(TIME))),
        ("tasks.sortBy(t, t.label)", List(Ref("Task"))),
        ("tasks.all(t, t.over)", BOOL),
        ("tasks.size()", INT),
        ("'abc'.size()", INT),
        ("xs.sum()", INT),
        ("[now].max()", TIME),
        ("[].sum()", INT),
        ("xs.take(1)", List(INT)),
        ("[xs].flatten()", List(INT)),
        ("[].flatten()", List(UNKNOWN)),
        ("[[]].flatten()", List(UNKNOWN)),
        ("xs.sameItems([])", BOOL),
        ("holes.contains(null)", BOOL),
        ("[task.label].join(', ')", TEXT),
        ("task.label.trim()", TEXT),
        ("range(n)", List(INT)),
        ("text('a', n)", TEXT),
        ("document('a', 1, null)", DOCUMENT),
        ("document('a', wide, null).inline", BOOL),
        ("document('a', wide, null).file", Optional(TEXT)),
        ("string(n)", TEXT),
    ],
)
def test_an_expression_has_a_type(text: str, kind: Type) -> None:
    assert type_of(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "task.state == running",
        "running == task.state",
        "task.state in [created, running]",
        "task.state in over",
        "task.state != failed",
        "task.colour == red",
        "tasks.map(t, t.colour).sameItems([red])",
        "policies.rule == lazy",
        "owner == ann",
        "task.owner in [ann, bob]",
        "label == 'x'",
        "label == task.label",
        "task.id == task_id",
        "task.id == 'x'",
        "late == task",
        "late == null",
        "wide == 3",
        "wide in [null]",
        "null in holes",
        "xs == []",
        "[] == xs",
        "now == 3",
        "'a' < label",
        "task.pair == task.pair",
        "tasks[0] == task",
    ],
)
def test_what_can_be_alike_may_be_compared(text: str) -> None:
    assert type_of(text) == BOOL


# ── Names ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "code", "at", "hint"),
    [
        ("taskid", "unknown-name", 0, "did you mean 'task_id'?"),
        ("n + Flag", "unknown-name", 4, "did you mean 'flag'?"),
        ("zzzz", "unknown-name", 0, "known here: "),
        ("limits.mots", "unknown-name", 7, "did you mean 'most'?"),
        ("limits.zzzz", "unknown-name", 7, "known: most, width"),
        ("policies.ruel == lazy", "unknown-name", 9, "did you mean 'rule'?"),
        ("due.told", "unknown-name", 4, "did you mean 'Told'?"),
        ("sent.zzz.size()", "unknown-name", 5, "known: Told"),
        ("task.lable", "unknown-field", 5, "did you mean 'label'?"),
        ("task.ovre", "unknown-field", 5, "did you mean 'over'?"),
        ("task.owner.bsy", "unknown-field", 11, "did you mean 'busy'?"),
        ("task.pair.frist", "unknown-field", 10, "did you mean 'first'?"),
        ("task.pair.zzzz", "unknown-field", 10, "known: first, second"),
        ("tasks.exists(t, t.lable == 'x')", "unknown-field", 18, "did you mean 'label'?"),
        ("due.Told[0].staus", "unknown-field", 12, "did you mean 'status'?"),
        ("document('a', 1, 1).txt", "unknown-field", 20, "did you mean 'text'?"),
        ("n.label", "unknown-field", 2, "it has no fields"),
        ("tasks.label", "unknown-field", 6, "it has no fields"),
        ("is_lat(task, now)", "unknown-function", 0, "did you mean 'is_late'?"),
        ("rnage(3)", "unknown-function", 0, "did you mean 'range'?"),
        ("rang(3)", "unknown-function", 0, "did you mean 'range'?"),
        ("minted('x')", "unknown-function", 0, "only an id of `create` is minted"),
        ("such_as(1, 2)", "expression-type", 0, "such_as(an example)"),
        ("size(xs)", "unknown-function", 0, "size belongs after a value: value.size(…)"),
        ("zzzz()", "unknown-function", 0, "known: "),
        ("xs.sise()", "unknown-function", 3, "did you mean 'size'?"),
        ("xs.distnct()", "unknown-function", 3, "did you mean 'distinct'?"),
        ("xs.exsts(x, x > 1)", "unknown-function", 3, "did you mean 'exists'?"),
        ("xs.sort(x, x)", "unknown-function", 3, "did you mean 'sortBy'?"),
        ("xs.startsWith(1)", "unknown-function", 3, "known: "),
        ("'a'.sum()", "unknown-function", 4, "known: "),
        ("'a'.startswith('a')", "unknown-function", 4, "did you mean 'startsWith'?"),
        ("n.size()", "unknown-function", 2, "it has no functions"),
        ("task.size()", "unknown-function", 5, "it has no functions"),
        ("null.size()", "unknown-function", 5, "it has no functions"),
    ],
)
def test_an_unknown_name_is_told_with_the_one_that_may_be_meant(text: str, code: str, at: int, hint: str) -> None:
    found = fault(text)
    assert (found.code, found.at) == (code, at)
    assert found.hint.startswith(hint)


@pytest.mark.parametrize(
    ("text", "at", "hint"),
    [
        ("task.state == runing", 14, "did you mean 'running'?"),
        ("runing == task.state", 0, "did you mean 'running'?"),
        ("task.state in [created, runing]", 24, "did you mean 'running'?"),
        ("task.state == left", 14, "one of created, running, done, failed"),
        ("task.state == outcom", 14, "did you mean 'outcome'?"),
        ("task.colour == orange", 15, "one of red, green"),
        ("task.colour == blue", 15, "one of red, green"),
        ("policies.rule == keen", 17, "one of eager, lazy"),
        ("tasks.all(t, t.state != dnoe)", 24, "did you mean 'done'?"),
    ],
)
def test_a_misspelt_state_is_refused_with_the_words_of_its_own_type(text: str, at: int, hint: str) -> None:
    found = fault(text)
    assert (found.code, found.at) == ("unknown-name", at)
    assert found.hint == hint


@pytest.mark.parametrize(
    ("text", "at", "kinds"),
    [
        ("running", 0, "Task.state or Visit.state"),
        ("red", 0, "Colour or Lamp"),
        ("[red]", 1, "Colour or Lamp"),
        ("over.size()", 0, "list of Task.state or list of Visit.state"),
        ("if flag then running else null", 13, "Task.state or Visit.state"),
        ("if flag then null else running", 23, "Task.state or Visit.state"),
    ],
)
def test_a_word_of_two_types_is_refused_where_neither_is_expected(text: str, at: int, kinds: str) -> None:
    found = fault(text)
    assert (found.code, found.at) == ("ambiguous-name", at)
    assert found.message.endswith(f"may mean {kinds}")


@pytest.mark.parametrize("text", ["task.state == running", "visits.all(v, running != v.state)", "task.colour in [red]"])
def test_a_word_of_two_types_means_the_one_it_is_compared_with(text: str) -> None:
    assert faults(text) == []


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("tasks.exists(task, task.over)", 13),
        ("tasks.exists(now, true)", 13),
        ("tasks.exists(tasks, true)", 13),
        ("xs.map(x, xs.map(x, x))", 17),
        ("xs.exists(x, xs.filter(n, n == x) == xs)", 23),
        ("tasks.exists(running, running.over)", 13),
        ("xs.map(red, red)", 7),
        ("xs.map(ann, ann)", 7),
    ],
)
def test_no_name_is_given_a_second_meaning(text: str, at: int) -> None:
    found = fault(text)
    assert (found.code, found.at) == ("shadowed-name", at)


def test_a_name_is_free_again_behind_its_list() -> None:
    assert faults("xs.all(x, x > 1) && xs.exists(x, x < 3) && xs.map(x, x).size() == 1") == []
    assert faults("xs.all(x, x > 1) && x == 2") == [("unknown-name", 20)]


# ── Types that do not fit ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "at"),
    [
        # never equal
        ("n == 'a'", 2),
        ("n != flag", 2),
        ("label == other", 6),
        ("task.id == label", 8),
        ("task == owner", 5),
        ("task == task.id", 5),
        ("task.state == 'done'", 11),
        ("task.state == 1", 11),
        ("n == null", 2),
        ("null == task.label", 5),
        ("task.over == null", 10),
        ("xs == 1", 3),
        ("xs == ['a']", 3),
        ("['a'] == xs", 6),
        ("[1] == ['a']", 4),
        ("[xs] == [['a']]", 5),
        ("tasks == xs", 6),
        ("task.pair == xs", 10),
        ("due.Told[0].about == task", 18),
        ("document('a', 1, 1) == 'a'", 20),
        # never in
        ("n in ['a']", 2),
        ("1 in ['a']", 2),
        ("'a' in xs", 4),
        ("task.state in [1]", 11),
        ("task.state in ['done']", 11),
        ("label in [other]", 6),
        ("null in xs", 5),
        ("n in [null]", 2),
        ("xs in xs", 3),
        # in what is no list
        ("1 in n", 5),
        ("'a' in 'abc'", 7),
        ("1 in null", 5),
        ("1 in wide", 5),
        # without an order
        ("flag < true", 5),
        ("n < 'a'", 2),
        ("label < other", 6),
        ("xs < xs", 3),
        ("task.state < done", 11),
        ("task < task", 5),
        ("null < 1", 5),
        # no calculation
        ("n + 'a'", 2),
        ("'a' - 'b'", 4),
        ("'a' * 2", 4),
        ("xs - xs", 3),
        ("xs + 1", 3),
        ("xs + ['a']", 3),
        ("flag + flag", 5),
        ("n + null", 2),
        ("n / 'a'", 2),
        ("n % flag", 2),
        ("wide + 1", 5),
        ("task + 1", 5),
        # a condition is a bool, a position and a sign a number
        ("!n", 1),
        ("!null", 1),
        ("!wide", 1),
        ("n && flag", 0),
        ("flag || 'a'", 8),
        ("null || flag", 0),
        ("-flag", 1),
        ("-'a'", 1),
        ("-wide", 1),
        ("xs[flag]", 3),
        ("xs['a']", 3),
        ("xs[wide]", 3),
        ("n[0]", 1),
        ("'a'[0]", 3),
        ("if n then 1 else 2", 3),
        ("if null then 1 else 2", 3),
        ("xs.filter(x, x)", 13),
        ("xs.all(x, 1)", 10),
        ("xs.exists(x, null)", 13),
        # lists and conditionals of one type
        ("[1, 'a']", 4),
        ("[1, 2, flag, 'a']", 7),
        ("[1, [1]]", 4),
        ("if flag then 1 else 'a'", 0),
        ("if flag then [1] else ['a']", 0),
        ("if flag then task else owner", 0),
        # functions of other types
        ("n.map(x, x)", 2),
        ("'a'.all(x, true)", 4),
        ("['a'].sum()", 6),
        ("[flag].max()", 7),
        ("holes.min()", 6),
        ("xs.flatten()", 3),
        ("xs.join(', ')", 3),
        ("['a'].join(1)", 11),
        ("xs.take('a')", 8),
        ("xs.drop(wide)", 8),
        ("xs.contains('a')", 3),
        ("xs.contains(null)", 3),
        ("xs.sameItems(['a'])", 3),
        ("xs.sameItems(1)", 3),
        ("'a'.contains(1)", 13),
        ("'a'.startsWith(null)", 15),
        ("range('a')", 6),
        ("text(1, 2)", 5),
        ("text('a', 'b')", 10),
        ("text('a', 1, null)", 13),
        ("document('a', 'b', null)", 14),
        ("document(null, 1, 1)", 9),
        ("string('a')", 7),
        ("string(wide)", 7),
        # keys without an order
        ("tasks.sortBy(t, t)", 16),
        ("tasks.sortBy(t, t.pair)", 18),
        ("tasks.sortBy(t, [t.due_at])", 16),
        ("xs.sortBy(x, null)", 13),
    ],
)
def test_types_that_do_not_fit_are_refused(text: str, at: int) -> None:
    found = fault(text)
    assert (found.code, found.at) == ("expression-type", at)
    assert found.message
    assert found.hint


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("is_late(task)", 0),
        ("is_late(task, now, 1)", 0),
        ("is_late()", 0),
        ("xs.size(1)", 3),
        ("'a'.size(1)", 4),
        ("xs.sum(1)", 3),
        ("xs.min(1)", 3),
        ("[xs].flatten(1)", 5),
        ("xs.distinct(1)", 3),
        ("xs.reversed(1)", 3),
        ("xs.take()", 3),
        ("xs.drop(1, 2)", 3),
        ("xs.contains()", 3),
        ("xs.contains(1, 2)", 3),
        ("xs.sameItems()", 3),
        ("xs.sameItems(xs, xs)", 3),
        ("['a'].join()", 6),
        ("'a'.contains()", 4),
        ("'a'.startsWith('a', 'b')", 4),
        ("'a'.trim(1)", 4),
        ("range()", 0),
        ("range(1, 2)", 0),
        ("text('a')", 0),
        ("text('a', 1, 2, 3)", 0),
        ("document('a')", 0),
        ("document('a', 1)", 0),
        ("string()", 0),
        ("xs.map(x)", 3),
        ("xs.map()", 3),
        ("xs.all(1, true)", 3),
        ("xs.all(x.y, true)", 3),
        ("xs.all(x, true, true)", 3),
        ("xs.sortBy()", 3),
    ],
)
def test_a_wrong_number_of_arguments_is_told_once(text: str, at: int) -> None:
    found = fault(text)
    assert (found.code, found.at) == ("expression-type", at)


@pytest.mark.parametrize(
    ("text", "expected", "wrong"),
    [
        ("1", BOOL, 0),
        ("n == 1", INT, 2),
        ("label", Text("Other"), 0),
        ("wide", INT, 0),
        ("null", INT, 0),
        ("[1]", List(TEXT), 0),
        ("task", Id("Task"), 0),
        ("tasks", List(Ref("Owner")), 0),
    ],
)
def test_what_stands_where_something_else_is_expected_is_refused(text: str, expected: Type, wrong: int) -> None:
    assert faults(text, expected=expected) == [("expression-type", wrong)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("null", Optional(INT)),
        ("n", Optional(INT)),
        ("wide", Optional(INT)),
        ("n", TIME),
        ("'x'", Text("Label")),
        ("[]", List(TEXT)),
        ("running", Enum("Task.state", STATES)),
        ("[running]", List(Enum("Task.state", STATES))),
        ("over", List(Enum("Task.state", STATES))),
        ("if flag then running else done", Enum("Task.state", STATES)),
        ("if flag then null else running", Optional(Enum("Task.state", STATES))),
    ],
)
def test_what_is_expected_may_stand_there(text: str, expected: Type) -> None:
    assert faults(text, expected=expected) == []


# ── Null ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "late != null && late.over",
        "null != late && late.over",
        "late == null || late.over",
        "!(late == null) && late.over",
        "!(late != null) || late.over",
        "!!(late != null) && late.over",
        "!(late == null || flag) && late.over",
        "!(late != null && flag) || flag || !late.over == flag || true",
        "flag && late != null && n == 1 && late.over",
        "late != null && (flag || late.over)",
        "late != null && wide != null && late.serial < wide",
        "(late == null || flag) && (late == null || late.over)",
        "(if late == null then 0 else late.serial) == 1",
        "(if late != null then late.serial else 0) == 1",
        "(if late != null && wide != null then late.serial + wide else 0) == 1",
        "(if late == null || wide == null then 0 else late.serial + wide) == 1",
        "late != null && (if late.over then late.serial else 2) == 1",
        "task.parent != null && task.parent.over",
        "task.parent != null && task.parent.parent != null && task.parent.parent.over",
        "task.due_at != null && -task.due_at < 3",
        "wide == null || wide < 3",
        "wide != null && xs[wide] == 1",
        "wide != null && xs.take(wide) == [1]",
        "wide != null && xs.all(x, x < wide)",
        "xs.all(x, wide == null || x < wide)",
        "tasks.exists(t, t.parent != null && t.parent.over)",
        "tasks.filter(t, t.due_at != null).all(t, t.due_at == null || t.due_at < 3)",
        "holes[0] != null && holes[0] < 3",
        "holes.all(x, x == null || x > 1)",
        "wide != null && wide + wide == wide * wide",
        "limits.width == null || xs.size() <= limits.width",
        "wide != null && [1, wide].sum() == 1",
        "wide != null && (if flag then wide else 1) < 2",
    ],
)
def test_a_nullable_may_be_used_behind_its_guard(text: str) -> None:
    assert faults(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("late.over", [("field-of-null", 5)]),
        ("late.parent.over", [("field-of-null", 5)]),
        ("task.parent.over", [("field-of-null", 12)]),
        ("late == null && late.over", [("field-of-null", 21)]),
        ("late != null || late.over", [("field-of-null", 21)]),
        ("late.over && late != null", [("field-of-null", 5)]),
        ("!(late != null) && late.over", [("field-of-null", 24)]),
        ("!(late != null && flag) && late.over", [("field-of-null", 32)]),
        ("(late != null || flag) && late.over", [("field-of-null", 31)]),
        ("(late != null && flag) || late.over", [("field-of-null", 31)]),
        ("late != null && flag || late.over", [("field-of-null", 29)]),
        ("(late == null || late.over) && late.over", [("field-of-null", 36)]),
        ("(if late != null then 0 else late.serial) == 1", [("field-of-null", 34)]),
        ("(if late == null then late.serial else 0) == 1", [("field-of-null", 27)]),
        ("late != null && task.parent.over", [("field-of-null", 28)]),
        ("task.parent != null && task.parent.parent.over", [("field-of-null", 42)]),
        ("tasks.exists(t, t.parent != null) && tasks.exists(t, t.parent.over)", [("field-of-null", 62)]),
        ("tasks.exists(t, t.parent.over)", [("field-of-null", 25)]),
        ("tasks[0].parent != null && tasks[1].parent.over", [("field-of-null", 43)]),
        ("wide < 3", [("field-of-null", 0)]),
        ("3 >= wide", [("field-of-null", 5)]),
        ("wide != null || wide < 3", [("field-of-null", 16)]),
        ("task.due_at < now", [("field-of-null", 5)]),
        ("late.label.size()", [("field-of-null", 5)]),
        ("(if flag then task else null).label", [("field-of-null", 30)]),
        ("(if flag then 'a' else null).size()", [("field-of-null", 29)]),
        ("(if flag then xs else null).sum()", [("field-of-null", 28)]),
        ("holes[0] < 3", [("field-of-null", 5)]),
        ("holes.all(x, x > 1)", [("field-of-null", 13)]),
        ("holes[0] != null && holes[1] < 3", [("field-of-null", 25)]),
        ("(if flag then xs else null).map(x, x)", [("field-of-null", 28)]),
        ("(if flag then xs else null).exists(x, x == 1)", [("field-of-null", 28)]),
        ("xs.sameItems(if flag then xs else null)", [("field-of-null", 13)]),
        ("tasks.sortBy(t, t.due_at)", [("field-of-null", 18)]),
        ("tasks.sortBy(t, t.parent)", [("field-of-null", 18)]),
        ("1 in (if flag then xs else null)", [("field-of-null", 6)]),
        ("(if flag then [1] else [wide]).sum() == 1", [("expression-type", 31)]),
        ("xs == [wide] && [1, wide].sum() == 1", [("expression-type", 26)]),
    ],
)
def test_a_nullable_is_refused_where_it_may_be_null(text: str, found: list[tuple[str, int]]) -> None:
    assert faults(text) == found


@pytest.mark.parametrize(
    ("text", "when_true", "when_false"),
    [
        ("a != null", {"a"}, set()),
        ("a == null", set(), {"a"}),
        ("null != a.b[0].c", {"a.b[0].c"}, set()),
        ("!(a != null)", set(), {"a"}),
        ("a != null && b != null", {"a", "b"}, set()),
        ("a == null || b == null", set(), {"a", "b"}),
        ("a != null || b != null", set(), set()),
        ("a == null && b == null", set(), set()),
        ("!(a == null || !(b != null)) && c", {"a", "b"}, set()),
        ("f() != null", set(), set()),
        ("a[n] != null", set(), set()),
        ("a != 1", set(), set()),
        ("(a + b).c != null", set(), set()),
    ],
)
def test_a_condition_tells_what_holds_a_value(text: str, when_true: set[str], when_false: set[str]) -> None:
    assert facts(parse(text), True) == when_true
    assert facts(parse(text), False) == when_false


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a", "a"),
        ("a.b.c", "a.b.c"),
        ("a[3].b", "a[3].b"),
        ("a[-1]", "a[-1]"),
        ("a[b]", ""),
        ("f(a).b", ""),
        ("'a'", ""),
    ],
)
def test_a_chain_of_fields_has_a_path(text: str, path: str) -> None:
    assert path_of(parse(text)) == path


# ── Named expressions ────────────────────────────────────────────────────────────────────────────


def defining(definition: str) -> Scope:
    """Give a scope of its own, with one more named expression."""
    text = SPEC.replace("define:\n", f"define:\n  {definition}\n")
    return Words(read_lifecycle(read(text, "workshop.yaml"), "workshop.yaml")).scopes.model(LOCALS)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("is_late(task, now) && is_late(late, now)", 30),
        ("is_late(task, now) || is_late('task', now)", 30),
        ("is_late(task, 1) || is_late(task, wide)", 34),
        ("waiting_for(ann).size() == waiting_for(task).size()", 39),
    ],
)
def test_a_named_expression_takes_the_same_types_wherever_it_is_used(text: str, at: int) -> None:
    """Its body is written once, for the types of its first use."""
    found = fault(text, defining("always(): true"))
    assert (found.code, found.at) == ("expression-type", at)


def test_a_named_expression_that_uses_itself_is_refused() -> None:
    assert [code for code, _ in faults("loop(1)", defining("loop(a): loop(a)"))] == ["endless-definition"]
    around = "one(a): two(a)\n  two(a): one(a)"
    assert [code for code, _ in faults("one(1)", defining(around))] == ["endless-definition"]
    assert faults("twice(twice(1))", defining("twice(a): a + a")) == []


def test_a_named_expression_is_typed_once_for_all_its_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of twenty that uses the one before it twice would else take 2²⁰ looks."""
    chain = "d0(a): a + 1" + "".join(f"\n  d{n}(a): d{n - 1}(a) + d{n - 1}(a)" for n in range(1, 21))
    monkeypatch.setattr(Checker, "visit", patient(Checker.visit, 1000))
    assert faults("d20(1)", defining(chain)) == []


# ── All at once ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("aaa + bbb * ccc", [("unknown-name", 0), ("unknown-name", 6), ("unknown-name", 12)]),
        ("aaa == bbb", [("unknown-name", 0), ("unknown-name", 7)]),
        ("aaa in [bbb, ccc]", [("unknown-name", 0), ("unknown-name", 8), ("unknown-name", 13)]),
        ("!aaa && -bbb == 1", [("unknown-name", 1), ("unknown-name", 9)]),
        ("if aaa then bbb else ccc", [("unknown-name", 3), ("unknown-name", 12), ("unknown-name", 21)]),
        ("xs[aaa] + bbb", [("unknown-name", 3), ("unknown-name", 10)]),
        ("aaa[bbb]", [("unknown-name", 0), ("unknown-name", 4)]),
        ("range(aaa).sum() + bbb", [("unknown-name", 6), ("unknown-name", 19)]),
        ("text(aaa, bbb, ccc)", [("unknown-name", 5), ("unknown-name", 10), ("unknown-name", 15)]),
        ("zzzz(aaa, bbb)", [("unknown-function", 0), ("unknown-name", 5), ("unknown-name", 10)]),
        ("is_late(aaa, bbb)", [("unknown-name", 8), ("unknown-name", 13)]),
        ("xs.sameItems(aaa)", [("unknown-name", 13)]),
        ("xs.contains(aaa)", [("unknown-name", 12)]),
        ("aaa.contains(bbb)", [("unknown-name", 0), ("unknown-name", 13)]),
        ("aaa.exists(x, x > bbb)", [("unknown-name", 0), ("unknown-name", 18)]),
        ("xs.map(x, aaa).filter(y, bbb)", [("unknown-name", 10), ("unknown-name", 25)]),
        ("tasks.all(t, t.aaa || t.bbb == 1)", [("unknown-field", 15), ("unknown-field", 24)]),
        ("aaa.bbb.ccc", [("unknown-name", 0)]),
        ("(aaa + 1) * 2 < 3", [("unknown-name", 1)]),
        ("aaa == null", [("unknown-name", 0)]),
        (
            "n == 'a' || late.over && task.lable == limits.mst",
            [("expression-type", 2), ("field-of-null", 17), ("unknown-field", 30), ("unknown-name", 46)],
        ),
        ("[1, 'a'].sum() + ['b'].min()", [("expression-type", 4), ("expression-type", 23)]),
    ],
)
def test_all_faults_are_told_at_once_and_each_of_them_once(text: str, found: list[tuple[str, int]]) -> None:
    assert faults(text) == found


def test_offsets_point_into_the_text_of_the_expression() -> None:
    for text in ("n == 'a'", "late.over", "task.lable", "xs.sise()", "aaa", "limits.mst", "range('a')"):
        plain, moved = faults(text)[0], faults(f"flag\n  &&\t({text}) == true")[0]
        assert moved == (plain[0], plain[1] + len("flag\n  &&\t("))


# ── Nothing takes too long or too deep ───────────────────────────────────────────────────────────

DEEP = {
    "operators": lambda times: "n" + " + n" * times,
    "conditions": lambda times: "flag" + " && flag" * times,
    "fields": lambda times: "task" + ".parent" * times,
    "positions": lambda times: "xs" + "[0]" * times,
    "functions": lambda times: "xs" + ".reversed()" * times,
    "parentheses": lambda times: "(" * times + "n" + ")" * times,
    "not": lambda times: "!" * times + "flag",
    "lists": lambda times: "[" * times + "n" + "]" * times,
    "arguments": lambda times: "string(range(" * (times // 2) + "1" + ").size())" * (times // 2),
    "same items": lambda times: "[flag].sameItems([" * times + "flag" + "])" * times,
    "contains": lambda times: "[flag].contains(" * times + "flag" + ")" * times,
}


@pytest.mark.parametrize("shape", DEEP)
def test_whatever_can_be_read_can_be_checked_written_and_compiled(monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    look, readable = Checker.visit, 0
    for times in (5, 20, MAX_NESTING // 2 - 1, MAX_NESTING - 1, 100, 300, 1000):
        text = DEEP[shape](times)
        try:
            node = parse(text)
        except ExpressionError as error:
            assert error.code in ("expression-too-deep", "expression-too-long")  # noqa: PT017 - either may be
            break
        readable = times
        monkeypatch.setattr(Checker, "visit", patient(look, 2 * MAX_BYTES))
        value, _ = check(node, model_scope())
        compile(emit(value), shape, "eval")
    assert readable >= 20


def visits(text: str) -> int:
    """Count how often the checker asks for a name that stands once in the text."""
    asked: list[str] = []

    class Counting(Plain):
        def constant(self, name: str, expected: Type, at: int) -> Typed | None:
            asked.append(name)
            return Var(UNKNOWN, at, name, name)

    check(parse(text), Scope(Counting(), SCOPE.names))
    return len(asked)


@pytest.mark.parametrize(
    "text",
    [
        "xs.sameItems(zzz)",
        "xs.contains(zzz)",
        "range(zzz)",
        "zzz == 1",
        "zzz in xs",
        "if zzz then 1 else 2",
        "xs.map(x, zzz)",
        "xs.exists(x, zzz)",
        "[xs].contains([zzz])",
        "xs.sameItems(xs.map(x, if b then 1 else range(zzz).sum()))",
    ],
)
def test_every_part_is_looked_at_once(text: str) -> None:
    """Twice, and an expression of sixty such parts inside each other would take 2⁶⁰ looks."""
    assert visits(text) == 1


NAMES = (
    "task",
    "tasks",
    "late",
    "wide",
    "n",
    "xs",
    "x",
    "label",
    "state",
    "running",
    "over",
    "limits",
    "most",
    "aaa",
)
STRANGE = trees(names=NAMES, functions=(*KNOWN, *MACROS, "is_late", "begin", "count", "fresh", "repeat", "together"))


@pytest.mark.thorough
@settings(max_examples=300)
@given(STRANGE)
def test_any_tree_is_typed_or_refused_and_nothing_else(tree: Node) -> None:
    text = printed(tree)
    assume(sum(text.count(sign) for sign in "([!-+*/%&|=<>.") < MAX_NESTING)
    for scope in (model_scope(), row_scope()):
        value, found = check(parse(text), scope)
        for each in found:
            assert 0 <= each.at < len(text)
            assert each.code.islower()
            assert each.message
            assert each.hint
        assert len({(each.code, each.at, each.message) for each in found}) == len(found)
        if not found:
            compile(emit(value), text, "eval")


# ── The parts of a typed tree ────────────────────────────────────────────────────────────────────


def walk(value: Typed) -> Iterable[Typed]:
    yield value
    for part in parts(value):
        yield from walk(part)


@pytest.mark.parametrize(
    "text",
    [
        "tasks.filter(t, t.id == task_id && t.over).map(t, t.pair.first)[0] + -n",
        "(if flag then [task.due_at] else [now]).size() == 1 || !is_late(task, now)",
        "xs.sortBy(x, -x).take(n) == [1, 2] && task.state in over",
    ],
)
def test_every_part_of_a_typed_tree_has_a_type_and_a_place_in_the_text(text: str) -> None:
    value, found = checked(text)
    assert not found
    for part in walk(value):
        assert part.type != UNKNOWN
        assert 0 <= part.at < len(text)


def test_the_fake_vocabulary_and_the_real_one_are_vocabularies() -> None:
    for vocabulary in (Plain(), words(), row_scope().words):
        checked_by_type: Vocabulary = vocabulary
        assert list(checked_by_type.fields(RecordType((("a", INT),)))) == ["a"]
