"""What packs need to make payloads of their own, or many at once; applications do without it.

`pass_header` forwards the header of a stream. `ScaleMode` and `RotationMode` are enums that options of
several packs share.

`ArrayPayload` is the base of payloads that hold a read-only array. `LAYOUTS` has the `PixelLayout` of each
image format, `format_converter` the calculator that makes colours of one, `ELEMENT_TYPES` the dtypes of
tensors; `preview` makes a small picture of a payload. `libav_options` limits libav where a graph is limited.

A `DetectionTable` holds many detections as one array, with the columns `TABLE_XMIN`, `TABLE_YMIN`,
`TABLE_WIDTH`, `TABLE_HEIGHT`, `TABLE_SCORE` and, from `TABLE_KEYPOINTS` on, key points; `table_of` and
`detections_of` convert, `label_bytes` encodes labels. `landmark_array` and `landmark_list` do the same for
lists of landmarks, which have `LANDMARK_FIELDS` columns.
"""
# A name is loaded when it is first used.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_formats.array_payload import ArrayPayload as ArrayPayload
    from penstock_formats.detection_table import TABLE_HEIGHT as TABLE_HEIGHT
    from penstock_formats.detection_table import TABLE_KEYPOINTS as TABLE_KEYPOINTS
    from penstock_formats.detection_table import TABLE_SCORE as TABLE_SCORE
    from penstock_formats.detection_table import TABLE_WIDTH as TABLE_WIDTH
    from penstock_formats.detection_table import TABLE_XMIN as TABLE_XMIN
    from penstock_formats.detection_table import TABLE_YMIN as TABLE_YMIN
    from penstock_formats.detection_table import DetectionTable as DetectionTable
    from penstock_formats.detection_table import detections_of as detections_of
    from penstock_formats.detection_table import label_bytes as label_bytes
    from penstock_formats.detection_table import table_of as table_of
    from penstock_formats.headers import pass_header as pass_header
    from penstock_formats.image_format import LAYOUTS as LAYOUTS
    from penstock_formats.image_format import PixelLayout as PixelLayout
    from penstock_formats.image_format import format_converter as format_converter
    from penstock_formats.landmark_arrays import LANDMARK_FIELDS as LANDMARK_FIELDS
    from penstock_formats.landmark_arrays import landmark_array as landmark_array
    from penstock_formats.landmark_arrays import landmark_list as landmark_list
    from penstock_formats.libav_access import libav_options as libav_options
    from penstock_formats.messages.rotation_mode_pb2 import RotationMode as RotationMode
    from penstock_formats.messages.scale_mode_pb2 import ScaleMode as ScaleMode
    from penstock_formats.preview import preview as preview
    from penstock_formats.tensor import ELEMENT_TYPES as ELEMENT_TYPES

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_formats.array_payload": "ArrayPayload",
    "penstock_formats.detection_table": (
        "DetectionTable TABLE_HEIGHT TABLE_KEYPOINTS TABLE_SCORE TABLE_WIDTH TABLE_XMIN TABLE_YMIN "
        "detections_of label_bytes table_of"
    ),
    "penstock_formats.headers": "pass_header",
    "penstock_formats.image_format": "LAYOUTS PixelLayout format_converter",
    "penstock_formats.landmark_arrays": "LANDMARK_FIELDS landmark_array landmark_list",
    "penstock_formats.libav_access": "libav_options",
    "penstock_formats.preview": "preview",
    "penstock_formats.messages.rotation_mode_pb2": "RotationMode",
    "penstock_formats.messages.scale_mode_pb2": "ScaleMode",
    "penstock_formats.tensor": "ELEMENT_TYPES",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
