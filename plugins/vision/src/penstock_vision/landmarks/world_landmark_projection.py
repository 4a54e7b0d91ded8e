"""WorldLandmarkProjectionCalculator: rotates landmarks in metres as the crop was rotated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock_formats import LandmarkList, NormalizedRect
from penstock_vision.geometry.single_precision import cosine, f32, sine
from penstock_vision.landmarks.landmark_table import LandmarkTable, X, Y
from penstock_vision.ports import input_or_none

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class WorldLandmarkProjectionCalculator(penstock.Calculator):
    """Rotates landmarks found in a rotated crop back, around their own origin.

    World landmarks are in metres from a point of the body, so where the crop was and its size do not
    matter. Inputs: LANDMARKS (LandmarkList); NORM_RECT (NormalizedRect), the crop, optional: without it the
    landmarks are copied. Output LANDMARKS (LandmarkList): x and y rotated, all else as it was. Timestamp
    offset 0. Where landmarks or the connected rectangle have no packet, nothing is sent.

    Source of the behaviour: MediaPipe `calculators/util/world_landmark_projection_calculator.cc`.

    Config::

        node {
          calculator: "WorldLandmarkProjectionCalculator"
          input_stream: "LANDMARKS:world_landmarks_in_crop"
          input_stream: "NORM_RECT:crop"
          output_stream: "LANDMARKS:world_landmarks"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in and out, and the rectangle."""
        cc.inputs["LANDMARKS"].set(LandmarkList, "landmarks in metres, of a rotated crop")
        cc.inputs["NORM_RECT"].set(NormalizedRect, "the crop").optional()
        cc.outputs["LANDMARKS"].set(LandmarkList, "the landmarks, upright")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Rotate the landmarks of one timestamp."""
        port, rect = cc.inputs["LANDMARKS"], input_or_none(cc.inputs, "NORM_RECT")
        if port.is_empty() or (rect is not None and rect.is_empty()):
            return
        if rect is None:
            cc.outputs["LANDMARKS"].add_packet(port.packet)
            return
        rotation = f32(rect.payload.rotation)
        cos, sin = cosine(rotation), sine(rotation)
        table = LandmarkTable.of(port.payload)
        places = table.values[:, : Y + 1]
        places[...] = places * cos + places[:, ::-1] * np.array((-sin, sin), np.float32)
        table.have(X, Y)
        cc.outputs["LANDMARKS"].add(table.make(LandmarkList), cc.stamp)
