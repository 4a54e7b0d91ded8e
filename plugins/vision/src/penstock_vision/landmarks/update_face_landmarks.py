"""UpdateFaceLandmarksCalculator: puts the finer landmarks of an eye model into those of a face."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import NormalizedLandmarkList
from penstock_vision.landmarks.face_points import FACE, LEFT_EYE, RIGHT_EYE

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_EYES: Final = (*LEFT_EYE, *RIGHT_EYE)


class UpdateFaceLandmarksCalculator(penstock.Calculator):
    """Replaces the landmarks around the eyes of a face by those that a model for eyes found.

    Inputs FACE_LANDMARKS (NormalizedLandmarkList of 468) and NEW_EYE_LANDMARKS (NormalizedLandmarkList of
    142: 71 of the left eye, then 71 of the right); output UPDATED_FACE_LANDMARKS (NormalizedLandmarkList of
    468, new). x, y, z and visibility of 142 landmarks are replaced. Where one of the inputs has no packet,
    nothing is sent. Timestamp offset 0.

    Raises in `process`: InvalidArgumentError for another number of landmarks.

    Source of the behaviour: MediaPipe `graphs/iris_tracking/calculators/update_face_landmarks_calculator.cc`.

    Config::

        node {
          calculator: "UpdateFaceLandmarksCalculator"
          input_stream: "NEW_EYE_LANDMARKS:eye_landmarks"
          input_stream: "FACE_LANDMARKS:face_landmarks"
          output_stream: "UPDATED_FACE_LANDMARKS:finer_face_landmarks"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a face and its eyes in, a face out."""
        cc.inputs["FACE_LANDMARKS"].set(NormalizedLandmarkList, "468 landmarks of a face")
        cc.inputs["NEW_EYE_LANDMARKS"].set(NormalizedLandmarkList, "142 landmarks around its eyes")
        cc.outputs["UPDATED_FACE_LANDMARKS"].set(NormalizedLandmarkList, "the face with these")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Change one face."""
        face, eyes = cc.inputs["FACE_LANDMARKS"], cc.inputs["NEW_EYE_LANDMARKS"]
        if face.is_empty() or eyes.is_empty():
            return
        for port, wanted in ((face, FACE), (eyes, len(_EYES))):
            count = len(port.payload.landmark)
            if count != wanted:
                raise InvalidArgumentError(
                    f"input {port.name!r} holds {count} landmarks, but must hold {wanted}; connect those of "
                    "the face mesh model, and of the iris model for both eyes"
                )
        made = NormalizedLandmarkList()
        made.CopyFrom(face.payload)
        for i, found in zip(_EYES, eyes.payload.landmark, strict=True):
            point = made.landmark[i]
            point.x, point.y, point.z = found.x, found.y, found.z
            point.visibility = found.visibility
        cc.outputs["UPDATED_FACE_LANDMARKS"].add(made, cc.stamp)
