"""Claim: a frame goes through GPU nodes at the speed of the same OpenGL calls in a plain script.

Cases: one frame that is uploaded, made grey by LuminanceCalculator and read back; the same in one process
with the plain script, with frames of both in turns; a frame that is on the GPU already, through a chain of
five such nodes; the round trip of a job to the thread of a GL context; and the edge-overlay application on
the GPU and on the CPU. Contestants: the graph, a plain PyOpenGL script that reuses its textures and its
array, and for the round trip a thread pool of the standard library. Median milliseconds per frame, one
frame at a time; for frames in turns the median of each pair's ratio, which the bar limits; for the chain
also host copies and thread hand-offs per frame, and for the application frames per second.

    python benchmarks/gpu_frame.py [--size 1280x720] [--frames 60] [--rounds 5] [--short] [--json FILE]

The device is the one that PENSTOCK_GPU_DEVICE names ("cuda:0", "software", ...), else the first that
works; the report has its driver and renderer. The resulting frames are checked.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import edge_overlay
import numpy as np
from expected import expect
from pictures import Work, expect_grey
from side_by_side import Bar, Benchmark, Case, Contestant, main, parser

import penstock as host
from penstock.plugins.default_registry import default_registry
from penstock_formats import ImageFormat, ImageFrame
from penstock_gpu import GPU, GlContext, GlTextureView, GpuBuffer, GpuResources, GpuUnavailableError, gl
from penstock_gpu.calculators.luminance import LuminanceCalculator

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

EXAMPLES: Final = Path(__file__).resolve().parents[1] / "examples"
FIGURE: Final = "ms"
FRAME, IN_TURNS, CHAIN = "one frame", "one frame, in turns", "chain of 5"
ROUND_TRIP, APPLICATION = "round trip", "edge overlay"
RATIO: Final = "x the script's before it"
#: Pairs of frames in turns for each frame of another case; other work disturbs the ratio of a pair least.
TURNS: Final = 5
PLAIN, OURS = "plain PyOpenGL", "penstock, GPU"
POOL: Final = "ThreadPoolExecutor"
ON_CPU, READ_BACK = "penstock, CPU", "penstock, GPU, read back"
NODES: Final = 5
WARM_UP: Final = 5
#: How much a pixel that the GPU has painted may differ from the CPU's.
NEAR: Final = 2
#: Versions for the report.
VERSIONS: dict[str, str] = {}

FRAME_GRAPH: Final = """
input_stream: "in"
node { calculator: "ImageFrameToGpuBufferCalculator" input_stream: "in" output_stream: "picture" }
node { calculator: "LuminanceCalculator" input_stream: "picture" output_stream: "grey" }
node { calculator: "GpuBufferToImageFrameCalculator" input_stream: "grey" output_stream: "out" }
"""


class Fed:
    """A running graph that gets one packet at a time: the next after the result of the one before.

    Args:
        text: of a graph from "in" to "out".
        resources: its contexts; borrowed.
        registry: of its calculators.
    """

    def __init__(self, text: str, resources: GpuResources, registry: host.Registry | None = None) -> None:
        self._came: SimpleQueue[Any] = SimpleQueue()  # written in C: a semaphore takes 20 us
        self._number = 0
        self._graph = host.CalculatorGraph(text, registry=registry or default_registry())
        self._graph.set_service(GPU, resources)
        self._graph.observe_output_stream("out", self._notice)
        self._graph.start_run()

    def ask(self, payload: object) -> Any:
        """Add a payload to the input, and return the payload of the output."""
        self._graph.add_packet_to_input_stream("in", host.Packet(payload, self._number))
        self._number += 1
        return self._came.get()

    def end(self) -> None:
        """End the run."""
        self._graph.close_all_packet_sources()
        self._graph.wait_until_done()
        self._graph.close()

    def _notice(self, _name: str, packet: host.Packet) -> None:
        self._came.put(packet.payload)


class WatchedLuminanceCalculator(LuminanceCalculator):
    """Records on which thread it runs."""

    threads: Final[list[int]] = []

    def process(self, cc: host.CalculatorContext) -> None:
        """Make one frame grey."""
        self.threads.append(threading.get_ident())
        super().process(cc)


def frame(work: Work) -> dict[str, float]:
    """Time frames that are uploaded, made grey and read back by a graph."""
    pictures = work.pictures()
    with GpuResources() as resources:
        fed = Fed(FRAME_GRAPH, resources)
        made: list[ImageFrame] = []

        def one(number: int) -> None:
            made[:] = [fed.ask(ImageFrame(pictures[number % len(pictures)], ImageFormat.SRGBA))]

        spent = timed(one, work.frames)
        expect_grey(made[0].array, pictures[(work.frames - 1) % len(pictures)])
        _tell(resources.context())
        fed.end()
    return {FIGURE: spent}


def in_turns(work: Work) -> dict[str, float]:
    """Time the same, and before each frame one of the plain script, in this process, on separate threads."""
    plain_gl = importlib.import_module("peers.plain_gl")  # it loads OpenGL in another way: for this case only
    plain_gl.open_context(work.device)
    passes, pictures = plain_gl.Passes(work.width, work.height, work.nodes), work.pictures()
    into = np.empty((work.height, work.width, 4), np.uint8)
    ratios, spent = [], []
    with GpuResources() as resources:
        fed = Fed(FRAME_GRAPH, resources)
        for number in range(WARM_UP + work.frames * TURNS):
            picture = pictures[number % len(pictures)]
            start = perf_counter()
            passes.upload(picture)
            passes.draw()
            passes.read(into)
            between = perf_counter()
            made = fed.ask(ImageFrame(picture, ImageFormat.SRGBA))
            end = perf_counter()
            if number >= WARM_UP:
                spent.append(end - between)
                ratios.append((end - between) / (between - start))
        expect_grey(into, picture)
        expect_grey(made.array, picture)
        _tell(resources.context())
        fed.end()
    return {FIGURE: median(spent) * 1e3, RATIO: median(ratios)}


def chain(work: Work) -> dict[str, float]:
    """Time frames that are in a texture already through a chain of GPU nodes; count copies and hand-offs."""
    names = ["in", *(f"s{number}" for number in range(1, work.nodes)), "out"]
    nodes = "\n".join(
        f'node {{ calculator: "WatchedLuminanceCalculator" input_stream: "{a}" output_stream: "{b}" }}'
        for a, b in pairwise(names)
    )
    registry = default_registry().child()
    registry.add("calculator", "WatchedLuminanceCalculator", WatchedLuminanceCalculator)
    picture = work.pictures()[0]
    with GpuResources() as resources:
        context = resources.context()
        buffer = context.run(lambda: _in_texture(picture))
        fed = Fed(f'input_stream: "in"\n{nodes}', resources, registry)
        made: list[GpuBuffer] = []

        def one(_number: int) -> None:
            made[:] = [fed.ask(buffer)]
            context.run(gl.glFinish)

        before = copies(resources)
        WatchedLuminanceCalculator.threads.clear()
        spent = timed(one, work.frames)
        runs = work.frames + WARM_UP
        figures = {
            FIGURE: spent,
            "host copies a frame": (copies(resources) - before) / runs,
            "hand-offs a frame": hand_offs(WatchedLuminanceCalculator.threads, work.nodes, runs) / runs,
        }
        expect_grey(made[0].array(), picture, work.nodes)
        _tell(context)
        fed.end()
    return figures


def _in_texture(picture: Any) -> GpuBuffer:
    buffer = GpuBuffer.of_array(picture)
    with buffer.write_view(GlTextureView):
        return buffer


def copies(resources: GpuResources) -> int:
    """Return how many frames were copied between main memory and the GPU so far."""
    contexts = [resources.context(key) for key in resources.keys]
    return sum(context.uploads + context.readbacks for context in contexts)


def hand_offs(threads: list[int], nodes: int, frames: int) -> int:
    """Return how often a frame changed threads, counted from the application's thread."""
    expect(len(threads), nodes * frames, "calls of nodes")
    here, changes = threading.get_ident(), 0
    for first in range(0, len(threads), nodes):
        changes += sum(a != b for a, b in pairwise([here, *threads[first : first + nodes]]))
    return changes


def round_trip(frames: int) -> dict[str, float]:
    """Time the round trip of empty jobs to the thread of a GL context."""
    with GlContext.create() as context:
        _tell(context)
        return {FIGURE: timed(lambda _number: context.run(_nothing), frames * 50)}


def pool_round_trip(frames: int) -> dict[str, float]:
    """Time the round trip of empty jobs to the only thread of a pool."""
    with ThreadPoolExecutor(1) as pool:
        return {FIGURE: timed(lambda _number: pool.submit(_nothing).result(), frames * 50)}


def _nothing() -> None:
    return None


def application(kind: str, video: str, warm_up: str, frames: int) -> dict[str, float]:
    """Time the edge-overlay application on a video, without its encoder."""
    with _resources(kind) as resources:
        play(kind, warm_up, resources)
        start = perf_counter()
        count, last = play(kind, video, resources)
        spent = perf_counter() - start
        expect(count, frames, "painted frames")
        painted = last.array() if isinstance(last, GpuBuffer) else last.array
        _, wanted = edge_overlay.run_graph(video, None, (1, 1))
        off = np.abs(painted[..., :3].astype(int) - wanted.astype(int)) > NEAR
        expect(int(off.sum()), 0, "numbers of the last painted frame that are not the CPU graph's")
    return {FIGURE: spent / count * 1e3, "frames/s": count / spent}


def _resources(kind: str) -> GpuResources:
    resources = GpuResources("off" if kind == "cpu" else "require")
    if kind != "cpu":
        _tell(resources.context())
    return resources


def play(kind: str, video: str, resources: GpuResources) -> tuple[int, Any]:
    """Run the application; return the number of its frames, and the last one."""
    if kind == "cpu":
        graph = host.CalculatorGraph(edge_overlay.graph_text((1, 1), encodes=False))
    else:
        graph = host.CalculatorGraph(application_text())
        graph.set_service(GPU, resources)
    count, last = 0, None

    def notice(_name: str, packet: host.Packet) -> None:
        nonlocal count, last
        count += 1
        last = packet.payload

    graph.observe_output_stream("finished" if kind == "read back" else "painted", notice)
    graph.run({"input_video": video})
    graph.close()
    if kind == "gpu":
        resources.context().run(gl.glFinish)
    return count, last


def application_text() -> str:
    """Return the GPU example's graph without the nodes that write a file.

    Raises:
        ValueError: the example has changed and has no place for the changes.
    """
    text = (EXAMPLES / "edge_overlay_gpu.pbtxt").read_text(encoding="utf-8")
    for needed in ("# The file has", 'input_side_packet: "output_video"', "test_pattern {"):
        if text.count(needed) != 1:
            raise ValueError(
                f"edge_overlay_gpu.pbtxt has {needed!r} {text.count(needed)} times, expected once"
            )
    text = text.partition("# The file has")[0].replace('input_side_packet: "output_video"', "")
    return text.replace("test_pattern {", "decoder_threads: 1 test_pattern {")


def timed(one: Callable[[int], object], frames: int) -> float:
    """Return the median of milliseconds that a frame takes."""
    for number in range(WARM_UP):
        one(number)
    spent = []
    for number in range(frames):
        start = perf_counter()
        one(number)
        spent.append(perf_counter() - start)
    return median(spent) * 1e3


def _tell(context: GlContext) -> None:
    VERSIONS.update(
        device=str(context.device),
        driver=f"{context.vendor}, {context.api} {'.'.join(map(str, context.version))}",
        renderer=context.renderer,
    )


def measured(work: str, kind: str, **settings: Any) -> dict[str, float]:
    """Measure one contestant in one case."""
    if work == "application":
        return application(kind, **settings)
    if work == "round_trip":
        return (pool_round_trip if kind == "pool" else round_trip)(**settings)
    return {"chain": chain, "in_turns": in_turns, "frame": frame}[work](Work(**settings))


def benchmark(given: argparse.Namespace, folder: Path) -> Benchmark:
    """Return the benchmark; its videos are written into `folder`. Prints the device."""
    width, height = (320, 192) if given.short else map(int, given.size.split("x"))
    frames = given.frames or (5 if given.short else 60)
    video, warm_up = str(folder / "pattern.mp4"), str(folder / "warm_up.mp4")
    edge_overlay.write_pattern(Path(video), (width, height), 2 * frames)
    edge_overlay.write_pattern(Path(warm_up), (width, height), 5)
    pictures = {"width": width, "height": height, "frames": frames, "seed": 1}
    films = {"video": video, "warm_up": warm_up, "frames": 2 * frames}
    device, has_gl = _device()
    cases = [
        Case(FRAME, {"work": "frame", **pictures, **device}, (PLAIN, OURS)),
        Case(IN_TURNS, {"work": "in_turns", **pictures, **device}, (OURS,)),
        Case(CHAIN, {"work": "chain", "nodes": NODES, **pictures, **device}, (PLAIN, OURS)),
        Case(ROUND_TRIP, {"work": "round_trip", "frames": frames}, (POOL, OURS)),
        Case(APPLICATION, {"work": "application", **films}, (ON_CPU, OURS, READ_BACK)),
    ]
    python = sys.executable if has_gl else None

    def of_gpu(name: str, function: str, **settings: str) -> Contestant:
        return Contestant(
            name, function, settings, python, option="a device with OpenGL", optional=not has_gl
        )

    return Benchmark(
        claim="A frame goes through GPU nodes at the speed of the same OpenGL calls in a plain script.",
        figure=FIGURE,
        base=PLAIN,
        otherwise=ON_CPU,
        cases=cases if has_gl else cases[-1:],
        contestants=[
            of_gpu(PLAIN, "peers.plain_gl:measured"),
            Contestant(POOL, "gpu_frame:measured", {"kind": "pool"}),
            Contestant(ON_CPU, "gpu_frame:measured", {"kind": "cpu"}),
            of_gpu(OURS, "gpu_frame:measured", kind="gpu"),
            of_gpu(READ_BACK, "gpu_frame:measured", kind="read back"),
        ],
        bars=[
            Bar(
                f"{IN_TURNS}, {RATIO}",
                "at most",
                1.15,
                lambda measured: measured.median(IN_TURNS, OURS, RATIO),
            ),
            _counted("host copies a frame", 0),
            _counted("hand-offs a frame", 1),
        ],
    )


def _counted(what: str, limit: int) -> Bar:
    """Return the bar of a figure that is counted in the chain."""
    return Bar(
        f"{CHAIN}, {what}",
        "at most",
        limit,
        lambda measured: measured.median(CHAIN, OURS, what),
    )


def _device() -> tuple[dict[str, object], bool]:
    """Return the device with which all contestants draw, and whether there is one; print it."""
    try:
        with GlContext.create() as context:
            _tell(context)
            for name, value in VERSIONS.items():
                print(f"{name}: {value}")
            return {"device": context.device.index, "renderer": context.renderer}, True
    except GpuUnavailableError as error:
        print(f"no OpenGL, so only the CPU is measured: {error}")
        return {}, False


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--size", default="1280x720", metavar="WxH", help="of the frames; default 1280x720")
    options.add_argument("--frames", type=int, help="of a measurement; default 60; 5 with --short")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(benchmark(asked, Path(made)), asked))
