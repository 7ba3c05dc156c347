"""A chart of states as a machine of the package `transitions`.

It imports `transitions` alone: `conformance generate --as transitions` copies this text into the file that it writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from transitions import EventData, Machine


@dataclass(frozen=True, slots=True)
class Trigger:
    """What one trigger does to a record that is in one of some states.

    targets    the state that follows, or those of which the argument `chosen_by` names one; none: the record stays
    chosen_by  given by keyword, as in `job.finish(outcome="failed")`; "" where there is nothing to choose
    """

    name: str
    sources: tuple[str, ...]
    targets: tuple[str, ...] = ()
    chosen_by: str = ""

    def transitions(self, conditions: list[Any]) -> Iterator[dict[str, Any]]:
        """Yield what `transitions` takes, one for each source and target, each under these conditions too."""
        for source in self.sources:
            for target in self.targets or (source,):
                chosen = [ChosenTarget(self, target)] if self.chosen_by else []
                yield {
                    "trigger": self.name,
                    "source": source,
                    "dest": None if target == source else target,
                    "conditions": [*chosen, *conditions],
                }


@dataclass(frozen=True, slots=True)
class ChosenTarget:
    """The condition that a call names this target."""

    trigger: Trigger
    target: str

    def __call__(self, *arguments: object, **named: object) -> bool:
        """Return whether these arguments name it; raise TypeError for none, ValueError for what is no target."""
        if arguments and isinstance(arguments[0], EventData):  # the machine was made with send_event=True
            named = arguments[0].kwargs
        name, argument, choices = self.trigger.name, self.trigger.chosen_by, ", ".join(self.trigger.targets)
        if argument not in named:
            raise TypeError(f"{name} needs {argument}=, one of {choices}")
        if named[argument] not in self.trigger.targets:
            raise ValueError(f"{name}: {argument} is one of {choices}, not {named[argument]!r}")
        return named[argument] == self.target

    def __str__(self) -> str:
        return f"{self.trigger.chosen_by} = {self.target}"


@dataclass(frozen=True, slots=True)
class StateChart:
    """The states of one kind of record, the initial one first, and what moves it; in `final` ones it has ended."""

    states: tuple[str, ...]
    final: tuple[str, ...]
    triggers: tuple[Trigger, ...]

    def machine(
        self,
        model: Any = None,
        *,
        machine_class: type[Machine] | None = None,
        conditions: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Machine:
        """Return a machine that drives a record, or several.

        model          the object, or list of objects, that gets `state` and a method for each trigger; without one
                       the machine is its own model
        machine_class  another class of `transitions`, such as LockedMachine
        conditions     trigger → what must hold beside the state: a function of the arguments of the call, the name
                       of a method of the model, or a list of these; where it does not hold the trigger returns False
        options        what else such a class takes: initial="failed" for a stored record, send_event=True, queued=True,
                       before_state_change="log"; auto_transitions are off unless given

        Callbacks are those of `transitions`: methods `on_enter_STATE` and `on_exit_STATE` of the model are called, and
        `machine.before_TRIGGER(callback)` and `machine.after_TRIGGER(callback)` add more. A trigger that moves
        nothing calls no on_exit and no on_enter. One that the state does not have raises MachineError. Where an
        argument chooses the state that follows, the trigger takes it by keyword: without it TypeError, with another
        state ValueError. Raises LookupError for a condition of a trigger that there is not.
        """
        given = {name: each if isinstance(each, list) else [each] for name, each in (conditions or {}).items()}
        known = {each.name for each in self.triggers}
        if unknown := sorted({*given} - known):
            raise LookupError(f"there is no trigger {', '.join(unknown)}; there are {', '.join(sorted(known))}")
        settings: dict[str, Any] = {"initial": self.states[0], "auto_transitions": False, **options}
        if model is not None:
            settings["model"] = model
        return (machine_class or Machine)(
            states=[{"name": state, "final": state in self.final} for state in self.states],
            transitions=[step for each in self.triggers for step in each.transitions(given.get(each.name, []))],
            **settings,
        )
