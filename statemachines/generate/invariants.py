"""What has to hold in every configuration."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression.emit import python_name
from statemachines.generate.page import Page, negated


def invariants(page: Page) -> None:
    """Write the check of every invariant; `earlier` is the model one step before."""
    with page.method("broken", "earlier: Model | None = None", "str"):
        backs = {invariant.looks_back for invariant in page.source.invariants if invariant.looks_back}
        for name in sorted(backs):
            entity = page.source.entity(name)
            records = f"earlier.{python_name(entity.collection)}.values()"
            earlier = f"{{each.serial: each for each in {records}}}"
            page.line(f"were_{entity.variable} = {earlier} if earlier else {{}}")
        for invariant in page.source.invariants:
            with page.for_each(invariant.loops):
                _invariant(page, invariant)
        page.line('return ""')


def _invariant(page: Page, invariant: kernel.Invariant) -> None:
    if invariant.looks_back:
        record = python_name(page.source.entity(invariant.looks_back).variable)
        page.line(f"was = were_{record}.get({record}.serial, {record})")
    page.saw(invariant.clause)
    with page.block(f"if {negated(invariant.holds)}:"):
        page.line(f"return {invariant.name!r}")
