"""PacketResamplerCalculator: brings a stream to a given number of packets per second."""

from __future__ import annotations

import types
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import attrs

import penstock
from penstock import Packet
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, MIN, PRESTREAM, show
from penstock_calculators.messages.packet_resampler_pb2 import PacketResamplerCalculatorOptions
from penstock_calculators.side_packets.options_packet import TAG, declare_options_packet, merged_options
from penstock_calculators.timing.resampling import (
    SECOND,
    EvenSampling,
    JitteredSampling,
    ReflectedSampling,
    ReproducibleSampling,
)
from penstock_calculators.timing.seeded_random import SeededRandom
from penstock_formats import VideoHeader

if TYPE_CHECKING:
    from collections.abc import Awaitable, Generator, Iterable, Iterator

    from penstock import CalculatorContext, CalculatorContract, Input
    from penstock.ports import PortKey, Ports
    from penstock_calculators.timing.resampling import Sample, Sampling

_NO_HEADER = PacketResamplerCalculatorOptions.NONE
_UPDATED_HEADER = PacketResamplerCalculatorOptions.UPDATE_VIDEO_HEADER
#: What the option max_periods may be at most: some ten seconds of work, and 1 GB of packets.
_MOST_PERIODS: Final = 10_000_000
#: So many outputs of one packet are written at once; a run that is cancelled ends after that many.
_AT_ONCE: Final = 10_000


class PacketResamplerCalculator(penstock.Calculator):
    """Writes `frame_rate` packets for each second of the stream: repeats packets, or leaves some out.

    Output k is at first + k / frame_rate, in whole microseconds, and is the packet nearest to that, the
    later one of two; if there is no packet within half a period, the last one before it. `first` is the
    first packet's timestamp, or the nearest time of the grid that contains `base_timestamp`. At 1 per
    second, in seconds::

        in   0 0.4 1.1 . . 3.2 3.7
        out  0@0 1.1@1 1.1@2 3.2@3 3.7@4

    A packet is written once a later one shows that it is the nearest, so the output is up to a period
    late; at the end the last packet is still written if it is nearest to the next output
    (`flush_last_packet`, default true).

    With `jitter` above 0, at most 1, distances vary at random by that share of a period. Side packet SEED,
    a text, determines the random numbers: the same seed gives the same choice on every machine. A stream
    too short for a first output gives one of its packets at random. With `jitter_with_reflection` there
    is one output in each period counted from the first packet; with `reproducible_sampling` periods count
    from `base_timestamp`, or 0, so a part of a stream gets the same samples as within the whole.

    Outputs before `start_time`, or at or after `end_time`, are left out; with `round_limits` each limit
    is moved outwards by half a period. `frame_rate` must be given, above 0 and at most 1000000;
    `max_frame_rate`, if above 0, caps it.

    Ports are untagged or DATA. VIDEO_HEADER (optional) has one VideoHeader, at PRESTREAM;
    with `use_input_frame_rate` its rate is taken instead of frame_rate. It is forwarded at the first
    packet, with the rate of the output, to output VIDEO_HEADER (optional). The header of the input is
    forwarded if `output_header` is PASS_HEADER, and with the rate of the output if it is
    UPDATE_VIDEO_HEADER. Side packet OPTIONS, a PacketResamplerCalculatorOptions or a CalculatorOptions,
    replaces options of the node.

    A gap of more than `max_periods` periods (default 1000000) between two packets ends the run with a
    ResourceExhaustedError: a single wrong timestamp would otherwise fill the memory.

    Packets that are never written appear in the ledger as "not sampled". There is no timestamp offset;
    the bound advances as outputs become known. The output does not depend on the order of arrival.

    Source of the behaviour: MediaPipe `calculators/core/packet_resampler_calculator.cc`. Its jitter needs
    a source of random numbers that the reference does not include; the numbers here are Penstock's own.

    Example config::

        node {
          calculator: "PacketResamplerCalculator"
          input_stream: "frames"
          output_stream: "frames_at_24_per_second"
          options {
            [penstock.PacketResamplerCalculatorOptions.ext] { frame_rate: 24 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give the output the type of the input.

        Raises:
            InvalidArgumentError: the options contradict each other, or need a SEED.
        """
        data = cc.inputs["DATA" if "DATA" in cc.inputs else 0].set_any("packets to resample")
        out = cc.outputs["DATA" if "DATA" in cc.outputs else 0]
        out.set_same_as(data, "the packets at new timestamps")
        for ports in (cc.inputs, cc.outputs):
            ports["VIDEO_HEADER"].set(VideoHeader, "description of the stream, at PRESTREAM").optional()
        declare_options_packet(cc, PacketResamplerCalculatorOptions)
        sides = cc.input_side_packets
        sides["SEED"].set(str, "determines the random numbers for jitter").optional()
        if TAG not in sides:
            options = cc.options(PacketResamplerCalculatorOptions)
            _check(options, has_seed="SEED" in sides)
            _rate(options, options.frame_rate)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Gather the options, and forward the header.

        Raises:
            InvalidArgumentError: the options contradict each other, or need a SEED.
            PacketTypeError: the header to update is not a VideoHeader.
        """
        options = self._options = merged_options(cc, PacketResamplerCalculatorOptions)
        sides = cc.input_side_packets
        _check(options, has_seed="SEED" in sides)
        self._seed = sides["SEED"].get(str) if "SEED" in sides else ""
        self._data = _data(cc.inputs)
        self._out = _data(cc.outputs)
        self._rate = _rate(options, options.frame_rate)
        self._video_header = VideoHeader(frame_rate=self._rate)
        #: Made at the first packet, when the rate is known.
        self._sampling: Sampling | None = None
        #: Packets that have not been written, but may be later.
        self._waiting: list[Packet] = []
        header = cc.inputs[self._data].header
        if options.output_header != _NO_HEADER and not header.is_empty():
            if options.output_header == _UPDATED_HEADER:
                self._video_header = attrs.evolve(header.get(VideoHeader), frame_rate=self._rate)
                header = Packet(self._video_header)
            cc.outputs[self._out].set_header(header)

    def process(self, cc: CalculatorContext) -> Awaitable[None] | None:
        """Take a packet, and write the outputs that it determines.

        Returns:
            An awaitable that writes the rest, if there are many outputs.

        Raises:
            InvalidArgumentError: a packet is at a special timestamp, or a VideoHeader is not at PRESTREAM.
            ResourceExhaustedError: there are more than `max_periods` periods since the last packet.
        """
        if "VIDEO_HEADER" in cc.inputs and not cc.inputs["VIDEO_HEADER"].is_empty():
            self._take_header(cc.inputs["VIDEO_HEADER"])
        port = cc.inputs[self._data]
        packet = port.packet
        if packet.is_empty():
            return None
        if not MIN <= packet.stamp <= MAX:
            raise InvalidArgumentError(
                f"stream {port.name!r}: a packet at {show(packet.stamp)} cannot be resampled; only packets "
                "from Timestamp.MIN to Timestamp.MAX can",
                stream=port.name,
                timestamp=packet.stamp,
            )
        if self._sampling is None:
            self._sampling = self._begin()
            self._sampling.max_periods = self._options.max_periods
            if "VIDEO_HEADER" in cc.outputs:
                cc.outputs["VIDEO_HEADER"].add(self._video_header, PRESTREAM)
        samples = self._sampling.take(packet)
        self._waiting.append(packet)
        if self._write(cc, islice(samples, _AT_ONCE)) == _AT_ONCE:
            return self._go_on(cc, samples, self._sampling)
        self._settle(cc, self._sampling)
        return None

    async def _go_on(self, cc: CalculatorContext, samples: Iterator[Sample], sampling: Sampling) -> None:
        """Write the rest of the samples; other coroutines, and a cancel, have their turn in between."""
        while True:
            await _turn()
            if self._write(cc, islice(samples, _AT_ONCE)) < _AT_ONCE:
                break
        self._settle(cc, sampling)

    def _settle(self, cc: CalculatorContext, sampling: Sampling) -> None:
        """Count packets that will not be written, and set the bound."""
        self._forget(cc, sampling.held())
        output = cc.outputs[self._out]
        if sampling.bound > output.bound:
            output.set_next_timestamp_bound(sampling.bound)

    def close(self, cc: CalculatorContext) -> None:
        """Write the outputs that remain at the end of the stream."""
        if self._sampling is not None:
            self._write(cc, self._sampling.finish())
        self._forget(cc, ())

    def _take_header(self, port: Input) -> None:
        if port.packet.stamp != PRESTREAM or self._sampling is not None:
            raise InvalidArgumentError(
                f"stream {port.name!r}: the resampler gets a VideoHeader at {show(port.packet.stamp)}, but "
                "it must come at Timestamp::PreStream(), before the first packet",
                stream=port.name,
                timestamp=port.packet.stamp,
            )
        header: VideoHeader = port.payload
        if self._options.use_input_frame_rate:
            self._rate = _rate(self._options, header.frame_rate)
        self._video_header = attrs.evolve(header, frame_rate=self._rate)

    def _begin(self) -> Sampling:
        """Return the sampling that the options select."""
        options, rate = self._options, self._rate
        base = options.base_timestamp if options.HasField("base_timestamp") else None
        if not _is_random(options):
            return EvenSampling(rate, base, flush=options.flush_last_packet)
        period, spread = int(SECOND / rate), int(SECOND * options.jitter / rate)
        random = SeededRandom(self._seed, "distances")
        if options.reproducible_sampling:
            return ReproducibleSampling(period, spread, base or 0, random)
        choice = SeededRandom(self._seed, "choice")
        if options.jitter_with_reflection:
            return ReflectedSampling(period, spread, random, choice)
        return JitteredSampling(period, options.jitter, random, choice)

    def _write(self, cc: CalculatorContext, samples: Iterable[Sample]) -> int:
        """Write the samples within the limits; return how many there were, also outside of these."""
        options, output = self._options, cc.outputs[self._out]
        margin = int(SECOND / self._rate) // 2 if options.round_limits else 0
        start = options.start_time - margin if options.HasField("start_time") else MIN
        end = options.end_time + margin if options.HasField("end_time") else MAX
        count = 0
        for packet, stamp in samples:
            count += 1
            if start <= stamp < end:
                output.add_packet(packet.at(stamp))
                self._waiting = [one for one in self._waiting if one is not packet]
        return count

    def _forget(self, cc: CalculatorContext, held: tuple[Packet, ...]) -> None:
        """Count packets that will never be written as dropped."""
        gone = [one for one in self._waiting if not any(one is other for other in held)]
        cc.inputs[self._data].count_dropped("not sampled", len(gone))
        self._waiting = [one for one in self._waiting if not any(one is other for other in gone)]


@types.coroutine
def _turn() -> Generator[None, None, None]:
    """Let the event loop do something else, as `asyncio.sleep(0)` does."""
    yield


def _data(ports: Ports[Any]) -> PortKey:
    return "DATA" if "DATA" in ports else 0


def _is_random(options: PacketResamplerCalculatorOptions) -> bool:
    return options.jitter != 0 or options.reproducible_sampling


def _check(options: PacketResamplerCalculatorOptions, *, has_seed: bool) -> None:
    """Accept options that can be combined."""
    if not 0 <= options.jitter <= 1:
        raise InvalidArgumentError(f"the resampler's jitter is {options.jitter}, but must be from 0 to 1")
    if _is_random(options) and not has_seed:
        raise InvalidArgumentError(
            "jitter and reproducible_sampling need random numbers, but there is no side packet SEED; "
            "connect one, a text that determines them"
        )
    if not 1 <= options.max_periods <= _MOST_PERIODS:
        raise InvalidArgumentError(
            f"the resampler's max_periods is {options.max_periods}, but must be from 1 to {_MOST_PERIODS}"
        )
    if options.output_header == _UPDATED_HEADER and options.max_frame_rate > 0:
        raise InvalidArgumentError(
            "the resampler cannot combine output_header: UPDATE_VIDEO_HEADER with max_frame_rate; remove "
            "one of the two"
        )


def _rate(options: PacketResamplerCalculatorOptions, rate: float) -> float:
    """Return a rate under the cap, if there is one."""
    if options.max_frame_rate > 0:
        rate = min(rate, options.max_frame_rate)
    if not 0 < rate <= SECOND:
        raise InvalidArgumentError(
            f"the resampler's frame_rate is {rate}, but must be above 0 and at most {SECOND}"
        )
    return rate
