"""How Hypothesis draws the parameters that a row declares under `any`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from conformance.search.odd_values import ODD, PIECES
from statemachines.compile import Compiled
from statemachines.lifecycle import Drawn, TypeUse
from statemachines.model import sized_text
from statemachines.rows import RowCompiler, evaluate, positions, values
from statemachines.types import Bool, Enum, Int, List, Ref, Text

Values = dict[str, Any]


class Falsified(Exception):
    """A row does not hold for some drawn values."""

    def __init__(self, values: Values, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.values = values
        self.cause = cause


def settings_of(examples: int, **more: Any) -> settings:
    """Return settings without deadline and database: nothing decides what is drawn but the seed, and the constants of loaded modules.

    Hypothesis mixes these in, those of the system under test included.
    """
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        **more,
    )


def draw(
    compiled: Compiled,
    rows: RowCompiler,
    drawn: tuple[Drawn, ...],
    declared: Any,
    test: Callable[[Values], None],
    *,
    number: int,
    examples: int,
) -> None:
    """Try a row with drawn values; raise Falsified with the smallest values for which `test` raises."""
    strategy = st.fixed_dictionaries({each.name.text: _strategy(compiled, rows, each, declared) for each in drawn})
    failed: list[tuple[Values, BaseException]] = []

    @seed(number)
    @settings_of(examples, phases=(Phase.generate, Phase.shrink), report_multiple_bugs=False)
    @given(strategy)
    def trial(chosen: Values) -> None:
        try:
            test(chosen)
        except AssertionError as error:
            failed.append((chosen, error))
            raise

    try:
        trial()
    except (AssertionError, Flaky) as error:  # it failed; if it then did not, running it again will tell
        if not failed:
            raise
        chosen, cause = failed[-1]
        raise Falsified(chosen, cause) from error


def _strategy(compiled: Compiled, rows: RowCompiler, drawn: Drawn, declared: Any) -> st.SearchStrategy[Any]:
    if drawn.kind == "permutation" and drawn.high is not None:
        return st.permutations(positions(rows.words, drawn.high, declared))
    low = evaluate(rows.words, drawn.low, declared) if drawn.low is not None else 0
    high = evaluate(rows.words, drawn.high, declared) if drawn.high is not None else 0
    if drawn.kind == "range":
        return st.integers(low, max(low, high))
    assert drawn.type is not None  # the reader has seen to it
    return of_type(compiled, rows, drawn.type, declared)


def of_type(compiled: Compiled, rows: RowCompiler, use: TypeUse, declared: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a type; texts around a limit are near it, and never end in a line break."""
    kind = rows.words.resolve(use)
    match kind:
        case Enum() | Ref() | Bool():
            return st.sampled_from(values(compiled.lifecycle, use, kind))
        case List(item=Enum()):
            return st.sampled_from(values(compiled.lifecycle, use, kind))
        case Int():
            low, high = use.bounds or compiled.lifecycle.types[use.name.text].bounds
            return st.integers(low, high)
        case Text(name=name) if name and compiled.lifecycle.types[name].text == "around":
            sizes = compiled.lifecycle.types[name].sizes or {}
            limits = {key: evaluate(rows.words, expr, declared) for key, expr in sizes.items()}
            return _around(limits)
        case _:
            return st.sampled_from((*PIECES, *(each for each in ODD if each)))


def _around(limits: Mapping[str, int | None]) -> st.SearchStrategy[str]:
    """Draw texts well within, one below, at and one above each limit, of one byte and of more a character."""
    short = st.sampled_from((*PIECES, *ODD))
    size, lines = limits.get("bytes"), limits.get("lines")
    found = [short]
    if size is not None and size > 1:
        found.append(st.builds(sized_text, st.sampled_from(PIECES), st.integers(max(1, size - 1), size + 1)))
    if lines is not None and size is not None and size >= 2 * lines + 1 and lines > 1:
        found.append(st.builds(sized_text, st.just("x"), st.just(2 * lines + 1), st.integers(lines - 1, lines + 1)))
    return st.one_of(found)
