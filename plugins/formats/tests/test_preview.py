from __future__ import annotations

import sys

import numpy as np
import pytest

from penstock import Packet
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.preview import LONGEST, preview

cv2 = pytest.importorskip("cv2", reason="opencv-python-headless is not installed")


def decoded(data):
    """Return the pixels of a PNG: (H, W), or (H, W, channels) in RGB(A) order."""
    assert data.startswith(b"\x89PNG\r\n")
    read = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    return read if read.ndim == 2 else read[:, :, [2, 1, 0, 3][: read.shape[2]]]


def shown(array, kind=None):
    return decoded(ImageFrame(np.asarray(array), kind)._repr_png_()).tolist()


def test_eight_bits_are_shown_as_they_are() -> None:
    gray = np.arange(12, dtype=np.uint8).reshape(3, 4)
    rgb = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    rgba = np.arange(16, dtype=np.uint8).reshape(2, 2, 4)

    assert shown(gray) == gray.tolist()
    assert shown(rgb) == rgb.tolist()
    assert shown(rgba) == rgba.tolist()
    assert shown(rgb, ImageFormat.LAB8) == rgb.tolist()
    assert shown(rgba, ImageFormat.SBGRA) == rgba[:, :, [2, 1, 0, 3]].tolist()


def test_sixteen_bits_are_scaled_to_eight() -> None:
    assert shown(np.array([[[0, 256, 257]]], np.uint16)) == [[[0, 0, 1]]]
    assert shown(np.array([[[0, 32896, 65535]]], np.uint16)) == [[[0, 128, 255]]]
    assert shown(np.full((1, 1, 4), 65535, np.uint16)) == [[[255, 255, 255, 255]]]


def test_depth_is_shown_from_the_nearest_to_the_farthest_and_what_was_not_measured_is_black() -> None:
    assert shown(np.array([[0, 500, 1500, 2500]], np.uint16)) == [[0, 0, 128, 255]]
    assert shown(np.array([[0, 0, 700]], np.uint16)) == [[0, 0, 0]]


def test_floats_are_shown_from_the_least_to_the_largest() -> None:
    assert shown(np.array([[-1, 0, 1, np.nan, np.inf]], np.float32)) == [[0, 128, 255, 0, 0]]
    assert shown(np.array([[[0, 1, 2, 9]]], np.float32)) == [[[0, 128, 255]]]


def test_a_flow_is_shown_in_red_and_green_around_half_bright() -> None:
    assert shown(np.array([[[0, -4], [2, 4]]], np.float32)) == [[[128, 0, 0], [191, 255, 0]]]


@pytest.mark.parametrize("value", [0.0, 3.0, np.nan, -np.inf])
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 2), (2, 3, 4)])
def test_an_image_of_one_value_is_shown_too(value, shape) -> None:
    assert np.array(shown(np.full(shape, value, np.float32))).shape[:2] == (2, 3)


def test_the_largest_floats_do_not_overflow() -> None:
    largest = np.finfo(np.float32).max

    assert shown(np.array([[-largest, 0, largest]], np.float32)) == [[0, 128, 255]]


@pytest.mark.parametrize(
    ("height", "width", "expected"),
    [(LONGEST, 3, (1024, 3)), (LONGEST + 1, 30, (513, 15)), (2, 5000, (1, 1000)), (4096, 4096, (1024, 1024))],
)
def test_large_images_are_made_small(height, width, expected) -> None:
    assert preview(np.zeros((height, width), np.uint8), ImageFormat.GRAY8).shape == expected


def test_a_view_that_is_not_contiguous_is_shown() -> None:
    rgb = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)[::-2, ::2]

    assert shown(rgb) == rgb.tolist()


def test_without_a_library_that_writes_png_only_the_repr_is_shown(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)

    frame = ImageFrame(np.zeros((2, 3), np.uint8))

    assert frame._repr_png_() is None
    assert repr(frame) == "<ImageFrame GRAY8 3x2>"


def test_without_opencv_pillow_writes_the_same_image(monkeypatch) -> None:
    pytest.importorskip("PIL.Image")
    rgb = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "cv2", None)
        data = ImageFrame(rgb)._repr_png_()

    assert decoded(data).tolist() == rgb.tolist()


def test_a_frame_that_cannot_be_shown_raises_nothing() -> None:
    assert ImageFrame.__new__(ImageFrame)._repr_png_() is None


def test_a_packet_shows_the_image_of_its_payload() -> None:
    frame = ImageFrame(np.zeros((2, 3), np.uint8))

    assert Packet(frame, 3)._repr_png_() == frame._repr_png_()
    assert repr(Packet(frame, 3)) == "Packet(<ImageFrame GRAY8 3x2>, 3)"


def test_a_smaller_preview_can_be_asked_for():
    assert preview(np.zeros((480, 640), np.uint8), ImageFormat.GRAY8, 320).shape == (240, 320)
