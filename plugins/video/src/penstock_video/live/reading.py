"""The thread that owns a live source: it alone opens, reads and closes it.

Two kinds share it: `LiveReader` goes on when the source is lost, and knows no end; `WholeReader` reads an
address once, as a file is read, and tells an end from a loss.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from penstock.errors import UnavailableError
from penstock.log import get_logger, place
from penstock_video.live.interrupts import Interrupts
from penstock_video.live.live_connection import Connection

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_formats import VideoHeader
    from penstock_video.live.live_connection import Waits
    from penstock_video.live.live_source import Place
    from penstock_video.live.mailbox import Mailbox

_LOG: Final = get_logger("video")
#: How long a call waits for a frame; the run can end, and bounds move on, in between.
_WAIT_S: Final = 0.1
#: How long a cancelled thread may take: libav looks ten times a second.
_GRACE_S: Final = 0.8


class Reading:
    """A thread that reads a place into a mailbox. Subclasses say how.

    Args:
        place: what is read.
        waits: time-outs.
        node: name of the node, for the log.
        threads: of the decoder.
        is_unwanted: whether the run has ended or is about to. Nodes are closed one after another: so each
            reader looks itself, all end at the same time, and their closing finds them ended.
    """

    #: Where frames go.
    mailbox: Mailbox

    def __init__(
        self, place: Place, waits: Waits, node: str, threads: int, is_unwanted: Callable[[], bool] = bool
    ) -> None:
        self._place: Final = place
        self._waits: Final = waits
        self._node: Final = node
        self._threads: Final = threads
        self._is_unwanted: Final = is_unwanted
        self._interrupts: Final = self._new_interrupts(is_unwanted)
        self._ended: Final[Future[None]] = Future()
        self._thread = self._new_thread()
        #: Done when it is known whether the source can be read: a header, None where it is to be awaited, or
        #: the error.
        self.opened: Final[Future[VideoHeader | BaseException | None]] = Future()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    async def header(self) -> VideoHeader | None:
        """Return the header once the source is open; close it where that fails.

        Returns:
            The header; None where the source is not there yet, or the run no longer wants it.

        Raises:
            UnavailableError, InvalidArgumentError: it cannot be read.
        """
        try:
            opening = asyncio.wrap_future(self.opened)
            while not (await asyncio.wait([opening], timeout=_WAIT_S))[0]:
                if self._is_unwanted():
                    self.cancel()
                    return None
            opened = opening.result()
        except BaseException:
            await self.end()
            raise
        if isinstance(opened, BaseException):
            await self.end()
            raise opened
        return opened

    async def wait(self) -> None:
        """Return when there is something in the mailbox, or after a moment."""
        await self.mailbox.wait(_WAIT_S)

    def cancel(self) -> None:
        """End all waits; return at once."""
        self._interrupts.cancel()

    async def end(self) -> None:
        """Cancel, and return when the source is closed and the thread has ended.

        A thread that asks a name server waits as long as the system lets it; it is then left, and ends by
        itself.
        """
        self.cancel()
        try:
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self._ended)), _GRACE_S)
        except TimeoutError:
            self.log_warning(
                "%s: a wait of the system cannot be ended; its thread ends by itself", self._place.shown
            )
        else:
            self._thread.join()  # nothing is left to do in it

    def _read(self) -> None:
        """Read until cancelled, or raise; here the source is opened and closed."""
        raise NotImplementedError

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            with self._interrupts.around_libav():
                self._read()
        except BaseException as failed:  # noqa: BLE001  # the calculator raises it
            error = failed
        finally:
            if error is not None and not self.opened.done():
                self.opened.set_result(error)
            self.mailbox.end(error)
            self._ended.set_result(None)

    # A trial simulates time, the thread and the sender in the place of the next three methods.

    @staticmethod
    def _new_interrupts(is_unwanted: Callable[[], bool]) -> Interrupts:
        return Interrupts(is_unwanted)

    def _new_thread(self) -> threading.Thread:
        return threading.Thread(target=self._run, name=f"penstock-video {self._node}", daemon=True)

    def _connect(self) -> Connection:
        return Connection(self._place, self._waits, self._interrupts, self._threads)

    def log_warning(self, said: str, *values: object) -> None:
        """Log a line with the node's name."""
        _LOG.warning(said, *values, extra=place(self._node))

    def _lost(self, why: str) -> UnavailableError:
        return UnavailableError(f"{self._place.shown!r} {why}")
