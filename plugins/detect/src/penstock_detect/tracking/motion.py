"""Where boxes should be: a Kalman filter for each of the four numbers of each box, over any time.

A box is its centre and its size, `(x, y, width, height)`. Each number has a velocity, and is disturbed by
random accelerations in proportion to the box's width (x and width) or height (y and height); so boxes in
pixels and in fractions of an image move alike. The four numbers do not depend on one another, so each has a
covariance of 2 x 2, of which three numbers are kept; all boxes are computed at once. Two steps over a time
give what one step over it gives, which makes a missing frame no special case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: What is not known of an observed number, as a share of the box's size: standard deviations.
_SEEN: Final = np.array([0.05, 0.05, 0.07, 0.07])
#: Of a velocity after the first observation, in sizes a second.
_FIRST_VELOCITY: Final = np.array([2.0, 2.0, 0.5, 0.5])
#: Of the velocity that a second adds, in sizes a second: how much objects turn, brake and accelerate.
_ACCELERATION: Final = np.array([1.5, 1.5, 0.3, 0.3])
#: No width or height is predicted below this share of the one that was observed last.
_LEAST_SIZE: Final = 0.2


class Motion(NamedTuple):
    """What is known of n boxes. Arrays are not changed: each step makes new ones."""

    #: (n, 4): centre and size.
    place: Numbers
    #: (n, 4): how these change, a second.
    speed: Numbers
    #: (3, n, 4): variance of the place, covariance of place and speed, variance of the speed.
    spread: Numbers
    #: (n, 4): width, height, width, height as they were observed last.
    size: Numbers

    def chosen(self, which: NDArray[Any]) -> Motion:
        """Return some of them: a mask, or numbers."""
        return Motion(self.place[which], self.speed[which], self.spread[:, which], self.size[which])

    def joined(self, other: Motion) -> Motion:
        """Return these, and then the others."""
        return Motion(
            np.concatenate([self.place, other.place]),
            np.concatenate([self.speed, other.speed]),
            np.concatenate([self.spread, other.spread], axis=1),
            np.concatenate([self.size, other.size]),
        )

    def changed(self, which: NDArray[Any], part: Motion) -> Motion:
        """Return all of them, some of them as they are in `part`."""
        made = Motion(self.place.copy(), self.speed.copy(), self.spread.copy(), self.size.copy())
        made.place[which], made.speed[which], made.size[which] = part.place, part.speed, part.size
        made.spread[:, which] = part.spread
        return made

    def corners(self) -> Numbers:
        """Return left, top, right and bottom of each, (n, 4)."""
        half = self.place[:, 2:] / 2
        return np.concatenate([self.place[:, :2] - half, self.place[:, :2] + half], axis=1)


def begun(boxes: Numbers) -> Motion:
    """Return what one observation tells of each box: where it is, and little of how it moves.

    Args:
        boxes: (n, 4): left, top, right, bottom.
    """
    place = centred(boxes)
    size = np.tile(place[:, 2:], 2)
    variance = np.stack([(_SEEN * size) ** 2, np.zeros_like(place), (_FIRST_VELOCITY * size) ** 2])
    return Motion(place, np.zeros_like(place), variance, size)


def centred(boxes: Numbers) -> Numbers:
    """Return centre and size of boxes that are left, top, right, bottom."""
    return np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], axis=1)


def predicted(motion: Motion, seconds: float) -> Motion:
    """Return where boxes should be after a time."""
    place, speed, (own, both, own_speed), size = motion
    noise = (_ACCELERATION * size) ** 2
    place = place + seconds * speed
    place[:, 2:] = np.maximum(place[:, 2:], _LEAST_SIZE * size[:, 2:])
    spread = np.stack(
        [
            own + 2 * seconds * both + seconds**2 * own_speed + noise * seconds**3 / 3,
            both + seconds * own_speed + noise * seconds**2 / 2,
            own_speed + noise * seconds,
        ]
    )
    return Motion(place, speed, spread, size)


def observed(motion: Motion, boxes: Numbers) -> Motion:
    """Return what is known when each box was seen.

    Args:
        motion: at the time of the boxes.
        boxes: (n, 4): left, top, right, bottom.
    """
    seen = centred(boxes)
    size = np.tile(seen[:, 2:], 2)
    own, both, own_speed = motion.spread
    total = own + (_SEEN * size) ** 2
    gain, gain_speed = own / total, both / total
    surprise = seen - motion.place
    spread = np.stack([(1 - gain) * own, (1 - gain) * both, own_speed - gain_speed * both])
    return Motion(motion.place + gain * surprise, motion.speed + gain_speed * surprise, spread, size)


def unseen(motion: Motion, which: NDArray[np.intp]) -> Motion:
    """Return boxes of which some are covered: their sizes stay, since a covered box seems to shrink."""
    speed = motion.speed.copy()
    speed[which, 2:] = 0
    return motion._replace(speed=speed)


def seen_again(before: Motion, last: Numbers, boxes: Numbers, seconds: float, steps: int) -> Motion:
    """Return what would be known of one box if it had been seen on a straight line while it was covered.

    Args:
        before: of the one box, when it was last seen.
        last: (1, 4): the box as it was last seen.
        boxes: (1, 4): the box as it is seen now.
        seconds: between the two.
        steps: how many observations lie on the line, the one now among them.
    """
    for number in range(1, steps + 1):
        share = number / steps
        before = observed(predicted(before, seconds / steps), last + share * (boxes - last))
    return before
