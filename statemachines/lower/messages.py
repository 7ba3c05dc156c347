"""Kinds of messages: when one becomes due, to whom, in which order, and what it carries."""

from __future__ import annotations

from statemachines import kernel
from statemachines.lifecycle import Owed
from statemachines.lower.context import Lowering
from statemachines.words import variable_of


def message(low: Lowering, owed: Owed) -> kernel.Message:
    """Lower a kind of message."""
    name, path, variable = owed.name.text, f"messages.{owed.name.text}", variable_of(owed.about.text)
    entity = low.known_entity(owed.about)
    scope = low.words.scopes.about(name) if entity else low.words.model_scope()
    states = tuple(state for word in owed.due for state in (low.states(entity, word) if entity else ()))
    _known_at_most(low, owed)

    def sentence(word: str, text: str) -> str:
        return low.clause(f"{path}.{word}", low.place(f"{path}.{word}", owed.name), text)

    due = sentence("due", f"owed from {' or '.join(word.text for word in owed.due)} on")
    to = low.typed(owed.to, scope) if owed.to else None
    carries = tuple((key.text, low.typed(expr, scope)) for key, expr in owed.carries)
    for key, expr in owed.carries:
        low.clause(f"{path}.carries.{key.text}", key.where, f"carries {key.text}: {expr.text}")
    keys = ", ".join(expr.text for expr in owed.order)
    return kernel.Message(
        name=name,
        entity=owed.about.text,
        variable=variable,
        states=states,
        due=due,
        to=to,
        to_clause=sentence("to", f"told to {owed.to.text} and nobody else") if owed.to else "",
        order=low.order(owed.order, scope),
        order_clause=sentence("order", f"told in order of {keys}") if owed.order else "",
        once_clause=sentence("at most", f"told {owed.at_most.text}, under any interleaving") if owed.at_most else "",
        outlives_clause=sentence("outlives", "stays owed when its record leaves") if owed.outlives else "",
        carries=carries,
    )


def _known_at_most(low: Lowering, owed: Owed) -> None:
    """Tell of an `at most` that has no meaning."""
    once = f"once per {variable_of(owed.about.text)}"
    if owed.at_most and owed.at_most.text != once:
        low.fault("bad-at-most", owed.at_most.where, f"{owed.at_most.text!r} is not known", f"write: {once}")
