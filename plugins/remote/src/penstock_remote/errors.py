"""Errors that come from elsewhere: exceptions of another process as data, deaths, payloads that cannot go."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from penstock.errors import InvalidArgumentError, PenstockError, StatusCode, text_of, traceback_of
from penstock.lowlevel import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from penstock_remote.calls import Answer, Call
    from penstock_remote.description import Described

    #: What is looked at: in words, the payload, its timestamp.
    Shown: TypeAlias = tuple[str, object, int]


class WorkerDiedError(PenstockError):
    """A process that does the work of a node ended while it was needed.

    Attributes:
        node: whose call was under way; None where none was.
        timestamp: of the call.
    """

    default_code = StatusCode.UNAVAILABLE
    #: As `Executor.place` says.
    calculator_is_lost = True

    def __init__(  # noqa: PLR0913  # what is known of a death
        self,
        message: str,
        *,
        pid: int | None = None,
        host: str | None = None,
        signal_name: str | None = None,
        exit_status: int | None = None,
        node: str | None = None,
        timestamp: int | None = None,
    ) -> None:
        super().__init__(message, node=node, timestamp=timestamp)
        #: The pid of the process.
        self.pid = pid
        #: The name or address of its machine; None where it is this one.
        self.host = host
        #: The name of the signal that ended it; None where it ended by itself, or nobody knows.
        self.signal = signal_name
        #: Where it ended by itself, and this is known.
        self.exit_status = exit_status


class RemoteError(PenstockError):
    """An exception of another process that cannot be made here; its type and text are in the message."""


class WorkerTraceback(Exception):  # noqa: N818  # no error of its own: the place of another
    """The traceback of another process, as the `__cause__` of the exception that came from there."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text: Final = text

    def __str__(self) -> str:
        return f"\n\nin the worker process:\n{self.text}"


def error_as_data(error: BaseException, *, is_plain: bool = False) -> tuple[bytes | None, str, str]:
    """Return an exception as data: pickled, or None where that cannot be; type and text; the traceback."""
    words = f"{type(error).__name__}: {text_of(error)}"
    text = traceback_of(error)
    if is_plain:
        return None, words, text
    try:
        pickled = pickle.dumps(error)
        pickle.loads(pickled)  # noqa: S301  # just made; many exceptions cannot be read back
    except BaseException:  # noqa: BLE001  # whatever its class does, SystemExit included
        return None, words, text
    return pickled, words, text


def error_from_data(data: tuple[bytes | None, str, str], *, is_plain: bool = False) -> BaseException:
    """Return the exception that came as data, with the traceback of its process as its cause."""
    pickled, words, text = data
    error: BaseException = RemoteError(words)
    if pickled is not None and not is_plain:
        try:
            found = pickle.loads(pickled)  # noqa: S301  # from a process that we have started
        except BaseException:  # noqa: BLE001  # its class may not be here, or does what it likes
            found = None
        # Ctrl-C is the driver's: in another process it is user code that raises its exception.
        if isinstance(found, BaseException) and not isinstance(found, KeyboardInterrupt):
            error = found
    error.__cause__ = WorkerTraceback(text)
    return error


def pickled(content: object) -> bytes:
    """Pickle, as most executors do. Raises what that raises."""
    return pickle.dumps(content, protocol=5)


class Writes(Protocol):
    """What the other end has for a node."""

    @property
    def name(self) -> str:
        """The node's name in the driver."""

    @property
    def outputs(self) -> Sequence[str]:
        """Its output ports, as a user reads them."""


def input_fault(
    node: Described, call: Call, dumps: Callable[[object], object] = pickled
) -> PenstockError | None:
    """Return the error that names the payload of a call which `dumps` refuses; None where each one can go."""
    shown: list[Shown] = [
        (f"input {name}", one[2], call.stamp)
        for name, one in zip(node.inputs, call.inputs, strict=True)
        if len(one) == 3  # noqa: PLR2004  # there is a packet
    ]
    if call.opening is not None:
        shown += [
            (f"side packet {tag or index}", one, call.stamp) for tag, index, one in call.opening.side_packets
        ]
        shown += [
            (f"header of input {name}", header[0], call.stamp)
            for name, header in zip(node.inputs, call.opening.headers, strict=True)
            if header
        ]
        shown += [(f"service {name}", service, call.stamp) for name, service in call.opening.services]
    return _first_fault(node.name, shown, dumps)


def output_fault(
    node: Writes, answer: Answer, stamp: int, dumps: Callable[[object], object] = pickled
) -> PenstockError | None:
    """Return the error that names the payload of an answer which `dumps` refuses; None where each can go."""
    more: dict[str, Any] = answer.more or {}
    shown: list[Shown] = [
        (f"output {name}", payload, at)
        for name, written in zip(node.outputs, answer.outputs, strict=True)
        for at, payload in (written[0] if written is not None else ())
    ]
    shown += [
        (f"output side packet {name}", payload, stamp)
        for name, payload in more.get("side_packets", {}).items()
    ]
    shown += [
        (f"header of output {node.outputs[n]}", payload, stamp)
        for n, payload in more.get("headers", {}).items()
    ]
    return _first_fault(node.name, shown, dumps)


def _first_fault(
    node: str, shown: Iterable[Shown], dumps: Callable[[object], object]
) -> PenstockError | None:
    for what, payload, at in shown:
        try:
            dumps(payload)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever its class does
            return InvalidArgumentError(
                f"remote node {node!r}, {what} at {show(at)}: a {type(payload).__name__!r} cannot go to "
                f"another process ({text_of(error)}); keep the node local or give the type `__reduce__`",
                node=node,
            )
    return None
