"""Failure policies: the seam to the layer "failure", which checks them and carries them out.

The core reads the field `failure` of a node, gives its error stream a place among the streams, asks the layer
for what guards the node's calls in a run, and asks this guard about each call that has failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock.check.faults import cause_words
from penstock.check.nodes import tag_map
from penstock.check.spec import Text
from penstock.contract import PortSpec
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.check.name_lookups import Names
    from penstock.check.nodes import Draft
    from penstock.check.spec import GraphSpec
    from penstock.contract import CalculatorContract
    from penstock.engine.calculator import Calculator
    from penstock.plan import FailurePlan
    from penstock.port_tags import TagMap
    from penstock.registry import Registry

#: Stands for a tag at the output port that is the error stream; calculators cannot have it.
ERROR_STREAM: Final = "failure"


class FailureLayerNode(Protocol):
    """What a layer sees of a node whose failure policy it checks."""

    @property
    def name(self) -> str:
        """Its canonical name."""

    @property
    def contract(self) -> CalculatorContract:
        """Its contract, to which the layer may add services."""

    @property
    def factory(self) -> type[Calculator]:
        """The class of its calculator."""

    @property
    def is_source(self) -> bool:
        """Whether it has outputs and no inputs."""

    @property
    def output_side_packets(self) -> TagMap:
        """The side packets that it makes."""


class FailureLayer(Protocol):
    """What carries out failure policies: a component of the kind "layer", called "failure"."""

    #: The type of the packets of error streams.
    payload: type

    def plan(
        self, policy: Any, graph: Any, number: int, node: FailureLayerNode, registry: Registry
    ) -> FailurePlan:
        """Check the failure policy of a node.

        Args:
            policy: the field `failure` of the node.
            graph: the CalculatorGraphConfig that the node stands in, with subgraphs expanded.
            number: of the node in it.
            node: the node, whose ports and contract have been checked.
            registry: of the graph.

        Raises:
            PenstockError: the policy makes no sense for this node; says what to change.
        """


def plan_failure(graph: GraphSpec, number: int, draft: Draft, names: Names) -> None:
    """Let the layer check the failure policy of a node, and note what is wrong with it."""
    assert draft.spec.failure is not None  # noqa: S101  # the caller has looked
    policy, at = draft.spec.failure
    if policy.error_stream:
        entries = (Text(policy.error_stream, at),)
        what = "failure: error_stream"
        draft.error_streams, _ = tag_map(entries, names.faults, what, draft.name, draft)
        draft.error_ports = [PortSpec(name=port.name).set_any() for port in draft.error_streams]
    if not draft.is_whole:
        return
    from penstock.plugins.default_registry import find_component  # few nodes have a policy

    try:
        layer: FailureLayer = find_component("layer", "failure", names.registry, "")
        draft.failure = layer.plan(policy, graph.message, number, draft, names.registry)
        for port in draft.error_ports:
            port.set(layer.payload)
    except PenstockError as error:
        words = f"{draft.who}: failure: {cause_words(error)}"
        names.faults.add(at, words, code=error.code, node=draft.name, cause=error)
