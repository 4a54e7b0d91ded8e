"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphConfigError, GraphRunError, Packet, Timestamp
from penstock_calculators.messages.side_packets_to_streams_pb2 import SidePacketsToStreamsCalculatorOptions
from penstock_calculators.side_packets.side_packets_to_streams import SidePacketsToStreamsCalculator
from penstock_testing import InlineExecutor, ScheduleHarness, node, run_calculator, wired

PRE, POST = int(Timestamp.PRESTREAM), int(Timestamp.POSTSTREAM)


def written(*sides, outputs=None, **options):
    ports = list(range(len(sides) if outputs is None else outputs))
    run = run_calculator(
        SidePacketsToStreamsCalculator,
        outputs=ports,
        options=SidePacketsToStreamsCalculatorOptions(**options),
        side_packets=dict(enumerate(sides)),
    )
    return [[(int(packet.timestamp), packet.payload) for packet in run.outputs[port]] for port in ports]


def packets(*payloads):
    return [Packet(payload) for payload in payloads]


def test_each_list_becomes_a_stream_whose_timestamps_are_the_places_in_the_list():
    streams = written(packets("a", "b", "c"), packets(1, 2, 3))

    assert streams == [[(0, "a"), (1, "b"), (2, "c")], [(0, 1), (1, 2), (2, 3)]]


def test_the_places_count_whatever_timestamps_the_packets_have():
    assert written([Packet("a", 30), Packet("b", 20)]) == [[(0, "a"), (1, "b")]]


def test_the_timestamps_of_the_packets_can_be_kept():
    streams = written([Packet("a", 20), Packet("b", 30)], [Packet(1, -5), Packet(2, 7)], set_timestamp="NONE")

    assert streams == [[(20, "a"), (30, "b")], [(-5, 1), (7, 2)]]


@pytest.mark.parametrize(("mode", "timestamp"), [("PRE_STREAM", PRE), ("WHOLE_STREAM", POST)])
def test_the_one_packet_of_a_list_can_stand_for_the_whole_stream(mode, timestamp):
    assert written(packets("a"), set_timestamp=mode) == [[(timestamp, "a")]]


@pytest.mark.parametrize("mode", ["PRE_STREAM", "WHOLE_STREAM"])
def test_two_packets_cannot_both_be_the_whole_stream(mode):
    with pytest.raises(GraphRunError, match=r"stream 'out_0': .*(behind the bound|must be the only one)"):
        written(packets("a", "b"), set_timestamp=mode)


def test_a_packet_without_timestamp_has_none_to_keep():
    with pytest.raises(GraphRunError, match=r"stream 'out_0': .* cannot be the timestamp of a packet"):
        written(packets("a"), set_timestamp="NONE")


@pytest.mark.parametrize(
    ("mode", "timestamp"), [("VECTOR_INDEX", 0), ("PRE_STREAM", PRE), ("WHOLE_STREAM", POST)]
)
def test_side_packets_can_each_be_a_packet_of_their_own(mode, timestamp):
    streams = written(["one", "list"], 7, set_timestamp=mode, vectors_of_packets=False)

    assert streams == [[(timestamp, ["one", "list"])], [(timestamp, 7)]]


def test_empty_lists_give_streams_without_packets():
    assert written([], []) == [[], []]


def test_an_empty_packet_settles_its_timestamp():
    plan = wired(node(SidePacketsToStreamsCalculator, "", "o", side_inputs="s"))
    given = [Packet("a"), Packet(), Packet("c")]
    harness = ScheduleHarness(plan, side_packets={"s": given}, bounds_of=["o"]).start()
    harness.run()

    assert harness.carried("o") == [(0, "a"), (1, None), (2, "c")]
    harness.finish()


def test_full_queues_throttle_the_source():
    plan = wired(node(SidePacketsToStreamsCalculator, "", "o", side_inputs="s"))
    harness = ScheduleHarness(plan, side_packets={"s": packets("a", "b", "c")}).start()
    harness.step()
    harness.step()

    assert harness.carried("o") == [(0, "a")]
    harness.finish()
    assert harness.carried("o") == [(0, "a"), (1, "b"), (2, "c")]


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ([packets("a"), packets("b", "c")], "hold lists of 1, 2 packets; make them equally long"),
        ([packets("a"), ["b"]], "side packet 1 holds a list with a 'str', but must hold packets; wrap"),
    ],
)
def test_lists_that_do_not_match_are_refused_when_the_node_opens(sides, message):
    with pytest.raises(GraphRunError, match=rf"open.* failed: .*{message}"):
        written(*sides)


@pytest.mark.parametrize(
    ("sides", "outputs", "options", "message"),
    [
        ([[]], 2, {}, "1 untagged side packets, but 2 untagged outputs; each side packet needs an output"),
        ([[], []], 1, {}, "2 untagged side packets, but 1 untagged outputs"),
        (
            [[]],
            1,
            {"num_inputs": 2},
            "1 untagged side packets and 1 untagged outputs, but the option num_inputs is 2",
        ),
        (
            [[], []],
            2,
            {"num_inputs": 1},
            "2 untagged outputs, but the option num_inputs is 1; make the three",
        ),
        (
            [[]],
            1,
            {"set_timestamp": "NONE", "vectors_of_packets": False},
            "set_timestamp is NONE and vectors_of",
        ),
        ([7], 1, {}, "is a 'int', but the node expects list"),
    ],
)
def test_ports_and_options_that_do_not_match_are_refused(sides, outputs, options, message):
    with pytest.raises(GraphConfigError, match=message):
        written(*sides, outputs=outputs, **options)


def test_the_example_of_the_docstring_runs():
    graph = CalculatorGraph(SidePacketsToStreamsCalculator.__doc__.partition("Example config::")[2])
    graph.set_executor("", InlineExecutor())
    seen = []
    for stream in ("images", "labels"):
        graph.observe_output_stream(stream, lambda name, packet: seen.append((name, packet.payload)))

    graph.run({"all_images": packets("i0", "i1"), "all_labels": packets("l0", "l1")}, 20)

    assert sorted(seen) == [("images", "i0"), ("images", "i1"), ("labels", "l0"), ("labels", "l1")]
