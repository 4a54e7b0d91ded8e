from __future__ import annotations

import re

import pytest

from penstock.engine.input_stream_handler import InputStreamHandler
from penstock.engine.packet import Packet
from penstock.errors import (
    FailedPreconditionError,
    PacketTypeError,
    StatusCode,
    StreamClosedError,
    TimestampError,
    TimestampOrderError,
)
from penstock.timestamp import MAX, MIN, ONE_OVER_POSTSTREAM, POSTSTREAM, PRESTREAM, Timestamp
from penstock_testing import ScheduleHarness, calculator, node, wired

NOT_IN_A_STREAM = [Timestamp.UNSET, Timestamp.UNSTARTED, Timestamp.ONE_OVER_POSTSTREAM, Timestamp.DONE]
Sink = calculator(name="Sink")


def writing(*, offset=None, contract=None, handler=InputStreamHandler, **methods):
    """Run a node whose methods are given once, on an input at 10, and return the ended harness."""
    writer = calculator(**methods, name="Writer", offset=offset, contract=contract)
    plan = wired(node(writer, "in", "out"), node(Sink, "out", handler=handler), inputs="in")
    harness = ScheduleHarness(plan, bounds_of=["out"]).start()
    harness.add("in", "x", 10)
    harness.run()
    return harness


def refusing(write, error, match, *, first=None, **arguments):
    """Check that `write(output)` raises and changes nothing, so that the calculator may go on."""
    caught: list[BaseException] = []

    def process(cc):
        output = cc.output
        if first is not None:
            first(output)
        before = (output.bound, list(output.packets), output.will_close, output.stream.bound)
        with pytest.raises(error, match=match) as raised:
            write(output)
        assert (output.bound, list(output.packets), output.will_close, output.stream.bound) == before
        caught.append(raised.value)

    harness = writing(process=process, **arguments)
    assert harness.errors == [], harness.errors
    (only,) = caught
    assert only.stream == "out"
    return only


@pytest.mark.parametrize("stamp", NOT_IN_A_STREAM)
def test_a_packet_must_have_a_timestamp_that_may_stand_in_a_stream(stamp) -> None:
    error = refusing(
        lambda output: output.add("x", stamp),
        TimestampError,
        r"stream 'out': Timestamp::\w+\(\) cannot be the timestamp of a packet in a stream",
    )

    assert error.code is StatusCode.INVALID_ARGUMENT
    assert error.timestamp == int(stamp)


@pytest.mark.parametrize("stamp", NOT_IN_A_STREAM)
def test_an_empty_packet_too_must_have_such_a_timestamp(stamp) -> None:
    refusing(
        lambda output: output.add_packet(Packet(timestamp=stamp)), TimestampError, "cannot be the timestamp"
    )


def test_a_packet_behind_the_bound_is_refused_where_it_is_written() -> None:
    error = refusing(
        lambda output: output.add("late", 4),
        TimestampOrderError,
        "stream 'out': packet at 4 is behind the bound 6; timestamps in a stream must increase",
        first=lambda output: output.add("early", 5),
    )

    assert (error.code, error.timestamp) == (StatusCode.INVALID_ARGUMENT, 4)


def test_the_same_timestamp_twice_is_refused() -> None:
    refusing(
        lambda output: output.add("again", 5),
        TimestampOrderError,
        "packet at 5 is behind the bound 6",
        first=lambda output: output.add("x", 5),
    )


def test_a_packet_behind_a_bound_that_was_only_set_is_refused() -> None:
    refusing(
        lambda output: output.add("x", 99),
        TimestampOrderError,
        "packet at 99 is behind the bound 100",
        first=lambda output: output.set_next_timestamp_bound(100),
    )


def test_after_a_prestream_packet_nothing_more_may_come() -> None:
    refusing(
        lambda output: output.add("x", 0),
        TimestampOrderError,
        r"packet at 0 is behind the bound Timestamp::OneOverPostStream\(\)",
        first=lambda output: output.add("summary", PRESTREAM),
    )


@pytest.mark.parametrize("stamp", [0, MAX])
def test_a_poststream_packet_must_be_alone(stamp) -> None:
    refusing(
        lambda output: output.add("summary", POSTSTREAM),
        TimestampOrderError,
        r"a packet at Timestamp::PostStream\(\) must be the only one of its stream|behind the bound",
        first=lambda output: output.add("x", stamp),
    )


def test_a_poststream_packet_must_be_alone_over_all_calls() -> None:
    def process(cc):
        if cc.input_timestamp == 10:
            cc.output.add("x", 10)
        else:
            cc.output.add("summary", POSTSTREAM)

    harness = writing(process=process)
    harness.add("in", "y", 11)
    harness.run()

    assert "must be the only one of its stream" in str(harness.errors[0])


@pytest.mark.parametrize("stamp", [PRESTREAM, MIN, 0, MAX, POSTSTREAM])
def test_one_packet_alone_may_stand_at_any_allowed_timestamp(stamp) -> None:
    harness = writing(process=lambda cc: cc.output.add("x", stamp))
    harness.finish()

    assert [packet for packet in harness.carried("out") if packet[1]] == [(stamp, "x")]


def test_a_packet_at_max_may_follow_others_and_ends_the_stream_for_packets() -> None:
    refusing(
        lambda output: output.add("more", MAX),
        TimestampOrderError,
        r"packet at Timestamp::Max\(\) is behind the bound Timestamp::OneOverPostStream\(\)",
        first=lambda output: (output.add("x", 0), output.add("last", MAX)),
    )


def test_a_payload_of_the_wrong_type_is_refused_with_both_types() -> None:
    error = refusing(
        lambda output: output.add("text", 10),
        PacketTypeError,
        "stream 'out': packet at 10 holds a 'str', but the stream carries int",
        contract=lambda cc: cc.outputs[0].set(int),
    )

    assert error.code is StatusCode.INVALID_ARGUMENT
    refusing(
        lambda output: output.add(True, 10),
        PacketTypeError,
        "holds a 'bool', but the stream carries int",
        contract=lambda cc: cc.outputs[0].set(int),
    )


@pytest.mark.parametrize(
    ("kind", "declared", "cure"),
    [
        ("float32", float, "write float(x), or x.item(), but the stream carries float"),
        ("int64", float, "write float(x), or x.item(), but the stream carries float"),
        ("int64", int, "write int(x), or x.item(), but the stream carries int"),
        ("bool", bool, "write bool(x), or x.item(), but the stream carries bool"),
        ("float32", int, "write int(x), which cuts off the fraction, but the stream"),
    ],
)
def test_a_number_of_numpy_for_one_of_python_says_how_to_convert_it(kind, declared, cure) -> None:
    payload = pytest.importorskip("numpy").dtype(kind).type(1)
    refusing(
        lambda output: output.add(payload, 10),
        PacketTypeError,
        rf"packet at 10 holds a '{type(payload).__name__}', a number of NumPy; {re.escape(cure)}",
        contract=lambda cc: cc.outputs[0].set(declared),
    )


def test_an_array_of_numpy_for_a_number_is_refused_without_a_cure() -> None:
    refusing(
        lambda output: output.add(pytest.importorskip("numpy").zeros(3), 10),
        PacketTypeError,
        "holds a 'ndarray', but the stream carries float",
        contract=lambda cc: cc.outputs[0].set(float),
    )


def test_a_packet_without_a_timestamp_says_how_to_give_it_one() -> None:
    refusing(
        lambda output: output.add_packet(Packet(3)),
        TimestampError,
        r"^stream 'out': Timestamp::Unset\(\) cannot be the timestamp of a packet in a stream; write "
        r"Packet\(payload, timestamp\)$",
    )


def test_a_subclass_of_the_declared_type_and_an_int_for_a_float_are_taken() -> None:
    class Special(int):
        pass

    for declared, payload in ((int, Special(3)), (float, 3), (list[int], [1])):
        harness = writing(
            process=lambda cc, payload=payload: cc.output.add(payload, 10),
            contract=lambda cc, declared=declared: cc.outputs[0].set(declared),
        )
        assert harness.finish().seen["out"][0].payload is payload


@pytest.mark.parametrize("bound", [Timestamp.UNSET, Timestamp.UNSTARTED, Timestamp.DONE])
def test_a_bound_must_be_allowed_in_a_stream_or_one_over(bound) -> None:
    refusing(
        lambda output: output.set_next_timestamp_bound(bound),
        TimestampError,
        r"stream 'out': Timestamp::\w+\(\) is no timestamp bound; it must be allowed in a stream, or be",
    )


@pytest.mark.parametrize("bound", [PRESTREAM, MIN, 0, MAX, POSTSTREAM, ONE_OVER_POSTSTREAM])
def test_every_other_bound_is_taken(bound) -> None:
    harness = writing(process=lambda cc: cc.output.set_next_timestamp_bound(bound))

    assert harness.stream("out").bound == bound


def test_a_bound_only_grows() -> None:
    error = refusing(
        lambda output: output.set_next_timestamp_bound(5),
        TimestampOrderError,
        "stream 'out': bound 5 is behind the present bound 10; bounds only grow",
        first=lambda output: output.set_next_timestamp_bound(10),
    )

    assert error.timestamp == 5


def test_the_present_bound_may_be_set_again() -> None:
    def process(cc):
        cc.output.set_next_timestamp_bound(10)
        cc.output.set_next_timestamp_bound(10)

    assert writing(process=process).errors == []


def test_an_empty_packet_raises_the_bound_past_itself() -> None:
    harness = writing(process=lambda cc: cc.output.add_packet(Packet().at(cc.input_timestamp)))

    assert harness.stream("out").bound == 11
    assert harness.carried("out") == [(10, None)]
    assert harness.stream("out").added == 0


def test_a_bound_for_all_outputs_is_set_with_one_call() -> None:
    both = calculator(lambda cc: cc.set_next_timestamp_bound(cc.input_timestamp + 1), name="Both")
    harness = ScheduleHarness(wired(node(both, "in", "a b"), inputs="in")).start()
    harness.add("in", "x", 10)
    harness.run()

    assert (harness.stream("a").bound, harness.stream("b").bound) == (11, 11)


@pytest.mark.parametrize(
    "write",
    [
        lambda o: o.add("x", 99),
        lambda o: o.add_packet(Packet(timestamp=99)),
        lambda o: o.set_next_timestamp_bound(99),
    ],
)
def test_nothing_can_be_written_to_a_stream_that_was_closed(write) -> None:
    error = refusing(
        write,
        StreamClosedError,
        r"stream 'out': (packet|bound) at 99 after the stream was closed",
        first=lambda output: output.close(),
    )

    assert error.code is StatusCode.FAILED_PRECONDITION


def test_what_was_written_before_a_close_is_still_delivered() -> None:
    closed = []

    def process(cc):
        cc.output.add("last", 10)
        cc.output.close()
        cc.output.close()
        closed.append(cc.output.is_closed())

    harness = writing(process=process)

    assert closed == [True]
    assert harness.carried("out") == [(10, "last")]
    assert harness.stream("out").is_closed
    assert "close Sink" in harness.log
    harness.add("in", "x", 11)
    harness.run()
    assert "the stream was closed" in str(harness.errors[0])


def test_a_packet_below_what_an_offset_promises_is_refused() -> None:
    refusing(
        lambda output: output.add("x", 11),
        TimestampOrderError,
        "packet at 11 is behind the bound 12; the node promised an offset of 2 from its input at 10",
        offset=2,
    )


def test_a_negative_offset_allows_earlier_packets_but_no_more_than_it_says() -> None:
    refusing(
        lambda output: output.add("x", 6),
        TimestampOrderError,
        "packet at 6 is behind the bound 7; the node promised an offset of -3",
        offset=-3,
    )
    assert writing(process=lambda cc: cc.output.add("x", 7), offset=-3).carried("out") == [(7, "x")]


def test_a_node_with_an_offset_cannot_write_in_close_and_the_error_says_what_to_do() -> None:
    harness = writing(close=lambda cc: cc.output.add("summary", MAX), offset=0)
    harness.close_input()
    harness.run()

    (error,) = harness.errors
    assert isinstance(error.__cause__, FailedPreconditionError)
    assert "a node with a timestamp offset cannot write in close()" in str(error)
    assert (
        "set bounds in process() instead of the offset, and keep a timestamp (Timestamp.MAX, say) free"
        in str(error)
    )


@pytest.mark.parametrize(
    ("what", "call"),
    [
        ("set_offset", lambda cc: cc.output.set_offset(0)),
        ("set_offset", lambda cc: cc.set_offset(0)),
        ("set_header", lambda cc: cc.output.set_header(Packet("h"))),
    ],
)
@pytest.mark.parametrize("method", ["process", "close"])
def test_what_belongs_in_open_is_refused_elsewhere(what, call, method) -> None:
    harness = writing(**{method: call})
    harness.close_input()
    harness.run()

    (error,) = harness.errors
    assert f"stream 'out': {what} can be called in open() only, not in {method}()" in str(error)
    assert error.code is StatusCode.FAILED_PRECONDITION
    assert harness.stream("out").offset is None
    assert harness.stream("out").header.is_empty()


class Five:
    """A whole number of some library."""

    def __index__(self):
        return 5


def test_an_offset_may_be_a_whole_number_of_any_library() -> None:
    harness = writing(open=lambda cc: cc.set_offset(Five()))

    assert harness.errors == []
    assert harness.stream("out").offset == 5
    assert type(harness.stream("out").offset) is int


@pytest.mark.parametrize("offset", [1.5, "1", None])
def test_an_offset_that_is_no_whole_number_is_a_type_error(offset) -> None:
    harness = writing(open=lambda cc: cc.output.set_offset(offset))

    (error,) = harness.errors
    assert isinstance(error.__cause__, TypeError)
    assert f"{type(offset).__name__!r} object cannot be interpreted as an integer" in str(error)
    assert harness.stream("out").offset is None


def test_process_bounds_can_be_asked_for_in_open_and_not_in_process() -> None:
    calls = []

    def process(cc):
        calls.append(int(cc.input_timestamp))
        with pytest.raises(
            FailedPreconditionError, match=r"node 'Writer'.*belongs in get_contract\(\) or open\(\)"
        ):
            cc.set_process_timestamp_bounds()

    harness = writing(open=lambda cc: cc.set_process_timestamp_bounds(1), process=process)
    harness.set_bound("in", 20)
    harness.run()

    assert calls == [10, 19]
    assert harness.errors == []


def test_a_header_has_no_timestamp() -> None:
    harness = writing(open=lambda cc: cc.output.set_header(Packet("h", 3)))

    assert "stream 'out': a header has no timestamp, but this one has 3" in str(harness.errors[0])


def test_a_packet_that_is_no_whole_number_late_is_a_type_error() -> None:
    harness = writing(process=lambda cc: cc.output.add("x", 1.5))

    assert isinstance(harness.errors[0].__cause__, TypeError)


def test_a_calculator_that_catches_a_refusal_goes_on() -> None:
    def process(cc):
        with pytest.raises(TimestampOrderError, match="behind"):
            cc.output.add("x", int(cc.input_timestamp) - 50)
        cc.output.add("good", cc.input_timestamp)

    harness = writing(open=lambda cc: cc.output.set_next_timestamp_bound(0), process=process)

    harness.finish()
    assert harness.carried("out")[-1] == (10, "good")


class ByArrival(InputStreamHandler):
    """Takes packets as they arrive, whatever their timestamps."""

    ignores_timestamps = True

    def look(self) -> int:
        queue = self.inputs[0].queue
        return queue[0].stamp if queue else super().look()

    def fill(self, timestamp, inputs) -> None:  # as the base's
        inputs[0].fill(self.inputs[0].pop())


def test_a_stream_whose_readers_ignore_timestamps_takes_any_order() -> None:
    def process(cc):
        for stamp in (30, 10, 20):
            cc.output.add("x", stamp)

    harness = writing(process=process, handler=ByArrival)

    assert [t for t, payload in harness.carried("out") if payload] == [30, 10, 20]
    assert [line for line in harness.log if "Sink at" in line] == [
        "process Sink at 30",
        "process Sink at 10",
        "process Sink at 20",
    ]
