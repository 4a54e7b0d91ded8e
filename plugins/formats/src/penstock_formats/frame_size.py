"""The most that a calculator makes because an option or a packet asks for it: pixels, and elements."""

from __future__ import annotations

import os
from typing import Final

from penstock.errors import InvalidArgumentError, ResourceExhaustedError

#: Pixels of a frame, unless the environment variable says otherwise: a frame of 16K video has 133 million.
MAX_PIXELS: Final = 2**27
_VARIABLE: Final = "PENSTOCK_MAX_PIXELS"
#: Elements of an array or list: 128 MiB of float64.
MAX_ELEMENTS: Final = 2**24


def check_frame_size(width: float, height: float, what: str) -> None:
    """Accept a size that a calculator is asked to make frames of; call it before memory is taken.

    The limit is 2**27 pixels, or what the environment variable PENSTOCK_MAX_PIXELS says. Frames that come
    in are not its subject: their memory is there already.

    Args:
        width: of the frame, in pixels.
        height: of the frame, in pixels.
        what: what asks for it, for the message, such as "output_width and output_height".

    Raises:
        ResourceExhaustedError: the frame has more pixels. The message names the limit and the variable.
        InvalidArgumentError: the variable is no whole number.
    """
    given = os.environ.get(_VARIABLE, "")
    if given and not (given.isascii() and given.isdecimal()):
        raise InvalidArgumentError(f"{_VARIABLE} is {given!r}: must be a size in whole pixels")
    limit = int(given) if given else MAX_PIXELS
    if width * height > limit:
        raise ResourceExhaustedError(
            f"{what}: a frame of {width}x{height} has {width * height} pixels, but at most {limit} are "
            f"allowed; make it smaller, or set the environment variable {_VARIABLE}"
        )


def check_size_limit(count: int, what: str, most: int = MAX_ELEMENTS) -> None:
    """Accept a number of elements that a calculator is asked to make; call it before memory is taken.

    Args:
        count: of the array or list.
        what: what asks for it, for the message, such as "num_classes".
        most: a lower limit, where each element costs more than a number.

    Raises:
        ResourceExhaustedError: there are more than 2**24, or than `most`.
    """
    if count > most:
        raise ResourceExhaustedError(
            f"{what} asks for a size of {count} elements, but at most {most} are allowed"
        )
