"""LandmarksToTensorCalculator: which numbers, in which order, of which size."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import LandmarkList, NormalizedLandmarkList
from penstock_tensors.inputs.landmarks_to_tensor import LandmarksToTensorCalculator
from penstock_tensors.messages.landmarks_to_tensor_pb2 import LandmarksToTensorCalculatorOptions
from penstock_testing import run_calculator

NUMBERS = np.random.default_rng(9).random((4, 5)).astype(np.float32)
NAMES = ("x", "y", "z", "visibility", "presence")


def points(kind):
    return kind(landmark=[dict(zip(NAMES, row.tolist(), strict=True)) for row in NUMBERS])


def tensors(feeds, **options):
    run = run_calculator(
        LandmarksToTensorCalculator,
        {tag: [] if payload is None else [(3, payload)] for tag, payload in feeds.items()},
        outputs=["TENSORS"],
        options=LandmarksToTensorCalculatorOptions(**options),
    )
    return [packet.payload[0].array for packet in run.outputs["TENSORS"]]


def test_the_attributes_are_taken_in_their_order():
    (found,) = tensors({"LANDMARKS": points(LandmarkList)}, attributes=["PRESENCE", "X", "Z"])

    assert found.dtype == np.float32
    assert np.array_equal(found, NUMBERS[None, :, [4, 0, 2]])


def test_coordinates_of_fractions_become_pixels():
    feeds = {"NORM_LANDMARKS": points(NormalizedLandmarkList), "IMAGE_SIZE": (640, 480)}

    (found,) = tensors(feeds, attributes=["X", "Y", "Z", "VISIBILITY", "PRESENCE"])

    assert np.array_equal(found[0], NUMBERS * np.array([640, 480, 640, 1, 1], np.float32))


def test_a_flat_tensor_has_them_one_after_the_other():
    (found,) = tensors({"LANDMARKS": points(LandmarkList)}, attributes=["X", "Y"], flatten=True)

    assert found.shape == (1, 8)
    assert np.array_equal(found[0], NUMBERS[:, :2].ravel())


def test_what_a_landmark_lacks_is_0_and_no_landmarks_are_a_tensor_without_elements():
    feeds = {"LANDMARKS": LandmarkList(landmark=[{"x": 1}])}

    assert tensors(feeds, attributes=["X", "VISIBILITY"])[0].tolist() == [[[1, 0]]]
    assert tensors({"LANDMARKS": LandmarkList()}, attributes=["X", "Y"])[0].shape == (1, 0, 2)


def test_a_size_alone_gives_nothing_and_landmarks_alone_are_refused():
    assert tensors({"NORM_LANDMARKS": None, "IMAGE_SIZE": (4, 4)}, attributes=["X"]) == []
    with pytest.raises(GraphRunError, match="but landmarks become a tensor by the size of"):
        tensors({"NORM_LANDMARKS": NormalizedLandmarkList(), "IMAGE_SIZE": None}, attributes=["X"])


@pytest.mark.parametrize(
    ("tags", "attributes", "message"),
    [
        (["LANDMARKS"], [], "attributes is empty, but needs one at least"),
        ([], ["X"], "none of the input ports LANDMARKS, NORM_LANDMARKS, but exactly one"),
        (["LANDMARKS", "NORM_LANDMARKS"], ["X"], "but exactly one is needed"),
        (["NORM_LANDMARKS"], ["X"], "from NORM_LANDMARKS and IMAGE_SIZE is not connected"),
        (["LANDMARKS", "IMAGE_SIZE"], ["X"], "from LANDMARKS and IMAGE_SIZE is connected"),
    ],
)
def test_ports_and_options_that_do_not_fit_are_refused(tags, attributes, message):
    with pytest.raises(GraphConfigError, match=message):
        tensors(dict.fromkeys(tags), attributes=attributes)


@pytest.mark.parametrize(
    ("names", "flatten", "shape", "numbers"),
    [
        pytest.param(
            ["X", "Y", "Z", "VISIBILITY", "PRESENCE"], False, (1, 2, 5), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
            marks=pytest.mark.reference(
                "calculators/tensor/landmarks_to_tensor_calculator_test.cc",
                "LandmarksToTensorCalculatorTest.AllAttributes",
            ),
        ),
        pytest.param(
            ["X", "Y", "Z"], False, (1, 2, 3), [1, 2, 3, 6, 7, 8],
            marks=pytest.mark.reference(
                "calculators/tensor/landmarks_to_tensor_calculator_test.cc",
                "LandmarksToTensorCalculatorTest.XYZAttributes",
            ),
        ),
        pytest.param(
            ["X", "Y", "Z"], True, (1, 6), [1, 2, 3, 6, 7, 8],
            marks=pytest.mark.reference(
                "calculators/tensor/landmarks_to_tensor_calculator_test.cc",
                "LandmarksToTensorCalculatorTest.XYZAttributes_Flatten",
            ),
        ),
    ],
)  # fmt: skip
def test_two_landmarks_are_a_tensor_as_in_the_reference(names, flatten, shape, numbers):
    rows = np.arange(1, 11).reshape(2, 5)[:, : len(names)]
    landmarks = LandmarkList(landmark=[dict(zip(NAMES, row.tolist(), strict=False)) for row in rows])

    (found,) = tensors({"LANDMARKS": landmarks}, attributes=names, flatten=flatten)

    assert found.shape == shape
    assert found.ravel().tolist() == numbers


@pytest.mark.reference(
    "calculators/tensor/landmarks_to_tensor_calculator_test.cc",
    "LandmarksToTensorCalculatorTest.NormalizedLandmarks",
)
def test_a_landmark_of_a_picture_is_a_tensor_as_in_the_reference():
    one = {"x": 0.1, "y": 0.5, "z": 1, "visibility": 4, "presence": 5}
    feeds = {"NORM_LANDMARKS": NormalizedLandmarkList(landmark=[one]), "IMAGE_SIZE": (200, 100)}

    (found,) = tensors(feeds, attributes=["X", "Y", "Z", "VISIBILITY", "PRESENCE"])

    assert found.tolist() == [[[20, 50, 200, 4, 5]]]
