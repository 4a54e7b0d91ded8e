"""StringToSequenceExampleCalculator: bytes of a record become the record, or the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from google.protobuf.message import DecodeError

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import SequenceExample

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_BYTES: Final = "STRING"
_MESSAGE: Final = "SEQUENCE_EXAMPLE"


class StringToSequenceExampleCalculator(penstock.Calculator):
    """Make a SequenceExample of its bytes, or its bytes of a SequenceExample.

    Side packets only: input STRING (bytes) to output SEQUENCE_EXAMPLE (SequenceExample), or input
    SEQUENCE_EXAMPLE to output STRING. TensorFlow's message of this name has the same bytes; here the keys of
    maps are sorted, and TensorFlow is not needed.

    Raises in `get_contract`: InvalidArgumentError unless exactly one input is connected, with the other as
    output. In `open`: the same for bytes that are no SequenceExample; the reference then takes what it can
    read.

    Source of the behaviour: MediaPipe `calculators/tensorflow/string_to_sequence_example_calculator.cc`.

    Config::

        node {
          calculator: "StringToSequenceExampleCalculator"
          input_side_packet: "STRING:bytes_of_the_record"
          output_side_packet: "SEQUENCE_EXAMPLE:record"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one of both directions.

        Raises:
            InvalidArgumentError: the side packets are other ones.
        """
        sides, made = cc.input_side_packets, cc.output_side_packets
        for ports in (sides, made):
            for tag, kind in ((_BYTES, bytes), (_MESSAGE, SequenceExample)):
                port = ports[tag].set(kind, "a record, as bytes or as message")
                if tag not in ports:  # what is connected is needed
                    port.optional()
        given = [tag for tag in (_BYTES, _MESSAGE) if tag in sides]
        wanted = [tag for tag in (_MESSAGE, _BYTES) if tag in made]
        if len(given) != 1 or len(wanted) != 1 or given == wanted:
            raise InvalidArgumentError(
                f"input side packets are {given}, output side packets {wanted}, but {_BYTES} leads to "
                f"{_MESSAGE}, or {_MESSAGE} to {_BYTES}; connect one of each"
            )
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Convert the side packet.

        Raises:
            InvalidArgumentError: the bytes are no SequenceExample.
        """
        sides, made = cc.input_side_packets, cc.output_side_packets
        if _MESSAGE in sides:
            record = sides[_MESSAGE].get(SequenceExample)
            made[_BYTES].set(record.SerializeToString(deterministic=True))
            return
        data = sides[_BYTES].get(bytes)
        try:
            made[_MESSAGE].set(SequenceExample.FromString(data))
        except DecodeError as error:
            raise InvalidArgumentError(
                f"the {len(data)} bytes of side packet {_BYTES} are no SequenceExample: {error}; give "
                "the bytes of one record"
            ) from error
