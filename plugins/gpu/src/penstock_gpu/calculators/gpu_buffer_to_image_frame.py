"""Conversion of GpuBuffers to ImageFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock_formats import ImageFrame
from penstock_formats.api import pass_header
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.drawing.helper import GlCalculatorHelper
from penstock_gpu.service import READBACKS

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class GpuBufferToImageFrameCalculator(penstock.Calculator):
    """Convert each image to an ImageFrame.

    Input: the first one, with any tag (GpuBuffer, or ImageFrame, which is forwarded unchanged).
    Output: the first one (ImageFrame of the buffer's size; SRGBA for BGRA32 and RGBA32, SRGB for RGB24,
    GRAY8 for one channel of bytes, VEC32F1, VEC32F2, VEC32F4 for float32). A stream header is forwarded.
    Timestamp offset 0.

    A buffer with pixels in main memory gives them without a copy; for other buffers the node waits for the
    drawing and copies once, for any number of nodes. All nodes of this calculator share a GL context of their
    own, "auto:GpuBufferToImageFrameCalculator", so that waiting does not delay drawing; `GlContextOptions`
    choose another. If the CPU draws, they use the graph's main context instead: no transfer is needed, and a
    second thread would take processors from the drawing. Values are exact.

    Raises in `process`: InvalidArgumentError for a buffer that is empty, or whose format no ImageFrame has;
    GlError if GL fails.

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
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Find the context; forward the stream header."""
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
        """Release the context."""
        self._helper.close()


def _only(ids: tuple[tuple[str, int], ...]) -> tuple[str, int] | int:
    """Return the first port, or 0 if there is none: validation then reports the missing port."""
    return ids[0] if ids else 0
