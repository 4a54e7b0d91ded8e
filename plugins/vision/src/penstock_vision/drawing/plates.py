"""Texts on filled plates, whose sizes follow the height of the image."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import cv2

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Colours that people with any kind of colour blindness tell apart, red, green, blue. Source: M. Okabe and
#: K. Ito, "Color Universal Design" (2008), without black.
PALETTE: Final = (
    (230, 159, 0),
    (86, 180, 233),
    (0, 158, 115),
    (240, 228, 66),
    (0, 114, 178),
    (213, 94, 0),
    (204, 121, 167),
)
_FONT: Final = cv2.FONT_HERSHEY_SIMPLEX
#: Height of its capital letters at scale 1, in pixels. Source: OpenCV's `getTextSize`.
_FONT_HEIGHT: Final = 21
#: Width of the strokes of letters, and the margin around a text, as shares of the height of letters.
_STROKE: Final = 1 / 9
_MARGIN: Final = 0.45
#: From this brightness on (BT.601, 0 to 255) letters on a plate are black, else white.
_BRIGHT: Final = 128
_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)


class Sizes(NamedTuple):
    """What is drawn how large in an image, in pixels."""

    letters: int
    stroke: int
    line: int
    margin: int


def sizes_of(height: int, text_height: float, line_width: float) -> Sizes:
    """Return the sizes in an image of a height in pixels; both others are shares of it."""
    letters = max(6, round(text_height * height))
    return Sizes(
        letters,
        max(1, round(_STROKE * letters)),
        max(2, round(line_width * height)),
        round(_MARGIN * letters),
    )


def check_share(name: str, share: float) -> None:
    """Accept a share of an image's height.

    Raises:
        InvalidArgumentError: it is not above 0, or not finite.
    """
    if not (isfinite(share) and share > 0):
        raise InvalidArgumentError(
            f"{name} of the plates is {share}, but must be above 0; change it in the options"
        )


def write_plate(  # noqa: PLR0913  # what is drawn, and where
    pixels: NDArray[Any],
    text: str,
    corner: tuple[int, int],
    color: tuple[int, int, int, int],
    sizes: Sizes,
    *,
    is_above: bool,
) -> int:
    """Fill a plate beside a corner, and write a text on it; inside of the image, where it has room.

    Args:
        pixels: an image of 3 or 4 channels, drawn on.
        text: ASCII; other letters become "?".
        corner: left end and upper or lower edge of the plate, in pixels.
        color: of the plate.
        sizes: of letters and margins.
        is_above: whether the plate is above the corner, where it has room there; else it is below.

    Returns:
        The height of the plate, in pixels.
    """
    scale = sizes.letters / _FONT_HEIGHT
    (width, _), tail = cv2.getTextSize(text, _FONT, scale, sizes.stroke)
    plate_width, plate_height = width + 2 * sizes.margin, sizes.letters + tail + 2 * sizes.margin
    left = max(0, min(corner[0] - sizes.line // 2, pixels.shape[1] - plate_width))
    has_room = is_above and corner[1] >= plate_height
    top = corner[1] - plate_height if has_room else max(0, corner[1])
    cv2.rectangle(pixels, (left, top), (left + plate_width, top + plate_height), color, cv2.FILLED)
    red, green, blue, _ = color
    letters = _BLACK if 0.299 * red + 0.587 * green + 0.114 * blue >= _BRIGHT else _WHITE
    at = (left + sizes.margin, top + sizes.margin + sizes.letters)
    cv2.putText(pixels, text, at, _FONT, scale, (*letters, 255), sizes.stroke, cv2.LINE_AA)
    return plate_height
