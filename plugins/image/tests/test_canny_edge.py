"""CannyEdgeCalculator: where it finds edges, and which options it accepts."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_image.filters.canny_edge import CannyEdgeCalculator
from penstock_image.messages.canny_edge_pb2 import CannyEdgeCalculatorOptions
from penstock_testing import run_calculator


def box(level: int = 255) -> ImageFrame:
    """Return a black frame of 40 rows and 60 columns with a filled box of 20 x 30 at row 10, column 15."""
    pixels = np.zeros((40, 60), np.uint8)
    pixels[10:30, 15:45] = level
    return ImageFrame(pixels, ImageFormat.GRAY8)


def edges(frame: ImageFrame, **options: object) -> np.ndarray:
    run = run_calculator(
        CannyEdgeCalculator,
        {"VIDEO": [(3, frame)]},
        outputs=["VIDEO"],
        options=CannyEdgeCalculatorOptions(**options),
    )
    (packet,) = run.outputs["VIDEO"]
    assert packet.timestamp == 3
    assert packet.payload.format is ImageFormat.GRAY8
    return packet.payload.array


def test_a_box_has_edges_on_its_outline_and_nowhere_else():
    found = edges(box())

    assert set(np.unique(found)) == {0, 255}
    assert not found[:9].any()
    assert not found[12:28, 17:43].any()
    assert (found[9:12, 20:40].max(axis=0) == 255).all()
    assert (found[15:25, 14:17].max(axis=1) == 255).all()


@pytest.mark.parametrize(
    ("low", "high", "aperture", "l2"),
    [(100, 200, 3, False), (20, 40, 3, True), (50, 150, 5, False), (0, 0, 7, True)],
)
def test_results_are_those_of_opencv_bit_by_bit(low, high, aperture, l2):
    pixels = np.random.default_rng(3).integers(0, 256, (32, 48)).astype(np.uint8)

    found = edges(
        ImageFrame(pixels), low_threshold=low, high_threshold=high, aperture_size=aperture, l2_gradient=l2
    )

    assert np.array_equal(found, cv2.Canny(pixels, low, high, apertureSize=aperture, L2gradient=l2))


@pytest.mark.parametrize("width", [3, 5])
def test_a_wide_line_covers_all_pixels_near_an_edge(width):
    thin, wide = edges(box()), edges(box(), line_width=width)

    reach = width // 2
    rows, columns = np.nonzero(thin)
    want = np.zeros_like(thin)
    for row, column in zip(rows, columns, strict=True):
        want[row - reach : row + reach + 1, column - reach : column + reach + 1] = 255
    assert np.array_equal(wide, want)


def test_a_weak_edge_is_found_only_below_its_gradient():
    assert not edges(box(20)).any()
    assert edges(box(20), low_threshold=20, high_threshold=60).any()


def test_ports_may_be_untagged_and_the_header_is_forwarded():
    run = run_calculator(
        CannyEdgeCalculator,
        {0: [(1, box())]},
        outputs=[0],
        headers={0: VideoHeader(ImageFormat.GRAY8, 60, 40, 30.0)},
    )

    assert len(run.outputs[0]) == 1
    assert run.headers[0] == VideoHeader(ImageFormat.GRAY8, 60, 40, 30.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aperture_size": 4}, r"aperture_size is 4, but must be 3, 5 or 7"),
        ({"low_threshold": 300}, r"low_threshold is 300 and high_threshold 200, but"),
        ({"line_width": 2}, r"line_width is 2, but must be an odd number from 1 to 999; change it in"),
        ({"line_width": -1}, r"line_width is -1, but must be"),
        ({"low_threshold": -1}, r"low_threshold is -1 and high_threshold 200, but"),
    ],
)
def test_options_out_of_range_are_refused_in_open(options, message):
    with pytest.raises(GraphRunError, match=message):
        edges(box(), **options)


def test_a_colour_frame_is_refused_with_the_cure():
    with pytest.raises(
        GraphRunError, match=r"takes frames of GRAY8; put a ColorConvertCalculator with GRAY_OUT before"
    ):
        edges(ImageFrame(np.zeros((4, 4, 3), np.uint8)))
