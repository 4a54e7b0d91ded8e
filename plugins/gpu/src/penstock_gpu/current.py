"""Which context is current on this thread, as far as this pack made it so. Imports no GL."""

from __future__ import annotations

import threading
from typing import Protocol


class CurrentContext(Protocol):
    """A GL context, as far as the modules below `contexts.context` know it.

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
        """Make the fences that the job under way has put off."""


class _Local(threading.local):
    """What belongs to one thread.

    Attributes:
        context: the context whose job runs here, or None; `GlContext.current` returns it as a GlContext.
        thread: the GL thread that this is, or None.
    """

    context: CurrentContext | None = None
    thread: object | None = None


LOCAL = _Local()
