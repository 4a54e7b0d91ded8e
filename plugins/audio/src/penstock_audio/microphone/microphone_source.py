"""MicrophoneSourceCalculator: sends the sound of a microphone as it is heard."""

from __future__ import annotations

import math
import time
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs

import penstock
from penstock import STOP, Packet
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock.log import get_logger, place
from penstock_audio.microphone.sound_devices import check_microphone, device_of, said_by, sounddevice
from penstock_audio.series.time_series import MICROSECONDS, check_count, microseconds_of
from penstock_formats import Matrix, TimeSeriesHeader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop

_logger = get_logger(__name__)
#: How long a call waits for sound; the run can end in between.
_WAIT_S: Final = 0.05
#: Sound that waits for the graph; more is dropped.
_KEPT_S: Final = 10.0
#: Where the clock says that counted times are behind by more, samples are missing.
_LATE_US: Final = 100_000


@attrs.frozen(kw_only=True)
class MicrophoneSourceCalculatorOptions:
    """Which microphone, and how it is heard.

    Attributes:
        device: number of the device, or a part of its name; "": the default one of the system.
        sample_rate: samples a second; 0: the device's usual rate.
        num_channels: 1 or more, at most as many as the device has.
        packet_duration_seconds: length of a packet.
        duration_seconds: the source ends after so much sound; 0: it does not end.
    """

    device: str = ""
    sample_rate: float = 0.0
    num_channels: int = 1
    packet_duration_seconds: float = 0.02
    duration_seconds: float = 0.0

    def __attrs_post_init__(self) -> None:
        for name in ("sample_rate", "duration_seconds"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InvalidArgumentError(
                    f"the microphone's {name} is {getattr(self, name)}; it must be at least 0"
                )
        if not 0 < self.packet_duration_seconds <= _KEPT_S:
            raise InvalidArgumentError(
                f"the microphone's packet_duration_seconds is {self.packet_duration_seconds}; it must be "
                f"above 0 and at most {_KEPT_S:g}"
            )
        check_count("num_channels", self.num_channels, 1, 2**14)


class _Block(NamedTuple):
    """Sound as PortAudio hands it over: samples, when they were heard, whether some before are missing."""

    samples: NDArray[np.float32]
    heard_us: int
    is_after_gap: bool


def _access_name(options: MicrophoneSourceCalculatorOptions) -> str:
    """Return what an `Access` calls the device: "microphone", with its number or name where that is given."""
    return f"microphone {options.device}".strip()


class MicrophoneSourceCalculator(penstock.Calculator):
    """Sends the sound of a microphone as it is heard.

    Output: AUDIO (Matrix, channels by samples, float32 from -1 to 1, with a TimeSeriesHeader). It is a source
    and does not end before the run does, unless `duration_seconds` is set.

    Timestamps: the first packet has the time at which its first sample was heard, in microseconds since 1970,
    as frames of a camera have; later ones are counted in samples. Where the sound system or a graph that is
    too slow has lost samples, counting starts again at the time of the next ones, and the log says how much
    is missing.

    Options `MicrophoneSourceCalculatorOptions`: `device` (its number or a part of its name; by default the
    system's), `sample_rate` (0: the device's usual one), `num_channels` (1), `packet_duration_seconds`
    (0.02), `duration_seconds` (0: endless). It is a calculator of Penstock's own.

    Raises in `open`, before any packet: FailedPreconditionError where sounddevice or PortAudio is missing,
    with the command that brings it; InvalidArgumentError for a device, rate or channels that cannot be had,
    with the devices that there are. In `process`: UnavailableError where the device stops.

    Example config::

        node {
          calculator: "MicrophoneSourceCalculator"
          output_stream: "AUDIO:samples"
          node_options {
            [type.googleapis.com/penstock_audio.MicrophoneSourceCalculatorOptions] { sample_rate: 16000 }
          }
        }
    """

    Options = MicrophoneSourceCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the output."""
        cc.outputs["AUDIO"].set(Matrix, "the sound, a series")
        device = _access_name(cc.options(MicrophoneSourceCalculatorOptions))
        cc.declare(may_skip=False, stateless=False, is_live=True, cost="high", devices=[device])

    def open(self, cc: CalculatorContext) -> None:
        """Begin to listen, and send the header.

        Raises:
            FailedPreconditionError: what is needed is not installed; has the command that brings it.
            InvalidArgumentError: there is no such device, or it does not have this rate and these channels.
        """
        options = cc.options(MicrophoneSourceCalculatorOptions)
        cc.service(ACCESS).using("devices", _access_name(options))
        self._node = cc.node_name
        sd = sounddevice()
        name = check_microphone(options.device)
        self._blocks: Queue[_Block] = Queue(1)
        self._dropped = False
        try:
            device = device_of(options.device)
            rate = options.sample_rate or float(sd.query_devices(device, "input")["default_samplerate"])
            length = max(round(options.packet_duration_seconds * rate), 1)
            self._blocks = Queue(max(int(_KEPT_S * rate / length), 1))
            self._stream = sd.InputStream(
                samplerate=rate,
                blocksize=length,
                device=device,
                channels=options.num_channels,
                dtype="float32",
                callback=self._hear,
            )
        except (ValueError, sd.PortAudioError) as error:
            wanted = f"{options.sample_rate:g}" if options.sample_rate else "its usual"
            raise InvalidArgumentError(
                f"the microphone source cannot hear {name!r} with {options.num_channels} channels at "
                f"{wanted} Hz: {said_by(error)}; change sample_rate or num_channels, or choose another device"
            ) from error
        self._rate = rate
        self._left = round(options.duration_seconds * rate) if options.duration_seconds else None
        #: The next sample comes at the time of `_first` plus these samples; None before the first packet.
        self._first: int | None = None
        self._samples = 0
        header = TimeSeriesHeader(
            sample_rate=rate, num_channels=options.num_channels, num_samples=length, packet_rate=rate / length
        )
        if self._left is not None:
            header.ClearField("num_samples")  # the last packet is shorter
        cc.outputs["AUDIO"].set_header(Packet(header))
        try:
            self._stream.start()
        except sd.PortAudioError as error:
            self._stream.close()
            raise InvalidArgumentError(
                f"microphone {name!r} cannot be started: {said_by(error)}; is another program using it?"
            ) from error

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Send a packet, if there is one within a moment.

        Raises:
            UnavailableError: the device has stopped.
        """
        if self._left == 0:
            return STOP
        try:
            block = self._blocks.get(timeout=_WAIT_S)
        except Empty:
            if not self._stream.active:
                raise UnavailableError("the microphone has stopped; is it still connected?") from None
            return None
        samples = block.samples if self._left is None else block.samples[:, : self._left]
        cc.outputs["AUDIO"].add(Matrix(samples), self._stamp_of(block))
        self._samples += samples.shape[1]
        if self._left is not None:
            self._left -= samples.shape[1]
        return None

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Stop listening."""
        self._stream.close()

    def _hear(self, heard: NDArray[np.float32], _count: int, times: Any, status: Any) -> None:
        """Keep a block; PortAudio calls this on a thread of its own."""
        before_s = times.currentTime - times.inputBufferAdcTime if times.inputBufferAdcTime else 0.0
        if not 0 < before_s < _KEPT_S:  # some systems do not say when
            before_s = len(heard) / self._stream.samplerate
        now_us = time.time_ns() // 1000 - round(before_s * MICROSECONDS)
        block = _Block(heard.T.copy(), now_us, bool(status.input_overflow) or self._dropped)
        try:
            self._blocks.put_nowait(block)
        except Full:
            self._dropped = True
        else:
            self._dropped = False

    def _stamp_of(self, block: _Block) -> int:
        """Return the time of a block, and count from there on where samples are missing."""
        if self._first is None:
            self._first = block.heard_us
        expected = self._first + microseconds_of(self._samples, self._rate)
        late = block.heard_us - expected
        if late > _LATE_US or (block.is_after_gap and late > 0):
            _logger.warning(
                "%.3f s of sound are missing; is the graph too slow?",
                late / MICROSECONDS,
                extra=place(node=self._node, stream="AUDIO", timestamp=block.heard_us),
            )
            self._first, self._samples = block.heard_us, 0
            return block.heard_us
        return expected
