"""Conformance scenarios on mistakes: each raises where it is made, and names node, stream and time."""

from __future__ import annotations

import re

import pytest

import penstock
from penstock import STOP, GraphConfigError, Packet, StatusCode, Timestamp
from penstock.errors import FailedPreconditionError, PacketTypeError, StreamClosedError, TimestampOrderError


class AnyPorts(penstock.Calculator):
    """Accepts anything everywhere; subclasses do the work."""

    @classmethod
    def get_contract(cls, cc) -> None:
        for ports in (cc.inputs, cc.outputs, cc.input_side_packets):
            for port in ports:
                port.set_any()


def source(*writes):
    """Return a source that writes these timestamps in one call and stops."""

    class Source(AnyPorts):
        def process(self, cc):
            for t in writes:
                cc.output.add("x", t)
            return STOP

    return Source


SOURCE = 'node { calculator: "Source" output_stream: "out" }\n'
READER = 'node { calculator: "PassThroughCalculator" input_stream: "out" output_stream: "same" }'


@pytest.mark.parametrize("reader", ["", READER], ids=["nobody reads", "a node reads"])
def test_a_timestamp_written_twice_raises_in_process_whether_or_not_somebody_reads(bench, reader):
    bench.load(SOURCE + reader, source(0, 0))
    bench.graph.start_run()

    error = bench.failure()

    [cause] = error.errors
    assert isinstance(cause.__cause__, TimestampOrderError)
    assert (error.code, error.node, error.stream) == (StatusCode.INVALID_ARGUMENT, "Source", "out")
    assert "packet at 0 is behind the bound 1; timestamps in a stream must increase" in str(error)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (Timestamp.PRESTREAM, 0, "is behind the bound Timestamp::OneOverPostStream()"),
        (0, Timestamp.POSTSTREAM, "must be the only one of its stream"),
        (0, Timestamp.PRESTREAM, "packet at Timestamp::PreStream() is behind the bound 1"),
    ],
)
def test_a_packet_before_or_after_all_others_must_be_the_only_one(bench, first, second, message):
    bench.start('input_stream: "out"\n' + READER, watch=["same"])
    bench.add("out", first, "x")
    with pytest.raises(TimestampOrderError, match=re.escape(message)):
        bench.add("out", second, "y")
    bench.end()
    assert bench.seen["same"] == [(first, "x")]

    bench.load(SOURCE + READER, source(first, second))
    bench.graph.start_run()
    error = bench.failure()
    assert isinstance(error.errors[0].__cause__, TimestampOrderError)


@pytest.mark.parametrize("only", [Timestamp.PRESTREAM, Timestamp.POSTSTREAM, Timestamp.MIN, Timestamp.MAX])
def test_a_single_packet_may_stand_at_any_end(bench, only):
    bench.load(SOURCE + READER, source(only), watch=["same"])
    bench.graph.start_run()
    bench.done()

    assert bench.seen["same"] == [(only, "x")]


ONE = 'input_stream: "in" node { calculator: "Wrong" input_stream: "in" output_stream: "out" }'


def wrong(act):
    """Return a calculator that makes a mistake in process."""

    class Wrong(AnyPorts):
        def process(self, cc):
            act(cc)

    return Wrong


def write_after_close(cc):
    cc.output.close()
    cc.output.add("x", cc.input_timestamp)


def bound_after_close(cc):
    cc.output.close()
    cc.output.set_next_timestamp_bound(5)


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (write_after_close, StreamClosedError, "stream 'out': packet at 1 after the stream was closed"),
        (bound_after_close, StreamClosedError, "stream 'out': bound at 5 after the stream was closed"),
        (
            lambda cc: cc.set_offset(0),
            FailedPreconditionError,
            "stream 'out': set_offset can be called in open() only, not in process()",
        ),
        (
            lambda cc: cc.output.set_header(Packet("header")),
            FailedPreconditionError,
            "stream 'out': set_header can be called in open() only, not in process()",
        ),
    ],
    ids=["packet after close", "bound after close", "offset in process", "header in process"],
)
def test_what_comes_too_late_raises_in_process(bench, act, kind, message):
    bench.start(ONE, wrong(act))
    bench.add("in", 1, "a")

    error = bench.failure(bench.idle)

    assert error.code is StatusCode.FAILED_PRECONDITION
    assert isinstance(error.errors[0].__cause__, kind)
    assert message in str(error)


def test_a_packet_on_a_stream_that_an_earlier_call_closed_raises(bench):
    class Wrong(AnyPorts):
        def process(self, cc):
            if cc.output.is_closed():
                cc.output.add("x", cc.input_timestamp)
            cc.output.close()

    bench.start(ONE, Wrong, watch=["out"])
    bench.add("in", 1, "a")
    bench.idle()
    bench.add("in", 2, "a")

    assert "stream 'out': packet at 2 after the stream was closed" in str(bench.failure())


def test_a_calculator_that_catches_its_mistake_goes_on(bench):
    def add_twice(cc):
        cc.output.add("kept", cc.input_timestamp)
        with pytest.raises(TimestampOrderError):
            cc.output.add("refused", cc.input_timestamp)

    bench.start(ONE, wrong(add_twice), watch=["out"])
    for t in (1, 2):
        bench.add("in", t, "a")
    bench.end()

    assert bench.seen["out"] == [(1, "kept"), (2, "kept")]


class AnyOut(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc) -> None:
        cc.outputs[0].set_any()

    def process(self, cc):
        cc.output.add("text", 0)
        return STOP


class StringOut(AnyOut):
    @classmethod
    def get_contract(cls, cc) -> None:
        cc.outputs[0].set(str)


class IntIn(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set(int)

    def process(self, cc):
        raise AssertionError("no int was written")


TYPED = """
node { calculator: "%s" output_stream: "out" }
node { calculator: "IntIn" input_stream: "out" }
"""


def test_an_output_of_any_type_takes_the_type_of_its_reader_and_is_checked_where_it_is_written(bench):
    bench.load(TYPED % "AnyOut", AnyOut, IntIn)
    bench.graph.start_run()

    error = bench.failure()

    assert isinstance(error.errors[0].__cause__, PacketTypeError)
    assert (error.node, error.stream, error.code) == ("AnyOut", "out", StatusCode.INVALID_ARGUMENT)
    assert "packet at 0 holds a 'str', but the stream carries int" in str(error)


def test_two_contracts_that_do_not_agree_are_refused_and_both_types_named(bench):
    with pytest.raises(GraphConfigError) as caught:
        bench.load(TYPED % "StringOut", StringOut, IntIn)

    assert caught.value.code is StatusCode.UNKNOWN
    [fault] = caught.value.faults
    for part in ("'out'", "'IntIn'", "int", "str"):
        assert part in str(fault)
