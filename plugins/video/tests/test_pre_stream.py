"""VideoPreStreamCalculator: headers for frames that other nodes have changed."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock.lowlevel import PRESTREAM
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_testing import run_calculator
from penstock_video.messages.pre_stream_pb2 import VideoPreStreamCalculatorOptions
from penstock_video.pre_stream import VideoPreStreamCalculator

ORIGINAL = VideoHeader(ImageFormat.SRGB, 640, 480, 29.97, 12.5)


def frame(width, height):
    return ImageFrame(np.zeros((height, width), np.uint8))


def headers(feeds, **options):
    run = run_calculator(
        VideoPreStreamCalculator, feeds, outputs=[0], options=VideoPreStreamCalculatorOptions(**options)
    )
    assert [packet.stamp for packet in run.outputs[0]] == [PRESTREAM] * len(run.outputs[0])
    return [packet.payload for packet in run.outputs[0]]


def test_size_and_format_are_those_of_the_first_frame_and_the_rest_of_the_original_header():
    feeds = {
        "VIDEO_PRESTREAM": [(PRESTREAM, ORIGINAL)],
        "FRAME": [(5, frame(32, 24)), (6, frame(64, 48))],
    }

    assert headers(feeds) == [VideoHeader(ImageFormat.GRAY8, 32, 24, 29.97, 12.5)]


@pytest.mark.parametrize(
    ("fps", "rate"),
    [
        ({"value": 25}, 25),
        ({"ratio": {"numerator": 30_000, "denominator": 1001}}, 30_000 / 1001),
        ({"value": 25, "ratio": {"numerator": 1, "denominator": 1}}, 25),
    ],
)
def test_without_a_header_the_rate_is_an_option(fps, rate):
    assert headers({0: [(5, frame(8, 6))]}, fps=fps) == [VideoHeader(ImageFormat.GRAY8, 8, 6, rate, 0.0)]


def test_without_frames_there_is_no_header():
    assert headers({"VIDEO_PRESTREAM": [(PRESTREAM, ORIGINAL)], "FRAME": []}) == []


def coloured(width, height, channels=3):
    return ImageFrame(np.zeros((height, width, channels), np.uint8))


@pytest.mark.reference(
    "calculators/video/video_pre_stream_calculator_test.cc",
    "VideoPreStreamCalculatorTest.ProcessesWithFrameRateInOptions",
    "VideoPreStreamCalculatorTest.ProcessesWithFrameRateInPreStream",
)
@pytest.mark.parametrize(
    ("feeds", "options"),
    [
        ({0: [(0, coloured(1, 2)), (1, coloured(3, 4, 4))]}, {"fps": {"value": 3}}),
        (
            {
                "FRAME": [(0, coloured(1, 2))],
                "VIDEO_PRESTREAM": [(PRESTREAM, VideoHeader(frame_rate=3.0))],
            },
            {},
        ),
    ],
)
def test_the_first_frame_and_the_rate_make_the_header(feeds, options):
    assert headers(feeds, **options) == [VideoHeader(ImageFormat.SRGB, 1, 2, 3.0, 0.0)]


@pytest.mark.reference(
    "calculators/video/video_pre_stream_calculator_test.cc",
    "VideoPreStreamCalculatorTest.FailsWithoutFrameRateInOptions",
    "VideoPreStreamCalculatorTest.FailsWithoutFrameRateInPreStream1",
    "VideoPreStreamCalculatorTest.FailsWithoutFrameRateInPreStream2",
)
@pytest.mark.parametrize(
    ("header", "message"),
    [
        (None, "the frame rate is 0, but must be known"),
        ([], "the frame rate is 0, but must be known"),
        ([(-1, VideoHeader(frame_rate=3.0))], "at timestamp -1, but a header comes at PRESTREAM"),
        ([(0, VideoHeader(frame_rate=3.0))], "at timestamp 0, but a header comes at PRESTREAM"),
        ([(1, VideoHeader(frame_rate=3.0))], "the frame rate is 0, but must be known"),
    ],
)
def test_without_a_rate_in_time_there_is_no_header(header, message):
    frames = [(0, coloured(1, 2))]
    with pytest.raises(GraphRunError, match=message):
        headers({0: frames} if header is None else {"FRAME": frames, "VIDEO_PRESTREAM": header})


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ({0: [(5, frame(8, 6))]}, "the frame rate is 0, but must be known"),
        ({"FRAME": [(5, frame(8, 6))], "VIDEO_PRESTREAM": []}, "the frame rate is 0"),
        (
            {"FRAME": [(5, frame(8, 6))], "VIDEO_PRESTREAM": [(5, ORIGINAL)]},
            "at timestamp 5, but a header comes",
        ),
        ({0: [(PRESTREAM, frame(8, 6))]}, "has a frame at PRESTREAM, where only headers are"),
    ],
)
def test_what_makes_no_header_is_refused(feeds, message):
    with pytest.raises(GraphRunError, match=message):
        headers(feeds)


def test_a_ratio_that_is_none_is_no_rate():
    with pytest.raises(GraphRunError, match="the frame rate is 0"):
        headers({0: [(5, frame(8, 6))]}, fps={"ratio": {"numerator": 1}})


@pytest.mark.parametrize("inputs", [[], ["FRAME"], ["VIDEO_PRESTREAM"], [0, 1], [0, "FRAME"]])
def test_other_inputs_are_refused(inputs):
    with pytest.raises(GraphConfigError, match="but must be one untagged, or FRAME and VIDEO_PRESTREAM"):
        headers({port: [] for port in inputs})
