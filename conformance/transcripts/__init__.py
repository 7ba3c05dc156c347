"""Messages that calls at once send: what stays open of their order until a look tells it, and which of the calls do not meet.

The judge holds what is open in its configurations, and asks here before it tries every order.
"""

from __future__ import annotations

from conformance.transcripts.apart import Apart
from conformance.transcripts.order import (
    Senders,
    Stretch,
    Teller,
    Transcripts,
    Unordered,
    due_of,
    in_turn,
    is_earlier,
    sent_of,
)
from conformance.transcripts.to_come import ToCome
from conformance.transcripts.unasked import NOTHING_YET, MessageKey, Own, OwnStep, OwnTelling, key_of, with_keys
