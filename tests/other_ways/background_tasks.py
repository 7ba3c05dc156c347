"""Tables of background tasks that do what the description leaves to them in another way than the reference."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.references.background_tasks import BackgroundTasks


class KeepsAll(BackgroundTasks):
    """No row ever leaves: "an implementation may declare its own number", and this one has none."""

    declares: ClassVar[dict[str, Any]] = {**BackgroundTasks.declares, "limits": {"retained": None}}

    def __init__(self) -> None:
        super().__init__(retained=10**9)


class SaysThatItKeepsAll(BackgroundTasks):
    """A wrong one: it declares the same, and keeps as many as the reference."""

    declares: ClassVar[dict[str, Any]] = KeepsAll.declares
