"""PacketLatencyCalculator: how late the packets of streams are behind real time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_calculators.messages.packet_latency_pb2 import PacketLatency, PacketLatencyCalculatorOptions
from penstock_calculators.timing.clocks import clock_of, declare_clock
from penstock_formats import check_size_limit

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_MICROSECONDS = 1_000_000
#: The most numbers of a histogram, which goes out with each packet.
_MOST_INTERVALS: Final = 100_000


class PacketLatencyCalculator(penstock.Calculator):
    """Writes how long after its timestamp each packet comes, in a live graph.

    Inputs 0, 1, ... (anything) and REFERENCE_SIGNAL (anything: frames of a camera, say); outputs 0, 1, ...
    (PacketLatency, at the timestamp of each packet). The first packet of REFERENCE_SIGNAL counts as on time:
    from then on a packet's latency is the time that has passed by the clock, minus its timestamp's distance
    from that packet's. With REFERENCE_SIGNAL at 0 when the clock shows 5.000 s::

        input 0      timestamp 0 at 5.040 s    100000 at 5.110 s
        latency      40000 us                  10000 us

    Packets before the first of REFERENCE_SIGNAL, and those that come too early (a negative latency), get no
    answer. Each PacketLatency also has the histogram, the sum and the mean of the stream so far.

    The node asks for ImmediateInputStreamHandler: with another one a packet waits for those of the other
    streams, and the wait counts. There is no timestamp offset. Side packet CLOCK (optional: a function that
    returns seconds) replaces the clock. The numbers depend on how fast the graph is, by design.

    Options `PacketLatencyCalculatorOptions`: `num_intervals` (10) and `interval_size_usec` (10000) of the
    histogram; `reset_duration_usec` (-1: never): after so long histogram, sum and mean begin again;
    `packet_labels`: one for each stream (its name).

    Raises in the contract: InvalidArgumentError if there is no untagged input, or not an output for each. In
    `open`: the same for another number of labels, and for intervals or sizes below 1.

    Source of the behaviour: MediaPipe `calculators/util/packet_latency_calculator.cc`.

    Example config::

        node {
          calculator: "PacketLatencyCalculator"
          input_stream: "hands"
          input_stream: "REFERENCE_SIGNAL:frames"
          output_stream: "latencies_of_hands"
          options { [penstock.PacketLatencyCalculatorOptions.ext] { num_intervals: 20 } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare streams in, latencies out.

        Raises:
            InvalidArgumentError: the numbers of inputs and outputs do not fit.
        """
        count = cc.inputs.count("")
        if not count or cc.outputs.count("") != count:
            raise InvalidArgumentError(
                f"packet latencies are measured of {count} untagged inputs, for {cc.outputs.count('')} "
                "untagged outputs, but each input needs an output, and one at least is needed; connect as "
                "many"
            )
        for i in range(count):
            cc.inputs[i].set_any("a stream to watch")
            cc.outputs[i].set(PacketLatency, "how late each of its packets is")
        cc.inputs["REFERENCE_SIGNAL"].set_any("whose first packet is on time")
        declare_clock(cc)
        cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Begin with empty histograms.

        Raises:
            InvalidArgumentError: the options do not fit.
        """
        options = cc.options(PacketLatencyCalculatorOptions)
        count = cc.inputs.count("")
        names = list(options.packet_labels) or [cc.inputs[i].name for i in range(count)]
        if len(names) != count:
            raise InvalidArgumentError(
                f"there are {len(names)} packet_labels, but latencies of {count} streams are measured; set "
                "one for each, or none"
            )
        for field in ("num_intervals", "interval_size_usec"):
            if getattr(options, field) < 1:
                raise InvalidArgumentError(
                    f"packet latency option {field} is {getattr(options, field)}, but must be 1 or more; "
                    "change it in the options"
                )
        check_size_limit(options.num_intervals, "num_intervals", _MOST_INTERVALS)
        self._size, self._last = options.interval_size_usec, options.num_intervals - 1
        self._reset_after = options.reset_duration_usec
        self._clock = clock_of(cc)
        self._found = [
            PacketLatency(
                label=name,
                num_intervals=options.num_intervals,
                interval_size_usec=self._size,
                counts=[0] * options.num_intervals,
            )
            for name in names
        ]
        self._numbers = [0] * count
        self._sums = [0] * count
        #: What the clock shows at timestamp 0, and when the statistics began; None before the reference.
        self._zero: int | None = None
        self._began = 0

    def process(self, cc: CalculatorContext) -> None:
        """Measure the packets that have come."""
        now = round(self._clock() * _MICROSECONDS)
        if self._zero is None:
            if cc.inputs["REFERENCE_SIGNAL"].is_empty():
                return
            self._zero = now - cc.stamp
            self._began = now
        if 0 < self._reset_after <= now - self._began:
            self._reset()
            self._began = now
        for i in range(len(self._found)):
            if not cc.inputs[i].is_empty():
                latency = now - self._zero - cc.stamp
                if latency >= 0:
                    cc.outputs[i].add(self._counted(i, latency), cc.stamp)

    def _counted(self, i: int, latency: int) -> PacketLatency:
        """Return what is known of a stream, with one more packet."""
        found = self._found[i]
        self._numbers[i] += 1
        self._sums[i] += latency
        found.current_latency_usec = latency
        found.counts[min(latency // self._size, self._last)] += 1
        found.avg_latency_usec = self._sums[i] // self._numbers[i]
        found.sum_latency_usec = self._sums[i]
        copy = PacketLatency()
        copy.CopyFrom(found)
        return copy

    def _reset(self) -> None:
        for i, found in enumerate(self._found):
            found.counts[:] = [0] * len(found.counts)
            self._numbers[i] = self._sums[i] = 0
