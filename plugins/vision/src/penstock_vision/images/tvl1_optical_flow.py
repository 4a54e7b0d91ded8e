"""Tvl1OpticalFlowCalculator: how far each pixel of a frame moves to another frame."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

import penstock
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.api import format_converter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input

_FRAMES: Final = ("FIRST_FRAME", "SECOND_FRAME")
_FORMATS: Final = (ImageFormat.SRGB, ImageFormat.GRAY8)


class Tvl1OpticalFlowCalculator(penstock.Calculator):
    """Compute the dense optical flow between two frames by OpenCV's TV-L1 method.

    Inputs: FIRST_FRAME and SECOND_FRAME (ImageFrame, SRGB or GRAY8, of one size). Outputs, both optional:
    FORWARD_FLOW (from the first to the second) and BACKWARD_FLOW (from the second to the first): ImageFrame
    VEC32F2 of the same size, new memory. A pixel holds by how many pixels what it shows moves to the right
    and down. In the reference a flow is an OpticalFlowField, which holds the same numbers. Timestamp offset
    0; where a frame is missing nothing is sent.

    It takes a large part of a second for each flow of a small frame, without the GIL; with `max_in_flight`
    several pairs are worked on at the same time.

    Raises in `open`: FailedPreconditionError where OpenCV has no TV-L1, which is in the package
    opencv-contrib-python-headless only. In `process`: InvalidArgumentError for frames of another format, or
    of two sizes.

    Source of the behaviour: MediaPipe `calculators/video/tvl1_optical_flow_calculator.cc`; of the method, C.
    Zach, T. Pock, H. Bischof, "A Duality Based Approach for Realtime TV-L1 Optical Flow", 2007, as in OpenCV.

    Config::

        node {
          calculator: "Tvl1OpticalFlowCalculator"
          input_stream: "FIRST_FRAME:frame_before"
          input_stream: "SECOND_FRAME:frame"
          output_stream: "FORWARD_FLOW:flow"
          max_in_flight: 4
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare two frames in, and the flow between them in both directions."""
        cc.inputs["FIRST_FRAME"].set(ImageFrame, "a frame (SRGB, GRAY8)")
        cc.inputs["SECOND_FRAME"].set(ImageFrame, "a later one, of the same size")
        cc.outputs["FORWARD_FLOW"].set(ImageFrame, "the way from the first to the second").optional()
        cc.outputs["BACKWARD_FLOW"].set(ImageFrame, "the way from the second to the first").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True, cost="high")

    def open(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Make the first of OpenCV's objects, none of which works for two calls at the same time.

        Raises:
            FailedPreconditionError: OpenCV has no TV-L1.
        """
        self._idle: deque[Any] = deque([_method()])

    def process(self, cc: CalculatorContext) -> None:
        """Compute the flow between two frames."""
        if any(cc.inputs[tag].is_empty() for tag in _FRAMES):
            return
        ports = [cc.inputs[tag] for tag in _FRAMES]
        first, second = (_grey(port) for port in ports)
        if first.shape != second.shape:
            raise InvalidArgumentError(
                f"inputs {ports[0].name!r} and {ports[1].name!r} hold frames of {first.shape[1]}x"
                f"{first.shape[0]} and {second.shape[1]}x{second.shape[0]} pixels, but for optical flow "
                "their sizes must be equal; put a ScaleImageCalculator before one"
            )
        if "FORWARD_FLOW" in cc.outputs:
            cc.outputs["FORWARD_FLOW"].add(self._flow(first, second), cc.stamp)
        if "BACKWARD_FLOW" in cc.outputs:
            cc.outputs["BACKWARD_FLOW"].add(self._flow(second, first), cc.stamp)

    def _flow(self, before: NDArray[Any], after: NDArray[Any]) -> ImageFrame:
        """Return the flow from one grey image to another; calls at the same time use objects of their own."""
        try:
            method = self._idle.pop()
        except IndexError:
            method = _method()
        flow = method.calc(before, after, None)
        self._idle.append(method)
        return ImageFrame(np.asarray(flow, np.float32), ImageFormat.VEC32F2)


def _method() -> Any:
    """Return OpenCV's object that computes it, with its usual parameters.

    Raises:
        FailedPreconditionError: OpenCV has none.
    """
    make = getattr(getattr(cv2, "optflow", None), "createOptFlow_DualTVL1", None)
    if make is None:
        raise FailedPreconditionError(
            f"OpenCV {cv2.__version__} is here without TV-L1 optical flow, which is in another package that "
            "replaces it; run: pip uninstall opencv-python-headless, and then: pip install "
            '"opencv-contrib-python-headless>=4.10,<5"'
        )
    return make()


def _grey(port: Input) -> NDArray[Any]:
    """Return the frame of an input, (H, W) uint8."""
    frame: ImageFrame = port.payload
    if frame.format not in _FORMATS:
        raise InvalidArgumentError(
            f"input {port.name!r} holds {frame!r}, but optical flow takes SRGB or GRAY8; put a "
            f"{format_converter(frame.format)} before"
        )
    if frame.format is ImageFormat.GRAY8:
        return frame.array
    return cv2.cvtColor(frame.array, cv2.COLOR_RGB2GRAY)
