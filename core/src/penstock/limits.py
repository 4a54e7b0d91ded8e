"""What a graph file may cost at most: each limit has a name, a default, and an override by the application.

A graph file may come from a stranger, and cannot change a limit. The application can, for its process by an
environment variable, such as PENSTOCK_MAX_NODES=200000, or for what it loads inside a block::

    with penstock.limits.override(nodes=200_000):
        graph = penstock.CalculatorGraph(path)

A graph that asks for more is refused when it is loaded, with a `penstock.errors.ResourceExhaustedError`.
What an application does itself has no limit here, such as the threads of an executor that it makes.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import InvalidArgumentError, ResourceExhaustedError
from penstock.record import NamedTuple
from penstock.shown import LONGEST_QUOTE

if TYPE_CHECKING:
    from collections.abc import Iterator


class Limits(NamedTuple):
    """The limits of one graph, each at least 1. The defaults are far above what graphs need."""

    #: Bytes of a graph file; characters of graph text that is given as a str.
    file_bytes: int = 16 * 2**20
    #: Words, numbers, strings and marks of graph text or JSON. A node of streams and a name is one.
    tokens: int = 400_000
    #: How deep subgraphs are nested, and the rules, operations and values of a template; at most 90. A dict
    #: in a dict is 3 deep, as protobuf counts.
    depth: int = 64
    #: Nodes of a graph in which subgraphs and templates are expanded; also nodes in options of its subgraphs.
    nodes: int = 10_000
    #: Rules, operations and elements of ranges of all templates of a graph. A copied message is 10.
    steps: int = 500_000
    #: Characters and bytes that the templates of a graph make, intermediate results included; and the bytes
    #: of all nodes that take the place of subgraphs, each of which counts as three.
    text: int = 64 * 2**20
    #: Entries of one list of a node, such as its input streams; also the largest index of a port.
    ports: int = 10_000
    #: Threads of one executor.
    threads: int = 1024
    #: Bytes of stack of each thread of an executor.
    stack_bytes: int = 256 * 2**20
    #: How many faults the message of a `GraphConfigError` lists; its `faults` has up to 1,000.
    faults: int = 20
    #: How many characters of a value of the file a message quotes.
    quoted: int = 200


#: protobuf reads messages up to 100 deep, and the loader calls itself for what is nested.
_DEEPEST: Final = 91
_DIGITS: Final = 18
_OVERRIDE: Final[ContextVar[Limits | None]] = ContextVar("limits", default=None)


def variable(name: str) -> str:
    """Return the environment variable that overrides a limit."""
    return f"PENSTOCK_MAX_{name.upper()}"


_VARIABLES: Final = tuple([(name, variable(name)) for name in Limits._fields])
_DEFAULTS: Final = Limits()


def current() -> Limits:
    """Return the limits that hold here: those of `override`, else those of the environment.

    Raises:
        InvalidArgumentError: an environment variable is no number that the limit may have.
    """
    inside = _OVERRIDE.get()
    if inside is not None:
        return inside
    given: dict[str, Any] = {}
    for name, variable_name in _VARIABLES:
        text = os.environ.get(variable_name)
        if text is not None:
            is_number = text.isascii() and text.isdecimal() and len(text) < _DIGITS
            given[name] = _valid(variable_name, name, int(text) if is_number else text)
    return Limits(**given) if given else _DEFAULTS


@contextmanager
def override(**limits: Any) -> Iterator[Limits]:
    """Use other limits in a `with` block, in this thread or task. Those that are not given stay.

    Raises:
        InvalidArgumentError: there is no such limit, or a value is none that it may have.
    """
    for name, value in limits.items():
        if name not in Limits._fields:
            raise InvalidArgumentError(f"there is no limit {name!r}; there are {', '.join(Limits._fields)}")
        _valid(f"limit {name!r}", name, value)
    new = current()._replace(**limits)
    before, quote = _OVERRIDE.set(new), LONGEST_QUOTE.set(new.quoted)
    try:
        yield new
    finally:
        LONGEST_QUOTE.reset(quote)
        _OVERRIDE.reset(before)


def _valid(what: str, name: str, value: Any) -> Any:
    largest = _DEEPEST if name == "depth" else 10**_DIGITS
    if not isinstance(value, int) or not 0 < value < largest:
        raise InvalidArgumentError(
            f"{what} is {value!r}: a limit must be a whole number from 1 to {largest - 1}"
        )
    return value


def check(name: str, value: int, what: str) -> None:
    """Raise ResourceExhaustedError if a graph asks for more than a limit.

    Args:
        name: of the limit.
        value: what the graph asks for.
        what: what the message begins with: "num_threads is 5000".
    """
    most = getattr(current(), name)
    if value > most:
        error = ResourceExhaustedError(
            f"{what}, more than the limit {name!r} of {most}; an application that means this raises the "
            f"limit by {variable(name)} or by penstock.limits.override({name}=...)"
        )
        error.limit = name
        raise error
