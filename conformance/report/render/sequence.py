"""A counterexample as a sequence drawing: the kit on the left, the system on the right, the calls from top to bottom.

One idea: a drawing that needs no width. Places across are percentages and texts stand on lines of a fixed length, so that
it is read on a telephone and on a wide screen. Calls at once have a lane for each caller, in which a bar goes from where
a call began to where it came back.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from conformance.report import number
from conformance.report.render.svg import element, text_of, wrapped
from conformance.verdict import NO_ANSWER, Counterexample, Made

SIGNS_ON_A_LINE = 44  # characters on a line
MOST_LINES_OF_ONE = 4  # of a call or a reply that is right; what is wrong is shown whole
LINE_HEIGHT = 17
REPEATS, LONGEST_CYCLE = 4, 3  # calls that come so often one after the other are drawn once
KIT, SYSTEM = 2.5, 97.5  # percent across


def sequence(found: Counterexample, name: str) -> str:
    """Return the drawing of a counterexample as SVG; empty where the report does not hold its calls."""
    return _CallDrawing(found).drawn(name) if found.played else ""


def letters(count: int) -> list[str]:
    """Return names for calls at once: A, B, …, Z, A2, …."""
    rounds = itertools.count(1)
    names = (f"{sign}{'' if turn == 1 else turn}" for turn in rounds for sign in string.ascii_uppercase)
    return list(itertools.islice(names, count))


class _CallDrawing:
    """A drawing that grows downwards; `_y` is where it ends."""

    def __init__(self, found: Counterexample) -> None:
        self._found = found
        self._y = 8
        self._parts: list[Element] = []

    def drawn(self, name: str) -> str:
        """Return the whole."""
        steps = [list(calls) for _, calls in itertools.groupby(self._found.played, key=lambda each: each.step)]
        self._heads()
        before, index = 0, 0
        while index < len(steps):
            step = steps[index]
            if step[0].step > before + 1:
                self._left_out(f"{number(step[0].step - before - 1, 'step')} left out here")
            length, times = _cycle(steps, index)
            for each in steps[index : index + length]:
                self._step(each)
            if times > 1:
                self._left_out(_again(steps[index : index + length], times - 1))
            index += length * times
            before = steps[index - 1][0].step
        self._note()
        self._y += 4
        root = element("svg", class_="sequence", role="img", aria_label=self._said(name), width="100%", height=self._y)
        lines = [element("line", class_="lane", x1=f"{x}%", x2=f"{x}%", y1=30, y2=self._y - 4) for x in (KIT, SYSTEM)]
        root.extend([*lines, *self._parts])
        return text_of(root)

    def _said(self, name: str) -> str:
        played = self._found.played
        wrong = [f"{each.call} → {each.gave or 'nothing'}" for each in played if each.wrong]
        shows = f"; it goes wrong at {'; '.join(wrong)}" if wrong else ""
        return f"{name}: {number(self._found.calls, 'call')} of the kit to the system, one below the other{shows}"

    def _heads(self) -> None:
        self._line("kit", "head", 0)
        self._parts.append(element("text", "system", class_="head end", x="100%", y=self._y + 12))
        self._y += 26

    def _step(self, calls: Sequence[Made]) -> None:
        if len(calls) == 1:
            self._call(calls[0])
        else:
            self._at_once(calls)

    # ── One call after the other ──

    def _call(self, made: Made) -> None:
        most = 0 if made.wrong else MOST_LINES_OF_ONE
        self._text(made.call, "call", most)
        self._arrow(KIT, SYSTEM, "there")
        style = "bad" if made.wrong else "gave"
        for signal in made.signals:
            self._text(signal, style, most, "↯ ")
        if made.gave or made.wrong:
            self._text(made.gave or "nothing", style, most, "✗ " if made.wrong else "")
        if made.gave != NO_ANSWER and (made.gave or made.signals or made.wrong):
            self._arrow(SYSTEM, KIT, "back bad" if made.wrong else "back")
        if made.wrong:
            self._text(self._found.expected, "fine-note", MOST_LINES_OF_ONE, "✓ expected: ")
        self._y += 6

    def _arrow(self, start: float, end: float, style: str) -> None:
        y = self._y + 4
        point = -8 if end > start else 8
        self._parts.append(element("line", class_=f"arrow {style}", x1=f"{start}%", x2=f"{end}%", y1=y, y2=y))
        tip = element("svg", x=f"{end}%", y=y, overflow="visible")
        tip.append(element("path", class_=f"tip {style}", d=f"M{point},-4.5 L0,0 L{point},4.5 Z"))
        self._parts.append(tip)
        self._y += 14

    # ── Calls at once ──

    def _at_once(self, calls: Sequence[Made]) -> None:
        frame = element("rect", class_="frame", x="0.5%", width="99%", y=self._y, rx=8)
        self._parts.append(frame)
        top = self._y
        self._y += 6
        callers = sorted({each.caller for each in calls})
        self._line(f"at once, by {number(len(callers), 'caller')}", "head", 2.5)
        self._y += LINE_HEIGHT + 4
        named = dict(zip(map(id, calls), letters(len(calls)), strict=True))
        times = [each.began for each in calls] + [each.ended for each in calls if each.ended]
        first, last = min(times), max(*times, min(times) + 1)
        for caller in callers:
            lane = [each for each in calls if each.caller == caller]
            self._parts.append(
                element("line", class_="track", x1="4%", x2="96%", y1=self._y + 10, y2=self._y + 10),
            )
            for each in lane:
                self._bar(each, named[id(each)], first, last)
            self._y += 24
            for each in lane:
                self._told(each, named[id(each)])
            self._y += 6
        self._verdict(calls, named)
        frame.set("height", str(self._y - top + 4))
        self._y += 14

    def _bar(self, made: Made, name: str, first: int, last: int) -> None:
        """Draw from where a call began to where it came back; one that did not is open at the end."""
        scale = 88 / (last - first)
        start = 4 + (made.began - first) * scale
        end = 4 + (made.ended - first) * scale if made.ended else 96.0
        style = "bad" if made.wrong else "fine" if made.place else "plain"
        open_ = "" if made.ended else " open"
        box = {"x": f"{start:.2f}%", "width": f"{max(end - start, 4):.2f}%", "y": self._y, "height": 20, "rx": 5}
        self._parts.append(element("rect", class_=f"bar {style}{open_}", **box))
        sign = f"✗ {name}" if made.wrong else name
        middle = f"{(start + max(end, start + 4)) / 2:.2f}%"
        self._parts.append(element("text", sign, class_=f"name {style}", x=middle, y=self._y + 14))

    def _told(self, made: Made, name: str) -> None:
        most = 0 if made.wrong else MOST_LINES_OF_ONE
        self._text(made.call, "call", most, f"{name} ")
        style, sign = ("bad", "✗ ") if made.wrong else ("gave", "→ ")
        if made.gave or made.wrong:
            self._text(made.gave or "nothing", style, most, f"{' ' * (len(name) + 1)}{sign}")
        for signal in made.signals:
            self._text(signal, "gave", most, f"{' ' * (len(name) + 1)}↯ ")

    def _verdict(self, calls: Sequence[Made], named: dict[int, str]) -> None:
        """Say which part some order explains, and which calls are in none."""
        order = [named[id(each)] for each in sorted(calls, key=lambda each: each.place) if each.place]
        wrong = [named[id(each)] for each in calls if each.wrong]
        if unanswered := [named[id(each)] for each in calls if each.gave == NO_ANSWER]:
            self._text(f"No answer: {', '.join(unanswered)}.", "bad", 0, "✗ ")
            return
        if order and len(order) == len(calls):
            self._text(f"In the order {', '.join(order)} each reply is right, but not all the signals.", "note")
        elif order:
            self._text(f"The longest part that some order explains: {', '.join(order)}.", "fine-note", 0, "✓ ")
        if wrong:
            self._text(f"No order explains {', '.join(wrong)} as well.", "bad", 0, "✗ ")

    # ── Texts ──

    def _note(self) -> None:
        """Say at the end what is wrong, where no call is: a claim of the row tells it, or the signals do."""
        if not any(each.wrong for each in self._found.played):
            self._text(self._found.expected, "fine-note", MOST_LINES_OF_ONE, "✓ expected: ")
            self._text(self._found.seen, "bad", MOST_LINES_OF_ONE, "✗ seen: ")

    def _left_out(self, said: str) -> None:
        self._text(said, "note", 0, "⋮ ")
        self._y += 6

    def _text(self, said: str, style: str, most: int = 0, before: str = "") -> None:
        for line in wrapped(said, SIGNS_ON_A_LINE, most, before):
            self._line(line, style)
            self._y += LINE_HEIGHT

    def _line(self, said: str, style: str, x: float = KIT + 1.5) -> None:
        self._parts.append(element("text", said.replace(" ", "\u00a0"), class_=style, x=f"{x}%", y=self._y + 12))


def _cycle(steps: Sequence[Sequence[Made]], index: int) -> tuple[int, int]:
    """Return how many steps from here on come again and again, and how often; one step once if none do."""
    for length in range(1, LONGEST_CYCLE + 1):
        pattern = list(_operations(steps[index : index + length]))
        times = 1
        while pattern == list(_operations(steps[index + length * times : index + length * (times + 1)])):
            times += 1
        if len(pattern) == length and "" not in pattern and times >= REPEATS:
            return length, times
    return 1, 1


def _operations(steps: Sequence[Sequence[Made]]) -> Iterator[str]:
    """Walk the operations of steps; an empty name for what is drawn in any case: calls at once, and what is wrong."""
    for step in steps:
        alone = len(step) == 1 and not step[0].wrong
        yield step[0].call.partition("(")[0] if alone else ""


def _again(steps: Sequence[Sequence[Made]], times: int) -> str:
    called = ", ".join(_operations(steps))
    return f"{called}: {times} more times, with arguments of their own"
