"""Bags of ROS 1 and ROS 2 as streams, and streams as bags.

The names are imported when they are first used, so finding this pack does not import what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_ros.payloads import CameraInfo as CameraInfo
    from penstock_ros.payloads import Imu as Imu
    from penstock_ros.payloads import PointCloud as PointCloud
    from penstock_ros.payloads import Transform as Transform
    from penstock_ros.payloads import Transforms as Transforms

#: Module → the names that it has.
_HOMES: Final = {"penstock_ros.payloads": "CameraInfo Imu PointCloud Transform Transforms"}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
