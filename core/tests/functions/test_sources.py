"""Generators as sources: their timestamps, their end, and what happens to them when a run ends early."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Generator, Iterator
from typing import NamedTuple

import pytest

import penstock
from penstock import Packet, Timestamp
from penstock.errors import GraphRunError
from penstock_testing import InlineExecutor, run_calculator, testing_registry


def payloads(packets):
    return [(packet.stamp, packet.payload) for packet in packets]


def outputs(definition, *tags, **keywords):
    run = run_calculator(definition.calculator, outputs=tags or ("OUT",), **keywords)
    return [payloads(run.outputs[tag]) for tag in tags or ("OUT",)]


class Both(NamedTuple):
    number: int
    word: str | None


@penstock.calculator
def count(*, end: penstock.SidePacket[int] = 3) -> Iterator[int]:
    yield from range(end)


@pytest.mark.parametrize(("sides", "expected"), [({}, [0, 1, 2]), ({"END": 1}, [0]), ({"END": 0}, [])])
def test_payloads_have_running_timestamps_and_the_end_of_the_generator_ends_the_source(sides, expected):
    assert outputs(count, side_packets=sides) == [[(number, number) for number in expected]]


def test_none_takes_a_running_timestamp_and_writes_nothing():
    @penstock.calculator
    def gaps() -> Generator[int | None, None, None]:
        yield 1
        yield None
        yield 3

    assert outputs(gaps) == [[(0, 1), (2, 3)]]


def test_pairs_have_their_own_timestamps():
    @penstock.calculator
    def timed() -> Iterator[tuple[Timestamp | int, str | None]]:
        yield 5, "a"
        yield Timestamp(7), None
        yield 9, "c"

    assert outputs(timed) == [[(5, "a"), (9, "c")]]


def test_a_pair_with_none_moves_the_bound():
    @penstock.calculator
    def timed() -> Iterator[tuple[Timestamp | int, str | None]]:
        yield 5, None
        yield 5, "too late"

    with pytest.raises(GraphRunError, match=r"packet at 5 is behind the bound 6"):
        outputs(timed)


def test_packets_are_written_as_they_are():
    @penstock.calculator
    def packets() -> Iterator[Packet]:
        yield Packet("a", 4)
        yield Packet(2, 8)

    assert outputs(packets) == [[(4, "a"), (8, 2)]]


def test_named_tuples_have_an_output_for_each_field():
    @penstock.calculator
    def both() -> Iterator[Both]:
        yield Both(1, "a")
        yield Both(2, None)

    assert outputs(both, "WORD", "NUMBER") == [[(0, "a")], [(0, 1), (1, 2)]]


def test_pairs_may_have_named_tuples():
    @penstock.calculator
    def both() -> Iterator[tuple[Timestamp | int, Both]]:
        yield 10, Both(1, "a")

    assert outputs(both, "WORD") == [[(10, "a")]]


def test_an_async_generator_is_a_source():
    left = []

    @penstock.calculator
    async def ticks() -> AsyncIterator[int]:
        try:
            for number in range(3):
                await asyncio.sleep(0)
                yield number
        finally:
            left.append("left")

    assert outputs(ticks) == [[(0, 0), (1, 1), (2, 2)]]
    assert left == ["left"]


def test_an_iterator_that_is_returned_is_a_source_too():
    @penstock.calculator
    def words() -> Iterator[str]:
        return iter(["a", "b"])

    assert outputs(words) == [[(0, "a"), (1, "b")]]


def test_a_class_with_a_generator_is_a_source():
    @penstock.calculator
    class Countdown:
        def __init__(self, *, start: penstock.SidePacket[int]) -> None:
            self.start = start

        def process(self) -> Iterator[int]:
            yield from range(self.start, 0, -1)

    assert outputs(Countdown, side_packets={"START": 2}) == [[(0, 2), (1, 1)]]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_generator_leaves_its_finally_block_when_the_run_is_cancelled(is_async):
    left = []

    def endless() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            left.append("left")

    async def endless_too() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            left.append("left")

    registry = testing_registry()
    registry.add("calculator", "Endless", penstock.calculator(endless_too if is_async else endless))
    graph = penstock.CalculatorGraph(
        'output_stream: "out" node { calculator: "Endless" output_stream: "OUT:out" }', registry=registry
    )
    graph.set_executor("", InlineExecutor())
    graph.observe_output_stream("out", lambda _, packet: packet.stamp == 5 and graph.cancel())
    graph.start_run()
    with pytest.raises(GraphRunError, match=r"(?i)cancel"):
        graph.wait_until_done(30)

    assert left == ["left"]


def test_an_async_generator_that_others_hold_is_closed_at_the_end_of_the_run():
    held, left = [], []

    async def endless() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            await asyncio.sleep(0)
            left.append("left")

    @penstock.calculator
    class Held:
        def process(self) -> AsyncIterator[int]:
            held.append(endless())
            return held[0]

        def close(self, cc):
            left.append("closed")

    registry = testing_registry()
    registry.add("calculator", "Held", Held)
    graph = penstock.CalculatorGraph(
        'output_stream: "out" node { calculator: "Held" output_stream: "OUT:out" }', registry=registry
    )
    graph.set_executor("", InlineExecutor())
    graph.observe_output_stream(
        "out", lambda _, packet: packet.stamp == 5 and graph.close_all_packet_sources()
    )
    graph.start_run()
    graph.wait_until_done(30)

    assert left == ["left", "closed"]


@pytest.mark.parametrize("is_async", [False, True])
def test_open_and_close_of_a_source_class_are_called_around_its_items(is_async):
    calls = []

    class Words:
        def open(self, cc):
            calls.append("open")

        def process(self) -> Iterator[str]:
            try:
                yield "a"
            finally:
                calls.append("left")

        def close(self, cc):
            calls.append("close")

    class AsyncWords:
        async def open(self, cc):
            await asyncio.sleep(0)
            calls.append("open")

        async def process(self) -> AsyncIterator[str]:
            try:
                yield "a"
            finally:
                calls.append("left")

        async def close(self, cc):
            await asyncio.sleep(0)
            calls.append("close")

    made = penstock.calculator("Words")(AsyncWords if is_async else Words)

    assert outputs(made) == [[(0, "a")]]
    assert calls == ["open", "left", "close"]


@pytest.mark.parametrize("wrong", [7, (1, 2, 3), "ab"])
def test_a_source_of_pairs_that_yields_something_else_is_an_error_of_the_run(wrong):
    @penstock.calculator
    def timed() -> Iterator[tuple[Timestamp, str]]:
        yield wrong

    with pytest.raises(
        GraphRunError,
        match=rf"a function that yields pairs of timestamp and value, gave {re.escape(repr(wrong))}",
    ):
        outputs(timed)


def test_a_source_of_packets_that_yields_something_else_is_an_error_of_the_run():
    @penstock.calculator
    def packets() -> Iterator[Packet]:
        yield 7  # type: ignore[misc]  # the mistake to be found

    with pytest.raises(
        GraphRunError,
        match=r"packets, a function that yields packets, gave 7",
    ):
        outputs(packets)
