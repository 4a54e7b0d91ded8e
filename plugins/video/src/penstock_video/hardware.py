"""Encoders of graphics cards and other devices: their names, whether they work here, and what else does.

libav has their names on machines without the device too. Only opening one tells whether it works.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import av
import av.error
from av.codec import Codec

from penstock_video import libav_encoders
from penstock_video.frames import pixel_format

#: What the names of these encoders end with.
_KINDS: Final = ("nvenc", "vaapi", "videotoolbox", "qsv", "amf", "mf", "v4l2m2m", "vulkan")
#: Kinds that only take frames in the memory of the device → what libav calls it, to copy frames there.
_COPIED_TO: Final = {"vaapi": "vaapi", "vulkan": "vulkan"}
#: What their names begin with → the encoder in software for the same format.
_SOFTWARE: Final = {
    "h264": "libx264", "hevc": "libx265", "av1": "libsvtav1", "vp9": "libvpx-vp9", "vp8": "libvpx",
    "mjpeg": "mjpeg", "mpeg4": "mpeg4",
}  # fmt: skip
#: Tried where the size of the frames is not known yet.
USUAL_SIZE: Final = (1280, 720)


def is_hardware(name: str) -> bool:
    """Return whether a name, such as "h264_nvenc", stands for an encoder of a device."""
    makes, _, kind = name.partition("_")
    return bool(makes) and kind in _KINDS


def on_device(name: str) -> dict[str, Any]:
    """Return what PyAV needs to copy frames to an encoder's device, as keyword arguments of a stream.

    It is empty for encoders in software, and for devices whose encoder copies the frames itself.

    Raises:
        ValueError: this PyAV cannot do it.
    """
    device = _COPIED_TO.get(name.rpartition("_")[2])
    if device is None or not is_hardware(name):
        return {}
    try:
        from av.codec.hwaccel import HWAccel  # not in each PyAV that works otherwise
    except ImportError as error:
        raise ValueError(f"PyAV {av.__version__} copies no frames to a hardware device") from error
    return {"hwaccel": HWAccel(device)}


def why_not(name: str, size: tuple[int, int], fps: float) -> str:
    """Open an encoder, and return why that failed; "" where it works. Nothing stays open.

    Args:
        name: libav's name of the encoder.
        size: (width, height) of the frames in pixels.
        fps: their rate.
    """
    if not libav_encoders.is_video_encoder(name):
        return "this build of libav has no such encoder"
    width, height = (side + side % 2 for side in size)
    try:
        context: Any = av.CodecContext.create(Codec(name, "w"), "w", **on_device(name))
        context.width, context.height, context.pix_fmt = width, height, pixel_format(name)
        context.framerate = Fraction(fps).limit_denominator(1001)
        context.time_base = 1 / context.framerate
        context.bit_rate = 1_000_000
        context.open()
    except (av.error.FFmpegError, OSError, ValueError, TypeError, NotImplementedError) as error:
        said = getattr(error, "strerror", None) or str(error)
        return f"libav says {said!r}: the device or its driver is missing, or it takes no {width}x{height}"
    return ""


def in_software(name: str, suffix: str) -> str:
    """Return the encoder in software for the format that a hardware encoder makes, or the default one.

    Args:
        name: libav's name of the hardware encoder.
        suffix: of the file.
    """
    found = _SOFTWARE.get(name.partition("_")[0], "")
    return (
        found if found and libav_encoders.is_video_encoder(found) else libav_encoders.default_encoder(suffix)
    )
