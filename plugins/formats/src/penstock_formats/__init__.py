"""Payload types that packs share: images, tensors, matrices, headers, detections, landmarks, drawings.

Images, tensors and matrices hold a read-only view, so any number of calculators can share one packet.
Messages are mutable, but a message in a packet must not be changed: change a copy.

The names are imported when they are first used, so finding this pack imports neither NumPy nor a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_formats.differing import PayloadDifference as PayloadDifference
    from penstock_formats.differing import payload_difference as payload_difference
    from penstock_formats.frame_size import check_frame_size as check_frame_size
    from penstock_formats.frame_size import check_size_limit as check_size_limit
    from penstock_formats.image import GpuImage as GpuImage
    from penstock_formats.image import Image as Image
    from penstock_formats.image_format import ImageFormat as ImageFormat
    from penstock_formats.image_frame import ImageFrame as ImageFrame
    from penstock_formats.matrix import Matrix as Matrix
    from penstock_formats.messages.body_rig_pb2 import Joint as Joint
    from penstock_formats.messages.body_rig_pb2 import JointList as JointList
    from penstock_formats.messages.classification_pb2 import Classification as Classification
    from penstock_formats.messages.classification_pb2 import ClassificationList as ClassificationList
    from penstock_formats.messages.classification_pb2 import (
        ClassificationListCollection as ClassificationListCollection,
    )
    from penstock_formats.messages.color_pb2 import Color as Color
    from penstock_formats.messages.detection_pb2 import Detection as Detection
    from penstock_formats.messages.detection_pb2 import DetectionList as DetectionList
    from penstock_formats.messages.frame_annotation_pb2 import AnnotatedKeyPoint as AnnotatedKeyPoint
    from penstock_formats.messages.frame_annotation_pb2 import FrameAnnotation as FrameAnnotation
    from penstock_formats.messages.frame_annotation_pb2 import NormalizedPoint2D as NormalizedPoint2D
    from penstock_formats.messages.frame_annotation_pb2 import ObjectAnnotation as ObjectAnnotation
    from penstock_formats.messages.frame_annotation_pb2 import Point3D as Point3D
    from penstock_formats.messages.image_file_properties_pb2 import ImageFileProperties as ImageFileProperties
    from penstock_formats.messages.label_map_pb2 import LabelMapItem as LabelMapItem
    from penstock_formats.messages.landmark_pb2 import Landmark as Landmark
    from penstock_formats.messages.landmark_pb2 import LandmarkList as LandmarkList
    from penstock_formats.messages.landmark_pb2 import LandmarkListCollection as LandmarkListCollection
    from penstock_formats.messages.landmark_pb2 import NormalizedLandmark as NormalizedLandmark
    from penstock_formats.messages.landmark_pb2 import NormalizedLandmarkList as NormalizedLandmarkList
    from penstock_formats.messages.landmark_pb2 import (
        NormalizedLandmarkListCollection as NormalizedLandmarkListCollection,
    )
    from penstock_formats.messages.location_data_pb2 import LocationData as LocationData
    from penstock_formats.messages.matrix_data_pb2 import MatrixData as MatrixData
    from penstock_formats.messages.rasterization_pb2 import Rasterization as Rasterization
    from penstock_formats.messages.rect_pb2 import NormalizedRect as NormalizedRect
    from penstock_formats.messages.rect_pb2 import Rect as Rect
    from penstock_formats.messages.render_data_pb2 import RenderAnnotation as RenderAnnotation
    from penstock_formats.messages.render_data_pb2 import RenderData as RenderData
    from penstock_formats.messages.render_data_pb2 import RenderViewport as RenderViewport
    from penstock_formats.messages.sequence_example_pb2 import BytesList as BytesList
    from penstock_formats.messages.sequence_example_pb2 import Example as Example
    from penstock_formats.messages.sequence_example_pb2 import Feature as Feature
    from penstock_formats.messages.sequence_example_pb2 import FeatureList as FeatureList
    from penstock_formats.messages.sequence_example_pb2 import FeatureLists as FeatureLists
    from penstock_formats.messages.sequence_example_pb2 import Features as Features
    from penstock_formats.messages.sequence_example_pb2 import FloatList as FloatList
    from penstock_formats.messages.sequence_example_pb2 import Int64List as Int64List
    from penstock_formats.messages.sequence_example_pb2 import SequenceExample as SequenceExample
    from penstock_formats.messages.time_series_header_pb2 import (
        MultiStreamTimeSeriesHeader as MultiStreamTimeSeriesHeader,
    )
    from penstock_formats.messages.time_series_header_pb2 import TimeSeriesHeader as TimeSeriesHeader
    from penstock_formats.messages.timed_box_pb2 import MotionBoxState as MotionBoxState
    from penstock_formats.messages.timed_box_pb2 import TimedBoxProto as TimedBoxProto
    from penstock_formats.messages.timed_box_pb2 import TimedBoxProtoList as TimedBoxProtoList
    from penstock_formats.tensor import Tensor as Tensor
    from penstock_formats.video_header import VideoHeader as VideoHeader

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_formats.messages.body_rig_pb2": "Joint JointList",
    "penstock_formats.messages.classification_pb2": (
        "Classification ClassificationList ClassificationListCollection"
    ),
    "penstock_formats.messages.color_pb2": "Color",
    "penstock_formats.messages.detection_pb2": "Detection DetectionList",
    "penstock_formats.differing": "PayloadDifference payload_difference",
    "penstock_formats.messages.frame_annotation_pb2": (
        "AnnotatedKeyPoint FrameAnnotation NormalizedPoint2D ObjectAnnotation Point3D"
    ),
    "penstock_formats.frame_size": "check_size_limit check_frame_size",
    "penstock_formats.image": "GpuImage Image",
    "penstock_formats.messages.image_file_properties_pb2": "ImageFileProperties",
    "penstock_formats.image_format": "ImageFormat",
    "penstock_formats.image_frame": "ImageFrame",
    "penstock_formats.messages.label_map_pb2": "LabelMapItem",
    "penstock_formats.messages.landmark_pb2": (
        "Landmark LandmarkList LandmarkListCollection "
        "NormalizedLandmark NormalizedLandmarkList NormalizedLandmarkListCollection"
    ),
    "penstock_formats.messages.location_data_pb2": "LocationData",
    "penstock_formats.matrix": "Matrix",
    "penstock_formats.messages.matrix_data_pb2": "MatrixData",
    "penstock_formats.messages.rasterization_pb2": "Rasterization",
    "penstock_formats.messages.rect_pb2": "NormalizedRect Rect",
    "penstock_formats.messages.render_data_pb2": "RenderAnnotation RenderData RenderViewport",
    "penstock_formats.messages.sequence_example_pb2": (
        "BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List SequenceExample"
    ),
    "penstock_formats.tensor": "Tensor",
    "penstock_formats.messages.time_series_header_pb2": "MultiStreamTimeSeriesHeader TimeSeriesHeader",
    "penstock_formats.messages.timed_box_pb2": "MotionBoxState TimedBoxProto TimedBoxProtoList",
    "penstock_formats.video_header": "VideoHeader",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
