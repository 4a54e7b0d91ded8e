"""Scenarios 56 and 57: side packets that nodes make."""

from __future__ import annotations

import pytest

import penstock
from penstock import Packet, StatusCode, Timestamp
from penstock.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnavailableError
from penstock_testing import calculator

Make = calculator(lambda cc: cc.output_side_packets[0].set(cc.input.payload), name="Make")


def made(bench):
    return bench.net("in", 'Make in | output_side_packet: "made"', 'Emit -> out | input_side_packet: "made"')


def test_s56_a_source_opens_once_the_side_packet_is_made_that_it_needs(bench):
    graph = bench.load(made(bench), Make, watch=["out"])
    with pytest.raises(
        UnavailableError, match="side packet 'made' of the graph has not been made yet"
    ) as caught:
        graph.get_output_side_packet("made")
    assert caught.value.code is StatusCode.UNAVAILABLE
    with pytest.raises(NotFoundError, match="the graph has no side packet 'nothing'"):
        graph.get_output_side_packet("nothing")

    graph.start_run()
    bench.idle()
    assert bench.node("Emit").state == "unopened"
    bench.add_one_by_one("in", (3, [("value", 0)]))
    assert bench.seen["out"] == [(0, "value")]
    now = graph.get_output_side_packet("made")
    bench.end()

    packet = graph.get_output_side_packet("made")
    assert packet == now
    assert (packet.payload, packet.timestamp) == ([("value", 0)], Timestamp.UNSET)


@pytest.mark.parametrize(
    ("payloads", "kind", "message"),
    [
        ([["one"], ["two"]], AlreadyExistsError, "'made'"),
        ([Packet(["one"], 237)], InvalidArgumentError, "output side packet 'made' has a timestamp 237"),
    ],
    ids=["set twice", "with a timestamp"],
)
def test_s56_a_side_packet_is_set_once_and_has_no_timestamp(bench, payloads, kind, message):
    bench.start(bench.net("in", 'Make in | output_side_packet: "made"'), Make)
    for t, payload in enumerate(payloads):
        bench.idle()
        bench.add("in", (t, payload))

    error = bench.failure()

    assert isinstance(error.errors[0].__cause__, kind)
    assert error.node == "Make"
    assert message in str(error)


class Constant(penstock.Calculator):
    """Makes a side packet of its own in open; has no streams."""

    @classmethod
    def get_contract(cls, cc):
        cc.output_side_packets[0].set(list)
        if len(cc.input_side_packets):
            cc.input_side_packets[0].set_any()

    def open(self, cc):
        cc.counter("opens").increment()
        cc.output_side_packets[0].set([("x", 0)])

    def process(self, cc):
        raise AssertionError("a node without streams has nothing to process")


def test_s57_a_node_without_streams_makes_its_side_packets_once_for_all_runs(bench):
    payload = calculator(
        lambda cc: (cc.output.add(cc.input_side_packets[0].payload, 0), penstock.STOP)[1], name="Payload"
    )
    graph = bench.load(
        bench.net("", 'Constant | output_side_packet: "made"', 'Payload -> out | input_side_packet: "made"'),
        Constant,
        payload,
        watch=["out"],
    )
    for _ in range(3):
        graph.run(timeout=30)

    first, second, third = (payload for _, payload in bench.seen["out"])
    assert first is second
    assert second is third
    assert graph.counters == {"Constant-opens": 1}


def test_s57_it_makes_them_anew_where_its_own_side_packets_are_others(bench):
    graph = bench.load(
        bench.net("", 'Constant | input_side_packet: "given" output_side_packet: "made"'), Constant
    )
    given = [object(), object()]
    for value in (given[0], given[0], given[1], given[0]):
        graph.run({"given": value}, timeout=30)

    assert graph.counters == {"Constant-opens": 3}


@pytest.mark.reference("framework/tool/sink_test.cc", "CalculatorGraph.OutputSummarySidePacketInClose")
def test_s56_a_side_packet_that_is_made_in_close_still_reaches_a_stream(bench):
    class Count(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.output_side_packets[0].set(int)

        def open(self, cc):
            self.count = 0

        def process(self, cc):
            self.count += 1

        def close(self, cc):
            cc.output_side_packets[0].set(self.count)

    bench.start(
        bench.net(
            "in",
            'Count in -> | output_side_packet: "num_of_packets"',
            'SidePacketToStreamCalculator -> AT_POSTSTREAM:out | input_side_packet: "num_of_packets"',
        ),
        Count,
        watch=["out"],
    )
    bench.add("in", *range(100))
    bench.end()

    assert bench.seen["out"] == [(Timestamp.POSTSTREAM, 100)]
    assert bench.graph.get_output_side_packet("num_of_packets").payload == 100
