"""An adapter for background tasks on one thread, without points: who waits is answered later, when a line that was read says so."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Mapping
from typing import Any

OPERATIONS = ["spawn", "finish", "drain_completed", "has_completed", "wait_for_completion"]


class Table:
    """The tasks of one case, and who waits."""

    def __init__(self) -> None:
        self.now = 0
        self.labels: dict[str, str] = {}
        self.queue: list[dict[str, Any]] = []
        self.permit = False
        self.waiting: dict[int, int] = {}  # until when each call waits

    def spawn(self, label: str) -> dict[str, Any]:
        task = f"task{len(self.labels)}"
        self.labels[task] = label
        return {"task_id": task}

    def finish(self, task: str, outcome: str, text: str) -> None:
        if task in self.labels:
            label = self.labels.pop(task)
            self.queue.append({"task_id": task, "label": label, "result": {"status": outcome, "text": text}})
            self.permit = True

    def drain_completed(self) -> list[dict[str, Any]]:
        drained, self.queue = self.queue, []
        return drained

    def has_completed(self) -> bool:
        return bool(self.queue)


def main() -> None:
    table, points = Table(), itertools.count(1)
    for line in sys.stdin:
        asked = json.loads(line)
        method, params = asked.get("method"), asked.get("params", {})
        if method is None:  # the answer to a point
            continue
        if method == "wait_for_completion":
            table.waiting[asked["id"]] = until = table.now + params["timeout"]
            say(id=next(points), method="point", params={"call": asked["id"], "until": until})
        else:
            if method == "reset":
                table = Table()
            say(id=asked["id"], result=result(table, method, params))
        answer_waiting(table)
        if method == "close":
            return


def result(table: Table, method: str, params: Mapping[str, Any]) -> Any:
    """Return the answer to anything that is answered at once."""
    if method == "hello":
        declares = {"clock": "virtual", "concurrency": "async", "lacks": LACKS}
        return {"protocol": 1, "operations": OPERATIONS, "declares": declares}
    if method == "wait":
        table.now += params["ms"]
    if method in OPERATIONS:
        return getattr(table, method)(**params)
    return [] if method == "signals" else None


def answer_waiting(table: Table) -> None:
    """Answer those whose wait is over."""
    for call, until in list(table.waiting.items()):
        if table.permit or table.now >= until:
            del table.waiting[call]
            say(id=call, result=table.permit)
            table.permit = False


def say(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


LACKS = ["spawn_with", "spawn_from", "list", "peek", "running_count", "clone", "session_cancelled", "signal CancelSeen"]

if __name__ == "__main__":
    main()
