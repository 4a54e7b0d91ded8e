"""The pictures of the reference pages show what the calculators did, pixel by pixel and point by point."""

from __future__ import annotations

import base64
import importlib
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import cv2
import numpy as np
import pytest

from penstock.config import build_plan
from penstock.plugins.default_registry import default_registry

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[1]
_DRAWING = ("page_pictures", "picture_feeds", "street_images", "hand_points")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def scripts():
    """The modules of `scripts/`, which belong to no package, by name."""
    names = ("reference_pages", *(f"drawing.{name}" for name in _DRAWING))
    before = list(sys.path)
    sys.path.insert(0, str(ROOT / "scripts"))
    yield {name.removeprefix("drawing."): importlib.import_module(name) for name in names}
    sys.path[:] = before


@pytest.fixture(scope="module")
def pages(scripts):
    return scripts["reference_pages"].pages()


@pytest.fixture(scope="module")
def pictures(scripts):
    return scripts["reference_pages"].pictures()


def drawn(scripts, name, graph):
    """Return the picture of a graph of one node."""
    plan = build_plan(graph, default_registry())
    return scripts["page_pictures"].picture_of(name, plan)


def parsed(svg):
    return ET.fromstring(svg)  # noqa: S314  # our own


def images(svg):
    """Return the images of a picture, in order: (H, W, 3) in RGB."""
    found = parsed(svg).iter(f"{SVG}image")
    data = [base64.b64decode(one.get("href").partition("base64,")[2]) for one in found]
    return [cv2.imdecode(np.frombuffer(one, np.uint8), cv2.IMREAD_COLOR_RGB) for one in data]


def texts(svg):
    return [one.text for one in parsed(svg).iter(f"{SVG}text")]


def lines(svg):
    """Return the outlines of a picture, in pixels of the image that they are drawn over."""
    return [
        np.array([[float(part) for part in point.split(",")] for point in one.get("points").split()])
        for one in parsed(svg).iter(f"{SVG}polyline")
    ]


def test_a_flipped_image_is_the_mirror_image_of_the_input(scripts):
    graph = """
    input_stream: "frame"
    node {
      calculator: "ImageTransformationCalculator"
      input_stream: "IMAGE:frame"
      output_stream: "IMAGE:flipped"
      node_options {
        [type.googleapis.com/penstock.ImageTransformationCalculatorOptions] { flip_horizontally: true }
      }
    }
    """

    before, after = images(drawn(scripts, "ImageTransformationCalculator", graph))

    assert before.shape == (180, 320, 3)
    assert len(np.unique(before.reshape(-1, 3), axis=0)) > 500
    assert not np.array_equal(before, after)
    assert np.array_equal(before[:, ::-1], after)


def test_the_picture_of_the_page_has_the_pixels_of_the_frame_and_of_the_result(scripts, pictures):
    street = scripts["street_images"].street(scripts["street_images"].FRAMES - 1)

    frame, scaled = images(pictures["ImageTransformationCalculator.svg"])

    assert np.array_equal(frame, street)
    assert scaled.shape == (256, 256, 3)
    inner = cv2.resize(street, (256, 144), interpolation=cv2.INTER_AREA)
    assert np.array_equal(scaled[56:200], inner)
    assert not scaled[:56].any()


def test_each_stream_has_its_name_and_a_line_that_says_what_it_is(pictures):
    assert texts(pictures["ImageTransformationCalculator.svg"]) == [
        "input: frame",
        "SRGB, 320 x 180 pixels",
        "output: scaled",
        "SRGB, 256 x 256 pixels",
        "output: padding",
        "(0, 0.2188, 0, 0.2188)",
    ]


def test_pixels_that_are_cut_out_stand_on_grey_squares(scripts, pictures):
    last = scripts["street_images"].FRAMES - 1
    street, mask = scripts["street_images"].street(last), scripts["street_images"].around_car(last)

    *_, cut_out = images(pictures["SetAlphaCalculator.svg"])

    inside = np.rint(mask * 255) == 255
    assert inside.any()
    assert np.array_equal(cut_out[inside], street[inside])
    assert {int(value) for value in np.unique(cut_out[:40])} == {200, 240}


def test_a_rectangle_is_drawn_where_it_is(scripts, pictures):
    left, top, width, height = scripts["street_images"].car_box(scripts["street_images"].FRAMES - 1)

    before, after = lines(pictures["RectTransformationCalculator.svg"])

    middle = np.array((left + width / 2, top + height / 2)) * (320, 180)
    assert np.allclose(before[:4].mean(axis=0), middle, atol=0.02)
    sides = np.linalg.norm(np.diff(before, axis=0), axis=1)
    assert np.allclose(sides, [width * 320, height * 180] * 2, atol=0.02)
    assert np.allclose(np.linalg.norm(np.diff(after, axis=0), axis=1), 2.6 * max(sides), atol=0.05)


def test_a_box_in_pixels_is_drawn_where_the_one_in_shares_is(pictures):
    before, after = np.split(np.array(lines(pictures["DetectionTransformationCalculator.svg"])), 2)

    assert len(before) == 2
    assert np.allclose(before, after, atol=1)


def test_landmarks_are_dots_in_their_places(scripts, pictures):
    wanted = [(x * 320, y * 180) for x, y in scripts["hand_points"].fingers(3)]
    dots = parsed(pictures["LandmarkLetterboxRemovalCalculator.svg"]).iter(f"{SVG}circle")
    places = [(float(one.get("cx")), float(one.get("cy"))) for one in dots]

    assert np.allclose(places[:21], wanted, atol=0.01)
    removed = [(x, (y - 0.2 * 180) / 0.6) for x, y in wanted]
    assert np.allclose(places[21:], removed, atol=0.02)


def test_a_drawing_is_on_the_frame(scripts, pictures):
    street = scripts["street_images"].street(3)

    frame, boxes, dots, painted = images(pictures["AnnotationOverlayCalculator.svg"])

    assert np.array_equal(frame, street)
    both = np.where((boxes != street).any(axis=2, keepdims=True), boxes, dots)
    assert np.array_equal(painted, both)
    assert 200 < (painted != street).any(axis=2).sum() < 5000


def test_a_sound_is_a_curve_of_each_channel_within_its_half(pictures):
    svg = pictures["PeakNormalizeCalculator.svg"]
    loud, soft, loud_after, soft_after = lines(svg)

    assert [np.ptp(one[:, 1]) for one in (loud_after, soft_after)] == pytest.approx([73.6, 73.6], abs=1)
    assert np.ptp(soft[:, 1]) == pytest.approx(np.ptp(loud[:, 1]) * 0.3 / 0.8, rel=0.02)
    said = texts(svg)
    assert said[1:3] == ["15 packets, 2 x 4800 numbers in all", "curves from -0.8 to 0.799"]
    assert said[4:] == ["15 packets, 2 x 4800 numbers in all", "curves from -1 to 1"]


def test_a_line_stands_where_each_packet_begins(pictures):
    svg = pictures["AudioDecoderCalculator.svg"]
    upright = [one for one in parsed(svg).iter(f"{SVG}line") if one.get("x1") == one.get("x2")]

    assert texts(svg)[1] == "5 packets, 2 x 4800 numbers in all"
    assert [float(one.get("x1")) for one in upright] == pytest.approx([70.4, 140.8, 211.2, 281.6], abs=0.01)


def test_the_spectrogram_of_a_tone_that_rises_rises(pictures):
    (spectra,) = images(pictures["SpectrogramCalculator.svg"])

    brightness = spectra.sum(axis=2).astype(int)
    peaks = brightness.argmax(axis=0)[4:-4]  # the lowest frequency is at the bottom
    assert (np.diff(peaks) <= 0).all()
    assert peaks[0] - peaks[-1] > 60


def test_a_reversed_filter_bank_is_upside_down(pictures):
    before, after = images(pictures["ReverseChannelOrderCalculator.svg"])

    assert np.array_equal(before[::-1], after)


def test_a_tensor_is_the_image_that_the_model_gets(pictures):
    image, tensor = images(pictures["TensorConverterCalculator.svg"])

    grown = (image.astype(float) - image.min()) / (int(image.max()) - int(image.min())) * 255
    assert np.abs(grown - tensor).max() <= 1


def test_decoders_show_what_was_written_for_them(scripts, pictures):
    street = scripts["street_images"].street(3).astype(int)

    (decoded,) = images(pictures["VideoDecoderCalculator.svg"])

    assert np.abs(street - decoded).mean() < 6
    assert len(lines(pictures["AudioDecoderCalculator.svg"])) == 2


def test_a_page_shows_its_picture_or_says_why_it_has_none(scripts, pages, pictures):
    reasons = scripts["page_pictures"].WITHOUT_PICTURE

    assert len(pictures) > 110
    for page, text in pages.items():
        name = page.removesuffix(".md")
        linked = re.findall(r"!\[inputs and outputs of \w+, drawn from a run\]\((.*)\)", text)
        assert linked == ([f"{name}.svg"] if f"{name}.svg" in pictures else []), name
        assert ("## Picture\n\nNone: " in text) == (name in reasons), name


def test_no_reason_is_left_for_a_calculator_that_could_have_a_picture(scripts):
    pages, of = scripts["reference_pages"], scripts["page_pictures"]
    registry = default_registry()
    for name in of.WITHOUT_PICTURE:
        description = pages.describe(name, registry)
        plan = build_plan(pages.alone(description, registry), registry)
        drawable = any(of._is_drawn_type(spec.root().types) for spec in plan.nodes[0].contract.outputs)
        assert drawable, name


def test_entries_of_streams_are_for_streams_that_are_there(scripts):
    """An entry that matches no stream of its calculator's example would silently do nothing."""
    pages, feeds = scripts["reference_pages"], scripts["picture_feeds"]
    registry = default_registry()
    inputs = {}
    for name in pages._names():
        description = pages.describe(name, registry)
        if description.distribution in scripts["page_pictures"].PACKS:
            node = pages.read_graph(description.example, registry).node[0]
            inputs[name] = {entry.rpartition(":")[2] for entry in node.input_stream}
    unmatched = [
        (pattern, stream)
        for pattern, stream in feeds._OF_STREAMS
        if not any(stream in its for name, its in inputs.items() if feeds.fnmatchcase(name, pattern))
    ]

    assert unmatched == []


def test_a_run_that_makes_nothing_to_draw_is_an_error_that_says_what_to_change(scripts):
    graph = """
    input_stream: "IN:in"
    node { calculator: "GateCalculator" input_stream: "in" input_stream: "ALLOW:allow" output_stream: "out" }
    input_stream: "allow"
    """

    with pytest.raises(
        scripts["page_pictures"].PictureError, match=r"^the run of GateCalculator made nothing"
    ):
        drawn(scripts, "GateCalculator", graph.replace("IN:in", "in", 1))


def test_equal_packs_give_equal_bytes(scripts, pictures):
    assert scripts["reference_pages"].pictures() == pictures
