"""Messages that a call sends, one by one: of calls made at once each may send some of what is owed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.judge.differences import Difference, InOrder
from conformance.judge.finding import Finding
from conformance.judge.replies import Replies
from statemachines import kernel
from statemachines.model import BaseModel
from statemachines.rows import Observed
from statemachines.types import NULL


class Sending:
    """A call that gave the messages which it sent.

    variable  what the model calls these messages
    order     the clause that orders them
    """

    def __init__(self, call: Observed, send: kernel.Send, replies: Replies) -> None:
        self.call = call
        self.variable = send.variable
        self.order = f"messages.{send.message}.order"
        self._name = send.message.lower()
        self._replies = replies
        self._list = replies.facts.gives(call.operation)
        self._item = getattr(self._list, "item", NULL)

    def owed(self, model: BaseModel) -> list[Any]:
        """Return the messages that the call would send now."""
        other = model.fork()
        before = len(self.sent(other))
        other.do(self.call.operation, self.call.arguments)
        told = {message.about for message in self.sent(other)[before:]}
        return [message for message in getattr(model, f"due_{self._name}") if message.about in told]

    def sent(self, model: BaseModel) -> list[Any]:
        """Return all messages of this kind that were sent so far."""
        found: list[Any] = getattr(model, f"sent_{self._name}")
        return found

    def send(self, model: BaseModel, message: Any) -> None:
        """Send one message."""
        getattr(model, f"send_{self._name}")([message])

    def due_like(self, model: BaseModel, given: Any) -> Any:
        """Return the message owed that the call may have shown so, or None."""
        return next((each for each in self.owed(model) if self.may_show(model, each, given)), None)

    def may_show(self, model: BaseModel, message: Any, given: Any) -> bool:
        """Return whether a message may be shown so: nothing differs but what is only recommended."""
        clauses = (self._replies.clause(self.call.operation, each) for each in self._differing(model, message, given))
        return all(map(self._replies.facts.recommended, clauses))

    def faults(self, model: BaseModel) -> Iterator[Finding]:
        """Walk what is wrong, if only by a recommendation, about the messages that the call gave, and about their order."""
        first: list[Any] = []
        for given in self.call.given:
            messages = [each for each in self.sent(model) if self.may_show(model, each, given)]
            first += messages[:1]
            for message in messages:
                for difference in self._differing(model, message, given):
                    yield self._replies.fault(self.call, self._item, difference)
        if self._replies.facts.recommended(self.order):
            due = [self._shown(model, each) for each in sorted(first, key=lambda each: each.key)]
            for difference in self._replies.differences(self._list, due, self.call.given):
                if isinstance(difference.expected, InOrder):
                    yield self._replies.fault(self.call, self._list, difference)

    def _differing(self, model: BaseModel, message: Any, given: Any) -> Iterator[Difference]:
        return self._replies.differences(self._item, self._shown(model, message), given)

    def _shown(self, model: BaseModel, message: Any) -> dict[str, Any]:
        """Return a message as a caller sees it."""
        found: dict[str, Any] = getattr(model, f"shown_{self._name}")(message)
        return found
