"""IrisToDepthCalculator: how far away eyes are, by the size of their irises."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import NormalizedLandmarkList
from penstock_vision.geometry.image_size import image_size
from penstock_vision.geometry.single_precision import TWO, f32, root
from penstock_vision.messages.iris_to_depth_pb2 import IrisToDepthCalculatorOptions
from penstock_vision.space.iris import Iris

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32

_OUTPUTS: Final = {"left": "LEFT_IRIS_DEPTH_MM", "right": "RIGHT_IRIS_DEPTH_MM"}
_PARTS: Final = ("center", "top", "bottom", "left", "right")
#: How wide the iris of a human eye is, in millimetres: nearly the same for all people.
_IRIS: Final = f32(11.8)
#: How much a new depth counts.
_NEW: Final = f32(0.1)
_OLD: Final = f32(1) - _NEW


class IrisToDepthCalculator(penstock.Calculator):
    """Estimates how far from the camera each eye is: irises are 11.8 mm wide.

    Inputs IRIS (NormalizedLandmarkList of 10, five of each iris) and IMAGE_SIZE (tuple of width and height
    in pixels). Side packets, at most one: FOCAL_LENGTH (float: of the camera, in pixels),
    IMAGE_FILE_PROPERTIES (what ImageFilePropertiesCalculator found: its `focal_length_pixels` counts).
    Outputs LEFT_IRIS_DEPTH_MM and RIGHT_IRIS_DEPTH_MM (float, millimetres, both optional): the first
    estimate, then nine tenths of the last one and a tenth of the new. Without a focal length above 0 nothing
    is sent. Timestamp offset 0.

    Options `IrisToDepthCalculatorOptions`: which landmarks are centre, top, bottom, left and right of each
    iris (`left_iris_center_index` and so on).

    Raises in the contract: InvalidArgumentError for both side packets. In `open`: the same for properties
    without a focal length. In `process`: the same for another number of landmarks, an index outside, no size
    of the image.

    Source of the behaviour: MediaPipe `graphs/iris_tracking/calculators/iris_to_depth_calculator.cc`;
    computed in 32 bits.

    Config::

        node {
          calculator: "IrisToDepthCalculator"
          input_stream: "IRIS:irises"
          input_stream: "IMAGE_SIZE:image_size"
          input_side_packet: "FOCAL_LENGTH:focal_length"
          output_stream: "LEFT_IRIS_DEPTH_MM:left_depth"
          output_stream: "RIGHT_IRIS_DEPTH_MM:right_depth"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare irises in, depths out.

        Raises:
            InvalidArgumentError: the focal length comes in two ways.
        """
        sides = cc.input_side_packets
        if "FOCAL_LENGTH" in sides and "IMAGE_FILE_PROPERTIES" in sides:
            raise InvalidArgumentError(
                "the side packets FOCAL_LENGTH and IMAGE_FILE_PROPERTIES are both connected, but for the "
                "iris's depth the focal length comes in one way only; leave out one"
            )
        sides["FOCAL_LENGTH"].set(float, "of the camera, in pixels").optional()
        sides["IMAGE_FILE_PROPERTIES"].set_any("its focal_length_pixels is the camera's").optional()
        cc.inputs["IRIS"].set(NormalizedLandmarkList, "10 landmarks of both irises")
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels")
        for side, tag in _OUTPUTS.items():
            cc.outputs[tag].set(float, f"how far away the {side} eye is, in millimetres").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Find the focal length.

        Raises:
            InvalidArgumentError: the properties have none.
        """
        options, sides = cc.options(IrisToDepthCalculatorOptions), cc.input_side_packets
        self._indices = {
            side: [getattr(options, f"{side}_iris_{part}_index") for part in _PARTS] for side in _OUTPUTS
        }
        focal = -1.0
        if "FOCAL_LENGTH" in sides:
            focal = sides["FOCAL_LENGTH"].get(float)
        elif "IMAGE_FILE_PROPERTIES" in sides:
            given = sides["IMAGE_FILE_PROPERTIES"].payload
            focal = getattr(given, "focal_length_pixels", math.nan)
            if math.isnan(focal):
                raise InvalidArgumentError(
                    f"the side packet IMAGE_FILE_PROPERTIES is a {type(given).__name__!r} without "
                    "focal_length_pixels, which the depth is computed by; connect that of an "
                    "ImageFilePropertiesCalculator"
                )
        self._focal = f32(focal)
        #: Side → the last estimate, in millimetres; none before the first.
        self._last: dict[str, Float32] = {}

    def process(self, cc: CalculatorContext) -> None:
        """Estimate both depths."""
        port = cc.inputs["IRIS"]
        if port.is_empty():
            return
        size = image_size(cc.inputs["IMAGE_SIZE"])
        for side, indices in self._indices.items():
            iris = Iris.of(port, indices)
            if not self._focal > 0:
                continue
            depth = self._smooth(side, self._depth(iris, size))
            if _OUTPUTS[side] in cc.outputs:
                cc.outputs[_OUTPUTS[side]].add(float(depth), cc.stamp)

    def _depth(self, iris: Iris, size: ImageSize) -> Float32:
        """Return how far away an iris is, in millimetres; infinite for one without a size."""
        x = size.width / TWO - f32(iris.center.x) * size.width
        y = size.height / TWO - f32(iris.center.y) * size.height
        off = root(x * x + y * y)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _IRIS * root(self._focal * self._focal + off * off) / iris.diameter(size)

    def _smooth(self, side: str, depth: Float32) -> Float32:
        last = self._last.get(side)
        if last is not None and not math.isinf(last):
            depth = last * _OLD + depth * _NEW
        self._last[side] = depth
        return depth
