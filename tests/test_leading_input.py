"""A policy that runs its node at one input says which one when the graph is loaded, and in the picture."""

from __future__ import annotations

import pytest

import penstock
from penstock.errors import GraphConfigError
from penstock.packs import default_registry
from penstock_lint import lint_graph
from penstock_stream_handlers.latest import Latest
from penstock_testing import calculator
from penstock_views.draw.reading import drawing

TWO = """
  input_stream: "rgb" input_stream: "depth" output_stream: "out"
  node {{
    calculator: "Both" input_stream: "RGB:rgb" input_stream: "DEPTH:depth" output_stream: "OUT:out"
    input_stream_handler {{ input_stream_handler: "{policy}" {options} }}
  }}
"""


def contract(cc):
    for port in (cc.inputs["RGB"], cc.inputs["DEPTH"], cc.outputs["OUT"]):
        port.set_any()


def registry_with(*others):
    """Return a registry with a calculator of two inputs."""
    both = calculator(lambda cc: cc.outputs["OUT"].add(0, cc.input_timestamp), contract=contract, name="Both")
    registry = default_registry().child()
    registry.add("calculator", "Both", both)
    for name, policy in others:
        registry.add("input stream handler", name, policy)
    return registry


@pytest.mark.parametrize(
    ("policy", "options", "said"),
    [
        ("Latest", "", 'write tick: "DEPTH" or tick: "RGB" into its options'),
        (
            "Nearest",
            "options { [penstock.NearestOptions.ext] { tolerance: 5 } }",
            'write base: "DEPTH" or base: "RGB" into its options',
        ),
        ("Nearest", "", "tolerance is missing"),
        (
            "Latest",
            'options { [penstock.LatestOptions.ext] { tick: "RGBD" } }',
            "tick: there is no input 'RGBD' by tag and index; connected are: 'DEPTH', 'RGB'",
        ),
    ],
)
def test_what_does_not_fit_is_a_fault_of_the_graph_at_its_place(policy, options, said):
    with pytest.raises(GraphConfigError) as caught:
        penstock.CalculatorGraph(TWO.format(policy=policy, options=options), registry=registry_with())

    (fault,) = caught.value.faults
    assert said in str(fault)
    assert "leading_input" not in str(fault)
    assert str(fault).startswith("line 5, column 5: node 'Both': ")
    assert fault.node == "Both"


@pytest.mark.parametrize(("tick", "times"), [("RGB", [1, 3]), ("DEPTH", [2])])
def test_the_node_runs_at_the_input_that_is_named(tick, times):
    options = f'options {{ [penstock.LatestOptions.ext] {{ tick: "{tick}" }} }}'
    text = TWO.format(policy="Latest", options=options)
    registry = registry_with()
    seen: list[int] = []
    with penstock.CalculatorGraph(text, registry=registry) as graph:
        graph.observe_output_stream("out", lambda _, packet: seen.append(int(packet.timestamp)))
        graph.start_run()
        for name, stamp in (("rgb", 1), ("depth", 2), ("rgb", 3)):
            graph.add_packet_to_input_stream(name, penstock.Packet(name, stamp))
    assert seen == times

    for source in (text, graph):
        (node,) = drawing(source, registry).nodes
        assert node.notes == (f"Latest: at each {tick}:{tick.lower()}",)


def test_a_policy_of_somebody_else_that_raises_is_a_fault_too():
    class Broken(Latest):
        @classmethod
        def leading_input(cls, options, inputs):
            return inputs["RGB"]

    registry = registry_with(("Broken", Broken))
    text = TWO.format(policy="Broken", options="")

    assert drawing(text, registry).nodes[0].notes == ()
    with pytest.raises(GraphConfigError, match=r"node 'Both': Broken.leading_input\(\) failed: TypeError"):
        penstock.CalculatorGraph(text, registry=registry)


def test_a_policy_that_knows_its_inputs_by_name_is_linted_too():
    class ByName(Latest):
        @classmethod
        def leading_input(cls, options, inputs):
            return inputs.index(("RGB", 0))

    text = TWO.format(policy="ByName", options='options { [penstock.LatestOptions.ext] { tick: "RGB" } }')

    assert "PS112" not in [one.code for one in lint_graph(text, registry=registry_with(("ByName", ByName)))]
