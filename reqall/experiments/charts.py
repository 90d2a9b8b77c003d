"""Charts as inline SVG: bars with intervals, sorted differences, lines and points."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from reqall.experiments.markup import Markup, element, joined

COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#edae49", "#6a4c93", "#00798c", "#8d5524", "#5c677d")
INK, GRID = "#1d232b", "#dfe4ea"
WIDTH, HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 44


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its interval; `title` is shown on pointing at it."""

    label: str
    value: float
    low: float
    high: float
    colour: str
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """Points of a system, x ascending."""

    label: str
    points: Sequence[tuple[float, float]]
    colour: str


@dataclass(frozen=True, slots=True)
class _Scale:
    """Maps values to places; `is_log` for values above 0."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (log10(v) if self.is_log else v for v in (self.low, self.high, value))
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def colour(number: int) -> str:
    """Return a colour for the n-th system; they repeat."""
    return COLOURS[number % len(COLOURS)]


def bars(groups: Sequence[tuple[str, Sequence[Bar]]]) -> Markup:
    """Draw groups of bars from 0 to 1, each bar with its interval."""
    y = _Scale(0, 1, HEIGHT - BOTTOM, TOP)
    slot = (WIDTH - LEFT - RIGHT) / max(len(groups), 1)
    drawn: list[Markup] = []
    for number, (label, group) in enumerate(groups):
        width = slot * 0.85 / max(len(group), 1)
        for place, bar in enumerate(group):
            left = LEFT + number * slot + slot * 0.075 + place * width
            middle = left + width / 2
            box = element(
                "rect", x=left, y=y(bar.value), width=max(width - 1, 0.5), height=y(0) - y(bar.value), fill=bar.colour
            )
            drawn.append(element("g", element("title", bar.title), box, _vertical(middle, y(bar.low), y(bar.high))))
        drawn.append(_text(LEFT + (number + 0.5) * slot, HEIGHT - BOTTOM + 16, label))
    return _chart(_y_axis(y, [0, 0.25, 0.5, 0.75, 1]), *drawn)


def differences(rows: Sequence[tuple[str, float]]) -> Markup:
    """Draw values from -1 to 1, sorted, the best on the left; each with a title."""
    ordered = sorted(rows, key=lambda row: -row[1])
    reach = max([0.1, *(abs(value) for _, value in ordered)])
    y = _Scale(-reach, reach, HEIGHT - BOTTOM, TOP)
    width = (WIDTH - LEFT - RIGHT) / max(len(ordered), 1)
    drawn = [
        element(
            "rect",
            element("title", f"{title}: {value:+.4f}"),
            x=LEFT + number * width,
            y=min(y(0), y(value)),
            width=max(width - 0.5, 0.5),
            height=abs(y(0) - y(value)),
            fill=COLOURS[2] if value > 0 else COLOURS[1],
        )
        for number, (title, value) in enumerate(ordered)
    ]
    return _chart(_y_axis(y, [-reach, -reach / 2, 0, reach / 2, reach]), *drawn)


def lines(systems: Sequence[Line], x_label: str) -> Markup:
    """Draw lines over a logarithmic x, values from 0 to 1."""
    places = sorted({x for line in systems for x, _ in line.points})
    x = _Scale(min(places, default=1), max(places, default=1), LEFT + 8, WIDTH - RIGHT - 8, is_log=True)
    y = _Scale(0, 1, HEIGHT - BOTTOM, TOP)
    drawn: list[Markup] = []
    for line in systems:
        points = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in line.points)
        drawn.append(element("polyline", points=points, fill="none", stroke=line.colour, stroke_width=2))
        drawn += [_point(x(at), y(v), line.colour, f"{line.label}, {at:g}: {v:.4f}") for at, v in line.points]
    ticks = [_text(x(at), HEIGHT - BOTTOM + 16, f"{at:g}") for at in places]
    return _chart(_y_axis(y, [0, 0.25, 0.5, 0.75, 1]), *ticks, _x_label(x_label), *drawn)


def scatter(systems: Sequence[Line], x_label: str) -> Markup:
    """Draw points; x is logarithmic when the largest is ten times the smallest."""
    points = [point for line in systems for point in line.points]
    low, high = min((x for x, _ in points), default=1.0), max((x for x, _ in points), default=1.0)
    is_log = low > 0 and high >= 10 * low
    x = _Scale(low if is_log else 0, high, LEFT + 8, WIDTH - RIGHT - 8, is_log)
    values = [value for _, value in points]
    spread = max(values, default=1.0) - min(values, default=0.0)
    margin = max(spread * 0.15, 0.005)
    y = _Scale(min(values, default=0.0) - margin, max(values, default=1.0) + margin, HEIGHT - BOTTOM, TOP)
    drawn = [
        _point(x(at), y(v), line.colour, f"{line.label}: {at:g}, {v:.4f}", 5)
        for line in systems
        for at, v in line.points
    ]
    ticks = [_text(x(at), HEIGHT - BOTTOM + 16, f"{at:.3g}") for at in (x.low, high)]
    return _chart(_y_axis(y, [y.low, (y.low + y.high) / 2, y.high]), *ticks, _x_label(x_label), *drawn)


def legend(entries: Sequence[tuple[str, str]]) -> Markup:
    """Return a list of (label, colour)."""
    items = [
        element("li", element("span", style=f"background:{colour}", class_="key"), label) for label, colour in entries
    ]
    return element("ul", *items, class_="legend")


def _chart(*parts: Markup) -> Markup:
    return element("svg", joined(*parts), viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="chart")


def _y_axis(y: _Scale, ticks: Sequence[float]) -> Markup:
    marks = [
        joined(
            element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(tick), y2=y(tick), stroke=GRID),
            element("text", f"{tick:.3g}", x=LEFT - 6, y=y(tick) + 4, text_anchor="end"),
        )
        for tick in ticks
    ]
    return joined(*marks)


def _x_label(label: str) -> Markup:
    return _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, label)


def _text(x: float, y: float, text: str) -> Markup:
    return element("text", text, x=x, y=y, text_anchor="middle")


def _vertical(x: float, y1: float, y2: float) -> Markup:
    return element("line", x1=x, x2=x, y1=y1, y2=y2, stroke=INK)


def _point(x: float, y: float, fill: str, title: str, radius: float = 3) -> Markup:
    return element("circle", element("title", title), cx=x, cy=y, r=radius, fill=fill)
