"""Random images, for `penstock_testing.check_calculator`: small, in main memory, no OpenGL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock_gpu.buffers.buffer import GpuBuffer

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from penstock import Timestamp


def _buffer(random: Random, at: Timestamp) -> GpuBuffer:  # noqa: ARG001  # the signature of every maker
    """Return 8 x 6 pixels of colour and alpha."""
    return GpuBuffer.of_array(np.frombuffer(random.randbytes(6 * 8 * 4), np.uint8).reshape(6, 8, 4))


#: Type → function that makes a payload from a random generator and a timestamp.
PAYLOADS: Final[dict[type, Callable[[Random, Timestamp], Any]]] = {GpuBuffer: _buffer}
