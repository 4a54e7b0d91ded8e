"""Whether a node may leave the driver for another process, and why not."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from penstock.errors import GraphConfigError, InvalidArgumentError, PenstockError
from penstock.packs import calculator_of_entry, entry_spelling
from penstock.runs import ServiceScope

if TYPE_CHECKING:
    from penstock.lowlevel import NodePlan, Plan


def check_movable(node: NodePlan) -> None:
    """Raise an error if a node cannot leave the driver.

    Raises:
        InvalidArgumentError: it asks for a service that belongs to the graph, or for a thread of a
            service, or its class cannot be imported elsewhere.
    """
    contract = node.contract
    if contract.runs_on is not None and not contract.runs_if_there:
        raise InvalidArgumentError(
            f"node {node.name!r} is not movable to another process: it runs on a thread of service "
            f"{contract.runs_on.name!r}, which is in this process; take executor {node.executor!r} off the "
            "node",
            node=node.name,
        )
    for key in contract.services:
        if key.scope is ServiceScope.GRAPH:
            raise InvalidArgumentError(
                f"node {node.name!r} is not movable to another process: it asks for service {key.name!r}, "
                f"which belongs to the graph and stays in this process; take executor {node.executor!r} off "
                "the node, or give the key scope=ServiceScope.PROCESS if each process may have its own, or "
                "ServiceScope.COPY if it may have a copy",
                node=node.name,
            )
    code = entry_spelling(node.factory)
    if find_code(code) is not node.factory:
        raise InvalidArgumentError(
            f"node {node.name!r} is not movable: calculator {node.calculator!r} ({code}) cannot be imported "
            "by another process; define it at the top of a module",
            node=node.name,
        )


def check_all_movable(plan: Plan, executor: str) -> None:
    """Raise an error if a node of an executor cannot leave the driver.

    Raises:
        GraphConfigError: carries the fault of each such node.
    """
    faults: list[PenstockError] = []
    for node in plan.nodes:
        if node.executor == executor:
            try:
                check_movable(node)
            except InvalidArgumentError as fault:
                faults.append(fault)
    if faults:
        raise GraphConfigError(faults, file=plan.file)


def find_code(code: str) -> object:
    """Return the calculator class at "module:attribute"; None where there is none."""
    module, _, path = code.partition(":")
    try:
        found: object = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError):
        return None
    return calculator_of_entry(found)
