"""Walks over protobuf messages, for what reads and writes graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from google.protobuf.message import Message as AnyMessage

from penstock.config.places import field_path_words
from penstock.config.wire import check_wire
from penstock.errors import InvalidArgumentError, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from google.protobuf.any_pb2 import Any as PackedMessage

    from penstock.config.message import Message
    from penstock.config.options.option_types import OptionTypes
    from penstock.config.places import FieldPath


#: The field of a node that may hold other nodes.
_OPTIONS: Final = "penstock.CalculatorGraphConfig.Node.options"


def messages_in(
    message: Message, is_known: Callable[[Message], bool] | None = None
) -> Iterator[tuple[Message, FieldPath]]:
    """Yield a message and every message inside it, with the path to each. Packed ones stay packed.

    Args:
        message: is searched.
        is_known: is asked about the `options` of each node; where it returns True they are left out.
    """
    work: list[tuple[Message, FieldPath]] = [(message, ())]
    while work:
        inner, path = work.pop()
        yield inner, path
        for field, value in inner.ListFields():
            if field.message_type is None:
                continue
            name = f"[{field.full_name}]" if field.is_extension else field.name
            if isinstance(value, AnyMessage):
                if is_known is None or field.full_name != _OPTIONS or not is_known(value):
                    work.append((value, (*path, (name, 0))))
            elif hasattr(value, "add"):  # a list of messages; a map has none. Asking protobuf costs an import
                work += [(one, (*path, (name, i))) for i, one in enumerate(value)]


def calculators_of(graph: Message) -> Callable[[], tuple[Iterable[str], str]]:
    """Return a function that returns a graph's calculators and package, for `OptionTypes.look_into`."""
    return lambda: (
        [name for node in graph.node for name in (node.calculator, node.failure.fallback.calculator) if name],
        graph.package,
    )


def unpacked_message(packed: PackedMessage, types: OptionTypes) -> Message:
    """Return the message that is packed in an Any of a graph that was read, so that its type is known.

    Raises:
        InvalidArgumentError: its type is no message, or as `unpacked_as`.
    """
    name = packed.TypeName()
    types.load(name)
    try:
        return unpacked_as(message_factory.GetMessageClass(types.FindMessageTypeByName(name)), packed)
    except KeyError as error:
        given = f"{packed.type_url!r}, which is no message" if name else "no type"
        words = f"packed options have {given}; write [type.googleapis.com/package.XOptions]"
        raise InvalidArgumentError(words) from error


def unpacked_as(message_type: Any, packed: Any) -> Any:
    """Return the message of this type that is packed in an Any.

    Raises:
        OptionError: the bytes are no such message, or a string in it is no UTF-8.
    """
    message = message_type()
    name = message.DESCRIPTOR.full_name
    check_wire(packed.value, message.DESCRIPTOR, f"options {name}: the message")
    try:
        packed.Unpack(message)
    except DecodeError as error:
        raise OptionError(name, (), f"its {len(packed.value)} bytes are no such message") from error
    except UnicodeDecodeError as error:
        raise OptionError(name, (), no_utf8(error)) from error
    if path := first_bytes_in(message):
        raise OptionError(name, path, f"{field_path_words(path)} is no UTF-8")
    return message


def no_utf8(error: UnicodeDecodeError) -> str:
    """Return which field is no UTF-8, in words; protobuf in plain Python raises it, and has no message."""
    return f"{error.reason.rpartition(' in field: ')[2]} is no UTF-8"


def first_bytes_in(
    message: Message, inside: Iterable[tuple[Message, FieldPath]] | None = None
) -> FieldPath | None:
    """Return the path to a string that is no UTF-8, which proto2 takes and Python has as bytes; or None.

    Args:
        message: is searched, with all messages inside.
        inside: what `messages_in` yields of it, where that is known.
    """
    for inner, path in messages_in(message) if inside is None else inside:
        for field, value in inner.ListFields():
            if field.type == field.TYPE_STRING:
                values = [value] if isinstance(value, (str, bytes)) else value
                for i, one in enumerate(values):
                    if isinstance(one, bytes):
                        return (*path, (field.name, i))
    return None


def is_known(name: str) -> bool:
    """Return whether the process has a message or extension of this name, whichever module imported it."""
    pool = descriptor_pool.Default()
    for find in (pool.FindExtensionByName, pool.FindMessageTypeByName):
        try:
            find(name)
        except KeyError:
            continue
        return True
    return False
