"""What every part of a small random spec draws with, and the parts of the spec that several write to."""

from __future__ import annotations

import random
from typing import Any

Data = dict[str, Any]


class Drawing:
    """Draws by the number of a spec; `data` is what is there so far."""

    def __init__(self, number: int) -> None:
        self._chooser = random.Random(number)
        self.data: Data = {"lifecycle": f"other-{number}", "version": 1, "about": "A spec that nobody wrote."}
        self._fields: list[str] = []
        self._signals: Data = {}
        self._limits: Data = {}
        self._policies: Data = {}
        self._variables: Data = {}
        self._types: Data = {}
        self._entities: Data = {}
        self._operations: Data = {}

    def _maybe(self, chance: float) -> bool:
        return self._chooser.random() < chance

    def _one_of(self, values: Any) -> Any:
        return self._chooser.choice(list(values))

    def _signal(self, name: str) -> Data:
        """Draw that a signal is sent: with a field or none, perhaps on a condition, perhaps several times."""
        use: Data = {}
        known = self._signals.get(name)
        with_job = "job" in known if known is not None else self._maybe(0.7)
        self._signals[name] = {"job": "JobId"} if with_job else {}
        if with_job:
            self._types["JobId"] = {"id of": "Job", "or": "fresh"}
            use["with"] = {"job": "job.id"}
        if "kind" in self._fields and self._maybe(0.3):
            use["when"] = "job.kind == large"
        if self._maybe(0.15):
            use["times"] = "at least once"
        return {name: use}
