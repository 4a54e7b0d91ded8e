"""Which of several ports a node has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.ports import PortSpec, PortSpecs


def only_one(ports: PortSpecs, tags: Sequence[str], what: str = "input") -> PortSpec:
    """Return the port of one of some tags; where there is only one tag, it may be missing.

    Args:
        ports: those of a contract.
        tags: of which one is connected.
        what: "input" or "output", for the error.

    Raises:
        InvalidArgumentError: of several tags none is connected, or more than one.
    """
    found = [tag for tag in tags if tag in ports]
    if len(tags) > 1 and len(found) != 1:
        raise InvalidArgumentError(
            f"there are {' and '.join(found) or 'none'} of the {what} ports {', '.join(tags)}, but exactly "
            "one is needed; change the graph"
        )
    return ports[found[0] if found else tags[0]]
