"""Which point of a detection's box stands for it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock_formats import LocationData

if TYPE_CHECKING:
    from penstock_detect.zones.geometry import Point
    from penstock_formats import Detection


class Anchor(Enum):
    """The point of a box that stands for it."""

    #: Where things stand on the ground, in most views.
    BOTTOM_CENTER = 0
    CENTER = 1
    TOP_CENTER = 2
    #: The middle of the left or right edge.
    LEFT_CENTER = 3
    RIGHT_CENTER = 4


#: Anchor → the parts of width and height that are added to the upper left corner.
_PARTS: Final = {
    Anchor.BOTTOM_CENTER: (0.5, 1.0),
    Anchor.CENTER: (0.5, 0.5),
    Anchor.TOP_CENTER: (0.5, 0.0),
    Anchor.LEFT_CENTER: (0.0, 0.5),
    Anchor.RIGHT_CENTER: (1.0, 0.5),
}


def anchor_of(detection: Detection, anchor: Anchor, size: tuple[float, float] | None) -> Point:
    """Return the anchor of a detection in fractions of the image.

    Args:
        detection: with a relative box, or one in pixels where the size is known.
        anchor: which point.
        size: width and height of the image in pixels, or None.

    Raises:
        InvalidArgumentError: it has no box, or one in pixels of an unknown image.
    """
    location = detection.location_data
    right, down = _PARTS[anchor]
    if location.format == LocationData.RELATIVE_BOUNDING_BOX:
        box = location.relative_bounding_box
        return box.xmin + right * box.width, box.ymin + down * box.height
    if location.format != LocationData.BOUNDING_BOX:
        raise InvalidArgumentError(
            "for an anchor, a detection's location_data has the format "
            f"{LocationData.Format.Name(location.format)}, but must have a box, RELATIVE_BOUNDING_BOX or "
            "BOUNDING_BOX"
        )
    if size is None:
        raise InvalidArgumentError(
            "an anchor is wanted of a detection with a box in pixels, but the size of the image is not "
            "known; connect IMAGE_SIZE to the SIZE of an ImagePropertiesCalculator"
        )
    pixels = location.bounding_box
    return (pixels.xmin + right * pixels.width) / size[0], (pixels.ymin + down * pixels.height) / size[1]
