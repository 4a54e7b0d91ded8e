"""Lift2DFrameAnnotationTo3DCalculator: finds boxes in space from their points in the image."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import FrameAnnotation
from penstock_vision.messages.lift_2d_frame_annotation_to_3d_pb2 import (
    Lift2DFrameAnnotationTo3DCalculatorOptions,
)
from penstock_vision.space.box_in_space import POINTS, Camera, fit_box, lift

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock_formats import ObjectAnnotation

#: The ids of objects, each used once in a process.
_IDS: Final = count(1)


class Lift2DFrameAnnotationTo3DCalculator(penstock.Calculator):
    """Adds to each object of a frame where its points are in space, and the box that fits them.

    Input FRAME_ANNOTATION, output LIFTED_FRAME_ANNOTATION (both FrameAnnotation). Each object has nine
    points of the image: the centre of a box, then its corners; `point_3d` of each, `rotation` (3x3, row
    after row), `translation` and `scale` are added. How far the object is cannot be seen, so lengths are
    known up to a common factor. Each object gets an `object_id` that no other one of the process has;
    `timestamp` is that of the packet in microseconds. Timestamp offset 0.

    Options `Lift2DFrameAnnotationTo3DCalculatorOptions`: `normalized_focal_x` and `normalized_focal_y` (1),
    `normalized_principal_point_x` and `normalized_principal_point_y` (0), of the camera, in halves of the
    image's width and height; `decoder_config` has no effect.

    Raises in `process`: InvalidArgumentError for an object with another number of points, and for points from
    which no box can be computed.

    Source of the behaviour: MediaPipe
    `modules/objectron/calculators/lift_2d_frame_annotation_to_3d_calculator.cc`, `epnp.cc`, `box.cc`.
    The results were not compared with the reference: its wheel does not have the models.

    Config::

        node {
          calculator: "Lift2DFrameAnnotationTo3DCalculator"
          input_stream: "FRAME_ANNOTATION:objects"
          output_stream: "LIFTED_FRAME_ANNOTATION:objects_in_space"
          options {
            [penstock.Lift2DFrameAnnotationTo3DCalculatorOptions.ext] {
              normalized_focal_x: 2.0975
              normalized_focal_y: 1.5731
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare an annotation in and out."""
        cc.inputs["FRAME_ANNOTATION"].set(FrameAnnotation, "objects with their points in the image")
        cc.outputs["LIFTED_FRAME_ANNOTATION"].set(FrameAnnotation, "the same with their boxes in space")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Determine the camera."""
        options = cc.options(Lift2DFrameAnnotationTo3DCalculatorOptions)
        self._camera = Camera(
            options.normalized_focal_x,
            options.normalized_focal_y,
            options.normalized_principal_point_x,
            options.normalized_principal_point_y,
        )

    def process(self, cc: CalculatorContext) -> None:
        """Lift the objects of one frame."""
        port = cc.input
        if port.is_empty():
            return
        frame = FrameAnnotation()
        frame.CopyFrom(port.payload)
        for annotation in frame.annotations:
            if len(annotation.keypoints) != POINTS:
                raise InvalidArgumentError(
                    f"input {port.name!r} holds an annotation with {len(annotation.keypoints)} points, but a "
                    f"box has {POINTS}: its centre and its corners; to be lifted to 3D connect the landmarks "
                    "of a model of boxes"
                )
            self._lift(annotation, port.name)
        for annotation in frame.annotations:
            annotation.object_id = next(_IDS)
        frame.timestamp = cc.stamp
        cc.output.add(frame, cc.stamp)

    def _lift(self, annotation: ObjectAnnotation, name: str) -> None:
        in_image = [(one.point_2d.x, one.point_2d.y) for one in annotation.keypoints]
        try:
            points = lift(np.array(in_image, np.float32), self._camera)
            box = fit_box(points)
        except np.linalg.LinAlgError as error:
            raise InvalidArgumentError(
                f"input {name!r} holds an annotation with the points {in_image}, from which no box can be "
                f"lifted to 3D ({error}); connect finite points"
            ) from error
        for keypoint, (x, y, z) in zip(annotation.keypoints, points.tolist(), strict=True):
            keypoint.point_3d.x, keypoint.point_3d.y, keypoint.point_3d.z = x, y, z
        annotation.rotation[:] = box.rotation.ravel().tolist()
        annotation.translation[:] = box.translation.tolist()
        annotation.scale[:] = box.scale.tolist()
