"""The curves of drivers as a picture: events a second over the number of drivers, both by powers of ten."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Final

from penstock_views.draw.markup import document, element, number, rules, words
from scale.tables import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scale.outlook import Curve

_WIDTH: Final = 640.0
_HEIGHT: Final = 360.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 130.0, 34.0, 42.0
_COLOURS: Final = ("#4a78ad", "#3f8f5f", "#a08d2a", "#c4622d", "#7a5fb5", "#b5446e")
_STYLE: Final = rules(
    fixed={
        ".title": "font-size: 13px; font-weight: 600",
        ".axis": "font-size: 11px",
        ".ideal": "fill: none; stroke-width: 1.2px; stroke-dasharray: 4 4",
        ".grid": "stroke-width: 1px",
        **{
            f".curve-{i}": f"fill: none; stroke: {colour}; stroke-width: 2.2px"
            for i, colour in enumerate(_COLOURS)
        },
        **{
            f".name-{i}": f"fill: {colour}; font-size: 12px; font-weight: 600"
            for i, colour in enumerate(_COLOURS)
        },
    },
    light={
        ".title, .axis": "fill: #17212b",
        ".grid": "stroke: #e4e8ec",
        ".ideal": "stroke: #8a949e",
    },
    dark={".title, .axis": "fill: #eef3f8", ".grid": "stroke: #2a323b", ".ideal": "stroke: #7d8893"},
)


class _Axes:
    """Where a number of drivers and a rate are in the picture."""

    def __init__(self, drivers: Sequence[int], rates: Sequence[float]) -> None:
        self.most_drivers: Final = max(drivers)
        self.decades: Final = range(floor(log10(min(rates))), ceil(log10(max(rates))) + 1)
        self._x: Final = (_WIDTH - _LEFT - _RIGHT) / max(1.0, log10(self.most_drivers))
        self._y: Final = (_HEIGHT - _TOP - _BOTTOM) / max(1, len(self.decades) - 1)

    def x(self, drivers: float) -> float:
        return _LEFT + log10(drivers) * self._x

    def y(self, rate: float) -> float:
        return _HEIGHT - _BOTTOM - (log10(rate) - self.decades[0]) * self._y


def picture(curves: Sequence[Curve]) -> str:
    """Return an SVG document: a line for each skew, and a dashed one for drivers that nothing slows down."""
    cells = [cell for curve in curves for cell in curve.cells]
    one = max(cell.capacity.rate / cell.drivers for cell in cells)
    axes = _Axes(
        [cell.drivers for cell in cells], [*(cell.capacity.rate for cell in cells), one * cells[-1].drivers]
    )
    parts = [
        words("events a second that no driver falls behind with, simulated", _LEFT, 18, class_="title"),
        *_grid(axes),
        _line(axes, [(1, one), (axes.most_drivers, one * axes.most_drivers)], "ideal"),
    ]
    for i, curve in enumerate(curves):
        points = [(cell.drivers, cell.capacity.rate) for cell in curve.cells]
        parts.append(_line(axes, points, f"curve-{i % len(_COLOURS)}"))
        drivers, rate = points[-1]
        text = f"skew {curve.skew:g}: {short(rate)}"
        parts.append(words(text, axes.x(drivers) + 6, axes.y(rate) + 4, class_=f"name-{i % len(_COLOURS)}"))
    label = "events a second over the number of drivers, a line for each skew of the keys"
    return document(_WIDTH, _HEIGHT, label, _STYLE, parts)


def _grid(axes: _Axes) -> Iterator[str]:
    bottom = _HEIGHT - _BOTTOM
    for decade in range(int(log10(axes.most_drivers)) + 1):
        x = axes.x(10**decade)
        yield element("line", x1=x, y1=_TOP, x2=x, y2=bottom, class_="grid")
        yield words(f"{10**decade:,}", x - 4, bottom + 16, class_="axis")
    yield words("drivers", axes.x(1) - 4, bottom + 32, class_="axis")
    for decade in axes.decades:
        y = axes.y(10**decade)
        yield element("line", x1=_LEFT, y1=y, x2=_WIDTH - _RIGHT, y2=y, class_="grid")
        yield words(short(10**decade), 8, y + 4, class_="axis")


def _line(axes: _Axes, points: Sequence[tuple[float, float]], kind: str) -> str:
    where = " ".join(f"{number(axes.x(drivers))},{number(axes.y(rate))}" for drivers, rate in points)
    return element("polyline", points=where, class_=kind)
