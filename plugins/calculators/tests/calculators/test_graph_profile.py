"""Profiles of a running graph. Expected times and contents are from the reference's description."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphRunError, Packet
from penstock.config import CalculatorGraphConfig
from penstock_calculators.messages.graph_profile_pb2 import (
    CalculatorProfile,
    GraphProfile,
    GraphProfileCalculatorOptions,
    GraphTrace,
)
from penstock_calculators.watching.graph_profile import GraphProfileCalculator
from penstock_testing import ScheduleHarness, node, run_calculator, wired

TIMEOUT = 20
CYCLE = """
    input_stream: "in"
    node {
      name: "past" calculator: "PreviousLoopbackCalculator"
      input_stream: "MAIN:in" input_stream: "LOOP:loop" output_stream: "PREV_LOOP:prev"
      input_stream_info { tag_index: "LOOP" back_edge: true }
    }
    node {
      calculator: "PassThroughCalculator"
      input_stream: "in" input_stream: "prev" output_stream: "loop" output_stream: "rest"
    }
    node {
      calculator: "GraphProfileCalculator" input_stream: "FRAME:loop" output_stream: "PROFILE:profile"
      options { [penstock.GraphProfileCalculatorOptions.ext] { profile_interval: 10 } }
    }
    profiler_config { %s }
    """

#: The text that the reference writes for the message of the last test.
KNOWN = (
    "0a28080110021a01632201732a1c08011002180f20042805320a080110021803200430063a02200740081"
    "21e0a016e10011802220220032a020804320210053a090a017310011a0218061a03520178"
)


def stamps(options, frames, ports=("FRAME",)):
    run = run_calculator(
        GraphProfileCalculator,
        {port: [(t, None) for t in times] for port, times in zip(ports, frames, strict=True)},
        outputs=["PROFILE"],
        options=options,
    )
    return [packet.stamp for packet in run.outputs["PROFILE"]]


def profiles(graph, times, after=lambda: None):
    """Return the profiles of a run that gets one packet after the other; call `after` after each."""
    seen = []
    graph.observe_output_stream("profile", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    for t in times:
        graph.add_packet_to_input_stream("in", Packet(t, t))
        graph.wait_until_idle(TIMEOUT)
        after()
    graph.close(TIMEOUT)
    return seen


def calls(profile):
    return {one.name: list(one.process_runtime.count) for one in profile.calculator_profiles}


def test_a_profile_comes_at_the_first_timestamp_and_then_at_each_an_interval_after_the_last():
    times = [5, 6, 14, 15, 16, 24, 26, 27, 100, 109]

    assert stamps(GraphProfileCalculatorOptions(profile_interval=10), [times]) == [5, 15, 26, 100]


def test_without_options_the_interval_is_a_second():
    assert stamps(None, [[0, 400_000, 999_999, 1_000_000, 1_900_000, 2_000_000]]) == [0, 1_000_000, 2_000_000]


def test_the_timestamps_of_all_frames_count():
    options = GraphProfileCalculatorOptions(profile_interval=2)

    assert stamps(options, [[1, 2], [3, 4, 5]], ["FRAME:0", "FRAME:1"]) == [1, 3, 5]


def test_a_timestamp_without_a_profile_is_settled():
    harness = ScheduleHarness(
        wired(node(GraphProfileCalculator, "FRAME:f", "PROFILE:p"), inputs="f"), bounds_of=["p"]
    ).start()
    for t in (1, 2):
        harness.add("f", None, t)
        harness.run()

    assert [(t, payload is None) for t, payload in harness.carried("p")] == [(1, False), (2, True)]
    harness.finish()


def test_each_profile_counts_the_calls_since_the_one_before():
    seen = profiles(CalculatorGraph(CYCLE % "enable_profiler: true"), [0, 1, 2, 10, 20])

    # the node that writes it is in its own call; `past` has a call for each MAIN and each LOOP
    assert [calls(one)["PassThroughCalculator"] for one in seen] == [[1], [3], [1]]
    assert [calls(one)["GraphProfileCalculator"] for one in seen] == [[0], [3], [1]]


def test_a_profile_that_an_interval_begins_has_the_calls_of_the_packets_before():
    graph = CalculatorGraph("""
        input_stream: "in"
        node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "passed" }
        node {
          calculator: "GraphProfileCalculator"
          options { [mediapipe.GraphProfileCalculatorOptions.ext] { profile_interval: 25000 } }
          input_stream: "FRAME:passed"
          output_stream: "PROFILE:profile"
        }
        profiler_config { enable_profiler: true calculator_filter: ".*Calculator" }
    """)
    stamps_seen = []
    graph.observe_output_stream("profile", lambda _, packet: stamps_seen.append(packet.stamp))
    first, second = profiles(graph, [10000, 20000, 30000, 40000])

    assert stamps_seen == [10000, 40000]
    assert first.HasField("config")
    assert calls(second) == {"PassThroughCalculator": [3], "GraphProfileCalculator": [3]}


def test_the_totals_add_up_to_the_time_that_the_graph_has_measured():
    graph = CalculatorGraph(CYCLE % "enable_profiler: true")
    measured = []
    seen = profiles(
        graph, [0, 3, 10, 20], lambda: measured.append(round(graph.snapshot().nodes[1].busy_s * 1e6))
    )

    assert graph.snapshot().nodes[1].name == "PassThroughCalculator"
    totals = [one.calculator_profiles[1].process_runtime.total for one in seen]
    assert totals == [measured[0], measured[2] - measured[0], measured[3] - measured[2]]
    assert totals[0] > 0


def test_a_profile_has_one_interval_and_leaves_out_what_is_not_measured():
    (first, *_) = profiles(CalculatorGraph(CYCLE % "enable_profiler: true"), [0])
    (profile,) = (one for one in first.calculator_profiles if one.name == "past")

    assert [field.name for field, _ in profile.ListFields()] == [
        "name",
        "process_runtime",
        "input_stream_profiles",
    ]
    assert (profile.process_runtime.interval_size_usec, profile.process_runtime.num_intervals) == (1000000, 1)
    # in the order of ports, LOOP before MAIN
    assert [(one.name, one.back_edge) for one in profile.input_stream_profiles] == [
        ("loop", True),
        ("in", False),
    ]


def test_the_first_profile_has_the_graph_with_names_and_the_others_do_not():
    graph = CalculatorGraph(CYCLE % "enable_profiler: true")
    first, second = profiles(graph, [0, 10])

    wanted = CalculatorGraphConfig.FromString(graph.binary_config)
    for one, name in zip(
        wanted.node, ("past", "PassThroughCalculator", "GraphProfileCalculator"), strict=True
    ):
        one.name = name
    assert first.config == wanted
    assert not second.HasField("config")


def test_a_second_run_begins_from_scratch():
    graph = CalculatorGraph(CYCLE % "enable_profiler: true")
    first = profiles(graph, [0, 1, 2])
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(0, 0))
    graph.close(TIMEOUT)

    assert calls(first[1])["PassThroughCalculator"] == [1]
    assert first[1].HasField("config")


def test_without_timing_a_profile_has_no_nodes():
    first, second = profiles(CalculatorGraph(CYCLE % ""), [0, 10])

    assert not first.calculator_profiles
    assert first.HasField("config")
    assert second == GraphProfile()


def test_the_application_may_turn_timing_on():
    graph = CalculatorGraph(CYCLE % "")
    graph.set_timing()

    assert len(profiles(graph, [0])[0].calculator_profiles) == 3


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("pas", []),
        ("pas.*", ["past"]),
        ("past|.*ThroughCalculator", ["past", "PassThroughCalculator"]),
        ("", ["past", "PassThroughCalculator", "GraphProfileCalculator"]),
    ],
)
def test_a_filter_names_the_nodes_as_a_whole(wanted, names):
    graph = CalculatorGraph(CYCLE % f'enable_profiler: true calculator_filter: "{wanted}"')

    assert [one.name for one in profiles(graph, [0])[0].calculator_profiles] == names


def test_a_filter_that_is_not_a_regular_expression_is_refused():
    graph = CalculatorGraph(CYCLE % 'enable_profiler: true calculator_filter: "pas("')

    with pytest.raises(GraphRunError, match=r"calculator_filter 'pas\(' of profiler_config is not a regular"):
        profiles(graph, [])


def test_two_calculators_of_this_kind_do_not_disturb_each_other():
    second = 'node { name: "other" calculator: "GraphProfileCalculator" '
    graph = CalculatorGraph(
        CYCLE % "enable_profiler: true" + second + 'input_stream: "FRAME:rest" output_stream: "PROFILE:p" }'
    )
    seen = profiles(graph, [0, 10, 20])

    assert [calls(one)["PassThroughCalculator"] for one in seen] == [[1], [1], [1]]


def test_messages_have_the_numbers_of_the_reference():
    profile = CalculatorProfile(name="n", open_runtime=1, close_runtime=2)
    profile.process_runtime.count.extend([3])
    profile.process_input_latency.total = 4
    profile.process_output_latency.interval_size_usec = 5
    profile.input_stream_profiles.add(name="s", back_edge=True).latency.num_intervals = 6
    trace = GraphTrace(base_time=1, base_timestamp=2, calculator_name=["c"], stream_name=["s"])
    event = trace.calculator_trace.add(
        node_id=1,
        input_timestamp=2,
        event_type=GraphTrace.PACKET_QUEUED,
        start_time=4,
        finish_time=5,
        thread_id=8,
    )
    event.input_trace.add(start_time=1, finish_time=2, packet_timestamp=3, stream_id=4, event_data=6)
    event.output_trace.add(stream_id=7)
    whole = GraphProfile(graph_trace=[trace], calculator_profiles=[profile])
    whole.config.input_stream.append("x")

    assert whole.SerializeToString(deterministic=True).hex() == KNOWN
    assert GraphTrace.EventType.Value("TPU_TASK_INVOKE_ASYNC") == 20
