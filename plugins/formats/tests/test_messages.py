"""Payload messages: names and numbers of the reference, beside it in one process."""

from __future__ import annotations

import subprocess
import sys

import pytest
from google.protobuf import text_format

import penstock_formats
from penstock_formats import (
    Classification,
    Detection,
    FrameAnnotation,
    JointList,
    LabelMapItem,
    LandmarkListCollection,
    LocationData,
    MatrixData,
    MultiStreamTimeSeriesHeader,
    NormalizedLandmarkList,
    NormalizedRect,
    Rasterization,
    Rect,
    RenderAnnotation,
    RenderData,
    TimeSeriesHeader,
)

#: Message, its text, and the bytes that the reference writes for that text.
KNOWN_BYTES = [
    (
        Classification,
        'index: 3 score: 0.5 label: "cup" display_name: "Tasse"',
        "0803150000003f1a03637570220554617373 65",
    ),
    (
        Detection,
        (
            'label: "cup" label_id: 7 label_id: 8 score: 0.5 feature_tag: "f" track_id: "t" detection_id: 9 '
            'associated_detections { id: 1 confidence: 0.25 } display_name: "Tasse" timestamp_usec: 10'
        ),
        "0a03637570 12020708 1a040000003f 2a0166 320174 3809 42070801150000803e 4a055461737365 500a",
    ),
    (
        LocationData,
        (
            "format: MASK bounding_box { xmin: 1 ymin: 2 width: 3 height: 4 } "
            "relative_bounding_box { xmin: 0.5 ymin: 0.5 width: 0.5 height: 0.5 } "
            "mask { width: 5 height: 6 rasterization { interval { y: 1 left_x: 2 right_x: 3 } } } "
            'relative_keypoints { x: 0.5 y: 0.5 keypoint_label: "k" score: 0.5 }'
        ),
        (
            "0803 12080801100218032004 1a140d0000003f150000003f1d0000003f250000003f "
            "220e080510061a080a06080110021803 2a120d0000003f150000003f1a016b250000003f"
        ),
    ),
    (
        NormalizedLandmarkList,
        "landmark { x: 0.5 y: 0.5 z: 0.5 visibility: 0.5 presence: 0.5 }",
        "0a190d0000003f150000003f1d0000003f250000003f2d0000003f",
    ),
    (LandmarkListCollection, "landmark_list { landmark { x: 0.5 } }", "0a070a050d0000003f"),
    (
        JointList,
        "joint { rotation_6d: 0.5 rotation_6d: 1 visibility: 0.5 }",
        "0a0f0d0000003f0d0000803f150000003f",
    ),
    (
        FrameAnnotation,
        (
            "frame_id: 1 annotations { object_id: 2 keypoints { id: 3 point_3d { x: 0.5 y: 0.5 z: 0.5 } "
            "point_2d { x: 0.5 y: 0.5 depth: 0.5 } hidden: true } visibility: 0.5 rotation: 0.5 "
            "translation: 0.5 scale: 0.5 } timestamp: 1 plane_center: 0.5 plane_normal: 0.5"
        ),
        (
            "0801 1241 0802 1226 0803 120f0d0000003f150000003f1d0000003f 1a0f0d0000003f150000003f1d0000003f "
            "2001 1d0000003f 22040000003f 2a040000003f 32040000003f 21000000000000f03f 2a040000003f "
            "32040000003f"
        ),
    ),
    (
        LabelMapItem,
        'name: "/m/02xwb" display_name: "Fruit" child_name: "a" child_name: "b"',
        "0a082f6d2f3032787762 12054672756974 1a0161 1a0162",
    ),
    (
        Rect,
        "x_center: 1 y_center: 2 height: 3 width: 4 rotation: 0.5 rect_id: 6",
        "0801100218032004 2d0000003f 3006",
    ),
    (
        NormalizedRect,
        "x_center: 0.5 y_center: 0.5 height: 0.5 width: 0.5 rotation: 0.5 rect_id: 6",
        "0d0000003f150000003f1d0000003f250000003f2d0000003f3006",
    ),
    (
        MultiStreamTimeSeriesHeader,
        (
            "time_series_header { sample_rate: 8 num_channels: 2 num_samples: 3 packet_rate: 1 "
            "audio_sample_rate: 16 } num_streams: 4"
        ),
        "0a1f09000000000000204010021803 21000000000000f03f 290000000000003040 1004",
    ),
    (
        RenderData,
        (
            "render_annotations { filled_rounded_rectangle { rounded_rectangle { rectangle { left: 1 top: 2 "
            "right: 3 bottom: 4 normalized: true rotation: 0.5 top_left_thickness: 6 } corner_radius: 2 "
            "line_type: 8 } fill_color { r: 1 } } thickness: 2 color { g: 2 } scene_tag: 't' } "
            "scene_class: 'c' scene_viewport { id: 'v' width_px: 2 height_px: 3 compose_on_video: true }"
        ),
        (
            "0a5652440a3e0a3809000000000000f03f110000000000000040190000000000000840210000000000001040"
            "280131000000000000e03f3900000000000018401002180812020801590000000000000040620210026a0174"
            "1201631a090a0176100218032001"
        ),
    ),
    (
        RenderData,
        (
            "render_annotations { text { display_text: 'a' left: 1 baseline: 2 font_height: 4 "
            "normalized: true font_face: 6 center_horizontally: true center_vertically: true "
            "outline_thickness: 0.5 outline_color { b: 3 } } } render_annotations { line { x_start: 1 "
            "y_start: 2 x_end: 3 y_end: 4 normalized: true line_type: DASHED } } "
            "render_annotations { gradient_line { y_end: 4 color1 { r: 1 } color2 { r: 2 } } } "
            "render_annotations { scribble { point { x: 1 y: 2 normalized: true } } }"
        ),
        (
            "0a3542330a016111000000000000f03f190000000000000040210000000000001040280130063801400159"
            "000000000000e03f620218030a2a322809000000000000f03f110000000000000040190000000000000840"
            "210000000000001040280130020a137211210000000000001040320208013a0208020a187a160a14090000"
            "00000000f03f1100000000000000401801"
        ),
    ),
    (
        MatrixData,
        "rows: 1 cols: 2 packed_data: 0.5 packed_data: 1 layout: ROW_MAJOR",
        "080110021a080000003f0000803f2001",
    ),
]


@pytest.mark.parametrize(
    ("message", "text", "data"), KNOWN_BYTES, ids=lambda value: getattr(value, "__name__", None) or ""
)
def test_a_message_has_the_numbers_and_the_packing_of_the_reference(message, text, data):
    made = text_format.Parse(text, message())

    assert made.SerializeToString(deterministic=True).hex() == data.replace(" ", "")
    assert message.FromString(bytes.fromhex(data)) == made
    assert message.DESCRIPTOR.full_name == f"penstock.{message.__name__}"


def test_a_rectangle_without_its_four_numbers_is_not_complete():
    assert not NormalizedRect(x_center=0.5, y_center=0.5, width=1).IsInitialized()
    assert NormalizedRect(x_center=0.5, y_center=0.5, width=1, height=1).IsInitialized()
    assert Rect().rotation == 0
    assert not Rasterization.Interval(y=1, left_x=2).IsInitialized()


def test_shapes_to_draw_have_the_numbers_and_defaults_of_the_reference():
    shapes = RenderAnnotation.DESCRIPTOR.oneofs_by_name["data"].fields

    assert {shape.name: shape.number for shape in shapes} == {
        "rectangle": 1,
        "filled_rectangle": 2,
        "oval": 3,
        "filled_oval": 4,
        "point": 5,
        "line": 6,
        "arrow": 7,
        "text": 8,
        "rounded_rectangle": 9,
        "filled_rounded_rectangle": 10,
        "gradient_line": 14,
        "scribble": 15,
    }
    assert (RenderAnnotation().thickness, RenderAnnotation().text.font_height) == (1, 8)
    assert RenderAnnotation().line.line_type == RenderAnnotation.Line.SOLID
    assert RenderAnnotation().rounded_rectangle.line_type == 4


def test_headers_of_time_series_leave_numbers_for_extensions():
    assert TimeSeriesHeader.DESCRIPTOR.is_extendable
    assert MatrixData().layout == MatrixData.COLUMN_MAJOR


def test_the_formats_of_a_location_have_their_numbers():
    assert dict(LocationData.Format.items()) == {
        "GLOBAL": 0,
        "BOUNDING_BOX": 1,
        "RELATIVE_BOUNDING_BOX": 2,
        "MASK": 3,
    }


def test_every_public_name_can_be_imported_and_is_the_name_of_its_type():
    for name in penstock_formats.__all__:
        assert getattr(penstock_formats, name).__name__ == name


def test_importing_the_pack_imports_neither_numpy_nor_a_message():
    code = (
        "import sys, penstock_formats, penstock_formats.plugin; "
        "print([name for name in sys.modules if name == 'numpy' or name.endswith('_pb2')])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"
