"""A class of Python as an adapter in a process of its own: `python -m tests.tools.served MODULE:CLASS [--points]`.

With `--points` a lock of the class's object named `points` … is not needed: each call tells of a point before it begins.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import threading
from collections.abc import Callable
from typing import Any

from conformance.refused import Refused

_WRITING = threading.Lock()


def main(target: str, *options: str) -> None:
    """Answer requests until there are none: each on a thread of its own."""
    module, _, name = target.partition(":")
    kind = getattr(importlib.import_module(module), name)
    served = Served(kind, points="--points" in options)
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:
            served.gone_on(message["id"])
        elif message["method"] == "close":
            _write({"jsonrpc": "2.0", "id": message["id"], "result": None})
            return
        else:
            threading.Thread(target=served.answer, args=(message,), daemon=True).start()


class Served:
    """The object of a case, and the calls that wait at a point."""

    def __init__(self, kind: type, *, points: bool) -> None:
        self._kind = kind
        self._points = points
        self._system: Any = None
        self._held: dict[int, threading.Event] = {}

    def gone_on(self, point: int) -> None:
        """Let a call go on."""
        self._held.pop(point).set()

    def answer(self, message: dict[str, Any]) -> None:
        """Answer one request."""
        number, method = message["id"], message["method"]
        answer: dict[str, Any]
        try:
            answer = {"result": self._result(number, method, message.get("params", {}))}
        except Refused as refusal:
            answer = {"error": {"code": 1, "message": str(refusal), "data": {"refused": refusal.code}}}
        except Exception as error:  # noqa: BLE001 - whatever is raised is told
            answer = {"error": {"code": 2, "message": f"{type(error).__name__}: {error}"}}
        _write({"jsonrpc": "2.0", "id": number, **answer})

    def _result(self, number: int, method: str, params: dict[str, Any]) -> Any:
        if method == "hello":
            declares = {"clock": "virtual" if hasattr(self._kind, "wait") else "none", **getattr(self._kind, "declares", {})}
            return {"protocol": 1, "declares": declares, "points": self._points}
        if method == "reset":
            with contextlib.suppress(AttributeError):
                self._system.close()
            self._system = self._kind()
            return None
        if method == "signals":
            return self._system.signals() if hasattr(self._system, "signals") else []
        call: Callable[..., Any] = getattr(self._system, method)
        if not self._points:
            return call(**params)
        sys.settrace(self._traced(number))
        try:
            return call(**params)
        finally:
            sys.settrace(None)

    def _traced(self, number: int) -> Any:
        """Tell of a point at each line of the module of the class."""
        file = sys.modules[self._kind.__module__].__file__

        def step(frame: Any, event: str, argument: Any) -> Any:
            if event == "line":
                self._point(number)
            return step

        return lambda frame, event, argument: step if frame.f_code.co_filename == file else None

    def _point(self, number: int) -> None:
        event = threading.Event()
        with _WRITING:
            point = len(self._held) + id(event)
            self._held[point] = event
        _write({"jsonrpc": "2.0", "id": point, "method": "point", "params": {"call": number}})
        event.wait()


def _write(message: dict[str, Any]) -> None:
    with _WRITING:
        print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
