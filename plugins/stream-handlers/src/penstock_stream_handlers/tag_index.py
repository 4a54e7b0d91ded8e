"""How the options of input policies name streams of their node: "TAG", "TAG:index" or ":index"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import InvalidArgumentError, NotFoundError, PenstockError
from penstock.ports import parse_tag_index, port_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import InputStreamHandler
    from penstock.lowlevel import InputStream, Node


def reading_node(inputs: Sequence[InputStream]) -> Node:
    """Return the node that reads these inputs."""
    node = inputs[0].node
    assert node is not None  # the engine gives each reading end its node  # noqa: S101
    return node


def leading_of(policy: InputStreamHandler, options: Any) -> int:
    """Return what `leading_input` of a policy returns for its node. Its errors name the node."""
    node = reading_node(policy.inputs)
    try:
        found = policy.leading_input(options, node.step.inputs.ids())
    except PenstockError as error:
        raise _of_node(error, node) from error.__cause__
    return 0 if found is None else found


def _of_node(error: PenstockError, node: Node) -> PenstockError:
    placed = error.placed(f"node {node.name!r}: ")
    placed.node = node.name
    return placed


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
    try:
        return position_in(node.step.inputs.ids(), tag_index, option)
    except PenstockError as error:
        raise _of_node(error, node) from error.__cause__


def position_in(ids: Sequence[tuple[str, int]], tag_index: str, option: str) -> int:
    """As `position_of`, for the tags and indexes of a node that is being checked."""
    try:
        wanted = parse_tag_index(tag_index)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{option}: {error}") from error
    if wanted not in ids:
        connected = ", ".join(port_name(*one) for one in ids)
        raise NotFoundError(
            f"{option}: there is no input {port_name(*wanted)} by tag and index; connected are: {connected}"
        )
    return ids.index(wanted)


def leading_position(ids: Sequence[tuple[str, int]], tag_index: str | None, policy: str, option: str) -> int:
    """Return the position of the input at whose packets a node runs.

    Inputs without different tags are in the order of the graph, so that the first of them is meant where the
    option names none. The order of different tags is the order of their letters, which nobody means.

    Args:
        ids: tag and index of each input of the node.
        tag_index: the option's value; None where it is not given.
        policy: its name, for messages.
        option: the option's name, for messages.

    Raises:
        InvalidArgumentError: the inputs have different tags, and the option is not given; or it does not
            follow the grammar.
        NotFoundError: the node has no such input.
    """
    if tag_index is not None:
        return position_in(ids, tag_index, option)
    tags = sorted({tag for tag, _ in ids})
    if len(tags) > 1:
        written = [f'{option}: "{tag or ":0"}"' for tag in tags]
        raise InvalidArgumentError(
            f"{policy} does not say by tag and index at which input's packets the node runs; write "
            f"{', '.join(written[:-1])} or {written[-1]} into its options"
        )
    return 0
