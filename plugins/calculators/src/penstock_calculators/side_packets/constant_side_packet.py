"""ConstantSidePacketCalculator: side packets whose values are in the graph config."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_calculators.messages.constant_side_packet_pb2 import ConstantSidePacketCalculatorOptions
from penstock_formats import ClassificationList, LandmarkList, MatrixData, TimeSeriesHeader

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_Value = ConstantSidePacketCalculatorOptions.ConstantSidePacket

_PLAIN: Final = {
    "int_value": int,
    "int64_value": int,
    "uint64_value": int,
    "float_value": float,
    "double_value": float,
    "bool_value": bool,
    "string_value": str,
}
#: Field → the type, and the field of the message that has its elements.
_LISTS: Final = {
    "string_vector_value": (list[str], "string_value"),
    "float_vector_value": (list[float], "float_value"),
    "int_vector_value": (list[int], "int_value"),
}
_MESSAGES: Final = {
    "classification_list_value": ClassificationList,
    "landmark_list_value": LandmarkList,
    "time_series_header_value": TimeSeriesHeader,
    "matrix_data_value": MatrixData,
}
_TYPES: Final[dict[str, Any]] = {
    **_PLAIN,
    **{field: kind for field, (kind, _) in _LISTS.items()},
    **_MESSAGES,
}


class ConstantSidePacketCalculator(penstock.Calculator):
    """Sets output side packet PACKET:i to the i-th `packet` of its options.

    There must be one `packet` for each PACKET, each with one value: int_value, int64_value or
    uint64_value (an int), float_value (of 32 bits) or double_value (a float), bool_value, string_value,
    the lists string_vector_value, float_vector_value, int_vector_value, and the messages of
    penstock_formats classification_list_value, landmark_list_value, time_series_header_value,
    matrix_data_value, which stays a `MatrixData`. Output side packets of other tags are never made.
    The side packets are made when the node opens; there are no inputs, so nothing depends on arrival.

    Source of the behaviour: MediaPipe `calculators/core/constant_side_packet_calculator.cc`.

    Example config::

        node {
          calculator: "ConstantSidePacketCalculator"
          output_side_packet: "PACKET:0:threshold"
          output_side_packet: "PACKET:1:labels"
          options {
            [penstock.ConstantSidePacketCalculatorOptions.ext] {
              packet { float_value: 0.5 }
              packet { string_vector_value { string_value: "cat" string_value: "dog" } }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give each side packet the type of its value.

        Raises:
            InvalidArgumentError: the numbers differ, or a `packet` has no value.
        """
        packets = cc.options(ConstantSidePacketCalculatorOptions).packet
        for side in cc.output_side_packets:
            side.set_any("never made")
        count = cc.output_side_packets.count("PACKET")
        if count != len(packets):
            raise InvalidArgumentError(
                f"there are {count} output side packets PACKET, but {len(packets)} constant packets in the "
                "options; each needs the other"
            )
        for i, packet in enumerate(packets):
            field = packet.WhichOneof("value")
            if field is None:
                raise InvalidArgumentError(
                    f"constant side packet {i} of the options has no value; give one of {', '.join(_TYPES)}"
                )
            cc.output_side_packets["PACKET", i].set(_TYPES[field], f"the {field} in the options")
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Make the side packets."""
        for i, packet in enumerate(cc.options(ConstantSidePacketCalculatorOptions).packet):
            cc.output_side_packets["PACKET", i].set(_payload(packet))


def _payload(packet: _Value) -> object:
    """Return the value of an option as an object of its own: lists and messages are copied."""
    field = packet.WhichOneof("value")
    assert field is not None  # refused in get_contract  # noqa: S101
    value = getattr(packet, field)
    if field in _LISTS:
        return list(getattr(value, _LISTS[field][1]))
    if field in _MESSAGES:
        copied = _MESSAGES[field]()
        copied.CopyFrom(value)
        return copied
    return value
