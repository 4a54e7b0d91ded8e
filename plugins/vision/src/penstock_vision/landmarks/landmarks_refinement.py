"""LandmarksRefinementCalculator: replaces landmarks by finer ones of further models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import NormalizedLandmarkList
from penstock_vision.landmarks.landmark_table import FIELDS, LandmarkTable, X, Y, Z
from penstock_vision.messages.landmarks_refinement_pb2 import LandmarksRefinementCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract


class LandmarksRefinementCalculator(penstock.Calculator):
    """Makes one list of several, where later lists overwrite landmarks of earlier ones.

    For a face: 468 landmarks of one model, then finer ones of the lips, the eyes and the irises. Inputs
    LANDMARKS, LANDMARKS:1, ... (NormalizedLandmarkList); output REFINED_LANDMARKS (NormalizedLandmarkList).
    Timestamp offset 0; all inputs must have a packet, else nothing is sent. Visibility and presence are
    left out.

    Options `LandmarksRefinementCalculatorOptions`: `refinement`, one for each input, in order:
    `indexes_mapping`, for each landmark of the input its index in the result; `z_refinement`, one of `none
    {}` (z stays what it is, at first missing), `copy {}` (z of the input), `assign_average {
    indexes_for_average }` (all mapped landmarks get the mean z of these landmarks of the result). All
    mappings together have the indices 0 to n - 1.

    Raises in `open`: InvalidArgumentError where refinements do not fit the inputs, a mapping or a
    z_refinement is missing, or indices are negative or have gaps. In `process`: the same for a list of
    another size than its mapping.

    Source of the behaviour: MediaPipe `calculators/util/landmarks_refinement_calculator.cc`.

    Config::

        node {
          calculator: "LandmarksRefinementCalculator"
          input_stream: "LANDMARKS:0:corners"
          input_stream: "LANDMARKS:1:finer_corner"
          output_stream: "REFINED_LANDMARKS:refined"
          options {
            [penstock.LandmarksRefinementCalculatorOptions.ext] {
              refinement { indexes_mapping: [ 0, 1, 2 ] z_refinement { copy {} } }
              refinement { indexes_mapping: [ 1 ] z_refinement { none {} } }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare several lists in, one out."""
        for i in range(max(cc.inputs.count("LANDMARKS"), 1)):
            what = "overwrites landmarks of the lists before" if i else "landmarks"
            cc.inputs["LANDMARKS", i].set(NormalizedLandmarkList, what)
        cc.outputs["REFINED_LANDMARKS"].set(NormalizedLandmarkList, "all landmarks")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the refinements.

        Raises:
            InvalidArgumentError: they do not fit the inputs or each other.
        """
        refinements = cc.options(LandmarksRefinementCalculatorOptions).refinement
        inputs = cc.inputs.count("LANDMARKS")
        if len(refinements) != inputs:
            raise InvalidArgumentError(
                f"there are {len(refinements)} refinements in the options, but {inputs} inputs "
                "LANDMARKS; make them as many"
            )
        self._count = _count_mapped([list(one.indexes_mapping) for one in refinements])
        self._steps = [_Step(i, one, self._count) for i, one in enumerate(refinements)]

    def process(self, cc: CalculatorContext) -> None:
        """Make one list of the lists of one timestamp."""
        if any(port.is_empty() for port in cc.inputs):
            return
        values = np.zeros((self._count, len(FIELDS)), np.float32)
        has_z = np.zeros(self._count, bool)
        for port, step in zip(cc.inputs, self._steps, strict=True):
            found = LandmarkTable.of(port.payload).values
            if len(found) != len(step.mapping):
                raise InvalidArgumentError(
                    f"input {port.name!r} holds {len(found)} landmarks, but its indexes_mapping "
                    f"{len(step.mapping)}; connect the landmarks that the refinement's options are for"
                )
            step.apply(found, values, has_z)
        cc.outputs["REFINED_LANDMARKS"].add(_table(values, has_z).make(NormalizedLandmarkList), cc.stamp)


class _Step:
    """One refinement, checked."""

    __slots__ = ("_average", "_kind", "mapping")

    def __init__(
        self, index: int, refinement: LandmarksRefinementCalculatorOptions.Refinement, count: int
    ) -> None:
        self._kind = refinement.z_refinement.WhichOneof("z_refinement_options")
        if self._kind is None:
            raise InvalidArgumentError(
                f"refinement {index} has no z_refinement, but one is needed; set none, copy or assign_average"
            )
        #: For each landmark of the input its index in the result.
        self.mapping = list(refinement.indexes_mapping)
        self._average = list(refinement.z_refinement.assign_average.indexes_for_average)
        if self._kind == "assign_average":
            if not self._average:
                raise InvalidArgumentError(
                    f"refinement {index} has assign_average without indexes_for_average; give at least one"
                )
            if not 0 <= min(self._average) <= max(self._average) < count:
                raise InvalidArgumentError(
                    f"refinement {index} has indexes_for_average from {min(self._average)} to "
                    f"{max(self._average)}, but the result has the indices 0 to {count - 1}; change them"
                )

    def apply(
        self, found: NDArray[np.float32], values: NDArray[np.float32], has_z: NDArray[np.bool_]
    ) -> None:
        """Overwrite landmarks of the result."""
        values[self.mapping, X], values[self.mapping, Y] = found[:, X], found[:, Y]
        if self._kind == "copy":
            values[self.mapping, Z] = found[:, Z]
        elif self._kind == "assign_average":
            # one after the other: NumPy's own sum adds in another order
            values[self.mapping, Z] = sum(values[self._average, Z].tolist()) / len(self._average)
        if self._kind != "none":
            has_z[self.mapping] = True


def _count_mapped(mappings: Sequence[Sequence[int]]) -> int:
    """Return how many landmarks the result has."""
    for i, mapping in enumerate(mappings):
        if not mapping:
            raise InvalidArgumentError(
                f"refinement {i} has no indexes_mapping; give one index for each landmark"
            )
    indices = {index for mapping in mappings for index in mapping}
    if not indices:
        raise InvalidArgumentError(
            "there are no refinements in the options; give one for each input LANDMARKS"
        )
    if indices != set(range(len(indices))):
        missing = min(set(range(len(indices))) - indices)
        raise InvalidArgumentError(
            f"indexes_mapping of all refinements have {len(indices)} indices from {min(indices)} to "
            f"{max(indices)}, but {missing} is missing; give all from 0 on"
        )
    return len(indices)


def _table(values: NDArray[np.float32], has_z: NDArray[np.bool_]) -> LandmarkTable:
    if has_z.all():
        return LandmarkTable(values, (True, True, True, False, False))
    if not has_z.any():
        return LandmarkTable(values, (True, True, False, False, False))
    present = np.zeros(values.shape, bool)
    present[:, [X, Y]] = True
    present[:, Z] = has_z
    return LandmarkTable(values, present)
