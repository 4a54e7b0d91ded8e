"""NonMaxSuppressionCalculator: which detections stay, and what becomes of the others."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError, PenstockError
from penstock_formats import Detection, ImageFrame, LocationData
from penstock_testing import run_calculator
from penstock_vision.detections.non_max_suppression import NonMaxSuppressionCalculator
from penstock_vision.messages.non_max_suppression_pb2 import NonMaxSuppressionCalculatorOptions

IOU = {"overlap_type": "INTERSECTION_OVER_UNION"}


def detection(score, x=0.0, y=0.0, width=0.5, height=0.5, *, label_id=0, keypoints=()):  # noqa: PLR0913  # of a box
    made = Detection(score=[score], label_id=[label_id])
    made.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    box = made.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = x, y, width, height
    for px, py in keypoints:
        made.location_data.relative_keypoints.add(x=px, y=py)
    return made


def run(*lists, image=None, **options):
    inputs = {i: [] if given is None else [(3, given)] for i, given in enumerate(lists)}
    if image is not None:
        inputs["IMAGE"] = [(3, image)]
    return run_calculator(
        NonMaxSuppressionCalculator,
        inputs,
        outputs=[0],
        options=NonMaxSuppressionCalculatorOptions(num_detection_streams=len(lists), **options),
    )


def packets(*lists, **options):
    return run(*lists, **options).outputs[0]


def kept(*lists, **options):
    (packet,) = packets(*lists, **options)
    assert packet.timestamp == 3
    return packet.payload


def scores(found):
    return [one.score[0] for one in found]


def box(found):
    made = found.location_data.relative_bounding_box
    return [made.xmin, made.ymin, made.width, made.height]


# --- DEFAULT --------------------------------------------------------------------------------------


def test_the_best_of_those_that_overlap_stays_and_the_best_comes_first():
    found = kept(
        [detection(0.5), detection(0.75, 0.02), detection(0.25, 0.5, 0.5)],
        **IOU,
        min_suppression_threshold=0.5,
    )

    assert scores(found) == [0.75, 0.25]


def test_an_overlap_of_just_the_threshold_stays():
    # half of each is shared: 1/3 of the union
    halves = [detection(0.5, 0, 0, 0.5, 0.5), detection(0.75, 0.25, 0, 0.5, 0.5)]
    third = np.float32(0.125) / (np.float32(0.25) + np.float32(0.25) - np.float32(0.125))

    assert len(kept(halves, **IOU, min_suppression_threshold=float(third))) == 2
    assert len(kept(halves, **IOU, min_suppression_threshold=float(np.nextafter(third, np.float32(0))))) == 1


@pytest.mark.parametrize(
    ("kind", "overlap"),
    [
        # the second, 0.25 x 0.5, is half in the first, 0.5 x 0.5: 0.0625 is shared
        ("INTERSECTION_OVER_UNION", 0.0625 / (0.25 + 0.125 - 0.0625)),
        ("JACCARD", 0.0625 / (0.625 * 0.5)),
        ("MODIFIED_JACCARD", 0.0625 / 0.125),
    ],
)
def test_what_the_shared_area_is_divided_by(kind, overlap):
    given = [detection(0.75), detection(0.5, 0.375, 0, 0.25, 0.5)]

    above = kept(given, overlap_type=kind, min_suppression_threshold=overlap - 1e-4)
    below = kept(given, overlap_type=kind, min_suppression_threshold=overlap + 1e-4)

    assert (len(above), len(below)) == (1, 2)


def test_the_box_around_both_counts_for_jaccard_not_their_union():
    # at the corner of each other: 1/16 shared, 7/16 covered, 9/16 in the box around both
    corners = [detection(0.75), detection(0.5, 0.25, 0.25)]

    assert len(kept(corners, min_suppression_threshold=0.13)) == 2
    assert len(kept(corners, min_suppression_threshold=0.13, **IOU)) == 1


@pytest.mark.parametrize("kind", ["INTERSECTION_OVER_UNION", "JACCARD", "MODIFIED_JACCARD"])
def test_boxes_apart_in_both_directions_share_no_area(kind):
    apart = [detection(0.75, 0, 0, 0.4, 0.4), detection(0.5, 0.5, 0.5, 0.4, 0.4)]

    assert len(kept(apart, overlap_type=kind, min_suppression_threshold=0)) == 2


def test_boxes_that_touch_share_no_area():
    touching = [detection(0.75), detection(0.5, 0.5)]

    assert len(kept(touching, **IOU, min_suppression_threshold=0)) == 2
    # a closed test: with a negative threshold even 0 is above
    assert len(kept(touching, **IOU, min_suppression_threshold=-0.5)) == 1


def test_equal_scores_stay_in_their_order():
    given = [detection(0.5, 0), detection(0.5, 0.5), detection(0.5, 0, 0.5)]

    assert [box(one)[:2] for one in kept(given)] == [[0, 0], [0.5, 0], [0, 0.5]]


def test_at_most_so_many_stay():
    given = [detection(0.25, 0.5), detection(0.75), detection(0.5, 0, 0.5)]

    assert scores(kept(given, max_num_detections=2)) == [0.75, 0.5]


@pytest.mark.parametrize(
    ("options", "cut"),
    [
        ({"max_num_detections": 1}, 2),  # the two others that overlap with no better one
        ({"max_num_detections": 2}, 1),
        ({"max_num_detections": 3}, 0),
        ({"max_num_detections": 1, "min_score_threshold": 0.5}, 1),
        ({"max_num_detections": 1, "algorithm": "WEIGHTED"}, 0),
        ({"max_num_detections": 1, "algorithm": "WEIGHTED", "multiclass_nms": True}, 2),
        ({}, 0),
    ],
)
def test_the_ledger_has_what_only_the_greatest_number_left_out(options, cut):
    apart = [detection(score, 2.0 * place) for place, score in enumerate((0.25, 0.75, 0.5))]

    cuts = run([*apart, detection(0.625, 2.0)], [], min_suppression_threshold=0.3, **options).cuts

    assert cuts == ({f"max_num_detections is {options['max_num_detections']}": cut} if cut else {})


def test_a_score_of_just_the_least_one_stays_and_none_counts_below_zero():
    given = [detection(0.25, 0.5), detection(0.75), detection(0.5, 0, 0.5)]

    assert scores(kept(given, min_score_threshold=0.5)) == [0.75, 0.5]
    assert len(kept(given, min_score_threshold=0)) == 3


def test_all_streams_count_together():
    assert scores(kept([detection(0.25)], None, [detection(0.5, 0.5)])) == [0.5, 0.25]


# --- WEIGHTED -------------------------------------------------------------------------------------


def test_weighted_averages_boxes_and_keypoints_in_single_precision():
    rng = np.random.default_rng(7)
    given = [
        detection(float(score), *numbers, keypoints=[(numbers[0], numbers[1])])
        for score, numbers in zip(
            sorted(rng.random(6).astype(np.float32), reverse=True),
            (rng.random((6, 4)) * 0.01 + [0.25, 0.25, 0.5, 0.5]).astype(np.float32).tolist(),
            strict=True,
        )
    ]

    (found,) = kept(given, **IOU, algorithm="WEIGHTED", min_suppression_threshold=0.3)

    f32 = np.float32
    total, left, top, right, bottom = (f32(0) for _ in range(5))
    for one in given:
        weight = f32(one.score[0])
        x, y, width, height = map(f32, box(one))
        total, left, top = total + weight, left + x * weight, top + y * weight
        right, bottom = right + (x + width) * weight, bottom + (y + height) * weight
    assert box(found) == [
        left / total,
        top / total,
        right / total - left / total,
        bottom / total - top / total,
    ]
    point = found.location_data.relative_keypoints[0]
    assert (point.x, point.y) == (left / total, top / total)
    assert (list(found.score), list(found.label_id)) == ([given[0].score[0]], [0])


def test_weighted_ignores_the_greatest_number():
    apart = [detection(0.75), detection(0.5, 0.5), detection(0.25, 0, 0.5)]

    assert (
        len(kept(apart, **IOU, algorithm="WEIGHTED", min_suppression_threshold=0.3, max_num_detections=1))
        == 3
    )


def test_weighted_ends_where_a_detection_does_not_even_overlap_itself():
    empty = [detection(0.75, width=0), detection(0.5, 0.5)]

    assert scores(kept(empty, **IOU, algorithm="WEIGHTED", min_suppression_threshold=0.3)) == [0.75]


def test_what_was_given_is_not_changed():
    given = [detection(0.75, 0), detection(0.5, 0.125)]
    before = [one.SerializeToString(deterministic=True) for one in given]

    (found,) = kept(given, **IOU, algorithm="WEIGHTED", min_suppression_threshold=0.1)

    assert box(found)[0] == pytest.approx(0.05)
    assert [one.SerializeToString(deterministic=True) for one in given] == before


def test_weighted_refuses_detections_with_other_keypoints():
    given = [detection(0.75, keypoints=[(0, 0)]), detection(0.5)]

    with pytest.raises(GraphRunError, match="keypoints"):
        kept(given, **IOU, algorithm="WEIGHTED", min_suppression_threshold=0.3)


# --- labels ---------------------------------------------------------------------------------------


def test_only_the_best_label_stays():
    given = detection(0.25)
    given.score[:], given.label_id[:] = [0.25, 0.75, 0.5], [7, 8, 9]

    (found,) = kept([given])

    assert (list(found.score), list(found.label_id)) == ([0.75], [8])
    assert list(given.label_id) == [7, 8, 9]


def test_only_the_best_name_stays():
    given = detection(0.25)
    given.ClearField("label_id")
    given.score[:], given.label[:] = [0.25, 0.75], ["cat", "dog"]

    (found,) = kept([given])

    assert (list(found.score), list(found.label)) == ([0.75], ["dog"])


def test_a_detection_without_any_label_is_left_out():
    given = detection(0.9)
    given.ClearField("label_id")

    assert scores(kept([given, detection(0.5)])) == [0.5]


def test_classes_do_not_suppress_each_other_if_asked():
    given = [detection(0.75), detection(0.5, label_id=1), detection(0.25)]
    options = {**IOU, "min_suppression_threshold": 0.3}

    assert scores(kept(given, **options)) == [0.75]
    assert scores(kept(given, **options, multiclass_nms=True)) == [0.75, 0.5]


def test_the_greatest_number_counts_for_all_classes_together():
    given = [detection(0.75), detection(0.5, label_id=1), detection(0.25, label_id=2)]
    options = {**IOU, "min_suppression_threshold": 0.3, "multiclass_nms": True, "max_num_detections": 2}

    assert scores(kept(given, **options)) == [0.75, 0.5]
    assert scores(kept(given, **options, algorithm="WEIGHTED")) == [0.75, 0.5]


def test_a_label_without_a_score_is_refused():
    given = Detection(label_id=[1])

    with pytest.raises(GraphRunError, match="has 0 scores"):
        kept([given])


# --- nothing, pixels, options -----------------------------------------------------------------------


@pytest.mark.parametrize("lists", [([],), ([], [])])
def test_without_detections_nothing_is_sent(lists):
    assert packets(*lists) == []


def test_without_detections_an_empty_list_is_sent_if_asked():
    assert kept([], return_empty_detections=True) == []


def in_pixels(score, x):
    made = Detection(score=[score], label_id=[0])
    made.location_data.format = LocationData.BOUNDING_BOX
    box = made.location_data.bounding_box
    box.xmin, box.ymin, box.width, box.height = x, 0, 4, 4
    return made


def test_boxes_in_pixels_need_an_image():
    given = [in_pixels(0.5, 0), in_pixels(0.75, 1), in_pixels(0.25, 5)]
    image = ImageFrame(np.zeros((8, 16), np.uint8))

    assert scores(kept(given, image=image, **IOU, min_suppression_threshold=0.3)) == [0.75, 0.25]
    with pytest.raises(GraphRunError, match="BOUNDING_BOX"):
        kept(given, **IOU)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_num_detections": 0}, "max_num_detections is 0"),
        ({"overlap_type": "UNSPECIFIED_OVERLAP_TYPE"}, "overlap_type is UNSPECIFIED_OVERLAP_TYPE"),
    ],
)
def test_options_that_say_nothing_are_refused(options, words):
    with pytest.raises(PenstockError, match=words):
        kept([detection(0.5)], **options)


def test_weighted_keeps_what_else_a_keypoint_says():
    given = [detection(0.75, keypoints=[(0.5, 0.25)]), detection(0.25, keypoints=[(0.25, 0.75)])]
    given[0].location_data.relative_keypoints[0].keypoint_label = "nose"

    (found,) = kept(given, **IOU, algorithm="WEIGHTED", min_suppression_threshold=0.5)

    (point,) = found.location_data.relative_keypoints
    assert (point.x, point.y, point.keypoint_label) == (0.4375, 0.375, "nose")


def test_detections_with_further_fields_are_averaged_likewise_and_keep_them():
    rng = np.random.default_rng(5)
    plain = [
        detection(0.5 + i / 16, *(rng.random(4) / 64 + 0.25).tolist(), keypoints=rng.random((3, 2)).tolist())
        for i in range(4)
    ]
    tagged = []
    for one in plain:
        tagged.append(Detection(feature_tag="palm"))
        tagged[-1].MergeFrom(one)
    options = {**IOU, "min_suppression_threshold": 0.3, "algorithm": "WEIGHTED"}

    (one,), (other,) = kept(plain, **options), kept(tagged, **options)

    assert other.feature_tag == "palm"
    other.ClearField("feature_tag")
    assert one == other
