"""`Budget`: how much processor time those who look at a graph may take."""

from __future__ import annotations

import statistics
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

#: What a job costs is the median of so many times.
_LOOKED_AT: Final = 3
#: What a job has cost the first time makes a cycle no longer than this: it may also import modules, and read
#: the plan.
_FIRST_S: Final = 1.0
#: A job that was not done for so many cycles, and at least so long, counts no more.
_CYCLES: Final = 3
_FORGOTTEN_S: Final = 3.0


class Budget:
    """A share of one processor, for jobs that are done again and again, each at most once in a cycle.

    A cycle is so long that all jobs together take no more than the share. Any thread may call the methods.

    Args:
        share: of one processor, above 0.
        clock: in seconds, never decreases.

    Raises:
        InvalidArgumentError: `share` is not above 0.
    """

    def __init__(self, share: float, clock: Callable[[], float] = time.monotonic) -> None:
        if not share > 0:
            raise InvalidArgumentError(
                f"the budget's share {share}: must be above 0; 0.01 is 1 % of a processor"
            )
        self._share: Final = share
        self._clock: Final = clock
        self._lock: Final = threading.Lock()
        #: Job → when it was done last, and what it has cost lately.
        self._jobs: Final[dict[str, tuple[float, deque[float]]]] = {}

    def spent(self, job: str, cpu_s: float) -> None:
        """Take note of what a job has cost, in seconds of processor time."""
        with self._lock:
            _, costs = self._jobs.get(job, (0.0, deque(maxlen=_LOOKED_AT)))
            costs.append(cpu_s)
            self._jobs[job] = self._clock(), costs

    def cycle_s(self, *, goes_on: bool = False) -> float:
        """Return how long a cycle is: seconds from one time that a job is done until the next.

        Args:
            goes_on: of a job that must not pause when many others begin at once, as where a page is opened:
                all that were done once make its cycle no longer than a second together.
        """
        now_s = self._clock()
        with self._lock:
            costs = [costs for _, costs in self._jobs.values()]
            again_s = sum(statistics.median_low(one) for one in costs if len(one) > 1) / self._share
            first_s = sum(min(one[0] / self._share, _FIRST_S) for one in costs if len(one) == 1)
            cycle_s = again_s + first_s
            oldest_s = now_s - max(_FORGOTTEN_S, _CYCLES * cycle_s)
            for job in [job for job, (at_s, _) in self._jobs.items() if at_s < oldest_s]:
                del self._jobs[job]
        return again_s + min(first_s, _FIRST_S) if goes_on else cycle_s
