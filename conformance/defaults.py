"""What holds where a command is not told otherwise."""

from typing import Final

FAILURES: Final = ".conformance"
"""The folder where a run writes its counterexamples."""

CHECKED: Final = f"{FAILURES}/checked"
"""The folder where what was found right of specs is kept."""

CALL_LIMIT: Final = 3.0
"""How long one call may take, in seconds."""

LANGUAGES: Final = ("python", "javascript", "typescript", "go", "rust", "java", "clojure")
"""In which there is a skeleton of an adapter; the first where no other is asked for."""

STEPS_EXPLORED: Final = 200_000
"""Steps after which `explore` stops in each scope of a spec."""
