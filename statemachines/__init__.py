"""The compiler: from the text of a life cycle to a state machine that runs.

    import statemachines

    compiled = statemachines.load("thread-job")            # or the path of a spec
    model = compiled.model({"retained": 3})                # the executable model, with limits of one's own
    statemachines.check("my-jobs.yaml").diagnostics        # every fault of a spec, each with its place
    statemachines.machine("thread-job", "Job", job)        # a machine of `transitions` that drives an object

It knows nothing of testing; what tests a system against a model is `conformance`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # each is imported when it is first asked for
    from statemachines.checks import Checked as Checked
    from statemachines.checks import check as check
    from statemachines.compile import Compiled as Compiled
    from statemachines.compile import load as load
    from statemachines.diagnostics import SpecError as SpecError
    from statemachines.draw import machine as machine
    from statemachines.lifecycle import Lifecycle as Lifecycle
    from statemachines.model import BaseModel as Model

_HOMES = {
    "Checked": ("checks", "Checked"),
    "Compiled": ("compile", "Compiled"),
    "Lifecycle": ("lifecycle", "Lifecycle"),
    "Model": ("model", "BaseModel"),
    "SpecError": ("diagnostics", "SpecError"),
    "check": ("checks", "check"),
    "load": ("compile", "load"),
    "machine": ("draw", "machine"),
}
__all__ = ["Checked", "Compiled", "Lifecycle", "Model", "SpecError", "check", "load", "machine"]


if not TYPE_CHECKING:  # a type checker is to see a name that is not offered

    def __getattr__(name: str) -> Any:
        """Return what the front door offers, imported when it is first asked for; raise AttributeError for the rest."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home, named = _HOMES[name]
        found = globals()[name] = getattr(import_module(f"statemachines.{home}"), named)
        return found


def __dir__() -> list[str]:
    return __all__
