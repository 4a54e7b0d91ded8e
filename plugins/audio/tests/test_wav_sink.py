"""WavSinkCalculator: what it writes, read by others, and what is left after a failure."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import wave

import av
import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_audio.files import wav_writer
from penstock_audio.files.wav_sink import SampleFormat, WavSinkCalculator, WavSinkCalculatorOptions
from penstock_audio.files.wav_writer import WavFile
from penstock_formats import Matrix, TimeSeriesHeader
from penstock_testing import run_calculator

FLOAT = WavSinkCalculatorOptions(sample_format=SampleFormat.FLOAT32)


def write(path, blocks, rate=8000.0, options=None, header=None):
    arrays = [np.asarray(block, np.float32) for block in blocks]
    header = header or TimeSeriesHeader(sample_rate=rate, num_channels=arrays[0].shape[0])
    return run_calculator(
        WavSinkCalculator,
        {0: [(i, Matrix(array)) for i, array in enumerate(arrays)]},
        side_packets={"OUTPUT_FILE_PATH": path},
        headers={0: header},
        options=options,
    )


def read(path):
    """Return rate and samples, (channels, n), as libav reads them."""
    with av.open(str(path)) as container:
        (stream,) = container.streams.audio
        frames = [
            one.to_ndarray().reshape(-1, stream.codec_context.channels) for one in container.decode(stream)
        ]
        return stream.rate, np.concatenate(frames).T if frames else None


def test_int16_is_what_the_standard_library_reads(tmp_path, noise, cut):
    samples = np.clip(noise(2, 20_000) / 3, -0.999, 0.999)

    write(tmp_path / "a.wav", cut(samples, 5, 9000))

    with wave.open(str(tmp_path / "a.wav")) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (8000, 2, 2)
        assert file.getnframes() == 20_000
        found = np.frombuffer(file.readframes(20_000), "<i2").reshape(-1, 2).T
    assert np.array_equal(found, np.rint(samples * 2**15))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.wav"]


def test_what_leaves_the_scale_is_cut_in_int16(tmp_path):
    write(tmp_path / "a.wav", [[[-np.inf, -1.5, -1, 0, 1, 1.5, np.nan]]])

    assert read(tmp_path / "a.wav")[1].tolist() == [[-32768, -32768, -32768, 0, 32767, 32767, 0]]


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_float32_keeps_every_bit(tmp_path, noise, cut, channels):
    samples = noise(channels, 5000) * 100

    write(tmp_path / "a.wav", cut(samples, 77), rate=44100.0, options=FLOAT)

    rate, found = read(tmp_path / "a.wav")
    assert rate == 44100
    assert np.array_equal(found, samples)


def test_scipy_reads_it_without_a_warning(tmp_path, noise, peer):
    wavfile = peer("scipy.io.wavfile")
    samples = noise(2, 100)

    write(tmp_path / "a.wav", [samples], options=FLOAT)

    rate, found = wavfile.read(tmp_path / "a.wav")
    assert rate == 8000
    assert np.array_equal(found.T, samples)


def test_a_run_without_packets_makes_a_file_without_samples(tmp_path):
    run_calculator(
        WavSinkCalculator,
        {0: []},
        side_packets={"OUTPUT_FILE_PATH": str(tmp_path / "a.wav")},
        headers={0: TimeSeriesHeader(sample_rate=8000, num_channels=1)},
    )

    with wave.open(str(tmp_path / "a.wav")) as file:
        assert file.getnframes() == 0


def test_a_run_that_fails_keeps_what_was_written(tmp_path):
    with pytest.raises(GraphRunError, match="a matrix of 2x3 has 2 rows"):
        write(tmp_path / "a.wav", [np.ones((1, 5)), np.ones((2, 3))])

    assert read(tmp_path / "a.wav")[1].shape == (1, 5)


def test_while_it_grows_the_header_tells_of_all_but_the_last_second(tmp_path, noise):
    target = tmp_path / "a.wav"
    target.write_bytes(b"before")
    file = WavFile(target, 1000, 2, is_float=False)
    for _ in range(35):
        file.write(np.clip(noise(2, 100), -1, 0.9))

    with wave.open(str(tmp_path / "a.partial.wav")) as growing:
        assert growing.getnframes() == 3000
        assert len(growing.readframes(3000)) == 3000 * 4
    assert target.read_bytes() == b"before"
    file.leave()
    with wave.open(str(tmp_path / "a.partial.wav")) as left:
        assert left.getnframes() == 3000
    assert (tmp_path / "a.partial.wav").stat().st_size == 94 + 3000 * 4


def test_what_another_run_has_left_is_not_overwritten(tmp_path):
    (tmp_path / "a.partial.wav").write_bytes(b"kept")

    write(tmp_path / "a.wav", [np.ones((1, 5))])

    assert (tmp_path / "a.partial.wav").read_bytes() == b"kept"
    assert read(tmp_path / "a.wav")[1].shape == (1, 5)


KILLED = """
import os, signal, sys
import numpy as np
from pathlib import Path
from penstock_audio.files.wav_writer import WavFile
file = WavFile(Path(sys.argv[1]), 1000, 1, is_float=True)
for i in range(25):
    file.write(np.full((1, 100), i, np.float32))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_after_kill_9_the_growing_file_plays(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "a.wav"], check=False, timeout=60)

    assert done.returncode == -signal.SIGKILL
    _, found = read(tmp_path / "a.partial.wav")
    assert np.array_equal(found[0, :2000], np.repeat(np.arange(20, dtype=np.float32), 100))


FULL = """
import resource, sys
import numpy as np
import penstock
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
from penstock_audio.files.wav_sink import WavSinkCalculator
from penstock_formats import Matrix, TimeSeriesHeader
from penstock_testing import run_calculator
try:
    run_calculator(
        WavSinkCalculator,
        {0: [(i, Matrix(np.full((1, 1000), i / 1000, np.float32))) for i in range(200)]},
        side_packets={"OUTPUT_FILE_PATH": sys.argv[1]},
        headers={0: TimeSeriesHeader(sample_rate=8000, num_channels=1)},
    )
except penstock.PenstockError as error:
    print(error.errors[0].code.name, error)
"""


def test_a_full_disk_is_told_with_what_is_left_and_that_plays(tmp_path):
    pytest.importorskip("resource")  # limits of processes are not for every system
    done = subprocess.run(
        [sys.executable, "-B", "-c", FULL, str(tmp_path / "a.wav")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert done.stdout.startswith("RESOURCE_EXHAUSTED"), done.stdout
    left = str(tmp_path / "a.partial.wav")
    assert f"{left!r} plays, up to at most a second before 12.4 s; make room on the disk" in done.stdout
    _, found = read(left)
    assert found.shape[1] == 96_000
    assert (np.abs(found[0, ::1000] / 2**15 - np.arange(96) / 1000) < 1e-4).all()
    assert not (tmp_path / "a.wav").exists()


def test_a_file_of_more_than_its_header_can_say_becomes_rf64(tmp_path, monkeypatch, noise):
    monkeypatch.setattr(wav_writer, "_MOST", 1000)
    samples = noise(1, 300)

    write(tmp_path / "a.wav", [samples], options=FLOAT)

    head = (tmp_path / "a.wav").read_bytes()[:94]
    assert (head[:4], head[8:16]) == (b"RF64", b"WAVEds64")
    assert struct.unpack("<QQQI", head[20:48]) == (94 - 8 + 1200, 1200, 300, 0)
    data = bytearray((tmp_path / "a.wav").read_bytes())
    data[4:8] = data[90:94] = b"\xff" * 4  # as it is in a file of that size
    (tmp_path / "a.wav").write_bytes(data)
    assert np.array_equal(read(tmp_path / "a.wav")[1], samples)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.mp3", "it does not end with .wav; name such a file"),
        ("none/a.wav", "there is no directory '.*none'; make it first"),
        ("folder.wav", "it is a directory; name a file"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused(tmp_path, name, words):
    (tmp_path / "folder.wav").mkdir()

    with pytest.raises(GraphRunError, match=f"cannot be written: {words}"):
        write(tmp_path / name, [[[1]]])


def test_a_directory_without_permission_is_refused(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)

    with pytest.raises(GraphRunError, match="no permission for"):
        write(tmp_path / "a.wav", [[[1]]])


@pytest.mark.parametrize("fields", [{"sample_rate": 0.5}, {"sample_rate": 44100.5}, {"num_channels": 0}])
def test_a_series_that_a_wav_file_cannot_say_is_refused(tmp_path, fields):
    header = TimeSeriesHeader(**({"sample_rate": 8000, "num_channels": 1} | fields))

    with pytest.raises(
        GraphRunError, match="a WAV file has a whole number up to 16777216 and from 1 to 16383"
    ):
        write(tmp_path / "a.wav", [[[1]]], header=header)
