"""PackMediaSequenceCalculator: streams become one record."""

from __future__ import annotations

import os

import cv2
import numpy as np
import pytest

from penstock import CalculatorGraph, Packet, Timestamp
from penstock.errors import GraphConfigError, GraphRunError, StatusCode
from penstock_formats import Detection, Features, LocationData, Rasterization
from penstock_image.messages.image_encoder_pb2 import OpenCvImageEncoderCalculatorResults
from penstock_image.messages.pack_media_sequence_pb2 import PackMediaSequenceCalculatorOptions
from penstock_image.sequences.media_sequence import BYTES, FLOATS, INTS, MediaSequence
from penstock_image.sequences.pack_media_sequence import PackMediaSequenceCalculator
from penstock_testing import run_calculator

LAST = Timestamp.POSTSTREAM
RED = cv2.imencode(".jpg", np.full((2, 3, 3), (0, 0, 255), np.uint8))[1].tobytes()
VIDEO = "test_video_id"
HEIGHT, WIDTH = 480, 640


def encoded(width=2, height=1, data=RED) -> OpenCvImageEncoderCalculatorResults:
    return OpenCvImageEncoderCalculatorResults(encoded_image=data, width=width, height=height)


def sequence_with(**context) -> MediaSequence:
    """Return a sequence with values of the context; two underscores stand for a slash."""
    sequence = MediaSequence()
    for key, value in context.items():
        values = value if isinstance(value, list) else [value]
        kind = {str: BYTES, float: FLOATS, int: INTS}[type(values[0])]
        sequence.set(key.replace("__", "/"), kind, values)
    return sequence


def packed(inputs, begins=None, *, media_id=None, **options) -> MediaSequence:
    """Run the calculator with the reference's settings unless others are given; return what it packed."""
    packet = packet_of(inputs, begins, media_id=media_id, **options)
    assert packet.timestamp == LAST
    return MediaSequence(packet.payload)


def packet_of(inputs, begins=None, *, media_id=None, with_begin=True, **options):
    options = {"output_only_if_all_present": False, **options}
    sides = {"SEQUENCE_EXAMPLE": (begins or MediaSequence()).message} if with_begin else {}
    if media_id is not None:
        sides["CLIP_MEDIA_ID"] = media_id
    run = run_calculator(
        PackMediaSequenceCalculator,
        {tag: [Packet(payload, time) for time, payload in packets] for tag, packets in inputs.items()},
        outputs=["SEQUENCE_EXAMPLE"],
        side_packets=sides,
        options=PackMediaSequenceCalculatorOptions(**options),
    )
    (packet,) = run.outputs["SEQUENCE_EXAMPLE"]
    return packet


def steps(sequence, key) -> list[list]:
    return [list(sequence.step(key, i)) for i in range(sequence.count(key))]


def failure(inputs, begins=None, **options):
    with pytest.raises(GraphRunError) as caught:
        packed(inputs, begins, **options)
    return caught.value.errors[0]


# --- images -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tag", "prefix", "with_begin"),
    [
        pytest.param(
            "IMAGE",
            "",
            True,
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PacksTwoImages",
            ),
        ),
        pytest.param(
            "IMAGE",
            "",
            False,
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PacksInputWithoutSequenceExampleSidePacket",
            ),
        ),
        pytest.param(
            "IMAGE_PREFIX",
            "PREFIX/",
            True,
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PacksTwoPrefixedImages",
            ),
        ),
    ],
)
def test_images_with_their_times(tag, prefix, with_begin):
    begins = sequence_with(clip__media_id=VIDEO)

    found = packed({tag: [(0, encoded()), (1, encoded())]}, begins, with_begin=with_begin)

    assert found.has("clip/media_id") == with_begin
    assert list(found.values("clip/media_id")) == ([VIDEO.encode()] if with_begin else [])
    assert found.times(f"{prefix}image/timestamp") == [0, 1]
    assert steps(found, f"{prefix}image/encoded") == [[RED], [RED]]


def test_the_context_tells_what_the_first_image_shows():
    found = packed({"IMAGE": [(0, encoded()), (40_000, encoded())]})

    context = {
        name: list(found.values(f"image/{name}")) for name in ("height", "width", "channels", "format")
    }
    assert context == {"height": [2], "width": [3], "channels": [3], "format": [b"JPEG"]}
    assert found.first("image/frame_rate") == 25


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.PacksTwoForwardFlowEncodeds",
)
def test_optical_flow():
    begins = sequence_with(clip__media_id=VIDEO)

    found = packed({"FORWARD_FLOW_ENCODED": [(0, encoded()), (1, encoded())]}, begins)

    assert found.first("clip/media_id") == VIDEO.encode()
    assert found.times("FORWARD_FLOW/image/timestamp") == [0, 1]
    assert steps(found, "FORWARD_FLOW/image/encoded") == [[RED], [RED]]


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.PacksTwoImageLabels",
)
def test_labels_of_images():
    tests = [(i, labels(f"foo{2 << i}", i, 0.1 * i)) for i in range(2)]
    others = [(i, labels(f"bar{2 << i}", None, 0.2 * i)) for i in range(2)]

    found = packed({"IMAGE_LABEL_TEST": tests, "IMAGE_LABEL_OTHER": others})

    for prefix, text, share in (("TEST", "foo", 0.1), ("OTHER", "bar", 0.2)):
        assert found.times(f"{prefix}/image/timestamp") == [0, 1]
        assert steps(found, f"{prefix}/image/label/string") == [
            [f"{text}{2 << i}".encode()] * 2 for i in (0, 1)
        ]
        assert steps(found, f"{prefix}/image/label/confidence") == [
            [np.float32(share * i)] * 2 for i in (0, 1)
        ]
    assert steps(found, "TEST/image/label/index") == [[0, 0], [1, 1]]
    assert not found.count("OTHER/image/label/index")


def labels(text, number, score) -> Detection:
    ids = [] if number is None else [number, number]
    return Detection(label=[text, text], label_id=ids, score=[score, score])


def test_labels_without_a_prefix_have_the_times_of_the_images():
    found = packed({"IMAGE": [(3, encoded())], "IMAGE_LABEL_": [(3, labels("dog", 1, 0.5))]})

    assert steps(found, "image/label/string") == [[b"dog", b"dog"]]
    assert found.times("image/timestamp") == [3, 3]


def test_an_image_label_without_labels_adds_nothing():
    assert packed({"IMAGE_LABEL_A": [(0, Detection(score=[1]))]}).keys_of_steps() == []


@pytest.mark.parametrize(
    "wrong", [Detection(label=["a"], score=[1, 2]), Detection(label=["a"], score=[1], label_id=[1, 2])]
)
def test_image_labels_scores_and_ids_are_as_many(wrong):
    assert "each label has a score, and ids are as many or none" in str(
        failure({"IMAGE_LABEL_A": [(0, wrong)]})
    )


@pytest.mark.parametrize("tag", ["IMAGE", "FORWARD_FLOW_ENCODED"])
def test_a_message_without_an_image_is_refused(tag):
    error = failure({tag: [(0, OpenCvImageEncoderCalculatorResults(width=1))]})

    assert f"input {tag} holds a message without encoded_image" in str(error)
    assert error.code == StatusCode.INVALID_ARGUMENT


def test_an_image_that_cannot_be_decoded():
    assert "first image of 'image/encoded' in the sequence, of 2 bytes, cannot be decoded" in str(
        failure({"IMAGE": [(0, encoded(data=b"no"))]})
    )
    assert packed({"IMAGE": [(0, encoded(data=b"no"))]}, reconcile_metadata=False).count("image/encoded") == 1


# --- features -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        pytest.param(
            "FLOAT",
            "floats",
            {p: [[2.0, 2.0], [4.0, 4.0]] for p in ("TEST", "OTHER")},
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PacksTwoFloatLists",
            ),
        ),
        pytest.param(
            "INT",
            "ints",
            {p: [[2, 2], [4, 4]] for p in ("TEST", "OTHER")},
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PacksTwoIntLists",
            ),
        ),
        pytest.param(
            "BYTES",
            "bytes",
            {"TEST": [[b"foo2"] * 2, [b"foo4"] * 2], "OTHER": [[b"bar2"] * 2, [b"bar4"] * 2]},
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PacksTwoBytesLists",
            ),
        ),
    ],
)
def test_features_with_their_times(kind, name, values):
    found = packed({f"{kind}_FEATURE_{prefix}": enumerate(lists) for prefix, lists in values.items()})

    for prefix, lists in values.items():
        assert found.times(f"{prefix}/feature/timestamp") == [0, 1]
        assert steps(found, f"{prefix}/feature/{name}") == lists


def test_texts_are_stored_as_utf_8():
    assert steps(packed({"BYTES_FEATURE_A": [(0, ["\u00e9"])]}), "A/feature/bytes") == [[b"\xc3\xa9"]]


def test_the_context_tells_dimensions_and_rate_of_floats():
    found = packed({"FLOAT_FEATURE_A": [(0, [1.0] * 6), (500_000, [2.0] * 6)]})

    assert list(found.values("A/feature/dimensions")) == [6]
    assert list(found.values("A/feature/rate")) == [2]


@pytest.mark.parametrize("dimensions", [[2, 3], [6]])
def test_given_dimensions_of_floats_stay(dimensions):
    begins = sequence_with(A__feature__dimensions=dimensions)

    assert (
        list(packed({"FLOAT_FEATURE_A": [(0, [1.0] * 6)]}, begins).values("A/feature/dimensions"))
        == dimensions
    )


def test_dimensions_that_do_not_fit_are_an_error():
    begins = sequence_with(A__feature__dimensions=[2, 2])

    error = failure({"FLOAT_FEATURE_A": [(0, [1.0] * 6)]}, begins)

    assert "'A/feature/floats' has 6 numbers, but 'A/feature/dimensions' says [2, 2]" in str(error)


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.OutputAsZeroTimestamp",
)
def test_the_record_leaves_at_zero_if_asked():
    packet = packet_of(
        {"FLOAT_FEATURE_TEST": [(0, [2.0, 2.0]), (1, [4.0, 4.0])]}, output_as_zero_timestamp=True
    )

    assert packet.timestamp == 0


CONTEXT = {
    "FLOAT": ("floats", FLOATS),
    "INTS": ("ints", INTS),
    "BYTES": ("bytes", BYTES),
}


@pytest.mark.parametrize(
    ("kind", "begins", "new", "replaces", "expected"),
    [
        pytest.param(
            "FLOAT",
            None,
            ([3.0, 3.0], [4.0, 4.0]),
            True,
            ([3, 3], [4, 4]),
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PacksTwoContextFloatLists",
            ),
        ),
        pytest.param(
            "FLOAT",
            ([2, 3], [2, 4]),
            ([5.0, 6.0], [7.0, 8.0]),
            True,
            ([5, 6], [7, 8]),
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.ReplaceTwoContextFloatLists",
            ),
        ),
        pytest.param(
            "FLOAT",
            ([2, 3], [2, 4]),
            ([5.0, 6.0], [7.0, 8.0]),
            False,
            ([2, 3, 5, 6], [2, 4, 7, 8]),
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.AppendTwoContextFloatLists",
            ),
        ),
        pytest.param(
            "INTS",
            None,
            ([2, 3], [2, 4]),
            True,
            ([2, 3], [2, 4]),
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PackTwoContextIntLists",
            ),
        ),
        pytest.param(
            "INTS",
            ([2, 3], [2, 4]),
            ([5, 6], [7, 8]),
            True,
            ([5, 6], [7, 8]),
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.ReplaceTwoContextIntLists",
            ),
        ),
        pytest.param(
            "INTS",
            ([2, 3], [2, 4]),
            ([5, 6], [7, 8]),
            False,
            ([2, 3, 5, 6], [2, 4, 7, 8]),
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.AppendTwoContextIntLists",
            ),
        ),
        pytest.param(
            "BYTES",
            None,
            (["value_1", "value_2"], ["value_3", "value_4"]),
            True,
            ([b"value_1", b"value_2"], [b"value_3", b"value_4"]),
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PackTwoContextByteLists",
            ),
        ),
        pytest.param(
            "BYTES",
            (["existing_value_1", "existing_value_2"], ["existing_value_3", "existing_value_4"]),
            (["value_1", "value_2"], ["value_3", "value_4"]),
            True,
            ([b"value_1", b"value_2"], [b"value_3", b"value_4"]),
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.ReplaceTwoContextByteLists",
            ),
        ),
        pytest.param(
            "BYTES",
            (["existing_value_1", "existing_value_2"], ["existing_value_3", "existing_value_4"]),
            (["value_1", "value_2"], ["value_3", "value_4"]),
            False,
            (
                [b"existing_value_1", b"existing_value_2", b"value_1", b"value_2"],
                [b"existing_value_3", b"existing_value_4", b"value_3", b"value_4"],
            ),
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.AppendTwoContextByteLists",
            ),
        ),
    ],
)
def test_lists_for_the_whole_sequence(kind, begins, new, replaces, expected):
    name, stored = CONTEXT[kind]
    sequence = MediaSequence()
    for prefix, values in zip(("TEST", "OTHER"), begins or (), strict=False):
        sequence.set(f"{prefix}/context_feature/{name}", stored, values)

    found = packed(
        {
            f"{kind}_CONTEXT_FEATURE_TEST": [(LAST, new[0])],
            f"{kind}_CONTEXT_FEATURE_OTHER": [(LAST, new[1])],
        },
        sequence,
        replace_data_instead_of_append=replaces,
    )

    assert list(found.values(f"TEST/context_feature/{name}")) == expected[0]
    assert list(found.values(f"OTHER/context_feature/{name}")) == expected[1]


def test_a_list_for_the_whole_sequence_comes_at_the_end():
    assert "INTS_CONTEXT_FEATURE_A have a packet at 3, but are of the whole sequence" in str(
        failure({"INTS_CONTEXT_FEATURE_A": [(3, [1])]})
    )


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.PacksAdditionalContext",
)
def test_features_of_the_options_get_into_the_context():
    context = Features()
    context.feature["TEST"].bytes_list.value.append(b"YES")
    context.feature["OTHER"].bytes_list.value.append(b"NO")

    found = packed(
        {"IMAGE": [(0, OpenCvImageEncoderCalculatorResults(encoded_image=RED))]}, context_feature_map=context
    )

    assert found.has("TEST")
    assert found.has("OTHER")
    assert list(found.values("TEST")) == [b"YES"]
    assert list(found.values("OTHER")) == [b"NO"]


@pytest.mark.parametrize(
    "begins",
    [
        pytest.param(
            {},
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.AddClipMediaId",
            ),
        ),
        pytest.param(
            {"clip__media_id": "existing_video_id"},
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.ReplaceClipMediaId",
            ),
        ),
    ],
)
def test_the_side_packet_names_the_clip(begins):
    features = [(0, [2.0, 2.0]), (1, [4.0, 4.0])]

    found = packed(
        {"FLOAT_FEATURE_TEST": features, "FLOAT_FEATURE_OTHER": features},
        sequence_with(**begins),
        media_id=VIDEO,
    )

    assert list(found.values("clip/media_id")) == [VIDEO.encode()]


def test_the_file_of_the_clip_and_when_it_begins():
    found = packed(
        {
            "ENCODED_MEDIA": [(0, b"mp4")],
            "ENCODED_MEDIA_START_TIMESTAMP": [(0, Timestamp(7))],
            "ENCODED_MEDIA_AUDIO": [(0, b"aac")],
            "ENCODED_MEDIA_START_TIMESTAMP_AUDIO": [(0, Timestamp(8))],
        }
    )

    assert list(found.values("clip/encoded_media_bytes")) == [b"mp4"]
    assert list(found.values("clip/encoded_media_start_timestamp")) == [7]
    assert list(found.values("AUDIO/clip/encoded_media_bytes")) == [b"aac"]
    assert list(found.values("AUDIO/clip/encoded_media_start_timestamp")) == [8]


# --- regions ------------------------------------------------------------------------------------------


def in_pixels(xmin, ymin, width, height) -> LocationData:
    box = LocationData.BoundingBox(xmin=xmin, ymin=ymin, width=width, height=height)
    return LocationData(format=LocationData.BOUNDING_BOX, bounding_box=box)


def relative(xmin, ymin, width, height) -> LocationData:
    box = LocationData.RelativeBoundingBox(xmin=xmin, ymin=ymin, width=width, height=height)
    return LocationData(format=LocationData.RELATIVE_BOUNDING_BOX, relative_bounding_box=box)


def mask(width=3, height=2, *runs) -> LocationData:
    intervals = [Rasterization.Interval(y=y, left_x=left, right_x=right) for y, left, right in runs]
    binary = LocationData.BinaryMask(
        width=width, height=height, rasterization=Rasterization(interval=intervals)
    )
    return LocationData(format=LocationData.MASK, mask=binary)


def three_detections() -> list[Detection]:
    return [
        Detection(
            label=["absolute bbox"],
            label_id=[0],
            score=[0.5],
            location_data=in_pixels(0, HEIGHT // 2, WIDTH // 2, HEIGHT // 2),
        ),
        Detection(
            label=["relative bbox"], label_id=[1], score=[0.75], location_data=relative(0, 0.5, 0.5, 0.5)
        ),
        Detection(label=["mask"], score=[1], location_data=mask()),
    ]


@pytest.mark.parametrize(
    ("context", "images"),
    [
        pytest.param(
            {"image__height": HEIGHT, "image__width": WIDTH},
            False,
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PacksTwoBBoxDetections",
            ),
        ),
        pytest.param(
            {},
            True,
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PacksBBoxWithImages",
            ),
        ),
    ],
)
def test_boxes_become_relative_by_the_size_of_the_image(context, images):
    inputs = {"BBOX_PREDICTED": [(i, three_detections()) for i in range(2)]}
    if images:
        large = cv2.imencode(".jpg", np.full((HEIGHT, WIDTH, 3), (0, 0, 255), np.uint8))[1].tobytes()
        inputs["IMAGE"] = [(i, encoded(WIDTH, HEIGHT, large)) for i in range(2)]

    found = packed(inputs, sequence_with(clip__media_id=VIDEO, **context))

    assert found.first("clip/media_id") == VIDEO.encode()
    assert (found.first("image/height"), found.first("image/width")) == (HEIGHT, WIDTH)
    assert found.times("PREDICTED/region/timestamp") == [0, 1]
    assert not found.count("CLASS_SEGMENTATION/image/encoded")
    assert not found.count("CLASS_SEGMENTATION/image/timestamp")
    for side, value in (("xmin", 0), ("ymin", 0.5), ("xmax", 0.5), ("ymax", 1)):
        assert steps(found, f"PREDICTED/region/bbox/{side}") == [pytest.approx([value] * 2, abs=1e-3)] * 2
    assert steps(found, "PREDICTED/region/label/string") == [[b"absolute bbox", b"relative bbox"]] * 2
    assert steps(found, "PREDICTED/region/label/index") == [[0, 1]] * 2
    assert steps(found, "PREDICTED/region/label/confidence") == [[0.5, 0.75]] * 2


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.PacksBBoxWithoutImageDims",
)
def test_boxes_in_pixels_need_the_size_of_the_image():
    error = failure(
        {"BBOX_PREDICTED": [(i, three_detections()) for i in range(2)]}, sequence_with(clip__media_id=VIDEO)
    )

    assert error.code == StatusCode.INVALID_ARGUMENT
    assert (
        "input BBOX_PREDICTED holds a region with its box in pixels, but the size of the image is not known"
        in str(error)
    )


def test_a_box_has_its_four_sides():
    begins = sequence_with(image__height=100, image__width=200)

    found = packed({"BBOX": [(0, [Detection(location_data=in_pixels(20, 30, 40, 50))])]}, begins)

    sides = {side: found.step(f"region/bbox/{side}", 0)[0] for side in ("xmin", "ymin", "xmax", "ymax")}
    assert sides == pytest.approx({"xmin": 0.1, "ymin": 0.3, "xmax": 0.3, "ymax": 0.8})


def test_a_list_without_boxes_adds_nothing():
    assert packed({"BBOX": [(0, [Detection(location_data=mask())]), (1, [])]}).keys_of_steps() == []


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.PacksTwoKeypoints",
)
def test_points_by_their_names():
    points = {"HEAD": [(0.1, 0.2), (0.3, 0.4)], "TAIL": [(0.5, 0.6)]}

    found = packed({"KEYPOINTS_TEST": [(0, points), (1, points)]}, sequence_with(clip__media_id=VIDEO))

    assert found.first("clip/media_id") == VIDEO.encode()
    assert found.count("TEST/HEAD/region/point/x") == found.count("TEST/TAIL/region/point/x") == 2
    assert found.step("TEST/HEAD/region/point/x", 0)[0] == pytest.approx(0.2, abs=1e-3)
    assert found.step("TEST/TAIL/region/point/y", 1)[0] == pytest.approx(0.5, abs=1e-3)
    assert found.times("TEST/HEAD/region/timestamp") == [0, 1]


def test_new_points_replace_those_of_every_tag():
    begins = MediaSequence()
    for prefix in ("A/HEAD", "B/HEAD"):
        begins.add_step(f"{prefix}/region/timestamp", INTS, [1])
        begins.add_step(f"{prefix}/region/point/x", FLOATS, [1])
        begins.add_step(f"{prefix}/region/point/y", FLOATS, [1])
    points = {"HEAD": [(0.5, 0.25)]}

    found = packed({"KEYPOINTS_A": [(5, points), (6, points)], "KEYPOINTS_B": [(5, points)]}, begins)

    assert found.times("A/HEAD/region/timestamp") == [5, 6]
    assert steps(found, "B/HEAD/region/point/x") == [[0.25]]


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.PacksTwoMaskDetections",
)
def test_masks_of_classes():
    begins = sequence_with(clip__media_id=VIDEO, image__height=HEIGHT, image__width=WIDTH)
    masks = [Detection(label=["mask"], score=[1], location_data=mask())]

    found = packed({"CLASS_SEGMENTATION": [(0, masks), (1, masks)]}, begins)

    assert found.first("clip/media_id") == VIDEO.encode()
    assert (found.first("image/height"), found.first("image/width")) == (HEIGHT, WIDTH)
    assert found.count("CLASS_SEGMENTATION/image/encoded") == 2
    assert found.times("CLASS_SEGMENTATION/image/timestamp") == [0, 1]
    assert list(found.values("CLASS_SEGMENTATION/image/class/label/string")) == [b"mask"]


def test_a_mask_is_a_png_file():
    shape = Detection(label=["hole"], location_data=mask(4, 2, (0, 1, 2), (1, 3, 3)))

    found = packed({"CLASS_SEGMENTATION": [(0, [shape])]})

    (file,) = found.step("CLASS_SEGMENTATION/image/encoded", 0)
    pixels = cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_UNCHANGED)
    assert pixels.tolist() == [[0, 255, 255, 0], [0, 0, 0, 255]]
    assert list(found.values("CLASS_SEGMENTATION/image/format")) == [b"PNG"]


@pytest.mark.parametrize(
    ("detections", "code", "words"),
    [
        ([Detection(location_data=relative(0, 0, 1, 1))], StatusCode.UNIMPLEMENTED, "without a mask"),
        (
            [Detection(label=["a"], location_data=mask())] * 2,
            StatusCode.INVALID_ARGUMENT,
            "holds 2 masks, but can store one at a timestamp, with a label",
        ),
        ([Detection(location_data=mask())], StatusCode.INVALID_ARGUMENT, "holds 1 masks, but can store one"),
        (
            [Detection(label=["a"], location_data=mask(4, 2, (2, 0, 1)))],
            StatusCode.INVALID_ARGUMENT,
            "a mask of 4x2 pixels with a run from 0 to 1 in row 2, outside of it",
        ),
        (
            [Detection(label=["a"], location_data=mask(1 << 20, 1 << 20))],
            StatusCode.INVALID_ARGUMENT,
            "a mask of 1048576x1048576 pixels, but it must have 1 to 1073741824",
        ),
    ],
)
def test_what_is_no_mask_of_one_class(detections, code, words):
    error = failure({"CLASS_SEGMENTATION": [(0, detections)]})

    assert (error.code, words in str(error)) == (code, True)


# --- labels of the clip -------------------------------------------------------------------------------


def label(names=(), scores=(), ids=()) -> Detection:
    return Detection(label=names, score=scores, label_id=ids)


def clip_labels(sequence, prefix) -> tuple[list, list, list]:
    texts = [text.decode() for text in sequence.values(f"{prefix}/clip/label/string")]
    ids, scores = (sequence.values(f"{prefix}/clip/label/{part}") for part in ("index", "confidence"))
    return texts, list(ids), pytest.approx(list(scores), rel=1e-6)


OF_OTHER = label(["label_3", "label_4"], [0.3, 0.4])


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.PackThreeClipLabels",
)
def test_clip_labels_have_names_or_ids_or_both():
    found = packed(
        {
            "CLIP_LABEL_TEST": [(1, label(["label_1", "label_2"], [0.1, 0.2], [1, 2]))],
            "CLIP_LABEL_OTHER": [(2, OF_OTHER)],
            "CLIP_LABEL_ANOTHER": [(3, label([], [0.3, 0.4], [3, 4]))],
        }
    )

    assert clip_labels(found, "TEST") == (["label_1", "label_2"], [1, 2], [0.1, 0.2])
    assert clip_labels(found, "OTHER") == (["label_3", "label_4"], [], [0.3, 0.4])
    assert clip_labels(found, "ANOTHER") == ([], [3, 4], [0.3, 0.4])
    context = found.message.context.feature
    assert "OTHER/clip/label/index" not in context
    assert "ANOTHER/clip/label/string" not in context


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.PackTwoClipLabels_EmptyScore",
)
def test_a_clip_label_without_scores_is_left_out():
    found = packed(
        {"CLIP_LABEL_TEST": [(1, label(["label_1", "label_2"]))], "CLIP_LABEL_OTHER": [(2, OF_OTHER)]}
    )

    assert not [key for key in found.message.context.feature if key.startswith("TEST/")]
    assert clip_labels(found, "OTHER") == (["label_3", "label_4"], [], [0.3, 0.4])
    assert "OTHER/clip/label/index" not in found.message.context.feature


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        pytest.param(
            label([], [0.1]),
            "have 1 scores, but neither labels nor label ids",
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PackTwoClipLabels_NoLabelOrLabelIndex",
            ),
        ),
        pytest.param(
            label(["label_1", "label_2"], [0.1]),
            "have 2 labels and 1 scores, but each score has one",
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PackTwoClipLabels_DifferentLabelScoreSize",
                "PackMediaSequenceCalculatorTest.DifferentClipLabelScoreAndConfidenceSize",
            ),
        ),
        pytest.param(
            label(["label_1", "label_2"], [0.1, 0.2], [1]),
            "have 1 label ids and 2 scores, but each score has one",
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.PackTwoClipLabels_DifferentLabelIdSize",
            ),
        ),
    ],
)
def test_clip_labels_ids_and_scores_are_as_many(wrong, words):
    error = failure({"CLIP_LABEL_TEST": [(1, wrong)], "CLIP_LABEL_OTHER": [(2, OF_OTHER)]})

    assert error.code == StatusCode.INVALID_ARGUMENT
    assert words in str(error)


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.PackTwoClipLabels_AddEmptyLabels",
)
def test_a_clip_label_without_scores_leaves_empty_lists_if_asked():
    found = packed({"CLIP_LABEL_TEST": [(1, Detection())]}, add_empty_labels=True)

    context = found.message.context.feature
    assert context["TEST/clip/label/string"].WhichOneof("kind") == "bytes_list"
    assert context["TEST/clip/label/confidence"].WhichOneof("kind") == "float_list"
    assert clip_labels(found, "TEST") == ([], [], [])


@pytest.mark.parametrize(
    ("ids", "replaces", "new_ids", "expected"),
    [
        pytest.param(
            False,
            True,
            ([1, 2], [3, 4]),
            (
                (["label_1", "label_2"], [1, 2], [0.9, 0.8]),
                (["label_3", "label_4"], [3, 4], [0.7, 0.6]),
            ),
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.ReplaceTwoClipLabels",
            ),
        ),
        pytest.param(
            True,
            False,
            ([9, 8], [7, 6]),
            (
                (["old_label_1", "old_label_2", "label_1", "label_2"], [1, 2, 9, 8], [0.1, 0.2, 0.9, 0.8]),
                (["old_label_3", "old_label_4", "label_3", "label_4"], [3, 4, 7, 6], [0.3, 0.4, 0.7, 0.6]),
            ),
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.AppendTwoClipLabels",
            ),
        ),
    ],
)
def test_clip_labels_replace_the_old_ones_or_come_after_them(ids, replaces, new_ids, expected):
    begins = MediaSequence()
    for prefix, first in (("TEST", 1), ("OTHER", 3)):
        begins.set(f"{prefix}/clip/label/string", BYTES, [f"old_label_{first}", f"old_label_{first + 1}"])
        begins.set(f"{prefix}/clip/label/confidence", FLOATS, [first / 10, (first + 1) / 10])
        if ids:
            begins.set(f"{prefix}/clip/label/index", INTS, [first, first + 1])

    found = packed(
        {
            "CLIP_LABEL_TEST": [(1, label(["label_1", "label_2"], [0.9, 0.8], new_ids[0]))],
            "CLIP_LABEL_OTHER": [(2, label(["label_3", "label_4"], [0.7, 0.6], new_ids[1]))],
        },
        begins,
        replace_data_instead_of_append=replaces,
    )

    assert (clip_labels(found, "TEST"), clip_labels(found, "OTHER")) == expected


# --- what is there already, and what is missing -------------------------------------------------------


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.MissingStreamOK",
)
def test_an_input_may_stay_without_packets_if_the_options_say_so():
    found = packed(
        {"FORWARD_FLOW_ENCODED": [(0, encoded()), (1, encoded())], "FLOAT_FEATURE_I3D_FLOW": []},
        sequence_with(clip__media_id=VIDEO),
        replace_data_instead_of_append=False,
    )

    assert found.first("clip/media_id") == VIDEO.encode()
    assert found.times("FORWARD_FLOW/image/timestamp") == [0, 1]
    assert steps(found, "FORWARD_FLOW/image/encoded") == [[RED], [RED]]


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.MissingStreamNotOK",
)
def test_an_input_without_packets_is_an_error():
    error = failure(
        {"FORWARD_FLOW_ENCODED": [(0, encoded()), (1, encoded())], "FLOAT_FEATURE_I3D_FLOW": []},
        sequence_with(clip__media_id=VIDEO),
        output_only_if_all_present=True,
        replace_data_instead_of_append=False,
    )

    assert error.code == StatusCode.NOT_FOUND
    assert "no packet came on FLOAT_FEATURE_I3D_FLOW, but a media sequence needs all inputs" in str(error)


@pytest.mark.parametrize(
    ("tag", "prefix"),
    [
        pytest.param(
            "IMAGE",
            "",
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.TestReplacingImages",
            ),
        ),
        pytest.param(
            "FORWARD_FLOW_ENCODED",
            "FORWARD_FLOW/",
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.TestReplacingFlowImages",
            ),
        ),
    ],
)
def test_images_of_a_connected_input_are_removed(tag, prefix):
    begins = sequence_with(clip__media_id=VIDEO)
    for time, file in ((1, "one"), (2, "two")):
        begins.add_step(f"{prefix}image/encoded", BYTES, [file])
        begins.add_step(f"{prefix}image/timestamp", INTS, [time])

    found = packed({tag: []}, begins)

    assert found.first("clip/media_id") == VIDEO.encode()
    assert (found.count(f"{prefix}image/timestamp"), found.count(f"{prefix}image/encoded")) == (0, 0)


def test_image_labels_of_a_connected_input_are_removed():
    begins = MediaSequence()
    begins.add_step("A/image/timestamp", INTS, [1])
    begins.add_step("A/image/label/string", BYTES, ["old"])
    begins.add_step("A/image/label/index", INTS, [1])
    begins.add_step("A/image/label/confidence", FLOATS, [1])

    assert packed({"IMAGE_LABEL_A": []}, begins).keys_of_steps() == []


@pytest.mark.parametrize(
    ("tag", "name", "kind", "values"),
    [
        pytest.param(
            "FLOAT",
            "floats",
            FLOATS,
            {"TEST": [[2, 2], [4, 4]], "OTHER": [[2, 2], [4, 4]]},
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.TestReplacingFloatVectors",
            ),
        ),
        pytest.param(
            "BYTES",
            "bytes",
            BYTES,
            {"TEST": [["foo2"] * 2, ["foo4"] * 2], "OTHER": [["bar2"] * 2, ["bar4"] * 2]},
            marks=pytest.mark.reference(
                "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
                "PackMediaSequenceCalculatorTest.TestReplacingBytesVectors",
            ),
        ),
    ],
)
def test_features_of_a_connected_input_are_removed(tag, name, kind, values):
    begins = MediaSequence()
    for prefix, lists in values.items():
        for time, numbers in enumerate(lists):
            begins.add_step(f"{prefix}/feature/{name}", kind, numbers)
            begins.add_step(f"{prefix}/feature/timestamp", INTS, [time])
    assert all(begins.count(f"{prefix}/feature/{name}") == 2 for prefix in values)
    assert all(begins.count(f"{prefix}/feature/timestamp") == 2 for prefix in values)

    found = packed({f"{tag}_FEATURE_{prefix}": [] for prefix in values}, begins)

    assert found.keys_of_steps() == []


# --- regions move to images ---------------------------------------------------------------------------


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.TestReconcilingAnnotations",
)
def test_regions_get_the_times_of_the_images():
    begins = MediaSequence()
    for prefix, times in (("", (9, 21, 22)), ("PREFIX/", (8, 9, 22))):
        for time in times:
            begins.add_step(f"{prefix}region/timestamp", INTS, [time])

    found = packed({"IMAGE": [(10 * (i + 1), encoded()) for i in range(5)]}, begins)

    assert found.times("region/timestamp") == [10, 20, 30, 40, 50]
    assert found.times("PREFIX/region/timestamp") == [10, 20, 30, 40, 50]
    assert found.times("region/unmodified_timestamp") == [9, 21]
    assert found.times("PREFIX/region/unmodified_timestamp") == [9, 22]


def test_the_nearer_of_two_regions_stays_and_images_without_one_get_an_empty_one():
    begins = MediaSequence()
    for time, left in ((9, 0.1), (21, 0.2), (24, 0.3)):
        begins.add_step("region/timestamp", INTS, [time])
        for side in ("xmin", "ymin", "xmax", "ymax"):
            begins.add_step(f"region/bbox/{side}", FLOATS, [left])

    found = packed({"IMAGE": [(10 * (i + 1), encoded()) for i in range(3)]}, begins)

    assert steps(found, "region/bbox/xmin") == [[np.float32(0.1)], [np.float32(0.2)], []]
    assert found.times("region/is_annotated") == [1, 1, 0]
    assert found.times("region/num_regions") == [1, 1, 0]


@pytest.mark.parametrize(
    ("options", "moves"),
    [
        ({"reconcile_region_annotations": False}, (False, False)),
        ({"reconcile_region_annotations": False, "reconcile_bbox_annotations": True}, (True, False)),
        ({"reconcile_metadata": False}, (False, False)),
    ],
)
def test_regions_stay_where_they_are_if_the_options_say_so(options, moves):
    begins = MediaSequence()
    begins.add_step("region/timestamp", INTS, [9])
    begins.add_step("A/region/timestamp", INTS, [9])

    found = packed({"IMAGE": [(10, encoded())]}, begins, **options)

    times = (found.times("region/timestamp"), found.times("A/region/timestamp"))
    assert times == tuple([10] if moved else [9] for moved in moves)


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.TestOverwritingAndReconciling",
)
def test_all_parts_of_replaced_boxes_are_removed_before_regions_move():
    box = Detection(
        label=["relative bbox"], label_id=[1], score=[0.75], location_data=relative(0, 0.5, 0.5, 0.5)
    )
    begins = MediaSequence()
    for _ in range(10):
        for name in ("timestamp", "is_annotated", "num_regions"):
            begins.add_step(f"region/{name}", INTS, [-1])
        for name in ("label", "class", "track"):
            begins.add_step(f"region/{name}/string", BYTES, ["anything"])
            begins.add_step(f"region/{name}/index", INTS, [-1])
        begins.add_step("region/label/confidence", FLOATS, [-1])

    found = packed(
        {
            "IMAGE": [(i, encoded(2, 2)) for i in range(5)],
            "BBOX": [(i, [box]) for i in range(5)],
        },
        begins,
    )

    assert found.times("region/timestamp") == [0, 1, 2, 3, 4]
    assert steps(found, "region/label/string") == [[b"relative bbox"]] * 5


def test_parts_of_regions_are_as_many_as_their_times():
    begins = MediaSequence()
    begins.add_step("region/timestamp", INTS, [9])
    begins.add_step("region/radius", FLOATS, [9])
    begins.add_step("region/radius", FLOATS, [9])

    assert "has 2 steps of 'region/radius', but 1 timestamps of these regions" in str(
        failure({"IMAGE": [(10, encoded())]}, begins)
    )


def test_segments_get_the_numbers_of_their_images():
    begins = MediaSequence()
    begins.set("segment/start/timestamp", INTS, [9, 24])
    begins.set("segment/end/timestamp", INTS, [26, 90])

    found = packed({"IMAGE": [(10 * (i + 1), encoded()) for i in range(5)]}, begins)

    assert list(found.values("segment/start/index")) == [0, 1]
    assert list(found.values("segment/end/index")) == [2, 4]


def test_segments_have_as_many_ends_as_starts():
    begins = sequence_with(segment__start__timestamp=[1, 2], segment__end__timestamp=[3])

    assert "2 values of 'segment/start/timestamp' and 1 of 'segment/end/timestamp'" in str(
        failure({"IMAGE": [(10, encoded())]}, begins)
    )


# --- sizes --------------------------------------------------------------------------------------------


@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.SkipLargeSequence",
)
def test_a_record_may_not_have_more_bytes_than_the_options_say():
    error = failure(
        {"IMAGE": [(0, encoded()), (1, encoded())]},
        sequence_with(clip__media_id=VIDEO, example__id="street"),
        max_sequence_bytes=10,
    )

    assert "bytes would be more than 10 bytes" in str(error)
    assert "the sequence 'street' with" in str(error)


def test_any_size_is_allowed_if_the_options_say_so():
    found = packed({"IMAGE": [(0, encoded())]}, max_sequence_bytes=10, skip_large_sequences=False)

    assert found.count("image/encoded") == 1


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.timeout(600)
@pytest.mark.reference(
    "calculators/tensorflow/pack_media_sequence_calculator_test.cc",
    "PackMediaSequenceCalculatorTest.TestTooLargeInputFailsSoftly",
)
def test_a_thousand_lists_of_a_million_floats_are_an_error():
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 5 << 30:
        pytest.skip("the record grows to 2 GiB, and this machine has less than 5 GiB of free memory")
    graph = CalculatorGraph(
        """
        input_stream: "test"
        node {
          calculator: "PackMediaSequenceCalculator"
          input_stream: "FLOAT_FEATURE_TEST:test"
          output_stream: "SEQUENCE_EXAMPLE:record"
          options { [penstock.PackMediaSequenceCalculatorOptions.ext] {
            output_only_if_all_present: false replace_data_instead_of_append: true
          } }
        }
        """
    )
    graph.start_run()

    with pytest.raises(GraphRunError, match="would be more than 2147483647 bytes"):
        add_lists(graph, 1000)


def add_lists(graph, count):
    """Give a graph lists of a million floats one at a time: all at once would have 8 GB."""
    for i in range(count):
        graph.add_packet_to_input_stream("test", Packet([float(i)] * 1_000_000, i))
        graph.wait_until_idle()
    graph.close()


# --- ports --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["IMAGES", "CLIP", 0, "IMAGE:1"])
def test_an_input_with_another_tag_is_refused(tag):
    with pytest.raises(GraphConfigError, match="is none that a sequence has; tags, each once, are BBOX"):
        packed({tag: [], **({"IMAGE": []} if tag == "IMAGE:1" else {})})


def test_one_output_is_needed():
    with pytest.raises(
        GraphConfigError, match="neither the output SEQUENCE_EXAMPLE nor the output side packet"
    ):
        run_calculator(PackMediaSequenceCalculator, {"IMAGE": []})


def test_the_record_is_an_output_side_packet_too():
    run = run_calculator(
        PackMediaSequenceCalculator,
        {"FLOAT_FEATURE_A": [(3, [1.0])]},
        output_side_packets=["SEQUENCE_EXAMPLE"],
    )

    assert MediaSequence(run.output_side_packets["SEQUENCE_EXAMPLE"]).times("A/feature/timestamp") == [3]


def test_the_record_that_it_begins_with_stays_as_it_is():
    begins = sequence_with(clip__media_id="before")

    packed({"FLOAT_FEATURE_A": [(3, [1.0])]}, begins, media_id="after")

    assert begins.first("clip/media_id") == b"before"
