"""From a graph to JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import json_format

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock.readers import Message
    from penstock.types import OptionTypes


def to_json(message: Message, types: OptionTypes) -> str:
    """Return a graph as JSON that is read back, from a file, to an equal message.

    `penstock.config.to_json` is this function behind a registry: it finds the options first.

    Args:
        message: a CalculatorGraphConfig, or a part of one.
        types: has loaded the options that are packed in it.

    Raises:
        InvalidArgumentError: the graph has packed options of an unknown type.
    """
    #: The same object for protobuf, whose published types take a DescriptorPool only.
    pool: Any = types
    try:
        return json_format.MessageToJson(message, preserving_proto_field_name=True, descriptor_pool=pool)
    except TypeError as error:
        raise InvalidArgumentError(f"the graph cannot be written in JSON form: {error}") from error
