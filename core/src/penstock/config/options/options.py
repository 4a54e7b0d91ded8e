"""The options that a graph gives to a node, an executor or a handler, found by their class.

The caller names a protobuf message class or an attrs class: `options.get(ColorConvertCalculatorOptions)`.
    Where the graph gives no such options, they have their defaults. A message is a copy that belongs to the
    caller: no change that a calculator makes to it reaches the graph, another node, or the next run. An
    instance of an attrs class is made once for each node and checked by the class; all callers get the same
    one.

This module imports nothing of protobuf: message classes have all that it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from penstock.attrs_options import attrs_name, is_attrs_options
from penstock.config.options.message_values import instance_of
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.config.message import Message

M = TypeVar("M")


class Options:
    """The options of one place in a graph: extensions of one message, then packed messages.

    Each type is looked up once. May be used from any thread.
    """

    __slots__ = ("_extended", "_found", "_packed")

    def __init__(self, extended: Any = None, packed: Sequence[Message] = ()) -> None:
        """Hold options messages, without copying them.

        Args:
            extended: a message with extensions, such as CalculatorOptions; or, where options are
                given in code, the options themselves, a message or an attrs instance; or None.
            packed: google.protobuf.Any messages. An extension of the same type wins over them.
        """
        self._extended = extended
        self._packed = tuple(packed)
        #: Message class → what the graph gives, or None where it gives nothing; attrs class → its instance.
        #: None until the first look-up: most nodes never look anything up.
        self._found: dict[Any, Any] | None = None

    def get(self, message_type: type[M]) -> M:
        """Return the options of a type: what the graph gives, or the defaults.

        A message is a copy that belongs to the caller. All callers get the same instance of an attrs class,
        so the class should be frozen.

        Raises:
            InvalidArgumentError: `message_type` is no message class and no attrs class; or what the graph
                gives is not what an attrs class takes (an `OptionError`).
        """
        if is_attrs_options(message_type):
            instance: M = self._instance(message_type)
            return instance
        given = self._look_up(message_type)
        options: Any = message_type()
        if given is not None:
            options.CopyFrom(given)
        answer: M = options
        return answer

    def has(self, message_type: type[Any]) -> bool:
        """Return whether the graph gives options of a type.

        Raises:
            InvalidArgumentError: `message_type` is no message class and no attrs class.
        """
        if is_attrs_options(message_type):
            return self._given(message_type) is not None
        return self._look_up(message_type) is not None

    def are_given(self) -> bool:
        """Return whether there are any options; without, nothing needs the messages that they would be."""
        return self._extended is not None or bool(self._packed)

    def again(self) -> Options:
        """Return equal options for an equal graph, with messages of their own. Not for options given in code.

        Instances of attrs classes are made again: an application's class may have instances that change.
        """
        if self is NO_OPTIONS:
            return self
        return Options(
            None if self._extended is None else _copied(self._extended),
            [_copied(packed) for packed in self._packed],
        )

    def names(self) -> list[str]:
        """Return the full names of the messages that the graph gives."""
        extended = self._extended
        found = [packed.TypeName() for packed in self._packed]
        if hasattr(extended, "ListFields"):
            fields = (field for field, _ in extended.ListFields() if field.is_extension)
            found += [field.message_type.full_name for field in fields if field.message_type is not None]
        return found

    def _instance(self, cls: Any) -> Any:
        if self is NO_OPTIONS:  # shared by all nodes, which must not share instances
            return instance_of(cls)
        found = self._found
        if found is None:
            found = self._found = {}
        elif cls in found:
            return found[cls]
        given = self._given(cls)
        return found.setdefault(cls, given if isinstance(given, cls) else instance_of(cls, given))

    def _given(self, cls: Any) -> Any:
        extended, name = self._extended, attrs_name(cls)
        if isinstance(extended, cls):
            return extended
        if hasattr(extended, "ListFields"):
            for field, value in extended.ListFields():
                if field.is_extension and field.message_type.full_name == name:
                    return value
        for packed in self._packed:
            if packed.TypeName() == name:
                from penstock.config.options.message_class import message_class  # protobuf
                from penstock.config.options.messages import unpacked_as

                return unpacked_as(message_class(cls), packed)
        return None

    def _look_up(self, message_type: Any) -> Message | None:
        found = self._found
        if found is None:
            found = self._found = {}
        try:
            return found[message_type]
        except (KeyError, TypeError):
            pass
        if not isinstance(message_type, type) or not hasattr(message_type, "DESCRIPTOR"):
            raise InvalidArgumentError(
                f"options are found by class, but {message_type!r} is no message class and no attrs class; "
                "pass a class such as XOptions from x_pb2, or one that is decorated with @attrs.frozen"
            )
        given = self._extension(message_type)
        if given is None:
            given = self._unpacked(message_type)
        found[message_type] = given
        return given

    def _extension(self, message_type: Any) -> Message | None:
        extended = self._extended
        if extended is None:
            return None
        if isinstance(extended, message_type):
            return extended
        if not hasattr(extended, "DESCRIPTOR"):
            return None
        wanted = message_type.DESCRIPTOR
        for field in wanted.extensions:
            if field.containing_type == extended.DESCRIPTOR and field.message_type == wanted:
                handle = getattr(message_type, field.name)
                return extended.Extensions[handle] if extended.HasExtension(handle) else None
        return None

    def _unpacked(self, message_type: Any) -> Message | None:
        for packed in self._packed:
            if packed.Is(message_type.DESCRIPTOR):
                from penstock.config.options.messages import unpacked_as  # protobuf

                return unpacked_as(message_type, packed)
        return None


def _copied(message: Any) -> Any:
    copied = type(message)()
    copied.CopyFrom(message)
    return copied


#: The options of a place to which the graph gives none: all have their defaults.
NO_OPTIONS: Final = Options()


def options_of(given: object | None = None) -> Options:
    """Return options that are given in code: a message, an instance of an attrs class, or None for none."""
    return NO_OPTIONS if given is None else Options(given)
