"""A class of Python as an adapter in a process of its own: `python -m tests.tools.served MODULE:CLASS [--points]`.

With `--points` each of the first lines that a call runs in the module of the class is a point. An object whose calls wait for
its clock has a `waits_until`, which it calls with the instant before: it is replaced by what tells the kit.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from conformance.refused import Refused

MOST_POINTS: Final = 200  # of one call: each is a line to the kit and one back
_WRITING = threading.Lock()


def main(target: str, *options: str) -> None:
    """Answer requests until there are none: each on a thread of its own."""
    module, _, name = target.partition(":")
    kind = getattr(importlib.import_module(module), name)
    served = Served(kind, points="--points" in options)
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError as error:
            _write({"id": None, "error": {"code": -32700, "message": str(error)}})
            continue
        if "method" not in message:
            served.gone_on(message["id"])
        elif message["method"] == "close":
            _write({"id": message["id"], "result": None})
            return
        else:
            threading.Thread(target=served.answer, args=(message,), daemon=True).start()


class NoMethod(Exception):
    """Raised where a method is asked for that there is not."""


class Served:
    """The object of a case, and the calls that wait at a point."""

    def __init__(self, kind: type, *, points: bool) -> None:
        self._kind = kind
        self._points = points
        self._system: Any = None
        self._numbers = itertools.count(1)
        self._held: dict[int, threading.Event] = {}
        self._this = threading.local()  # the call of each thread

    def gone_on(self, point: int) -> None:
        """Let a call go on."""
        held = self._held.pop(point, None)
        if held is not None:  # one that waits for the clock is not held
            held.set()

    def _waits_until(self, instant: int) -> None:
        sys.settrace(None)  # a point would tell that it goes on
        _write({"id": next(self._numbers), "method": "point", "params": {"call": self._this.call, "until": instant}})

    def answer(self, message: dict[str, Any]) -> None:
        """Answer one request."""
        number, method = message["id"], message["method"]
        answer: dict[str, Any]
        try:
            answer = {"result": self._result(number, method, message.get("params", {}))}
        except Refused as refusal:
            answer = {"error": {"code": 1, "message": str(refusal), "data": {"refused": refusal.code}}}
        except NoMethod as error:
            answer = {"error": {"code": -32601, "message": f"there is no {error}"}}
        except Exception as error:  # noqa: BLE001 - whatever is raised is told
            answer = {"error": {"code": 2, "message": f"{type(error).__name__}: {error}"}}
        _write({"id": number, **answer})

    def _result(self, number: int, method: str, params: dict[str, Any]) -> Any:
        if method == "hello":
            declares = {
                "clock": "virtual" if hasattr(self._kind, "wait") else "none",
                **getattr(self._kind, "declares", {}),
            }
            return {"protocol": 1, "declares": declares, "points": self._points}
        if method == "reset":
            with contextlib.suppress(AttributeError):
                self._system.close()
            self._system = self._kind()
            if hasattr(self._system, "waits_until"):
                self._system.waits_until = self._waits_until
            return None
        if method == "signals":
            return self._system.signals() if hasattr(self._system, "signals") else []
        call: Callable[..., Any] | None = getattr(self._system, method, None)
        if call is None:
            raise NoMethod(method)
        self._this.call = number
        if not self._points:
            return call(**params)
        sys.settrace(self._traced(number))
        try:
            return call(**params)
        finally:
            sys.settrace(None)

    def _traced(self, number: int) -> Any:
        """Tell of a point at each of the first lines of the module of the class."""
        file, left = sys.modules[self._kind.__module__].__file__, iter(range(MOST_POINTS))

        def step(frame: Any, event: str, argument: Any) -> Any:
            if event == "line" and next(left, None) is not None:
                self._point(number, f"{frame.f_code.co_name}:{frame.f_lineno}")
            return step

        return lambda frame, event, argument: step if frame.f_code.co_filename == file else None

    def _point(self, number: int, at: str) -> None:
        point, held = next(self._numbers), threading.Event()
        self._held[point] = held
        _write({"id": point, "method": "point", "params": {"call": number, "at": at}})
        held.wait()


def _write(message: dict[str, Any]) -> None:
    with _WRITING:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
