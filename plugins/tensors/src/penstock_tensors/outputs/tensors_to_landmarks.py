"""TensorsToLandmarksCalculator: the points that a model found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import LandmarkList, NormalizedLandmarkList, Tensor
from penstock_formats.api import LANDMARK_FIELDS, landmark_list
from penstock_tensors.messages.tensors_to_landmarks_pb2 import TensorsToLandmarksCalculatorOptions
from penstock_tensors.outputs.tensor_numbers import first_of, sigmoid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_FLIPS: Final = ("FLIP_HORIZONTALLY", "FLIP_VERTICALLY")
_Z: Final = 2
_VISIBILITY: Final = 3
_PRESENCE: Final = 4


class TensorsToLandmarksCalculator(penstock.Calculator):
    """Make landmarks of the first tensor: x, y, z, visibility, presence of each point, as far as it has them.

    Input: TENSORS (list[Tensor]; the first is read, float32, `num_landmarks` times up to five or more
    numbers; further ones are ignored). FLIP_HORIZONTALLY, FLIP_VERTICALLY (optional bool, streams or side
    packets; a stream wins over a side packet, and that over the option). Outputs, one at least: LANDMARKS
    (LandmarkList, in the model's units) and NORM_LANDMARKS (NormalizedLandmarkList: x by the input's width,
    y by its height, z by its width and `normalize_z`). Visibility and presence are set only where the model
    has them. Timestamp offset 0.

    Options `TensorsToLandmarksCalculatorOptions`: `num_landmarks` (required), `input_image_width` and
    `input_image_height` (pixels; required for NORM_LANDMARKS and for flips), `flip_horizontally`,
    `flip_vertically` (false), `normalize_z` (1), `visibility_activation`, `presence_activation` (NONE;
    SIGMOID).

    Raises in `open`: InvalidArgumentError for options that are missing. In `process`: the same for an empty
    list, another element type, or fewer numbers than `num_landmarks`.

    Source of the behaviour: MediaPipe `calculators/tensor/tensors_to_landmarks_calculator.cc`.

    Config::

        node {
          calculator: "TensorsToLandmarksCalculator"
          input_stream: "TENSORS:landmark_tensors"
          output_stream: "NORM_LANDMARKS:landmarks"
          options {
            [penstock.TensorsToLandmarksCalculatorOptions.ext] {
              num_landmarks: 21
              input_image_width: 224
              input_image_height: 224
              normalize_z: 0.4
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports.

        Raises:
            InvalidArgumentError: no output is connected.
        """
        cc.inputs["TENSORS"].set(list[Tensor], "what a model said; the first is read")
        for tag in _FLIPS:
            cc.inputs[tag].set(bool, "replaces the option").optional()
            cc.input_side_packets[tag].set(bool, "replaces the option").optional()
        cc.outputs["LANDMARKS"].set(LandmarkList, "the points in the model's units").optional()
        cc.outputs["NORM_LANDMARKS"].set(NormalizedLandmarkList, "in parts of the model's input").optional()
        if "LANDMARKS" not in cc.outputs and "NORM_LANDMARKS" not in cc.outputs:
            raise InvalidArgumentError("connect LANDMARKS or NORM_LANDMARKS; neither output is connected")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options.

        Raises:
            InvalidArgumentError: the number of landmarks or the size of the input is missing.
        """
        options = self._options_of(cc)
        if options.num_landmarks < 1:
            raise InvalidArgumentError(
                f"the tensors' num_landmarks is {options.num_landmarks}, but must be 1 or more; set it in "
                "the options"
            )
        has_size = options.input_image_width > 0 and options.input_image_height > 0
        is_flipped = options.flip_horizontally or options.flip_vertically
        reads_flips = any(tag in ports for ports in (cc.inputs, cc.input_side_packets) for tag in _FLIPS)
        if not has_size and ("NORM_LANDMARKS" in cc.outputs or is_flipped or reads_flips):
            raise InvalidArgumentError(
                f"input_image_width is {options.input_image_width} and input_image_height "
                f"{options.input_image_height}, but the landmarks' NORM_LANDMARKS and flips need the size of "
                "the model's input; set both in the options"
            )
        self._options = options
        self._count = options.num_landmarks
        self._flips = [options.flip_horizontally, options.flip_vertically]
        for i, tag in enumerate(_FLIPS):
            if tag in cc.input_side_packets:
                self._flips[i] = cc.input_side_packets[tag].get(bool)
        self._flip_tags = {i: tag for i, tag in enumerate(_FLIPS) if tag in cc.inputs}
        self._size = np.array([options.input_image_width, options.input_image_height], np.float32)
        self._divisors = self._size[[0, 1, 0]]  # of x, y and z
        self._normalize_z = np.float32(options.normalize_z)

    def process(self, cc: CalculatorContext) -> None:
        """Make the points of one tensor."""
        source = cc.inputs["TENSORS"]
        if source.is_empty():
            return
        values = first_of(source).ravel()
        count = self._count
        width = values.size // count
        if not width:
            raise InvalidArgumentError(
                f"input {source.name!r} holds a tensor of {values.size} elements, but num_landmarks of the "
                f"landmarks is {count}; the option must be the model's"
            )
        width = min(width, LANDMARK_FIELDS)
        flips = [self._is_flipped(cc, i) for i in range(len(_FLIPS))]
        points = self._points(values[: count * (values.size // count)].reshape(count, -1)[:, :width], flips)
        if "LANDMARKS" in cc.outputs:
            cc.outputs["LANDMARKS"].add(landmark_list(LandmarkList, points[:, :width]), cc.stamp)
        if "NORM_LANDMARKS" in cc.outputs:
            points[:, : _Z + 1] /= self._divisors
            points[:, _Z] /= self._normalize_z
            cc.outputs["NORM_LANDMARKS"].add(landmark_list(NormalizedLandmarkList, points), cc.stamp)

    @staticmethod
    def _options_of(cc: CalculatorContext) -> TensorsToLandmarksCalculatorOptions:
        return cc.options(TensorsToLandmarksCalculatorOptions)

    def _is_flipped(self, cc: CalculatorContext, i: int) -> bool:
        """Return whether x (0) or y (1) is flipped at this timestamp."""
        if i in self._flip_tags and not (port := cc.inputs[self._flip_tags[i]]).is_empty():
            return bool(port.payload)
        return self._flips[i]

    def _points(self, values: NDArray[np.float32], flips: Sequence[bool]) -> NDArray[np.float32]:
        """Return x, y, z and what else there is of each point, in new memory; y and z are 0 where missing."""
        count, width = values.shape
        points = np.zeros((count, max(width, _Z + 1)), np.float32)
        points[:, :width] = values
        for i, is_flipped in enumerate(flips):
            if is_flipped and i < width:
                points[:, i] = self._size[i] - points[:, i]
        sigmoids = TensorsToLandmarksCalculatorOptions.SIGMOID
        if width > _VISIBILITY and self._options.visibility_activation == sigmoids:
            points[:, _VISIBILITY] = sigmoid(points[:, _VISIBILITY])
        if width > _PRESENCE and self._options.presence_activation == sigmoids:
            points[:, _PRESENCE] = sigmoid(points[:, _PRESENCE])
        return points
