"""GL contexts: each has its own thread or a lock; the contexts of a group share textures.

`run` calls a function on the thread where the context is current. Nothing else makes it current, so GL calls
of several threads never mix. A context ends by `close`, after `retire` with the last texture that was made in
it, with its last reference, or with the process.
"""

from __future__ import annotations

import itertools
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from penstock.errors import FailedPreconditionError, InvalidArgumentError, WaitTimeoutError
from penstock_gpu import gl
from penstock_gpu.contexts import ending, native
from penstock_gpu.contexts.gl_thread import Deletion, GlThread, Job, drain_errors, log_lost
from penstock_gpu.contexts.locked_context import LockedContext
from penstock_gpu.contexts.opening import Opening
from penstock_gpu.contexts.sync import GlSyncToken
from penstock_gpu.current import LOCAL
from penstock_gpu.errors import GlError, GpuUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from penstock_gpu.contexts.device import GpuDevice
    from penstock_gpu.contexts.external_context import ExternalContext
    from penstock_gpu.contexts.share_group import ShareGroup

T = TypeVar("T")
_NUMBERS: Final = itertools.count(1)
#: The first version with glTextureSubImage2D and glGetTextureSubImage.
_DIRECT_ACCESS: Final = (4, 5)
#: Parts of the names of renderers that draw on the CPU, in small letters.
_SOFTWARE: Final = (
    "llvmpipe",
    "softpipe",
    "swrast",
    "swiftshader",
    "software",
    "lavapipe",
    "basic render",  # of Microsoft, in WSL
)


class GlContext:
    """A GL context that is current on its own thread from its beginning to its end.

    Made by `create`. With `thread=False` it has a lock instead, and `run` makes it current on the caller's
    thread. Any thread may use its methods. The code that makes GL objects also deletes them, see
    `ShareGroup.discard`; textures, buffers, programs and fences are visible in all contexts of `share_group`.
    """

    __slots__ = (
        "__weakref__",
        "_attachments",
        "_holds",
        "_is_closed",
        "_is_retired",
        "_late",
        "_native",
        "_unsettled",
        "api",
        "device",
        "extensions",
        "has_direct_access",
        "is_software",
        "name",
        "readbacks",
        "renderer",
        "share_group",
        "thread",
        "uploads",
        "vendor",
        "version",
    )

    #: Runs the jobs; not for callers.
    thread: GlThread | LockedContext

    def __init__(self, made: native.NativeContext, device: GpuDevice, group: ShareGroup, name: str) -> None:
        #: The name in messages, and of the thread.
        self.name = name
        #: The device that the context was made on.
        self.device = device
        #: "gl" (desktop, 3.3 core or newer) or "gles" (3.0 or newer).
        self.api = made.api
        #: The version of the API, as (major, minor).
        self.version = (0, 0)
        #: The maker of the driver.
        #: The renderer's name, such as "llvmpipe (LLVM 15.0.6, 256 bits)".
        self.vendor = self.renderer = ""
        #: Names of the extensions.
        self.extensions: frozenset[str] = frozenset()
        #: Whether it draws on the CPU.
        self.is_software = device.is_software
        #: Whether textures can be written and read without being bound, as from OpenGL 4.5 on.
        self.has_direct_access = False
        #: The same object in two contexts when textures of one are visible in the other.
        self.share_group = group
        #: Arrays copied into textures in this context by `gl.upload`.
        self.uploads = 0
        #: Images copied into arrays in this context by `gl.read_into`.
        self.readbacks = 0
        self._native = made
        self._attachments: dict[Hashable, tuple[Any, Callable[[Any], object] | None]] = {}
        self._holds: list[None] = []  # one element for each object that must keep its context
        self._is_closed = False
        self._is_retired = False
        self._late: GlSyncToken | None = None  # the token whose fence the running job defers
        self._unsettled: list[GlSyncToken] = []  # that token, and those that finalisers added

    @classmethod
    def create(
        cls,
        share: GlContext | ExternalContext | None = None,
        *,
        device: str | int | None = None,
        api: str | None = None,
        thread: bool = True,
        name: str = "",
    ) -> GlContext:
        """Make a context.

        Args:
            share: a context to share textures with, in both directions; the new one has its device and API.
            device: 0, 1, ... in EGL's list; "cuda:0", "software", "surfaceless", "default", or a path such as
                "/dev/dri/renderD128". None takes the device that PENSTOCK_GPU_DEVICE names, else the first
                that works: hardware first, software last.
            api: "gl", "gles", or None for desktop GL, or GLES where the driver refuses that.
            thread: whether it gets its own thread.
            name: its name in messages; "" gives it a number.

        Raises:
            GpuUnavailableError: GL is not available, or not on this device; says what is missing.
            InvalidArgumentError: `device` or `api` is not one of these, or contradicts `share`.
        """
        native.check_not_forked("GlContext.create")
        ending.end_orphans()
        name = name or f"context {next(_NUMBERS)}"
        if api is not None and api not in native.APIS:
            raise InvalidArgumentError(
                f'a GlContext cannot have the API {api!r}, expected "gl", "gles" or None'
            )
        opening = Opening(cls, name, thread)
        if share is not None:
            return opening.shared(share, device, api)
        return opening.first(device, api)

    @staticmethod
    def current() -> GlContext | None:
        """Return the context whose job runs on this thread, or None."""
        found: Any = LOCAL.context  # only GlContexts are ever stored there
        here: GlContext | None = found
        return here

    def is_current(self) -> bool:
        """Whether a job of this context runs on this thread."""
        return LOCAL.context is self

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called, or the thread ended."""
        return self._is_closed or self.thread.has_ended

    @property
    def native_display(self) -> int:
        """The address of the EGL display, for other libraries."""
        return self._native.display

    @property
    def native_context(self) -> int:
        """The address of the EGL context, for other libraries."""
        return self._native.context

    def has_extension(self, name: str) -> bool:
        """Whether the driver has an extension, such as "GL_ARB_buffer_storage"."""
        return name in self.extensions

    def run(self, call: Callable[[], T], timeout: float | None = None) -> T:
        """Run a function where the context is current, and return what it returns.

        In a job of this context it is called at once. Elsewhere it is queued behind the other jobs, and this
        thread waits. Its errors are raised here; errors of GL as `GlError`. After Ctrl-C in a waiting thread
        a job that has not begun does not run, and one that has begun runs to its end.

        Args:
            call: takes no argument.
            timeout: seconds to wait; None waits without limit.

        Raises:
            GpuUnavailableError: the context has ended, or the process was forked.
            FailedPreconditionError: the context's thread waits for the job that calls this.
            WaitTimeoutError: the time-out has passed; a job that has not begun will not run.
        """
        here = LOCAL.context
        if here is self and not native.is_forked():
            return call()
        self.check_usable()
        if here is not None:
            here.settle()  # else the other context's job may wait for a fence of this one
        result: T = self.thread.run(self, call, timeout)
        return result

    def post(self, call: Callable[[], object]) -> None:
        """Run a function later where the context is current, without waiting; its errors are logged.

        Never blocks. The context lives until the function has run. Without a thread it runs at the next
        `run` or `close`. A finaliser uses `ShareGroup.discard` instead, which cannot fail.

        Raises:
            GpuUnavailableError: the context has ended, or the process was forked.
        """
        self.check_usable()
        self.thread.put(Job(self, call))

    def post_deletion(self, delete: Callable[[], object]) -> bool:
        """Post `delete`, or return False where the context has ended. Never raises."""
        if native.is_forked() or self.thread.has_ended:
            return False
        self.thread.put(Deletion(self, delete))
        return True

    def attachment(
        self, key: Hashable, make: Callable[[], T], dispose: Callable[[T], object] | None = None
    ) -> T:
        """Return the object that this context has under `key`; `make` is called for the first request.

        Args:
            key: unique among all that use the context, for example a tuple that begins with a module's name.
            make: makes it, with the context current.
            dispose: called with the object when the context ends, while it is still current; the last one
                made is disposed of first.
        """
        if LOCAL.context is not self or native.is_forked():
            return self.run(lambda: self.attachment(key, make, dispose))
        found = self._attachments.get(key)
        if found is None:
            found = (make(), dispose)
            self._attachments[key] = found
        result: T = found[0]
        return result

    def create_sync(self) -> GlSyncToken:
        """Return a fence after the commands of this context so far; the context must be current.

        Raises:
            FailedPreconditionError: it is not.
            GpuUnavailableError: the process was forked.
        """
        self._expect_current()
        return GlSyncToken(self)

    def leave_fence(self) -> GlSyncToken:
        """Return a fence as `create_sync` does, deferred to the end of the job where no other context draws.

        It is deferred where no other context sees what this one draws, and this one draws on the CPU: there
        the flush after a fence starts drawing on all processors just when the job's next step needs one of
        them. A job defers one fence at most. A caller that needs it earlier gets it then, see `GlSyncToken`.

        Raises: as `create_sync`.
        """
        if not self.is_software or self.share_group.is_shared:
            return self.create_sync()
        self._expect_current()
        found = self._late
        if found is None or found.is_settled:
            found = GlSyncToken(self, is_late=True)
            self._unsettled.append(found)
            self._late = found
        return found

    def settle(self) -> None:
        """Make the fences that the running job has deferred; the context must be current.

        Fences that GL does not make are logged and stay deferred. Errors left by earlier calls are logged
        first, so that no fence is blamed for them.
        """
        if not self._unsettled:
            return
        self._late = None  # first: what is drawn from now on needs another fence
        drain_errors(self)
        try:
            while self._unsettled:
                token = self._unsettled[0]
                token.settle()
                self._unsettled.remove(token)  # a finaliser may have added another meanwhile
        except GlError as error:
            log_lost(self, error)

    def _expect_current(self) -> None:
        if native.is_forked():
            native.check_not_forked(f"context {self.name!r}")
        if LOCAL.context is not self:
            raise FailedPreconditionError(
                f"GlContext {self.name!r} makes no fence where it is not current; make the fence in its run"
            )

    def close(self, timeout: float = 10.0) -> bool:
        """Run the posted jobs, dispose of the attachments, destroy the context and end its thread.

        A second call waits again. The textures stay alive in the contexts that share with it, if there are
        any. In a forked process it does nothing.

        Returns:
            Whether the context has ended; False if it was busy for `timeout` seconds, and in a job of this
            context, which then ends after that job.
        """
        if native.is_forked():
            return True
        self._is_closed, thread = True, self.thread
        if isinstance(thread, LockedContext):
            return thread.finish(timeout, self._dispose)
        self._end_thread(thread)
        return thread.join(timeout)

    def retire(self, timeout: float = 10.0) -> bool:
        """End as by `close`: now, or when the last object that holds the context, such as a texture, goes.

        Until then it works as before; the last object may go on any thread, and no thread waits for the end.

        Returns:
            Whether the context has ended or is held; False as for `close`.
        """
        if native.is_forked() or self._is_closed:
            return self.close(timeout)
        deadline = monotonic() + timeout
        self._is_retired = True
        if self._holds:  # posted jobs may release these objects
            try:
                self.run(_nothing, timeout)
            except WaitTimeoutError:
                return False
            except (FailedPreconditionError, GpuUnavailableError):
                pass  # its thread waits for this one, or has just ended
        return bool(self._holds) or self.close(max(0.0, deadline - monotonic()))

    def hold(self) -> None:
        """Count one more object that lives in this context: `retire` keeps the context until `let_go`."""
        self._holds.append(None)

    def let_go(self) -> None:
        """Count one such object less, once for each `hold`. Safe in finalisers, on any thread."""
        self._holds.pop()
        if self._is_retired and not self._holds:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = " closed" if self.is_closed else ""
        version = ".".join(map(str, self.version))
        return f"<GlContext {self.name!r}{state}: {self.api} {version}, {self.renderer}, {self.device}>"

    def __del__(self) -> None:
        if hasattr(self, "thread"):
            self._end()

    def _end(self) -> None:
        """End the context soon. Never waits, and calls no GL: safe in finalisers."""
        self._is_closed, thread = True, self.thread
        if thread.has_ended or native.is_forked():
            return
        if isinstance(thread, LockedContext):
            ending.leave_orphan(partial(thread.finish, None, self._dispose))
        else:
            self._end_thread(thread)

    def _end_thread(self, thread: GlThread) -> None:
        """Let the thread end, unless it is ending: after Ctrl-C in an earlier call it may not be."""
        if not thread.is_ending:
            thread.put(Job(self, self._dispose))
            thread.end()

    def check_usable(self) -> None:
        """Raise as `run` for a context that has ended, or a process that was forked."""
        if native.is_forked():
            native.check_not_forked(f"context {self.name!r}")
        if self.is_closed:
            raise GpuUnavailableError(
                f"context {self.name!r} was used after its end", "make another with GlContext.create"
            )

    def _dispose(self) -> None:
        """Dispose of the attachments, at the end of the context."""
        before, LOCAL.context = LOCAL.context, self
        try:
            while self._attachments:
                _, (value, dispose) = self._attachments.popitem()
                if dispose is None:
                    continue
                try:
                    dispose(value)
                except Exception as error:  # noqa: BLE001  # the other attachments are disposed of too
                    log_lost(self, error)
        finally:
            LOCAL.context = before

    def learn(self) -> None:
        """Store what the driver reports, and set the state that all jobs rely on; called once, current."""
        self.vendor = gl.get_string(gl.GL_VENDOR)
        self.renderer = gl.get_string(gl.GL_RENDERER)
        self.version = (gl.get_integer(gl.GL_MAJOR_VERSION), gl.get_integer(gl.GL_MINOR_VERSION))
        self.extensions = gl.extensions()
        self.has_direct_access = self.api == "gl" and self.version >= _DIRECT_ACCESS
        self.is_software |= any(word in self.renderer.lower() for word in _SOFTWARE)
        gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 1)  # rows of an array have no padding
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 1)


def _nothing() -> None:
    """Do nothing: a job after all that were posted before."""
