"""Calls at once that need not be tried in every order, because they do not meet: those that send what is owed.

Where nothing but such calls is left, and looks that do not see what they do, a step that is in no other's way, and that
has to come some time, may as well come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from statemachines.explore import MessageFacts
from statemachines.model import BaseModel
from statemachines.rows import Observed


class Sender(Protocol):
    """A call that sends messages, one by one: its name of them is that of the spec."""

    call: Observed
    name: str

    def owed(self, model: BaseModel) -> list[Any]:
        """Return the messages that the call would send now."""

    def may_show(self, model: BaseModel, message: Any, given: Any) -> bool:
        """Return whether the call may have shown a message so."""


class Apart:
    """Finds such calls, and their steps, among calls made at once; each is named by its place among them.

    all  whether there are no others, but looks that do not see what they do
    """

    def __init__(self, facts: MessageFacts, calls: Sequence[Observed], sending: Sequence[Sender | None]) -> None:
        self._facts = facts
        self._calls = calls
        self._sending = {
            index: each
            for index, each in enumerate(sending)
            if each is not None and facts.sends_apart(each.call.operation)
        }
        self._others = frozenset(index for index, call in enumerate(calls) if self._takes_no_notice(call))
        self.all = all(index in self._sending or self.only_reads(call) for index, call in enumerate(calls))

    def only_reads(self, call: Observed) -> bool:
        """Return whether a call changes nothing, and does not see what is due or was sent."""
        return self._facts.ignores_messages(call.operation) and not call.elapsed

    def _takes_no_notice(self, call: Observed) -> bool:
        """Return whether a call does not see what others do that send, but for their messages, and leaves them alone."""
        sends = bool(self._facts.sends_quietly(call.operation))
        return (sends or self._facts.ignores_senders(call.operation)) and not call.elapsed

    def first(
        self, model: BaseModel, sent: Sequence[Sequence[Any]], begun: Sequence[int], left: Sequence[int]
    ) -> Iterator[tuple[int, bool]]:
        """Walk the calls of which the next step, if it can come now, is the only one that has to be tried.

        Each with whether nothing else has to be tried either if it cannot: then it never can. `sent` is what each call
        has sent so far. Who has sent everything comes to its end as soon as it can, and of two that do not send the same
        message none is in the other's way.
        """
        senders = [index for index in left if index in self._sending]
        others = [index for index in left if index not in self._sending]
        if not senders or not self._others.issuperset(others) or model.own_steps() or model.due():
            return
        to_send = {index: self._calls[index].given[len(sent[index]) :] for index in senders}
        yield from ((index, False) for index in begun if index in to_send and not to_send[index])
        if not all(self.only_reads(self._calls[index]) for index in others):
            return
        for index in begun:
            if to_send.get(index) and self._alone(model, index, to_send):
                yield index, True
                return

    def _alone(self, model: BaseModel, index: int, to_send: dict[int, Sequence[Any]]) -> bool:
        """Return whether what a call sends next can be one message at most, and one that no other is going to send."""
        sending, given = self._sending[index], to_send[index][0]
        messages = [each for each in sending.owed(model) if sending.may_show(model, each, given)]
        others = (each for other, rest in to_send.items() if other != index for each in rest)
        met = (each for each in others for message in messages if sending.may_show(model, message, each))
        return len(messages) < 2 and next(met, None) is None
