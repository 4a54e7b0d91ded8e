"""LandmarksTransformationCalculator: moves landmarks around their mean, and flips axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import LandmarkList
from penstock_vision.landmarks.landmark_table import LandmarkTable, X, Y, Z
from penstock_vision.messages.landmarks_transformation_pb2 import LandmarksTransformationCalculatorOptions
from penstock_vision.ports import input_or_none

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

    _Step = LandmarksTransformationCalculatorOptions.Transformation


class LandmarksTransformationCalculator(penstock.Calculator):
    """Changes the coordinates of landmarks, step by step.

    Input LANDMARKS (LandmarkList); OPTIONS (LandmarksTransformationCalculatorOptions, optional stream: the
    steps for this timestamp; none where it has no packet). Output LANDMARKS (LandmarkList, a new one; with no
    steps the packet is forwarded). Timestamp offset 0.

    Options `LandmarksTransformationCalculatorOptions`: `transformation`, one or more in order:
    `normalize_translation {}` (the mean of all landmarks becomes 0, 0, 0) or `flip_axis { flip_x, flip_y,
    flip_z }` (coordinates change their sign).

    Raises in the contract: InvalidArgumentError if steps are set and OPTIONS is connected too. In `process`:
    the same for a step that is neither, and normalize_translation of no landmarks.

    Source of the behaviour: MediaPipe `calculators/util/landmarks_transformation_calculator.cc`; means in 64
    bits, all else in 32.

    Config::

        node {
          calculator: "LandmarksTransformationCalculator"
          input_stream: "LANDMARKS:hand_in_world"
          output_stream: "LANDMARKS:hand_around_its_mean"
          options {
            [penstock.LandmarksTransformationCalculatorOptions.ext] {
              transformation { normalize_translation {} }
              transformation { flip_axis { flip_x: true } }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in and out.

        Raises:
            InvalidArgumentError: the steps come in two ways.
        """
        options = cc.options(LandmarksTransformationCalculatorOptions)
        if "OPTIONS" in cc.inputs and options.transformation:
            raise InvalidArgumentError(
                f"{len(options.transformation)} transformations of landmarks are set and OPTIONS is "
                "connected, but the steps come in one way only; leave one of them out"
            )
        cc.inputs["LANDMARKS"].set(LandmarkList, "landmarks")
        cc.inputs["OPTIONS"].set(LandmarksTransformationCalculatorOptions, "the steps").optional()
        cc.outputs["LANDMARKS"].set(LandmarkList, "the landmarks after the steps")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the steps."""
        self._options = cc.options(LandmarksTransformationCalculatorOptions)

    def process(self, cc: CalculatorContext) -> None:
        """Change one list."""
        port = cc.inputs["LANDMARKS"]
        if port.is_empty():
            return
        steps: Sequence[_Step] = self._options.transformation
        stream = input_or_none(cc.inputs, "OPTIONS")
        if stream is not None:
            steps = () if stream.is_empty() else stream.payload.transformation
        if not steps:
            cc.outputs["LANDMARKS"].add_packet(port.packet)
            return
        table = LandmarkTable.of(port.payload)
        for step in steps:
            table.values[:, :3] = _after(step, table.values[:, :3], port.name)
        table.have(X, Y, Z)
        cc.outputs["LANDMARKS"].add(table.make(LandmarkList), cc.stamp)


def _after(step: _Step, points: NDArray[np.float32], stream: str) -> NDArray[np.float32]:
    """Return points, (n, 3), after a step."""
    chosen = step.WhichOneof("transformation")
    if chosen == "flip_axis":
        flips = (step.flip_axis.flip_x, step.flip_axis.flip_y, step.flip_axis.flip_z)
        return points * np.where(flips, np.float32(-1), np.float32(1))
    if chosen is None:
        raise InvalidArgumentError("a transformation is empty; set normalize_translation or flip_axis in it")
    if not len(points):
        raise InvalidArgumentError(
            f"input {stream!r} holds no landmarks, but normalize_translation needs one at least; gate empty "
            "lists before"
        )
    sums = np.add.accumulate(points.astype(np.float64))[-1]  # in order, as the reference adds
    mean: NDArray[np.float32] = (sums / len(points)).astype(np.float32)
    return points - mean
