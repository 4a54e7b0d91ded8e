"""LandmarksToRenderDataCalculator: points and lines, and how they show depth."""

from __future__ import annotations

import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import LandmarkList, NormalizedLandmarkList, RenderData
from penstock_testing import run_calculator
from penstock_vision.drawing.landmarks_to_render_data import LandmarksToRenderDataCalculator
from penstock_vision.messages.landmarks_to_render_data_pb2 import LandmarksToRenderDataCalculatorOptions


def landmarks(*z: float) -> NormalizedLandmarkList:
    return NormalizedLandmarkList(landmark=[{"x": 0.125 * i, "y": 0.25, "z": one} for i, one in enumerate(z)])


def drawing(given: NormalizedLandmarkList, scale: float | None = None, **options: object) -> RenderData:
    inputs = {"NORM_LANDMARKS": [(7, given)]}
    if scale is not None:
        inputs["RENDER_SCALE"] = [(7, scale)]
    run = run_calculator(
        LandmarksToRenderDataCalculator,
        inputs,
        outputs=["RENDER_DATA"],
        options=LandmarksToRenderDataCalculatorOptions(**options),
    )
    (packet,) = run.outputs["RENDER_DATA"]
    assert packet.timestamp == 7
    return packet.payload


def rgb(color: object) -> tuple[int, int, int]:
    return color.r, color.g, color.b


def points(data: RenderData) -> list[object]:
    return [one for one in data.render_annotations if one.WhichOneof("data") == "point"]


def test_flat_landmarks_have_lines_and_then_points_in_the_colours_of_the_options():
    line, *discs = drawing(
        landmarks(0, 0),
        landmark_connections=[0, 1],
        landmark_color={"r": 1, "g": 2, "b": 3},
        connection_color={"r": 4, "g": 5, "b": 6},
        thickness=2.5,
    ).render_annotations

    assert (line.line.x_start, line.line.y_start, line.line.x_end, line.line.y_end) == (0, 0.25, 0.125, 0.25)
    assert line.line.normalized
    assert rgb(line.color) == (4, 5, 6)
    assert [(one.point.x, one.point.y, one.point.normalized) for one in discs] == [
        (0, 0.25, True),
        (0.125, 0.25, True),
    ]
    assert {rgb(one.color) for one in discs} == {(1, 2, 3)}
    assert {one.thickness for one in (line, *discs)} == {2.5}
    assert {one.scene_tag for one in discs} == {"KEYPOINT"}


def test_landmarks_in_pixels_are_not_normalised():
    run = run_calculator(
        LandmarksToRenderDataCalculator,
        {"LANDMARKS": [(1, LandmarkList(landmark=[{"x": 30, "y": 40}]))]},
        outputs=["RENDER_DATA"],
    )

    (point,) = run.outputs["RENDER_DATA"][0].payload.render_annotations
    assert (point.point.x, point.point.y, point.point.normalized) == (30, 40, False)


def test_depth_makes_near_points_bright_and_large_and_lines_change_colour():
    line, near, middle, far = drawing(
        landmarks(-1, 0, 1),
        landmark_connections=[0, 2],
        max_depth_circle_thickness=9,
        min_depth_circle_thickness=2,
    ).render_annotations

    assert rgb(near.color) == (255, 255, 255)
    assert near.thickness == 9
    assert rgb(middle.color) == (128, 128, 128)
    assert middle.thickness == 5
    # a millionth of the range is missing: the grey is not quite black, the radius not quite the smallest
    assert rgb(far.color) == (1, 1, 1)
    assert far.thickness == 2
    assert rgb(line.gradient_line.color1) == (255, 255, 255)
    assert rgb(line.gradient_line.color2) == (0, 0, 0)
    assert line.thickness == 1
    assert not line.HasField("color")


def test_lines_have_the_depth_colours_of_the_options():
    (line,) = drawing(
        landmarks(0, 1),
        landmark_connections=[0, 1],
        min_depth_line_color={"r": 200},
        max_depth_line_color={"b": 100},
        render_landmarks=False,
    ).render_annotations

    assert rgb(line.gradient_line.color1) == (0, 0, 100)
    assert rgb(line.gradient_line.color2) == (199, 0, 0)


def test_where_every_z_is_negative_the_range_ends_at_0():
    near, far = points(drawing(landmarks(-1, -0.5), max_depth_circle_thickness=10))

    assert near.thickness == 10
    assert far.thickness == 5


@pytest.mark.parametrize("z", [(0.0, 0.0005), (3.0, 3.0)])
def test_depths_that_hardly_differ_are_not_shown(z):
    assert {rgb(one.color) for one in points(drawing(landmarks(*z)))} == {(0, 0, 0)}


def test_depth_is_not_shown_where_the_options_say_no():
    data = drawing(landmarks(0, 1), landmark_connections=[0, 1], visualize_landmark_depth=False)

    assert data.render_annotations[0].WhichOneof("data") == "line"
    assert {one.thickness for one in points(data)} == {1}


@pytest.mark.parametrize("field", ["visibility", "presence"])
def test_landmarks_below_a_threshold_are_left_out_with_their_lines(field):
    given = landmarks(0, 0, 0, 0)
    setattr(given.landmark[1], field, 0.25)
    setattr(given.landmark[2], field, 0.5)

    data = drawing(
        given,
        landmark_connections=[0, 1, 2, 3],
        **{f"utilize_{field}": True, f"{field}_threshold": 0.5},
    )

    assert [one.point.x for one in points(data)] == [0, 0.25, 0.375]
    assert [one.line.x_start for one in data.render_annotations if one.HasField("line")] == [0.25]
    assert len(points(drawing(given))) == 4


def test_connections_to_landmarks_that_are_not_there_are_left_out():
    data = drawing(landmarks(0, 0), landmark_connections=[0, 5, 1, 0])

    assert [one.line.x_start for one in data.render_annotations if one.HasField("line")] == [0.125]


def test_the_scale_multiplies_the_thickness():
    data = drawing(landmarks(0, 0), 1.5, landmark_connections=[0, 1], thickness=4)

    assert {one.thickness for one in data.render_annotations} == {6}


def test_without_landmarks_nothing_is_sent_but_an_empty_list_gives_an_empty_drawing():
    run = run_calculator(
        LandmarksToRenderDataCalculator,
        {"NORM_LANDMARKS": [(2, NormalizedLandmarkList())], "RENDER_SCALE": [(1, 2.0), (2, 2.0)]},
        outputs=["RENDER_DATA"],
    )

    (packet,) = run.outputs["RENDER_DATA"]
    assert packet.timestamp == 2
    assert not packet.payload.render_annotations


def test_landmarks_without_their_scale_are_refused():
    with pytest.raises(
        GraphRunError, match=r"input '\w+' has no packet at timestamp 1, where there are land"
    ):
        run_calculator(
            LandmarksToRenderDataCalculator,
            {"NORM_LANDMARKS": [(1, landmarks(0))], "RENDER_SCALE": []},
            outputs=["RENDER_DATA"],
        )


@pytest.mark.parametrize(
    ("connections", "message"),
    [([0, 1, 2], "has 3 entries, but must have pairs"), ([0, -1], "has -1, but indices of rendered")],
)
def test_connections_that_are_no_pairs_of_indices_are_refused(connections, message):
    with pytest.raises(GraphRunError, match=f"landmark_connections {message}"):
        drawing(landmarks(0), landmark_connections=connections)


@pytest.mark.parametrize(
    ("ports", "found"), [([], "none"), (["LANDMARKS", "NORM_LANDMARKS"], "LANDMARKS, N")]
)
def test_exactly_one_input_with_landmarks_is_needed(ports, found):
    with pytest.raises(GraphConfigError, match=f"inputs with landmarks to draw are {found}"):
        run_calculator(LandmarksToRenderDataCalculator, {port: [] for port in ports}, outputs=["RENDER_DATA"])
