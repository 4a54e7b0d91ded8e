"""Conversion of ImageFrames to GpuBuffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

import penstock
from penstock_formats import ImageFrame
from penstock_formats.api import pass_header
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.buffers.texture_storage import GlTextureView
from penstock_gpu.drawing.helper import GlCalculatorHelper
from penstock_gpu.service import BESIDE, GPU, UPLOADS

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


@attrs.frozen
class ImageFrameToGpuBufferCalculatorOptions:
    """When frames are uploaded.

    Attributes:
        eager: upload at once, in a separate context, rather than when a shader first needs the frame.
    """

    eager: bool = False


class ImageFrameToGpuBufferCalculator(penstock.Calculator):
    """Wrap each frame in a GpuBuffer, which has the same pixels without a copy.

    Input: the first one, with any tag (ImageFrame: SRGBA, SRGB, GRAY8, VEC32F1, VEC32F2 or
    VEC32F4). Output: the first one (GpuBuffer, of the frame's size; BGRA32, RGB24, ONE_COMPONENT8,
    GRAY_FLOAT32, TWO_COMPONENT_FLOAT32, RGBA_FLOAT128). A stream header is forwarded. Timestamp offset 0.

    The pixels are uploaded when a node first reads them as a texture, once, in that node's context; a frame
    that no shader reads is not uploaded. With the option `eager` they are uploaded at once, in a context that
    all nodes of this calculator share, "auto:ImageFrameToGpuBufferCalculator" unless `GlContextOptions`
    choose another: drawing then does not wait for uploads. If the CPU draws, that is the graph's main
    context. Values are exact. Only with `eager` does the node use the GPU service; if that is off, the node
    only wraps. Without `eager` it runs on the thread of the main context, if the graph has one and names no
    other executor for the node.

    Options `ImageFrameToGpuBufferCalculatorOptions`: `eager` (false).

    Raises in `process`: InvalidArgumentError for a frame of another format; GlError if GL fails.

    Source of the behaviour: MediaPipe `gpu/image_frame_to_gpu_buffer_calculator.cc`, which always uploads.

    Config::

        node {
          calculator: "ImageFrameToGpuBufferCalculator"
          input_stream: "frame"
          output_stream: "image"
        }
    """

    Options = ImageFrameToGpuBufferCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one frame in and one image out."""
        ports_in, ports_out = cc.inputs.ids(), cc.outputs.ids()
        cc.inputs[ports_in[0] if ports_in else 0].set(ImageFrame, "frames")
        cc.outputs[ports_out[0] if ports_out else 0].set(GpuBuffer, "the same as images of the GPU")
        cc.set_timestamp_offset(0)
        if cc.options(ImageFrameToGpuBufferCalculatorOptions).eager:
            GlCalculatorHelper.update_contract(cc, context=UPLOADS)
        else:
            cc.run_on(GPU, BESIDE, if_there=True)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Find the context, if it uploads; forward the stream header."""
        self._helper = GlCalculatorHelper()
        if cc.options(ImageFrameToGpuBufferCalculatorOptions).eager:
            self._helper.open(cc)
        pass_header(cc.input, cc.output)

    def process(self, cc: CalculatorContext) -> None:
        """Wrap one frame."""
        source = cc.inputs.items[0]
        if source.is_empty():
            return
        image = GpuBuffer.of_frame(source.payload)
        if self._helper.uses_gl:
            self._helper.run_in_gl_context(lambda: image.read_view(GlTextureView).release())
        cc.outputs.items[0].add(image, cc.input_timestamp)

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # as the engine calls it
        """Release the context."""
        self._helper.close()
