"""How the options of input policies name streams of their node: "TAG", "TAG:index" or ":index"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.lowlevel import parse_tag_index, port_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.lowlevel import InputStream, Node


def reading_node(inputs: Sequence[InputStream]) -> Node:
    """Return the node that reads these inputs."""
    node = inputs[0].node
    assert node is not None  # the engine gives each reading end its node  # noqa: S101
    return node


def position_of(tag_index: str, inputs: Sequence[InputStream], option: str) -> int:
    """Return the position, among a node's inputs, of the input that an option names.

    Args:
        tag_index: the option's value.
        inputs: all inputs of the node.
        option: the option's name, for messages.

    Raises:
        InvalidArgumentError: `tag_index` does not follow the grammar.
        NotFoundError: the node has no such input.
    """
    node = reading_node(inputs)
    ids = node.step.inputs.ids()
    where = f"node {node.name!r}: {option}: "
    try:
        wanted = parse_tag_index(tag_index)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{where}{error}", node=node.name) from error
    if wanted not in ids:
        raise NotFoundError(
            f"{where}there is no input {port_name(*wanted)}; connected are: "
            f"{', '.join(port_name(*one) for one in ids)}",
            node=node.name,
        )
    return ids.index(wanted)
