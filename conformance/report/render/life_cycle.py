"""The states of a life cycle as a drawing: a line for each state, and below each other what leads from where to where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from conformance.report import Chart, Led, number
from conformance.report.render.svg import element, text_of, wrapped

COLUMN_WIDTH, LABEL_COLUMN, ROW_HEIGHT, HEAD_HEIGHT = 112, 196, 34, 44
LABEL_SIGNS = 26  # characters on a line of a label
GONE = "(gone)"


@dataclass(frozen=True, slots=True)
class _Way:
    """What one sentence does, from all the states from which it does the same."""

    label: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    stays: bool
    clause: str


def ways(chart: Chart) -> list[_Way]:
    """Return what leads where, sentence by sentence."""
    found: dict[tuple[str, str, tuple[str, ...], bool], list[str]] = {}
    for arrow in chart.arrows:
        stays = arrow.targets == (arrow.source,)
        targets = () if stays else arrow.targets or (GONE,)
        found.setdefault((_label(arrow), arrow.clause, targets, stays), []).append(arrow.source)
    return [
        _Way(label, tuple(dict.fromkeys(sources)), targets, stays, clause)
        for (label, clause, targets, stays), sources in found.items()
    ]


def _label(arrow: Led) -> str:
    if arrow.after:
        return f"after {arrow.after}"
    if not arrow.trigger:  # it follows from what the path names: entities.Job.entering.terminal.for each.own.move
        return arrow.clause.partition(".for each")[0].partition(".")[2].replace(".", " ")
    return f"{arrow.trigger}({arrow.chosen_by})" if arrow.chosen_by not in ("", "to") else arrow.trigger


def life_cycle(chart: Chart, witnessed: Mapping[str, int] | None) -> str:
    """Return the drawing of a kind of record as SVG; None for `witnessed` where the run did not come to tell."""
    return _StateLines(chart, witnessed).drawn()


class _StateLines:
    def __init__(self, chart: Chart, witnessed: Mapping[str, int] | None) -> None:
        self._chart = chart
        self._witnessed = witnessed
        self._ways = ways(chart)
        gone = any(GONE in way.targets for way in self._ways)
        self._columns = [*chart.states, *([GONE] if gone else [])]
        self._width = LABEL_COLUMN + COLUMN_WIDTH * len(self._columns)

    def drawn(self) -> str:
        """Return the whole."""
        rows = [self._row(way, HEAD_HEIGHT + 8 + ROW_HEIGHT * index) for index, way in enumerate(self._ways)]
        height = HEAD_HEIGHT + 12 + ROW_HEIGHT * len(rows)
        seen = sum(self._seen(way) > 0 for way in self._ways)
        told = "" if self._witnessed is None else f", {seen} of {len(self._ways)} witnessed"
        said = f"{self._chart.record}: {number(len(self._chart.states), 'state')}, {number(len(rows), 'arrow')}{told}"
        size = {"width": self._width, "height": height, "viewBox": f"0 0 {self._width} {height}"}
        root = element("svg", class_="life-cycle", role="img", aria_label=said, **size)
        for name in self._columns:
            for each in self._column(name, height):
                root.append(each)
        for row in rows:
            root.append(row)
        return text_of(root)

    def _x(self, name: str) -> float:
        return LABEL_COLUMN + COLUMN_WIDTH * (self._columns.index(name) + 0.5)

    def _column(self, name: str, height: int) -> list[Element]:
        """Draw a state: its name in a box, that of one that has ended with a double edge, and its line."""
        x, ended = self._x(name), name in self._chart.ended
        wide = COLUMN_WIDTH - 10
        style = "gone" if name == GONE else "ended" if ended else "going"
        parts = [element("line", class_=f"state {style}", x1=x, x2=x, y1=HEAD_HEIGHT - 8, y2=height)]
        box = {"x": x - wide / 2, "y": 6, "width": wide, "height": 30, "rx": 8}
        parts.append(element("rect", class_=f"state {style}", **box))
        if ended:
            inner = {"x": x - wide / 2 + 3, "y": 9, "width": wide - 6, "height": 24, "rx": 6}
            parts.append(element("rect", class_=f"state {style} inner", **inner))
        shown = wrapped(name, 15, 1)[0]
        said = element("text", shown, class_="state", x=x, y=26, text_anchor="middle")
        return [*parts, said]

    def _seen(self, way: _Way) -> int:
        return 0 if self._witnessed is None else self._witnessed.get(way.clause, 0)

    def _row(self, way: _Way, top: int) -> Element:
        """Draw one sentence: a dot in each state that it begins in, a tip in each that it leads to."""
        seen, y = self._seen(way), top + ROW_HEIGHT // 2
        style = "unknown" if self._witnessed is None else "seen" if seen else "never"
        row = element("g", class_=f"way {style}")
        row.append(element("title", self._said(way, seen)))
        sign = "" if self._witnessed is None else "✓ " if seen else "○ "
        lines = wrapped(f"{sign}{way.label}", LABEL_SIGNS, 2)
        for index, line in enumerate(lines):
            base = y + 4 + (index - (len(lines) - 1) / 2) * 13
            row.append(element("text", line, x=4, y=base))
        sources = [self._x(name) for name in way.sources if name]
        targets = [self._x(name) for name in way.targets]
        if way.stays:
            for x in sources:
                row.append(element("path", class_="stays", d=f"M{x:.0f},{y - 6} h13 a6,6 0 0 1 0,12 h-5"))
                row.append(element("path", class_="tip", d=_tip(x, y + 6, left=True)))
                row.append(element("circle", class_="from", cx=x, cy=y - 6, r=4.5))
            return row
        if not sources:  # it makes the record
            sources = [LABEL_COLUMN - 6.0]
        ends = [*sources, *targets]
        row.append(element("line", class_="way", x1=min(ends), x2=max(ends), y1=y, y2=y))
        for x in sources:
            row.append(element("circle", class_="from", cx=x, cy=y, r=4.5))
        for x in targets:
            row.append(self._end(x, y, sources))
        return row

    def _end(self, x: float, y: int, sources: Sequence[float]) -> Element:
        if x in sources:  # it may also stay there
            return element("circle", class_="both", cx=x, cy=y, r=8)
        nearest = min(sources, key=lambda each: abs(each - x))
        return element("path", class_="tip", d=_tip(x, y, left=nearest > x))

    def _said(self, way: _Way, seen: int) -> str:
        begins = " or ".join(filter(None, way.sources)) or "nothing"
        leads = "nothing moves" if way.stays else f"to {' or '.join(way.targets)}"
        told = "" if self._witnessed is None else f"; witnessed {number(seen, 'time')}" if seen else "; never witnessed"
        return f"{way.label}: from {begins}, {leads} ({way.clause}){told}"


def _tip(x: float, y: float, *, left: bool) -> str:
    back = 10 if left else -10
    return f"M{x:.0f},{y:.0f} l{back},-5.5 v11 Z"
