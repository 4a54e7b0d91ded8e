"""Messages of ROS as payloads, and the time that they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_ros.client.images import frame_of_compressed, frame_of_image
from penstock_ros.payloads import CameraInfo, Imu, PointCloud, Transform, Transforms

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: `sensor_msgs/PointField` → element type, little-endian.
POINT_TYPES: Final = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 8: "<f8"}


def payload_of(message: Any) -> Any:
    """Return the payload that a message becomes; a message of a type that is not known comes back.

    Raises:
        InvalidArgumentError: its fields contradict each other or do not fit its type, or its pixels have an
            unknown encoding.
    """
    way = _WAYS.get(message.__msgtype__)
    if way is None:
        return message
    try:
        return way(message)
    except InvalidArgumentError:
        raise
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        # a bag says itself which fields a type has
        raise InvalidArgumentError(
            f"the fields of a message from ROS do not fit its type {message.__msgtype__}: {error}; the bag "
            "is damaged, or has a type of its own by that name"
        ) from error


def stamp_us(message: Any) -> int | None:
    """Return the time of a message's header in microseconds; of transforms, the latest; or None."""
    transforms = getattr(message, "transforms", None)
    headers = (
        [getattr(one, "header", None) for one in transforms]
        if isinstance(transforms, list)
        else [getattr(message, "header", None)]
    )
    found = [us for us in (_us(getattr(header, "stamp", None)) for header in headers) if us is not None]
    return max(found, default=None)


def _us(stamp: Any) -> int | None:
    seconds, nanoseconds = getattr(stamp, "sec", None), getattr(stamp, "nanosec", None)
    if not isinstance(seconds, int) or not isinstance(nanoseconds, int):
        return None
    us = seconds * 1_000_000 + nanoseconds // 1000
    return us if us > 0 else None


def _fixed(values: Any, *shape: int) -> NDArray[np.float64]:
    array = np.array(values, np.float64).reshape(shape)
    array.flags.writeable = False
    return array


def _vector(message: Any) -> NDArray[np.float64]:
    return _fixed([message.x, message.y, message.z], 3)


def _quaternion(message: Any) -> NDArray[np.float64]:
    return _fixed([message.x, message.y, message.z, message.w], 4)


def _covariance(values: Any) -> NDArray[np.float64] | None:
    """Return a covariance; None for zeros, and for -1, by which ROS says that there is none."""
    found = _fixed(values, 3, 3)
    return found if found.any() and found[0, 0] != -1 else None


def _imu(message: Any) -> Imu:
    has_orientation = message.orientation_covariance[0] != -1
    return Imu(
        frame_id=message.header.frame_id,
        angular_velocity=_vector(message.angular_velocity),
        linear_acceleration=_vector(message.linear_acceleration),
        orientation=_quaternion(message.orientation) if has_orientation else None,
        angular_velocity_covariance=_covariance(message.angular_velocity_covariance),
        linear_acceleration_covariance=_covariance(message.linear_acceleration_covariance),
        orientation_covariance=_covariance(message.orientation_covariance),
    )


def _cloud(message: Any) -> PointCloud:
    width, height = int(message.width), int(message.height)
    step, row = int(message.point_step), int(message.row_step)
    fields = [one for one in message.fields if one.name]
    try:
        dtype = np.dtype(
            {
                "names": [one.name for one in fields],
                "formats": [
                    (POINT_TYPES[one.datatype], one.count) if one.count > 1 else POINT_TYPES[one.datatype]
                    for one in fields
                ],
                "offsets": [one.offset for one in fields],
                "itemsize": step,
            }
        )
    except (KeyError, ValueError, TypeError) as error:
        said = ", ".join(f"{one.name} type {one.datatype} at {one.offset}" for one in fields)
        raise InvalidArgumentError(
            f"a ROS point cloud with points of {step} bytes has fields that do not fit: {said}"
        ) from error
    if message.is_bigendian:
        dtype = dtype.newbyteorder(">")
    data = np.asarray(message.data, np.uint8).reshape(-1)
    row = row if height > 1 else max(row, width * step)
    if not fields or row < width * step or data.size < row * (height - 1) + width * step:
        raise InvalidArgumentError(
            f"a ROS point cloud says {width} x {height} points of {step} bytes in rows of {row}, but has "
            f"{data.size} bytes"
        )
    # The rows may be longer than their points.
    points: NDArray[np.void] = np.ndarray((height, width), dtype, data, strides=(row, step))
    points.flags.writeable = False
    return PointCloud(points[0] if height == 1 else points, message.header.frame_id, bool(message.is_dense))


def _camera(message: Any) -> CameraInfo:
    def field(name: str) -> Any:
        return getattr(message, name, None) if hasattr(message, name) else getattr(message, name.upper())

    return CameraInfo(
        frame_id=message.header.frame_id,
        width=int(message.width),
        height=int(message.height),
        distortion_model=message.distortion_model,
        d=_fixed(field("d"), -1),
        k=_fixed(field("k"), 3, 3),
        r=_fixed(field("r"), 3, 3),
        p=_fixed(field("p"), 3, 4),
    )


def _transforms(message: Any) -> Transforms:
    return Transforms(
        Transform(
            frame_id=one.header.frame_id,
            child_frame_id=one.child_frame_id,
            translation=_vector(one.transform.translation),
            rotation=_quaternion(one.transform.rotation),
            stamp_us=_us(one.header.stamp),
        )
        for one in message.transforms
    )


def _scalar(message: Any) -> bool | int | float | str:
    found: bool | int | float | str = message.data
    return found


_SCALARS: Final = (
    "Bool", "Byte", "Char", "Float32", "Float64", "Int16", "Int32", "Int64", "Int8", "String", "UInt16",
    "UInt32", "UInt64", "UInt8",
)  # fmt: skip
_WAYS: Final[dict[str, Callable[[Any], Any]]] = {
    "sensor_msgs/msg/Image": frame_of_image,
    "sensor_msgs/msg/CompressedImage": frame_of_compressed,
    "sensor_msgs/msg/Imu": _imu,
    "sensor_msgs/msg/PointCloud2": _cloud,
    "sensor_msgs/msg/CameraInfo": _camera,
    "tf2_msgs/msg/TFMessage": _transforms,
    "tf/msg/tfMessage": _transforms,
    **{f"std_msgs/msg/{name}": _scalar for name in _SCALARS},
}
#: Type of a message → what its payloads are, for people.
PAYLOADS: Final = {
    "sensor_msgs/msg/Image": "ImageFrame",
    "sensor_msgs/msg/CompressedImage": "ImageFrame",
    "sensor_msgs/msg/Imu": "penstock_ros.Imu",
    "sensor_msgs/msg/PointCloud2": "penstock_ros.PointCloud",
    "sensor_msgs/msg/CameraInfo": "penstock_ros.CameraInfo",
    "tf2_msgs/msg/TFMessage": "penstock_ros.Transforms",
    "tf/msg/tfMessage": "penstock_ros.Transforms",
    "std_msgs/msg/Bool": "bool",
    "std_msgs/msg/String": "str",
    **{f"std_msgs/msg/{name}": "float" for name in _SCALARS if "Float" in name},
    **{
        f"std_msgs/msg/{name}": "int"
        for name in ("Byte", "Char", *_SCALARS)
        if "nt" in name or name in ("Byte", "Char")
    },
}
