"""FeatureDetectorCalculator: corners where there are some, their places and their patches."""

from __future__ import annotations

import pickle

import cv2
import numpy as np
import pytest

from penstock import Timestamp
from penstock.errors import GraphRunError
from penstock_formats import ImageFrame
from penstock_image.filters.feature_detector import FeatureDetectorCalculator
from penstock_image.messages.feature_detector_pb2 import FeatureDetectorCalculatorOptions
from penstock_testing import run_calculator

#: A white box in the dark; its corners are at rows 60 and 99, columns 80 and 139.
BOX = np.zeros((160, 220, 3), np.uint8)
BOX[60:100, 80:140] = 255
CORNERS = np.array([(80, 60), (139, 60), (80, 99), (139, 99)])
NOISE = cv2.GaussianBlur(np.random.default_rng(4).integers(0, 256, (160, 220, 3)).astype(np.uint8), (5, 5), 0)
ALL = ("FEATURES", "LANDMARKS", "PATCHES")


def run(pixels, outputs=ALL, at=1, **options):
    return run_calculator(
        FeatureDetectorCalculator,
        {"IMAGE": [(at, ImageFrame(pixels))]},
        outputs=list(outputs),
        options=FeatureDetectorCalculatorOptions(**options),
    )


def found(pixels, **options):
    result = run(pixels, **options)
    assert [len(result.outputs[tag]) for tag in ALL] == [1, 1, 1]
    features, landmarks, patches = (result.outputs[tag][0].payload for tag in ALL)
    return features, landmarks.landmark, patches[0].array


def test_the_corners_of_a_box_are_found_and_nothing_else():
    features, _, _ = found(BOX)

    places = np.array([(feature.x, feature.y) for feature in features])
    distances = np.hypot(*(places[:, None] - CORNERS[None]).transpose(2, 0, 1))
    assert distances.min(axis=1).max() < 5
    assert distances.min(axis=0).max() < 3


def test_features_are_those_of_opencv_s_detector():
    features, _, _ = found(NOISE, max_features=50, pyramid_level=3, scale_factor=1.5)

    orb = cv2.ORB.create(50, 1.5, 3, 31, 0, 2, cv2.ORB_FAST_SCORE)
    want = orb.detect(cv2.cvtColor(NOISE, cv2.COLOR_RGB2GRAY))[:50]
    assert 30 < len(features) <= 50
    assert [(f.x, f.y, f.size, f.angle, f.response, f.octave) for f in features] == [
        (*p.pt, p.size, p.angle, p.response, p.octave) for p in want
    ]
    assert {f.octave for f in features} == {0, 1, 2}


def test_no_more_features_are_sent_than_asked_for_where_many_are_as_strong():
    gray = cv2.cvtColor(BOX, cv2.COLOR_RGB2GRAY)
    alike = cv2.ORB.create(2, 1.2, 4, 31, 0, 2, cv2.ORB_FAST_SCORE).detect(gray)
    assert len(alike) > 2  # OpenCV keeps all that are as strong as the last

    features, landmarks, patches = found(BOX, max_features=2)

    assert (len(features), len(landmarks), len(patches)) == (2, 2, 2)


def test_landmarks_are_the_same_places_in_shares_of_the_frame():
    features, landmarks, _ = found(NOISE)

    assert [(p.x, p.y) for p in landmarks] == pytest.approx(
        [pytest.approx((f.x / 220, f.y / 160)) for f in features]
    )


def test_a_patch_shows_the_grey_image_around_its_feature_and_zeros_fill_the_rest():
    features, _, patches = found(BOX, max_features=300, pyramid_level=1)

    gray = BOX[..., 0].astype(np.float32)
    assert patches.shape == (300, 32, 32, 1)
    assert patches.dtype == np.float32
    assert not patches[len(features) :].any()
    for feature, patch in zip(features, patches[..., 0], strict=False):
        # Each pixel of the patch, looked up by itself in the turned image, rounded to 1/32 of a pixel.
        down, right = np.mgrid[:32, :32] - 16.0
        cos, sin = np.cos(np.radians(feature.angle)), np.sin(np.radians(feature.angle))
        x, y = feature.x + right * cos - down * sin, feature.y + right * sin + down * cos
        want = cv2.remap(gray, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR) / 128 - 1
        assert np.abs(patch - want).max() < 0.2
        assert np.abs(patch - want).mean() < 0.01


def test_a_patch_of_another_level_is_of_the_shrunk_image():
    features, _, patches = found(NOISE, pyramid_level=2, scale_factor=2)
    number = next(i for i, feature in enumerate(features) if feature.octave == 1)

    level = cv2.resize(cv2.cvtColor(NOISE, cv2.COLOR_RGB2GRAY), (110, 80))
    feature = features[number]
    matrix = cv2.getRotationMatrix2D((feature.x / 2, feature.y / 2), feature.angle, 1)
    matrix[:, 2] += 16 - feature.x / 2, 16 - feature.y / 2
    want = cv2.warpAffine(level, matrix, (32, 32)).astype(np.float32) / 128 - 1
    assert np.abs(patches[number, ..., 0] - want).max() <= 1 / 128


def test_a_frame_without_corners_has_no_features():
    features, landmarks, patches = found(np.zeros((64, 64, 3), np.uint8))

    assert features == []
    assert len(landmarks) == 0
    assert not patches.any()


def test_a_transparent_frame_has_the_features_of_its_colours():
    clear = np.dstack([NOISE, NOISE[..., 0]])

    assert found(clear)[0] == found(NOISE)[0]


def test_features_survive_pickling():
    features, _, _ = found(BOX)

    assert pickle.loads(pickle.dumps(features)) == features  # noqa: S301  # bytes of this test


def test_a_frame_before_the_stream_is_ignored():
    result = run(BOX, at=Timestamp.PRESTREAM)

    assert [result.outputs[tag] for tag in ALL] == [[], [], []]


def test_outputs_are_optional():
    assert len(run(BOX, ["LANDMARKS"]).outputs["LANDMARKS"]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_features": 0}, r"max_features is 0, but must be 1 to 10000; change the options"),
        ({"pyramid_level": 33}, r"pyramid_level is 33, but must be 1 to 32; change the options"),
        ({"scale_factor": 1}, r"scale_factor is 1, but must be above 1; change the options"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(GraphRunError, match=message):
        run(BOX, **options)


def test_a_grey_frame_is_refused_with_the_cure():
    with pytest.raises(
        GraphRunError,
        match=r"takes frames of SRGB or SRGBA; put a ColorConvertCalculator before",
    ):
        run(BOX[..., 0])
