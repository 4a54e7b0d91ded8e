"""Frames become what players read: colours, sizes, key frames when they are due."""

from __future__ import annotations

import io

import av
import numpy as np
import pytest

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_video.streaming import live_coding
from penstock_video.streaming.live_coding import Coder, Quality, even, live_encoder
from penstock_video.streaming.muxer import Muxer

COLOURS = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0), (255, 255, 255), (0, 0, 0)]


def bars(width, height):
    picture = np.zeros((height, width, 3), np.uint8)
    for number, colour in enumerate(COLOURS):
        picture[:, width * number // 6 : width * (number + 1) // 6] = colour
    return ImageFrame(picture, ImageFormat.SRGB)


@pytest.mark.parametrize(("size", "space"), [((320, 240), 5), ((1280, 720), 1)])
def test_colours_are_as_players_expect_them_of_the_size(size, space):
    quality = Quality(live_encoder(""), crf=5.0)
    file = io.BytesIO()
    muxer = Muxer(file, "mpegts", {}, quality, size)
    coder = Coder(quality, size)
    for number in range(3):
        muxer.write(coder.made(bars(*size), number * 40_000))
    muxer.end()
    file.seek(0)

    with av.open(file) as container:
        frame = next(container.decode(video=0))
    assert frame.colorspace in {space, space + 1}  # BT.601 has two names
    seen = frame.to_ndarray(format="rgb24")
    for number, colour in enumerate(COLOURS):
        middle = seen[size[1] // 2, size[0] * (2 * number + 1) // 12]
        assert np.abs(middle.astype(int) - colour).max() < 6


def test_key_frames_come_when_they_are_due_whatever_the_rate(aid):
    coder = Coder(Quality("libx264", keyframe_s=0.1), (64, 48))
    made = [coder.made(frame, 7_000_000 + time) for frame, time in aid.frames(7, fps=40)]

    assert [one.pts for one in made] == [0, 25_000, 50_000, 75_000, 100_000, 125_000, 150_000]
    assert [one.pict_type == 1 for one in made] == [True, False, False, False, True, False, False]


def test_odd_sides_become_even():
    assert (even((65, 49)), even((64, 48)), even((1, 1))) == ((64, 48), (64, 48), (2, 2))


def test_a_build_without_an_encoder_for_h264_is_told(monkeypatch):
    monkeypatch.setattr(live_coding, "_H264", ("nothing",))
    with pytest.raises(
        InvalidArgumentError,
        match=r"this build of libav has no encoder for H\.264, which live streams need; use a PyAV",
    ):
        live_encoder("")
    assert live_encoder("vp90") == "libvpx-vp9"


def test_a_rate_without_quality_and_a_limit_with_it_reach_the_encoder():
    assert Quality("libx264", bit_rate=500_000).options()["maxrate"] == "500000"
    assert "crf" not in Quality("mpeg4").options()
    assert "maxrate" not in Quality("libx264").options()
