"""The priority of the threads that encode."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_THREADS: Final = Path("/proc/self/task")


@contextlib.contextmanager
def kept_priority() -> Iterator[None]:
    """Keep the scheduling policy of this thread while an encoder is opened, and give it to new threads.

    In a process of root, as in most containers, SVT-AV1 makes the thread that opens it and its own threads
    SCHED_FIFO with priority 99 (seen with 4.1.0), and what such a thread starts is so too. On a machine of
    few cores nothing else runs then: no shell, no timer, no other node.

    Does nothing where the system is not Linux or has no /proc. `sched(7)` explains the policies.
    """
    if sys.platform != "linux" or not _THREADS.is_dir():
        yield
        return
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    others = set(_THREADS.iterdir())
    try:
        yield
    finally:
        for thread in [0, *(int(path.name) for path in set(_THREADS.iterdir()) - others)]:
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                if os.sched_getscheduler(thread) in {os.SCHED_FIFO, os.SCHED_RR} - {policy}:
                    os.sched_setscheduler(thread, policy, parameters)
