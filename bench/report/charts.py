"""Two kinds of charts as SVG: dots on rows, lines over steps. Colours and fonts are the page's, so that they follow its mode.

In: series of points. Out: text. Refuses to know: records, contestants, units beyond how a value is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 420
LABEL_WIDTH = 122
RIGHT = 14
ROW = 22
TOP = 8
AXIS = 26
LINE_HEIGHT = 190
APART = 58  # texts along an axis
COLOURS = 10
CROSS = 9  # from one to the next


@dataclass(frozen=True)
class Point:
    row: str  # or the step on a line
    value: float
    noisy: bool = False  # drawn hollow
    said: str = ""  # when pointed at


@dataclass(frozen=True)
class Series:
    name: str
    points: Sequence[Point]
    colour: int
    letter: str = ""  # drawn in place of a dot, for what is no contestant
    wrong: Sequence[Point] = ()  # where it answered wrongly, or failed: a cross at the edge, for it has no time


def dots(series: Sequence[Series], written: Callable[[float], str], log: bool = True) -> str:
    """A row for each thing measured, a dot for each series."""
    rows = rows_of(series)
    height = TOP + ROW * len(rows) + AXIS
    scale = _Scale([point.value for one in series for point in one.points], LABEL_WIDTH, WIDTH - RIGHT, log)
    parts = [_grid(scale, TOP, height - AXIS, written)]
    for at, row in enumerate(rows):
        y = TOP + ROW * (at + 0.5)
        parts.append(f'<text class="row" x="{LABEL_WIDTH - 8}" y="{y + 4:.1f}">{escape(_short(row))}</text>')
        parts.append(f'<line class="rule" x1="{LABEL_WIDTH}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
    for one in reversed(series):  # the first is drawn last, on top
        for point in one.points:
            y = TOP + ROW * (rows.index(point.row) + 0.5)
            parts.append(_dot(one, point, scale(point.value), y))
    for row, (one, point), number in _crosses(series):
        parts.append(_cross(one, point, LABEL_WIDTH + 5 + CROSS * number, TOP + ROW * (rows.index(row) + 0.5) + 4))
    return _svg(parts, height)


def lines(series: Sequence[Series], written: Callable[[float], str], log: bool = True) -> str:
    """A place for each step, a line for each series."""
    steps = rows_of(series)
    left, bottom = 64, TOP + LINE_HEIGHT
    scale = _Scale([point.value for one in series for point in one.points], bottom, TOP, log)
    width = (WIDTH - RIGHT - left) / max(1, len(steps) - 1)
    parts = []
    for tick in scale.ticks():
        y = scale(tick)
        parts.append(f'<line class="rule" x1="{left}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="row" x="{left - 6}" y="{y + 4:.1f}">{escape(written(tick))}</text>')
    for at, step in enumerate(steps):
        end = "end" if at == len(steps) - 1 and len(steps) > 1 else "start" if at == 0 else "middle"
        parts.append(
            f'<text class="step" text-anchor="{end}" x="{left + at * width:.1f}" y="{bottom + 18}">{escape(step)}</text>'
        )
    for one in reversed(series):
        places = [(left + steps.index(p.row) * width, scale(p.value)) for p in one.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="line c{one.colour % COLOURS}" points="{path}"/>')
        parts += [_dot(one, point, x, y) for point, (x, y) in zip(one.points, places, strict=True)]
    for row, (one, point), number in _crosses(series):
        x = left + steps.index(row) * width
        away = -CROSS if x > WIDTH / 2 else CROSS
        parts.append(_cross(one, point, x + away * number, bottom - 2))
    return _svg(parts, bottom + AXIS)


def rows_of(series: Sequence[Series]) -> list[str]:
    return list(dict.fromkeys(point.row for one in series for point in (*one.points, *one.wrong)))


def _crosses(series: Sequence[Series]) -> Iterator[tuple[str, tuple[Series, Point], int]]:
    """Row by row, numbered."""
    for row in rows_of(series):
        here = [(one, point) for one in series for point in one.wrong if point.row == row]
        yield from ((row, pair, number) for number, pair in enumerate(here))


def _cross(one: Series, point: Point, x: float, y: float) -> str:
    said = escape(f"{one.name}: {point.said}")
    return f'<text class="cross t{one.colour % COLOURS}" x="{x:.1f}" y="{y:.1f}">×<title>{said}</title></text>'


def legend(series: Sequence[Series]) -> str:
    marks = (f"<b>{one.letter}</b>" if one.letter else f'<i class="c{one.colour % COLOURS}"></i>' for one in series)
    items = (f"<li>{mark}{escape(one.name)}</li>" for mark, one in zip(marks, series, strict=True))
    crosses = "<li><b>×</b>wrong or failed</li>" if any(one.wrong for one in series) else ""
    return f'<ul class="legend">{"".join(items)}{crosses}</ul>'


def _dot(one: Series, point: Point, x: float, y: float) -> str:
    kind = "noisy" if point.noisy else "sure"
    said = escape(f"{one.name}: {point.said}")
    if one.letter:
        return f'<text class="letter" x="{x:.1f}" y="{y + 4:.1f}">{one.letter}<title>{said}</title></text>'
    radius = 6 if one.colour == 0 else 4.5
    return f'<circle class="{kind} c{one.colour % COLOURS}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"><title>{said}</title></circle>'


def _grid(scale: _Scale, top: float, bottom: float, written: Callable[[float], str]) -> str:
    """A line for each tick; its text where there is room."""
    parts = []
    last = -float(APART)
    for tick in scale.ticks():
        x = scale(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>')
        if x - last < APART:
            continue
        last = x
        anchor, x = ("end", WIDTH - 1.0) if x > WIDTH - APART / 2 else ("middle", x)
        parts.append(
            f'<text class="step" text-anchor="{anchor}" x="{x:.1f}" y="{bottom + 18}">{escape(written(tick))}</text>'
        )
    return "".join(parts)


def _svg(parts: Sequence[str], height: float) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img">{"".join(parts)}</svg>'


def _short(text: str, most: int = 18) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


class _Scale:
    """Values to places, by their logarithm or from nothing."""

    def __init__(self, values: Sequence[float], begin: float, end: float, log: bool) -> None:
        kept = [value for value in values if value > 0] or [1.0]
        self.log = log
        self.begin, self.end = begin, end
        self.low = math.log10(min(kept)) - 0.05 if log else 0.0
        self.high = math.log10(max(kept)) + 0.05 if log else max(kept) * 1.05
        if log and self.high - self.low < 0.7:
            middle = (self.low + self.high) / 2
            self.low, self.high = middle - 0.35, middle + 0.35

    def __call__(self, value: float) -> float:
        place = math.log10(max(value, 1e-12)) if self.log else value
        share = (place - self.low) / (self.high - self.low)
        return self.begin + min(1.0, max(0.0, share)) * (self.end - self.begin)

    def ticks(self) -> list[float]:
        if not self.log:
            step = 10 ** math.floor(math.log10(self.high))
            step = next(s for s in (step / 5, step / 2, step, 2 * step) if self.high / s <= 5)
            return [step * n for n in range(int(self.high / step) + 1)]
        decades = range(math.floor(self.low), math.ceil(self.high) + 1)
        steps = (1,) if self.high - self.low > 2.2 else (1, 3) if self.high - self.low > 1 else (1, 2, 5)
        found = [step * 10.0**decade for decade in decades for step in steps]
        return [value for value in found if self.low <= math.log10(value) <= self.high]
