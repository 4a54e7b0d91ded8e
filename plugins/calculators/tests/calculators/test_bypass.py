"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphConfigError, Packet, Timestamp
from penstock.config import read_graph
from penstock.packs import default_registry
from penstock_calculators.messages.bypass_pb2 import BypassCalculatorOptions
from penstock_calculators.routing.bypass import BypassCalculator
from penstock_testing import InlineExecutor, ScheduleHarness, node, run_calculator, wired


def options(*pairs):
    return BypassCalculatorOptions(
        pass_input_stream=[source for source, _ in pairs], pass_output_stream=[target for _, target in pairs]
    )


def test_named_inputs_are_forwarded_all_else_is_settled_or_dropped():
    given = options(("VIDEO", "OUT:1"), (":1", "OUT:0"))
    plan = wired(
        node(BypassCalculator, "VIDEO:v ENABLE:e a b", "OUT:0:x OUT:1:y FACES:z", options=[given]),
        inputs="v e a b",
    )
    harness = ScheduleHarness(plan, bounds_of="xyz").start()
    for timestamp, streams in ((1, "veab"), (2, "vea"), (3, "eb")):
        for stream in streams:
            harness.add(stream, f"{stream}{timestamp}", timestamp)
    harness.set_bound("v", 4)
    harness.set_bound("a", 4)
    harness.run()

    assert harness.carried("x") == [(1, "b1"), (2, None), (3, "b3")]
    assert harness.carried("y") == [(1, "v1"), (2, "v2"), (3, None)]
    assert harness.carried("z") == [(1, None), (2, None), (3, None)]
    dropped = {stream: harness.stream(stream).readers[0].dropped for stream in "veab"}
    assert dropped == {"v": {}, "e": {"bypassed": 3}, "a": {"bypassed": 2}, "b": {}}
    harness.finish()
    assert all(harness.stream(stream).is_closed for stream in "xyz")


def bypass(given):
    plan = wired(node(BypassCalculator, "VIDEO:v", "VIDEO:x FACES:z", options=[given]), inputs="v")
    return ScheduleHarness(plan, bounds_of="xz").start()


def test_bounds_go_through_to_every_output():
    harness = bypass(options(("VIDEO", "VIDEO")))
    harness.set_bound("v", 6)
    harness.run()

    assert harness.carried("x") == harness.carried("z") == [(5, None)]
    harness.finish()


def test_nothing_can_come_after_a_packet_at_prestream():
    harness = bypass(options(("VIDEO", "VIDEO")))
    harness.run()
    harness.add("v", "header", Timestamp.PRESTREAM)
    held = harness.call(harness.take())

    assert [output.bound for output in held.step.outputs] == [Timestamp.ONE_OVER_POSTSTREAM] * 2
    harness.complete(held)
    harness.finish()


def test_without_options_nothing_is_forwarded():
    run = run_calculator(
        BypassCalculator, {"VIDEO": [(1, "a")]}, outputs=["VIDEO"], side_packets={"MODEL": 1}
    )

    assert run.outputs["VIDEO"] == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            BypassCalculatorOptions(pass_input_stream=["A"]),
            "names 1 inputs, but pass_output_stream 0 outputs",
        ),
        (options(("B", "A")), r"pass_input_stream names 'B', but there is no such input; connected are: 'A'"),
        (options(("A", "A:1")), "pass_output_stream names 'A:1', but there is no such output"),
        (options(("A", "A"), ("A:0", "A")), "pass_input_stream names 'A:0' twice"),
        (options(("a", "A")), "'a' is no port"),
    ],
)
def test_options_that_name_no_pairs_of_ports_are_refused(given, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(BypassCalculator, {"A": []}, outputs=["A"], options=given)


FORWARDING_SUBGRAPH = """
    type: "Forwarding"
    input_stream: "APPEARANCES:appearances"
    input_stream: "VIDEO:video"
    input_stream: "FEATURE_CONFIG:features"
    output_stream: "APPEARANCES:forwarded"
    output_stream: "FEDERATED_GAZE_OUTPUT:gaze"
    node {
      calculator: "BypassCalculator"
      input_stream: "PASS:appearances"
      input_stream: "IGNORE:0:video"
      input_stream: "IGNORE:1:features"
      output_stream: "PASS:forwarded"
      output_stream: "IGNORE:gaze"
      node_options: {
        [type.googleapis.com/mediapipe.BypassCalculatorOptions] {
          pass_input_stream: "PASS"
          pass_output_stream: "PASS"
        }
      }
    }
"""


def switched(outputs, options):
    """Start a switch with four inputs; return the graph and what its outputs carry, with bounds as None."""
    registry = default_registry().child()
    registry.add("subgraph", "Forwarding", read_graph(FORWARDING_SUBGRAPH, registry))
    names = [line.partition(":")[2] for line in outputs]
    graph = CalculatorGraph(
        f"""
        input_stream: "VIDEO_FULL_RES:video"
        input_stream: "APPEARANCES:appearances"
        input_stream: "FEATURE_CONFIG:features"
        input_stream: "GAZE_ENABLED:enabled"
        node {{
          calculator: "SwitchContainer"
          input_stream: "VIDEO:video"
          input_stream: "APPEARANCES:appearances"
          input_stream: "FEATURE_CONFIG:features"
          input_stream: "ENABLE:enabled"
          {" ".join(f'output_stream: "{line}"' for line in outputs)}
          options {{ [mediapipe.SwitchContainerOptions.ext] {{ {options} }} }}
        }}
        """,
        registry=registry,
    )
    graph.set_executor("", InlineExecutor())
    seen = {name: [] for name in names}
    for name in names:
        graph.observe_output_stream(
            name,
            lambda stream, packet: seen[stream].append((int(packet.timestamp), packet.payload)),
            observe_timestamp_bounds=True,
        )
    graph.start_run()
    return graph, seen


def feed(graph, timestamp, **payloads):
    for stream, payload in payloads.items():
        graph.add_packet_to_input_stream(stream, Packet(payload, timestamp))
    graph.wait_until_idle(20)


@pytest.mark.parametrize(
    "channel",
    [
        pytest.param(
            'calculator: "Forwarding"',
            marks=pytest.mark.reference(
                "calculators/core/bypass_calculator_test.cc", "BypassCalculatorTest.SubgraphChannel"
            ),
        ),
        pytest.param(
            """calculator: "BypassCalculator"
            node_options: {
              [type.googleapis.com/mediapipe.BypassCalculatorOptions] {
                pass_input_stream: "APPEARANCES"
                pass_output_stream: "APPEARANCES"
              }
            }""",
            marks=pytest.mark.reference(
                "calculators/core/bypass_calculator_test.cc", "BypassCalculatorTest.CalculatorChannel"
            ),
        ),
    ],
)
def test_a_channel_of_a_switch_may_forward_one_stream_and_settle_another(channel):
    graph, seen = switched(
        ["APPEARANCES:analyzed", "FEDERATED_GAZE_OUTPUT:gaze"],
        f"async_selection: true contained_node: {{ {channel} }}",
    )
    feed(graph, 200, appearances="a1", video="v1", features="f1")

    assert seen == {"analyzed": [(200, "a1")], "gaze": [(200, None)]}
    graph.close(20)


@pytest.mark.reference("calculators/core/bypass_calculator_test.cc", "BypassCalculatorTest.GatedChannel")
def test_a_channel_of_a_switch_may_hold_all_packets_back():
    graph, seen = switched(
        ["VIDEO:video_out", "APPEARANCES:analyzed", "FEATURE_CONFIG:features_out"],
        'contained_node: { calculator: "BypassCalculator" } '
        'contained_node: { calculator: "PassThroughCalculator" }',
    )
    feed(graph, 200, enabled=False)
    feed(graph, 200, appearances="a1", video="v1", features="f1")

    assert all(carried == [(200, None)] for carried in seen.values())

    feed(graph, 300, enabled=True)
    feed(graph, 300, appearances="a2", video="v2", features="f2")

    assert seen == {
        "video_out": [(200, None), (300, "v2")],
        "analyzed": [(200, None), (300, "a2")],
        "features_out": [(200, None), (300, "f2")],
    }
    graph.close(20)
