"""FaceLandmarksToRenderDataCalculator: the landmarks of a face as a drawing of its features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_vision.drawing.landmarks_to_render_data import LandmarksToRenderDataCalculator
from penstock_vision.landmarks.face_points import CONTOURS

if TYPE_CHECKING:
    from penstock_vision.messages.landmarks_to_render_data_pb2 import LandmarksToRenderDataCalculatorOptions


class FaceLandmarksToRenderDataCalculator(LandmarksToRenderDataCalculator):
    """Make a drawing of a face: a point for each landmark, and lines along lips, eyes, brows, irises, oval.

    Inputs: exactly one of LANDMARKS (LandmarkList, in pixels) and NORM_LANDMARKS (NormalizedLandmarkList, in
    shares of the image's sides); RENDER_SCALE (float, optional). Output: RENDER_DATA (RenderData). Timestamp
    offset 0. It is LandmarksToRenderDataCalculator with the lines of MediaPipe's face mesh; lines to
    landmarks that a list does not have, such as those of the irises, are left out.

    Options `LandmarksToRenderDataCalculatorOptions`: those of that calculator; `landmark_connections` has no
    effect.

    Raises as LandmarksToRenderDataCalculator.

    Source of the behaviour: MediaPipe
    `graphs/face_mesh/calculators/face_landmarks_to_render_data_calculator.cc`.

    Config::

        node {
          calculator: "FaceLandmarksToRenderDataCalculator"
          input_stream: "NORM_LANDMARKS:face"
          output_stream: "RENDER_DATA:face_to_draw"
          options {
            [penstock.LandmarksToRenderDataCalculatorOptions.ext] {
              landmark_color { r: 255 }
              connection_color { g: 255 }
              thickness: 2
              visualize_landmark_depth: false
            }
          }
        }
    """

    @staticmethod
    def _ends_of(options: LandmarksToRenderDataCalculatorOptions) -> list[int]:  # noqa: ARG004  # fixed here
        return [index for pair in CONTOURS for index in pair]
