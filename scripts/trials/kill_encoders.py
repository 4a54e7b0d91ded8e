"""Kill processes that encode, and see how much of each video is lost.

Each kill: a process runs a graph with a VideoEncoderCalculator and reports each frame that it has taken.
After a number of frames drawn by chance the process is killed (SIGKILL). What it left is decoded, every
frame is compared with the one that was sent, and the time of the last frame is compared with what was
reported. In half of the kills the file has audio too. Some kills meet the end of a run, where the file is
completed and renamed.

    uv run python scripts/trials/kill_encoders.py --kills 200 --seed 7

Ends with 1 if more than --most seconds were lost, or a frame that came back is not the one that was sent.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import signal
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import av
import av.error
import numpy as np

from penstock import CalculatorGraph, Packet
from penstock_formats import ImageFrame
from penstock_video.encoder import VideoEncoderCalculator
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions
from penstock_video.partial import leftovers
from penstock_video.pattern import PatternSource, pattern_index

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

CONTAINERS: Final = ("mp4", "mkv", "avi", "webm")
#: Frames of a run that is not killed before.
FRAMES: Final = 250
FPS: Final = 25
_SIZE: Final = (128, 96)
_RATE: Final = 48_000
_AUDIO: Final = {"mp4": "aac", "mkv": "aac", "avi": "mp3", "webm": "libopus"}
#: Each process comes from a server that has imported what it needs and decodes nothing: the libraries of the
#: process that looks at the files have threads, which a fork of it would lack.
_PROCESSES: Final = multiprocessing.get_context("forkserver")
_PATIENCE_S: Final = 60
#: Imported here, once: otherwise each process would import it.
_CALCULATOR: Final = VideoEncoderCalculator.__name__
#: Frames behind the last one without a gap: H.264 stores a later frame before those that depend on it.
_UNORDERED: Final = 3
_GRAPH: Final = """
input_stream: "frames"
input_side_packet: "output"
%s
node {
  calculator: "%s"
  input_stream: "VIDEO:frames"
  input_side_packet: "OUTPUT_FILE_PATH:output"
  %s
  options { [penstock.OpenCvVideoEncoderCalculatorOptions.ext] { fps: %d } }
}
"""


@attrs.frozen
class Kill:
    """What became of one process."""

    #: Time of the last frame that the encoder has taken, in seconds; -1: none.
    reported: float
    #: Time of the last frame up to which all play, in seconds; -1: none.
    saved: float
    #: What else is wrong, or "".
    wrong: str
    #: The run had ended, and the target is there.
    is_complete: bool

    @property
    def lost(self) -> float:
        """Seconds from the end of the last frame that plays to the end of the last one that was taken."""
        return max(self.reported - self.saved, 0.0) if self.saved >= 0 else self.reported + 1 / FPS


def main() -> int:
    """Kill and report; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200, help="kills of each container (200)")
    parser.add_argument("--container", choices=CONTAINERS, action="append", help="only this one; repeatable")
    parser.add_argument("--seed", type=int, default=7, help="of what is drawn by chance (7)")
    parser.add_argument("--most", type=float, default=2.0, help="seconds that may be lost (2)")
    parsed = parser.parse_args()
    _PROCESSES.set_forkserver_preload([VideoEncoderCalculator.__module__, PatternSource.__module__])
    is_well = True
    for container in parsed.container or CONTAINERS:
        chance = random.Random(f"{parsed.seed} {container}")  # noqa: S311  # the same kills again, no secret
        with tempfile.TemporaryDirectory(prefix="kill-encoders-") as folder:
            sound = Path(folder) / f"sound.{container}"
            _write_sound(sound, _AUDIO[container])
            kills = []
            for number in range(parsed.kills):
                place = Path(folder) / str(number)
                place.mkdir()
                target = place / f"out.{container}"
                kills.append(_kill(target, sound if number % 2 else None, chance))
                if sys.stderr.isatty():
                    print(
                        f"\r{container}: {number + 1} of {parsed.kills}", end="", file=sys.stderr, flush=True
                    )
        is_well = _report(container, kills, parsed.most) and is_well
    return 0 if is_well else 1


def _report(container: str, kills: list[Kill], most: float) -> bool:
    lost = sorted(kill.lost for kill in kills)
    wrong = [kill.wrong for kill in kills if kill.wrong]
    print(
        f"{container}: {len(kills)} kills, {sum(kill.is_complete for kill in kills)} of them after the end, "
        f"{sum(kill.saved < 0 for kill in kills)} before the first frame was saved; lost: at most "
        f"{lost[-1]:.2f} s, median {lost[len(lost) // 2]:.2f} s; wrong: {len(wrong)}",
        flush=True,
    )
    for words in wrong[:5]:
        print(f"  {words}")
    return not wrong and lost[-1] <= most


def _pattern() -> list[ImageFrame]:
    options = VideoDecoderCalculatorOptions.TestPattern(width=_SIZE[0], height=_SIZE[1], frames=FRAMES)
    source = PatternSource(options)
    read = [source.read() for _ in range(FRAMES)]
    return [ImageFrame(each[1]) for each in read if each is not None]


def _write_sound(path: Path, codec: str) -> None:
    """Write a file with a tone that is half as long as the video: the rest has no audio to wait for."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=_RATE, layout="mono")
        context = stream.codec_context
        resampler = av.AudioResampler(format=context.format.name, layout="mono", rate=_RATE)
        step = context.frame_size or 960
        wave = 8000 * np.sin(2 * np.pi * 440 / _RATE * np.arange(_RATE * FRAMES // FPS // 2))
        for begin in range(0, len(wave), step):
            part = wave[None, begin : begin + step].astype(np.int16)
            frame = av.AudioFrame.from_ndarray(part, format="s16", layout="mono")
            frame.sample_rate, frame.time_base, frame.pts = _RATE, Fraction(1, _RATE), begin
            for one in resampler.resample(frame):
                container.mux(stream.encode(one))
        container.mux(stream.encode(None))


def _kill(target: Path, sound: Path | None, chance: random.Random) -> Kill:
    """Start a process that encodes, kill it, and look at what it left."""
    after = min(chance.randint(1, FRAMES + FRAMES // 10), FRAMES)
    delay = chance.uniform(0, 0.01)
    reading, writing = _PROCESSES.Pipe(duplex=False)
    child = _PROCESSES.Process(target=_encode, args=(target, sound, writing))
    child.start()
    writing.close()
    try:
        taken = _told(reading, after)
        time.sleep(delay)  # by chance: anywhere in the work for a frame, or in the end of the file
        child.kill()
        taken += _told(reading, FRAMES)
    finally:
        child.kill()
        child.join(_PATIENCE_S)
        reading.close()
    wrong = "" if child.exitcode in (0, -signal.SIGKILL) else "the process failed"
    return _looked_at(target, taken, wrong)


def _told(reading: Connection, most: int) -> int:
    """Return how many more frames the process has taken, once they are that many, or it has ended."""
    count = 0
    while count < most:
        if not reading.poll(_PATIENCE_S):
            raise TimeoutError(f"a process that encodes said nothing for {_PATIENCE_S} s")
        try:
            reading.recv_bytes()
        except EOFError:
            break
        count += 1
    return count


def _encode(target: Path, sound: Path | None, writing: Connection) -> None:
    """Run the graph in the process that will be killed; a message is sent for each frame that was taken."""
    sides: dict[str, object] = {"output": str(target)}
    if sound is not None:
        sides["sound"] = str(sound)
    ports = ('input_side_packet: "sound"', 'input_side_packet: "AUDIO_FILE_PATH:sound"')
    graph = CalculatorGraph(_GRAPH % (ports[0] if sound else "", _CALCULATOR, ports[1] if sound else "", FPS))
    graph.start_run(sides)
    for index, frame in enumerate(_pattern()):
        graph.add_packet_to_input_stream("frames", Packet(frame, index * 1_000_000 // FPS))
        graph.wait_until_idle(_PATIENCE_S)
        writing.send_bytes(b".")
    graph.close_all_packet_sources()
    graph.wait_until_done(_PATIENCE_S)


def _looked_at(target: Path, taken: int, wrong: str) -> Kill:
    """Decode what is there."""
    reported = (taken - 1) / FPS
    left = leftovers(target)
    is_complete = target.exists()
    if is_complete + len(left) > 1:
        return Kill(reported, -1.0, f"{target} and {left} are there", is_complete)
    found = [target] if is_complete else left
    indexes = _indexes(found[0]) if found else []
    whole = next((count for count, index in enumerate(indexes) if count != index), len(indexes))
    rest = indexes[whole:]
    if rest != sorted(set(rest)) or len(rest) > _UNORDERED or (rest and rest[0] < whole):
        wrong = wrong or f"{found[0]}: {whole} frames came back and then {rest[:10]}"
    if is_complete and whole != FRAMES:
        wrong = wrong or f"{found[0]} was complete with {whole} of {FRAMES} frames"
    return Kill(reported, (whole - 1) / FPS if whole else -1.0, wrong, is_complete)


def _indexes(path: Path) -> list[int]:
    """Return the numbers of the frames that can be decoded, by their content and by their time."""
    found: list[int] = []
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            begin: float | None = None
            for frame in container.decode(stream):
                time_s = frame.time or 0.0
                begin = time_s if begin is None else begin  # audio before the first frame moves the beginning
                index = pattern_index(frame.to_ndarray(format="rgb24"))
                found.append(index if abs(time_s - begin - index / FPS) < 1 / FPS else -1)
    except (av.error.FFmpegError, IndexError):  # the end of the file is missing, or all of it
        return found
    return found


if __name__ == "__main__":
    sys.exit(main())
