"""The base class of filters on the GPU: one image in, one out, at the same timestamp."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_gpu import gl
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.drawing.helper import GlCalculatorHelper, whole
from penstock_gpu.errors import GpuUnavailableError
from penstock_gpu.formats import GpuBufferFormat, pixel_layout, shape_of
from penstock_gpu.service import MAIN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock_gpu.drawing.gl_texture import GlTexture


class GlSimpleCalculator(penstock.Calculator):
    """A filter: override `gl_render`, and usually `gl_setup`, `gl_teardown` and `cpu_render`.

    Input: VIDEO, or the first untagged one (GpuBuffer). Output: VIDEO or the first untagged one
    (GpuBuffer). A stream header is forwarded. Timestamp offset 0; a timestamp without an image gives no
    output.

    The `gl_...` methods are called in the node's context. Rows are as in images: what is drawn at the bottom
    of GL's window, y = -1, is row 0. A subclass that overrides `get_contract`, `open` or `close` must call
    this class's method too.

    Without GL, if the service's policy allows that, `cpu_render` is called instead of these methods.

    Services: `GPU`.

    Raises in `open`: GpuUnavailableError if GL is not used and there is no `cpu_render`. In `process`:
    ShaderError, GlError, the errors of the methods, and InvalidArgumentError for an impossible size, format
    or array.
    """

    #: Key of the context of such nodes, unless the graph names one; "" for the graph's main one.
    gl_context_key: ClassVar[str] = MAIN

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one image in, one image out, and the GL context."""
        cc.inputs[_port(cc.inputs)].set(GpuBuffer, "images")
        cc.outputs[_port(cc.outputs)].set(GpuBuffer, "images, filtered")
        cc.set_timestamp_offset(0)
        GlCalculatorHelper.update_contract(cc, context=cls.gl_context_key)
        cc.declare(may_skip=False, stateless=False)

    # --- for subclasses -----------------------------------------------------------------------

    def gl_setup(self) -> None:
        """Make programs and other lasting objects; called once, before the first image."""

    def gl_bind(self) -> None:
        """Bind what drawing needs besides the source; called for each image, before `gl_render`."""

    def gl_render(self, src: GlTexture, dst: GlTexture) -> None:
        """Draw one image.

        The framebuffer and the viewport are `dst`'s, `src` is bound to texture unit 1.

        Args:
            src: the input image.
            dst: the image to draw, all of it.
        """
        raise NotImplementedError(f"filter {type(self).__name__} must override gl_render(src, dst)")

    def gl_teardown(self) -> None:
        """Delete what `gl_setup` made; called once, if `gl_setup` has succeeded."""

    def cpu_render(self, src: NDArray[Any]) -> NDArray[Any]:
        """Compute the same with NumPy, where GL is not used.

        Args:
            src: the image, read-only: (H, W, 4) uint8, RGBA, for BGRA32 and RGBA32; (H, W) or
                (H, W, channels) for others.

        Returns:
            The new image, of the size of `output_dimensions` and the layout of `output_format`.
        """
        raise NotImplementedError(f"filter {type(self).__name__} has no cpu_render(src)")

    def output_dimensions(self, width: int, height: int) -> tuple[int, int]:
        """Return width and height of the output image, from those of the input image."""
        return width, height

    def output_format(self) -> GpuBufferFormat:
        """Return the format of the output image."""
        return GpuBufferFormat.BGRA32

    # --- a calculator -------------------------------------------------------------------------

    #: Whether `gl_setup` has succeeded.
    _is_set_up = False

    @cached_property
    def helper(self) -> GlCalculatorHelper:
        """The helper, for more than one input or output, and for other uses of the context."""
        return GlCalculatorHelper()

    def open(self, cc: CalculatorContext) -> None:
        """Find the node's context; forward the stream header."""
        self.helper.open(cc)
        if not self.helper.uses_gl and type(self).cpu_render is GlSimpleCalculator.cpu_render:
            raise GpuUnavailableError(
                f"node {cc.node_name!r}: filter {type(self).__name__} draws by GL alone, and there is no GL: "
                f"{self.helper.why_off}",
                "give the filter a cpu_render(src), or bring GL",
                node=cc.node_name,
            )
        header = cc.inputs[_port(cc.inputs)].header
        if not header.is_empty():
            cc.outputs[_port(cc.outputs)].set_header(header)

    def process(self, cc: CalculatorContext) -> None:
        """Filter one image."""
        source = cc.inputs[_port(cc.inputs)]
        if source.is_empty():
            return
        image: GpuBuffer = source.payload
        helper = self.helper
        if helper.uses_gl or not helper.is_open:
            made = helper.run_in_gl_context(lambda: self._drawn(image))
        else:
            made = self._computed(image)
        cc.outputs[_port(cc.outputs)].add(made, cc.input_timestamp)

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the base's signature
        """Tear down what was set up, and release the context."""
        try:
            if self._is_set_up:
                self._is_set_up = False
                self.helper.run_in_gl_context(self.gl_teardown)
        finally:
            self.helper.close()

    def _drawn(self, image: GpuBuffer) -> GpuBuffer:
        """Draw one image, in the context."""
        if not self._is_set_up:
            self.gl_setup()
            self._is_set_up = True
        helper = self.helper
        src = helper.create_source_texture(image)
        used = [src]
        try:
            width, height = self._size(src.width, src.height)
            dst = helper.create_destination_texture(width, height, self.output_format())
            used.append(dst)
            helper.bind_framebuffer(dst)
            gl.glActiveTexture(gl.GL_TEXTURE1)
            gl.glBindTexture(src.target, src.name)
            self.gl_bind()
            self.gl_render(src, dst)
            gl.glActiveTexture(gl.GL_TEXTURE1)
            gl.glBindTexture(src.target, 0)
            return dst.buffer
        finally:
            helper.release(*used)

    def _computed(self, image: GpuBuffer) -> GpuBuffer:
        """Compute one image, with NumPy."""
        source = image.array()
        kind = self.output_format()
        width, height = self._size(image.width, image.height)
        made: object = self.cpu_render(source)  # the user's method may return anything
        shape, dtype = shape_of(width, height, kind), pixel_layout(kind).dtype
        if not isinstance(made, np.ndarray) or made.shape != shape or made.dtype != dtype:
            kinds = (
                f"{made.shape} {made.dtype}" if isinstance(made, np.ndarray) else repr(type(made).__name__)
            )
            raise InvalidArgumentError(
                f"cpu_render of filter {type(self).__name__} drew {kinds}, but {kind.name} of "
                f"{width}x{height} is {shape} {dtype}; see its output_dimensions and output_format"
            )
        return GpuBuffer.of_array(made, kind)

    def _size(self, width: int, height: int) -> tuple[int, int]:
        new_width, new_height = whole(*self.output_dimensions(width, height))
        if new_width < 1 or new_height < 1:
            raise InvalidArgumentError(
                f"output_dimensions of filter {type(self).__name__} made {new_width}x{new_height} of "
                f"{width}x{height}, but an image has at least one pixel"
            )
        return new_width, new_height


def _port(ports: Any) -> str | int:
    """Return VIDEO if there is such a port, else the first untagged one."""
    return "VIDEO" if "VIDEO" in ports else 0
