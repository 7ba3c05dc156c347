"""The old place of `record_names` and `message_names`; import them from `statemachines.generate.records`."""

from statemachines.generate.records import message_names, record_names

__all__ = ["message_names", "record_names"]
