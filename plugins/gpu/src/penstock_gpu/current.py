"""Which context is current on this thread, as far as this pack made it so. Imports no GL."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock_gpu.context import GlContext
    from penstock_gpu.gl_thread import GlThread


class _Local(threading.local):
    """What belongs to one thread.

    Attributes:
        context: the context whose job runs here, or None.
        thread: the GL thread that this is, or None.
    """

    context: GlContext | None = None
    thread: GlThread | None = None


LOCAL = _Local()
