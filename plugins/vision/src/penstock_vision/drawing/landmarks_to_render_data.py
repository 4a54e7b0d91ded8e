"""Landmarks as drawings: points, and lines between some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import LandmarkList, NormalizedLandmarkList, RenderData
from penstock_vision.messages.landmarks_to_render_data_pb2 import LandmarksToRenderDataCalculatorOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock_formats import Color

    _Landmarks: TypeAlias = LandmarkList | NormalizedLandmarkList
    _Rgb: TypeAlias = dict[str, int]

_INPUTS: Final = {"LANDMARKS": LandmarkList, "NORM_LANDMARKS": NormalizedLandmarkList}
#: Values of z that differ by less show no depth.
_DEPTHS_DIFFER: Final = 1e-3
#: Keeps the division by the range of z finite.
_TINY: Final = 1e-6
#: C++ `numeric_limits<float>::min()`, where the reference begins to look for the largest z.
_SMALLEST_POSITIVE: Final = np.finfo(np.float32).tiny


class LandmarksToRenderDataCalculator(penstock.Calculator):
    """Make a drawing of landmarks: a point for each, and lines between those that the options connect.

    Inputs: exactly one of LANDMARKS (LandmarkList, in pixels) and NORM_LANDMARKS (NormalizedLandmarkList,
    in shares of the image's sides); RENDER_SCALE (float, optional), by which the thickness of lines and
    points is multiplied. Output: RENDER_DATA (RenderData; the lines first, then the points with scene_tag
    KEYPOINT); nothing at a timestamp without landmarks. Timestamp offset 0.

    With `visualize_landmark_depth`, and if the z of the landmarks differ by more than 0.001, colours and
    sizes show depth: points are brighter and larger the smaller their z, from max_depth_circle_thickness at
    the smallest z to min_depth_circle_thickness at the largest, and lines change their colour from end to
    end. If every z is negative, the largest is taken as 0, as in the reference. Connections to landmarks
    that a list does not have are left out.

    Options `LandmarksToRenderDataCalculatorOptions`: `landmark_connections` (pairs of indices),
    `landmark_color` and `connection_color` (black), `thickness` (1, pixels), `render_landmarks` (true),
    `visualize_landmark_depth` (true), `utilize_visibility` and `utilize_presence` (false) with
    `visibility_threshold` and `presence_threshold` (0): a landmark below it is left out with its lines;
    `min_depth_circle_thickness` (0) and `max_depth_circle_thickness` (18, pixels), `min_depth_line_color`
    (black, at the largest z), `max_depth_line_color` (white).

    Raises when the graph is loaded: InvalidArgumentError unless exactly one input with landmarks is
    connected. In `open`: the same for an odd number of landmark_connections, or a negative one. In
    `process`: the same if RENDER_SCALE has no packet where there are landmarks.

    Source of the behaviour: MediaPipe `calculators/util/landmarks_to_render_data_calculator.cc`.

    Config::

        node {
          calculator: "LandmarksToRenderDataCalculator"
          input_stream: "NORM_LANDMARKS:hand"
          output_stream: "RENDER_DATA:hand_to_draw"
          options {
            [penstock.LandmarksToRenderDataCalculatorOptions.ext] {
              landmark_connections: [0, 1, 1, 2]
              landmark_color { r: 255 g: 0 b: 0 }
              connection_color { r: 0 g: 255 b: 0 }
              thickness: 4
              visualize_landmark_depth: false
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the one input with landmarks.

        Raises:
            InvalidArgumentError: there is none, or both.
        """
        connected = [tag for tag in _INPUTS if tag in cc.inputs]
        if len(connected) != 1:
            raise InvalidArgumentError(
                f"node {cc.node_name!r}: inputs with landmarks to draw are {', '.join(connected) or 'none'}; "
                f"connect exactly one of {', '.join(_INPUTS)}"
            )
        cc.inputs[connected[0]].set(_INPUTS[connected[0]], "landmarks")
        cc.inputs["RENDER_SCALE"].set(float, "factor of the thickness").optional()
        cc.outputs["RENDER_DATA"].set(RenderData, "the drawing")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options.

        Raises:
            InvalidArgumentError: the connections are no pairs of indices.
        """
        options = cc.options(LandmarksToRenderDataCalculatorOptions)
        ends = self._ends_of(options)
        if len(ends) % 2:
            raise InvalidArgumentError(
                f"landmark_connections has {len(ends)} entries, but must have pairs; add or remove one in "
                "the options"
            )
        if ends and min(ends) < 0:
            raise InvalidArgumentError(
                f"landmark_connections has {min(ends)}, but indices of rendered landmarks are 0 or more; "
                "change it in the options"
            )
        self._options = options
        self._connections = list(zip(ends[::2], ends[1::2], strict=True))
        self._tag = next(tag for tag in _INPUTS if tag in cc.inputs)
        self._has_scale = "RENDER_SCALE" in cc.inputs
        self._landmark_color = _rgb(options.landmark_color)
        self._connection_color = _rgb(options.connection_color)
        far = options.min_depth_line_color if options.HasField("min_depth_line_color") else None
        near = options.max_depth_line_color if options.HasField("max_depth_line_color") else None
        self._line_colors = (
            np.array((0, 0, 0) if far is None else (far.r, far.g, far.b), np.float32),
            np.array((255, 255, 255) if near is None else (near.r, near.g, near.b), np.float32),
        )

    def process(self, cc: CalculatorContext) -> None:
        """Make one drawing.

        Raises:
            InvalidArgumentError: RENDER_SCALE has no packet.
        """
        port = cc.inputs[self._tag]
        if port.is_empty():
            return
        thickness = np.float32(self._options.thickness)
        if self._has_scale:
            scale = cc.inputs["RENDER_SCALE"]
            if scale.is_empty():
                raise InvalidArgumentError(
                    f"input {scale.name!r} has no packet at timestamp {cc.stamp}, where there are "
                    "landmarks; send a render scale with each packet of landmarks"
                )
            thickness *= np.float32(scale.payload)
        data = RenderData()
        self._draw(port.payload, float(thickness), data)
        cc.outputs["RENDER_DATA"].add(data, cc.stamp)

    @staticmethod
    def _ends_of(options: LandmarksToRenderDataCalculatorOptions) -> list[int]:
        """Return the indices that are connected, in pairs."""
        return list(options.landmark_connections)

    def _draw(self, landmarks: _Landmarks, thickness: float, data: RenderData) -> None:
        is_normalized = self._tag == "NORM_LANDMARKS"
        points: Any = landmarks.landmark  # of either type
        is_drawn = self._drawn(points)
        depths = _depths(points) if self._options.visualize_landmark_depth else None
        lines = self._connected(len(points), is_drawn)
        if depths is None:
            for start, end in lines:
                data.render_annotations.add(
                    line=_ends(points[start], points[end], is_normalized=is_normalized),
                    color=self._connection_color,
                    thickness=thickness,
                )
        else:
            colors = self._colors(depths)
            for start, end in lines:
                line: dict[str, Any] = _ends(points[start], points[end], is_normalized=is_normalized)
                line["color1"], line["color2"] = colors[start], colors[end]
                data.render_annotations.add(gradient_line=line, thickness=thickness)
        if not self._options.render_landmarks:
            return
        styles = None if depths is None else self._styles(depths)
        color: _Rgb = self._landmark_color
        for i, point in enumerate(points):
            if not is_drawn[i]:
                continue
            if styles is not None:
                grey, thickness = styles[i]
                color = {"r": grey, "g": grey, "b": grey}
            data.render_annotations.add(
                scene_tag="KEYPOINT",
                color=color,
                thickness=thickness,
                point={"x": point.x, "y": point.y, "normalized": is_normalized},
            )

    def _drawn(self, points: Any) -> list[bool]:
        """Return which landmarks are visible and present enough."""
        options = self._options
        if not options.utilize_visibility and not options.utilize_presence:
            return [True] * len(points)
        visible, present = np.float32(options.visibility_threshold), np.float32(options.presence_threshold)
        return [
            not (options.utilize_visibility and point.HasField("visibility") and point.visibility < visible)
            and not (options.utilize_presence and point.HasField("presence") and point.presence < present)
            for point in points
        ]

    def _connected(self, count: int, is_drawn: list[bool]) -> list[tuple[int, int]]:
        return [
            (start, end)
            for start, end in self._connections
            if start < count and end < count and is_drawn[start] and is_drawn[end]
        ]

    def _colors(self, depths: NDArray[np.float64]) -> list[_Rgb]:
        """Return the colour of the lines at each landmark, computed in 32 bits."""
        weights = depths.astype(np.float32)[:, None]
        far, near = self._line_colors
        mixed = far * weights + near * (np.float32(1) - weights)
        return [{"r": r, "g": g, "b": b} for r, g, b in np.trunc(mixed).astype(np.int32).tolist()]

    def _styles(self, depths: NDArray[np.float64]) -> list[tuple[int, int]]:
        """Return grey value and radius of each point, computed in 32 bits."""
        greys = 255 - np.trunc((depths * 255).astype(np.float32)).astype(np.int32)
        smallest = np.float32(self._options.min_depth_circle_thickness)
        growth = np.float32(self._options.max_depth_circle_thickness) - smallest
        radii = smallest + (np.float32(1) - depths.astype(np.float32)) * growth
        return list(zip(greys.tolist(), np.trunc(radii).astype(np.int32).tolist(), strict=True))


def _depths(points: Any) -> NDArray[np.float64] | None:
    """Return each landmark's z as a share of their range; None where they hardly differ."""
    if not points:
        return None
    z = np.array([point.z for point in points], np.float32)
    low = z.min()
    high = max(z.max(), _SMALLEST_POSITIVE)
    if not float(high - low) > _DEPTHS_DIFFER:
        return None
    return np.asarray((z - low).astype(np.float64) / (float(high - low) + _TINY))


def _ends(start: Any, end: Any, *, is_normalized: bool) -> dict[str, Any]:
    return {
        "x_start": start.x,
        "y_start": start.y,
        "x_end": end.x,
        "y_end": end.y,
        "normalized": is_normalized,
    }


def _rgb(color: Color) -> _Rgb:
    return {"r": color.r, "g": color.g, "b": color.b}
