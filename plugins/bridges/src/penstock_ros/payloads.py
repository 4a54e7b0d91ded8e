"""Payloads of ROS messages for which this project has no class: sensors and transforms, as NumPy arrays.

Frames are names of coordinate systems, as of ROS: x ahead, y left, z up for bodies; z ahead, x right, y
down for cameras ("optical"). Arrays that a source makes are read-only. Two payloads are equal when they are
the same object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def _shaped(value: object, *shape: int) -> NDArray[np.float64]:
    """Return a value as a float64 array of a shape."""
    found = np.asarray(value, np.float64)
    if found.shape != shape:
        raise InvalidArgumentError(f"the ROS payload is an array of shape {found.shape}, expected {shape}")
    return found


def _vector(value: object) -> NDArray[np.float64]:
    return _shaped(value, 3)


def _quaternion(value: object) -> NDArray[np.float64]:
    return _shaped(value, 4)


def _matrix(value: object) -> NDArray[np.float64]:
    return _shaped(value, 3, 3)


def _projection(value: object) -> NDArray[np.float64]:
    return _shaped(value, 3, 4)


def _numbers(value: object) -> NDArray[np.float64]:
    return np.asarray(value, np.float64).reshape(-1)


def _transforms(value: Iterable[Transform]) -> tuple[Transform, ...]:
    return tuple(value)


@attrs.frozen(eq=False, kw_only=True)
class Imu:
    """One sample of an inertial measurement unit: `sensor_msgs/Imu`.

    Raises:
        InvalidArgumentError: an array has another shape.
    """

    #: The sensor's frame.
    frame_id: str = ""
    #: (3,) float64: rad/s about x, y, z.
    angular_velocity: NDArray[np.float64] = attrs.field(converter=_vector)
    #: (3,) float64: m/s² along x, y, z; at rest gravity is +9.81 upwards.
    linear_acceleration: NDArray[np.float64] = attrs.field(converter=_vector)
    #: (4,) float64: a unit quaternion x, y, z, w; None where the sensor estimates none.
    orientation: NDArray[np.float64] | None = attrs.field(
        default=None, converter=attrs.converters.optional(_quaternion)
    )
    #: (3, 3) float64 each, of the above; None where nothing is known.
    angular_velocity_covariance: NDArray[np.float64] | None = attrs.field(
        default=None, converter=attrs.converters.optional(_matrix)
    )
    linear_acceleration_covariance: NDArray[np.float64] | None = attrs.field(
        default=None, converter=attrs.converters.optional(_matrix)
    )
    orientation_covariance: NDArray[np.float64] | None = attrs.field(
        default=None, converter=attrs.converters.optional(_matrix)
    )


@attrs.frozen(eq=False)
class PointCloud:
    """Points of a lidar or depth camera: `sensor_msgs/PointCloud2`.

    Raises:
        InvalidArgumentError: `points` is no structured array of one or two dimensions.
    """

    #: (N,) or (H, W), structured: a name for each field of a point, usually x, y, z (float32, metres) and
    #: intensity; a field may be an array itself.
    points: NDArray[np.void] = attrs.field(converter=np.asarray)
    #: The frame of x, y, z.
    frame_id: str = ""
    #: Whether all coordinates are finite numbers.
    is_dense: bool = True

    def __attrs_post_init__(self) -> None:
        if self.points.dtype.names is None or self.points.ndim not in (1, 2):
            raise InvalidArgumentError(
                f"the ROS payload's points are {self.points.shape} {self.points.dtype}, expected a "
                "structured array (N,) or (H, W); PointCloud.of_xyz makes one of coordinates"
            )

    @classmethod
    def of_xyz(
        cls, xyz: NDArray[Any], intensity: NDArray[Any] | None = None, *, frame_id: str = ""
    ) -> PointCloud:
        """Return a cloud of coordinates.

        Args:
            xyz: (N, 3), metres; copied.
            intensity: (N,), optional; copied.
            frame_id: of the coordinates.

        Raises:
            InvalidArgumentError: a shape is another one.
        """
        xyz = np.asarray(xyz, np.float32)
        names = ["x", "y", "z"] + (["intensity"] if intensity is not None else [])
        if xyz.ndim != 2 or xyz.shape[1] != 3 or (intensity is not None and len(intensity) != len(xyz)):  # noqa: PLR2004
            raise InvalidArgumentError(
                f"the ROS payload's coordinates are {xyz.shape}, expected (N, 3), and N intensities"
            )
        points = np.empty(len(xyz), [(name, "<f4") for name in names])
        for i, name in enumerate(names[:3]):
            points[name] = xyz[:, i]
        if intensity is not None:
            points["intensity"] = intensity
        return cls(points, frame_id, bool(np.isfinite(xyz).all()))

    def xyz(self) -> NDArray[np.float32]:
        """Return a copy of the coordinates: (N, 3) float32, row by row where there are rows.

        Raises:
            InvalidArgumentError: a point has no x, y or z.
        """
        names = self.points.dtype.names or ()
        if not {"x", "y", "z"} <= set(names):
            raise InvalidArgumentError(
                f"a point of the ROS payload has the fields {', '.join(names)}, expected x, y and z"
            )
        flat = self.points.reshape(-1)
        return np.stack([flat[name].astype(np.float32) for name in "xyz"], axis=1)


@attrs.frozen(eq=False, kw_only=True)
class CameraInfo:
    """The calibration of a camera: `sensor_msgs/CameraInfo`.

    Raises:
        InvalidArgumentError: an array has another shape.
    """

    frame_id: str = ""
    #: Of the calibrated image, in pixels.
    width: int
    height: int
    #: Such as "plumb_bob".
    distortion_model: str = ""
    #: (N,) float64: the numbers of the model.
    d: NDArray[np.float64] = attrs.field(default=(), converter=_numbers)
    #: (3, 3) float64: fx, 0, cx; 0, fy, cy; 0, 0, 1, in pixels.
    k: NDArray[np.float64] = attrs.field(converter=_matrix)
    #: (3, 3) float64: the rectification.
    r: NDArray[np.float64] = attrs.field(factory=lambda: np.eye(3), converter=_matrix)
    #: (3, 4) float64: the projection of the rectified image.
    p: NDArray[np.float64] = attrs.field(factory=lambda: np.zeros((3, 4)), converter=_projection)


@attrs.frozen(eq=False, kw_only=True)
class Transform:
    """Where one frame is in another: `geometry_msgs/TransformStamped`.

    Raises:
        InvalidArgumentError: an array has another shape.
    """

    #: The frame that the numbers are in, and the one that they place.
    frame_id: str
    child_frame_id: str
    #: (3,) float64, metres.
    translation: NDArray[np.float64] = attrs.field(converter=_vector)
    #: (4,) float64: a unit quaternion x, y, z, w.
    rotation: NDArray[np.float64] = attrs.field(converter=_quaternion)
    #: When it holds, in microseconds; None: at the packet's timestamp.
    stamp_us: int | None = None


@attrs.frozen(eq=False)
class Transforms:
    """Transforms of one message: `tf2_msgs/TFMessage`."""

    transforms: tuple[Transform, ...] = attrs.field(converter=_transforms)
