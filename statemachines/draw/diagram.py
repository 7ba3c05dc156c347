"""The states of a lifecycle as a Mermaid diagram."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from statemachines.compile import Compiled
from statemachines.draw.chart import Arrow, drawn
from statemachines.kernel import Create, Entity, walk

_COLOURS = ("#e3f2fd,stroke:#1565c0", "#fff8e1,stroke:#f9a825", "#f3e5f5,stroke:#7b1fa2")
_ENDED = "#eceff1,stroke:#546e7a"
# Mermaid 11 refuses each of these as the name of a state or class.
_TAKEN = {"class", "classDef", "click", "default", "href", "note", "root", "scale", "state", "style"}


def mermaid(compiled: Compiled) -> str:
    """Draw every entity that has states as one Mermaid `stateDiagram-v2`, the same bytes each time.

    A parameter that picks the target is a diamond; what moves nothing stands in the box of its state,
    after ↺; each group has a colour, what has ended is grey. Several entities have a frame each.
    """
    records = [entity for entity in compiled.kernel.entities if entity.states]
    alone = len(records) == 1
    drawings = [_Drawing(each, compiled, "" if alone else f"{each.name}_") for each in records]
    called = compiled.lifecycle.name
    title = f"{records[0].name} ({called})" if alone else called
    lines = ["---", f"title: {title}", "---", "stateDiagram-v2"]
    for drawing in drawings:
        body = list(drawing.lines())
        name = drawing.record.name  # Mermaid itself names the ends of a frame FRAME_start and FRAME_end
        frame = [f'state "{name}" as {name}_ {{', *_indented(body), "}"]
        lines += _indented(body if alone else frame)
    return "\n".join([*lines, *_indented(_colours(drawings))]) + "\n"


class _Drawing:
    """One entity on paper; `prefix` keeps its names apart from those of another entity."""

    def __init__(self, record: Entity, compiled: Compiled, prefix: str) -> None:
        self.record = record
        self.prefix = prefix
        self.stays: dict[str, list[str]] = {}  # state → what moves nothing there
        self.edges: dict[tuple[str, str], list[str]] = {}  # (from, to) → labels
        self.diamonds: dict[tuple[str, tuple[str, ...]], str] = {}  # (parameter, targets) → name
        self.edges["[*]", record.states[0]] = [
            operation.name
            for operation in compiled.kernel.operations
            if any(isinstance(each, Create) and each.entity == record.name for each in walk(operation.effects))
        ]
        for arrow in drawn(compiled, record.name):
            self.add(arrow)
        for (_, targets), diamond in self.diamonds.items():
            self.edges.update({(diamond, target): [] for target in targets})
        for state in record.terminal:
            self.edges.setdefault((state, "[*]"), [])

    def add(self, arrow: Arrow) -> None:
        """Enter an arrow where it belongs: in a box, or at an edge to a state, a diamond or the end."""
        if arrow.targets == (arrow.source,):
            labels = self.stays.setdefault(arrow.source, [])
        else:
            labels = self.edges.setdefault((arrow.source, self.end(arrow)), [])
        labels.append(_label(arrow))

    def end(self, arrow: Arrow) -> str:
        """Return where an arrow is drawn to; one diamond serves all who choose alike."""
        if len(arrow.targets) < 2:
            return arrow.targets[0] if arrow.targets else "[*]"
        return self.diamonds.setdefault((arrow.chosen_by, arrow.targets), f"choice_{len(self.diamonds) + 1}")

    def name(self, end: str) -> str:
        """Return the name that a state or diamond has in the text."""
        return end if end == "[*]" else _free(f"{self.prefix}{end}")

    def lines(self) -> Iterator[str]:
        """Yield the text: the states, the diamonds, the edges."""
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


def _label(arrow: Arrow) -> str:
    if arrow.after:
        after = "".join(f"#{ord(sign)};" if sign in '#:;<>"' else sign for sign in arrow.after)
        return f"after {after}" if arrow.targets else f"removed after {after}"
    return f"{arrow.trigger}({arrow.chosen_by})" if arrow.chosen_by else arrow.trigger


def _colours(drawings: Iterable[_Drawing]) -> Iterator[str]:
    """One colour for each name of a group, the same in every entity."""
    groups: dict[str, list[str]] = {}
    for drawing in drawings:
        for group, states in drawing.record.groups:
            groups.setdefault(group, []).extend(map(drawing.name, states))
    going = [group for group in groups if group != "terminal"]
    for group, names in groups.items():
        colour = _COLOURS[going.index(group) % len(_COLOURS)] if group in going else _ENDED
        yield f"classDef {_free(group)} fill:{colour},color:#000"
        yield f"class {','.join(names)} {_free(group)}"


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]
