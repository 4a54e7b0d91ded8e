"""Speeds over the ground, heat maps and drawings of zones."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tracked import box, pixel_box

import penstock
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError
from penstock_detect.zones.ground import GroundPlane
from penstock_detect.zones.lines_and_zones import Ground
from penstock_formats import ImageFormat, ImageFrame

IMAGE = ((0.4, 0.3), (0.6, 0.3), (0.9, 0.9), (0.1, 0.9))
METERS = ((0.0, 0.0), (7.0, 0.0), (7.0, 30.0), (0.0, 30.0))
GROUND = f"ground {{ image: {[x for p in IMAGE for x in p]} meters: {[x for p in METERS for x in p]} }}"


def node(name, options, ports):
    return f"""node {{ calculator: "{name}" {ports}
      node_options {{ [type.googleapis.com/penstock_detect.{name}Options] {{ {options} }} }} }}"""


def speeds(frames, options=GROUND):
    text = 'input_stream: "in" output_stream: "speeds" ' + node(
        "TrackSpeedCalculator", options, 'input_stream: "DETECTIONS:in" output_stream: "SPEEDS:speeds"'
    )
    return [one.payload for one in penstock.run(text, {"in": frames})["speeds"]]


def seen_from(meters):
    """Return where a place of the ground is in the image, by the plane the other way round."""
    return GroundPlane(Ground(image=METERS, meters=IMAGE)).meters(meters)


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 7), st.floats(0, 30))
def test_the_ground_is_where_its_points_say(x, y):
    plane = GroundPlane(Ground(image=IMAGE, meters=METERS))

    assert plane.meters(seen_from((x, y))) == pytest.approx((x, y), abs=1e-9)
    for point, meters in zip(IMAGE, METERS, strict=True):
        assert plane.meters(point) == pytest.approx(meters, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.1, 6), st.floats(0, 6.3))
def test_a_uniform_motion_has_its_speed_everywhere(speed, angle):
    ways = [(3.5 + speed * cos(angle) * at / 10, 15 + speed * sin(angle) * at / 10) for at in range(12)]
    frames = [(at * 100_000, [box(5, *seen_from(place))]) for at, place in enumerate(ways) if at != 4]

    found = speeds(frames)

    assert [len(one) for one in found] == [0, 0] + [1] * 9  # known from 200 ms on
    for (one,) in found[2:]:
        assert (one.track, one.speed) == (5, pytest.approx(speed, abs=1e-4))  # boxes are of 32 bits
        assert (one.x, one.y) == pytest.approx((speed * cos(angle), speed * sin(angle)), abs=1e-4)


def test_a_speed_is_smoothed_by_the_window_and_begins_again_after_a_loss():
    places = [0.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0]  # 10 m/s, then a stop
    frames = [(at * 100_000, [box(1, *seen_from((3.0, 10 + y)))]) for at, y in enumerate(places)]
    frames.append((9_000_000, [box(1, *seen_from((3.0, 13.0)))]))

    found = speeds(frames, f"{GROUND} window_ms: 300 least_ms: 100")

    got = [one[0].speed if one else None for one in found]
    window = [np.polyfit(np.arange(4) / 10, places[i : i + 4], 1)[0] for i in range(4)]
    assert got == [None, *[pytest.approx(one, abs=1e-3) for one in (10, 10, *window)], None]


def test_the_horizon_has_no_speed_and_untracked_ones_neither():
    plane = GroundPlane(Ground(image=IMAGE, meters=METERS))
    assert plane.meters((0.5, 0.0)) is None
    assert speeds([(at * 200_000, [box(1, 0.5, 0.0), box(0, 0.5, 0.5)]) for at in range(4)]) == [[]] * 4


@pytest.mark.parametrize(
    ("image", "meters", "words"),
    [
        (((0, 0), (0.5, 0.5), (1, 1), (0, 1)), METERS, "ground.image: three of the ground's points"),
        (IMAGE, ((0, 0), (1, 0), (2, 0), (0, 1)), "ground.meters: three of the ground's points"),
        (IMAGE, (METERS[1], METERS[0], *METERS[2:]), "are in different orders; give both in the same order"),
    ],
)
def test_points_that_say_no_plane(image, meters, words):
    with pytest.raises(InvalidArgumentError, match=words):
        GroundPlane(Ground(image=image, meters=meters))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", "neither of zones_path and ground are set"),
        ("ground { image: [1, 2] }", "ground.image has the numbers"),
        (f"{GROUND} least_ms: 2000", "least_ms is 2000, but must be at most window_ms, 1000"),
    ],
)
def test_options_of_speeds_that_are_wrong(options, words):
    with pytest.raises(GraphConfigError, match=words):
        speeds([], options)


def test_a_file_without_a_ground(tmp_path):
    path = tmp_path / "zones.json"
    path.write_text('{"lines": []}')
    with pytest.raises(GraphRunError, match='track speed needs a "ground", which the file'):
        speeds([(0, [])], f'zones_path: "{path}"')


# --- heat -------------------------------------------------------------------------------------------


def heat(frames, options, images=()):
    ports = 'input_stream: "DETECTIONS:in" output_stream: "HEAT:heat"'
    ports += ' input_stream: "IMAGE:image" output_stream: "IMAGE:drawn"' if images else ""
    text = 'input_stream: "in" output_stream: "heat" '
    text += 'input_stream: "image" output_stream: "drawn" ' if images else ""
    return penstock.run(
        text + node("HeatMapCalculator", options, ports),
        {"in": frames, **({"image": images} if images else {})},
    )


def test_heat_is_the_time_in_each_cell():
    frames = [(0, [box(0, 0.1, 0.9)]), (400_000, [box(0, 0.1, 0.9), box(0, 0.8, 0.2)]), (500_000, [])]
    frames.append((700_000, [box(0, 0.8, 0.2), box(0, 1.5, 0.5)]))

    last = heat(frames, "columns: 4 rows: 2 spread: 0")["heat"][-1].payload

    assert last.format == ImageFormat.VEC32F1
    expected = np.zeros((2, 4), np.float32)
    expected[1, 0], expected[0, 3] = 0.4, 0.4 + 0.2
    np.testing.assert_allclose(last.array, expected, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 0.99), st.floats(0, 0.99), st.floats(0, 4))
@example(0.5, 0.5, 1e-300)
def test_all_cells_have_the_time_together_wherever_and_however_far(x, y, spread):
    found = heat([(0, []), (300_000, [box(0, x, y)])], f"columns: 8 rows: 6 spread: {spread}")["heat"]

    assert found[1].payload.array.sum() == pytest.approx(0.3, abs=1e-5)
    row, column = np.unravel_index(found[1].payload.array.argmax(), (6, 8))
    box_x, box_y = np.float32(x), np.float32(y)
    assert max(abs(column + 0.5 - box_x * 8), abs(row + 0.5 - box_y * 6)) <= 0.51


def test_heat_goes_by_halves_and_a_gap_is_limited():
    frames = [(0, []), (10_000_000, [box(0, 0.5, 0.5)]), (11_000_000, []), (13_000_000, [])]

    found = heat(frames, "columns: 1 rows: 1 half_life_ms: 1000 gap_ms: 800")["heat"]

    values = [float(one.payload.array[0, 0]) for one in found]
    assert values == pytest.approx([0, 0.8, 0.4, 0.1])


def test_heat_is_drawn_over_the_image_where_it_is_hot_only():
    grey = ImageFrame(np.full((40, 80, 3), 100, np.uint8), ImageFormat.SRGB)
    frames = [(0, []), (100_000, [box(0, 0.25, 0.5)])]

    drawn = heat(frames, "columns: 16 rows: 8 spread: 1", [(at, grey) for at, _ in frames])["drawn"]

    assert (drawn[0].payload.array == 100).all()
    pixels = drawn[1].payload.array.astype(int)
    red, _, blue = pixels[20, 22]
    assert red > blue + 40  # the last colours of TURBO are red
    assert (abs(pixels[:, 50:] - 100) <= 1).all()
    assert (grey.array == 100).all()


def test_heat_that_cannot_be_drawn():
    gray = ImageFrame(np.zeros((4, 4), np.uint8), ImageFormat.GRAY8)
    with pytest.raises(GraphRunError, match="has an image of GRAY8, but under a heat map it must be SRGB"):
        heat([(0, [])], "", [(0, gray)])
    with pytest.raises(GraphConfigError, match="columns is 5000, but must be at most 4096"):
        heat([], "columns: 5000")
    ports = 'input_stream: "DETECTIONS:in" output_stream: "IMAGE:drawn"'
    text = f'input_stream: "in" output_stream: "drawn" {node("HeatMapCalculator", "", ports)}'
    with pytest.raises(GraphConfigError, match="the input IMAGE is not; connect the images"):
        penstock.CalculatorGraph(text)


def test_boxes_in_pixels_are_placed_by_the_image():
    grey = ImageFrame(np.zeros((50, 100, 3), np.uint8), ImageFormat.SRGB)
    frames = [(0, []), (200_000, [pixel_box(0, 60, 40)])]

    last = heat(frames, "columns: 10 rows: 5 spread: 0", [(at, grey) for at, _ in frames])["heat"][-1]

    assert np.argwhere(last.payload.array).tolist() == [[4, 6]]


# --- drawings ---------------------------------------------------------------------------------------

DRAWING = """
input_stream: "in" output_stream: "data" output_stream: "events"
node { calculator: "ZonesCalculator" input_stream: "DETECTIONS:in" input_stream: "SPEEDS:speeds"
  output_stream: "COUNTS:counts" output_stream: "EVENTS:events"
  node_options { [type.googleapis.com/penstock_detect.ZonesCalculatorOptions] {
    line { name: "gate" point: [0.1, 0.5, 0.9, 0.5] }
    zone { name: "yard" point: [0.2, 0.6, 0.8, 0.6, 0.8, 0.9] } } } }
""" + node("TrackSpeedCalculator", GROUND, 'input_stream: "DETECTIONS:in" output_stream: "SPEEDS:speeds"')


def test_lines_zones_and_counts_are_drawn():
    text = DRAWING + node(
        "ZonesToRenderDataCalculator",
        "shows_labels: true",
        'input_stream: "COUNTS:counts" output_stream: "RENDER_DATA:data"',
    )
    frames = [(at * 100_000, [box(3, 0.7, 0.35 + 0.06 * at)]) for at in range(7)]

    found = penstock.run(text, {"in": frames})

    first, last = found["data"][0].payload, found["data"][-1].payload
    tags = [one.scene_tag for one in last.render_annotations]
    assert tags == ["ZONE"] * 3 + ["COUNT"] * 2 + ["LINE", "ARROW"] + ["COUNT"] * 2
    texts = [one.text.display_text for one in last.render_annotations if one.scene_tag == "COUNT"]
    assert texts == [
        "yard: 1 now, 1 entered",
        "car: 1 now, 1 entered",
        "gate: 1 in, 0 out",
        "car: 1 in, 0 out",
    ]
    texts = [one.text.display_text for one in first.render_annotations if one.scene_tag == "COUNT"]
    assert texts == ["yard: 0 now, 0 entered", "gate: 0 in, 0 out"]
    arrow = last.render_annotations[6].arrow
    assert (arrow.x_start, arrow.x_end) == (0.5, 0.5)
    assert arrow.y_end > arrow.y_start == 0.5  # "in" is downwards
    speeds_said = [event.speed for one in found["events"] for event in one.payload]
    assert len(speeds_said) == 2
    assert min(speeds_said) > 0.5


def test_zones_of_different_kinds_have_different_colours():
    text = DRAWING + node(
        "ZonesToRenderDataCalculator",
        "shows_counts: false",
        'input_stream: "COUNTS:counts" output_stream: "RENDER_DATA:data"',
    )
    (data,) = penstock.run(text, {"in": [(0, [])]})["data"]
    colors = {(one.scene_tag, one.color.r, one.color.g) for one in data.payload.render_annotations}

    assert len({color[1:] for color in colors}) == 2
    assert "COUNT" not in {color[0] for color in colors}
