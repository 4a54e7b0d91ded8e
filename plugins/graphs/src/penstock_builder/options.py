"""Options in code: messages, attrs instances, or fields by name, for a node, handler or executor.

The options that a field belongs to are found from the component itself: from its `Options`, from what its
contract asks for, its example gives and its code names; and from its name with "Options" behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from penstock.error_text import did_you_mean
from penstock.errors import InvalidArgumentError, PenstockError
from penstock.types import OptionTypes, full_name, is_options_class, message_class
from penstock_builder.option_messages import message_of, message_with
from penstock_views.describe import describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock import Registry

    #: A message of this or another package; its fields are set, its class is not needed.
    Message: TypeAlias = Any


def set_node_options(node: Message, message: Message) -> None:
    """Write options into a node, in place of those of the same type."""
    extension = _extension(node, message)
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
            f"{who}: {message.DESCRIPTOR.full_name} does not extend {holder.options.DESCRIPTOR.full_name}; "
            "pass the options message that belongs to it"
        )
    holder.options.Extensions[handle].CopyFrom(message)


def as_message(options: object, registry: Registry, who: str) -> Message:
    """Return options as a message: an options message as it is, an attrs instance written into one.

    Raises:
        InvalidArgumentError: it is neither, or graph files cannot hold the values of the instance.
        NameClashError, PluginError: what is declared for the instance's class cannot be imported.
    """
    if is_options_class(type(options)):
        types, cls = OptionTypes(registry), type(options)
        try:
            name = full_name(cls)
            is_declared = registry.option(name) is not None and types.options_class(name) is cls
            kind = types.message_class(name) if is_declared else message_class(cls)
            return message_of(options, kind())
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{who}: {error}") from error
    if isinstance(options, type) or not hasattr(options, "DESCRIPTOR"):
        raise InvalidArgumentError(
            f"{who}: options {options!r} is no message; pass one such as XOptions(...) from x_pb2, "
            "an instance of an attrs class, or fields by name"
        )
    return options


def messages_of(
    component: tuple[str, str],
    fields: Mapping[str, object],
    registry: Registry,
    who: str,
    old: Message = None,
) -> list[Message]:
    """Return the options messages in which these fields are set.

    Args:
        component: its kind and name, as registered.
        fields: field → value: a number, str, bool, bytes, the name of an enum's value, a message; a `dict`
            for a field that is a message, a list for one that repeats. For an attrs class also what its
            `__init__` takes; None for the default, where that is None.
        registry: that knows its options messages.
        who: what an error begins with.
        old: the node, where the fields are to join those that it has.

    Raises:
        InvalidArgumentError: no message has such a field, or the value does not fit it.
        NameClashError, PluginError: an options message cannot be imported.
    """
    if not fields:
        return []
    types = OptionTypes(registry)
    classes = list(_classes(*component, registry, types))
    made: dict[str, Message] = {}
    for field, value in fields.items():
        cls = next((one for one in classes if field in one.DESCRIPTOR.fields_by_name), None)
        if cls is None:
            raise InvalidArgumentError(f"{who}: {_no_field(field, classes)}")
        full_name = cls.DESCRIPTOR.full_name
        message = made.get(full_name)
        if message is None:
            message = made[full_name] = _given(cls, old)
        options = types.options_class(full_name)
        try:
            if is_options_class(options):
                part = message_with(options, cls(), field, value)
            else:
                part = cls(**{field: value})
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{who}: {error}") from error
        except (TypeError, ValueError) as error:
            raise InvalidArgumentError(f"{who}: option {field}={value!r}: {error}") from error
        message.ClearField(field)
        message.MergeFrom(part)
    return list(made.values())


def _given(cls: Any, node: Message) -> Message:
    message = cls()
    if node is None:
        return message
    extension = _extension(node, message)
    if extension is not None:
        message.CopyFrom(extension)
        return message
    for packed in node.node_options:
        if packed.Is(message.DESCRIPTOR):
            packed.Unpack(message)
            break
    return message


def _extension(node: Message, message: Message) -> Message:
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


def _classes(kind: str, name: str, registry: Registry, types: OptionTypes) -> Iterator[Any]:
    """Yield the options messages of a component, each once."""
    try:
        described = [one.name for one in describe(name, registry, kind).options]
    except PenstockError:  # a name that is qualified by the graph's package, say
        described = []
    last = name.rpartition(".")[2]
    described += [full for full in registry.options() if full.rpartition(".")[2] == f"{last}Options"]
    types.look_into(lambda: ([name], ""))
    for one in dict.fromkeys(described):
        message = types.message_class(one)
        if message is not None:  # else it is inside of another message
            yield message


def _no_field(field: str, classes: list[Any]) -> str:
    if not classes:
        return f"{field!r} is no argument, and no options message is known here; pass options= as a message"
    fields = [one for cls in classes for one in cls.DESCRIPTOR.fields_by_name]
    names = " and ".join(cls.DESCRIPTOR.full_name for cls in classes)
    cure = did_you_mean(field, fields) or f"; it has {', '.join(fields) or 'none'}"
    return f"{names} has no field {field!r}{cure}"
