"""A hand, a box in space and two eyes as landmarks, for frame `i` of the pictures of the reference pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from drawing.street_images import HEIGHT, WIDTH

from penstock_formats import (
    FrameAnnotation,
    Landmark,
    LandmarkList,
    NormalizedLandmark,
    NormalizedLandmarkList,
    RenderData,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


def fingers(i: int, tremble: float = 0.0) -> Iterator[tuple[float, float]]:
    """Yield the 21 landmarks of a hand: the wrist, then four of each finger, from the thumb."""
    noise = np.random.default_rng(i).normal(0, tremble, (21, 2)) if tremble else np.zeros((21, 2))
    wrist = np.array((0.46 + 0.02 * i, 0.88))
    yield tuple(wrist + noise[0])
    for finger, (degrees, first, length) in enumerate(
        ((-58, 0.16, 0.4), (-20, 0.36, 0.68), (-3, 0.37, 0.74), (13, 0.35, 0.68), (30, 0.32, 0.56))
    ):
        angle = np.radians(degrees)
        way = np.array((np.sin(angle) * HEIGHT / WIDTH, -np.cos(angle)))
        for joint in range(4):
            there = wrist + way * (first + (length - first) * joint / 3)
            yield tuple(there + noise[1 + 4 * finger + joint])


def hand(i: int, tremble: float = 0.0) -> NormalizedLandmarkList:
    """Return the landmarks of a hand; each trembles by so much, in shares of the sides."""
    points = enumerate(fingers(i, tremble))
    return NormalizedLandmarkList(
        landmark=[NormalizedLandmark(x=x, y=y, z=-0.01 * (k % 4), visibility=0.9) for k, (x, y) in points]
    )


def trembling_hand(i: int) -> NormalizedLandmarkList:
    """Return the hand as a model finds it that is not sure."""
    return hand(i, tremble=0.012)


def hand_in_world(i: int, tremble: float = 0.0) -> LandmarkList:
    """Return the hand in metres, around its middle."""
    points = [((x - 0.5) * 0.25 * WIDTH / HEIGHT, (y - 0.5) * 0.25) for x, y in fingers(i, tremble)]
    return LandmarkList(landmark=[Landmark(x=x, y=y, z=-0.005 * (k % 4)) for k, (x, y) in enumerate(points)])


def pose_in_world(i: int) -> LandmarkList:
    """Return 33 landmarks of a pose: a row of points, in metres."""
    return LandmarkList(landmark=[Landmark(x=0.01 * k - 0.2, y=0.004 * k + 0.01 * i) for k in range(33)])


def object_points(i: int) -> NormalizedLandmarkList:
    """Return a box in space as the image shows it: its centre, and its eight corners."""
    middle = np.array((0.45 + 0.02 * i, 0.5))
    shifts = [(0.13 * x + 0.05 * z, 0.22 * y - 0.07 * z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    corners = middle + np.array(shifts)
    return NormalizedLandmarkList(landmark=[NormalizedLandmark(x=x, y=y) for x, y in (middle, *corners)])


def objects(i: int) -> FrameAnnotation:
    """Return an object of nine points, as the image shows them."""
    made = FrameAnnotation()
    one = made.annotations.add(object_id=1, visibility=1)
    for number, point in enumerate(object_points(i).landmark):
        key = one.keypoints.add(id=number)
        key.point_2d.x, key.point_2d.y = point.x, point.y
    return made


def objects_in_space(i: int) -> FrameAnnotation:
    """Return the object with its pose: turned by a quarter of a right angle, 2 m away."""
    made = objects(i)
    turn = np.radians(22.5)
    rotation = np.array(
        ((np.cos(turn), -np.sin(turn), 0), (np.sin(turn), np.cos(turn), 0), (0, 0, 1)), np.float32
    )
    made.annotations[0].rotation[:] = rotation.ravel().tolist()
    made.annotations[0].translation[:] = (0.0, 0.0, -2.0)
    return made


def irises(i: int) -> NormalizedLandmarkList:
    """Return two irises: the centre of each, and the points right, above, left and below of it."""
    around = ((0, 0), (1, 0), (0, -1), (-1, 0), (0, 1))
    return NormalizedLandmarkList(
        landmark=[
            NormalizedLandmark(x=middle + 0.02 * i + 0.05 * x, y=0.45 + 0.05 * y * WIDTH / HEIGHT)
            for middle in (0.3, 0.6)
            for x, y in around
        ]
    )


def drawn_hand(i: int) -> list[RenderData]:
    """Return a list of one drawing: the points of a hand, in the upper left quarter."""
    made = RenderData()
    for x, y in fingers(i):
        dot = made.render_annotations.add(thickness=4)
        dot.color.b = dot.color.g = 255
        dot.point.x, dot.point.y, dot.point.normalized = 0.15 + x / 3, y / 2, True
    return [made]
