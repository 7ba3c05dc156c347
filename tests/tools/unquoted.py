"""A wrong tool, as a process: its printed commands join their words with spaces, whatever is in them."""

from __future__ import annotations

import sys

from conformance.references.cli_program import JobTool, main


class Unquoted(JobTool):
    """The reference program with one lie."""

    def command(self, *words: str) -> str:
        return " ".join([*self.tool, *words])


if __name__ == "__main__":
    sys.exit(main(Unquoted, "tests.tools.unquoted"))
