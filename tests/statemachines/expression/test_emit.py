"""Typed tree → Python source: readable, without a needless parenthesis, and meaning the same."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from statemachines import model
from statemachines.expression.checker import check
from statemachines.expression.emitter import emit, emit_iterable, group_constant, python_name
from statemachines.expression.parser import RESERVED, parse
from statemachines.expression.scope import Scope
from statemachines.types import BOOL, INT, TEXT, List, Optional, ReplyType
from tests.statemachines.expression.generating import KINDS, Expressions
from tests.statemachines.expression.printing import printed
from tests.statemachines.expression.vocabulary import SCOPE, run, scope_of, source_of
from tests.statemachines.expression.workshop import model_scope, row_scope

LOGIC = scope_of(dict.fromkeys("abcd", BOOL))


# ── What is written ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("a && b && c", "a and b and c"),
        ("a && (b && c)", "a and (b and c)"),
        ("a || b && c", "a or b and c"),
        ("(a || b) && c", "(a or b) and c"),
        ("a && (b || c)", "a and (b or c)"),
        ("a || (b || c)", "a or (b or c)"),
        ("a && b || c && d", "a and b or c and d"),
        ("!a", "not a"),
        ("!!a", "not not a"),
        ("!a && b", "not a and b"),
        ("!(a && b)", "not (a and b)"),
        ("!(a || b)", "not (a or b)"),
        ("a && !(b || c)", "a and not (b or c)"),
        ("!a == b", "(not a) == b"),
        ("a == !b", "a == (not b)"),
        ("!(a == b)", "not a == b"),
        ("a == (b == c)", "a == (b == c)"),
        ("(a == b) == c", "(a == b) == c"),
        ("(a == b) != (c == d)", "(a == b) != (c == d)"),
        ("(a && b) == (c || d)", "(a and b) == (c or d)"),
        ("a == b && c != d", "a == b and c != d"),
        ("a in [b, !c, c && d]", "a in [b, not c, c and d]"),
        ("(a in [b]) in [c]", "(a in [b]) in [c]"),
        ("!(a in [b])", "a not in [b]"),
        ("((((a))))", "a"),
        ("(if a then b else c) && d", "(b if a else c) and d"),
        ("if a || b then !c else c || d", "(not c if a or b else c or d)"),
        (
            "if (if a then b else c) then (if b then c else d) else if c then d else a",
            "((c if b else d) if (b if a else c) else (d if c else a))",
        ),
        ("a == (if b then c else d)", "a == (c if b else d)"),
    ],
)
def test_conditions_are_written_as_python_writes_them(text: str, source: str) -> None:
    assert source_of(text, LOGIC) == source


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("i", "i"),
        ("12", "12"),
        ("-12", "-12"),
        ("-i", "-i"),
        ("- -i", "--i"),
        ("-(i + j)", "-(i + j)"),
        ("-(i * j)", "-(i * j)"),
        ("i + j + k", "i + j + k"),
        ("i - j - k", "i - j - k"),
        ("i - (j - k)", "i - (j - k)"),
        ("i - (j + k)", "i - (j + k)"),
        ("i + (j + k)", "i + (j + k)"),
        ("i - -1", "i - -1"),
        ("i - -j", "i - -j"),
        ("i * j + k", "i * j + k"),
        ("i + j * k", "i + j * k"),
        ("(i + j) * k", "(i + j) * k"),
        ("i * (j + k)", "i * (j + k)"),
        ("i * (j * k)", "i * (j * k)"),
        ("-i * j", "-i * j"),
        ("i * -j", "i * -j"),
        ("i / j", "quotient(i, j)"),
        ("i % j", "remainder(i, j)"),
        ("(i + 1) / (j - 1)", "quotient(i + 1, j - 1)"),
        ("i / j / k", "quotient(quotient(i, j), k)"),
        ("i * j / k", "quotient(i * j, k)"),
        ("i * (j / k)", "i * quotient(j, k)"),
        ("-(i / j)", "-quotient(i, j)"),
        ("i < j", "i < j"),
        ("i + 1 <= j * 2", "i + 1 <= j * 2"),
        ("(i < j) == (j < k)", "(i < j) == (j < k)"),
        ("b == (i < j)", "b == (i < j)"),
        ("i in xs", "i in xs"),
        ("i + 1 in xs + [j]", "i + 1 in xs + [j]"),
        ("m == null", "m is None"),
        ("m != null", "m is not None"),
        ("(if b then m else null) == null", "(m if b else None) is None"),
        ("m != null && m + 1 < 2", "m is not None and m + 1 < 2"),
        ("[m, null]", "[m, None]"),
        ("xs[0]", "item(xs, 0)"),
        ("xs[i + 1]", "item(xs, i + 1)"),
        ("xss[i][j]", "item(item(xss, i), j)"),
        ("(xs + ys)[0]", "item(xs + ys, 0)"),
        ("[]", "[]"),
        ("[i, j + 1, -k]", "[i, j + 1, -k]"),
        ("[[i], []]", "[[i], []]"),
        ("r.n", "r['n']"),
        ("rs[0].xs[1]", "item(item(rs, 0)['xs'], 1)"),
        ("rs.map(x, x.n)", "[x['n'] for x in rs]"),
        ("'it\\'s'", '"it\'s"'),
        (r"'\n\\'", r"'\n\\'"),
        ("'é😀'", "'é😀'"),
        ("true && false", "True and False"),
    ],
)
def test_values_are_written_as_python_writes_them(text: str, source: str) -> None:
    assert source_of(text) == source


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("xs.all(x, x > 1)", "all(x > 1 for x in xs)"),
        ("xs.exists(x, x > 1 || b)", "any(x > 1 or b for x in xs)"),
        ("!xs.exists(x, x > 1)", "not any(x > 1 for x in xs)"),
        ("xs.filter(x, x > 1 && b)", "[x for x in xs if x > 1 and b]"),
        ("xs.map(x, -x)", "[-x for x in xs]"),
        ("xs.map(x, if b then x else 0)", "[(x if b else 0) for x in xs]"),
        ("(xs + ys).map(x, x)", "[x for x in xs + ys]"),
        ("xs.filter(x, x > 1).map(y, y + 1)", "[y + 1 for y in [x for x in xs if x > 1]]"),
        ("xss.map(x, x.filter(y, y in xs))", "[[y for y in x if y in xs] for x in xss]"),
        ("rs.sortBy(x, -x.n)", "sorted(rs, key=lambda x: -x['n'])"),
        ("xs.size()", "len(xs)"),
        ("(xs + ys).size()", "len(xs + ys)"),
        ("s.size() + 1", "len(s) + 1"),
        ("xs.sum()", "sum(xs)"),
        ("xs.min() - xs.max()", "min(xs) - max(xs)"),
        ("xs.distinct()", "distinct(xs)"),
        ("xss.flatten()", "flatten(xss)"),
        ("xs.take(i + 1)", "take(xs, i + 1)"),
        ("xs.drop(2).reversed()", "reversed_(drop(xs, 2))"),
        ("range(i)", "numbers(i)"),
        ("xs.sameItems(ys + [1])", "same_items(xs, ys + [1])"),
        ("xs.contains(i)", "i in xs"),
        ("!xs.contains(i + 1)", "i + 1 not in xs"),
        ("b == xs.contains(i)", "b == (i in xs)"),
        ("s.contains('a' + t)", "'a' + t in s"),
        ("(s + t).contains('a')", "'a' in s + t"),
        ("s.startsWith(t)", "s.startswith(t)"),
        ("'abc'.startsWith(t)", "'abc'.startswith(t)"),
        ("s.trim()", "s.strip()"),
        ("(s + t).trim().size()", "len((s + t).strip())"),
        ("(if b then s else t).trim()", "(s if b else t).strip()"),
        ("ss.join(', ')", "', '.join(ss)"),
        ("ss.join(s + t)", "(s + t).join(ss)"),
        ("string(i + 1)", "str(i + 1)"),
        ("text('a', 10, 2)", "sized_text('a', 10, 2)"),
        ("text(s, i)", "sized_text(s, i)"),
        ("document(s, i, null)", "document(s, i, None)"),
        ("document(s, i, m).text", "document(s, i, m).text"),
        ("document(s, i, m).inline && b", "document(s, i, m).inline and b"),
        (
            "document(s, null, null) == document(t, null, null)",
            "document(s, None, None) == document(t, None, None)",
        ),
    ],
)
def test_functions_are_written_as_their_python(text: str, source: str) -> None:
    assert source_of(text) == source


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("now + 1", "self.now + 1"),
        ("limits.most", "self.limits.most"),
        ("policies.rule == lazy", "self.policies.rule == 'lazy'"),
        ("task.label", "task.label"),
        ("task.class", "task.class_"),
        ("task.owner.busy", "task.owner.busy"),
        ("task.pair.first + 1", "task.pair['first'] + 1"),
        ("task.state == running", "task.state == 'running'"),
        ("running != task.state", "'running' != task.state"),
        ("task.state in [created, done]", "task.state in ['created', 'done']"),
        ("task.state in over", "task.state in ['done', 'failed']"),
        ("task.over", "task.state in TASK_OVER"),
        ("task.over == flag", "(task.state in TASK_OVER) == flag"),
        ("flag && task.open", "flag and task.state in TASK_OPEN"),
        ("task.owner == ann", "task.owner == self.owners['ann']"),
        ("late != null && late.parent == null", "late is not None and late.parent is None"),
        ("tasks", "[*self.tasks.values()]"),
        ("tasks.size()", "len(self.tasks.values())"),
        ("tasks.map(t, t.label)", "[t.label for t in self.tasks.values()]"),
        ("tasks.sortBy(t, t.serial)", "sorted(self.tasks.values(), key=lambda t: t.serial)"),
        ("tasks[0].label", "item([*self.tasks.values()], 0).label"),
        ("task in tasks", "task in [*self.tasks.values()]"),
        ("tasks.take(1) + tasks", "take([*self.tasks.values()], 1) + [*self.tasks.values()]"),
        ("due.Told.size() + sent.Told.size()", "len(self.due_told) + len(self.sent_told)"),
        ("(due.Told + sent.Told).map(m, m.about)", "[m.about for m in self.due_told + self.sent_told]"),
        ("is_late(task, now + 1)", "self.is_late(task, self.now + 1)"),
        ("waiting_for(owner)[0].label", "item(self.waiting_for(owner), 0).label"),
        # what is looked up by its key is not searched for
        ("tasks.exists(t, t.id == task_id)", "task_id in self.tasks"),
        ("!tasks.exists(t, t.id == task_id)", "task_id not in self.tasks"),
        ("visits.exists(v, v.label == label)", "label in self.visits"),
        (
            "tasks.exists(t, t.id == task_id && t.over)",
            "any(t.state in TASK_OVER for t in with_key(self.tasks, task_id))",
        ),
        ("tasks.filter(t, t.id == task_id && flag)", "[t for t in with_key(self.tasks, task_id) if flag]"),
        ("tasks.exists(t, t.label == label)", "any(t.label == label for t in self.tasks.values())"),
        ("tasks.all(t, t.id == task_id)", "all(t.id == task_id for t in self.tasks.values())"),
        ("tasks.filter(t, t.id == task.id)", "[t for t in with_key(self.tasks, task.id) if True]"),
    ],
)
def test_the_words_of_a_lifecycle_are_written_as_its_model_keeps_them(text: str, source: str) -> None:
    assert source_of(text, model_scope()) == source


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("count_reply == 1", "count_reply.value == 1"),
        ("count_reply + 1", "count_reply.value + 1"),
        ("count_reply in [1, n]", "count_reply.value in [1, n]"),
        ("begin_reply.size", "begin_reply.value['size']"),
        ("begin_reply.refused == taken", "begin_reply.refused == 'taken'"),
        ("begin_reply.refused == null", "begin_reply.refused is None"),
        ("listed_reply[0]", "item(listed_reply.value, 0)"),
        ("listed_reply.map(x, x + 1)", "[x + 1 for x in listed_reply.value]"),
        ("listed_reply.size()", "len(listed_reply.value)"),
        ("listed_reply.sum()", "sum(listed_reply.value)"),
        ("several[0] + 1", "item(several, 0).value + 1"),
        ("several[0].refused == null", "item(several, 0).refused is None"),
        ("several.map(r, r + 1)", "[r.value + 1 for r in several]"),
        (
            "several.filter(r, r.refused == null)[0] + 1",
            "item([r for r in several if r.refused is None], 0).value + 1",
        ),
        ("begin(ann, 'x').size", "self.call('begin', {'owner': 'ann', 'label': 'x'}).value['size']"),
        ("count(bob) == n", "self.call('count', {'owner': 'bob'}).value == n"),
        (
            "begin(ann, fresh).refused",
            "self.call('begin', {'owner': 'ann', 'label': self.fresh('Label')}).refused",
        ),
        ("[fresh(Label)]", "[self.fresh('Label')]"),
        (
            "together(count(ann), count(bob)).size()",
            "len(self.together([{}, {}]))".format(
                "lambda: self.call('count', {'owner': 'ann'})", "lambda: self.call('count', {'owner': 'bob'})"
            ),
        ),
        (
            "repeat(2, count(ann)).size()",
            "len(self.repeat([lambda: self.call('count', {'owner': 'ann'})] * self.times(2)))",
        ),
        (
            "together(n + 1, count(ann)).size()",
            "len(self.together([lambda: self.call('count', {'owner': 'ann'})] * self.times(n + 1)))",
        ),
    ],
)
def test_a_reply_is_written_as_what_it_gave(text: str, source: str) -> None:
    assert source_of(text, row_scope()) == source


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("tasks", "self.tasks.values()"),
        ("due.Told", "self.due_told"),
        ("tasks.filter(t, flag)", "[t for t in self.tasks.values() if flag]"),
    ],
)
def test_what_is_only_walked_over_is_not_copied(text: str, source: str) -> None:
    value, _ = check(parse(text), model_scope())
    assert emit_iterable(value) == source


def test_a_reply_that_is_walked_over_is_walked_over_as_its_value() -> None:
    value, _ = check(parse("listed_reply"), row_scope())
    assert emit_iterable(value) == "listed_reply.value"


def test_groups_are_constants_of_the_module() -> None:
    assert group_constant("Task", "over") == "TASK_OVER"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("task", "task"),
        ("class", "class_"),
        ("is", "is_"),
        ("self", "self_"),
        ("seen", "seen_"),
        ("None", "None_"),
    ],
)
def test_a_name_that_python_has_taken_gets_a_tail(name: str, written: str) -> None:
    assert python_name(name) == written


# ── What it means ────────────────────────────────────────────────────────────────────────────────

TAKEN = sorted(
    name
    for name in {
        *keyword.kwlist,
        *keyword.softkwlist,
        *dir(builtins),
        *vars(model),
        "self",
        "seen",
        "each",
        "key",
    }
    if not name.startswith("_") and name not in RESERVED
)


@pytest.mark.parametrize("name", TAKEN)
def test_a_variable_may_bear_any_name(name: str) -> None:
    """Every function is used beside the variable, so none may be hidden by it."""
    parts = (
        "xs[NAME / NAME - 1] % 5",
        "xs.size() + xs.sum() + xs.min() - xs.max()",
        "[xs].flatten().distinct().reversed().size()",
        "xs.take(NAME).size() - xs.drop(NAME).size()",
        "range(NAME).size()",
        "string(NAME).size() * text('a', NAME).size()",
        "document('a', NAME, null).text.size()",
        "if xs.sameItems(xs) && xs.exists(a, a == NAME) then NAME else 0",
    )
    kept = "xs.sortBy(NAME, -NAME).filter(NAME, xs.contains(NAME) && xs.all(a, a < 4 || a == NAME))"
    text = f"{kept}.map(NAME, [{', '.join(parts)}])".replace("NAME", name)
    assert run(source_of(text), {"xs": [3, 1, 2, 1]}) == [
        [3, 9, 3, 2, 3, 3, 1, 3],
        [3, 9, 3, 0, 2, 2, 1, 2],
        [3, 9, 3, -2, 1, 1, 1, 1],
        [3, 9, 3, -2, 1, 1, 1, 1],
    ]


@dataclass
class Given:
    """A reply as a row holds it."""

    value: Any
    refused: str | None = None
    signals: Mapping[str, Any] = field(default_factory=dict)


REPLIES = Scope(
    SCOPE.words,
    {
        **SCOPE.names,
        **scope_of(
            {
                "one": ReplyType("f", INT),
                "two": ReplyType("f", INT),
                "yes": ReplyType("p", BOOL),
                "word": ReplyType("t", TEXT),
                "none": ReplyType("o", Optional(INT)),
                "many": ReplyType("l", List(INT)),
                "more": ReplyType("l", List(INT)),
                "ones": List(ReplyType("f", INT)),
                "lists": List(ReplyType("l", List(INT))),
            }
        ).names,
    },
)
GIVEN: Mapping[str, Any] = {
    "b": True,
    "xs": [1, 2],
    "one": Given(1),
    "two": Given(2),
    "yes": Given(True),
    "word": Given("abc"),
    "none": Given(None),
    "many": Given([3, 4]),
    "more": Given([5]),
    "ones": [Given(1), Given(2), Given(1)],
    "lists": [Given([1, 2]), Given([3])],
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("one == 1", True),
        ("one == two", False),
        ("one != two", True),
        ("one < two", True),
        ("2 <= two", True),
        ("-one", -1),
        ("-one + 1", 0),
        ("-(-two)", 2),
        ("one + two", 3),
        ("one + two * two", 5),
        ("two / one", 2),
        ("!yes", False),
        ("yes && one == 1", True),
        ("none == null", True),
        ("one in xs", True),
        ("xs[one]", 2),
        ("if yes then one else two", 1),
        ("(if b then one else two) + 1", 2),
        ("(if b then one else 5) + 1", 2),
        ("(if one == 2 then many else more)[0]", 5),
        ("[one, two]", [1, 2]),
        ("[one, two][1] + 1", 3),
        ("[one, 5].sum()", 6),
        ("[many, more].flatten()", [3, 4, 5]),
        ("word + 'd'", "abcd"),
        ("word.size() + word.trim().size()", 6),
        ("word.contains('b')", True),
        ("word < 'b'", True),
        ("many + more", [3, 4, 5]),
        ("many + [1]", [3, 4, 1]),
        ("many == [3, 4]", True),
        ("many.contains(3) && 4 in many", True),
        ("many.sameItems([4, 3])", True),
        ("many.map(x, x + one)", [4, 5]),
        ("many.sortBy(x, -x)", [4, 3]),
        ("many.take(one)", [3]),
        ("many.size() + many.sum() + many[1]", 13),
        ("range(two)", [0, 1]),
        ("string(two)", "2"),
        ("ones.size()", 3),
        ("ones[1] + 1", 3),
        ("ones.map(o, o)", [1, 2, 1]),
        ("ones.map(o, o)[1] + 1", 3),
        ("ones.map(o, o).sum()", 4),
        ("ones.map(o, o).distinct()", [1, 2]),
        ("ones.map(o, [o, o])[1][0] + 1", 3),
        ("ones.filter(o, o == 1).size()", 2),
        ("ones.filter(o, o == 2)[0] + 1", 3),
        ("ones.filter(o, o > 1)[0] + 1", 3),
        ("ones.sortBy(o, o)[2] + 1", 3),
        ("ones.sortBy(o, o).map(o, o)", [1, 1, 2]),
        ("ones.take(1).map(o, o)", [1]),
        ("ones.reversed().drop(1).map(o, o + 1)", [3, 2]),
        ("(ones + ones).map(o, o)", [1, 2, 1, 1, 2, 1]),
        ("(if b then ones else [])[0] + 1", 2),
        ("(if b then ones else [5])[0] + 1", 2),
        ("ones.contains(2)", True),
        ("ones.contains(3)", False),
        ("1 in ones", True),
        ("3 in ones", False),
        ("one in ones", True),
        ("ones == [1, 2, 1]", True),
        ("ones != [1, 2, 1]", False),
        ("[1, 2, 1] == ones", True),
        ("ones == ones", True),
        ("ones.sameItems([1, 1, 2])", True),
        ("[1, 1, 2].sameItems(ones)", True),
        ("ones + [5] == [1, 2, 1, 5]", True),
        ("([5] + ones)[1] + 1", 2),
        ("lists.flatten()", [1, 2, 3]),
        ("lists.map(l, l.size())", [2, 1]),
        ("lists[0][1]", 2),
    ],
)
def test_a_reply_stands_for_what_it_gave_wherever_it_is_read(text: str, value: Any) -> None:
    assert run(source_of(text, REPLIES), GIVEN) == value


# ── No needless parenthesis ──────────────────────────────────────────────────────────────────────


def needless(source: str) -> list[str]:
    """Give the same source without one pair of parentheses, each time that this changes nothing."""
    tree, found, opened = ast.dump(ast.parse(source, mode="eval")), [], []
    for end, sign in enumerate(source):
        if sign == "(":
            opened.append(end)
        elif sign == ")":
            start = opened.pop()
            shorter = f"{source[:start]} {source[start + 1 : end]} {source[end + 1 :]}".strip()
            try:
                if ast.dump(ast.parse(shorter, mode="eval")) == tree:
                    found.append(source[start : end + 1])
            except SyntaxError:
                continue
    return found


def test_a_needless_parenthesis_is_seen() -> None:
    assert needless("(a)") == ["(a)"]
    assert needless("f((a + b) * (c))") == ["(c)"]
    assert needless("[(x if b else 0) for x in xs]") == ["(x if b else 0)"]
    assert needless("(a + b) * c, a - (b - c), f(a), ()") == []


@pytest.mark.thorough
def test_random_expressions_are_written_without_a_needless_parenthesis() -> None:
    """A conditional expression alone always has its parentheses: it reads better so."""
    random = Random(3)
    for _ in range(3000):
        text = printed(Expressions(random, listed=True).draw(random.choice(KINDS), random.choice((2, 3, 4))))
        source = source_of(text)
        assert [part for part in needless(source) if " if " not in part] == [], f"{text} as {source}"


def test_writing_is_the_same_every_time() -> None:
    text = "(if b then xs.filter(x, x > 1 && !(x in ys)) else [i - (j - k)]).sortBy(x, -x) == ys.distinct()"
    value, _ = check(parse(text), SCOPE)
    assert emit(value) == emit(check(parse.__wrapped__(text), SCOPE)[0])
