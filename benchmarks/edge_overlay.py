"""Claim: the edge-overlay graph is as fast as the best pipeline by hand, and much faster than a loop.

Frames are decoded, made grey, reduced to edges, darkened and painted where there is an edge, in the
right half, and encoded, or dropped after painting. Contestants: a plain loop in one thread; two threads, of
which one encodes (as many threads as the machine of the first measurements had processors); three threads
and two queues; a decoding thread and two workers whose results are taken in order; and the graph of
examples/edge_overlay.pbtxt. All call the same functions of this workspace, PyAV and OpenCV, with the same
numbers of threads for decoder, encoder and OpenCV (by default one each), and hold six frames
before each stage. Milliseconds per frame, frames per second, CPU milliseconds per frame of all threads (the
cost of the work, independent of other load), how many processors that kept busy (the rest was waiting),
and the largest resident memory of the process.

    python benchmarks/edge_overlay.py [VIDEO] [--rounds 5] [--decoder-threads 1] [--encoder-threads 1]
        [--short] [--json FILE]

Without VIDEO a moving test pattern is encoded first, 1280 x 720, 250 frames. Each contestant counts its
frames, compares its last painted one with the loop's, and reads back what it has encoded.
"""

from __future__ import annotations

import sys
import tempfile
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np
from expected import expect
from process_memory import cpu_s, peak_mb
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser

import penstock as host
from penstock_formats import ImageFormat
from penstock_video.file_and_camera_reader import FileSource
from penstock_video.libav_encoders import encoder_name
from penstock_video.writer import Settings, VideoWriter

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from numpy.typing import NDArray

    Picture = NDArray[Any]
    #: Of decoder and encoder.
    Threads = tuple[int, int]

EXAMPLE: Final = Path(__file__).resolve().parents[1] / "examples" / "edge_overlay.pbtxt"
#: As many as the example's queues hold.
WAITING: Final = 6
ORANGE: Final = (255, 180, 0)
#: What is left of the light of the right half, below the edges.
LIGHT: Final = 0.35
FIGURE: Final = "ms a frame"
ENCODED, DROPPED = "encoded", "dropped after painting"
LOOP, OURS = "plain loop", "penstock, the example's graph"
BY_HAND = ("two threads, one encodes", "three threads and queues", "decoding thread and two workers")


@dataclass(frozen=True)
class Work:
    """The work of a contestant."""

    #: The file to read.
    video: str
    #: A short video, read before the clock starts.
    warm_up: str
    #: Number of frames of the video.
    frames: int
    #: The checksum of the last frame, painted.
    checksum: int
    #: Numbers of threads of decoder and encoder.
    threads: Threads
    #: Whether the painted frames are encoded, else dropped.
    encodes: bool


class Job:
    """One pass over a video, with the steps that all contestants share."""

    def __init__(self, video: str, target: Path | None, threads: Threads) -> None:
        #: The frames, (timestamp, RGB pixels).
        self.source = FileSource(video, threads[0])
        header = self.source.header
        #: How many were painted so far.
        self.frames = 0
        #: The frame painted last.
        self.last: Picture | None = None
        self._paint = np.empty((header.height, header.width, 3), np.uint8)
        self._paint[:] = ORANGE
        self._dark = np.rint(np.arange(256) * LIGHT).astype(np.uint8)
        self._square = np.ones((3, 3), np.uint8)
        self._writer = None
        if target is not None:
            settings = Settings(encoder_name("", target.suffix), header.frame_rate, threads=threads[1])
            self._writer = VideoWriter(target, settings, (header.width, header.height))

    def painted(self, picture: Picture) -> Picture:
        """Return a copy of the frame whose right half is darkened, with its edges in orange."""
        edges = cv2.dilate(cv2.Canny(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), 100, 200), self._square)
        painted = picture.copy()
        right = slice(picture.shape[1] // 2, None)
        part = painted[:, right]
        part[...] = cv2.LUT(part, self._dark)
        cv2.copyTo(self._paint[:, right], edges[:, right], part)
        return painted

    def put(self, timestamp: int, painted: Picture) -> None:
        """Encode a painted frame, if the job encodes."""
        self.frames += 1
        self.last = painted
        if self._writer is not None:
            self._writer.write(painted, ImageFormat.SRGB, timestamp)

    def end(self) -> None:
        """Write the frames that the encoder still holds, and close all files."""
        self.source.close()
        if self._writer is not None:
            self._writer.finish()


def run_loop(job: Job) -> None:
    """Process frame after frame in one thread."""
    while (read := job.source.read()) is not None:
        timestamp, picture = read
        job.put(timestamp, job.painted(picture))


def run_halves(job: Job) -> None:
    """Decode and paint in another thread, and encode in this one; a None ends the queue."""
    painted: Queue[tuple[int, Picture] | None] = Queue(WAITING)

    def decode_and_paint() -> None:
        try:
            while (read := job.source.read()) is not None:
                painted.put((read[0], job.painted(read[1])))
        finally:
            painted.put(None)

    with ThreadPoolExecutor(1) as pool:
        painting = pool.submit(decode_and_paint)
        while (done := painted.get()) is not None:
            job.put(*done)
        painting.result()


def run_stages(job: Job) -> None:
    """Decode and paint in two other threads, and encode in this one; a None ends a queue."""
    decoded: Queue[tuple[int, Picture] | None] = Queue(WAITING)
    painted: Queue[tuple[int, Picture] | None] = Queue(WAITING)

    def decode() -> None:
        try:
            while (read := job.source.read()) is not None:
                decoded.put(read)
        finally:
            decoded.put(None)

    def paint() -> None:
        try:
            while (read := decoded.get()) is not None:
                painted.put((read[0], job.painted(read[1])))
        finally:
            painted.put(None)

    with ThreadPoolExecutor(2) as pool:
        stages = [pool.submit(decode), pool.submit(paint)]
        while (done := painted.get()) is not None:
            job.put(*done)
        for stage in stages:
            stage.result()


def run_workers(job: Job) -> None:
    """Decode in one thread for two workers that paint; this thread takes the results in order and encodes."""
    under_way: Queue[tuple[int, Future[Picture]] | None] = Queue(WAITING)

    def decode() -> None:
        try:
            while (read := job.source.read()) is not None:
                under_way.put((read[0], workers.submit(job.painted, read[1])))
        finally:
            under_way.put(None)

    with ThreadPoolExecutor(2) as workers, ThreadPoolExecutor(1) as decoder:
        decoding = decoder.submit(decode)
        while (taken := under_way.get()) is not None:
            job.put(taken[0], taken[1].result())
        decoding.result()


WAYS: Final[dict[str, Callable[[Job], None]]] = {
    LOOP: run_loop,
    BY_HAND[0]: run_halves,
    BY_HAND[1]: run_stages,
    BY_HAND[2]: run_workers,
}


def by_hand(way: str, **settings: Any) -> dict[str, float]:
    """Measure one of the pipelines by hand."""

    def go(video: str, target: Path | None, threads: Threads) -> tuple[int, Any]:
        job = Job(video, target, threads)
        WAYS[way](job)
        job.end()
        return job.frames, job.last

    return _measured(go, Work(**settings))


def penstock(**settings: Any) -> dict[str, float]:
    """Measure the example's graph."""
    return _measured(run_graph, Work(**settings))


def run_graph(video: str, target: Path | None, threads: Threads) -> tuple[int, Any]:
    """Run the example's graph, without its encoder if there is no target; return count and last frame."""
    frames = 0
    last: Any = None

    def one_more(_name: str, packet: host.Packet) -> None:
        nonlocal frames, last
        frames += 1
        last = packet.payload

    graph = host.CalculatorGraph(graph_text(threads, encodes=target is not None))
    graph.observe_output_stream("painted", one_more)
    files = {"input_video": video} | ({} if target is None else {"output_video": str(target)})
    graph.run(files)
    return frames, None if last is None else last.array


def graph_text(threads: Threads, *, encodes: bool) -> str:
    """Return the example's graph with these numbers of threads, with its encoder or without.

    Raises:
        ValueError: the example has changed and has no place for them.
    """
    text = EXAMPLE.read_text(encoding="utf-8")
    changes = [("test_pattern {", f"decoder_threads: {threads[0]} test_pattern {{")]
    if encodes:
        changes.append(("audio_optional: true", f"audio_optional: true threads: {threads[1]}"))
    else:
        text = text.partition("# The file has")[0]
        changes.append(('input_side_packet: "output_video"', ""))
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"{EXAMPLE.name} has {old!r} {text.count(old)} times, expected once")
        text = text.replace(old, new)
    return text


def _measured(go: Callable[[str, Path | None, Threads], tuple[int, Any]], work: Work) -> dict[str, float]:
    """Return the figures of one pass, after a pass over the short video.

    Raises:
        WrongResultError: a frame is missing, the last painted one differs, or the file lacks frames.
    """
    cv2.setNumThreads(1)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.mp4" if work.encodes else None
        go(work.warm_up, target, work.threads)
        cpu, start = cpu_s(), perf_counter()
        count, last = go(work.video, target, work.threads)
        spent, worked, peak = perf_counter() - start, cpu_s() - cpu, peak_mb()
        expect(count, work.frames, "painted frames")
        expect(checksum_of(last), work.checksum, "checksum of the last painted frame")
        if target is not None:
            expect(frames_in(str(target)), work.frames, "frames in the file")
    return {
        FIGURE: spent / count * 1e3,
        "frames/s": count / spent,
        "CPU ms a frame": worked / count * 1e3,
        "processors busy": worked / spent,
        "peak MB": peak,
    }


def checksum_of(picture: Picture | None) -> int:
    """Return a checksum of the pixels; 0 if no frame was painted."""
    return 0 if picture is None else zlib.crc32(picture.tobytes())


def frames_in(video: str) -> int:
    """Return how many frames can be decoded."""
    source = FileSource(video)
    count = 0
    while source.read() is not None:
        count += 1
    source.close()
    return count


def write_pattern(target: Path, size: tuple[int, int], frames: int) -> None:
    """Encode a moving test pattern."""
    width, height = size
    pattern = f"test_pattern {{ width: {width} height: {height} fps: 25 frames: {frames} }}"
    host.CalculatorGraph(f"""
        input_side_packet: "output_video"
        node {{
          calculator: "VideoDecoderCalculator" output_stream: "VIDEO:frame"
          node_options {{ [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] {{ {pattern} }} }}
        }}
        node {{
          calculator: "VideoEncoderCalculator" input_stream: "VIDEO:frame"
          input_side_packet: "OUTPUT_FILE_PATH:output_video"
        }}""").run({"output_video": str(target)})


def beside_the_best(measured: Measurements) -> float | None:
    """Return the graph's time per frame beside that of the fastest pipeline by hand, encoded."""
    medians = [(measured.median(ENCODED, way, FIGURE), way) for way in BY_HAND]
    taken = [(value, way) for value, way in medians if value is not None]
    return measured.ratio(ENCODED, OURS, min(taken)[1], FIGURE) if taken else None


def benchmark(given: argparse.Namespace, folder: Path) -> Benchmark:
    """Return the benchmark; its test patterns are written into `folder`."""
    size, frames = ((320, 192), 12) if given.short else ((1280, 720), 250)
    warm_up = folder / "warm_up.mp4"
    write_pattern(warm_up, size, 12)
    video = given.video
    if video is None:
        video = str(folder / "pattern.mp4")
        write_pattern(Path(video), size, frames)
    cv2.setNumThreads(1)
    job = Job(video, None, (1, 1))
    run_loop(job)
    job.end()
    settings = {
        "video": video,
        "warm_up": str(warm_up),
        "frames": job.frames,
        "checksum": checksum_of(job.last),
        "threads": (given.decoder_threads, given.encoder_threads),
    }
    return Benchmark(
        claim="The edge-overlay graph is as fast as the best pipeline by hand.",
        figure=FIGURE,
        base=LOOP,
        cases=[
            Case(name, {**settings, "encodes": encodes})
            for name, encodes in ((ENCODED, True), (DROPPED, False))
        ],
        contestants=[
            *(Contestant(way, "edge_overlay:by_hand", {"way": way}) for way in WAYS),
            Contestant(OURS, "edge_overlay:penstock"),
        ],
        bars=[
            Bar(
                f"{ENCODED}, {FIGURE}, x the best pipeline by hand of the run",
                "at most",
                1.03,
                beside_the_best,
            ),
            Bar(
                f"{ENCODED}, {FIGURE}, x the plain loop",
                "at most",
                1 / 1.4,
                lambda measured: measured.ratio(ENCODED, OURS, LOOP, FIGURE),
            ),
        ],
    )


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("video", nargs="?")
    options.add_argument("--decoder-threads", type=int, default=1)
    options.add_argument("--encoder-threads", type=int, default=1)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(benchmark(asked, Path(made)), asked))
