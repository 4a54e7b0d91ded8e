"""Claim: VideoEncoderCalculator takes no longer than the bare encoder with the same settings, nor more bytes.

Each case is a video and an ending, with the encoder that files of this ending get by default. A graph with a
VideoEncoderCalculator, and PyAV alone, write the same RGB frames, which are in memory: libx264 "veryfast" as
libav sets it up, VP9 for real time. A third contestant encodes frames that are yuv420p already, so the
difference is what the colours cost. The figures are processor milliseconds and milliseconds of the clock for
a frame, and megabytes. All frames are decoded afterwards and counted.

Without VIDEO the only video is the moving test pattern, 1280 x 720.

    python benchmarks/encoders.py [VIDEO] [--frames 132] [--rounds 5] [--short] [--json FILE]
"""

from __future__ import annotations

import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final

import av
import numpy as np
from expected import expect
from numpy.typing import NDArray
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser

import penstock as host
from penstock_formats import ImageFrame
from penstock_video.file_and_camera_reader import FileSource
from penstock_video.libav_encoders import default_encoder, encoder_options, usual_crf
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions
from penstock_video.pattern import PatternSource

if TYPE_CHECKING:
    import argparse

CPU, CLOCK, SIZE = "CPU ms a frame", "ms a frame", "MB"
OURS, BARE, YUV = "penstock", "PyAV alone", "PyAV alone, colours converted before"
LIMIT: Final = 1.1
_FPS: Final = 25
_STEP_US: Final = 1_000_000 // _FPS
_WAIT_S: Final = 300
_GRAPH: Final = f"""
input_stream: "frame"
input_side_packet: "file"
max_queue_size: 4
node {{
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:frame"
  input_side_packet: "OUTPUT_FILE_PATH:file"
  options {{ [penstock.OpenCvVideoEncoderCalculatorOptions.ext] {{ fps: {_FPS} }} }}
}}
"""

Pictures = list[NDArray[Any]]


def pictures(video: str, count: int, width: int, height: int) -> Pictures:
    """Return up to `count` frames of a video; "" stands for the test pattern, which has the size."""
    if video:
        source: FileSource | PatternSource = FileSource(video)
    else:
        source = PatternSource(
            VideoDecoderCalculatorOptions.TestPattern(width=width, height=height, frames=count)
        )
    found: Pictures = []
    try:
        while len(found) < count and (read := source.read()) is not None:
            found.append(np.ascontiguousarray(read[1]))
    finally:
        source.close()
    return found


def by_graph(frames: Pictures, target: Path) -> None:
    """Write frames by a graph."""
    graph = host.CalculatorGraph(_GRAPH)
    graph.start_run({"file": str(target)})
    for index, frame in enumerate(frames):
        graph.add_packet_to_input_stream("frame", host.Packet(ImageFrame(frame), index * _STEP_US))
    graph.close_all_packet_sources()
    graph.wait_until_done(_WAIT_S)


def by_hand(frames: list[av.VideoFrame], target: Path) -> None:
    """Write frames by PyAV."""
    codec = default_encoder(target.suffix)
    height, width = frames[0].height, frames[0].width
    options = encoder_options(codec, usual_crf(codec), "veryfast", _FPS, width=width)
    with av.open(str(target), "w") as container:
        stream: Any = container.add_stream(codec, rate=_FPS, options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.codec_context.bit_rate = 0
        stream.codec_context.thread_type, stream.codec_context.thread_count = "AUTO", 0
        for index, frame in enumerate(frames):
            made = frame if frame.format.name == "yuv420p" else frame.reformat(format="yuv420p", threads=1)
            made.pts, made.time_base = index, Fraction(1, _FPS)
            container.mux(stream.encode(made))
        container.mux(stream.encode(None))


def written(way: str, ending: str, **of: Any) -> dict[str, float]:
    """Return the figures of one file, after a short one."""
    frames = pictures(**of)
    rgb = [av.VideoFrame.from_numpy_buffer(frame, format="rgb24") for frame in frames]
    if way == YUV:
        rgb = [frame.reformat(format="yuv420p") for frame in rgb]

    def go(count: int, target: Path) -> None:
        if way == OURS:
            by_graph(frames[:count], target)
        else:
            by_hand(rgb[:count], target)

    with tempfile.TemporaryDirectory() as folder:
        go(5, Path(folder) / f"warm{ending}")
        target = Path(folder) / f"out{ending}"
        clock, cpu = perf_counter(), process_time()
        go(len(frames), target)
        cpu, clock = process_time() - cpu, perf_counter() - clock
        with av.open(str(target)) as container:
            expect(sum(1 for _ in container.decode(video=0)), len(frames), "frames in the file")
        size = target.stat().st_size / 1e6
    return {CPU: 1000 * cpu / len(frames), CLOCK: 1000 * clock / len(frames), SIZE: size}


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("video", nargs="?", default="", help="a video to write again")
    options.add_argument("--frames", type=int, help="default 132; 20 with --short")
    given = options.parse_args()
    width, height = (320, 180) if given.short else (1280, 720)
    settings = {"count": given.frames or (20 if given.short else 132), "width": width, "height": height}
    videos = {"pattern": ""} | ({Path(given.video).stem: given.video} if given.video else {})
    cases = [
        Case(f"{name} {ending}", {"video": video, "ending": ending, **settings})
        for name, video in videos.items()
        for ending in (".mp4", ".webm")
    ]

    def bar(case: str, figure: str) -> Bar:
        def value(measured: Measurements) -> float | None:
            return measured.ratio(case, OURS, BARE, figure)

        return Bar(f"{case}, {figure}, x PyAV alone", "at most", LIMIT, value)

    return Benchmark(
        claim="VideoEncoderCalculator takes no longer than the bare encoder, nor more bytes.",
        figure=CPU,
        base=BARE,
        cases=cases,
        contestants=[Contestant(way, "encoders:written", {"way": way}) for way in (BARE, OURS, YUV)],
        bars=[bar(case.name, figure) for case in cases for figure in (CPU, SIZE)],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
