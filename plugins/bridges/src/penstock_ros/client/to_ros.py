"""Payloads as messages of ROS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import Image, ImageFrame
from penstock_ros.client.from_ros import POINT_TYPES
from penstock_ros.client.images import compressed_fields, image_fields
from penstock_ros.payloads import CameraInfo, Imu, PointCloud, Transform, Transforms

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_ros.options import BagTopic

_KINDS: Final = {np.dtype(text): number for number, text in POINT_TYPES.items()}
_COMPRESSED: Final = "sensor_msgs/msg/CompressedImage"
_IMAGE: Final = "sensor_msgs/msg/Image"
#: Class of a payload → the type of its messages, where the topic names none. A bool is an int too, so it is
#: first.
_TYPES: Final[tuple[tuple[type, str], ...]] = (
    (ImageFrame, _IMAGE),
    (Imu, "sensor_msgs/msg/Imu"),
    (PointCloud, "sensor_msgs/msg/PointCloud2"),
    (CameraInfo, "sensor_msgs/msg/CameraInfo"),
    (Transforms, "tf2_msgs/msg/TFMessage"),
    (bool, "std_msgs/msg/Bool"),
    (int, "std_msgs/msg/Int64"),
    (float, "std_msgs/msg/Float64"),
    (str, "std_msgs/msg/String"),
)
#: Type of scalars → the Python type of its field.
_FIELDS: Final = {"Bool": bool, "Float32": float, "Float64": float, "String": str}
_RANGES: Final = {
    **{f"Int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"UInt{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    "Byte": (0, 255),
    "Char": (0, 255),
}


class Messages:
    """Makes messages of the types of one version of ROS.

    Args:
        types: Name of a type → its class, as rosbags has them.
    """

    def __init__(self, types: dict[str, Any]) -> None:
        self._types: Final = types
        self._makers: Final[dict[str, Callable[[Any, BagTopic, int], Any]]] = {
            _IMAGE: self._image,
            _COMPRESSED: self._compressed,
            "sensor_msgs/msg/Imu": self._imu,
            "sensor_msgs/msg/PointCloud2": self._cloud,
            "sensor_msgs/msg/CameraInfo": self._camera,
            "tf2_msgs/msg/TFMessage": self._transforms,
        }

    def type_of(self, payload: Any, topic: BagTopic) -> str:
        """Return the type of the message that a payload becomes.

        Raises:
            InvalidArgumentError: no message can be made of it, or not of the type that the topic names.
        """
        payload = _frame(payload)
        own = getattr(payload, "__msgtype__", None)
        usual = own or next((name for kind, name in _TYPES if isinstance(payload, kind)), None)
        wanted = _full(topic.type) or usual
        if usual is None or wanted is None:
            known = ", ".join(kind.__name__ for kind, _ in _TYPES)
            raise InvalidArgumentError(
                f"ROS topic {topic.name}: no message can be made of a {type(payload).__name__}; it must be "
                f"one of {known}, or a message of rosbags"
            )
        if wanted not in self._types:
            raise InvalidArgumentError(
                f"ROS topic {topic.name}: there is no type {wanted!r} among the messages of ROS itself"
            )
        fits = wanted == usual or (isinstance(payload, ImageFrame) and wanted in (_IMAGE, _COMPRESSED))
        if not fits and not (
            isinstance(payload, bool | int | float | str) and wanted.startswith("std_msgs/")
        ):
            raise InvalidArgumentError(
                f"ROS topic {topic.name} has messages of the type {wanted}, and a {type(payload).__name__} "
                "becomes none"
            )
        return wanted

    def message(self, payload: Any, kind: str, topic: BagTopic, stamp_us: int) -> Any:
        """Return the message of a payload.

        Args:
            payload: what `type_of` takes.
            kind: what `type_of` returns.
            topic: what is said of the topic.
            stamp_us: of its header.

        Raises:
            InvalidArgumentError: the payload cannot be written so.
        """
        payload = _frame(payload)
        if getattr(payload, "__msgtype__", None):
            return payload
        maker = self._makers.get(kind)
        return self._scalar(payload, kind, topic) if maker is None else maker(payload, topic, stamp_us)

    # --- parts ------------------------------------------------------------------------------------

    def _new(self, kind: str, **fields: Any) -> Any:
        """Return a message; fields that ROS 1 writes in capitals, or has more than ROS 2, are found."""
        made = self._types[kind]
        known = made.__dataclass_fields__
        given = {name if name in known else name.upper(): value for name, value in fields.items()}
        if "seq" in known:
            given["seq"] = 0
        return made(**given)

    def _header(self, frame_id: str, stamp_us: int) -> Any:
        seconds, us = divmod(stamp_us, 1_000_000)
        stamp = self._new("builtin_interfaces/msg/Time", sec=seconds, nanosec=us * 1000)
        return self._new("std_msgs/msg/Header", stamp=stamp, frame_id=frame_id)

    def _vector(self, values: Any) -> Any:
        x, y, z = (float(value) for value in values)
        return self._new("geometry_msgs/msg/Vector3", x=x, y=y, z=z)

    def _quaternion(self, values: Any) -> Any:
        x, y, z, w = (0.0, 0.0, 0.0, 1.0) if values is None else (float(value) for value in values)
        return self._new("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w)

    # --- messages -----------------------------------------------------------------------------------

    def _image(self, frame: ImageFrame, topic: BagTopic, stamp_us: int) -> Any:
        return self._new(_IMAGE, header=self._header(topic.frame_id, stamp_us), **image_fields(frame))

    def _compressed(self, frame: ImageFrame, topic: BagTopic, stamp_us: int) -> Any:
        fields = compressed_fields(frame, topic.format, topic.quality)
        return self._new(_COMPRESSED, header=self._header(topic.frame_id, stamp_us), **fields)

    def _imu(self, imu: Imu, topic: BagTopic, stamp_us: int) -> Any:
        none = np.array([-1.0, *[0.0] * 8])

        def covariance(values: Any) -> Any:
            return np.zeros(9) if values is None else np.asarray(values, np.float64).reshape(9)

        oriented = imu.orientation is not None
        return self._new(
            "sensor_msgs/msg/Imu",
            header=self._header(imu.frame_id or topic.frame_id, stamp_us),
            orientation=self._quaternion(imu.orientation),
            orientation_covariance=covariance(imu.orientation_covariance) if oriented else none,
            angular_velocity=self._vector(imu.angular_velocity),
            angular_velocity_covariance=covariance(imu.angular_velocity_covariance),
            linear_acceleration=self._vector(imu.linear_acceleration),
            linear_acceleration_covariance=covariance(imu.linear_acceleration_covariance),
        )

    def _cloud(self, cloud: PointCloud, topic: BagTopic, stamp_us: int) -> Any:
        points = np.ascontiguousarray(np.atleast_2d(cloud.points))
        dtype = points.dtype
        fields = []
        for name in dtype.names or ():
            of, offset = dtype.fields[name][:2]  # type: ignore[index]  # a structured array has fields
            base, count = (of.subdtype[0], int(np.prod(of.subdtype[1]))) if of.subdtype else (of, 1)
            if base not in _KINDS:
                raise InvalidArgumentError(
                    f"ROS topic {topic.name}: points cannot go to ROS with the field {name!r} of {base}; ROS "
                    "has little-endian integers of 8 to 32 bits, float32 and float64"
                )
            fields.append(
                self._new(
                    "sensor_msgs/msg/PointField", name=name, offset=offset, datatype=_KINDS[base], count=count
                )
            )
        height, width = points.shape
        return self._new(
            "sensor_msgs/msg/PointCloud2",
            header=self._header(cloud.frame_id or topic.frame_id, stamp_us),
            height=height,
            width=width,
            fields=fields,
            is_bigendian=False,
            point_step=dtype.itemsize,
            row_step=dtype.itemsize * width,
            data=np.frombuffer(points.tobytes(), np.uint8),
            is_dense=cloud.is_dense,
        )

    def _camera(self, camera: CameraInfo, topic: BagTopic, stamp_us: int) -> Any:
        whole = self._new(
            "sensor_msgs/msg/RegionOfInterest", x_offset=0, y_offset=0, height=0, width=0, do_rectify=False
        )
        return self._new(
            "sensor_msgs/msg/CameraInfo",
            header=self._header(camera.frame_id or topic.frame_id, stamp_us),
            height=camera.height,
            width=camera.width,
            distortion_model=camera.distortion_model,
            d=np.array(camera.d),
            k=np.array(camera.k).reshape(9),
            r=np.array(camera.r).reshape(9),
            p=np.array(camera.p).reshape(12),
            binning_x=0,
            binning_y=0,
            roi=whole,
        )

    def _transforms(self, found: Transforms, topic: BagTopic, stamp_us: int) -> Any:  # noqa: ARG002  # as the others
        made = [self._transform(one, stamp_us) for one in found.transforms]
        return self._new("tf2_msgs/msg/TFMessage", transforms=made)

    def _transform(self, one: Transform, stamp_us: int) -> Any:
        transform = self._new(
            "geometry_msgs/msg/Transform",
            translation=self._vector(one.translation),
            rotation=self._quaternion(one.rotation),
        )
        return self._new(
            "geometry_msgs/msg/TransformStamped",
            header=self._header(one.frame_id, stamp_us if one.stamp_us is None else one.stamp_us),
            child_frame_id=one.child_frame_id,
            transform=transform,
        )

    def _scalar(self, value: Any, kind: str, topic: BagTopic) -> Any:
        name = kind.rpartition("/")[2]
        if name in _RANGES:
            low, high = _RANGES[name]
            is_right = isinstance(value, int) and low <= value <= high
        else:
            wanted = _FIELDS.get(name)
            is_right = wanted is not None and (
                isinstance(value, wanted) or (wanted is float and isinstance(value, int))
            )
            value = float(value) if is_right and wanted is float else value
        if not is_right:
            raise InvalidArgumentError(f"ROS topic {topic.name}: {value!r} cannot be a {kind}")
        return self._new(kind, data=value)


def _frame(payload: Any) -> Any:
    """Return the frame of an Image on the CPU; anything else as it is."""
    return payload.held if isinstance(payload, Image) and not payload.uses_gpu else payload


def _full(name: str) -> str:
    """Return a type as ROS 2 writes it: "sensor_msgs/Image" is "sensor_msgs/msg/Image"."""
    package, slash, rest = name.partition("/")
    return name if not slash or "/" in rest else f"{package}/msg/{rest}"
