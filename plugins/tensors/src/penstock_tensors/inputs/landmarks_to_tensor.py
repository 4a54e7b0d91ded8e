"""LandmarksToTensorCalculator: numbers of landmarks as the input of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import LandmarkList, NormalizedLandmarkList, Tensor
from penstock_formats.api import landmark_array
from penstock_tensors.messages.landmarks_to_tensor_pb2 import LandmarksToTensorCalculatorOptions
from penstock_tensors.ports import only_one

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Input

_TYPES: Final = {"LANDMARKS": LandmarkList, "NORM_LANDMARKS": NormalizedLandmarkList}


class LandmarksToTensorCalculator(penstock.Calculator):
    """Makes a tensor of some of the numbers of each landmark.

    Inputs: LANDMARKS (LandmarkList), or NORM_LANDMARKS (NormalizedLandmarkList) with IMAGE_SIZE (tuple of
    width and height in pixels), by which they are multiplied: x and z by the width, y by the height. Output:
    TENSORS (a list of one Tensor, float32 of 1 x landmarks x attributes, or 1 x their product with `flatten`;
    0 where a landmark lacks a field). Without landmarks nothing is sent. Timestamp offset 0.

    Options `LandmarksToTensorCalculatorOptions`: `attributes` (X, Y, Z, VISIBILITY, PRESENCE; in this order,
    one at least), `flatten` (false).

    Raises in `get_contract`: InvalidArgumentError for no landmarks, or both kinds, for IMAGE_SIZE without
    NORM_LANDMARKS or the reverse, and without attributes. In `process`: the same for landmarks without a
    size.

    Source of the behaviour: MediaPipe `calculators/tensor/landmarks_to_tensor_calculator.cc`; computed in 32
    bits.

    Config::

        node {
          calculator: "LandmarksToTensorCalculator"
          input_stream: "NORM_LANDMARKS:face"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "TENSORS:tensors"
          options { [penstock.LandmarksToTensorCalculatorOptions.ext] { attributes: [X, Y] } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in, a tensor out.

        Raises:
            InvalidArgumentError: the ports do not fit, or no attribute is set.
        """
        if not cc.options(LandmarksToTensorCalculatorOptions).attributes:
            raise InvalidArgumentError(
                "the landmarks' attributes is empty, but needs one at least; set attributes: [X, Y]"
            )
        port = only_one(cc.inputs, tuple(_TYPES))
        port.set(_TYPES[port.tag], "landmarks")
        if (port.tag == "NORM_LANDMARKS") != ("IMAGE_SIZE" in cc.inputs):
            has = "is not" if port.tag == "NORM_LANDMARKS" else "is"
            raise InvalidArgumentError(
                f"the landmarks for the tensor come from {port.tag} and IMAGE_SIZE {has} connected, but it "
                "is needed for NORM_LANDMARKS and for these only; change the graph"
            )
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels").optional()
        cc.outputs["TENSORS"].set(list[Tensor], "one tensor")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        options = cc.options(LandmarksToTensorCalculatorOptions)
        self._columns = list(options.attributes)
        self._is_flat = options.flatten
        self._tag = next(tag for tag in _TYPES if tag in cc.inputs)
        self._is_sized = "IMAGE_SIZE" in cc.inputs

    def process(self, cc: CalculatorContext) -> None:
        """Make one tensor."""
        source = cc.inputs[self._tag]
        if source.is_empty():
            return
        numbers = landmark_array(source.payload)[:, self._columns]
        if self._is_sized:
            width, height = _size(cc.inputs["IMAGE_SIZE"])
            numbers = numbers * np.array([width, height, width, 1, 1], np.float32)[self._columns]
        made = Tensor(numbers.reshape(1, -1) if self._is_flat else numbers[None])
        cc.outputs["TENSORS"].add([made], cc.stamp)


def _size(port: Input) -> tuple[float, float]:
    size = port.payload
    try:
        width, height = size
        is_size = width > 0 and height > 0
    except (TypeError, ValueError):
        is_size = False
    if not is_size:
        raise InvalidArgumentError(
            f"input {port.name!r} holds {size!r}, but landmarks become a tensor by the size of their image, "
            "(width, height), both above 0; connect the SIZE of an ImagePropertiesCalculator"
        )
    return width, height
