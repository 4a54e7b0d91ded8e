"""AddAudioHeaderCalculator: says of which rate and channels a stream of samples is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import penstock
from penstock import Packet
from penstock.errors import InvalidArgumentError
from penstock_audio.messages.add_audio_header_pb2 import AddAudioHeaderCalculatorOptions
from penstock_formats import Matrix, TimeSeriesHeader

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_USUAL_RATE: Final = 48_000.0


class AddAudioHeaderCalculator(penstock.Calculator):
    """Forwards matrices on a stream that has a TimeSeriesHeader.

    The only input (Matrix, channels by samples) to the only output, the same packets. The header has the
    `sample_rate` (default 48000) and `num_channels` (default 1) of the options; nothing checks packets
    against it here. A header of the input is not forwarded. The timestamp offset is 0.

    Options, for `node_options`: `sample_rate`, `num_channels`.

    Raises in `open`: InvalidArgumentError for numbers below 0.

    Source of the behaviour: MediaPipe `calculators/audio/add_audio_header_calculator.cc`.

    Example config::

        node {
          calculator: "AddAudioHeaderCalculator"
          input_stream: "samples"
          output_stream: "series"
          node_options {
            [type.googleapis.com/penstock.AddAudioHeaderCalculatorOptions] {
              sample_rate: 16000 num_channels: 2
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take matrices and give a series."""
        cc.inputs[0].set(Matrix, "samples")
        cc.outputs[0].set(Matrix, "the same packets, a series")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Send the header.

        Raises:
            InvalidArgumentError: rate or channels are below 0.
        """
        options = cc.options(AddAudioHeaderCalculatorOptions)
        if not (0 <= options.sample_rate < math.inf and options.num_channels >= 0):
            raise InvalidArgumentError(
                f"the header's sample_rate is {options.sample_rate} and num_channels is "
                f"{options.num_channels}; both must be at least 0, and 0 stands for the default"
            )
        header = TimeSeriesHeader(
            sample_rate=options.sample_rate or _USUAL_RATE, num_channels=options.num_channels or 1
        )
        cc.outputs[0].set_header(Packet(header))

    def process(self, cc: CalculatorContext) -> None:
        """Forward a packet."""
        if not cc.inputs[0].is_empty():
            cc.outputs[0].add_packet(cc.inputs[0].packet)
