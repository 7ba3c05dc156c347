"""Any system under test as a plain class: its methods are called one after the other, and none has to be awaited."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from conformance.system import Adapter
from conformance.targets import REFERENCES, open_system
from statemachines.compile import load


def plain(lifecycle: str, system: Callable[[], Any] | str, limit: float = 1.0) -> Callable[[], Any]:
    """Return what makes an object that answers as the system does; a call that hangs for so many seconds raises."""
    compiled = load(lifecycle)

    @cache
    def adapter() -> Adapter:
        found = open_system(compiled, system)
        found.limit = limit
        return found

    def made() -> Any:
        adapter().reset()
        names = [each.name for each in compiled.kernel.operations if adapter().offers(each.name)]
        methods: dict[str, Any] = {name: _method(adapter(), name) for name in names}
        if adapter().declaration.clock == "virtual":
            methods["wait"] = _method(adapter(), "wait")
        return type("Plain", (), {**methods, "signals": lambda self: adapter().signals()})()

    return made


def _method(adapter: Adapter, name: str) -> Callable[..., Any]:
    return lambda self, **arguments: adapter.call(name, arguments)


def __getattr__(name: str) -> Callable[[], Any]:
    """Return what makes the reference of a life cycle by its name."""
    if name not in REFERENCES:
        raise AttributeError(name)
    return plain(name, "reference")
