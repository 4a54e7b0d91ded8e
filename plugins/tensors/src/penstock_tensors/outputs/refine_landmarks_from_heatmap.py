"""RefineLandmarksFromHeatmapCalculator: landmarks moved to where a heatmap sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import NormalizedLandmarkList, Tensor
from penstock_tensors.messages.refine_landmarks_from_heatmap_pb2 import (
    RefineLandmarksFromHeatmapCalculatorOptions,
)
from penstock_tensors.outputs.tensor_numbers import first_of, sigmoid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input

_DIMENSIONS: Final = 3


class RefineLandmarksFromHeatmapCalculator(penstock.Calculator):
    """Move landmarks to where a heatmap sees them.

    Inputs: NORM_LANDMARKS (NormalizedLandmarkList, n of them), TENSORS (list[Tensor]; the first is the
    heatmap, float32 of 1 x height x width x n or without the 1: how strongly each pixel speaks for each
    landmark). Output: NORM_LANDMARKS (NormalizedLandmarkList, a new message). Timestamp offset 0. Without
    landmarks nothing is sent; without tensors the packet of landmarks is forwarded.

    The heatmap is looked at in a square around the pixel of the landmark, as far as that is within the
    heatmap. The confidence of a pixel is the sigmoid of its number. Where the greatest confidence is at
    least `min_confidence_to_refine`, x and y become the average of the pixels, weighted by the confidences.
    A landmark outside the heatmap stays as it is.

    Options `RefineLandmarksFromHeatmapCalculatorOptions`: `kernel_size` (9 pixels; an even number is as the
    odd one below), `min_confidence_to_refine` (0.5), `refine_presence` (false) and `refine_visibility`
    (false): the field is lowered to the greatest confidence, where the landmark has the field and the
    confidence is less.

    Raises in `get_contract`: InvalidArgumentError for a kernel_size below 1. In `process`: the same for an
    empty list of tensors, another element type or shape, or another number of landmarks.

    Source of the behaviour: MediaPipe `calculators/util/refine_landmarks_from_heatmap_calculator.cc`.

    Config::

        node {
          calculator: "RefineLandmarksFromHeatmapCalculator"
          input_stream: "NORM_LANDMARKS:raw_landmarks"
          input_stream: "TENSORS:heatmap_tensor"
          output_stream: "NORM_LANDMARKS:landmarks"
          options { [penstock.RefineLandmarksFromHeatmapCalculatorOptions.ext] { kernel_size: 7 } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports.

        Raises:
            InvalidArgumentError: the square has no pixel.
        """
        size = cc.options(RefineLandmarksFromHeatmapCalculatorOptions).kernel_size
        if size < 1:
            raise InvalidArgumentError(
                f"the heatmap's kernel_size is {size}, but must be 1 or more; change it in the options"
            )
        cc.inputs["NORM_LANDMARKS"].set(NormalizedLandmarkList, "the landmarks")
        cc.inputs["TENSORS"].set(list[Tensor], "the heatmap; the first is read")
        cc.outputs["NORM_LANDMARKS"].set(NormalizedLandmarkList, "the landmarks, moved")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options."""
        self._options = cc.options(RefineLandmarksFromHeatmapCalculatorOptions)
        self._set_reach(0)

    def _set_reach(self, reach: int) -> None:
        self._reach = reach
        #: Row and column of each pixel of the square, from its centre, row after row.
        self._rows, self._columns = (one.ravel() for one in np.mgrid[-reach : reach + 1, -reach : reach + 1])

    def process(self, cc: CalculatorContext) -> None:
        """Move the landmarks of one timestamp."""
        source, tensors = cc.inputs["NORM_LANDMARKS"], cc.inputs["TENSORS"]
        if source.is_empty():
            return
        if tensors.is_empty():
            cc.outputs["NORM_LANDMARKS"].add_packet(source.packet)
            return
        made = NormalizedLandmarkList()
        made.CopyFrom(source.payload)
        if made.landmark:
            self._refine(made, _heatmap(tensors, len(made.landmark)))
        cc.outputs["NORM_LANDMARKS"].add(made, cc.stamp)

    def _refine(self, landmarks: NormalizedLandmarkList, heatmap: NDArray[np.float32]) -> None:
        options = self._options
        height, width, _ = heatmap.shape
        # no pixel of the heatmap is farther than this from a landmark in it
        reach = min((options.kernel_size - 1) // 2, max(height, width))
        if reach != self._reach:
            self._set_reach(reach)
        size = np.array((width, height), np.float32)
        points = np.array([(one.x, one.y) for one in landmarks.landmark], np.float32) * size
        # truncated, so that a landmark less than a pixel left of the heatmap or above it is within
        inside = ((points > -1) & (points < size)).all(axis=1)
        which = np.flatnonzero(inside)
        at = points[which].astype(np.intp)
        columns = at[:, :1] + self._columns
        rows = at[:, 1:] + self._rows
        is_pixel = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
        values = heatmap[rows.clip(0, height - 1), columns.clip(0, width - 1), which[:, None]]
        # pixels outside count 0, which changes no sum
        confidences = np.where(is_pixel, sigmoid(values), np.float32(0))
        greatest = confidences.max(axis=1, initial=0)
        sums = _sums(confidences)
        is_sure = (greatest >= np.float32(options.min_confidence_to_refine)) & (sums > 0)
        with np.errstate(invalid="ignore", divide="ignore"):  # those are not taken
            x = _sums(columns.astype(np.float32) * confidences) / size[0] / sums
            y = _sums(rows.astype(np.float32) * confidences) / size[1] / sums
        numbers = zip(
            which.tolist(), x.tolist(), y.tolist(), greatest.tolist(), is_sure, sums > 0, strict=True
        )
        for i, new_x, new_y, limit, moves, counts in numbers:
            landmark = landmarks.landmark[i]
            if moves:
                landmark.x, landmark.y = new_x, new_y
            if counts and options.refine_presence and landmark.HasField("presence"):
                landmark.presence = min(landmark.presence, limit)
            if counts and options.refine_visibility and landmark.HasField("visibility"):
                landmark.visibility = min(landmark.visibility, limit)


def _sums(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the sum of each row, one number after the other in single precision."""
    sums: NDArray[np.float32] = values.cumsum(axis=1, dtype=np.float32)[:, -1]
    return sums


def _heatmap(port: Input, count: int) -> NDArray[np.float32]:
    """Return the heatmap as (height, width, landmarks)."""
    values = first_of(port)
    shape = values.shape
    if len(shape) == _DIMENSIONS + 1 and shape[0] == 1:
        shape = shape[1:]
    if len(shape) != _DIMENSIONS or shape[2] != count or 0 in shape:
        raise InvalidArgumentError(
            f"input {port.name!r} holds a tensor of shape {values.shape}, but the heatmap of {count} "
            f"landmarks is (1, height, width, {count}); connect the heatmap of the same model"
        )
    return values.reshape(shape)
