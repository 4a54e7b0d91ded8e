"""Scenarios 20-25: mistakes on streams. Each raises where it is made, and names node, stream and time."""

from __future__ import annotations

import pytest

from penstock import STOP, GraphConfigError, Packet, StatusCode, Timestamp
from penstock.errors import (
    FailedPreconditionError,
    PacketTypeError,
    PenstockError,
    StreamClosedError,
    TimestampError,
    TimestampOrderError,
)
from penstock_testing import calculator

T = Timestamp
SOURCE = 'Emit -> out | input_side_packet: "packets"'


def fails_with(bench, act, kind, message, code):
    """Run a node that does `act` in process, and see the run fail with just that."""
    bench.start(bench.net("in", "Wrong in -> out"), calculator(act, name="Wrong"))
    bench.add("in", 1)

    error = bench.failure(bench.idle)

    assert isinstance(error.errors[0].__cause__, kind)
    assert (error.code, error.node, error.stream) == (code, "Wrong", "out")
    assert message in str(error)


@pytest.mark.parametrize("readers", [[], ["Pass out -> same"]], ids=["nobody reads", "a node reads"])
def test_s20_a_timestamp_written_twice_raises_whether_or_not_somebody_reads(bench, readers):
    """Decision 1: the reference notices it only where somebody reads."""
    bench.start(bench.net("", SOURCE, *readers), sides={"packets": [("x", 0), ("y", 0)]})

    error = bench.failure()

    [cause] = error.errors
    assert isinstance(cause.__cause__, TimestampOrderError)
    assert (error.code, error.node, error.stream) == (StatusCode.INVALID_ARGUMENT, "Emit", "out")
    assert "packet at 0 is behind the bound 1; timestamps in a stream must increase" in str(error)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (T.PRESTREAM, 0, "packet at 0 is behind the bound Timestamp::OneOverPostStream()"),
        (0, T.POSTSTREAM, "a packet at Timestamp::PostStream() must be the only one of its stream"),
        (0, T.PRESTREAM, "packet at Timestamp::PreStream() is behind the bound 1"),
        (T.POSTSTREAM, 0, "packet at 0 is behind the bound Timestamp::OneOverPostStream()"),
    ],
)
def test_s21_a_packet_before_or_after_all_others_must_be_the_only_one(bench, first, second, message):
    bench.start(bench.net("", SOURCE, "Pass out -> same"), sides={"packets": [("x", first), ("y", second)]})

    error = bench.failure()

    assert isinstance(error.errors[0].__cause__, TimestampOrderError)
    assert message in str(error)


@pytest.mark.parametrize("only", [T.PRESTREAM, T.POSTSTREAM])
def test_s21_a_packet_before_or_after_all_others_may_be_the_only_one(bench, only):
    bench.run(bench.net("", SOURCE, "Pass out -> same"), sides={"packets": [("x", only)]}, watch=["same"])

    assert bench.seen["same"] == [(only, "x")]


NOT_IN_STREAMS = [T.UNSTARTED, T.ONE_OVER_POSTSTREAM, T.DONE]


@pytest.mark.parametrize("at", [T.UNSET, *NOT_IN_STREAMS])
def test_s22_an_add_at_a_timestamp_that_no_stream_may_carry_raises_and_hurts_nobody(bench, at):
    bench.start(bench.net("in", "Pass in -> out"), watch=["out"])

    with pytest.raises(PenstockError) as caught:
        bench.add("in", (at, "x"))

    assert caught.value.code is StatusCode.INVALID_ARGUMENT
    assert caught.value.stream == "in"
    assert not bench.graph.has_error()
    bench.add("in", 1)
    bench.end()
    assert bench.seen["out"] == [(1, 1)]


@pytest.mark.parametrize("at", [T.UNSET, *NOT_IN_STREAMS])
def test_s22_a_packet_at_such_a_timestamp_raises_in_process(bench, at):
    message = f"stream 'out': {at} cannot be the timestamp of a packet in a stream"
    code = StatusCode.INVALID_ARGUMENT
    fails_with(bench, lambda cc: cc.output.add("x", at), TimestampError, message, code)


@pytest.mark.parametrize("bound", [T.UNSET, T.UNSTARTED, T.DONE])
def test_s22_a_bound_that_is_none_raises_in_process(bench, bound):
    message = f"stream 'out': {bound} is no timestamp bound"
    code = StatusCode.INVALID_ARGUMENT
    fails_with(bench, lambda cc: cc.output.set_next_timestamp_bound(bound), TimestampError, message, code)


def test_s22_a_bound_behind_the_present_one_raises_in_process(bench):
    """Decision 1: the reference reports it later, at each reader, with code UNKNOWN."""

    def go_back(cc):
        cc.output.set_next_timestamp_bound(10)
        cc.output.set_next_timestamp_bound(5)

    message = "stream 'out': bound 5 is behind the present bound 10; bounds only grow"
    fails_with(bench, go_back, TimestampOrderError, message, StatusCode.INVALID_ARGUMENT)


@pytest.mark.parametrize("is_later_call", [False, True])
def test_s23_a_packet_after_close_raises(bench, is_later_call):
    def write_late(cc):
        closed = cc.output.is_closed()
        cc.output.close()
        if closed or not is_later_call:
            cc.output.add("x", cc.input_timestamp)

    bench.start(bench.net("in", "Wrong in -> out"), calculator(write_late, name="Wrong"))
    bench.add("in", 1)
    if is_later_call:
        bench.idle()
        bench.add("in", 2)

    error = bench.failure()

    assert isinstance(error.errors[0].__cause__, StreamClosedError)
    assert error.code is StatusCode.FAILED_PRECONDITION
    assert f"stream 'out': packet at {1 + is_later_call} after the stream was closed" in str(error)


@pytest.mark.parametrize(
    ("name", "act"),
    [
        ("set_offset", lambda cc: cc.output.set_offset(0)),
        ("set_header", lambda cc: cc.output.set_header(Packet("header"))),
    ],
)
def test_s24_what_belongs_in_open_raises_in_process(bench, name, act):
    message = f"stream 'out': {name} can be called in open() only, not in process()"
    fails_with(bench, act, FailedPreconditionError, message, StatusCode.FAILED_PRECONDITION)


def typed(name, outputs=None, inputs=None, process=None):
    def declare(cc):
        for port in cc.outputs:
            port.set(outputs) if outputs else port.set_any()
        for port in cc.inputs:
            port.set(inputs)

    return calculator(process, name=name, contract=declare)


def write_text(cc):
    cc.output.add("text", 0)
    return STOP


IntReader = typed("IntReader", inputs=int)


def test_s25_an_output_of_any_type_takes_its_readers_and_is_checked_where_it_is_written(bench):
    bench.start(
        bench.net("", "AnyWriter -> out", "IntReader out"), typed("AnyWriter", process=write_text), IntReader
    )

    error = bench.failure()

    assert isinstance(error.errors[0].__cause__, PacketTypeError)
    assert (error.node, error.stream, error.code) == ("AnyWriter", "out", StatusCode.INVALID_ARGUMENT)
    assert "packet at 0 holds a 'str', but the stream carries int" in str(error)


def test_s25_contracts_that_do_not_agree_are_refused_and_both_types_named(bench):
    with pytest.raises(GraphConfigError) as caught:
        bench.load(
            bench.net("", "TextWriter -> out", "IntReader out"), typed("TextWriter", outputs=str), IntReader
        )

    assert caught.value.code is StatusCode.UNKNOWN
    [fault] = caught.value.faults
    assert "expects int, but stream 'out' carries str (from node 'TextWriter')" in str(fault)
