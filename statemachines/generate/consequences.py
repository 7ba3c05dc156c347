"""What follows from the state that a record has entered, and from its leaving; how messages that are due are sent."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression import Operate, class_name, emit, python_name, renamed
from statemachines.generate.effects import consequential, effects, of_consequences
from statemachines.generate.named import ordering_key
from statemachines.generate.page import Page, enters, inside, key_of
from statemachines.types import BOOL


def entered(page: Page, entity: kernel.Entity) -> None:
    """Write what follows once a record has moved, or was created."""
    if not consequential(page.source, entity.name):
        return
    variable = python_name(entity.variable)
    lists = ", ".join(f"{name}: list[Signal]" for name in of_consequences(page.source))
    arguments = f"{variable}: {class_name(entity.name)}, before: str, {lists}"
    with page.method(f"entered_{variable}", arguments, "None"):
        if entity.terminal and entity.ranked:
            with page.block(f"if {enters(entity, variable, entity.terminal)}:"):
                page.line("self.completions += 1")
                page.line(f"{variable}.completion = self.completions")
        for rule in entity.entered:
            with page.block(f"if {enters(entity, variable, rule.states)}:"):
                effects(page, rule.effects)
        for message in page.source.messages:
            if message.entity == entity.name:
                with page.block(f"if {enters(entity, variable, message.states)}:"):
                    _due(page, message)
        if entity.retain is not None:
            with page.block(f"if {inside(entity, variable, entity.retain.states)}:"):
                _retained(page, entity, entity.retain)


def _due(page: Page, message: kernel.Message) -> None:
    """Write that a message becomes due, its parts taken now."""
    page.saw(message.due)
    receiver = emit(message.to) if message.to is not None else "None"
    key = ordering_key(message.order, message.variable)
    about = f"{python_name(message.variable)}.serial"
    values = ", ".join([about, receiver, key, *(emit(value) for _, value in message.carries)])
    page.line(f"self.due_{message.name.lower()}.append({class_name(message.name)}({values}))")


def _retained(page: Page, entity: kernel.Entity, rule: kernel.Retain) -> None:
    """Write that the oldest records leave while there are too many."""
    variable, records = python_name(entity.variable), page.collection(entity.name)
    among = inside(entity, "other", rule.states)
    if rule.per is not None:
        theirs = renamed(rule.per, entity.variable, "other")
        among += f" and {emit(Operate(BOOL, 0, '==', theirs, rule.per))}"
    page.line(f"kept = [other for other in {records}.values() if {among}]")
    page.line(f"newest = {emit(rule.newest)}")
    with page.block("if len(kept) >= newest:"):
        page.saw(rule.clause)
    with page.block("if len(kept) > newest:"):
        page.line(f"kept.sort(key=lambda {variable}: {ordering_key(rule.order, entity.variable)})")
        with page.block("for oldest in kept[: len(kept) - newest]:"):
            page.line(f"self.removed_{variable}(oldest)")


def removed(page: Page, entity: kernel.Entity) -> None:
    """Write that a record leaves, and which messages about it stay due."""
    variable = python_name(entity.variable)
    with page.method(f"removed_{variable}", f"{variable}: {class_name(entity.name)}", "None"):
        page.line(f"del {page.collection(entity.name)}[{key_of(entity, variable)}]")
        for message in page.source.messages:
            if message.entity != entity.name:
                continue
            box, about = f"self.due_{message.name.lower()}", f"{variable}.serial"
            if message.outlives_clause:
                with page.block(f"if {about} in [message.about for message in {box}]:"):
                    page.saw(message.outlives_clause)
            else:
                page.line(f"{box} = [message for message in {box} if message.about != {about}]")


def sending(page: Page, message: kernel.Message) -> None:
    """Write how messages are sent: in their order, and each once where the spec says so."""
    name = message.name.lower()
    due, sent = f"self.due_{name}", f"self.sent_{name}"
    kind = f"list[{class_name(message.name)}]"
    with page.method(f"send_{name}", f"messages: {kind}", kind):
        page.line(f"told: {kind} = []")
        once = message.once_clause and not message.told_again
        if once:
            page.line(f"before = {{message.about for message in {sent}}}")
        ordered = "sorted(messages, key=lambda message: message.key)"
        with page.block(f"for message in {ordered if message.order_clause else 'list(messages)'}:"):
            if not message.told_again:
                page.line(f"{due}.remove(message)")
            page.saw(message.once_clause)
            page.saw(message.to_clause)
            if once:
                with page.block("if message.about in before:"):
                    page.line("continue")
                page.line("before.add(message.about)")
            page.line(f"{sent}.append(message)")
            page.line("told.append(message)")
        if message.order_clause:
            with page.block(f"if len(told) > 1 or {due}:"):
                page.saw(message.order_clause)
        page.line("return told")
