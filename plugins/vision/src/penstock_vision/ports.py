"""Which of several ports a node has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock.ports import Ports, PortSpecs


def only_one(ports: PortSpecs, tags: Sequence[str], what: str) -> str:
    """Return the tag of which there is a port; `what` is "input" or "output".

    Raises:
        InvalidArgumentError: there are ports of none of the tags, or of several.
    """
    found = [tag for tag in tags if tag in ports]
    if len(found) != 1:
        raise InvalidArgumentError(
            f"there are {' and '.join(found) or 'none'} of the {what} ports {', '.join(tags)}, but exactly "
            "one is needed; change the graph"
        )
    return found[0]


def input_or_none(ports: Ports[Input], tag: str) -> Input | None:
    """Return the input of a tag, or None where the graph does not connect it."""
    return ports[tag] if tag in ports else None  # noqa: SIM401  # ports have no `get`
