"""What calls made at once, of which some are still to be made, have to send: by their replies, or perhaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from conformance.transcripts.apart import Sender
from conformance.transcripts.unasked import MessageKey, key_of
from statemachines.model import BaseModel
from statemachines.rows import Observed


class ToCome:
    """The calls of a history, each named by its place; at a point of a search some are `done`, and some was `sent` by each.

    sending   those that gave what they sent
    attempts  those that may have sent something of which no reply tells
    observes  whether an operation changes nothing
    own       the numbers of the steps of its own that tell
    """

    def __init__(
        self,
        calls: Sequence[Observed],
        sending: Sequence[Sender | None],
        attempts: Mapping[int, Sender],
        observes: Callable[[str], bool],
        own: Collection[int],
    ) -> None:
        self._calls = calls
        self._observes = observes
        self._own = own
        self.sending = sending
        self.attempts = attempts

    def left_owed(
        self,
        done: Collection[int],
        sent: Sequence[Sequence[MessageKey]],
        model: BaseModel,
        owed: Sequence[Any],
        ended: float = math.inf,
    ) -> list[Any]:
        """Return those messages owed that no call is about to send when one that sends ends at some instant.

        Another that began after it ended was not about to do anything yet.
        """
        about_to = [each for each in self._given(done, sent) if each[0].call.began <= ended]
        return [
            message for message in owed if not any(other.may_show(model, message, given) for other, given in about_to)
        ]

    def given_away(
        self,
        done: Collection[int],
        sent: Sequence[Sequence[MessageKey]],
        model: BaseModel,
        due: Sequence[Any],
        name: str,
    ) -> set[MessageKey]:
        """Return those messages due that one of the calls has to send; none as long as others may become due."""
        found: set[MessageKey] = set()
        for other, given in () if self.more_may_be_due(done, model) else self._given(done, sent):
            shown = [key_of(each) for each in due if other.name == name and other.may_show(model, each, given)]
            found.update(shown if len(shown) == 1 else ())
        return found

    def more_may_be_due(self, done: Collection[int], model: BaseModel) -> bool:
        """Return whether anything is to come that may make messages due, or send some of which no reply tells."""
        calls = (call for index, call in enumerate(self._calls) if index not in done and self.sending[index] is None)
        steps = (index for index, _, _ in model.own_steps() if index not in self._own)
        return (
            not all(self._observes(call.operation) for call in calls)
            or any(index not in model.TELLING for index in steps)
            or bool(model.due())
        )

    def attempted(self, done: Collection[int], model: BaseModel) -> set[MessageKey]:
        """Return the messages that calls may still send of which no reply tells."""
        return {
            key_of(message)
            for index, each in self.attempts.items()
            if index not in done and model.decide(each.call.operation, each.call.arguments).accept
            for message in each.owed(model)
        }

    def _given(self, done: Collection[int], sent: Sequence[Sequence[MessageKey]]) -> Iterator[tuple[Sender, Any]]:
        """Walk what replies show that was not sent so far."""
        for index, each in enumerate(self.sending):
            if each is not None and index not in done:
                yield from ((each, given) for given in each.call.given[len(sent[index]) :])
