"""Sub-agents that do what the description of `local-agent` leaves open in another way than the reference."""

from __future__ import annotations

from conformance.references.local_agent import LocalAgents
from conformance.refused import Refused


class RefusesTooLate(LocalAgents):
    """Open: what putting a task into the background does that is "terminal". Here it is refused."""

    def background(self, task: str) -> None:
        """Put a running task into the background. Refuses `wrong_state`."""
        found = self._find(task)
        if found is not None and found.status != "running":
            raise Refused("wrong_state", "The task has ended")
        super().background(task)


class NoticesAtItsEnd(LocalAgents):
    """Open: "an abort is noticed at the next event": so is the end that the query of a killed session reports."""

    def complete(self, task: str, result: str) -> None:
        super().complete(task, result)
        with self._locked():
            found = self._find(task)
            if found is not None and found.session and found.status == "killed":
                self._notice_abort(found)
