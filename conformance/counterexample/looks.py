"""Looking at all that can be seen, after what is left out has explained a divergence: it may contradict that."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from conformance.judge import CallFailed, Case, Finding, kernel_facts
from statemachines.explore import choosers
from statemachines.expression import python_name
from statemachines.kernel import Parameter
from statemachines.model import ABSENT

MOST = 20  # ways to ask one observer


def contradicted(case: Case, explained: Finding) -> bool:
    """Ask every observer, and tell whether it contradicts that the system only leaves out the clause of a finding."""
    for operation, arguments in list(every_look(case)):
        if not case.adapter.offers(operation) or case.judge.lockstep.avoids(operation, arguments):
            continue
        try:
            case.call(operation, arguments)
        except CallFailed:
            return True
        if case.finding is not None or any(each.clause != explained.clause for each in case.judge.deviations):
            return True
    return False


def every_look(case: Case) -> Iterator[tuple[str, dict[str, Any]]]:
    """Walk the observers with the arguments that the model knows to ask them with, of records those that are there."""
    source, model = case.compiled.kernel, case.judge.model

    def known(parameter: Parameter, values: Iterable[Any]) -> list[Any]:
        there = getattr(model, python_name(source.entity(parameter.entity).collection)) if parameter.entity else None
        return [each for each in values if there is None or each is ABSENT or each in there]

    for operation in kernel_facts.of(case.compiled).observers():
        chosen = zip(operation.parameters, choosers(case.compiled, operation, {}), strict=True)
        ways = [known(parameter, chooser(model)) for parameter, chooser in chosen]
        for values in itertools.islice(itertools.product(*ways), MOST):
            named = zip(operation.parameters, values, strict=True)
            yield operation.name, {each.name: value for each, value in named if value is not ABSENT}
