"""Hands that come and go for thousands of frames: memory stays flat, results stay those of the reference.

    python scripts/trials/beside/hands_beside_reference.py --pictures FOLDER --frames 10000 --reference PYTHON

FOLDER has hand_one.png and hands_two.png. Each frame shows one of them, or nothing, moved along a path: the
hands are lost and found again every few seconds. The shipped graph of MediaPipe runs frame by frame; the
results of a frame must be there before the next one is given. PYTHON is an interpreter with
mediapipe==0.10.21, which gets the same frames in a process of its own; every landmark is compared. Exits with
1 if a result is late, a landmark differs by more than 1e-5, or the memory at the end is more than 10 MB above
that after a tenth of the frames.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    Landmarks = list[list[tuple[float, float, float]]]

GRAPH: Final = "mediapipe/modules/hand_landmark/hand_landmark_tracking_cpu.binarypb"
STREAM: Final = "multi_hand_landmarks"
STEP: Final = 33_333
#: Rows and columns of a frame.
SIZE: Final = (512, 512)
#: Frames that each picture is shown; then comes the next one. None is a frame without hands.
SCENES: Final = (("hands_two", 40), (None, 10), ("hand_one", 30), ("hands_two", 20), (None, 5))
TOLERANCE: Final = 1e-5
MOST_GROWTH_MB: Final = 10.0
#: After so many frames each the script says how far it is.
_PROGRESS: Final = 1000
_WORKER: Final = "--be-the-reference"


def frames(pictures: dict[str, Any], count: int) -> Iterator[Any]:
    """Yield frames, (rows, columns, 3) of RGB bytes, moved by whole pixels: they are equal everywhere."""
    shown = [name for name, length in SCENES for _ in range(length)]
    for number in range(count):
        frame = np.full((*SIZE, 3), 90, np.uint8)
        name = shown[number % len(shown)]
        if name is not None:
            picture = pictures[name]
            room = SIZE[1] - picture.shape[1]
            left = abs(number * 3 % (2 * room) - room) if room else 0
            top = number * 2 % 48
            rows = min(picture.shape[0], SIZE[0] - top)
            frame[top : top + rows, left : left + picture.shape[1]] = picture[:rows]
        yield frame


def resident_mb() -> float:
    """Return the resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    return pages * 4096 / 1e6


def be_the_reference() -> None:
    """Read pictures and a count, and write the landmarks of each frame: the other process."""
    from mediapipe.python import packet_creator, packet_getter
    from mediapipe.python._framework_bindings import calculator_graph, image_frame, resource_util

    pictures, count = pickle.load(sys.stdin.buffer)  # noqa: S301  # from the process that started this one
    import mediapipe

    root = Path(mediapipe.__file__).parent.parent
    resource_util.set_resource_dir(str(root))
    graph = calculator_graph.CalculatorGraph(binary_graph_path=str(root / GRAPH))
    seen: list[Any] = []
    graph.observe_output_stream(STREAM, lambda _, packet: seen.append(packet_getter.get_proto_list(packet)))
    graph.start_run({"num_hands": packet_creator.create_int(2)})
    for number, frame in enumerate(frames(pictures, count)):
        image = packet_creator.create_image_frame(
            data=frame, image_format=image_frame.ImageFormat.SRGB, copy=True
        )
        graph.add_packet_to_input_stream("image", image.at(number * STEP))
        graph.wait_until_idle()
        pickle.dump([as_numbers(hand) for hands in seen for hand in hands], sys.stdout.buffer)
        sys.stdout.buffer.flush()
        seen.clear()
    graph.close()


def as_numbers(hand: Any) -> list[tuple[float, float, float]]:
    """Return the landmarks of one hand."""
    return [(one.x, one.y, one.z) for one in hand.landmark]


class Comparison:
    """How far the results of both are from each other."""

    def __init__(self) -> None:
        self.greatest = 0.0
        self.first_fault = ""
        self._count = 0

    def words(self) -> str:
        """Return what was found."""
        return f"{self._count:,} frames compared, greatest difference of a landmark {self.greatest:.3g}"

    def add(self, number: int, ours: Landmarks, theirs: Landmarks) -> None:
        """Compare the results of one frame."""
        self._count += 1
        if len(ours) != len(theirs):
            self._fault(f"frame {number}: {len(ours)} hands, the reference found {len(theirs)}")
            return
        for mine, other in zip(ours, theirs, strict=True):
            difference = float(np.abs(np.subtract(mine, other)).max())
            self.greatest = max(self.greatest, difference)
            if difference > TOLERANCE:
                self._fault(f"frame {number}: a landmark differs by {difference:.3g}")

    def _fault(self, words: str) -> None:
        self.first_fault = self.first_fault or words


class Hands:
    """The shipped graph, frame by frame."""

    def __init__(self) -> None:
        from penstock import CalculatorGraph
        from penstock.config import CalculatorGraphConfig
        from penstock_tensors import ResourceFinder

        self.graph: Final = CalculatorGraph(
            CalculatorGraphConfig.FromString(ResourceFinder().find(GRAPH).data)
        )
        self._seen: dict[int, Landmarks] = {}
        self.graph.observe_output_stream(STREAM, self._see)
        self.graph.start_run({"num_hands": 2})

    def _see(self, _name: str, packet: Any) -> None:
        self._seen[int(packet.timestamp)] = [as_numbers(hand) for hand in packet.payload]

    def find(self, number: int, frame: Any) -> tuple[Landmarks, str]:
        """Return the landmarks of a frame, and what is wrong with their timestamps, or ""."""
        from penstock import Packet
        from penstock_formats import ImageFrame

        self.graph.add_packet_to_input_stream("image", Packet(ImageFrame(frame), number * STEP))
        self.graph.wait_until_idle(60)
        found = self._seen.pop(number * STEP, [])
        fault = f"frame {number}: results of other frames, at {sorted(self._seen)}" if self._seen else ""
        self._seen.clear()
        return found, fault


@contextmanager
def reference_at(python: str | None, pictures: dict[str, Any], count: int) -> Iterator[Any]:
    """Yield a function that returns the reference's landmarks of the next frame; None without `python`."""
    if python is None:
        yield None
        return
    command = [python, __file__, _WORKER]
    process: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603  # the user's
    try:
        pickle.dump((pictures, count), process.stdin)
        process.stdin.close()
        yield lambda: pickle.load(process.stdout)  # noqa: S301  # from the process just started
    finally:
        process.kill()
        process.wait()


def run(pictures: dict[str, Any], count: int, python: str | None) -> list[str]:
    """Run both, tell what came out, and return what is wrong."""
    hands, comparison = Hands(), Comparison()
    faults: list[str] = []
    numbers: list[int] = []
    early = 0.0
    with reference_at(python, pictures, count) as reference:
        for number, frame in enumerate(frames(pictures, count)):
            found, fault = hands.find(number, frame)
            faults += [fault] if fault else []
            numbers.append(len(found))
            if reference is not None:
                comparison.add(number, found, reference())
            if number + 1 == max(1, count // 10):
                early = resident_mb()
            if not (number + 1) % _PROGRESS:
                print(f"{number + 1:,} frames, {resident_mb():.1f} MB, {comparison.words()}", flush=True)
    hands.graph.close()
    late = resident_mb()
    changes = sum(a != b for a, b in pairwise(numbers))
    print(f"{count:,} frames, {sum(map(bool, numbers)):,} with hands; their number changed {changes} times")
    print(f"memory: {early:.1f} MB after a tenth, {late:.1f} MB at the end")
    print(comparison.words())
    faults += [comparison.first_fault] if comparison.first_fault else []
    if not hands.graph.ledger().adds_up:
        faults.append(f"the ledger does not add up: {hands.graph.ledger()}")
    if count > sum(length for _, length in SCENES) and not changes:
        faults.append("no hand came or went: are these the pictures?")
    if late - early > MOST_GROWTH_MB:
        faults.append(f"memory grew by {late - early:.1f} MB")
    return faults


def main() -> None:
    """Read the pictures, run, and exit with 1 if something is wrong."""
    import click
    import cv2

    @click.command(help=__doc__)
    @click.option("--pictures", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
    @click.option("--frames", type=click.IntRange(1), default=1000, show_default=True)
    @click.option("--reference", help="An interpreter with mediapipe==0.10.21.")
    def command(pictures: Path, frames: int, reference: str | None) -> None:
        read = {}
        for name in {name for name, _ in SCENES if name is not None}:
            picture = cv2.imread(str(pictures / f"{name}.png"))
            if picture is None:
                raise click.ClickException(f"{pictures / name}.png is not there, or is no picture")
            read[name] = np.ascontiguousarray(picture[:, :, ::-1])
        faults = run(read, frames, reference)
        for fault in faults:
            click.echo(fault, err=True)
        sys.exit(bool(faults))

    command()


if __name__ == "__main__":
    if sys.argv[1:] == [_WORKER]:
        be_the_reference()
    else:
        main()
