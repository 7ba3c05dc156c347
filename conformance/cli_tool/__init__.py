"""All that serves command line tools as systems under test: processes, their output, the target file.

`CommandLineAdapter` reaches a program that a `cli:FILE.yaml` describes.
"""

from __future__ import annotations

from conformance.cli_tool.adapter import CommandLineAdapter, tool_of
from conformance.cli_tool.command_line import CommandLine, Commands, Finished
from conformance.cli_tool.target_file import read_target
