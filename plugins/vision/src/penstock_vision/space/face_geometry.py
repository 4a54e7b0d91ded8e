"""FaceGeometryEnvGeneratorCalculator and FaceGeometryPipelineCalculator: faces in space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import DecodeError

import penstock
from penstock.access import ACCESS, Searched
from penstock.errors import InvalidArgumentError
from penstock_formats import Matrix, NormalizedLandmarkList
from penstock_vision.detections.label_file import RESOURCES
from penstock_vision.geometry.image_size import image_size
from penstock_vision.landmarks.landmark_table import LandmarkTable
from penstock_vision.messages.face_geometry_pb2 import (
    FaceGeometryEnvGeneratorCalculatorOptions,
    FaceGeometryPipelineCalculatorOptions,
)
from penstock_vision.messages.face_space_pb2 import Environment, FaceGeometry, GeometryPipelineMetadata
from penstock_vision.space.face_space import VERTEX, FaceSpace, Frustum, check_environment, is_too_compact

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

M = TypeVar("M", bound="Message")


class FaceGeometryEnvGeneratorCalculator(penstock.Calculator):
    """Gives the camera before which faces are, as a side packet for the other calculators of faces in space.

    Output side packet ENVIRONMENT (Environment of `penstock_vision.messages.face_space_pb2`). There are no
    streams.

    Options `FaceGeometryEnvGeneratorCalculatorOptions`: `environment` (required) with `origin_point_location`
    (BOTTOM_LEFT_CORNER or TOP_LEFT_CORNER: where y of landmarks is 0) and `perspective_camera
    { vertical_fov_degrees near far }` (degrees, centimetres).

    Raises in `open`: InvalidArgumentError for angles and distances that no camera has.

    Source of the behaviour: MediaPipe `modules/face_geometry/env_generator_calculator.cc`.

    Config::

        node {
          calculator: "FaceGeometryEnvGeneratorCalculator"
          output_side_packet: "ENVIRONMENT:environment"
          options {
            [penstock.FaceGeometryEnvGeneratorCalculatorOptions.ext] {
              environment {
                origin_point_location: TOP_LEFT_CORNER
                perspective_camera { vertical_fov_degrees: 63 near: 1 far: 10000 }
              }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the camera."""
        cc.output_side_packets["ENVIRONMENT"].set(Environment, "the camera")
        cc.options(FaceGeometryEnvGeneratorCalculatorOptions)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Give the camera.

        Raises:
            InvalidArgumentError: it cannot be.
        """
        environment = cc.options(FaceGeometryEnvGeneratorCalculatorOptions).environment
        check_environment(environment)
        cc.output_side_packets["ENVIRONMENT"].set(environment)

    def process(self, cc: CalculatorContext) -> None:
        """Do nothing: the node has no streams."""


class FaceGeometryPipelineCalculator(penstock.Calculator):
    """Finds where faces are in space: their pose, and their shape in centimetres.

    Inputs IMAGE_SIZE (tuple of width and height in pixels) and MULTI_FACE_LANDMARKS
    (list[NormalizedLandmarkList], as many landmarks as the canonical face); side packet ENVIRONMENT
    (Environment, of a FaceGeometryEnvGeneratorCalculator). Output MULTI_FACE_GEOMETRY (list[FaceGeometry] of
    `penstock_vision.messages.face_space_pb2`): of each face the matrix from the canonical pose to its place,
    and the mesh of the canonical face with its own landmarks, in that pose. Faces that are smaller than a
    thousandth of the image are left out. Where one of the inputs has no packet, nothing is sent. Timestamp
    offset 0.

    Options `FaceGeometryPipelineCalculatorOptions`: `metadata_path` (required): the file with the canonical
    face (GeometryPipelineMetadata), found as models are (service `penstock-tensors.resources`); MediaPipe
    has it as text, `modules/face_geometry/data/geometry_pipeline_metadata_landmarks.pbtxt`, and in
    `face_landmarker.task`.

    Raises in the contract: InvalidArgumentError without metadata_path. In `open`: NotFoundError for a file
    that is not found; InvalidArgumentError for one that is wrong, and for a camera that cannot be;
    FailedPreconditionError without penstock-tensors. In `process`: InvalidArgumentError for another number
    of landmarks, a size that is none, and faces without a pose.

    Source of the behaviour: MediaPipe `modules/face_geometry/libs/geometry_pipeline.cc` and
    `procrustes_solver.cc`. Here it is computed in 64 bits, so numbers differ by rounding.

    Config::

        node {
          calculator: "FaceGeometryPipelineCalculator"
          input_stream: "IMAGE_SIZE:image_size"
          input_stream: "MULTI_FACE_LANDMARKS:faces"
          input_side_packet: "ENVIRONMENT:environment"
          output_stream: "MULTI_FACE_GEOMETRY:faces_in_space"
          options {
            [penstock.FaceGeometryPipelineCalculatorOptions.ext] {
              metadata_path: "geometry_pipeline_metadata_landmarks.binarypb"
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in, faces in space out.

        Raises:
            InvalidArgumentError: no file is named.
        """
        if not cc.options(FaceGeometryPipelineCalculatorOptions).metadata_path:
            raise InvalidArgumentError(
                "metadata_path is empty, but names the file with the canonical face; set it in the options"
            )
        cc.use_service(RESOURCES)
        cc.declare(reads=[Searched(cc.options(FaceGeometryPipelineCalculatorOptions).metadata_path)])
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels")
        cc.inputs["MULTI_FACE_LANDMARKS"].set(list[NormalizedLandmarkList], "landmarks of each face")
        cc.input_side_packets["ENVIRONMENT"].set(Environment, "the camera")
        cc.outputs["MULTI_FACE_GEOMETRY"].set(list[FaceGeometry], "pose and shape of each face")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the canonical face.

        Raises:
            PenstockError: as the class says.
        """
        path = cc.options(FaceGeometryPipelineCalculatorOptions).metadata_path
        metadata = read_message(cc, path, GeometryPipelineMetadata)
        environment: Environment = cc.input_side_packets["ENVIRONMENT"].get(Environment)
        check_environment(environment)
        self._camera = environment.perspective_camera
        self._space = FaceSpace(metadata, environment)
        self._mesh = metadata.canonical_mesh

    def process(self, cc: CalculatorContext) -> None:
        """Place the faces of one image."""
        port, size_port = cc.inputs["MULTI_FACE_LANDMARKS"], cc.inputs["IMAGE_SIZE"]
        if port.is_empty() or size_port.is_empty():
            return
        size = image_size(size_port)
        frustum = Frustum.of(self._camera, int(size.width), int(size.height))
        found = []
        for face in port.payload:
            landmarks = LandmarkTable.of(face).values[:, :3]
            if len(landmarks) != self._space.count:
                raise InvalidArgumentError(
                    f"input {port.name!r} holds a face of {len(landmarks)} landmarks, but the canonical "
                    f"face has {self._space.count}; metadata_path must be that of the landmarks' model"
                )
            if not is_too_compact(landmarks):
                found.append(self._geometry(*self._space.place(landmarks, frustum)))
        cc.outputs["MULTI_FACE_GEOMETRY"].add(found, cc.stamp)

    def _geometry(self, points: NDArray[np.float64], pose: NDArray[np.float64]) -> FaceGeometry:
        made = FaceGeometry()
        made.mesh.CopyFrom(self._mesh)
        vertices = np.array(self._mesh.vertex_buffer, np.float32).reshape(-1, VERTEX)
        vertices[:, :3] = points
        made.mesh.vertex_buffer[:] = vertices.ravel().tolist()
        made.pose_transform_matrix.CopyFrom(Matrix(pose.astype(np.float32)).to_message())
        return made


def read_message(cc: CalculatorContext, path: str, kind: type[M]) -> M:
    """Return the message that a file holds: as text where its name ends with .pbtxt, else serialized.

    Raises:
        NotFoundError: no place has it.
        PermissionDeniedError: the graph may not read it.
        InvalidArgumentError: it holds no such message.
    """
    data: bytes = cc.service(RESOURCES).find(path, cc.service(ACCESS)).data
    made: Any = kind()
    try:
        if path.endswith(".pbtxt"):
            text_format.Parse(data, made)
        else:
            made.ParseFromString(data)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise InvalidArgumentError(
            f"face geometry: file {path!r} is no {kind.DESCRIPTOR.name}: {error}; get the file again"
        ) from error
    return made  # type: ignore[no-any-return]  # `kind` was called
