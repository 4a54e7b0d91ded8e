"""Options messages put into a node, an input stream handler or an executor of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    #: A message of this or another package; its fields are set, its class is not needed.
    Message: TypeAlias = Any


def set_node_options(node: Message, message: Message) -> None:
    """Write options into a node, in place of those of the same type."""
    extension = extension_of(node, message)
    if extension is not None:  # where a node has both forms, this one counts
        extension.CopyFrom(message)
        return
    for packed in node.node_options:
        if packed.Is(message.DESCRIPTOR):
            packed.Pack(message)
            return
    node.node_options.add().Pack(message)


def set_extension(holder: Message, message: Message, who: str) -> None:
    """Write options into the `options` field of a handler or an executor.

    Raises:
        InvalidArgumentError: the message extends no MediaPipeOptions.
    """
    handle = _handle(holder.options, message)
    if handle is None:
        raise InvalidArgumentError(
            f"{who}: these options cannot be set in the builder: {message.DESCRIPTOR.full_name} does not "
            f"extend {holder.options.DESCRIPTOR.full_name}; give options that belong to it"
        )
    holder.options.Extensions[handle].CopyFrom(message)


def extension_of(node: Message, message: Message) -> Message:
    """Return the options of the message's type that a node holds as an extension, or None."""
    handle = _handle(node.options, message)
    if handle is None or not node.options.HasExtension(handle):
        return None
    return node.options.Extensions[handle]


def _handle(extended: Message, message: Message) -> Any:
    wanted = message.DESCRIPTOR
    for field in wanted.extensions:
        if field.message_type == wanted and field.containing_type == extended.DESCRIPTOR:
            return getattr(type(message), field.name)
    return None
