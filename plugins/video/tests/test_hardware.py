"""Encoders of devices: tried before the first frame, and what happens where they do not work."""

from __future__ import annotations

import logging
from fractions import Fraction

import av
import av.error
import numpy as np
import pytest

import penstock
from penstock.access import Access
from penstock.errors import GraphConfigError, GraphRunError, StatusCode
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_testing import run_calculator
from penstock_video import hardware, libav_encoders
from penstock_video.encoder import VideoEncoderCalculator
from penstock_video.messages.encoder_pb2 import OpenCvVideoEncoderCalculatorOptions as Options

HEADER = VideoHeader(ImageFormat.SRGB, 160, 96)


def encode(target, count=3, size=(128, 96), header=None, **options):
    frame = ImageFrame(np.full((size[1], size[0], 3), 90, np.uint8))
    return run_calculator(
        VideoEncoderCalculator,
        {"VIDEO": [(40_000 * index, frame) for index in range(count)]},
        options=Options(**options),
        side_packets={"OUTPUT_FILE_PATH": target},
        headers=None if header is None else {"VIDEO": header},
    )


def format_of(path):
    with av.open(str(path)) as container:
        return container.streams.video[0].codec_context.codec.canonical_name


@pytest.mark.parametrize(
    ("codec", "found"),
    [("h264_none_nvenc", None), ("h264_vaapi", "h264"), ("hevc_vaapi", "hevc"), ("av1_vaapi", "av1"),
     ("vp9_vaapi", "vp9"), ("mpeg2_vaapi", "h264"), ("h264_videotoolbox", "h264")],
)  # fmt: skip
def test_where_a_device_is_missing_the_same_format_is_made_in_software(
    tmp_path, caplog, monkeypatch, codec, found
):
    there = libav_encoders.is_video_encoder
    monkeypatch.setattr(libav_encoders, "is_video_encoder", lambda name: name != codec and there(name))

    if found is None:  # no name of a device's encoder
        with pytest.raises(GraphRunError, match=f"codec '{codec}' is unknown"):
            encode(tmp_path / "out.mp4", codec=codec)
        return
    with caplog.at_level(logging.WARNING, "penstock.video"):
        encode(tmp_path / "out.mp4", codec=codec)

    assert format_of(tmp_path / "out.mp4") == found
    assert f"the encoder {codec} cannot be used, so " in caplog.text
    assert "this build of libav has no such encoder" in caplog.text
    assert caplog.text.count("cannot be used") == 1


def opens(name):
    """Return whether libav has an encoder and opens it for 160x96."""
    try:
        context = av.CodecContext.create(name, "w")
        context.width, context.height, context.pix_fmt = 160, 96, "nv12"
        context.time_base, context.framerate = Fraction(1, 30), 30
        context.open()
    except (av.error.FFmpegError, ValueError, TypeError):
        return False
    return True


@pytest.mark.parametrize("codec", ["h264_nvenc", "hevc_nvenc", "h264_qsv", "h264_amf", "h264_v4l2m2m"])
def test_an_encoder_that_does_not_open_is_told_with_what_libav_says(tmp_path, caplog, codec):
    if not libav_encoders.is_video_encoder(codec) or opens(codec):
        pytest.skip(f"this libav has no {codec}, or it works here")

    with caplog.at_level(logging.WARNING, "penstock.video"):
        encode(tmp_path / "out.mkv", codec=codec, size=(160, 96), header=HEADER)

    assert format_of(tmp_path / "out.mkv") == codec.partition("_")[0]
    assert f"the encoder {codec} cannot be used, so " in caplog.text
    assert "the device or its driver is missing, or it takes no 160x96" in caplog.text


def test_an_encoder_that_is_required_is_an_error_before_the_first_frame(tmp_path):
    with pytest.raises(
        GraphRunError,
        match=r"out\.mp4' cannot use 'h264_vulkan': .*; leave out hardware_required, or",
    ) as caught:
        encode(tmp_path / "out.mp4", 0, codec="h264_vulkan", hardware_required=True)

    assert caught.value.code is StatusCode.UNAVAILABLE
    assert list(tmp_path.iterdir()) == []


def test_an_encoder_that_works_is_used(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(hardware, "is_hardware", lambda name: name == "mpeg4")

    with caplog.at_level(logging.WARNING, "penstock.video"):
        encode(tmp_path / "out.mp4", codec="mpeg4", hardware_required=True)

    assert format_of(tmp_path / "out.mp4") == "mpeg4"
    assert caplog.text == ""


def test_a_size_that_a_device_does_not_take_is_found_with_the_first_frame(tmp_path, monkeypatch, caplog):
    tried = []

    def why_not(name, size, fps):
        tried.append((name, size, fps))
        return "too small" if size == (128, 96) else ""

    monkeypatch.setattr(hardware, "why_not", why_not)

    with caplog.at_level(logging.WARNING, "penstock.video"):
        encode(tmp_path / "out.mp4", codec="h264_nvenc", fps=25)

    assert tried == [("h264_nvenc", (1280, 720), 25.0), ("h264_nvenc", (128, 96), 25.0)]
    assert "so libx264 encodes: too small" in caplog.text
    assert format_of(tmp_path / "out.mp4") == "h264"


def test_a_sandbox_allows_no_device_that_it_does_not_name(tmp_path):
    node = """
        calculator: "VideoEncoderCalculator" input_stream: "VIDEO:in"
        input_side_packet: "OUTPUT_FILE_PATH:out"
        options { [penstock.OpenCvVideoEncoderCalculatorOptions.ext] { codec: "h264_nvenc" } }"""
    text = f'input_stream: "in" input_side_packet: "out" node {{ {node} }}'

    with pytest.raises(GraphConfigError, match="this graph may not use the device 'encoder h264_nvenc'"):
        penstock.CalculatorGraph(text, access=Access(writes=[tmp_path], devices=[]))
    penstock.CalculatorGraph(text, access=Access(writes=[tmp_path], devices=["encoder h264_nvenc"]))
