"""A second handle of each image, in main memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Image
from penstock_image.messages.image_clone_pb2 import ImageCloneCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class ImageCloneCalculator(penstock.Calculator):
    """Make another handle of each image, in main memory.

    Input: a single untagged stream (Image). Output: untagged (Image in main memory: another handle of the
    same pixels; of an image on the GPU a copy, which is made once). Timestamp offset 0.

    Options `ImageCloneCalculatorOptions`: `output_on_gpu` (false), which must be false here.

    Raises when the graph is loaded: InvalidArgumentError for `output_on_gpu: true`. In `process`: what
    penstock-gpu raises if an image cannot be copied from the GPU.

    Source of the behaviour: MediaPipe `calculators/image/image_clone_calculator.cc`.

    Config::

        node {
          calculator: "ImageCloneCalculator"
          input_stream: "image"
          output_stream: "clone"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one image in and one out.

        Raises:
            InvalidArgumentError: the clone is wanted on the GPU.
        """
        if cc.options(ImageCloneCalculatorOptions).output_on_gpu:
            raise InvalidArgumentError(
                f"node {cc.node_name!r}: output_on_gpu of the clone is true, but this calculator works in "
                "main memory; use FromImageCalculator, ImageFrameToGpuBufferCalculator and "
                "ToImageCalculator instead"
            )
        cc.inputs[0].set(Image, "an image, wherever it is")
        cc.outputs[0].set(Image, "it in main memory")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Clone one image."""
        if not cc.input.is_empty():
            image: Image = cc.input.payload
            cc.output.add(Image(image.frame), cc.stamp)
