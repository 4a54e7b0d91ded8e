"""UnpackMediaSequenceCalculator: one record becomes streams again."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from penstock import Timestamp, packs
from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock.errors import GraphConfigError, GraphRunError, StatusCode
from penstock_formats import Detection, LocationData
from penstock_image.messages.image_encoder_pb2 import OpenCvImageEncoderCalculatorResults
from penstock_image.messages.unpack_media_sequence_pb2 import UnpackMediaSequenceCalculatorOptions
from penstock_image.sequences import unpack_media_sequence
from penstock_image.sequences.media_sequence import BYTES, FLOATS, INTS, MediaSequence
from penstock_image.sequences.pack_media_sequence import PackMediaSequenceCalculator
from penstock_image.sequences.unpack_media_sequence import UnpackMediaSequenceCalculator
from penstock_testing import run_calculator

LAST = Timestamp.POSTSTREAM
FILE = b"test_image_string"
RESAMPLER = "penstock.PacketResamplerCalculatorOptions"
DECODER = "penstock.AudioDecoderOptions"


def unpacked(sequence, outputs=(), made=(), sides=None, **options):
    return run_calculator(
        UnpackMediaSequenceCalculator,
        outputs=outputs,
        output_side_packets=made,
        side_packets={"SEQUENCE_EXAMPLE": sequence.message, **(sides or {})},
        options=UnpackMediaSequenceCalculatorOptions(**options),
    )


def packets(sequence, *outputs, **options) -> dict[str, list[tuple[int, object]]]:
    found = unpacked(sequence, outputs, **options).outputs
    return {tag: [(int(packet.timestamp), packet.payload) for packet in found[tag]] for tag in outputs}


def sequence_of(name, images=(), **features) -> MediaSequence:
    """Return a sequence with images of a prefix, "" for none, and features: name to (time, floats)."""
    sequence = MediaSequence()
    sequence.set("clip/media_id", BYTES, ["test_video_id"])
    prefix = f"{name}/" if name else ""
    for time, file in enumerate(images):
        sequence.add_step(f"{prefix}image/timestamp", INTS, [time])
        sequence.add_step(f"{prefix}image/encoded", BYTES, [file])
    for feature, given in features.items():
        for time, values in given:
            sequence.add_step(f"{feature}/feature/floats", FLOATS, values)
            sequence.add_step(f"{feature}/feature/timestamp", INTS, [time])
    return sequence


# --- streams ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tag", "prefix", "files"),
    [
        pytest.param(
            "IMAGE",
            "",
            [FILE],
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.UnpacksOneImage",
            ),
        ),
        pytest.param(
            "IMAGE",
            "",
            [FILE, FILE],
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.UnpacksTwoImages",
            ),
        ),
        pytest.param(
            "IMAGE_PREFIX",
            "PREFIX",
            [FILE, FILE],
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.UnpacksTwoPrefixedImages",
            ),
        ),
        pytest.param(
            "FORWARD_FLOW_ENCODED",
            "FORWARD_FLOW",
            [FILE],
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.UnpacksOneForwardFlowImage",
            ),
        ),
        pytest.param(
            "FORWARD_FLOW_ENCODED",
            "FORWARD_FLOW",
            [b"test_image_string0", b"test_image_string1"],
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.UnpacksTwoForwardFlowImages",
            ),
        ),
    ],
)
def test_images_at_their_times(tag, prefix, files):
    assert packets(sequence_of(prefix, files), tag) == {tag: list(enumerate(files))}


@pytest.mark.parametrize(
    ("tag", "prefix"),
    [
        pytest.param(
            "BBOX",
            "",
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.UnpacksBBoxes",
            ),
        ),
        pytest.param(
            "BBOX_PREFIX",
            "PREFIX/",
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.UnpacksPrefixedBBoxes",
            ),
        ),
    ],
)
def test_boxes_at_their_times(tag, prefix):
    boxes = [[(0.1, 0.2, 0.7, 0.7), (0.3, 0.4, 0.2, 0.1)], [(0.2, 0.3, 0.4, 0.5)]]
    sequence = MediaSequence()
    for time, given in enumerate(boxes):
        rows = np.array(given, np.float32)
        for name, column in zip(
            ("xmin", "ymin", "xmax", "ymax"),
            (rows[:, 0], rows[:, 1], rows[:, 0] + rows[:, 2], rows[:, 1] + rows[:, 3]),
            strict=True,
        ):
            sequence.add_step(f"{prefix}region/bbox/{name}", FLOATS, column.tolist())
        sequence.add_step(f"{prefix}region/timestamp", INTS, [time])

    found = packets(sequence, tag, "FLOAT_FEATURE_OTHER")

    assert found["FLOAT_FEATURE_OTHER"] == []
    assert [time for time, _ in found[tag]] == [0, 1]
    for (_, locations), given in zip(found[tag], boxes, strict=True):
        assert {location.format for location in locations} == {LocationData.RELATIVE_BOUNDING_BOX}
        sides = [
            (box.xmin, box.ymin, box.width, box.height)
            for box in (location.relative_bounding_box for location in locations)
        ]
        assert sides == [pytest.approx(row, abs=1e-6) for row in given]


TWO = [(0, [2, 2]), (1, [4, 4])]


@pytest.mark.reference(
    "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
    "UnpackMediaSequenceCalculatorTest.UnpacksTwoFloatLists",
)
def test_features_at_their_times():
    found = packets(sequence_of("", TEST=TWO, OTHER=TWO), "FLOAT_FEATURE_TEST", "FLOAT_FEATURE_OTHER")

    assert found == {"FLOAT_FEATURE_TEST": TWO, "FLOAT_FEATURE_OTHER": TWO}


@pytest.mark.reference(
    "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
    "UnpackMediaSequenceCalculatorTest.UnpacksNonOverlappingTimestamps",
)
def test_streams_need_not_have_the_same_times():
    later = [(5, [2, 2]), (6, [4, 4])]

    found = packets(sequence_of("", [FILE, FILE], OTHER=later), "IMAGE", "FLOAT_FEATURE_OTHER")

    assert found == {"IMAGE": [(0, FILE), (1, FILE)], "FLOAT_FEATURE_OTHER": later}


@pytest.mark.reference(
    "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
    "UnpackMediaSequenceCalculatorTest.UnpacksTwoPostStreamFloatLists",
)
def test_features_after_all_times():
    sequence = sequence_of("", FDENSE_AVG=[(LAST, [1, 2])], FDENSE_MAX=[(LAST, [3, 4])])

    found = packets(sequence, "FLOAT_FEATURE_FDENSE_AVG", "FLOAT_FEATURE_FDENSE_MAX")

    assert found == {
        "FLOAT_FEATURE_FDENSE_AVG": [(LAST, [1, 2])],
        "FLOAT_FEATURE_FDENSE_MAX": [(LAST, [3, 4])],
    }


@pytest.mark.parametrize(
    ("tag", "options", "expected"),
    [
        pytest.param(
            "IMAGE",
            {},
            [(0, FILE)],
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.UnpacksImageWithPostStreamFloatList",
            ),
        ),
        pytest.param(
            "FLOAT_FEATURE_FDENSE_MAX",
            {},
            [(LAST, [3, 4])],
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.UnpacksPostStreamFloatListWithImage",
            ),
        ),
        pytest.param(
            "FLOAT_FEATURE_FDENSE_MAX",
            {"output_poststream_as_prestream": True},
            [(Timestamp.PRESTREAM, [3, 4])],
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.UnpacksPostStreamFloatListAtPre",
            ),
        ),
    ],
)
def test_an_image_and_a_feature_after_all_times(tag, options, expected):
    sequence = sequence_of("", [FILE], FDENSE_MAX=[(LAST, [3, 4])])

    assert packets(sequence, tag, **options) == {tag: expected}


def test_what_is_before_all_times_may_be_all():
    sequence = sequence_of("", A=[(LAST, [3])])

    found = packets(sequence, "FLOAT_FEATURE_A", output_poststream_as_prestream=True)

    assert found == {"FLOAT_FEATURE_A": [(Timestamp.PRESTREAM, [3])]}


def test_times_cannot_come_before_themselves():
    sequence = sequence_of("", A=[(3, [1]), (LAST, [3])])

    with pytest.raises(
        GraphRunError, match="'A/feature/timestamp' in the sequence to unpack has both timestamps and"
    ):
        packets(sequence, "FLOAT_FEATURE_A", output_poststream_as_prestream=True)


@pytest.mark.reference(
    "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
    "UnpackMediaSequenceCalculatorTest.DoesNotCrashOnMissingFrames",
)
def test_times_without_images_end_the_stream():
    sequence = sequence_of("")
    sequence.add_step("image/timestamp", INTS, [0])

    assert packets(sequence, "IMAGE") == {"IMAGE": []}


@pytest.mark.parametrize("name", ["floats", "bbox"])
def test_times_without_values_are_an_error(name):
    sequence = MediaSequence()
    sequence.add_step("A/feature/timestamp" if name == "floats" else "A/region/timestamp", INTS, [0])

    with pytest.raises(GraphRunError, match=rf"0 steps of 'A/\w+/{name}\S*', but number 0 is needed"):
        packets(sequence, "FLOAT_FEATURE_A" if name == "floats" else "BBOX_A")


def test_each_box_has_four_sides():
    sequence = MediaSequence()
    sequence.add_step("region/timestamp", INTS, [0])
    for name in ("xmin", "ymin", "xmax", "ymax"):
        sequence.add_step(f"region/bbox/{name}", FLOATS, [0.5] * (2 if name == "ymin" else 1))

    with pytest.raises(
        GraphRunError, match=r"step 0 of 'region/bbox' in the sequence to unpack has \[1, 2, 1, 1\]"
    ):
        packets(sequence, "BBOX")


@pytest.mark.parametrize("times", [(3, 3), (4, 3), (2**63 - 1,), (Timestamp.PRESTREAM,)])
def test_times_go_forward(times):
    with pytest.raises(
        GraphRunError, match=r"'A/feature/timestamp' in the sequence to unpack is at .*, but each"
    ):
        packets(sequence_of("", A=[(time, [1]) for time in times]), "FLOAT_FEATURE_A")


def test_a_time_is_a_whole_number():
    sequence = MediaSequence()
    sequence.add_step("image/timestamp", FLOATS, [1])

    with pytest.raises(GraphRunError, match="step 0 of 'image/timestamp' in the media sequence has no whole"):
        packets(sequence, "IMAGE")


def test_a_record_without_times_sends_nothing():
    assert packets(MediaSequence(), "IMAGE") == {"IMAGE": []}


@pytest.mark.parametrize("tag", ["IMAGES", "INT_FEATURE_A", 0])
def test_an_output_with_another_tag_is_refused(tag):
    with pytest.raises(GraphConfigError, match="is none that a sequence can give; tags, each once, are BBOX"):
        unpacked(MediaSequence(), [tag])


def test_what_was_packed_comes_out_again():
    box = LocationData.RelativeBoundingBox(xmin=0.25, ymin=0.5, width=0.125, height=0.25)
    place = LocationData(format=LocationData.RELATIVE_BOUNDING_BOX, relative_bounding_box=box)
    jpeg = cv2.imencode(".jpg", np.zeros((2, 3, 3), np.uint8))[1].tobytes()
    record = (
        run_calculator(
            PackMediaSequenceCalculator,
            {
                "IMAGE": [(7, OpenCvImageEncoderCalculatorResults(encoded_image=jpeg))],
                "BBOX": [(7, [Detection(location_data=place)])],
                "FLOAT_FEATURE_SPEED": [(3, [0.5, 2.0])],
            },
            outputs=["SEQUENCE_EXAMPLE"],
        )
        .outputs["SEQUENCE_EXAMPLE"][0]
        .payload
    )

    found = packets(MediaSequence(record), "IMAGE", "BBOX", "FLOAT_FEATURE_SPEED")

    assert found == {"IMAGE": [(7, jpeg)], "BBOX": [(7, [place])], "FLOAT_FEATURE_SPEED": [(3, [0.5, 2])]}


# --- side packets -------------------------------------------------------------------------------------


@pytest.fixture
def clip() -> MediaSequence:
    """Return what the record of a clip from second 3 to 5 says of it."""
    sequence = MediaSequence()
    for key, kind, value in (
        ("clip/media_id", BYTES, "test_video_id"),
        ("clip/data_path", BYTES, "test_directory"),
        ("clip/start/timestamp", INTS, 3_000_000),
        ("clip/end/timestamp", INTS, 5_000_000),
        ("clip/encoded_media_bytes", BYTES, "encoded_video_data"),
        ("clip/encoded_media_start_timestamp", INTS, 1_000_000),
        ("AUDIO/clip/encoded_media_bytes", BYTES, "encoded_audio_data"),
        ("AUDIO/clip/encoded_media_start_timestamp", INTS, 2_000_000),
        ("image/frame_rate", FLOATS, 1.0),
    ):
        sequence.set(key, kind, [value])
    return sequence


@pytest.mark.parametrize(
    ("sides", "options", "path"),
    [
        pytest.param(
            {"DATASET_ROOT": "test_root"},
            {},
            "test_root/test_directory",
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.GetDatasetFromPacket",
            ),
        ),
        pytest.param(
            {},
            {"dataset_root_directory": "test_root"},
            "test_root/test_directory",
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.GetDatasetFromOptions",
            ),
        ),
        pytest.param(
            {},
            {},
            "test_directory",
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.GetDatasetFromExample",
            ),
        ),
        ({"DATASET_ROOT": "/data/"}, {"dataset_root_directory": "other"}, "/data/test_directory"),
    ],
)
def test_the_path_of_the_clip(clip, sides, options, path):
    found = unpacked(clip, made=["DATA_PATH"], sides=sides, **options)

    assert found.output_side_packets == {"DATA_PATH": path}


@pytest.mark.reference(
    "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
    "UnpackMediaSequenceCalculatorTest.GetFrameRateFromExample",
)
def test_the_rate_of_the_images(clip):
    assert unpacked(clip, made=["IMAGE_FRAME_RATE"]).output_side_packets == {"IMAGE_FRAME_RATE": 1.0}


def test_what_the_record_does_not_say():
    with pytest.raises(GraphRunError, match="the sequence has no 'image/frame_rate' in its context"):
        unpacked(MediaSequence(), made=["IMAGE_FRAME_RATE"])


def message_of(name):
    """Return an options message of another pack."""
    entry = packs.default_registry().option(name)
    if entry is None:
        pytest.skip(f"no installed pack has {name}")
    return entry.load()


@pytest.mark.parametrize(
    ("options", "start", "end"),
    [
        pytest.param(
            {},
            2.0,
            7.0,
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.GetAudioDecoderOptions",
            ),
        ),
        pytest.param(
            {"force_decoding_from_start_of_media": True},
            0.0,
            7.0,
            marks=pytest.mark.reference(
                "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
                "UnpackMediaSequenceCalculatorTest.GetAudioDecoderOptionsOverride",
            ),
        ),
        ({"extra_padding_from_media_decoder": 0.5}, 1.5, 7.5),
    ],
)
def test_options_of_the_decoder(clip, options, start, end):
    cls = message_of(DECODER)
    base = {"audio_stream": [{"stream_index": 3}]}

    found = unpacked(
        clip,
        made=["AUDIO_DECODER_OPTIONS"],
        padding_before_label=1,
        padding_after_label=2,
        base_audio_decoder_options=base,
        **options,
    ).output_side_packets["AUDIO_DECODER_OPTIONS"]

    assert isinstance(found, cls)
    assert (found.start_time, found.end_time) == (pytest.approx(start), pytest.approx(end))
    assert found.audio_stream[0].stream_index == 3


@pytest.mark.reference(
    "calculators/tensorflow/unpack_media_sequence_calculator_test.cc",
    "UnpackMediaSequenceCalculatorTest.GetPacketResamplingOptions",
)
def test_options_of_the_resampler(clip):
    cls = message_of(RESAMPLER)

    found = unpacked(
        clip,
        made=["RESAMPLER_OPTIONS"],
        padding_before_label=1,
        padding_after_label=2,
        base_packet_resampler_options={"frame_rate": 1.0},
    ).output_side_packets["RESAMPLER_OPTIONS"]

    assert isinstance(found, CalculatorOptions)
    options = found.Extensions[cls.ext]
    assert (options.start_time, options.end_time) == (2_000_000, 7_000_000)
    assert options.frame_rate == 1.0


def test_options_of_a_record_without_a_clip_have_no_times():
    cls = message_of(RESAMPLER)

    found = unpacked(MediaSequence(), made=["RESAMPLER_OPTIONS"]).output_side_packets["RESAMPLER_OPTIONS"]

    assert found.HasExtension(cls.ext)
    assert not found.Extensions[cls.ext].HasField("start_time")


@pytest.mark.parametrize(
    ("field", "name"),
    [("base_packet_resampler_options", RESAMPLER), ("base_audio_decoder_options", DECODER)],
)
def test_the_options_have_the_fields_of_the_other_pack(field, name):
    ours = UnpackMediaSequenceCalculatorOptions.DESCRIPTOR.fields_by_name[field].message_type

    assert fields(ours) == fields(message_of(name).DESCRIPTOR)


def fields(message) -> dict[str, tuple]:
    return {
        field.name: (
            field.number,
            field.type,
            field.message_type and fields(field.message_type),
            field.enum_type and dict(field.enum_type.values_by_number.items()).keys(),
        )
        for field in message.fields
    }


@pytest.mark.parametrize("tag", ["RESAMPLER_OPTIONS", "AUDIO_DECODER_OPTIONS"])
def test_a_pack_that_is_not_installed(clip, tag, monkeypatch):
    class Empty:
        def option(self, name):
            return None

        def install_hint(self, kind, name):
            return "penstock-elsewhere"

    monkeypatch.setattr(unpack_media_sequence, "default_registry", Empty)

    with pytest.raises((GraphConfigError, GraphRunError), match="run pip install penstock-elsewhere"):
        unpacked(clip, made=[tag])


def test_padding_is_for_options(clip):
    with pytest.raises(
        GraphConfigError, match="neither RESAMPLER_OPTIONS nor AUDIO_DECODER_OPTIONS is"
    ) as caught:
        unpacked(clip, padding_before_label=1)

    assert caught.value.code == StatusCode.INVALID_ARGUMENT
