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
    JointList,
    LandmarkListCollection,
    LocationData,
    MatrixData,
    MultiStreamTimeSeriesHeader,
    NormalizedLandmarkList,
    NormalizedRect,
    Rasterization,
    Rect,
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


def test_every_public_name_is_there_and_is_named_as_it_is():
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
