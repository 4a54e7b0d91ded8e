"""LandmarksToFrameAnnotationCalculator: makes an annotation of a frame of the landmarks of its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import FrameAnnotation, NormalizedLandmarkList
from penstock_vision.ports import input_or_none

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class LandmarksToFrameAnnotationCalculator(penstock.Calculator):
    """Makes an annotation of a frame: for each list of landmarks an object with them as points of the image.

    Inputs, at least one: LANDMARKS (NormalizedLandmarkList), MULTI_LANDMARKS (list[NormalizedLandmarkList]);
    output FRAME_ANNOTATION (FrameAnnotation): x and y of each landmark are a `point_2d`; z, visibility and
    presence are left out. Timestamp offset 0. Whenever an input has a packet, an annotation is sent,
    maybe one without objects.

    The reference declares LANDMARKS too, but fails when a packet comes there; here it is the first object.

    Raises in the contract: InvalidArgumentError without an input.

    Source of the behaviour: MediaPipe
    `modules/objectron/calculators/landmarks_to_frame_annotation_calculator.cc`.

    Config::

        node {
          calculator: "LandmarksToFrameAnnotationCalculator"
          input_stream: "MULTI_LANDMARKS:boxes"
          output_stream: "FRAME_ANNOTATION:objects"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in, an annotation out.

        Raises:
            InvalidArgumentError: no input is connected.
        """
        if not cc.inputs.tags():
            raise InvalidArgumentError(
                "a frame annotation is made of the inputs LANDMARKS and MULTI_LANDMARKS, but there is "
                "neither; connect one"
            )
        cc.inputs["LANDMARKS"].set(NormalizedLandmarkList, "the landmarks of one object").optional()
        cc.inputs["MULTI_LANDMARKS"].set(
            list[NormalizedLandmarkList], "the landmarks of each object"
        ).optional()
        cc.outputs["FRAME_ANNOTATION"].set(FrameAnnotation, "the objects of the frame")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Annotate one frame."""
        lists: list[NormalizedLandmarkList] = []
        one, several = input_or_none(cc.inputs, "LANDMARKS"), input_or_none(cc.inputs, "MULTI_LANDMARKS")
        if one is not None and not one.is_empty():
            lists.append(one.payload)
        if several is not None and not several.is_empty():
            lists += several.payload
        frame = FrameAnnotation()
        for landmarks in lists:
            keypoints = frame.annotations.add().keypoints
            for landmark in landmarks.landmark:
                point = keypoints.add().point_2d
                point.x, point.y = landmark.x, landmark.y
        cc.output.add(frame, cc.stamp)
