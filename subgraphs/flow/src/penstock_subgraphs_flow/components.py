"""The components of penstock_subgraphs_flow by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

SUBGRAPHS: Final[Mapping[str, str]] = {
    "FlowLimiterSubgraph": "penstock_subgraphs_flow:flow_limiter.pbtxt",
    "NodeChainSubgraph": "penstock_subgraphs_flow:node_chain.pbtxt",
    "TwoPassThroughSidePacketSubgraph": "penstock_subgraphs_flow:two_pass_through_side_packet.pbtxt",
    "TwoPassThroughSubgraph": "penstock_subgraphs_flow:two_pass_through.pbtxt",
}
