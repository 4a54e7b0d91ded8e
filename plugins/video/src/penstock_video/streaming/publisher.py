"""The thread of a live sink: takes frames from a desk, sends them, and connects again where that fails."""

from __future__ import annotations

import random
import threading
from time import monotonic
from typing import TYPE_CHECKING, Final

import attrs

from penstock.errors import PenstockError, ResourceExhaustedError, UnavailableError
from penstock.log import get_logger, place
from penstock_video.streaming.desk import LOST, OVER

if TYPE_CHECKING:
    from penstock_formats import ImageFrame
    from penstock_video.streaming.desk import Desk, Waiting
    from penstock_video.streaming.outlet import Outlet

_LOG: Final = get_logger("video")
#: Time before the next try to connect: twice as long after each, up to the longest; each varied by a quarter,
#: so that many sinks do not come back at once.
_FIRST_S: Final = 0.5
_LONGEST_S: Final = 15.0
_JITTER: Final = 0.25
#: How long the frames under way may take at the end where others have the stream; `end` takes little more.
_GRACE_S: Final = 0.7
#: The same where it is on the disk: nobody is waited for, but a busy machine may need a while.
_OWN_GRACE_S: Final = 10.0
#: What may succeed later.
_PASSING: Final = (UnavailableError, ResourceExhaustedError)


@attrs.define
class Tally:
    """What a publisher has done since it began."""

    #: Frames that were sent.
    sent: int = 0
    #: Connections that came about, and tries that failed.
    connections: int = 0
    failures: int = 0
    #: Time without a connection after the first one was lost, in seconds.
    away_s: float = 0.0


class Publisher:
    """Sends what is left at a desk.

    Args:
        outlet: where to. Used by the publisher's thread alone, but for its `abort`.
        desk: where the frames wait.
        shown: the address for messages, without a password.
        retry_s: how long to try to connect, at the beginning and after a loss, until `error` says that it is
            given up; 0: the first failure is the last; infinity: for ever.
        node: name of the node, for the log.
    """

    def __init__(self, outlet: Outlet, desk: Desk, shown: str, retry_s: float, node: str | None) -> None:
        self._outlet: Final = outlet
        self._desk: Final = desk
        self._shown: Final = shown
        self._retry_s: Final = retry_s
        self._node: Final = node
        #: Why nothing more is sent; None while it goes on.
        self.error: PenstockError | None = None
        self.tally: Final = Tally()
        self._is_over: Final = threading.Event()
        self._size: tuple[int, int] | None = None
        #: Since when there is no connection; None while there is one.
        self._since_s: float | None = monotonic()
        self._thread: Final = threading.Thread(target=self._run, name="penstock-live-sink", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Send what waits, if that takes no time to speak of, end the stream, and wait for the thread."""
        grace_s = _GRACE_S if self._outlet.is_elsewhere else _OWN_GRACE_S
        self._desk.end()
        self._thread.join(grace_s)
        if self._thread.is_alive() and self.tally.connections:
            _LOG.warning(
                "%s: the end of the stream did not get through within %g s, and was cut off",
                self._shown, grace_s, extra=place(self._node),
            )  # fmt: skip
        self._is_over.set()
        self._outlet.abort()
        self._desk.clear()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._send_all()
        except PenstockError as error:
            self._give_up(error)
        except Exception as error:  # noqa: BLE001  # an error of the run, and not of the thread
            self._give_up(PenstockError(f"{self._shown}: {type(error).__name__}: {error}"))
        finally:
            self._desk.end()
            self._discard()

    def _give_up(self, error: PenstockError) -> None:
        self.error = error
        self._desk.end()
        self._desk.clear()

    def _send_all(self) -> None:
        while (next_one := self._desk.peek()) is not None:
            if not self._is_ready(next_one):
                return
            if self._can_send():
                taken = self._desk.take()
                if taken is not None:
                    self._send(taken)
        if self._size is not None and not self._is_over.is_set():
            self._finish()

    def _finish(self) -> None:
        try:
            self._outlet.finish()
        except _PASSING as error:
            if not self._outlet.is_elsewhere or not self._retry_s:
                raise self._final(error, "the publisher's stream could not be ended") from error
            if not self._is_over.is_set():
                _LOG.warning("%s: lost at its end: %s", self._shown, error, extra=place(self._node))

    def _is_ready(self, frame: ImageFrame) -> bool:
        """Connect for frames like this one, if there is no such connection; return false at the end."""
        size = (frame.width, frame.height)
        if self._size == size:
            return True
        if self._size is not None:
            _LOG.info(
                "%s: frames are %dx%d from here on, and were %dx%d: the stream begins again",
                self._shown, *size, *self._size, extra=place(self._node),
            )  # fmt: skip
            self._size = None
            self._end_connection()
        return self._connect(size)

    def _end_connection(self) -> None:
        try:
            self._outlet.finish()
        except _PASSING as error:
            _LOG.info("%s: %s", self._shown, error, extra=place(self._node))
            self._discard()

    def _discard(self) -> None:
        lost = self._outlet.discard()
        self.tally.sent -= lost
        self._desk.drop(LOST, lost)

    def _connect(self, size: tuple[int, int]) -> bool:
        """Try until there is a connection; return false at the end.

        Raises:
            PenstockError: it is given up.
        """
        began_s = monotonic()
        tries = 0
        while not self._is_over.is_set():
            try:
                self._outlet.begin(size, self._is_over.is_set)
            except _PASSING as error:
                tries += 1
                self._note_failure(error, began_s, tries)
            else:
                self._note_connection(size)
                return True
        return False

    def _note_connection(self, size: tuple[int, int]) -> None:
        tally, self._size = self.tally, size
        tally.connections += 1
        self._desk.set_connected(True)
        since_s, self._since_s = self._since_s, None
        if tally.connections > 1 and since_s is not None:
            away_s = monotonic() - since_s
            tally.away_s += away_s
            _LOG.warning(
                "%s: connected again after %.1f s", self._shown, away_s, extra=place(self._node)
            )  # fmt: skip

    def _note_failure(self, error: PenstockError, began_s: float, tries: int) -> None:
        """Wait before the next try.

        Raises:
            PenstockError: there is none.
        """
        if self._is_over.is_set():
            return
        self.tally.failures += 1
        spent_s = monotonic() - began_s
        wait_s = min(_LONGEST_S, _FIRST_S * 2 ** min(tries - 1, 10))
        wait_s *= 1 + _JITTER * (2 * random.random() - 1)  # noqa: S311  # no secret
        if spent_s + wait_s > self._retry_s:
            how = f"after {tries} tries in {spent_s:.1f} s" if tries > 1 else "at the first try"
            raise self._final(error, f"no connection {how}") from error
        _LOG.warning(
            "%s: no connection: %s; the next try is in %.1f s", self._shown, error, wait_s,
            extra=place(self._node),
        )  # fmt: skip
        self._is_over.wait(wait_s)

    def _can_send(self) -> bool:
        """Wait until the other end takes a frame; newer ones may come meanwhile. False after a loss."""
        try:
            self._outlet.wait()
        except _PASSING as error:
            self._note_loss(error)
            return False
        return True

    def _send(self, taken: Waiting) -> None:
        if not self._is_ready(taken.frame):  # a newer one of another size may have come in between
            self._desk.drop(OVER)
            return
        try:
            self._outlet.send(taken.frame, taken.time)
        except _PASSING as error:
            self._desk.drop(LOST)
            self._note_loss(error)
        else:
            self.tally.sent += 1

    def _note_loss(self, error: PenstockError) -> None:
        self._size = None
        self._since_s = monotonic()
        self._desk.set_connected(False)
        self._discard()
        if self._is_over.is_set():
            return
        if not self._retry_s:
            raise self._final(error, "the publisher was cut off") from error
        _LOG.warning("%s: lost: %s; connecting again", self._shown, error, extra=place(self._node))

    def _final(self, error: PenstockError, what: str) -> PenstockError:
        cure = "" if isinstance(error, ResourceExhaustedError) else "; retry_s says how long to try"
        return type(error)(f"{self._shown}: {what}: {error}{cure}")
