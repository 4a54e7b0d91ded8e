"""What decoders find: boxes, scores, classes, and what belongs to a box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from penstock_detect.outputs.layouts import BoxUnits, Layout, Scores
from penstock_detect.outputs.masks import MaskAxes

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Found(NamedTuple):
    """Detections of one image. All arrays have a row for each, none is limited to the image."""

    #: (n, 4) float32: left, top, right, bottom in fractions of the model's input.
    boxes: NDArray[np.float32]
    #: (n,) float32.
    scores: NDArray[np.float32]
    #: (n,) whole numbers.
    classes: NDArray[np.intp]
    #: (n, k, 3) float32: x and y in fractions of the model's input, and the score; or (n, k, 2).
    points: NDArray[np.float32] | None = None
    #: (n,): which row of the model's output each is; for its mask.
    rows: NDArray[np.intp] | None = None

    def chosen(self, which: NDArray[Any]) -> Found:
        """Return some of them: a mask, or numbers."""
        return Found(*(None if one is None else one[which] for one in self))  # type: ignore[arg-type]  # the first three are there


@attrs.frozen(kw_only=True)
class Reading:
    """How outputs are read."""

    layout: Layout
    #: `width`, `height`: of the model's input, in pixels.
    width: int
    height: int
    min_score: float
    scores: Scores = Scores.USUAL
    units: BoxUnits = BoxUnits.PIXELS
    keypoint_values: int = 3
    #: How many classes have names; 0: unknown.
    classes: int = 0
    #: Of the prototypes of masks.
    mask_axes: MaskAxes = MaskAxes.USUAL

    @property
    def scale(self) -> NDArray[np.float32]:
        """What turns left, top, right and bottom, as the model gives them, into fractions."""
        return np.ones(4, np.float32) if self.units == BoxUnits.FRACTIONS else self.pixel_scale

    @property
    def pixel_scale(self) -> NDArray[np.float32]:
        """What turns left, top, right and bottom in pixels into fractions."""
        return np.array([1 / self.width, 1 / self.height] * 2, np.float32)


def sigmoid(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 1 / (1 + exp(-x))."""
    with np.errstate(over="ignore"):
        return np.float32(1) / (np.float32(1) + np.exp(-values))


def softmax(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the shares of exponentials over the last axis."""
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    found: NDArray[np.float32] = powers / powers.sum(axis=-1, keepdims=True)
    return found


def corners(centres: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return left, top, right, bottom of boxes that are given by centre and size, (n, 4)."""
    half = centres[:, 2:] / 2
    return np.concatenate([centres[:, :2] - half, centres[:, :2] + half], axis=1)
