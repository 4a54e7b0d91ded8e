"""`Wanted`: what a node is to be, checked as the graph itself was when it was loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.config import build_plan
from penstock.error_text import quoted
from penstock.errors import InvalidArgumentError, PenstockError
from penstock.types import attrs_name, is_attrs_options
from penstock_builder.api import as_message, messages_of, set_node_options
from penstock_remote.api import contract_difference, description_graph
from penstock_views.describe import describe

if TYPE_CHECKING:
    from penstock import CalculatorContract, Registry
    from penstock.lowlevel import NodePlan, Plan

_OPTION_FIELDS = ("options", "node_options")


class Wanted(NamedTuple):
    """The calculator of a node, and its options."""

    #: The message of the node, as in the graph's config.
    message: Any
    #: The plan of a graph of this node alone; None for what the node has been from the start.
    plan: Plan | None
    #: Its plan.
    node: NodePlan

    @property
    def alone(self) -> bytes:
        """What the node is, as `Change.options` holds it."""
        bare = type(self.message)(calculator=self.message.calculator)
        copy_options(self.message, bare)
        written: bytes = bare.SerializePartialToString(deterministic=True)
        return written


def as_given(plan: Plan, node: NodePlan) -> Wanted:
    """Return what a node of a plan is."""
    return Wanted(plan.config.node[node.id], None, node)


def with_options(  # noqa: PLR0913, PLR0917  # what a change is
    now: Wanted, options: object, calculator: str | None, plan: Plan, registry: Registry, what: str
) -> Wanted:
    """Return what a node is with other options, or another calculator.

    Args:
        now: what it is.
        options: a message or attrs object; or a dict of fields; None for what it has, or, where the
            calculator is another one, for the defaults.
        calculator: the registered name of another one; None for the same.
        plan: of the graph.
        registry: finds calculators and options by name.
        what: the call, for errors.

    Raises:
        InvalidArgumentError: `options` are not those of the calculator, or a value does not fit; or the
            contract is another one than the node's. Names the node, and what is near.
        GraphConfigError: the options, or the calculator, are refused as when a graph is loaded.
    """
    message = type(now.message)()
    message.CopyFrom(now.message)
    who = f"{what}: node {now.node.name!r}"
    if calculator is not None and calculator != message.calculator:
        message.calculator = calculator
        for field in _OPTION_FIELDS:
            message.ClearField(field)
    if isinstance(options, dict):
        component = ("calculator", message.calculator)
        for made in messages_of(component, options, registry, who, message):
            set_node_options(message, made)
    elif options is not None:
        given = as_message(options, registry, who)
        _check_belongs(given, options, message.calculator, registry, who)
        set_node_options(message, given)
    return checked(message, now.node, plan, registry, what)


def from_bytes(now: Wanted, alone: bytes, plan: Plan, registry: Registry, what: str) -> Wanted:
    """Return what a node is as `Change.options` holds it. Raises as `with_options`."""
    message = type(now.message)()
    message.CopyFrom(now.message)
    bare = type(now.message)()
    bare.MergeFromString(alone)
    message.calculator = bare.calculator
    copy_options(bare, message)
    return checked(message, now.node, plan, registry, what)


def copy_options(source: Any, target: Any) -> None:
    """Give the message of a node the options of another one."""
    for field in _OPTION_FIELDS:
        target.ClearField(field)
    if source.HasField("options"):
        target.options.CopyFrom(source.options)
    target.node_options.extend(source.node_options)


def checked(message: Any, node: NodePlan, plan: Plan, registry: Registry, what: str) -> Wanted:
    """Check a node as when a graph is loaded, and that it has the contract of the graph's own node."""
    alone = description_graph(message, node.name, plan.config)
    alone.node[0].max_in_flight = message.max_in_flight
    made = build_plan(alone, registry)
    if len(made.nodes) != 1:
        raise InvalidArgumentError(
            f"{what}: node {node.name!r}: {quoted(message.calculator)} is a subgraph, but the wanted change "
            "needs a calculator; name one",
            node=node.name,
        )
    other = made.nodes[0]
    _check_contract(node, other.contract, message.calculator, what)
    return Wanted(message, made, other)


def _check_contract(node: NodePlan, contract: CalculatorContract, calculator: str, what: str) -> None:
    who = f"{what}: node {node.name!r}: {quoted(calculator)}"
    if other := contract_difference(node.contract, contract):
        raise InvalidArgumentError(
            f"{who} is wanted with another contract: {other}; it must have the same ports and types",
            node=node.name,
        )
    missing = [key for key, optional in contract.services.items() if not optional]
    for key in missing:
        if key not in node.contract.services:
            raise InvalidArgumentError(
                f"{who} is wanted, but it wants service {key.name!r}, for which the node's own calculator "
                "does not ask; only services that this one asks for, too, can be had while the graph runs",
                node=node.name,
            )


def _check_belongs(message: Any, options: object, calculator: str, registry: Registry, who: str) -> None:
    """Check that options are those of a calculator, where its options are known."""
    try:
        known = [one.name for one in describe(calculator, registry, "calculator").options]
    except PenstockError:  # a name that is qualified by the graph's package, say
        return
    name = attrs_name(type(options)) if is_attrs_options(type(options)) else message.DESCRIPTOR.full_name
    if known and name not in known:
        raise InvalidArgumentError(
            f"{who}: the wanted options are {name}, but calculator {calculator!r} takes {' or '.join(known)}"
        )
