"""The options of `LiveVideoCalculator`."""

from __future__ import annotations

import enum
import math
from typing import Final

import attrs

from penstock.errors import InvalidArgumentError
from penstock_video.source import MAX_THREADS

#: The longest that an option may let a source wait: a day.
_LONGEST_S: Final = 86_400.0
#: Frames that may wait at most: they are whole pictures.
_MOST_WAITING: Final = 1024


class Transport(enum.Enum):
    """How an RTSP server sends frames."""

    TCP = "TCP"
    UDP = "UDP"


class SizeChange(enum.Enum):
    """What becomes of frames of another size than the first one."""

    SCALE = "SCALE"
    SEND = "SEND"
    FAIL = "FAIL"


@attrs.frozen(kw_only=True)
class LiveVideoCalculatorOptions:
    """What to read, how long to wait, and what to do when a camera is lost.

    Attributes:
        source: as the side packet SOURCE, which goes before. It must not have a password.
        open_timeout_seconds: until a camera is connected and known.
        read_timeout_seconds: without a frame, before a camera counts as lost.
        reconnects: attempts in a row to connect a lost camera again before the run fails; 0: a lost camera is
            an error at once; -1: any number.
        first_delay_seconds: before the first attempt; doubled with each, less a random part of up to a half.
        longest_delay_seconds: between attempts.
        must_be_there: whether a camera that cannot be read when the run starts is an error at once; false: it
            is one that was lost, and the stream has no header.
        max_waiting: frames that may wait for the graph; of more, the oldest are dropped.
        bound_lag_seconds: without frames, the timestamp bound follows the wall clock at this distance.
        transport: of RTSP: TCP, or UDP, which loses frames but never waits for lost parts.
        size_changes: SCALE frames of another size to the first one's; SEND them as they are; FAIL.
        decoder_threads: 0: libav decides.
    """

    source: str = ""
    open_timeout_seconds: float = 10.0
    read_timeout_seconds: float = 5.0
    reconnects: int = 20
    first_delay_seconds: float = 0.5
    longest_delay_seconds: float = 10.0
    must_be_there: bool = True
    max_waiting: int = 1
    bound_lag_seconds: float = 0.5
    transport: Transport = Transport.TCP
    size_changes: SizeChange = SizeChange.SCALE
    decoder_threads: int = 0

    def __attrs_post_init__(self) -> None:
        for name in ("open_timeout_seconds", "read_timeout_seconds"):
            value = getattr(self, name)
            if not 0 < value <= _LONGEST_S:
                raise InvalidArgumentError(
                    f"live option {name} is {value}; it must be above 0 and at most {_LONGEST_S:g}"
                )
        for name in ("first_delay_seconds", "longest_delay_seconds", "bound_lag_seconds"):
            value = getattr(self, name)
            if not 0 <= value <= _LONGEST_S or math.isnan(value):
                raise InvalidArgumentError(
                    f"live option {name} is {value}; it must be from 0 to {_LONGEST_S:g}"
                )
        if self.reconnects < -1:
            raise InvalidArgumentError(
                f"live option reconnects is {self.reconnects}; it must be a number of attempts, or -1 for "
                "any number"
            )
        if not 1 <= self.max_waiting <= _MOST_WAITING:
            raise InvalidArgumentError(
                f"live option max_waiting is {self.max_waiting}; it must be from 1 to {_MOST_WAITING}"
            )
        if not 0 <= self.decoder_threads <= MAX_THREADS:
            raise InvalidArgumentError(
                f"live option decoder_threads is {self.decoder_threads}; it must be from 0 to {MAX_THREADS}"
            )
