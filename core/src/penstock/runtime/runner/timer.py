"""The thread that ends the waits of nodes whose time is over, and looks at the bytes in queues.

Only runs that have such nodes, or a limit of bytes, have it. Time is read without the run's lock: the
clock is the application's (`graph.set_clock`). So a wait is counted from the moment at which this thread
sees it, a little after it began.
"""

from __future__ import annotations

import threading
from time import monotonic
from typing import TYPE_CHECKING, Final

from penstock.errors import PenstockError
from penstock.runtime.runner.byte_limit import ByteLimit
from penstock.runtime.threads import start

if TYPE_CHECKING:
    from penstock.runtime.runner.waiting import AwaitedRun

#: How often a clock of the application is read: it does not report when it has moved.
_LOOK_AT_CLOCK_S: Final = 0.005
#: How long the thread sleeps at most, although every wait that begins wakes it.
_LOOK_AGAIN_S: Final = 1.0


class Timer:
    """Calls `Schedule.time_out` for nodes that have waited as long as their input policy allows."""

    def __init__(self, runner: AwaitedRun, max_bytes: float | None = None) -> None:
        self._runner: Final = runner
        self._byte_limit: Final = ByteLimit(runner, max_bytes) if max_bytes else None
        self._told: Final = threading.Event()
        self._is_stopping = False
        #: node id → (timestamp that it waits with, since when on the run's clock)
        self._since: dict[int, tuple[int, float]] = {}
        self._patience: Final = {node.id: node.policy.patience_s or 0.0 for node in runner.schedule.patient}
        self._thread: Final = threading.Thread(target=self._serve, name="penstock-timer", daemon=True)

    @property
    def thread_id(self) -> int | None:
        """The ident of the thread, as of `threading.get_ident`; None before it has begun."""
        return self._thread.ident

    def start(self) -> None:
        """Begin to watch.

        Raises:
            ResourceExhaustedError: the system starts no thread.
        """
        start(self._thread, "that watches the time limits of nodes and queues")

    def tell(self) -> None:
        """Report that a node may have begun to wait. Never blocks."""
        self._told.set()

    def stop(self, timeout: float | None = None) -> bool:
        """End the thread and join it; return whether it has ended."""
        self._is_stopping = True
        self._told.set()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _serve(self) -> None:
        runner = self._runner
        while not self._is_stopping:
            self._told.clear()
            try:
                left = self._look(runner.now())
            except PenstockError as failure:  # of the application's clock
                runner.change(lambda schedule, failure=failure: schedule.fail(failure))
                return
            if runner.clock is not monotonic:
                left = min(left, _LOOK_AT_CLOCK_S if self._since else _LOOK_AGAIN_S)
            if self._byte_limit is not None:
                left = min(left, self._byte_limit.look())
            self._told.wait(left)

    def _look(self, now: float) -> float:
        """End the waits whose time is over; return in how many seconds to look again."""
        runner = self._runner
        waiting = runner.ask(lambda schedule: schedule.waiting())
        since = {
            node: self._since[node] if self._since.get(node, (None,))[0] == t else (t, now)
            for node, t in waiting.items()
        }
        self._since = since
        left = _LOOK_AGAIN_S
        for node, (t, began) in since.items():
            remains = began + self._patience[node] - now
            if remains > 0:
                left = min(left, remains)
                continue
            runner.change(lambda schedule, node=node, t=t: schedule.time_out(node, t))
            left = 0.0  # the node may have begun to wait for the next input set
        return left
