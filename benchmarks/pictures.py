"""The images that GPU contestants get, and the check of their results. It does not import Penstock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from expected import expect

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Parts of red, green and blue, as LuminanceCalculator has them.
WEIGHTS: Final = (0.2125, 0.7154, 0.0721)
#: How many different images there are; each frame differs from the one before.
COUNT: Final = 3


@dataclass(frozen=True)
class Work:
    """The work of a contestant."""

    #: `width`, `height`: of the images.
    width: int
    height: int
    #: Number of frames that are timed.
    frames: int
    #: The seed of the random images.
    seed: int
    #: Number in EGL's list, or None.
    device: int | None
    #: The name that GL must give.
    renderer: str
    #: Number of passes for each image.
    nodes: int = 1

    def pictures(self) -> list[NDArray[np.uint8]]:
        """Return images of noise, (height, width, 4), RGBA."""
        random = np.random.default_rng(self.seed)
        shape = (self.height, self.width, 4)
        return [random.integers(0, 256, shape, np.uint8) for _ in range(COUNT)]


def grey(picture: NDArray[np.uint8]) -> NDArray[np.floating[Any]]:
    """Return the shader's result for an image."""
    made = picture.astype(np.float64)
    made[..., :3] = (made[..., :3] @ np.array(WEIGHTS))[..., None]
    return made.round()


def expect_grey(made: NDArray[np.uint8], picture: NDArray[np.uint8], passes: int = 1) -> None:
    """Raise unless an image was made grey; each pass may round by one."""
    off = np.abs(made.astype(int) - grey(picture)) > passes
    expect(int(off.sum()), 0, "numbers that are not grey")
