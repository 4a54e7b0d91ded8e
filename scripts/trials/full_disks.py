"""Let the disk fill up while a graph writes a file, at a random byte, and look what the run tells and leaves.

    uv run python scripts/trials/full_disks.py --seconds 60
    uv run python scripts/trials/full_disks.py --count 5000 --seed 7    the long form
    uv run python scripts/trials/full_disks.py --one 4711               one run, and what it raises

Each run writes a recording, a bag, a video, a WAV file or pictures in a forked process whose files may not
grow beyond a random size (RLIMIT_FSIZE), from nothing to a little more than the whole file. A finding is a
run that does not end, a process that is ended by a signal, an error that is no PenstockError or does not name
a file, a run that ends well although the file is not whole, or a file descriptor that is left; the exit
status is then 1. Linux only.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import itertools
import json
import logging
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from damaged_files import wrong
from damaged_samples import run, samples
from starved_runs import await_end

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from collections.abc import Callable

_PATTERN: Final = """
    input_side_packet: "path"
    node { calculator: "VideoDecoderCalculator" output_stream: "VIDEO:frame"
      options { [mediapipe.VideoDecoderCalculatorOptions.ext] {
        test_pattern { width: 64 height: 48 fps: 25 frames: 8 } } } }
    node { calculator: "%s" input_stream: "VIDEO:frame" input_side_packet: "OUTPUT_FILE_PATH:path" %s }"""
_CODEC: Final = 'options { [mediapipe.OpenCvVideoEncoderCalculatorOptions.ext] { codec: "avc1" } }'
_SOUND: Final = """
    input_side_packet: "path" input_side_packet: "sound"
    node { calculator: "AudioDecoderCalculator" output_stream: "AUDIO:sound"
      input_side_packet: "INPUT_FILE_PATH:sound" }
    node { calculator: "WavSinkCalculator" input_stream: "sound"
      input_side_packet: "OUTPUT_FILE_PATH:path" }"""
_PROGRESS_S: Final = 10.0


class Writer(NamedTuple):
    """Something that writes files."""

    #: The name of its file, or of its folder, which ends with "/".
    name: str
    #: Writes to a path; raises what the graph raises.
    write: Callable[[Path], object]


def writers(sound: Path) -> list[Writer]:
    """Return all writers; `sound` is a file that is read."""
    from penstock_record import recording_graph

    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "plugins/bridges/tests/ros"))
    bags: Any = importlib.import_module("bags")

    passing = """input_stream: "in" output_stream: "out"
        node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }"""
    numbers = [list(range(n, n + 300)) for n in range(40)]
    streams: dict[str, Any] = {
        "cloud": [(bags.START + n * 1000, bags.payloads()["cloud"]) for n in range(30)]
    }
    return [
        Writer(
            "r.mcap",
            lambda path: run(cast("Any", recording_graph(passing, path, ["in"])), inputs={"in": numbers}),
        ),
        Writer("b.bag", lambda path: bags.write(path, streams)),
        Writer("b.mcap", lambda path: bags.write(path, streams)),
        Writer("v.mp4", lambda path: run(_PATTERN % ("VideoEncoderCalculator", _CODEC), {"path": str(path)})),
        Writer("v.mkv", lambda path: run(_PATTERN % ("VideoEncoderCalculator", _CODEC), {"path": str(path)})),
        Writer("s.wav", lambda path: run(_SOUND, {"path": str(path), "sound": str(sound)})),
        Writer("p/", lambda path: run(_PATTERN % ("PictureSinkCalculator", ""), {"path": f"{path}/"})),
    ]


def largest(folder: Path) -> int:
    """Return the size of the largest file of a folder and its folders."""
    return max((file.stat().st_size for file in folder.rglob("*") if file.is_file()), default=0)


def attempt(writer: Writer, limit: int | None, folder: Path) -> tuple[str, list[str], int]:
    """Write in this process; return the outcome, what is wrong, and the size of the largest file."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208  # names
    path = folder / writer.name
    error: BaseException | None = None
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        writer.write(path)
    except BaseException as raised:  # noqa: BLE001  # any other than ours is what is looked for
        error = raised
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    findings = []
    if error is not None:
        findings = [one for one in (wrong(error),) if one]
        if isinstance(error, PenstockError) and str(folder) not in str(error):
            findings.append(f"the error names no file: {error}")
    outcome = "written" if error is None else type(error).__name__
    error = None
    gc.collect()  # errors hold files that are closed with them
    if len(os.listdir("/proc/self/fd")) > before:  # noqa: PTH208  # names
        findings.append("a file descriptor is left")
    return outcome, findings, largest(folder)


def in_child(writer: Writer, limit: int | None) -> tuple[str, list[str], int]:
    """Write in a forked process."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as said:
        pid = os.fork()
        if not pid:
            code = 1
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                found = attempt(writer, limit, Path(folder))
                said.write(json.dumps(found).encode())
                said.flush()
                code = 0
            finally:
                os._exit(code)
        status = await_end(pid)
        if status is None:
            return "hang", ["no end"], 0
        if os.WIFSIGNALED(status):
            return "ended", [f"ended by {signal.Signals(os.WTERMSIG(status)).name}"], 0
        if status:
            return "ended", [f"exit status {os.WEXITSTATUS(status)}"], 0
        said.seek(0)
        outcome, findings, size = json.loads(said.read())
        return outcome, findings, size


def main(words: list[str] | None = None) -> int:
    """Do the runs of a command line; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=0, metavar="N", help="how many runs; 0 for no limit")
    parser.add_argument("--seconds", type=float, default=0, metavar="S", help="end after this time")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the first run (0)")
    parser.add_argument("--one", type=int, metavar="SEED", help="one run, and what it raises")
    given = parser.parse_args(words)
    logging.disable()
    with tempfile.TemporaryDirectory() as kept:
        sound = next(one for one in samples(Path(kept), "sound")[0] if one.name == "sound.wav")
        path = Path(kept) / "sound.wav"
        path.write_bytes(sound.data)
        return _runs(given, writers(path))


def _runs(given: argparse.Namespace, all_writers: list[Writer]) -> int:
    whole = {}
    for one in all_writers:
        outcome, findings, size = in_child(one, None)
        if outcome != "written" or findings:
            raise SystemExit(f"{one.name} cannot be written where there is room: {outcome}, {findings}")
        whole[one.name] = size
    counted: Counter[str] = Counter()
    found = 0
    first, count = (given.seed, given.count) if given.one is None else (given.one, 1)
    began = told = time.monotonic()
    for seed in range(first, first + count) if count else itertools.count(first):
        now = time.monotonic()
        if given.seconds and now - began > given.seconds:
            break
        if now - told > _PROGRESS_S:
            told = now
            print(f"{counted.total()} runs, {found} findings", file=sys.stderr, flush=True)
        rng = random.Random(f"full {seed}")  # noqa: S311  # for chance, not for secrets
        writer = all_writers[seed % len(all_writers)]
        size = whole[writer.name]
        limits = rng.randrange(64), rng.randrange(size), size - rng.randrange(64), 2 * size + 10_000
        limit = rng.choice(limits)
        outcome, findings, written = in_child(writer, limit)
        if outcome == "written" and written < size * 0.9:
            findings.append(f"the run ended well, but the file has {written} of {size} bytes")
        counted[f"{writer.name} {outcome}"] += 1
        found += len(findings)
        for finding in findings:
            print(f"FINDING --one {seed} ({writer.name}, {limit} of {size} bytes): {finding}", flush=True)
        if given.one is not None:
            print(f"{writer.name}, {limit} of {size} bytes: {outcome}, {written} bytes written")
    for name, amount in sorted(counted.items()):
        print(f"{amount:6} {name}")
    print(f"full_disks: seed {first}: {counted.total()} runs, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
