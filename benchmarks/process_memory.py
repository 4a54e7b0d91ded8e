"""How much memory this process holds. Standard library only."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

MEBI = 1 << 20
#: `ru_maxrss` is in KiB, on macOS in bytes.
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


def resident_mb() -> float:
    """Return the resident memory in MiB; if the system does not report it, the peak so far."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return peak_mb()
    return pages * os.sysconf("SC_PAGE_SIZE") / MEBI


def peak_mb() -> float:
    """Return the largest resident memory so far, in MiB.

    It reads VmHWM on Linux, since `ru_maxrss` begins there with the memory of the parent process when it
    started this one; on systems without that file it reads `ru_maxrss`.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT / MEBI


def cpu_s() -> float:
    """Return the CPU seconds of this process so far, all threads, user and system."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
