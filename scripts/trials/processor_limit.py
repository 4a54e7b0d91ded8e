"""A limit of processor time for the next job of a process that has worked for long."""

from __future__ import annotations

import math
import resource
import time
from typing import Final

#: The processor time of this process by the clock of RLIMIT_CPU, as Linux numbers clocks. It counts ticks,
#: and after a minute of a busy machine it is seconds ahead of `time.process_time`: a limit by the latter
#: ends a job that has used little.
_TICKS: Final = -8


def used() -> float:
    """Return the seconds of processor time that this process has used, as RLIMIT_CPU counts them."""
    return time.clock_gettime(_TICKS)


def limit_processor(seconds: float) -> None:
    """Let this process end by SIGXCPU, be it inside of C code, where it uses so much more processor time.

    Args:
        seconds: above 0; the kernel counts whole seconds, so it may be one more.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used() + seconds), hard))
