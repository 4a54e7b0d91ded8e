"""What a function returns, as ports: values at the input timestamp, a source's items, a side packet."""

from __future__ import annotations

import collections.abc
import inspect
import typing
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.engine.packet import Packet
from penstock.errors import InvalidArgumentError
from penstock.functions.annotations import Meaning, read
from penstock.functions.parameters import tag_of
from penstock.timestamp import Timestamp
from penstock.type_hints import hints_of

if TYPE_CHECKING:
    from collections.abc import Callable

_PAIR: Final = 2
_ITERATORS: Final = (collections.abc.Iterator, collections.abc.Iterable, collections.abc.Generator)
_ASYNC: Final = (collections.abc.AsyncIterator, collections.abc.AsyncIterable, collections.abc.AsyncGenerator)


class Timing(Enum):
    """Which timestamps outputs have."""

    INPUT = "that of the input"
    RUNNING = "0, 1, 2, ... for the items of a source"
    PAIRS = "each item of a source is a (timestamp, value)"
    PACKETS = "each item of a source is a packet"


@attrs.frozen
class OutputField:
    """One output port: its tag, and what it carries."""

    tag: str
    meaning: Meaning


@attrs.frozen
class Results:
    """What a call returns."""

    #: In order; one with tag OUT, one for each field of a NamedTuple, or none.
    outputs: tuple[OutputField, ...] = ()
    #: Whether a value is a NamedTuple with one field for each output.
    is_fields: bool = False
    #: The timing of the outputs.
    timing: Timing = Timing.INPUT
    #: Whether a source's items have to be awaited.
    is_async: bool = False
    #: The side packet that the call makes, or None.
    side: OutputField | None = None


def read_results(function: Callable[..., object], who: str, *, has_inputs: bool) -> Results:
    """Read what a function returns.

    Raises:
        InvalidArgumentError: it has no return annotation, or one that does not fit its inputs.
    """
    hints = hints_of(function, who)
    where = f"{who}: its result"
    if "return" not in hints:
        raise InvalidArgumentError(
            f"{who}: its result has no annotation; write '-> int', say, for one output, or '-> None' for no "
            "output"
        )
    annotation = hints["return"]
    is_generator = inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
    if has_inputs:
        if is_generator:
            raise InvalidArgumentError(
                f"{who}: its annotated result cannot be yielded, since it has inputs; generators are sources "
                "without inputs: return one value a call, or write a class derived from penstock.Calculator"
            )
        return _of_values(annotation, where, Timing.INPUT)
    origin, is_async = typing.get_origin(annotation), inspect.isasyncgenfunction(function)
    is_awaited = inspect.iscoroutinefunction(function)
    if (
        origin in (*_ITERATORS, *_ASYNC)
        and not is_awaited
        and (not is_generator or is_async == (origin in _ASYNC))
    ):
        found = _of_items(typing.get_args(annotation)[0], where)
        return attrs.evolve(found, is_async=origin in _ASYNC)
    if is_generator:
        kind = "AsyncIterator" if is_async else "Iterator"
        raise InvalidArgumentError(
            f"{who}: its result is {annotation!r}, but it yields; write '-> {kind}[int]', say"
        )
    if annotation is not None and annotation is not type(None):
        meaning = read(annotation, where)
        if meaning.is_side:
            return Results(side=OutputField("OUT", meaning))
    raise InvalidArgumentError(
        f"{who}: its result annotation fits no function without inputs; give it an input, or let it yield "
        "and write '-> Iterator[int]', say, for a source, or '-> penstock.SidePacket[int]' for a side packet"
    )


def _of_items(item: Any, where: str) -> Results:
    """Return the results of a source from what it yields."""
    if item is Packet:
        return Results((OutputField("OUT", Meaning(object)),), timing=Timing.PACKETS)
    parts = typing.get_args(item)
    if typing.get_origin(item) is tuple and len(parts) == _PAIR and _is_timestamp(parts[0]):
        return _of_values(parts[1], where, Timing.PAIRS)
    found = _of_values(item, where, Timing.RUNNING)
    if not found.outputs:
        raise InvalidArgumentError(f"{where}: a source that yields None writes nothing; yield payloads")
    return found


def _is_timestamp(annotation: Any) -> bool:
    return Timestamp in (annotation, *typing.get_args(annotation))


def _of_values(annotation: Any, where: str, timing: Timing) -> Results:
    if annotation is None or annotation is type(None):
        return Results(timing=timing)
    meaning = read(annotation, where)
    if meaning.is_side:
        raise InvalidArgumentError(f"{where}: a result that is a side packet needs a function without inputs")
    if meaning.type is Packet:
        raise InvalidArgumentError(
            f"{where} is written at the input timestamp; return the payload and write its type, or write a "
            "class derived from penstock.Calculator"
        )
    if not _is_named_tuple(meaning.type):
        return Results((OutputField("OUT", meaning),), timing=timing)
    taken = set[str]()
    hints = hints_of(meaning.type, where)
    fields = []
    for name in meaning.type._fields:
        of_field = f"{where}, field {name!r}"
        if name not in hints:
            raise InvalidArgumentError(f"{of_field} has no annotation; use typing.NamedTuple")
        fields.append(OutputField(tag_of(name, of_field, taken), read(hints[name], of_field)))
    if not fields:
        raise InvalidArgumentError(f"{where}: {meaning.type.__name__!r} has no fields to be results")
    return Results(tuple(fields), is_fields=True, timing=timing)


def _is_named_tuple(kind: Any) -> typing.TypeGuard[Any]:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")
