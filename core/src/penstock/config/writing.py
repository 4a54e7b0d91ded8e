"""From a CalculatorGraphConfig message to text, JSON and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import text_format
from google.protobuf.any_pb2 import Any as PackedMessage

from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.config.options.messages import calculators_of, messages_in
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock.config.message import Message
    from penstock.config.options.types import OptionTypes


def to_text(message: Message, types: OptionTypes) -> str:
    """Return a graph as text that `read_graph` reads back to an equal message."""
    return text_format.MessageToString(message, descriptor_pool=_pool_for(message, types))


def to_json(message: Message, types: OptionTypes) -> str:
    """Return a graph as JSON that `read_graph` reads back, from a file, to an equal message.

    Raises:
        InvalidArgumentError: the graph has packed options of an unknown type.
    """
    from google.protobuf import json_format  # graphs in JSON are few

    pool = _pool_for(message, types)
    try:
        return json_format.MessageToJson(message, preserving_proto_field_name=True, descriptor_pool=pool)
    except TypeError as error:
        raise InvalidArgumentError(f"the graph cannot be written as JSON: {error}") from error


def to_binary(message: Message) -> bytes:
    """Return a graph as protobuf's bytes; equal graphs give equal bytes within one process."""
    data: bytes = message.SerializePartialToString(deterministic=True)
    return data


def _pool_for(message: Message, types: OptionTypes) -> Any:
    """Let `types` load the options that are packed in a graph, as far as their types are known.

    Raises:
        NameClashError, PluginError: as `OptionTypes.load`.
    """
    if isinstance(message, CalculatorGraphConfig):
        types.look_into(calculators_of(message))
    for packed, _ in messages_in(message):
        if isinstance(packed, PackedMessage) and packed.type_url:
            types.load(packed.TypeName())
    return types
