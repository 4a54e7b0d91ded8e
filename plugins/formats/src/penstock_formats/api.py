"""What packs need to make payloads of their own, or many at once; applications do without it.

`pass_header` forwards the header of a stream. `ScaleMode` and `RotationMode` are enums that options of
several packs share.

`ArrayPayload` is the base of payloads that hold a read-only array. `LAYOUTS` has the `PixelLayout` of each
image format, `converter_for` the calculator that makes colours of one, `ELEMENT_TYPES` the dtypes of tensors;
`preview` makes a small picture of a payload. `libav_options` limits libav where a graph is limited.

A `DetectionTable` holds many detections as one array, with the columns `XMIN`, `YMIN`, `WIDTH`, `HEIGHT`,
`SCORE` and, from `KEYPOINTS` on, key points; `table_of` and `detections_of` convert, `label_bytes` encodes
labels. `array_of` and `list_of` do the same for lists of landmarks, whose columns are `FIELDS`.
"""
# A name is loaded when it is first used.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_formats.array_payload import ArrayPayload as ArrayPayload
    from penstock_formats.detection_table import HEIGHT as HEIGHT
    from penstock_formats.detection_table import KEYPOINTS as KEYPOINTS
    from penstock_formats.detection_table import SCORE as SCORE
    from penstock_formats.detection_table import WIDTH as WIDTH
    from penstock_formats.detection_table import XMIN as XMIN
    from penstock_formats.detection_table import YMIN as YMIN
    from penstock_formats.detection_table import DetectionTable as DetectionTable
    from penstock_formats.detection_table import detections_of as detections_of
    from penstock_formats.detection_table import label_bytes as label_bytes
    from penstock_formats.detection_table import table_of as table_of
    from penstock_formats.headers import pass_header as pass_header
    from penstock_formats.image_format import LAYOUTS as LAYOUTS
    from penstock_formats.image_format import PixelLayout as PixelLayout
    from penstock_formats.image_format import converter_for as converter_for
    from penstock_formats.landmark_arrays import FIELDS as FIELDS
    from penstock_formats.landmark_arrays import array_of as array_of
    from penstock_formats.landmark_arrays import list_of as list_of
    from penstock_formats.libav_access import libav_options as libav_options
    from penstock_formats.messages.rotation_mode_pb2 import RotationMode as RotationMode
    from penstock_formats.messages.scale_mode_pb2 import ScaleMode as ScaleMode
    from penstock_formats.preview import preview as preview
    from penstock_formats.tensor import ELEMENT_TYPES as ELEMENT_TYPES

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_formats.array_payload": "ArrayPayload",
    "penstock_formats.detection_table": (
        "DetectionTable HEIGHT KEYPOINTS SCORE WIDTH XMIN YMIN detections_of label_bytes table_of"
    ),
    "penstock_formats.headers": "pass_header",
    "penstock_formats.image_format": "LAYOUTS PixelLayout converter_for",
    "penstock_formats.landmark_arrays": "FIELDS array_of list_of",
    "penstock_formats.libav_access": "libav_options",
    "penstock_formats.preview": "preview",
    "penstock_formats.messages.rotation_mode_pb2": "RotationMode",
    "penstock_formats.messages.scale_mode_pb2": "ScaleMode",
    "penstock_formats.tensor": "ELEMENT_TYPES",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
