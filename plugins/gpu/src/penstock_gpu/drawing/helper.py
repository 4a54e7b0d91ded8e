"""The helper of calculators that use the GPU: their context, their textures, and the framebuffer.

Use it by composition, in calculators with any ports; `GlSimpleCalculator` is the short way for filters.
`GlCalculatorHelper.uses_gl` says whether GL is used.
"""

from __future__ import annotations

from functools import partial
from operator import index
from typing import TYPE_CHECKING, Final, TypeVar, overload

from penstock.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, words_of
from penstock_formats import ImageFrame
from penstock_gpu import gl, gl_state
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.buffers.texture_storage import GlTextureView, TextureStorage, release_all
from penstock_gpu.contexts.gl_thread import translated
from penstock_gpu.current import LOCAL
from penstock_gpu.drawing.gl_texture import GlTexture
from penstock_gpu.errors import GlError, GpuUnavailableError, ShaderError
from penstock_gpu.formats import GpuBufferFormat, checked_format, of_image_format
from penstock_gpu.messages.context_pb2 import GlContextOptions
from penstock_gpu.service import GPU, MAIN, USER

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import CalculatorContext, CalculatorContract
    from penstock_gpu.contexts.context import GlContext
    from penstock_gpu.service import GpuResources

T = TypeVar("T")
F = TypeVar("F", GpuBuffer, ImageFrame)

_FRAMEBUFFER: Final = "penstock_gpu.drawing.helper.framebuffer"
#: glCheckFramebufferStatus. Source: OpenGL 4.6 core profile, section 9.4.2.
_UNSUPPORTED: Final = 0x8CDD


class GlCalculatorHelper:
    """Runs a calculator's code in its GL context, and gives it textures there.

    Call `update_contract` in `get_contract`, `open` in `open`, then `run_in_gl_context` for all GL calls.
    Methods that take or return textures must be called in `run_in_gl_context`. With the policy "prefer" or
    "off" there may be no GL: then `uses_gl` is False, and the calculator must work without it.
    """

    def __init__(self) -> None:
        self._resources: GpuResources | None = None
        self._context: GlContext | None = None
        self._why_off = ""
        self._node = ""

    @staticmethod
    def update_contract(cc: CalculatorContract, *, context: str = MAIN, optional: bool = False) -> None:
        """Declare that the node uses the service `GPU` and runs on the thread of its context.

        The context is the one that the graph names in the node's `GlContextOptions`, else that of `context`.

        Args:
            cc: the node's contract.
            context: key of the context that the calculator chooses; "" for the graph's main one,
                "auto:<calculator>" for one that only the nodes of that calculator share.
            optional: whether the graph may run without the service, even where GL is required.
        """
        name = cc.options(GlContextOptions).gl_context_name
        cc.use_service(GPU, optional=optional)
        cc.run_on(GPU, f"{USER}{name}" if name else context)

    def open(self, cc: CalculatorContext) -> None:
        """Find the node's context. Call it in `open`; it may be called again.

        Raises:
            NotFoundError: the contract does not ask for the service.
            GpuUnavailableError: the node's context cannot be made.
        """
        self._node = cc.node_name
        try:
            resources = cc.service(GPU)
        except NotFoundError as error:
            if f"optional service {GPU.name!r}" not in str(error):
                raise FailedPreconditionError(
                    f"node {cc.node_name!r} may not use the GPU service; call "
                    "GlCalculatorHelper.update_contract(cc) in get_contract",
                    node=cc.node_name,
                ) from error
            cause = error.__cause__
            reason = "is not there" if cause is None else f"could not be made: {words_of(cause)}"
            self._why_off = f"the optional GPU service {reason}"
            return
        self._resources = resources
        self._why_off = resources.why_off
        if resources.is_on:
            self._context = resources.context_of(cc.node_name)

    def close(self) -> None:
        """Release the context. May be called again, and without `open`."""
        self._context = self._resources = None
        self._why_off = ""

    # --- the context --------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether `open` has been called."""
        return self._context is not None or bool(self._why_off)

    @property
    def uses_gl(self) -> bool:
        """Whether GL is used. False before `open`, and if the policy avoids it."""
        return self._context is not None

    @property
    def why_off(self) -> str:
        """Why GL is not used; "" if it is, and before `open`."""
        return self._why_off

    @property
    def gl_context(self) -> GlContext:
        """The node's context. Raises as `run_in_gl_context`, if there is none."""
        if self._context is None:
            if self._why_off:
                raise GpuUnavailableError(
                    f"node {self._node!r} asks its helper for GL, but there is none: {self._why_off}",
                    "look at the helper's uses_gl first",
                    node=self._node,
                )
            raise FailedPreconditionError(
                "the GL helper is not open; call helper.open(cc), or super().open(cc), in open() before"
            )
        return self._context

    def run_in_gl_context(self, call: Callable[[], T]) -> T:
        """Call a function where the node's context is current, and return what it returns.

        On the context's own thread, where the framework calls the node, this is a plain call. During the call
        new textures come from the graph's pool.

        Raises:
            FailedPreconditionError: the helper is not open.
            GpuUnavailableError: GL is not used.
            GlError, ShaderError: a GL call failed, or a shader does not compile; names the node.
            Any other error of `call`.
        """
        context = self._context
        if context is None:
            context = self.gl_context  # it raises what is missing
        assert self._resources is not None  # there is a context  # noqa: S101
        try:
            return context.run(partial(self._resources.pool.serve, call))
        except Exception as error:
            # On the context's own thread a GLError of PyOpenGL arrives unchanged.
            said = translated(error)
            if isinstance(said, GlError | ShaderError):
                said.node = said.node or self._node
            if said is error:
                raise
            raise said from error

    def _here(self, what: str) -> GlContext:
        """Return the context, which must be current."""
        context = self._context
        if context is None or LOCAL.context is not context:
            context = self.gl_context  # it raises if there is none
            raise FailedPreconditionError(
                f"{what} outside the node's GL context; call it in helper.run_in_gl_context", node=self._node
            )
        return context

    # --- textures -----------------------------------------------------------------------------

    def create_source_texture(self, source: GpuBuffer | ImageFrame, plane: int = 0) -> GlTexture:
        """Return a texture with an image to read from.

        Args:
            source: the image. Pixels in main memory are uploaded, once for each buffer; those of an
                ImageFrame each time.
            plane: the plane, for formats with several.

        Raises:
            InvalidArgumentError: `source` is neither, is empty, or no texture has its format.
            FailedPreconditionError: the context is not current.
        """
        self._here("create_source_texture")
        buffer = GpuBuffer.of_frame(source) if isinstance(source, ImageFrame) else source
        if not isinstance(buffer, GpuBuffer):
            raise InvalidArgumentError(
                "the helper's create_source_texture takes a GpuBuffer or an ImageFrame, not a "
                f"{type(source).__name__!r}"
            )
        chosen = {"plane": plane} if plane else {}
        return GlTexture(buffer, buffer.read_view(GlTextureView, **chosen))

    @overload
    def create_destination_texture(
        self, target: int, height: int, format: GpuBufferFormat = GpuBufferFormat.BGRA32, /
    ) -> GlTexture: ...
    @overload
    def create_destination_texture(self, target: GpuBuffer | ImageFrame, /) -> GlTexture: ...
    def create_destination_texture(
        self,
        target: int | GpuBuffer | ImageFrame,
        height: int = 0,
        format: GpuBufferFormat = GpuBufferFormat.BGRA32,  # noqa: A002  # the word that everyone expects
        /,
    ) -> GlTexture:
        """Return a texture to draw to. Its content is undefined until all of it is drawn.

        Args:
            target: the width of a texture from the graph's pool; or a buffer, whose image is replaced; or an
                ImageFrame, whose size and format the texture gets (the frame is not changed).
            height: the height, if `target` is the width.
            format: the texture's format, if `target` is the width.

        Raises:
            InvalidArgumentError: the size is not positive, or no texture has the format.
            FailedPreconditionError: the context is not current.
            GlError: GL fails, for example since memory is short.
        """
        self._here("create_destination_texture")
        if isinstance(target, GpuBuffer):
            return GlTexture(target, target.write_view(GlTextureView))
        if isinstance(target, ImageFrame):
            return self._pooled(target.width, target.height, of_image_format(target.format))
        return self._pooled(*whole(target, height), checked_format(format))

    def _pooled(self, width: int, height: int, format: GpuBufferFormat) -> GlTexture:  # noqa: A002
        assert self._resources is not None  # there is a context  # noqa: S101
        storage = TextureStorage(self._resources.pool.take(width, height, format))
        return GlTexture(GpuBuffer.of_storage(storage), storage.write_view(GlTextureView))

    def bind_framebuffer(self, texture: GlTexture) -> None:
        """Bind the context's framebuffer with a texture, and set the viewport to all of it.

        State that changes or drops pixels is disabled: scissors, blending, culling, logical operations, and
        colour masks. Enable afterwards what the image needs; it need not be disabled again.

        Raises:
            GlError: GL cannot draw to textures of this format.
            FailedPreconditionError: the context is not current.
        """
        context = self._here("bind_framebuffer")
        framebuffer: int = context.attachment(_FRAMEBUFFER, _make_framebuffer, _delete_framebuffer)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, framebuffer)
        gl.glFramebufferTexture2D(gl.GL_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, texture.target, texture.name, 0)
        if not texture.shared.is_drawable:
            self._expect_complete(texture)
        gl.glViewport(0, 0, texture.width, texture.height)
        gl_state.draw_plainly(is_es=context.api == "gles")

    def _expect_complete(self, texture: GlTexture) -> None:
        """Refuse a texture that cannot be drawn to. Each texture is checked once: a check takes 1 us."""
        status = gl.glCheckFramebufferStatus(gl.GL_FRAMEBUFFER)
        if status != gl.GL_FRAMEBUFFER_COMPLETE:
            why = (
                "the driver cannot draw to textures of this format"
                if status == _UNSUPPORTED
                else "incomplete"
            )
            raise GlError(
                "glCheckFramebufferStatus",
                detail=f"0x{status:04X}, {why}; buffer {texture.buffer!r}, use BGRA32",
                node=self._node,
            )
        texture.shared.is_drawable = True

    @staticmethod
    def release(*textures: GlTexture) -> None:
        """Release the textures of one pass: other contexts now see what was drawn to them.

        Released one by one, each costs a fence; together they cost one. Released textures are ignored.

        Raises:
            GlError: GL could not make a fence; the textures are released nevertheless.
        """
        views = []
        for texture in textures:
            view = texture.take_view()
            if view is not None:
                views.append(view)
        release_all(views)

    # --- frames in main memory ----------------------------------------------------------------

    @staticmethod
    def gpu_buffer_with_image_frame(frame: ImageFrame) -> GpuBuffer:
        """Return a buffer of a frame's pixels, without a copy: frames never change."""
        return GpuBuffer.of_frame(frame)

    @staticmethod
    def gpu_buffer_copying_image_frame(frame: ImageFrame) -> GpuBuffer:
        """Return a buffer of a copy of a frame's pixels; it does not keep the frame's memory alive."""
        return GpuBuffer.of_frame(ImageFrame(frame.array.copy(), frame.format))


def whole(width: object, height: object) -> tuple[int, int]:
    """Return a width and a height as ints.

    Raises:
        InvalidArgumentError: one of them is not a whole number.
    """
    try:
        return index(width), index(height)  # type: ignore[arg-type]  # that it may fail is the question
    except TypeError:
        raise InvalidArgumentError(
            f"the helper can draw nothing on an image of {width!r} x {height!r}; give whole numbers: // in "
            "place of /"
        ) from None


def _make_framebuffer() -> int:
    return gl.make("Framebuffer")


def _delete_framebuffer(name: int) -> None:
    gl.delete("Framebuffer", name)
