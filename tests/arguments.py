"""Every combination of the arguments that are worth trying."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.explore import Gone, choosers, worth_trying
from statemachines.model import ABSENT, BaseModel


def arguments(
    compiled: Compiled,
    model: BaseModel,
    operation: kernel.Operation,
    scope: Mapping[str, int] | None = None,
    gone: Gone | None = None,
) -> Iterator[dict[str, Any]]:
    """Walk them by parameter name; an argument that may be left out comes first without its name.

    `scope` bounds how many of an entity's fixed records take part, by the entity's name; `gone` knows ids that the
    model has forgotten.
    """
    names = [parameter.name for parameter in operation.parameters]
    pairs = zip(operation.parameters, choosers(compiled, operation, scope or {}), strict=True)
    for chosen in itertools.product(*(worth_trying(parameter, chooser, model, gone) for parameter, chooser in pairs)):
        yield {name: value for name, value in zip(names, chosen, strict=True) if value is not ABSENT}
