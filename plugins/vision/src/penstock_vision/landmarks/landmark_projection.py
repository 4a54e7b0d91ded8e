"""LandmarkProjectionCalculator: landmarks of a crop become landmarks of the image."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock.log import get_logger, place
from penstock_formats import NormalizedLandmarkList, NormalizedRect
from penstock_vision.geometry.image_size import image_size
from penstock_vision.geometry.region_matrix import region_matrix
from penstock_vision.geometry.single_precision import HALF, ZERO, cosine, f32, sine
from penstock_vision.landmarks.landmark_table import LandmarkTable, X, Y, Z
from penstock_vision.messages.landmark_projection_pb2 import LandmarkProjectionCalculatorOptions
from penstock_vision.ports import only_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import CalculatorContext, CalculatorContract, Input
    from penstock_vision.geometry.single_precision import Float32

_NUMBERS: Final = 16


class LandmarkProjectionCalculator(penstock.Calculator):
    """Maps landmarks found in a crop of an image to the image.

    Inputs: NORM_LANDMARKS, NORM_LANDMARKS:1, ... (NormalizedLandmarkList) in fractions of the crop; and one
    of NORM_RECT (NormalizedRect), where the crop was, or PROJECTION_MATRIX (tuple of 16 numbers, row after
    row of 4x4), which maps crop to image; with NORM_RECT optionally IMAGE_DIMENSIONS (tuple of width and
    height in pixels). Outputs: as many NORM_LANDMARKS, in fractions of the image. z is scaled as x is;
    visibility and presence stay. Timestamp offset 0. Where the rectangle, the dimensions or the matrix have
    no packet, nothing is sent; an empty NORM_LANDMARKS gives no packet on its output.

    **With NORM_RECT alone the result is right only for a crop that is a square in pixels**, since
    it is rotated in fractions of the image, not in pixels. The graphs of MediaPipe do so, with squares.
    The log has one warning.

    Options `LandmarkProjectionCalculatorOptions`: `ignore_rotation` (false), whether NORM_RECT counts as not
    rotated.

    Raises in the contract: InvalidArgumentError unless exactly one of NORM_RECT and PROJECTION_MATRIX is
    connected, for IMAGE_DIMENSIONS without NORM_RECT, and for other numbers of inputs than of outputs. In
    `process`: the same for a matrix without 16 numbers, and for dimensions that are no size.

    Source of the behaviour: MediaPipe `calculators/util/landmark_projection_calculator.cc`.

    Config::

        node {
          calculator: "LandmarkProjectionCalculator"
          input_stream: "NORM_LANDMARKS:landmarks_in_crop"
          input_stream: "NORM_RECT:crop"
          output_stream: "NORM_LANDMARKS:landmarks"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in and out, and what maps them.

        Raises:
            InvalidArgumentError: the ports do not fit together.
        """
        count = max(cc.inputs.count("NORM_LANDMARKS"), 1)
        outputs = cc.outputs.count("NORM_LANDMARKS")
        if outputs != count:
            raise InvalidArgumentError(
                f"the projection has {count} inputs and {outputs} outputs NORM_LANDMARKS, but each input has "
                "an output; connect as many"
            )
        for i in range(count):
            cc.inputs["NORM_LANDMARKS", i].set(NormalizedLandmarkList, "landmarks in the crop")
            cc.outputs["NORM_LANDMARKS", i].set(NormalizedLandmarkList, "the same in the image")
        if only_one(cc.inputs, ("NORM_RECT", "PROJECTION_MATRIX"), "input") == "NORM_RECT":
            cc.inputs["NORM_RECT"].set(NormalizedRect, "where the crop is in the image")
            cc.inputs["IMAGE_DIMENSIONS"].set(tuple, "width and height of the image in pixels").optional()
        else:
            cc.inputs["PROJECTION_MATRIX"].set(tuple, "16 numbers: maps the crop to the image")
            if "IMAGE_DIMENSIONS" in cc.inputs:
                raise InvalidArgumentError(
                    "input IMAGE_DIMENSIONS of the projection is connected, but only counts with NORM_RECT; "
                    "disconnect it, or replace PROJECTION_MATRIX"
                )
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Warn if only squares are mapped rightly."""
        self._ignores_rotation = cc.options(LandmarkProjectionCalculatorOptions).ignore_rotation
        self._lanes = range(cc.inputs.count("NORM_LANDMARKS"))
        self._with_rect = "NORM_RECT" in cc.inputs
        self._with_size = "IMAGE_DIMENSIONS" in cc.inputs
        self._conditions = [
            tag for tag in ("NORM_RECT", "IMAGE_DIMENSIONS", "PROJECTION_MATRIX") if tag in cc.inputs
        ]
        if self._with_rect and not self._with_size:
            get_logger(__name__).info(
                "NORM_RECT without IMAGE_DIMENSIONS is right only for crops that are squares in pixels",
                extra=place(node=cc.node_name),
            )

    def process(self, cc: CalculatorContext) -> None:
        """Map the landmarks of one timestamp."""
        if any(cc.inputs[tag].is_empty() for tag in self._conditions):
            return
        matrix = None
        if self._with_size:
            size = image_size(cc.inputs["IMAGE_DIMENSIONS"])
            matrix = region_matrix(
                cc.inputs["NORM_RECT"].payload, size, ignores_rotation=self._ignores_rotation
            )
        elif not self._with_rect:
            matrix = _given_matrix(cc.inputs["PROJECTION_MATRIX"])
        for i in self._lanes:
            port = cc.inputs["NORM_LANDMARKS", i]
            if port.is_empty():
                continue
            table = LandmarkTable.of(port.payload)
            if matrix is None:
                self._by_rect(table, cc.inputs["NORM_RECT"].payload)
            else:
                _by_matrix(table, matrix)
            table.have(X, Y, Z)
            cc.outputs["NORM_LANDMARKS", i].add(table.make(NormalizedLandmarkList), cc.stamp)

    def _by_rect(self, table: LandmarkTable, rect: NormalizedRect) -> None:
        values = table.values
        rotation = ZERO if self._ignores_rotation else f32(rect.rotation)
        cos, sin = cosine(rotation), sine(rotation)
        places = values[:, : Y + 1]
        places -= HALF
        turned = places * cos + places[:, ::-1] * np.array((-sin, sin), np.float32)
        turned *= np.array((rect.width, rect.height), np.float32)
        places[...] = turned + np.array((rect.x_center, rect.y_center), np.float32)
        values[:, Z] *= f32(rect.width)


def _by_matrix(table: LandmarkTable, matrix: Sequence[Float32]) -> None:
    values = table.values
    x, y, z = values[:, X].copy(), values[:, Y].copy(), values[:, Z].copy()
    values[:, X] = x * matrix[0] + y * matrix[1] + z * matrix[2] + matrix[3]
    values[:, Y] = x * matrix[4] + y * matrix[5] + z * matrix[6] + matrix[7]
    # the length of the line from (0, 0) to (1, 0) in the image
    across = float((matrix[0] + matrix[3]) - matrix[3])
    down = float((matrix[4] + matrix[7]) - matrix[7])
    values[:, Z] = f32(math.sqrt(across * across + down * down)) * z


def _given_matrix(port: Input) -> list[Float32]:
    matrix = port.payload
    if len(matrix) != _NUMBERS:
        raise InvalidArgumentError(
            f"input {port.name!r} holds {len(matrix)} numbers, but the landmark projection's matrix of 4x4 "
            f"has {_NUMBERS}; connect the MATRIX of an ImageToTensorCalculator"
        )
    return [f32(number) for number in matrix]
