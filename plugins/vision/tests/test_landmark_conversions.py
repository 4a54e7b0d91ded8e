"""Calculators that move landmarks, rectangles and joints, or make numbers of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock import CalculatorGraph
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import JointList, LandmarkList, NormalizedLandmarkList, NormalizedRect
from penstock_testing import run_calculator
from penstock_vision.drawing.rect_to_render_scale import RectToRenderScaleCalculator
from penstock_vision.landmarks.landmarks_to_floats import LandmarksToFloatsCalculator
from penstock_vision.landmarks.landmarks_transformation import LandmarksTransformationCalculator
from penstock_vision.landmarks.set_landmark_visibility import SetLandmarkVisibilityCalculator
from penstock_vision.messages.align_hand_to_pose_in_world_pb2 import AlignHandToPoseInWorldCalculatorOptions
from penstock_vision.messages.joints_pb2 import (
    CombineJointsCalculatorOptions,
    SetJointsVisibilityCalculatorOptions,
)
from penstock_vision.messages.landmarks_to_floats_pb2 import LandmarksToFloatsCalculatorOptions
from penstock_vision.messages.landmarks_transformation_pb2 import LandmarksTransformationCalculatorOptions
from penstock_vision.messages.rect_to_render_scale_pb2 import RectToRenderScaleCalculatorOptions
from penstock_vision.rects.rect_projection import RectProjectionCalculator
from penstock_vision.space.align_hand_to_pose_in_world import AlignHandToPoseInWorldCalculator
from penstock_vision.space.joints import CombineJointsCalculator, SetJointsVisibilityCalculator

POINTS = np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32)


def landmarks(points, kind=LandmarkList, **more):
    return kind(landmark=[{"x": x, "y": y, "z": z, **more} for x, y, z in np.asarray(points, float).tolist()])


def points_of(found):
    return np.array([(one.x, one.y, one.z) for one in found.landmark], np.float32)


def at_1(payload):
    return [] if payload is None else [(1, payload)]


def payloads(calculator, feeds, output, options=None):
    given = {} if options is None else {"options": options}
    run = run_calculator(
        calculator, {tag: at_1(one) for tag, one in feeds.items()}, outputs=[output], **given
    )
    return [packet.payload for packet in run.outputs[output]]


# --- AlignHandToPoseInWorldCalculator ----------------------------------------------------------------


def aligned(hand, pose, hand_wrist=0, pose_wrist=0):
    options = AlignHandToPoseInWorldCalculatorOptions(hand_wrist_idx=hand_wrist, pose_wrist_idx=pose_wrist)
    feeds = {"HAND_LANDMARKS": hand, "POSE_LANDMARKS": pose}
    return payloads(AlignHandToPoseInWorldCalculator, feeds, "HAND_LANDMARKS", options)


def test_a_hand_moves_to_the_wrist_of_the_pose():
    (found,) = aligned(landmarks(POINTS, visibility=0.5), landmarks(POINTS * 2), 1, 3)

    assert np.array_equal(points_of(found), (POINTS - POINTS[1]) + (POINTS * 2)[3])
    assert [one.visibility for one in found.landmark] == [0.5] * 4


def test_without_a_hand_nothing_is_sent_and_without_a_pose_a_hand_is_refused():
    assert aligned(None, landmarks(POINTS)) == []
    with pytest.raises(GraphRunError, match=r"has no packet at timestamp 1, but 'in_.' has a hand"):
        aligned(landmarks(POINTS), None)


@pytest.mark.parametrize(("wrists", "option"), [((4, 0), "hand_wrist_idx"), ((0, -1), "pose_wrist_idx")])
def test_wrists_that_are_not_there_are_refused(wrists, option):
    with pytest.raises(GraphRunError, match=rf"{option} is (4|-1), but input .* holds 4 landmarks"):
        aligned(landmarks(POINTS), landmarks(POINTS), *wrists)


# --- LandmarksTransformationCalculator ---------------------------------------------------------------


def changed(given, *steps, stream=None):
    options = LandmarksTransformationCalculatorOptions(transformation=steps)
    feeds = {"LANDMARKS": given}
    if stream is not None:
        feeds["OPTIONS"] = stream or None
    return payloads(LandmarksTransformationCalculator, feeds, "LANDMARKS", options)[0]


def test_landmarks_are_moved_by_their_mean_and_flipped_in_order():
    found = changed(
        landmarks(POINTS, presence=1),
        {"normalize_translation": {}},
        {"flip_axis": {"flip_x": True, "flip_z": True}},
    )

    mean = np.add.accumulate(POINTS.astype(np.float64))[-1] / 4
    assert np.array_equal(points_of(found), (POINTS - mean.astype(np.float32)) * [-1, 1, -1])
    assert abs(points_of(found).mean(axis=0)).max() < 1e-6
    assert found.landmark[0].presence == 1


def test_steps_may_come_as_packets_and_none_change_nothing():
    given, steps = (
        landmarks(POINTS),
        LandmarksTransformationCalculatorOptions(transformation=[{"flip_axis": {"flip_y": True}}]),
    )

    assert np.array_equal(points_of(changed(given, stream=steps)), POINTS * [1, -1, 1])
    assert changed(given, stream=()) is given
    assert changed(given) is given


@pytest.mark.parametrize(
    ("given", "step", "message"),
    [
        (landmarks(POINTS), {}, "a transformation is empty"),
        (
            LandmarkList(),
            {"normalize_translation": {}},
            "holds no landmarks, but normalize_translation needs",
        ),
    ],
)
def test_steps_that_cannot_be_taken_are_refused(given, step, message):
    with pytest.raises(GraphRunError, match=message):
        changed(given, step)


def test_steps_come_in_one_way_only():
    with pytest.raises(GraphConfigError, match="1 transformations of landmarks are set and OPTIONS is"):
        changed(LandmarkList(), {"flip_axis": {}}, stream=())


FLIPS = [{"flip_axis": {f"flip_{axis}": True}} for axis in "xyz"]
CENTRE = {"normalize_translation": {}}


@pytest.mark.reference(
    "calculators/util/landmarks_transformation_calculator_test.cc",
    "LandmarksTransformationest.LandmarksTransformationest",
)
@pytest.mark.parametrize(
    ("points", "steps", "expected"),
    [
        ([(1, 2, 3), (4, 5, 6)], [], [(1, 2, 3), (4, 5, 6)]),
        ([(2, 2, 2)], [CENTRE], [(0, 0, 0)]),
        ([(2, 2, 2), (4, 4, 4)], [CENTRE], [(-1, -1, -1), (1, 1, 1)]),
        ([(2, 2, 2), (4, 4, 4), (9, 9, 9)], [CENTRE], [(-3, -3, -3), (-1, -1, -1), (4, 4, 4)]),
        ([(0, 0, 0, 4, 5)], [CENTRE], [(0, 0, 0, 4, 5)]),
        ([(2, 2, 2)], FLIPS[:1], [(-2, 2, 2)]),
        ([(2, 2, 2)], FLIPS[1:2], [(2, -2, 2)]),
        ([(2, 2, 2)], FLIPS[2:], [(2, 2, -2)]),
        ([(0, 0, 0, 4, 5)], FLIPS[:1], [(0, 0, 0, 4, 5)]),
    ],
)
def test_landmarks_that_are_moved_or_flipped_keep_what_else_they_say(points, steps, expected):
    names = ("x", "y", "z", "visibility", "presence")

    found = changed(LandmarkList(landmark=[dict(zip(names, one, strict=False)) for one in points]), *steps)

    numbers = [tuple(getattr(one, name) for name in names if one.HasField(name)) for one in found.landmark]
    assert numbers == expected


# --- LandmarksToFloatsCalculator ---------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3])
def test_coordinates_become_numbers_and_a_matrix(count):
    run = run_calculator(
        LandmarksToFloatsCalculator,
        {"NORM_LANDMARKS": [(1, landmarks(POINTS, NormalizedLandmarkList))]},
        outputs=["FLOATS", "MATRIX"],
        options=LandmarksToFloatsCalculatorOptions(num_dimensions=count),
    )

    assert run.outputs["FLOATS"][0].payload == POINTS[:, :count].ravel().tolist()
    assert np.array_equal(run.outputs["MATRIX"][0].payload.array, POINTS[:, :count].T)


@pytest.mark.parametrize(
    ("count", "outputs", "message"),
    [
        (0, ["FLOATS"], "have the num_dimensions 0, but it must be 1 to 3"),
        (4, ["FLOATS"], "num_dimensions 4"),
        (2, [], "FLOATS or MATRIX"),
    ],
)
def test_other_numbers_of_dimensions_and_no_output_are_refused(count, outputs, message):
    options = LandmarksToFloatsCalculatorOptions(num_dimensions=count)
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(LandmarksToFloatsCalculator, {"NORM_LANDMARKS": []}, outputs=outputs, options=options)


# --- SetLandmarkVisibilityCalculator -----------------------------------------------------------------


def visible(given, visibility):
    feeds = {"NORM_LANDMARKS": given, "VISIBILITY": visibility}
    return payloads(SetLandmarkVisibilityCalculator, feeds, "NORM_LANDMARKS")


def test_a_landmark_gets_the_visibility():
    given = landmarks(POINTS[:1], NormalizedLandmarkList, visibility=1, presence=0.5)

    (found,) = visible(given, 0.25)

    assert found == landmarks(POINTS[:1], NormalizedLandmarkList, visibility=0.25, presence=0.5)
    assert given.landmark[0].visibility == 1


def test_a_landmark_alone_and_a_visibility_alone_give_nothing():
    assert visible(NormalizedLandmarkList(), None) == visible(None, 0.5) == []


@pytest.mark.parametrize("count", [0, 2])
def test_exactly_one_landmark_gets_a_visibility(count):
    with pytest.raises(
        GraphRunError, match=rf"holds {count} landmarks, but the visibility of exactly one is"
    ):
        visible(landmarks(POINTS[:count], NormalizedLandmarkList), 0.5)


# --- rectangles --------------------------------------------------------------------------------------


def test_the_scale_is_the_longer_side_in_pixels_times_a_number():
    options = RectToRenderScaleCalculatorOptions(multiplier=0.3)
    feeds = {"NORM_RECT": NormalizedRect(width=0.1, height=0.7), "IMAGE_SIZE": (640, 480)}

    (found,) = payloads(RectToRenderScaleCalculator, feeds, "RENDER_SCALE", options)

    assert found == float(np.float32(0.7) * np.float32(480) * np.float32(0.3))
    wide = {**feeds, "NORM_RECT": NormalizedRect(width=0.7, height=0.7)}
    assert payloads(RectToRenderScaleCalculator, wide, "RENDER_SCALE", options)[0] > found


def test_without_a_rectangle_the_scale_is_the_number():
    found = payloads(RectToRenderScaleCalculator, {"NORM_RECT": None, "IMAGE_SIZE": (4, 4)}, "RENDER_SCALE")

    assert found == [float(np.float32(0.01))]


@pytest.mark.parametrize(("is_asked", "stamps"), [("false", []), ("true", [4])])
def test_settled_timestamps_give_a_scale_only_if_that_is_asked_for(is_asked, stamps):
    graph, seen = (
        CalculatorGraph(f"""
            input_stream: "rect" input_stream: "size" output_stream: "scale"
            node {{
              calculator: "RectToRenderScaleCalculator" input_stream: "NORM_RECT:rect"
              input_stream: "IMAGE_SIZE:size" output_stream: "RENDER_SCALE:scale"
              options {{
                [penstock.RectToRenderScaleCalculatorOptions.ext] {{ process_timestamp_bounds: {is_asked} }}
              }}
            }}
        """),
        [],
    )
    graph.observe_output_stream("scale", lambda _, packet: seen.append(int(packet.timestamp)))
    graph.start_run()
    for stream in ("rect", "size"):
        graph.set_input_stream_timestamp_bound(stream, 5)
    graph.wait_until_idle(60)

    assert seen == stamps
    graph.cancel()


def test_a_rectangle_needs_the_size_of_the_image():
    with pytest.raises(GraphRunError, match="but an image's size is"):
        payloads(
            RectToRenderScaleCalculator, {"NORM_RECT": NormalizedRect(), "IMAGE_SIZE": None}, "RENDER_SCALE"
        )


def projected(rect, reference):
    feeds = {"NORM_RECT": rect, "NORM_REFERENCE_RECT": reference}
    return payloads(RectProjectionCalculator, feeds, "NORM_RECT")


def test_a_rectangle_in_a_rectangle_is_placed_in_the_image():
    reference = NormalizedRect(
        x_center=0.5, y_center=0.25, width=0.5, height=0.25, rotation=math.pi / 2, rect_id=1
    )

    (found,) = projected(
        NormalizedRect(x_center=0.75, y_center=0.5, width=0.5, height=1, rotation=0.5, rect_id=2), reference
    )

    # a quarter of a turn brings the point to the right of the centre below it
    numbers = [found.x_center, found.y_center, found.width, found.height, found.rotation]
    assert numbers == pytest.approx([0.5, 0.3125, 0.25, 0.25, 0.5 + math.pi / 2], abs=1e-6)
    assert not found.HasField("rect_id")


def test_a_rectangle_alone_is_refused_and_a_reference_alone_gives_nothing():
    assert projected(None, NormalizedRect()) == []
    with pytest.raises(GraphRunError, match=r"but 'in_.' has a rect to project; send the reference with it"):
        projected(NormalizedRect(), None)


# --- joints ------------------------------------------------------------------------------------------


def joints(*visibilities):
    return JointList(joint=[{"visibility": one} for one in visibilities])


def combined(*lists, **options):
    feeds = {("JOINTS", i): one for i, one in enumerate(lists)}
    return payloads(CombineJointsCalculator, feeds, "JOINTS", CombineJointsCalculatorOptions(**options))


MAPPINGS = {
    "num_joints": 4,
    "joints_mapping": [{"idx": [0, 2]}, {"idx": [2]}],
    "default_joint": {"visibility": 0.5},
}


def test_joints_go_where_the_mappings_say_and_later_ones_win():
    assert combined(joints(0.1, 0.2), joints(0.9), **MAPPINGS) == [joints(0.1, 0.5, 0.9, 0.5)]
    assert combined(joints(0.1, 0.2), None, **MAPPINGS) == [joints(0.1, 0.5, 0.2, 0.5)]


def joint(rotation, visibility):
    return {"rotation_6d": [rotation] * 6, "visibility": visibility}


PLAIN, THREE, FOUR = {"rotation_6d": [1, 0, 0, 1, 0, 0], "visibility": 1}, joint(3, 4), joint(4, 5)
SIX, SEVEN, EIGHT = joint(6, 7), joint(7, 8), joint(8, 9)


@pytest.mark.reference(
    "calculators/util/combine_joints_calculator_test.cc", "CombineJointsTest.CombineJointsTest"
)
@pytest.mark.parametrize(
    ("count", "places", "lists", "expected"),
    [
        (0, [[]], [[]], []),
        (1, [[]], [[]], [PLAIN]),
        (2, [[0]], [[THREE]], [THREE, PLAIN]),
        (2, [[0, 1]], [[THREE, SEVEN]], [THREE, SEVEN]),
        (2, [[1, 0]], [[THREE, SEVEN]], [SEVEN, THREE]),
        (3, [[0], [1]], [[THREE], [SEVEN]], [THREE, SEVEN, PLAIN]),
        (3, [[0, 1], [1, 2]], [[THREE, FOUR], [SIX, EIGHT]], [THREE, SIX, EIGHT]),
    ],
)
def test_joints_with_rotations_take_the_places_of_plain_ones(count, places, lists, expected):
    found = combined(
        *(JointList(joint=some) for some in lists),
        num_joints=count,
        joints_mapping=[{"idx": some} for some in places],
        default_joint=PLAIN,
    )

    assert found == [JointList(joint=expected)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_joints": -1}, "num_joints of the combined joints is -1, but must be 0 or more"),
        ({"num_joints": 2**31 - 1}, "num_joints asks for a size of 2147483647 elements, but at most 100000"),
        ({"joints_mapping": [{"idx": [0]}]}, "1 joints_mapping and 2 inputs JOINTS"),
        ({"num_joints": 2}, "has the place 2, but with num_joints 2 places are 0 to 1"),
        ({"default_joint": None}, "default_joint is not set, but is required"),
    ],
)
def test_mappings_that_do_not_fit_are_refused(options, message):
    with pytest.raises(GraphRunError, match=message):
        combined(joints(1, 1), joints(1), **{**MAPPINGS, **options})


def test_a_list_has_as_many_joints_as_its_mapping():
    with pytest.raises(GraphRunError, match="holds 1 joints, but its joints_mapping has 2 places"):
        combined(joints(1), joints(1), **MAPPINGS)


def seen(given, points, *mappings):
    options = SetJointsVisibilityCalculatorOptions(mapping=mappings)
    return payloads(SetJointsVisibilityCalculator, {"JOINTS": given, "LANDMARKS": points}, "JOINTS", options)


def test_joints_get_the_visibility_of_landmarks_that_have_one():
    points = LandmarkList(landmark=[{"visibility": 0.25}, {}, {"visibility": 0.75}])
    mappings = [
        {"unchanged": {}},
        {"copy": {"idx": 0}},
        {"highest": {"idx": [0, 1, 2]}},
        {"copy": {"idx": 1}},
    ]

    assert seen(joints(0.5, 0.5, 0.5, 0.5), points, *mappings) == [joints(0.5, 0.25, 0.75, 0.5)]
    assert seen(None, points) == []


UNCHANGED, FIRST, HIGHEST = {"unchanged": {}}, {"copy": {"idx": 0}}, {"highest": {"idx": [0, 1, 2]}}


@pytest.mark.reference(
    "calculators/util/set_joints_visibility_calculator_test.cc",
    "SetJointsVisibilityTest.SetJointsVisibilityTest",
)
@pytest.mark.parametrize(
    ("mappings", "before", "visibilities", "after"),
    [
        ([], [], [], []),
        ([], [], [1, 2, 3], []),
        ([UNCHANGED] * 3, [1, 2, None], [], [1, 2, None]),
        ([UNCHANGED], [1], [2], [1]),
        ([UNCHANGED], [None], [2], [None]),
        ([FIRST], [1], [2], [2]),
        ([FIRST], [None], [None], [None]),  # which reads as 0
        ([HIGHEST], [None], [2, 4, 3], [4]),
        ([HIGHEST], [None], [-2, None, -3], [-2]),
    ],
)
def test_visibilities_that_are_not_there_do_not_count(mappings, before, visibilities, after):
    def all_of(some):
        return [{} if one is None else {"visibility": one} for one in some]

    found = seen(JointList(joint=all_of(before)), LandmarkList(landmark=all_of(visibilities)), *mappings)

    assert found == [JointList(joint=all_of(after))]


@pytest.mark.parametrize(
    ("points", "mappings", "message"),
    [
        (LandmarkList(), [], "holds 1 joints, but the options have 0 mapping"),
        (None, [{"unchanged": {}}], "has joints; send landmarks with them"),
        (LandmarkList(), [{}], "the mapping of a joint names no landmark"),
        (LandmarkList(), [{"highest": {}}], "the mapping of a joint names no landmark"),
        (LandmarkList(), [{"copy": {"idx": 0}}], "the mapping of a joint names landmark 0, but input .*"),
    ],
)
def test_visibilities_that_are_not_there_are_refused(points, mappings, message):
    with pytest.raises(GraphRunError, match=message):
        seen(joints(1), points, *mappings)
