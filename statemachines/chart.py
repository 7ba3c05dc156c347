"""The states and arrows of a lifecycle, read from its sentences a second time: machines and drawings.

Neither the kernel nor the generated model is asked. What `statemachines.lower` and this module make of
a `move` has to agree, and a test compares them cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from statemachines.diagnostics import Diagnostic, SpecError, did_you_mean
from statemachines.expression.syntax import Field, Literal, Name
from statemachines.lifecycle import Entity, Expr, Lifecycle, Move, Operation, Timer, TypeUse, Word

if TYPE_CHECKING:
    from transitions import Machine

__all__ = ["Arrow", "arrows", "machine", "mermaid"]

# ── Arrows ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Arrow:
    """What one trigger does to a record that is in one state.

    trigger    an operation; for a timer `after_STATES`, by the state or group it is declared on
    targets    the states that may follow: only `source` when nothing moves, none when the record goes
    chosen_by  the parameter that picks the target, or ""
    after      how long a timer waits, as a reader says it (`5m`); "" for an operation
    """

    trigger: str
    source: str
    targets: tuple[str, ...]
    chosen_by: str = ""
    after: str = ""


def arrows(lifecycle: Lifecycle, entity: str) -> tuple[Arrow, ...]:
    """List what moves an entity's records: its operations in the order of the file, then its timers.

    A state given by `set: {job.state: failed}` is no arrow: the sentence does not say from where it leads.
    Raises LookupError for an entity that is not declared, SpecError for a move that leads nowhere.
    """
    record = _declared(lifecycle, entity)
    found: list[Arrow] = []
    for operation in lifecycle.operations.values():
        if _moved_by(operation, lifecycle) == entity:
            found += _arrows_of(operation, record)
    for timer in record.timers:
        found += _arrows_of_timer(timer, record, lifecycle)
    return tuple(found)


def _declared(lifecycle: Lifecycle, entity: str) -> Entity:
    found = lifecycle.entities.get(entity)
    if found is None:
        hint = did_you_mean(entity, lifecycle.entities) or f"known: {', '.join(lifecycle.entities)}"
        raise LookupError(f"{lifecycle.name} has no entity {entity!r}; {hint}")
    return found


def _moved_by(operation: Operation, lifecycle: Lifecycle) -> str:
    """The entity whose record an operation moves: the first that it takes and that has states."""
    taken = (lifecycle.entities.get(use.name.text) for use in operation.takes.values() if use.item is None)
    return next((entity.name.text for entity in taken if entity and entity.states), "")


def _arrows_of(operation: Operation, record: Entity) -> Iterator[Arrow]:
    for move in operation.moves:
        for source in _meant(move.source, record):
            targets, chosen_by = _targets(move, source, operation, record)
            yield Arrow(operation.name.text, source, targets, chosen_by)


def _arrows_of_timer(timer: Timer, record: Entity, lifecycle: Lifecycle) -> Iterator[Arrow]:
    if timer.move is None and not timer.removes:
        return
    targets = () if timer.move is None else _meant(timer.move, record)
    if len(targets) > 1:
        raise _nowhere(timer.move or timer.states, record, "a timer moves to one state, not to a group")
    for source in _meant(timer.states, record):
        yield Arrow(f"after_{timer.states.text}", source, targets, after=_spoken(timer.duration, lifecycle))


def _targets(move: Move, source: str, operation: Operation, record: Entity) -> tuple[tuple[str, ...], str]:
    """The states that may follow, and the parameter that picks one of them."""
    target = Word(move.target.text, move.target.scalar.at(move.target.node.at))
    if not isinstance(move.target.node, Name):
        raise _nowhere(target, record, "a move leads to a state, a parameter, or `same`")
    if target.text == "same":
        return (source,), ""
    if target.text in operation.takes:
        return _choices(operation.takes[target.text], target, record), target.text
    if target.text not in record.states:
        raise _nowhere(target, record, did_you_mean(target.text, [*record.states, *operation.takes]))
    return (target.text,), ""


def _choices(use: TypeUse, target: Word, record: Entity) -> tuple[str, ...]:
    """The states that a parameter of the type `Job.terminal` or `Job.state` can name."""
    owner, _, group = use.name.text.partition(".")
    if owner != record.name.text or not group or use.item is not None:
        raise _nowhere(target, record, f"give the parameter a group as its type, or {record.name.text}.state")
    return record.states if group == "state" else _meant(Word(group, use.name.where), record)


def _meant(word: Word, record: Entity) -> tuple[str, ...]:
    """The states that the name of a state or group stands for."""
    groups = record.groups or {}
    if word.text in groups:
        return tuple(state.text for state in groups[word.text])
    if word.text not in record.states:
        raise _nowhere(word, record, did_you_mean(word.text, [*groups, *record.states]))
    return (word.text,)


def _nowhere(word: Word, record: Entity, hint: str) -> SpecError:
    message = f"{word.text!r} is nothing that a {record.name.text} can move from or to"
    hint = hint or f"known: {', '.join(record.states)}"
    return SpecError([Diagnostic("bad-move", word.where, message, hint)])


def _terminal(record: Entity) -> tuple[str, ...]:
    return tuple(word.text for word in (record.groups or {}).get("terminal", ()))


# ── The machine ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The condition that a call names this target: `job.finish(outcome="failed")`."""

    arrow: Arrow
    target: str

    def __call__(self, *arguments: object, **named: object) -> bool:
        from transitions import EventData

        if arguments and isinstance(arguments[0], EventData):  # the machine was made with send_event=True
            named = arguments[0].kwargs
        trigger, parameter = self.arrow.trigger, self.arrow.chosen_by
        if parameter not in named:
            raise TypeError(f"{trigger} needs {parameter}=, one of {', '.join(self.arrow.targets)}")
        if named[parameter] not in self.arrow.targets:
            choices = ", ".join(self.arrow.targets)
            raise ValueError(f"{trigger}: {parameter} is one of {choices}, not {named[parameter]!r}")
        return named[parameter] == self.target

    def __str__(self) -> str:
        return f"{self.arrow.chosen_by} = {self.target}"


def machine(
    lifecycle: Lifecycle,
    entity: str,
    model: Any = None,
    *,
    machine_class: type[Machine] | None = None,
    **options: Any,
) -> Machine:
    """Make the state machine of an entity, to drive the records of a product.

    model          the object, or list of objects, that gets `state` and one trigger per operation and
                   timer; None: the machine is its own model
    machine_class  another class of `transitions`, as GraphMachine or LockedMachine
    options        anything else that such a class takes: initial="pending_cancel" for a stored record,
                   ignore_invalid_triggers=True, send_event=True; auto_transitions are off unless given

    Where a parameter picks the target, the trigger takes it by keyword: without it TypeError, with a
    state that the parameter does not name ValueError. A trigger that the state does not have raises
    MachineError. A move to the same state calls no on_exit and no on_enter. A timer that removes its
    record is left to the product.
    """
    from transitions import Machine

    record = _declared(lifecycle, entity)
    if not record.states:
        raise ValueError(f"{entity} has no states")
    final = _terminal(record)
    settings: dict[str, Any] = {"initial": record.states[0], "auto_transitions": False, **options}
    if model is not None:
        settings["model"] = model
    return (machine_class or Machine)(
        states=[{"name": state, "final": state in final} for state in record.states],
        transitions=[step for arrow in arrows(lifecycle, entity) for step in _steps(arrow)],
        **settings,
    )


def _steps(arrow: Arrow) -> Iterator[dict[str, Any]]:
    for target in arrow.targets:
        step: dict[str, Any] = {"trigger": arrow.trigger, "source": arrow.source}
        step["dest"] = None if target == arrow.source else target
        if arrow.chosen_by:
            step["conditions"] = _Chosen(arrow, target)
        yield step


# ── The drawing ──────────────────────────────────────────────────────────────────────────────────

_COLOURS = ("#e3f2fd,stroke:#1565c0", "#fff8e1,stroke:#f9a825", "#f3e5f5,stroke:#7b1fa2")
_ENDED = "#eceff1,stroke:#546e7a"
# Mermaid 11 refuses each of these as the name of a state or class.
_TAKEN = {"class", "classDef", "click", "default", "href", "note", "root", "scale", "state", "style"}


def mermaid(lifecycle: Lifecycle) -> str:
    """Draw every entity that has states as one Mermaid `stateDiagram-v2`, the same bytes each time.

    A parameter that picks the target is a diamond; what moves nothing stands in the box of its state,
    after ↺; each group has a colour, what has ended is grey. Several entities have a frame each.
    """
    records = [entity for entity in lifecycle.entities.values() if entity.states]
    alone = len(records) == 1
    drawings = [_Drawing(each, lifecycle, "" if alone else f"{each.name.text}_") for each in records]
    title = f"{records[0].name.text} ({lifecycle.name})" if alone else lifecycle.name
    lines = ["---", f"title: {title}", "---", "stateDiagram-v2"]
    for drawing in drawings:
        body = list(drawing.lines())
        name = drawing.record.name.text  # Mermaid itself names the ends of a frame FRAME_start and FRAME_end
        frame = [f'state "{name}" as {name}_ {{', *_indented(body), "}"]
        lines += _indented(body if alone else frame)
    return "\n".join([*lines, *_indented(_colours(drawings))]) + "\n"


class _Drawing:
    """One entity on paper; `prefix` keeps its names apart from those of another entity."""

    def __init__(self, record: Entity, lifecycle: Lifecycle, prefix: str) -> None:
        self.record = record
        self.prefix = prefix
        self.stays: dict[str, list[str]] = {}  # state → what moves nothing there
        self.edges: dict[tuple[str, str], list[str]] = {}  # (from, to) → labels
        self.diamonds: dict[tuple[str, tuple[str, ...]], str] = {}  # (parameter, targets) → name
        self.edges["[*]", record.states[0]] = list(_creators(record, lifecycle))
        for arrow in arrows(lifecycle, record.name.text):
            self.add(arrow)
        for (_, targets), diamond in self.diamonds.items():
            self.edges.update({(diamond, target): [] for target in targets})
        for state in _terminal(record):
            self.edges.setdefault((state, "[*]"), [])

    def add(self, arrow: Arrow) -> None:
        """Enter an arrow where it belongs: in a box, or at an edge to a state, a diamond or the end."""
        if arrow.targets == (arrow.source,):
            labels = self.stays.setdefault(arrow.source, [])
        else:
            labels = self.edges.setdefault((arrow.source, self.end(arrow)), [])
        labels.append(_label(arrow))

    def end(self, arrow: Arrow) -> str:
        """Give where an arrow is drawn to; one diamond serves all who choose alike."""
        if len(arrow.targets) < 2:
            return arrow.targets[0] if arrow.targets else "[*]"
        return self.diamonds.setdefault((arrow.chosen_by, arrow.targets), f"choice_{len(self.diamonds) + 1}")

    def name(self, end: str) -> str:
        """Give the name that a state or diamond has in the text."""
        return end if end == "[*]" else _free(f"{self.prefix}{end}")

    def lines(self) -> Iterator[str]:
        """Give the text: the states, the diamonds, the edges."""
        yield "direction LR"
        for state in self.record.states:
            yield f'state "{state}" as {self.name(state)}'
            if state in self.stays:
                yield f"{self.name(state)}: ↺ {', '.join(self.stays[state])}"
        for diamond in self.diamonds.values():
            yield f"state {self.name(diamond)} <<choice>>"
        for (source, end), labels in self.edges.items():
            said = f": {' / '.join(labels)}" if labels else ""
            yield f"{self.name(source)} --> {self.name(end)}{said}"


def _free(name: str) -> str:
    return f"{name}_" if name in _TAKEN else name


def _creators(record: Entity, lifecycle: Lifecycle) -> Iterator[str]:
    for name, operation in lifecycle.operations.items():
        if any(creation.entity.text == record.name.text for creation in operation.creations):
            yield name


def _label(arrow: Arrow) -> str:
    if arrow.after:
        return f"after {arrow.after}" if arrow.targets else f"removed after {arrow.after}"
    return f"{arrow.trigger}({arrow.chosen_by})" if arrow.chosen_by else arrow.trigger


def _spoken(duration: Expr, lifecycle: Lifecycle) -> str:
    """A duration as a reader says it: a number or a limit's default in units, else as it is written."""
    match duration.node:
        case Literal(value=int(ms)):
            return _units(ms)
        case Field(of=Name(name="limits"), name=name) if limit := lifecycle.limits.get(name):
            return duration.text if limit.default is None else f"{_units(limit.default)} ({duration.text})"
    return "".join(f"#{ord(sign)};" if sign in '#:;<>"' else sign for sign in duration.text)


def _units(ms: int) -> str:
    """Milliseconds in the units that they are made of: 5m, 1h30m, 500ms."""
    found = ""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, ms = divmod(ms, size)
        found += f"{count}{unit}" if count else ""
    return found or "0ms"


def _colours(drawings: Iterable[_Drawing]) -> Iterator[str]:
    """One colour for each name of a group, the same in every entity."""
    groups: dict[str, list[str]] = {}
    for drawing in drawings:
        for group, words in (drawing.record.groups or {}).items():
            groups.setdefault(group, []).extend(drawing.name(word.text) for word in words)
    going = [group for group in groups if group != "terminal"]
    for group, names in groups.items():
        colour = _COLOURS[going.index(group) % len(_COLOURS)] if group in going else _ENDED
        yield f"classDef {_free(group)} fill:{colour},color:#000"
        yield f"class {','.join(names)} {_free(group)}"


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]
