"""The builtin exceptions that programs for MediaPipe catch, with the words that they match.

A text begins with MediaPipe's words where a program may match them; what Penstock says follows.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from operator import index
from typing import TYPE_CHECKING, Final, SupportsIndex

from penstock.errors import (
    FailedPreconditionError,
    GraphConfigError,
    GraphParseError,
    InvalidArgumentError,
    NotFoundError,
    PacketTypeError,
    PenstockError,
    StatusCode,
    TimestampOrderError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_KEPT: Final = (ValueError, RuntimeError, NotImplementedError, FileNotFoundError, FileExistsError)
_INITIALIZATION: Final = "ValidatedGraphConfig Initialization failed.\n"

#: What begins the message of a fault that MediaPipe finds while it reads the nodes, before it connects them;
#: MediaPipe's words; and whether it raises a ValueError.
_OF_NODES: Final = (
    (re.compile(r"no calculator '([^']*)' is registered"), 'Unable to find Calculator "{0}"', False),
    (re.compile(r"'([^']*)' is no port: "), 'TAG:index:name is invalid, "{0}" does not match', False),
    (
        re.compile(r"get_contract\(\) failed: inputs and outputs must have the same tags and indexes"),
        "Input and output streams to PassThroughCalculator must use matching tags and indexes.",
        True,
    ),
    (re.compile(r"get_contract\(\) failed: (.*)"), "{0}", True),
)
#: The same for the faults that it finds later; the first one counts.
_OF_EDGES: Final = (
    (
        re.compile(r"input stream '([^']*)' .*has no producer"),
        'Input Stream "{0}" does not have a corresponding output stream.',
        False,
    ),
    (re.compile(r"output stream '([^']*)' is defined twice"), 'Output Stream "{0}" defined twice.', False),
    (re.compile(r"input_stream '([^']*)' is defined twice"), 'Output Stream "{0}" defined twice.', False),
    (
        re.compile(r"output side packet '([^']*)' is defined twice"),
        'Output Side Packet "{0}" defined twice.',
        False,
    ),
    (re.compile(r"these nodes form a cycle"), "calculator stream cycle detected in graph", False),
    (
        re.compile(r"no input stream handler '([^']*)' is registered"),
        '"{0}" is not a registered input stream handler.',
        False,
    ),
    (
        re.compile(r"executor '([^']*)' is not declared"),
        'The executor "{0}" is not declared in an ExecutorConfig.',
        True,
    ),
    (
        re.compile(r"side packet '([^']*)' of .* is required but was not given"),
        'Side packet "{0}" is required but was not provided.',
        True,
    ),
)


def behind(words: str, error: object) -> str:
    """Return the text of an exception: MediaPipe's words, then what Penstock says."""
    return f"{words} [{error}]"


@contextmanager
def as_python_errors(words: Callable[[PenstockError], str] = str) -> Iterator[None]:
    """Raise errors that are no builtin exception which programs for MediaPipe catch as a RuntimeError.

    Args:
        words: returns the text of an error; its own where nothing is given.
    """
    try:
        yield
    except PenstockError as error:
        text = words(error)
        if isinstance(error, ValueError) and text != str(error):
            raise InvalidArgumentError(text, stream=error.stream, timestamp=error.timestamp) from error
        if isinstance(error, _KEPT) and text == str(error):
            raise
        raise RuntimeError(text) from error


@contextmanager
def as_graph_errors() -> Iterator[None]:
    """Raise what is wrong with a graph as MediaPipe does: mostly a RuntimeError, sometimes a ValueError.

    MediaPipe looks at all nodes before it connects them, and stops at the first thing that is wrong with the
    connections. Its words for that come first; the text goes on with all faults that Penstock found.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except GraphParseError as error:
        raise RuntimeError(behind("Failed to parse", error)) from error
    except GraphConfigError as error:
        words, is_value_error = _words_of_faults(error)
        text = behind(words, error) if words else str(error)
        raise (InvalidArgumentError(text) if is_value_error else RuntimeError(text)) from error
    except PenstockError as error:
        if isinstance(error, RuntimeError):
            raise
        raise RuntimeError(str(error)) from error


def _words_of_faults(error: GraphConfigError) -> tuple[str, bool]:
    """Return MediaPipe's words for the faults of a graph, and whether it raises a ValueError."""
    of_nodes = [found for fault in error.faults if (found := _match(_OF_NODES, fault))]
    if of_nodes:
        # MediaPipe tells of all nodes; errors with several codes have none.
        words = "\n".join(dict.fromkeys(words for words, _ in of_nodes))
        return _INITIALIZATION + words, all(is_value_error for _, is_value_error in of_nodes)
    of_edges = (found for fault in error.faults if (found := _match(_OF_EDGES, fault)))
    return next(of_edges, ("", error.code is StatusCode.INVALID_ARGUMENT))


def _match(table: tuple[tuple[re.Pattern[str], str, bool], ...], fault: object) -> tuple[str, bool] | None:
    for pattern, words, is_value_error in table:
        match = pattern.search(str(fault))
        if match is not None:
            return words.format(*match.groups()), is_value_error
    return None


def words_of_refusal(error: PenstockError) -> str:
    """Return the text for a packet that a graph input does not take."""
    if isinstance(error, TimestampOrderError):
        bound = re.search(r"behind the bound (\S+);", str(error))
        return behind(_words_of_order(error.stream, error.timestamp, bound[1] if bound else "unknown"), error)
    if isinstance(error, PacketTypeError):
        return behind(f'Packet type mismatch on calculator outputting to stream "{error.stream}"', error)
    special = re.search(r"(Timestamp::\w+\(\)) cannot be the timestamp", str(error))
    if special is not None:
        return behind(words_of_no_time(special[1]), error)
    if isinstance(error, FailedPreconditionError) and "needs a run under way" in str(error):
        return behind("CalculatorGraph::AddPacketToInputStream() is called before StartRun()", error)
    return str(error)


def words_of_missing(words: str, error: PenstockError) -> str:
    """Return the text for a name that the graph lacks: MediaPipe's words first; else the error's own text."""
    return behind(words, error) if isinstance(error, NotFoundError) else str(error)


def words_of_closed_stream(stream: str, timestamp: SupportsIndex, error: PenstockError) -> str:
    """Return the text for a packet that comes after the program has closed a graph input."""
    return behind(_words_of_order(stream, index(timestamp), "Timestamp::Done()"), error)


def _words_of_order(stream: str | None, timestamp: int | None, bound: str) -> str:
    return (
        f'Packet timestamp mismatch on a calculator receiving from stream "{stream}". Current minimum '
        f"expected timestamp is {bound} but received {timestamp}."
    )


def words_of_no_time(timestamp: str) -> str:
    """Return MediaPipe's words for a timestamp, as it is written, that no packet of a stream has."""
    return f"{timestamp} can't be the timestamp of a Packet in a stream."
