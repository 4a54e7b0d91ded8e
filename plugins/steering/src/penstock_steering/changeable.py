"""Whether a node can change while it works, and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import FailedPreconditionError, NotFoundError
from penstock.lowlevel import StandIn

if TYPE_CHECKING:
    from penstock.lowlevel import Node, NodePlan
    from penstock.runs import Schedule
    from penstock_steering.wanted import Wanted


def find(schedule: Schedule, given: Wanted, what: str) -> Node:
    """Return a node of a run.

    Raises:
        FailedPreconditionError: it is a part of a region, and works in another process.
    """
    name = given.node.name
    node = next((one for one in schedule.nodes if one.name == name), None)
    if node is None:
        raise _elsewhere(given.node, what)
    return node


def check_steerable(node: Node, plan: NodePlan, what: str) -> None:
    """Raise an error if a node cannot change while it works.

    Args:
        node: of the run.
        plan: of the graph's own node.
        what: the call.

    Raises:
        FailedPreconditionError: it has a failure policy, or works in another process.
    """
    if node.guard is not None:
        raise FailedPreconditionError(
            f"{what}: node {node.name!r} has a failure policy, which calls and replaces its calculator "
            "itself, so that it is not changeable in a run; take `failure` off the node, or make the "
            "change between two runs",
            node=node.name,
        )
    if is_elsewhere(node):
        raise _elsewhere(plan, what)


def is_elsewhere(node: Node) -> bool:
    """Return whether an executor has placed the calculator of a node elsewhere."""
    return isinstance(node.calculator, StandIn)


def _elsewhere(plan: NodePlan, what: str) -> FailedPreconditionError:
    return FailedPreconditionError(
        f"{what}: node {plan.name!r} works in another process (executor {plan.executor!r}); take it off that "
        "executor, or make the change between two runs",
        node=plan.name,
    )


def check_can_change(node: NodePlan) -> None:
    """Raise an error if a calculator takes no other options.

    Raises:
        FailedPreconditionError: it has no `options_changed`; names `graph.swap`.
    """
    if not callable(getattr(node.factory, "options_changed", None)):
        raise FailedPreconditionError(
            f"set_options: node {node.name!r}: calculator {node.calculator!r} has no options_changed(cc), so "
            "it is not changeable while it works; use graph.swap(), which opens another object of it",
            node=node.name,
        )


def check_swappable(node: Node, plan: NodePlan) -> None:
    """Raise an error if another calculator cannot be opened beside that of a node.

    Raises:
        FailedPreconditionError: it makes side packets, or runs on a thread of a service; or its calls
            overlap, and its timestamps may go back.
    """
    why = ""
    if plan.output_side_packets:
        why = "makes side packets, once in a run"
    elif runs_on_service(node, plan):
        why = "runs on a thread of a service, where another one cannot be opened meanwhile"
    elif node.max_in_flight > 1 and node.policy.depends_on_arrival:
        why = (
            f"takes packets as they arrive and several at a time (max_in_flight {node.max_in_flight}), so "
            "its timestamps do not tell which call comes first"
        )
    if why:
        raise FailedPreconditionError(
            f"swap: node {node.name!r} {why}; make the change between two runs, when every node is "
            "changeable",
            node=node.name,
        )


def runs_on_service(node: Node, plan: NodePlan) -> bool:
    """Return whether the calculator of a node runs on a thread of a service, as it asks for."""
    key = plan.contract.runs_on
    if key is None:
        return False
    try:
        node.services.service(node, key)
    except NotFoundError:
        return False
    return True
