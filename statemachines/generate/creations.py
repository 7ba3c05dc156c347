"""New records: their ids and their fields, and when there is one."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression import class_name, emit, python_name
from statemachines.generate.page import Page, key_of


def create(page: Page, effect: kernel.Create) -> None:
    """Write that a record is created, perhaps on a condition: without it the name of the record stands for nothing."""
    if effect.when is None:
        _created(page, effect)
        return
    page.line(f"{python_name(effect.variable)}: {class_name(effect.entity)} | None = None")
    with page.where(effect.when):
        _created(page, effect)


def _created(page: Page, effect: kernel.Create) -> None:
    entity, collection = page.source.entity(effect.entity), page.collection(effect.entity)
    variable, given = python_name(effect.variable), dict(effect.fields)
    page.saw(effect.clause)
    page.line("self.serials += 1")
    arguments = ["self.serials"]
    if entity.minted and effect.mints:
        page.line(f"new_id = {f'self.minted({entity.name!r})' if effect.id is None else emit(effect.id)}")
        page.saw(entity.minted)
        if not entity.by_content:
            _not_taken(page, entity)
    if entity.minted:
        arguments.append(emit(effect.id) if effect.id is not None and not effect.mints else "new_id")
    for field in entity.fields:
        value = given.get(field.name, field.default)
        arguments.append(emit(value) if value is not None else "None")
    page.line(f"{variable} = {class_name(entity.name)}({', '.join(arguments)})")
    if effect.state is not None:
        page.line(f"{variable}.state = {emit(effect.state)}")
        with page.block(f"if {variable}.state != {entity.states[0]!r}:"):
            page.saw(effect.elsewhere)
    if entity.by_content:
        _one_if_alike(page, entity, variable)
    page.line(f"{collection}[{key_of(entity, variable)}] = {variable}")


def _not_taken(page: Page, entity: kernel.Entity) -> None:
    """Write that the id of a new record is no other's."""
    taken = f"self.issued_{python_name(entity.collection)}" if entity.once else page.collection(entity.name)
    with page.block(f"if new_id in {taken}:"):
        text = f'f"the id {{new_id!r}} {"was given before" if entity.once else "is in use already"}"'
        wanted = f"an id that no {'record ever had' if entity.once else 'record has'}"
        page.line(f"raise Impossible({entity.minted!r}, {text}, {wanted!r})")
    if entity.once:
        page.line(f"{taken}.add(new_id)")


def _one_if_alike(page: Page, entity: kernel.Entity, variable: str) -> None:
    """Write that a new record whose id is that of one like it is that one."""
    page.line(f"alike = {page.collection(entity.name)}.get({variable}.id, {variable})")
    differs = " or ".join(
        f"alike.{each} != {variable}.{each}" for each in (python_name(field.name) for field in entity.fields)
    )
    with page.block(f"if {differs or 'False'}:"):
        text = f'f"the id {{{variable}.id!r}} stands for something else already"'
        page.line(f"raise Impossible({entity.minted!r}, {text})")
    page.line(f"{variable} = alike")
