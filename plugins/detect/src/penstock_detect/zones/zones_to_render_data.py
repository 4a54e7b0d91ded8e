"""ZonesToRenderDataCalculator: lines, zones and counts as drawings."""

from __future__ import annotations

from math import hypot, isfinite
from typing import TYPE_CHECKING, Final

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock_detect.zones.counts import ZoneCounts
from penstock_formats import RenderData

if TYPE_CHECKING:
    from penstock_detect.zones.counts import LineCount, ZoneCount
    from penstock_detect.zones.geometry import Point

#: Red, green and blue, 0 to 255; each line and zone has the next one.
_COLORS: Final = (
    (255, 196, 0), (0, 200, 255), (255, 90, 120), (120, 230, 90), (190, 130, 255), (255, 140, 30),
)  # fmt: skip
_OUTLINE: Final = {"r": 0, "g": 0, "b": 0}
#: Length of the arrow that shows the first direction, as a part of the image.
_ARROW: Final = 0.05
#: Distance of a line of text to the next, in heights of the letters.
_SPACING: Final = 1.35


@attrs.frozen(kw_only=True)
class ZonesToRenderDataCalculatorOptions:
    """How lines, zones and counts are drawn.

    Attributes:
        thickness: of lines, in pixels.
        font_height: of counts, as a part of the image's height.
        shows_counts: whether names and counts are written.
        shows_labels: whether counts are written for each class too.
    """

    thickness: float = 2.0
    font_height: float = 0.035
    shows_counts: bool = True
    shows_labels: bool = False

    def __attrs_post_init__(self) -> None:
        if not (isfinite(self.thickness) and self.thickness > 0):
            raise InvalidArgumentError(
                f"zones to render data: thickness is {self.thickness:g}, but must be above 0"
            )
        if not 0 < self.font_height <= 1:
            raise InvalidArgumentError(
                f"zones to render data: font_height is {self.font_height:g}, but must be above 0, at most 1"
            )


class ZonesToRenderDataCalculator(penstock.Calculator):
    """Makes a drawing of the lines and zones that ZonesCalculator counts, with the counts.

    Input: COUNTS (ZoneCounts). Output: RENDER_DATA (RenderData, for an AnnotationOverlayCalculator), at each
    timestamp of COUNTS. Timestamp offset 0.

    A line has an arrow for its first direction, and beside its middle its name and how often it was crossed
    in both directions. A zone has its edges, and in its middle its name, how many are there now, and how many
    have entered. With `shows_labels` a line of text follows for each class. The scene_tags are LINE, ARROW,
    ZONE and COUNT.

    Options `ZonesToRenderDataCalculatorOptions`: `thickness` (2 pixels), `font_height` (0.035 of the image's
    height), `shows_counts` (true), `shows_labels` (false).

    Raises in `get_contract`: InvalidArgumentError for options out of range.

    Config::

        node {
          calculator: "ZonesToRenderDataCalculator"
          input_stream: "COUNTS:counts"
          output_stream: "RENDER_DATA:counts_to_draw"
        }
    """

    Options = ZonesToRenderDataCalculatorOptions

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Declare the ports; check the options."""
        cc.options(ZonesToRenderDataCalculatorOptions)
        cc.inputs["COUNTS"].set(ZoneCounts, "counts of lines and zones")
        cc.outputs["RENDER_DATA"].set(RenderData, "the drawing")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: penstock.CalculatorContext) -> None:
        """Read the options."""
        self._options = cc.options(ZonesToRenderDataCalculatorOptions)

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Make one drawing."""
        if cc.inputs["COUNTS"].is_empty():
            return
        counts: ZoneCounts = cc.inputs["COUNTS"].payload
        data = RenderData(scene_class="ZONES")
        colors = [{"r": red, "g": green, "b": blue} for red, green, blue in _COLORS]
        for i, zone in enumerate(counts.zones):
            self._draw_zone(zone, colors[(len(counts.lines) + i) % len(colors)], data)
        for i, line in enumerate(counts.lines):
            self._draw_line(line, colors[i % len(colors)], data)
        cc.outputs["RENDER_DATA"].add(data, cc.stamp)

    def _draw_zone(self, zone: ZoneCount, color: dict[str, int], data: RenderData) -> None:
        for start, end in zip(zone.points, (*zone.points[1:], zone.points[0]), strict=True):
            self._stroke("ZONE", start, end, color, data)
        present, entered = sum(zone.present.values()), sum(zone.entered.values())
        texts = [f"{zone.name}: {present} now, {entered} entered"]
        texts += [
            f"{label}: {zone.present.get(label, 0)} now, {count} entered"
            for label, count in zone.entered.items()
        ]
        corners = zone.points
        middle = tuple(sum(one[axis] for one in corners) / len(corners) for axis in (0, 1))
        self._write(texts, middle[0], middle[1], color, data)

    def _draw_line(self, line: LineCount, color: dict[str, int], data: RenderData) -> None:
        start, end = line.start, line.end
        self._stroke("LINE", start, end, color, data)
        x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        length = hypot(end[0] - start[0], end[1] - start[1])
        to_x, to_y = (start[1] - end[1]) / length * _ARROW, (end[0] - start[0]) / length * _ARROW
        data.render_annotations.add(
            scene_tag="ARROW",
            thickness=self._options.thickness,
            color=color,
            arrow={"x_start": x, "y_start": y, "x_end": x + to_x, "y_end": y + to_y, "normalized": True},
        )
        texts = [f"{line.name}: {_ways(line, line.totals)}"]
        texts += [f"{label}: {_ways(line, ways)}" for label, ways in line.by_label.items()]
        self._write(texts, x - to_x, y - to_y, color, data)

    def _stroke(self, tag: str, start: Point, end: Point, color: dict[str, int], data: RenderData) -> None:
        ends = {"x_start": start[0], "y_start": start[1], "x_end": end[0], "y_end": end[1]}
        data.render_annotations.add(
            scene_tag=tag,
            thickness=self._options.thickness,
            color=color,
            line={**ends, "normalized": True},
        )

    def _write(  # what a text is
        self, texts: list[str], x: float, y: float, color: dict[str, int], data: RenderData
    ) -> None:
        options = self._options
        if not options.shows_counts:
            return
        shown = texts if options.shows_labels else texts[:1]
        for i, words in enumerate(shown):
            data.render_annotations.add(
                scene_tag="COUNT",
                thickness=max(options.thickness / 2, 1.0),
                color=color,
                text={
                    "display_text": words,
                    "left": x,
                    "baseline": y + i * options.font_height * _SPACING,
                    "font_height": options.font_height,
                    "normalized": True,
                    "center_horizontally": True,
                    "outline_thickness": 2.0,
                    "outline_color": _OUTLINE,
                },
            )


def _ways(line: LineCount, counts: tuple[int, int]) -> str:
    return f"{counts[0]} {line.directions[0]}, {counts[1]} {line.directions[1]}"
