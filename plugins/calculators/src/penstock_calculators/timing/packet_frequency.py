"""PacketFrequencyCalculator: how many packets of streams come in a second."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_calculators.messages.packet_frequency_pb2 import (
    PacketFrequency,
    PacketFrequencyCalculatorOptions,
)

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_MICROSECONDS: Final = 1_000_000
_LONGEST: Final = 100.0


class PacketFrequencyCalculator(penstock.Calculator):
    """Writes at each packet how many packets of its stream came in a second, by their timestamps.

    Inputs 0, 1, ... (anything); outputs 0, 1, ... (PacketFrequency, one for each packet). The first packet
    of a stream gives 0 Hz. Each other one gives the number of packets, itself included, in the last
    `time_window_sec` seconds, both ends included, by the length of that window, or by the time since the
    first packet where that is less::

        input 0    0    500000    1000000
        Hz         0    4         3          (the first counts too)

    The node asks for ImmediateInputStreamHandler, so that no stream waits for another. There is no timestamp
    offset.

    Options `PacketFrequencyCalculatorOptions`: `time_window_sec` (3; above 0, at most 100); `label`,
    required: one for each stream, none empty.

    Raises in the contract: InvalidArgumentError if there is no input, or not an output for each. In `open`:
    the same for labels and windows that do not fit.

    Source of the behaviour: MediaPipe `calculators/util/packet_frequency_calculator.cc`. There only the first
    of several packets of one timestamp gets an answer.

    Example config::

        node {
          calculator: "PacketFrequencyCalculator"
          input_stream: "frames"
          output_stream: "frames_per_second"
          options { [penstock.PacketFrequencyCalculatorOptions.ext] { label: "frames" } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare streams in, frequencies out.

        Raises:
            InvalidArgumentError: the numbers of inputs and outputs do not fit.
        """
        count = cc.inputs.count("")
        if not count or cc.outputs.count("") != count:
            raise InvalidArgumentError(
                f"packet frequencies are measured of {count} untagged inputs, for {cc.outputs.count('')} "
                "untagged outputs, but each input needs an output, and one at least is needed; connect as "
                "many"
            )
        for i in range(count):
            cc.inputs[i].set_any("a stream to count")
            cc.outputs[i].set(PacketFrequency, "how many packets come in a second")
        cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Begin to count.

        Raises:
            InvalidArgumentError: the options do not fit.
        """
        options = cc.options(PacketFrequencyCalculatorOptions)
        self._labels = list(options.label)
        if len(self._labels) != len(cc.inputs) or not all(self._labels):
            raise InvalidArgumentError(
                f"the packet frequencies' label is {self._labels}, but each of the {len(cc.inputs)} streams "
                "needs one that is not empty; set them in the options"
            )
        if not 0 < options.time_window_sec <= _LONGEST:
            raise InvalidArgumentError(
                f"the packet frequencies' time_window_sec is {options.time_window_sec:g}, but must be above "
                "0 and at most 100; change it in the options"
            )
        self._window = options.time_window_sec * _MICROSECONDS
        self._first: list[int | None] = [None] * len(cc.inputs)
        self._recent: list[deque[int]] = [deque() for _ in cc.inputs]

    def process(self, cc: CalculatorContext) -> None:
        """Count the packets of one timestamp."""
        for i, port in enumerate(cc.inputs):
            if not port.is_empty():
                made = PacketFrequency(packet_frequency_hz=self._counted(i, cc.stamp), label=self._labels[i])
                cc.outputs[i].add(made, cc.stamp)

    def _counted(self, i: int, now: int) -> float:
        """Return the frequency of a stream that has got one more packet."""
        recent, first = self._recent[i], self._first[i]
        recent.append(now)
        while now - recent[0] > int(self._window):
            recent.popleft()
        if first is None:
            self._first[i] = now
            return 0.0
        return len(recent) / (min(float(now - first), self._window) / _MICROSECONDS)
