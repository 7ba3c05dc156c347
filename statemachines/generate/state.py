"""The state of a model, how a case begins, and how it mints ids."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression import class_name, emit, python_name
from statemachines.generate.page import Page


def slots(page: Page) -> None:
    """Write the names of what a model holds."""
    source = page.source
    names = ["serials", "completions"]
    names += [python_name(entity.collection) for entity in source.entities]
    names += [python_name(variable.name) for variable in source.variables]
    names += issued(source)
    names += [f"{box}_{message.name.lower()}" for message in source.messages for box in ("due", "sent")]
    page.line(f"__slots__ = {tuple(names)!r}")


def issued(source: kernel.Kernel) -> list[str]:
    """Return the names of the sets of ids that are never given again."""
    return [f"issued_{python_name(entity.collection)}" for entity in source.entities if entity.once]


def reset(page: Page) -> None:
    """Write how a case begins: the records that always exist, the first values, and nothing sent."""
    with page.method("reset", "", "None"):
        page.line("self.now = 0")
        page.verbatim("self.serials = 0  # records created so far")
        page.verbatim("self.completions = 0  # records that have ended so far")
        for entity in page.source.entities:
            records = page.collection(entity.name)
            page.line(f"{records}: dict[Any, {class_name(entity.name)}] = {{}}")
            for word in entity.fixed:
                values = ", ".join([repr(word), repr(word), *(_first(field) for field in entity.fields)])
                page.line(f"{records}[{word!r}] = {class_name(entity.name)}({values})")
        for message in page.source.messages:
            for box in ("due", "sent"):
                page.line(f"self.{box}_{message.name.lower()}: list[{class_name(message.name)}] = []")
        for variable in page.source.variables:
            page.line(f"self.{python_name(variable.name)}: Any = {_first(variable)}")
        for name in issued(page.source):
            page.line(f"self.{name}: set[str] = set()")


def _first(field: kernel.FieldOf) -> str:
    return emit(field.default) if field.default is not None else "None"


def mint(page: Page) -> None:
    """Write how the model mints an id: how it has to begin, with a number that none of its records has."""
    minted = [entity.name for entity in page.source.entities if entity.minted]
    with page.method("next_ordinal", 'entity: str, prefix: str = "", size: int | None = None', "str"):
        if not minted:
            page.line('raise LookupError(f"{entity} has no minted ids")')
            return
        records = ", ".join(f"{name!r}: {_taken(page, name)}" for name in minted)
        page.line("number = self.serials")
        page.line(f"taken: dict[Any, Any] = {{{records}}}[entity]")
        with page.block("while (found := ordinal_id(entity, prefix, size, number)) in taken:"):
            page.line("number += 1")
        page.line("return found")


def _taken(page: Page, name: str) -> str:
    """Write the ids that a new record cannot have."""
    entity = page.source.entity(name)
    return f"self.issued_{python_name(entity.collection)}" if entity.once else page.collection(name)
