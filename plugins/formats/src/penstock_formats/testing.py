"""Random payloads of this pack's types, for `penstock_testing.check_calculator`.

Protobuf messages need no entry: the check fills their fields. Images and matrices are small, since a
test makes many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock_formats.image import Image
from penstock_formats.image_format import ImageFormat
from penstock_formats.image_frame import ImageFrame
from penstock_formats.matrix import Matrix
from penstock_formats.tensor import Tensor
from penstock_formats.video_header import VideoHeader

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from penstock import Timestamp


def _frame(random: Random, at: Timestamp) -> ImageFrame:  # noqa: ARG001  # what every maker gets
    """Return 8 x 6 pixels of colour."""
    return ImageFrame(np.frombuffer(random.randbytes(6 * 8 * 3), np.uint8).reshape(6, 8, 3), ImageFormat.SRGB)


def _image(random: Random, at: Timestamp) -> Image:
    """Return the handle of such a frame."""
    return Image(_frame(random, at))


def _tensor(random: Random, at: Timestamp) -> Tensor:  # noqa: ARG001  # what every maker gets
    """Return 1 x 3 x 4 numbers of float32."""
    return Tensor(np.array([random.uniform(-9, 9) for _ in range(12)], np.float32).reshape(1, 3, 4))


def _matrix(random: Random, at: Timestamp) -> Matrix:  # noqa: ARG001  # what every maker gets
    """Return 3 rows and 4 columns."""
    return Matrix(np.array([random.uniform(-9, 9) for _ in range(12)], np.float32).reshape(3, 4))


def _header(random: Random, at: Timestamp) -> VideoHeader:  # noqa: ARG001  # what every maker gets
    """Return a header for a stream of the frames that `_frame` makes."""
    return VideoHeader(ImageFormat.SRGB, 8, 6, random.choice([0.0, 25.0, 30.0]))


#: Type → the function that makes a payload from a random generator and a timestamp.
PAYLOADS: Final[dict[type, Callable[[Random, Timestamp], Any]]] = {
    Image: _image,
    ImageFrame: _frame,
    Matrix: _matrix,
    Tensor: _tensor,
    VideoHeader: _header,
}
