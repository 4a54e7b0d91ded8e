"""libav's video encoders: their names, their licences, and the options that we give them."""

from __future__ import annotations

from typing import Final

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
_WITH_CRF: Final = (*_WITH_PRESET, "libvpx-vp9")
_VP9: Final = ("libvpx-vp9", "libx264", "mpeg4")
_H264: Final = ("libx264", "mpeg4")
#: Ending of a file → encoders for it, the best first; "": of any other file. VP9 comes first where it fits:
#: its encoder asks nothing of those who distribute it, and is as good as libx264's "superfast". mpeg4 is
#: FFmpeg's own and in each build, but is 4 to 7 dB worse. PyAV's wheels have libx264; builds without GPL
#: libraries have not.
_USUAL: Final = {".webm": ("libvpx-vp9",), ".mp4": _VP9, ".m4v": _VP9, ".mkv": _VP9, "": _H264}
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


def encoder_name(codec: str, suffix: str) -> str:
    """Return libav's name of the encoder for a four-letter code or a name; "" gives the default encoder.

    Raises:
        InvalidArgumentError: this build of libav has no such encoder.
    """
    name = FOURCC.get(codec.lower(), codec) or default_encoder(suffix)
    if _is_video_encoder(name):
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


def _is_video_encoder(name: str) -> bool:
    try:
        return av.codec.Codec(name, "w").type == "video"
    except ValueError:
        return False


def default_encoder(suffix: str) -> str:
    """Return libav's name of the encoder for files with an ending, if no codec is named.

    It is libvpx-vp9 for mp4, mkv and webm, and libx264 for others, such as mov and avi, which cannot hold
    VP9; where this build of libav has no libx264, mpeg4. Where the build has none of these, it is the first.
    """
    usual = _USUAL.get(suffix.lower(), _USUAL[""])
    return next((name for name in usual if _is_video_encoder(name)), usual[0])


def has_crf(codec: str) -> bool:
    """Return whether an encoder takes `crf`, and needs no bit rate."""
    return codec in _WITH_CRF


def has_preset(codec: str) -> bool:
    """Return whether an encoder takes `preset`, and no bit rate."""
    return codec in _WITH_PRESET


def encoder_options(
    codec: str, crf: float, preset: str, fps: float, *, in_order: bool = False
) -> dict[str, str]:
    """Return libav's options for an encoder.

    They bound how many frames the encoder holds back: a process that is killed loses them.

    Args:
        codec: libav's name of the encoder.
        crf: quality, where the encoder has this option.
        preset: speed, where the encoder has this option.
        fps: rate of the frames.
        in_order: the container has no times, so packets must come in the order of the frames.
    """
    options = {"crf": f"{crf:g}"} if has_crf(codec) else {}
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
    elif codec == "libsvtav1":
        levels = _SVT_LEVELS if held >= _SVT_LEAST else _SVT_LEVELS - 1
        options |= {"preset": "10", "svtav1-params": f"lookahead=0:hierarchical-levels={levels}"}
    return options
