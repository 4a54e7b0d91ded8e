"""Claim: MediaPipe's own graphs are about as fast here as in its C++, and faster where hands run in parallel.

The graphs are those of MediaPipe's wheel, unchanged: hands, with two and with four of them in the
picture, and a face at short range. Each frame is the same picture, 1280 x 720; a frame is given when the
graph is idle again, as `solutions` do, so a figure is the time of one frame alone: its median, the CPU time
of all threads, and frames per second. As in `solutions`, Penstock runs the nodes on the thread that waits for
the frame (ApplicationThreadExecutor); the reference runs them on its default executor, a pool of threads. In
one case more Penstock runs the graph of `penstock hands`, in which the hands of a frame are inferred two at a
time, on the default executor, beside the reference's own graph. Every contestant checks how many hands or
faces each frame has, and that no result is missing, late or out of order.

    python benchmarks/door.py --pictures FOLDER [--reference PYTHON] [--frames 100] [--rounds 5] [--short]
        [--json FILE] [--busy N]

With `--busy N`, N processes that only count keep cores busy beside each measurement, as other work does: then
it matters how often a frame goes from one thread to another, and which thread the system wakes first. Bars
are for a quiet machine, and are left out then.

FOLDER has hands_two.png, hands_four.png and astronaut.png. The models are found as calculators find them: by
PENSTOCK_MEDIAPIPE_MODELS. It is not among the benchmarks of run_all.py, which need no files.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from expected import expect
from process_memory import cpu_s
from side_by_side import Bar, Benchmark, Case, Contestant, main, parser

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from side_by_side import Measurements

FIGURE: Final = "ms a frame"
PROCESSOR: Final = "CPU ms a frame"
RATE: Final = "frames/s"
HANDS: Final = "mediapipe/modules/hand_landmark/hand_landmark_tracking_cpu.binarypb"
FACES: Final = "mediapipe/modules/face_detection/face_detection_short_range_cpu.binarypb"
REFERENCE, OURS = "reference, C++", "penstock"
PARALLEL: Final = "4 hands, in parallel"
#: Frames before the clock starts, and how many of these move: a hand that is missed in one place is found
#: in another, and then followed.
WARM_UP, MOVING = 40, 30
STEP: Final = 33_333
SIZE: Final = (1280, 720)

#: The graph of `penstock hands`, between its input and its results.
PARALLEL_GRAPH: Final = """
    input_stream: "image" input_side_packet: "num_hands" input_side_packet: "model_complexity"
    node {
      calculator: "HandLandmarkTrackingCpu"
      input_stream: "IMAGE:image"
      input_side_packet: "NUM_HANDS:num_hands" input_side_packet: "MODEL_COMPLEXITY:model_complexity"
      output_stream: "LANDMARKS:multi_hand_landmarks"
    }"""


class Timing:
    """Frame after frame, each when the one before has ended.

    Args:
        frames: how many are measured.
    """

    def __init__(self, frames: int) -> None:
        self.count: Final = frames
        self._began: list[float] = []
        self._ended: list[float] = []
        self._cpu = 0.0

    def run(self, frame: Any) -> None:
        """Call `frame` with the number of each frame; it returns when all results of that frame are there."""
        for number in range(WARM_UP):
            frame(number)
        cpu = cpu_s()
        for number in range(WARM_UP, WARM_UP + self.count):
            self._began.append(perf_counter())
            frame(number)
            self._ended.append(perf_counter())
        self._cpu = cpu_s() - cpu

    def figures(self) -> dict[str, float]:
        """Return the figures of the measured frames."""
        spent = [end - begin for begin, end in zip(self._began, self._ended, strict=True)]
        return {
            FIGURE: statistics.median(spent) * 1e3,
            PROCESSOR: self._cpu / self.count * 1e3,
            RATE: self.count / (self._ended[-1] - self._began[0]),
        }


def moved(pixels: Any, number: int) -> Any:
    """Return the pixels of a frame of the warm-up: those of all later frames, moved a little, read-only."""
    frame = (
        np.roll(pixels, (number * 5 % 23 - 11, number * 7 % 31 - 15), (0, 1)) if number < MOVING else pixels
    )
    frame.flags.writeable = False
    return frame


def check(seen: list[tuple[int, int]], frames: int, found: int) -> None:
    """Expect results with so many hands or faces, at the timestamp of each measured frame, in order."""
    measured = [one for one in seen if one[0] >= WARM_UP * STEP]
    expect(measured, [(number * STEP, found) for number in range(WARM_UP, WARM_UP + frames)], "results")


def penstock(  # noqa: PLR0913  # the settings of a case
    *, graph: str, output: str, picture: str, side: dict[str, Any], frames: int, found: int, parallel: bool
) -> dict[str, float]:
    """Measure Penstock with a graph of the wheel, or with the graph of `penstock hands`."""
    import cv2  # the environment of the reference has this file too, but not these packs

    from penstock import CalculatorGraph, Packet
    from penstock.config import CalculatorGraphConfig
    from penstock_formats import ImageFrame
    from penstock_tensors import ResourceFinder

    cv2.setNumThreads(0)  # as the reference
    config: Any = PARALLEL_GRAPH
    if not parallel:
        config = CalculatorGraphConfig.FromString(ResourceFinder().find(graph).data)
        config.executor.add(type="ApplicationThreadExecutor")
    running = CalculatorGraph(config)
    seen: list[tuple[int, int]] = []

    def see(_name: str, packet: Packet) -> None:
        found_now: Any = packet.payload
        seen.append((int(packet.timestamp), len(found_now)))

    running.observe_output_stream(output, see)
    running.start_run(side)
    pixels = np.load(picture)
    still = ImageFrame(moved(pixels, MOVING))

    def frame(number: int) -> None:
        image = ImageFrame(moved(pixels, number)) if number < MOVING else still
        running.add_packet_to_input_stream("image", Packet(image, number * STEP))
        running.wait_until_idle()

    timing = Timing(frames)
    timing.run(frame)
    running.close()
    check(seen, frames, found)
    return timing.figures()


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many processes busy until the end of the block."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def write_frame(folder: Path, source: Path) -> str:
    """Write a picture, scaled to fit in the middle of a frame, as an array of RGB pixels; return the file."""
    import cv2

    picture = cv2.imread(str(source))
    if picture is None:
        raise SystemExit(f"{source} is no picture that can be read; say in --pictures where the pictures are")
    width, height = SIZE
    scale = min(width / picture.shape[1], height / picture.shape[0])
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    frame = np.full((height, width, 3), 127, np.uint8)
    top, left = (height - small.shape[0]) // 2, (width - small.shape[1]) // 2
    frame[top : top + small.shape[0], left : left + small.shape[1]] = small[:, :, ::-1]
    target = folder / f"{source.stem}.npy"
    np.save(target, frame)
    return str(target)


def benchmark(given: argparse.Namespace, folder: Path) -> Benchmark:
    """Return the benchmark; its frames are written into `folder`."""
    frames = 10 if given.short else given.frames

    def case(name: str, picture: str, found: int, **settings: object) -> Case:
        file = write_frame(folder, given.pictures / picture)
        return Case(name, {"picture": file, "found": found, "frames": frames, "parallel": False, **settings})

    def hands(name: str, picture: str, found: int, **settings: object) -> Case:
        side = {"num_hands": found, "model_complexity": 1}
        return case(name, picture, found, graph=HANDS, output="multi_hand_landmarks", side=side, **settings)

    def bar(case: str, figure: str, limit: float) -> Bar:
        def value(measured: Measurements) -> float | None:
            return measured.ratio(case, OURS, REFERENCE, figure)

        return Bar(f"{case}: {figure}, x the reference", "at most", limit, value)

    return Benchmark(
        claim="MediaPipe's own graphs are about as fast here as in its C++.",
        figure=FIGURE,
        base=REFERENCE,
        otherwise=OURS,
        cases=[
            hands("2 hands", "hands_two.png", 2),
            hands("4 hands", "hands_four.png", 4),
            hands(PARALLEL, "hands_four.png", 4, parallel=True),
            case("one face", "astronaut.png", 1, graph=FACES, output="detections", side={}),
        ],
        contestants=[
            Contestant(
                REFERENCE,
                "peers.reference_graphs:frames",
                python=given.reference,
                optional=True,
                option="--reference PYTHON",
            ),
            Contestant(OURS, "door:penstock"),
        ],
        bars=[]
        if given.busy
        else [
            *(bar(case, FIGURE, 1.10) for case in ("2 hands", "4 hands")),
            *(bar(case, PROCESSOR, 1.15) for case in ("2 hands", "4 hands")),
            bar("one face", FIGURE, 1.05),
            Bar(
                f"{PARALLEL}: {RATE}", "at least", 45, lambda measured: measured.median(PARALLEL, OURS, RATE)
            ),
        ],
    )


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--pictures", metavar="FOLDER", type=Path, required=True)
    options.add_argument("--frames", type=int, default=100)
    options.add_argument("--busy", metavar="N", type=int, default=0)
    asked = options.parse_args()
    with busy(asked.busy), tempfile.TemporaryDirectory() as made:
        sys.exit(main(benchmark(asked, Path(made)), asked))
