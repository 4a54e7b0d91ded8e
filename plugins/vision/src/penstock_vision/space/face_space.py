"""Landmarks of a face on the screen as points in space, in centimetres, and the pose of the face."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_vision.messages.face_space_pb2 import (
    DEFAULT,
    FACE_DETECTION_PIPELINE,
    FACE_LANDMARK_PIPELINE,
    TOP_LEFT_CORNER,
)
from penstock_vision.space.procrustes import similarity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_vision.messages.face_space_pb2 import (
        Environment,
        GeometryPipelineMetadata,
        Mesh3d,
        PerspectiveCamera,
    )

#: Numbers of a vertex: x, y, z, u, v.
VERTEX: Final = 5
_CORNERS: Final = 3
_TINY: Final = 1e-9
_HALF_TURN: Final = 180
#: Faces whose landmarks are all this near to their mean have no pose.
_COMPACT: Final = 1e-3


class Frustum(NamedTuple):
    """What a camera sees at its near plane, in centimetres."""

    width: float
    height: float
    near: float

    @classmethod
    def of(cls, camera: PerspectiveCamera, width: int, height: int) -> Frustum:
        """Return the frustum of a camera whose image has this size in pixels."""
        tall = 2 * camera.near * math.tan(math.radians(camera.vertical_fov_degrees) / 2)
        return cls(width * tall / height, tall, camera.near)


class FaceSpace:
    """Finds the pose of faces by a canonical face.

    Args:
        metadata: the canonical face, and which of its landmarks tell the pose.
        environment: says where y is 0.

    Raises:
        InvalidArgumentError: the mesh or the weights are wrong.
    """

    def __init__(self, metadata: GeometryPipelineMetadata, environment: Environment) -> None:
        check_mesh(metadata.canonical_mesh, "the canonical mesh")
        vertices = np.array(metadata.canonical_mesh.vertex_buffer, np.float64).reshape(-1, VERTEX)
        self._canonical = vertices[:, :3].T
        self._weights = _weights(metadata, len(vertices))
        self._is_top = environment.origin_point_location == TOP_LEFT_CORNER
        source = metadata.input_source
        is_known = source in {DEFAULT, FACE_LANDMARK_PIPELINE}
        self._is_flat = not is_known and source == FACE_DETECTION_PIPELINE

    @property
    def count(self) -> int:
        """How many landmarks a face has."""
        return int(self._canonical.shape[1])

    def place(
        self, landmarks: NDArray[np.float32], frustum: Frustum
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the landmarks of a face in the pose of the canonical face, (n, 3), and its pose, (4, 4).

        Args:
            landmarks: (n, 3), in fractions of the image's size, z by its width.
            frustum: what the camera sees.

        Raises:
            InvalidArgumentError: the face has no pose.
        """
        screen = landmarks.T.astype(np.float64)
        if self._is_top:
            screen[1] = 1 - screen[1]
        screen *= np.array([[frustum.width], [frustum.height], [frustum.width]])
        screen[:2] -= np.array([[frustum.width / 2], [frustum.height / 2]])
        depth = screen[2].mean()
        first = self._scale(screen * _MIRROR)
        once = _in_space(screen, frustum.near, depth, first)
        if self._is_flat:
            once[2] = self._depths(self._pose(once))
        metric = _in_space(screen, frustum.near, depth, first * self._scale(once))
        pose = self._pose(metric)
        if self._is_flat:
            metric[2] = self._depths(pose)
            pose = self._pose(metric)
        back = np.linalg.inv(pose)
        return (back[:3, :3] @ metric + back[:3, 3:]).T, pose

    def _pose(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return similarity(self._canonical, points, self._weights)

    def _scale(self, points: NDArray[np.float64]) -> float:
        return float(np.linalg.norm(self._pose(points)[:, 0]))

    def _depths(self, pose: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return z of the canonical face in a pose."""
        return np.asarray(pose[2, :3] @ self._canonical + pose[2, 3])


#: From coordinates of the screen, whose z points away, to those of space, whose z points here.
_MIRROR: Final = np.array([[1.0], [1.0], [-1.0]])


def _in_space(screen: NDArray[np.float64], near: float, depth: float, scale: float) -> NDArray[np.float64]:
    """Return points that a camera sees at these places of its near plane."""
    z = (screen[2] - depth + near) / scale
    return np.stack((screen[0] * z / near, screen[1] * z / near, -z))


def is_too_compact(landmarks: NDArray[np.float32]) -> bool:
    """Return whether a face, (n, 3), is too small for a pose."""
    off = landmarks[:, :2] - landmarks[:, :2].mean(axis=0)
    return not len(landmarks) or math.sqrt(float((off * off).sum(axis=1).max())) <= _COMPACT


def check_environment(environment: Environment) -> None:
    """Refuse cameras that cannot be.

    Raises:
        InvalidArgumentError: an angle or a distance is out of range.
    """
    camera = environment.perspective_camera
    for name, number, least, most in (
        ("near", camera.near, _TINY, math.inf),
        ("far", camera.far, camera.near + _TINY, math.inf),
        ("vertical_fov_degrees", camera.vertical_fov_degrees, _TINY, _HALF_TURN - _TINY),
    ):
        if not least < number < most:
            raise InvalidArgumentError(
                f"{name} of the face's perspective_camera is {number:g}, but must be above {least:g} and "
                f"below {most:g}; change the environment"
            )


def check_mesh(mesh: Mesh3d, what: str) -> None:
    """Refuse meshes whose buffers do not fit.

    Raises:
        InvalidArgumentError: a buffer is cut off, or names vertices that are not there.
    """
    numbers, corners = len(mesh.vertex_buffer), mesh.index_buffer
    if not numbers or numbers % VERTEX or len(corners) % _CORNERS:
        raise InvalidArgumentError(
            f"{what} of the face in space has {numbers} numbers of vertices and {len(corners)} of "
            f"triangles, but a vertex has {VERTEX} and a triangle {_CORNERS}; get the file again"
        )
    if corners and max(corners) >= numbers // VERTEX:
        raise InvalidArgumentError(
            f"{what} of the face has a triangle with vertex {max(corners)}, but there are "
            f"{numbers // VERTEX}; get the file again"
        )


def _weights(metadata: GeometryPipelineMetadata, count: int) -> NDArray[np.float64]:
    weights = np.zeros(count)
    for one in metadata.procrustes_landmark_basis:
        if one.landmark_id >= count or not one.weight >= 0:
            raise InvalidArgumentError(
                f"the face's metadata gives landmark {one.landmark_id} the weight {one.weight:g}, but "
                f"landmarks are 0 to {count - 1} and weights 0 or more; get the file again"
            )
        weights[one.landmark_id] = one.weight
    if not weights.sum() > _TINY:
        raise InvalidArgumentError("the face's metadata has no landmark with a weight; get the file again")
    return weights
