"""The options that a graph gives to a node, an executor or a handler, found by message type.

Whoever asks names the message class: `options.get(ColorConvertCalculatorOptions)`. Where the graph
gives none, the answer is a message with its defaults. Each answer is a copy that belongs to the one
who asked: nothing that a calculator does to it reaches the graph, another node, or the next run.

This module needs nothing of protobuf but what message classes bring themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

M = TypeVar("M")


class Options:
    """The options of one place in a graph: extensions of one message, then packed messages.

    The answer for a type is looked up once. May be used from any thread.
    """

    __slots__ = ("_extended", "_found", "_packed")

    def __init__(self, extended: Any = None, packed: Sequence[Any] = ()) -> None:  # noqa: ANN401  # messages
        """Hold options messages, without copying them.

        Args:
            extended: a message with extensions, such as CalculatorOptions; or, where options are
                given in code, the options message itself; or None.
            packed: google.protobuf.Any messages. An extension of the same type wins over them.
        """
        self._extended = extended
        self._packed = tuple(packed)
        #: Message class → what the graph gives, or None where it gives nothing. Most nodes never ask.
        self._found: dict[Any, Any] | None = None

    def get(self, message_type: type[M]) -> M:
        """Return the options of a type: what the graph gives, else its defaults. The copy is yours.

        Raises:
            InvalidArgumentError: `message_type` is no message class.
        """
        given = self._look_up(message_type)
        options: Any = message_type()
        if given is not None:
            options.CopyFrom(given)
        answer: M = options
        return answer

    def has(self, message_type: type[Any]) -> bool:
        """Return whether the graph gives options of a type.

        Raises:
            InvalidArgumentError: `message_type` is no message class.
        """
        return self._look_up(message_type) is not None

    def _look_up(self, message_type: Any) -> Any:  # noqa: ANN401  # a message, or None
        found = self._found
        if found is None:
            found = self._found = {}
        try:
            return found[message_type]
        except (KeyError, TypeError):
            pass
        if not isinstance(message_type, type) or not hasattr(message_type, "DESCRIPTOR"):
            raise InvalidArgumentError(
                f"options: {message_type!r} is no message class; pass a class such as XOptions from x_pb2"
            )
        given = self._extension(message_type)
        if given is None:
            given = self._unpacked(message_type)
        found[message_type] = given
        return given

    def _extension(self, message_type: Any) -> Any:  # noqa: ANN401
        extended = self._extended
        if extended is None:
            return None
        if isinstance(extended, message_type):
            return extended
        wanted = message_type.DESCRIPTOR
        for field in wanted.extensions:
            if field.containing_type == extended.DESCRIPTOR and field.message_type == wanted:
                handle = getattr(message_type, field.name)
                return extended.Extensions[handle] if extended.HasExtension(handle) else None
        return None

    def _unpacked(self, message_type: Any) -> Any:  # noqa: ANN401
        for packed in self._packed:
            if packed.Is(message_type.DESCRIPTOR):
                options = message_type()
                packed.Unpack(options)
                return options
        return None


#: For whatever the graph gives no options: every answer has its defaults.
NO_OPTIONS: Final = Options()
