"""Frames and masks of the street for the pictures of the reference pages, and where things are in them.

Frame `i` is one of `FRAMES`. Arrays are made once and read-only.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np
from drawing.street import street_with_car

from penstock_formats import ImageFrame

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How many frames there are, and their size in pixels.
FRAMES: Final = 4
WIDTH: Final = 320
HEIGHT: Final = 180


def car_box(i: int) -> tuple[float, float, float, float]:
    """Return the box of the car: left, top, width and height in shares of the frame's sides."""
    return (114 + 120 * i) / 1280, 508 / 720, 328 / 1280, 148 / 720


def house_box(_: int) -> tuple[float, float, float, float]:
    """Return the box of the house, as `car_box` does."""
    return 690 / 1280, 200 / 720, 340 / 1280, 320 / 720


@cache
def street(i: int) -> NDArray[np.uint8]:
    """Return frame `i` of the street: (180, 320, 3), RGB, read-only."""
    large = street_with_car(180 + 120 * i)
    return _fixed(cv2.resize(large, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA))


def gray_street(i: int) -> NDArray[np.uint8]:
    """Return frame `i` in grey: (180, 320)."""
    return _fixed(cv2.cvtColor(street(i), cv2.COLOR_RGB2GRAY))


def edges_of_street(i: int) -> NDArray[np.uint8]:
    """Return the edges of frame `i`: 255 on an edge, elsewhere 0."""
    return _fixed(cv2.dilate(cv2.Canny(gray_street(i), 100, 200), np.ones((2, 2), np.uint8)))


@cache
def around_car(i: int) -> NDArray[np.float32]:
    """Return a soft mask around the car: 0 to 1."""
    x, y, width, height = car_box(i)
    mask = np.zeros((HEIGHT, WIDTH), np.float32)
    centre = (round((x + width / 2) * WIDTH), round((y + height / 2) * HEIGHT))
    cv2.ellipse(mask, centre, (round(0.62 * width * WIDTH), round(0.8 * height * HEIGHT)), 0, 0, 360, 1.0, -1)
    blurred: NDArray[np.float32] = np.asarray(cv2.GaussianBlur(mask, (15, 15), 0), np.float32)
    return blurred


def mask_of_car(i: int) -> ImageFrame:
    """Return the soft mask around the car in bytes."""
    return ImageFrame(np.rint(around_car(i) * 255).astype(np.uint8))


def depth_of_street(i: int) -> ImageFrame:
    """Return the depth of frame `i` in millimetres: the road comes nearer, the sky (0) was not measured."""
    x, y, width, height = car_box(i)
    horizon = round(0.3 * HEIGHT)
    depth = np.zeros((HEIGHT, WIDTH), np.uint16)
    depth[horizon:] = np.linspace(20_000, 1500, HEIGHT - horizon).astype(np.uint16)[:, None]
    left, top = round(x * WIDTH), round(y * HEIGHT)
    depth[top : top + round(height * HEIGHT), left : left + round(width * WIDTH)] = 4000
    return ImageFrame(depth)


def night(i: int) -> ImageFrame:
    """Return the street at night."""
    dark = street(i).astype(np.float32) * np.array((0.25, 0.3, 0.5), np.float32)
    return ImageFrame(np.rint(dark).astype(np.uint8))


def noisy_street(i: int) -> ImageFrame:
    """Return frame `i` with the noise of a camera."""
    noise = np.random.default_rng(i).normal(0, 12, (HEIGHT, WIDTH, 3))
    return ImageFrame(np.clip(street(i) + noise, 0, 255).astype(np.uint8))


def large_street(i: int) -> ImageFrame:
    """Return frame `i` in twice the size."""
    return ImageFrame(np.asarray(cv2.resize(street(i), (2 * WIDTH, 2 * HEIGHT))))


def _fixed(image: Any) -> NDArray[np.uint8]:
    made: NDArray[np.uint8] = np.asarray(image, np.uint8)
    made.flags.writeable = False
    return made


def file_of_street(kind: str, i: int) -> bytes:
    """Return frame `i` as an image file; `kind` is ".png" or another suffix."""
    return cv2.imencode(kind, street(i)[..., ::-1])[1].tobytes()
