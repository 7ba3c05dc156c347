"""Which languages there are skeletons for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from conformance.skeleton.clojure import clojure
from conformance.skeleton.facts import Outline, outline
from conformance.skeleton.go import go
from conformance.skeleton.java import java
from conformance.skeleton.javascript import javascript, typescript
from conformance.skeleton.python import python
from conformance.skeleton.rust import rust
from statemachines.compile import Compiled

WRITERS: Final[Mapping[str, Callable[[Outline], str]]] = {
    "python": python,
    "javascript": javascript,
    "typescript": typescript,
    "go": go,
    "rust": rust,
    "java": java,
    "clojure": clojure,
}
"""By the name that `--language` has for it, `conformance.defaults.LANGUAGES`: what writes the skeleton of a life cycle."""


def skeleton(compiled: Compiled, language: str) -> str:
    """Write the skeleton of an adapter for a life cycle in one of the languages."""
    return WRITERS[language](outline(compiled))
