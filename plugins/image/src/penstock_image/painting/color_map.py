"""Numbers as colours: depth, temperature, a heat map."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.api import pass_header
from penstock_image.frame_checks import expect_format
from penstock_image.messages.color_map_pb2 import ColorMapCalculatorOptions as Options

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_FORMATS: Final = (ImageFormat.GRAY8, ImageFormat.GRAY16, ImageFormat.VEC32F1)
#: OpenCV's map for each option; None for grey.
_MAPS: Final[dict[int, int | None]] = {
    Options.TURBO: cv2.COLORMAP_TURBO,
    Options.VIRIDIS: cv2.COLORMAP_VIRIDIS,
    Options.INFERNO: cv2.COLORMAP_INFERNO,
    Options.GRAY: None,
}
_MOST: Final = 255


class ColorMapCalculator(penstock.Calculator):
    """Show the numbers of each frame as colours, such as millimetres of depth.

    Input: one (ImageFrame, GRAY8, GRAY16 or VEC32F1). Output: one (ImageFrame, SRGB; GRAY8 with the map
    GRAY; new memory). `minimum` gets the first colour of the map and `maximum` the last; values outside get
    the nearer of the two. Values that are `missing` or not finite are black. The stream header is forwarded
    with the new format. Timestamp offset 0. OpenCV runs without the GIL.

    Options `ColorMapCalculatorOptions`: `color_map`, TURBO (default), VIRIDIS, INFERNO or GRAY; `minimum` and
    `maximum`: where one is left out, each frame's own least or largest value that is neither missing nor
    infinite, so that the same colour means another value in another frame; `missing`, the value of pixels
    that were not measured; none by default.

    Raises in `open`: InvalidArgumentError where minimum is not below maximum, or one of the numbers is not
    finite. In `process`: the same for a frame of another format.

    Source of the colours: OpenCV's maps of these names (`applyColorMap`).

    Config::

        node {
          calculator: "ColorMapCalculator"
          input_stream: "depth"
          output_stream: "depth_in_colours"
          node_options {
            [type.googleapis.com/penstock.ColorMapCalculatorOptions] {
              minimum: 1000
              maximum: 20000
              missing: 0
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the frames."""
        cc.inputs[0].set(ImageFrame, "numbers (GRAY8, GRAY16 or VEC32F1)")
        cc.outputs[0].set(ImageFrame, "colours (SRGB; GRAY8 with the map GRAY)")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options; forward the stream header."""
        options = cc.options(Options)
        self._map = _MAPS[options.color_map]
        self._minimum = _given(options, "minimum")
        self._maximum = _given(options, "maximum")
        self._missing = _given(options, "missing")
        least, largest = self._minimum, self._maximum
        if least is not None and largest is not None and least >= largest:
            raise InvalidArgumentError(
                f"the color map's minimum is {least:g} and maximum {largest:g}, but the first must be below "
                "the other; change the options"
            )
        self._format = ImageFormat.GRAY8 if self._map is None else ImageFormat.SRGB
        pass_header(cc.input, cc.output, format=self._format)

    def process(self, cc: CalculatorContext) -> None:
        """Colour one frame."""
        frame: ImageFrame | None = cc.input.payload
        if frame is None:
            return
        expect_format(frame, _FORMATS, cc.input.name, "this one has colours already")
        cc.output.add(ImageFrame(self._coloured(frame.array), self._format), cc.stamp)

    def _coloured(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        is_measured = self._measured(values)
        steps = self._steps(values.astype(np.float32), is_measured)
        shown: Any = (
            steps
            if self._map is None
            else cv2.cvtColor(cv2.applyColorMap(steps, self._map), cv2.COLOR_BGR2RGB)
        )
        if is_measured is not None:
            shown = cv2.bitwise_and(shown, shown, mask=is_measured.view(np.uint8))  # black where it is 0
        return np.asarray(shown)

    def _measured(self, values: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Return which pixels have a value; None where all have."""
        is_measured = np.isfinite(values) if values.dtype == np.float32 else None
        if self._missing is not None:
            is_there = values != np.float32(self._missing)
            is_measured = is_there if is_measured is None else is_measured & is_there
        return None if is_measured is None or is_measured.all() else is_measured

    def _steps(self, values: NDArray[np.float32], is_measured: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
        """Return the values scaled from minimum..maximum to 0..255; 0 where nothing was measured."""
        # Pixels that were not measured get any step, and are black in the end.
        least, largest = self._minimum, self._maximum
        if least is None or largest is None:
            measured = values if is_measured is None else values[is_measured]
            least = float(measured.min(initial=np.inf)) if least is None else least
            largest = float(measured.max(initial=-np.inf)) if largest is None else largest
        if not largest > least:  # one value, or none
            return np.where(values > largest, _MOST, 0).astype(np.uint8)
        # Shifted first: with 24 bits of mantissa a small range at large values would lose its steps.
        shifted = np.clip(values, np.float32(least), np.float32(largest))
        shifted -= np.float32(least)
        return np.asarray(cv2.convertScaleAbs(shifted, alpha=_MOST / (largest - least)), np.uint8)


def _given(options: Options, name: str) -> float | None:
    """Return a number of the options; None where it is left out."""
    if not options.HasField(name):
        return None
    value: float = getattr(options, name)
    if not isfinite(value):
        raise InvalidArgumentError(
            f"the color map's {name} is {value}, but must be a finite number; change the options"
        )
    return value
