"""The version, alone in a module, so that saying it imports nothing."""

__version__ = "0.1.0"
