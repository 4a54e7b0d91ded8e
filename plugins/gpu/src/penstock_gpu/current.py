"""Which context of this pack is current on this thread. Imports no GL."""

from __future__ import annotations

import threading
from typing import Protocol


class CurrentContext(Protocol):
    """The part of a GL context that the modules below `contexts.context` use."""

    #: Arrays copied into textures in this context.
    uploads: int
    #: Images copied into arrays in this context.
    readbacks: int

    @property
    def share_group(self) -> object:
        """The same object in two contexts when textures of one are visible in the other."""

    def settle(self) -> None:
        """Make the fences that the running job has deferred."""


class _Local(threading.local):
    """State of one thread."""

    #: The context whose job runs here, or None; `GlContext.current` returns it as a GlContext.
    context: CurrentContext | None = None
    #: The `GlThread` that this thread is, or None.
    thread: object | None = None


LOCAL = _Local()
