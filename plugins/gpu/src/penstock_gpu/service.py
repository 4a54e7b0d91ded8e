"""The graph service `GPU`: contexts by name, a pool of textures, and the executor of each node.

The graph makes the service when a node needs it and the application has not set one. The environment variable
PENSTOCK_GPU then says what happens without GL: "require" (the run does not start), "prefer" (nodes take their
NumPy path, and one line is logged), "off" (they always take it).
"""

from __future__ import annotations

import os
import threading
from time import monotonic
from typing import TYPE_CHECKING, Final, Self

from penstock import ServiceKey
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.log import get_logger, place
from penstock_gpu.buffers.buffer_pool import GpuBufferPool
from penstock_gpu.buffers.texture_pool import TexturePoolOptions
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.contexts.executor import GlExecutor
from penstock_gpu.errors import GpuUnavailableError

if TYPE_CHECKING:
    from types import TracebackType

    from penstock_gpu.contexts.external_context import ExternalContext

#: Chooses the policy by the environment, where the program does not.
VARIABLE: Final = "PENSTOCK_GPU"
REQUIRE: Final = "require"
PREFER: Final = "prefer"
OFF: Final = "off"
POLICIES: Final = (REQUIRE, PREFER, OFF)
#: The key of the context of all nodes that ask for no other.
MAIN: Final = ""
#: The prefix of the keys of contexts that `GlContextOptions` name.
USER: Final = "user:"
#: The keys of the contexts of nodes that copy images to the GPU and back, so that copying does not delay
#: drawing. If the CPU draws, both mean the main context: a copy waits for the drawing, and a second thread
#: would only take processors from it. This does not apply to a run that is started on the main context's
#: thread, since that thread may wait for the run.
UPLOADS: Final = "auto:ImageFrameToGpuBufferCalculator"
READBACKS: Final = "auto:GpuBufferToImageFrameCalculator"
#: The place of a node that calls no GL: on the thread of the main context, as its neighbours, unless the run
#: is started on that thread.
BESIDE: Final = "beside the main context"

_logger = get_logger("gpu")


class GpuResources:
    """The contexts and the pool of one graph, or of several that share their textures. Thread-safe.

    The main context is made at once, the others when a node first asks for them; all share textures. They
    live from run to run until `close`; a context whose textures are still in buffers lives until the last of
    them is gone. A graph without given resources makes its own, and closes them with itself; the application
    closes those that it makes.

    A graph inside a calculator may use the resources of the outer graph. Nodes of the inner graph whose
    context's thread has started it then run inside the calculator's waits for it. Resources that are made in
    the calculator share textures with the outer graph. While the calculator waits, its thread does nothing
    else: an inner node that reads a texture where no context is current waits for that thread without end. So
    call `GpuBuffer.frame()` first, or put a GpuBufferToImageFrameCalculator inside, which has its own context
    there. If another thread starts the inner graph while the calculator waits for that thread, the inner
    graph cannot know which thread waits: give its nodes another context by `GlContextOptions`.

    Args:
        policy: "require", "prefer" or "off"; None: the value of the environment variable PENSTOCK_GPU, else
            "require".
        device: the device, as for `GlContext.create`.
        threads: whether each context has its own thread, on which its nodes run. False: nodes run on the
            graph's ordinary executors, and a context is locked while a node works in it.
        share_with: a context of the application, or of other resources, to share textures with. None, without
            `device` and `api`, takes the context that is current on this thread, if any.
        api: "gl" or "gles"; None takes "gl" if it is available, else "gles".
        pool: how many textures are kept for reuse.

    Raises:
        InvalidArgumentError: there is no such policy or device.
        GpuUnavailableError: GL is required and not available; says what is missing.
    """

    def __init__(  # noqa: PLR0913  # each is a separate choice
        self,
        policy: str | None = None,
        *,
        device: str | int | None = None,
        threads: bool = True,
        share_with: GlContext | ExternalContext | None = None,
        api: str | None = None,
        pool: TexturePoolOptions | None = None,
    ) -> None:
        #: As above.
        self.policy: Final = _checked_policy(policy)
        #: The pool of textures.
        self.pool: Final = GpuBufferPool(TexturePoolOptions() if pool is None else pool)
        self._device: Final = device
        self._has_threads: Final = threads
        self._api: Final = api
        self._lock: Final = threading.Lock()
        self._contexts: Final[dict[str, GlContext]] = {}
        self._executors: Final[dict[str, GlExecutor]] = {}
        #: Node → key of its context in the run that started last.
        self._keys: Final[dict[str, str]] = {}
        self._is_closed = False
        self._why_off = "" if self.policy != OFF else "its policy is 'off'"
        if share_with is None and device is None and api is None:
            share_with = GlContext.current()
        if self.is_on:
            self._make_main(share_with)

    # --- what there is ------------------------------------------------------------------------

    @property
    def is_on(self) -> bool:
        """Whether GL is used; else nodes take their NumPy path."""
        return not self._why_off

    @property
    def why_off(self) -> str:
        """Why GL is not used; "" if it is."""
        return self._why_off

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the existing contexts, in the order in which they were made."""
        return tuple(self._contexts)

    def context(self, key: str = MAIN) -> GlContext:
        """Return a context, made when it is first asked for.

        Args:
            key: "" for the main one, "user:<name>" for one that graphs name in `GlContextOptions`,
                "auto:<calculator>" for one that the nodes of a calculator share; `UPLOADS` and `READBACKS`
                mean the main one if that draws in software.

        Raises:
            GpuUnavailableError: GL is not used, or the driver gives no further context.
            FailedPreconditionError: the resources are closed.
        """
        self._refuse_closed()
        if self._why_off:
            raise GpuUnavailableError(f"the GPU service has no GL context: {self._why_off}")
        key = self._own_or_main(key)
        found = self._contexts.get(key)
        if found is not None:
            return found
        with self._lock:
            self._refuse_closed()
            if key not in self._contexts:
                self._contexts[key] = self._create(self._contexts[MAIN], key)
            return self._contexts[key]

    def executor_for(self, node: str, place: str = MAIN) -> GlExecutor | None:
        """Return the executor of a node, on its context's thread; None for its ordinary executor.

        The framework calls this for each node when a run starts.

        Args:
            node: name of the node.
            place: key of its context; see `context`. Or `BESIDE`.

        Raises:
            GpuUnavailableError: the context cannot be made; names the node.
            FailedPreconditionError: the resources are closed.
        """
        self._refuse_closed(node)
        if not self._why_off:
            if place == BESIDE:
                if self._contexts[MAIN].is_current():
                    return None
                place = MAIN
            place = self._own_or_main(place)
        self._keys[node] = place
        if self._why_off:
            return None
        try:
            context = self.context(place)
        except GpuUnavailableError as error:
            error.node = node
            error.add_note(f"node {node!r} asks for the GL context {place!r}")
            raise
        if not self._has_threads:
            return None
        with self._lock:
            if place not in self._executors:
                self._executors[place] = GlExecutor(context, f"__gpu_{place}")
            return self._executors[place]

    def context_of(self, node: str) -> GlContext:
        """Return the context that a node asked for when its run started. Raises as `context`."""
        current = GlContext.current()
        if current is not None and current in self._contexts.values():
            return current  # the node runs on its context's thread
        return self.context(self._keys.get(node, MAIN))

    # --- the end ------------------------------------------------------------------------------

    def close(self, timeout: float = 10.0) -> bool:
        """End the contexts and their threads, after their posted jobs; no further run can start.

        A context whose textures are still in buffers stays, with its thread, so that these can be read and
        drawn; it ends with the last of them, or with the process. `GlContext.close` ends it at once. May be
        called again.

        Args:
            timeout: seconds that all of this may take.

        Returns:
            Whether all other threads have ended. A thread that has not is busy with a job, and ends after it.

        Raises:
            FailedPreconditionError: a run uses the contexts; nothing has changed.
        """
        with self._lock:
            used = [executor.name for executor in self._executors.values() if executor.runs]
            if used:
                names = ", ".join(map(repr, used))
                raise FailedPreconditionError(
                    f"the GPU service serves a run (executor {names}); wait until it is done, then close it"
                )
            self._is_closed = True
            contexts = list(self._contexts.values())
        self.pool.close()
        deadline = monotonic() + timeout
        ended = [one.retire(max(0.0, deadline - monotonic())) for one in reversed(contexts)]
        return all(ended)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._is_closed:
            return "<GpuResources, closed>"
        if self._why_off:
            return f"<GpuResources, off: {self._why_off}>"
        return f"<GpuResources with {len(self._contexts)} contexts on {self._contexts[MAIN].renderer!r}>"

    # --- shared -------------------------------------------------------------------------------

    def _make_main(self, share_with: GlContext | ExternalContext | None) -> None:
        try:
            self._contexts[MAIN] = self._create(share_with, MAIN)
        except GpuUnavailableError as error:
            if self.policy == REQUIRE:
                cure = f"or let nodes run on NumPy where they can, with {VARIABLE}={PREFER}"
                raise GpuUnavailableError(
                    error.cause, f"{error.cure}, {cure}" if error.cure else cure
                ) from error
            self._why_off = str(error)
            _logger.warning("there is no GL, so GPU nodes take their NumPy path: %s", error, extra=place())

    def _create(self, share: GlContext | ExternalContext | None, key: str) -> GlContext:
        is_main = key == MAIN  # the others use the main one's device
        return GlContext.create(
            share,
            device=self._device if is_main else None,
            api=self._api if is_main else None,
            thread=self._has_threads,
            name="main" if is_main else key,
        )

    def _own_or_main(self, key: str) -> str:
        """Return the key of the context that `key` means: itself, or that of the main one."""
        copies = key in {UPLOADS, READBACKS}
        main = self._contexts[MAIN]
        return MAIN if copies and main.is_software and not main.is_current() else key

    def _refuse_closed(self, node: str | None = None) -> None:
        if self._is_closed:
            raise FailedPreconditionError("the GPU service is closed; make new GpuResources", node=node)


def _checked_policy(policy: str | None) -> str:
    source = ""
    if policy is None:
        policy = os.environ.get(VARIABLE, "").strip() or REQUIRE
        source = f" (from {VARIABLE})"
    if policy not in POLICIES:
        raise InvalidArgumentError(
            f"policy {policy!r}{source} of the GPU service does not exist; use "
            f"{', '.join(map(repr, POLICIES[:-1]))} or "
            f"{POLICIES[-1]!r}"
        )
    return policy


#: The GPU service of a graph. The graph makes it if the application sets none.
GPU: Final[ServiceKey[GpuResources]] = ServiceKey("gpu", create=GpuResources)
