"""Payload types that packs share: images, matrices, headers of streams, detections, landmarks, drawings.

Images and matrices hold a read-only view, so any number of calculators can share one packet. Messages
are mutable, but a message in a packet must not be changed: change a copy.

The names are imported when they are first used, so finding this pack imports neither NumPy nor a message.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock_formats.body_rig_pb2 import Joint, JointList
    from penstock_formats.classification_pb2 import (
        Classification,
        ClassificationList,
        ClassificationListCollection,
    )
    from penstock_formats.color_pb2 import Color
    from penstock_formats.detection_pb2 import Detection, DetectionList
    from penstock_formats.image_format import ImageFormat
    from penstock_formats.image_frame import ImageFrame
    from penstock_formats.landmark_pb2 import (
        Landmark,
        LandmarkList,
        LandmarkListCollection,
        NormalizedLandmark,
        NormalizedLandmarkList,
        NormalizedLandmarkListCollection,
    )
    from penstock_formats.location_data_pb2 import LocationData
    from penstock_formats.matrix import Matrix
    from penstock_formats.matrix_data_pb2 import MatrixData
    from penstock_formats.rasterization_pb2 import Rasterization
    from penstock_formats.rect_pb2 import NormalizedRect, Rect
    from penstock_formats.render_data_pb2 import RenderAnnotation, RenderData, RenderViewport
    from penstock_formats.time_series_header_pb2 import MultiStreamTimeSeriesHeader, TimeSeriesHeader
    from penstock_formats.video_header import VideoHeader

__all__ = [
    "Classification",
    "ClassificationList",
    "ClassificationListCollection",
    "Color",
    "Detection",
    "DetectionList",
    "ImageFormat",
    "ImageFrame",
    "Joint",
    "JointList",
    "Landmark",
    "LandmarkList",
    "LandmarkListCollection",
    "LocationData",
    "Matrix",
    "MatrixData",
    "MultiStreamTimeSeriesHeader",
    "NormalizedLandmark",
    "NormalizedLandmarkList",
    "NormalizedLandmarkListCollection",
    "NormalizedRect",
    "Rasterization",
    "Rect",
    "RenderAnnotation",
    "RenderData",
    "RenderViewport",
    "TimeSeriesHeader",
    "VideoHeader",
]

_HOME: Final = {
    "Classification": "classification_pb2",
    "ClassificationList": "classification_pb2",
    "ClassificationListCollection": "classification_pb2",
    "Color": "color_pb2",
    "Detection": "detection_pb2",
    "DetectionList": "detection_pb2",
    "ImageFormat": "image_format",
    "ImageFrame": "image_frame",
    "Joint": "body_rig_pb2",
    "JointList": "body_rig_pb2",
    "Landmark": "landmark_pb2",
    "LandmarkList": "landmark_pb2",
    "LandmarkListCollection": "landmark_pb2",
    "LocationData": "location_data_pb2",
    "Matrix": "matrix",
    "MatrixData": "matrix_data_pb2",
    "MultiStreamTimeSeriesHeader": "time_series_header_pb2",
    "NormalizedLandmark": "landmark_pb2",
    "NormalizedLandmarkList": "landmark_pb2",
    "NormalizedLandmarkListCollection": "landmark_pb2",
    "NormalizedRect": "rect_pb2",
    "Rasterization": "rasterization_pb2",
    "Rect": "rect_pb2",
    "RenderAnnotation": "render_data_pb2",
    "RenderData": "render_data_pb2",
    "RenderViewport": "render_data_pb2",
    "TimeSeriesHeader": "time_series_header_pb2",
    "VideoHeader": "video_header",
}


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
