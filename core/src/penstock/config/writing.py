"""From a CalculatorGraphConfig message to text and bytes; `penstock-graphs` makes JSON of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import text_format
from google.protobuf.any_pb2 import Any as PackedMessage

from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.config.options.messages import calculators_of, messages_in

if TYPE_CHECKING:
    from penstock.config.message import Message
    from penstock.config.options.option_types import OptionTypes


def to_text(message: Message, types: OptionTypes) -> str:
    """Return a graph as text that `read_graph` reads back to an equal message."""
    return text_format.MessageToString(message, descriptor_pool=pool_for(message, types))


def to_binary(message: Message) -> bytes:
    """Return a graph as protobuf's bytes; equal graphs give equal bytes within one process."""
    data: bytes = message.SerializePartialToString(deterministic=True)
    return data


def pool_for(message: Message, types: OptionTypes) -> Any:
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
