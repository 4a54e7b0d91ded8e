"""The storage of a GpuBuffer in a texture, and the view of it for GL code."""

from __future__ import annotations

import weakref
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import InvalidArgumentError
from penstock_gpu.buffers.gl_texture_object import LOGGER, GlTextureObject
from penstock_gpu.buffers.storage import Storage, register_storage
from penstock_gpu.buffers.texture_pool import default_texture
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.contexts.current_context import current_context, current_share_group
from penstock_gpu.errors import GlError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from penstock_gpu.contexts.current_context import AnyContext
    from penstock_gpu.contexts.sync import GlSyncToken
    from penstock_gpu.formats import GpuBufferFormat


class GlTextureView:
    """A texture of a GpuBuffer during its use in the current context.

    Taking the view makes the following commands of this context wait, on the GPU, for the texture's writer (a
    view to write also for its readers); `release` makes other contexts wait for what was done meanwhile. So
    keep it short: use `with`, or release it. The texture lives at least as long as the view, also when the
    buffer is gone. A view that is dropped is released, in its context.
    """

    __slots__ = (
        "__weakref__",
        "_storage",
        "context",
        "for_writing",
        "format",
        "height",
        "name",
        "plane",
        "target",
        "texture",
        "width",
    )

    def __init__(self, storage: TextureStorage, context: AnyContext, *, for_writing: bool) -> None:
        #: The texture itself.
        self.texture = texture = storage.texture
        #: The name of the texture in GL.
        self.name = texture.name
        #: GL_TEXTURE_2D, or the target of a foreign texture.
        self.target = texture.target
        #: `width`, `height`: pixels. Image row 0 is the row at t = 0.
        self.width = texture.width
        self.height = texture.height
        #: 0.
        self.plane = 0
        #: What the pixels mean.
        self.format = texture.format
        #: The context in which it was taken and is released.
        self.context = context
        #: Whether it may be drawn to.
        self.for_writing = for_writing
        self._storage: TextureStorage | None = storage

    @property
    def is_released(self) -> bool:
        """Whether the view is released and may not be used any more."""
        return self._storage is None

    def release(self) -> None:
        """Release the view for other users; only the first call has an effect. See also `release_all`.

        It runs in the view's context; elsewhere the call is sent there and waits.

        Raises:
            GlError: GL could not make a fence; the view is released nevertheless.
        """
        storage, self._storage = self._storage, None
        if storage is None:
            return
        context = self.context
        if not isinstance(context, GlContext) or context.is_current():
            _finish(storage.texture, context, for_writing=self.for_writing)
        else:
            context.run(_Finish(storage, context, for_writing=self.for_writing))

    def release_behind(self, fence: GlSyncToken) -> None:
        """Release a view of the current context whose commands all precede this fence."""
        storage, self._storage = self._storage, None
        if storage is None:
            return
        if self.for_writing:
            self.texture.end_write(self.context, fence)
        else:
            self.texture.end_read(self.context, fence)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __del__(self) -> None:
        storage = getattr(self, "_storage", None)
        if storage is None:
            return
        self._storage = None
        finish = _Finish(storage, self.context, for_writing=self.for_writing)
        if isinstance(self.context, GlContext) and not self.context.is_current():
            self.context.post_deletion(finish)  # it is dropped if the context has ended
        else:
            finish.quietly()

    def __repr__(self) -> str:
        state = "released" if self.is_released else "to write" if self.for_writing else "to read"
        return f"<GlTextureView {state} of texture {self.name} {self.format.name} {self.width}x{self.height}>"


class _Finish:
    """A job that ends a view in its context. It keeps the storage alive until then."""

    __slots__ = ("_context", "_for_writing", "_storage")

    def __init__(self, storage: TextureStorage, context: AnyContext, *, for_writing: bool) -> None:
        self._storage = storage
        self._context = context
        self._for_writing = for_writing

    def __call__(self) -> None:
        _finish(self._storage.texture, self._context, for_writing=self._for_writing)

    def quietly(self) -> None:
        """Run in a finaliser: errors are logged, since they cannot be raised there."""
        try:
            self()
        except Exception:  # noqa: BLE001  # Python ignores what a finaliser raises
            LOGGER.exception("the dropped view of %r could not be released", self._storage.texture)


def _finish(texture: GlTextureObject, context: AnyContext, *, for_writing: bool) -> None:
    if for_writing:
        texture.end_write(context)
    else:
        texture.end_read(context)


def release_all(views: Sequence[GlTextureView]) -> None:
    """Release the views of one pass with one fence, which covers all commands before it.

    The views are released one by one if some were taken in another context, or if GL does not make that
    fence.

    Raises:
        GlError: GL could not make a fence; the views are released nevertheless.
    """
    here = GlContext.current()
    views = [view for view in views if not view.is_released]
    if views and here is not None and not [view for view in views if view.context is not here]:
        fence = _fence_or_none(here)
        if fence is not None:
            for view in views:
                view.release_behind(fence)
            return
    with ExitStack() as each:
        for view in views:
            each.callback(view.release)


def _fence_or_none(here: GlContext) -> GlSyncToken | None:
    """Return a fence, or None if GL makes none: each view then makes its own, and raises the error."""
    try:
        return here.leave_fence()
    except GlError:
        return None


class _Ending(weakref.ref["TextureStorage"]):
    """Releases a storage's texture when the storage is gone; it costs a tenth of `weakref.finalize`."""

    __slots__ = ("texture",)

    texture: GlTextureObject


#: The `_Ending` of each existing storage, by its `id`.
_ENDINGS: Final[dict[int, _Ending]] = {}


def _let_go(ending: _Ending) -> None:
    _ENDINGS.pop(id(ending), None)
    ending.texture.let_go()


class TextureStorage(Storage):
    """Pixels in a texture. Gives `GlTextureView`, in all contexts of the group where the texture is visible.

    The texture goes back to its pool, or is deleted in its context, with the last reference to the storage.

    Args:
        texture: from now on this storage's own.
    """

    __slots__ = ("texture",)

    def __init__(self, texture: GlTextureObject) -> None:
        self.texture = texture
        texture.hold()
        # No `__del__`: when a whole cycle is garbage, the finalisers of the texture's fences would run too,
        # and the pool would lend a texture whose fences are deleted. The `_Ending` keeps them alive without
        # resurrection.
        ending = _Ending(self, _let_go)
        ending.texture = texture
        _ENDINGS[id(ending)] = ending

    @classmethod
    def make(cls, width: int, height: int, format: GpuBufferFormat) -> TextureStorage:  # noqa: A002  # the word that everyone expects
        """Return a storage with a texture of this thread's default pool, or with a new one.

        Raises: see `GpuBufferPool.get`.
        """
        return cls(default_texture(width, height, format, GlTextureObject.create))

    @property
    def width(self) -> int:
        """Columns."""
        return self.texture.width

    @property
    def height(self) -> int:
        """Rows."""
        return self.texture.height

    @property
    def format(self) -> GpuBufferFormat:
        """What the pixels mean."""
        return self.texture.format

    @property
    def is_lost(self) -> bool:
        """Whether no context that sees the texture is left."""
        return self.texture.context is not None and self.texture.share_group.living() is None

    def keep(self) -> None:
        """Keep the context alive that made the texture."""
        self.texture.hold()

    def spare(self) -> None:
        """Allow that context to end when its resources are closed."""
        self.texture.spare()

    def provides(self, view: type, *, for_writing: bool) -> bool:  # noqa: ARG002  # it gives both
        """Return whether `view` is `GlTextureView`, and the current context sees the texture.

        Also true without a current context: then taking the view raises what is missing.
        """
        if view is not GlTextureView:
            return False
        here = GlContext.current()
        group = current_share_group() if here is None else here.share_group
        return group is None or group is self.texture.share_group

    def read_view(self, view: type[Any], **arguments: Any) -> GlTextureView:  # noqa: ARG002  # one view, and its plane
        """Return a view to read in the current context.

        Args:
            view: GlTextureView.
            **arguments: `plane`, 0.

        Raises:
            FailedPreconditionError: no context is current, or there is a view to write.
            InvalidArgumentError: another argument or another plane.
        """
        if arguments:
            _expect_plane(arguments)
        here = current_context("a view of a texture")
        self.texture.begin_read(here)
        return GlTextureView(self, here, for_writing=False)

    def write_view(self, view: type[Any], **arguments: Any) -> GlTextureView:  # noqa: ARG002  # as above
        """Return a view to draw to in the current context; see `read_view`.

        Raises:
            FailedPreconditionError: no context is current, or there is another view of the texture.
            InvalidArgumentError: another argument or another plane.
        """
        if arguments:
            _expect_plane(arguments)
        here = current_context("a view of a texture")
        self.texture.begin_write(here)
        return GlTextureView(self, here, for_writing=True)


def _expect_plane(arguments: dict[str, Any]) -> None:
    for name, value in arguments.items():
        if name != "plane":
            raise InvalidArgumentError(
                f"a view GlTextureView takes no argument {name!r}; it takes plane only"
            )
        if value != 0:
            raise InvalidArgumentError(
                f"the storage of a texture has plane 0 only, and no plane {value!r}; leave plane out"
            )


register_storage(GlTextureView, TextureStorage.make)
