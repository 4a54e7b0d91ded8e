"""TensorsToDetectionsCalculator: boxes, classes and keypoints of a single-shot detector."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import LocationData, Tensor
from penstock_tensors import Anchor
from penstock_tensors.messages.tensors_to_detections_pb2 import TensorsToDetectionsCalculatorOptions
from penstock_tensors.outputs.tensors_to_detections import TensorsToDetectionsCalculator
from penstock_testing import run_calculator

#: An anchor that leaves boxes as they are, but for the scale of 10.
PLAIN = (0.0, 0.0, 1.0, 1.0)
SCALES = {"x_scale": 10, "y_scale": 10, "w_scale": 10, "h_scale": 10}


def tensor(values):
    return Tensor(np.array(values, np.float32)[None])


def run(tensors, anchors=None, sides=None, **options):
    given = (
        {"ANCHORS": [Anchor(x_center=x, y_center=y, w=w, h=h) for x, y, w, h in anchors]} if anchors else {}
    )
    named = {"num_classes": 1, "num_coords": 4, **SCALES, **options}
    return run_calculator(
        TensorsToDetectionsCalculator,
        {"TENSORS": [(3, tensors)]},
        outputs=["DETECTIONS"],
        side_packets={**given, **(sides or {})},
        options=TensorsToDetectionsCalculatorOptions(**named),
    )


def decode(*arguments, **options):
    (packet,) = run(*arguments, **options).outputs["DETECTIONS"]
    assert packet.timestamp == 3
    return packet.payload


def box(detection):
    found = detection.location_data.relative_bounding_box
    return [found.xmin, found.ymin, found.width, found.height]


def near(*values):
    return pytest.approx(values, abs=1e-6)


# --- decoding -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "raw"),
    [
        ({}, [3, 4, 1, 2]),
        ({"box_format": "YXHW"}, [3, 4, 1, 2]),
        ({"reverse_output_order": True}, [4, 3, 2, 1]),
        ({"box_format": "XYWH"}, [4, 3, 2, 1]),
        ({"box_format": "YXHW", "reverse_output_order": True}, [3, 4, 1, 2]),
        ({"box_format": "XYXY"}, [-3, -2.5, 5, 3.5]),
    ],
)
def test_the_order_of_the_numbers_of_a_box(options, raw):
    (found,) = decode([tensor([raw]), tensor([[0.75]])], [PLAIN], **options)

    assert box(found) == near(0.3, 0.25, 0.2, 0.1)
    assert (list(found.score), list(found.label_id), list(found.label)) == ([0.75], [0], [])
    assert found.location_data.format == LocationData.RELATIVE_BOUNDING_BOX


def test_a_box_is_measured_from_its_anchor_and_scaled_by_its_size():
    (found,) = decode([tensor([[5, 5, 10, 20]]), tensor([[1]])], [(0.5, 0.25, 0.2, 0.4)])

    x, y, w, h = 0.5 + 0.5 * 0.2, 0.25 + 0.5 * 0.4, 2 * 0.2, 1 * 0.4
    assert box(found) == near(x - w / 2, y - h / 2, w, h)


def test_the_size_may_be_a_logarithm():
    (found,) = decode([tensor([[0, 0, 0, 10]]), tensor([[1]])], [PLAIN], apply_exponential_on_box_size=True)

    assert box(found)[2:] == near(np.e, 1)


@pytest.mark.parametrize(
    ("kind", "first"), [("XYWH", (0.1, 0.2)), ("XYXY", (0.1, 0.2)), ("YXHW", (0.2, 0.1))]
)
def test_keypoints_are_pairs_in_the_order_of_the_box(kind, first):
    raw = [0, 0, 9, 9, 1, 2, 3, 4]

    (found,) = decode(
        [tensor([raw]), tensor([[1]])], [PLAIN],
        num_coords=8, num_keypoints=2, keypoint_coord_offset=4, box_format=kind,
    )  # fmt: skip

    points = [(point.x, point.y) for point in found.location_data.relative_keypoints]
    assert points[0] == near(*first)
    assert len(points) == 2


def test_y_that_points_up_is_turned():
    (found,) = decode(
        [tensor([[3, 4, 1, 2, 1, 2]]), tensor([[1]])], [PLAIN],
        num_coords=6, num_keypoints=1, keypoint_coord_offset=4, flip_vertically=True,
    )  # fmt: skip

    assert box(found) == near(0.3, 1 - 0.35, 0.2, 0.1)
    point = found.location_data.relative_keypoints[0]
    assert (point.x, point.y) == near(0.2, 0.9)


def test_anchors_may_come_as_a_third_tensor():
    (found,) = decode([tensor([[5, 5, 10, 20]]), tensor([[1]]), tensor([[0.25, 0.5, 0.4, 0.2]])])

    assert box(found) == near(0.6 - 0.2, 0.45 - 0.2, 0.4, 0.4)


def test_the_places_of_the_tensors_can_be_named():
    mapping = {"detections_tensor_index": 1, "scores_tensor_index": 0}
    (found,) = decode([tensor([[1]]), tensor([[3, 4, 1, 2]])], [PLAIN], tensor_mapping=mapping)

    assert box(found) == near(0.3, 0.25, 0.2, 0.1)


# --- scores ---------------------------------------------------------------------------------------

BOX = [0, 0, 1, 1]


def scored(rows, **options):
    count = len(rows)
    found = decode(
        [tensor([BOX] * count), tensor(rows)], [PLAIN] * count, num_classes=len(rows[0]), **options
    )
    return [(one.label_id[0], one.score[0]) for one in found]


def test_the_greatest_score_wins_and_the_first_of_equals():
    found = scored([[0.1, 0.5, 0.5], [0.75, 0.25, 0.125]])

    assert found == [(1, 0.5), (0, 0.75)]


def test_a_score_equal_to_the_threshold_is_kept():
    assert scored([[0.5], [0.25], [0.75]], min_score_thresh=0.5) == [(0, 0.5), (0, 0.75)]


def test_without_a_threshold_all_are_kept():
    assert scored([[-5.0]]) == [(0, -5)]


def test_a_sigmoid_is_clipped_before():
    assert scored([[0.0], [1000.0]], sigmoid_score=True) == [(0, 0.5), (0, 1)]
    clipped = float(1 / (1 + np.exp(np.float32(-2))))
    assert scored([[1000.0]], sigmoid_score=True, score_clipping_thresh=2) == [(0, clipped)]
    assert scored([[-1000.0]], sigmoid_score=True) == [(0, 0)]


@pytest.mark.parametrize("options", [{"ignore_classes": [1]}, {"allow_classes": [0, 2]}])
def test_classes_that_do_not_count(options):
    assert scored([[0.25, 0.75, 0.5]], **options) == [(2, 0.5)]


def test_the_side_packet_replaces_the_ignored_classes():
    found = decode(
        [tensor([BOX]), tensor([[0.25, 0.75]])], [PLAIN], {"IGNORE_CLASSES": [1]},
        num_classes=2, ignore_classes=[0],
    )  # fmt: skip

    assert found[0].label_id == [0]


def test_where_no_class_counts_nothing_reaches_a_threshold():
    assert scored([[0.9]], ignore_classes=[0], min_score_thresh=0) == []


def test_results_are_cut_in_the_order_of_the_boxes():
    assert scored([[0.25], [0.75], [0.5]], max_results=2) == [(0, 0.25), (0, 0.75)]


@pytest.mark.parametrize("raw", [[0, 0, -1, 1], [0, 0, 1, -1], [0, 0, np.nan, 1]])
def test_a_box_without_a_size_is_left_out_and_does_not_count(raw):
    found = decode(
        [tensor([raw, BOX]), tensor([[0.5], [0.75]])], [PLAIN] * 2, max_results=1, min_score_thresh=0.1
    )

    assert [one.score[0] for one in found] == [0.75]


def test_nothing_found_is_an_empty_list():
    assert scored([[0.1]], min_score_thresh=0.5) == []


@pytest.mark.parametrize(("most", "cuts"), [(1, {"max_results is 1": 2}), (3, {}), (-1, {})])
def test_the_ledger_has_what_only_the_greatest_number_left_out(most, cuts):
    without_size = [0, 0, -1, 1]
    raw = [tensor([BOX, without_size, BOX, BOX]), tensor([[0.5], [0.5], [0.75], [0.5]])]
    decoded = [tensor([BOX] * 3), tensor([0] * 3), tensor([0.5, 0.25, 0.5]), tensor(3.0)]

    assert run(raw, [PLAIN] * 4, max_results=most).cuts == cuts
    assert run(decoded, max_results=most).cuts == cuts


# --- models that decode ---------------------------------------------------------------------------


def test_four_tensors_are_taken_as_they_are_up_to_the_count():
    found = decode(
        [
            tensor([[0.25, 0.125, 0.75, 0.625], BOX, BOX]),
            tensor([2, 0, 0]),
            tensor([0.5, 0.25, 1]),
            tensor(2.0),
        ],
        num_classes=3,
    )

    assert [(one.label_id[0], one.score[0]) for one in found] == [(2, 0.5), (0, 0.25)]
    assert box(found[0]) == [0.125, 0.25, 0.5, 0.5]


def test_four_tensors_with_other_places_and_edges():
    mapping = {
        "detections_tensor_index": 3, "classes_tensor_index": 2,
        "scores_tensor_index": 1, "num_detections_tensor_index": 0,
    }  # fmt: skip
    found = decode(
        [tensor(1.0), tensor([0.5]), tensor([0]), tensor([[0.125, 0.25, 0.625, 0.75]])],
        tensor_mapping=mapping, box_boundaries_indices={"xmin": 0, "ymin": 1, "xmax": 2, "ymax": 3},
    )  # fmt: skip

    assert box(found[0]) == [0.125, 0.25, 0.5, 0.5]


def test_a_box_may_have_several_classes():
    found = decode(
        [tensor([BOX, BOX]), tensor([0, 1, 1, 2]), tensor([0.75, 0.5, 0.25, 0.125]), tensor(2.0)],
        num_classes=3, max_classes_per_detection=2, min_score_thresh=0.2,
    )  # fmt: skip

    assert [(list(one.label_id), list(one.score)) for one in found] == [([0, 1], [0.75, 0.5]), ([1], [0.25])]


@pytest.mark.parametrize(("count", "least"), [(0.0, 0), (1.0, 0.5)])
def test_four_tensors_of_which_no_box_is_kept_give_an_empty_list(count, least):
    tensors = [tensor([BOX]), tensor([0]), tensor([0.25]), tensor(count)]

    assert decode(tensors, min_score_thresh=least) == []


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_classes": 0}, "num_classes is 0, but must be 1 or more"),
        ({"num_coords": 0}, "num_coords is 0, but must be 1 or more"),
        ({"max_results": 0}, "max_results is 0, but must be 1 or more, or -1 for all"),
        ({"num_values_per_keypoint": 3}, "num_values_per_keypoint is 3, but must be 2"),
        ({"num_keypoints": 1}, "num_coords is 4, but a box of 4 and 1 keypoints of 2 are 6 numbers"),
        ({"tensor_mapping": {"scores_tensor_index": 5}}, "scores_tensor_index is 5, but must be from 0 to 3"),
        ({"tensor_mapping": {"detections_tensor_index": -1}}, "detections_tensor_index is -1, but must be"),
        (
            {"box_boundaries_indices": {"ymax": 4}},
            "box_boundaries_indices.ymax is 4, but must be from 0 to 3",
        ),
        ({"box_coord_offset": 1}, "box_coord_offset is 1, but must be from 0 to 0"),
        ({"num_coords": 6, "num_keypoints": 1, "box_coord_offset": -1}, "is -1, but must be from 0 to 2"),
        (
            {"num_coords": 6, "num_keypoints": 1, "keypoint_coord_offset": 5},
            "keypoint_coord_offset is 5, but must be from 0 to 4",
        ),
        ({"ignore_classes": [0], "allow_classes": [0]}, "both ignore_classes and allow_classes of the"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, words):
    with pytest.raises(GraphRunError, match=words):
        decode([tensor([BOX]), tensor([[1]])], [PLAIN], **options)


@pytest.mark.parametrize(
    ("tensors", "options", "words"),
    [
        ([tensor([BOX])], {}, r"holds 1 tensors, but the calculator takes 2 \(boxes, scores\), 3"),
        ([tensor([BOX]), tensor([[1]])], {"num_boxes": 2}, "is <Tensor float32 1x1x4>, but .* must be 1x2x4"),
        (
            [tensor([BOX]), tensor([[1, 2]])],
            {},
            "tensor 1 of input .* is <Tensor float32 1x1x2>, but .* must be 1x1x1",
        ),
        ([tensor([BOX] * 2), tensor([[1]] * 2)], {}, "2 boxes, 2 scores and 1 anchors"),
        (
            [tensor([BOX]), tensor([[1]])],
            {"tensor_mapping": {"scores_tensor_index": 3}},
            "names tensor 3",
        ),
        (
            [tensor([BOX]), tensor([0]), tensor([1]), tensor([1, 2])],
            {},
            "but four tensors must be boxes",
        ),
    ],
)
def test_tensors_that_the_options_do_not_describe_are_refused(tensors, options, words):
    with pytest.raises(GraphRunError, match=words):
        decode(tensors, [PLAIN], **options)


def test_boxes_without_anchors_are_refused():
    with pytest.raises(GraphRunError, match="measured from anchors, and there are none; connect"):
        decode([tensor([BOX]), tensor([[1]])])


# --- many boxes, few of which pass ----------------------------------------------------------------


@pytest.mark.parametrize("clip", [None, 0.25, 2.0])
@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.25, 0.5, 0.6, 0.9, 1.0])
@pytest.mark.parametrize("classes", [1, 3])
def test_the_boxes_are_kept_whose_sigmoid_reaches_the_threshold(classes, threshold, clip):
    raw = np.random.default_rng(7).normal(size=(300, classes)).astype(np.float32) * 3
    limit = np.float32(np.log(threshold / (1 - threshold))) if 0 < threshold < 1 else np.float32(0)
    raw[:40] = limit + np.linspace(-1e-5, 1e-5, 40, dtype=np.float32)[:, None]
    raw[40, 0] = np.nan
    clipped = raw if clip is None else np.clip(raw, -np.float32(clip), np.float32(clip))
    exp = np.exp(-clipped.astype(np.float64)).astype(np.float32)
    best = (np.float32(1) / (np.float32(1) + exp)).max(axis=1)
    wanted = best[~(best < np.float32(threshold))]
    options = {} if clip is None else {"score_clipping_thresh": clip}

    found = decode(
        [tensor(np.ones((300, 4))), tensor(raw)],
        [PLAIN] * 300,
        num_classes=classes,
        sigmoid_score=True,
        min_score_thresh=threshold,
        **options,
    )

    assert np.array_equal([one.score[0] for one in found], wanted, equal_nan=True)


def test_a_class_that_does_not_count_lets_no_box_pass():
    boxes, scores = np.ones((2, 4)), [[5.0, -5.0], [-5.0, 5.0]]

    found = decode(
        [tensor(boxes), tensor(scores)],
        [PLAIN] * 2,
        num_classes=2,
        sigmoid_score=True,
        min_score_thresh=0.5,
        ignore_classes=[0],
    )

    assert [list(one.label_id) for one in found] == [[1]]
