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
    "mjpg": "mjpeg",
    "vp80": "libvpx",
    "vp90": "libvpx-vp9",
    "av01": "libsvtav1",
}
#: The licence of the library that an encoder is part of, by its publisher's word; the others are FFmpeg's own.
LICENCES: Final = {
    **dict.fromkeys(("libx264", "libx265"), "GPL-2.0-or-later"),
    **dict.fromkeys(("libvpx", "libvpx-vp9"), "BSD-3-Clause"),
    "libsvtav1": "BSD-3-Clause-Clear",
    "libopenh264": "BSD-2-Clause",
    "libaom-av1": "BSD-2-Clause",
}
_WITH_PRESET: Final = ("libx264", "libx265")
_WITH_CRF: Final = (*_WITH_PRESET, "libvpx-vp9")
_WEB: Final = (".webm",)
#: Longest time that an encoder may hold frames back, seconds.
_HELD_BACK: Final = 0.9
#: Frames that x264 looks ahead with each preset that looks further than this at usual rates.
_X264_LOOKAHEAD: Final = {
    "faster": 20, "fast": 30, "medium": 40, "slow": 50, "slower": 60, "veryslow": 60, "placebo": 60,
    "veryfast": 10,
}  # fmt: skip
#: Frames that x265 holds back besides those that it looks ahead.
_X265_MORE: Final = 10
_B_FRAMES: Final = 3


def encoder_name(codec: str, suffix: str) -> str:
    """Return libav's name of the encoder for a four-letter code or a name; "" gives the default encoder.

    Raises:
        InvalidArgumentError: this build of libav has no such encoder.
    """
    usual = "libvpx-vp9" if suffix.lower() in _WEB else "libx264"
    name = FOURCC.get(codec.lower(), codec) if codec else usual
    try:
        return name if av.codec.Codec(name, "w").type == "video" else _no_encoder(codec)
    except ValueError:
        return _no_encoder(codec)


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
        crf, preset: quality and speed, where the encoder has these.
        fps: rate of the frames.
        in_order: the container has no times, so packets must come in the order of the frames.
    """
    options = {"crf": f"{crf:g}"} if has_crf(codec) else {}
    held = int(_HELD_BACK * fps)
    if has_preset(codec):
        options["preset"] = preset
    if codec == "libx264":
        ahead = _X264_LOOKAHEAD.get(preset, 0)
        if in_order or ahead + _B_FRAMES > held:
            b_frames = 0 if in_order else min(_B_FRAMES, held // 4)
            options |= {"bf": str(b_frames), "rc-lookahead": str(min(ahead, held - b_frames))}
    elif codec == "libx265":
        ahead = held - _X265_MORE
        few = "bframes=0:rc-lookahead=1"
        many = f"bframes={_B_FRAMES}:rc-lookahead={ahead}"
        options["x265-params"] = few if in_order or ahead <= _B_FRAMES else many
    elif codec in {"libvpx", "libvpx-vp9"}:
        options |= {"deadline": "realtime", "cpu-used": "8", "row-mt": "1", "lag-in-frames": "0"}
    elif codec == "libsvtav1":
        levels = 3 if held >= 20 else 2
        options |= {"preset": "10", "svtav1-params": f"lookahead=0:hierarchical-levels={levels}"}
    return options


def _no_encoder(codec: str) -> str:
    raise InvalidArgumentError(
        f"codec {codec!r} is unknown or no video encoder; use a four-letter code such as 'avc1' or 'mp4v', "
        "or an encoder of libav such as 'libx264'"
    )
