"""The scene of the pictures, drawn by code: a car on a street passes a house."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def street_with_car(car: int) -> NDArray[np.uint8]:
    """Return the street with the car's rear wheel at column `car`.

    Returns:
        (720, 1280, 3), uint8, RGB, new memory.
    """
    way = np.linspace(0, 1, 720)[:, None]
    top, bottom = np.array((96, 156, 220)), np.array((226, 238, 248))
    image = np.ascontiguousarray(
        np.broadcast_to((top + way * (bottom - top))[:, None], (720, 1280, 3)), np.uint8
    )

    def fill(colour: tuple[int, int, int], *points: tuple[int, int]) -> None:
        cv2.fillPoly(image, [np.array(points)], colour, cv2.LINE_AA)

    def disc(colour: tuple[int, int, int], x: int, y: int, radius: int) -> None:
        cv2.circle(image, (x, y), radius, colour, -1, cv2.LINE_AA)

    disc((255, 214, 92), 1080, 130, 62)
    fill((128, 168, 134), (0, 470), (260, 250), (560, 480), (0, 520))
    fill((104, 148, 116), (300, 500), (700, 280), (1280, 500), (1280, 540), (300, 540))
    fill((90, 164, 84), (0, 460), (1280, 460), (1280, 560), (0, 560))
    fill((82, 84, 92), (0, 540), (1280, 540), (1280, 720), (0, 720))
    for x in range(0, 1280, 160):
        fill((236, 236, 224), (x + 30, 636), (x + 110, 636), (x + 100, 648), (x + 20, 648))
    fill((240, 226, 196), (720, 310), (1000, 310), (1000, 520), (720, 520))
    fill((176, 72, 56), (690, 318), (860, 200), (1030, 318))
    fill((118, 78, 52), (830, 420), (890, 420), (890, 520), (830, 520))
    for x in (750, 920):
        fill((92, 140, 186), (x, 360), (x + 50, 360), (x + 50, 410), (x, 410))
    fill((110, 76, 50), (180, 380), (206, 380), (206, 520), (180, 520))
    for x, y, radius in ((192, 320, 74), (140, 370, 54), (246, 366, 56)):
        disc((56, 128, 66), x, y, radius)
    fill((204, 44, 52), (car - 60, 560), (car + 250, 560), (car + 262, 620), (car - 66, 620))
    fill((204, 44, 52), (car - 10, 560), (car + 36, 508), (car + 156, 508), (car + 200, 560))
    fill((206, 228, 240), (car + 10, 556), (car + 44, 518), (car + 92, 518), (car + 92, 556))
    fill((206, 228, 240), (car + 104, 556), (car + 104, 518), (car + 150, 518), (car + 180, 556))
    for x in (car, car + 190):
        disc((34, 34, 38), x, 620, 36)
        disc((186, 190, 196), x, 620, 16)
    return image
