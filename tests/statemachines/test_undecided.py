"""Policies that nobody has declared: what is not read makes no difference, and what made none is not known afterwards either."""

from __future__ import annotations

from typing import Any

import pytest

from statemachines.compile import load
from statemachines.model import BaseModel, Impossible, Values
from statemachines.undecided import Undecided, each_choice, joined, read_of, with_each_choice

COLOURS = {"front": ["red", "blue"], "class": ["first", "second", "third"]}


def begun() -> BaseModel:
    model = load("task-progress").model()
    model.policies = Undecided({"fixed": "so"}, COLOURS)
    return model


def seen(model: BaseModel) -> list[tuple[Any, ...]]:
    return [tuple(sorted(vars(model.policies).items()))]


def test_what_is_not_read_is_not_decided() -> None:
    assert list(with_each_choice(begun(), seen)) == [(("fixed", "so"),)]
    assert list(with_each_choice(begun(), lambda model: [model.policies.fixed])) == ["so"]


def test_each_choice_is_tried_of_what_is_read() -> None:
    def read(model: BaseModel) -> list[Any]:
        return [(model.policies.front, *seen(model))]

    assert list(with_each_choice(begun(), read)) == [
        ("red", (("fixed", "so"), ("front", "red"))),
        ("blue", (("fixed", "so"), ("front", "blue"))),
    ]


def test_what_is_read_only_after_some_choice_is_tried_only_then() -> None:
    def read(model: BaseModel) -> list[Any]:
        return [model.policies.class_ if model.policies.front == "blue" else "any"]

    assert list(with_each_choice(begun(), read)) == ["any", "first", "second", "third"]


def test_what_was_noted_before_the_choice_is_withdrawn() -> None:
    noted: list[str] = []

    def read(model: BaseModel) -> list[str]:
        noted.append(model.policies.front)
        return noted[-1:]

    assert list(with_each_choice(begun(), read, noted)) == ["red", "blue"] == noted

    def deeper(model: BaseModel) -> list[str]:
        noted.append(model.policies.front)
        return [model.policies.class_] if noted[-1] == "blue" else ["any"]

    noted.clear()
    assert list(with_each_choice(begun(), deeper, noted)) == ["any", "first", "second", "third"]
    assert noted == ["red", "blue", "blue", "blue"]


def test_a_choice_with_which_it_cannot_be_is_none_and_of_no_choice_that_is_told() -> None:
    def read(model: BaseModel) -> list[str]:
        if model.policies.class_ != "second":
            raise Impossible("here", "no")
        return ["found"]

    assert list(with_each_choice(begun(), read)) == ["found"]

    def never(model: BaseModel) -> list[str]:
        raise Impossible("here", model.policies.front)

    with pytest.raises(Impossible):
        list(with_each_choice(begun(), never))


def test_what_is_alike_with_each_choice_is_not_known_any_more() -> None:
    model = begun()
    of_each = [each.policies for each in each_choice(model)]
    assert len(of_each) == 6
    assert joined(of_each) == [(model.policies, [0, 1, 2, 3, 4, 5])]
    red = joined(of_each[:3])
    assert [(vars(policies), places) for policies, places in red] == [({"fixed": "so", "front": "red"}, [0, 1, 2])]
    assert [places for _, places in joined(of_each[1:])] == [[0, 3], [1, 4], [2]]
    assert joined([red[0][0], *of_each[3:]]) == [(model.policies, [0, 1, 2, 3])]
    assert joined([Values({})]) != []


def test_whoever_looks_is_told_what_was_read() -> None:
    model = begun()
    assert read_of(model.policies) == set()
    assert (model.policies.class_, model.policies.fixed) == ("first", "so")
    assert read_of(model.policies) == {"class"}
    with pytest.raises(AttributeError):
        _ = model.policies.unheard_of
    assert read_of(Values({"front": "red"})) == set()
