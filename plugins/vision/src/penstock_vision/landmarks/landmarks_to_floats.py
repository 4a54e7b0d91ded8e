"""LandmarksToFloatsCalculator: coordinates of landmarks as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Matrix, NormalizedLandmarkList
from penstock_vision.landmarks.landmark_table import LandmarkTable
from penstock_vision.messages.landmarks_to_floats_pb2 import LandmarksToFloatsCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_MOST_DIMENSIONS: Final = 3


class LandmarksToFloatsCalculator(penstock.Calculator):
    """Forwards x, y and z of landmarks as a list of numbers or a matrix.

    Input NORM_LANDMARKS (NormalizedLandmarkList). Outputs, one at least: FLOATS (list[float]: x, y, z of the
    first landmark, then those of the next), MATRIX (Matrix: `num_dimensions` rows, a column for each
    landmark). Without landmarks nothing is sent. Timestamp offset 0. (The reference sends only FLOATS where
    both are connected.)

    Options `LandmarksToFloatsCalculatorOptions`: `num_dimensions` (2): 1 for x, 2 for x and y, 3 for x, y, z.

    Raises in the contract: InvalidArgumentError for no output, and another number of dimensions.

    Source of the behaviour: MediaPipe `calculators/util/landmarks_to_floats_calculator.cc`.

    Config::

        node {
          calculator: "LandmarksToFloatsCalculator"
          input_stream: "NORM_LANDMARKS:hand"
          output_stream: "FLOATS:numbers"
          options { [penstock.LandmarksToFloatsCalculatorOptions.ext] { num_dimensions: 3 } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in, numbers out.

        Raises:
            InvalidArgumentError: no output is connected, or there is no such number of dimensions.
        """
        count = cc.options(LandmarksToFloatsCalculatorOptions).num_dimensions
        if not 1 <= count <= _MOST_DIMENSIONS:
            raise InvalidArgumentError(
                f"the landmarks' floats have the num_dimensions {count}, but it must be 1 to "
                f"{_MOST_DIMENSIONS}; change it in the options"
            )
        if "FLOATS" not in cc.outputs and "MATRIX" not in cc.outputs:
            raise InvalidArgumentError(
                "of the landmarks' floats connect FLOATS or MATRIX; neither output is connected"
            )
        cc.inputs["NORM_LANDMARKS"].set(NormalizedLandmarkList, "landmarks")
        cc.outputs["FLOATS"].set(list[float], "their coordinates, landmark after landmark").optional()
        cc.outputs["MATRIX"].set(Matrix, "their coordinates, a column for each landmark").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the number of dimensions."""
        self._count = cc.options(LandmarksToFloatsCalculatorOptions).num_dimensions

    def process(self, cc: CalculatorContext) -> None:
        """Convert one list."""
        port = cc.inputs["NORM_LANDMARKS"]
        if port.is_empty():
            return
        points = LandmarkTable.of(port.payload).values[:, : self._count]
        if "FLOATS" in cc.outputs:
            cc.outputs["FLOATS"].add(points.ravel().tolist(), cc.stamp)
        if "MATRIX" in cc.outputs:
            cc.outputs["MATRIX"].add(Matrix(points.T), cc.stamp)
