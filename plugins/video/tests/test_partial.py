"""What is left of a video when the disk is full, when it fails, and when the process was killed before."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest

import penstock_video.partial
from penstock import StatusCode
from penstock.errors import GraphRunError
from penstock_formats import ImageFrame
from penstock_testing import run_calculator
from penstock_video.decoder import VideoDecoderCalculator
from penstock_video.encoder import VideoEncoderCalculator
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions
from penstock_video.messages.encoder_pb2 import OpenCvVideoEncoderCalculatorOptions as Options
from penstock_video.partial import PartialFile, leftovers
from penstock_video.pattern import PatternSource, pattern_index
from penstock_video.writer import VideoWriter

FPS = 25
FRAMES = 100
NAMES = ["out.mp4", "out.mov", "out.mkv", "out.avi", "out.webm"]

#: Writes the pattern in a process whose files may have a number of bytes; prints code and words of the error.
LIMITED = """
import json, resource, sys
sys.path.insert(0, sys.argv[1])
import test_partial
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    test_partial.encode(sys.argv[2])
except test_partial.GraphRunError as error:
    print(json.dumps([error.code.name, str(error)]))
"""

limited = pytest.mark.skipif(sys.platform == "win32", reason="a process has no limit of file sizes there")


def encode(target, count=FRAMES, **sides):
    options = VideoDecoderCalculatorOptions.TestPattern(width=128, height=96, frames=count)
    source = PatternSource(options)
    frames = [(index * 1_000_000 // FPS, ImageFrame(source.read()[1])) for index in range(count)]
    return run_calculator(
        VideoEncoderCalculator,
        {"VIDEO": frames},
        options=Options(fps=FPS),
        side_packets={"OUTPUT_FILE_PATH": str(target), **sides},
    )


def encode_limited(target, limit):
    """Return code and words of the error of a process whose files may have `limit` bytes."""
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-B", "-c", LIMITED, here, str(target), str(limit)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return json.loads(done.stdout)


def indexes(path):
    run = run_calculator(
        VideoDecoderCalculator, outputs=["VIDEO"], side_packets={"INPUT_FILE_PATH": str(path)}
    )
    return [pattern_index(packet.payload.array) for packet in run.outputs["VIDEO"]]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def kept(words):
    """Return the file that an error names, and the seconds that it should have."""
    found = re.search(r"; '([^']*)' has the frames up to ([\d.]+) s and plays; make room on the disk$", words)
    assert found, words
    return Path(found[1]), float(found[2])


# --- a full disk ----------------------------------------------------------------------------------


@pytest.mark.heavy
@limited
@pytest.mark.parametrize("part", [0.4, 0.8, "end"])
@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_is_an_error_of_its_own_and_what_was_written_stays_and_plays(tmp_path, name, part):
    (tmp_path / "whole").mkdir()
    encode(tmp_path / "whole" / name)
    size = (tmp_path / "whole" / name).stat().st_size
    (tmp_path / "try").mkdir()
    target = tmp_path / "try" / name
    target.write_bytes(b"what was there before")

    code, words = encode_limited(target, size - 50 if part == "end" else int(size * part))

    assert code == "RESOURCE_EXHAUSTED"
    assert f"video file '{target}': writing failed: File too large; " in words
    path, seconds = kept(words)
    assert path == target.with_name(name.replace(".", ".partial."))
    found = indexes(path)
    whole = next((count for count, index in enumerate(found) if index != count), len(found))
    assert whole >= seconds * FPS
    assert seconds >= (FRAMES / FPS - 2 if part == "end" else 0.2)
    assert target.read_bytes() == b"what was there before"
    assert names(target.parent) == sorted([name, path.name])


@pytest.mark.heavy
@limited
@pytest.mark.parametrize(
    ("limit", "words"),
    [(0, r"out\.mkv' cannot be written: File too large; make room on the disk$"),
     (2000, r"out\.mkv': writing failed: File too large; no frame was saved; make room on the disk$")],
)  # fmt: skip
def test_a_disk_that_is_full_from_the_beginning_leaves_no_file(tmp_path, limit, words):
    code, said = encode_limited(tmp_path / "out.mkv", limit)

    assert code == "RESOURCE_EXHAUSTED"
    assert re.search(words, said), said
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "code", "cure"),
    [(errno.EIO, StatusCode.UNKNOWN, "check the disk"),
     (errno.ENOSPC, StatusCode.RESOURCE_EXHAUSTED, "make room on the disk")],
)  # fmt: skip
def test_what_the_disk_says_decides_the_code_and_the_file_stays_either_way(
    tmp_path, monkeypatch, number, code, cure
):
    write = PartialFile._write

    def failing(self, data):
        if self.size > 8_000:
            raise OSError(number, os.strerror(number))
        write(self, data)

    monkeypatch.setattr(PartialFile, "_write", failing)

    with pytest.raises(GraphRunError, match=rf"{os.strerror(number)}; .* and plays; {cure}$") as caught:
        encode(tmp_path / "out.mp4")

    assert caught.value.code is code
    assert names(tmp_path) == ["out.partial.mp4"]
    assert len(indexes(tmp_path / "out.partial.mp4")) >= FPS // 2


def test_a_target_that_cannot_be_replaced_leaves_the_whole_file(tmp_path, monkeypatch):
    def refused(_, target):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(PartialFile, "publish", refused)

    with pytest.raises(GraphRunError, match=r"Permission denied; '.*out\.partial\.mp4' has the frames up to"):
        encode(tmp_path / "out.mp4")

    assert indexes(tmp_path / "out.partial.mp4") == list(range(FRAMES))


# --- the growing file -----------------------------------------------------------------------------


def test_a_complete_mp4_is_an_ordinary_one_without_fragments(tmp_path):
    encode(tmp_path / "out.mp4")

    content, at, boxes = (tmp_path / "out.mp4").read_bytes(), 0, []
    while at < len(content):
        boxes.append(content[at + 4 : at + 8].decode())
        at += int.from_bytes(content[at : at + 4])
    assert boxes == ["ftyp", "free", "mdat", "moov"]


@pytest.fixture
def copies(monkeypatch):
    """Return the contents of the growing file at each moment where more of it plays, by frames taken."""
    found = {}
    taken = 0
    settle, write = PartialFile.settle, VideoWriter.write

    def copying(self):
        if settle(self):
            found[taken] = self.path.read_bytes()
            return True
        return False

    def counting(self, *frame):
        nonlocal taken
        taken += 1
        write(self, *frame)

    monkeypatch.setattr(PartialFile, "settle", copying)
    monkeypatch.setattr(VideoWriter, "write", counting)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_growing_file_plays_up_to_two_seconds_before(tmp_path, copies, name):
    encode(tmp_path / name)

    lost = 0
    for taken in range(2 * FPS, FRAMES + 1, 7):
        (tmp_path / f"copy{name}").write_bytes(copies[max(one for one in copies if one <= taken)])
        found = indexes(tmp_path / f"copy{name}")
        whole = next((count for count, index in enumerate(found) if index != count), len(found))
        assert len(found) - whole <= 3
        lost = max(lost, taken - whole)
    assert lost <= 2 * FPS


@pytest.mark.parametrize("name", ["out.mp4", "out.mkv"])
def test_frames_do_not_wait_long_for_audio_that_has_ended(tmp_path, copies, name):
    with av.open(str(tmp_path / "short.mkv"), "w") as container:
        stream = container.add_stream("aac", rate=48_000, layout="mono")
        for begin in range(0, 24_000, 1024):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
            frame.sample_rate, frame.pts = 48_000, begin
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))

    encode(tmp_path / name, AUDIO_FILE_PATH=str(tmp_path / "short.mkv"))

    (tmp_path / f"copy{name}").write_bytes(copies[max(one for one in copies if one <= FRAMES - FPS)])
    assert len(indexes(tmp_path / f"copy{name}")) >= FRAMES - 3 * FPS


def test_the_times_of_a_growing_mp4_are_exact(tmp_path, copies):
    encode(tmp_path / "out.mp4")
    (tmp_path / "copy.mp4").write_bytes(copies[max(one for one in copies if one < FRAMES)])

    with av.open(str(tmp_path / "copy.mp4")) as container:
        times = [frame.pts * frame.time_base * FPS for frame in container.decode(video=0)]

    assert times[:-4] == list(range(len(times) - 4))


def test_changes_at_the_end_are_made_when_the_end_is_written(tmp_path):
    file = PartialFile(tmp_path / "out.bin")
    file.write(b"0123456789")
    file.settle()
    file.begin_end()
    file.seek(8)

    file.write(b"abcd")
    file.seek(0)
    file.write(b"xy")
    before = file.path.read_bytes()
    file.complete()
    file.publish(tmp_path / "out.bin")

    assert before == b"0123456789cd"
    assert (tmp_path / "out.bin").read_bytes() == b"xy234567abcd"
    assert names(tmp_path) == ["out.bin"]


def test_a_file_whose_end_fails_keeps_what_was_settled(tmp_path):
    file = PartialFile(tmp_path / "out.bin")
    file.write(b"0123456789")
    file.settle()
    file.begin_end()
    file.write(b"more")
    file.seek(0)
    file.write(b"xy")

    file.leave()

    assert file.path.read_bytes() == b"0123456789"


def test_after_a_failure_nothing_more_is_written(tmp_path, monkeypatch):
    file = PartialFile(tmp_path / "out.bin")
    file.write(b"0123456789")
    with monkeypatch.context() as patch:
        patch.setattr(PartialFile, "_write", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
        with pytest.raises(OSError, match="full"):
            file.write(b"more")

    assert file.write(b"again") == 5

    assert file.path.read_bytes() == b"0123456789"
    file.delete()


# --- what an earlier run left ---------------------------------------------------------------------


def test_a_file_that_an_earlier_run_left_is_told_and_stays(tmp_path, caplog):
    left = [tmp_path / "out.partial.mp4", tmp_path / "out.partial-2.mp4", tmp_path / "out.partial-10.mp4"]
    for path in left:
        path.write_bytes(b"an earlier run")
    (tmp_path / "out.partial.mkv").write_bytes(b"of another target")

    with caplog.at_level(logging.WARNING, "penstock.video"):
        encode(tmp_path / "out.mp4", 5)

    told = [record.getMessage() for record in caplog.records]
    assert [words.partition(" was left")[0] for words in told] == [repr(str(path)) for path in left]
    assert f"wrote '{tmp_path / 'out.mp4'}' and was killed or failed" in told[0]
    assert "rename it to keep it, or delete it" in told[0]
    assert indexes(tmp_path / "out.mp4") == list(range(5))
    assert all(path.read_bytes() == b"an earlier run" for path in left)


def test_a_run_that_writes_the_same_target_at_the_same_time_has_a_file_of_its_own(tmp_path):
    one, two = PartialFile(tmp_path / "out.mp4"), PartialFile(tmp_path / "out.mp4")

    found = leftovers(tmp_path / "out.mp4")

    assert found == [one.path, two.path]
    assert names(tmp_path) == ["out.partial-2.mp4", "out.partial.mp4"]
    one.delete()
    two.delete()
    assert leftovers(tmp_path / "out.mp4") == []


def test_the_file_that_grows_has_no_other_name_that_the_errors_would_not_tell(tmp_path):
    file = PartialFile(tmp_path / "a [1].tar.mp4")

    assert leftovers(tmp_path / "a [1].tar.mp4") == [file.path]
    assert file.name == str(tmp_path / "a [1].tar.partial.mp4")
    file.delete()


def test_quota_and_limit_of_sizes_are_a_full_disk_too():
    is_full = penstock_video.partial.is_full

    assert [is_full(OSError(number, "")) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)] == [
        True
    ] * 3
    assert not is_full(OSError(errno.EIO, ""))
    assert not is_full(av.error.InvalidDataError(1, ""))
