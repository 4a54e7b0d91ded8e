"""A thread that posts bodies to an address, one after another, until each is accepted."""

from __future__ import annotations

import http.client
import random
import threading
from queue import SimpleQueue
from ssl import create_default_context
from time import monotonic
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import attrs

from penstock.access import redacted
from penstock.errors import InvalidArgumentError, PenstockError, PermissionDeniedError, UnavailableError
from penstock.log import get_logger, place

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Future

    from penstock.lowlevel import Stop
    from penstock_detect.zones.sink_options import WebhookSinkCalculatorOptions

_logger = get_logger("detect")

#: Answers after which the same request may succeed later.
_PASSING: Final = frozenset([408, 421, 425, 429])
_REFUSED: Final = frozenset([401, 403])
_SERVER_ERRORS: Final = 500
#: Bytes of an answer that are read, and characters of it that an error quotes.
_READ: Final = 2_000
_QUOTED: Final = 200


@attrs.frozen(eq=False)
class _Post:
    body: bytes
    #: The same in each attempt, so that a server knows a body that it has seen.
    key: str
    done: Future[Stop | None]


@attrs.frozen
class Target:
    """The parts of an address."""

    #: For logs, without a password.
    shown: str
    is_secure: bool
    host: str
    port: int | None
    #: With the query.
    path: str

    @classmethod
    def of(cls, url: str) -> Target:
        """Return the parts of an address.

        Raises:
            InvalidArgumentError: it is none of http or https, or has a user name.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise InvalidArgumentError(
                f"the posting's url {redacted(url)!r} is no address: {error}"
            ) from error
        if parts.scheme not in ("http", "https") or not parts.hostname or not url.isascii() or " " in url:
            raise InvalidArgumentError(
                f"the posting's url is {redacted(url)!r}, but must be an address for posting, such as https://host/path"
            )
        if parts.username is not None or parts.password is not None:
            raise InvalidArgumentError(
                f"the posting's url {redacted(url)!r} has a user name; give a header Authorization in the "
                "side packet HEADERS"
            )
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        shown = redacted(f"{parts.scheme}://{parts.netloc}{parts.path}")
        return cls(shown, parts.scheme == "https", parts.hostname, port, path)


class Poster:
    """Posts bodies in their order. Close it.

    Args:
        target: where to.
        headers: of each request.
        options: times.
        node: names the calculator in logs.
    """

    def __init__(
        self, target: Target, headers: Mapping[str, str], options: WebhookSinkCalculatorOptions, node: str
    ) -> None:
        self._target: Final = target
        self._headers: Final = dict(headers)
        self._options: Final = options
        self._node: Final = node
        self._context: Final = create_default_context() if target.is_secure else None
        self._posts: Final[SimpleQueue[_Post | None]] = SimpleQueue()
        self._is_over: Final = threading.Event()
        self._connection: http.client.HTTPConnection | None = None
        self._thread: Final = threading.Thread(target=self._serve, name=f"{node} webhook", daemon=True)
        self._thread.start()

    def post(self, body: bytes, key: str, done: Future[Stop | None]) -> None:
        """Post a body; `done` gets a result when it is accepted, else an error. It may be cancelled."""
        self._posts.put(_Post(body, key, done))

    def close(self) -> None:
        """End the thread, in the middle of an attempt too."""
        self._is_over.set()
        self._posts.put(None)
        self._cut()
        # a name server that does not answer holds the daemon thread a little longer
        self._thread.join(self._options.timeout_ms / 1000)

    def _cut(self) -> None:
        """Let the attempt that is under way fail."""
        connection = self._connection
        sock = None if connection is None else connection.sock
        if sock is not None:
            try:
                sock.shutdown(2)
            except OSError:
                return  # it is closed already

    # --- the thread -----------------------------------------------------------------------------

    def _serve(self) -> None:
        while (post := self._posts.get()) is not None:
            error: Exception | None
            try:
                error = self._deliver(post)
            except Exception as failure:  # noqa: BLE001  # the calculator's call raises it
                error = failure
            if not post.done.set_running_or_notify_cancel():
                _logger.warning(
                    "%s: the run was cancelled before %s was accepted", self._target.shown, post.key,
                    extra=place(self._node),
                )  # fmt: skip
            elif error is None:
                post.done.set_result(None)
            else:
                post.done.set_exception(error)

    def _deliver(self, post: _Post) -> Exception | None:
        """Post until it is accepted; return why it never will be."""
        options = self._options
        begun = monotonic()
        pause = options.first_pause_ms / 1000
        attempts = 0
        while True:
            attempts += 1
            failure = self._attempt(post)
            if failure is None or not isinstance(failure, UnavailableError):
                return failure
            if self._is_over.is_set() or post.done.cancelled():
                return failure
            waited = monotonic() - begun
            if options.give_up_ms and waited + pause > options.give_up_ms / 1000:
                return UnavailableError(
                    f"{failure}; {attempts} attempts to post in {waited:.1f} s (give_up_ms is "
                    f"{options.give_up_ms})"
                )
            if attempts == 1:
                _logger.warning("%s; trying again", failure, extra=place(self._node))
            self._is_over.wait(pause * random.uniform(0.5, 1))  # noqa: S311  # so that not all come at once
            pause = min(pause * 2, options.longest_pause_ms / 1000)

    def _attempt(self, post: _Post) -> PenstockError | None:
        """Post once; return UnavailableError where another attempt may succeed, another error where not."""
        target = self._target
        seconds = self._options.timeout_ms / 1000
        connection = (
            http.client.HTTPConnection(target.host, target.port, timeout=seconds)
            if self._context is None
            else http.client.HTTPSConnection(target.host, target.port, timeout=seconds, context=self._context)
        )
        self._connection = connection
        # the sockets' own time-out begins again with each byte
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            self._cut()

        limit = threading.Timer(seconds, end)
        limit.daemon = True
        limit.start()
        try:
            headers = {
                "Content-Type": "application/json", "User-Agent": "penstock", "Idempotency-Key": post.key,
                **self._headers,
            }  # fmt: skip
            connection.request("POST", target.path, post.body, headers)
            answer = connection.getresponse()
            said = answer.read(_READ)
        except (OSError, http.client.HTTPException) as error:
            words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return UnavailableError(f"{target.shown} does not answer: {words}")
        finally:
            limit.cancel()
            limit.join(seconds)  # else it might cut the connection of the next attempt
            self._connection = None
            connection.close()
        if is_late.is_set() or self._is_over.is_set():  # what was read of the answer may be a part of it
            return UnavailableError(
                f"{target.shown} has not answered what was posted within {seconds:g} s (timeout_ms)"
            )
        return self._judged(answer.status, said)

    def _judged(self, status: int, said: bytes) -> PenstockError | None:
        if 200 <= status < 300:  # noqa: PLR2004  # success
            return None
        words = f"{self._target.shown} answers {status}"
        quoted = " ".join(said.decode("utf-8", "replace").split())[:_QUOTED]
        words += f": {quoted}" if quoted else ""
        if status in _PASSING or status >= _SERVER_ERRORS:
            return UnavailableError(words)
        if status in _REFUSED:
            return PermissionDeniedError(
                f"{words} to the posting; give a header Authorization in the side packet HEADERS"
            )
        return InvalidArgumentError(f"{words}; check url")
