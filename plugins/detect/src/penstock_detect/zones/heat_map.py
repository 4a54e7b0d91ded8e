"""HeatMapCalculator: where things were, and how long."""

from __future__ import annotations

from enum import Enum
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any, Final

import attrs
import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_detect.option_checks import check_least, check_share
from penstock_detect.zones.anchors import Anchor, anchor_of
from penstock_formats import Detection, ImageFormat, ImageFrame
from penstock_formats.api import pass_header

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_CELLS: Final = 4096
_MOST_SPREAD: Final = 100


class HeatColors(Enum):
    """The colours of a heat map, as ColorMapCalculator has them."""

    TURBO = 0
    VIRIDIS = 1
    INFERNO = 2


@attrs.frozen(kw_only=True)
class HeatMapCalculatorOptions:
    """The cells of a heat map, and how it is drawn.

    Attributes:
        columns: cells across, 1 to 4096.
        rows: cells down, 1 to 4096.
        spread: how far a detection warms the cells around it, in cells: the standard deviation; 0: its own
            cell only.
        half_life_ms: after so long half of the heat is left; 0: it stays.
        gap_ms: a pause between frames that is longer counts as so long.
        anchor: the point of a box that stands for it.
        colors: the colours of the drawing.
        maximum: heat that has the last colour, in seconds; 0: the hottest cell of each moment.
        opacity: of the hottest colour over the image, 0 to 1.
    """

    columns: int = 80
    rows: int = 45
    spread: float = 1.5
    half_life_ms: int = 0
    gap_ms: int = 1000
    anchor: Anchor = Anchor.BOTTOM_CENTER
    colors: HeatColors = HeatColors.TURBO
    maximum: float = 0.0
    opacity: float = 0.6

    def __attrs_post_init__(self) -> None:
        for name in ("columns", "rows"):
            check_least(name, getattr(self, name), 1)
            if getattr(self, name) > _MOST_CELLS:
                raise InvalidArgumentError(
                    f"heat map option {name} is {getattr(self, name)}, but must be at most {_MOST_CELLS}"
                )
        if not 0 <= self.spread <= _MOST_SPREAD:
            raise InvalidArgumentError(
                f"heat map option spread is {self.spread:g}, but must be from 0 to {_MOST_SPREAD}"
            )
        check_least("half_life_ms", self.half_life_ms, 0)
        check_least("gap_ms", self.gap_ms, 0)
        check_share("opacity", self.opacity)
        if not (isfinite(self.maximum) and self.maximum >= 0):
            raise InvalidArgumentError(f"heat map option maximum is {self.maximum:g}, but must be 0 or more")


_MAPS: Final = {
    HeatColors.TURBO: cv2.COLORMAP_TURBO,
    HeatColors.VIRIDIS: cv2.COLORMAP_VIRIDIS,
    HeatColors.INFERNO: cv2.COLORMAP_INFERNO,
}
#: How many standard deviations a detection reaches.
_REACH: Final = 3
#: A smaller spread leaves all in one cell.
_LEAST: Final = 0.05
_MOST: Final = 255


class HeatMapCalculator(penstock.Calculator):
    """Sums up for each part of the image how long detections were there, and draws it over the image.

    Inputs: DETECTIONS (list[Detection], tracked or not); IMAGE (optional, ImageFrame of SRGB: drawn on, and
    the size of boxes in pixels). Outputs, each optional: HEAT (ImageFrame of VEC32F1, `columns` x `rows`,
    seconds, new memory, at each timestamp of DETECTIONS; a ColorMapCalculator shows it); IMAGE (ImageFrame of
    SRGB, new memory, at each timestamp of IMAGE: the heat so far over the image, the more the hotter).
    Timestamp offset 0. OpenCV runs without the GIL.

    Each anchor adds the time since the frame before to its cell, or around it by `spread`, so that sums do
    not depend on the rate of frames: all cells together have the seconds that detections were in the image.
    The first frame adds nothing. Anchors outside of the image add nothing.

    Options `HeatMapCalculatorOptions`: `columns` (80), `rows` (45), `spread` (1.5 cells), `half_life_ms` (0:
    heat stays), `gap_ms` (1000), `anchor` (BOTTOM_CENTER), `colors` (TURBO), `maximum` (0: the hottest cell),
    `opacity` (0.6).

    Raises in `get_contract`: InvalidArgumentError for an output IMAGE without the input, and for options out
    of range. In `process`: InvalidArgumentError for a detection without a box, and an image of another
    format.

    Config::

        node {
          calculator: "HeatMapCalculator"
          input_stream: "DETECTIONS:tracked"
          input_stream: "IMAGE:frame"
          output_stream: "IMAGE:drawn"
          node_options {
            [type.googleapis.com/penstock_detect.HeatMapCalculatorOptions] { half_life_ms: 60000 }
          }
        }
    """

    Options = HeatMapCalculatorOptions

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        cc.options(HeatMapCalculatorOptions)
        cc.inputs["DETECTIONS"].set(list[Detection], "what is where")
        cc.inputs["IMAGE"].set(ImageFrame, "images to draw on (SRGB)").optional()
        cc.outputs["HEAT"].set(ImageFrame, "seconds (VEC32F1)").optional()
        cc.outputs["IMAGE"].set(ImageFrame, "images with the heat (SRGB)").optional()
        if "IMAGE" in cc.outputs and "IMAGE" not in cc.inputs:
            raise InvalidArgumentError(
                "the heat map's output IMAGE is connected, but the input IMAGE is not; connect the images "
                "to draw on"
            )
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: penstock.CalculatorContext) -> None:
        """Begin without heat."""
        self._options = options = cc.options(HeatMapCalculatorOptions)
        self._heat = np.zeros((options.rows, options.columns), np.float64)
        self._kernel = _kernel(options.spread)
        self._before: int | None = None
        if "IMAGE" in cc.outputs:
            pass_header(cc.inputs["IMAGE"], cc.outputs["IMAGE"])

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Take in the detections of one timestamp.

        Raises:
            InvalidArgumentError: as the class says.
        """
        frame: ImageFrame | None = None
        if "IMAGE" in cc.inputs and not cc.inputs["IMAGE"].is_empty():
            frame = cc.inputs["IMAGE"].payload
        if not cc.inputs["DETECTIONS"].is_empty():
            self._warm(cc.inputs["DETECTIONS"].payload, int(cc.input_timestamp), frame)
            if "HEAT" in cc.outputs:
                heat = ImageFrame(self._heat.astype(np.float32), ImageFormat.VEC32F1)
                cc.outputs["HEAT"].add(heat, cc.stamp)
        if frame is not None and "IMAGE" in cc.outputs:
            if frame.format != ImageFormat.SRGB:
                raise InvalidArgumentError(
                    f"input {cc.inputs['IMAGE'].name!r} has an image of {frame.format.name}, but under a "
                    "heat map it must be SRGB; convert it before by a ColorConvertCalculator"
                )
            cc.outputs["IMAGE"].add(ImageFrame(self._drawn(frame.array), ImageFormat.SRGB), cc.stamp)

    def _warm(self, detections: list[Detection], now: int, frame: ImageFrame | None) -> None:
        options = self._options
        elapsed = 0 if self._before is None else now - self._before
        self._before = now
        if options.half_life_ms:
            self._heat *= 0.5 ** (elapsed / (options.half_life_ms * 1000))
        seconds = min(elapsed, options.gap_ms * 1000) / 1e6
        size = None if frame is None else (float(frame.width), float(frame.height))
        for one in detections:
            x, y = anchor_of(one, options.anchor, size)
            if 0 <= x < 1 and 0 <= y < 1:
                self._add(int(x * options.columns), int(y * options.rows), seconds)

    def _add(self, column: int, row: int, seconds: float) -> None:
        """Add time around a cell; what would be outside of the image is added inside, in proportion."""
        reach = len(self._kernel) // 2
        rows, columns = self._heat.shape
        top, left = max(row - reach, 0), max(column - reach, 0)
        bottom, right = min(row + reach + 1, rows), min(column + reach + 1, columns)
        down = self._kernel[top - row + reach : bottom - row + reach]
        across = self._kernel[left - column + reach : right - column + reach]
        self._heat[top:bottom, left:right] += np.outer(down, across) * (seconds / (down.sum() * across.sum()))

    def _drawn(self, pixels: NDArray[Any]) -> NDArray[np.uint8]:
        options = self._options
        most = options.maximum or float(self._heat.max())
        parts = (np.clip(self._heat / most, 0, 1) if most > 0 else self._heat).astype(np.float32)
        height, width = pixels.shape[:2]
        whole = np.clip(cv2.resize(parts, (width, height), interpolation=cv2.INTER_LINEAR), 0, 1)
        steps = (whole * _MOST).astype(np.uint8)
        colors = cv2.cvtColor(cv2.applyColorMap(steps, _MAPS[options.colors]), cv2.COLOR_BGR2RGB)
        weights = (np.sqrt(whole) * np.float32(options.opacity)).astype(np.float32)
        mixed = cv2.blendLinear(pixels, colors, 1 - weights, weights)
        return np.asarray(mixed, np.uint8)


def _kernel(spread: float) -> NDArray[np.float64]:
    """Return the weights along one axis."""
    if spread < _LEAST:
        return np.ones(1)
    reach = ceil(_REACH * spread)
    steps = np.arange(-reach, reach + 1, dtype=np.float64)
    return np.exp(-0.5 * (steps / spread) ** 2)
