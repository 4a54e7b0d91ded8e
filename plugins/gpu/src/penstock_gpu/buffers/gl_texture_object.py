"""One texture, and the order between the contexts that draw to it and read from it.

A context runs its own commands in order, but is not ordered with other contexts. So a writer leaves a fence,
and a reader in another context waits for it on the GPU; each context that reads leaves a fence too, and the
next writer waits for these. Fences are flushed when they are made: no wait is for a command that was never
sent.

Nothing here waits for a lock, since finalisers release views too: the code uses single operations on dicts
and lists, and a lock that is only tried.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, NoReturn

from penstock.errors import FailedPreconditionError
from penstock.log import get_logger
from penstock_gpu import gl
from penstock_gpu.buffers.allocation import TEXTURE_2D, allocate, expect_size
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.contexts.current_context import making_context
from penstock_gpu.formats import gl_layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_gpu.buffers.texture_pool import SizePool
    from penstock_gpu.contexts.current_context import AnyContext
    from penstock_gpu.contexts.sync import GlSyncToken
    from penstock_gpu.formats import GpuBufferFormat

LOGGER: Final = get_logger("gpu")


class ConsumerSync:
    """The fences of a texture's readers: one for each context that read it."""

    __slots__ = ("tokens",)

    def __init__(self, tokens: tuple[GlSyncToken, ...]) -> None:
        #: The fences; empty if the texture was not read since it was last drawn to.
        self.tokens = tokens

    def is_ready(self) -> bool:
        """Return whether all readers are done."""
        return all(token.is_ready() for token in self.tokens)

    def wait(self, timeout: float) -> bool:
        """Wait until all readers are done, at most `timeout` seconds for each; return whether they are."""
        return all(token.wait(timeout) for token in self.tokens)

    def wait_on_gpu(self) -> None:
        """Make the following commands of the current context wait until all readers are done."""
        for token in self.tokens:
            token.wait_on_gpu()


class GlTextureObject:
    """A texture with its fences. Belongs to one storage at a time, or to a pool."""

    __slots__ = (
        "_consumers",
        "_done_writing",
        "_holds",
        "_reads",
        "_release",
        "_writing",
        "context",
        "format",
        "height",
        "home",
        "is_drawable",
        "name",
        "producer",
        "share_group",
        "target",
        "width",
    )

    def __init__(  # noqa: PLR0913, PLR0917  # the properties of a texture
        self,
        name: int,
        target: int,
        width: int,
        height: int,
        format: GpuBufferFormat,  # noqa: A002  # the word that everyone expects
        context: AnyContext,
        *,
        release: Callable[[ConsumerSync], None] | None = None,
        done_writing: GlSyncToken | None = None,
    ) -> None:
        #: The name of GL.
        self.name = name
        #: GL_TEXTURE_2D, or the target of a foreign texture.
        self.target = target
        #: `width`, `height`: pixels.
        self.width = width
        self.height = height
        #: What the pixels mean.
        self.format = format
        #: The context that made it and deletes it; None if the application made it in its own.
        self.context = context if isinstance(context, GlContext) else None
        #: The context that drew to it last; at first the one that made it.
        self.producer = context
        #: The share group of all contexts that see it.
        self.share_group = context.share_group
        #: The pool that takes it back, or None.
        self.home: SizePool[GlTextureObject] | None = None
        #: Whether a framebuffer with it was found complete.
        self.is_drawable = False
        self._release = release
        self._done_writing = done_writing
        self._consumers: dict[int, GlSyncToken] = {}
        self._writing = threading.Lock()  # held by a writer; tried, never waited for
        self._reads: list[None] = []  # one element for each reader
        self._holds: list[None] = []  # one element if it holds its context

    @classmethod
    def create(cls, width: int, height: int, format: GpuBufferFormat) -> GlTextureObject:  # noqa: A002  # as above
        """Make a texture in the current context; its content is undefined.

        Raises:
            InvalidArgumentError: no texture has the format, or GL does not allow the size.
            FailedPreconditionError: no context is current, or one of the application that shares with no
                context of this pack.
            GlError: GL fails; nothing is left behind.
        """
        context = making_context()
        if not context.is_current():
            return context.run(lambda: cls.create(width, height, format))
        layout = gl_layout(format, is_es=context.api == "gles")
        expect_size(width, height)
        before = gl.get_integer(gl.GL_TEXTURE_BINDING_2D)
        name = gl.make("Texture")
        try:
            gl.glBindTexture(TEXTURE_2D, name)
            allocate(context, layout, width, height)
        except BaseException:
            gl.delete("Texture", name)
            raise
        finally:
            gl.glBindTexture(TEXTURE_2D, before)
        return cls(name, TEXTURE_2D, width, height, format, context)

    def begin_read(self, here: AnyContext) -> None:
        """Order the following commands of the current context after what was drawn.

        Raises:
            FailedPreconditionError: there is a view to write.
        """
        if self._writing.locked():
            raise FailedPreconditionError(
                f"{self!r} is being written to; release the texture object's view to write, or leave its "
                "`with`, before reading"
            )
        self._reads.append(None)
        if self._done_writing is None:
            return
        try:
            self._wait_for_producer(here)
        except BaseException:
            self._reads.pop()
            raise

    @property
    def is_in_use(self) -> bool:
        """Whether there is a view of it, or a dropped view is still to be released."""
        return self._writing.locked() or bool(self._reads)

    def end_read(self, here: AnyContext, fence: GlSyncToken | None = None) -> None:
        """Order the next writer after what was read in the current context.

        Args:
            here: that context.
            fence: a fence that was made there after the read; None makes one.
        """
        try:
            self._consumers[here.native_context] = here.leave_fence() if fence is None else fence
        finally:
            self._reads.pop()

    def end_read_back(self) -> None:
        """End a read whose pixels have arrived in main memory: it needs no fence."""
        self._reads.pop()

    def begin_write(self, here: AnyContext) -> None:
        """Order the following commands of the current context after what was drawn and what was read.

        Raises:
            FailedPreconditionError: there is another view, to read or to write.
        """
        if not self._writing.acquire(blocking=False):
            raise FailedPreconditionError(
                f"{self!r} is being written to already; release the texture object's first view to write "
                "before the next"
            )
        try:
            if self._reads:
                self._refuse_to_be_written()
            if self._done_writing is not None:
                self._wait_for_producer(here)
            if self._consumers:
                self._wait_for_consumers(here)
            self._done_writing = None
        except BaseException:
            self._writing.release()
            raise

    def end_write(self, here: AnyContext, fence: GlSyncToken | None = None) -> None:
        """Order all readers after what was drawn in the current context; `fence` as in `end_read`."""
        try:
            self._done_writing = here.leave_fence() if fence is None else fence
            self.producer = here
        finally:
            self._writing.release()

    def wait_until_complete(self, timeout: float) -> bool:
        """Wait until GL has drawn the texture, for a user without fences; return whether it has."""
        token = self._done_writing
        return token is None or token.wait(timeout)

    def let_go(self) -> None:
        """Give the texture back to its pool, or delete it. Safe in finalisers, on any thread."""
        if self.home is not None:
            self.home.give_back(self)
        else:
            self.delete()
        self.spare()

    def hold(self) -> None:
        """Keep its context from ending with its resources; see `GlContext.retire`.

        Called by the owner or the writer of the texture.
        """
        if self.context is not None and not self._holds:
            self._holds.append(None)
            self.context.hold()

    def spare(self) -> None:
        """Stop holding the context. Safe in finalisers, on any thread."""
        try:
            self._holds.pop()
        except IndexError:
            return
        if self.context is not None:
            self.context.let_go()

    def delete(self) -> None:
        """Delete the texture later, in its context; a foreign one is given back to its owner.

        It does not wait for readers: GL keeps what is still in use.
        """
        release, self._release = self._release, None
        name, self.name = self.name, 0
        if release is not None:
            self._tell(release)
        elif name and self.context is not None:
            self.context.share_group.discard(_Deletion(name), self.context)

    def _refuse_to_be_written(self) -> NoReturn:
        raise FailedPreconditionError(
            f"{self!r} is being read; release the texture object's {len(self._reads)} views to read before "
            "writing"
        )

    def _tell(self, release: Callable[[ConsumerSync], None]) -> None:
        sync = ConsumerSync(tuple(self._consumers.values()))
        try:
            release(sync)
        except Exception:
            LOGGER.exception("the callback that gives texture %r back failed", self)

    def _wait_for_producer(self, here: AnyContext) -> None:
        token = self._done_writing
        if token is not None and token.context is not here:
            token.wait_on_gpu()

    def _wait_for_consumers(self, here: AnyContext) -> None:
        consumers = self._consumers
        while consumers:
            reader, token = consumers.popitem()
            if token.context is here:
                continue
            try:
                token.wait_on_gpu()
            except BaseException:
                consumers.setdefault(reader, token)  # a second try waits for it again
                raise

    def __repr__(self) -> str:
        return f"<texture {self.name} {self.format.name} {self.width}x{self.height}>"


class _Deletion:
    """A job that deletes one texture. It is a class so that its name appears in messages."""

    __slots__ = ("_name",)

    def __init__(self, name: int) -> None:
        self._name = name

    def __call__(self) -> None:
        gl.delete("Texture", self._name)
