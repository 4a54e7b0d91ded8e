"""libav's video encoders: their names, their licences, and the options that we give them."""

from __future__ import annotations

import math
import os
from typing import Final, NamedTuple

import av.codec

from penstock.errors import InvalidArgumentError

#: Four-letter codes, as OpenCV takes them, and the encoders that make such streams.
FOURCC: Final = {
    **dict.fromkeys(("avc1", "h264", "x264"), "libx264"),
    **dict.fromkeys(("hevc", "hvc1", "hev1"), "libx265"),
    **dict.fromkeys(("mp4v", "xvid", "divx", "fmp4"), "mpeg4"),
    **dict.fromkeys(("pim1", "mpg1"), "mpeg1video"),
    "mjpg": "mjpeg",
    "vp80": "libvpx",
    "vp90": "libvpx-vp9",
    "av01": "libsvtav1",
}
#: The licence of the library that an encoder belongs to, as its publisher states it.
_LICENCES: Final = {
    **dict.fromkeys(("libx264", "libx264rgb", "libx265"), "GPL-2.0-or-later"),
    **dict.fromkeys(("libvpx", "libvpx-vp9"), "BSD-3-Clause"),
    "libsvtav1": "BSD-3-Clause-Clear",
    "libopenh264": "BSD-2-Clause",
    "libaom-av1": "BSD-2-Clause",
}
_WITH_PRESET: Final = ("libx264", "libx265")
#: Constant quality of each encoder that has it, where none is asked for: about the same picture with each.
_USUAL_CRF: Final = {"libx264": 23.0, "libx265": 28.0, "libvpx-vp9": 33.0, "libsvtav1": 35.0}
#: Ending of a file → encoders for it, the best first; "": of any other file. H.264 plays everywhere, and
#: libx264 is in PyAV's wheels; builds without GPL libraries lack it. AV1 by SVT-AV1 and VP9 play in browsers,
#: and mov cannot hold them. mpeg4 is FFmpeg's own and in each build, but is 4 to 7 dB worse. webm holds
#: neither H.264 nor MPEG-4.
_OPEN: Final = ("libsvtav1", "libvpx-vp9")
_H264: Final = ("libx264", "mpeg4")
_USUAL: Final = {
    **dict.fromkeys((".mp4", ".mkv"), ("libx264", *_OPEN, "mpeg4")),
    ".webm": ("libvpx-vp9", "libsvtav1"),
    ".gif": ("gif",),
    "": _H264,
}
#: Longest time that an encoder may hold frames back, seconds.
_HELD_BACK: Final = 0.9
#: Frames that x264 looks ahead with each preset that looks further than this at usual rates.
_X264_LOOKAHEAD: Final = {
    "veryfast": 10, "faster": 20, "fast": 30, "medium": 40, "slow": 50, "slower": 60, "veryslow": 60,
    "placebo": 60,
}  # fmt: skip
#: Fewest frames that x264 holds back with any preset that has B-frames.
_X264_LEAST: Final = 14
#: Frames that x265 holds back besides those that it looks ahead.
_X265_MORE: Final = 10
#: Levels of SVT-AV1's groups of frames, and the frames that it holds back with them, nearly.
_SVT_LEVELS: Final = 3
_SVT_LEAST: Final = 22
_B_FRAMES: Final = 3
#: Frames that x264 holds back besides one for each thread for frames: with B-frames, and without.
_X264_THREADED: Final = (3, 1)
#: Frames that x264 looks ahead with presets that look least, B-frames included.
_X264_SHORT: Final = 5
#: Rows of 16 pixels for each of x264's threads, and its threads for each processor.
_X264_ROWS: Final = 2
#: With fewer threads for whole frames than this, threads for parts of a frame are better on large machines.
_X264_FEW: Final = 4
_X264_PER_CORE: Final = 1.5
#: Least width of a column that one thread of VP9 encodes, and the most columns, as powers of two.
_VP9_COLUMN: Final = 256
_VP9_MOST_COLUMNS: Final = 4


class Threading(NamedTuple):
    """How an encoder uses threads."""

    #: libav's name of the kind: "FRAME": a thread for a frame; "SLICE": threads for parts of a frame.
    kind: str
    #: How many; 0: libav decides.
    threads: int


def encoder_name(codec: str, suffix: str) -> str:
    """Return libav's name of the encoder for a four-letter code or a name; "" gives the default encoder.

    Raises:
        InvalidArgumentError: this build of libav has no such encoder.
    """
    name = FOURCC.get(codec.lower(), codec) or default_encoder(suffix)
    if is_video_encoder(name):
        return name
    raise InvalidArgumentError(
        f"codec {codec or name!r} is unknown or no video encoder; use a four-letter code such as 'avc1' or "
        "'mp4v', or an encoder of libav such as 'libx264'"
    )


def licence(name: str) -> str:
    """Return the licence of an encoder's library as an SPDX expression; "that of FFmpeg" for FFmpeg's own.

    Args:
        name: libav's name of the encoder.
    """
    outside = name.startswith("lib") or "_" in name  # other libraries, and interfaces of devices
    return _LICENCES.get(name, "unknown" if outside else "that of FFmpeg")


def is_video_encoder(name: str) -> bool:
    """Return whether this build of libav has an encoder of videos of this name."""
    try:
        return av.codec.Codec(name, "w").type == "video"
    except ValueError:
        return False


def default_encoder(suffix: str) -> str:
    """Return libav's name of the encoder for files with an ending, if no codec is named.

    It is libx264 for mp4, mkv, mov, avi and others; where this build of libav has no libx264, libsvtav1 or
    libvpx-vp9 for mp4 and mkv, and mpeg4 where neither AV1 nor VP9 fits. It is libvpx-vp9 for webm
    and gif for gif. Where the build has none of these, it is the first.
    """
    usual = _USUAL.get(suffix.lower(), _USUAL[""])
    return next((name for name in usual if is_video_encoder(name)), usual[0])


def has_crf(codec: str) -> bool:
    """Return whether an encoder takes `crf`, and needs no bit rate."""
    return codec in _USUAL_CRF


def has_preset(codec: str) -> bool:
    """Return whether an encoder takes `preset`, and no bit rate."""
    return codec in _WITH_PRESET


def usual_crf(codec: str) -> float | None:
    """Return the `crf` of an encoder where none is asked for; None where it has none."""
    return _USUAL_CRF.get(codec)


def encoder_options(  # noqa: PLR0913  # what they depend on
    codec: str,
    crf: float | None,
    preset: str,
    fps: float,
    *,
    in_order: bool = False,
    width: int = 0,
) -> dict[str, str]:
    """Return libav's options for an encoder.

    They bound how many frames the encoder holds back: a process that is killed loses them.

    Args:
        codec: libav's name of the encoder.
        crf: quality, where the encoder has this option; None: it gets a bit rate.
        preset: speed, where the encoder has this option.
        fps: rate of the frames.
        in_order: the container has no times, so packets must come in the order of the frames.
        width: of the frames, in pixels; 0: not known.
    """
    options = {"crf": f"{crf:g}"} if has_crf(codec) and crf is not None else {}
    held = int(_HELD_BACK * fps)
    if has_preset(codec):
        options["preset"] = preset
    if codec == "libx264":
        if in_order or held < _X264_LEAST:
            options |= {"bf": "0", "b-adapt": "0", "rc-lookahead": "0"}
        elif _X264_LOOKAHEAD.get(preset, 0) + _B_FRAMES > held:
            options |= {"bf": str(_B_FRAMES), "rc-lookahead": str(held - _B_FRAMES)}
    elif codec == "libx265":
        ahead = held - _X265_MORE
        few = "bframes=0:rc-lookahead=1"
        many = f"bframes={_B_FRAMES}:rc-lookahead={ahead}"
        options["x265-params"] = few if in_order or ahead <= _B_FRAMES else many
    elif codec in {"libvpx", "libvpx-vp9"}:
        options |= {"deadline": "realtime", "cpu-used": "8", "row-mt": "1", "lag-in-frames": "0"}
        if codec == "libvpx-vp9":
            columns = int(math.log2(max(width // _VP9_COLUMN, 1)))
            options["tile-columns"] = str(min(columns, _VP9_MOST_COLUMNS))
    elif codec == "libsvtav1":
        levels = _SVT_LEVELS if held >= _SVT_LEAST else _SVT_LEVELS - 1
        options |= {"preset": "9", "svtav1-params": f"lookahead=0:hierarchical-levels={levels}"}
    return options


def threading(  # noqa: PLR0913  # what they depend on
    codec: str, options: dict[str, str], asked: int, fps: float, *, height: int, cores: int | None = None
) -> Threading:
    """Return the threads for an encoder: as many as use the machine and hold back no frame for too long.

    Args:
        codec: libav's name of the encoder.
        options: of `encoder_options`.
        asked: threads that are asked for; 0: as many as are good.
        fps: rate of the frames.
        height: of the frames, in pixels.
        cores: processors of the machine; None: all that this process may use.
    """
    if codec != "libx264":
        return Threading("SLICE", asked)
    if cores is None:
        cores = _processors()
    most = max(-(-height // 16) // _X264_ROWS, 1)
    wanted = min(asked or math.ceil(cores * _X264_PER_CORE), most)
    has_b_frames = options.get("bf") != "0" and options.get("preset") != "ultrafast"
    if has_b_frames:
        ahead = int(options.get("rc-lookahead", _X264_LOOKAHEAD.get(options.get("preset", ""), 0)))
        held = max(ahead + _B_FRAMES, _X264_SHORT)
    else:
        held = 0
    room = int(_HELD_BACK * fps) - held - _X264_THREADED[not has_b_frames]
    # Threads for whole frames make smaller files, but each holds back a frame. Few of them would leave
    # processors without work.
    if room < min(wanted, _X264_FEW):
        return Threading("SLICE", asked)
    return Threading("FRAME", min(wanted, room))


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
