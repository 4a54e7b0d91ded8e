"""Video encoders of the installed PyAV: picture quality at one bit rate, and speed.

Encodes a film with each encoder at three bit rates, decodes the result, and compares the luma of all frames
with the film's: PSNR in dB over all pixels, and the mean of SSIM over blocks of 8 x 8. Both are given at
`--bit-rate`, interpolated over the logarithm of the bit rates that the encoder really made. Speed is frames
for each second of the clock, and milliseconds of processor time for each frame, at the middle bit rate.

    uv run python scripts/trials/compare_encoders.py film.mp4
"""

from __future__ import annotations

import argparse
import io
import math
import time
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import attrs
import av
import numpy as np
from av.codec import Codec


@attrs.frozen
class Candidate:
    """An encoder with options."""

    name: str
    codec: str
    options: dict[str, str] = attrs.field(factory=dict)


_REALTIME: Final = {"deadline": "realtime", "row-mt": "1", "lag-in-frames": "0"}
_SVT: Final = "lookahead=0:hierarchical-levels=3"
CANDIDATES: Final = (
    Candidate("libx264 ultrafast", "libx264", {"preset": "ultrafast"}),
    Candidate("libx264 superfast", "libx264", {"preset": "superfast"}),
    Candidate("libx264 veryfast", "libx264", {"preset": "veryfast"}),
    Candidate("mpeg4", "mpeg4"),
    Candidate("mpeg4 bf=2 trellis mbd=rd", "mpeg4", {"bf": "2", "trellis": "1", "mbd": "rd"}),
    Candidate("libvpx (VP8) realtime 8", "libvpx", _REALTIME | {"cpu-used": "8"}),
    Candidate("libvpx (VP8) realtime 4", "libvpx", _REALTIME | {"cpu-used": "4"}),
    Candidate("libvpx-vp9 realtime 8", "libvpx-vp9", _REALTIME | {"cpu-used": "8"}),
    Candidate("libvpx-vp9 realtime 6", "libvpx-vp9", _REALTIME | {"cpu-used": "6"}),
    Candidate("libvpx-vp9 as it comes", "libvpx-vp9"),
    Candidate("libsvtav1 10", "libsvtav1", {"preset": "10"}),
    Candidate("libsvtav1 10, 8 a group", "libsvtav1", {"preset": "10", "svtav1-params": _SVT}),
    Candidate("libopenh264", "libopenh264"),
)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("film", type=Path)
    parser.add_argument("--bit-rate", type=int, default=2_000_000, help="bits per second (2000000)")
    parser.add_argument("--only", default="", help="encoders whose name contains this")
    parsed = parser.parse_args()
    with av.open(str(parsed.film)) as film:
        average = film.streams.video[0].average_rate
        frames = [frame.reformat(format="yuv420p") for frame in film.decode(video=0)]
    if not frames or not average:
        parser.error(f"{str(parsed.film)!r} has no frame")
    rate = Fraction(average.numerator, average.denominator)
    lumas = [_luma(frame) for frame in frames]
    print(f"{len(frames)} frames of {frames[0].width}x{frames[0].height}, {float(rate):g} a second")
    print(f"{'encoder':28} {'PSNR':>6} {'SSIM':>7} {'frames/s':>9} {'ms/frame':>9}   made, kbit/s: PSNR")
    for candidate in CANDIDATES:
        if parsed.only in candidate.name:
            print(_row(candidate, frames, lumas, rate, parsed.bit_rate), flush=True)


def _row(
    candidate: Candidate, frames: list[av.VideoFrame], lumas: list[np.ndarray], rate: Fraction, wanted: int
) -> str:
    try:
        Codec(candidate.codec, "w")
    except ValueError:
        return f"{candidate.name:28} this PyAV does not have it"
    logs, psnrs, ssims, made = [], [], [], []
    speed = ""
    for factor in (0.5, 1.0, 2.0):
        wall, cpu = time.perf_counter(), time.process_time()
        content = _encode(candidate, frames, rate, round(wanted * factor))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if factor == 1.0:
            speed = f"{len(frames) / wall:9.0f} {1000 * cpu / len(frames):9.2f}"
        real, psnr, ssim = _compare(content, lumas, rate)
        logs.append(math.log(real))
        psnrs.append(psnr)
        ssims.append(ssim)
        made.append(f"{real / 1000:.0f}: {psnr:.2f}")
    order = np.argsort(logs)
    at = math.log(wanted)
    psnr, ssim = (np.interp(at, np.array(logs)[order], np.array(of)[order]) for of in (psnrs, ssims))
    return f"{candidate.name:28} {psnr:6.2f} {ssim:7.4f} {speed}   {', '.join(made)}"


def _encode(candidate: Candidate, frames: list[av.VideoFrame], rate: Fraction, bit_rate: int) -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as container:
        stream: Any = container.add_stream(candidate.codec, rate=rate, options=dict(candidate.options))
        stream.width, stream.height, stream.pix_fmt = frames[0].width, frames[0].height, "yuv420p"
        stream.codec_context.bit_rate = bit_rate
        stream.codec_context.time_base = 1 / rate
        stream.codec_context.thread_count = 0
        for index, frame in enumerate(frames):
            frame.pts, frame.time_base = index, 1 / rate
            frame.pict_type = 0
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def _compare(content: bytes, lumas: list[np.ndarray], rate: Fraction) -> tuple[float, float, float]:
    """Return bits per second, PSNR in dB and SSIM of a file."""
    bits, error, similar, count = 0, 0.0, 0.0, 0
    with av.open(io.BytesIO(content), "r") as container:
        for packet in container.demux(video=0):
            bits += 8 * packet.size
            for frame in packet.decode():
                found, wanted = _luma(frame), lumas[count]
                error += float(np.mean((found - wanted) ** 2))
                similar += _ssim(found, wanted)
                count += 1
    if count != len(lumas):
        raise RuntimeError(f"{count} frames came back of {len(lumas)}")
    return float(bits * rate / count), 10 * math.log10(255**2 / (error / count)), similar / count


def _luma(frame: av.VideoFrame) -> np.ndarray:
    plane: Any = frame.planes[0]
    rows: np.ndarray = np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)
    return np.asarray(rows[:, : plane.width], np.float32)


def _ssim(one: np.ndarray, two: np.ndarray) -> float:
    side = 8
    height, width = (length - length % side for length in one.shape)

    def blocks(picture: np.ndarray) -> np.ndarray:
        cut = picture[:height, :width].reshape(height // side, side, width // side, side)
        return cut.swapaxes(1, 2).reshape(-1, side * side)

    first, second = blocks(one), blocks(two)
    mean_1, mean_2 = first.mean(1), second.mean(1)
    both = (first * second).mean(1) - mean_1 * mean_2
    small, large = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    light = (2 * mean_1 * mean_2 + small) / (mean_1**2 + mean_2**2 + small)
    return float((light * (2 * both + large) / (first.var(1) + second.var(1) + large)).mean())


if __name__ == "__main__":
    main()
