"""How messages that are due are sent."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression import class_name
from statemachines.generate.page import Page


def sending(page: Page, message: kernel.Message) -> None:
    """Write how messages are sent: in their order, and each once where the spec says so."""
    name = message.name.lower()
    due, sent = f"self.due_{name}", f"self.sent_{name}"
    kind = f"list[{class_name(message.name)}]"
    with page.method(f"send_{name}", f"messages: {kind}", kind):
        page.line(f"told: {kind} = []")
        if message.once_clause:
            page.line(f"before = {{message.about for message in {sent}}}")
        ordered = "sorted(messages, key=lambda message: message.key)"
        with page.block(f"for message in {ordered if message.order_clause else 'list(messages)'}:"):
            page.line(f"{due}.remove(message)")
            page.saw(message.once_clause)
            page.saw(message.to_clause)
            if message.once_clause:
                with page.block("if message.about in before:"):
                    page.line("continue")
                page.line("before.add(message.about)")
            page.line(f"{sent}.append(message)")
            page.line("told.append(message)")
        if message.order_clause:
            with page.block(f"if len(told) > 1 or {due}:"):
                page.saw(message.order_clause)
        page.line("return told")
