"""What a person types: the words of the command line, and what each command does.

`main` is the command `conformance`.
"""

from __future__ import annotations

from conformance.command.cli import main
