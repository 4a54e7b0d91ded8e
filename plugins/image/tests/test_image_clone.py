"""ImageCloneCalculator: another handle of the same pixels."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError
from penstock_formats import Image, ImageFrame
from penstock_image.image_clone import ImageCloneCalculator
from penstock_image.messages.image_clone_pb2 import ImageCloneCalculatorOptions
from penstock_testing import run_calculator

FRAME = ImageFrame(np.zeros((3, 4), np.uint8))


class OnGpu:
    """An image on the GPU, as penstock_formats describes it."""

    width, height, nbytes = 4, 3, 12

    def frame(self):
        return FRAME

    def read_view(self, view):
        """Nobody asks."""


@pytest.mark.parametrize("held", [FRAME, OnGpu()], ids=["main memory", "GPU"])
def test_a_clone_is_another_handle_in_main_memory(held):
    image = Image(held)

    result = run_calculator(ImageCloneCalculator, {0: [(1, image)]}, outputs=[0])

    (packet,) = result.outputs[0]
    assert packet.timestamp == 1
    assert packet.payload is not image
    assert packet.payload.held is FRAME


def test_a_clone_on_the_gpu_is_refused_with_the_cure():
    options = ImageCloneCalculatorOptions(output_on_gpu=True)

    with pytest.raises(
        GraphConfigError, match=r"output_on_gpu of the clone is true, but this calculator works in main mem"
    ):
        run_calculator(ImageCloneCalculator, {0: []}, outputs=[0], options=options)
