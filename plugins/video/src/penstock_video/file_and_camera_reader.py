"""Video files and cameras, read with libav through PyAV.

One thread at a time reads a source, but not always the same one. libav reads, decodes and converts
without the GIL.
"""

from __future__ import annotations

import math
import os
import sys
from time import time_ns
from typing import TYPE_CHECKING, Any, Final

import av
import av.error

from penstock.access import EVERYTHING
from penstock.errors import InvalidArgumentError, PenstockError
from penstock.log import get_logger, place
from penstock_formats import ImageFormat, VideoHeader
from penstock_formats.api import libav_options
from penstock_video.pixel_formats import FrameFormat, array_of, rotated
from penstock_video.source import MICROSECONDS
from penstock_video.timeline import LATE, USUAL_PERIOD_US, WRAPPING, Timeline

if TYPE_CHECKING:
    from collections.abc import Generator

    from av.container import InputContainer
    from av.video.stream import VideoStream
    from numpy.typing import NDArray

    from penstock.access import Access

_LOG: Final = get_logger("video")
#: libav's name of a kind of camera → options. Source: FFmpeg's documentation, "Input Devices".
_OPTIONS: Final[dict[str, dict[str, str]]] = {
    # A camera's times count from 1970, even where the driver's count from another moment.
    "v4l2": {"timestamps": "abs"},
    # The usual rate, 29.97, is one that few cameras of Apple's computers have.
    "avfoundation": {"framerate": "30"},
    # Windows drops frames where the usual buffer of 3 MB holds less than one.
    "dshow": {"rtbufsize": "256M"},
}
#: Those whose times do not count from 1970.
_OWN_CLOCKS: Final = ("avfoundation", "dshow")
#: Why a packet is dropped, as the ledger says.
BROKEN: Final = "cannot be decoded"


class FileSource:
    """The frames of a file's first video stream, in presentation order.

    Times are the frames' presentation times in the file, in microseconds; a frame without one comes
    one frame period after the frame before. Frames whose time is not later than the one before are
    dropped, as in the reference, unless times go on, and so are packets that cannot be decoded; the log says
    how many, and `take_dropped` tells. Frames are rotated as the file's metadata says, and each has its own
    size; the log says once where that changes.

    Args:
        path: a file, or an address with "://" for libav.
        threads: of the decoder; 0: libav decides.
        device: libav's name of the kind of device that `path` is; None: a file.
        node: name of the node that reads the file, for the log.
        format: of the frames; None for the one that is nearest to the file's.
        goes_on: times that start again begin a new part, see `Timeline`.

    Raises:
        InvalidArgumentError: there is no such file, it cannot be read, it is no video, or not one
            frame of it can be decoded. No file stays open.
    """

    def __init__(  # noqa: PLR0913  # an argument for each option
        self,
        path: str | os.PathLike[str],
        threads: int = 0,
        *,
        device: str | None = None,
        node: str | None = None,
        access: Access = EVERYTHING,
        format: ImageFormat | None = ImageFormat.SRGB,  # noqa: A002  # as of ImageFrame
        goes_on: bool = False,
    ) -> None:
        self._name = os.fspath(path)
        self._node = node
        self._format = FrameFormat(format, f"video file {self._name!r}", node)
        # What is no file: addresses, and devices that have a name of their own.
        is_file = "://" not in self._name and device in {None, "v4l2"}
        if is_file and not os.path.exists(self._name):  # noqa: PTH110  # a str by now
            raise InvalidArgumentError(
                f"video file {self._name!r} cannot be read: it does not exist; check INPUT_FILE_PATH"
            )
        self._dropped = {LATE: 0, BROKEN: 0}
        #: How many of them `take_dropped` has told.
        self._told: dict[str, int] = {}
        #: Added to the times of a device whose clock does not count from 1970; None until its first frame.
        self._shift: int | None = None if device in _OWN_CLOCKS else 0
        self._first: av.VideoFrame | None = None
        self._container = _opened(self._name, device, access)
        try:
            self._stream = _video_stream(self._container, self._name)
            # Frame threads delay the output by as many frames as there are threads: too late for a camera.
            self._stream.thread_type = "AUTO" if device is None else "SLICE"
            self._stream.thread_count = threads
            self._frames = self._all_frames()
            self._read_first()
            rate = self._stream.average_rate or self._stream.guessed_rate
            self._times = Timeline(
                round(MICROSECONDS / rate) if rate else USUAL_PERIOD_US,
                goes_on=goes_on,
                wraps=self._container.format.name in WRAPPING,
            )
        except BaseException:
            self._container.close()
            raise

    @property
    def header(self) -> VideoHeader:
        """Size of the frames as `read` returns them, mean rate, and duration; 0 where the file has none.

        The video stream has the duration. Where a file has one for all its streams together, as mkv and flv,
        this is rounded to whole frames, as in the reference.
        """
        stream = self._stream
        rate = float(stream.average_rate or stream.guessed_rate or 0)
        duration = 0.0
        if stream.duration is not None and stream.time_base is not None:
            duration = float(stream.duration * stream.time_base)
        elif self._container.duration is not None:
            duration = self._container.duration / MICROSECONDS
            if rate:
                duration = math.floor(duration * rate + 0.5) / rate
        height, width = self._size
        return VideoHeader(self._format.kind or ImageFormat.SRGB, width, height, rate, max(duration, 0.0))

    def read(self) -> tuple[int, NDArray[Any]] | None:
        """Return the next frame (see `Source`), or None after the last.

        The array is a view of libav's memory and keeps that memory alive.

        Raises:
            PenstockError: reading failed. After that the source can only be closed.
        """
        while True:
            frame, self._first = self._first or self._decoded(), None
            if frame is None:
                return None
            time = self._times.time_of(frame)
            if time is None:
                self._dropped[LATE] += 1
                continue
            if self._shift is None:
                self._shift = time_ns() // 1000 - time
            picture = self._format.picture(frame)
            if picture.shape[:2] != self._size and not self._has_told_size:
                self._tell_size(time, picture.shape)
            return time + self._shift, picture

    def take_dropped(self) -> dict[str, int]:
        """Return what was dropped since the last call: reason → number of frames or packets."""
        told, self._told = self._told, dict(self._dropped)
        return {
            why: count - told.get(why, 0) for why, count in self._told.items() if count > told.get(why, 0)
        }

    def close(self) -> None:
        """Close the file, and log how many frames and packets were dropped, and how many parts it had."""
        self._frames.close()
        self._container.close()
        late, broken = self._dropped[LATE], self._dropped[BROKEN]
        if late or broken:
            _LOG.warning(
                "%r: dropped %d frames not later than the one before and %d packets that cannot be decoded",
                self._name, late, broken,
                extra=place(self._node),
            )  # fmt: skip
        if self._times.parts:
            _LOG.info(
                "%r: times started again %d times, and went on",
                self._name, self._times.parts,
                extra=place(self._node),
            )  # fmt: skip

    def _tell_size(self, time: int, shape: tuple[int, ...]) -> None:
        self._has_told_size = True
        _LOG.warning(
            "%r: frames are %dx%d from %d us on, and were %dx%d; each frame has its own size",
            self._name, shape[1], shape[0], time, self._size[1], self._size[0],
            extra=place(self._node),
        )  # fmt: skip

    def _read_first(self) -> None:
        """Decode the first frame, which shows in `open` whether the file can be decoded."""
        self._first = self._decoded()
        if self._first is None:
            raise InvalidArgumentError(
                f"video file {self._name!r} cannot be read: not one frame can be decoded "
                f"({self._dropped[BROKEN]} broken packets); the file is empty or damaged"
            )
        self._size = self._format.picture(self._first).shape[:2]
        self._has_told_size = False

    def _all_frames(self) -> Generator[av.VideoFrame]:
        """Decode packet by packet: a broken packet loses only its own frames."""
        for packet in self._container.demux(self._stream):
            try:
                frames = packet.decode()
            except av.error.InvalidDataError:
                self._dropped[BROKEN] += 1
                continue
            yield from frames

    def _decoded(self) -> av.VideoFrame | None:
        try:
            return next(self._frames, None)
        except (av.error.FFmpegError, OSError) as error:
            raise PenstockError(
                f"video file {self._name!r} cannot be read any further: {error.strerror}"
            ) from error


def camera_source(
    index: int,
    threads: int = 0,
    format: ImageFormat | None = ImageFormat.SRGB,  # noqa: A002  # as of ImageFrame
) -> FileSource:
    """Open a camera. Its frames carry their capture time in microseconds since 1970.

    Linux: the kernel takes the times when a frame comes from the sensor's driver; where they count from the
    machine's start libav converts them to times since 1970. macOS and Windows: libav's times of the device
    count from another moment; the first frame gets the time at which it was read, and the others keep their
    distances to it.

    Args:
        index: as of `camera_device`.
        threads: as of `FileSource`.
        format: as of `FileSource`.

    Raises:
        InvalidArgumentError: as `camera_device`; or it cannot be opened, for example because another program
            uses it. No device stays open.
    """
    name, device = camera_device(index)
    return FileSource(name, threads, device=device, format=format)


def device_options(device: str) -> dict[str, str]:
    """Return the options of libav for a kind of device."""
    return dict(_OPTIONS[device])


def camera_device(index: int) -> tuple[str, str]:
    """Return libav's name of a camera, and of the kind of device that it is.

    Args:
        index: of Linux's device `/dev/videoN`; on macOS of AVFoundation's device, on Windows of DirectShow's
            video device, each from 0 on.

    Raises:
        InvalidArgumentError: this system has no cameras that libav reads, or there is no such camera.
    """
    system = str(sys.platform)  # a type checker takes it for the system that it runs on
    if system.startswith("linux"):
        device = f"/dev/video{index}"
        if not os.path.exists(device):  # noqa: PTH110  # a str
            raise InvalidArgumentError(
                f"camera {index} does not exist: there is no device file {device!r}; check camera_index"
            )
        return device, "v4l2"
    if system == "darwin":
        return f"{index}:none", "avfoundation"
    if system == "win32":
        return f"video={_name_of_camera(index)}", "dshow"
    raise InvalidArgumentError(
        f"camera {index} cannot be read on {system!r}: cameras work on Linux, macOS and Windows; give a file "
        "as INPUT_FILE_PATH, or use test_pattern"
    )


def _name_of_camera(index: int) -> str:
    """Return the name of a camera in DirectShow."""
    if not hasattr(av, "enumerate_input_devices"):
        raise InvalidArgumentError(
            f"camera {index} cannot be found: PyAV {av.__version__} does not list devices; pip install "
            "--upgrade av"
        )
    found = [one.name for one in av.enumerate_input_devices("dshow") if "video" in one.media_types]
    if index >= len(found):
        known = ", ".join(f"{number}: {name!r}" for number, name in enumerate(found)) or "none"
        raise InvalidArgumentError(
            f"camera {index} does not exist; the cameras are {known}; check camera_index"
        )
    name: str = found[index]
    return name


def pixels(frame: av.VideoFrame) -> NDArray[Any]:
    """Return a frame as (H, W, 3) uint8, RGB, rotated as its file says; as `FrameFormat.picture`."""
    return rotated(array_of(frame, ImageFormat.SRGB), frame)


def _opened(name: str, device: str | None, access: Access) -> InputContainer:
    options = libav_options(access, name) if device is None else _OPTIONS[device]
    try:
        return av.open(name, "r", format=device, options=options)
    except (av.error.FFmpegError, OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidArgumentError(
            f"video file {name!r} cannot be read as a video: {why}; check the file and its permissions"
        ) from error


def _video_stream(container: InputContainer, name: str) -> VideoStream:
    if not container.streams.video:
        kinds = ", ".join(stream.type for stream in container.streams) or "nothing"
        raise InvalidArgumentError(f"file {name!r} has no video stream, only {kinds}; give a video file")
    return container.streams.video[0]
