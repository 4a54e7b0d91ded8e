"""Options that come as side packet OPTIONS and replace those of the graph config.

The packet holds the calculator's own options message, or a CalculatorOptions with its extension.
Fields that are set there replace the node's; repeated fields are appended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from penstock.config.calculator_options_pb2 import CalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

M = TypeVar("M")

TAG = "OPTIONS"


def declare_options_packet(cc: CalculatorContract, message_type: type[Any]) -> None:
    """Accept side packet OPTIONS, which may be missing."""
    sides = cc.input_side_packets
    sides[TAG].set_one_of(message_type, CalculatorOptions, description="replaces the options").optional()


def merged_options(cc: CalculatorContext, message_type: type[M]) -> M:
    """Return a copy of the node's options, merged with those of side packet OPTIONS if it is given."""
    options: Any = message_type()
    options.CopyFrom(cc.options(message_type))
    if TAG in cc.input_side_packets:
        given: Any = cc.input_side_packets[TAG].payload
        extension = getattr(message_type, "ext")  # noqa: B009  # protobuf sets it; type checkers do not know
        options.MergeFrom(given.Extensions[extension] if isinstance(given, CalculatorOptions) else given)
    merged: M = options
    return merged
