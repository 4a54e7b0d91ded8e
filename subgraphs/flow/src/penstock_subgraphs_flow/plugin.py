"""What this pack adds to Penstock, by name; importing this module imports no other module of the pack."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the subgraphs: type name to graph file."""
    return Components(
        subgraphs={
            "FlowLimiterSubgraph": "penstock_subgraphs_flow:flow_limiter.pbtxt",
            "NodeChainSubgraph": "penstock_subgraphs_flow:node_chain.pbtxt",
            "TwoPassThroughSidePacketSubgraph": "penstock_subgraphs_flow:two_pass_through_side_packet.pbtxt",
            "TwoPassThroughSubgraph": "penstock_subgraphs_flow:two_pass_through.pbtxt",
        }
    )
