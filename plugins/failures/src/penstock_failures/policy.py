"""The check of the field `failure` of a node, when the graph is loaded, and the guard that each run gets."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock.config import build_plan
from penstock.error_text import quoted
from penstock.errors import InvalidArgumentError
from penstock_failures.actions import FALL_BACK, NAMES, RESTART, SKIP
from penstock_failures.failure import Failure
from penstock_failures.guard import NodeGuard, Policy
from penstock_failures.waiting import LIMITS
from penstock_remote.api import check_movable, contract_difference, description_graph

if TYPE_CHECKING:
    from penstock import Calculator, Registry
    from penstock.lowlevel import FailureLayerNode, NodePlan, Placing, Plan

_MAX_RESTARTS: Final = 3
_WITHIN_S: Final = 60
_TIMES: Final = ("retry", "max_restarts", "within_s", "backoff_ms", *LIMITS.values())


class PlannedFailure(NamedTuple):
    """The failure policy of one node, which makes a guard for each run."""

    #: What the graph says.
    policy: Policy
    #: Its name, or "".
    error_stream: str

    def guard(self, node: NodePlan, plan: Plan, placing: Placing) -> NodeGuard:
        """Return what guards the node in a run. `placing` makes its calculators.

        Raises:
            InvalidArgumentError: the node can have no time-out here, or its fallback cannot go elsewhere.
        """
        for method in self.policy.limits:
            if not placing.is_elsewhere and not _is_async(node.factory, method):
                words = f"node {node.name!r}: failure: {_no_limit(method)}"
                raise InvalidArgumentError(words, node=node.name)
        if placing.is_elsewhere and self.policy.fallback is not None:
            check_movable(self.policy.fallback.nodes[0]._replace(executor=node.executor))
        return NodeGuard(self.policy, node, plan, placing)


def _no_limit(method: str) -> str:
    field = LIMITS[method]
    return (
        f"{field} cannot end a call that runs on a thread of this process; put the node on an executor such "
        f"as ProcessExecutor, make its {method}() async, or take {field} away"
    )


class FailureLayer:
    """The layer "failure"; see `penstock.lowlevel.FailureLayer`."""

    payload: Final = Failure

    @staticmethod
    def plan(
        policy: Any, graph: Any, number: int, node: FailureLayerNode, registry: Registry
    ) -> PlannedFailure:
        """Check the failure policy of a node.

        Raises:
            InvalidArgumentError: the policy makes no sense for this node; says what to change.
            GraphConfigError, UnknownNameError: the fallback is no calculator, or its options are wrong.
        """
        for field in _TIMES:
            value = getattr(policy, field)
            if value < 0:
                raise InvalidArgumentError(f"in the failure policy {field} {value}: must not be negative")
        _check_actions(policy)
        _check_node(policy, node)
        limits = {method: getattr(policy, field) / 1000 for method, field in LIMITS.items()}
        limits = {method: seconds for method, seconds in limits.items() if seconds}
        for method in limits:
            if not _may_time_out(graph, graph.node[number], node.factory, method, registry):
                raise InvalidArgumentError(_no_limit(method))
        fallback = None
        if policy.HasField("fallback"):
            fallback = _fallback(policy.fallback, graph, graph.node[number], node, registry)
        checked = Policy(
            policy.on_error,
            policy.then,
            policy.retry,
            policy.max_restarts or _MAX_RESTARTS,
            policy.within_s or _WITHIN_S,
            policy.backoff_ms / 1000,
            limits,
            policy.error_stream,
            fallback,
        )
        return PlannedFailure(checked, policy.error_stream)


def _check_actions(message: Any) -> None:
    for field in ("on_error", "then"):
        value = getattr(message, field)
        if not 0 <= value < len(NAMES):
            raise InvalidArgumentError(
                f"{field} {value} of the failure policy: must be one of {', '.join(NAMES)}"
            )
    if message.then == RESTART:
        raise InvalidArgumentError(
            "then RESTART of the failure policy: must be FAIL, SKIP or FALL_BACK; it counts when no restart "
            "is left"
        )
    if message.then and message.on_error not in (RESTART, FALL_BACK):
        raise InvalidArgumentError(
            f"then {NAMES[message.then]} has no effect in a failure policy with on_error "
            f"{NAMES[message.on_error]}; it says what follows RESTART and FALL_BACK"
        )
    if message.on_error == message.then == FALL_BACK:
        raise InvalidArgumentError(
            "then FALL_BACK of the failure policy: on_error says so already; must be FAIL or SKIP"
        )
    falls_back = FALL_BACK in (message.on_error, message.then)
    if falls_back and not message.fallback.calculator:
        raise InvalidArgumentError(
            'the failure policy FALL_BACK needs a calculator; add fallback { calculator: "Name" }'
        )
    if message.HasField("fallback") and not falls_back:
        raise InvalidArgumentError(
            "the failure policy's fallback has no effect; add on_error: FALL_BACK, or then: FALL_BACK"
        )


def _check_node(message: Any, node: FailureLayerNode) -> None:
    if node.is_source and SKIP in (message.on_error, message.then):
        raise InvalidArgumentError(
            "the failure policy SKIP skips an input set, and a source has none; use RESTART"
        )
    if node.is_source and message.error_stream:
        raise InvalidArgumentError(
            "the failure policy's error stream has the timestamps of the node's inputs, and a source has "
            "none; read graph.failures()"
        )
    if ":" in message.error_stream:
        raise InvalidArgumentError(
            f"error_stream {quoted(message.error_stream)} of the failure policy: must be the name of a "
            "stream, without a tag"
        )
    if node.output_side_packets and message.on_error in (RESTART, FALL_BACK):
        raise InvalidArgumentError(
            f"the failure policy {NAMES[message.on_error]} opens another object, but this node makes side "
            "packets, once in a run; use SKIP, or make them in a node of their own"
        )


def _is_async(factory: type[Calculator], method: str) -> bool:
    return inspect.iscoroutinefunction(getattr(factory, method))


def _may_time_out(
    graph: Any, message: Any, factory: type[Calculator], method: str, registry: Registry
) -> bool:
    """Return whether a call of a node may be ended from outside, as far as the graph tells."""
    if _is_async(factory, method):
        return True
    kind = next((one.type for one in graph.executor if one.name == message.executor), None)
    if not kind:  # the application hands the executor in: asked again when a run starts
        return kind is not None
    return bool(getattr(registry.find("executor", kind, graph.package), "places", False))


def _fallback(given: Any, graph: Any, message: Any, node: FailureLayerNode, registry: Registry) -> Plan:
    """Return the plan of a graph of the node alone, with the calculator that it falls back on."""
    copy = type(message)()
    copy.CopyFrom(message)
    for field in ("calculator", "options", "node_options"):
        copy.ClearField(field)
    copy.calculator = given.calculator
    if given.HasField("options"):
        copy.options.CopyFrom(given.options)
    copy.node_options.extend(given.node_options)
    alone = description_graph(copy, node.name, graph)
    alone.node[0].max_in_flight = message.max_in_flight
    plan = build_plan(alone, registry)
    if len(plan.nodes) != 1 or plan.nodes[0].calculator != given.calculator:
        raise InvalidArgumentError(
            f"the failure policy's fallback {quoted(given.calculator)} is a subgraph; name a calculator"
        )
    contract = plan.nodes[0].contract
    if other := contract_difference(node.contract, contract):
        raise InvalidArgumentError(
            f"the failure policy's fallback {quoted(given.calculator)} has another contract: {other}; it "
            "must have the same ports and types"
        )
    services = node.contract.services
    for key, is_optional in contract.services.items():
        services[key] = is_optional and services.get(key, True)
    return plan
