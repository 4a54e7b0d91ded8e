"""Pictures of a run that move: a graph whose nodes work, frames that follow each other, calls over time.

CSS changes parts of an SVG picture at given moments, again and again. A viewer that runs no animations, and a
reader who wants none (`prefers-reduced-motion`), sees the last moment.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import attrs
from drawing.panels import Panel

from penstock_views.draw.markup import element, number, text_width, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Of frames, in turn.
COLOURS: Final = ("#4a78ad", "#c4622d", "#3f8f5f", "#7a5fb5", "#a08d2a", "#b5446e")
#: The share of a round that plays; the rest shows the last moment.
_PLAYED: Final = 0.9
#: The name and the box of a node in a drawing of a graph, and how far the drawing is moved.
_NODE: Final = re.compile(
    r'<g class="pk-node"><title>(?P<name>[^\n<]*)[^<]*</title><rect x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" '
    r'width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)"'
)
_MARGIN: Final = 14.0


@attrs.frozen
class Call:
    """A call of a node."""

    #: Its name.
    node: str
    #: The number of the frame that it worked on.
    frame: int
    #: `start`, `end`: milliseconds.
    start: float
    end: float

    @property
    def colour(self) -> int:
        """Return the number of the frame's colour."""
        return self.frame % len(COLOURS)


class Reel:
    """The animations of one picture, all of the same length.

    Args:
        long: how long the run is that they show, in milliseconds, as all moments are.
        seconds: how long a round takes.
    """

    def __init__(self, long: float, seconds: float) -> None:
        self._long = long
        self._seconds = seconds
        self._rules: list[str] = []

    @property
    def slowness(self) -> float:
        """Return how many times longer the animation takes than the run."""
        return self._seconds * _PLAYED * 1000 / self._long

    def changing(self, name: str, moments: Sequence[tuple[float, str]]) -> str:
        """Return the class of a part whose property `name` takes a value at each moment, in order."""
        steps = "".join(f"{self._at(moment)} {{ {name}: {value} }} " for moment, value in moments)
        return self._added(steps, "step-end")

    def sliding(self, distance: float) -> str:
        """Return the class of a part that moves evenly to the right, by a distance in pixels."""
        there = f"transform: translate({number(distance)}px)"
        steps = f"0% {{ transform: none }} {self._at(self._long)} {{ {there} }} 100% {{ {there} }} "
        return self._added(steps, "linear")

    def style(self) -> str:
        """Return the rules of all classes."""
        return f"@media (prefers-reduced-motion: no-preference) {{\n{''.join(self._rules)}}}\n"

    def _at(self, moment: float) -> str:
        return f"{number(100 * _PLAYED * moment / self._long)}%"

    def _added(self, steps: str, pace: str) -> str:
        name = f"moves-{len(self._rules)}"
        played = f".pk .{name} {{ animation: {name} {number(self._seconds)}s {pace} infinite }}"
        self._rules.append(f"@keyframes {name} {{ {steps}}}\n{played}\n")
        return name


def of_film(images: Sequence[Panel], changes: Sequence[float], reel: Reel) -> Panel:
    """Return a panel with images of one size, each of which hides those before it from its moment on."""
    shown = [
        element("g", image.content, class_=reel.changing("opacity", [(0, "0"), (change, "1")]))
        for image, change in zip(images, changes, strict=True)
    ]
    return Panel(images[0].width, images[0].height, "".join(shown))


def of_work(graph: Panel, calls: Sequence[Call], reel: Reel) -> Panel:
    """Return a drawing of a graph whose nodes have the colour of the frame that they work on."""
    lights = []
    for node in _NODE.finditer(graph.content):
        moments = [(0.0, "none")]
        for call in calls:
            if call.node == node["name"]:
                moments += [(call.start, COLOURS[call.colour]), (call.end, "none")]
        box = {side: float(node[side]) for side in ("width", "height")}
        place = {"x": float(node["x"]) + _MARGIN, "y": float(node["y"]) + _MARGIN}
        lights.append(element("rect", **place, **box, rx=5, class_=f"light {reel.changing('fill', moments)}"))
    return Panel(graph.width, graph.height, graph.content + "".join(lights))


def of_calls(calls: Sequence[Call], rows: Sequence[str], width: float, reel: Reel) -> Panel:
    """Return a panel with calls as bars over time: a row for each node, a colour for each frame.

    A line passes over the bars, which are pale before it reaches them.

    Args:
        calls: what is drawn, from 0 ms to the end of the last.
        rows: names of nodes, from above.
        width: in pixels.
        reel: gets what moves.
    """
    long = max(call.end for call in calls)
    left = max(text_width(name, 11, bold=True) for name in rows) + 12
    height = 26.0 * len(rows) + 22
    parts = list(_milliseconds(long, left, width, height))
    for row, name in enumerate(rows):
        parts.append(words(name, left - 12, 26 * row + 15, class_="row"))
        parts += [
            _bar(call, left, 26.0 * row, (width - left) / long, reel) for call in calls if call.node == name
        ]
    parts.append(_passing_line(left, width, height, reel))
    return Panel(width, height, element("g", "".join(parts), class_="of-calls"))


def _bar(call: Call, left: float, y: float, scale: float, reel: Reel) -> str:
    x, long = left + call.start * scale, max((call.end - call.start) * scale, 1.5)
    colour = f"frame-{call.colour}"
    bar = element("rect", x=x, y=y + 1, width=long, height=20, rx=min(2, long / 2), class_=colour)
    if long > 16:  # noqa: PLR2004  # room for two digits
        bar += words(str(call.frame), x + long / 2, y + 15, class_="inside")
    return element("g", bar, class_=reel.changing("opacity", [(0, "0.2"), (call.start, "1")]))


def _passing_line(left: float, right: float, height: float, reel: Reel) -> str:
    """Return the line that stands where the run is; where nothing moves it is not seen."""
    seen = reel.changing("opacity", [(0, "1")])
    line = element("line", x1=left, y1=0, x2=left, y2=height - 16, class_=f"now {seen}")
    return element("g", line, class_=reel.sliding(right - left))


def _milliseconds(long: float, left: float, width: float, height: float) -> Iterator[str]:
    """Yield the lines of a time axis, about eight of them."""
    step = next(one for one in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**6) if long / one <= 8)  # noqa: PLR2004
    for line in range(int(long / step) + 1):
        x = left + line * step * (width - left) / long
        yield element("line", x1=x, y1=0, x2=x, y2=height - 16, class_="grid")
        if x + text_width("000 ms", 10.5) <= width:
            yield words(f"{line * step} ms", x + 2, height - 4, class_="small")
