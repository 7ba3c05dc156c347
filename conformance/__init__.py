"""The conformance kit for the life cycles of background jobs."""

from conformance.refused import Refused as Refused

__all__ = ["Refused"]
