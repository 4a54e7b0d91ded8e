"""Contexts of an application, which this pack neither makes nor ends."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Final, TypeVar, final

from penstock.errors import FailedPreconditionError
from penstock_gpu import egl
from penstock_gpu.contexts import native
from penstock_gpu.contexts.share_group import ShareGroup
from penstock_gpu.contexts.sync import GlSyncToken

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
_LOCK: Final = threading.Lock()
#: The group of each context of an application: two objects for one context share.
_GROUPS: Final[weakref.WeakValueDictionary[tuple[int, int], ShareGroup]] = weakref.WeakValueDictionary()


@final
class ExternalContext:
    """An EGL context that the application made and keeps alive.

    Use it to share textures with it (`GlContext.create(share=...)`), and to draw a `GpuBuffer` in it. It must
    outlive all contexts that share with it.
    """

    __slots__ = ("api", "name", "native_context", "native_display", "share_group")

    def __init__(self, display: int, context: int) -> None:
        #: The address of its EGL display.
        self.native_display = display
        #: The address of the EGL context.
        self.native_context = context
        #: "gl" or "gles".
        self.api = "gles" if egl.load().context_api(display, context) == egl.OPENGL_ES_API else "gl"
        #: The name in messages.
        self.name = f"external 0x{context:x}"
        with _LOCK:
            #: The same object as in the contexts which share with it.
            self.share_group = _GROUPS.setdefault((display, context), ShareGroup())
        self.share_group.is_shared = True
        native.note_use()

    @classmethod
    def current(cls) -> ExternalContext:
        """Return the application's context that is current on this thread.

        Raises:
            FailedPreconditionError: no EGL context is current.
            GpuUnavailableError: libEGL is not installed.
        """
        binding = egl.load().current()
        if not binding.context:
            raise FailedPreconditionError(
                "no EGL context is current on this thread; make the application's own current first (a window"
                " library that uses GLX must be configured to use EGL)"
            )
        return cls(binding.display, binding.context)

    @property
    def is_closed(self) -> bool:
        """False: the application ends it."""
        return False

    def is_current(self) -> bool:
        """Whether it is current on this thread."""
        return egl.load().current().context == self.native_context

    def create_sync(self) -> GlSyncToken:
        """Return a fence after the commands of this context so far; it must be current.

        Raises:
            FailedPreconditionError: it is not.
        """
        if not self.is_current():
            raise FailedPreconditionError(
                f"external context {self.name!r} is not current on this thread; make it current first"
            )
        return GlSyncToken(self)

    def leave_fence(self) -> GlSyncToken:
        """Return and raise as `create_sync`: no job of this context could make the fence later."""
        return self.create_sync()

    def run(self, call: Callable[[], T], timeout: float | None = None) -> T:  # noqa: ARG002  # as GlContext.run
        """Call a function if this context is current here; this pack cannot use its thread.

        Raises:
            FailedPreconditionError: it is not current.
        """
        if not self.is_current():
            raise FailedPreconditionError(
                f"external context {self.name!r} is not current on this thread; make it current first"
            )
        return call()

    def post_deletion(self, delete: Callable[[], object]) -> bool:  # noqa: ARG002  # as GlContext.post_deletion
        """Return False: this pack has no thread to which the deletion could be posted."""
        return False

    def __repr__(self) -> str:
        return f"<ExternalContext {self.name!r}: {self.api}>"
