"""What a calculator that works on the GPU owns: its context, its textures, and where they are drawn to.

Composition, for calculators of any shape; `GlSimpleCalculator` is the short way for filters. Nothing here
is imported by machines without GL before it is used, and `GlCalculatorHelper.uses_gl` says whether it is.
"""

from __future__ import annotations

from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, overload

from penstock.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from penstock_formats import ImageFrame
from penstock_gpu import gl, gl_state
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.buffers.texture import GlTextureView, TextureStorage, release_all
from penstock_gpu.contexts.gl_thread import translated
from penstock_gpu.current import LOCAL
from penstock_gpu.errors import GlError, GpuUnavailableError, ShaderError
from penstock_gpu.formats import GpuBufferFormat, checked_format, of_image_format
from penstock_gpu.gl_context_options_pb2 import GlContextOptions
from penstock_gpu.service import GPU, MAIN, USER

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from penstock import CalculatorContext, CalculatorContract
    from penstock_gpu.contexts.context import GlContext
    from penstock_gpu.service import GpuResources

T = TypeVar("T")
F = TypeVar("F", GpuBuffer, ImageFrame)

_FRAMEBUFFER: Final = "penstock_gpu.drawing.helper.framebuffer"
#: glCheckFramebufferStatus. Source: OpenGL 4.6 core profile, section 9.4.2.
_UNSUPPORTED: Final = 0x8CDD


class GlTexture:
    """A texture that a calculator reads from or draws to, for the length of one call of `process`.

    Made by `GlCalculatorHelper`. Release it, or use it in a `with` block, in the context in which it was
    made; then other contexts may have it. Never keep one from call to call: keep the buffer.

    Attributes:
        name: in GL.
        target: GL_TEXTURE_2D.
        width, height: in pixels.
        buffer: whose pixels it holds.
        shared: the texture itself, which outlives this; not for calculators.
    """

    __slots__ = ("_view", "buffer", "height", "name", "shared", "target", "width")

    def __init__(self, buffer: GpuBuffer, view: GlTextureView) -> None:
        self.buffer: Final = buffer
        self._view: GlTextureView | None = view
        self.shared: Final = view.texture
        self.name: Final[int] = view.name
        self.target: Final[int] = view.target
        self.width: Final[int] = view.width
        self.height: Final[int] = view.height

    @overload
    def get_frame(self) -> GpuBuffer: ...
    @overload
    def get_frame(self, kind: type[F]) -> F: ...
    def get_frame(self, kind: type[Any] = GpuBuffer) -> Any:
        """Return the image, and release the texture: what was drawn is now for all to see.

        Args:
            kind: `GpuBuffer`, which is a reference and costs nothing, or `ImageFrame`, which waits until
                all is drawn and copies the pixels to main memory, once for each buffer.

        Raises:
            InvalidArgumentError: `kind` is neither, or the buffer's format has no ImageFrame.
        """
        if kind is GpuBuffer:
            self.release()
            return self.buffer
        if kind is ImageFrame:
            self.release()
            return self.buffer.frame()
        raise InvalidArgumentError(f"get_frame: {kind!r} is no kind of frame; use GpuBuffer or ImageFrame")

    def release(self) -> None:
        """Let go of the texture. A second time does nothing. Several go at once by `helper.release`."""
        view = self.take_view()
        if view is not None:
            view.release()

    def take_view(self) -> GlTextureView | None:
        """Return the view that is to be released, for who does that; None where it has been."""
        view, self._view = self._view, None
        return view

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def __repr__(self) -> str:
        state = "" if self._view is not None else ", released"
        return f"<GlTexture {self.name}, {self.width}x{self.height}{state}>"


class GlCalculatorHelper:
    """Brings a calculator into its GL context, and gives it textures there.

    Call `update_contract` in `get_contract`, `open` in `open`, then `run_in_gl_context` wherever GL is
    called. Methods that take or give textures must be called inside that. With the policy "prefer" or
    "off" there may be no GL: `uses_gl` is False, and the calculator does its work in another way.
    """

    def __init__(self) -> None:
        self._resources: GpuResources | None = None
        self._context: GlContext | None = None
        self._why_off = ""
        self._node = ""

    @staticmethod
    def update_contract(cc: CalculatorContract, *, context: str = MAIN, optional: bool = False) -> None:
        """Ask for the service `GPU`, and to run on the thread of the node's context.

        That is the context that the graph names in the node's `GlContextOptions`, or else:

        Args:
            cc: of the node.
            context: key of the context that the calculator chooses; "" for the graph's main one,
                "auto:<calculator>" for one that nodes of its kind have among themselves.
            optional: whether the graph may run without the service, even where GL is required.
        """
        name = cc.options(GlContextOptions).gl_context_name
        cc.use_service(GPU, optional=optional)
        cc.run_on(GPU, f"{USER}{name}" if name else context)

    def open(self, cc: CalculatorContext) -> None:
        """Find the node's context. To be called in `open`; may be called again.

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
            self._why_off = "the optional GPU service is not there"
            return
        self._resources = resources
        self._why_off = resources.why_off
        if resources.is_on:
            self._context = resources.context_of(cc.node_name)

    def close(self) -> None:
        """Let go of the context. May be called again, and without `open`."""
        self._context = self._resources = None
        self._why_off = ""

    # --- the context --------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether `open` has been called."""
        return self._context is not None or bool(self._why_off)

    @property
    def uses_gl(self) -> bool:
        """Whether there is GL. False before `open` and where the policy does without."""
        return self._context is not None

    @property
    def why_off(self) -> str:
        """Why there is no GL; "" where there is."""
        return self._why_off

    @property
    def gl_context(self) -> GlContext:
        """The node's context. Raises as `run_in_gl_context`."""
        if self._context is None:
            if self._why_off:
                raise GpuUnavailableError(
                    f"node {self._node!r} asks for GL, but there is none: {self._why_off}",
                    "look at uses_gl first",
                    node=self._node,
                )
            raise FailedPreconditionError(
                "the GL helper is not open; call helper.open(cc), or super().open(cc), in open() before"
            )
        return self._context

    def run_in_gl_context(self, call: Callable[[], T]) -> T:
        """Call a function where the node's context is current, and return what it returns.

        On the context's own thread, where the framework calls the node, that is a plain call. Within it
        new textures come from the graph's pool.

        Raises:
            FailedPreconditionError: the helper is not open.
            GpuUnavailableError: there is no GL.
            GlError, ShaderError: a GL call failed, or a shader does not compile; names the node.
            Whatever else `call` raises.
        """
        context = self._context
        if context is None:
            context = self.gl_context  # which says what is missing
        assert self._resources is not None  # there is a context  # noqa: S101
        try:
            return context.run(partial(self._resources.pool.serve, call))
        except Exception as error:
            # On the context's own thread a GLError of PyOpenGL comes as it is.
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
            context = self.gl_context  # which says where there is none
            raise FailedPreconditionError(
                f"{what} outside the node's GL context; call it in helper.run_in_gl_context", node=self._node
            )
        return context

    # --- textures -----------------------------------------------------------------------------

    def create_source_texture(self, source: GpuBuffer | ImageFrame, plane: int = 0) -> GlTexture:
        """Return a texture with an image, to read from.

        Args:
            source: where the pixels are in main memory they are uploaded, once for each buffer; those of
                an ImageFrame each time.
            plane: of formats that have several.

        Raises:
            InvalidArgumentError: it is neither, is empty, or no texture has its format.
            FailedPreconditionError: the context is not current.
        """
        self._here("create_source_texture")
        buffer = GpuBuffer.of_frame(source) if isinstance(source, ImageFrame) else source
        if not isinstance(buffer, GpuBuffer):
            raise InvalidArgumentError(
                f"create_source_texture takes a GpuBuffer or an ImageFrame, not a {type(source).__name__!r}"
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
        """Return a texture to draw to. What it shows is undefined before all of it is drawn.

        Args:
            target: columns, of a texture from the graph's pool; or a buffer, whose image is replaced; or
                an ImageFrame, of whose size and format the texture shall be (it stays as it is).
            height: rows, where `target` is the number of columns.
            format: of the texture, where `target` is the number of columns.

        Raises:
            InvalidArgumentError: the size is not positive, or no texture has the format.
            FailedPreconditionError: the context is not current.
            GlError: GL refuses, for example since the texture is too large.
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
        """Draw to a texture from now on, all of it: one framebuffer of the context, and the viewport.

        What would change or lose pixels is off, whatever was drawn before in this context: scissors,
        blending, culling, logical operations, and masked colours. Switch on afterwards what the image
        needs; it need not be switched off again.

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
        """Refuse what is bound to be drawn to and cannot be. Each texture is asked once: that costs 1 us."""
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
        """Let go of the textures of one pass: what was drawn to them is now for all to see.

        One by one each costs a fence, together they cost one. Those that are released already are passed
        over.

        Raises:
            GlError: GL could make no fence; the textures are released all the same.
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
        """Return a buffer of a copy of a frame's pixels, so that the frame's memory may go."""
        return GpuBuffer.of_frame(ImageFrame(frame.array.copy(), frame.format))


def whole(width: object, height: object) -> tuple[int, int]:
    """Return a width and a height as ints.

    Raises:
        InvalidArgumentError: one of them is no whole number.
    """
    try:
        return index(width), index(height)  # type: ignore[arg-type]  # that it may fail is the question
    except TypeError:
        raise InvalidArgumentError(
            f"an image of {width!r} x {height!r} cannot be; give whole numbers: // in place of /"
        ) from None


def _make_framebuffer() -> int:
    return gl.make("Framebuffer")


def _delete_framebuffer(name: int) -> None:
    gl.delete("Framebuffer", name)
