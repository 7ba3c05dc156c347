"""What holds where a command is not told otherwise."""

from typing import Final

FAILURES: Final = ".conformance"
"""The folder where a run writes its counterexamples."""

CALL_LIMIT: Final = 3.0
"""How long one call may take, in seconds."""

LANGUAGES: Final = ("python", "javascript", "typescript", "go", "rust", "java", "clojure")
"""In which there is a skeleton of an adapter; the first where no other is asked for."""
