"""What `@penstock.calculator` refuses, when it decorates: each message says what to write instead."""

# ruff: noqa: TC001, TC003  # annotations are evaluated here
from __future__ import annotations

import asyncio
import traceback
from collections import namedtuple
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pytest

import penstock
from penstock import Packet, SidePacket, Timestamp
from penstock.config import CalculatorGraphConfig
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from fractions import Fraction

T = TypeVar("T")
Untyped = namedtuple("Untyped", "one")  # noqa: PYI024  # the one that is refused


class Alike(NamedTuple):
    one: int
    ONE: int


class Empty(NamedTuple):
    pass


def bare(frame): ...
def no_result(frame: int): ...
def some_bare(frame: int, other) -> int: ...
def not_there(frame: Fraction) -> int: ...
def misspelt(frame: "list[") -> int: ...  # noqa: F722
def no_type(frame: T) -> int: ...
def text(frame: 7) -> int: ...
def nothing(frame: None) -> int: ...
def packet(frame: Packet) -> int: ...
def packet_result(frame: int) -> Packet: ...
def many(*frames: int) -> int: ...
def named(**frames: int) -> int: ...
def by_name(frame: int, *, size: object) -> int: ...
def side(frame: int, size: SidePacket[int]) -> int: ...
def options(frame: int, size: CalculatorGraphConfig) -> int: ...
def time_by_name(frame: int, *, at: Timestamp) -> int: ...
def same(frame: int, FRAME: int) -> int: ...  # noqa: N803
def foreign(größe: int) -> int: ...  # noqa: PLC2401  # the one that is refused
def underscore(_: int) -> int: ...
def no_inputs() -> int: ...
def sink_without_inputs() -> None: ...
def side_with_input(frame: int) -> SidePacket[int]: ...
def untyped(frame: int) -> Untyped: ...
def alike(frame: int) -> Alike: ...
def empty(frame: int) -> Empty: ...
def timed_source(at: Timestamp) -> Iterator[int]: ...


def filtering(frame: int) -> Iterator[int]:
    yield frame


def source() -> int:  # type: ignore[misc]  # the mistake to be found
    yield 1


async def async_source() -> Iterator[int]:  # type: ignore[misc]
    yield 1


def plain_source() -> AsyncIterator[int]:  # type: ignore[misc]
    yield 1


async def awaited_iterator() -> Iterator[int]:
    await asyncio.sleep(0)
    return iter([])


def source_of_none() -> Iterator[None]:
    yield None


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            bare,
            r"'bare': parameter 'frame' has no annotation; write the type of its payloads, 'frame: int' say",
        ),
        (some_bare, r"parameter 'other' has no annotation"),
        (no_result, r"'no_result': its result has no annotation; write '-> int', say, .* '-> None'"),
        (
            not_there,
            r"type hints name 'Fraction', which is not there at run time; .* not under TYPE_CHECKING",
        ),
        (misspelt, r"its type hints cannot be evaluated: "),
        (no_type, r"parameter 'frame': annotation ~T cannot be the type of a port; write a class"),
        (text, r"parameter 'frame': annotation 7 cannot be the type|cannot be evaluated"),
        (nothing, r"parameter 'frame': None is no payload"),
        (packet, r"'frame' gets payloads, not packets; .* 'at: penstock.Timestamp'"),
        (packet_result, r"its result is written at the input timestamp; return the payload"),
        (many, r"\*frames does not say how many ports there are; name each"),
        (named, r"\*\*frames does not say how many"),
        (
            by_name,
            r"'size' is passed by name, so it must be a side packet, 'penstock.SidePacket.*before the \*$",
        ),
        (side, r"'size': a side packet is passed by name; put it after a \*$"),
        (options, r"'size': options, of 'CalculatorGraphConfig', are passed by name; put it after a \*$"),
        (time_by_name, r"'at': a Timestamp is passed by position: put it before the \*$"),
        (same, r"'FRAME': the tag 'FRAME' is taken already; rename one"),
        (foreign, r"'größe' makes no tag; use letters"),
        (underscore, r"'_' makes no tag"),
        (no_inputs, r"'no_inputs': its result annotation fits no function without inputs; give it an input"),
        (sink_without_inputs, r"fits no function without inputs; give it an input"),
        (awaited_iterator, r"fits no function without inputs|cannot be the type"),
        (side_with_input, r"its result: a result that is a side packet needs a function without inputs"),
        (untyped, r"its result, field 'one' has no annotation; use typing.NamedTuple"),
        (alike, r"field 'ONE': the tag 'ONE' is taken already"),
        (empty, r"'Empty' has no fields to be results"),
        (
            filtering,
            r"'filtering': its annotated result cannot be yielded, since it has inputs; generators are",
        ),
        (source, r"its result is <class 'int'>, but it yields; write '-> Iterator\[int\]'"),
        (async_source, r"but it yields; write '-> AsyncIterator\[int\]'"),
        (plain_source, r"but it yields; write '-> Iterator\[int\]'"),
        (source_of_none, r"a source that yields None writes nothing"),
        (
            timed_source,
            r"'timed_source' defines a calculator without inputs, where a Timestamp has no meaning",
        ),
        (
            len,
            r"<built-in function len> is no definition of a calculator: decorate a function",
        ),
        (lambda frame: frame, r"parameter 'frame' has no annotation"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_function_that_cannot_be_a_calculator_is_refused(function, message):
    with pytest.raises(InvalidArgumentError, match=message):
        penstock.calculator(function)

    assert not hasattr(function, "calculator")


class NoProcess:
    pass


class Positional:
    def __init__(self, size: object) -> None: ...
    def process(self, frame: int) -> None: ...


class NotByName:
    def __init__(self, size: SidePacket[int], /) -> None: ...
    def process(self, frame: int) -> None: ...


class Static:
    @staticmethod
    def process(frame: int) -> None: ...


class Long(penstock.Calculator):
    def process(self, cc: penstock.CalculatorContext) -> None: ...


class Maker:
    def process(self) -> SidePacket[int]: ...


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (NoProcess, r"class 'NoProcess' is no definition of a calculator: give it a method process"),
        (Positional, r"__init__: parameter 'size' is passed by name, .* by position, to process$"),
        (NotByName, r"__init__: parameter 'size' can be passed by position only; remove the /"),
        (Static, r"class 'Static' is no definition of a calculator: give it a method process"),
        (Long, r"definition of class 'Long': it is a penstock.Calculator already; leave the decorator out"),
        (Maker, r"process: only a function can be defined to make a side packet"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_class_that_cannot_be_a_calculator_is_refused(cls, message):
    with pytest.raises(InvalidArgumentError, match=message):
        penstock.calculator(cls)


@pytest.mark.parametrize("name", ["", "two words"])
def test_a_name_that_no_graph_could_write_is_refused(name):
    with pytest.raises(InvalidArgumentError, match=r"calculator: registry entry name .* must be 'Name'"):

        @penstock.calculator(name)
        def fine(frame: int) -> int:
            return frame


def test_the_traceback_ends_at_the_decorator() -> None:
    """Frames of the package do not help an author who forgot an annotation."""
    with pytest.raises(InvalidArgumentError) as raised:
        penstock.calculator(some_bare)

    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names[1:] == ["calculator", "_made"]
    assert raised.value.__cause__ is None
