"""Functions and classes as calculators, run: which calls happen with which arguments, and their results."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import attrs
import pytest

import penstock
from penstock import Packet, Timestamp
from penstock.config import CalculatorGraphConfig
from penstock.errors import GraphConfigError, GraphRunError
from penstock.functions.function_calls import INCOMPLETE, Called, Plain
from penstock_testing import InlineExecutor, run_calculator, testing_registry


def payloads(packets):
    return [(packet.stamp, packet.payload) for packet in packets]


@penstock.calculator
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


@penstock.calculator
def keep_even(number: int) -> int | None:
    return number if number % 2 == 0 else None


@penstock.calculator
def subtract(left: int, right: int) -> int:
    return left - right


@penstock.calculator
def scale(number: int, factor: int = 10, offset: int | None = None) -> tuple[int, int, int | None]:
    return number, factor, offset


class Halves(NamedTuple):
    low: int
    high: int | None


@penstock.calculator
def halve(number: int) -> Halves:
    return Halves(number // 2, number - number // 2 if number % 2 else None)


def test_a_decorated_function_is_called_as_before():
    assert double(4) == 8
    assert double.__doc__ == "Double a number."
    assert issubclass(double.calculator, penstock.Calculator)


def test_a_function_is_called_for_each_packet_and_writes_at_its_timestamp():
    run = run_calculator(double.calculator, {"NUMBER": [(3, 1), (5, 2)]}, outputs=["OUT"])

    assert payloads(run.outputs["OUT"]) == [(3, 2), (5, 4)]


def test_none_writes_nothing():
    run = run_calculator(keep_even.calculator, {"NUMBER": [(1, 1), (2, 2), (3, 3)]}, outputs=["OUT"])

    assert payloads(run.outputs["OUT"]) == [(2, 2)]


@pytest.mark.parametrize("stamp", [Timestamp.PRESTREAM, Timestamp.MIN, Timestamp.MAX, Timestamp.POSTSTREAM])
def test_every_timestamp_of_a_stream_passes(stamp):
    run = run_calculator(double.calculator, {"NUMBER": [(stamp, 1)]}, outputs=["OUT"])

    assert payloads(run.outputs["OUT"]) == [(stamp, 2)]


def test_a_payload_of_none_is_a_payload():
    @penstock.calculator
    def is_none(anything: object) -> bool:
        return anything is None

    run = run_calculator(is_none.calculator, {"ANYTHING": [(1, None)]}, outputs=["OUT"])

    assert payloads(run.outputs["OUT"]) == [(1, True)]


def test_inputs_come_in_the_order_of_the_parameters_not_of_their_tags():
    inputs = {"RIGHT": [(1, 2)], "LEFT": [(1, 10)]}

    assert payloads(run_calculator(subtract.calculator, inputs, outputs=["OUT"]).outputs["OUT"]) == [(1, 8)]


def test_tags_may_be_left_out_where_all_ports_are_in_order():
    run = run_calculator(subtract.calculator, {0: [(1, 10)], 1: [(1, 2)]}, outputs=[0])

    assert payloads(run.outputs[0]) == [(1, 8)]


GRAPH = """
    input_stream: "a" input_stream: "b" output_stream: "out"
    node { calculator: "Subtract" input_stream: "LEFT:a" input_stream: "RIGHT:b" output_stream: "OUT:out" }
"""


def started(text, **calculators):
    registry = testing_registry()
    for name, definition in calculators.items():
        registry.add("calculator", name, definition)
    graph = penstock.CalculatorGraph(text, registry=registry)
    graph.set_executor("", InlineExecutor())
    seen: list[Packet] = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet))
    return graph, seen


def test_there_is_no_call_without_all_required_packets_and_the_ledger_says_so():
    graph, seen = started(GRAPH, Subtract=subtract)
    graph.start_run()
    for stream, stamp in (("a", 1), ("a", 2), ("b", 2), ("b", 3)):
        graph.add_packet_to_input_stream(stream, Packet(stamp, stamp))
    graph.close()

    assert payloads(seen) == [(2, 0)]
    assert graph.ledger().adds_up
    assert sorted((drop.stream, drop.reason, drop.count) for drop in graph.ledger().drops) == [
        ("a", INCOMPLETE, 1),
        ("b", INCOMPLETE, 1),
    ]


def test_the_bound_of_the_output_follows_the_input_at_once():
    text = """
        input_stream: "n" input_stream: "m" output_stream: "out"
        node { calculator: "KeepEven" input_stream: "NUMBER:n" output_stream: "OUT:even" }
        node {
          calculator: "Scale" input_stream: "NUMBER:m" input_stream: "OFFSET:even" output_stream: "OUT:out"
        }
    """
    graph, seen = started(text, KeepEven=keep_even, Scale=scale)
    graph.start_run()
    graph.add_packet_to_input_stream("m", Packet(7, 1))
    graph.add_packet_to_input_stream("n", Packet(1, 1))
    graph.wait_until_idle()

    assert payloads(seen) == [(1, (7, 10, None))]
    graph.close()


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"NUMBER": [(1, 1)]}, [(1, (1, 10, None))]),
        ({"NUMBER": [(1, 1), (2, 2)], "FACTOR": [(2, 3)]}, [(1, (1, 10, None)), (2, (2, 3, None))]),
        ({"NUMBER": [(1, 1)], "OFFSET": [(1, 4)]}, [(1, (1, 10, 4))]),
        ({"NUMBER": [(1, 1)], "OFFSET": [(2, 4)]}, [(1, (1, 10, None))]),
    ],
    ids=["unconnected", "one packet missing", "none allowed", "required missing"],
)
def test_an_optional_input_without_packet_is_its_default_or_none(inputs, expected):
    run = run_calculator(scale.calculator, inputs, outputs=["OUT"])

    assert payloads(run.outputs["OUT"]) == expected


def test_a_required_input_must_be_connected():
    with pytest.raises(GraphConfigError, match=r"needs input 'RIGHT', but nothing is connected to it"):
        run_calculator(subtract.calculator, {"LEFT": [(1, 1)]}, outputs=["OUT"])


def test_a_payload_of_another_type_is_refused_where_it_is_written():
    @penstock.calculator
    def lie(number: int) -> str:
        return number  # type: ignore[return-value]  # the mistake to be found

    with pytest.raises(GraphRunError, match=r"holds a 'int', but the stream carries str"):
        run_calculator(lie.calculator, {"NUMBER": [(1, 1)]}, outputs=["OUT"])


def test_an_exception_of_the_function_ends_the_run_with_the_node_named():
    @penstock.calculator("Divider")
    def divide(number: int) -> float:
        return 1 / number

    with pytest.raises(GraphRunError, match=r"Divider") as caught:
        run_calculator(divide.calculator, {"NUMBER": [(1, 0)]}, outputs=["OUT"])

    assert isinstance(caught.value.errors[0].__cause__, ZeroDivisionError)


def test_a_named_tuple_has_an_output_for_each_field_and_none_writes_nothing():
    run = run_calculator(halve.calculator, {"NUMBER": [(1, 4), (2, 5)]}, outputs=["HIGH", "LOW"])

    assert payloads(run.outputs["LOW"]) == [(1, 2), (2, 2)]
    assert payloads(run.outputs["HIGH"]) == [(2, 3)]


def test_fields_may_be_left_unconnected():
    run = run_calculator(halve.calculator, {"NUMBER": [(1, 5)]}, outputs=["HIGH"])

    assert payloads(run.outputs["HIGH"]) == [(1, 3)]


def test_a_data_class_is_one_payload():
    run = run_calculator(box.calculator, {"NUMBER": [(1, 5)]}, outputs=["OUT"])

    assert payloads(run.outputs["OUT"]) == [(1, Box(5))]


@attrs.frozen
class Box:
    size: int


@penstock.calculator
def box(number: int) -> Box:
    return Box(number)


def test_a_function_without_outputs_is_called_too():
    seen = []

    @penstock.calculator
    def note(number: int) -> None:
        seen.append(number)

    run_calculator(note.calculator, {"NUMBER": [(1, 1), (2, 2)]})

    assert seen == [1, 2]


def test_the_timestamp_and_the_context_come_where_they_stand():
    @penstock.calculator
    def watch(at: Timestamp, number: int, cc: penstock.CalculatorContext, other: int | None) -> str:
        cc.counter("calls").increment()
        return f"{at.microseconds}:{number}:{other}"

    run = run_calculator(watch.calculator, {"NUMBER": [(3, 1)], "OTHER": [(3, 2)]}, outputs=["OUT"])

    assert payloads(run.outputs["OUT"]) == [(3, "3:1:2")]
    assert run.counters == {"calls": 1}


@pytest.mark.parametrize("form", [Plain, Called])
def test_stop_ends_the_run(form):
    if form is Plain:

        @penstock.calculator
        def until_two(number: int) -> int:
            return penstock.STOP if number == 2 else number  # type: ignore[return-value]  # as documented
    else:

        @penstock.calculator
        def until_two(number: int, other: int = 0) -> int:
            return penstock.STOP if number == 2 else number + other  # type: ignore[return-value]

    text = """
        input_stream: "n" output_stream: "out"
        node { calculator: "UntilTwo" input_stream: "NUMBER:n" output_stream: "OUT:out" }
    """
    graph, seen = started(text, UntilTwo=until_two)
    graph.start_run()
    for number in (1, 2):
        graph.add_packet_to_input_stream("n", Packet(number, number))
    graph.wait_until_idle()

    assert issubclass(until_two.calculator, form)
    with pytest.raises(penstock.PenstockError, match=r"returned STOP"):
        graph.add_packet_to_input_stream("n", Packet(3, 3))
    graph.wait_until_done()
    assert payloads(seen) == [(1, 1)]


def test_an_async_function_is_awaited():
    @penstock.calculator
    async def later(number: int, other: int = 1) -> int | None:
        await asyncio.sleep(0)
        return number + other if number != 2 else None

    run = run_calculator(
        later.calculator, {"NUMBER": [(1, 1), (2, 2), (3, 3)]}, outputs=["OUT"], max_in_flight=2
    )

    assert payloads(run.outputs["OUT"]) == [(1, 2), (3, 4)]


# --- what is given by name --------------------------------------------------------------------


@penstock.calculator
def prefixed(word: str, *, prefix: penstock.SidePacket[str], suffix: penstock.SidePacket[str] = "!") -> str:
    return prefix + word + suffix


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ({"PREFIX": "<"}, "<a!"),
        ({"PREFIX": "<", "SUFFIX": ">"}, "<a>"),
        ({0: "<", 1: ">"}, "<a>"),
        ({0: "<"}, "<a!"),
    ],
)
def test_keyword_only_parameters_are_side_packets(sides, expected):
    run = run_calculator(prefixed.calculator, {"WORD": [(1, "a")]}, outputs=["OUT"], side_packets=sides)

    assert payloads(run.outputs["OUT"]) == [(1, expected)]


def test_a_side_packet_without_default_must_be_connected():
    with pytest.raises(GraphConfigError, match=r"needs input side packet 'PREFIX'"):
        run_calculator(prefixed.calculator, {"WORD": [(1, "a")]}, outputs=["OUT"])


def test_a_side_packet_that_may_be_none_is_none_where_it_is_not_given():
    @penstock.calculator
    def tell(word: str, *, note: penstock.SidePacket[str | None]) -> str:
        return f"{word} {note}"

    run = run_calculator(tell.calculator, {"WORD": [(1, "a")]}, outputs=["OUT"])

    assert payloads(run.outputs["OUT"]) == [(1, "a None")]


def test_a_keyword_only_message_gets_the_options_of_the_node():
    run = run_calculator(
        queue_size.calculator,
        {"NUMBER": [(1, 1)]},
        outputs=["OUT"],
        options=CalculatorGraphConfig(max_queue_size=7),
    )

    assert payloads(run.outputs["OUT"]) == [(1, 8)]


@penstock.calculator
def queue_size(number: int, *, options: CalculatorGraphConfig) -> int:
    return int(options.max_queue_size) + number


# --- without inputs ---------------------------------------------------------------------------


def test_a_function_without_inputs_makes_a_side_packet():
    @penstock.calculator
    def load(*, size: penstock.SidePacket[int]) -> penstock.SidePacket[list]:
        return [0] * size

    run = run_calculator(load.calculator, side_packets={"SIZE": 3}, output_side_packets=["OUT"])

    assert run.output_side_packets == {"OUT": [0, 0, 0]}


def test_an_async_function_makes_a_side_packet_too():
    @penstock.calculator
    async def load() -> penstock.SidePacket[int]:
        await asyncio.sleep(0)
        return 5

    run = run_calculator(load.calculator, output_side_packets=["OUT"])

    assert run.output_side_packets == {"OUT": 5}


def test_a_side_packet_of_none_is_refused():
    @penstock.calculator
    def load() -> penstock.SidePacket[int]:
        return None  # type: ignore[return-value]  # the mistake to be found

    with pytest.raises(GraphRunError, match=r"made None of side packet 'made_0'; return a value"):
        run_calculator(load.calculator, output_side_packets=["OUT"])


# --- classes ----------------------------------------------------------------------------------


@penstock.calculator
class RunningSum:
    """Add up."""

    def __init__(self, *, start: penstock.SidePacket[int] = 0) -> None:
        self.total = start

    def process(self, number: int) -> int:
        self.total += number
        return self.total


def test_a_class_stays_what_it_is():
    assert RunningSum(start=1).process(2) == 3
    assert RunningSum.calculator.__name__ == "RunningSum"


@pytest.mark.parametrize(("sides", "expected"), [({}, [1, 3]), ({"START": 10}, [11, 13])])
def test_a_class_keeps_its_state_within_a_run_and_is_new_in_the_next(sides, expected):
    for _ in range(2):
        run = run_calculator(
            RunningSum.calculator, {"NUMBER": [(1, 1), (2, 2)]}, outputs=["OUT"], side_packets=sides
        )
        assert [packet.payload for packet in run.outputs["OUT"]] == expected


@pytest.mark.parametrize("is_async", [False, True])
def test_open_and_close_of_a_class_are_called_with_the_context(is_async):
    calls = []

    class Base:
        def open(self, cc):
            calls.append(("open", cc.node_name))

        def process(self, number: int) -> None:
            calls.append(("process", number))

        def close(self, cc):
            calls.append(("close", cc.node_name))

    class Awaited(Base):
        async def open(self, cc):
            await asyncio.sleep(0)
            super().open(cc)

        async def close(self, cc):
            await asyncio.sleep(0)
            super().close(cc)

    made = penstock.calculator("Noted")(Awaited if is_async else Base)
    run_calculator(made.calculator, {"NUMBER": [(1, 1)]})

    assert calls == [("open", "Noted"), ("process", 1), ("close", "Noted")]


def test_a_call_that_has_not_come_back_stands_in_the_function():
    seen = []

    @penstock.calculator
    def looks(left: int, right: int) -> int:
        seen.extend(call for node in graph.snapshot().nodes for call in node.calls)
        return left + right

    graph, _ = started(GRAPH, Subtract=looks)
    graph.start_run()
    for name in ("a", "b"):
        graph.add_packet_to_input_stream(name, Packet(1, 0))
    graph.close()

    (call,) = seen
    assert (call.method, call.function, call.file) == ("process", "looks", __file__)
    assert call.line == looks.__code__.co_firstlineno + 2
