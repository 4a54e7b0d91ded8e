"""From the GPU to main memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock_formats import ImageFrame
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.ports import pass_header
from penstock_gpu.drawing.helper import GlCalculatorHelper
from penstock_gpu.service import READBACKS

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class GpuBufferToImageFrameCalculator(penstock.Calculator):
    """Give each image as an ImageFrame.

    Input: the first one, whatever its tag (GpuBuffer, or ImageFrame, which is passed on as it is).
    Output: the first one (ImageFrame of the buffer's size; SRGBA for BGRA32 and RGBA32, SRGB for RGB24,
    GRAY8 for one channel of bytes, VEC32F1, VEC32F2, VEC32F4 for float32). A stream header is passed on.
    Timestamp offset 0.

    A buffer whose pixels are in main memory already gives them without a copy; others are waited for
    and copied once, however many nodes ask. All nodes of this kind work in a GL context of their own,
    "auto:GpuBufferToImageFrameCalculator", so that waiting holds up nobody who draws; `GlContextOptions`
    choose another. Where the CPU draws, that is the graph's main context: there is nothing to copy over,
    and a second thread would take the processors from the drawing. Values are exact.

    Raises in `process`: InvalidArgumentError for a buffer whose format no ImageFrame has, or that is
    empty; GlError where GL fails.

    Source of the behaviour: MediaPipe `gpu/gpu_buffer_to_image_frame_calculator.cc`.

    Config::

        node {
          calculator: "GpuBufferToImageFrameCalculator"
          input_stream: "image"
          output_stream: "frame"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one image in and one out."""
        source, target = _only(cc.inputs.ids()), _only(cc.outputs.ids())
        cc.inputs[source].set_one_of(GpuBuffer, ImageFrame, description="images, wherever they are")
        cc.outputs[target].set(ImageFrame, "the same in main memory")
        cc.set_timestamp_offset(0)
        GlCalculatorHelper.update_contract(cc, context=READBACKS)

    def open(self, cc: CalculatorContext) -> None:
        """Find the context; pass the stream header on."""
        self._helper = GlCalculatorHelper()
        self._helper.open(cc)
        pass_header(cc.input, cc.output)

    def process(self, cc: CalculatorContext) -> None:
        """Read one image."""
        source, target = cc.inputs.items[0], cc.outputs.items[0]
        if source.is_empty():
            return
        image = source.payload
        if isinstance(image, ImageFrame):
            target.add_packet(source.packet)
            return
        helper = self._helper
        frame = helper.run_in_gl_context(image.frame) if helper.uses_gl else image.frame()
        target.add(frame, cc.input_timestamp)

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # as the engine calls it
        """Let go of the context."""
        self._helper.close()


def _only(ids: tuple[tuple[str, int], ...]) -> tuple[str, int] | int:
    """Return the first port, or the untagged one, which validation then misses."""
    return ids[0] if ids else 0
