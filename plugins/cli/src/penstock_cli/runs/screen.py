"""Shows the frames of a run in a window, on the thread that waits for the run's end.

Every frame of a file or pattern is shown, in order, at its time; a faster graph waits. Of a camera only
the newest frame is shown, at once. Closing the window closes the graph's sources; packets under way are
still processed.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock import WaitTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import CalculatorGraph, Packet

#: How long the window's events may wait to be handled: a key press should seem to act at once.
_LOOK_S: Final = 0.02
#: Frames that wait to be shown. Enough to even out the graph's pace; few, since each holds memory.
_AHEAD: Final = 4
#: A frame later than this delays all that follow: the video pauses, instead of racing to catch up.
_LATE_S: Final = 0.1


class Surface(Protocol):
    """Where frames appear; see `window.Window`."""

    @property
    def is_closed(self) -> bool:
        """Whether the user has closed it."""

    def look(self, wait_s: float = 0.0) -> None:
        """Handle key presses and other events, for `wait_s` seconds at most."""

    def draw(self, frame: Any) -> None:
        """Show a frame."""


def keep_open(window: Surface) -> None:
    """Wait until a window is closed, or Ctrl-C; for a single picture, whose run is over at once."""
    with suppress(KeyboardInterrupt):
        while not window.is_closed:
            window.look(_LOOK_S)


class Screen:
    """Shows the frames of one stream of one run. It must be made before the run starts.

    Args:
        graph: not running.
        stream: carries `ImageFrame` or `GpuBuffer`.
        window: where to show them.
        is_live: show only the newest frame, not every one.
        clock: returns seconds that never decrease.
    """

    def __init__(
        self,
        graph: CalculatorGraph,
        stream: str,
        window: Surface,
        *,
        is_live: bool = False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._graph = graph
        self._window = window
        self._is_live = is_live
        self._clock = clock
        self._poller = graph.add_output_stream_poller(stream)
        self._poller.set_max_queue_size(_AHEAD)
        self._next: Packet | None = None
        #: The clock's time that corresponds to timestamp 0; None before the first frame.
        self._zero_s: float | None = None
        self._is_over = False
        self._is_left = False

    def wait(self, timeout: float) -> None:
        """Show frames for `timeout` seconds at most, until the run is done.

        Raises:
            WaitTimeoutError: the run is not done by then.
            GraphRunError: the run failed.
        """
        until = self._clock() + timeout
        while not self._is_over and (left := until - self._clock()) > 0:
            self._window.look()
            if self._window.is_closed and not self._is_left:
                self._is_left = True
                self._graph.close_all_packet_sources()
            self._go_on(min(left, _LOOK_S))
        self._graph.wait_until_done(max(until - self._clock(), 0.0))

    def _go_on(self, pause: float) -> None:
        """Take or show one frame, or wait for `pause` seconds."""
        if self._next is None:
            self._next = self._take(pause)
        if self._next is None:
            return
        if self._is_left:
            self._next = None
            return
        early = 0.0 if self._is_live else self._earliness(self._next)
        if early > 0:
            self._window.look(min(early, pause))
        if early <= pause:
            self._window.draw(self._next.payload)
            self._next = None

    def _take(self, pause: float) -> Packet | None:
        """Return the next frame, of a camera the newest; None after `pause` seconds or at the end."""
        try:
            packet = self._poller.next(pause)
        except WaitTimeoutError:
            return None
        self._is_over = packet is None
        while self._is_live and self._poller.queue_size():
            packet = self._poller.next(0)
        return packet

    def _earliness(self, packet: Packet) -> float:
        """Return how many seconds a frame has to wait; negative if it is late."""
        at, now = packet.timestamp.seconds, self._clock()
        if self._zero_s is None or self._zero_s + at < now - _LATE_S:
            self._zero_s = now - at
        return self._zero_s + at - now
