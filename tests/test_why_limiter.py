"""A limiter whose loop never comes back, with the standard calculators: the node that lost it is named."""

from __future__ import annotations

import pytest

import penstock
from penstock.errors import WaitTimeoutError
from penstock.explain import WaitKind
from penstock.plugins.default_registry import default_registry

TIMEOUT = 20
GRAPH = """
    input_stream: "frames"
    node {
      calculator: "FlowLimiterCalculator"
      input_stream: "frames"
      input_stream: "FINISHED:done"
      input_stream_info { tag_index: "FINISHED" back_edge: true }
      output_stream: "limited"
    }
    node { calculator: "Swallow" input_stream: "limited" output_stream: "boxes" }
    node { calculator: "PassThroughCalculator" input_stream: "boxes" output_stream: "done" }
    node {
      calculator: "PassThroughCalculator"
      name: "overlay"
      input_stream: "frames"
      input_stream: "done"
      output_stream: "shown"
      output_stream: "shown_boxes"
    }
"""


class Swallow(penstock.Calculator):
    """Takes every frame, and says nothing of it: neither a packet nor a bound."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()

    def process(self, cc):
        """Forgets the frame."""


def test_the_calculator_that_swallowed_the_frame_is_named_and_the_ledger_tells_of_the_others():
    registry = default_registry().child()
    registry.add("calculator", "Swallow", Swallow)
    graph = penstock.CalculatorGraph(GRAPH, registry=registry)
    graph.start_run()
    for stamp in range(5):
        graph.add_packet_to_input_stream("frames", penstock.Packet(stamp, stamp))
        graph.wait_until_idle(TIMEOUT)
    with pytest.raises(WaitTimeoutError, match=r"culprit: node 'Swallow' .* promises nothing at all on"):
        graph.wait_until_done(0.01)

    reason = graph.why()

    first = reason.culprits[0]
    assert (first.kind, first.node, first.stream) == (WaitKind.FORGOTTEN_BOUND, "Swallow", "boxes")
    blocked = [wait.node for wait in reason.waits if wait.culprit is first]
    assert blocked[0] == "overlay"  # it holds the frames
    assert "FlowLimiterCalculator" in blocked
    dropped = [(drop.stream, drop.reason, drop.count) for drop in graph.ledger().drops]
    assert dropped == [("frames", "limiter full (max_in_queue)", 4)]
    assert graph.ledger().adds_up
    graph.close(TIMEOUT)
    assert graph.ledger().adds_up
