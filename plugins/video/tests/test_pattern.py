"""The test pattern: it is the same in every run, moves, and shows the number of each frame."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import GraphRunError
from penstock_formats import ImageFormat, VideoHeader
from penstock_testing import run_calculator
from penstock_video.decoder import VideoDecoderCalculator
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions as Options
from penstock_video.pattern import PatternSource, pattern_index


def frames(**pattern):
    return run_calculator(VideoDecoderCalculator, outputs=["VIDEO"], options=Options(test_pattern=pattern))


def test_the_pattern_has_the_size_rate_and_length_asked_for():
    run = frames(width=64, height=48, fps=30000 / 1001, frames=5)

    assert run.headers["VIDEO"] == VideoHeader(
        ImageFormat.SRGB, 64, 48, 30000 / 1001, pytest.approx(5 * 1001 / 30000)
    )
    assert [int(p.timestamp) for p in run.outputs["VIDEO"]] == [0, 33_367, 66_733, 100_100, 133_467]
    assert all(p.payload.array.shape == (48, 64, 3) for p in run.outputs["VIDEO"])


def test_the_pattern_is_the_same_in_every_run_and_moves():
    one, other = (frames(width=64, height=48, frames=40).outputs["VIDEO"] for _ in range(2))

    assert all(np.array_equal(a.payload.array, b.payload.array) for a, b in zip(one, other, strict=True))
    assert all(not np.array_equal(a.payload.array, b.payload.array) for a, b in itertools.pairwise(one))


@given(st.integers(16, 200), st.integers(16, 120), st.integers(0, 65_535))
def test_every_frame_shows_its_number(width, height, index):
    source = PatternSource(Options.TestPattern(width=width, height=height, frames=0))
    source._index = index

    _, picture = source.read()

    assert picture.shape == (height, width, 3)
    assert pattern_index(picture) == index


def test_a_pattern_without_end_has_no_duration_and_goes_on():
    source = PatternSource(Options.TestPattern(width=16, height=16, frames=0))

    assert source.header.duration_s == 0
    assert [source.read()[0] for _ in range(200)][-1] == 199 * 40_000


@pytest.mark.parametrize(
    "bad", [{"width": 15}, {"height": 0}, {"fps": 0}, {"fps": 0.009}, {"fps": 1e6 + 1}, {"frames": -1}]
)
def test_patterns_out_of_range_are_refused(bad):
    with pytest.raises(
        GraphRunError, match=r"sides must be 16 or more, the rate from 0.01 to 1000000, the number"
    ):
        frames(**bad)
