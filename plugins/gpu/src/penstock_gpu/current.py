"""Which context of this pack is current on this thread. Imports no GL."""

from __future__ import annotations

import threading
from typing import Protocol


class CurrentContext(Protocol):
    """The part of a GL context that the modules below `contexts.context` use.

    Attributes:
        uploads: arrays copied into textures in this context.
        readbacks: images copied into arrays in this context.
    """

    uploads: int
    readbacks: int

    @property
    def share_group(self) -> object:
        """The same object in two contexts when textures of one are visible in the other."""

    def settle(self) -> None:
        """Make the fences that the running job has deferred."""


class _Local(threading.local):
    """State of one thread.

    Attributes:
        context: the context whose job runs here, or None; `GlContext.current` returns it as a GlContext.
        thread: the `GlThread` that this thread is, or None.
    """

    context: CurrentContext | None = None
    thread: object | None = None


LOCAL = _Local()
