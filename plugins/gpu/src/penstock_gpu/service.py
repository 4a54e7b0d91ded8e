"""What the GPU nodes of a graph share: contexts by name, a pool of textures, and where each node runs.

The service is made by the graph when a node needs it and the application has set none. The environment
variable PENSTOCK_GPU then says what happens without GL: "require" (the run does not start), "prefer"
(nodes take their NumPy path, with one line in the log), "off" (they always do).
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
from penstock_gpu.buffers.texture_pool import PoolOptions
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.contexts.executor import GlExecutor
from penstock_gpu.errors import GpuUnavailableError

if TYPE_CHECKING:
    from types import TracebackType

    from penstock_gpu.contexts.external_context import ExternalContext

#: The environment's choice of a policy, where the program makes none.
VARIABLE: Final = "PENSTOCK_GPU"
REQUIRE: Final = "require"
PREFER: Final = "prefer"
OFF: Final = "off"
POLICIES: Final = (REQUIRE, PREFER, OFF)
#: The context of all nodes that ask for no other.
MAIN: Final = ""
#: Before the name of a context that a graph's `GlContextOptions` ask for.
USER: Final = "user:"
#: The contexts of the nodes that copy images to the GPU and back, so that copying holds up nobody who
#: draws. Where the CPU draws they are the main one: a copy waits for the drawing, and a second thread only
#: takes the processors from it. Not for a run that is started on that very thread, which may then wait for
#: the run in any way.
UPLOADS: Final = "auto:ImageFrameToGpuBufferCalculator"
READBACKS: Final = "auto:GpuBufferToImageFrameCalculator"
#: Where a node runs that calls no GL: on the thread of the main context, beside its neighbours, unless the
#: run is started on that thread.
BESIDE: Final = "beside the main context"

_logger = get_logger("gpu")


class GpuResources:
    """The contexts and the pool of one graph, or of several that share their textures. Thread-safe.

    The main context is made at once, the others when a node first asks for them; all see one another's
    textures. They live from run to run until `close`, and a context whose textures are still in buffers with
    the last of them. A graph that is not given one makes its own, and closes it with itself; one that the
    application makes is the application's to close.

    A graph inside a calculator may be given the resources of the graph around it. Its nodes on the context
    of the very thread that started it then run inside the calculator's waits for it. Resources that are
    made there see the textures of the graph around it. While the calculator waits, its thread does
    nothing else: nodes inside that read a texture where no context is current wait for it for ever. So
    take `GpuBuffer.frame()` before, or put a GpuBufferToImageFrameCalculator inside, which has a context
    of its own there. A graph inside that another thread starts, while the calculator waits for that, does
    not know whose thread waits: give its nodes a context of their own by `GlContextOptions`.

    Args:
        policy: "require", "prefer" or "off"; None: what the environment variable PENSTOCK_GPU says, else
            "require".
        device: which, as `GlContext.create` takes it.
        threads: whether each context has a thread of its own, on which its nodes run. False: nodes run on
            the graph's ordinary executors, and a context is locked while one works in it.
        share_with: a context of the application, or of other resources, that shall see the textures too.
            None, and neither `device` nor `api`: the one that is current on this thread, where one is.
        api: "gl" or "gles"; None: the better one that there is.
        pool: how many textures are kept for further use.

    Attributes:
        policy: as above.
        pool: of textures.

    Raises:
        InvalidArgumentError: there is no such policy or device.
        GpuUnavailableError: GL is required and not there; says what is missing.
    """

    def __init__(  # noqa: PLR0913  # each is one thing to choose
        self,
        policy: str | None = None,
        *,
        device: str | int | None = None,
        threads: bool = True,
        share_with: GlContext | ExternalContext | None = None,
        api: str | None = None,
        pool: PoolOptions | None = None,
    ) -> None:
        self.policy: Final = _checked_policy(policy)
        self.pool: Final = GpuBufferPool(PoolOptions() if pool is None else pool)
        self._device: Final = device
        self._has_threads: Final = threads
        self._api: Final = api
        self._lock: Final = threading.Lock()
        self._contexts: Final[dict[str, GlContext]] = {}
        self._executors: Final[dict[str, GlExecutor]] = {}
        #: Node → key of its context, as of the run that started last.
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
        """Whether there is GL to be had; else nodes take their NumPy path."""
        return not self._why_off

    @property
    def why_off(self) -> str:
        """Why there is none; "" where there is."""
        return self._why_off

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the contexts that there are, in the order in which they were made."""
        return tuple(self._contexts)

    def context(self, key: str = MAIN) -> GlContext:
        """Return a context, made when it is first asked for.

        Args:
            key: "" for the main one, "user:<name>" for one that graphs name in `GlContextOptions`,
                "auto:<calculator>" for those of calculators that have one among themselves; `UPLOADS` and
                `READBACKS` are the main one where that draws in software.

        Raises:
            GpuUnavailableError: there is no GL, or the driver has no further context to give.
            FailedPreconditionError: the resources are closed.
        """
        self._refuse_closed()
        if self._why_off:
            raise GpuUnavailableError(f"there is no GL context: {self._why_off}")
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
        """Return where a node shall run: on the thread of its context; None: on its ordinary executor.

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
        """Return the context of a node, as it asked when its run started. Raises as `context`."""
        current = GlContext.current()
        if current is not None and current in self._contexts.values():
            return current  # the node runs on its context's thread
        return self.context(self._keys.get(node, MAIN))

    # --- the end ------------------------------------------------------------------------------

    def close(self, timeout: float = 10.0) -> bool:
        """End the contexts and their threads, after what was posted to them; start no further run.

        A context that made textures which are still in buffers stays, with its thread, so that these can be
        read and drawn with; it ends with the last of them, or with the process. `GlContext.close` ends it
        at once. May be called again.

        Args:
            timeout: seconds that all of it may take.

        Returns:
            Whether all other threads have ended. One that has not is stuck in a job, and ends after it.

        Raises:
            FailedPreconditionError: a run uses them; nothing has changed.
        """
        with self._lock:
            used = [executor.name for executor in self._executors.values() if executor.runs]
            if used:
                names = ", ".join(map(repr, used))
                raise FailedPreconditionError(
                    f"these GPU resources serve a run under way (executor {names}); wait until it is done, "
                    "then close them"
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
        is_main = key == MAIN  # the others are where the main one is
        return GlContext.create(
            share,
            device=self._device if is_main else None,
            api=self._api if is_main else None,
            thread=self._has_threads,
            name="main" if is_main else key,
        )

    def _own_or_main(self, key: str) -> str:
        """Return the key of the context that stands for `key`."""
        copies = key in {UPLOADS, READBACKS}
        main = self._contexts[MAIN]
        return MAIN if copies and main.is_software and not main.is_current() else key

    def _refuse_closed(self, node: str | None = None) -> None:
        if self._is_closed:
            raise FailedPreconditionError("these GPU resources are closed; make new ones", node=node)


def _checked_policy(policy: str | None) -> str:
    source = ""
    if policy is None:
        policy = os.environ.get(VARIABLE, "").strip() or REQUIRE
        source = f" (from {VARIABLE})"
    if policy not in POLICIES:
        raise InvalidArgumentError(
            f"GPU policy {policy!r}{source}: there is no such; use {', '.join(map(repr, POLICIES[:-1]))} or "
            f"{POLICIES[-1]!r}"
        )
    return policy


#: The GPU of a graph. Made by the graph itself where the application sets none.
GPU: Final[ServiceKey[GpuResources]] = ServiceKey("gpu", create=GpuResources)
