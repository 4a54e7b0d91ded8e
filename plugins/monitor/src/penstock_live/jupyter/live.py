"""`Live`: a running graph in a cell of a notebook.

The widget reads the graph through a `penstock_monitor.Monitor`, on a thread of its own, and sends what it has
read to the notebook. While no view of it is open any more nothing is read.
"""

from __future__ import annotations

import json
import threading
import weakref
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import (
    FailedPreconditionError,
    PenstockError,
    UnavailableError,
    WaitTimeoutError,
    words_of,
)
from penstock.log import get_logger
from penstock_live import drawing
from penstock_live.feed import encoded
from penstock_live.jupyter.cards import card, module, style
from penstock_live.thumbnail import error_card
from penstock_monitor import Monitor

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise UnavailableError(
        f"penstock_live.jupyter needs anywidget, which is not there ({error}); "
        'pip install "penstock-monitor[jupyter]"'
    ) from error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import CalculatorGraph
    from penstock_monitor import Reading

_LOG: Final = get_logger("live")
#: How long to wait for a packet that passes; then the last one is shown.
_PEEK_S: Final = 0.2
_LOOK_S: Final = 1.0


class Live(anywidget.AnyWidget):
    """A graph in a cell: its picture with numbers, a table of its streams, and packets of some of them.

    It may be made before, during or after a run, and follows the graph from run to run. Closing it, or
    dropping the graph, ends its threads; the cell keeps the last numbers. How busy nodes are is shown of runs
    that are timed: call `graph.set_timing()` before the run.

    Args:
        graph: is only looked at, and not kept alive.
        streams: whose packets are shown at first; a list in the cell chooses others.
        interval_s: seconds between two readings, above 0.

    Raises:
        InvalidArgumentError: `interval_s` is not above 0.
        NotFoundError: there is no such stream; names the most similar one. No thread is left.
    """

    _esm = module()

    kind = traitlets.Unicode("graph").tag(sync=True)
    css = traitlets.Unicode(style()).tag(sync=True)
    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    streams = traitlets.List(traitlets.Unicode()).tag(sync=True)
    #: The newest reading, as the JSON of `penstock_monitor.Reading`.
    reading = traitlets.Dict().tag(sync=True)
    #: Stream → the packet that is shown.
    cards = traitlets.Dict().tag(sync=True)
    #: The graph as SVG; "" until it is drawn, and where it cannot be: then `picture_words` say why.
    picture = traitlets.Unicode().tag(sync=True)
    picture_words = traitlets.Unicode("The picture is being drawn.").tag(sync=True)
    #: "live", "paused" while no view of it is open, "closed", "the graph is gone", or why it failed.
    status = traitlets.Unicode("live").tag(sync=True)

    #: None until it is made: ipywidgets closes one that could not be made too.
    _thread: threading.Thread | None = None

    def __init__(self, graph: CalculatorGraph, streams: Sequence[str] = (), interval_s: float = 0.5) -> None:
        self._graph: Final = weakref.ref(graph)
        self._interval_s: Final = interval_s
        #: Held while traits are set, by the thread or by `update`.
        self._sending: Final = threading.Lock()
        #: Views that are open, as the notebook has told.
        self._views = 0
        monitor = Monitor(graph, interval_s)
        try:
            for name in streams:
                monitor.peek(name, timeout=0.0)
            first = monitor.reading()
            super().__init__(
                names=[stream.name for stream in first.streams],
                streams=list(streams),
                reading=json.loads(encoded(first)),
            )
        except BaseException:
            monitor.close()
            raise
        self.on_msg(self._hear)
        self._drawing: Final = threading.Thread(
            target=self._draw, args=(graph.binary_config,), name="penstock-live-drawing", daemon=True
        )
        self._drawing.start()
        self._monitor: Monitor = monitor
        self._thread = self._started(monitor)

    def update(self, timeout: float = 10.0) -> None:
        """Show the next reading, and packets; wait until they are sent, and the picture with them.

        A notebook that is run without a browser, as by nbclient, keeps what is sent while a cell runs.

        Args:
            timeout: how long to wait for the reading, and for the picture, in seconds.

        Raises:
            FailedPreconditionError: the widget is closed, or the graph is gone.
            WaitTimeoutError: it took longer.
        """
        monitor = self._monitor
        if monitor.is_closed:
            raise FailedPreconditionError(
                f"this live widget shows nothing new: {self.status}; make another one"
            )
        reading = monitor.wait(monitor.reading().number, timeout)
        self._drawing.join(timeout)
        if reading is None or self._drawing.is_alive():
            what = "reading" if reading is None else "picture"
            raise WaitTimeoutError(f"the live widget had no new {what} within {timeout:g} s")
        self._pass_on(monitor, reading)

    def close(self) -> None:
        """End the threads, and take the widget out of the notebook's pages. The graph goes on.

        A picture that is being drawn is finished first, in the background. To close it again does nothing.
        """
        if self._thread is not None:
            self._end("closed")
        super().close()

    # --- readings -----------------------------------------------------------------------------

    def _started(self, monitor: Monitor) -> threading.Thread:
        thread = threading.Thread(target=self._work, args=(monitor,), name="penstock-live-cell", daemon=True)
        thread.start()
        return thread

    def _end(self, status: str) -> None:
        """Read nothing any more."""
        self._monitor.close()  # which ends the thread's wait
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        if self.comm is not None:
            self.status = status

    def _work(self, monitor: Monitor) -> None:
        number = 0
        try:
            while not monitor.is_closed:
                reading = monitor.wait(number, _LOOK_S)
                if reading is not None:
                    number = reading.number
                    self._pass_on(monitor, reading)
        except Exception as error:  # noqa: BLE001  # it is logged, and the cell says so
            _LOG.exception("the widget of a graph has failed and shows nothing new")
            self.status = words_of(error)
        else:
            if self._graph() is None:
                self.status = "the graph is gone"
        finally:
            monitor.close()

    def _pass_on(self, monitor: Monitor, reading: Reading) -> None:
        cards = {
            name: error_card(found) if isinstance(found, PenstockError) else card(found)
            for name, found in monitor.peek_all(self.streams, timeout=_PEEK_S).items()
        }
        with self._sending, self.hold_sync():
            self.reading = json.loads(encoded(reading))
            self.cards = cards

    def _draw(self, config: bytes) -> None:
        try:
            drawn, words = drawing.picture(config), ""
        except UnavailableError as error:
            drawn, words = "", f"There is no picture: {error}. The table has all numbers."
        with self._sending, self.hold_sync():
            self.picture, self.picture_words = drawn, words

    # --- views --------------------------------------------------------------------------------

    def _hear(self, _widget: object, content: Any, _buffers: object) -> None:
        """Take note of a view that was opened or closed."""
        change = content.get("views") if isinstance(content, dict) else None
        if change not in {1, -1}:
            return
        self._views = max(0, self._views + change)
        if not self._views and self.status == "live":
            self._end("paused")
        graph = self._graph()
        if self._views and self.status == "paused":
            if graph is None:
                self.status = "the graph is gone"
                return
            self._monitor = Monitor(graph, self._interval_s)
            self.status = "live"
            self._thread = self._started(self._monitor)
